//! Fault-injection rigs: they try to make Slipstitch lose an edit, leak a file or leave a change half-written.
//!
//! A rig runs real processes on real files, injects one kind of fault, and lists every broken guarantee. It can also run
//! with the protection under test switched off, and must then find failures: a rig that cannot fail proves nothing.

mod concurrency;
mod errors;
mod escape;
mod file_systems;
mod findings;
mod flips;
mod full_disk;
mod invariants;
mod kill;
mod metadata;
mod mount;
mod naive_editors;
mod operation;
mod parallel;
mod power;
mod program;
mod run_options;
mod sampling;
mod scratch;
mod syscalls;
mod testbed;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod tracer;
mod tree;
mod unprotected_server;
pub mod worker;

pub use file_systems::FileSystem;
pub use findings::{Findings, Protection, Scale};
pub use run_options::{Part, RenameFlags, RunOptions};

/// How the names of Slipstitch's temporary files begin.
const TEMP_PREFIX: &str = ".slipstitch-";

/// One rig, as listed by `torture --help`.
#[derive(Debug, Clone, Copy)]
pub struct Rig {
    /// Name on the command line.
    pub name: &'static str,
    /// The fault it injects.
    pub injects: &'static str,
    /// The guarantee that must hold regardless.
    pub proves: &'static str,
    /// Whether parts of it are skipped without root.
    pub needs_root: bool,
    /// Entry point.
    pub run: fn(&RunOptions) -> Findings,
}

impl Rig {
    /// The rig called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        RIGS.iter().find(|rig| rig.name == name)
    }
}

/// Every rig, in the order in which `torture` runs them.
pub const RIGS: &[Rig] = &[
    Rig {
        name: "concurrency",
        injects: "many processes edit the same files, some are killed, and other programs write without locking",
        proves: "every acknowledged edit is in its file exactly once, and nothing of a refused edit is",
        needs_root: false,
        run: concurrency::run,
    },
    Rig {
        name: "kill",
        injects: "the program is killed at each system call and at random times, with and without rename flags",
        proves: "after the next start all files are old or all are new, with nothing left over",
        needs_root: true,
        run: kill::run,
    },
    Rig {
        name: "errors",
        injects: "each system call fails once; reads and writes transfer only part of the data",
        proves: "a reported error leaves every file unchanged, and a reported success is complete",
        needs_root: false,
        run: |options| errors::run(options.scale, options.protection),
    },
    Rig {
        name: "escape",
        injects: "hostile paths, symlinks and patches, through every tool that takes a path",
        proves: "nothing outside the root is opened or shown, and nothing there or in `.git` is changed",
        needs_root: false,
        run: |options| escape::run(options.scale, options.protection),
    },
    Rig {
        name: "race",
        injects: "a folder and a file are swapped with symlinks that leave the root while they are in use",
        proves: "no read or write follows the symlink, however the race ends",
        needs_root: false,
        run: |options| escape::race(options.scale, options.protection),
    },
    Rig {
        name: "full-disk",
        injects: "the disk runs full, with the journal on it or elsewhere",
        proves: "a change is applied or refused as a whole, and works once there is space again",
        needs_root: true,
        run: |options| full_disk::run(options.scale, options.protection),
    },
    Rig {
        name: "power",
        injects: "the power fails during edits (ext4 on a loop device, shut down without a flush)",
        proves: "every acknowledged edit survives and can be undone, and no edit is half applied",
        needs_root: true,
        run: |options| power::run(options.scale, options.protection),
    },
    Rig {
        name: "flips",
        injects: "single bits of the journal flip",
        proves: "each flip is reported by the journal's check, or every row is as before",
        needs_root: false,
        run: |options| flips::run(options.scale, options.protection),
    },
    Rig {
        name: "metadata",
        injects: "modes, owners, ACLs, extended attributes, symlinks and hard links on the edited file",
        proves: "every kind of change keeps them or is refused with a reason",
        needs_root: true,
        run: |options| metadata::run(options.scale, options.protection),
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use slipstitch::dialects::BUILTIN;

    use crate::{escape, full_disk};

    #[test]
    fn every_tool_that_writes_is_exercised() {
        let exercised: BTreeSet<(&str, &str)> =
            escape::tools_exercised().chain(full_disk::tools_exercised()).collect();
        let missing: Vec<String> = BUILTIN
            .iter()
            .flat_map(|dialect| dialect.tools.iter().map(move |tool| (dialect.name, tool)))
            .filter(|(dialect, tool)| {
                !tool.effect.is_read_only() && !exercised.contains(&(*dialect, tool.name))
            })
            .map(|(dialect, tool)| format!("`{}` of dialect `{dialect}`", tool.name))
            .collect();
        assert!(
            missing.is_empty(),
            "no rig exercises {}. Add a case to TOOL_CASES in crates/rigs/src/escape/tool_cases.rs, or for a tool \
             without a path argument to CHANGES in crates/rigs/src/full_disk.rs",
            missing.join(", ")
        );
    }

    #[test]
    fn every_exercised_tool_exists() {
        for (dialect, tool) in escape::tools_exercised().chain(full_disk::tools_exercised()) {
            let known = BUILTIN.iter().find(|known| known.name == dialect);
            let exists = known.is_some_and(|known| known.tools.iter().any(|known| known.name == tool));
            assert!(exists, "a rig exercises `{tool}` of dialect `{dialect}`, which is not in BUILTIN");
        }
    }
}
