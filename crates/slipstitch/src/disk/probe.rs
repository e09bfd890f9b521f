//! What the file system beneath a root can do, found out by trying.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, RenameFlags, ResolveFlags, renameat_with};
use serde::Serialize;

use super::DiskWorkspace;
use super::place::Place;
use super::temp::{Bench, Temp};

/// What a root's file system can do. Where it cannot, a change goes another way, which its receipt names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Abilities {
    /// Paths are resolved by the kernel, beneath the root only.
    pub resolve_beneath: bool,
    /// Temporary files need no name.
    pub unnamed_files: bool,
    /// A new file and the old one change places at once.
    pub exchange: bool,
    /// A copy of a file shares its blocks.
    pub shared_blocks: bool,
}

impl DiskWorkspace {
    /// Finds out what each root's file system can do. Makes two small files and removes them again.
    pub fn abilities(&self) -> Vec<(String, io::Result<Abilities>)> {
        self.roots.each().map(|(name, dir)| (name.to_owned(), self.try_out(dir))).collect()
    }

    fn try_out(&self, dir: &Arc<cap_std::fs::Dir>) -> io::Result<Abilities> {
        let place = Place { dir: Arc::clone(dir), name: "probe".into() };
        let mut bench = Bench::new(self.notes.note(), self.named_temps);
        let mode = Mode::RUSR | Mode::WUSR;
        let (mut a, file_a) = Temp::file_beside(&place, mode, &mut bench)?;
        let (mut b, file_b) = Temp::file_beside(&place, mode, &mut bench)?;
        let unnamed_files = a.is_unnamed();
        bench.note.temp(a.place())?;
        bench.note.temp(b.place())?;
        a.give_name()?;
        b.give_name()?;
        let (from, to) = (a.place(), b.place());
        let exchange = renameat_with(dir, &from.name, dir, &to.name, RenameFlags::EXCHANGE).is_ok();
        Ok(Abilities {
            resolve_beneath: beneath(dir),
            unnamed_files,
            exchange,
            shared_blocks: shares(&file_a, &file_b),
        })
    }
}

fn beneath(dir: &cap_std::fs::Dir) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(dir, Path::new("."), flags, Mode::empty(), resolve).is_ok()
}

fn shares(from: &File, to: &File) -> bool {
    rustix::io::write(from, &[b'x'; 4096]).is_ok() && rustix::fs::ioctl_ficlone(to, from).is_ok()
}
