//! Random calls of `patch`, compared with the model.

mod deviations;
mod diff;
mod generate;
mod model;

use serde_json::{Value, json};
use slipstitch_core::engine::Answer;
use slipstitch_core::outcome::Status;

use super::model::Verdict;
use super::{CALLS, Files, Tally, generate as files, seeds};
use crate::gauntlet::random::Random;
use diff::{Headers, Writing};
use model::{Mode, Place, Request};

/// Where a call's diff is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    Inline,
    File,
    MissingFile,
    Both,
    Neither,
}

/// A call with all that the model has to know about it.
struct Call {
    request: Request,
    writing: Writing,
    source: Source,
    target: &'static str,
    diff: String,
}

impl Call {
    fn random(text: &str, random: &mut Random) -> Self {
        let request = generate::request(text, random);
        let writing = Writing::random(random);
        let source = match random.below(20) {
            0 => Source::MissingFile,
            1 => Source::Both,
            2 => Source::Neither,
            3..8 => Source::File,
            _ => Source::Inline,
        };
        let target = super::target(random);
        let diff = diff::write(&request.hunks, writing, random);
        Self { request, writing, source, target, diff }
    }

    fn arguments(&self, dry: bool) -> Value {
        let name = match self.request.mode {
            Mode::Strict => "strict",
            Mode::Tolerant => "tolerant",
            Mode::Fuzzy(_) => "fuzzy",
        };
        let mut arguments = json!({"target": self.target, "mode": name});
        if let Mode::Fuzzy(threshold) = self.request.mode {
            arguments["fuzzy_threshold"] = threshold.into();
        }
        if matches!(self.source, Source::Inline | Source::Both) {
            arguments["diff"] = self.diff.as_str().into();
        }
        match self.source {
            Source::File | Source::Both => arguments["diff_file"] = "changes.diff".into(),
            Source::MissingFile => arguments["diff_file"] = "missing.diff".into(),
            Source::Inline | Source::Neither => {}
        }
        for (name, value) in [("strict_validation", self.request.strict_validation), ("dry_run", dry)] {
            if value {
                arguments[name] = true.into();
            }
        }
        arguments
    }

    /// What must happen to the file, and where each hunk goes if its text decides.
    fn expected(&self, text: &str) -> (Verdict, Option<Vec<Place>>) {
        let Writing { headers, wrong_counts, bare_blanks, crlf } = self.writing;
        let is_refused = self.target != super::FILE
            || !matches!(self.source, Source::Inline | Source::File)
            || matches!(headers, Headers::OnlyOthers | Headers::Traversal)
            || (wrong_counts && self.request.strict_validation);
        if is_refused {
            return (Verdict::Refused, None);
        }
        let (verdict, places) = model::patch(text, &self.request);
        // Whether a blank line at the end belongs to a hunk, only its counts tell. A prefix that is missing and `\r` are
        // mistakes that are repaired, so strict validation may refuse them.
        let has_bare_blanks = bare_blanks && {
            let is_blank = |(prefix, line): &(char, String)| *prefix == ' ' && line.is_empty();
            self.request.hunks.iter().any(|hunk| hunk.lines.iter().any(is_blank))
        };
        let is_insertion = self.request.hunks.iter().any(|hunk| hunk.old_lines().is_empty());
        let is_open = (has_bare_blanks && (wrong_counts || self.request.strict_validation))
            || (crlf && self.request.strict_validation)
            || (wrong_counts && (headers == Headers::Mail || is_insertion));
        if is_open || verdict == Verdict::Open { (Verdict::Open, None) } else { (verdict, Some(places)) }
    }
}

/// `1 hunk` or `3 hunks`.
fn count(hunks: usize) -> String {
    if hunks == 1 { "1 hunk".to_owned() } else { format!("{hunks} hunks") }
}

/// The line of a failed hunk: "context mismatch at line 45", what was expected and what was found.
fn check_failure(lines: &[&str], number: usize, call: &Call, text: &str) {
    let head = format!("  Hunk {number} failed: ");
    let at =
        lines.iter().position(|line| line.starts_with(&head)).unwrap_or_else(|| panic!("{head} {lines:#?}"));
    let Some(line) = lines[at].strip_prefix(&format!("{head}context mismatch at line ")) else { return };
    let line: usize = line.parse().expect("a line number");
    let expected = lines[at + 1].strip_prefix("    Expected: \"").and_then(|rest| rest.strip_suffix('"'));
    let expected = expected.unwrap_or_else(|| panic!("{lines:#?}"));
    assert!(call.request.hunks[number - 1].old_lines().contains(&expected), "{lines:#?}");
    let found = match text.lines().nth(line - 1) {
        Some(found) => format!("    Found:    \"{found}\""),
        None => "    Found:    end of file".to_owned(),
    };
    assert_eq!(lines[at + 2], found, "{lines:#?}");
}

