//! One step of an interrupted change: how far it got, and how it is rolled back.
//!
//! Where `renameat2` has no flags, a file gets a new name in two calls: it is linked to the new name, then unlinked
//! from the old one. A process that dies in between leaves one file under two names, and that step was not made. The
//! names are compared by content, which covers this and loses nothing: one of two equal texts can always go. Inode
//! numbers cannot tell, because some file systems give each name its own.

use std::io;

use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::text::ContentHash;
use slipstitch_platform::{files, problem};

use super::DiskWorkspace;
use super::error::io_error;
use super::fingerprint::hash_and_inode_at;
use super::in_place::open_writable;
use super::inodes::are_inodes_stable;
use super::intent::{HashText, StepIntentKind};
use super::lock::LockKey;
use super::lookup::Location;
use super::swap::{rename_no_replace, swap};
use super::temp::TempFile;

/// A step that may have been made, in part or not at all.
#[derive(Debug)]
pub(super) struct InterruptedStep {
    pub(super) path: FilePath,
    /// `None` if the folder does not exist any more.
    pub(super) location: Option<Location>,
    /// Where a removed file is set aside, if that is not next to its name.
    pub(super) aside: Option<Location>,
    pub(super) kind: StepIntentKind,
}

/// How far a step got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepState {
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
    pub(super) fn is_applied(self) -> bool {
        matches!(self, Self::Applied | Self::AppliedThenModified)
    }
}

/// A regular file at one of the names of a step.
#[derive(Debug, Clone, Copy)]
struct Found {
    hash: ContentHash,
    inode: u64,
}

impl Found {
    fn at(
        path: &FilePath,
        location: Option<&Location>,
        disk: &DiskWorkspace,
    ) -> Result<Option<Self>, WorkspaceError> {
        let Some(location) = location else { return Ok(None) };
        let found = hash_and_inode_at(path, location, disk.interrupt.as_ref())?;
        Ok(found.map(|(hash, inode)| Self { hash, inode }))
    }
}

impl InterruptedStep {
    /// The locks that recovering the step needs.
    pub(super) fn lock_keys(&self) -> Result<Vec<LockKey>, WorkspaceError> {
        let mut keys: Vec<LockKey> =
            self.kind.aside_elsewhere().map(|aside| aside.lock.clone()).into_iter().collect();
        let Some(location) = &self.location else { return Ok(keys) };
        keys.push(LockKey::for_location(location).map_err(|error| io_error(&self.path, "lock", error))?);
        if let Ok(Some((_, metadata))) = location.open()
            && metadata.links > 1
        {
            keys.push(LockKey::for_inode(metadata.device, metadata.inode));
        }
        Ok(keys)
    }

    pub(super) fn state(&self, disk: &DiskWorkspace) -> Result<StepState, WorkspaceError> {
        let Some(location) = &self.location else {
            return match &self.kind {
                StepIntentKind::Remove { aside, before, .. } => {
                    self.removal_state(None, aside, before.0, disk)
                }
                _ => Ok(StepState::NotApplied),
            };
        };
        if let Some(replaced) = self.replaced(location, disk)? {
            return Ok(replaced.state());
        }
        let now = Found::at(&self.path, Some(location), disk)?;
        Ok(match &self.kind {
            StepIntentKind::Create { inode, after, .. } => match now {
                None => StepState::NotApplied,
                Some(found) if found.inode == *inode && found.hash == after.0 => StepState::Applied,
                Some(found) if found.inode == *inode => StepState::AppliedThenModified,
                Some(found) if found.hash == after.0 && !are_inodes_stable(location) => StepState::Applied,
                Some(_) => StepState::ModifiedInstead,
            },
            StepIntentKind::Remove { aside, before, .. } => self.removal_state(now, aside, before.0, disk)?,
            // Done above.
            StepIntentKind::Replace { .. } => StepState::NotApplied,
            StepIntentKind::InPlace { backup, before, after } => match now {
                Some(found) if found.hash == after.0 => StepState::Applied,
                Some(found) if found.hash == before.0 => StepState::NotApplied,
                Some(_) if self.is_partial_write(location, backup, disk)? => StepState::Partial,
                // The file may contain part of the new content; only a comparison with the backup shows that.
                _ => StepState::AppliedThenModified,
            },
        })
    }

