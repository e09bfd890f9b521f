//! Rigs that try to make Slipstitch lose, leak or half-write something.
//!
//! Each rig works on real files with real processes and counts what went wrong. Each can run with the
//! protection that it watches switched off, and must find faults then: a rig that cannot fail shows nothing.

mod aftermath;
mod bench;
pub mod concurrency;
mod each;
mod editor;
pub mod errors;
pub mod escape;
pub mod full_disk;
pub mod kill;
pub mod metadata;
mod mount;
mod operation;
mod outcome;
pub mod power;
mod program;
mod random;
mod scratch;
mod serve;
mod trace;
mod tree;
pub mod worker;

pub use outcome::{Outcome, Protection, Scale};

/// A rig: its name, what it tries, and how to run it.
#[derive(Debug, Clone, Copy)]
pub struct Rig {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it tries.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(Scale, Protection) -> Outcome,
}

/// Every rig.
pub const RIGS: &[Rig] = &[
    Rig {
        name: "concurrency",
        about: "many processes edit the same files, some are killed, others write without asking",
        run: concurrency::run,
    },
    Rig {
        name: "kill",
        about: "the program is killed at every system call and at random times",
        run: kill::run,
    },
    Rig { name: "errors", about: "every system call fails, and writes end early", run: errors::run },
    Rig { name: "escape", about: "paths, symlinks and patches that try to leave the root", run: escape::run },
    Rig {
        name: "race",
        about: "a folder and a file that become symlinks out of the root while they are used",
        run: escape::race,
    },
    Rig { name: "full-disk", about: "changes with less and less room on the disk", run: full_disk::run },
    Rig {
        name: "power",
        about: "the power goes while edits are made (ext4 on a loop device)",
        run: power::run,
    },
    Rig {
        name: "metadata",
        about: "modes, owners, access lists, attributes and links through every kind of change",
        run: metadata::run,
    },
];
