//! Properties of patches: a diff turns the old files into the new ones, and reversed, back again.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use slipstitch_core::engine::Engine;
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::Status;
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::patch::{PatchDirection, PatchOptions, plan};
use slipstitch_core::plan::{
    EditPlan, EditRules, FilePlan, IfMissing, Operation, Overwriting, Plan, Shrink, Tolerance,
};
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::journal::Origin;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};
use slipstitch_core::report::Report;

struct Rig {
    files: MemoryWorkspace,
    journal: MemoryJournal,
}

impl Rig {
    fn with(texts: &BTreeMap<FilePath, Vec<u8>>) -> Self {
        let files = MemoryWorkspace::default();
        for (path, text) in texts {
            files.put(path, text.clone());
        }
        Self { files, journal: MemoryJournal::default() }
    }

    fn run(&self, plan: EditPlan) -> Report {
        let engine =
            Engine::new(&self.files, &self.journal).dialects(slipstitch_dialects::builtin()).session("test");
        let origin =
            Origin { session: "test".into(), agent: None, dialect: "native".into(), tool: "t".into() };
        engine.execute(&Plan::Edit(plan), origin, HintPhrases::ALL, &mut Auto)
    }

    fn patch(&self, text: &str, direction: PatchDirection, tolerance: Tolerance) -> Report {
        let options = PatchOptions {
            format: None,
            parse_options: Default::default(),
            direction,
            path: None,
            roots: &[],
            overwriting: Overwriting::Refused,
            tolerance,
        };
        self.run(plan(text, &options).unwrap_or_else(|error| panic!("{error}\n{text}")))
    }
}

fn path(name: &str) -> FilePath {
    FilePath::from_record(name).unwrap()
}

fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        6 => "[ab ]{0,4}",
        1 => Just("käse → ".to_owned()),
        1 => Just("--- a".to_owned()),
        1 => Just("+++ b".to_owned()),
        1 => Just("@@ -1 +1 @@".to_owned()),
        1 => Just("\\ No newline".to_owned()),
        1 => Just("*** End of File".to_owned()),
    ];
    let crlf = prop_oneof![5 => Just(0.0), 1 => Just(1.0), 2 => Just(0.2)];
    let lines = crlf.prop_flat_map(move |crlf| vec((line.clone(), proptest::bool::weighted(crlf)), 0..30));
    (lines, any::<bool>()).prop_map(|(lines, unterminated)| {
        let newline = |crlf| if crlf { "\r\n" } else { "\n" };
        let mut text: String = lines.into_iter().map(|(line, crlf)| line + newline(crlf)).collect();
        if unterminated {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    })
}

/// Whether all lines end in `\r\n`; `None` if there is no line ending.
fn uniform_crlf(text: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(text).unwrap();
    let all = text.matches('\n').count();
    (all > 0).then(|| text.matches("\r\n").count() == all)
}

/// What a request does to a file: overwrite (0), move (1), delete (2) or create (3) it.
fn action() -> impl Strategy<Value = u8> {
    prop_oneof![8 => Just(0u8), 1 => Just(1), 1 => Just(2), 1 => Just(3)]
}

fn operations(name: &str, action: u8, new: &str) -> Vec<Operation> {
    let content = new.to_owned();
    let overwrite = Operation::Overwrite { content: content.clone(), if_missing: IfMissing::Fail };
    match action {
        0 => vec![overwrite],
        1 => vec![Operation::Move { to: path(&format!("moved/{name}")), overwriting: Overwriting::Refused }],
        2 => vec![Operation::Delete],
        _ => vec![Operation::Create { content }],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_diff_applies_and_reverses(cases in vec((text(), text(), action()), 1..4), recover in any::<bool>()) {
        let mut before = BTreeMap::new();
        let mut files = Vec::new();
        for (number, (old, new, action)) in cases.iter().enumerate() {
            let name = format!("f{number}.txt");
            if *action < 3 {
                before.insert(path(&name), old.clone().into_bytes());
            }
            files.push(FilePlan { path: path(&name), version: None, operations: operations(&name, *action, new) });
        }
        let rig = Rig::with(&before);
        let report = rig.run(EditPlan::new(files, EditRules { shrink: Shrink::Allowed, ..EditRules::STRICT }));
        if report.status() != Status::Applied {
            return Ok(());
        }
        let (diff, after) = (report.diff.unwrap(), rig.files.all());
        // A diff line without `\r` also matches in a file with CRLF line endings, so mixed styles do not round-trip.
        let styles: BTreeSet<bool> = before.values().chain(after.values()).filter_map(|text| uniform_crlf(text)).collect();
        if styles.len() > 1 {
            return Ok(());
        }
        let tolerance = if recover { Tolerance::Recover } else { Tolerance::Exact };

        let forward = Rig::with(&before);
        let report = forward.patch(&diff, PatchDirection::Forward, tolerance);
        prop_assert_eq!(report.status(), Status::Applied, "{}\n{}", report.message, diff);
        prop_assert_eq!(forward.files.all(), after.clone(), "{}", diff);

        let reverse = Rig::with(&after);
        let report = reverse.patch(&diff, PatchDirection::Reverse, tolerance);
        prop_assert_eq!(report.status(), Status::Applied, "{}\n{}", report.message, diff);
        prop_assert_eq!(reverse.files.all(), before, "{}", diff);
    }

    /// Lines that no hunk removes are unchanged, however the hunk was placed.
    #[test]
    fn keeps_lines_that_no_hunk_removes(old in text(), patch in "[-+ @a-c\n]{0,60}", recover in any::<bool>()) {
        let before = BTreeMap::from([(path("f"), old.clone().into_bytes())]);
        let rig = Rig::with(&before);
        let tolerance = if recover { Tolerance::Recover } else { Tolerance::Whitespace };
        let diff = format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n{patch}\n");
        let options = PatchOptions {
            format: None,
            parse_options: Default::default(),
            direction: PatchDirection::Forward,
            path: None,
            roots: &[],
            overwriting: Overwriting::Refused,
            tolerance,
        };
        let Ok(plan) = plan(&diff, &options) else { return Ok(()) };
        let removed: Vec<String> = plan.files[0].operations.iter().filter_map(|operation| match operation {
            Operation::Hunk(hunk) => Some(hunk.lines.iter().filter(|line| line.role == slipstitch_core::patch::Role::Removed)),
            _ => None,
        }).flatten().map(|line| line.text.trim().to_owned()).collect();
        let report = rig.run(plan);
        let after = rig.files.get(&path("f")).unwrap();
        if report.status() != Status::Applied {
            prop_assert_eq!(after, old.into_bytes());
            return Ok(());
        }
        // Every old line that no hunk removes is still there, in order.
        let after = String::from_utf8(after).unwrap();
        let mut rest = after.split('\n').map(|line| line.trim_end_matches('\r'));
        for line in old.split('\n').map(|line| line.trim_end_matches('\r')) {
            if removed.iter().all(|text| text != line.trim()) {
                prop_assert!(rest.any(|kept| kept == line), "{:?} was removed\n{}\n{:?}\n{:?}", line, diff, old, after);
            }
        }
    }
}
