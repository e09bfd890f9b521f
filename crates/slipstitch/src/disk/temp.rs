//! Temporary files: new content before it is published, and old content until it is no longer needed.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::LazyLock;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::cleanup::CleanupList;
use super::lookup::Location;
use super::temp_name::random_name;

/// How many unnamed files are open at once; further temporary files get a name at once.
const MAX_UNNAMED: usize = 64;

/// Whether the system can give an unnamed file a name later.
static CAN_LINK_UNNAMED: LazyLock<bool> = LazyLock::new(|| std::fs::metadata("/proc/self/fd").is_ok());

/// A random name next to a file, and the file that has or will have that name. Dropping it removes the file.
#[derive(Debug)]
pub(super) struct TempFile {
    location: Location,
    state: TempState,
}

#[derive(Debug)]
enum TempState {
    /// The file has no name yet, so that it disappears if the process dies.
    Unnamed(File),
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

    /// Creates an empty file in the folder of `target`; the umask applies to `mode`.
    pub(super) fn create(&mut self, target: &Location, mode: Mode) -> io::Result<(TempFile, File)> {
        if !self.always_named && self.unnamed < MAX_UNNAMED && *CAN_LINK_UNNAMED {
            let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
            match rustix::fs::openat(&*target.dir, ".", flags, mode) {
                Ok(fd) => {
                    self.unnamed += 1;
                    let file = File::from(fd);
                    let mut temp = TempFile::next_to(target);
                    temp.state = TempState::Unnamed(file.try_clone()?);
                    return Ok((temp, file));
                }
                // Not every file system supports unnamed files.
                Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::ISDIR | Errno::NOSYS | Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        self.create_named(target, mode)
    }

    fn create_named(&mut self, target: &Location, mode: Mode) -> io::Result<(TempFile, File)> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let mut temp = TempFile::next_to(target);
            self.cleanup.add_temp(&temp.location)?;
            match rustix::fs::openat(&*temp.location.dir, &temp.location.name, flags, mode) {
                Ok(fd) => return Ok((temp, File::from(fd))),
                Err(errno) => {
                    // A file that already has the name is not ours to remove.
                    temp.state = TempState::NeverUsed;
                    if errno != Errno::EXIST {
                        return Err(errno.into());
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
        link(file, &self.location)?;
        self.state = TempState::Named;
        Ok(())
    }

    /// Links an unnamed file directly to `target`, which must not exist. Returns whether it was unnamed.
    pub(super) fn link_to(&mut self, target: &Location) -> io::Result<bool> {
        let TempState::Unnamed(file) = &self.state else { return Ok(false) };
        link(file, target)?;
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
        match rustix::fs::unlinkat(&*self.location.dir, &self.location.name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {
                self.state = TempState::Removed;
                Ok(())
            }
            Err(errno) => Err(errno.into()),
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

    /// Keeps the file, because its content could not be put back; returns its name.
    pub(super) fn keep(&mut self) -> String {
        self.state = TempState::Kept;
        self.name()
    }
}

fn link(file: &File, location: &Location) -> io::Result<()> {
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, open, &*location.dir, &location.name, AtFlags::SYMLINK_FOLLOW)?)
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if matches!(self.state, TempState::Named) {
            let _ = rustix::fs::unlinkat(&*self.location.dir, &self.location.name, AtFlags::empty());
        }
    }
}
