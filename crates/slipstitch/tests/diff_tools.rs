//! Our diffs in the hands of the programs that read diffs: `git apply` and GNU patch must make of
//! the old file exactly what the engine made of it.
//!
//! Starting a program for each case would take minutes, so cases are put together: many files in
//! one folder, one diff over all of them, one run of each program.

use slipstitch::core::guard::Policy;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use slipstitch::core::engine::Engine;
use slipstitch::core::hint::HintPhrases;
use slipstitch::core::outcome::Status;
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::{
    Batch, EditPlan, EditRules, FilePlan, LineRange, IfMissing, Operation, Overwriting, Plan, Separator,
    Shrink, Which,
};
use slipstitch::core::ports::approver::Auto;
use slipstitch::core::ports::journal::Origin;
use slipstitch::core::ports::memory::{MemoryJournal, MemoryWorkspace};
use slipstitch::core::text::{Newline, NewlineCounts};

type Files = Vec<(FilePath, Vec<u8>)>;

/// One file and what is done to it.
#[derive(Debug, Clone)]
struct Case {
    /// `None`: the file is made.
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
    let append = new.prop_map(move |text| Operation::Append { text, separator: Separator::Literal, if_missing });
    let prepend =
        new.prop_map(move |text| Operation::Prepend { text, separator: Separator::Literal, if_missing });
    let edit = prop_oneof![3 => lines, 3 => insert, 2 => all, 1 => append, 1 => prepend];
    prop_oneof![
        12 => vec(edit.clone(), 1..4),
        2 => vec(edit, 1..4).prop_map(|mut edits| {
            // Renamed and changed in one.
            edits.push(Operation::Move { to: FilePath::from_record("to be named").unwrap(), overwriting: Overwriting::Refused });
            edits
        }),
        3 => "[ab \n]{0,30}".prop_map(|content| vec![Operation::Overwrite { content, if_missing: IfMissing::Fail }]),
        2 => Just(vec![Operation::Delete]),
        2 => Just(vec![Operation::Move { to: FilePath::from_record("to be named").unwrap(), overwriting: Overwriting::Refused }]),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    prop_oneof![
        10 => (contents(), operations()).prop_map(|(before, operations)| Case { before: Some(before), operations }),
        1 => "[ab \n]{0,20}".prop_map(|content| Case { before: None, operations: vec![Operation::Create { content }] }),
    ]
}

fn file_name(number: usize) -> FilePath {
    // Names with blanks and quotes need care in headers.
    let name = match number % 10 {
        0 => format!("folder/with blank {number}"),
        1 => format!("quo\"te {number}"),
        2 => format!("ümläut{number}"),
        _ => format!("plain{number}.txt"),
    };
    FilePath::from_record(&name).unwrap()
}

/// Files whose lines mostly end at `\r` alone are one long line to these programs; their diffs are for readers.
fn ends_at_cr(bytes: &[u8]) -> bool {
    NewlineCounts::of(bytes).dominant() == Newline::Cr
}

/// Runs one case in memory; the diff and the files it leaves, or `None` where the edit is refused.
fn run(case: &Case, path: &FilePath, sequential: bool) -> Option<(Vec<u8>, Files)> {
    if case.before.as_deref().is_some_and(ends_at_cr) {
        return None;
    }
    let files = MemoryWorkspace::default();
    if let Some(before) = &case.before {
        files.put(path, before.clone());
    }
    let mut operations = case.operations.clone();
    for operation in &mut operations {
        if let Operation::Move { to, .. } = operation {
            *to = FilePath::from_record(&format!("moved/{path}")).unwrap();
        }
    }
    let rules = EditRules {
        batch: if sequential { Batch::Sequential } else { Batch::Original },
        shrink: Shrink::Allowed,
        ..EditRules::STRICT
    };
    let plan = EditPlan::new(vec![FilePlan { path: path.clone(), version: None, operations }], rules);
    let journal = MemoryJournal::default();
    let policy = Policy::default();
    let engine = Engine::new(&files, &journal)
        .dialects(slipstitch::dialects::builtin())
        .policy(&policy)
        .encoding(slipstitch::core::text::EncodingRule::Force(slipstitch::core::text::Encoding::Utf8))
        .session("test");
    let origin =
        Origin { session: "test".into(), agent: None, dialect: "native".into(), tool: "test".into() };
    let report = engine.execute(&Plan::Edit(plan), origin, HintPhrases::ALL, &mut Auto);
    if report.status() != Status::Applied {
        assert_eq!(files.get(path), case.before, "a refusal leaves the file alone");
        return None;
    }
    let diff = report.raw_diff.or_else(|| report.diff.map(String::into_bytes)).unwrap();
    Some((diff, files.all().into_iter().collect()))
}

fn write(folder: &Path, path: &FilePath, bytes: &[u8]) {
    let full = folder.join(path.as_str());
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, bytes).unwrap();
}

