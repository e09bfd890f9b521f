//! Differential tests: each dialect against a small independent model of its document.
//!
//! A model does not use the engine. It says what the document says, and nothing where the document is silent; so the tests
//! demand exact agreement on files and log, and on those parts of an answer that the document prescribes. Where the engine
//! deliberately differs from a document, the model still says what the document says, and a `Deviation` names the difference.
//!
//! `MODEL_SCALE=20 MODEL_SEED=7` makes twenty times as many calls, from another seed.

mod agent_q;
mod forge;
mod hashline;
mod notebook;
mod phoenix;
mod sketch;
mod xzatoma;

use serde_json::Value;
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::guard::Policy;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};
use slipstitch_core::settings::Settings;

use crate::rig::path;

/// A number from the environment.
#[expect(clippy::disallowed_methods, reason = "the number of calls is the test's, not the engine's")]
fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// How many calls to make: `usual`, times `MODEL_SCALE`.
pub(crate) fn scaled(usual: usize) -> usize {
    usual * from_environment("MODEL_SCALE").unwrap_or(1) as usize
}

/// The seed of the calls; `usual` differs between tests.
pub(crate) fn seed(usual: u64) -> u64 {
    usual + from_environment("MODEL_SEED").unwrap_or(0) * 1_000_000_007
}

/// An engine with files in memory, one session and settings.
#[derive(Default)]
struct Sandbox {
    files: MemoryWorkspace,
    journal: MemoryJournal,
    settings: Settings,
}

impl Sandbox {
    fn put(&self, name: &str, text: &str) {
        self.files.put(&path(name), text);
    }

    fn text(&self, name: &str) -> Option<String> {
        self.files.get(&path(name)).map(|bytes| String::from_utf8(bytes).expect("UTF-8 was written"))
    }

    fn call(&self, dialect: &str, tool: &str, arguments: Value) -> Answer {
        let policy = Policy::default();
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .policy(&policy)
            .settings(&self.settings)
            .session("model");
        engine.call(Request { dialect: dialect.into(), tool: tool.into(), arguments }, &mut Auto)
    }
}

/// The start of every occurrence, overlapping ones included.
fn occurrences(text: &str, needle: &str) -> Vec<usize> {
    (0..text.len()).filter(|&at| text.is_char_boundary(at) && text[at..].starts_with(needle)).collect()
}
