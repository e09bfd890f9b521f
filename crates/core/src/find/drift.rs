//! Drift: context lines that differ from the file's, or that only one of the two has. Every removed line must match.
//!
//! The text alone cannot tell a stale quotation from a twin: a function that was removed and one that resembles it look
//! exactly like a function that was edited. So on text alone a context line may only differ by a slip of the pen, which a
//! known word never is (see [`slip`](super::slip)), and the place must be ahead of every other by nearly a whole line.
//!
//! The margin is in lines because near-twins differ by about a line. Given two functions that share all but one line, a
//! request with one typo resembles both: a high similarity shows that *one of them* was meant, but not which.

mod chain;
mod window;

use std::collections::HashSet;

use window::{Anchor, Exactness, Window, best_windows, script_anchors};

use super::alignment::{Alignment, indent};
use super::heading;
use super::limits::{
    EXACT_LINES_PER_GAP, EXACT_LINES_PER_REWRITTEN, MARGIN, MARGIN_AT_STATED_LINE, MAX_REWRITTEN_PARAGRAPHS,
    MAX_SWAPPED_WORDS, MIN_LINES, MIN_PINNING_LETTERS, MIN_SCORE, MIN_VERY_CLOSE,
};
use super::outline::{self, EnclosingRows};
use super::punctuation::{is_distinctive, letters, line_key};
use super::script::{Role, Script};
use super::search_index::{SearchIndex, squashed_hash};
use super::slip::{self, Judgement};
use crate::change::Lines;

/// The result of the search.
pub(super) enum DriftMatch {
    /// No place that is close enough.
    None,
    /// One place, clearly ahead of all others.
    One(Alignment),
    /// Several places that are about as close.
    Ambiguous(Vec<Lines>),
}

/// What is known about the place besides the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Nothing.
    TextAlone,
    /// The request says that it starts at this line.
    StatedLine(usize),
    /// The caller looked at the searched lines and chose them: context lines may differ freely.
    Chosen,
}

/// A place that resembles a request.
pub(super) struct ClosePlace {
    pub(super) alignment: Alignment,
    /// How similar its lines are to the request's, from 0 to 1.
    pub(super) similarity: f64,
    /// How similar the least similar removed line is; 1 if none is removed.
    pub(super) removed_similarity: f64,
    /// Whether every added line replaces a removed one, or is between lines that match.
    pub(super) has_place_for_additions: bool,
    /// The row of a line that names a block around the change, if it names another one here.
    pub(super) other_name: Option<usize>,
    /// Whether that name is more than miswritten, so that this is another block.
    pub(super) is_other_block: bool,
    /// Whether it has a line of the request that the file has nowhere else.
    pub(super) has_only_line: bool,
    /// Whether it has every line of the request, with nothing between them.
    pub(super) has_all_lines: bool,
    /// Whether it has a removed line that the file has nowhere else.
    pub(super) has_only_removed_line: bool,
    /// How exactly the place has each line of the request.
    exactness: Vec<Exactness>,
    /// How many lines the place has between those of the request.
    extra: usize,
}

impl ClosePlace {
    fn new(
        window: &Window,
        anchors: &[Anchor],
        script: &Script,
        enclosing: &EnclosingRows,
        index: &SearchIndex<'_>,
    ) -> Self {
        let removed = (0..anchors.len()).filter(|&n| anchors[n].role == Role::Removed);
        let naming = heading::rows_naming_blocks_around_change(script);
        let names_other_item = |n: usize| {
            let (row, request) = (anchors[n].row, &anchors[n].key);
            let names_other_block = |file: &str| {
                (naming.contains(&row)
                    && heading::names_item(file)
                    && heading::names_other_item(request, file))
                    || (enclosing.contains(row)
                        && heading::names_other_block(request, file)
                        && window.encloses_change(n, anchors, script, index))
            };
            window.pairs[n].is_some_and(|at| names_other_block(&index.text(at)))
        };
        let other_names: Vec<usize> =
            (0..anchors.len()).filter(|&n| !window.is_exact(n) && names_other_item(n)).collect();
        let is_miswritten = |n: &usize| {
            window.pairs[*n].is_some_and(|at| slip::is_miswritten(&anchors[*n].key, &index.text(at), index))
        };
        Self {
            alignment: window.align(anchors, script, index),
            similarity: window.score / anchors.len() as f64,
            removed_similarity: removed.map(|n| window.similarities[n]).fold(1.0, f64::min),
            has_place_for_additions: additions_have_a_place(window, anchors, script, Neighbours::Both, index),
            other_name: other_names.first().map(|&n| anchors[n].row),
            is_other_block: !other_names.iter().all(is_miswritten),
            has_all_lines: (0..anchors.len()).all(|n| window.is_exact(n)) && window.is_consecutive(),
            has_only_line: (0..anchors.len()).any(|n| window.is_exact(n) && is_only_line(&anchors[n], index)),
            has_only_removed_line: (0..anchors.len()).any(|n| {
                anchors[n].role == Role::Removed && window.is_exact(n) && is_only_line(&anchors[n], index)
            }),
            exactness: (0..anchors.len()).map(|n| window.exactness(n, anchors, index)).collect(),
            extra: window.extra,
        }
    }

