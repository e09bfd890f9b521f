//! Makes prepared changes visible, all or none.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use cap_std::fs::{Dir, MetadataExt as _};
use incise_core::path::FilePath;
use incise_core::workspace::{FileId, Staged, WorkspaceError, Written};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::Fsync;
use super::error::{refusal, refused};
use super::original::{Original, hash_at, is_file};
use super::place::Place;
use super::stage::DiskStaged;
use super::swap::{rename_over, rename_to_free, swap};
use super::temp::Temp;

/// One name that appears, changes hands or disappears.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) path: FilePath,
    pub(super) action: &'static str,
    pub(super) place: Place,
    pub(super) work: Work,
}

#[derive(Debug)]
pub(super) enum Work {
    /// The temporary file takes a free name.
    Create { temp: Temp, id: FileId },
    /// The temporary file and the original change places.
    Replace { temp: Temp, original: Original },
    /// The original goes aside; dropping `aside` removes it for good.
    Remove { aside: Temp, original: Original },
}

impl Staged for DiskStaged {
    fn publish(mut self: Box<Self>) -> Result<Vec<Written>, WorkspaceError> {
        let mut published = 0;
        let mut outcome = Ok(());
        for step in &mut self.steps {
            outcome = step.publish();
            if outcome.is_err() {
                break;
            }
            published += 1;
        }
        if let Err(error) = outcome.and_then(|()| self.sync_folders()) {
            let kept = self.take_back(published);
            return Err(kept.unwrap_or(error));
        }
        self.folders.keep();
        Ok(std::mem::take(&mut self.written))
    }
}

impl DiskStaged {
    /// Undoes the first `published` steps. Answers with an error of its own if one of them could
    /// not be undone: then the original lies beside the file under another name.
    fn take_back(&mut self, published: usize) -> Option<WorkspaceError> {
        let mut stuck = None;
        for step in self.steps[..published].iter_mut().rev() {
            if let Err(error) = step.take_back() {
                stuck.get_or_insert(error);
            }
        }
        if published > 0 {
            // The error that led here is the one to report.
            let _ = self.sync_folders();
        }
        stuck
    }

    /// Waits until the names are on the disk, in every folder where one changed.
    fn sync_folders(&self) -> Result<(), WorkspaceError> {
        if self.fsync == Fsync::Off {
            return Ok(());
        }
        let Some(first) = self.steps.first() else { return Ok(()) };
        let changed = self.steps.iter().map(|step| (&step.path, &step.place.dir));
        let made = self.folders.holders().map(|dir| (&first.path, dir));
        let mut done = BTreeSet::new();
        for (path, dir) in changed.chain(made) {
            let failed = |error: io::Error| refusal(path, "write", error);
            let metadata = dir.dir_metadata().map_err(failed)?;
            if done.insert((metadata.dev(), metadata.ino())) {
                sync_folder(dir).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// The held handle only names the folder; to wait for it takes one that may read it.
fn sync_folder(dir: &Arc<Dir>) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(&**dir, ".", flags, Mode::empty())?;
    match rustix::fs::fsync(&folder) {
        // Some file systems keep folders in order by themselves and know no such call.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        result => Ok(result?),
    }
}

impl Step {
    /// Makes the step visible. On failure it has changed nothing.
    fn publish(&mut self) -> Result<(), WorkspaceError> {
        let Self { path, action, place, work } = self;
        let failed = |error: io::Error| refusal(path, action, error);
        let conflict = |found| WorkspaceError::Conflict { path: path.clone(), found };
        if !matches!(work, Work::Create { .. }) && !is_file(place).map_err(failed)? {
            return Err(conflict(None));
        }
        match work {
            Work::Create { temp, .. } => match rename_to_free(temp.place(), place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(conflict(hash_at(path, place)))
                }
                result => result.map_err(failed),
            },
            Work::Replace { temp, original } => {
                let quiet = original.quiet(place);
                swap(temp.place(), place).map_err(failed)?;
                let Err(found) = original.check(path, temp.place(), quiet) else { return Ok(()) };
                put_back(swap(temp.place(), place), path, action, temp)?;
                Err(conflict(found))
            }
            Work::Remove { aside, original } => {
                let quiet = original.quiet(place);
                rename_to_free(place, aside.place()).map_err(failed)?;
                let Err(found) = original.check(path, aside.place(), quiet) else { return Ok(()) };
                put_back(rename_to_free(aside.place(), place), path, action, aside)?;
                Err(conflict(found))
            }
        }
    }

    /// Puts back what was there before the step.
    fn take_back(&mut self) -> Result<(), WorkspaceError> {
        let Self { path, action, place, work } = self;
        match work {
            Work::Create { temp, id } => {
                // Someone else's file under that name is not ours to remove.
                if current(place) == Some(*id) {
                    rename_over(place, temp.place()).map_err(|error| refusal(path, action, error))?;
                }
                Ok(())
            }
            Work::Replace { temp, .. } => put_back(rename_over(temp.place(), place), path, action, temp),
            Work::Remove { aside, .. } => put_back(rename_to_free(aside.place(), place), path, action, aside),
        }
    }
}

/// If a displaced file could not be put back, it stays under its temporary name: it may be the
/// only copy.
fn put_back(
    result: io::Result<()>,
    path: &FilePath,
    action: &'static str,
    temp: &mut Temp,
) -> Result<(), WorkspaceError> {
    result.map_err(|error| {
        let name = temp.keep();
        let reason = format!("the original could not be put back and lies beside it as `{name}`: {error}");
        refused(path, action, reason)
    })
}

fn current(place: &Place) -> Option<FileId> {
    let (_, metadata) = place.open().ok()??;
    Some(FileId { device: metadata.dev(), inode: metadata.ino() })
}
