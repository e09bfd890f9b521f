//! Targets for whole calls, in memory. After every call the files are compared with what the answer says, by code that
//! shares nothing with the engine, and every change is undone and redone.

mod batch_model;
mod diff_model;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::guard::Policy;
use slipstitch_core::outcome::Outcome;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};

use batch_model::{Batch, Expected};

/// Separates the parts of an input of [`calls`].
const SEPARATOR: u8 = 0x1e;

/// More calls or edits per input only make it slow.
const MAX_CALLS: usize = 8;

type Files = BTreeMap<FilePath, Vec<u8>>;

/// Sequences of tool calls. The first part of the input is the content of `a.txt`, every other part a call: the dialect,
/// the tool and the arguments, separated by spaces.
pub fn calls(data: &[u8]) {
    let mut parts = data.split(|byte| *byte == SEPARATOR);
    let session = Session::new(parts.next().unwrap_or_default());
    for part in parts.take(MAX_CALLS) {
        let text = String::from_utf8_lossy(part);
        let mut words = text.trim_start().splitn(3, ' ');
        let (Some(dialect), Some(tool)) = (words.next(), words.next()) else { continue };
        let arguments = words.next().unwrap_or_default();
        let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
        session.call(dialect, tool, arguments);
    }
}

/// Batches of replacements, checked against a model that searches and copies naively.
pub fn batches(data: &[u8]) {
    let batch = Batch::decode(data);
    let session = Session::new(batch.file.as_bytes());
    let answer = session.call(batch.dialect(), batch.tool(), batch.arguments());
    let written = String::from_utf8(session.files()[&path("a.txt")].clone()).expect("text stays text");
    match (batch.expected(), answer.report.outcome) {
        (Expected::Text(text), Outcome::Applied) => assert_eq!(written, text, "{batch:?}"),
        (Expected::Text(text), Outcome::NoChange) => assert_eq!(batch.file, text, "{batch:?}"),
        // Guards and repairs of arguments are not modelled.
        (Expected::Text(_), Outcome::Refused(_) | Outcome::Invalid(_)) => {}
        (Expected::Ambiguous | Expected::Refused, outcome) => {
            assert!(!outcome.is_success() || outcome == Outcome::AlreadyApplied, "{outcome:?} {batch:?}");
        }
        // Recovery is not modelled.
        (Expected::Missing, _) => {}
        (Expected::Text(text), outcome) => panic!("{outcome:?} instead of {text:?}: {batch:?}"),
    }
}

struct Session {
    files: MemoryWorkspace,
    journal: MemoryJournal,
    policy: Policy,
}

fn path(name: &str) -> FilePath {
    FilePath::from_record(name).expect("a plain file name")
}

impl Session {
    fn new(content: &[u8]) -> Self {
        let files = MemoryWorkspace::default();
        files.put(&path("a.txt"), content);
        files.put(&path("dir/b.txt"), "one\ntwo\r\nthree");
        // Small files shrink a lot. The shrink guard has its own tests.
        let policy = Policy { shrink_from_lines: usize::MAX, ..Policy::default() };
        Self { files, journal: MemoryJournal::default(), policy }
    }

    fn files(&self) -> Files {
        self.files.all()
    }

    fn answer(&self, dialect: &str, tool: &str, arguments: Value) -> Answer {
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .policy(&self.policy)
            .session("fuzz");
        engine.call(Request { dialect: dialect.into(), tool: tool.into(), arguments }, &mut Auto)
    }

    /// Makes a call and checks what it did.
    fn call(&self, dialect: &str, tool: &str, arguments: Value) -> Answer {
        let before = self.files();
        let answer = self.answer(dialect, tool, arguments);
        let after = self.files();
        let report = &answer.report;
        assert!(!answer.text.is_empty(), "an answer without text: {report:?}");
        let applied = report.outcome == Outcome::Applied;
        assert_eq!(applied, report.change.is_some(), "{report:?}");
        let Some(change) = report.change.filter(|_| applied) else {
            assert_eq!(before, after, "files changed without a change id: {report:?}");
            return answer;
        };
        let diff = report.raw_diff.clone().or_else(|| report.diff.clone().map(String::into_bytes));
        if let Some(diff) =
            diff.filter(|_| before.values().chain(after.values()).all(|content| is_plain(content)))
        {
            assert_eq!(
                diff_model::apply(&before, &diff),
                after,
                "the diff is not what was written: {report:?}"
            );
        }
        let undo = self.reverse(change.to_string(), &before);
        if let Some(undo) = undo {
            self.reverse(undo, &after);
        }
        answer
    }

    /// Undoes a change and checks that the files are as `expected`. Returns the id of the undo.
    fn reverse(&self, change: String, expected: &Files) -> Option<String> {
        let report = self.answer("native", "undo_edit", json!({ "change": change })).report;
        assert_eq!(report.outcome, Outcome::Applied, "undo of {change} failed: {report:?}");
        assert_eq!(&self.files(), expected, "undo of {change} restored something else");
        report.change.map(|id| id.to_string())
    }
}

/// Whether a diff of the file shows its own bytes: UTF-8 whose lines end with `\n`.
fn is_plain(content: &[u8]) -> bool {
    std::str::from_utf8(content).is_ok_and(|text| !text.contains(['\r', '\0', '\u{feff}']))
}
