//! Stage five: the change reaches the files, and the journal knows how to take it back.

use crate::approve::Approved;
use crate::change::{ChangeSet, Fate, FileChange};
use crate::journal::{ChangeId, FileRecord, Journal, JournalError, Kind, Origin, Record};
use crate::resolve::Snapshots;
use crate::workspace::{Workspace, WorkspaceError, Written};

/// What a change is called in the journal besides its bytes.
#[derive(Debug, Clone)]
pub struct Label {
    /// Where it came from.
    pub origin: Origin,
    /// What it is with regard to other changes.
    pub kind: Kind,
    /// What it is for.
    pub description: Option<String>,
    /// The change as a unified diff.
    pub diff: String,
}

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
    let memory = clipboard_memory(&changes);
    let staged = files.stage(changes.files())?;
    let record = Record {
        origin: label.origin,
        kind: label.kind,
        description: label.description,
        approval,
        files: inverse_records(&changes, seen),
        diff: shortened(label.diff),
    };
    let id = journal.begin(&record)?;
    let written = match staged.publish() {
        Ok(written) => written,
        Err(error) => {
            // The announcement stays pending if this fails too: harmless, as the files tell.
            let _ = journal.abandon(id);
            return Err(error.into());
        }
    };
    if let Err(error) = journal.seal(id, &memory) {
        warnings.push(format!("the change is written, but {error}"));
    }
    Ok(Receipt { id, changes, written, warnings })
}

/// The journal shows a diff; what takes a change back is kept beside it, whole.
const MOST_DIFF_BYTES: usize = 1 << 20;

pub(crate) fn shortened(mut diff: String) -> String {
    if diff.len() > MOST_DIFF_BYTES {
        let all = diff.len();
        diff.truncate(diff.floor_char_boundary(MOST_DIFF_BYTES));
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

fn inverse_records(changes: &ChangeSet, seen: &Snapshots) -> Vec<FileRecord> {
    let inverse = changes.invert(|path| seen.bytes(path));
    // A symlink may lead elsewhere by the time the change is taken back; the file itself does not move.
    let at_home = |mut inverse: FileChange| {
        if inverse.fate == Fate::Stays
            && let Some(real) = seen.get(&inverse.path).and_then(|snapshot| snapshot.meta().real.clone())
        {
            inverse.path = real;
        }
        inverse
    };
    let rungs = changes.files().iter().map(|file| file.edits.iter().map(|edit| edit.rung).max());
    inverse
        .files()
        .iter()
        .cloned()
        .map(at_home)
        .zip(rungs)
        .map(|(inverse, rung)| FileRecord { inverse, rung })
        .collect()
}
