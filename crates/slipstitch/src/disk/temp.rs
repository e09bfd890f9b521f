//! Files that nobody should see: new content before it is published, old content until it is sure
//! that it is not needed any more.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::LazyLock;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::note::Note;
use super::place::Place;

/// How the names of all temporary files begin.
pub(super) const PREFIX: &str = ".slipstitch-";

/// How many files without a name are kept open at once; more get names while they wait.
const MAX_UNNAMED: usize = 64;

/// Whether the system lets a file without a name have one later.
static NAMES_LATER: LazyLock<bool> = LazyLock::new(|| std::fs::metadata("/proc/self/fd").is_ok());

/// A random name beside a file, and the file that has it or will have it. Dropping it removes what stands
/// there.
#[derive(Debug)]
pub(super) struct Temp {
    place: Place,
    /// A file that has no name yet: if the process dies, it is gone.
    unnamed: Option<File>,
    keep: bool,
    /// Nothing ever had this name.
    free: bool,
}

/// Where temporary files are made, and how many have no name so far.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub(super) note: Note<'a>,
    pub(super) named_only: bool,
    unnamed: usize,
}

impl<'a> Bench<'a> {
    pub(super) fn new(note: Note<'a>, named_only: bool) -> Self {
        Self { note, named_only, unnamed: 0 }
    }
}

impl Temp {
    /// A name that nothing has yet.
    pub(super) fn name_beside(place: &Place) -> Self {
        Self { place: place.beside(&random_name()), unnamed: None, keep: false, free: false }
    }

    /// A new, empty file; the umask narrows `mode`.
    pub(super) fn file_beside(place: &Place, mode: Mode, bench: &mut Bench<'_>) -> io::Result<(Self, File)> {
        if !bench.named_only && bench.unnamed < MAX_UNNAMED && *NAMES_LATER {
            let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
            match rustix::fs::openat(&*place.dir, ".", flags, mode) {
                Ok(fd) => {
                    bench.unnamed += 1;
                    let file = File::from(fd);
                    let mut temp = Self::name_beside(place);
                    temp.unnamed = Some(file.try_clone()?);
                    return Ok((temp, file));
                }
                // Not every file system has them.
                Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::ISDIR | Errno::NOSYS | Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Self::named_beside(place, mode, bench)
    }

    fn named_beside(place: &Place, mode: Mode, bench: &mut Bench<'_>) -> io::Result<(Self, File)> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let mut temp = Self::name_beside(place);
            bench.note.temp(&temp.place)?;
            match rustix::fs::openat(&*temp.place.dir, &temp.place.name, flags, mode) {
                Ok(fd) => return Ok((temp, File::from(fd))),
                Err(errno) => {
                    // Whatever has that name is not ours to remove.
                    temp.keep = true;
                    if errno != Errno::EXIST {
                        return Err(errno.into());
                    }
                }
            }
        }
    }

    /// Gives the file its name, if it has none yet.
    pub(super) fn give_name(&mut self) -> io::Result<()> {
        let Some(file) = &self.unnamed else { return Ok(()) };
        link(file, &self.place)?;
        self.unnamed = None;
        Ok(())
    }

    /// Gives a file that has no name yet `place` for one, which must be free. Answers whether it had none.
    pub(super) fn name_at(&mut self, place: &Place) -> io::Result<bool> {
        let Some(file) = &self.unnamed else { return Ok(false) };
        link(file, place)?;
        self.unnamed = None;
        Ok(true)
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    pub(super) fn is_unnamed(&self) -> bool {
        self.unnamed.is_some()
    }

    pub(super) fn name(&self) -> String {
        self.place.name.to_string_lossy().into_owned()
    }

    /// Removes what stands there, which is not needed any more. After an error, dropping it tries again.
    pub(super) fn remove(&mut self) -> io::Result<()> {
        if self.keep || self.free || self.unnamed.is_some() {
            return Ok(());
        }
        match rustix::fs::unlinkat(&*self.place.dir, &self.place.name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {
                self.keep = true;
                Ok(())
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Nothing ever had this name: there is nothing to remove.
    pub(super) fn stays_free(&mut self) {
        self.free = true;
    }

    /// Whether what stands there is left, because it could not be put back.
    pub(super) fn is_kept(&self) -> bool {
        self.keep
    }

    /// Leaves what stands there, because it could not be put back; answers with its name.
    pub(super) fn keep(&mut self) -> String {
        self.keep = true;
        self.name()
    }
}

/// A name that nobody guesses.
pub(super) fn random_name() -> String {
    format!("{PREFIX}{:016x}.tmp", RandomState::new().hash_one(std::process::id()))
}

fn link(file: &File, place: &Place) -> io::Result<()> {
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, open, &*place.dir, &place.name, AtFlags::SYMLINK_FOLLOW)?)
}

impl Drop for Temp {
    fn drop(&mut self) {
        if !self.keep && !self.free && self.unnamed.is_none() {
            let _ = rustix::fs::unlinkat(&*self.place.dir, &self.place.name, AtFlags::empty());
        }
    }
}
