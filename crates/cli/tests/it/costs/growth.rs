//! What edits without an exact match cost when the file is ten times as large, and what the log costs when it is ten times
//! as long: at most thirteen times as much.
//!
//! What the program does for an input of one line is subtracted, or starting it would hide the growth.

use serde_json::json;
use slipstitch::{Fsync, Workspace};

use super::bench::Bench;

/// Lines of a file.
const LINES: usize = 400;
/// Changes in the journal.
const CHANGES: usize = 40;
const FACTOR: usize = 10;
const MAX_GROWTH: u64 = 13;

/// Work whose size can be chosen: prepares a root, and returns the arguments.
type Work = fn(&Bench, usize) -> Vec<String>;

/// The rows, with their sizes and exit codes.
const ROWS: &[(&str, Work, usize, i32)] = &[
    ("recovery", recovery, LINES, 0),
    ("drift", drift, LINES, 0),
    ("miss", miss, LINES, 1),
    ("log", log, CHANGES, 0),
];

fn code(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("    let value_{n} = compute({n}, {});\n", n * 7 % 1000)).collect()
}

fn arguments(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// A call of `edit_file` that is only tried.
fn edit_call(old: &str, new: &str) -> Vec<String> {
    let call = json!({"path": "a.rs", "old_text": old, "new_text": new, "dry_run": true});
    arguments(&["call", "edit_file", &call.to_string()])
}

/// Four lines in the middle of a file of code, which is written.
fn quoted(bench: &Bench, count: usize) -> Vec<String> {
    let lines = code(count.max(4));
    bench.write("a.rs", &lines.concat());
    let at = (count / 2).min(lines.len() - 4);
    lines[at..at + 4].to_vec()
}

fn recovery(bench: &Bench, count: usize) -> Vec<String> {
    let old: String = quoted(bench, count).iter().map(|line| &line[2..]).collect();
    edit_call(&old, &old.replacen("let", "var", 1))
}

fn drift(bench: &Bench, count: usize) -> Vec<String> {
    let mut lines = quoted(bench, count);
    lines[1] = lines[1].replace("compute", "calculate");
    let old = lines.concat();
    let changed = lines[3].replace("let", "var");
    edit_call(&old, &old.replace(&lines[3], &changed))
}

fn miss(bench: &Bench, count: usize) -> Vec<String> {
    quoted(bench, count);
    edit_call("fn nothing_like_this() -> Absent {\n    todo_elsewhere();\n}\n", "x\n")
}

/// The log of this many changes of one file, which several sessions made in turn.
fn log(bench: &Bench, count: usize) -> Vec<String> {
    bench.write("a.rs", "let value = 0;\n");
    let open = |session: &str| {
        let builder = Workspace::builder(bench.path("root")).state_dir(bench.path("state"));
        builder.fsync(Fsync::Off).session(session).open().unwrap()
    };
    let sessions = ["one", "two", "three"].map(open);
    for (number, workspace) in (0..count).zip(sessions.iter().cycle()) {
        let call = json!({"path": "a.rs", "old_text": format!("= {number};"), "new_text": format!("= {};", number + 1)});
        assert!(workspace.call("native", "edit_file", call).report.is_success());
    }
    arguments(&["log", "--all"])
}

/// How many instructions the work takes in a fresh root.
fn instructions(work: Work, count: usize, code: i32) -> u64 {
    let mut bench = Bench::new();
    // So that no run has to create the journal.
    bench.write("first", "x");
    bench.run(&["edit", "first", "--old", "x", "--new", "y"]);
    let arguments = work(&bench, count);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (cost, found) = bench.count_any(&arguments);
    assert_eq!(found, Some(code), "{:?}", arguments.first());
    cost.instructions
}

#[test]
fn costs_grow_no_faster_than_the_input() {
    let mut grown = Vec::new();
    for &(what, work, size, code) in ROWS {
        let start = instructions(work, 1, code);
        let [small, large] =
            [size, FACTOR * size].map(|count| instructions(work, count, code).saturating_sub(start));
        if large > small * MAX_GROWTH {
            grown
                .push(format!("{what}: {small} instructions for {size}, {large} for {FACTOR} times as many"));
        }
    }
    assert!(grown.is_empty(), "more than × {MAX_GROWTH}:\n{}", grown.join("\n"));
}
