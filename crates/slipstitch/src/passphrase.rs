//! The reviewer's passphrase, as a hash in the state folder.
//!
//! An agent that can open a terminal can type what a person types. With a passphrase, deciding needs something that it does not
//! know. The hash is Argon2id, so reading the state folder does not reveal the passphrase. Somebody who can write there could
//! remove the file; then they could also write the journal itself.

mod attempts;

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use slipstitch_platform::private::owner_only;

use crate::private_files;

pub use attempts::FILE as ATTEMPTS;

/// The shortest passphrase.
pub const MIN_CHARS: usize = 6;

/// Why a passphrase cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassphraseError {
    /// One is set, and none was given.
    #[error("the review passphrase is required")]
    Needed,
    /// It is not the one that is set.
    #[error("the passphrase is wrong")]
    Wrong,
    /// Too many wrong ones were given.
    #[error("too many wrong passphrases; try again in {seconds} s")]
    Locked {
        /// How long to wait.
        seconds: u64,
    },
    /// The settings ask for one, and none is set.
    #[error("the settings require a review passphrase, but none is set")]
    NotSet,
    /// It is too short to set.
    #[error("the passphrase has fewer than {MIN_CHARS} characters")]
    TooShort,
    /// The file with the hash cannot be read or written.
    #[error("cannot use the passphrase file `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file has no valid hash.
    #[error("the passphrase file `{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// The file with the hash, in the state folder.
pub const FILE: &str = "review.passphrase";

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join(FILE)
}

/// Whether a passphrase is set. A file that cannot be examined counts as one, so that no error opens the door.
pub(crate) fn is_set(state_dir: &Path) -> bool {
    file(state_dir).symlink_metadata().map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |_| true)
}

/// Checks `given` against the passphrase, if one is set.
pub(crate) fn check(state_dir: &Path, given: Option<&str>) -> Result<(), PassphraseError> {
    if !is_set(state_dir) {
        return Ok(());
    }
    let given = given.ok_or(PassphraseError::Needed)?;
    let path = file(state_dir);
    let mut text = String::new();
    private_files::open(&path, OpenOptions::new().read(true))
        .and_then(|file| file.take(4096).read_to_string(&mut text))
        .map_err(|source| PassphraseError::Io { path: path.clone(), source })?;
    let hash = PasswordHash::new(text.trim())
        .map_err(|error| PassphraseError::Damaged { path, reason: error.to_string() })?;
    let attempt = attempts::begin(state_dir)?;
    Argon2::default().verify_password(given.as_bytes(), &hash).map_err(|_| PassphraseError::Wrong)?;
    attempt.succeed();
    Ok(())
}

/// Sets the passphrase, or removes it. The caller has checked the one that was set before.
pub(crate) fn replace(state_dir: &Path, new: Option<&str>) -> Result<(), PassphraseError> {
    let path = file(state_dir);
    let failed = |source| PassphraseError::Io { path: path.clone(), source };
    let Some(new) = new else {
        return match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        };
    };
    if new.chars().count() < MIN_CHARS {
        return Err(PassphraseError::TooShort);
    }
    let hash: PasswordHash =
        Argon2::default().hash_password(new.as_bytes()).map_err(|error| failed(io::Error::other(error)))?;
    let draft = path.with_extension("draft");
    let _ = std::fs::remove_file(&draft);
    let mut options = OpenOptions::new();
    let mut file =
        private_files::open(&draft, owner_only(options.write(true).create_new(true))).map_err(failed)?;
    writeln!(file, "{hash}").and_then(|()| file.sync_all()).map_err(failed)?;
    std::fs::rename(&draft, &path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_passphrase_passes() {
        let state = tempfile::tempdir().unwrap();
        assert!(check(state.path(), None).is_ok(), "none is set");
        assert!(matches!(replace(state.path(), Some("short")), Err(PassphraseError::TooShort)));
        replace(state.path(), Some("correct horse")).unwrap();
        assert!(matches!(check(state.path(), None), Err(PassphraseError::Needed)));
        assert!(matches!(check(state.path(), Some("wrong horse")), Err(PassphraseError::Wrong)));
        assert!(check(state.path(), Some("correct horse")).is_ok());
        let stored = std::fs::read_to_string(file(state.path())).unwrap();
        assert!(stored.starts_with("$argon2id$") && !stored.contains("horse"), "{stored}");
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::MetadataExt::mode(&file(state.path()).metadata().unwrap()) & 0o777,
            0o600
        );
        replace(state.path(), None).unwrap();
        assert!(check(state.path(), None).is_ok());
    }

    #[test]
    fn wrong_passphrases_have_to_wait() {
        let state = tempfile::tempdir().unwrap();
        replace(state.path(), Some("correct horse")).unwrap();
        for _ in 0..attempts::FREE {
            assert!(matches!(check(state.path(), Some("wrong horse")), Err(PassphraseError::Wrong)));
        }
        // Now even the right one has to wait, in every process.
        let refused = check(state.path(), Some("correct horse")).unwrap_err();
        assert!(matches!(refused, PassphraseError::Locked { seconds: 1..=30 }), "{refused}");
        attempts::backdate(state.path(), 31_000);
        assert!(check(state.path(), Some("correct horse")).is_ok());
        assert!(
            matches!(check(state.path(), Some("wrong horse")), Err(PassphraseError::Wrong)),
            "counted anew"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_damaged_file_lets_nobody_decide() {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(file(state.path()), "").unwrap();
        assert!(matches!(check(state.path(), Some("anything")), Err(PassphraseError::Damaged { .. })));
        std::fs::remove_file(file(state.path())).unwrap();
        std::os::unix::fs::symlink("/dev/null", file(state.path())).unwrap();
        assert!(matches!(check(state.path(), Some("anything")), Err(PassphraseError::Io { .. })));
    }
}