    /// Whether it has every line of the request at least as exactly as another place and no more lines in between, and at least
    /// one line more exactly or fewer lines in between.
    pub(super) fn surpasses(&self, other: &Self) -> bool {
        let pairs = || self.exactness.iter().zip(&other.exactness);
        self.extra <= other.extra
            && pairs().all(|(own, other)| own >= other)
            && (self.extra < other.extra || pairs().any(|(own, other)| own > other))
    }

    /// How many lines of the request it has with their indentation.
    pub(super) fn indented_lines(&self) -> usize {
        self.exactness.iter().filter(|&&exactness| exactness == Exactness::Indented).count()
    }
}

/// The only one of some places that surpasses all others.
pub(super) fn surpassing(places: &[&ClosePlace]) -> Option<usize> {
    let surpasses_all =
        |&at: &usize| (0..places.len()).all(|other| other == at || places[at].surpasses(places[other]));
    (0..places.len()).find(surpasses_all)
}

/// The closest places, best first.
pub(super) fn closest_places(script: &Script, index: &SearchIndex<'_>) -> Vec<ClosePlace> {
    let anchors = script_anchors(script);
    let windows =
        chain::best_chains(&anchors, script, index).unwrap_or_else(|| best_windows(&anchors, index));
    let enclosing = outline::rows_around_changes(script);
    windows.iter().map(|window| ClosePlace::new(window, &anchors, script, &enclosing, index)).collect()
}

/// Finds the place of a request.
pub(super) fn find_place(script: &Script, trust: Trust, index: &SearchIndex<'_>) -> DriftMatch {
    let anchors = script_anchors(script);
    if anchors.len() < MIN_LINES && trust != Trust::Chosen {
        return DriftMatch::None;
    }
    let windows = best_windows(&anchors, index);
    let Some(best) = windows.first() else { return DriftMatch::None };
    // Where context may differ freely, the lines on both sides of an insertion must be right.
    let neighbours = if trust == Trust::Chosen { Neighbours::Both } else { Neighbours::One };
    if !removed_lines_match(best, &anchors)
        || !additions_have_a_place(best, &anchors, script, neighbours, index)
    {
        return DriftMatch::None;
    }
    let alignment = best.align(&anchors, script, index);
    let margin = match trust {
        Trust::Chosen
            if best.score * 2.0 < anchors.len() as f64 || names_differ(best, &anchors, script, index) =>
        {
            return DriftMatch::None;
        }
        Trust::Chosen => return DriftMatch::One(alignment),
        Trust::StatedLine(line) if alignment.first == line => MARGIN_AT_STATED_LINE,
        Trust::StatedLine(_) | Trust::TextAlone => MARGIN,
    };
    if !is_convincing(best, &anchors, script, index) || !removed_lines_are_certain(best, &anchors, index) {
        return DriftMatch::None;
    }
    let rivals: Vec<&Window> =
        windows[1..].iter().filter(|other| best.score - other.score < margin).collect();
    if !rivals.is_empty() {
        let lines = |window: &Window| window.align(&anchors, script, index).lines();
        return DriftMatch::Ambiguous(std::iter::once(best).chain(rivals).map(lines).collect());
    }
    DriftMatch::One(alignment)
}

