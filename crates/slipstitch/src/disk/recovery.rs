//! Recovers a change whose process died while it published: afterwards the files have all of it, or nothing.
//!
//! Each step is examined on its own: is its file as before the step, as after it, or has someone else modified
//! it since? If all steps are applied, the change counts as done. Otherwise the applied ones are rolled back,
//! with the files that the steps left next to their targets. If an applied file was modified since, rolling back
//! would lose that work: the change is left as it is, with all its leftovers, until the user has resolved it.

use std::collections::BTreeMap;

use slipstitch_core::cancel::CancelToken;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{InterruptedChange, SettledAs, WorkspaceError};

use super::cancellable::STOPPED;
use super::error::{io_error, refused};
use super::folders;
use super::intent::Intent;
use super::interrupted_step::{InterruptedStep, StepState};
use super::lock::{HeldLocks, StaleMarks};
use super::lookup;
use super::{DiskWorkspace, Fsync};

/// An interrupted change, with its files locked.
#[derive(Debug)]
pub(super) struct LockedChange<'a> {
    disk: &'a DiskWorkspace,
    steps: Vec<InterruptedStep>,
    created_folders: Vec<FilePath>,
    emptied_folders: Vec<FilePath>,
    locks: HeldLocks,
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
    let parse_paths = |texts: &[String]| texts.iter().map(|text| parse_path(text)).collect();
    let created_folders: Result<_, WorkspaceError> = parse_paths(&intent.folders);
    let emptied_folders: Result<_, WorkspaceError> = parse_paths(&intent.emptied_folders);
    let (created_folders, emptied_folders) = (created_folders?, emptied_folders?);
    let mut steps = Vec::new();
    for step in intent.steps {
        let path = parse_path(&step.path)?;
        let location = lookup::locate(&disk.roots, &path, "recover")?;
        let aside = match step.kind.aside_elsewhere() {
            Some(aside) => lookup::locate(&disk.roots, &parse_path(&aside.path)?, "recover")?,
            None => None,
        };
        steps.push(InterruptedStep { path, location, aside, kind: step.kind });
    }
    let mut keys = BTreeMap::new();
    for step in &steps {
        keys.extend(step.lock_keys()?.into_iter().map(|key| (key, &step.path)));
    }
    match disk.locks.acquire(&keys, StaleMarks::Recover, &CancelToken::default()) {
        Ok(locks) => Ok(Some(LockedChange { disk, steps, created_folders, emptied_folders, locks })),
        Err(WorkspaceError::Locked { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl InterruptedChange for LockedChange<'_> {
    fn settle(&mut self) -> Result<SettledAs, WorkspaceError> {
        self.recover().inspect_err(|_| self.locks.keep_marks())
    }
}

impl LockedChange<'_> {
    fn recover(&self) -> Result<SettledAs, WorkspaceError> {
        let mut states: Vec<StepState> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            self.check_cancelled(&step.path)?;
            states.push(step.state(self.disk)?);
        }
        let is_done = states.iter().all(|state| state.is_applied());
        if !is_done {
            self.refuse_to_lose_work(&states)?;
            for (step, state) in self.steps.iter().zip(&states).rev() {
                if matches!(state, StepState::Applied | StepState::Partial) {
                    self.check_cancelled(&step.path)?;
                    step.roll_back(self.disk)?;
                }
            }
        }
        self.steps.iter().try_for_each(|step| step.remove_leftovers(self.disk))?;
        self.sync_folders()?;
        let folders = if is_done { &self.emptied_folders } else { &self.created_folders };
        folders::remove_empty(&self.disk.roots, folders, self.disk.fsync);
        Ok(if is_done { SettledAs::Completed } else { SettledAs::RolledBack })
    }

    /// Stops if the process is to end. Reading and writing check that too, because one file may take long. A roll-back
    /// that is stopped half-way leaves a change that is applied in part, like the interruption itself.
    fn check_cancelled(&self, path: &FilePath) -> Result<(), WorkspaceError> {
        match &self.disk.interrupt {
            Some(cancel) if cancel.is_cancelled() => Err(refused(path, "recover", STOPPED)),
            _ => Ok(()),
        }
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

    fn sync_folders(&self) -> Result<(), WorkspaceError> {
        if self.disk.fsync == Fsync::Off {
            return Ok(());
        }
        for InterruptedStep { path, location, aside, .. } in &self.steps {
            for location in [location, aside].into_iter().flatten() {
                slipstitch_platform::files::sync_folder(&location.dir)
                    .map_err(|error| io_error(path, "recover", error))?;
            }
        }
        Ok(())
    }
}
