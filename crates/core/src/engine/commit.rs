//! Stage five: writes the change to the files and its inverse to the journal. Also settles interrupted changes.

use crate::cancel::CancelToken;
use crate::change::{Base, ChangeSet, FileChange, PathChange};
use crate::engine::approve::Approved;
use crate::engine::private::is_private_change;
use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::ports::journal::{
    Aftereffects, ChangeState, FileRecord, ForeignEdit, Journal, JournalError, Label, LastText, Record,
    RecordedText,
};
use crate::ports::workspace::{SettledAs, Staged, Workspace, WorkspaceError, Written};
use crate::report::truncate_stored_diff;
use crate::snapshot::{Snapshot, Snapshots};
use slipstitch_text::{ContentHash, diff_splices};

/// A change that was written.
#[derive(Debug)]
pub struct Receipt {
    /// Its id in the journal.
    pub id: ChangeId,
    /// The change.
    pub changes: ChangeSet,
    /// How each file was written.
    pub written: Vec<Written>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

/// Why a change was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// The files could not be changed.
    #[error(transparent)]
    Files(#[from] WorkspaceError),
    /// The change could not be journaled. It was not written, because it could not have been undone.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The call was cancelled before anything was written.
    #[error("the call was cancelled; nothing was written")]
    Cancelled,
}

/// Writes an approved change.
///
/// The order is the guarantee: first the files are locked and checked, then the change is journaled with its inverse, then
/// it becomes visible. If the process dies in between, the journal has what is needed to settle the change.
pub fn commit(
    approved: Approved,
    snapshots: &Snapshots,
    label: Label,
    files: &dyn Workspace,
    journal: &dyn Journal,
    cancel: Option<&CancelToken>,
) -> Result<Receipt, CommitError> {
    let approval = approved.by().to_owned();
    let mut warnings = approved.checked().warnings().to_vec();
    let changes = approved.into_checked().into_changes();
    let never = CancelToken::default();
    let cancel = cancel.unwrap_or(&never);
    let staged = stage(&changes, files, journal, cancel);
    if cancel.is_cancelled() {
        return Err(CommitError::Cancelled);
    }
    let mut staged = staged?;
    let mut files = inverse_records(&changes, snapshots, journal)?;
    for (file, restore) in files.iter_mut().zip(staged.restores()) {
        file.inverse.restore = restore;
    }
    let is_private = files.iter().any(|file| file.text == RecordedText::Private);
    let clipboards = clipboard_memory(&changes);
    let (memory, brief_memory) = if is_private { (Vec::new(), clipboards) } else { (clipboards, Vec::new()) };
    let aftereffects = Aftereffects { memory, texts: last_texts(&changes, &files, snapshots) };
    let session = label.origin.session.clone();
    let record = Record {
        origin: label.origin,
        kind: label.kind,
        description: label.description,
        labels: label.labels,
        approval,
        files,
        diff: truncate_stored_diff(label.diff.into()),
        intent: staged.intent(),
    };
    // Part of the record was read from a large file, which may have changed and changed back.
    if let Some(path) = snapshots.changed_file() {
        return Err(WorkspaceError::Conflict { path: path.clone(), found: None }.into());
    }
    staged.begin_flush();
    // The last moment: dropping what is staged leaves no trace, from here on the change is completed.
    let Some(id) = journal.begin_unless_cancelled(&record, cancel)? else {
        return Err(CommitError::Cancelled);
    };
    let written = match staged.publish() {
        Ok(written) => written,
        // The change stays pending, so that the next start can settle it.
        Err(error @ WorkspaceError::Torn { .. }) => return Err(error.into()),
        Err(error) => {
            // If this fails too, the change stays pending. That is harmless: settling it finds the files unchanged.
            let _ = journal.abandon(id);
            return Err(error.into());
        }
    };
    warnings.extend(staged.warnings());
    // Sealed before the locks are released: no other process can find the files free and the change pending.
    if let Err(error) = seal(id, aftereffects, journal) {
        staged.mark_unsettled();
        warnings.push(format!("the change is written, but {error}"));
    }
    drop(staged);
    if !brief_memory.is_empty()
        && let Err(error) = journal.remember_in_process(&session, &brief_memory)
    {
        warnings.push(format!("the change is written, but {error}"));
    }
    Ok(Receipt { id, changes, written, warnings })
}

/// Marks a change as done. If the journal has no room for the new texts, it is sealed without them: they only help later
/// merges.
fn seal(id: ChangeId, aftereffects: Aftereffects, journal: &dyn Journal) -> Result<(), JournalError> {
    let sealed = journal.seal(id, &aftereffects);
    sealed.or_else(|_| journal.seal(id, &Aftereffects { texts: Vec::new(), ..aftereffects }))
}

/// Stages a change. If an interrupted change concerns one of its files, that one is settled first.
fn stage<'a>(
    changes: &ChangeSet,
    files: &'a dyn Workspace,
    journal: &dyn Journal,
    cancel: &CancelToken,
) -> Result<Box<dyn Staged + 'a>, CommitError> {
    match files.stage_unless_cancelled(changes.files(), cancel) {
        Err(WorkspaceError::Unsettled(_)) => {
            if !cancel.may_take_long() {
                return Err(CommitError::Cancelled);
            }
            let recovered = recover(files, journal)?;
            refuse_stuck(changes, &recovered, journal)?;
            refuse_unreachable(changes, journal)?;
            Ok(files.stage_after_recovery(changes.files())?)
        }
        staged => Ok(staged?),
    }
}