/// Whether every removed line is in the file, and nothing is between two that follow each other.
fn removed_lines_match(window: &Window, anchors: &[Anchor]) -> bool {
    let removed = |n: usize| anchors[n].role == Role::Removed;
    let in_place = (0..anchors.len()).filter(|&n| removed(n)).all(|n| window.is_exact(n));
    let together = (1..anchors.len()).filter(|&n| removed(n) && removed(n - 1)).all(
        |n| matches!((window.pairs[n - 1], window.pairs[n]), (Some(before), Some(at)) if at == before + 1),
    );
    in_place && together
}

/// Whether it is certain which lines are to be removed: one of them occurs once in the file, or the quoted lines next to them
/// match with nothing in between. The lines of another block prove nothing about `}` or `return None`, however many match. If a
/// quoted line equal to a removed one is missing, nothing is certain: either of the two may be the one that is left. Nor if
/// another line stands between a removed line and its quoted neighbour, or if that neighbour is missing: it may be what tells this
/// block from the quoted one.
fn removed_lines_are_certain(window: &Window, anchors: &[Anchor], index: &SearchIndex<'_>) -> bool {
    let is_removed = |n: usize| anchors[n].role == Role::Removed;
    let is_only =
        |n: usize| is_distinctive(&anchors[n].key) && index.occurs_once_in_file(anchors[n].squashed);
    let is_attached = |first: usize, second: usize| {
        let follows = |at: usize| window.pairs[second] == Some(at + 1);
        window.is_exact(first) && window.is_exact(second) && window.pairs[first].is_some_and(follows)
    };
    let is_torn = |first: usize, second: usize| match (window.pairs[first], window.pairs[second]) {
        (Some(above), Some(below)) => below > above + 1,
        _ => true,
    };
    let lacks_equal = (0..anchors.len()).filter(|&n| !window.is_exact(n)).any(|missing| {
        (0..anchors.len()).any(|n| is_removed(n) && anchors[n].squashed == anchors[missing].squashed)
    });
    let mut start = 0;
    let mut runs = anchors.chunk_by(|a, b| a.role == b.role).map(|run| {
        start += run.len();
        start - run.len()..start
    });
    !lacks_equal
        && runs.all(|run| {
            let is_torn_off = || {
                run.start.checked_sub(1).is_some_and(|above| is_torn(above, run.start))
                    || (run.end < anchors.len() && is_torn(run.end - 1, run.end))
            };
            !is_removed(run.start)
                || (run.clone().any(is_only) && !is_torn_off())
                || (run.start.checked_sub(1).is_none_or(|above| is_attached(above, run.start))
                    && (run.end == anchors.len() || is_attached(run.end - 1, run.end)))
        })
}

/// Whether every change replaces, or is next to, a line that says enough and occurs once in the file. Then a rewritten line around it
/// matters less.
fn changes_are_at_only_lines(
    window: &Window,
    anchors: &[Anchor],
    script: &Script,
    index: &SearchIndex<'_>,
) -> bool {
    let is_only = |n: usize| window.is_exact(n) && is_only_line(&anchors[n], index);
    let mut start = 0;
    let mut runs =
        script.rows.chunk_by(|a, b| (a.role == Role::Context) == (b.role == Role::Context)).map(|run| {
            start += run.len();
            start - run.len()..start
        });
    runs.all(|run| {
        let before = anchors.partition_point(|anchor| anchor.row < run.start);
        let after = anchors.partition_point(|anchor| anchor.row < run.end);
        match script.rows[run.start].role {
            Role::Context => true,
            _ if after > before => (before..after).any(is_only),
            _ => before.checked_sub(1).is_some_and(is_only) || (after < anchors.len() && is_only(after)),
        }
    })
}

/// How many of the lines next to an insertion must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Neighbours {
    One,
    Both,
}

