//! The integration tests, in one binary.
//!
//! Tests that need a separate process are separate binaries: `confine.rs`, `large_file.rs`.

mod approvals;
mod batch_failures;
mod diff_output;
mod disk;
mod gc;
mod git;
mod journal;
mod journal_failures;
mod mode;
mod patch;
mod patch_input;
mod places;
mod renames;
mod secrets;
mod shown;
mod stats;
mod support;
mod typed;
mod undo;
#[cfg(unix)]
mod undo_deletion;
