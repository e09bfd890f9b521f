//! Thousands of random calls of the `nexus3` tools, compared with a model of their specification. `MODEL_SCALE` and `MODEL_SEED`
//! are those of `models.rs`.
//!
//! Not generated: mixed line endings (`newlines.rs`), diffs that create or delete the file, malformed `@@` lines and absolute headers
//! (fixtures and unit tests), hunks out of order or with shared lines (`hunks.rs`). Texts of 200 characters and more, which
//! `SequenceMatcher` treats differently, are compared with Python's own results (`find/sequence_matcher.rs`).

mod deviations;
mod generate;
mod model;
mod patch;

use serde_json::{Value, json};
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::outcome::Status;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};

use crate::gauntlet::random::Random;
use crate::rig::path;
use deviations::{Deviation, overlaps_itself};
use model::{Edit, Problem, Verdict};

/// The seeds of the calls.
fn seeds(count: usize) -> std::ops::Range<u64> {
    let first = crate::models::seed(0);
    first..first + crate::models::scaled(count) as u64
}

const CALLS: usize = 4000;

/// The file that calls change.
const FILE: &str = "f.py";

/// The path of a call: mostly the file's, sometimes one that no tool can edit.
fn target(random: &mut Random) -> &'static str {
    match random.below(40) {
        0 => "missing.py",
        1 => "folder",
        2 => "../f.py",
        3 => "/etc/f.py",
        _ => FILE,
    }
}

/// The files around a call.
struct Files<'a> {
    text: &'a str,
    /// Whether the file has CRLF line endings; one without any line break has none to keep.
    crlf: bool,
    diff: &'a str,
}

impl Files<'_> {
    fn on_disk(&self, text: &str) -> String {
        if self.crlf && self.text.contains('\n') { text.replace('\n', "\r\n") } else { text.to_owned() }
    }

    /// Calls a tool; returns the answer and the text after it.
    fn call(&self, tool: &str, arguments: Value) -> (Answer, String) {
        let (files, journal) = (MemoryWorkspace::default(), MemoryJournal::default());
        files.put(&path(FILE), self.on_disk(self.text));
        files.put(&path("folder/inside.py"), "one\n");
        files.put(&path("changes.diff"), self.diff);
        let before = files.all();
        let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin()).session("model");
        let request = Request { dialect: "nexus3".into(), tool: tool.into(), arguments };
        let answer = engine.call(request, &mut Auto);
        let mut after = files.all();
        let text = after.remove(&path(FILE)).expect("the file is there");
        assert!(after.iter().all(|(path, bytes)| before.get(path) == Some(bytes)), "only {FILE} is written");
        (answer, String::from_utf8(text).expect("it is text"))
    }

    /// Compares the outcome of a call with the verdict of the model.
    #[track_caller]
    fn check(&self, verdict: &Verdict, tool: &str, arguments: &Value) -> Answer {
        let text = self.text;
        let (answer, after) = self.call(tool, arguments.clone());
        let status = answer.report.status();
        let context =
            || format!("{arguments:#}\ndiff:\n{}\nfile:\n{text:?}\nanswer:\n{}", self.diff, answer.text);
        let verdict = match verdict {
            Verdict::OrRefused(_) if status == Status::Refused => &Verdict::Refused,
            Verdict::OrRefused(otherwise) => otherwise,
            definite => definite,
        };
        match verdict {
            Verdict::Open => {}
            Verdict::Refused => {
                let is_refused = matches!(
                    status,
                    Status::Refused | Status::Invalid | Status::AlreadyApplied | Status::NoChange
                );
                assert!(is_refused, "the model refuses: {}", context());
                assert_eq!(after, self.on_disk(text), "nothing is written: {}", context());
            }
            Verdict::Becomes(expected) => {
                let unchanged = expected == text;
                assert_eq!(after, self.on_disk(expected), "{}", context());
                assert_eq!(status == Status::Applied, !unchanged, "{status:?}: {}", context());
            }
            Verdict::BecomesOneOf(texts) => {
                assert!(texts.iter().any(|text| after == self.on_disk(text)), "{texts:?}: {}", context());
            }
            Verdict::OrRefused(_) => unreachable!("settled before"),
            Verdict::BecomesIndented(expected) => {
                let trimmed = |text: &str| text.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
                assert_eq!(trimmed(&after), trimmed(expected), "{}", context());
                assert_eq!(after.ends_with('\n'), expected.ends_with('\n'), "{}", context());
            }
        }
        answer
    }
}

/// How many verdicts were definite, so that a test that compares too little fails.
#[derive(Default)]
struct Tally {
    applied: usize,
    refused: usize,
}

impl Tally {
    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Becomes(_) | Verdict::BecomesOneOf(_) | Verdict::BecomesIndented(_) => self.applied += 1,
            Verdict::Refused => self.refused += 1,
            Verdict::OrRefused(_) | Verdict::Open => {}
        }
    }

    #[track_caller]
    fn assert_at_least(&self, applied: usize, refused: usize) {
        assert!(self.applied >= applied && self.refused >= refused, "{} {}", self.applied, self.refused);
    }
}

fn as_json(edit: &Edit) -> Value {
    let mut out = json!({"old_string": edit.old, "new_string": edit.new});
    if edit.all {
        out["replace_all"] = true.into();
    }
    out
}

