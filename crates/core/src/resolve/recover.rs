//! Finding old text that is not quite what the file has, where the place is beyond doubt.

use super::{edges, indentation};
use crate::change::{Rung, Span};
use crate::snapshot::Snapshot;

/// A place that was found, and the new text made to fit it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) rung: Rung,
    /// In the searchable text.
    pub(super) at: Span,
    /// What is to stand there, canonical.
    pub(super) new: String,
    /// What was different, in a few words.
    pub(super) how: String,
}

/// What a rung has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Nothing like it by this rung.
    Nothing,
    /// One place.
    One(Found),
    /// Several, by the lines they start in. A looser rung would only match more.
    Several(Vec<usize>),
}

/// A way to look: canonical old and new text, the part of the view to look in.
type Look = fn(&str, &str, Span, &Snapshot) -> Attempt;

/// Strictest first. The order is behaviour: changing it needs a decision record.
const LADDER: &[Look] = &[indentation::look, edges::look];

/// Descends the ladder until a rung has something to say.
pub(super) fn recover(old: &str, new: &str, within: Span, snapshot: &Snapshot) -> Attempt {
    for look in LADDER {
        let attempt = look(old, new, within, snapshot);
        if attempt != Attempt::Nothing {
            return attempt;
        }
    }
    Attempt::Nothing
}
