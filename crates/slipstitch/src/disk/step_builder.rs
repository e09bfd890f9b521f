//! Builds the steps of one file's change, with the temporary files that they publish.

use std::fs::File;
use std::io::{self, Seek, Write};

use slipstitch_core::change::FileChange;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::snapshot::{Content, FileId};
use slipstitch_core::text::ContentHash;
use slipstitch_platform::files::{self, Readers};
use slipstitch_platform::info;

use super::copy::{self, Expected};
use super::emptied_folders::EmptiedFolders;
use super::error::{io_error, refused};
use super::fingerprint::Fingerprint;
use super::flush::Flushing;
use super::in_place::InPlaceWrite;
use super::intent::AsideElsewhere;
use super::lock::LockKey;
use super::lookup::{FoundFile, Location, file_id};
use super::recent::RecentContents;
use super::staged::{Step, StepKind};
use super::target::{Target, action};
use super::temp::{TempFactory, TempFile};
use super::{DiskWorkspace, HardLinks, attributes};

pub(super) struct StepBuilder<'a, 'b> {
    pub(super) disk: &'a DiskWorkspace,
    pub(super) change: &'a FileChange,
    /// The index of the file in the change set.
    pub(super) file_index: usize,
    pub(super) temps: &'a mut TempFactory<'b>,
    pub(super) flushing: &'a mut Flushing,
    pub(super) emptied_folders: &'a EmptiedFolders,
}

impl StepBuilder<'_, '_> {
    /// Creates a file, in place of one with the content `leaving` if another change moves or deletes that.
    pub(super) fn create(
        &mut self,
        target: Target,
        leaving: Option<ContentHash>,
    ) -> Result<Step, WorkspaceError> {
        let path = &self.change.path;
        match (target, leaving) {
            (Target::File(found), Some(content)) => {
                let temp = self.write_created(&found.location)?;
                self.publish_over(path, "create", (content, found), temp)
            }
            (target, _) => {
                let location = target.expect_free(path)?;
                let temp = self.write_created(&location)?;
                self.publish_temp(path, "create", location, temp)
            }
        }
    }

    /// Writes the content of a new file into a temporary file next to `location`.
    fn write_created(&mut self, location: &Location) -> Result<(TempFile, FileId), WorkspaceError> {
        let path = &self.change.path;
        if self.change.splices.base_len() != 0 {
            return Err(refused(path, "create", "the change was made for a file that has content"));
        }
        let attributes = &self.change.restore.attributes;
        let is_private = attributes.is_some() || self.change.mode.is_some();
        let readers = if is_private { Readers::Owner } else { Readers::Default };
        let (temp, file) =
            self.temps.create(location, readers).map_err(|error| io_error(path, "create", error))?;
        copy::splice_while_hashing(path, io::empty(), Expected::default(), &self.change.splices, &*file)?;
        if let Some(attributes) = attributes {
            attributes::set_attributes(path, "create", &file, attributes)?;
        } else if let Some(mode) = self.change.mode {
            // Who the mode was meant for is not known: with a set-user-ID bit, the file would run as the user who
            // creates it.
            attributes::ensure_mode(path, &file, mode & 0o1777)?;
        }
        let created = info::of(&file).map_err(|error| io_error(path, "write", error))?;
        self.flushing.add(path, file)?;
        Ok((temp, file_id(&created)))
    }

