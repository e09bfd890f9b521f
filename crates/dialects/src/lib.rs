//! The tool families that Slipstitch supports: one module per family, and a table of all of them.
//!
//! A dialect turns a tool call into a [`Plan`] and a
//! [`Report`](slipstitch_core::report::Report) into the answer that models trained on those tools expect. The engine does
//! everything in between. To add a dialect, add one file and one line to [`BUILTIN`].
//!
//! An embedding program registers its own dialects without forking:
//!
//! ```
//! use slipstitch_core::dialect::Dialect;
//!
//! static MINE: Dialect = Dialect { name: "mine", about: "My tools.", ..Dialect::PLAIN };
//!
//! let dialects = slipstitch_dialects::builtin().with(&MINE);
//! assert!(dialects.find("mine").is_some() && dialects.find("native").is_some());
//! ```

mod agent_q;
mod aider;
mod answer;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod forge;
mod gemini;
mod goose;
mod hashline;
mod native;
mod nexus3;
mod notebook;
mod opencode;
mod openhands;
mod phoenix;
mod phrases;
mod qwen;
mod roo;
mod spec;
mod xzatoma;
mod zed;

use std::sync::LazyLock;

use slipstitch_core::dialect::{Dialect, Dialects};
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::{Folders, Footer, LinePrefix, Plan, ReadOn, ReadPlan};

/// Every built-in dialect, in the order that help and tool listings show them.
pub const BUILTIN: &[&Dialect] = &[
    &native::DIALECT,
    &forge::DIALECT,
    &phoenix::DIALECT,
    &agent_q::DIALECT,
    &xzatoma::DIALECT,
    &nexus3::DIALECT,
    &claude::DIALECT,
    &codex::DIALECT,
    &gemini::DIALECT,
    &qwen::DIALECT,
    &opencode::DIALECT,
    &cline::DIALECT,
    &roo::DIALECT,
    &zed::DIALECT,
    &cursor::DIALECT,
    &copilot::DIALECT,
    &copilot::CLI_DIALECT,
    &goose::DIALECT,
    &openhands::DIALECT,
    &aider::DIALECT,
    &hashline::DIALECT,
];

/// Maximum number of bytes that one read returns to a caller that says where to stop.
const MAX_READ_BYTES: usize = 256 << 10;
/// Maximum number of bytes that one read returns otherwise: about 12,000 tokens of code.
const DEFAULT_READ_BYTES: usize = 48 << 10;

/// How many bytes a read up to this line may return.
fn read_budget(last: Option<usize>) -> usize {
    if last.is_some() { MAX_READ_BYTES } else { DEFAULT_READ_BYTES }
}

/// A read of a file, or of its lines from `first` to `last`; folders are refused.
fn read_plan(path: FilePath, [first, last]: [Option<usize>; 2], footer: Footer) -> Plan {
    let prefix = LinePrefix::Number;
    let budget = read_budget(last);
    Plan::Read(ReadPlan {
        path,
        first,
        last,
        budget,
        folders: Folders::Refused,
        footer,
        prefix,
        read_on: ReadOn::Line,
    })
}

/// The built-in dialects as a registry, to pass to an engine or to extend.
pub fn builtin() -> &'static Dialects {
    static DIALECTS: LazyLock<Dialects> = LazyLock::new(|| Dialects::new(BUILTIN));
    &DIALECTS
}

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
