//! Operations on whole files.

use super::combine::ordered_splices;
use super::diagnosis::{AppliedForm, Diagnosis};
use super::error::Reason;
use super::resolved_edit::diff_parts;
use crate::change::{Base, FileChange, LineTotals, Lines, PathChange, Place, PlacedEdit, Rung};
use crate::path::FilePath;
use crate::plan::{EditRules, IfAlreadyApplied, IfMissing, NewlineStyle, Operation};
use crate::snapshot::Snapshot;
use slipstitch_text::{ContentHash, canonical};
use slipstitch_text::{Span, Splice, Splices};

/// Whether an operation concerns the whole file.
pub(super) fn is_whole(operation: &Operation) -> bool {
    match operation {
        Operation::Create { .. }
        | Operation::Overwrite { .. }
        | Operation::Fill { .. }
        | Operation::Delete => true,
        Operation::Replace { .. }
        | Operation::ReplaceAt { .. }
        | Operation::HunkAt { .. }
        | Operation::ReplaceLines { .. }
        | Operation::InsertLines { .. }
        | Operation::Append { .. }
        | Operation::Prepend { .. }
        | Operation::Hunk(_)
        | Operation::Sketch(_)
        | Operation::Cell(_)
        | Operation::Move { .. }
        | Operation::SetExecutable(_) => false,
    }
}

/// Resolves a whole-file operation.
pub(super) fn resolve(
    operation: &Operation,
    path: &FilePath,
    snapshot: Option<&Snapshot>,
    edit: usize,
    rules: EditRules,
) -> Result<FileChange, Reason> {
    match (operation, snapshot) {
        (Operation::Create { content } | Operation::Fill { content }, None) => {
            Ok(create(path, edit, content))
        }
        (Operation::Fill { content }, Some(snapshot)) if snapshot.text_len() == 0 => {
            overwrite(path, edit, content, snapshot)
        }
        (Operation::Create { content } | Operation::Fill { content }, Some(snapshot))
            if has_content(content, snapshot) && rules.if_already_applied == IfAlreadyApplied::Succeed =>
        {
            Err(Reason::AlreadyApplied(Diagnosis::of_applied_file(AppliedForm::Creation)))
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

/// Whether a file has this content, apart from the kind of line endings.
fn has_content(content: &str, snapshot: &Snapshot) -> bool {
    !snapshot.is_binary() && snapshot.text() == snapshot.needle(&canonical(content)).as_bytes()
}

/// Replaces the file at `to` with the result of a change to another file.
pub(super) fn replace_by_move(
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
        restore: Default::default(),
        edits: Vec::new(),
        notes: vec![format!("`{to}` already existed and was replaced with `{}`", change.path)],
        totals: change.totals.map(|totals| LineTotals { before: target.line_count(), ..totals }),
    }
}

fn create(path: &FilePath, edit: usize, content: &str) -> FileChange {
    let lines = count_lines(&canonical(content));
    FileChange {
        path: path.clone(),
        base: Base::Absent,
        path_change: PathChange::Keep,
        splices: Splices::one(0, Span::new(0, 0), content),
        after: Some(ContentHash::of(content.as_bytes())),
        mode: None,
        executable: None,
        restore: Default::default(),
        edits: vec![covers_file(edit, 0, lines)],
        notes: Vec::new(),
        totals: Some(LineTotals { before: 0, after: lines }),
    }
}

/// Deletes a file.
pub(super) fn delete(path: &FilePath, edit: usize, snapshot: &Snapshot) -> FileChange {
    let length = snapshot.byte_len();
    FileChange {
        path: path.clone(),
        base: Base::Content(snapshot.hash()),
        path_change: PathChange::Delete,
        splices: Splices::one(length, Span::new(0, length), Vec::new()),
        after: None,
        mode: snapshot.meta().mode,
        executable: None,
        restore: Default::default(),
        edits: vec![covers_file(edit, snapshot.line_count(), 0)],
        notes: Vec::new(),
        totals: Some(LineTotals { before: snapshot.line_count(), after: 0 }),
    }
}

/// Replaces the content of an existing file, keeping its encoding, byte order mark and line endings. Unchanged lines
/// keep their bytes, so a file with mixed line endings stays mixed.
fn overwrite(path: &FilePath, edit: usize, content: &str, snapshot: &Snapshot) -> Result<FileChange, Reason> {
    let length = snapshot.bytes().len();
    let mut notes = Vec::new();
    let canonical_content = canonical(content);
    let lines = count_lines(&canonical_content);
    let splices = if snapshot.is_binary() {
        notes.push("the file was binary; all of it was replaced with UTF-8 text".into());
        Splices::one(length, Span::new(0, length), content)
    } else {
        // The new text may repeat the byte order mark that the file already has.
        let content = &*canonical_content;
        let content = content.strip_prefix('\u{feff}').filter(|_| snapshot.has_bom()).unwrap_or(content);
        if snapshot.newlines() != Default::default() && content.contains('\n') {
            let kept = snapshot.newlines().dominant();
            if kept != slipstitch_text::Newline::Lf {
                notes.push(format!("the file's line endings ({}) were kept", kept.name()));
            }
        }
        let list =
            diff_parts(Span::new(0, snapshot.text().len()), content, NewlineStyle::Dominant, snapshot)?
                .into_iter()
                .map(|part| {
                    let at = snapshot
                        .raw_span(Span::new(part.old.start, part.old.end))
                        .ok_or(Reason::SplitsCharacter)?;
                    Ok(Splice { at, insert: part.insert })
                })
                .collect::<Result<_, Reason>>()?;
        match ordered_splices(list, snapshot) {
            Err(Reason::JoinsNewlines) => {
                let text = Span::new(snapshot.text_start(), length);
                Splices::one(length, text, snapshot.encode(content)?)
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
        restore: Default::default(),
        edits: vec![covers_file(edit, snapshot.line_count(), lines)],
        notes,
        totals: Some(LineTotals { before: snapshot.line_count(), after: lines }),
    })
}

fn covers_file(edit: usize, before: usize, after: usize) -> PlacedEdit {
    let lines = |count| Lines { start: 1, count };
    let places = vec![Place { before: lines(before), after: lines(after) }];
    PlacedEdit { edit, rung: Rung::Stated, differences: Vec::new(), occurrences: 1, places }
}

/// The number of lines of a canonical text.
fn count_lines(canonical: &str) -> usize {
    let newlines = memchr::memchr_iter(b'\n', canonical.as_bytes()).count();
    newlines + usize::from(!canonical.is_empty() && !canonical.ends_with('\n'))
}
