//! The model of `agent-q`'s `edit_file`, `propose_file_edit` and their errors.
//!
//! Not generated: Emacs (`crates/editors/tests/emacs`), files that cannot be written (`review.rs`), symlinks
//! (`crates/cli/tests/it/cli/agent_q.rs`), mixed line endings (`newlines.rs`), and the tools of which the document has only names.
//!
//! The engine deliberately differs from the document in three cases; [`Deviation`] lists them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use slipstitch_core::engine::{Engine, Request};
use slipstitch_core::outcome::Status;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::journal::{Filter, Journal};
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};

/// A file as Emacs sees it: lines end with a newline in the buffer, whatever they end with on disk.
#[derive(Debug, Clone)]
struct Buffer {
    text: String,
    crlf: bool,
}

impl Buffer {
    fn on_disk(&self) -> String {
        if self.crlf { self.text.replace('\n', "\r\n") } else { self.text.clone() }
    }
}

#[derive(Debug, Default)]
struct Model {
    files: BTreeMap<String, Buffer>,
    /// The path and the description of each logged change.
    log: Vec<(String, Option<String>)>,
    proposals: usize,
}

/// What the document says about an answer.
#[derive(Debug, Clone, PartialEq)]
enum Expected {
    /// The edit was applied, and the answer confirms it.
    Applied(Confirmation),
    /// It starts with this text, and nothing is written.
    StartsWith(String),
    /// A proposal waits for review, which is not an error.
    Proposed,
    /// It is an error, or says that nothing changed.
    Unchanged,
    /// The document does not say.
    Open,
}

/// What the answer to an edit says.
#[derive(Debug, Clone, PartialEq)]
struct Confirmation {
    path: String,
    description: Option<String>,
    first_line: usize,
    old: String,
    new: String,
}

/// Where the engine deliberately differs from the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deviation {
    /// The text has one match and another one that overlaps it: `aa` in `aaa`. Which of them is meant is unknown, so the edit is
    /// refused.
    Overlap,
    /// The text has no visible character, or none at all. It would match almost everywhere, so it is refused as a slip.
    Blank,
    /// Old and new text are the same: nothing is written or logged, and the answer says so.
    SameText,
}

impl Deviation {
    fn find(old: &str, new: &str, text: &str) -> Option<Self> {
        if old.trim().is_empty() {
            return Some(Self::Blank);
        }
        match count_substring(old, text) {
            1 if overlaps_itself(old, text) => Some(Self::Overlap),
            1 if old == new => Some(Self::SameText),
            _ => None,
        }
    }

    fn expected(self) -> Expected {
        match self {
            Self::Overlap => Expected::StartsWith("Error: Found 1 match, and ".into()),
            Self::Blank => Expected::StartsWith("Error".into()),
            Self::SameText => Expected::Unchanged,
        }
    }
}

#[derive(Debug, Clone)]
struct EditCall {
    path: String,
    old: Option<String>,
    new: Option<String>,
    description: Option<String>,
    propose: bool,
}

impl EditCall {
    fn arguments(&self) -> Value {
        let mut fields = json!({"path": self.path, "propose": self.propose});
        for (name, value) in
            [("old_str", &self.old), ("new_str", &self.new), ("description", &self.description)]
        {
            // A field that is not used is sent as null by some clients.
            fields[name] = value.as_deref().into();
        }
        fields
    }
}

/// `count-substring`: occurrences that do not overlap.
fn count_substring(needle: &str, text: &str) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(found) = text[at..].find(needle) {
        count += 1;
        at += found + needle.len();
    }
    count
}

/// Whether a second occurrence starts inside the first one.
fn overlaps_itself(needle: &str, text: &str) -> bool {
    let starts = |at: &usize| text.is_char_boundary(*at) && text[*at..].starts_with(needle);
    (0..text.len()).filter(starts).count() > count_substring(needle, text)
}

