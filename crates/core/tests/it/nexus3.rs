//! Thousands of random calls of the `nexus3` tools, compared with a model of their specification.

mod generate;
mod model;

use serde_json::{Value, json};
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::outcome::Status;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};

use crate::gauntlet::random::Random;
use crate::rig::path;
use model::{Edit, Mode, Problem, Verdict};

const CALLS: u64 = 4000;

/// Calls a tool on a file `f.py`; returns the answer and the text after it.
fn call(text: &str, tool: &str, arguments: Value) -> (Answer, String) {
    let (files, journal) = (MemoryWorkspace::default(), MemoryJournal::default());
    files.put(&path("f.py"), text);
    let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin()).session("model");
    let request = Request { dialect: "nexus3".into(), tool: tool.into(), arguments };
    let answer = engine.call(request, &mut Auto);
    let after = String::from_utf8(files.get(&path("f.py")).expect("the file is there")).expect("it is text");
    (answer, after)
}

/// Compares the outcome of a call with the verdict of the model. Half of the files have CRLF line endings.
#[track_caller]
fn check(verdict: &Verdict, text: &str, tool: &str, arguments: &Value, crlf: bool) -> Answer {
    let encoded = |text: &str| if crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
    let (answer, after) = call(&encoded(text), tool, arguments.clone());
    let status = answer.report.status();
    let context = || format!("{arguments:#}\nfile:\n{text}\nanswer:\n{}", answer.text);
    match verdict {
        Verdict::Open => {}
        Verdict::Refused => {
            let is_refused = matches!(
                status,
                Status::Refused | Status::Invalid | Status::AlreadyApplied | Status::NoChange
            );
            assert!(is_refused, "the model refuses: {}", context());
            assert_eq!(after, encoded(text), "nothing is written: {}", context());
        }
        Verdict::Becomes(expected) => {
            let unchanged = expected == text;
            assert_eq!(after, encoded(expected), "{}", context());
            assert_eq!(status == Status::Applied, !unchanged, "{status:?}: {}", context());
        }
    }
    answer
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
            Verdict::Becomes(_) => self.applied += 1,
            Verdict::Refused => self.refused += 1,
            Verdict::Open => {}
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

/// The line of a failed edit, as the specification gives it.
fn failure_line(number: usize, edit: &Edit, problem: &Problem) -> Option<String> {
    let old = quoted(&edit.old)?;
    Some(match problem {
        Problem::NotFound => format!("  Edit {number}: {old} not found in file"),
        Problem::Appears(times) => format!(
            "  Edit {number}: {old} appears {times} times. Use replace_all=true or provide more context."
        ),
    })
}

// Shows: P1.2, P1.4, 004-output-success, 004-output-not-found, 004-output-ambiguous
#[test]
fn edit_file_agrees_with_the_model() {
    let mut tally = Tally::default();
    for seed in 0..CALLS {
        let mut random = Random::new(seed);
        let mut text = generate::file(&mut random);
        if random.chance(20) {
            text.pop();
        }
        let count = if random.chance(40) { 0 } else { random.from(1, 4) };
        let edits: Vec<Edit> = (0..count.max(1)).map(|_| generate::edit(&text, &mut random)).collect();
        let (verdict, problems) = model::replace(&text, &edits);
        tally.count(&verdict);
        let mut arguments = json!({"path": "f.py"});
        if count == 0 {
            arguments = as_json(&edits[0]);
            arguments["path"] = "f.py".into();
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
        let answer = check(&verdict, &text, "edit_file", &arguments, random.chance(50));
        let lines: Vec<&str> = answer.text.lines().collect();
        if count == 0 {
            continue;
        }
        match verdict {
            Verdict::Refused => {
                assert_eq!(lines[0], "Batch edit failed (no changes made):", "{}", answer.text);
                for (number, problem) in problems {
                    if let Some(line) = failure_line(number, &edits[number - 1], &problem) {
                        assert!(lines.contains(&line.as_str()), "{line}\n{}", answer.text);
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
            Verdict::Becomes(_) | Verdict::Open => {}
        }
    }
    tally.assert_at_least(1000, 1000);
}

// Shows: test_start_line_validation, test_end_line_validation, test_line_out_of_bounds, test_newline_handling
#[test]
fn edit_lines_agrees_with_the_model() {
    let mut tally = Tally::default();
    for seed in 0..CALLS {
        let mut random = Random::new(seed);
        let text = generate::file(&mut random);
        let count = text.lines().count();
        let start = random.below(count + 2);
        let end = random.chance(60).then(|| (start + random.below(4)).saturating_sub(random.below(2)));
        let mut new: String = (0..random.below(4)).map(|n| format!("new_{n}\n")).collect();
        if random.chance(50) {
            new.pop();
        }
        let verdict = model::replace_lines(&text, start, end, &new);
        tally.count(&verdict);
        let mut arguments = json!({"path": "f.py", "start_line": start, "new_content": new});
        if let Some(end) = end {
            arguments["end_line"] = end.into();
        }
        check(&verdict, &text, "edit_lines", &arguments, random.chance(50));
    }
    tally.assert_at_least(1500, 500);
}

/// Compares the answer to a patch with the formats of the specification.
#[track_caller]
fn check_patch_answer(answer: &Answer, hunks: usize, failing: &[usize], dry: bool) {
    let lines: Vec<&str> = answer.text.lines().collect();
    let count = if hunks == 1 { "1 hunk".to_owned() } else { format!("{hunks} hunks") };
    match answer.report.status() {
        Status::Applied => assert_eq!(lines[0], format!("Applied patch to f.py: {count} applied")),
        Status::WouldApply => {
            assert_eq!(lines[..2], ["Dry run - no changes made:", &format!("  f.py: {count} would apply")]);
            assert!(!answer.text.contains("applied"), "a dry run says what would be: {}", answer.text);
        }
        Status::Refused => {
            assert_eq!(lines[0], "Patch failed on f.py:");
            assert!(lines.contains(&"No changes made (atomic rollback)."), "{}", answer.text);
            for number in failing {
                let line = format!("  Hunk {number} failed: ");
                assert!(lines.iter().any(|found| found.starts_with(&line)), "{line}\n{}", answer.text);
            }
        }
        Status::AlreadyApplied | Status::NoChange => {}
        other => panic!("{other:?}, dry run: {dry}: {}", answer.text),
    }
}

// Shows: P3.6, test_strict_exact_match, test_strict_context_mismatch, test_tolerant_whitespace, test_fuzzy_threshold
#[test]
fn patch_agrees_with_the_model() {
    let mut tallies: [Tally; 3] = Default::default();
    for seed in 0..2 * CALLS {
        let mut random = Random::new(seed);
        let text = generate::file(&mut random);
        let hunks = generate::hunks(&text, &mut random);
        if hunks.is_empty() {
            continue;
        }
        let mode = generate::mode(&mut random);
        let (verdict, failing) = model::patch(&text, &hunks, mode);
        let (tally, name) = match mode {
            Mode::Strict => (&mut tallies[0], "strict"),
            Mode::Tolerant => (&mut tallies[1], "tolerant"),
            Mode::Fuzzy(_) => (&mut tallies[2], "fuzzy"),
        };
        tally.count(&verdict);
        let mut arguments =
            json!({"target": "f.py", "diff": generate::diff(&hunks, &mut random), "mode": name});
        if let Mode::Fuzzy(threshold) = mode {
            arguments["fuzzy_threshold"] = threshold.into();
        }
        let crlf = random.chance(50);
        let answer = check(&verdict, &text, "patch", &arguments, crlf);
        check_patch_answer(&answer, hunks.len(), &failing, false);
        arguments["dry_run"] = true.into();
        let (dry, after) = call(&text, "patch", arguments);
        assert_eq!(after, text, "a dry run writes nothing");
        assert_eq!(dry.report.status() == Status::WouldApply, answer.report.status() == Status::Applied);
        check_patch_answer(&dry, hunks.len(), &failing, true);
    }
    for tally in tallies {
        tally.assert_at_least(350, 350);
    }
}
