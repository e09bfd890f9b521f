//! Writing into a file instead of replacing it.
//!
//! This is needed where the file has hard links that must keep the same content, where it is a mount point,
//! where no file can be created next to it, or where a new file could not have its owner.
//!
//! Readers can see such a write half done, so the old and the new content are first saved in the state
//! folder. If the process dies during the write, the old content can be restored from there.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use slipstitch_core::cancel::CancelToken;
use slipstitch_core::change::FileChange;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::text::ContentHash;
use slipstitch_platform::{files, info, private, process};

use super::cancellable::{self, BLOCK};
use super::cleanup::CleanupList;
use super::error::{io_error, refused};
use super::lookup::{FoundFile, Location};
use super::temp_name::random_name;
use super::{Fsync, attributes, copy};
use crate::private_files;

/// The folder with the backups of files that are written in place.
#[derive(Debug)]
pub(super) struct BackupFolder {
    pub(super) path: PathBuf,
}

/// The old and the new content of a file, saved in the state folder.
#[derive(Debug)]
pub(super) struct Backup {
    old: PathBuf,
    new: PathBuf,
}

/// A prepared write in place.
#[derive(Debug)]
pub(super) struct InPlaceWrite {
    /// Open for reading and writing.
    file: File,
    location: Location,
    backup: Backup,
    /// Whether the backup is kept, because someone may need it.
    keep_backup: bool,
    before: ContentHash,
    after: ContentHash,
    /// The offset of the first byte that changes.
    first_change: u64,
    old_len: u64,
    old_mode: u32,
    new_mode: u32,
    fsync: Fsync,
}

impl BackupFolder {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        private_files::create_folder(&path)?;
        Ok(Self { path })
    }

    pub(super) fn backup(&self, name: &str) -> Backup {
        Backup { old: self.path.join(format!("{name}.old")), new: self.path.join(format!("{name}.new")) }
    }
}

