//! The tool families that Slipstitch speaks, one file each, and the table of them.
//!
//! A dialect turns a tool call into a [`Plan`](slipstitch_core::plan::Plan) and a
//! [`Report`](slipstitch_core::report::Report) into the answer that models of that tool family expect. Everything in
//! between is the engine's. Adding a dialect is one file and one line in [`BUILTIN`].
//!
//! An embedding program adds its own without a fork:
//!
//! ```
//! use slipstitch_core::dialect::Dialect;
//!
//! static MINE: Dialect = Dialect { name: "mine", about: "My own tools.", ..Dialect::PLAIN };
//!
//! let dialects = slipstitch_dialects::builtin().with(&MINE);
//! assert!(dialects.find("mine").is_some() && dialects.find("native").is_some());
//! ```

mod agent_q;
mod claude;
mod codex;
mod forge;
mod native;
mod nexus3;
mod phoenix;
mod xzatoma;

use std::sync::LazyLock;

use slipstitch_core::dialect::{Dialect, Dialects};

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
];

/// The built-in dialects as a registry, to hand to an engine or to extend.
pub fn builtin() -> &'static Dialects {
    static DIALECTS: LazyLock<Dialects> = LazyLock::new(|| Dialects::new(BUILTIN));
    &DIALECTS
}

#[cfg(test)]
mod tests;