/// Refuses a change of files that another change, which could not be settled, left half changed.
fn refuse_stuck(
    changes: &ChangeSet,
    recovered: &Recovered,
    journal: &dyn Journal,
) -> Result<(), CommitError> {
    for (id, reason) in &recovered.stuck {
        let Some(entry) = journal.entry(*id)? else { continue };
        let theirs: Vec<&FilePath> = entry
            .files
            .iter()
            .flat_map(|file| file.path_before().into_iter().chain(file.path_after()))
            .collect();
        let ours = changes.files().iter().flat_map(|file| [Some(&file.path), file.path_after()]);
        if let Some(path) = ours.flatten().find(|path| theirs.contains(path)) {
            let reason = format!("{id} was interrupted and could not be recovered: {reason}");
            return Err(WorkspaceError::Refused { path: path.clone(), action: "change", reason }.into());
        }
    }
    Ok(())
}

/// Refuses a change of files that an interrupted change of another root concerns: it can only be settled from that root.
fn refuse_unreachable(changes: &ChangeSet, journal: &dyn Journal) -> Result<(), CommitError> {
    let paths = changes.files().iter().flat_map(|file| [Some(&file.path), file.path_after()]).flatten();
    for path in paths {
        if let Some((id, root)) = journal.pending_in_other_root(path)? {
            let reason = format!(
                "{id} was interrupted and has not been recovered; it began in the root `{root}`, so run `slipstitch doctor` with that `--root`"
            );
            return Err(WorkspaceError::Refused { path: path.clone(), action: "change", reason }.into());
        }
    }
    Ok(())
}

/// The result of crash recovery.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Changes that are completely in the files.
    pub completed: Vec<ChangeId>,
    /// Changes that are not in the files at all.
    pub rolled_back: Vec<ChangeId>,
    /// Changes that could not be settled, and why.
    pub stuck: Vec<(ChangeId, String)>,
}

/// Crash recovery: settles the changes of processes that died while publishing.
///
/// A change whose process is still running is left alone: its files are locked. Another process may settle a change at
/// the same time, so its state is read again once the locks are held.
pub fn recover(files: &dyn Workspace, journal: &dyn Journal) -> Result<Recovered, JournalError> {
    let mut recovered = Recovered::default();
    for (id, intent) in journal.pending()? {
        let Some(intent) = intent else { continue };
        // A damaged intent could move the wrong files.
        if let Err(error) = journal.entry(id) {
            recovered.stuck.push((id, error.reason));
            continue;
        }
        let settled = match files.reopen(&intent) {
            Ok(None) => continue,
            Ok(Some(mut interrupted)) => {
                let entry = journal.entry(id)?;
                if entry.is_none_or(|entry| entry.summary.state != ChangeState::Pending) {
                    continue;
                }
                let settled = interrupted.settle();
                match &settled {
                    Ok(SettledAs::Completed) => journal.seal(id, &Aftereffects::default())?,
                    Ok(SettledAs::RolledBack) => journal.abandon(id)?,
                    Err(_) => {}
                }
                settled
            }
            Err(error) => Err(error),
        };
        match settled {
            Ok(SettledAs::Completed) => recovered.completed.push(id),
            Ok(SettledAs::RolledBack) => recovered.rolled_back.push(id),
            Err(error) => recovered.stuck.push((id, error.to_string())),
        }
    }
    Ok(recovered)
}

