//! Reduces a proposed change to the hunks that are accepted, with the reviewer's text where they were edited.

use super::refusals::{cannot_edit_hunk, cannot_select_hunks};
use super::verdict::ResolvedVerdict;
use crate::change::{Base, ChangeSet, FileChange, LineTotals, Lines, Place, PlacedEdit, Rung};
use crate::ports::journal::ProposalId;
use crate::report::{HunkChange, Report, changes_by_hunk};
use crate::snapshot::{Snapshot, Snapshots};
use slipstitch_text::{Span, Splice, Splices};

/// A change with only the hunks that are accepted, as they were accepted.
pub(super) fn select_hunks(
    id: ProposalId,
    changes: ChangeSet,
    snapshots: &Snapshots,
    context: usize,
    verdict: &ResolvedVerdict,
) -> Result<ChangeSet, Report> {
    let mut next = 1;
    let mut files = Vec::new();
    for file in changes.files().iter().filter(|file| !file.is_empty()) {
        let snapshot = snapshots.get(&file.path);
        let hunks = changes_by_hunk(file, snapshot, context);
        let first = next;
        next += hunks.as_ref().map_or(1, Vec::len);
        let is_changed = |number: &usize| verdict.is_left_out(*number) || verdict.edited.contains_key(number);
        if !(first..next).any(|number| is_changed(&number)) {
            files.push(file.clone());
            continue;
        }
        match (hunks, snapshot) {
            (Some(hunks), Some(snapshot)) => {
                let mut kept = Vec::new();
                for (number, hunk) in
                    (first..next).zip(hunks).filter(|(number, _)| !verdict.is_left_out(*number))
                {
                    kept.extend(match verdict.edited.get(&number) {
                        Some(text) => edit_hunk(&hunk, text, snapshot)
                            .map_err(|problem| cannot_edit_hunk(id, number, &problem))?,
                        None => Some(hunk),
                    });
                }
                files.extend(keep_hunks(file, snapshot.bytes(), kept));
            }
            _ if verdict.is_left_out(first) => {}
            _ => {
                let text = verdict.edited.get(&first).map_or("", String::as_str);
                let edited = edit_created_file(file, text);
                files.push(edited.map_err(|problem| cannot_edit_hunk(id, first, problem))?);
            }
        }
    }
    // A truncated diff shows fewer hunks than there are.
    if next - 1 != verdict.count || files.is_empty() {
        return Err(cannot_select_hunks(id));
    }
    ChangeSet::new(files).map_err(|_| cannot_select_hunks(id))
}

/// A hunk whose lines get another text; `None` if that is the text they have.
fn edit_hunk(hunk: &HunkChange, text: &str, snapshot: &Snapshot) -> Result<Option<HunkChange>, String> {
    let Lines { start, count } = hunk.lines;
    let lines = match count {
        0 if start > snapshot.line_count() => {
            let end = snapshot.text().len();
            Span::new(end, end)
        }
        0 => {
            let at = snapshot.line_span(start).start();
            Span::new(at, at)
        }
        _ => {
            let end = match start + count > snapshot.line_count() {
                true => snapshot.text().len(),
                false => snapshot.line_span(start + count).start(),
            };
            Span::new(snapshot.line_span(start).start(), end)
        }
    };
    // Editors and forms drop the last newline; only the end of a file may lack one.
    let at_end = lines.end() == snapshot.text().len();
    let needs_newline =
        !text.is_empty() && !text.ends_with('\n') && (!at_end || snapshot.ends_with_newline());
    let text = if needs_newline { format!("{text}\n") } else { text.to_owned() };
    let raw = snapshot.raw_span(lines).ok_or("its place is inside a character")?;
    let insert = snapshot.encode_at(&text, lines).map_err(|error| error.to_string())?;
    if *raw.of(snapshot.bytes()) == *insert {
        return Ok(None);
    }
    let added = text.split_inclusive('\n').count();
    let growth = added as isize - count as isize;
    Ok(Some(HunkChange {
        splices: vec![Splice { at: raw, insert: insert.into() }],
        lines: hunk.lines,
        growth,
    }))
}

/// A created file with another text. Other files that have no separate hunks cannot be edited.
fn edit_created_file(file: &FileChange, text: &str) -> Result<FileChange, &'static str> {
    if file.base != Base::Absent {
        return Err("it deletes, moves or changes the mode of a whole file");
    }
    let splices = Splices::one(0, Span::new(0, 0), text.as_bytes().to_vec());
    let lines = text.split_inclusive('\n').count();
    let place = Place { before: Lines { start: 1, count: 0 }, after: Lines { start: 1, count: lines } };
    Ok(FileChange {
        after: Some(splices.hash_after(&[])),
        splices,
        edits: vec![PlacedEdit {
            edit: 1,
            rung: Rung::Stated,
            differences: Vec::new(),
            occurrences: 1,
            places: vec![place],
        }],
        totals: Some(LineTotals { before: 0, after: lines }),
        ..file.clone()
    })
}

/// The change of a file reduced to some of its hunks; `None` if there are none.
fn keep_hunks(file: &FileChange, before: &[u8], hunks: Vec<HunkChange>) -> Option<FileChange> {
    let mut growth = 0isize;
    let mut places = Vec::new();
    for HunkChange { lines, growth: added, .. } in &hunks {
        let after = Lines {
            start: lines.start.saturating_add_signed(growth),
            count: lines.count.saturating_add_signed(*added),
        };
        places.push(Place { before: *lines, after });
        growth += added;
    }
    let occurrences = places.len();
    places.truncate(PlacedEdit::MAX_PLACES);
    let mut differences: Vec<_> = file.edits.iter().flat_map(|edit| edit.differences.clone()).collect();
    differences.sort_unstable();
    differences.dedup();
    let rung = file.edits.iter().map(|edit| edit.rung).max().unwrap_or(Rung::Stated);
    let splices = hunks.into_iter().flat_map(|hunk| hunk.splices).collect::<Vec<_>>();
    if splices.is_empty() {
        return None;
    }
    let splices = Splices::new(before.len(), splices).ok()?;
    Some(FileChange {
        after: Some(splices.hash_after(before)),
        splices,
        edits: vec![PlacedEdit { edit: 1, rung, differences, occurrences, places }],
        totals: file.totals.map(|LineTotals { before, .. }| LineTotals {
            before,
            after: before.saturating_add_signed(growth),
        }),
        ..file.clone()
    })
}
