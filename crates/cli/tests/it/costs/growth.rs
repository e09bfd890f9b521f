//! What each row of `scripts/bench` costs when its input is ten times as large: at most thirteen times as much.
//!
//! What the same command does for an input of one line is subtracted, or starting it would hide the growth. Edits are dry
//! runs, because the cost of writing grows in steps: buffers grow by a factor of four, and longer texts take other paths in the
//! database. How reading and writing large files grows is shown by `crates/core/tests/it/large_files.rs`.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::json;
use slipstitch::{Fsync, Workspace};

use super::bench::Bench;

/// Lines of a file, or how many of them change.
const LINES: usize = 400;
/// Lines of a file in which one place is looked up, which costs little for each line.
const MANY_LINES: usize = 2000;
/// Edits or hunks in one call, one in ten lines.
const EDITS: usize = 30;
/// Files in one patch.
const FILES: usize = 12;
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
    ("many edits", many_edits, EDITS, 0),
    ("exact edit", exact, MANY_LINES, 0),
    ("replace all", replace_all, LINES, 0),
    ("hunks", hunks, EDITS, 0),
    ("files", files, FILES, 0),
    ("rewrite of a third", rewrite_third, LINES, 0),
    ("rewrite of all", rewrite_all, LINES, 0),
    ("read lines", read_lines, MANY_LINES, 0),
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

/// Replaces a text in every tenth line.
fn many_edits(bench: &Bench, count: usize) -> Vec<String> {
    bench.write("a.rs", &code(10 * count).concat());
    let edit = |n: usize| json!({"old_text": format!("value_{n} ="), "new_text": format!("v_{n} =")});
    let edits: Vec<_> = (0..count).map(|number| edit(10 * number + 5)).collect();
    arguments(&["call", "edit_file", &json!({"path": "a.rs", "edits": edits, "dry_run": true}).to_string()])
}

fn exact(bench: &Bench, count: usize) -> Vec<String> {
    bench.write("a.rs", &code(count).concat());
    arguments(&["edit", "a.rs", "--old", &format!("value_{} =", count / 2), "--new", "v =", "--dry-run"])
}

fn replace_all(bench: &Bench, count: usize) -> Vec<String> {
    bench.write("a.rs", &code(count).concat());
    arguments(&["edit", "a.rs", "--all", "--old", "compute", "--new", "evaluate", "--dry-run"])
}

/// A patch that changes every tenth line.
fn hunks(bench: &Bench, count: usize) -> Vec<String> {
    let lines = code(10 * count);
    bench.write("a.rs", &lines.concat());
    let mut patch = String::from("--- a/a.rs\n+++ b/a.rs\n");
    for at in (5..lines.len()).step_by(10) {
        let [before, old, after] = [&lines[at - 1], &lines[at], &lines[at + 1]];
        let new = old.replace("compute", "evaluate");
        write!(patch, "@@ -{at},3 +{at},3 @@\n {before}-{old}+{new} {after}").unwrap();
    }
    arguments(&["patch", &bench.write_input("hunks.diff", &patch), "--dry-run"])
}

fn files(bench: &Bench, count: usize) -> Vec<String> {
    arguments(&["patch", &bench.write_patch(count), "--dry-run"])
}

/// Rewrites a file; `changes` selects the lines that differ.
fn rewrite(bench: &Bench, count: usize, changes: fn(usize) -> bool) -> Vec<String> {
    let lines = code(count);
    bench.write("a.rs", &lines.concat());
    let change = |(at, line): (usize, &String)| match changes(at) {
        true => line.replace("compute", "evaluate"),
        false => line.clone(),
    };
    let new: String = lines.iter().enumerate().map(change).collect();
    arguments(&["write", "a.rs", "--from", &bench.write_input("new.rs", &new), "--dry-run"])
}

fn rewrite_third(bench: &Bench, count: usize) -> Vec<String> {
    rewrite(bench, count, |at| at % 3 == 0)
}

fn rewrite_all(bench: &Bench, count: usize) -> Vec<String> {
    rewrite(bench, count, |_| true)
}

/// Reads the last line.
fn read_lines(bench: &Bench, count: usize) -> Vec<String> {
    bench.write("a.rs", &code(count).concat());
    arguments(&["read", "a.rs", "--lines", &count.to_string()])
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

/// Which command does the work, and how many instructions it takes in a fresh root.
fn instructions(work: Work, count: usize, code: i32) -> (String, u64) {
    let mut bench = Bench::new();
    // So that no run has to create the journal.
    bench.write("first", "x");
    bench.run(&["edit", "first", "--old", "x", "--new", "y"]);
    let mut arguments = work(&bench, count);
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (cost, found) = bench.count_any(&words);
    assert_eq!(found, Some(code), "{:?}", words.first());
    (arguments.remove(0), cost.instructions)
}

#[test]
fn costs_grow_no_faster_than_the_input() {
    let mut grown = Vec::new();
    let mut starts: HashMap<String, u64> = HashMap::new();
    for &(what, work, size, code) in ROWS {
        let (command, small) = instructions(work, size, code);
        let start = *starts.entry(command).or_insert_with(|| instructions(work, 1, code).1);
        let large = instructions(work, FACTOR * size, code).1;
        let [small, large] = [small, large].map(|cost| cost.saturating_sub(start));
        if large > small * MAX_GROWTH {
            grown
                .push(format!("{what}: {small} instructions for {size}, {large} for {FACTOR} times as many"));
        }
    }
    assert!(grown.is_empty(), "more than × {MAX_GROWTH}:\n{}", grown.join("\n"));
}