    /// Replaces the file, or writes in place where a replacement would lose something.
    pub(super) fn replace(&mut self, hash: ContentHash, source: FoundFile) -> Result<Step, WorkspaceError> {
        let writes_through = source.links() > 1 && self.disk.hard_links == HardLinks::WriteThrough;
        if writes_through || files::must_be_written_in_place(&source.file) {
            return self.write_in_place(hash, source);
        }
        let content = self.disk.recent.get(&self.change.path, hash);
        match self.write_temp(hash, &source, &source.location) {
            Ok((temp, id)) => {
                let original = Fingerprint::new(hash, &source).with_content(content);
                let after = self.change.after.unwrap_or(hash);
                let spare = TempFile::next_to(&source.location);
                let kind = StepKind::Replace { temp, spare, id, original, after };
                Ok(self.step(self.change.path.clone(), "write", source.location, kind))
            }
            // No file can be created next to it, or not with its attributes; but it can be written in place.
            // Not if it has other hard links: those must keep the old content.
            Err(error @ (WorkspaceError::Denied { .. } | WorkspaceError::Refused { .. }))
                if source.links() == 1 =>
            {
                self.write_in_place(hash, source).map_err(|other| match other {
                    WorkspaceError::Denied { .. } => error,
                    other => other,
                })
            }
            Err(error) => Err(error),
        }
    }

    fn write_in_place(&mut self, hash: ContentHash, source: FoundFile) -> Result<Step, WorkspaceError> {
        let (disk, cleanup) = (self.disk, &mut self.temps.cleanup);
        let mode = self.change.executable.map(|executable| with_execution(&source, executable));
        let write =
            InPlaceWrite::prepare(self.change, hash, &source, mode, &disk.backups, cleanup, disk.fsync)?;
        let after = self.change.after.unwrap_or(hash);
        let kind = StepKind::InPlace { write, before: hash, after };
        Ok(self.step(self.change.path.clone(), "write", source.location, kind))
    }

    pub(super) fn remove(&self, hash: ContentHash, source: &FoundFile) -> Result<Step, WorkspaceError> {
        let (path, action) = (&self.change.path, action(self.change));
        let aside = self.name_elsewhere(&source.location).map_err(|error| io_error(path, action, error))?;
        let (aside, elsewhere) = match aside {
            Some((aside, elsewhere)) => (aside, Some(elsewhere)),
            None => (TempFile::next_to(&source.location), None),
        };
        let kind = StepKind::Remove { aside, elsewhere, original: Fingerprint::new(hash, source) };
        Ok(self.step(path.clone(), action, source.location.clone(), kind))
    }

    /// A temporary name outside the folder of a file, if that folder may be removed with the change.
    fn name_elsewhere(&self, location: &Location) -> io::Result<Option<(TempFile, AsideElsewhere)>> {
        let Some(dir) = self.emptied_folders.staying_folder(&location.dir)? else { return Ok(None) };
        let aside = TempFile::next_to(&Location { dir, name: location.name.clone() });
        let Location { dir, name } = aside.location();
        // Without its path, recovery could not find it.
        let Some(path) = self.disk.roots.path_of(&**dir, name.as_ref()) else { return Ok(None) };
        let elsewhere = AsideElsewhere { path: path.to_string(), lock: LockKey::for_location(location)? };
        Ok(Some((aside, elsewhere)))
    }

    /// A step that gives a complete temporary file a name that does not exist yet.
    pub(super) fn publish_temp(
        &self,
        path: &FilePath,
        action: &'static str,
        location: Location,
        (temp, id): (TempFile, FileId),
    ) -> Result<Step, WorkspaceError> {
        let after = self
            .change
            .after
            .ok_or_else(|| refused(path, action, "the hash of its new content is unknown"))?;
        Ok(self.step(path.clone(), action, location, StepKind::Create { temp, id, after }))
    }

    /// A step that gives a complete temporary file the name of a file that another change moves or deletes.
    pub(super) fn publish_over(
        &self,
        path: &FilePath,
        action: &'static str,
        (content, leaving): (ContentHash, FoundFile),
        (temp, id): (TempFile, FileId),
    ) -> Result<Step, WorkspaceError> {
        let after = self
            .change
            .after
            .ok_or_else(|| refused(path, action, "the hash of its new content is unknown"))?;
        let original = Fingerprint::new(content, &leaving);
        let spare = TempFile::next_to(&leaving.location);
        let kind = StepKind::Replace { temp, spare, id, original, after };
        Ok(self.step(path.clone(), action, leaving.location, kind))
    }

    fn step(&self, path: FilePath, action: &'static str, location: Location, kind: StepKind) -> Step {
        Step { path, action, location, is_folder_closed: false, kind, file_index: self.file_index }
    }

