//! A second wall around the process, made by the kernel: Landlock.
//!
//! What keeps edits beneath the roots is the way files are opened. With this, a fault in that way, or in a
//! library beneath it, cannot write outside the roots and the state folder either, nor read people's files.

use std::path::Path;

/// Where programs and libraries are, and what the system tells about itself: readable, and nothing more.
const SYSTEM: &[&str] =
    &["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/dev", "/run"];

/// How far a process is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confined {
    /// In everything that was asked for.
    Fully,
    /// As far as this kernel goes, which is not as far as newer ones.
    Partly,
}

/// Why a process could not be confined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// The system has no Landlock.
    #[error("this system has no Landlock, or it is switched off")]
    Missing,
    /// Landlock would not take the rules.
    #[error("Landlock would not confine the process: {0}")]
    Failed(String),
}

/// Which version of Landlock the system has; `None` if it has none.
pub fn landlock_version() -> Option<u32> {
    system::version()
}

/// Confines this thread, and those that it starts from now on: it may write beneath `writable` only, and read
/// those, `readable` and the system's own files. There is no way back.
pub fn confine(writable: &[&Path], readable: &[&Path]) -> Result<Confined, ConfineError> {
    system::confine(writable, readable)
}

#[cfg(target_os = "linux")]
mod system {
    use std::path::Path;

    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetStatus, path_beneath_rules,
    };

    use super::{ConfineError, Confined, SYSTEM};

    /// The newest that is made use of.
    const NEWEST: ABI = ABI::V6;
    const VERSIONS: &[(u32, ABI)] =
        &[(6, ABI::V6), (5, ABI::V5), (4, ABI::V4), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];

    pub(super) fn version() -> Option<u32> {
        let known = |abi: ABI| {
            let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            let strict = strict.handle_access(AccessFs::from_all(abi));
            strict.and_then(Ruleset::create).is_ok()
        };
        VERSIONS.iter().find(|(_, abi)| known(*abi)).map(|(number, _)| *number)
    }

    pub(super) fn confine(writable: &[&Path], readable: &[&Path]) -> Result<Confined, ConfineError> {
        let failed = |error: landlock::RulesetError| ConfineError::Failed(error.to_string());
        let read = AccessFs::from_read(NEWEST);
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))
            .and_then(Ruleset::create)
            .and_then(|rules| rules.add_rules(path_beneath_rules(SYSTEM, read)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(readable, read)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(["/dev/null"], AccessFs::from_all(NEWEST))))
            .and_then(|rules| rules.add_rules(path_beneath_rules(writable, AccessFs::from_all(NEWEST))))
            .and_then(|rules| rules.restrict_self())
            .map_err(failed)?;
        match status.ruleset {
            RulesetStatus::FullyEnforced => Ok(Confined::Fully),
            RulesetStatus::PartiallyEnforced => Ok(Confined::Partly),
            RulesetStatus::NotEnforced => Err(ConfineError::Missing),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;

    use super::{ConfineError, Confined};

    pub(super) fn version() -> Option<u32> {
        None
    }

    pub(super) fn confine(_: &[&Path], _: &[&Path]) -> Result<Confined, ConfineError> {
        Err(ConfineError::Missing)
    }
}
