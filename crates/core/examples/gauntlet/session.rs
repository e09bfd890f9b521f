//! One file in memory and the session that edits it.

use serde_json::{Value, json};
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::guard::Policy;
use slipstitch_core::outcome::Status;
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::ports::approver::Person;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};

use super::Error;

/// The file of a case and its journal.
pub(super) struct Session {
    files: MemoryWorkspace,
    journal: MemoryJournal,
    path: FilePath,
}

impl Session {
    pub(super) fn new(case: &Value) -> Result<Self, Error> {
        let text = |name: &str| case[name].as_str().unwrap_or_default();
        let path = FilePath::parse(text("path"), &[], Absolute::Refused)?;
        let session = Self { files: MemoryWorkspace::default(), journal: MemoryJournal::default(), path };
        let versions = case["versions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        session.show_versions(versions.collect())?;
        session.files.put(&session.path, text("before"));
        Ok(session)
    }

    /// Has the session read earlier versions of the file, the most likely one last.
    ///
    /// The engine learns what the caller saw as it does in earnest: from the calls of the session.
    fn show_versions(&self, versions: Vec<&str>) -> Result<(), Error> {
        for version in versions.into_iter().rev() {
            self.files.put(&self.path, version);
            let answer = self.call("read_file", json!({"path": self.path.to_string()}));
            if !answer.report.status().is_success() {
                return Err(answer.text.into());
            }
        }
        Ok(())
    }

    /// Calls a tool of the `native` dialect.
    pub(super) fn call(&self, tool: &str, arguments: Value) -> Answer {
        // Some cases delete most of a file, as a release did. A guard would ask whether that is intended, wherever the edit was placed.
        let policy = Policy { shrink_from_lines: usize::MAX, ..Policy::default() };
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .policy(&policy)
            .session("gauntlet");
        let request = Request { dialect: "native".into(), tool: tool.into(), arguments };
        // Some cases are in protected files. They are about where an edit goes, not about who may make it.
        engine.call(request, &mut Person { name: "gauntlet".into() })
    }

    /// The file after a successful call, or the answer's text.
    pub(super) fn result(&self, answer: &Answer) -> Value {
        match answer.report.status() {
            Status::Applied | Status::NoChange => {
                let bytes = self.files.get(&self.path).unwrap_or_default();
                json!({"after": String::from_utf8_lossy(&bytes)})
            }
            _ => json!({"error": answer.text}),
        }
    }
}
