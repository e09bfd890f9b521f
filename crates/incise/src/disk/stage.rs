//! Prepares changes out of sight: locks, checks, temporary files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use cap_std::fs::Dir;
use incise_core::change::{Base, Fate, FileChange};
use incise_core::path::FilePath;
use incise_core::snapshot::ContentHash;
use incise_core::workspace::{FileId, WorkspaceError, Written};
use rustix::fs::Mode;

use super::error::{refusal, refused};
use super::folders::MadeFolders;
use super::lock::{Held, Key, LockFolder};
use super::original::Original;
use super::place::{self, Found, Look, Place};
use super::publish::{Step, Work};
use super::temp::Temp;
use super::{Fsync, attributes, copy};

/// How often a stage starts again because folders moved while it waited for its locks.
const MOST_TRIES: usize = 8;

/// Changes that are ready to be published.
///
/// Fields are dropped in this order: temporary files before the folders made for them, and the
/// locks after everything.
#[derive(Debug)]
pub(super) struct DiskStaged {
    pub(super) steps: Vec<Step>,
    pub(super) written: Vec<Written>,
    pub(super) folders: MadeFolders,
    pub(super) fsync: Fsync,
    _locks: Held,
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

pub(super) fn stage(
    root: &Arc<Dir>,
    locks: &LockFolder,
    fsync: Fsync,
    changes: &[FileChange],
) -> Result<DiskStaged, WorkspaceError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let mut folders = MadeFolders::default();
        let keys = keys(changes, &survey(root, changes, &mut folders)?)?;
        let held = locks.hold(&keys)?;
        // The way to a file may have changed while the lock was waited for; only what is seen
        // under the lock counts, and only if it is what was locked.
        let sites = survey(root, changes, &mut folders)?;
        if self::keys(changes, &sites)? == keys {
            let mut staged =
                DiskStaged { steps: Vec::new(), written: Vec::new(), folders, fsync, _locks: held };
            let mut sites = sites.into_iter();
            for change in changes {
                prepare(change, &mut sites, &mut staged)?;
            }
            return Ok(staged);
        }
        if let (MOST_TRIES.., Some(path)) = (tries, keys.values().next()) {
            return Err(refused(path, "lock", "the folders on the way to it keep moving"));
        }
    }
}

/// Looks for what would stand in the way of changes, without locks and without touching anything.
pub(super) fn check(root: &Arc<Dir>, changes: &[FileChange]) -> Result<(), WorkspaceError> {
    for change in changes {
        for path in paths(change) {
            let (folder, site) = match place::look(root, path, action(change))? {
                Look::File(found) => (Arc::clone(&found.place.dir), Some(Site::File(found))),
                Look::Nothing(vacancy) => (vacancy.dir, None),
            };
            let writable = rustix::fs::accessat(
                &*folder,
                ".",
                rustix::fs::Access::WRITE_OK,
                rustix::fs::AtFlags::EACCESS,
            );
            if writable.is_err() {
                return Err(WorkspaceError::Denied { path: path.clone(), action: action(change) });
            }
            if let Some(site) = site.filter(|_| path == &change.path && change.base != Base::Absent) {
                existing(change, site)?;
            }
        }
    }
    Ok(())
}

/// The paths of a change: where the file is, and where it goes if it moves.
fn paths(change: &FileChange) -> impl Iterator<Item = &FilePath> {
    let target = match &change.fate {
        Fate::Moves(to) => Some(to),
        Fate::Stays | Fate::Goes => None,
    };
    std::iter::once(&change.path).chain(target)
}

fn action(change: &FileChange) -> &'static str {
    match (change.base, &change.fate) {
        (_, Fate::Goes) => "remove",
        (_, Fate::Moves(_)) => "move",
        (Base::Absent, Fate::Stays) => "create",
        (Base::Content(_), Fate::Stays) => "write",
    }
}

