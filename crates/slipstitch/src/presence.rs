//! Who is there: processes that show the review, and calls that wait for a decision.
//!
//! A presence is a file with an exclusive lock, so it ends with its process, however that ends. The file gets its name only
//! when it is locked; one that is not locked is left over from a killed process and is removed by whoever finds it.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::private_files;

/// Ends when it is dropped or the process ends.
#[derive(Debug)]
pub struct Presence {
    path: PathBuf,
    _locked: File,
}

impl Drop for Presence {
    fn drop(&mut self) {
        // At worst the next look removes it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Where presences are kept.
fn folder(state_dir: &Path) -> PathBuf {
    state_dir.join("presence")
}

/// Shows others that something called `what` is there.
pub(crate) fn announce(state_dir: &Path, what: &str) -> io::Result<Presence> {
    let folder = folder(state_dir);
    private_files::create_folder(&folder)?;
    let prefix = prefix(what);
    for attempt in 0..u32::MAX {
        let path = folder.join(format!("{prefix}{}-{attempt}", std::process::id()));
        let draft = path.with_extension("draft");
        let file = match File::create_new(&draft) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        file.lock()?;
        if path.exists() {
            std::fs::remove_file(&draft)?;
            continue;
        }
        std::fs::rename(&draft, &path)?;
        return Ok(Presence { path, _locked: file });
    }
    Err(io::Error::other("too many processes show the review"))
}

/// Whether something called `what` is there.
pub(crate) fn is_present(state_dir: &Path, what: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(folder(state_dir)) else { return false };
    let prefix = prefix(what);
    let mut is_found = false;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_named =
            name.to_str().is_some_and(|name| name.starts_with(&prefix) && !name.ends_with(".draft"));
        if is_named && let Ok(file) = File::open(entry.path()) {
            match file.try_lock_shared() {
                Err(TryLockError::WouldBlock) => is_found = true,
                Err(TryLockError::Error(_)) => {}
                Ok(()) => drop(std::fs::remove_file(entry.path())),
            }
        }
    }
    is_found
}

/// How many presences of any kind there are, with those that killed processes left.
pub(crate) fn count(state_dir: &Path) -> usize {
    std::fs::read_dir(folder(state_dir)).map_or(0, Iterator::count)
}

fn prefix(what: &str) -> String {
    format!("{}-", &blake3::hash(what.as_bytes()).to_hex()[..24])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_presence_ends_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_present(folder.path(), "review"));
        let first = announce(folder.path(), "review").unwrap();
        let second = announce(folder.path(), "review").unwrap();
        assert!(is_present(folder.path(), "review") && !is_present(folder.path(), "other"));
        drop(first);
        assert!(is_present(folder.path(), "review"));
        drop(second);
        assert!(!is_present(folder.path(), "review"));
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let state = tempfile::tempdir().unwrap();
        drop(announce(state.path(), "review").unwrap());
        let left = folder(state.path()).join(format!("{}1-0", prefix("review")));
        std::fs::write(&left, "").unwrap();
        assert!(!is_present(state.path(), "review") && !left.exists());
    }
}
