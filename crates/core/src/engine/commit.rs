//! Stage five: the change reaches the files, and the journal knows how to take it back.

use crate::change::{Base, ChangeSet, FileChange, PathChange};
use crate::engine::approve::Approved;
use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::ports::journal::{FileRecord, Gap, Journal, JournalError, Label, LastText, Left, Record, State};
use crate::ports::workspace::{Settlement, Staged, Workspace, WorkspaceError, Written};
use crate::snapshot::Snapshots;
use slipstitch_text::ContentHash;
use slipstitch_text::diff_splices;

/// A change that is in the files.
#[derive(Debug)]
pub struct Receipt {
    /// Its name in the journal.
    pub id: ChangeId,
    /// What was done.
    pub changes: ChangeSet,
    /// By which means.
    pub written: Vec<Written>,
    /// What the caller should be told.
    pub warnings: Vec<String>,
}

/// Why a change is not in the files. They are as they were.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// The files could not be changed.
    #[error(transparent)]
    Files(#[from] WorkspaceError),
    /// The change could not be announced, so it was not made: it could not be taken back.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Writes an approved change.
///
/// The order is the guarantee: files are locked and checked, then the change is announced with
/// what takes it back, then it becomes visible. If the process dies in between, the journal tells
/// which files to look at.
pub fn commit(
    go: Approved,
    seen: &Snapshots,
    label: Label,
    files: &dyn Workspace,
    journal: &dyn Journal,
) -> Result<Receipt, CommitError> {
    let approval = go.by().to_owned();
    let mut warnings = go.checked().warnings().to_vec();
    let changes = go.into_checked().into_changes();
    let mut staged = stage(&changes, files, journal)?;
    let files = inverse_records(&changes, seen, journal)?;
    let left = Left { memory: clipboard_memory(&changes), texts: last_texts(&changes, &files, seen) };
    let record = Record {
        origin: label.origin,
        kind: label.kind,
        description: label.description,
        approval,
        files,
        diff: shortened(label.diff),
        intent: staged.intent(),
    };
    let id = journal.begin(&record)?;
    let written = match staged.publish() {
        Ok(written) => written,
        // It stays pending: the next start mends what it can.
        Err(error @ WorkspaceError::Torn { .. }) => return Err(error.into()),
        Err(error) => {
            // The announcement stays pending if this fails too: harmless, as the files tell.
            let _ = journal.abandon(id);
            return Err(error.into());
        }
    };
    // Sealed before the locks go: nobody finds the files free and the change unsettled.
    if let Err(error) = seal(id, left, journal) {
        staged.leave_unsettled();
        warnings.push(format!("the change is written, but {error}"));
    }
    drop(staged);
    Ok(Receipt { id, changes, written, warnings })
}

/// Notes that a change is done. The texts that its files have are a help for later: a journal without room for them can do without.
fn seal(id: ChangeId, left: Left, journal: &dyn Journal) -> Result<(), JournalError> {
    journal.seal(id, &left).or_else(|_| journal.seal(id, &Left { texts: Vec::new(), ..left }))
}

/// Prepares a change; if a process that died left one of its files in between, that is settled first.
fn stage<'a>(
    changes: &ChangeSet,
    files: &'a dyn Workspace,
    journal: &dyn Journal,
) -> Result<Box<dyn Staged + 'a>, CommitError> {
    match files.stage(changes.files()) {
        Err(WorkspaceError::Unsettled(_)) => {
            let recovered = recover(files, journal)?;
            refuse_stuck(changes, &recovered, journal)?;
            refuse_unreachable(changes, journal)?;
            Ok(files.stage_anyway(changes.files())?)
        }
        staged => Ok(staged?),
    }
}

/// Refuses a change of files in which another one is stuck: it would be made on half of that.
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
            let reason = format!("{id} was cut short in it and is not settled: {reason}");
            return Err(WorkspaceError::Refused { path: path.clone(), action: "change", reason }.into());
        }
    }
    Ok(())
}

/// Refuses a change of files in which one of another root was cut short: only who opens that root can settle it.
fn refuse_unreachable(changes: &ChangeSet, journal: &dyn Journal) -> Result<(), CommitError> {
    let paths = changes.files().iter().flat_map(|file| [Some(&file.path), file.path_after()]).flatten();
    for path in paths {
        if let Some((id, root)) = journal.pending_elsewhere_at(path)? {
            let reason = format!(
                "{id} was cut short in it and is not settled. It was begun in the root `{root}`; `slipstitch doctor`, with that as its `--root`, settles it"
            );
            return Err(WorkspaceError::Refused { path: path.clone(), action: "change", reason }.into());
        }
    }
    Ok(())
}

