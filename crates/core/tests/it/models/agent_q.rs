//! The model of `agent-q`'s `edit_file`, `propose_file_edit` and their errors.
//!
//! Not generated: Emacs (`crates/editors/tests/emacs`), files that cannot be written (`review.rs`), symlinks
//! (`crates/cli/tests/it/cli/agent_q.rs`), mixed line endings (`newlines.rs`), and the tools of which the document has only names.
//!
//! The engine deliberately differs from the document in two cases, where the document would change a place that may not be meant:
//! [`Deviation`] lists them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use slipstitch_core::engine::{Engine, Request};
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
#[derive(Debug, PartialEq)]
enum Expected {
    /// It starts with this text; only warnings may follow.
    Exactly(String),
    /// It starts with this text.
    StartsWith(String),
    /// It is an error, or says that nothing changed.
    Unchanged,
    /// The document does not say.
    Open,
}

/// Why an edit is refused that the document would apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deviation {
    /// The text has one match and another one that overlaps it: `aa` in `aaa`. Which of them is meant is unknown.
    Overlap,
    /// The text has no visible character, or none at all. It would match almost everywhere, so it is a slip.
    Blank,
}

impl Deviation {
    fn find(old: &str, text: &str) -> Option<Self> {
        if old.trim().is_empty() {
            return Some(Self::Blank);
        }
        (count_substring(old, text) == 1 && overlaps_itself(old, text)).then_some(Self::Overlap)
    }

    fn expected(self) -> Expected {
        match self {
            Self::Overlap => Expected::StartsWith("Error: Found 1 match, and ".into()),
            Self::Blank => Expected::Unchanged,
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

/// How many lines of a side the mini-diff shows.
const SHOWN: usize = 10;

/// `generate-mini-diff`.
fn mini_diff(old: &str, new: &str) -> String {
    // Whole lines are shown as such; otherwise every line break starts another line.
    let is_whole = new.is_empty() || (old.ends_with('\n') && new.ends_with('\n'));
    let side = |sign: char, text: &str| -> String {
        let body = if is_whole { text.strip_suffix('\n').unwrap_or(text) } else { text };
        let lines: Vec<&str> = body.split('\n').filter(|_| !text.is_empty()).collect();
        let shown: String = lines.iter().take(SHOWN).map(|line| format!("\n  {sign} {line}")).collect();
        match lines.len().saturating_sub(SHOWN) {
            0 => shown,
            1 => format!("{shown}\n  {sign} … (1 more line)"),
            more => format!("{shown}\n  {sign} … ({more} more lines)"),
        }
    };
    format!("Diff:{}{}", side('-', old), side('+', new))
}

impl Model {
    /// The steps of the document's execution flow, in its order.
    fn edit_file(&mut self, call: &EditCall) -> Expected {
        // 1. Validate required parameters.
        let (Some(old), Some(new)) = (&call.old, &call.new) else { return Expected::Unchanged };
        let path = &call.path;
        // 2. and 3. Resolve the path, and verify that it is within the project.
        if path.starts_with("../") || path.starts_with('/') {
            let long = format!(
                "Error: Path outside project root\nError: Path '{path}' is outside project root\n\
                     `{path}` is outside the project root `/memory`. Only files inside the root can be used; give a path relative to it."
            );
            return Expected::Exactly(long);
        }
        // 4. Read the file.
        if path == "src" {
            return Expected::Unchanged;
        }
        let Some(file) = self.files.get_mut(path) else {
            return Expected::StartsWith(format!("Error: File '{path}' not found\n"));
        };
        if let Some(deviation) = Deviation::find(old, &file.text) {
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
        if old == new {
            return Expected::Unchanged;
        }
        // Escalation: "if change affects >50 lines", or on request.
        let at = file.text.find(old.as_str()).unwrap_or_default();
        let affected = old.lines().count().max(new.lines().count());
        // Whether a line counts that is joined with the old text's last one, the document does not say.
        if affected == 50 && old.ends_with('\n') && !new.ends_with('\n') {
            return Expected::Open;
        }
        if call.propose || affected > 50 {
            self.proposals += 1;
            return Expected::StartsWith(format!("Edit to {path} proposed as p{}", self.proposals));
        }
        // 6. to 8. Replace, log, write.
        let line = file.text[..at].matches('\n').count() + 1;
        file.text.replace_range(at..at + old.len(), new);
        self.log.push((path.clone(), call.description.clone()));
        // 9. and 10. The mini-diff and the confirmation.
        let change = call.description.as_ref().map_or(String::new(), |text| format!("Change: {text}\n"));
        let headline = format!("✓ Edit applied to {path}\n\n{change}");
        Expected::Exactly(format!("{headline}Lines affected: {line}-…\n{}", mini_diff(old, new)))
    }

    fn propose_file_edit(&mut self, path: &str, content: &str) -> Expected {
        match self.files.get(path) {
            None => Expected::StartsWith(format!("Error: File '{path}' not found\n")),
            Some(file) if file.text == content => Expected::Unchanged,
            Some(_) => {
                self.proposals += 1;
                Expected::StartsWith(format!("Edit to {path} proposed as p{}", self.proposals))
            }
        }
    }
}

/// Hides the last affected line: the document's example does not say how it is counted.
fn hide_last_line(answer: &str) -> String {
    let Some((before, rest)) = answer.split_once("\nLines affected: ") else { return answer.into() };
    let (lines, after) = rest.split_once('\n').unwrap_or((rest, ""));
    let first = lines.split('-').next().unwrap_or_default();
    format!("{before}\nLines affected: {first}-…\n{after}")
}

fn agrees(expected: &Expected, answer: &str) -> bool {
    let answer = hide_last_line(answer);
    match expected {
        Expected::Exactly(text) => answer.strip_prefix(text.as_str()).is_some_and(|rest| {
            rest.is_empty() || rest.lines().skip(1).all(|line| line.starts_with("Warning: "))
        }),
        Expected::StartsWith(text) => answer.starts_with(text.as_str()),
        Expected::Unchanged => answer.starts_with("Error") || answer.starts_with("No change"),
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
    #![proptest_config(ProptestConfig::with_cases(500))]

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
            prop_assert!(agrees(&expected, &answer.text), "{arguments}\nexpected {expected:?}\nanswered {:?}", answer.text);
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
        prop_assert_eq!(journal.proposals().unwrap().len(), model.proposals);
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
    assert_eq!(Deviation::find("aa", "aaa"), Some(Deviation::Overlap));
    assert_eq!(Deviation::find("aa", "aaaa"), None, "the document refuses two matches");
    assert_eq!(Deviation::find("aa", "aab"), None);
    assert_eq!(Deviation::find(" \n", "a \n"), Some(Deviation::Blank));
}

/// A model that agrees with everything would show nothing.
#[test]
fn the_comparison_notices_differences() {
    let applied = "✓ Edit applied to a\n\nLines affected: 2-3\nDiff:\n  - x\n  + y";
    let exactly = |text: &str| Expected::Exactly(text.into());
    assert!(agrees(&exactly("✓ Edit applied to a\n\nLines affected: 2-…\nDiff:\n  - x\n  + y"), applied));
    assert!(!agrees(&exactly("✓ Edit applied to a\n\nLines affected: 3-…\nDiff:\n  - x\n  + y"), applied));
    assert!(!agrees(&exactly("✓ Edit applied to a\n\nLines affected: 2-…\nDiff:\n  - x"), applied));
    assert!(!agrees(&Expected::Unchanged, applied));
}
