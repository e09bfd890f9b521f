//! Prepares changes out of sight: locks, checks, temporary files.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use cap_std::fs::Dir;
use rustix::fs::Mode;
use slipstitch_core::change::{Base, PathChange, FileChange};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{WorkspaceError, Written};
use slipstitch_core::snapshot::FileId;
use slipstitch_core::text::ContentHash;

use super::error::{refusal, refused};
use super::folders::MadeFolders;
use super::in_place::InPlace;
use super::lock::{Held, Key, Marks};
use super::note::Note;
use super::original::Original;
use super::place::{self, Found, Look, Place};
use super::publish::{Displaced, Step, Work};
use super::roots::Roots;
use super::temp::{Bench, Temp};
use super::{DiskWorkspace, Fsync, HardLinks, attributes, copy};

/// How often a stage starts again because folders moved while it waited for its locks.
const MAX_TRIES: usize = 8;

/// Changes that are ready to be published.
///
/// Fields are dropped in this order: temporary files before the folders made for them, and the
/// locks after everything.
#[derive(Debug)]
pub(super) struct DiskStaged<'a> {
    pub(super) steps: Vec<Step>,
    pub(super) written: Vec<Written>,
    pub(super) folders: MadeFolders,
    pub(super) bench: Bench<'a>,
    pub(super) roots: &'a Roots,
    pub(super) displaced: Displaced,
    pub(super) fsync: Fsync,
    pub(super) locks: Held,
}

/// What stands at one path of a change.
#[derive(Debug)]
enum Site {
    File(Found),
    Free(Place),
}

impl Site {
    fn place(&self) -> &Place {
        match self {
            Self::File(found) => &found.place,
            Self::Free(place) => place,
        }
    }
}

pub(super) fn stage<'a>(
    disk: &'a DiskWorkspace,
    changes: &[FileChange],
    marks: Marks,
) -> Result<DiskStaged<'a>, WorkspaceError> {
    let roots = &disk.roots;
    let mut tries = 0;
    loop {
        tries += 1;
        let mut note = disk.notes.note();
        let mut folders = MadeFolders::default();
        let keys = keys(changes, &survey(roots, changes, &mut folders, &mut note)?)?;
        let locks = disk.locks.hold(&keys, marks)?;
        // The way to a file may have changed while the lock was waited for; only what is seen
        // under the lock counts, and only if it is what was locked.
        let sites = survey(roots, changes, &mut folders, &mut note)?;
        if self::keys(changes, &sites)? == keys {
            let bench = Bench::new(note, disk.named_temps);
            let DiskWorkspace { displaced, fsync, .. } = *disk;
            let (steps, written) = (Vec::new(), Vec::new());
            let mut staged = DiskStaged { steps, written, folders, bench, roots, displaced, fsync, locks };
            let mut sites = sites.into_iter();
            for change in changes {
                prepare(disk, change, &mut sites, &mut staged)?;
            }
            return Ok(staged);
        }
        if let (MAX_TRIES.., Some(path)) = (tries, keys.values().next()) {
            return Err(refused(path, "lock", "the folders on the way to it keep moving"));
        }
    }
}

/// Looks for what would stand in the way of changes, without locks and without touching anything.
pub(super) fn check(disk: &DiskWorkspace, changes: &[FileChange]) -> Result<(), WorkspaceError> {
    for change in changes {
        for path in paths(change) {
            let (folder, site) = match place::look(&disk.roots, path, action(change))? {
                Look::File(found) => (Arc::clone(&found.place.dir), Some(Site::File(found))),
                Look::Nothing(vacancy) => (vacancy.dir, None),
            };
            let source = match site.filter(|_| path == &change.path && change.base != Base::Absent) {
                Some(site) => Some(existing(change, site, disk.hard_links)?),
                None => None,
            };
            // A file that can be written needs no folder that can.
            let in_place = source.is_some() && change.path_change == PathChange::Keep;
            if !in_place && !is_writable(&folder, ".".as_ref()) {
                return Err(WorkspaceError::Denied { path: path.clone(), action: action(change) });
            }
        }
    }
    Ok(())
}

fn is_writable(dir: &Dir, name: &OsStr) -> bool {
    rustix::fs::accessat(dir, name, rustix::fs::Access::WRITE_OK, rustix::fs::AtFlags::EACCESS).is_ok()
}

