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
//! | carry a change over what was done meanwhile | [`rebase::carry`], [`history`] |
//! | try all of it without a disk | [`memory`] |
//!
//! The crate does no I/O: files, journal and approval are ports, and a lint keeps it so. Whoever
//! wants files on a disk uses the crate `slipstitch`.
//!
//! ```
//! use slipstitch_core::approve::Auto;
//! use slipstitch_core::guard::Policy;
//! use slipstitch_core::memory::{MemoryJournal, MemoryWorkspace};
//! use slipstitch_core::path::FilePath;
//! use slipstitch_core::pipeline::{Engine, Request};
//!
//! let files = MemoryWorkspace::default();
//! let path = FilePath::from_record("a.txt").unwrap();
//! files.put(&path, "one\r\ntwo\r\n");
//! let engine = Engine {
//!     files: &files,
//!     journal: &MemoryJournal::default(),
//!     policy: &Policy::default(),
//!     settings: &Default::default(),
//!     mode: Default::default(),
//!     encoding: Default::default(),
//!     session: "example",
//!     agent: None,
//! };
//! let answer = engine.call(
//!     Request {
//!         dialect: "native".into(),
//!         tool: "edit_file".into(),
//!         arguments: serde_json::json!({"path": "a.txt", "old_text": "one\ntwo", "new_text": "1\n2"}),
//!     },
//!     &mut Auto,
//! );
//! assert!(answer.report.status.is_success(), "{}", answer.text);
//! assert_eq!(files.get(&path).unwrap(), b"1\r\n2\r\n");
//! ```

pub mod approve;
pub mod change;
pub mod commit;
pub mod dialect;
pub mod guard;
pub mod history;
pub mod journal;
pub mod means;
pub mod memory;
pub mod patch;
pub mod path;
pub mod pipeline;
pub mod plan;
pub mod rebase;
pub mod report;
pub mod resolve;
pub mod settings;
pub mod snapshot;
pub mod workspace;