/// The lines of one side of a mini-diff. The document does not say whether a final line break starts another line.
fn lines_of(text: &str) -> [Vec<&str>; 2] {
    let all: Vec<&str> = text.split('\n').collect();
    let without_last = all[..all.len() - 1].to_vec();
    if text.is_empty() {
        [Vec::new(), Vec::new()]
    } else if text.ends_with('\n') {
        [without_last, all]
    } else {
        [all.clone(), all]
    }
}

/// Whether the lines of an answer are one side of a mini-diff: the first lines of the text, and if some are left out, how many.
/// The document's example shows three lines, so three or fewer are never left out.
fn is_side_of(shown: &[&str], text: &str) -> bool {
    let is_shown = |lines: &Vec<&str>| {
        let (note, plain) = match shown.split_last() {
            Some((last, rest)) if last.starts_with("… (") => (Some(*last), rest),
            _ => (None, shown),
        };
        let left_out = lines.len().checked_sub(plain.len());
        let says = |count: usize| note.is_some_and(|note| note.starts_with(&format!("… ({count} more line")));
        lines.starts_with(plain)
            && match left_out {
                Some(0) => note.is_none(),
                Some(count) => says(count) && plain.len() >= 3,
                None => false,
            }
    };
    lines_of(text).iter().any(is_shown)
}

impl Confirmation {
    /// "✓ Edit applied to …", "Change: …", "Lines affected: …" and "Diff:", as in the document's example. Warnings may follow.
    fn matches(&self, answer: &str) -> bool {
        let change = self.description.as_ref().map_or(String::new(), |text| format!("Change: {text}\n"));
        let start =
            format!("✓ Edit applied to {}\n\n{change}Lines affected: {}-", self.path, self.first_line);
        let Some((last_line, rest)) =
            answer.strip_prefix(start.as_str()).and_then(|rest| rest.split_once("\nDiff:"))
        else {
            return false;
        };
        let is_range = last_line.parse::<usize>().is_ok_and(|last| last >= self.first_line);
        let mut rest = rest.split('\n').skip(1).peekable();
        let mut side = |sign: &str| {
            std::iter::from_fn(|| rest.next_if(|line| line.starts_with(sign)))
                .map(|line| &line[sign.len()..])
                .collect::<Vec<&str>>()
        };
        let (removed, added) = (side("  - "), side("  + "));
        is_range
            && is_side_of(&removed, &self.old)
            && is_side_of(&added, &self.new)
            && rest.all(|line| line.starts_with("Warning: "))
    }
}

/// "If change affects >50 lines": the lines of the old or of the new text, without those that are the same at both ends, or
/// all of them. `None` if these readings differ.
fn affects_more_than_50_lines(old: &str, new: &str) -> Option<bool> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let same = |a: &mut dyn Iterator<Item = (&&str, &&str)>| a.take_while(|(a, b)| a == b).count();
    let at_start = same(&mut old.iter().zip(&new));
    let at_end = same(&mut old.iter().rev().zip(new.iter().rev()));
    // The last part may not count as a line.
    let fewest = old.len().max(new.len()).saturating_sub(at_start + at_end + 1);
    let most = old.len() + new.len();
    if fewest > 50 {
        Some(true)
    } else if most <= 50 {
        Some(false)
    } else {
        None
    }
}

