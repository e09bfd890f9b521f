//! Where `edit_file` deliberately refuses what its document would apply: text could be changed that the caller does not mean.

use super::model::{Edit, count};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deviation {
    /// The text overlaps itself, so which of the places is meant is unknown: `aa` in `aaa`.
    Overlap,
    /// `replace_all` would also replace text that an earlier edit of the batch wrote, or miss some that it removed.
    Recount,
}

/// Whether an occurrence starts inside another one.
pub(crate) fn overlaps_itself(text: &str, old: &str) -> bool {
    let starts = |at: &usize| text.is_char_boundary(*at) && text[*at..].starts_with(old);
    (0..text.len()).filter(starts).count() > count(text, old)
}

/// Why edits that the document applies are refused.
pub(crate) fn find(text: &str, edits: &[Edit]) -> Option<Deviation> {
    if edits.iter().any(|edit| overlaps_itself(text, &edit.old)) {
        return Some(Deviation::Overlap);
    }
    let mut now = text.to_owned();
    for edit in edits {
        if overlaps_itself(&now, &edit.old) {
            return Some(Deviation::Overlap);
        }
        if edit.all && count(text, &edit.old) != count(&now, &edit.old) {
            return Some(Deviation::Recount);
        }
        now = now.replace(&edit.old, &edit.new);
    }
    None
}

#[test]
fn deviations_are_recognized() {
    let edit = |old: &str, new: &str, all| Edit { old: old.into(), new: new.into(), all };
    assert_eq!(find("aaa\n", &[edit("aa", "b", false)]), Some(Deviation::Overlap));
    assert_eq!(find("aab\n", &[edit("aa", "b", false)]), None);
    assert_eq!(find("ab\n", &[edit("b", "aa", false), edit("aa", "c", false)]), Some(Deviation::Overlap));
    assert_eq!(find("a b\n", &[edit("a", "b", false), edit("b", "c", true)]), Some(Deviation::Recount));
    assert_eq!(find("a b\n", &[edit("a", "x", false), edit("b", "c", true)]), None);
}
