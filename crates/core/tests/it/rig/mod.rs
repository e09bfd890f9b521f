//! An engine over one file in memory.

use serde_json::{Value, json};
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::guard::Policy;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};

/// The name of the file.
const NAME: &str = "file.txt";

/// One file and its journal.
pub(crate) struct Rig {
    pub(crate) files: MemoryWorkspace,
    pub(crate) journal: MemoryJournal,
    pub(crate) policy: Policy,
    /// The session that makes the calls.
    pub(crate) session: &'static str,
}

impl Rig {
    pub(crate) fn new(text: impl Into<Vec<u8>>) -> Self {
        let files = MemoryWorkspace::default();
        files.put(&path(NAME), text);
        Self { files, journal: MemoryJournal::default(), policy: Policy::default(), session: "tests" }
    }

    /// The same with a file that is read in blocks.
    pub(crate) fn in_blocks(text: impl Into<Vec<u8>>) -> Self {
        let files = MemoryWorkspace::default().with_large_files(1);
        files.put(&path(NAME), text);
        Self { files, ..Self::new("") }
    }

    /// Calls a tool of the `native` dialect, with the path of the file if none is given.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.call_in("native", tool, arguments)
    }

    /// Calls a tool of a dialect, likewise.
    pub(crate) fn call_in(&self, dialect: &str, tool: &str, mut arguments: Value) -> Answer {
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .policy(&self.policy)
            .session(self.session);
        if tool != "undo_edit" && arguments.get("path").is_none() {
            arguments["path"] = NAME.into();
        }
        engine.call(Request { dialect: dialect.into(), tool: tool.into(), arguments }, &mut Auto)
    }

    /// Replaces one text with another.
    pub(crate) fn edit(&self, old: &str, new: &str) -> Answer {
        self.call("edit_file", json!({"old_text": old, "new_text": new}))
    }

    /// The file's content.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.files.get(&path(NAME)).unwrap_or_default()
    }
}

pub(crate) fn path(name: &str) -> FilePath {
    FilePath::from_record(name).expect("a plain name")
}
