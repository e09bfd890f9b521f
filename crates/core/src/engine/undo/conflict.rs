//! Reports for changes that cannot be undone, with the conflicting lines.

use crate::outcome::{Failed, Refused};
use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::report::{ConflictReport, Report, excerpt, whole_lines};
use slipstitch_text::Span;
use slipstitch_text::display::join_items;

/// How many changes are listed.
const MAX_CHANGES: usize = 10;

/// A place that was changed again after the change to undo.
pub(super) struct Conflict<'a> {
    /// The change to undo.
    pub(super) id: ChangeId,
    /// The file.
    pub(super) path: &'a FilePath,
    /// The changes that changed it again; empty for a foreign change.
    pub(super) by: Vec<ChangeId>,
    /// The text after the change, and the place in it.
    pub(super) left: (&'a [u8], Span),
    /// The current text, and the place in it.
    pub(super) now: (&'a [u8], Span),
}

impl Conflict<'_> {
    pub(super) fn report(self) -> Report {
        let (left, now) = (whole_lines(self.left.0, self.left.1), whole_lines(self.now.0, self.now.1));
        let line = memchr::memchr_iter(b'\n', &self.now.0[..now.start()]).count() + 1;
        let conflict = ConflictReport {
            path: self.path.clone(),
            change: Some(self.id),
            proposal: None,
            expected: None,
            by: self.by,
            line,
            left: excerpt(left.of(self.left.0)),
            now: excerpt(now.of(self.now.0)),
        };
        conflict_report(self.id, conflict)
    }
}

/// The refusal for a place that was changed again.
pub(super) fn conflict_report(id: ChangeId, conflict: ConflictReport) -> Report {
    let path = &conflict.path;
    let message = format!(
        "`{path}` was changed after {id} in the same place, by {}, so undoing {id} would lose that change",
        describe_changes(&conflict.by)
    );
    let mut report = refusal(message, &hint_to_undo_first(&conflict.by));
    report.conflicts.push(conflict);
    report
}

/// The changes that changed a file, for a message.
fn describe_changes(by: &[ChangeId]) -> String {
    match by {
        [] => "something outside Slipstitch".into(),
        [first, .., last] if by.len() > MAX_CHANGES => format!("{} changes, {first} to {last}", by.len()),
        ids => join_items(ids),
    }
}

fn hint_to_undo_first(by: &[ChangeId]) -> String {
    match by {
        [] => "Edit the file instead.".into(),
        [.., last] if by.len() > MAX_CHANGES => {
            format!("Undo those first, beginning with {last}, or edit the file instead.")
        }
        ids => format!("Undo {} first, or edit the file instead.", join_items(ids.iter().rev())),
    }
}

fn refusal(message: String, hint: &str) -> Report {
    Report::new(Refused::ChangedSince, message).hint(format!("Nothing was written. {hint}"))
}

/// The change created the file, and the file was changed since.
pub(super) fn created_and_changed(id: ChangeId, path: &FilePath, by: &[ChangeId]) -> Report {
    let message = format!(
        "`{path}` was changed after {id}, which created it, by {}: undoing {id} would delete the file and lose that change",
        describe_changes(by)
    );
    let hint = match by {
        [] => "If you don't need its content, delete the file.".into(),
        _ => hint_to_undo_first(by),
    };
    refusal(message, &hint)
}

/// A recorded change deleted the file.
pub(super) fn deleted(id: ChangeId, path: &FilePath, by: Option<ChangeId>) -> Report {
    let by: Vec<ChangeId> = by.into_iter().collect();
    let message =
        format!("`{path}` was deleted after {id} by {}, so {id} cannot be undone", describe_changes(&by));
    refusal(message, &hint_to_undo_first(&by))
}

/// The file is missing, and no recorded change deleted it.
pub(super) fn missing(id: ChangeId, path: &FilePath) -> Report {
    let message =
        format!("`{path}` no longer exists: it was deleted or renamed after {id}, outside Slipstitch");
    refusal(message, "Restore the file under that name and try again.")
}

/// A later change moved the file.
pub(super) fn moved(id: ChangeId, from: &FilePath, to: &FilePath) -> Report {
    let message = format!("`{from}` was moved to `{to}` after {id}, so {id} cannot be undone");
    refusal(message, "Undo the later move first (see the log).")
}

/// Another file exists where one would be restored.
pub(super) fn in_the_way(path: &FilePath) -> Report {
    let message = format!("another file now exists at `{path}`, where the old one would be restored");
    refusal(message, "Move or delete that file first.")
}

/// The record does not lead to the recorded content.
pub(super) fn damaged(path: &FilePath) -> Report {
    let message = format!("the journal's record is damaged: it would not restore `{path}`");
    Report::new(Failed::Journal, message).hint("Nothing was written. Restore the file by other means.")
}

/// The file is private, and another process made the change.
pub(super) fn withheld(id: ChangeId, path: &FilePath) -> Report {
    let message = format!(
        "{id} cannot be undone: `{path}` is private, so its text was kept only by the process that made the change"
    );
    Report::new(Refused::PrivateText, message)
        .hint("Nothing was written. Restore the file by other means. `private` and `private_except` in `[journal]` say which files are private.")
}
