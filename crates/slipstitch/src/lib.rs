//! Slipstitch as a library: the editing engine of [`slipstitch_core`] on disk, with a journal.
//!
//! | to | use |
//! | --- | --- |
//! | answer tool calls beneath a folder | [`Workspace::call`] |
//! | carry out plans made by your own code | [`Workspace::run`], [`core::plan`] |
//! | ask someone before anything is written | [`Workspace::call_with`], [`core::approve::Approver`] |
//! | see what was changed, by whom, and how | [`Workspace::log`], [`Workspace::change`] |
//! | see how calls went, and why some did not | [`Workspace::stats`] |
//! | decide on changes that wait for a person | [`Workspace::proposals`], [`Workspace::accept`], [`Workspace::reject`] |
//! | put the parts together in another way | [`DiskWorkspace`], [`editors::Synced`], [`SqliteJournal`], [`state::folder`] |

pub mod config;
pub mod confine;
pub mod disk;
pub mod journal;
mod mode_lock;
pub mod state;
pub mod stats;
mod typed;
mod workspace;

pub use disk::{DiskWorkspace, Fsync, HardLinks, OpenError};
pub use journal::SqliteJournal;
pub use slipstitch_core as core;
pub use slipstitch_dialects as dialects;
pub use slipstitch_editors as editors;
pub use typed::{Edit, EditError, PatchText, Receipt, Undo};
pub use workspace::{Builder, Source, Workspace, WorkspaceOpenError};
