//! Other programs can apply our diffs: `git apply` and GNU patch must produce the same files as the engine.
//!
//! Starting a program for each case would take minutes. So many files share one folder, with one diff over all of
//! them.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use slipstitch::core::outcome::Status;
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::{
    Batch, EditPlan, EditRules, FilePlan, IfMissing, LineRange, Operation, Overwriting, Separator, Shrink,
    Which,
};
use slipstitch::core::ports::memory::MemoryWorkspace;
use slipstitch::core::text::{Encoding, EncodingRule, Newline, NewlineCounts};

use crate::support::{Tree, file, read_tree, run_in_memory, run_successfully, write_tree};

/// One file and the operations on it.
#[derive(Debug, Clone)]
struct Case {
    /// `None` if the file is created.
    before: Option<Vec<u8>>,
    operations: Vec<Operation>,
}

fn contents() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "[ab ]{0,5}".prop_map(String::into_bytes),
        1 => Just("käse → ".as_bytes().to_vec()),
        1 => Just(b"\xFFraw\x01".to_vec()),
        1 => Just(b"--- a".to_vec()),
        1 => Just(b"\\ No newline".to_vec()),
        1 => Just(b"@@ -1 +1 @@".to_vec()),
    ];
    let end = prop_oneof![6 => Just(&b"\n"[..]), 2 => Just(&b"\r\n"[..]), 1 => Just(&b"\r"[..])];
    (vec((line, end), 0..40), any::<bool>()).prop_map(|(lines, cut)| {
        let mut text =
            lines.into_iter().flat_map(|(line, end)| [line, end.to_vec()].concat()).collect::<Vec<u8>>();
        if cut {
            while matches!(text.last(), Some(b'\n' | b'\r')) {
                text.pop();
            }
        }
        text
    })
}