/// Feeds a diff to a program that runs in `folder`.
fn feed(folder: &Path, program: &str, arguments: &[&str], diff: &[u8]) {
    use std::io::Write;
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program} must be installed for this test: {error}"));
    child.stdin.take().unwrap().write_all(diff).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{program} refused the diff:\n{}{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        String::from_utf8_lossy(diff),
    );
}

/// The files beneath a folder, without the traces of the programs.
fn tree(folder: &Path) -> Files {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                found.push((FilePath::from_record(name).unwrap(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Generates `count` cases from a seed that stays the same, and keeps the ones that apply.
fn applied(count: usize) -> Vec<(Case, FilePath, Vec<u8>, Files)> {
    let mut runner = TestRunner::deterministic();
    let strategy = cases();
    let mut out = Vec::new();
    for number in 0..count {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        let path = file_name(number);
        if let Some((diff, after)) = run(&case, &path, number % 3 == 0) {
            out.push((case, path, diff, after));
        }
    }
    out
}

fn programs_agree(program: &str, arguments: &[&str]) {
    let all = applied(4000);
    assert!(all.len() > 2000, "most cases apply: {}", all.len());
    for chunk in all.chunks(250) {
        let folder = tempfile::tempdir().unwrap();
        let mut expected = Vec::new();
        let mut diff = Vec::new();
        for (case, path, one, after) in chunk {
            if let Some(before) = &case.before {
                write(folder.path(), path, before);
            }
            diff.extend_from_slice(one);
            expected.extend(after.iter().cloned());
        }
        expected.sort();
        feed(folder.path(), program, arguments, &diff);
        let found = tree(folder.path());
        for (want, got) in expected.iter().zip(&found) {
            assert_eq!(want, got, "{program} made something else of it");
        }
        assert_eq!(expected.len(), found.len());
    }
}

#[test]
fn git_apply_makes_the_same_files() {
    programs_agree("git", &["apply", "--whitespace=nowarn", "-"]);
}

#[test]
fn gnu_patch_makes_the_same_files() {
    // Forced, because it asks before it removes a file that is empty already. What it makes of the
    // diff is compared all the same.
    let arguments = ["-p1", "--binary", "--quiet", "--force", "--no-backup-if-mismatch", "--fuzz=0"];
    programs_agree("patch", &arguments);
}

#[test]
fn reversed_diffs_bring_the_old_files_back() {
    let all = applied(1000);
    let folder = tempfile::tempdir().unwrap();
    let mut expected = Vec::new();
    let mut diff = Vec::new();
    for (case, path, one, after) in &all {
        for (path, bytes) in after {
            write(folder.path(), path, bytes);
        }
        diff.extend_from_slice(one);
        expected.extend(case.before.iter().map(|before| (path.clone(), before.clone())));
    }
    expected.sort();
    feed(folder.path(), "git", &["apply", "-R", "--whitespace=nowarn", "-"], &diff);
    let found = tree(folder.path());
    for (want, got) in expected.iter().zip(&found) {
        assert_eq!(want, got, "the reversed diff made something else of it");
    }
    assert_eq!(expected.len(), found.len());
}

#[test]
fn the_cases_reach_every_kind_of_change() {
    let mut kinds = std::collections::BTreeSet::new();
    for (case, ..) in applied(500) {
        kinds.extend(case.operations.iter().map(std::mem::discriminant).map(|d| format!("{d:?}")));
    }
    assert_eq!(kinds.len(), 9, "every operation occurs: {kinds:?}");
}
