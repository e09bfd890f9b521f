//! Makes staged changes visible, all or none.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use slipstitch_core::change::Restore;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{Staged, WorkspaceError, Written};
use slipstitch_platform::{files, problem};

use super::Fsync;
use super::error::{io_error, refused};
use super::fingerprint::{Displaced, InodeCheck, file_id_at, hash_at, is_regular_file};
use super::intent::{AsideElsewhere, HashText, Intent, StepIntent, StepIntentKind};
use super::lookup::{self, Location};
use super::replacement::{Replacement, keep_if_modified};
use super::roots::{FolderPaths, Roots};
use super::staged::{DiskStaged, DisplacedCheck, Step, StepKind};
use super::swap::{SwapMethod, rename_no_replace, rename_replacing};
use super::temp::TempFile;

impl Staged for DiskStaged<'_> {
    fn intent(&self) -> Option<String> {
        let mut folder_paths = FolderPaths::default();
        let steps = self.steps.iter().map(|step| step.intent(self.roots, &mut folder_paths)).collect();
        let texts = |paths: &[FilePath]| paths.iter().map(ToString::to_string).collect();
        let folders = texts(&self.folders.paths());
        let emptied_folders = self.emptied_folders.paths().map(ToString::to_string).collect();
        serde_json::to_string(&Intent { steps, folders, emptied_folders }).ok()
    }

    fn restores(&self) -> Vec<Restore> {
        let created = self.folders.paths();
        self.left.iter().map(|left| Restore { folders: created.clone(), ..left.clone() }).collect()
    }

    fn begin_flush(&mut self) {
        self.flushing.start();
    }

    fn publish(&mut self) -> Result<Vec<Written>, WorkspaceError> {
        self.flushing.finish()?;
        self.locks.mark_publishing();
        // From here on the journal has every name in its intent.
        self.temps.cleanup.delete();
        let mut published = 0;
        let mut outcome = Ok(());
        for step in &mut self.steps {
            match step.publish(self.displaced_check) {
                Ok(write_mode) => {
                    if let (Some(mode), Some(written)) = (write_mode, self.written.get_mut(step.file_index)) {
                        written.write_mode = mode;
                    }
                }
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
            published += 1;
        }
        let outcome = outcome.and_then(|()| self.sync_folders()).and_then(|()| self.remove_emptied_folders());
        if let Err(error) = outcome {
            let error = self.roll_back(published).unwrap_or(match error {
                // The earlier steps were visible. Whoever changed this file may have read them, and a repeated edit could be
                // applied twice. Without the file, it cannot be repeated.
                WorkspaceError::Conflict { path, found: Some(_) } if published > 0 => {
                    WorkspaceError::SavedMeanwhile { path, kept: Vec::new() }
                }
                error => error,
            });
            if !matches!(error, WorkspaceError::Torn { .. }) {
                // This must happen before the journal marks the change as abandoned: after that, no process
                // looks for leftovers.
                self.remove_temps();
                self.folders.remove();
            }
            return Err(error);
        }
        self.folders.keep();
        self.remove_temps();
        Ok(std::mem::take(&mut self.written))
    }

    fn mark_unsettled(&mut self) {
        self.locks.keep_marks();
    }
}