    /// Whether the file is a mixture of its old and new content.
    fn is_partial_write(
        &self,
        location: &Location,
        backup: &str,
        disk: &DiskWorkspace,
    ) -> Result<bool, WorkspaceError> {
        let Ok(Some((file, _))) = location.open() else { return Ok(false) };
        let compared = disk.backups.backup(backup).is_partial_write(&file, disk.interrupt.as_ref());
        compared.map_err(|error| io_error(&self.path, "read", error))
    }

    /// How far the removal of a file got. Its folder may have been removed too.
    fn removal_state(
        &self,
        now: Option<Found>,
        aside: &str,
        before: ContentHash,
        disk: &DiskWorkspace,
    ) -> Result<StepState, WorkspaceError> {
        let aside = Found::at(&self.path, self.aside_location(aside).as_ref(), disk)?;
        Ok(match (now, aside) {
            (None, Some(aside)) if aside.hash != before => StepState::Partial,
            (None, _) => StepState::Applied,
            // One file under both names, or two equal ones: not made.
            (Some(now), Some(aside)) if now.hash == aside.hash && now.hash == before => StepState::NotApplied,
            (Some(now), Some(aside)) if now.hash == aside.hash => StepState::ModifiedInstead,
            (Some(_), Some(aside)) if aside.hash == before => StepState::AppliedThenModified,
            (Some(now), _) if now.hash == before => StepState::NotApplied,
            (Some(_), _) => StepState::ModifiedInstead,
        })
    }

    /// Where a removed file is set aside under the name `aside`; `None` if that folder does not exist any more.
    fn aside_location(&self, aside: &str) -> Option<Location> {
        match self.kind.aside_elsewhere() {
            Some(_) => self.aside.clone(),
            None => self.location.as_ref().map(|location| location.sibling(aside)),
        }
    }

    /// Restores what was there before the step.
    pub(super) fn roll_back(&self, disk: &DiskWorkspace) -> Result<(), WorkspaceError> {
        let Some(location) = &self.location else {
            // Someone else has removed the folder of a file that was set aside elsewhere.
            return match Found::at(&self.path, self.aside.as_ref(), disk)? {
                Some(_) => Err(io_error(&self.path, "roll back", problem::missing())),
                None => Ok(()),
            };
        };
        let replaced = self.replaced(location, disk)?;
        let restore = || -> io::Result<()> {
            match &self.kind {
                StepIntentKind::Create { .. } => unlink(location),
                StepIntentKind::Replace { .. } => replaced.as_ref().map_or(Ok(()), Replaced::roll_back),
                StepIntentKind::Remove { aside, .. } => match self.aside_location(aside) {
                    Some(aside) => rename_no_replace(&aside, location),
                    None => Err(problem::missing()),
                },
                StepIntentKind::InPlace { backup, .. } => {
                    let mut file = open_writable(location)?;
                    disk.backups.backup(backup).restore(&mut file, disk.fsync, disk.interrupt.as_ref())
                }
            }
        };
        restore().map_err(|error| io_error(&self.path, "roll back", error))
    }

    /// Where the old content of a file that was written in place is saved.
    pub(super) fn backup_path(&self, disk: &DiskWorkspace) -> Option<String> {
        match &self.kind {
            StepIntentKind::InPlace { backup, .. } => Some(disk.backups.backup(backup).old_path()),
            _ => None,
        }
    }

    /// Removes what the step left next to its file, unless it is the only copy of someone else's work.
    pub(super) fn remove_leftovers(&self, disk: &DiskWorkspace) -> Result<(), WorkspaceError> {
        let siblings = |names: &[&String]| -> Vec<Location> {
            let location = self.location.as_ref();
            location
                .into_iter()
                .flat_map(|location| names.iter().map(|name| location.sibling(name)))
                .collect()
        };
        let (leftovers, own_contents): (Vec<Location>, Vec<HashText>) = match &self.kind {
            StepIntentKind::Create { temp, after, .. } => (siblings(&[temp]), vec![*after]),
            StepIntentKind::Replace { temp, spare, before, after, .. } => {
                let replaced = match &self.location {
                    Some(location) => self.replaced(location, disk)?,
                    None => None,
                };
                match replaced.is_some_and(|replaced| replaced.is_name_taken()) {
                    true => (siblings(&[temp]), vec![*after]),
                    false => (siblings(&[temp, spare]), vec![*before, *after]),
                }
            }
            StepIntentKind::Remove { aside, before, .. } => {
                (self.aside_location(aside).into_iter().collect(), vec![*before])
            }
            StepIntentKind::InPlace { backup, .. } => {
                if self.location.is_some() {
                    disk.backups.backup(backup).delete();
                }
                return Ok(());
            }
        };
        let now = Found::at(&self.path, self.location.as_ref(), disk)?;
        for leftover in leftovers {
            let Some(found) = Found::at(&self.path, Some(&leftover), disk)? else { continue };
            if own_contents.contains(&HashText(found.hash)) || now.is_some_and(|now| now.hash == found.hash) {
                unlink(&leftover)
                    .map_err(|error| io_error(&self.path, "clean up after a change of", error))?;
            }
        }
        Ok(())
    }