/// A string as the answers quote it, if it is short enough to be quoted whole.
fn quoted(text: &str) -> Option<String> {
    (!text.contains('\n') && text.chars().count() <= 60).then(|| format!("\"{text}\""))
}

/// The line of a failed edit, as the specification gives it, or its start.
fn failure_line(number: usize, edit: &Edit, problem: &Problem, text: &str) -> Option<String> {
    let old = quoted(&edit.old)?;
    Some(match problem {
        Problem::NotFound => format!("  Edit {number}: {old} not found in file"),
        // `replace_all` is not suggested if it would be refused, too.
        Problem::Appears(times) if overlaps_itself(text, &edit.old) => {
            format!("  Edit {number}: {old} appears {times} times, and ")
        }
        Problem::Appears(times) => format!(
            "  Edit {number}: {old} appears {times} times. Use replace_all=true or provide more context."
        ),
    })
}

// Shows: P1.2, P1.4, 004-output-success, 004-output-not-found, 004-output-ambiguous
#[test]
fn edit_file_agrees_with_the_model() {
    let mut tally = Tally::default();
    let mut deviations = Vec::new();
    for seed in seeds(CALLS) {
        let mut random = Random::new(seed);
        let text = generate::file(&mut random);
        let count = if random.chance(40) { 0 } else { random.from(1, 4) };
        let edits: Vec<Edit> = (0..count.max(1)).map(|_| generate::edit(&text, &mut random)).collect();
        let path = target(&mut random);
        let (verdict, problems) = match path {
            FILE => model::replace(&text, &edits),
            _ => (Verdict::Refused, Vec::new()),
        };
        let deviation = deviations::find(&text, &edits).filter(|_| matches!(verdict, Verdict::Becomes(_)));
        deviations.extend(deviation);
        let verdict = if deviation.is_some() { Verdict::Refused } else { verdict };
        tally.count(&verdict);
        let mut arguments = json!({"path": path});
        if count == 0 {
            arguments = as_json(&edits[0]);
            arguments["path"] = path.into();
        } else {
            arguments["edits"] = edits.iter().map(as_json).collect();
        }
        // What clients send for fields that they do not use.
        if random.chance(15) {
            let unused: &[&str] =
                if count == 0 { &["edits"] } else { &["old_string", "new_string", "replace_all"] };
            for name in unused {
                arguments[*name] = Value::Null;
            }
        }
        let files = Files { text: &text, crlf: random.chance(50), diff: "" };
        let answer = files.check(&verdict, "edit_file", &arguments);
        let lines: Vec<&str> = answer.text.lines().collect();
        if count == 0 || path != FILE {
            continue;
        }
        match verdict {
            Verdict::Refused => {
                assert_eq!(lines[0], "Batch edit failed (no changes made):", "{}", answer.text);
                for (number, problem) in problems {
                    if let Some(start) = failure_line(number, &edits[number - 1], &problem, &text) {
                        assert!(
                            lines.iter().any(|line| line.starts_with(&start)),
                            "{start}\n{}",
                            answer.text
                        );
                    }
                }
            }
            Verdict::Becomes(after) if after != text => {
                let plural = if count == 1 { "" } else { "s" };
                assert_eq!(lines[0], format!("Applied {count} edit{plural} to f.py:"));
                for (number, edit) in (1..).zip(&edits).filter(|(_, edit)| !edit.all) {
                    let Some(old) = quoted(&edit.old) else { continue };
                    // Line numbers refer to the original file.
                    let line = model::line_of(&text, &edit.old);
                    assert_eq!(lines[number], format!("  {number}. Replaced {old} (line {line})"));
                }
            }
            Verdict::Becomes(_)
            | Verdict::BecomesOneOf(_)
            | Verdict::BecomesIndented(_)
            | Verdict::OrRefused(_)
            | Verdict::Open => {}
        }
    }
    tally.assert_at_least(1000, 1000);
    for deviation in [Deviation::Overlap, Deviation::Recount] {
        let count = deviations.iter().filter(|found| **found == deviation).count();
        assert!((5..crate::models::scaled(CALLS) / 20).contains(&count), "{deviation:?}: {count}");
    }
}

// Shows: test_start_line_validation, test_end_line_validation, test_line_out_of_bounds, test_newline_handling
#[test]
fn edit_lines_agrees_with_the_model() {
    let mut tally = Tally::default();
    for seed in seeds(CALLS) {
        let mut random = Random::new(seed);
        let text = generate::file(&mut random);
        let count = text.lines().count();
        let start = random.below(count + 2);
        let end = random.chance(60).then(|| (start + random.below(4)).saturating_sub(random.below(2)));
        let mut new: String = (0..random.below(4)).map(|n| format!("new_{n}\n")).collect();
        if random.chance(50) {
            new.pop();
        }
        let path = target(&mut random);
        let verdict = match path {
            FILE => model::replace_lines(&text, start, end, &new),
            _ => Verdict::Refused,
        };
        tally.count(&verdict);
        let mut arguments = json!({"path": path, "start_line": start, "new_content": new});
        if let Some(end) = end {
            arguments["end_line"] = end.into();
        }
        Files { text: &text, crlf: random.chance(50), diff: "" }.check(&verdict, "edit_lines", &arguments);
    }
    tally.assert_at_least(1500, 500);
}