    /// Writes the new content into a temporary file next to `location`.
    pub(super) fn write_temp(
        &mut self,
        hash: ContentHash,
        source: &FoundFile,
        location: &Location,
    ) -> Result<(TempFile, FileId), WorkspaceError> {
        let path = &self.change.path;
        let (temp, file) = self
            .temps
            .create(location, Readers::Bits(source.metadata.mode))
            .map_err(|error| io_error(path, action(self.change), error))?;
        if copy::is_kernel_copy_worthwhile(&source.file, &self.change.splices) {
            self.write_in_kernel(hash, source, &file)?;
        } else {
            self.write_spliced(hash, source, &file)?;
        }
        let created = attributes::copy_attributes(path, &source.file, &source.metadata, &file)?;
        if let Some(executable) = self.change.executable {
            attributes::ensure_mode(path, &file, with_execution(source, executable))?;
        }
        self.flushing.add(path, file)?;
        Ok((temp, file_id(&created)))
    }

    /// Checks the content of the file, and writes the new content.
    fn write_spliced(
        &self,
        hash: ContentHash,
        source: &FoundFile,
        mut file: &File,
    ) -> Result<(), WorkspaceError> {
        let path = &self.change.path;
        let splices = &self.change.splices;
        let expected = self.disk.recent.get(path, hash);
        if let (Some(content), Some(after)) = (&expected, self.change.after)
            && splices.new_len() <= RecentContents::MAX_LEN
        {
            self.check_content(hash, source)?;
            // Remembered so that the next edit recognises the content that this one leaves.
            let new = Content::with_hash(splices.apply(content), after);
            file.write_all(&new).map_err(|error| io_error(path, "write", error))?;
            self.disk.recent.insert(self.change.path_after().unwrap_or(path), &new);
            return Ok(());
        }
        let expected = Expected { len: source.metadata.len, content: expected.as_ref() };
        let read = copy::splice_while_hashing(path, &source.file, expected, splices, file)?;
        self.expect_content(hash, read)
    }

    /// Writes the new content of a large file.
    ///
    /// The bytes that the kernel copies cannot be checked on the way. If the file may have been modified after
    /// it was hashed, the result is read and must have the expected hash.
    fn write_in_kernel(
        &self,
        hash: ContentHash,
        source: &FoundFile,
        mut file: &File,
    ) -> Result<(), WorkspaceError> {
        let path = &self.change.path;
        self.check_content(hash, source)?;
        copy::splice_in_kernel(path, &source.file, &self.change.splices, file)?;
        if Fingerprint::new(hash, source).is_unmodified(&source.file) {
            return Ok(());
        }
        file.rewind().map_err(|error| io_error(path, "write", error))?;
        let written = copy::digest(path, file, Expected::default())?;
        if self.change.after.is_some_and(|after| after == written.hash) {
            return Ok(());
        }
        Err(WorkspaceError::Conflict { path: path.clone(), found: None })
    }

    /// Checks that the file has the content that the change was made for.
    pub(super) fn check_content(&self, hash: ContentHash, source: &FoundFile) -> Result<(), WorkspaceError> {
        let path = &self.change.path;
        let expected = self.disk.recent.get(path, hash);
        let expected = Expected { len: source.metadata.len, content: expected.as_ref() };
        self.expect_content(hash, copy::digest(path, &source.file, expected)?)
    }

    /// Checks that the content that was read is the content that the change was made for.
    fn expect_content(&self, hash: ContentHash, read: copy::Digest) -> Result<(), WorkspaceError> {
        if read.hash == hash && read.len == self.change.splices.base_len() {
            return Ok(());
        }
        Err(WorkspaceError::Conflict { path: self.change.path.clone(), found: Some(read.hash) })
    }
}

/// The file's mode, executable for everyone who may read it, or for no one.
fn with_execution(source: &FoundFile, executable: bool) -> u32 {
    let mode = source.metadata.mode;
    if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 }
}
