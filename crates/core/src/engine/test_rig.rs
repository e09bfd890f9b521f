//! An engine over one file in memory, shared by several sessions, for unit tests.

use super::Engine;
use crate::hint::HintPhrases;
use crate::path::FilePath;
use crate::plan::{
    EditPlan, EditRules, FilePlan, Folders, Footer, LinePrefix, Operation, Overwriting, Plan, ReadOn,
    ReadPlan, Which,
};
use crate::ports::approver::Auto;
use crate::ports::journal::Origin;
use crate::ports::memory::{MemoryJournal, MemoryWorkspace};
use crate::report::Report;
use crate::snapshot::Snapshot;

/// The path of the file.
pub(super) fn path() -> FilePath {
    FilePath::from_record("file.txt").unwrap()
}

/// The file and its journal.
pub(super) struct Rig {
    pub(super) files: MemoryWorkspace,
    pub(super) journal: MemoryJournal,
}

impl Rig {
    pub(super) fn new(text: &str) -> Self {
        let rig = Self { files: MemoryWorkspace::default(), journal: MemoryJournal::default() };
        rig.write(text);
        rig
    }

    /// Writes the file behind the engine's back.
    pub(super) fn write(&self, text: &str) {
        self.files.put(&path(), text);
    }

    /// An engine for a session. The agent has the same name.
    pub(super) fn engine<'a>(&'a self, session: &'a str) -> Engine<'a> {
        Engine::new(&self.files, &self.journal).session(session).agent(Some(session))
    }

    pub(super) fn execute(&self, engine: &Engine<'_>, plan: &Plan) -> Report {
        let origin = Origin {
            session: engine.session.into(),
            agent: engine.agent.map(Into::into),
            dialect: "native".into(),
            tool: "test".into(),
        };
        engine.execute(plan, origin, HintPhrases::ALL, &mut Auto)
    }

    pub(super) fn read_plan() -> Plan {
        Plan::Read(ReadPlan {
            path: path(),
            first: None,
            last: None,
            budget: 1000,
            folders: Folders::Refused,
            footer: Footer::Version,
            prefix: LinePrefix::Number,
            read_on: ReadOn::Line,
        })
    }

    /// Shows the file to a session.
    pub(super) fn read(&self, session: &str) {
        self.execute(&self.engine(session), &Self::read_plan());
    }

    /// Replaces a text on behalf of a session.
    pub(super) fn edit(&self, session: &str, old: &str, new: &str) -> Report {
        let operation =
            Operation::Replace { old: old.into(), new: new.into(), which: Which::Unique, within: None };
        let file = FilePlan { path: path(), version: None, operations: vec![operation] };
        self.execute(&self.engine(session), &Plan::Edit(EditPlan::new(vec![file], EditRules::STRICT)))
    }

    /// Renames a file on behalf of a session.
    pub(super) fn rename(&self, session: &str, from: &FilePath, to: &FilePath) -> Report {
        let operation = Operation::Move { to: to.clone(), overwriting: Overwriting::Refused };
        let file = FilePlan { path: from.clone(), version: None, operations: vec![operation] };
        self.execute(&self.engine(session), &Plan::Edit(EditPlan::new(vec![file], EditRules::STRICT)))
    }

    /// The file as it is.
    pub(super) fn now(&self) -> Snapshot {
        self.now_at(&path())
    }

    /// The file at another path as it is.
    pub(super) fn now_at(&self, path: &FilePath) -> Snapshot {
        self.engine("any").snapshot(path).unwrap().unwrap()
    }
}
