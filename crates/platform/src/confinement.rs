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

#[cfg(not(target_os = "linux"))]
pub(crate) mod unsupported {
    use std::path::Path;

    use super::{ConfineError, Confinement};

    /// No version: Landlock is a part of Linux.
    pub fn landlock_version() -> Option<u32> {
        None
    }

    /// Fails: Landlock is a part of Linux.
    pub fn confine(_: &[&Path], _: &[&Path]) -> Result<Confinement, ConfineError> {
        Err(ConfineError::Missing)
    }
}
