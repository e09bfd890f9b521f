//! What the hot paths cost, in instructions and allocations: those do not depend on how busy the machine is.
//!
//! Valgrind's DHAT counts both. `costs.txt` has the costs when it was last written; a test fails if one has grown by more than
//! a tenth since. After a change that is worth it, or an improvement, write it again:
//!
//!     UPDATE_COSTS=1 cargo test -p slipstitch-cli --test it costs
//!
//! The program is the one that the tests use, so the counts are higher than those of a release build. The server is not
//! measured: its clock is read from a page of the system that valgrind hides.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// How much more than the baseline is accepted, in percent: compilers and libraries differ a little.
const TOLERANCE: u64 = 10;

const OLD: &str = "0100 the quick brown";
const NEW: &str = "0100 the slow brown";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cost {
    instructions: u64,
    allocations: u64,
}

/// A root and a state folder, and the number of runs in it.
struct Bench {
    folder: tempfile::TempDir,
    runs: usize,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        let lines = (0..205).map(|n| format!("{n:04} the quick brown fox jumps over the lazy dog\n"));
        std::fs::write(folder.path().join("root/a.txt"), lines.collect::<String>()).unwrap();
        Self { folder, runs: 0 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).current_dir(self.path("root"));
        command.stdout(Stdio::null()).stdin(Stdio::null());
        command
    }

    /// Runs the program without counting.
    fn run(&self, arguments: &[&str]) {
        let mut command = self.command(env!("CARGO_BIN_EXE_slipstitch"));
        let state = self.path("state");
        let done = command.arg("--no-fsync").arg("--state-dir").arg(state).args(arguments).status().unwrap();
        assert!(done.success(), "{arguments:?}: {done}");
    }

    /// Runs the program and counts.
    fn count(&mut self, arguments: &[&str]) -> Cost {
        self.runs += 1;
        let (profile, log) = (self.path(&format!("dhat-{}", self.runs)), self.path("valgrind.log"));
        let mut command = self.command("valgrind");
        command.args(["--tool=dhat", "-q", "-v"]);
        command.arg(format!("--log-file={}", log.display()));
        command.arg(format!("--dhat-out-file={}", profile.display()));
        command
            .arg(env!("CARGO_BIN_EXE_slipstitch"))
            .args(["--no-fsync", "--state-dir"])
            .arg(self.path("state"));
        let done =
            command.args(arguments).status().expect("valgrind is installed (Debian package `valgrind`)");
        assert!(done.success(), "{arguments:?}: {done}");
        let profile: Value = serde_json::from_slice(&std::fs::read(profile).unwrap()).unwrap();
        let points = profile["pps"].as_array().unwrap();
        let allocations = points.iter().map(|point| point["tbk"].as_u64().unwrap()).sum();
        Cost { instructions: profile["te"].as_u64().unwrap(), allocations }
    }

    /// A patch that changes a line in each of this many files, which are created.
    fn write_patch(&self, files: usize) -> PathBuf {
        let mut patch = String::new();
        for number in 0..files {
            let name = format!("f{number}.txt");
            std::fs::write(self.path("root").join(&name), "one\ntwo\nthree\n").unwrap();
            writeln!(patch, "--- a/{name}\n+++ b/{name}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three").unwrap();
        }
        let path = self.path("files.diff");
        std::fs::write(&path, patch).unwrap();
        path
    }
}

fn measure() -> BTreeMap<&'static str, Cost> {
    let mut costs = BTreeMap::new();
    let mut bench = Bench::new();
    bench.run(&["edit", "a.txt", "--old", OLD, "--new", NEW]);
    costs.insert("a cold edit of 10 KB", bench.count(&["edit", "a.txt", "--old", NEW, "--new", OLD]));
    costs.insert("a list of changes", bench.count(&["log"]));

    let edit = json!({"path": "a.txt", "old_text": OLD, "new_text": NEW}).to_string();
    costs.insert("a tool call that edits 10 KB", bench.count(&["call", "edit_file", &edit]));

    const FILES: usize = 50;
    let patch = bench.write_patch(FILES);
    let patched = bench.count(&["patch", patch.to_str().unwrap()]);
    costs.insert("a patch of 50 files", patched);
    costs
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
