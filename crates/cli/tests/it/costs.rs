//! What the hot paths cost, in instructions and allocations: those do not depend on how busy the machine is.
//!
//! Valgrind's DHAT counts both. `costs.txt` has the costs when it was last written; a test fails if one has grown by more than
//! a tenth since. After a change that is worth it, or an improvement, write it again:
//!
//!     UPDATE_COSTS=1 cargo test -p slipstitch-cli --test it costs
//!
//! The program is the one that the tests use, so the counts are higher than those of a release build. The server is not
//! measured: its clock is read from a page of the system that valgrind hides.

mod bench;
mod growth;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use bench::{Bench, Cost};

/// How much more than the baseline is accepted, in percent: compilers and libraries differ a little.
const TOLERANCE: u64 = 10;

const OLD: &str = "0100 the quick brown";
const NEW: &str = "0100 the slow brown";

fn measure() -> BTreeMap<&'static str, Cost> {
    let mut costs = BTreeMap::new();
    let mut bench = Bench::new();
    let lines = (0..205).map(|n| format!("{n:04} the quick brown fox jumps over the lazy dog\n"));
    bench.write("a.txt", &lines.collect::<String>());
    bench.run(&["edit", "a.txt", "--old", OLD, "--new", NEW]);
    costs.insert("a cold edit of 10 KB", bench.count(&["edit", "a.txt", "--old", NEW, "--new", OLD]));
    costs.insert("a list of changes", bench.count(&["log"]));

    let edit = json!({"path": "a.txt", "old_text": OLD, "new_text": NEW}).to_string();
    costs.insert("a tool call that edits 10 KB", bench.count(&["call", "edit_file", &edit]));

    const FILES: usize = 50;
    let patch = bench.write_patch(FILES);
    let patched = bench.count(&["patch", &patch]);
    costs.insert("a patch of 50 files", patched);
    measure_many_places(&mut bench, &mut costs);
    costs
}

/// Measures changes of many places in one file of 2,000 lines.
fn measure_many_places(bench: &mut Bench, costs: &mut BTreeMap<&'static str, Cost>) {
    let lines: Vec<String> = (0..2000).map(|n| format!("    let value_{n} = compute({n});\n")).collect();
    bench.write("b.rs", &lines.concat());
    let all = ["edit", "b.rs", "--all", "--old", "compute", "--new", "evaluate"];
    costs.insert("2,000 replacements", bench.count(&all));
    let whole = bench.write_input("b.rs", &lines.concat());
    costs.insert("a file with 2,000 new lines", bench.count(&["write", "b.rs", "--from", &whole]));
    let mut patch = String::from("--- a/b.rs\n+++ b/b.rs\n");
    for at in (5..lines.len()).step_by(10) {
        let [before, old, after] = [&lines[at - 1], &lines[at], &lines[at + 1]];
        let new = old.replace("compute", "evaluate");
        write!(patch, "@@ -{at},3 +{at},3 @@\n {before}-{old}+{new} {after}").unwrap();
    }
    let patch = bench.write_input("hunks.diff", &patch);
    costs.insert("a patch of 200 hunks", bench.count(&["patch", &patch]));
}

/// Parses lines such as `12345 instructions, 67 allocations: what`.
fn parse(text: &str) -> BTreeMap<String, Cost> {
    let parse_line = |line: &str| {
        let (numbers, what) = line.split_once(": ")?;
        let (instructions, allocations) = numbers.split_once(" instructions, ")?;
        let allocations = allocations.strip_suffix(" allocations")?.parse().ok()?;
        Some((what.to_owned(), Cost { instructions: instructions.parse().ok()?, allocations }))
    };
    text.lines().filter(|line| !line.starts_with('#')).map(|line| parse_line(line).expect(line)).collect()
}

#[test]
fn hot_paths_cost_no_more_than_before() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/costs.txt");
    let costs = measure();
    if std::env::var_os("UPDATE_COSTS").is_some() {
        let mut text = String::from("# Written by the test in costs.rs; see there.\n");
        for (what, Cost { instructions, allocations }) in &costs {
            writeln!(text, "{instructions} instructions, {allocations} allocations: {what}").unwrap();
        }
        std::fs::write(&file, text).unwrap();
        return;
    }
    let text = std::fs::read_to_string(&file).expect("costs.txt exists; UPDATE_COSTS=1 writes it");
    let baseline = parse(&text);
    assert_eq!(
        baseline.keys().map(String::as_str).collect::<Vec<_>>(),
        costs.keys().copied().collect::<Vec<_>>()
    );
    let mut grown = String::new();
    for (what, cost) in costs {
        let before = baseline[what];
        for (unit, now, before) in [
            ("instructions", cost.instructions, before.instructions),
            ("allocations", cost.allocations, before.allocations),
        ] {
            if now * 100 > before * (100 + TOLERANCE) {
                writeln!(grown, "{what}: {now} {unit}, before {before}").unwrap();
            }
        }
    }
    assert!(grown.is_empty(), "more than {TOLERANCE} % more than in costs.txt:\n{grown}");
}
