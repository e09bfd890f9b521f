//! Landlock.
//!
//! Edits stay beneath the roots because of how files are opened. With Landlock, the kernel also prevents a bug
//! there, or in a library, from writing outside the roots and the state folder or reading other files.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
    path_beneath_rules,
};

use crate::confinement::{ConfineError, Confinement};

/// Programs, libraries and system information: read-only.
const SYSTEM_FOLDERS: &[&str] =
    &["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/dev", "/run"];

/// The newest version whose rules are used.
const NEWEST: ABI = ABI::V6;
const VERSIONS: &[(u32, ABI)] =
    &[(6, ABI::V6), (5, ABI::V5), (4, ABI::V4), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];

/// The version of Landlock that the system supports, if any.
pub fn landlock_version() -> Option<u32> {
    let is_supported = |abi: ABI| {
        let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let strict = strict.handle_access(AccessFs::from_all(abi));
        strict.and_then(Ruleset::create).is_ok()
    };
    VERSIONS.iter().find(|(_, abi)| is_supported(*abi)).map(|(number, _)| *number)
}

/// Confines this thread and all threads that it starts from now on, for good.
///
/// They can write only beneath `writable`, and read only that, `readable` and the system's folders.
pub fn confine(writable: &[&Path], readable: &[&Path]) -> Result<Confinement, ConfineError> {
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