/// A move whose target is set once the file has a name.
fn placeholder_move() -> Operation {
    Operation::Move { to: file("placeholder"), overwriting: Overwriting::Refused }
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let new = "[ab \n]{0,8}";
    let lines = (1usize..30, 0usize..4, new).prop_map(|(first, more, new)| Operation::ReplaceLines {
        lines: LineRange { first, last: first + more },
        new,
        expect: None,
    });
    let insert =
        (0usize..30, new).prop_map(|(after, text)| Operation::InsertLines { after: after.into(), text });
    let all = ("[ab]{1,2}", new).prop_map(|(old, new)| Operation::Replace {
        old,
        new,
        which: Which::All,
        within: None,
    });
    let if_missing = IfMissing::Fail;
    let append =
        new.prop_map(move |text| Operation::Append { text, separator: Separator::Literal, if_missing });
    let prepend =
        new.prop_map(move |text| Operation::Prepend { text, separator: Separator::Literal, if_missing });
    let edit = prop_oneof![3 => lines, 3 => insert, 2 => all, 1 => append, 1 => prepend];
    prop_oneof![
        12 => vec(edit.clone(), 1..4),
        2 => vec(edit, 1..4).prop_map(|mut edits| {
            // Renamed and changed at once.
            edits.push(placeholder_move());
            edits
        }),
        3 => "[ab \n]{0,30}".prop_map(|content| vec![Operation::Overwrite { content, if_missing: IfMissing::Fail }]),
        2 => Just(vec![Operation::Delete]),
        2 => Just(vec![placeholder_move()]),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    prop_oneof![
        10 => (contents(), operations()).prop_map(|(before, operations)| Case { before: Some(before), operations }),
        1 => "[ab \n]{0,20}".prop_map(|content| Case { before: None, operations: vec![Operation::Create { content }] }),
    ]
}

fn file_name(number: usize) -> FilePath {
    // Diff headers have to quote names with spaces and quotes.
    let name = match number % 10 {
        0 => format!("folder/with space {number}"),
        // Windows has no quotes in names.
        1 if cfg!(unix) => format!("quo\"te {number}"),
        2 => format!("ümläut{number}"),
        _ => format!("plain{number}.txt"),
    };
    file(&name)
}

/// Whether most lines end with `\r` alone. Such a file is one long line to these programs, so they cannot apply
/// its diff.
fn uses_cr(bytes: &[u8]) -> bool {
    NewlineCounts::of(bytes).dominant() == Newline::Cr
}

/// Runs one case in memory. Returns the diff and the files after it, or `None` if the edit is refused.
fn run(case: &Case, path: &FilePath, batch: Batch) -> Option<(Vec<u8>, Tree)> {
    if case.before.as_deref().is_some_and(uses_cr) {
        return None;
    }
    let files = MemoryWorkspace::default();
    if let Some(before) = &case.before {
        files.put(path, before.clone());
    }
    let mut operations = case.operations.clone();
    for operation in &mut operations {
        if let Operation::Move { to, .. } = operation {
            *to = file(&format!("moved/{path}"));
        }
    }
    let rules = EditRules { batch, shrink: Shrink::Allowed, ..EditRules::STRICT };
    let plan = EditPlan::new(vec![FilePlan { path: path.clone(), version: None, operations }], rules);
    let report = run_in_memory(&files, plan, EncodingRule::Force(Encoding::Utf8));
    if report.status() != Status::Applied {
        assert_eq!(files.get(path), case.before, "a refusal leaves the file unchanged");
        return None;
    }
    let diff = report.raw_diff.or_else(|| report.diff.map(String::into_bytes)).unwrap();
    let after = files.all().into_iter().map(|(path, bytes)| (path.to_string(), bytes)).collect();
    Some((diff, after))
}

/// A case that was applied.
struct Applied {
    case: Case,
    before: Tree,
    after: Tree,
    diff: Vec<u8>,
}

/// Generates `count` cases from a fixed seed and returns those that apply.
fn applied(count: usize) -> Vec<Applied> {
    let mut runner = TestRunner::deterministic();
    let strategy = cases();
    let mut applied = Vec::new();
    for number in 0..count {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        let path = file_name(number);
        let batch = if number % 3 == 0 { Batch::Sequential } else { Batch::Original };
        if let Some((diff, after)) = run(&case, &path, batch) {
            let before = case.before.iter().map(|before| (path.to_string(), before.clone())).collect();
            applied.push(Applied { case, before, after, diff });
        }
    }
    applied
}

/// Lets a program apply the diffs of `cases` at once and checks the files.
fn check_program(
    cases: &[Applied],
    before: fn(&Applied) -> &Tree,
    after: fn(&Applied) -> &Tree,
    program: &str,
    arguments: &[&str],
) {
    let merge = |side: fn(&Applied) -> &Tree| -> Tree { cases.iter().flat_map(side).map(owned).collect() };
    let diff: Vec<u8> = cases.iter().flat_map(|case| case.diff.iter().copied()).collect();
    let folder = tempfile::tempdir().unwrap();
    write_tree(folder.path(), &merge(before));
    run_successfully(folder.path(), program, arguments, &diff);
    let (expected, found) = (merge(after), read_tree(folder.path()));
    for (want, got) in expected.iter().zip(&found) {
        assert_eq!(want, got, "{program} produced something else");
    }
    assert_eq!(expected.len(), found.len());
}

fn owned((path, bytes): (&String, &Vec<u8>)) -> (String, Vec<u8>) {
    (path.clone(), bytes.clone())
}

fn check_applying(program: &str, arguments: &[&str]) {
    let all = applied(4000);
    assert!(all.len() > 2000, "too few cases apply: {}", all.len());
    for chunk in all.chunks(250) {
        check_program(chunk, |case| &case.before, |case| &case.after, program, arguments);
    }
}

#[test]
fn git_apply_produces_the_same_files() {
    check_applying("git", &["apply", "--whitespace=nowarn", "-"]);
}

#[test]
fn gnu_patch_produces_the_same_files() {
    // `--force`, because it asks before it removes a file that is already empty.
    let arguments = ["-p1", "--binary", "--quiet", "--force", "--no-backup-if-mismatch", "--fuzz=0"];
    check_applying("patch", &arguments);
}

#[test]
fn reversed_diffs_restore_the_old_files() {
    let arguments = ["apply", "-R", "--whitespace=nowarn", "-"];
    check_program(&applied(1000), |case| &case.after, |case| &case.before, "git", &arguments);
}

#[test]
fn the_cases_cover_every_operation() {
    let cases = applied(500);
    let operations = cases.iter().flat_map(|applied| &applied.case.operations);
    let kinds: BTreeSet<_> = operations.map(|op| format!("{:?}", std::mem::discriminant(op))).collect();
    assert_eq!(kinds.len(), 9, "{kinds:?}");
}
