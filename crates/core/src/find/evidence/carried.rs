//! The lines of a quotation, carried over to the current text: whether what is left of them is the quoted text and not a twin.

use std::cmp::Ordering;
use std::ops::Range;

use super::QuotedPlace;
use crate::find::alignment::indent;
use crate::find::file_text::{EarlierText, LineMap};
use crate::find::heading::{
    block_name, ends_before_change, item_name, names_item, opens_block, rows_naming_blocks_around_change,
};
use crate::find::limits::{
    MAX_DECIDING_LINES, MAX_LINE_WEIGHT, MAX_PINNING_DISTANCE, MIN_LEFT, MIN_PINNING_LETTERS, MIN_VERY_CLOSE,
};
use crate::find::outline::rows_around_changes;
use crate::find::punctuation::{is_distinctive, letters, line_key};
use crate::find::script::{Role, Row, Script};
use crate::find::search_index::SearchIndex;
use crate::find::similarity::line_similarity;
use crate::find::still_there::EqualLines;

/// Whether the first rows that are not blank context are added lines, and no removed ones are among them.
fn starts_with_insertion<'r>(rows: impl Iterator<Item = &'r Row>) -> bool {
    let mut changed = rows
        .skip_while(|row| row.role == Role::Context && row.blank)
        .take_while(|row| row.role != Role::Context)
        .peekable();
    changed.peek().is_some() && changed.all(|row| row.role == Role::Added)
}

/// Whether a line has a squashed hash, in a part of a file.
fn has_line(index: &SearchIndex<'_>, mut part: Range<usize>, squashed: u64) -> bool {
    match index.occurrences(squashed) {
        Some(mut known) => known.any(|at| part.contains(&at)),
        None => part.len() > MAX_PINNING_DISTANCE || part.any(|at| index.squashed(at) == squashed),
    }
}

/// A side of a line.
#[derive(Clone, Copy)]
enum Side {
    Above,
    Below,
}

/// A quoted line, and where it is now.
pub(super) struct CarriedLine<'s> {
    pub(super) number: usize,
    row: &'s Row,
    /// Its position in the version.
    pub(super) earlier: usize,
    /// Its position in the current text; `None` if it was changed or removed.
    pub(super) now: Option<usize>,
}

/// The non-blank lines of a quotation, carried over to the current text.
pub(super) struct CarriedLines<'s> {
    script: &'s Script,
    pub(super) lines: Vec<CarriedLine<'s>>,
    map: &'s LineMap,
    pub(super) earlier: SearchIndex<'s>,
    now: &'s SearchIndex<'s>,
}

impl<'s> CarriedLines<'s> {
    pub(super) fn new(
        script: &'s Script,
        place: &QuotedPlace,
        version: &'s EarlierText,
        now: &'s SearchIndex<'s>,
    ) -> Self {
        let map = version.map(now);
        let quoted = place.pairs.iter().filter(|(number, _)| !script.rows[*number].blank);
        let lines = quoted.map(|&(number, earlier)| CarriedLine {
            number,
            row: &script.rows[number],
            earlier,
            now: map.now(earlier),
        });
        Self { script, lines: lines.collect(), map, earlier: version.index(), now }
    }

