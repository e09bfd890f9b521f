//! Makes prepared changes visible, all or none.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use cap_std::fs::{Dir, MetadataExt as _};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{Staged, WorkspaceError, Written};
use slipstitch_core::snapshot::FileId;
use slipstitch_core::text::ContentHash;

use super::Fsync;
use super::error::{refusal, refused};
use super::in_place::InPlace;
use super::intent::{Hash, Intent, StepIntent, WorkIntent};
use super::original::{Original, hash_at, is_file};
use super::place::Place;
use super::roots::Roots;
use super::stage::DiskStaged;
use super::swap::{Swapped, rename_over, rename_to_free, swap};
use super::temp::Temp;

/// One name that appears, changes hands or disappears.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) path: FilePath,
    pub(super) action: &'static str,
    pub(super) place: Place,
    pub(super) work: Work,
    /// Which of the change's files it belongs to.
    pub(super) written: usize,
}

/// Whether what a step displaces is looked at; only a rig has it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Displaced {
    Checked,
    #[cfg(feature = "rig")]
    Trusted,
}

#[derive(Debug)]
pub(super) enum Work {
    /// The temporary file takes a free name.
    Create { temp: Temp, id: FileId, after: ContentHash },
    /// The temporary file and the original change places.
    Replace { temp: Temp, spare: Temp, id: FileId, original: Original, after: ContentHash },
    /// The original goes aside; dropping `aside` removes it for good.
    Remove { aside: Temp, original: Original },
    /// The content is written into the file itself.
    InPlace { write: InPlace, before: ContentHash, after: ContentHash },
}

impl Staged for DiskStaged<'_> {
    fn intent(&self) -> Option<String> {
        let steps = self.steps.iter().map(|step| step.intent(self.roots)).collect();
        let folders = self.folders.paths(self.roots).iter().map(ToString::to_string).collect();
        serde_json::to_string(&Intent { steps, folders }).ok()
    }

    fn publish(&mut self) -> Result<Vec<Written>, WorkspaceError> {
        self.locks.mark();
        // From here on the journal knows of every name that is used.
        self.bench.note.end();
        let mut published = 0;
        let mut outcome = Ok(());
        for step in &mut self.steps {
            match step.publish(self.displaced) {
                Ok(how) => {
                    if let (Some(how), Some(written)) = (how, self.written.get_mut(step.written)) {
                        written.write_mode = how;
                    }
                }
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
            published += 1;
        }
        if let Err(error) = outcome.and_then(|()| self.sync_folders()) {
            let error = self.take_back(published).unwrap_or(error);
            if !matches!(error, WorkspaceError::Torn { .. }) {
                // Before the journal hears that nothing came of it: after that nobody looks for what is left.
                self.clear();
                self.folders.remove();
            }
            return Err(error);
        }
        self.folders.keep();
        self.clear();
        Ok(std::mem::take(&mut self.written))
    }

    fn mark_unsettled(&mut self) {
        self.locks.keep_marks();
    }
}

impl DiskStaged<'_> {
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

    /// Removes what was displaced, now that nothing is taken back any more. This comes before the journal is told that the
    /// change is done: whoever finds it announced cleans up, and nobody looks at one that is done.
    fn clear(&mut self) {
        let mut left = false;
        for temp in self.steps.iter_mut().flat_map(|step| step.work.temps()) {
            left |= temp.remove().is_err() && self.bench.note.temp(temp.place()).is_ok();
        }
        self.steps.clear();
        if left {
            self.bench.note.leave();
        }
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
pub(super) fn sync_folder(dir: &Arc<Dir>) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(&**dir, ".", flags, Mode::empty())?;
    match rustix::fs::fsync(&folder) {
        // Some file systems keep folders in order by themselves and know no such call.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        result => Ok(result?),
    }
}

impl Work {
    fn temps(&mut self) -> Vec<&mut Temp> {
        match self {
            Self::Create { temp, .. } => vec![temp],
            Self::Replace { temp, spare, .. } => vec![temp, spare],
            Self::Remove { aside, .. } => vec![aside],
            Self::InPlace { .. } => Vec::new(),
        }
    }
}

impl Step {
    /// What another process must know to settle the step.
    fn intent(&self, roots: &Roots) -> StepIntent {
        let real = roots.real(&*self.place.dir, self.place.name.as_ref());
        let work = match &self.work {
            Work::Create { temp, id, after } => {
                WorkIntent::Create { temp: temp.name(), inode: id.inode, after: Hash(*after) }
            }
            Work::Replace { temp, spare, id, original, after } => WorkIntent::Replace {
                temp: temp.name(),
                spare: spare.name(),
                inode: id.inode,
                before: Hash(original.hash()),
                after: Hash(*after),
            },
            Work::Remove { aside, original } => {
                WorkIntent::Remove { aside: aside.name(), before: Hash(original.hash()) }
            }
            Work::InPlace { write, before, after } => {
                WorkIntent::InPlace { copies: write.copies(), before: Hash(*before), after: Hash(*after) }
            }
        };
        StepIntent { path: real.unwrap_or_else(|| self.path.clone()).to_string(), work }
    }