/// The paths of a change: where the file is, and where it goes if it moves.
fn paths(change: &FileChange) -> impl Iterator<Item = &FilePath> {
    let target = match &change.path_change {
        PathChange::Move(to) => Some(to),
        PathChange::Keep | PathChange::Delete => None,
    };
    std::iter::once(&change.path).chain(target)
}

fn action(change: &FileChange) -> &'static str {
    match (change.base, &change.path_change) {
        (_, PathChange::Delete) => "remove",
        (_, PathChange::Move(_)) => "move",
        (Base::Absent, PathChange::Keep) => "create",
        (Base::Content(_), PathChange::Keep) => "write",
    }
}

/// Looks at every path of every change and makes the folders that new files need.
fn survey(
    roots: &Roots,
    changes: &[FileChange],
    folders: &mut MadeFolders,
    note: &mut Note<'_>,
) -> Result<Vec<Site>, WorkspaceError> {
    let mut sites = Vec::new();
    for change in changes {
        for path in paths(change) {
            let must_be_there = path == &change.path && change.base != Base::Absent;
            sites.push(match place::look(roots, path, action(change))? {
                Look::File(found) => Site::File(found),
                Look::Nothing(_) if must_be_there => {
                    return Err(WorkspaceError::Conflict { path: path.clone(), found: None });
                }
                Look::Nothing(vacancy) => Site::Free(
                    folders.make_way(vacancy, note).map_err(|error| refusal(path, action(change), error))?,
                ),
            });
        }
    }
    Ok(sites)
}

/// The locks that the sites need. Two sites with one lock are one file by two paths.
fn keys<'a>(
    changes: &'a [FileChange],
    sites: &[Site],
) -> Result<BTreeMap<Key, &'a FilePath>, WorkspaceError> {
    let mut keys = BTreeMap::new();
    for (path, site) in changes.iter().flat_map(paths).zip(sites) {
        // Another of its names may be edited at the same time.
        let shared = match site {
            Site::File(found) if found.metadata.nlink() > 1 => {
                Some(Key::of_file(found.metadata.dev(), found.metadata.ino()))
            }
            _ => None,
        };
        let key = Key::of(site.place()).map_err(|error| refusal(path, "lock", error))?;
        for key in shared.into_iter().chain([key]) {
            if let Some(other) = keys.insert(key, path) {
                let reason = format!("it is the same file as `{other}`, which changes too");
                return Err(refused(path, "change", reason));
            }
        }
    }
    Ok(keys)
}

fn prepare(
    disk: &DiskWorkspace,
    change: &FileChange,
    sites: &mut impl Iterator<Item = Site>,
    staged: &mut DiskStaged<'_>,
) -> Result<(), WorkspaceError> {
    let mut next =
        || sites.next().ok_or_else(|| refused(&change.path, action(change), "it was not looked at"));
    let site = next()?;
    let mut desk = Desk { disk, change, written: staged.written.len(), bench: &mut staged.bench };
    let write_mode = match (change.base, &change.path_change) {
        (Base::Absent, PathChange::Keep) => {
            staged.steps.push(desk.create(site)?);
            "create"
        }
        (Base::Absent, PathChange::Delete | PathChange::Move(_)) => {
            return Err(refused(&change.path, action(change), "there is no file"));
        }
        (Base::Content(hash), path_change) => {
            let source = existing(change, site, disk.hard_links)?;
            match path_change {
                PathChange::Keep if change.is_empty() => {
                    let read = copy::hash(&change.path, &source.file)?;
                    desk.expect(hash, read)?;
                    "unchanged"
                }
                PathChange::Keep => {
                    let step = desk.replace(hash, source)?;
                    let in_place = matches!(step.work, Work::InPlace { .. });
                    staged.steps.push(step);
                    if in_place { "in_place" } else { "exchange" }
                }
                PathChange::Delete => {
                    let read = copy::hash(&change.path, &source.file)?;
                    desk.expect(hash, read)?;
                    staged.steps.push(desk.remove(hash, &source));
                    "remove"
                }
                PathChange::Move(to) => {
                    let target = free(to, next()?)?;
                    let made = desk.write(hash, &source, &target)?;
                    staged.steps.push(desk.put(to, "move", target, made)?);
                    staged.steps.push(desk.remove(hash, &source));
                    "move"
                }
            }
        }
    };
    let path = change.path_after().unwrap_or(&change.path).clone();
    staged.written.push(Written { path, write_mode });
    Ok(())
}

