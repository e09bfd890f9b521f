//! Private files: the journal does not keep their text (see [`Journal::keeps_text_of`]).

use crate::change::{ChangeSet, FileChange};
use crate::path::FilePath;
use crate::ports::journal::{Journal, JournalError};
use crate::report::{OMITTED_DIFF, truncate_stored_diff, unified_diff_of};
use crate::snapshot::Snapshots;
use slipstitch_text::display::decode_lossy;

/// Whether the text of a file is private: by its name, or by the name that a symlink leads to.
pub(super) fn is_private(journal: &dyn Journal, path: &FilePath, real: &FilePath) -> bool {
    !journal.keeps_text_of(path) || real != path && !journal.keeps_text_of(real)
}

/// Whether a change is about private text: by the file's name before or after it.
pub(super) fn is_private_change(journal: &dyn Journal, change: &FileChange, snapshots: &Snapshots) -> bool {
    let names = [Some(&change.path), change.path_after().filter(|after| **after != change.path)];
    // Reading the file showed whether it has other names.
    let has_one_name = snapshots.before(change).is_some_and(|before| before.meta().links == Some(1));
    names.into_iter().flatten().any(|path| match (has_one_name, snapshots.real_path(path)) {
        (true, real) => {
            !journal.keeps_text_of_name(path) || real != path && !journal.keeps_text_of_name(real)
        }
        (false, real) => is_private(journal, path, real),
    })
}

/// The diff of a change as the journal stores it: `diff`, or without private files if there are any.
pub(super) fn diff_to_keep(
    journal: &dyn Journal,
    changes: &ChangeSet,
    snapshots: &Snapshots,
    context: usize,
    diff: &str,
) -> String {
    let (private, others): (Vec<_>, Vec<_>) =
        changes.files().iter().partition(|file| is_private_change(journal, file, snapshots));
    if private.is_empty() {
        return truncate_stored_diff(diff.into());
    }
    let diff = unified_diff_of(others, snapshots, context);
    let mut kept = decode_lossy(&diff).into_owned();
    for file in private {
        kept.push_str(&format!("{OMITTED_DIFF}`{}` is private)\n", file.path));
    }
    truncate_stored_diff(kept.into())
}

/// Remembers values for a session: only in this process if they may contain text of a private file.
pub(super) fn remember(
    journal: &dyn Journal,
    session: &str,
    memory: &[(String, String)],
    is_private: bool,
) -> Result<(), JournalError> {
    match is_private {
        true => journal.remember_in_process(session, memory),
        false => journal.remember(session, memory),
    }
}
