//! Operations on a file as a whole.

use super::error::Reason;
use super::place::in_order;
use super::text::parts;
use crate::change::{Base, FileChange, LineTotals, Lines, PathChange, Place, PlacedEdit, Rung};
use crate::path::FilePath;
use crate::plan::{IfMissing, NewlineStyle, Operation};
use crate::snapshot::Snapshot;
use slipstitch_text::{ContentHash, canonical};
use slipstitch_text::{Span, Splice, Splices};

/// Whether an operation is about the file as a whole.
pub(super) fn is_whole(operation: &Operation) -> bool {
    match operation {
        Operation::Create { .. }
        | Operation::Overwrite { .. }
        | Operation::Fill { .. }
        | Operation::Delete => true,
        Operation::Replace { .. }
        | Operation::ReplaceAt { .. }
        | Operation::ReplaceLines { .. }
        | Operation::InsertLines { .. }
        | Operation::Append { .. }
        | Operation::Prepend { .. }
        | Operation::Hunk(_)
        | Operation::Move { .. }
        | Operation::SetExecutable(_) => false,
    }
}

/// Resolves such an operation.
pub(super) fn resolve(
    operation: &Operation,
    path: &FilePath,
    snapshot: Option<&Snapshot>,
    edit: usize,
) -> Result<FileChange, Reason> {
    match (operation, snapshot) {
        (Operation::Create { content } | Operation::Fill { content }, None) => {
            Ok(create(path, edit, content))
        }
        (Operation::Fill { content }, Some(snapshot)) if snapshot.text().is_empty() => {
            overwrite(path, edit, content, snapshot)
        }
        (Operation::Create { .. } | Operation::Fill { .. }, Some(_)) => {
            Err(Reason::FileExists { path: path.clone() })
        }
        (Operation::Overwrite { content, .. }, Some(snapshot)) => overwrite(path, edit, content, snapshot),
        (Operation::Overwrite { content, if_missing: IfMissing::Create }, None) => {
            Ok(create(path, edit, content))
        }
        (Operation::Overwrite { if_missing: IfMissing::Fail, .. } | Operation::Delete, None) => {
            Err(Reason::FileMissing)
        }
        (Operation::Delete, Some(snapshot)) => Ok(delete(path, edit, snapshot)),
        _ => Err(Reason::NotAlone),
    }
}

/// The file at `to` with the content that a change makes of another file.
pub(super) fn moved_over(
    change: &FileChange,
    to: &FilePath,
    source: &Snapshot,
    target: &Snapshot,
) -> FileChange {
    let length = target.bytes().len();
    let content = change.splices.apply(source.bytes());
    let splices = Splices::one(length, Span::new(0, length), content);
    FileChange {
        path: to.clone(),
        base: Base::Content(target.hash()),
        path_change: PathChange::Keep,
        after: change.after,
        splices,
        mode: target.meta().mode,
        executable: None,
        edits: Vec::new(),
        notes: vec![format!("`{to}` was there before; `{}` took its place", change.path)],
        totals: change.totals.map(|totals| LineTotals { before: target.line_count(), ..totals }),
    }
}

fn create(path: &FilePath, edit: usize, content: &str) -> FileChange {
    FileChange {
        path: path.clone(),
        base: Base::Absent,
        path_change: PathChange::Keep,
        splices: Splices::one(0, Span::new(0, 0), content.into()),
        after: Some(ContentHash::of(content.as_bytes())),
        mode: None,
        executable: None,
        edits: vec![covers(edit, 0, lines_of(content))],
        notes: Vec::new(),
        totals: Some(LineTotals { before: 0, after: lines_of(content) }),
    }
}

/// The file is gone.
pub(super) fn delete(path: &FilePath, edit: usize, snapshot: &Snapshot) -> FileChange {
    let length = snapshot.bytes().len();
    FileChange {
        path: path.clone(),
        base: Base::Content(snapshot.hash()),
        path_change: PathChange::Delete,
        splices: Splices::one(length, Span::new(0, length), Vec::new()),
        after: None,
        mode: snapshot.meta().mode,
        executable: None,
        edits: vec![covers(edit, snapshot.line_count(), 0)],
        notes: Vec::new(),
        totals: Some(LineTotals { before: snapshot.line_count(), after: 0 }),
    }
}

/// Other content for a file that is there: in its encoding, after its byte order mark, with its
/// newlines. Lines that stay keep their bytes, so that a mixed file does not lose its mixture.
fn overwrite(path: &FilePath, edit: usize, content: &str, snapshot: &Snapshot) -> Result<FileChange, Reason> {
    let length = snapshot.bytes().len();
    let mut notes = Vec::new();
    let splices = if snapshot.is_binary() {
        notes.push("the file was binary; it was replaced as a whole by UTF-8 text".into());
        Splices::one(length, Span::new(0, length), content.into())
    } else {
        // A new text may bring the byte order mark that the file has anyway.
        let content = content.strip_prefix('\u{feff}').filter(|_| snapshot.has_bom()).unwrap_or(content);
        let content = canonical(content);
        if snapshot.newlines() != Default::default() && content.contains('\n') {
            let kept = snapshot.newlines().dominant();
            if kept != slipstitch_text::Newline::Lf {
                notes.push(format!("the file's line ends ({}) were kept", kept.name()));
            }
        }
        let list = parts(Span::new(0, snapshot.text().len()), &content, NewlineStyle::Dominant, snapshot)?
            .into_iter()
            .map(|part| {
                let at = snapshot
                    .raw_span(Span::new(part.old.start, part.old.end))
                    .ok_or(Reason::SplitsCharacter)?;
                Ok(Splice { at, insert: part.insert })
            })
            .collect::<Result<_, Reason>>()?;
        match in_order(list, snapshot) {
            Err(Reason::JoinsNewlines) => {
                let text = Span::new(snapshot.text_start(), length);
                Splices::one(length, text, snapshot.encode(&content)?)
            }
            result => result?,
        }
    };
    Ok(FileChange {
        path: path.clone(),
        base: Base::Content(snapshot.hash()),
        path_change: PathChange::Keep,
        after: Some(splices.hash_after(snapshot.bytes())),
        splices,
        mode: snapshot.meta().mode,
        executable: None,
        edits: vec![covers(edit, snapshot.line_count(), lines_of(content))],
        notes,
        totals: Some(LineTotals { before: snapshot.line_count(), after: lines_of(content) }),
    })
}

fn covers(edit: usize, before: usize, after: usize) -> PlacedEdit {
    let lines = |count| Lines { start: 1, count };
    let places = vec![Place { before: lines(before), after: lines(after) }];
    PlacedEdit { edit, rung: Rung::Stated, differences: Vec::new(), occurrences: 1, places }
}

fn lines_of(content: &str) -> usize {
    slipstitch_text::lines(&canonical(content)).count()
}