impl Model {
    /// The steps of the document's execution flow, in its order.
    fn edit_file(&mut self, call: &EditCall) -> Expected {
        // 1. Validate required parameters.
        let (Some(old), Some(new)) = (&call.old, &call.new) else { return Expected::Unchanged };
        let path = &call.path;
        // 2. and 3. Resolve the path, and verify that it is within the project.
        if path.starts_with("../") || path.starts_with('/') {
            return Expected::StartsWith(format!(
                "Error: Path outside project root\nError: Path '{path}' is outside project root\n"
            ));
        }
        // 4. Read the file.
        if path == "src" {
            return Expected::Unchanged;
        }
        let Some(file) = self.files.get_mut(path) else {
            return Expected::StartsWith(format!("Error: File '{path}' not found\n"));
        };
        if let Some(deviation) = Deviation::find(old, new, &file.text) {
            return deviation.expected();
        }
        // 5. Count the occurrences.
        match count_substring(old, &file.text) {
            0 => {
                let searched: String = old.chars().take(200).collect();
                return Expected::StartsWith(format!(
                    "Error: String not found in file\nError: String not found in {path}\n\nSearched for:\n{searched}"
                ));
            }
            1 => {}
            count => {
                return Expected::StartsWith(format!(
                    "Error: Found {count} matches. Provide more context.\n\
                     Error: Found {count} matches for the search string in {path}.\n\n\
                     Please provide more surrounding context to make a unique match."
                ));
            }
        }
        // Escalation: "if change affects >50 lines", or on request.
        let at = file.text.find(old.as_str()).unwrap_or_default();
        let escalates = if call.propose { Some(true) } else { affects_more_than_50_lines(old, new) };
        match escalates {
            None => return Expected::Open,
            Some(true) => {
                self.proposals += 1;
                return Expected::Proposed;
            }
            Some(false) => {}
        }
        // 6. to 8. Replace, log, write.
        let first_line = file.text[..at].matches('\n').count() + 1;
        file.text.replace_range(at..at + old.len(), new);
        self.log.push((path.clone(), call.description.clone()));
        // 9. and 10. The mini-diff and the confirmation.
        Expected::Applied(Confirmation {
            path: path.clone(),
            description: call.description.clone(),
            first_line,
            old: old.clone(),
            new: new.clone(),
        })
    }

    fn propose_file_edit(&mut self, path: &str, content: &str) -> Expected {
        match self.files.get(path) {
            None => Expected::StartsWith(format!("Error: File '{path}' not found\n")),
            Some(file) if file.text == content => Expected::Unchanged,
            Some(_) => {
                self.proposals += 1;
                Expected::Proposed
            }
        }
    }
}

fn agrees(expected: &Expected, answer: &str, status: Status) -> bool {
    let is_error = answer.starts_with("Error");
    match expected {
        Expected::Applied(confirmation) => status == Status::Applied && confirmation.matches(answer),
        Expected::StartsWith(text) => !status.is_success() && answer.starts_with(text.as_str()),
        Expected::Proposed => status == Status::Pending && !is_error,
        Expected::Unchanged => status == Status::NoChange || (!status.is_success() && is_error),
        Expected::Open => true,
    }
}

/// One call. Texts are given by where they are taken from, because random ones would never match.
#[derive(Debug, Clone)]
enum Step {
    Edit { file: usize, old: OldText, new: Option<String>, description: Option<String>, propose: bool },
    Propose { file: usize, content: String },
}

#[derive(Debug, Clone)]
enum OldText {
    /// A part of the file's text, in thousandths of its length.
    Part(usize, usize),
    /// A part with its blanks doubled.
    OtherBlanks(usize, usize),
    Other(String),
    Missing,
}

const PATHS: [&str; 8] = [
    "a.lisp",
    "src/b.lisp",
    "crlf.txt",
    "long.lisp",
    "missing.lisp",
    "../outside.lisp",
    "/etc/passwd",
    "src",
];

fn part(text: &str, start: usize, length: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    let start = chars.len() * start / 1000;
    chars[start..].iter().take(length).collect()
}

fn old_text(old: &OldText, text: &str) -> Option<String> {
    match old {
        OldText::Part(start, length) => Some(part(text, *start, *length)),
        OldText::OtherBlanks(start, length) => Some(part(text, *start, *length).replace(' ', "  ")),
        OldText::Other(text) => Some(text.clone()),
        OldText::Missing => None,
    }
}

fn text() -> impl Strategy<Value = String> {
    "([ab(]{1,3}[ )]{0,2}|\\(defun [a-c]\\)|é|漢|🎈|\t|\n){0,24}"
}