    /// Makes the step visible and says by which means, if that was open. On failure it has changed nothing.
    fn publish(&mut self, displaced: Displaced) -> Result<Option<&'static str>, WorkspaceError> {
        let Self { path, action, place, work, .. } = self;
        let failed = |error: io::Error| refusal(path, action, error);
        let conflict = |found| WorkspaceError::Conflict { path: path.clone(), found };
        if !matches!(work, Work::Create { .. }) && !is_file(place).map_err(failed)? {
            return Err(conflict(None));
        }
        match work {
            Work::Create { temp, .. } => {
                let named = match temp.name_at(place) {
                    Ok(false) => rename_to_free(temp.place(), place),
                    named => named.map(|_| ()),
                };
                match named {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        Err(conflict(hash_at(path, place)))
                    }
                    named => named.map(|()| None).map_err(failed),
                }
            }
            Work::Replace { temp, spare, original, after, .. } => {
                temp.give_name().map_err(failed)?;
                #[cfg(feature = "rig")]
                if displaced == Displaced::Trusted {
                    return rename_over(temp.place(), place).map(|()| None).map_err(failed);
                }
                let _ = displaced;
                let quiet = original.quiet(place);
                let swapped = swap(temp.place(), place, spare)
                    .map_err(|error| left_aside(path, action, spare).unwrap_or_else(|| failed(error)))?;
                let Err(found) = original.check(path, temp.place(), quiet) else {
                    return Ok(Some(match swapped {
                        Swapped::AtOnce => "exchange",
                        Swapped::InSteps => "rename",
                    }));
                };
                put_back(swap(temp.place(), place, spare).map(|_| ()), path, action, temp)?;
                keep_if_written_to(path, action, temp, *after)?;
                Err(conflict(found))
            }
            Work::Remove { aside, original } => {
                let quiet = original.quiet(place);
                rename_to_free(place, aside.place()).map_err(failed)?;
                let Err(found) = original.check(path, aside.place(), quiet) else { return Ok(None) };
                put_back(rename_to_free(aside.place(), place), path, action, aside)?;
                Err(conflict(found))
            }
            Work::InPlace { write, .. } => write.publish(path).map(|()| None),
        }
    }

    /// Puts back what was there before the step.
    fn take_back(&mut self) -> Result<(), WorkspaceError> {
        let Self { path, action, place, work, .. } = self;
        match work {
            Work::Create { temp, id, after } => {
                // Someone else's file under that name is not ours to remove.
                if current(place) != Some(*id) {
                    return Ok(());
                }
                rename_over(place, temp.place()).map_err(|error| refusal(path, action, error))?;
                keep_if_written_to(path, action, temp, *after)
            }
            Work::Replace { temp, spare, after, .. } => {
                put_back(swap(temp.place(), place, spare).map(|_| ()), path, action, temp)?;
                keep_if_written_to(path, action, temp, *after)
            }
            Work::Remove { aside, .. } => put_back(rename_to_free(aside.place(), place), path, action, aside),
            Work::InPlace { write, .. } => write.take_back(path),
        }
    }
}

/// New content that was visible for a moment may have been written to in that moment. Then it stays under its
/// temporary name: it is the only copy of what was written.
fn keep_if_written_to(
    path: &FilePath,
    action: &'static str,
    temp: &mut Temp,
    after: ContentHash,
) -> Result<(), WorkspaceError> {
    if hash_at(path, temp.place()) == Some(after) {
        return Ok(());
    }
    let name = temp.keep();
    let reason = format!(
        "another program wrote to it in the moment when the new content was there; what it wrote lies beside it as \
         `{name}`"
    );
    Err(refused(path, action, reason))
}

/// What is said if someone made a file in the moment when the old one was aside: theirs stays, and the old one too.
fn left_aside(path: &FilePath, action: &'static str, spare: &Temp) -> Option<WorkspaceError> {
    let name = spare.is_kept().then(|| spare.name())?;
    let reason = format!(
        "another program made a file of that name in the moment when the old one was aside; the old content lies \
         beside it as `{name}`"
    );
    Some(refused(path, action, reason))
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

pub(super) fn current(place: &Place) -> Option<FileId> {
    let (_, metadata) = place.open().ok()??;
    Some(FileId { device: metadata.dev(), inode: metadata.ino() })
}