/// What became of changes that processes left unfinished.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// These are in the files.
    pub done: Vec<ChangeId>,
    /// These are not.
    pub not_done: Vec<ChangeId>,
    /// These could not be settled, with the reason.
    pub stuck: Vec<(ChangeId, String)>,
}

/// Settles the changes of processes that died while they published.
///
/// A change that is still being made is left alone: its files are locked. One that someone else settles at
/// the same time is looked at again once its locks are held.
pub fn recover(files: &dyn Workspace, journal: &dyn Journal) -> Result<Recovered, JournalError> {
    let mut recovered = Recovered::default();
    for (id, intent) in journal.pending()? {
        let Some(intent) = intent else { continue };
        let settled = match files.reopen(&intent) {
            Ok(None) => continue,
            Ok(Some(mut unfinished)) => {
                let still = journal.entry(id)?.is_some_and(|entry| entry.summary.state == State::Pending);
                if !still {
                    continue;
                }
                let settled = unfinished.settle();
                match &settled {
                    Ok(Settlement::Done) => journal.seal(id, &Left::default())?,
                    Ok(Settlement::NotDone) => journal.abandon(id)?,
                    Err(_) => {}
                }
                settled
            }
            Err(error) => Err(error),
        };
        match settled {
            Ok(Settlement::Done) => recovered.done.push(id),
            Ok(Settlement::NotDone) => recovered.not_done.push(id),
            Err(error) => recovered.stuck.push((id, error.to_string())),
        }
    }
    Ok(recovered)
}

/// The journal shows a diff; what takes a change back is kept beside it, whole.
const MAX_DIFF_BYTES: usize = 1 << 20;

pub(crate) fn shortened(mut diff: String) -> String {
    if diff.len() > MAX_DIFF_BYTES {
        let all = diff.len();
        diff.truncate(diff.floor_char_boundary(MAX_DIFF_BYTES));
        diff.push_str(&format!("\n[… {} more bytes of the diff …]\n", all - diff.len()));
    }
    diff
}

/// Clipboards in a session's memory have this in front of their names.
pub(crate) const CLIPBOARD: &str = "clipboard/";

/// What a change leaves for its session to remember.
pub(crate) fn clipboard_memory(changes: &ChangeSet) -> Vec<(String, String)> {
    changes.clipboards().iter().map(|(name, text)| (format!("{CLIPBOARD}{name}"), text.clone())).collect()
}

fn inverse_records(
    changes: &ChangeSet,
    seen: &Snapshots,
    journal: &dyn Journal,
) -> Result<Vec<FileRecord>, JournalError> {
    let inverse = changes.invert(|path| seen.bytes(path));
    // A symlink may lead elsewhere by the time the change is taken back; the file itself does not move.
    let at_home = |mut inverse: FileChange| {
        if inverse.path_change == PathChange::Keep
            && let Some(real) = seen.get(&inverse.path).and_then(|snapshot| snapshot.meta().real.clone())
        {
            inverse.path = real;
        }
        inverse
    };
    let rungs = changes.files().iter().map(|file| file.edits.iter().map(|edit| edit.rung).max());
    let homes = inverse.files().iter().cloned().map(at_home);
    homes
        .zip(rungs)
        .zip(changes.files())
        .map(|((inverse, rung), change)| {
            let before = seen.bytes(&change.path);
            let gap = match change.base {
                Base::Content(hash) => {
                    gap(inverse.path_after().unwrap_or(&change.path), before, hash, journal)?
                }
                Base::Absent => None,
            };
            Ok(FileRecord { inverse, rung, gap })
        })
        .collect()
}

/// What the paths of a change hold once it is made.
fn last_texts(changes: &ChangeSet, records: &[FileRecord], seen: &Snapshots) -> Vec<(FilePath, LastText)> {
    let mut texts = Vec::new();
    for (change, record) in changes.files().iter().zip(records) {
        let after = record.path_after();
        if let Some(before) = record.path_before().filter(|before| Some(*before) != after) {
            texts.push((before.clone(), LastText::Unknown));
        }
        if let Some(after) = after {
            let text = match (change.after, change.splices.new_len()) {
                (Some(hash), ..=LastText::MAX_BYTES) => {
                    LastText::Short { text: change.splices.apply(seen.bytes(&change.path)), hash }
                }
                _ => LastText::Unknown,
            };
            texts.push((after.clone(), text));
        }
    }
    texts
}

/// What someone else did to the file at `path` since our last change of it, if the journal has what that left.
fn gap(
    path: &FilePath,
    now: &[u8],
    hash: ContentHash,
    journal: &dyn Journal,
) -> Result<Option<Gap>, JournalError> {
    if now.len() > LastText::MAX_BYTES {
        return Ok(None);
    }
    let left = journal.text_left(path, hash)?;
    Ok(left.map(|left| Gap { splices: diff_splices(now, &left), left: ContentHash::of(&left) }))
}