/// Where the steps of one change are made.
struct Desk<'a, 'b> {
    disk: &'a DiskWorkspace,
    change: &'a FileChange,
    written: usize,
    bench: &'a mut Bench<'b>,
}

impl Desk<'_, '_> {
    fn create(&mut self, site: Site) -> Result<Step, WorkspaceError> {
        let path = &self.change.path;
        let place = free(path, site)?;
        if self.change.splices.base_len() != 0 {
            return Err(refused(path, "create", "the change was made for a file that has content"));
        }
        let everyone = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        let mode = if self.change.mode.is_some() { Mode::RUSR | Mode::WUSR } else { everyone };
        let (temp, file) =
            Temp::file_beside(&place, mode, self.bench).map_err(|error| refusal(path, "create", error))?;
        copy::rewrite(path, io::empty(), &self.change.splices, &file)?;
        if let Some(mode) = self.change.mode {
            // It may have been someone else's: what ran as them must not run as whoever brings it back.
            attributes::give_mode(path, &file, mode & 0o1777)?;
        }
        self.sync(&file)?;
        self.put(path, "create", place, (temp, file))
    }

    /// A new file in the place of the old one; where that would harm something, a write into the old one.
    fn replace(&mut self, hash: ContentHash, source: Found) -> Result<Step, WorkspaceError> {
        let other_names = source.metadata.nlink() > 1 && self.disk.hard_links == HardLinks::WriteThrough;
        if other_names || is_mount_point(&source) {
            return self.write_in_place(hash, source);
        }
        match self.write(hash, &source, &source.place) {
            Ok((temp, file)) => {
                let id = id_of(&self.change.path, &file)?;
                let original = Original::new(hash, &source);
                let after = self.change.after.unwrap_or(hash);
                let spare = Temp::name_beside(&source.place);
                let work = Work::Replace { temp, spare, id, original, after };
                Ok(self.step(self.change.path.clone(), "write", source.place, work))
            }
            // Nothing can be made beside it, or not as it is; the file itself can be written. Not if it has other names:
            // they are to be left as they are.
            Err(error @ (WorkspaceError::Denied { .. } | WorkspaceError::Refused { .. }))
                if source.metadata.nlink() == 1 =>
            {
                self.write_in_place(hash, source).map_err(|other| match other {
                    WorkspaceError::Denied { .. } => error,
                    other => other,
                })
            }
            Err(error) => Err(error),
        }
    }

    fn write_in_place(&mut self, hash: ContentHash, source: Found) -> Result<Step, WorkspaceError> {
        let (disk, note) = (self.disk, &mut self.bench.note);
        let mode = self.change.executable.map(|on| with_execution(source.metadata.mode(), on));
        let write = InPlace::prepare(self.change, hash, &source, mode, &disk.copies, note, disk.fsync)?;
        let after = self.change.after.unwrap_or(hash);
        let work = Work::InPlace { write, before: hash, after };
        Ok(self.step(self.change.path.clone(), "write", source.place, work))
    }

    fn remove(&self, hash: ContentHash, source: &Found) -> Step {
        let (aside, original) = (Temp::name_beside(&source.place), Original::new(hash, source));
        let work = Work::Remove { aside, original };
        self.step(self.change.path.clone(), action(self.change), source.place.clone(), work)
    }

    /// A step that gives a finished temporary file the name `place`, which is free.
    fn put(
        &self,
        path: &FilePath,
        action: &'static str,
        place: Place,
        (temp, file): (Temp, File),
    ) -> Result<Step, WorkspaceError> {
        let id = id_of(path, &file)?;
        let after =
            self.change.after.ok_or_else(|| refused(path, action, "what it is to hold is not known"))?;
        Ok(self.step(path.clone(), action, place, Work::Create { temp, id, after }))
    }

    fn step(&self, path: FilePath, action: &'static str, place: Place, work: Work) -> Step {
        Step { path, action, place, work, written: self.written }
    }

    /// Writes what the change makes of the file into a temporary file beside `place`.
    fn write(
        &mut self,
        hash: ContentHash,
        source: &Found,
        place: &Place,
    ) -> Result<(Temp, File), WorkspaceError> {
        let path = &self.change.path;
        let (temp, mut file) = Temp::file_beside(place, Mode::RUSR | Mode::WUSR, self.bench)
            .map_err(|error| refusal(path, action(self.change), error))?;
        if copy::by_kernel(&self.change.splices) {
            self.write_by_kernel(hash, source, &mut file)?;
        } else {
            let read = copy::rewrite(path, &source.file, &self.change.splices, &file)?;
            self.expect(hash, read)?;
        }
        attributes::carry_over(path, &source.file, &source.metadata, &file)?;
        if let Some(executable) = self.change.executable {
            attributes::give_mode(path, &file, with_execution(source.metadata.mode(), executable))?;
        }
        self.sync(&file)?;
        Ok((temp, file))
    }