    /// The files under the names of a replacement; `None` for another kind of step.
    fn replaced(
        &self,
        location: &Location,
        disk: &DiskWorkspace,
    ) -> Result<Option<Replaced>, WorkspaceError> {
        let StepIntentKind::Replace { temp, spare, inode, before, after } = &self.kind else {
            return Ok(None);
        };
        let find = |name: Location| Ok((Found::at(&self.path, Some(&name), disk)?, name));
        Ok(Some(Replaced {
            now: find(location.clone())?,
            temp: find(location.sibling(temp))?,
            spare: find(location.sibling(spare))?,
            inode: *inode,
            before: before.0,
            after: after.0,
        }))
    }
}

/// The files under the three names of a replacement.
///
/// With an exchange, the new file is at `temp` or at the name, and the old one is at the other. Without one, there are
/// three moves: the old file to `spare`, the new one to the name, the old one to `temp`; and the same three in the
/// other direction when the process itself reverts the step. Each move may leave a file under both of its names.
struct Replaced {
    now: (Option<Found>, Location),
    temp: (Option<Found>, Location),
    spare: (Option<Found>, Location),
    /// The inode of the new file.
    inode: u64,
    before: ContentHash,
    after: ContentHash,
}

impl Replaced {
    fn is_new(&self, found: Found) -> bool {
        found.inode == self.inode || (found.hash == self.after && self.before != self.after)
    }

    /// The file that was displaced, and where it is.
    fn displaced(&self) -> Option<(Found, &Location)> {
        [&self.spare, &self.temp].into_iter().find_map(|(found, name)| {
            let found = found.filter(|found| !self.is_new(*found))?;
            Some((found, name))
        })
    }

    /// Whether someone else created a file while the name was free, so that the old file is only at `spare`.
    fn is_name_taken(&self) -> bool {
        let is_theirs = self.now.0.is_some_and(|now| !self.is_new(now) && now.hash != self.before);
        is_theirs && self.spare.0.is_some_and(|spare| spare.hash == self.before)
    }

    fn state(&self) -> StepState {
        let displaced = self.displaced().map(|(found, _)| found);
        match self.now.0 {
            Some(now) if self.is_new(now) => match displaced {
                // The displaced file is not the one that the change was made for, so it must go back.
                Some(displaced) if displaced.hash != self.before => StepState::Partial,
                _ if now.hash == self.after => StepState::Applied,
                _ => StepState::AppliedThenModified,
            },
            None if self.spare.0.is_some() && displaced.is_some() => StepState::Partial,
            Some(now) if now.hash == self.before => StepState::NotApplied,
            Some(_) if self.is_name_taken() => StepState::ModifiedInstead,
            // The old content was displaced, so the new content was in place.
            _ if displaced.is_some_and(|old| old.hash == self.before) && self.before != self.after => {
                StepState::AppliedThenModified
            }
            _ => StepState::ModifiedInstead,
        }
    }

    /// Puts the displaced file back. Only names of the intent are used, so that this can be interrupted too.
    fn roll_back(&self) -> io::Result<()> {
        let Some((_, old)) = self.displaced() else { return Err(io::ErrorKind::NotFound.into()) };
        let (_, name) = &self.now;
        if self.now.0.is_none() {
            return rename_no_replace(old, name);
        }
        let (other_found, other) = if old.name == self.temp.1.name { &self.spare } else { &self.temp };
        match other_found {
            // A second name of the new file.
            Some(found) if self.is_new(*found) => unlink(other)?,
            Some(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            None => {}
        }
        swap(old, name, &mut TempFile::at(other.clone())).map(|_| ())
    }
}

fn unlink(location: &Location) -> io::Result<()> {
    files::remove(&location.dir, &location.name)
}