/// The warnings about hunks that are not exactly where the diff says.
fn check_placed(answer: &Answer, call: &Call, places: &[Place], dry: bool) {
    let verb = if dry { "would apply" } else { "applied" };
    let warns = |text: String| {
        let is_there = answer.text.lines().any(|line| line.starts_with(&format!("  Warning: {text}")));
        assert!(is_there, "{text}\n{}", answer.text);
    };
    for ((number, place), hunk) in (1..).zip(places).zip(&call.request.hunks) {
        let line = |at: usize| at + 1;
        match *place {
            Place::Exact(at) if !hunk.old_lines().is_empty() && line(at) != hunk.start => warns(format!(
                "Hunk {number} {verb} at line {}, not at line {} as its header says",
                line(at),
                hunk.start
            )),
            // "Hunk 2 applied via fuzzy match (87% similarity at line 23)".
            Place::Similar(at, ratio) => warns(format!(
                "Hunk {number} {verb} via fuzzy match ({:.0}% similarity at line {})",
                (100.0 * ratio).round().min(99.0),
                line(at)
            )),
            Place::Best(..) => warns(format!("Hunk {number} {verb} via fuzzy match (")),
            Place::Exact(_) | Place::Whitespace(_) | Place::Nowhere | Place::Open => {}
        }
    }
}

/// Compares the answer to a patch with the formats of the specification.
fn check_answer(answer: &Answer, call: &Call, places: Option<&[Place]>, text: &str, dry: bool) {
    let lines: Vec<&str> = answer.text.lines().collect();
    let hunks = call.request.hunks.len();
    match answer.report.status() {
        Status::Applied => {
            assert_eq!(lines[0], format!("Applied patch to f.py: {} applied", count(hunks)));
        }
        Status::WouldApply => {
            let would = format!("  f.py: {} would apply", count(hunks));
            assert_eq!(lines[..2], ["Dry run - no changes made:", &would]);
            assert!(!answer.text.contains("applied"), "a dry run says what would be: {}", answer.text);
        }
        Status::Refused if places.is_some() && dry => {
            assert_eq!(lines[..2], ["Dry run - no changes made:", "  f.py: the patch would fail"]);
            let says_was_applied = |line: &&str| line.starts_with("  Hunk") && line.ends_with(": applied");
            assert!(!lines.iter().any(says_was_applied), "a dry run says what would be: {}", answer.text);
        }
        Status::Refused if places.is_some() => {
            assert_eq!(lines[0], "Patch failed on f.py:");
            assert!(lines.contains(&"No changes made (atomic rollback)."), "{}", answer.text);
        }
        Status::Refused | Status::Invalid => assert!(!answer.text.trim().is_empty()),
        Status::AlreadyApplied | Status::NoChange => {}
        other => panic!("{other:?}, dry run: {dry}: {}", answer.text),
    }
    let Some(places) = places else { return };
    let failing: Vec<usize> =
        (1..).zip(places).filter(|(_, place)| **place == Place::Nowhere).map(|(number, _)| number).collect();
    if matches!(answer.report.status(), Status::Refused) {
        failing.iter().for_each(|number| check_failure(&lines, *number, call, text));
        let told = lines.iter().filter(|line| line.starts_with("  Hunk ") && line.contains(" failed: "));
        let doubtful = places.iter().filter(|place| matches!(place, Place::Best(..))).count();
        let (count, least) = (told.count(), failing.len());
        assert!((least..=least + doubtful).contains(&count), "{places:?}\n{}\n{}", call.diff, answer.text);
    } else if matches!(answer.report.status(), Status::Applied | Status::WouldApply) {
        check_placed(answer, call, places, dry);
        if call.writing.headers == Headers::Several {
            let warning = "  Warning: Diff contains 3 files, applying only hunks for f.py";
            assert!(lines.contains(&warning), "{}", answer.text);
        }
    }
}

/// Makes the call of a seed, and the same as a dry run. Returns its mode and verdict.
fn compare(seed: u64) -> Option<(Mode, Verdict)> {
    let mut random = Random::new(seed);
    let text = files::file(&mut random);
    let call = Call::random(&text, &mut random);
    if call.request.hunks.is_empty() {
        return None;
    }
    let (verdict, places) = call.expected(&text);
    let files = Files { text: &text, crlf: random.chance(50), diff: &call.diff };
    let answer = files.check(&verdict, "patch", &call.arguments(false));
    check_answer(&answer, &call, places.as_deref(), &text, false);
    let (dry, after) = files.call("patch", call.arguments(true));
    assert_eq!(after, files.on_disk(&text), "a dry run writes nothing");
    assert_eq!(dry.report.status() == Status::WouldApply, answer.report.status() == Status::Applied);
    check_answer(&dry, &call, places.as_deref(), &text, true);
    Some((call.request.mode, verdict))
}

// Shows: P3.6, test_strict_exact_match, test_strict_context_mismatch, test_tolerant_whitespace, test_fuzzy_threshold
// Shows: test_no_newline_at_eof, test_parse_git_format, test_patch_from_file, 004-patch-strict-validation
// Shows: 004-patch-several-files, 004-patch-traversal, 004-patch-output-fuzzy, 004-patch-offset-named
// Shows: 004-patch-fix-final-newline
#[test]
fn patch_agrees_with_the_model() {
    let mut tallies: [Tally; 3] = Default::default();
    for (mode, verdict) in seeds(2 * CALLS).filter_map(compare) {
        let tally = match mode {
            Mode::Strict => &mut tallies[0],
            Mode::Tolerant => &mut tallies[1],
            Mode::Fuzzy(_) => &mut tallies[2],
        };
        tally.count(&verdict);
    }
    for tally in tallies {
        tally.assert_at_least(600, 700);
    }
}