    /// The same for a large file. What the kernel copied is not seen on the way: if the file may have changed
    /// after it was hashed, the result is read and must be what it should be.
    fn write_by_kernel(
        &self,
        hash: ContentHash,
        source: &Found,
        file: &mut File,
    ) -> Result<(), WorkspaceError> {
        let path = &self.change.path;
        let read = copy::hash(path, &source.file)?;
        self.expect(hash, read)?;
        copy::splice(path, &source.file, &self.change.splices, file)?;
        if Original::new(hash, source).untouched(&source.file) {
            return Ok(());
        }
        file.rewind().map_err(|error| refusal(path, "write", error))?;
        let made = copy::hash(path, &*file)?;
        if self.change.after.is_some_and(|after| after == made.hash) {
            return Ok(());
        }
        Err(WorkspaceError::Conflict { path: path.clone(), found: None })
    }

    fn sync(&self, file: &File) -> Result<(), WorkspaceError> {
        match self.disk.fsync {
            Fsync::On => file.sync_all().map_err(|error| refusal(&self.change.path, "write", error)),
            Fsync::Off => Ok(()),
        }
    }

    /// Checks that what was read is what the change was made for.
    fn expect(&self, hash: ContentHash, read: copy::Source) -> Result<(), WorkspaceError> {
        if read.hash == hash && read.len == self.change.splices.base_len() {
            return Ok(());
        }
        Err(WorkspaceError::Conflict { path: self.change.path.clone(), found: Some(read.hash) })
    }
}

fn id_of(path: &FilePath, file: &File) -> Result<FileId, WorkspaceError> {
    let metadata = file.metadata().map_err(|error| refusal(path, "write", error))?;
    Ok(FileId { device: metadata.dev(), inode: metadata.ino() })
}

/// Whether something is mounted at the file's name, so that it cannot be renamed.
fn is_mount_point(source: &Found) -> bool {
    let flags = rustix::fs::AtFlags::EMPTY_PATH;
    rustix::fs::statx(&source.file, "", flags, rustix::fs::StatxFlags::empty())
        .is_ok_and(|found| found.stx_attributes.contains(rustix::fs::StatxAttributes::MOUNT_ROOT))
}

/// Permission bits that let whoever may read a file run it, or nobody.
fn with_execution(mode: u32, executable: bool) -> u32 {
    if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 }
}

fn free(path: &FilePath, site: Site) -> Result<Place, WorkspaceError> {
    match site {
        Site::Free(place) => Ok(place),
        Site::File(found) => {
            let read = copy::hash(path, found.file)?;
            Err(WorkspaceError::Conflict { path: path.clone(), found: Some(read.hash) })
        }
    }
}

/// The file to change, if that leaves its other names as they should be.
fn existing(change: &FileChange, site: Site, hard_links: HardLinks) -> Result<Found, WorkspaceError> {
    let path = &change.path;
    let found = match site {
        Site::File(found) => found,
        Site::Free(_) => return Err(WorkspaceError::Conflict { path: path.clone(), found: None }),
    };
    let names = found.metadata.nlink();
    if names > 1 && hard_links == HardLinks::Refuse {
        let reason = format!(
            "the file has {names} names (hard links), and replacing it would separate them; the setting \
             `hard_links` in `[files]` says what to do then"
        );
        return Err(refused(path, action(change), reason));
    }
    if names > 1 && hard_links == HardLinks::WriteThrough && matches!(change.path_change, PathChange::Move(_)) {
        let reason = format!("the file has {names} names (hard links), and a move would separate them");
        return Err(refused(path, action(change), reason));
    }
    // A rename would get past the permissions of the file itself.
    if change.path_change != PathChange::Delete && !is_writable(&found.place.dir, &found.place.name) {
        return Err(WorkspaceError::Denied { path: path.clone(), action: "write" });
    }
    if found.by_link && change.path_change != PathChange::Keep {
        let reason = "it is a symlink: name the file that it leads to";
        return Err(refused(path, action(change), reason));
    }
    Ok(found)
}
