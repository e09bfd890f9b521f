//! Brings a change that was cut short to one side: all of it in the files, or nothing.
//!
//! Each step is looked at by itself: is its name as before, as after, or has someone else been there since?
//! A change whose steps are all made counts as made. Otherwise what is made is taken back, by what the steps
//! themselves left beside the files. Where someone else has changed what was made since, that would lose their work:
//! such a change stays as it is, with what is left of it, until a person has looked at it.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use cap_std::fs::Dir;
use rustix::fs::AtFlags;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{InterruptedChange, SettledAs, WorkspaceError};
use slipstitch_core::text::ContentHash;

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
    locks: Held,
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
    /// As after, and changed by someone else since.
    MadeAndChanged,
    /// Not made, and changed by someone else since.
    NotMadeAndChanged,
}

impl Status {
    fn is_made(self) -> bool {
        matches!(self, Self::Made | Self::MadeAndChanged)
    }
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
            if let Ok(Some((_, metadata))) = place.open()
                && metadata.nlink() > 1
            {
                keys.insert(Key::of_file(metadata.dev(), metadata.ino()), path);
            }
            keys.insert(Key::of(place).map_err(|error| refusal(path, "lock", error))?, path);
        }
    }
    match disk.locks.hold(&keys, Marks::Settle) {
        Ok(locks) => Ok(Some(DiskUnfinished { disk, steps, folders, locks })),
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

impl InterruptedChange for DiskUnfinished<'_> {
    fn settle(&mut self) -> Result<SettledAs, WorkspaceError> {
        self.settled().inspect_err(|_| self.locks.keep_marks())
    }
}

impl DiskUnfinished<'_> {
    fn settled(&self) -> Result<SettledAs, WorkspaceError> {
        let statuses: Vec<Status> = self.steps.iter().map(|step| step.status(self.disk)).collect();
        let done = statuses.iter().all(|status| status.is_made());
        if !done {
            self.refuse_to_lose(&statuses)?;
            for (step, status) in self.steps.iter().zip(&statuses).rev() {
                if matches!(status, Status::Made | Status::Halfway) {
                    step.take_back(self.disk)?;
                }
            }
        }
        self.steps.iter().try_for_each(|step| step.clean_up(self.disk))?;
        if !done {
            self.remove_folders();
        }
        self.sync()?;
        Ok(if done { SettledAs::Completed } else { SettledAs::RolledBack })
    }

    /// A change that is made in part, in a file that someone else has changed since, can be taken back only with
    /// their work.
    fn refuse_to_lose(&self, statuses: &[Status]) -> Result<(), WorkspaceError> {
        let with = |wanted: fn(&Status) -> bool| {
            let found = self.steps.iter().zip(statuses).filter(move |(_, status)| wanted(status));
            found.map(|(step, _)| format!("`{}`", step.path)).collect::<Vec<_>>().join(", ")
        };
        let Some(first) = self.steps.iter().zip(statuses).find(|(_, s)| **s == Status::MadeAndChanged) else {
            return Ok(());
        };
        let (made, others) =
            (with(|status| *status == Status::MadeAndChanged), with(|status| !status.is_made()));
        let copies =
            first.0.copies(self.disk).map_or(String::new(), |old| format!(" (it held what is in `{old}`)"));
        let reason = format!(
            "{made}{copies} got the change and was changed by something else since; {others} did not get it. Make the rest of the \
             change by hand, or take it out of {made}"
        );
        Err(refused(&first.0.path, "settle", reason))
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
        let beside = |name: &String| self.seen(&place.beside(name)).map(|(hash, _)| hash);
        match &self.work {
            WorkIntent::Create { inode, after, .. } => match now {
                None => Status::NotMade,
                Some((hash, found)) if hash == after.0 && found == *inode => Status::Made,
                Some((_, found)) if found == *inode => Status::MadeAndChanged,
                Some(_) => Status::NotMadeAndChanged,
            },
            WorkIntent::Replace { temp, spare, inode, before, after } => {
                let known = |hash: ContentHash| hash == before.0 || hash == after.0;
                match (now, beside(temp)) {
                    (None, _) if beside(spare).is_some() => Status::Halfway,
                    // What was displaced is not what the change was made for: it goes back.
                    (Some((_, found)), Some(displaced)) if found == *inode && !known(displaced) => {
                        Status::Halfway
                    }
                    (Some((hash, found)), _) if found == *inode => match hash == after.0 {
                        true => Status::Made,
                        false => Status::MadeAndChanged,
                    },
                    (Some((hash, _)), _) if hash == after.0 && before != after => Status::Made,
                    (Some((hash, _)), _) if hash == before.0 => Status::NotMade,
                    // The old content lies aside, so the new one was there.
                    (_, Some(displaced)) if displaced == before.0 && before != after => {
                        Status::MadeAndChanged
                    }
                    _ => Status::NotMadeAndChanged,
                }
            }
            WorkIntent::Remove { aside, before } => match (now, beside(aside)) {
                (None, Some(hash)) if hash != before.0 => Status::Halfway,
                (None, _) => Status::Made,
                (Some(_), Some(hash)) if hash == before.0 => Status::MadeAndChanged,
                (Some((hash, _)), _) if hash == before.0 => Status::NotMade,
                (Some(_), _) => Status::NotMadeAndChanged,
            },
            WorkIntent::InPlace { copies, before, after } => match now {
                Some((hash, _)) if hash == after.0 => Status::Made,
                Some((hash, _)) if hash == before.0 => Status::NotMade,
                Some(_) if halfway(place, &disk.copies.pair(copies)) => Status::Halfway,
                // Part of it may be in the file; the copies are all there is to tell by.
                _ => Status::MadeAndChanged,
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

    /// Where the old content of a file is that was written in place.
    fn copies(&self, disk: &DiskWorkspace) -> Option<String> {
        match &self.work {
            WorkIntent::InPlace { copies, .. } => Some(disk.copies.pair(copies).old_copy()),
            _ => None,
        }
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