/// Whether every added line replaces a removed one, or is next to lines that match, with nothing unexpected in between.
fn additions_have_a_place(
    window: &Window,
    anchors: &[Anchor],
    script: &Script,
    neighbours: Neighbours,
    index: &SearchIndex<'_>,
) -> bool {
    let added = || script.rows.iter().enumerate().filter(|(_, row)| row.role == Role::Added);
    // A blank line goes to the same place as the lines that are added with it.
    let adds_text = added().any(|(_, row)| !row.blank);
    added().filter(|(_, row)| !row.blank || !adds_text).all(|(number, _)| {
        let next = anchors.partition_point(|anchor| anchor.row < number);
        let around = [next.checked_sub(1), (next < anchors.len()).then_some(next)];
        let mut around = around.into_iter().flatten().peekable();
        if around.clone().any(|n| anchors[n].role == Role::Removed) {
            return true;
        }
        let positions: Vec<usize> = around.clone().filter_map(|n| window.pairs[n]).collect();
        let is_torn = matches!(positions[..], [before, after] if after != before + 1);
        let is_certain = |n: usize| window.is_exact(n);
        // A missing line does not show what follows it.
        let is_missing = neighbours == Neighbours::One && positions.len() < around.clone().count();
        around.peek().is_some()
            && !is_torn
            && !is_missing
            && match neighbours {
                // A single brace is next to anything.
                Neighbours::One => {
                    around.clone().any(|n| is_certain(n) && is_distinctive(&anchors[n].key))
                        || around.all(is_certain)
                }
                Neighbours::Both => {
                    let is_apart = |n: usize| is_changed_across_blank(window, &anchors[n], n, number, script);
                    around.clone().all(is_certain)
                        || (around.clone().all(|n| is_certain(n) || is_apart(n))
                            && around.any(|n| is_certain(n) && is_only_line(&anchors[n], index)))
                }
            }
    })
}

/// Whether a line next to an insertion has turned into one like it, and a blank line is between the two, so that the insertion does
/// not depend on it.
fn is_changed_across_blank(
    window: &Window,
    anchor: &Anchor,
    n: usize,
    insertion: usize,
    script: &Script,
) -> bool {
    let between = anchor.row.min(insertion) + 1..anchor.row.max(insertion);
    window.similarities[n] >= MIN_VERY_CLOSE
        && script.rows[between].iter().any(|row| row.role != Role::Removed && row.blank)
}

/// Whether a line says enough to prove a place, and is in the file once.
fn is_only_line(anchor: &Anchor, index: &SearchIndex<'_>) -> bool {
    letters(&anchor.key) >= MIN_PINNING_LETTERS && index.occurs_once_in_file(anchor.squashed)
}

/// Whether the text alone proves the place: most lines match, and every other one differs by a slip of the pen.
fn is_convincing(window: &Window, anchors: &[Anchor], script: &Script, index: &SearchIndex<'_>) -> bool {
    let count = anchors.len();
    let exact = (0..count).filter(|&n| window.is_exact(n)).count();
    // Lines such as a single brace occur everywhere, so at least two exact lines must be distinctive.
    let distinctive = (0..count).filter(|&n| window.is_exact(n) && is_distinctive(&anchors[n].key)).count();
    let missing = window.pairs.iter().filter(|at| at.is_none()).count();
    let gaps = missing + window.extra;
    if window.score < MIN_SCORE * count as f64 || distinctive < 2 || exact < 2 || exact * 2 <= count {
        return false;
    }
    if gaps > 0 && (exact + missing < count || exact < EXACT_LINES_PER_GAP * gaps || !ends_are_exact(window))
    {
        return false;
    }
    let (mut rewritten, mut swapped) = (0, 0);
    let proves_place = changes_are_at_only_lines(window, anchors, script, index);
    let enclosing = outline::rows_around_changes(script);
    let agree = anchors.iter().enumerate().all(|(n, anchor)| match window.pairs[n] {
        _ if window.is_exact(n) => true,
        Some(at) => {
            let is_enclosing = enclosing.contains(anchor.row);
            let judge = if is_enclosing { slip::judge_enclosing } else { slip::judge };
            match judge(&anchor.key, &line_key(&index.text(at)), index) {
                Judgement::Slip => true,
                Judgement::MaybeRewritten => {
                    rewritten += 1;
                    proves_place
                        && rewritten <= MAX_REWRITTEN_PARAGRAPHS
                        && !outline::tells_paragraphs_apart(script, anchor.row, at, index)
                }
                Judgement::WordsSwapped(words) => {
                    (rewritten, swapped) = (rewritten + 1, swapped + words);
                    swapped <= MAX_SWAPPED_WORDS
                }
                Judgement::OtherLine => false,
            }
        }
        // A heading that the file lacks is the mark of another block, unless the change is not in that block.
        None => {
            !tells_block_apart(script, anchor.row, index)
                && (!slip::names_something(&anchor.key)
                    || (window.extra == 0 && heading::is_beside_changes(script, anchor.row)))
        }
    });
    if repeats_a_substitution(window, anchors, index) {
        return false;
    }
    // One rewritten line is an edit; several with swapped words are the mark of a twin.
    let needed = if rewritten > 1 { 2 * EXACT_LINES_PER_REWRITTEN } else { EXACT_LINES_PER_REWRITTEN };
    agree && distinctive >= needed * rewritten
}

