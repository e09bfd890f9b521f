//! The pure editing pipeline of Slipstitch.
//!
//! A tool call becomes bytes in files by six stages, each a function from one type to the next:
//!
//! ```text
//! Request → Plan → ChangeSet → Checked → Approved → Receipt → Report
//!    dialect   resolve     guard    approve    commit    report
//! ```
//!
//! | you want to | look at |
//! | --- | --- |
//! | see the stages in order | [`pipeline`] |
//! | answer a tool call | [`pipeline::Engine::call`] |
//! | make a plan yourself and run it | [`plan`], [`pipeline::Engine::run`] |
//! | add a tool family | [`dialect::DIALECTS`] |
//! | add a check | [`guard::GUARDS`] |
//! | keep files or the journal somewhere else | [`workspace::Workspace`], [`journal::Journal`] |
//! | carry a change over what was done meanwhile | [`rebase::carry_over_splices`], [`history`] |
//! | try all of it without a disk | [`memory`] |
//!
//! The crate does no I/O: files, journal and approval are ports, and a lint keeps it so. Whoever
//! wants files on a disk uses the crate `slipstitch`.
//!
//! ```
//! use slipstitch_core::engine::{Engine, Request};
//! use slipstitch_core::path::FilePath;
//! use slipstitch_core::ports::approver::Auto;
//! use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};
//!
//! let (files, journal) = (MemoryWorkspace::default(), MemoryJournal::default());
//! let path = FilePath::from_record("a.txt").unwrap();
//! files.put(&path, "one\r\ntwo\r\n");
//!
//! let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin());
//! let answer = engine.call(
//!     Request {
//!         dialect: "native".into(),
//!         tool: "edit_file".into(),
//!         arguments: serde_json::json!({"path": "a.txt", "old_text": "one\ntwo", "new_text": "1\n2"}),
//!     },
//!     &mut Auto,
//! );
//! assert!(answer.report.is_success(), "{}", answer.text);
//! assert_eq!(files.get(&path).unwrap(), b"1\r\n2\r\n");
//! ```

pub mod change;
pub mod dialect;
pub mod engine;
pub mod find;
pub mod guard;
pub mod hint;
pub mod outcome;
pub mod path;
pub mod plan;
pub mod ports;
pub mod report;
pub mod settings;
pub mod snapshot;

pub use slipstitch_patch as patch;
pub use slipstitch_text as text;