fn step() -> impl Strategy<Value = Step> {
    let old = prop_oneof![
        12 => (0usize..1000, 1usize..12).prop_map(|(start, length)| OldText::Part(start, length)),
        2 => (0usize..400, 280usize..420).prop_map(|(start, length)| OldText::Part(start, length)),
        2 => (0usize..1000, 1usize..40).prop_map(|(start, length)| OldText::Part(start, length)),
        1 => (0usize..1000, 2usize..12).prop_map(|(start, length)| OldText::OtherBlanks(start, length)),
        1 => text().prop_map(OldText::Other),
        1 => "[z ]{190,260}".prop_map(OldText::Other),
        1 => Just(OldText::Missing),
    ];
    let new = prop_oneof![
        12 => text().prop_map(|text| Some(text.split_inclusive('\n').take(9).collect())),
        1 => (80usize..120).prop_map(|count| Some("line\n".repeat(count))),
        1 => Just(None),
    ];
    let file = prop_oneof![12 => 0usize..4, 1 => 4usize..PATHS.len()];
    let description = proptest::option::of("[A-Z][a-z]{1,9}");
    let edit = (file, old, new, description, prop::bool::weighted(0.05)).prop_map(
        |(file, old, new, description, propose)| Step::Edit { file, old, new, description, propose },
    );
    let propose = (0usize..5, text()).prop_map(|(file, content)| Step::Propose { file, content });
    prop_oneof![14 => edit, 1 => propose]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(super::scaled(500) as u32))]

    // Shows: 002-flow, INV-001, INV-003, count-substring-basic, count-substring-overlapping
    #[test]
    fn answers_files_and_log_agree_with_the_document(
        texts in [text(), text(), text()],
        steps in proptest::collection::vec(step(), 1..20),
    ) {
        let (files, journal) = (MemoryWorkspace::default(), MemoryJournal::default());
        let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin());
        let mut model = Model::default();
        // More than 50 lines, so that an edit can remove so many.
        let long: String = (0..90).map(|number| format!("({number:03})\n")).collect();
        for (path, text) in PATHS.iter().zip(texts.into_iter().chain([long])) {
            let buffer = Buffer { text, crlf: path.starts_with("crlf") };
            files.put(&FilePath::from_record(path).unwrap(), buffer.on_disk());
            model.files.insert((*path).to_owned(), buffer);
        }
        for step in steps {
            let (tool, arguments, expected) = match step {
                Step::Edit { file, old, new, description, propose } => {
                    let path = PATHS[file].to_owned();
                    let current = model.files.get(&path).map_or("", |file| file.text.as_str());
                    // A file that has lost its line breaks has no style to keep.
                    let breaks = [old_text(&old, current), new.clone()].into_iter().flatten().any(|text| text.contains('\n'));
                    if path.starts_with("crlf") && breaks && current.matches('\n').count() < 9 {
                        continue;
                    }
                    let call = EditCall { old: old_text(&old, current), path, new, description, propose };
                    let expected = model.edit_file(&call);
                    if expected == Expected::Open {
                        continue;
                    }
                    ("edit_file", call.arguments(), expected)
                }
                Step::Propose { file, content } => {
                    let arguments = json!({"path": PATHS[file], "new_content": content});
                    ("propose_file_edit", arguments, model.propose_file_edit(PATHS[file], &content))
                }
            };
            let request = Request { dialect: "agent-q".into(), tool: tool.into(), arguments: arguments.clone() };
            let answer = engine.call(request, &mut Auto);
            prop_assert!(agrees(&expected, &answer.text, answer.report.status()), "{arguments}\nexpected {expected:?}\nanswered {:?}", answer.text);
            for (path, file) in &model.files {
                let found = files.get(&FilePath::from_record(path).unwrap()).unwrap();
                prop_assert_eq!(String::from_utf8(found).unwrap(), file.on_disk(), "{}", arguments);
            }
        }
        let mut log = journal.list(&Filter::default()).unwrap();
        log.reverse();
        let logged: Vec<(String, Option<String>)> =
            log.iter().map(|change| (change.files[0].path_after.as_ref().unwrap().to_string(), change.description.clone())).collect();
        prop_assert_eq!(logged, model.log);
        prop_assert!(log.iter().all(|change| change.labels.as_ref().is_some_and(|labels| labels.log_level == "cautious")));
        // The same proposal made again while it waits is still one.
        let waiting = journal.proposals().unwrap().len();
        prop_assert!(waiting <= model.proposals && (waiting == 0) == (model.proposals == 0), "{} of {}", waiting, model.proposals);
    }
}

