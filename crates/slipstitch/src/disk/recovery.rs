//! Recovers a change whose process died while it published: afterwards the files have all of it, or nothing.
//!
//! Each step is examined on its own: is its file as before the step, as after it, or has someone else modified
//! it since? If all steps are applied, the change counts as done. Otherwise the applied ones are rolled back,
//! with the files that the steps left next to their targets. If an applied file was modified since, rolling back
//! would lose that work: the change is left as it is, with all its leftovers, until the user has resolved it.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::AtFlags;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{InterruptedChange, SettledAs, WorkspaceError};
use slipstitch_core::text::ContentHash;

use super::error::{io_error, refused};
use super::fingerprint::{hash_and_inode_at, hash_at};
use super::in_place::{Backup, open_writable};
use super::intent::{HashText, Intent, StepIntentKind};
use super::lock::{HeldLocks, LockKey, StaleMarks};
use super::lookup::{self, Location, Lookup};
use super::publish::sync_folder;
use super::roots::{RootedPath, Roots};
use super::swap::{rename_no_replace, rename_replacing, swap};
use super::temp::TempFile;
use super::{DiskWorkspace, Fsync};

/// An interrupted change, with its files locked.
#[derive(Debug)]
pub(super) struct LockedChange<'a> {
    disk: &'a DiskWorkspace,
    steps: Vec<InterruptedStep>,
    folders: Vec<FilePath>,
    locks: HeldLocks,
}

#[derive(Debug)]
struct InterruptedStep {
    path: FilePath,
    /// `None` if the folder does not exist any more.
    location: Option<Location>,
    kind: StepIntentKind,
}

/// How far a step got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepState {
    NotApplied,
    Applied,
    /// Begun; it must be rolled back.
    Partial,
    /// Applied, and modified by someone else since.
    AppliedThenModified,
    /// Not applied, and modified by someone else since.
    ModifiedInstead,
}

impl StepState {
    fn is_applied(self) -> bool {
        matches!(self, Self::Applied | Self::AppliedThenModified)
    }
}

