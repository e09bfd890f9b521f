//! SQLite's log: what is flushed to the disk, and when.
//!
//! SQLite itself flushes only when it copies the log into the database (`synchronous=NORMAL`). What must survive a power cut
//! is flushed here after its commit. That way a change is flushed once, when it begins, and not again when it is marked as
//! done: recovery does that again if the mark is lost. And a flush writes the data without the file's times.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use slipstitch_platform::private;

use super::FILE;
use crate::private_files;

/// The log of a database.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: OnceLock<File>,
    /// Whether this process may have created it.
    is_new: bool,
}

impl Log {
    /// The log of the database in a state folder, which is not open yet.
    pub(super) fn of(state_dir: &Path) -> Self {
        let path = state_dir.join(format!("{FILE}-wal"));
        let is_new = path.symlink_metadata().is_err();
        Self { path, file: OnceLock::new(), is_new }
    }

    /// Flushes everything that was committed.
    pub(super) fn flush(&self) -> io::Result<()> {
        if let Some(file) = self.file.get() {
            return file.sync_data();
        }
        // SQLite holds no lock on the log itself, so another handle can be opened and closed.
        let file = private_files::open(&self.path, private::to_flush(&mut OpenOptions::new()))?;
        file.sync_data()?;
        // Flushing a file does not promise to flush its name.
        if let (true, Some(folder)) = (self.is_new, self.path.parent()) {
            private::sync_folder(folder)?;
        }
        let _ = self.file.set(file);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_log_cannot_be_flushed() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::of(folder.path());
        assert_eq!(log.flush().unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::write(&log.path, "").unwrap();
        log.flush().unwrap();
    }
}