impl DiskStaged<'_> {
    /// Rolls back the first `published` steps.
    ///
    /// Returns the error of the first one that could not be rolled back; its original is kept under another
    /// name.
    fn roll_back(&mut self, published: usize) -> Option<WorkspaceError> {
        let mut failure = self.restore_folders().err();
        for step in self.steps[..published].iter_mut().rev() {
            if let Err(error) = step.roll_back() {
                failure.get_or_insert(error);
            }
        }
        if published > 0 {
            // The error that caused the rollback is the one to report.
            let _ = self.sync_folders();
        }
        failure
    }

    /// Removes the folders that the change leaves empty.
    fn remove_emptied_folders(&mut self) -> Result<(), WorkspaceError> {
        for Step { location, is_folder_closed, kind, .. } in &mut self.steps {
            if let (false, StepKind::Remove { aside, elsewhere: Some(_), .. }) =
                (files::REMOVES_OPEN_FOLDERS, kind)
            {
                location.dir = Arc::clone(&aside.location().dir);
                *is_folder_closed = true;
            }
        }
        self.emptied_folders.remove(self.fsync)
    }

    /// Creates the folders again that were removed, and finds the removed files' names in them.
    fn restore_folders(&mut self) -> Result<(), WorkspaceError> {
        let was_any_removed = self.emptied_folders.restore(self.roots, self.fsync)?;
        for step in self.steps.iter_mut().filter(|step| step.is_set_aside_elsewhere()) {
            if (was_any_removed || step.is_folder_closed)
                && let Some(found) = lookup::locate(self.roots, &step.path, "restore")?
            {
                step.location = found;
                step.is_folder_closed = false;
            }
        }
        Ok(())
    }

    /// Removes the displaced files, now that nothing can be rolled back any more.
    ///
    /// This must happen before the journal marks the change as done: recovery cleans up after a pending
    /// change, but no process looks for leftovers of one that is done.
    fn remove_temps(&mut self) {
        let mut has_leftovers = false;
        for temp in self.steps.iter_mut().flat_map(|step| step.kind.temps()) {
            has_leftovers |= temp.remove().is_err() && self.temps.cleanup.add_temp(temp.location()).is_ok();
        }
        self.steps.clear();
        if has_leftovers {
            self.temps.cleanup.keep();
        }
    }

    /// Flushes every folder in which a name changed.
    fn sync_folders(&mut self) -> Result<(), WorkspaceError> {
        let Self { steps, folders, folder_ids, .. } = self;
        if self.fsync == Fsync::Off {
            return Ok(());
        }
        let Some(first) = steps.first() else { return Ok(()) };
        let changed = steps.iter().map(|step| (&step.path, &step.location.dir));
        let created = folders.parents().map(|dir| (&first.path, dir));
        let aside = steps.iter().filter_map(|step| match &step.kind {
            StepKind::Remove { aside, elsewhere: Some(_), .. } => Some((&step.path, &aside.location().dir)),
            _ => None,
        });
        let mut done = BTreeSet::new();
        for (path, dir) in changed.chain(created).chain(aside) {
            let failed = |error: io::Error| io_error(path, "write", error);
            if done.insert(folder_ids.id_of(dir).map_err(failed)?) {
                files::sync_folder(dir).map_err(failed)?;
            }
        }
        Ok(())
    }
}

impl StepKind {
    fn temps(&mut self) -> Vec<&mut TempFile> {
        match self {
            Self::Create { temp, .. } => vec![temp],
            Self::Replace { temp, spare, .. } => vec![temp, spare],
            Self::Remove { aside, .. } => vec![aside],
            Self::InPlace { .. } => Vec::new(),
        }
    }
}

impl Step {
    fn is_set_aside_elsewhere(&self) -> bool {
        matches!(self.kind, StepKind::Remove { elsewhere: Some(_), .. })
    }

    /// What another process needs to recover the step.
    fn intent(&self, roots: &Roots, folders: &mut FolderPaths) -> StepIntent {
        let Location { dir, name } = &self.location;
        let real = folders.path_of(dir).and_then(|folder| roots.path_in(folder, name.as_ref()));
        let kind = match &self.kind {
            StepKind::Create { temp, id, after } => {
                StepIntentKind::Create { temp: temp.name(), inode: id.inode, after: HashText(*after) }
            }
            StepKind::Replace { temp, spare, id, original, after } => StepIntentKind::Replace {
                temp: temp.name(),
                spare: spare.name(),
                inode: id.inode,
                before: HashText(original.hash()),
                after: HashText(*after),
            },
            StepKind::Remove { aside, elsewhere, original } => StepIntentKind::Remove {
                aside: aside.name(),
                before: HashText(original.hash()),
                elsewhere: elsewhere.clone(),
            },
            StepKind::InPlace { write, before, after } => StepIntentKind::InPlace {
                backup: write.backup_name(),
                before: HashText(*before),
                after: HashText(*after),
            },
        };
        StepIntent { path: real.unwrap_or_else(|| self.path.clone()).to_string(), kind }
    }

