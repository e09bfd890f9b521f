//! Transport damage: what a request means once line numbers, fences, escapes and the like are removed. Only tried if
//! the text as sent has no exact match.

mod entities;
mod escapes;
mod fence;
mod line_numbers;
mod markers;

use std::collections::HashSet;

use crate::change::DifferenceKind;

/// A request with some transport damage removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interpretation {
    pub(crate) old: String,
    pub(crate) new: String,
    /// What was removed.
    pub(crate) classes: Vec<DifferenceKind>,
}

/// Removes one kind of damage from old and new text; `None` if there is none.
type Repair = fn(&str, &str) -> Option<(String, String)>;

/// From the outside in: a fence is put around lines that are already numbered.
const REPAIRS: &[(DifferenceKind, Repair)] = &[
    (DifferenceKind::Escapes, escapes::repair),
    (DifferenceKind::Fence, fence::repair),
    (DifferenceKind::DiffMarkers, markers::repair),
    (DifferenceKind::LineNumbers, line_numbers::repair),
    (DifferenceKind::Entities, entities::repair),
];

/// The request as sent, followed by every interpretation of it, fewest repairs first.
pub(crate) fn interpretations(old: &str, new: &str) -> Vec<Interpretation> {
    let mut all = vec![Interpretation { old: old.into(), new: new.into(), classes: Vec::new() }];
    for (class, repair) in REPAIRS {
        let more: Vec<Interpretation> = all
            .iter()
            .filter_map(|interpretation| {
                let (old, new) = repair(&interpretation.old, &interpretation.new)?;
                let classes = interpretation.classes.iter().copied().chain([*class]).collect();
                let is_whole = !old.trim().is_empty() && !leaves_damage(interpretation, &old, &new);
                is_whole.then_some(Interpretation { old, new, classes })
            })
            .collect();
        all.extend(more);
    }
    all.sort_by_key(|interpretation| interpretation.classes.len());
    all
}

/// Old and new text without what was put around their lines, in every way that they can be read; empty if there is nothing.
pub(crate) fn repaired_texts(old: &str, new: &str) -> Vec<(String, String)> {
    let repaired = interpretations(old, new).into_iter().skip(1);
    let keeps_lines = |reading: &Interpretation| !reading.classes.contains(&DifferenceKind::Escapes);
    repaired.filter(keeps_lines).map(|reading| (reading.old, reading.new)).collect()
}

/// Whether a line that both texts share was repaired in the old text only. The damaged line would be written to the file.
fn leaves_damage(sent: &Interpretation, old: &str, new: &str) -> bool {
    if sent.old.split('\n').count() != old.split('\n').count() {
        return false;
    }
    let kept: HashSet<&str> = new.split('\n').collect();
    let mut lines = sent.old.split('\n').zip(old.split('\n'));
    lines.any(|(sent, repaired)| sent != repaired && kept.contains(sent))
}

/// Strips something from every line; `None` if one line lacks it.
fn strip_each_line(text: &str, mut take: impl FnMut(&str) -> Option<String>) -> Option<String> {
    let lines: Option<Vec<String>> = text.split('\n').map(&mut take).collect();
    lines.map(|lines| lines.join("\n"))
}

/// Splits off the final newline: `a\n` is one line, not a line and an empty one.
fn split_last_newline(text: &str) -> (&str, &str) {
    text.strip_suffix('\n').map_or((text, ""), |body| (body, "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_line_is_repaired_in_both_texts_or_in_neither() {
        let repaired = |old: &str, new: &str| {
            interpretations(old, new).into_iter().skip(1).map(|one| one.new).collect::<Vec<_>>()
        };
        let old = "say(\\\"a\\\");\nrun(1);";
        assert_eq!(repaired(old, "say(\\\"a\\\");\nrun(2);"), ["say(\"a\");\nrun(2);"]);
        // The plain quote shows that the new text is not escaped, but it repeats an escaped line.
        assert!(repaired(old, "say(\\\"a\\\");\nrun(\"b\");").is_empty());
    }
}