/// Locks the files of a change that was begun with `intent`; `None` if its process is still alive.
pub(super) fn reopen<'a>(
    disk: &'a DiskWorkspace,
    intent: &str,
) -> Result<Option<LockedChange<'a>>, WorkspaceError> {
    let damaged = |reason: String| {
        refused(&FilePath::root(), "recover a change in", format!("its intent is damaged: {reason}"))
    };
    let intent: Intent = serde_json::from_str(intent).map_err(|error| damaged(error.to_string()))?;
    let parse_path = |text: &str| FilePath::from_record(text).map_err(|error| damaged(error.to_string()));
    let folders = intent.folders.iter().map(|text| parse_path(text)).collect::<Result<_, _>>()?;
    let mut steps = Vec::new();
    for step in intent.steps {
        let path = parse_path(&step.path)?;
        let location = locate(&disk.roots, &path)?;
        steps.push(InterruptedStep { path, location, kind: step.kind });
    }
    let mut keys = BTreeMap::new();
    for InterruptedStep { path, location, .. } in &steps {
        if let Some(location) = location {
            if let Ok(Some((_, metadata))) = location.open()
                && metadata.nlink() > 1
            {
                keys.insert(LockKey::for_inode(metadata.dev(), metadata.ino()), path);
            }
            let key = LockKey::for_location(location).map_err(|error| io_error(path, "lock", error))?;
            keys.insert(key, path);
        }
    }
    match disk.locks.acquire(&keys, StaleMarks::Recover) {
        Ok(locks) => Ok(Some(LockedChange { disk, steps, folders, locks })),
        Err(WorkspaceError::Locked { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The location of a path; `None` if its folder does not exist.
fn locate(roots: &Roots, path: &FilePath) -> Result<Option<Location>, WorkspaceError> {
    Ok(match lookup::look_up(roots, path, "recover")? {
        Lookup::File(found) => Some(found.location),
        Lookup::Missing(missing) if missing.folders.is_empty() => {
            Some(Location { dir: missing.dir, name: missing.name })
        }
        Lookup::Missing(_) => None,
    })
}

/// The location of a folder.
fn locate_folder(roots: &Roots, folder: &FilePath) -> Option<Location> {
    let rooted = roots.resolve(folder)?;
    let parent = rooted.path.parent().map_or_else(PathBuf::new, Into::into);
    let dir = lookup::open_folder(roots, &RootedPath { root: rooted.root, path: parent }).ok()?;
    Some(Location { dir: Arc::new(dir), name: rooted.path.file_name()?.to_owned() })
}

impl InterruptedChange for LockedChange<'_> {
    fn settle(&mut self) -> Result<SettledAs, WorkspaceError> {
        self.recover().inspect_err(|_| self.locks.keep_marks())
    }
}

impl LockedChange<'_> {
    fn recover(&self) -> Result<SettledAs, WorkspaceError> {
        let states: Vec<StepState> = self.steps.iter().map(|step| step.state(self.disk)).collect();
        let is_done = states.iter().all(|state| state.is_applied());
        if !is_done {
            self.refuse_to_lose_work(&states)?;
            for (step, state) in self.steps.iter().zip(&states).rev() {
                if matches!(state, StepState::Applied | StepState::Partial) {
                    step.roll_back(self.disk)?;
                }
            }
        }
        self.steps.iter().try_for_each(|step| step.remove_leftovers(self.disk))?;
        if !is_done {
            self.remove_folders();
        }
        self.sync_folders()?;
        Ok(if is_done { SettledAs::Completed } else { SettledAs::RolledBack })
    }

    /// Refuses a change that is applied in part, if one of the applied files was modified since: rolling it
    /// back would lose the modification.
    fn refuse_to_lose_work(&self, states: &[StepState]) -> Result<(), WorkspaceError> {
        let is_modified = |state: &StepState| *state == StepState::AppliedThenModified;
        let Some((first, _)) = self.steps.iter().zip(states).find(|(_, state)| is_modified(state)) else {
            return Ok(());
        };
        let paths_where = |wanted: &dyn Fn(&StepState) -> bool| {
            let steps = self.steps.iter().zip(states).filter(|(_, state)| wanted(state));
            steps.map(|(step, _)| format!("`{}`", step.path)).collect::<Vec<_>>().join(", ")
        };
        let (modified, missing) = (paths_where(&is_modified), paths_where(&|state| !state.is_applied()));
        let backup = first.backup_path(self.disk);
        let backup = backup.map_or(String::new(), |old| format!(" (its old content is saved in `{old}`)"));
        let reason = format!(
            "{modified}{backup} got the change and was modified afterwards; {missing} did not get it. Apply the \
             rest of the change by hand, or revert it in {modified}"
        );
        Err(refused(&first.path, "recover", reason))
    }

    /// Removes the folders that were created for the change and are still empty.
    fn remove_folders(&self) {
        for folder in self.folders.iter().rev() {
            if let Ok(Some(location)) = locate(&self.disk.roots, folder).or_else(|error| match error {
                // The lookup expects a file, but this is a folder.
                WorkspaceError::Folder(_) => Ok(locate_folder(&self.disk.roots, folder)),
                error => Err(error),
            }) {
                let _ = rustix::fs::unlinkat(&*location.dir, &location.name, AtFlags::REMOVEDIR);
            }
        }
    }

    fn sync_folders(&self) -> Result<(), WorkspaceError> {
        if self.disk.fsync == Fsync::Off {
            return Ok(());
        }
        for InterruptedStep { path, location, .. } in &self.steps {
            if let Some(location) = location {
                sync_folder(&location.dir).map_err(|error| io_error(path, "recover", error))?;
            }
        }
        Ok(())
    }
}

impl InterruptedStep {
    fn state(&self, disk: &DiskWorkspace) -> StepState {
        let Some(location) = &self.location else { return StepState::NotApplied };
        let now = hash_and_inode_at(&self.path, location);
        let hash_of = |name: &String| hash_at(&self.path, &location.sibling(name));
        match &self.kind {
            StepIntentKind::Create { inode, after, .. } => match now {
                None => StepState::NotApplied,
                Some((hash, found)) if hash == after.0 && found == *inode => StepState::Applied,
                Some((_, found)) if found == *inode => StepState::AppliedThenModified,
                Some(_) => StepState::ModifiedInstead,
            },
            StepIntentKind::Replace { temp, spare, inode, before, after } => {
                let is_ours = |hash: ContentHash| hash == before.0 || hash == after.0;
                match (now, hash_of(temp)) {
                    (None, _) if hash_of(spare).is_some() => StepState::Partial,
                    // The displaced file is not the one that the change was made for, so it must go back.
                    (Some((_, found)), Some(displaced)) if found == *inode && !is_ours(displaced) => {
                        StepState::Partial
                    }
                    (Some((hash, found)), _) if found == *inode => match hash == after.0 {
                        true => StepState::Applied,
                        false => StepState::AppliedThenModified,
                    },
                    (Some((hash, _)), _) if hash == after.0 && before != after => StepState::Applied,
                    (Some((hash, _)), _) if hash == before.0 => StepState::NotApplied,
                    // The old content was displaced, so the new content was in place.
                    (_, Some(displaced)) if displaced == before.0 && before != after => {
                        StepState::AppliedThenModified
                    }
                    _ => StepState::ModifiedInstead,
                }
            }
            StepIntentKind::Remove { aside, before } => match (now, hash_of(aside)) {
                (None, Some(hash)) if hash != before.0 => StepState::Partial,
                (None, _) => StepState::Applied,
                (Some(_), Some(hash)) if hash == before.0 => StepState::AppliedThenModified,
                (Some((hash, _)), _) if hash == before.0 => StepState::NotApplied,
                (Some(_), _) => StepState::ModifiedInstead,
            },
            StepIntentKind::InPlace { backup, before, after } => match now {
                Some((hash, _)) if hash == after.0 => StepState::Applied,
                Some((hash, _)) if hash == before.0 => StepState::NotApplied,
                Some(_) if is_partial_write(location, &disk.backups.backup(backup)) => StepState::Partial,
                // The file may contain part of the new content; only a comparison with the backup shows that.
                _ => StepState::AppliedThenModified,
            },
        }
    }

    /// Restores what was there before the step.
    fn roll_back(&self, disk: &DiskWorkspace) -> Result<(), WorkspaceError> {
        let Some(location) = &self.location else { return Ok(()) };
        let restore = || -> io::Result<()> {
            match &self.kind {
                StepIntentKind::Create { .. } => {
                    Ok(rustix::fs::unlinkat(&*location.dir, &location.name, AtFlags::empty())?)
                }
                StepIntentKind::Replace { temp, spare, .. } => {
                    let (temp, spare) = (location.sibling(temp), location.sibling(spare));
                    match (spare.file_type()?, temp.file_type()?) {
                        (Some(_), _) => rename_replacing(&spare, location),
                        (None, Some(_)) => {
                            swap(&temp, location, &mut TempFile::next_to(location)).map(|_| ())
                        }
                        (None, None) => Err(io::ErrorKind::NotFound.into()),
                    }
                }
                StepIntentKind::Remove { aside, .. } => rename_no_replace(&location.sibling(aside), location),
                StepIntentKind::InPlace { backup, .. } => {
                    disk.backups.backup(backup).restore(&mut open_writable(location)?, disk.fsync)
                }
            }
        };
        restore().map_err(|error| io_error(&self.path, "roll back", error))
    }

    /// Where the old content of a file that was written in place is saved.
    fn backup_path(&self, disk: &DiskWorkspace) -> Option<String> {
        match &self.kind {
            StepIntentKind::InPlace { backup, .. } => Some(disk.backups.backup(backup).old_path()),
            _ => None,
        }
    }

    /// Removes what the step left next to its file, unless someone else has modified it.
    fn remove_leftovers(&self, disk: &DiskWorkspace) -> Result<(), WorkspaceError> {
        let Some(location) = &self.location else { return Ok(()) };
        let (names, own_contents): (Vec<&String>, Vec<HashText>) = match &self.kind {
            StepIntentKind::Create { temp, after, .. } => (vec![temp], vec![*after]),
            StepIntentKind::Replace { temp, spare, before, after, .. } => {
                (vec![temp, spare], vec![*before, *after])
            }
            StepIntentKind::Remove { aside, before } => (vec![aside], vec![*before]),
            StepIntentKind::InPlace { backup, .. } => {
                disk.backups.backup(backup).delete();
                return Ok(());
            }
        };
        for name in names {
            let leftover = location.sibling(name);
            if hash_at(&self.path, &leftover).is_some_and(|hash| own_contents.contains(&HashText(hash))) {
                rustix::fs::unlinkat(&*leftover.dir, &leftover.name, AtFlags::empty())
                    .map_err(|errno| io_error(&self.path, "clean up after a change of", errno))?;
            }
        }
        Ok(())
    }
}

fn is_partial_write(location: &Location, backup: &Backup) -> bool {
    let Ok(Some((file, _))) = location.open() else { return false };
    backup.is_partial_write(&file).unwrap_or(false)
}
