//! One file in memory and the session that edits it.

use serde_json::{Value, json};
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::outcome::Status;
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};

use super::Error;

/// The file of a case, its journal, and what the caller has seen of it.
pub(super) struct Session {
    files: MemoryWorkspace,
    journal: MemoryJournal,
    path: FilePath,
    seen: SeenVersions,
}

impl Session {
    pub(super) fn new(case: &Value) -> Result<Self, Error> {
        let text = |name: &str| case[name].as_str().unwrap_or_default();
        let path = FilePath::parse(text("path"), &[], Absolute::Refused)?;
        let files = MemoryWorkspace::default();
        files.put(&path, text("before"));
        let texts = case["versions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let seen = SeenVersions::new(&path, texts);
        Ok(Self { files, journal: MemoryJournal::default(), path, seen })
    }

    /// Calls a tool of the `native` dialect.
    pub(super) fn call(&self, tool: &str, arguments: Value) -> Answer {
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .session("gauntlet");
        let request = Request { dialect: "native".into(), tool: tool.into(), arguments };
        self.seen.with_versions(engine).call(request, &mut Auto)
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

/// The texts that the caller has seen, most likely first.
///
/// The engine has no port for them yet, so [`SeenVersions::with_versions`] leaves it as it is. Once it has one, only
/// this type changes: it holds the port's in-memory implementation and passes it to the engine.
struct SeenVersions;

impl SeenVersions {
    fn new<'a>(_path: &FilePath, _texts: impl Iterator<Item = &'a str>) -> Self {
        Self
    }

    fn with_versions<'a>(&'a self, engine: Engine<'a>) -> Engine<'a> {
        engine
    }
}
