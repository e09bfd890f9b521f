//! Brings a change that was cut short to one side: all of it in the files, or nothing.
//!
//! Each step is looked at by itself: is its name as before, as after, or has someone else been there since?
//! A change whose steps are all made counts as made. Otherwise what is made is taken back, by what the steps
//! themselves left beside the files.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use cap_std::fs::Dir;
use incise_core::path::FilePath;
use incise_core::snapshot::ContentHash;
use incise_core::workspace::{Settlement, Unfinished, WorkspaceError};
use rustix::fs::AtFlags;

use super::error::{refusal, refused};
use super::in_place::{Pair, open_writable};
use super::intent::{Hash, Intent, WorkIntent};
use super::lock::{Held, Key, Marks};
use super::original::hash_at;
use super::place::{self, Look, Place};
use super::publish::sync_folder;
use super::roots::Roots;
use super::swap::{rename_over, rename_to_free, swap};
use super::temp::Temp;
use super::{DiskWorkspace, Fsync, copy};

/// A change that was cut short, its files locked.
#[derive(Debug)]
pub(super) struct DiskUnfinished<'a> {
    disk: &'a DiskWorkspace,
    steps: Vec<Left>,
    folders: Vec<FilePath>,
    _locks: Held,
}

/// What a step left.
#[derive(Debug)]
struct Left {
    path: FilePath,
    /// `None` if the folder is gone.
    place: Option<Place>,
    work: WorkIntent,
}

/// How far a step got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// As before.
    NotMade,
    /// As after.
    Made,
    /// On the way: it must be taken back.
    Halfway,
    /// Someone else has changed the name since, so it is not for us to judge.
    Foreign,
}

