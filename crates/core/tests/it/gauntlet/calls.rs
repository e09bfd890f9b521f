//! Calls that are more than one snippet, or that text alone cannot decide: twins of a removed block, placeholders,
//! batches and malformed patches.
//!
//! Two rules hold for every kind: nothing wrong is ever written, and most of what can be placed is.

mod batches;
mod damage;
mod hunks;
mod twins;

use std::fmt::Write;

use rstest::rstest;
use serde_json::{Value, json};
use slipstitch_core::outcome::Status;

use super::corpus;
use super::random::Random;
use crate::rig::{Rig, path};

const SEED: u64 = 41;
const EACH: usize = 30;
/// How many attempts a case may take.
const TRIES: usize = 3000;

/// A call with a known result.
struct Call {
    before: String,
    /// A version of the file that the session has read before.
    seen: Option<String>,
    tool: &'static str,
    arguments: Value,
    /// `None` if it must be refused.
    expected: Option<String>,
}

impl Call {
    fn edit(before: String, old: &str, new: &str, expected: Option<String>) -> Self {
        let arguments = json!({"old_text": old, "new_text": new});
        Self { before, seen: None, tool: "edit_file", arguments, expected }
    }

    fn patch(before: String, patch: &str, expected: Option<String>) -> Self {
        Self { before, seen: None, tool: "patch", arguments: json!({"patch": patch}), expected }
    }
}

type Maker = fn(&[Vec<String>], &mut Random) -> Option<Call>;

/// The same calls in every run.
fn calls(make: Maker) -> Vec<Call> {
    let files = corpus::files();
    let mut random = Random::new(SEED);
    let made: Vec<Call> = (0..EACH * TRIES).filter_map(|_| make(&files, &mut random)).take(EACH).collect();
    assert_eq!(made.len(), EACH, "the corpus gives enough cases");
    made
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grade {
    Right,
    Refused,
    Wrong,
}

/// Makes the call and grades the resulting file.
fn run(call: &Call) -> (Grade, String) {
    let name = path("file.txt");
    let rig = Rig::new(call.before.as_str());
    if let Some(seen) = &call.seen {
        rig.files.put(&name, seen.as_str());
        rig.call("read_file", json!({}));
        rig.files.put(&name, call.before.as_str());
    }
    let answer = rig.call(call.tool, call.arguments.clone());
    let after = String::from_utf8(rig.bytes()).expect("text");
    let claims_success = matches!(answer.report.status(), Status::Applied | Status::NoChange);
    let grade = match &call.expected {
        None if after == call.before => Grade::Right,
        Some(expected) if claims_success && after == *expected => Grade::Right,
        Some(_) if !claims_success && after == call.before => Grade::Refused,
        _ => Grade::Wrong,
    };
    (grade, answer.text)
}

/// Every threshold that a kind misses, with the first calls that show it.
fn faults(make: Maker) -> String {
    let marked: Vec<(Call, Grade, String)> = calls(make)
        .into_iter()
        .map(|call| {
            let (grade, answer) = run(&call);
            (call, grade, answer)
        })
        .collect();
    let count = |wanted: Grade| marked.iter().filter(|(_, grade, _)| *grade == wanted).count();
    let (right, wrong) = (count(Grade::Right), count(Grade::Wrong));
    if wrong == 0 && right * 100 >= EACH * 80 {
        return String::new();
    }
    let mut out = format!("right {right}, refused {}, wrong {wrong} of {EACH}\n", count(Grade::Refused));
    let worst = if wrong > 0 { Grade::Wrong } else { Grade::Refused };
    for (call, _, answer) in marked.iter().filter(|(_, grade, _)| *grade == worst).take(2) {
        for (name, value) in call.arguments.as_object().into_iter().flatten() {
            let _ = writeln!(out, "--- {name}\n{}", value.as_str().unwrap_or("(a list)"));
        }
        let _ = writeln!(out, "--- answer\n{answer}");
    }
    out
}

#[rstest]
#[case::made_twins(twins::made)]
#[case::made_twins_seen(twins::made_and_seen)]
#[case::bare_dots(damage::bare_dots)]
#[case::off_by_one(damage::off_by_one)]
#[case::two_for_four(damage::two_for_four)]
#[case::eleven_edits(batches::eleven)]
#[case::fifty_edits(batches::fifty)]
#[case::echo(hunks::echo)]
#[case::empty_hunk(hunks::empty_hunk)]
#[case::noop_hunk(hunks::noop_hunk)]
#[case::noop_hunk_absent(hunks::noop_hunk_absent)]
#[case::line_numbers(hunks::line_numbers)]
#[case::hash_prefixes(hunks::hash_prefixes)]
fn writes_nothing_wrong_and_applies_most(#[case] make: Maker) {
    let faults = faults(make);
    assert!(faults.is_empty(), "{faults}");
}