    /// Whether every line is unchanged, byte for byte, with nothing new between them.
    pub(super) fn are_unchanged(&self) -> bool {
        let is_unchanged = |line: &CarriedLine<'_>| {
            line.now.is_some_and(|at| self.now.text(at) == self.earlier.text(line.earlier))
        };
        let are_together = |two: &[CarriedLine<'_>]| match (two[0].now, two[1].now) {
            (Some(first), Some(second)) => {
                second.checked_sub(first) == two[1].earlier.checked_sub(two[0].earlier)
            }
            _ => false,
        };
        !self.lines.is_empty()
            && self.lines.iter().all(is_unchanged)
            && self.lines.windows(2).all(are_together)
    }

    /// Whether a line that decides about the place, however short, occurs once in the earlier version and once now. Otherwise
    /// the matching lines may be those of a new block with the same end.
    pub(super) fn has_unique_deciding_line(&self) -> bool {
        self.deciding_lines().take(MAX_DECIDING_LINES).any(|line| self.occurs_once(line))
    }

    /// What has become of lines equal to one that decides about the place.
    pub(super) fn equal_lines(&self) -> EqualLines {
        let count = |index: &SearchIndex<'_>, hash: u64| match index.occurrences(hash) {
            Some(known) => known.len(),
            None => (0..index.len()).filter(|&at| index.squashed(at) == hash).count(),
        };
        let mut seen = EqualLines::None;
        for line in self.deciding_lines().take(MAX_DECIDING_LINES) {
            let hash = self.earlier.squashed(line.earlier);
            let (before, after) = (count(&self.earlier, hash), count(self.now, hash));
            match after.cmp(&before) {
                Ordering::Greater => return EqualLines::Added,
                Ordering::Less => seen = EqualLines::Removed,
                Ordering::Equal if after > 1 && seen == EqualLines::None => seen = EqualLines::Several,
                Ordering::Equal => {}
            }
        }
        seen
    }

    /// The current positions of the script's rows; `None` if what the script changes has changed.
    pub(super) fn pairs(&self) -> Option<Vec<(usize, usize)>> {
        let holds = self.removed_lines_are_there()
            && self.is_same_block()
            && (self.is_pinned() || (self.is_mostly_there() && !self.may_be_a_twin()))
            && self.additions_have_a_place(|line| line.now);
        let pairs = self.lines.iter().filter_map(|line| Some((line.number, line.now?)));
        holds.then(|| pairs.collect::<Vec<_>>()).filter(|pairs| !pairs.is_empty())
    }

    /// The current positions of the script's rows, for an edit that is offered instead of made because the block around it or a
    /// neighbour has changed. The lines that it removes must be there, and it must be certain which ones they are: one of them
    /// occurs once, the blocks around them are the same, or the whole quotation is there, line for line. A line that was moved to
    /// another depth counts as part of another block.
    pub(super) fn offered_pairs(&self) -> Option<Vec<(usize, usize)>> {
        let is_certain = |line: &CarriedLine<'_>| {
            line.row.role == Role::Removed
                && letters(&line.row.text) >= MIN_PINNING_LETTERS
                && self.occurs_once(line)
                && line
                    .now
                    .is_some_and(|at| indent(&self.now.text(at)) == indent(&self.earlier.text(line.earlier)))
        };
        let holds = self.removed_lines_are_there()
            && (self.lines.iter().any(is_certain)
                || (self.is_pinned() && self.is_same_block())
                || self.is_rewritten_in_place());
        let pairs: Vec<(usize, usize)> = self
            .lines
            .iter()
            .filter_map(|line| Some((line.number, line.now.or_else(|| self.successor(line))?)))
            .collect();
        let is_placed =
            holds && self.additions_have_a_place(|line| line.now.or_else(|| self.successor(line)));
        Some(pairs).filter(|pairs| is_placed && !pairs.is_empty())
    }

    /// Whether the whole quotation is there, although some of its context lines have changed: each of those was replaced on its own
    /// by a very similar line, nothing was added or removed in between, and one of the unchanged lines is unique both in the
    /// version and in the file, or nothing else has changed between the nearest such lines above and below. Then the block was
    /// renamed, rather than removed beside a twin. In the second case, lines that name no block may have become any other line.
    fn is_rewritten_in_place(&self) -> bool {
        let is_alike = self.lines.iter().all(|line| line.now.is_some() || self.successor(line).is_some());
        let is_only_change = || self.is_only_change_between_fixed_lines();
        let is_certain = match is_alike {
            true => {
                self.lines.iter().take(MAX_DECIDING_LINES).any(|line| self.is_fixed(line.earlier))
                    || is_only_change()
            }
            false => self.is_same_block() && self.is_mostly_there() && is_only_change(),
        };
        is_certain && self.is_there_line_for_line()
    }

    /// Whether nothing but lines of the quotation has changed between the nearest lines above and below that are unique in the
    /// version and in the file, and the number of lines is the same. The ends of the file count as such lines.
    fn is_only_change_between_fixed_lines(&self) -> bool {
        let (Some(first), Some(last)) = (self.lines.first(), self.lines.last()) else { return false };
        let is_fixed = |at: &usize| self.is_fixed(*at);
        let start = first.earlier.saturating_sub(MAX_PINNING_DISTANCE);
        let end = (last.earlier + 1 + MAX_PINNING_DISTANCE).min(self.earlier.len());
        let above = (start..first.earlier).rev().find(is_fixed);
        let below = (last.earlier + 1..end).find(is_fixed);
        // Where the lines between them start and end, in the version and now.
        let above = match above {
            Some(at) => self.map.now(at).map(|now| (at + 1, now + 1)),
            None => (start == 0).then_some((0, 0)),
        };
        let below = match below {
            Some(at) => self.map.now(at).map(|now| (at, now)),
            None => (end == self.earlier.len()).then_some((end, self.now.len())),
        };
        let (Some((from, from_now)), Some((to, to_now))) = (above, below) else { return false };
        let is_quoted = |at: usize| (first.earlier..=last.earlier).contains(&at);
        to_now.checked_sub(from_now) == Some(to - from)
            && (from..to)
                .all(|at| self.map.now(at).map_or(is_quoted(at), |now| now == from_now + (at - from)))
    }

    /// Whether every line of the quotation is there or was replaced on its own, in the same order, at the same depth and with
    /// nothing in between.
    fn is_there_line_for_line(&self) -> bool {
        let places: Option<Vec<usize>> =
            self.lines.iter().map(|line| line.now.or_else(|| self.replacement(line))).collect();
        let is_whole = |places: &Vec<usize>| {
            self.lines
                .windows(2)
                .zip(places.windows(2))
                .all(|(lines, places)| lines[1].earlier == lines[0].earlier + 1 && places[1] == places[0] + 1)
        };
        let is_at_same_depth = |(line, &at): (&CarriedLine<'_>, &usize)| {
            indent(&self.now.text(at)) == indent(&self.earlier.text(line.earlier))
        };
        places.is_some_and(|places| is_whole(&places) && self.lines.iter().zip(&places).all(is_at_same_depth))
    }

    /// The line that a context line has turned into: the only line that replaced it alone, and much like it.
    fn successor(&self, line: &CarriedLine<'_>) -> Option<usize> {
        self.replacement(line).filter(|&now| self.is_alike(line, now) && !self.came_from_elsewhere(now))
    }

    /// Whether a current line is much like a quoted one.
    fn is_alike(&self, line: &CarriedLine<'_>, now: usize) -> bool {
        line_similarity(&line_key(&line.row.text), &line_key(&self.now.text(now))) >= MIN_VERY_CLOSE
    }

    /// Whether what a quoted line seems to have turned into may be another line, or may have been another one.
    fn is_anothers(&self, line: &CarriedLine<'_>, now: usize) -> bool {
        self.came_from_elsewhere(now) || self.may_have_been_another(line, now)
    }

    /// Whether another line that was replaced together with a quoted one is much like the current line too: of two blocks one was
    /// removed, and the other one renamed.
    fn may_have_been_another(&self, line: &CarriedLine<'_>, now: usize) -> bool {
        let Some((before, after)) = self.map.replaced(line.earlier) else { return false };
        let text = self.now.text(now);
        let is_alike = |at: usize| {
            line_similarity(&line_key(&self.earlier.text(at)), &line_key(&text)) >= MIN_VERY_CLOSE
        };
        before.len() != after.len()
            && before.take(MAX_DECIDING_LINES).any(|at| at != line.earlier && is_alike(at))
    }

    /// Whether a current line is new at its place and was in the version at another one, where it is gone: it is that line, moved, and
    /// no other line has turned into it.
    fn came_from_elsewhere(&self, now: usize) -> bool {
        self.map.is_new(now)
            && letters(&self.now.text(now)) > 0
            && self.earlier.occurs_where(self.now.squashed(now), |at| self.map.now(at).is_none())
    }

    /// The only line that replaced a context line alone.
    fn replacement(&self, line: &CarriedLine<'_>) -> Option<usize> {
        let (earlier, now) = self.map.replaced(line.earlier)?;
        (line.row.role == Role::Context && earlier.len() == 1 && now.len() == 1).then_some(now.start)
    }

    /// Whether every removed line is there, with nothing new between two that follow each other. The map does not see
    /// whitespace, but inside a line that is replaced it matters.
    fn removed_lines_are_there(&self) -> bool {
        let is_removed = |line: &CarriedLine<'_>| line.row.role == Role::Removed;
        let in_place = self
            .lines
            .iter()
            .filter(|line| is_removed(line))
            .all(|line| line.now.is_some_and(|at| self.now.has_key(at, &line_key(&line.row.text))));
        let together = self.lines.windows(2).filter(|two| is_removed(&two[0]) && is_removed(&two[1]));
        in_place && together.clone().all(|two| two[1].now == two[0].now.map(|at| at + 1))
    }

    /// Whether the lines above the change that name a block still name it. They decide which block it is, however much of its
    /// body is left. A line that opens a block around the change may be another one by now, but must not be gone: then its
    /// body has moved to the block around it.
    fn is_same_block(&self) -> bool {
        let change = self.script.first_change();
        let above = self.lines.iter().filter(|line| line.number < change && line.now.is_none());
        let enclosing = rows_around_changes(self.script);
        let names_stay = above.into_iter().all(|line| {
            let text = &line.row.text;
            let mut replaced_by = self.map.range_now(line.earlier..line.earlier + 1);
            match () {
                () if names_item(text) => {
                    replaced_by.any(|at| item_name(&self.now.text(at)) == item_name(text))
                }
                // In any other language, layout identifies the block: `Host alpha`.
                () if enclosing.contains(line.number) && block_name(text).is_some() => {
                    replaced_by.any(|at| block_name(&self.now.text(at)) == block_name(text))
                }
                () => true,
            }
        });
        names_stay && self.blocks_around_are_left()
    }

    /// The lines that decide where the change is: removed lines, and lines next to an insertion. A neighbour of replaced lines
    /// does not show which lines those are.
    pub(super) fn deciding_lines(&self) -> impl Iterator<Item = &CarriedLine<'s>> {
        let rows = &self.script.rows;
        self.lines.iter().filter(move |line| {
            line.row.role == Role::Removed
                || starts_with_insertion(rows[line.number + 1..].iter())
                || starts_with_insertion(rows[..line.number].iter().rev())
        })
    }

    /// Whether a line is in the version once, and once now.
    fn occurs_once(&self, line: &CarriedLine<'_>) -> bool {
        let hash = self.earlier.squashed(line.earlier);
        line.now.is_some() && self.earlier.occurs_once(hash) && self.now.occurs_once(hash)
    }

    /// Whether the lines that decide about the place are not the only ones of their kind, and something is gone: one of them, so
    /// that a diff pairs those that are left with any of them; or another quoted line, which may have told the block from its
    /// twins. Or a new one is next to them, and a diff may as well call theirs the new ones.
    fn may_be_a_twin(&self) -> bool {
        // A lone brace says little about the place, nor does a line as short as `a`. If all deciding lines are like that, each
        // of them counts.
        let has_letters = |text: &str| text.contains(char::is_alphanumeric);
        let decided_by = |is_telling: fn(&str) -> bool| {
            self.deciding_lines().take(MAX_DECIDING_LINES).any(|line| is_telling(&line.row.text))
        };
        let is_telling: fn(&str) -> bool = match () {
            () if decided_by(is_distinctive) => is_distinctive,
            () if decided_by(has_letters) => has_letters,
            () => |_| true,
        };
        let telling =
            || self.deciding_lines().filter(|line| is_telling(&line.row.text)).take(MAX_DECIDING_LINES);
        let is_reduced = |line: &CarriedLine<'_>| {
            let hash = self.earlier.squashed(line.earlier);
            let before = self.earlier.occurrences(hash).map_or(0, |known| known.len());
            before > 1 && self.now.occurs_less_often(hash, before)
        };
        let has_twin = |line: &CarriedLine<'_>| {
            let hash = self.earlier.squashed(line.earlier);
            !self.earlier.occurs_less_often(hash, 2) || !self.now.occurs_less_often(hash, 2)
        };
        let is_gone = |line: &CarriedLine<'_>| {
            line.now.is_none() && is_telling(&line.row.text) && has_letters(&line.row.text)
        };
        let is_less = telling().any(is_reduced)
            || telling().any(|line| self.may_be_misaligned(line))
            || (telling().any(has_twin)
                && (self.lines.iter().any(is_gone) || !self.is_together() || self.may_have_moved()));
        let is_proof = |line: &CarriedLine<'_>| {
            (letters(&line.row.text) >= MIN_PINNING_LETTERS && self.occurs_once(line))
                || (self.is_next_to_fixed_line(line) && !self.may_have_moved())
        };
        is_less && !telling().any(is_proof)
    }

    /// Whether the remaining quoted lines follow each other, with nothing new between them.
    fn is_together(&self) -> bool {
        let left = || self.lines.iter().filter_map(|line| line.now);
        left().zip(left().skip(1)).all(|(before, at)| at == before + 1)
    }

    /// Whether a quoted line is gone here and new elsewhere, as when blocks swap places. A diff pairs the rest of the blocks
    /// with whichever of them did not move.
    fn may_have_moved(&self) -> bool {
        self.lines.iter().take(MAX_DECIDING_LINES).any(|line| self.was_moved_elsewhere(line))
    }

    /// Whether a line is gone, and a line with its text is new elsewhere.
    fn was_moved_elsewhere(&self, line: &CarriedLine<'_>) -> bool {
        line.now.is_none()
            && letters(&line.row.text) > 0
            && self.now.occurs_where(self.earlier.squashed(line.earlier), |at| self.map.is_new(at))
    }

    /// Whether the quoted text is recognisable in what is there now: most of its lines are there or have turned into lines
    /// like them, and they are not a twin's.
    pub(super) fn is_left(&self) -> bool {
        let weight = |line: &CarriedLine<'_>| letters(&line.row.text).min(MAX_LINE_WEIGHT);
        let successors = |line: &CarriedLine<'_>| {
            let replaced_by = self.map.range_now(line.earlier..line.earlier + 1).take(MAX_DECIDING_LINES);
            replaced_by.filter(|&at| self.is_alike(line, at)).collect::<Vec<_>>()
        };
        let is_left = |line: &&CarriedLine<'_>| {
            line.now.is_some() || successors(line).iter().any(|&at| !self.is_anothers(line, at))
        };
        let is_another_now = |line: &CarriedLine<'_>| {
            line.now.is_none() && successors(line).iter().any(|&at| self.is_anothers(line, at))
        };
        let all: usize = self.lines.iter().map(weight).sum();
        let left: usize = self.lines.iter().filter(is_left).map(weight).sum();
        // A neighbour of a replaced line does not show that the line itself is left.
        let removes_lines = self.script.rows.iter().any(|row| row.role == Role::Removed);
        let is_decided = self
            .deciding_lines()
            .filter(|line| line.row.role == Role::Removed || !removes_lines)
            .take(MAX_DECIDING_LINES)
            .any(|line| letters(&line.row.text) >= MIN_PINNING_LETTERS && self.occurs_once(line));
        let mut removed = self.lines.iter().filter(|line| line.row.role == Role::Removed);
        (is_decided || MIN_LEFT.is_reached_by(left, all))
            && !removed.any(|line| self.was_moved_elsewhere(line) || is_another_now(line))
            && self.removed_lines_are_attached()
            && self.blocks_around_are_left()
            && !self.may_be_a_twin()
    }

    /// Whether the caller may find the place by reading what is there now, although little is left of the quoted text: the lines
    /// that decide about the place are there, and so is a line of the text that was never anywhere else.
    pub(super) fn is_worth_reading(&self) -> bool {
        let is_unique =
            |line: &CarriedLine<'_>| letters(&line.row.text) >= MIN_PINNING_LETTERS && self.occurs_once(line);
        self.deciding_lines().all(|line| line.now.is_some())
            && self.lines.iter().take(MAX_DECIDING_LINES).any(is_unique)
            && self.removed_lines_are_attached()
            && self.blocks_around_are_left()
            && !self.may_be_a_twin()
    }

    /// Whether the removed lines that are left are those of the quotation, and not equal lines that a diff has paired with them: one
    /// of them occurs once, or both quoted neighbours are next to them, unchanged or each replaced by a single line.
    fn removed_lines_are_attached(&self) -> bool {
        let is_removed = |line: &CarriedLine<'_>| line.row.role == Role::Removed;
        let is_only =
            |line: &CarriedLine<'_>| letters(&line.row.text) >= MIN_PINNING_LETTERS && self.occurs_once(line);
        let place = |line: &CarriedLine<'_>| line.now.or_else(|| self.replacement(line));
        let follows = |above: &CarriedLine<'_>, below: &CarriedLine<'_>| match (place(above), place(below)) {
            (Some(above), Some(below)) => below == above + 1,
            _ => false,
        };
        let mut start = 0;
        self.lines.chunk_by(|a, b| is_removed(a) == is_removed(b)).all(|run| {
            let (first, end) = (start, start + run.len());
            start = end;
            let is_attached = || {
                first.checked_sub(1).is_none_or(|above| follows(&self.lines[above], &run[0]))
                    && self.lines.get(end).is_none_or(|below| follows(&run[run.len() - 1], below))
            };
            !is_removed(&run[0])
                || run.iter().any(|line| line.now.is_none() || is_only(line))
                || is_attached()
        })
    }

    /// Whether the lines that name or open a block around the change are there, or have been replaced by such lines.
    fn blocks_around_are_left(&self) -> bool {
        let change = self.script.first_change();
        let depth = self.script.rows.get(change).map_or(0, |row| indent(&row.text).len());
        let naming = rows_naming_blocks_around_change(self.script);
        let above = self.lines.iter().filter(|line| line.number < change && line.now.is_none());
        above.into_iter().all(|line| {
            let text = &line.row.text;
            let mut replaced_by = self.map.range_now(line.earlier..line.earlier + 1);
            if naming.contains(&line.number) {
                return replaced_by.any(|at| item_name(&self.now.text(at)) == item_name(text));
            }
            let is_around = opens_block(text)
                && indent(text).len() < depth
                && !ends_before_change(self.script, line.number);
            !is_around || replaced_by.any(|at| opens_block(&self.now.text(at)))
        })
    }

    /// Whether a line that is removed, or next to an insertion, occurs once in the version and once now, if not in the whole file
    /// then between two lines that do, or is attached to one. They show that it is the same part of the file, so it cannot be a
    /// twin's.
    fn is_pinned(&self) -> bool {
        let mut lines = self.deciding_lines().take(MAX_DECIDING_LINES);
        lines.any(|line| {
            let is_long = letters(&line.row.text) >= MIN_PINNING_LETTERS;
            (is_long && (self.occurs_once(line) || self.occurs_once_between_fixed_lines(line)))
                || (self.is_next_to_fixed_line(line) && !self.may_have_moved())
        })
    }

    /// Whether an unchanged line is long enough to identify a place and occurs once, in the earlier version and now.
    fn is_fixed(&self, earlier: usize) -> bool {
        let hash = self.earlier.squashed(earlier);
        letters(&self.earlier.text(earlier)) >= MIN_PINNING_LETTERS
            && self.map.now(earlier).is_some()
            && self.earlier.occurs_once(hash)
            && self.now.occurs_once(hash)
    }

    /// Whether a line is attached to one that occurs once in the version and once now: all lines between the two are the same,
    /// with nothing new among them.
    fn is_next_to_fixed_line(&self, line: &CarriedLine<'_>) -> bool {
        // A lone brace below another block is not attached to what is in that block.
        let is_above = self.has_fixed_line(line, Side::Above) && is_distinctive(&line.row.text);
        line.now.is_some()
            && (is_above || self.has_fixed_line_below_in_block(line))
            && !self.may_be_misaligned(line)
    }

    /// Whether one of the unchanged lines below a line occurs once and belongs to the same block. The heading of the next block
    /// shows only that the line ends some block.
    fn has_fixed_line_below_in_block(&self, line: &CarriedLine<'_>) -> bool {
        let unchanged = self.map.unchanged_around(line.earlier).lines;
        let depth_of = |at: usize| indent(&self.earlier.text(at)).len();
        let at = line.earlier;
        let depth = depth_of(at);
        let ends_block = at.checked_sub(1).is_some_and(|above| depth_of(above) > depth);
        let is_in_block = |below: &usize| match depth_of(*below).cmp(&depth) {
            Ordering::Greater => true,
            Ordering::Equal => !ends_block && !names_item(&self.earlier.text(*below)),
            Ordering::Less => false,
        };
        let end = unchanged.end.min(at + MAX_PINNING_DISTANCE).min(self.earlier.len());
        (at + 1..end).take_while(is_in_block).any(|at| self.is_fixed(at))
    }

    /// Whether a diff may as well pair a line with another one: an equal line was removed or added in the next changed range, and
    /// between the two is none that occurs once. If of two blocks that end alike one is removed, the end may be that of either.
    fn may_be_misaligned(&self, line: &CarriedLine<'_>) -> bool {
        let unchanged = self.map.unchanged_around(line.earlier);
        let is_in = |changed: &(Range<usize>, Range<usize>)| {
            let hash = self.earlier.squashed(line.earlier);
            has_line(&self.earlier, changed.0.clone(), hash) || has_line(self.now, changed.1.clone(), hash)
        };
        let slides = |side: Side, changed: Option<&(Range<usize>, Range<usize>)>| {
            changed.is_some_and(is_in) && !self.has_fixed_line(line, side)
        };
        line.now.is_some() && (slides(Side::Above, unchanged.above) || slides(Side::Below, unchanged.below))
    }

    /// Whether one of the unchanged lines next to a line occurs once in the version and once now.
    fn has_fixed_line(&self, line: &CarriedLine<'_>, side: Side) -> bool {
        let unchanged = self.map.unchanged_around(line.earlier).lines;
        let at = line.earlier;
        let mut lines = match side {
            Side::Above => unchanged.start.max(at.saturating_sub(MAX_PINNING_DISTANCE))..at,
            Side::Below => at + 1..unchanged.end.min(at + MAX_PINNING_DISTANCE).min(self.earlier.len()),
        };
        lines.any(|at| self.is_fixed(at))
    }

    fn occurs_once_between_fixed_lines(&self, line: &CarriedLine<'_>) -> bool {
        if line.now.is_none() {
            return false;
        }
        let at = line.earlier;
        let first = at.saturating_sub(MAX_PINNING_DISTANCE);
        let last = (at + MAX_PINNING_DISTANCE).min(self.earlier.len());
        let is_fixed = |at: &usize| self.is_fixed(*at);
        let (Some(above), Some(below)) = ((first..at).rev().find(is_fixed), (at + 1..last).find(is_fixed))
        else {
            return false;
        };
        let (Some(above_now), Some(below_now)) = (self.map.now(above), self.map.now(below)) else {
            return false;
        };
        let hash = self.earlier.squashed(at);
        let is_once = |index: &SearchIndex<'_>, mut lines: Range<usize>| {
            lines.clone().count() <= 2 * MAX_PINNING_DISTANCE
                && lines.by_ref().filter(|&at| index.squashed(at) == hash).count() == 1
        };
        is_once(&self.earlier, above + 1..below) && is_once(self.now, above_now + 1..below_now)
    }

    /// Whether most of the text is left. A diff may pair a line such as a lone brace with any equal line.
    fn is_mostly_there(&self) -> bool {
        let weight = |line: &CarriedLine<'_>| letters(&line.row.text).min(MAX_LINE_WEIGHT);
        let all: usize = self.lines.iter().map(weight).sum();
        let kept: usize = self.lines.iter().filter(|line| line.now.is_some()).map(weight).sum();
        MIN_LEFT.is_reached_by(kept, all)
    }

    /// Whether every added line replaces a removed one, or is between quoted lines that are both there, with nothing new between
    /// them. `now` says where a line is.
    fn additions_have_a_place(&self, now: impl Fn(&CarriedLine<'_>) -> Option<usize>) -> bool {
        let added = self.script.rows.iter().enumerate().filter(|(_, row)| row.role == Role::Added);
        added.map(|(number, _)| number).all(|number| {
            let next = self.lines.partition_point(|line| line.number < number);
            let before = next.checked_sub(1).map(|n| &self.lines[n]);
            let after = self.lines.get(next);
            let is_removed =
                |line: Option<&CarriedLine<'_>>| line.is_some_and(|line| line.row.role == Role::Removed);
            if is_removed(before) || is_removed(after) {
                return true;
            }
            match (before.map(&now), after.map(&now)) {
                (Some(Some(before)), Some(Some(after))) => after == before + 1,
                (Some(Some(_)), None) | (None, Some(Some(_))) => true,
                _ => false,
            }
        })
    }
}
