//! The editing engine of Slipstitch.
//!
//! Language models change files through tools, and a wrong edit that reports success is the worst thing such a tool can
//! do. This crate turns a tool call into an edit at the one right place, or refuses it with a diagnosis; it changes no byte
//! outside that place, writes all files or none, and can undo every change.
//!
//! A call passes six stages. Each is a function from one type to the next:
//!
//! ```text
//! Request → Plan → ChangeSet → Checked → Approved → Receipt → Report
//!    dialect   resolve     guard    approve    commit    report
//! ```
//!
//! The crate does no I/O: files, journal and approval are ports (traits). For files on disk, a persistent journal and a
//! typed API, use the crate `slipstitch`, which implements them.
//!
//! | To … | use |
//! | --- | --- |
//! | answer a tool call | [`Engine::call`](engine::Engine::call), or [`Engine::plan`](engine::Engine::plan) and [`Engine::run`](engine::Engine::run) to order calls in between |
//! | run an edit without a dialect | [`plan`], [`Engine::execute`](engine::Engine::execute) |
//! | find out what happened | [`report::Report`], [`outcome::Outcome`] |
//! | support another tool family | [`dialect::Dialect`], [`dialect::Dialects::with`] |
//! | check changes before they are written | [`guard::Guard`], [`guard::Guards::with`] |
//! | ask someone before writing | [`ports::Approver`] |
//! | review stored proposals | [`Engine::accept`](engine::Engine::accept), [`Engine::reject`](engine::Engine::reject) |
//! | keep files or the journal elsewhere | [`ports::Workspace`], [`ports::Journal`] |
//! | test without a disk, with injected faults | [`ports::memory`] |
//! | rebuild an earlier version of a file | [`engine::history`] |
//! | find places in a text, without the rest | [`find`] |
//! | decode, diff and splice text | [`text`] |
//! | parse patches | [`patch`] |
//!
//! # Embedding
//!
//! An [`Engine`](engine::Engine) borrows its ports. It is cheap to create, so create one per call.
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
//!
//! # Your own approval
//!
//! An [`Approver`](ports::Approver) sees every change as a diff before it is written. It can approve, decline, or leave the
//! change in the journal as a proposal.
//!
//! ```
//! # use slipstitch_core::engine::{Engine, Request};
//! # use slipstitch_core::path::FilePath;
//! # use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};
//! use slipstitch_core::outcome::{Outcome, Refused};
//! use slipstitch_core::ports::approver::{ApprovalRequest, Approver, Decision};
//!
//! /// Declines changes that touch more than one file.
//! struct OneFileOnly;
//!
//! impl Approver for OneFileOnly {
//!     fn decide(&mut self, request: &ApprovalRequest<'_>) -> Decision {
//!         match request.checked.changes().files().len() {
//!             1 => Decision::Approve { by: "policy".into() },
//!             _ => Decision::Decline { by: "policy".into(), reason: "one file at a time".into() },
//!         }
//!     }
//! }
//!
//! # let (files, journal) = (MemoryWorkspace::default(), MemoryJournal::default());
//! # for name in ["a.txt", "b.txt"] {
//! #     files.put(&FilePath::from_record(name).unwrap(), "one\n");
//! # }
//! # let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin());
//! let patch = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+1\n--- b.txt\n+++ b.txt\n@@ -1 +1 @@\n-one\n+1\n";
//! let request = Request {
//!     dialect: "native".into(),
//!     tool: "patch".into(),
//!     arguments: serde_json::json!({ "patch": patch }),
//! };
//! let report = engine.call(request, &mut OneFileOnly).report;
//! assert_eq!(report.outcome, Outcome::Refused(Refused::Declined));
//! assert_eq!(report.message, "declined by policy: one file at a time");
//! ```
//!
//! # Your own guard
//!
//! A [`Guard`](guard::Guard) inspects an edit and passes, warns, asks for approval, or refuses. It runs twice: on the plan,
//! when [`GuardInput::changes`](guard::GuardInput::changes) is `None`, and on the resolved changes.
//!
//! ```
//! # use slipstitch_core::engine::{Engine, Request};
//! # use slipstitch_core::path::FilePath;
//! # use slipstitch_core::ports::approver::Auto;
//! # use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};
//! use slipstitch_core::guard::{Guard, GuardInput, Guards, Refusal, Verdict};
//!
//! /// Refuses edits of released migrations.
//! fn judge_migrations(input: &GuardInput<'_>) -> Verdict {
//!     match input.plan.files.iter().find(|file| file.path.as_str().starts_with("migrations/")) {
//!         None => Verdict::Pass,
//!         Some(file) => Verdict::Refuse(Refusal::Custom {
//!             code: "released_migration",
//!             message: format!("`{}` is a released migration", file.path),
//!             hint: "Add a new migration instead.".into(),
//!         }),
//!     }
//! }
//!
//! let guards = Guards::builtin().with(Guard { name: "migrations", judge: judge_migrations });
//! # let (files, journal) = (MemoryWorkspace::default(), MemoryJournal::default());
//! # files.put(&FilePath::from_record("migrations/1.sql").unwrap(), "one\n");
//! let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin()).guards(&guards);
//! let request = Request {
//!     dialect: "native".into(),
//!     tool: "edit_file".into(),
//!     arguments: serde_json::json!({"path": "migrations/1.sql", "old_text": "one", "new_text": "1"}),
//! };
//! assert_eq!(engine.call(request, &mut Auto).report.code(), "released_migration");
//! ```
//!
//! # Your own dialect
//!
//! A [`Dialect`](dialect::Dialect) is a constant: a table of tools, each with a schema and a function that turns arguments
//! into a [`Plan`](plan::Plan). The schema comes from a struct whose doc comments are the descriptions that the model
//! reads. The engine repairs and checks the arguments before it calls `parse`.
//!
//! ```
//! # use slipstitch_core::engine::{Engine, Request};
//! # use slipstitch_core::ports::approver::Auto;
//! # use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use slipstitch_core::dialect::{Arguments, Dialect, Dialects, Effect, Tool, read, schema};
//! use slipstitch_core::path::{Absolute, FilePath};
//! use slipstitch_core::plan::{
//!     EditPlan, EditRules, FilePlan, IfMissing, Operation, ParseError, Plan, Separator,
//! };
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Note {
//!     /// The file, relative to the root.
//!     path: String,
//!     /// The line to add at the end.
//!     text: String,
//! }
//!
//! static NOTES: Dialect = Dialect {
//!     name: "notes",
//!     about: "Adds lines to files",
//!     tools: &[Tool {
//!         name: "add_note",
//!         aliases: &[],
//!         title: "Add a note",
//!         about: "Adds a line at the end of a file.",
//!         effect: Effect::Edits,
//!         empty_is_value: &[],
//!         example: r#"{"path": "notes.txt", "text": "call Ada"}"#,
//!         schema: schema::of::<Note>,
//!         parse: parse_note,
//!     }],
//!     ..Dialect::PLAIN
//! };
//!
//! fn parse_note(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
//!     let note: Note = read(arguments.fields)?;
//!     let path = FilePath::parse(&note.path, arguments.roots, Absolute::InsideRoot)?;
//!     let append = Operation::Append {
//!         text: format!("{}\n", note.text),
//!         separator: Separator::Newline,
//!         if_missing: IfMissing::Create,
//!     };
//!     let file = FilePlan { path, version: None, operations: vec![append] };
//!     Ok(Plan::Edit(EditPlan::new(vec![file], EditRules::STRICT)))
//! }
//!
//! let dialects = Dialects::new(&[&NOTES]);
//! # let (files, journal) = (MemoryWorkspace::default(), MemoryJournal::default());
//! let engine = Engine::new(&files, &journal).dialects(&dialects);
//! let note = |arguments| Request { dialect: "notes".into(), tool: "add_note".into(), arguments };
//! let answer = engine.call(note(serde_json::json!({"path": "a.txt", "text": "one"})), &mut Auto);
//! assert!(answer.report.is_success(), "{}", answer.text);
//! let answer = engine.call(note(serde_json::json!({"path": "a.txt"})), &mut Auto);
//! assert!(answer.text.contains("`add_note` needs `text`"), "{}", answer.text);
//! ```
//!
//! Add it to the built-in dialects with `slipstitch_dialects::builtin().with(&NOTES)`.
//!
//! # Your own storage
//!
//! A [`Workspace`](ports::Workspace) reads files and writes changes in two steps, so that the change can be journaled in
//! between. This one keeps its files in a map; staging it locks the map, and compares hashes so that another writer's work
//! is never overwritten. [`ports::memory`] has a complete one.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::{Mutex, MutexGuard};
//!
//! use slipstitch_core::change::{Base, FileChange};
//! # use slipstitch_core::engine::{Engine, Request};
//! use slipstitch_core::path::{FilePath, RootName};
//! # use slipstitch_core::ports::approver::Auto;
//! # use slipstitch_core::ports::memory::MemoryJournal;
//! use slipstitch_core::ports::workspace::{
//!     FolderEntry, ReadResult, Staged, Workspace, WorkspaceError, Written,
//! };
//! use slipstitch_core::snapshot::{FileContent, Meta};
//! use slipstitch_core::text::ContentHash;
//!
//! type Files = BTreeMap<FilePath, Vec<u8>>;
//!
//! #[derive(Default)]
//! struct Store(Mutex<Files>);
//!
//! impl Workspace for Store {
//!     fn root_names(&self) -> &[RootName] {
//!         &[]
//!     }
//!
//!     fn read(&self, path: &FilePath) -> Result<ReadResult, WorkspaceError> {
//!         Ok(match self.0.lock().unwrap().get(path) {
//!             Some(bytes) => ReadResult::File(FileContent {
//!                 bytes: bytes.clone().into(),
//!                 meta: Meta { writable: true, ..Meta::default() },
//!             }),
//!             None => ReadResult::Missing { real: None },
//!         })
//!     }
//!
//!     fn list(&self, _: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
//!         Ok(Vec::new())
//!     }
//!
//!     fn check(&self, changes: &[FileChange]) -> Result<Vec<String>, WorkspaceError> {
//!         self.stage(changes).map(|_| Vec::new())
//!     }
//!
//!     fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
//!         let files = self.0.lock().unwrap();
//!         let mut next = files.clone();
//!         for change in changes {
//!             let before = next.remove(&change.path);
//!             let found = before.as_deref().map(ContentHash::of);
//!             let expected = match change.base {
//!                 Base::Absent => None,
//!                 Base::Content(hash) => Some(hash),
//!             };
//!             if found != expected {
//!                 return Err(WorkspaceError::Conflict { path: change.path.clone(), found });
//!             }
//!             if let Some(path) = change.path_after() {
//!                 next.insert(path.clone(), change.splices.apply(&before.unwrap_or_default()));
//!             }
//!         }
//!         Ok(Box::new(Transaction { files, next }))
//!     }
//! }
//!
//! struct Transaction<'a> {
//!     files: MutexGuard<'a, Files>,
//!     next: Files,
//! }
//!
//! impl Staged for Transaction<'_> {
//!     fn publish(&mut self) -> Result<Vec<Written>, WorkspaceError> {
//!         *self.files = std::mem::take(&mut self.next);
//!         Ok(Vec::new())
//!     }
//! }
//!
//! let (store, journal) = (Store::default(), MemoryJournal::default());
//! let path = FilePath::from_record("a.txt").unwrap();
//! store.0.lock().unwrap().insert(path.clone(), b"one\n".to_vec());
//! let engine = Engine::new(&store, &journal).dialects(slipstitch_dialects::builtin());
//! # let request = Request {
//! #     dialect: "native".into(),
//! #     tool: "edit_file".into(),
//! #     arguments: serde_json::json!({"path": "a.txt", "old_text": "one", "new_text": "1"}),
//! # };
//! assert!(engine.call(request, &mut Auto).report.is_success());
//! assert_eq!(store.0.lock().unwrap()[&path], b"1\n");
//! ```

pub mod cancel;
pub mod change;
pub mod dialect;
pub mod engine;
pub mod fields;
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
mod transport;

pub use slipstitch_patch as patch;
pub use slipstitch_text as text;

/// Tests the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
