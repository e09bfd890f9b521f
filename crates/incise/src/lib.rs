//! Incise as a library: the editing engine of [`incise_core`] on disk, with a journal.
//!
//! | to | use |
//! | --- | --- |
//! | read and change files beneath a root | [`DiskWorkspace`] |
//! | remember changes, list them and take them back | [`SqliteJournal`] |
//! | find the folder that both keep their state in | [`state::folder`] |

pub mod disk;
pub mod journal;
pub mod state;

pub use disk::{DiskWorkspace, Fsync, OpenError};
pub use journal::SqliteJournal;
