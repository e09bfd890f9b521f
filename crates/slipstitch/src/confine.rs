//! Confines the process with Landlock, as a second line of defence.
//!
//! Edits stay beneath the roots because of how files are opened. With Landlock, the kernel also prevents a bug
//! there, or in a library, from writing outside the roots and the state folder or reading other files.

use std::path::Path;

/// Programs, libraries and system information: read-only.
const SYSTEM_FOLDERS: &[&str] =
    &["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/dev", "/run"];

/// How completely a process is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// The kernel enforces every rule.
    Full,
    /// The kernel is too old to enforce every rule.
    Partial,
}

/// Why a process could not be confined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// The system does not support Landlock.
    #[error("this system does not support Landlock, or Landlock is disabled")]
    Missing,
    /// The kernel rejected the rules.
    #[error("Landlock could not confine the process: {0}")]
    Failed(String),
}

/// The version of Landlock that the system supports, if any.
pub fn landlock_version() -> Option<u32> {
    system::version()
}

/// Confines this thread and all threads that it starts from now on, for good.
///
/// They can write only beneath `writable`, and read only that, `readable` and the system's folders.
pub fn confine(writable: &[&Path], readable: &[&Path]) -> Result<Confinement, ConfineError> {
    system::confine(writable, readable)
}

#[cfg(target_os = "linux")]
mod system {
    use std::path::Path;

    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetStatus, path_beneath_rules,
    };

    use super::{ConfineError, Confinement, SYSTEM_FOLDERS};

    /// The newest version whose rules are used.
    const NEWEST: ABI = ABI::V6;
    const VERSIONS: &[(u32, ABI)] =
        &[(6, ABI::V6), (5, ABI::V5), (4, ABI::V4), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];

    pub(super) fn version() -> Option<u32> {
        let is_supported = |abi: ABI| {
            let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            let strict = strict.handle_access(AccessFs::from_all(abi));
            strict.and_then(Ruleset::create).is_ok()
        };
        VERSIONS.iter().find(|(_, abi)| is_supported(*abi)).map(|(number, _)| *number)
    }

    pub(super) fn confine(writable: &[&Path], readable: &[&Path]) -> Result<Confinement, ConfineError> {
        let failed = |error: landlock::RulesetError| ConfineError::Failed(error.to_string());
        let read = AccessFs::from_read(NEWEST);
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))
            .and_then(Ruleset::create)
            .and_then(|rules| rules.add_rules(path_beneath_rules(SYSTEM_FOLDERS, read)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(readable, read)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(["/dev/null"], AccessFs::from_all(NEWEST))))
            .and_then(|rules| rules.add_rules(path_beneath_rules(writable, AccessFs::from_all(NEWEST))))
            .and_then(|rules| rules.restrict_self())
            .map_err(failed)?;
        match status.ruleset {
            RulesetStatus::FullyEnforced => Ok(Confinement::Full),
            RulesetStatus::PartiallyEnforced => Ok(Confinement::Partial),
            RulesetStatus::NotEnforced => Err(ConfineError::Missing),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;

    use super::{ConfineError, Confinement};

    pub(super) fn version() -> Option<u32> {
        None
    }

    pub(super) fn confine(_: &[&Path], _: &[&Path]) -> Result<Confinement, ConfineError> {
        Err(ConfineError::Missing)
    }
}