/// Whether a line above the change is the first one of a block, and tells it from others: the block is around the change, or the line
/// that opens it is in the file several times. What such blocks start with is all that tells them apart: `schema: {`, `- step:`.
fn tells_block_apart(script: &Script, row: usize, index: &SearchIndex<'_>) -> bool {
    let depth = |row: usize| indent(&script.rows[row].text).len();
    let old = |rows: std::ops::Range<usize>| {
        rows.filter(|&row| script.rows[row].is_old() && !script.rows[row].blank)
    };
    let change = script.first_change();
    if row >= change || change >= script.rows.len() {
        return false;
    }
    let opening = old(0..row)
        .next_back()
        .filter(|&above| heading::opens_block(&script.rows[above].text) && depth(above) < depth(row));
    let is_around_change =
        || old(row + 1..change).all(|below| depth(below) >= depth(row)) && depth(change) >= depth(row);
    let is_in_file_once =
        |above: usize| index.occurs_once_in_file(squashed_hash(&line_key(&script.rows[above].text)));
    opening.is_some_and(|above| is_around_change() || !is_in_file_once(above))
}

/// Whether a line above the change names another block than the file's line: it is another place, whoever chose it.
fn names_differ(window: &Window, anchors: &[Anchor], script: &Script, index: &SearchIndex<'_>) -> bool {
    let change = script.first_change();
    let above = anchors.iter().enumerate().filter(|(n, anchor)| {
        anchor.row < change && !window.is_exact(*n) && !heading::ends_before_change(script, anchor.row)
    });
    let enclosing = outline::rows_around_changes(script);
    above.into_iter().any(|(n, anchor)| {
        let is_enclosing = enclosing.contains(anchor.row);
        match window.pairs[n] {
            Some(at) => {
                let file = index.text(at);
                // A typo does not make it a different name.
                !slip::is_misspelt_name(&anchor.key, &line_key(&file), index)
                    && (slip::name_differs(&anchor.key, &line_key(&file))
                        || (is_enclosing
                            && heading::names_other_block(&anchor.key, &file)
                            && window.encloses_change(n, anchors, script, index)))
            }
            // A line that only the request has names the place if it comes first.
            None => {
                n == 0
                    && (heading::names_item(&anchor.key)
                        || (is_enclosing && heading::block_name(&anchor.key).is_some()))
            }
        }
    })
}

/// Whether the same word is in place of the same other word on several lines: the mark of a twin.
fn repeats_a_substitution(window: &Window, anchors: &[Anchor], index: &SearchIndex<'_>) -> bool {
    let mut seen = HashSet::new();
    for (n, anchor) in anchors.iter().enumerate().filter(|(n, _)| !window.is_exact(*n)) {
        let Some(at) = window.pairs[n] else { continue };
        let file = index.text(at);
        let key = line_key(&file);
        let of_line: HashSet<(String, String)> = slip::substitutions(&anchor.key, &key)
            .into_iter()
            .map(|(request, file)| (request.to_owned(), file.to_owned()))
            .collect();
        if of_line.iter().any(|pair| seen.contains(pair)) {
            return true;
        }
        seen.extend(of_line);
    }
    false
}

fn ends_are_exact(window: &Window) -> bool {
    let ends = [0, window.pairs.len() - 1];
    ends.iter().all(|&n| window.is_exact(n))
}
