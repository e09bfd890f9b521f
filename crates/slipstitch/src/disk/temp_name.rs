//! Names of temporary files.

use std::hash::{BuildHasher, RandomState};

/// The prefix of all temporary names.
pub(super) const PREFIX: &str = ".slipstitch-";

/// A temporary name that cannot be guessed.
pub(super) fn random_name() -> String {
    // Every `RandomState` has other keys, and they are secret.
    format!("{PREFIX}{:016x}.tmp", RandomState::new().hash_one(PREFIX))
}
