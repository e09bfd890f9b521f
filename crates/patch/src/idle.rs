//! Drops the parts of a patch that change nothing.
//!
//! Models add hunks that only repeat context, or remove a line and add it again. Their lines are
//! often not in the file, and failing a patch because of a hunk without effect helps nobody. Of a
//! file without any effective change, one idle part is kept, so that the patch still names the file
//! and the answer can say that there is nothing to change.

use std::collections::HashMap;

use super::source::Notes;
use super::{Action, FilePatch, PatchError};
use crate::hunk::Hunk;

/// The note about a hunk that was dropped.
pub(super) const DROPPED: &str = "dropped a hunk that changes nothing";

/// Drops the sections that change nothing of files that have another section.
pub(super) fn drop_sections(
    sections: Vec<FilePatch>,
    notes: &mut Notes,
) -> Result<Vec<FilePatch>, PatchError> {
    if !sections.iter().any(is_idle) {
        return Ok(sections);
    }
    let mut has_kept: HashMap<Option<String>, bool> = HashMap::new();
    for section in &sections {
        *has_kept.entry(section.path.clone()).or_default() |= !is_idle(section);
    }
    let mut kept = Vec::with_capacity(sections.len());
    for section in sections {
        let others = has_kept.entry(section.path.clone()).or_default();
        if is_idle(&section) && std::mem::replace(others, true) {
            if notes.keeps_idle_hunks() {
                kept.push(section);
                continue;
            }
            notes.repair(section.line.saturating_sub(1), DROPPED)?;
            continue;
        }
        if is_idle(&section) {
            notes.remark(section.line.saturating_sub(1), "the changes to this file leave it as it is");
        }
        kept.push(section);
    }
    Ok(kept)
}

/// Whether a section leaves its file as it is.
fn is_idle(section: &FilePatch) -> bool {
    match &section.action {
        Action::Update { hunks, move_to: None, executable: None } => hunks.iter().all(Hunk::changes_nothing),
        // A block without search text fills an empty file.
        Action::Replace { blocks } => {
            blocks.iter().all(|block| block.search == block.replace && !block.search.is_empty())
        }
        Action::Create { .. } | Action::Delete { .. } | Action::Update { .. } => false,
    }
}