impl Backup {
    pub(super) fn name(&self) -> String {
        self.old.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Where the old content is, for messages.
    pub(super) fn old_path(&self) -> String {
        self.old.display().to_string()
    }

    /// Whether a file is a mixture of both contents. After a power cut, any block may be old or new.
    pub(super) fn is_partial_write(&self, file: &File, cancel: Option<&CancelToken>) -> io::Result<bool> {
        let (Some(old), Some(new)) = (open_existing(&self.old)?, open_existing(&self.new)?) else {
            return Ok(false);
        };
        let (old_len, new_len) = (old.metadata()?.len(), new.metadata()?.len());
        if !(old_len.min(new_len)..=old_len.max(new_len)).contains(&file.metadata()?.len()) {
            return Ok(false);
        }
        let read_block = |file: &File| -> io::Result<Vec<u8>> {
            let mut block = Vec::new();
            file.take(BLOCK).read_to_end(&mut block)?;
            Ok(block)
        };
        loop {
            cancellable::check(cancel)?;
            let [now, old, new] = [read_block(file)?, read_block(&old)?, read_block(&new)?];
            let is_old_or_new =
                |(at, byte): (usize, &u8)| old.get(at) == Some(byte) || new.get(at) == Some(byte);
            if now.is_empty() {
                return Ok(true);
            }
            let is_one_of_them = old.starts_with(&now) || new.starts_with(&now);
            if !is_one_of_them && !now.iter().enumerate().all(is_old_or_new) {
                return Ok(false);
            }
        }
    }

    /// Writes the old content back. If that is cancelled, the file is a mixture of both contents.
    pub(super) fn restore(
        &self,
        file: &mut File,
        fsync: Fsync,
        cancel: Option<&CancelToken>,
    ) -> io::Result<()> {
        let max_len = std::fs::metadata(&self.old)?.len().max(std::fs::metadata(&self.new)?.len());
        copy_into(&self.old, file, 0, max_len, fsync, cancel)
    }

    /// Deletes both contents.
    pub(super) fn delete(&self) {
        let _ = std::fs::remove_file(&self.old);
        let _ = std::fs::remove_file(&self.new);
    }
}

/// Opens one of our files for reading, if it exists.
fn open_existing(path: &Path) -> io::Result<Option<File>> {
    match private_files::open(path, OpenOptions::new().read(true)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes the content of `source` into `file`, from the offset `start` on.
///
/// A file that is longer than `max_len` was written to by someone else, and is not truncated: what they
/// appended would be lost.
fn copy_into(
    source: &Path,
    file: &mut File,
    start: u64,
    max_len: u64,
    fsync: Fsync,
    cancel: Option<&CancelToken>,
) -> io::Result<()> {
    let mut source = private_files::open(source, OpenOptions::new().read(true))?;
    let len = source.metadata()?.len();
    source.seek(SeekFrom::Start(start))?;
    file.seek(SeekFrom::Start(start))?;
    cancellable::check(cancel)?;
    while io::copy(&mut (&source).take(BLOCK), file)? > 0 {
        cancellable::check(cancel)?;
    }
    if file.metadata()?.len() > len && file.metadata()?.len() <= max_len {
        file.set_len(len)?;
    }
    if fsync == Fsync::On { file.sync_all() } else { Ok(()) }
}

impl Drop for InPlaceWrite {
    fn drop(&mut self) {
        if !self.keep_backup {
            self.backup.delete();
        }
    }
}

impl InPlaceWrite {
    /// Saves both contents and opens the file for writing. The file gets `mode`, if that is given.
    pub(super) fn prepare(
        change: &FileChange,
        before: ContentHash,
        source: &FoundFile,
        mode: Option<u32>,
        backups: &BackupFolder,
        cleanup: &mut CleanupList<'_>,
        fsync: Fsync,
    ) -> Result<Self, WorkspaceError> {
        let path = &change.path;
        let failed = |error: io::Error| io_error(path, "write", error);
        refuse_privilege_loss(path, source)?;
        let file = open_same_file(source).map_err(failed)?;
        let backup = backups.backup(&random_name());
        for copy in [&backup.old, &backup.new] {
            cleanup.add_file(copy).map_err(failed)?;
        }
        let create =
            |copy: &Path| private::owner_only(OpenOptions::new().write(true).create_new(true)).open(copy);
        let (old, new) = (create(&backup.old).map_err(failed)?, create(&backup.new).map_err(failed)?);
        let mut from = &source.file;
        from.rewind().map_err(failed)?;
        io::copy(&mut from, &mut &old).map_err(failed)?;
        from.rewind().map_err(failed)?;
        let read = copy::splice_while_hashing(path, from, copy::Expected::default(), &change.splices, &new)?;
        if read.hash != before || read.len != change.splices.base_len() {
            return Err(WorkspaceError::Conflict { path: path.clone(), found: Some(read.hash) });
        }
        for copy in [&old, &new] {
            if fsync == Fsync::On {
                copy.sync_all().map_err(failed)?;
            }
        }
        let old_mode = source.metadata.mode;
        Ok(Self {
            file,
            location: source.location.clone(),
            backup,
            keep_backup: false,
            before,
            after: change.after.unwrap_or(before),
            first_change: change.splices.iter().next().map_or(0, |first| first.at.start() as u64),
            old_len: source.metadata.len,
            old_mode,
            new_mode: mode.unwrap_or(old_mode),
            fsync,
        })
    }

    /// The name of the backup, for the intent.
    pub(super) fn backup_name(&self) -> String {
        self.backup.name()
    }

    /// Writes the new content. On failure the old content is restored.
    pub(super) fn publish(&mut self, path: &FilePath) -> Result<(), WorkspaceError> {
        self.file.rewind().map_err(|error| io_error(path, "write", error))?;
        let now = copy::digest(path, &self.file, copy::Expected::default())?;
        if now.hash != self.before {
            return Err(WorkspaceError::Conflict { path: path.clone(), found: Some(now.hash) });
        }
        let new_len = std::fs::metadata(&self.backup.new).map_or(0, |new| new.len());
        let max_len = self.old_len.max(new_len);
        let written =
            copy_into(&self.backup.new, &mut self.file, self.first_change, max_len, self.fsync, None)
                .map_err(|error| io_error(path, "write", error))
                .and_then(|()| attributes::ensure_mode(path, &self.file, self.new_mode));
        match written {
            Ok(()) => self.verify_written(path),
            Err(error) => self.roll_back(path).and(Err(error)),
        }
    }

    /// Checks that the file has the new content.
    ///
    /// If it does not, someone else wrote to it at the same time. Restoring the old content would lose what
    /// they wrote, so the backup is kept and the error says where it is.
    fn verify_written(&mut self, path: &FilePath) -> Result<(), WorkspaceError> {
        let rewound = self.file.rewind().map_err(|error| io_error(path, "write", error));
        match rewound.and_then(|()| copy::digest(path, &self.file, copy::Expected::default())) {
            Ok(now) if now.hash == self.after => return Ok(()),
            Ok(_) => {}
            Err(error) => return self.roll_back(path).and(Err(error)),
        }
        self.keep_backup = true;
        let old = self.backup.old_path();
        let reason = format!(
            "another program wrote to it while it was being written in place; its old content is saved in `{old}`"
        );
        Err(WorkspaceError::Torn { path: path.clone(), reason })
    }

    /// Restores the old content.
    pub(super) fn roll_back(&mut self, path: &FilePath) -> Result<(), WorkspaceError> {
        // Through a new handle: one that failed to reach the disk must not be trusted.
        let restored = open_writable(&self.location)
            .and_then(|mut file| self.backup.restore(&mut file, self.fsync, None).map(|()| file));
        match restored {
            Ok(file) => attributes::ensure_mode(path, &file, self.old_mode),
            Err(error) => {
                self.keep_backup = true;
                let old = self.backup.old_path();
                let reason =
                    format!("its old content could not be restored and is saved in `{old}`: {error}");
                Err(WorkspaceError::Torn { path: path.clone(), reason })
            }
        }
    }
}

/// Opens a file for writing; fails if there is now another file at its location.
fn open_same_file(source: &FoundFile) -> io::Result<File> {
    let file = open_writable(&source.location)?;
    if info::of(&file)?.id() != source.metadata.id() {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(file)
}

/// Opens what is at a location for reading and writing, without following a symlink.
pub(super) fn open_writable(location: &Location) -> io::Result<File> {
    files::open_writable(&location.dir, &location.name)
}

/// Refuses a file whose privileges the write would clear and this process could not set again.
fn refuse_privilege_loss(path: &FilePath, source: &FoundFile) -> Result<(), WorkspaceError> {
    let metadata = &source.metadata;
    if attributes::has_capabilities(&source.file) {
        return Err(refused(path, "write", "it has capabilities, and writing to it would clear them"));
    }
    if metadata.mode & 0o6000 != 0 && !process::is_privileged() && metadata.owner != process::user() {
        let reason = "it is set-user-ID or set-group-ID, and writing to it would clear that";
        return Err(refused(path, "write", reason));
    }
    Ok(())
}