/// Key prefix of clipboards in a session's memory.
pub(crate) const CLIPBOARD: &str = "clipboard/";

/// The clipboards of a change, as its session remembers them.
pub(crate) fn clipboard_memory(changes: &ChangeSet) -> Vec<(String, String)> {
    changes.clipboards().iter().map(|(name, text)| (format!("{CLIPBOARD}{name}"), text.clone())).collect()
}

fn inverse_records(
    changes: &ChangeSet,
    snapshots: &Snapshots,
    journal: &dyn Journal,
) -> Result<Vec<FileRecord>, JournalError> {
    let inverse = changes.files().iter().map(|change| match snapshots.before(change) {
        Some(before) => change.inverse_with(before.invert(&change.splices)),
        None => change.invert(&[]),
    });
    // A symlink may lead elsewhere by the time the change is undone, so the inverse names the file itself.
    let with_real_path = |mut inverse: FileChange| {
        if inverse.path_change == PathChange::Keep
            && let Some(real) = snapshots.get(&inverse.path).and_then(|snapshot| snapshot.meta().real.clone())
        {
            inverse.path = real;
        }
        inverse
    };
    let rungs = changes.files().iter().map(|file| file.edits.iter().map(|edit| edit.rung).max());
    let inverses = inverse.map(with_real_path);
    let record = |((inverse, rung), change)| {
        let text = match is_private_change(journal, change, snapshots) {
            true => RecordedText::Private,
            false => RecordedText::Kept,
        };
        FileRecord { inverse, rung, foreign_edit: None, text }
    };
    let mut records: Vec<FileRecord> = inverses.zip(rungs).zip(changes.files()).map(record).collect();
    add_foreign_edits(&mut records, changes, snapshots, journal)?;
    Ok(records)
}

/// Adds what someone else did to each file since its last recorded change, if the journal kept the text after that.
fn add_foreign_edits(
    records: &mut [FileRecord],
    changes: &ChangeSet,
    snapshots: &Snapshots,
    journal: &dyn Journal,
) -> Result<(), JournalError> {
    let asked = |(number, (record, change)): (usize, (&FileRecord, &FileChange))| {
        let Base::Content(hash) = change.base else { return None };
        let now = snapshots.before(change)?;
        let is_asked = record.text != RecordedText::Private && now.byte_len() <= LastText::MAX_BYTES;
        is_asked.then_some((number, now, hash))
    };
    let asked: Vec<(usize, &Snapshot, ContentHash)> =
        records.iter().zip(changes.files()).enumerate().filter_map(asked).collect();
    let path = |number: usize| records[number].inverse.path_after().unwrap_or(&changes.files()[number].path);
    let paths: Vec<(&FilePath, ContentHash)> =
        asked.iter().map(|(number, _, hash)| (path(*number), *hash)).collect();
    let last = journal.last_texts(&paths)?;
    for ((number, now, _), last) in asked.into_iter().zip(last) {
        records[number].foreign_edit = last.map(|last| ForeignEdit {
            splices: diff_splices(now.bytes(), &last),
            hash_before: ContentHash::of(&last),
        });
    }
    Ok(())
}

/// The new text of each path that a change touches.
fn last_texts(
    changes: &ChangeSet,
    records: &[FileRecord],
    snapshots: &Snapshots,
) -> Vec<(FilePath, LastText)> {
    // First the paths that files leave: others may take them.
    let left = records.iter().filter_map(|record| {
        record.path_before().filter(|before| Some(*before) != record.path_after()).cloned()
    });
    let mut texts: Vec<(FilePath, LastText)> = left.map(|path| (path, LastText::Unknown)).collect();
    for (change, record) in changes.files().iter().zip(records) {
        if let Some(after) = record.path_after() {
            let text = match (change.after, change.splices.new_len()) {
                (Some(hash), ..=LastText::MAX_BYTES) if record.text == RecordedText::Kept => {
                    LastText::Short { text: change.splices.apply(snapshots.bytes_before(change)), hash }
                }
                _ => LastText::Unknown,
            };
            texts.push((after.clone(), text));
        }
    }
    texts
}
