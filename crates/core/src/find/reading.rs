//! Damage on the way: what a request says once line numbers, fences, escapes and the like are taken off. Only
//! tried where the text as it was sent is nowhere.

mod entities;
mod escapes;
mod fence;
mod line_numbers;
mod markers;

use crate::change::DifferenceKind;

/// A request as it may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) old: String,
    pub(super) new: String,
    /// What was taken off.
    pub(super) classes: Vec<DifferenceKind>,
}

/// Takes one kind of damage off old and new text; `None` if there is none.
type Mend = fn(&str, &str) -> Option<(String, String)>;

/// From the outside in: a fence is put around what a reader numbered.
const MENDS: &[(DifferenceKind, Mend)] = &[
    (DifferenceKind::Escapes, escapes::mend),
    (DifferenceKind::Fence, fence::mend),
    (DifferenceKind::DiffMarkers, markers::mend),
    (DifferenceKind::LineNumbers, line_numbers::mend),
    (DifferenceKind::Entities, entities::mend),
];

/// The request as it was sent, and then every way to read it.
pub(super) fn readings(old: &str, new: &str) -> Vec<Reading> {
    let mut all = vec![Reading { old: old.into(), new: new.into(), classes: Vec::new() }];
    for (class, mend) in MENDS {
        let more: Vec<Reading> = all
            .iter()
            .filter_map(|reading| {
                let (old, new) = mend(&reading.old, &reading.new)?;
                let classes = reading.classes.iter().copied().chain([*class]).collect();
                (!old.trim().is_empty()).then_some(Reading { old, new, classes })
            })
            .collect();
        all.extend(more);
    }
    all.sort_by_key(|reading| reading.classes.len());
    all
}

/// Takes something off every line; `None` if one line lacks it.
fn each_line(text: &str, mut take: impl FnMut(&str) -> Option<String>) -> Option<String> {
    let lines: Option<Vec<String>> = text.split('\n').map(&mut take).collect();
    lines.map(|lines| lines.join("\n"))
}

/// Whether the texts before a text's last newline and after it are apart: `a\n` is one line and an empty rest.
fn without_last_newline(text: &str) -> (&str, &str) {
    text.strip_suffix('\n').map_or((text, ""), |body| (body, "\n"))
}