/// Looks at every path of every change and makes the folders that new files need.
fn survey(
    root: &Arc<Dir>,
    changes: &[FileChange],
    folders: &mut MadeFolders,
) -> Result<Vec<Site>, WorkspaceError> {
    let mut sites = Vec::new();
    for change in changes {
        for path in paths(change) {
            let must_be_there = path == &change.path && change.base != Base::Absent;
            sites.push(match place::look(root, path, action(change))? {
                Look::File(found) => Site::File(found),
                Look::Nothing(_) if must_be_there => {
                    return Err(WorkspaceError::Conflict { path: path.clone(), found: None });
                }
                Look::Nothing(vacancy) => Site::Free(
                    folders.make_way(vacancy).map_err(|error| refusal(path, action(change), error))?,
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
        let key = Key::of(site.place()).map_err(|error| refusal(path, "lock", error))?;
        if let Some(other) = keys.insert(key, path) {
            return Err(refused(
                path,
                "change",
                format!("it is the same file as `{other}`, which changes too"),
            ));
        }
    }
    Ok(keys)
}

fn prepare(
    change: &FileChange,
    sites: &mut impl Iterator<Item = Site>,
    staged: &mut DiskStaged,
) -> Result<(), WorkspaceError> {
    let mut next =
        || sites.next().ok_or_else(|| refused(&change.path, action(change), "it was not looked at"));
    let site = next()?;
    let write_mode = match (change.base, &change.fate) {
        (Base::Absent, Fate::Stays) => {
            staged.steps.push(create(change, site, staged.fsync)?);
            "create"
        }
        (Base::Absent, Fate::Goes | Fate::Moves(_)) => {
            return Err(refused(&change.path, action(change), "there is no file"));
        }
        (Base::Content(hash), fate) => {
            let source = existing(change, site)?;
            match fate {
                Fate::Stays if change.is_empty() => {
                    let read = copy::hash(&change.path, &source.file)?;
                    expect(change, hash, read)?;
                    "unchanged"
                }
                Fate::Stays => {
                    staged.steps.push(replace(change, hash, source, staged.fsync)?);
                    "rename"
                }
                Fate::Goes => {
                    let read = copy::hash(&change.path, &source.file)?;
                    expect(change, hash, read)?;
                    staged.steps.push(remove(change, hash, &source));
                    "remove"
                }
                Fate::Moves(to) => {
                    let target = free(to, next()?)?;
                    let temp = write(change, hash, &source, &target, staged.fsync)?;
                    staged.steps.push(put(to, "move", target, temp)?);
                    staged.steps.push(remove(change, hash, &source));
                    "move"
                }
            }
        }
    };
    let path = change.path_after().unwrap_or(&change.path).clone();
    staged.written.push(Written { path, write_mode });
    Ok(())
}

fn create(change: &FileChange, site: Site, fsync: Fsync) -> Result<Step, WorkspaceError> {
    let path = &change.path;
    let place = free(path, site)?;
    if change.splices.base_len() != 0 {
        return Err(refused(path, "create", "the change was made for a file that has content"));
    }
    let everyone = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
    let mode = if change.mode.is_some() { Mode::RUSR | Mode::WUSR } else { everyone };
    let temp = Temp::file_beside(&place, mode).map_err(|error| refusal(path, "create", error))?;
    copy::rewrite(path, io::empty(), &change.splices, &temp.1)?;
    if let Some(mode) = change.mode {
        attributes::give_mode(path, &temp.1, mode)?;
    }
    sync(path, &temp.1, fsync)?;
    put(path, "create", place, temp)
}

fn replace(
    change: &FileChange,
    hash: ContentHash,
    source: Found,
    fsync: Fsync,
) -> Result<Step, WorkspaceError> {
    let (temp, _) = write(change, hash, &source, &source.place, fsync)?;
    let original = Original::new(hash, &source);
    let work = Work::Replace { temp, original };
    Ok(Step { path: change.path.clone(), action: "write", place: source.place, work })
}

fn remove(change: &FileChange, hash: ContentHash, source: &Found) -> Step {
    let work =
        Work::Remove { aside: Temp::name_beside(&source.place), original: Original::new(hash, source) };
    Step { path: change.path.clone(), action: action(change), place: source.place.clone(), work }
}

/// A step that gives a finished temporary file the name `place`, which is free.
fn put(
    path: &FilePath,
    action: &'static str,
    place: Place,
    (temp, file): (Temp, File),
) -> Result<Step, WorkspaceError> {
    let metadata = file.metadata().map_err(|error| refusal(path, action, error))?;
    let id = FileId { device: metadata.dev(), inode: metadata.ino() };
    Ok(Step { path: path.clone(), action, place, work: Work::Create { temp, id } })
}

/// Writes what the change makes of the file into a temporary file beside `place`.
fn write(
    change: &FileChange,
    hash: ContentHash,
    source: &Found,
    place: &Place,
    fsync: Fsync,
) -> Result<(Temp, File), WorkspaceError> {
    let path = &change.path;
    let (temp, file) = Temp::file_beside(place, Mode::RUSR | Mode::WUSR)
        .map_err(|error| refusal(path, action(change), error))?;
    let read = copy::rewrite(path, &source.file, &change.splices, &file)?;
    expect(change, hash, read)?;
    attributes::carry_over(path, &source.file, &source.metadata, &file)?;
    if let Some(executable) = change.executable {
        attributes::give_mode(path, &file, with_execution(source.metadata.mode(), executable))?;
    }
    sync(path, &file, fsync)?;
    Ok((temp, file))
}

/// Permission bits that let whoever may read a file run it, or nobody.
fn with_execution(mode: u32, executable: bool) -> u32 {
    if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 }
}

fn sync(path: &FilePath, file: &File, fsync: Fsync) -> Result<(), WorkspaceError> {
    match fsync {
        Fsync::On => file.sync_all().map_err(|error| refusal(path, "write", error)),
        Fsync::Off => Ok(()),
    }
}

/// Checks that what was read is what the change was made for.
fn expect(change: &FileChange, hash: ContentHash, read: copy::Source) -> Result<(), WorkspaceError> {
    if read.hash == hash && read.len == change.splices.base_len() {
        return Ok(());
    }
    Err(WorkspaceError::Conflict { path: change.path.clone(), found: Some(read.hash) })
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

/// The file to change, if replacing or removing it leaves no other name of it behind.
fn existing(change: &FileChange, site: Site) -> Result<Found, WorkspaceError> {
    let path = &change.path;
    let found = match site {
        Site::File(found) => found,
        Site::Free(_) => return Err(WorkspaceError::Conflict { path: path.clone(), found: None }),
    };
    let names = found.metadata.nlink();
    if names > 1 {
        let reason = format!("the file has {names} names (hard links), and replacing it would separate them");
        return Err(refused(path, action(change), reason));
    }
    // A rename would get past the permissions of the file itself.
    let place = &found.place;
    if change.fate != Fate::Goes
        && rustix::fs::accessat(
            &*place.dir,
            &place.name,
            rustix::fs::Access::WRITE_OK,
            rustix::fs::AtFlags::EACCESS,
        )
        .is_err()
    {
        return Err(WorkspaceError::Denied { path: path.clone(), action: "write" });
    }
    if found.by_link && change.fate != Fate::Stays {
        let reason = "it is a symlink: name the file that it leads to";
        return Err(refused(path, action(change), reason));
    }
    Ok(found)
}
