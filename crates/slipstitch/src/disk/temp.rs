//! Temporary files: new content before it is published, and old content until it is no longer needed.

use std::fs::File;
use std::io;
use std::sync::Arc;

use slipstitch_platform::files::{self, Readers};

use super::cleanup::CleanupList;
use super::lookup::Location;
use super::temp_name::random_name;

/// How many unnamed files are open at once; further temporary files get a name at once.
const MAX_UNNAMED: usize = 64;

/// A random name next to a file, and the file that has or will have that name. Dropping it removes the file.
#[derive(Debug)]
pub(super) struct TempFile {
    location: Location,
    state: TempState,
}

#[derive(Debug)]
enum TempState {
    /// The file has no name yet, so that it disappears if the process dies.
    Unnamed(Arc<File>),
    /// There may be a file with the name, to be removed.
    Named,
    /// Nothing ever had the name.
    NeverUsed,
    /// The file was removed.
    Removed,
    /// The file is kept, because it may be the only copy of its content.
    Kept,
}

/// Creates temporary files, and adds those that have a name to the cleanup list first.
#[derive(Debug)]
pub(super) struct TempFactory<'a> {
    pub(super) cleanup: CleanupList<'a>,
    always_named: bool,
    unnamed: usize,
}

impl<'a> TempFactory<'a> {
    pub(super) fn new(cleanup: CleanupList<'a>, always_named: bool) -> Self {
        Self { cleanup, always_named, unnamed: 0 }
    }

    /// Creates an empty file in the folder of `target` that `readers` may read. While others could open it by its name, the
    /// permission bits allow only its owner.
    pub(super) fn create(
        &mut self,
        target: &Location,
        readers: Readers,
    ) -> io::Result<(TempFile, Arc<File>)> {
        if !self.always_named
            && self.unnamed < MAX_UNNAMED
            && let Some(file) = files::create_unnamed(&target.dir, readers)?
        {
            self.unnamed += 1;
            let file = Arc::new(file);
            let mut temp = TempFile::next_to(target);
            temp.state = TempState::Unnamed(Arc::clone(&file));
            return Ok((temp, file));
        }
        let readers = if matches!(readers, Readers::Bits(_)) { Readers::Owner } else { readers };
        self.create_named(target, readers)
    }

    fn create_named(&mut self, target: &Location, readers: Readers) -> io::Result<(TempFile, Arc<File>)> {
        loop {
            let mut temp = TempFile::next_to(target);
            self.cleanup.add_temp(&temp.location)?;
            match files::create_new(&temp.location.dir, &temp.location.name, readers) {
                Ok(file) => return Ok((temp, Arc::new(file))),
                Err(error) => {
                    // A file that already has the name is not ours to remove.
                    temp.state = TempState::NeverUsed;
                    if error.kind() != io::ErrorKind::AlreadyExists {
                        return Err(error);
                    }
                }
            }
        }
    }
}

impl TempFile {
    /// A new name in the folder of `target`, without a file yet.
    pub(super) fn next_to(target: &Location) -> Self {
        Self::at(target.sibling(&random_name()))
    }

    /// A temporary name that is already known, without a file.
    pub(super) fn at(location: Location) -> Self {
        Self { location, state: TempState::Named }
    }

    /// Gives the file its temporary name, if it is unnamed.
    pub(super) fn link(&mut self) -> io::Result<()> {
        let TempState::Unnamed(file) = &self.state else { return Ok(()) };
        files::link_unnamed(file, &self.location.dir, &self.location.name)?;
        self.state = TempState::Named;
        Ok(())
    }

    /// Links an unnamed file directly to `target`, which must not exist. Returns whether it was unnamed.
    pub(super) fn link_to(&mut self, target: &Location) -> io::Result<bool> {
        let TempState::Unnamed(file) = &self.state else { return Ok(false) };
        files::link_unnamed(file, &target.dir, &target.name)?;
        self.state = TempState::Named;
        Ok(true)
    }

    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    pub(super) fn is_unnamed(&self) -> bool {
        matches!(self.state, TempState::Unnamed(_))
    }

    pub(super) fn name(&self) -> String {
        self.location.name.to_string_lossy().into_owned()
    }

    /// Removes the file. After an error, dropping it tries again.
    pub(super) fn remove(&mut self) -> io::Result<()> {
        if !matches!(self.state, TempState::Named) {
            return Ok(());
        }
        match files::remove(&self.location.dir, &self.location.name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => {
                self.state = TempState::Removed;
                Ok(())
            }
        }
    }

    /// Declares that nothing ever had the name, so that there is nothing to remove.
    pub(super) fn set_never_used(&mut self) {
        if matches!(self.state, TempState::Named) {
            self.state = TempState::NeverUsed;
        }
    }

    /// Whether the file is kept because its content could not be put back.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self.state, TempState::Kept)
    }

    /// No longer keeps the file, because it turned out that nobody needs it.
    pub(super) fn discard(&mut self) {
        self.state = TempState::Named;
    }

    /// Keeps the file, because its content could not be put back; returns its name.
    pub(super) fn keep(&mut self) -> String {
        self.state = TempState::Kept;
        self.name()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if matches!(self.state, TempState::Named) {
            let _ = files::remove(&self.location.dir, &self.location.name);
        }
    }
}