    /// Makes the step visible and returns the write mode, if that was not known before. On failure it has
    /// changed nothing.
    fn publish(&mut self, displaced_check: DisplacedCheck) -> Result<Option<&'static str>, WorkspaceError> {
        let Self { path, action, location, kind, .. } = self;
        let failed = |error: io::Error| io_error(path, action, error);
        let conflict = |found| WorkspaceError::Conflict { path: path.clone(), found };
        // A file to be replaced is checked right before the exchange, including that it is a regular file.
        if matches!(kind, StepKind::Remove { .. } | StepKind::InPlace { .. })
            && !is_regular_file(location).map_err(failed)?
        {
            return Err(conflict(None));
        }
        match kind {
            StepKind::Create { temp, .. } => {
                let linked = match temp.link_to(location) {
                    Ok(false) => rename_no_replace(temp.location(), location),
                    linked => linked.map(|_| ()),
                };
                match linked {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        Err(conflict(hash_at(path, location)))
                    }
                    linked => linked.map(|()| None).map_err(failed),
                }
            }
            StepKind::Replace { temp, spare, id, original, after } => {
                temp.link().map_err(|error| match error.kind() {
                    // Its folder was removed, and the file with it.
                    io::ErrorKind::NotFound => conflict(None),
                    _ => failed(error),
                })?;
                #[cfg(feature = "rig")]
                if displaced_check != DisplacedCheck::On && !is_regular_file(location).map_err(failed)? {
                    return Err(conflict(None));
                }
                #[cfg(feature = "rig")]
                if displaced_check == DisplacedCheck::Off {
                    return rename_replacing(temp.location(), location).map(|()| None).map_err(failed);
                }
                let mut replacement =
                    Replacement { path, action, location, temp, spare, id: *id, after: *after };
                Ok(Some(match replacement.publish(original, displaced_check)? {
                    SwapMethod::Exchange => "exchange",
                    SwapMethod::Renames => "rename",
                }))
            }
            StepKind::Remove { aside, elsewhere, original } => {
                let seen = original.look(path, location).map_err(conflict)?;
                rename_no_replace(location, aside.location()).map_err(failed)?;
                let found = match original.verify_displaced(path, aside.location(), &seen, InodeCheck::Off) {
                    Displaced::Original => return Ok(None),
                    Displaced::OtherFile => None,
                    Displaced::Modified(found) => found,
                };
                let restored = rename_no_replace(aside.location(), location);
                keep_if_not_restored(restored, path, action, aside, elsewhere.as_ref())?;
                Err(conflict(found))
            }
            StepKind::InPlace { write, .. } => write.publish(path).map(|()| None),
        }
    }

    /// Restores what was there before the step.
    fn roll_back(&mut self) -> Result<(), WorkspaceError> {
        let Self { path, action, location, is_folder_closed, kind, .. } = self;
        match kind {
            StepKind::Create { temp, id, after } => {
                // If another program has put a file there, it is not ours to remove.
                if file_id_at(location) != Some(*id) {
                    return Ok(());
                }
                rename_replacing(location, temp.location()).map_err(|error| io_error(path, action, error))?;
                keep_if_modified(path, temp, *after)
            }
            StepKind::Replace { temp, spare, id, after, .. } => {
                Replacement { path, action, location, temp, spare, id: *id, after: *after }.put_back()
            }
            StepKind::Remove { aside, elsewhere, .. } => {
                let restored = match is_folder_closed {
                    true => Err(problem::missing()),
                    false => rename_no_replace(aside.location(), location),
                };
                keep_if_not_restored(restored, path, action, aside, elsewhere.as_ref())
            }
            StepKind::InPlace { write, .. } => write.roll_back(path),
        }
    }
}

/// Keeps a displaced file that could not be put back under its temporary name: it may be the only copy.
fn keep_if_not_restored(
    restored: io::Result<()>,
    path: &FilePath,
    action: &'static str,
    temp: &mut TempFile,
    elsewhere: Option<&AsideElsewhere>,
) -> Result<(), WorkspaceError> {
    restored.map_err(|error| {
        let name = temp.keep();
        let place = match elsewhere {
            Some(AsideElsewhere { path, .. }) => format!("as `{path}`"),
            None => format!("next to it as `{name}`"),
        };
        let reason = format!("the original could not be restored and is saved {place}: {error}");
        refused(path, action, reason)
    })
}
