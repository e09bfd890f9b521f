//! Folders made for a file that is not there yet.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::place::{Place, Vacancy};

/// The folders that a stage made; dropping it removes them again, unless they are in use by then.
#[derive(Debug, Default)]
pub(super) struct MadeFolders(Vec<(Arc<Dir>, OsString)>);

impl MadeFolders {
    /// Makes what is missing on the way to a file.
    pub(super) fn make_way(&mut self, vacancy: Vacancy) -> io::Result<Place> {
        let mut dir = vacancy.dir;
        for name in vacancy.missing {
            match rustix::fs::mkdirat(&*dir, &name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                Ok(()) => self.0.push((Arc::clone(&dir), name.clone())),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            dir = Arc::new(dir.open_dir(&name)?);
        }
        Ok(Place { dir, name: vacancy.name })
    }

    /// The folders that hold them, whose listing changed.
    pub(super) fn holders(&self) -> impl Iterator<Item = &Arc<Dir>> {
        self.0.iter().map(|(dir, _)| dir)
    }

    /// Lets them stay.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for (dir, name) in self.0.iter().rev() {
            // A folder that someone put a file into meanwhile is theirs now.
            let _ = rustix::fs::unlinkat(&**dir, name, AtFlags::REMOVEDIR);
        }
    }
}
