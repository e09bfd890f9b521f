//! Probes what the file system of a root supports.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, RenameFlags, ResolveFlags, renameat_with};
use serde::Serialize;

use super::DiskWorkspace;
use super::lookup::Location;
use super::temp::{TempFactory, TempFile};

/// What a root's file system supports. Without one of these, changes are made in another way, and the
/// receipt says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FsFeatures {
    /// The kernel resolves paths beneath the root (`openat2`).
    pub resolve_beneath: bool,
    /// Temporary files need no name (`O_TMPFILE`).
    pub unnamed_files: bool,
    /// Two files can exchange their names atomically.
    pub exchange: bool,
    /// A copied file can share its blocks with the original.
    pub shared_blocks: bool,
}

impl DiskWorkspace {
    /// Probes the file system of each root, by creating and removing two small files.
    pub fn probe_features(&self) -> Vec<(String, io::Result<FsFeatures>)> {
        self.roots.iter().map(|(name, dir)| (name.to_owned(), self.probe(dir))).collect()
    }

    fn probe(&self, dir: &Arc<cap_std::fs::Dir>) -> io::Result<FsFeatures> {
        let location = Location { dir: Arc::clone(dir), name: "probe".into() };
        let mut temps = TempFactory::new(self.cleanup.new_list(), self.named_temps);
        let mode = Mode::RUSR | Mode::WUSR;
        let (mut a, file_a) = temps.create(&location, mode)?;
        let (mut b, file_b) = temps.create(&location, mode)?;
        let unnamed_files = a.is_unnamed();
        let mut name = |temp: &mut TempFile| {
            temps.cleanup.add_temp(temp.location())?;
            temp.link()
        };
        name(&mut a)?;
        name(&mut b)?;
        let (from, to) = (a.location(), b.location());
        let exchange = renameat_with(dir, &from.name, dir, &to.name, RenameFlags::EXCHANGE).is_ok();
        Ok(FsFeatures {
            resolve_beneath: can_resolve_beneath(dir),
            unnamed_files,
            exchange,
            shared_blocks: can_share_blocks(&file_a, &file_b),
        })
    }
}

fn can_resolve_beneath(dir: &cap_std::fs::Dir) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(dir, Path::new("."), flags, Mode::empty(), resolve).is_ok()
}

fn can_share_blocks(from: &File, to: &File) -> bool {
    rustix::io::write(from, &[b'x'; 4096]).is_ok() && rustix::fs::ioctl_ficlone(to, from).is_ok()
}
