//! An editing engine for programs and for language models, on disk, with a journal and undo.
//!
//! Slipstitch finds the right place for an edit or refuses it, changes only the stated bytes, and writes all of a request
//! or nothing. Every change is journaled with its inverse. A [`Workspace`] is a folder opened for editing:
//!
//! | to | use |
//! | --- | --- |
//! | edit files from your own code | [`Workspace::edit`], [`Workspace::patch`], [`Workspace::undo`] |
//! | answer tool calls of a model | [`Workspace::call`] |
//! | approve changes before they are written | [`Edit::apply_with`], [`Workspace::call_with`] |
//! | add tools or checks | [`Builder::dialects`], [`Builder::guards`] |
//! | see what was changed, by whom, and how | [`Workspace::log`], [`Workspace::change`], [`Workspace::stats`] |
//! | review changes that are waiting for approval | [`Workspace::proposals`], [`Workspace::reviewer`], [`Workspace::decide`] |
//! | run plans that your code builds | [`Workspace::run`], [`core::plan`] |
//! | combine the parts differently | [`DiskWorkspace`], [`editors::Synced`], [`SqliteJournal`], [`state::folder`] |
//! | work without a disk | [`core::engine::Engine`], [`core::ports`] |
//!
//! # Edits from your own code
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let (root, state) = (folder.path().join("root"), folder.path().join("state"));
//! # std::fs::create_dir(&root)?;
//! use slipstitch::Workspace;
//!
//! // `Workspace::open(&root)` keeps the journal in the user's state folder instead.
//! let workspace = Workspace::builder(&root).state_dir(&state).open()?;
//! workspace.edit("a.txt").create("one\ntwo\nthree\n").apply()?;
//!
//! // All operations of an edit refer to the file as it is now, and are applied together.
//! let edit = workspace.edit("a.txt").replace("one", "1").replace_lines(3..=3, "3\n4\n");
//! println!("{}", edit.preview()?.diff);
//! let receipt = edit.description("use digits").apply()?;
//! assert_eq!(std::fs::read_to_string(root.join("a.txt"))?, "1\ntwo\n3\n4\n");
//!
//! // Undo reverts the last change, or any earlier one, and keeps what was changed since elsewhere.
//! workspace.undo().change(receipt.change.unwrap()).apply()?;
//! assert_eq!(std::fs::read_to_string(root.join("a.txt"))?, "one\ntwo\nthree\n");
//!
//! // Unified diffs, V4A patches and SEARCH/REPLACE blocks, over any number of files.
//! workspace
//!     .patch("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
//!     .apply()?;
//! assert_eq!(std::fs::read_to_string(root.join("a.txt"))?, "one\n2\nthree\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Old text must occur exactly once. [`Edit::within`] and [`Edit::replace_all`] resolve ambiguity; [`Edit::recover`]
//! accepts text that is slightly off, as models send it. If nothing was written, [`EditError`] says why: its variants and
//! their reasons are for programs, `Display` states what happened, and [`EditError::hint`] says what to do next.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let (root, state) = (folder.path().join("root"), folder.path().join("state"));
//! # std::fs::create_dir(&root)?;
//! use slipstitch::core::outcome::Unplaced;
//! use slipstitch::{EditError, Workspace};
//!
//! let workspace = Workspace::builder(&root).state_dir(&state).open()?;
//! workspace.edit("a.txt").create("retry\nretry\n").apply()?;
//! match workspace.edit("a.txt").replace("retry", "stop").apply() {
//!     Err(error @ EditError::Unplaced { reason: Unplaced::Ambiguous, .. }) => {
//!         eprintln!("{error}. {}", error.hint().unwrap_or_default());
//!     }
//!     other => panic!("{other:?}"),
//! }
//! workspace.edit("a.txt").within(2..=2).replace("retry", "stop").apply()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Tool calls
//!
//! [`Workspace::call`] answers a call in any of the [dialects](dialects::BUILTIN) that models know. The answer has the
//! text for the model and the same [report](core::report::Report) for programs, whatever the dialect.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let (root, state) = (folder.path().join("root"), folder.path().join("state"));
//! # std::fs::create_dir(&root)?;
//! use serde_json::json;
//! use slipstitch::Workspace;
//!
//! let workspace = Workspace::builder(&root).state_dir(&state).session("agent-7").open()?;
//! workspace.edit("main.py").create("retries = 3\n").apply()?;
//! let answer = workspace.call(
//!     "claude",
//!     "Edit",
//!     json!({"file_path": "main.py", "old_string": "retries = 3", "new_string": "retries = 5"}),
//! );
//! println!("{}", answer.text);
//! assert!(answer.report.is_success());
//!
//! // The definitions to send to the model.
//! let claude = workspace.dialects().find("claude").unwrap();
//! for tool in claude.tools {
//!     println!("{}: {} {}", tool.name, tool.about, (tool.schema)());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Your own approval
//!
//! An [`Approver`](core::ports::approver::Approver) decides on every change after the guards have passed it and before
//! anything is written. It can also keep the change for a later review.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let (root, state) = (folder.path().join("root"), folder.path().join("state"));
//! # std::fs::create_dir(&root)?;
//! use slipstitch::Workspace;
//! use slipstitch::core::ports::approver::{Approver, Decision, ApprovalRequest};
//!
//! struct NoDeletions;
//!
//! impl Approver for NoDeletions {
//!     fn decide(&mut self, question: &ApprovalRequest<'_>) -> Decision {
//!         let by = "policy".to_owned();
//!         match question.diff.contains("deleted file") {
//!             true => Decision::Decline { by, reason: "files are never deleted here".into() },
//!             false => Decision::Approve { by },
//!         }
//!     }
//! }
//!
//! let workspace = Workspace::builder(&root).state_dir(&state).open()?;
//! workspace.edit("a.txt").create("one\n").apply_with(&mut NoDeletions)?;
//! let error = workspace.edit("a.txt").delete().apply_with(&mut NoDeletions).unwrap_err();
//! assert!(error.to_string().contains("files are never deleted here"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Your own dialects and guards
//!
//! Both are values passed to the builder. A dialect turns tool calls into plans and reports into answers; a guard judges
//! a change. `examples/embedding` in the repository has a complete dialect and custom storage.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let (root, state) = (folder.path().join("root"), folder.path().join("state"));
//! # std::fs::create_dir(&root)?;
//! use slipstitch::core::dialect::{Dialect, Effect, Tool, schema};
//! use slipstitch::core::guard::{Guard, Guards, Refusal, Verdict};
//! use slipstitch::core::path::{Absolute, FilePath};
//! use slipstitch::core::plan::{EditPlan, EditRules, FilePlan, IfMissing, Operation, Plan, Separator};
//! use slipstitch::{EditError, Workspace, dialects};
//!
//! /// Doc comments become the descriptions that the model reads.
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Note {
//!     /// The file to add to.
//!     file: String,
//!     /// The line to add.
//!     line: String,
//! }
//!
//! static NOTES: Dialect = Dialect {
//!     name: "notes",
//!     about: "Takes notes",
//!     tools: &[Tool {
//!         name: "note",
//!         aliases: &[],
//!         title: "Take a note",
//!         about: "Adds a line to a file.",
//!         effect: Effect::Edits,
//!         empty_is_value: &[],
//!         example: r#"{"file": "notes.txt", "line": "buy milk"}"#,
//!         schema: schema::of::<Note>,
//!         parse: |arguments| {
//!             let note: Note = slipstitch::core::dialect::read(arguments.fields)?;
//!             let path = FilePath::parse(&note.file, arguments.roots, Absolute::InsideRoot)?;
//!             let (text, separator, if_missing) = (note.line + "\n", Separator::Newline, IfMissing::Create);
//!             let operations = vec![Operation::Append { text, separator, if_missing }];
//!             let file = FilePlan { path, version: None, operations };
//!             Ok(Plan::Edit(EditPlan::new(vec![file], EditRules::NATIVE)))
//!         },
//!     }],
//!     ..Dialect::PLAIN
//! };
//!
//! const NO_SECRETS: Guard = Guard {
//!     name: "no_secrets",
//!     judge: |input| match input.plan.files.iter().find(|file| file.path.as_str().ends_with(".key")) {
//!         Some(file) => Verdict::Refuse(Refusal::Custom {
//!             code: "secret",
//!             message: format!("`{}` is a secret", file.path),
//!             hint: "Leave keys alone.".into(),
//!         }),
//!         None => Verdict::Pass,
//!     },
//! };
//!
//! let workspace = Workspace::builder(&root)
//!     .state_dir(&state)
//!     .dialects(dialects::builtin().with(&NOTES))
//!     .guards(Guards::builtin().with(NO_SECRETS))
//!     .open()?;
//! let note = |file: &str| serde_json::json!({"file": file, "line": "buy milk"});
//! assert!(workspace.call("notes", "note", note("notes.txt")).report.is_success());
//! assert_eq!(std::fs::read_to_string(root.join("notes.txt"))?, "buy milk\n");
//!
//! // Guards apply to every dialect and to typed edits.
//! assert!(!workspace.call("notes", "note", note("tls.key")).report.is_success());
//! let error = workspace.edit("tls.key").create("x").apply().unwrap_err();
//! assert!(matches!(error, EditError::Custom { code: "secret", .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod config;
pub mod confine;
pub mod disk;
pub mod git;
mod hard_links;
pub mod journal;
mod mode_lock;
mod notice;
pub mod os_path;
pub mod passphrase;
mod places;
mod presence;
mod private_files;
pub mod state;
pub mod stats;
mod typed;
mod workspace;

pub use disk::{DiskWorkspace, Fsync, HardLinks, OpenError};
pub use journal::SqliteJournal;
pub use notice::FAILURE_FILE as NOTICE_FAILURE;
pub use presence::Presence;
pub use slipstitch_core as core;
pub use slipstitch_dialects as dialects;
pub use slipstitch_editors as editors;
pub use typed::{Edit, EditError, PatchText, Receipt, Undo};
pub use workspace::{Builder, Overrides, Reviewer, Source, Workspace, WorkspaceOpenError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