#[test]
fn the_model_counts_as_the_document_does() {
    assert_eq!(count_substring("aa", "aaa"), 1);
    assert_eq!(count_substring("aa", "aaaa"), 2);
    assert_eq!(count_substring("foo bar", "foo  bar"), 0);
    assert_eq!(count_substring("a\nb", "a\nb\na\nb"), 2);
    assert!(overlaps_itself("aa", "aaa") && !overlaps_itself("ab", "abab"));
}

#[test]
fn deviations_are_recognized() {
    assert_eq!(Deviation::find("aa", "b", "aaa"), Some(Deviation::Overlap));
    assert_eq!(Deviation::find("aa", "b", "aaaa"), None, "the document refuses two matches");
    assert_eq!(Deviation::find("aa", "b", "aab"), None);
    assert_eq!(Deviation::find(" \n", "b", "a \n"), Some(Deviation::Blank));
    assert_eq!(Deviation::find("a", "a", "a b"), Some(Deviation::SameText));
    assert_eq!(Deviation::find("a", "a", "b"), None, "the document refuses text that is not there");
}

#[test]
fn readings_of_affected_lines_are_told_apart() {
    let lines = |count: usize, word: &str| format!("{word}\n").repeat(count);
    assert_eq!(affects_more_than_50_lines("a\n", &lines(60, "b")), Some(true));
    assert_eq!(affects_more_than_50_lines(&lines(60, "a"), "b\n"), Some(true));
    assert_eq!(affects_more_than_50_lines(&lines(60, "a"), &lines(61, "a")), None, "one line differs");
    assert_eq!(affects_more_than_50_lines(&lines(30, "a"), &lines(30, "b")), None, "30 or 60");
    assert_eq!(affects_more_than_50_lines(&lines(20, "a"), &lines(20, "b")), Some(false));
}

/// A model that agrees with everything would show nothing.
#[test]
fn the_comparison_notices_differences() {
    let applied = "✓ Edit applied to a\n\nLines affected: 2-3\nDiff:\n  - x\n  + y\n  + z";
    let says = Confirmation {
        path: "a".into(),
        description: None,
        first_line: 2,
        old: "x".into(),
        new: "y\nz\n".into(),
    };
    assert!(says.matches(applied) && says.matches(&format!("{applied}\nWarning: w")));
    for other in [
        Confirmation { first_line: 3, ..says.clone() },
        Confirmation { old: "X".into(), ..says.clone() },
        Confirmation { new: "y".into(), ..says.clone() },
        Confirmation { new: "y\nz\nlast".into(), ..says.clone() },
        Confirmation { path: "b".into(), ..says.clone() },
        Confirmation { description: Some("why".into()), ..says.clone() },
    ] {
        assert!(!other.matches(applied), "{other:?}");
    }
    assert!(!says.matches(&format!("{applied}\nmore")));
    let numbers = |count: usize| (1..=count).map(|n| format!("{n}\n")).collect::<String>();
    assert!(is_side_of(&["1", "2", "3", "… (2 more lines)"], &numbers(5)));
    assert!(!is_side_of(&["1", "2", "3", "… (4 more lines)"], &numbers(5)));
    assert!(
        !is_side_of(&["1", "2", "3"], &numbers(5)) && !is_side_of(&["1", "… (1 more line)"], &numbers(2))
    );
    let applied_as = |expected, status| agrees(&expected, applied, status);
    assert!(applied_as(Expected::Applied(says.clone()), Status::Applied));
    assert!(!applied_as(Expected::Applied(says), Status::Pending));
    assert!(
        !applied_as(Expected::Unchanged, Status::Applied) && !applied_as(Expected::Proposed, Status::Applied)
    );
}
