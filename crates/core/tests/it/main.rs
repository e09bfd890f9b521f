//! The integration tests, in one binary.

mod answers;
mod bounded;
mod cancel;
mod consent;
mod examples;
mod fuzz_targets;
mod gauntlet;
mod hunks;
mod large_files;
mod laws;
mod models;
mod newlines;
mod nexus3;
mod patch_laws;
mod patch_traps;
mod plans;
mod recovery;
mod review;
mod rig;
mod tracked_lines;
mod traps;
mod undo;
mod versions;
