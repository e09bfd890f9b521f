//! The integration tests, in one binary.

mod bounded;
mod consent;
mod examples;
mod gauntlet;
mod hunks;
mod laws;
mod nexus3;
mod patch_laws;
mod patch_traps;
mod plans;
mod recovery;
mod review;
mod rig;
mod traps;
mod undo;
mod versions;
