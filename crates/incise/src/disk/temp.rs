//! Files that nobody should see: new content before it is published, old content until it is sure
//! that it is not needed any more.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::place::Place;

/// A random name beside a file. Dropping it removes what stands there.
#[derive(Debug)]
pub(super) struct Temp {
    place: Place,
    keep: bool,
}

impl Temp {
    /// A name that nothing has yet.
    pub(super) fn name_beside(place: &Place) -> Self {
        let name = format!(".incise-{:016x}.tmp", RandomState::new().hash_one(std::process::id()));
        Self { place: place.beside(&name), keep: false }
    }

    /// A new, empty file; the umask narrows `mode`.
    pub(super) fn file_beside(place: &Place, mode: Mode) -> io::Result<(Self, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let mut temp = Self::name_beside(place);
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

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Leaves what stands there, because it could not be put back; answers with its name.
    pub(super) fn keep(&mut self) -> String {
        self.keep = true;
        self.place.name.to_string_lossy().into_owned()
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if !self.keep {
            let _ = rustix::fs::unlinkat(&*self.place.dir, &self.place.name, AtFlags::empty());
        }
    }
}
