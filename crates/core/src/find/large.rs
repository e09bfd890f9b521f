//! Large files: what to search for while such a file is scanned, so that it need not be read into memory.

use super::limits::{MAX_SCANNED_TEXT_BYTES, MAX_SCANNED_TEXTS};
use super::search::{Hits, Needle, hits_at, search};
use crate::plan::{Batch, EditRules, FilePlan, Operation, Which};
use crate::snapshot::Snapshot;
use slipstitch_text::{Newline, canonical, convert_newlines};

/// The texts to search for while a large file is scanned for a plan. `None` if the plan needs the file in memory: only exact
/// snippets and stated places can do without.
pub(crate) fn searched_texts(file: &FilePlan, rules: EditRules) -> Option<Vec<String>> {
    if rules.batch != Batch::Original && file.operations.len() > 1 {
        return None;
    }
    let mut texts = Vec::new();
    for operation in &file.operations {
        match operation {
            Operation::Replace { old, which: Which::Unique, .. } => {
                let old = canonical(old).into_owned();
                // Which line endings the file has is known only after the scan.
                texts.extend(old.contains('\n').then(|| convert_newlines(&old, Newline::CrLf).into_owned()));
                texts.push(old);
            }
            Operation::ReplaceLines { .. }
            | Operation::InsertLines { .. }
            | Operation::Append { .. }
            | Operation::Prepend { .. }
            | Operation::SetExecutable(_)
            | Operation::Move { .. } => {}
            _ => return None,
        }
    }
    let is_searchable = |text: &String| !text.is_empty() && text.len() <= MAX_SCANNED_TEXT_BYTES;
    (texts.len() <= MAX_SCANNED_TEXTS && texts.iter().all(is_searchable)).then_some(texts)
}

/// Finds all needles in a file. What its scan has found is not searched for again.
pub(super) fn search_file(snapshot: &Snapshot, needles: &[Needle<'_>]) -> Vec<Hits> {
    let known = |needle: &Needle<'_>| {
        let starts = snapshot.known_matches(std::str::from_utf8(needle.text).ok()?)?;
        Some(hits_at(starts, needle))
    };
    match needles.iter().map(known).collect() {
        Some(hits) => hits,
        None => search(snapshot.text(), needles),
    }
}