/// Takes hold of a change that was announced with `intent`; `None` if its process still lives.
pub(super) fn reopen<'a>(
    disk: &'a DiskWorkspace,
    intent: &str,
) -> Result<Option<DiskUnfinished<'a>>, WorkspaceError> {
    let damaged = |what: String| refused(&FilePath::root(), "settle a change in", what);
    let intent: Intent =
        serde_json::from_str(intent).map_err(|error| damaged(format!("its record is damaged: {error}")))?;
    let path = |text: &str| FilePath::from_record(text).map_err(|error| damaged(error.to_string()));
    let folders = intent.folders.iter().map(|text| path(text)).collect::<Result<_, _>>()?;
    let mut steps = Vec::new();
    for step in intent.steps {
        let path = path(&step.path)?;
        let place = place_of(&disk.roots, &path)?;
        steps.push(Left { path, place, work: step.work });
    }
    let mut keys = BTreeMap::new();
    for Left { path, place, .. } in &steps {
        if let Some(place) = place {
            keys.insert(Key::of(place).map_err(|error| refusal(path, "lock", error))?, path);
        }
    }
    match disk.locks.hold(&keys, Marks::Ignore) {
        Ok(locks) => Ok(Some(DiskUnfinished { disk, steps, folders, _locks: locks })),
        Err(WorkspaceError::Locked { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn place_of(roots: &Roots, path: &FilePath) -> Result<Option<Place>, WorkspaceError> {
    Ok(match place::look(roots, path, "settle")? {
        Look::File(found) => Some(found.place),
        Look::Nothing(vacancy) if vacancy.missing.is_empty() => {
            Some(Place { dir: vacancy.dir, name: vacancy.name })
        }
        Look::Nothing(_) => None,
    })
}

impl Unfinished for DiskUnfinished<'_> {
    fn settle(&mut self) -> Result<Settlement, WorkspaceError> {
        let statuses: Vec<Status> = self.steps.iter().map(|step| step.status(self.disk)).collect();
        let any = |status: Status| statuses.contains(&status);
        let done = !any(Status::NotMade) && !any(Status::Halfway) && any(Status::Made);
        if !done {
            for (step, status) in self.steps.iter().zip(&statuses).rev() {
                if matches!(status, Status::Made | Status::Halfway) {
                    step.take_back(self.disk)?;
                }
            }
        }
        let settlement = if done { Settlement::Done } else { Settlement::NotDone };
        self.steps.iter().try_for_each(|step| step.clean_up(self.disk))?;
        if !done {
            self.remove_folders();
        }
        self.sync()?;
        Ok(settlement)
    }
}

impl DiskUnfinished<'_> {
    /// Removes the folders that were made for the change, as far as nobody uses them.
    fn remove_folders(&self) {
        for folder in self.folders.iter().rev() {
            if let Ok(Some(place)) = place_of(&self.disk.roots, folder).or_else(|error| match error {
                // A look for a file finds a folder: that is what is wanted here.
                WorkspaceError::Folder(_) => Ok(folder_place(&self.disk.roots, folder)),
                error => Err(error),
            }) {
                let _ = rustix::fs::unlinkat(&*place.dir, &place.name, AtFlags::REMOVEDIR);
            }
        }
    }

    fn sync(&self) -> Result<(), WorkspaceError> {
        if self.disk.fsync == Fsync::Off {
            return Ok(());
        }
        for Left { path, place, .. } in &self.steps {
            if let Some(place) = place {
                sync_folder(&place.dir).map_err(|error| refusal(path, "settle", error))?;
            }
        }
        Ok(())
    }
}

fn folder_place(roots: &Roots, folder: &FilePath) -> Option<Place> {
    let way = roots.way(folder)?;
    let above = way.path.parent().map_or_else(PathBuf::new, Into::into);
    let above = place::open_folder(roots, &super::roots::Way { root: way.root, path: above }).ok()?;
    let dir: Arc<Dir> = Arc::new(above);
    Some(Place { dir, name: way.path.file_name()?.to_owned() })
}

impl Left {
    fn status(&self, disk: &DiskWorkspace) -> Status {
        let Some(place) = &self.place else { return Status::NotMade };
        let now = self.seen(place);
        match &self.work {
            WorkIntent::Create { inode, after, .. } => match now {
                None => Status::NotMade,
                Some((hash, found)) if hash == after.0 && found == *inode => Status::Made,
                Some(_) => Status::Foreign,
            },
            WorkIntent::Replace { temp, spare, inode, before, after } => {
                let displaced = |name: &String| self.seen(&place.beside(name)).map(|(hash, _)| hash);
                let known = |hash: ContentHash| hash == before.0 || hash == after.0;
                let made = |hash: ContentHash, found: u64| match before == after {
                    true => found == *inode,
                    false => hash == after.0,
                };
                match now {
                    // What was displaced is not what the change was made for: it goes back.
                    Some((hash, found)) if made(hash, found) => match displaced(temp) {
                        Some(hash) if !known(hash) => Status::Halfway,
                        _ => Status::Made,
                    },
                    Some((hash, _)) if hash == before.0 => Status::NotMade,
                    Some(_) => Status::Foreign,
                    None if displaced(spare).is_some() => Status::Halfway,
                    None => Status::Foreign,
                }
            }
            WorkIntent::Remove { aside, before } => {
                let displaced = self.seen(&place.beside(aside)).map(|(hash, _)| hash);
                match (now, displaced) {
                    (None, Some(hash)) if hash == before.0 => Status::Made,
                    (None, Some(_)) => Status::Halfway,
                    (None, None) => Status::Made,
                    (Some((hash, _)), _) if hash == before.0 => Status::NotMade,
                    (Some(_), _) => Status::Foreign,
                }
            }
            WorkIntent::InPlace { copies, before, after } => match now {
                Some((hash, _)) if hash == after.0 => Status::Made,
                Some((hash, _)) if hash == before.0 => Status::NotMade,
                Some(_) if halfway(place, &disk.copies.pair(copies)) => Status::Halfway,
                _ => Status::Foreign,
            },
        }
    }

    /// The hash and the number of the regular file at a place.
    fn seen(&self, place: &Place) -> Option<(ContentHash, u64)> {
        let (file, metadata) = place.open().ok()??;
        if !metadata.is_file() {
            return None;
        }
        Some((copy::hash(&self.path, file).ok()?.hash, metadata.ino()))
    }

    /// Puts back what was there before the step.
    fn take_back(&self, disk: &DiskWorkspace) -> Result<(), WorkspaceError> {
        let Some(place) = &self.place else { return Ok(()) };
        let put_back = || -> io::Result<()> {
            match &self.work {
                WorkIntent::Create { .. } => {
                    Ok(rustix::fs::unlinkat(&*place.dir, &place.name, AtFlags::empty())?)
                }
                WorkIntent::Replace { temp, spare, .. } => {
                    let (temp, spare) = (place.beside(temp), place.beside(spare));
                    match (spare.kind()?, temp.kind()?) {
                        (Some(_), _) => rename_over(&spare, place),
                        (None, Some(_)) => swap(&temp, place, &mut Temp::name_beside(place)).map(|_| ()),
                        (None, None) => Err(io::ErrorKind::NotFound.into()),
                    }
                }
                WorkIntent::Remove { aside, .. } => rename_to_free(&place.beside(aside), place),
                WorkIntent::InPlace { copies, .. } => {
                    disk.copies.pair(copies).restore(&mut open_writable(place)?, disk.fsync)
                }
            }
        };
        put_back().map_err(|error| refusal(&self.path, "take back", error))
    }

    /// Removes what the step left beside the file, as far as it is nothing but the step's own.
    fn clean_up(&self, disk: &DiskWorkspace) -> Result<(), WorkspaceError> {
        let Some(place) = &self.place else { return Ok(()) };
        let (names, own): (Vec<&String>, Vec<Hash>) = match &self.work {
            WorkIntent::Create { temp, after, .. } => (vec![temp], vec![*after]),
            WorkIntent::Replace { temp, spare, before, after, .. } => {
                (vec![temp, spare], vec![*before, *after])
            }
            WorkIntent::Remove { aside, before } => (vec![aside], vec![*before]),
            WorkIntent::InPlace { copies, .. } => {
                disk.copies.pair(copies).remove();
                return Ok(());
            }
        };
        for name in names {
            let beside = place.beside(name);
            if hash_at(&self.path, &beside).is_some_and(|hash| own.contains(&Hash(hash))) {
                rustix::fs::unlinkat(&*beside.dir, &beside.name, AtFlags::empty())
                    .map_err(|errno| refusal(&self.path, "clean up beside", errno))?;
            }
        }
        Ok(())
    }
}

/// Whether a file is half written: every byte is that of the one content or of the other.
fn halfway(place: &Place, pair: &Pair) -> bool {
    let Ok(Some((file, _))) = place.open() else { return false };
    pair.is_halfway(&file).unwrap_or(false)
}
