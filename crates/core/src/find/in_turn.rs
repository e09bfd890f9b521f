//! Batches that are applied in turn: each edit is resolved against the result of the ones before it.
//!
//! Building that result for every edit would cost edits × file size. But most edits of a batch have nothing to do with each
//! other, and for those it makes no difference whether they are resolved against the original or against the result of the
//! others. So the batch is resolved in rounds. A round takes edits, in order, as long as each of them finds in the round's
//! text exactly what it would find when its turn comes; then all of them are applied at once. An edit depends on an
//! earlier one of the round if
//!
//! - it, or the text next to it that decides how it is applied, overlaps what the earlier one replaced; whole lines next to
//!   each other do not, as long as a line still starts where they meet, or
//! - the earlier one, with the text around it, contains the edit's old text: replacing `a` with `b` in `ac` creates `bc`.
//!
//! A batch of independent edits takes a few rounds, whatever its size. Where a round ends early, and in a file with lone `\r`,
//! where edits affect how others are written, a pass over `excerpts` takes those that depend on each other.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use aho_corasick::{AhoCorasick, MatchKind};

use super::combine::{combine, lines_covered_by};
use super::file_text::FileText;
use super::limits::{Budget, FIRST_ROUND, MAX_EXCERPT_ROUND, MAX_INDENTATION_BYTES, MAX_TRACKED_BYTES};
use super::resolved_edit::ResolvedEdit;
use super::text::ExactMatches;
use super::{EditFailure, Finder, NumberedOperation, split_results};
use crate::change::{FileChange, LineTotals, PlacedEdit, Rung};
use crate::plan::{NewlineStyle, Operation};
use crate::snapshot::Snapshot;
use slipstitch_text::{Newline, NewlineCounts, Span, canonical};

/// What a batch did to a file.
#[derive(Default)]
pub(super) struct TurnsTaken {
    /// Edits that found no place. They are skipped, so that all failures are reported.
    pub(super) failures: Vec<EditFailure>,
    /// How many times the text was built.
    pub(super) texts_built: usize,
}

impl Finder<'_> {
    /// Applies operations in turn.
    pub(super) fn resolve_in_turn(
        &self,
        change: &mut FileChange,
        operations: &[NumberedOperation<'_>],
        snapshot: &Snapshot,
        budget: &Rc<Budget>,
    ) -> TurnsTaken {
        let mut taken = TurnsTaken::default();
        let mut latest: Option<Snapshot> = None;
        let mut rest = operations;
        let mut size = FIRST_ROUND;
        let (mut has_ended_early, mut excerpt_size) = (false, FIRST_ROUND);
        while !rest.is_empty() && !budget.is_cancelled() {
            let current = latest.as_ref().unwrap_or(snapshot);
            if (has_ended_early || current.newlines().cr > 0) && !may_change_view(current) {
                let candidates = &rest[..short_replacements(rest, excerpt_size)];
                let pass = self.resolve_in_excerpts(candidates, current, &change.path, budget);
                let count = pass.as_ref().map_or(0, |pass| pass.taken);
                excerpt_size = if count == candidates.len() { 4 * count } else { 2 * count };
                excerpt_size = excerpt_size.clamp(FIRST_ROUND / 8, MAX_EXCERPT_ROUND);
                has_ended_early = false;
                if let Some(pass) = pass {
                    change.edits.extend(pass.placed);
                    change.splices = change.splices.then(&pass.splices);
                    latest = Some(current.successor(pass.splices.apply(current.bytes())));
                    taken.texts_built += 1;
                    rest = &rest[count..];
                    continue;
                }
            }
            let candidates = &rest[..round_length(rest, current, size)];
            let file = FileText::new(current, &change.path, self.versions, candidates.len(), budget)
                .in_run(self.run);
            let round = self.resolve_round(candidates, &file);
            let combined = match round.edits[..] {
                [] => None,
                _ => Some(combine(&round.edits, self.rules.newline, current)),
            };
            match combined {
                // One of them cannot be applied. Alone, it will fail with its own reason.
                Some(Err(_)) if round.edits.len() > 1 => {
                    size = 1;
                    continue;
                }
                Some(Err(failures)) => taken.failures.extend(failures),
                Some(Ok(combined)) => {
                    change.edits.extend(lines_in_turn(&round.edits, current));
                    change.splices = change.splices.then(&combined.splices);
                    let text = combined.splices.apply(current.bytes());
                    change.notes.extend(round.edits.into_iter().flat_map(|edit| edit.notes));
                    let next = current.successor(text);
                    taken.texts_built += 1;
                    latest = Some(next);
                }
                None => {}
            }
            taken.failures.extend(round.failures);
            has_ended_early = round.taken < candidates.len();
            size = if has_ended_early { 2 * round.taken } else { size.saturating_mul(4) };
            rest = &rest[round.taken..];
        }
        let after = latest.as_ref().unwrap_or(snapshot).line_count();
        change.totals = Some(LineTotals { before: snapshot.line_count(), after });
        taken
    }

    /// Resolves operations as long as they do not depend on each other, and at least one of them.
    fn resolve_round(&self, operations: &[NumberedOperation<'_>], file: &FileText<'_>) -> Round {
        if let [(edit, operation)] = operations {
            let alone = self.resolve_operations(std::slice::from_ref(*operation), *edit, file);
            let (edits, failures) = split_results(alone);
            return Round { edits, failures, taken: 1 };
        }
        let matches = ExactMatches::find(operations, self.rules, file);
        let mut changed = ChangedText::new(&matches, operations.len(), self.rules.newline, file.snapshot);
        let mut round = Round::default();
        for at in 0..operations.len() {
            // The round's text is the one that this operation applies to.
            let is_next = round.edits.is_empty();
            if !is_next && (!matches.is_decided(at) || changed.affects(at, matches.spans(at))) {
                break;
            }
            match matches.resolve(at) {
                Ok(edit) => {
                    let is_exact = edit.rung == Rung::Exact;
                    // A note names lines, and those of the round's text may not be those of the text at its turn.
                    let is_unaffected = is_exact && edit.notes.is_empty() && changed.keeps_newlines(&edit);
                    if !is_next && !is_unaffected {
                        break;
                    }
                    round.taken = at + 1;
                    changed.add(&edit);
                    round.edits.push(edit);
                    if !is_exact {
                        break;
                    }
                }
                Err(_) if !is_next => break,
                Err(failure) => {
                    round.taken = at + 1;
                    round.failures.push(failure);
                }
            }
        }
        round
    }
}

/// Some operations that were resolved against the same text.
#[derive(Default)]
struct Round {
    edits: Vec<ResolvedEdit>,
    failures: Vec<EditFailure>,
    /// How many operations that is, from the first.
    taken: usize,
}

/// How many operations are tried in one round: replacements of short texts, at most `size` of them. All others get a round
/// of their own, and so do all in a file with lone `\r`, where edits affect how others are written.
fn round_length(rest: &[NumberedOperation<'_>], current: &Snapshot, size: usize) -> usize {
    if current.newlines().cr > 0 || may_change_view(current) {
        return 1;
    }
    short_replacements(rest, size).max(1)
}

/// Whether new lines may get an ending that the text does not have yet, which would invalidate the offsets and needles of its view.
fn may_change_view(current: &Snapshot) -> bool {
    current.newlines() == NewlineCounts::default() && current.dominant_newline() != Newline::Lf
}

/// How many operations, at most `size` and from the first, replace a short text.
fn short_replacements(rest: &[NumberedOperation<'_>], size: usize) -> usize {
    let is_short = |(_, operation): &&NumberedOperation<'_>| matches!(operation, Operation::Replace { old, within: None, .. } if old.len() <= MAX_TRACKED_BYTES);
    rest.iter().take(size).take_while(is_short).count()
}

/// The lines that each edit covers when its turn comes: earlier edits above it have moved them.
fn lines_in_turn(edits: &[ResolvedEdit], snapshot: &Snapshot) -> Vec<PlacedEdit> {
    let mut starts: Vec<usize> =
        edits.iter().flat_map(|edit| edit.spans.iter().map(|span| span.start())).collect();
    starts.sort_unstable();
    let mut gained = PrefixSums::new(starts.len());
    let mut all = Vec::with_capacity(edits.len());
    for edit in edits {
        let rank = |start: usize| starts.partition_point(|&other| other < start);
        let mut covered = lines_covered_by(edit, snapshot);
        let places = covered.iter_mut().flat_map(|placed| &mut placed.places);
        for (place, span) in places.zip(&edit.spans) {
            let shift = gained.before(rank(span.start()));
            place.before.start = place.before.start.strict_add_signed(shift);
            place.after.start = place.after.start.strict_add_signed(shift);
        }
        all.extend(covered);
        let added = count_newlines(edit.new.as_bytes());
        for span in &edit.spans {
            let lines = added as isize - count_newlines(span.of(snapshot.text())) as isize;
            gained.add(rank(span.start()), lines);
        }
    }
    all
}

fn count_newlines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Sums over the first numbers of a list, each in logarithmic time (a Fenwick tree).
struct PrefixSums(Vec<isize>);

impl PrefixSums {
    fn new(length: usize) -> Self {
        Self(vec![0; length + 1])
    }

    fn add(&mut self, index: usize, value: isize) {
        let mut at = index + 1;
        while at < self.0.len() {
            self.0[at] += value;
            at += at & at.wrapping_neg();
        }
    }

    /// The sum of all numbers before an index.
    fn before(&self, index: usize) -> isize {
        let mut at = index;
        let mut sum = 0;
        while at > 0 {
            sum += self.0[at];
            at -= at & at.wrapping_neg();
        }
        sum
    }
}

/// A text with the edits of a round, as far as later edits can depend on it.
struct ChangedText<'a> {
    snapshot: &'a Snapshot,
    newline: NewlineStyle,
    /// Replaced spans by their start: their end, and the number of their new text.
    replaced: BTreeMap<usize, (usize, usize)>,
    new_texts: Vec<Vec<u8>>,
    /// Finds the old text of every operation.
    searcher: Option<AhoCorasick>,
    /// The number of each operation's old text in the searcher.
    needles: Vec<usize>,
    /// The old texts that an edit of the round has created.
    created: Vec<bool>,
    longest: usize,
    /// How many newlines the edits have removed, and how many they have added.
    newlines_removed: usize,
    newlines_added: usize,
}

impl<'a> ChangedText<'a> {
    fn new(
        matches: &ExactMatches<'_, '_>,
        count: usize,
        newline: NewlineStyle,
        snapshot: &'a Snapshot,
    ) -> Self {
        let mut numbers: HashMap<&[u8], usize> = HashMap::new();
        let mut distinct: Vec<&[u8]> = Vec::new();
        let needles = (0..count)
            .map(|at| {
                let needle = matches.needle(at);
                *numbers.entry(needle).or_insert_with(|| {
                    distinct.push(needle);
                    distinct.len() - 1
                })
            })
            .collect();
        Self {
            snapshot,
            newline,
            replaced: BTreeMap::new(),
            new_texts: Vec::new(),
            longest: distinct.iter().map(|needle| needle.len()).max().unwrap_or(0),
            created: vec![false; distinct.len()],
            searcher: AhoCorasick::builder().match_kind(MatchKind::Standard).build(&distinct).ok(),
            needles,
            newlines_removed: 0,
            newlines_added: 0,
        }
    }

    /// Whether the edits so far affect the matches of an operation.
    fn affects(&self, operation: usize, spans: impl Iterator<Item = Span>) -> bool {
        // Without a searcher nothing is known about the old texts.
        self.searcher.is_none()
            || self.created[self.needles[operation]]
            || spans.into_iter().any(|span| self.touches(span))
    }

    /// Whether an edit replaced text that a span covers, or text next to it that decides how it is applied.
    fn touches(&self, span: Span) -> bool {
        let Some(context) = self.context_start(span.start()) else { return true };
        let last = self.replaced.range(..self.context_end(span)).next_back();
        let Some((_, &(replaced_end, _))) = last else { return false };
        if replaced_end > span.start() {
            return true;
        }
        replaced_end > context && !self.still_starts_line(span.start())
    }

    /// The end of the text after a match that decides how it is applied: whether a line ends there, unless the match ends it.
    fn context_end(&self, span: Span) -> usize {
        let text = self.snapshot.text();
        if span.of(text).ends_with(b"\n") && !self.snapshot.newlines().is_mixed() {
            return span.end();
        }
        let is_crlf = text.get(span.end()) == Some(&b'\r');
        span.end() + if is_crlf { 2 } else { 1 }
    }

    /// Whether a line starts at an offset in the round's text and in the changed text. No edit may have replaced text on
    /// both sides of the offset.
    fn still_starts_line(&self, at: usize) -> bool {
        !self.snapshot.newlines().is_mixed()
            && self.snapshot.text()[..at].ends_with(b"\n")
            && self.before(at, 1) == b"\n"
    }

    /// The start of the text before a match that decides how it is applied: the indentation and the byte before it, or in a
    /// file with mixed newlines the end of the line before. `None` if that is too far away.
    fn context_start(&self, at: usize) -> Option<usize> {
        let text = self.snapshot.text();
        let from = at.saturating_sub(MAX_INDENTATION_BYTES);
        let before = &text[from..at];
        let found = if self.snapshot.newlines().is_mixed() && self.newline == NewlineStyle::Nearby {
            memchr::memrchr(b'\n', before)
        } else {
            // Some white space is not ASCII.
            before.iter().rposition(|byte| *byte == b'\n' || (byte.is_ascii() && !byte.is_ascii_whitespace()))
        };
        match found {
            Some(found) => Some(from + found),
            None if from == 0 => Some(0),
            None => None,
        }
    }

    /// Whether the edits so far have left the file's line endings as they were, for an edit that writes some.
    fn keeps_newlines(&self, edit: &ResolvedEdit) -> bool {
        if !edit.new.contains('\n') {
            return true;
        }
        let counts = self.snapshot.newlines();
        if counts.is_mixed() {
            // The most frequent kind stays the most frequent one if fewer have changed than it is ahead.
            return self.newlines_removed + self.newlines_added < counts.crlf.abs_diff(counts.lf);
        }
        let total = counts.crlf + counts.lf;
        total == 0 || self.newlines_removed < total
    }

    fn add(&mut self, edit: &ResolvedEdit) {
        let new = self.snapshot.needle(&canonical(&edit.new)).into_owned().into_bytes();
        let number = self.new_texts.len();
        self.newlines_added += edit.spans.len() * count_newlines(&new);
        for span in &edit.spans {
            self.newlines_removed += count_newlines(span.of(self.snapshot.text()));
        }
        self.new_texts.push(new);
        for span in &edit.spans {
            self.replaced.insert(span.start(), (span.end(), number));
        }
        for span in &edit.spans {
            self.note_created(*span, number);
        }
    }

    /// Finds the old texts that contain something of a new text.
    fn note_created(&mut self, span: Span, number: usize) {
        let Some(searcher) = &self.searcher else { return };
        let context = self.longest.saturating_sub(1);
        let mut text = self.before(span.start(), context);
        let start = text.len();
        text.extend_from_slice(&self.new_texts[number]);
        let end = text.len();
        self.push_after(span.end(), context, &mut text);
        for found in searcher.find_overlapping_iter(&text) {
            if found.start() < end.max(start) && found.end() > start {
                self.created[found.pattern().as_usize()] = true;
            }
        }
    }

    /// The last `length` bytes of the changed text before an offset of the round's text.
    fn before(&self, at: usize, length: usize) -> Vec<u8> {
        let old = self.snapshot.text();
        let mut reversed: Vec<&[u8]> = Vec::new();
        let (mut position, mut left) = (at, length);
        for (&start, &(end, number)) in self.replaced.range(..at).rev() {
            let kept = &old[end..position];
            reversed.push(&kept[kept.len().saturating_sub(left)..]);
            left = left.saturating_sub(kept.len());
            let new = &self.new_texts[number];
            reversed.push(&new[new.len().saturating_sub(left)..]);
            left = left.saturating_sub(new.len());
            position = start;
            if left == 0 {
                break;
            }
        }
        reversed.push(&old[position.saturating_sub(left)..position]);
        reversed.into_iter().rev().flatten().copied().collect()
    }

    /// Appends the first `length` bytes of the changed text after an offset of the round's text.
    fn push_after(&self, at: usize, length: usize, out: &mut Vec<u8>) {
        let old = self.snapshot.text();
        let until = out.len() + length;
        let mut position = at;
        for (&start, &(end, number)) in self.replaced.range(at..) {
            out.extend_from_slice(&old[position..start.min(position + until - out.len())]);
            position = end;
            if out.len() >= until {
                break;
            }
            out.extend_from_slice(&self.new_texts[number]);
            if out.len() >= until {
                break;
            }
        }
        if out.len() < until {
            out.extend_from_slice(&old[position..old.len().min(position + until - out.len())]);
        }
        out.truncate(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::CancelToken;
    use crate::change::{Base, PathChange};
    use crate::find::limits::MAX_EXCERPT_BYTES;
    use crate::path::FilePath;
    use crate::plan::{EditRules, Run, Which};
    use crate::snapshot::{FileContent, Meta, Snapshots};
    use slipstitch_text::{EncodingRule, Splices};

    fn replace(old: &str, new: &str) -> Operation {
        Operation::Replace { old: old.into(), new: new.into(), which: Which::Unique, within: None }
    }

    /// Applies operations in turn; returns the new text and what it took.
    fn apply(text: &str, operations: &[Operation]) -> (String, TurnsTaken) {
        let (change, taken) = run(text, operations);
        (String::from_utf8(change.splices.apply(text.as_bytes())).unwrap(), taken)
    }

    /// The first line of each edit when its turn comes.
    fn lines_of(text: &str, operations: &[Operation]) -> (Vec<usize>, TurnsTaken) {
        let (change, taken) = run(text, operations);
        (change.edits.iter().map(|edit| edit.places[0].before.start).collect(), taken)
    }

    fn run(text: &str, operations: &[Operation]) -> (FileChange, TurnsTaken) {
        let content = FileContent { bytes: text.as_bytes().to_vec().into(), meta: Meta::default() };
        let snapshot = Snapshot::new(content, EncodingRule::Detect);
        let seen = Snapshots::default();
        let cancel = CancelToken::default();
        let finder = Finder {
            rules: EditRules::STRICT,
            run: Run::Real,
            seen: &seen,
            versions: &(),
            cancel: &cancel,
            located: &BTreeMap::new(),
        };
        let mut change = FileChange {
            path: FilePath::from_record("f").unwrap(),
            base: Base::Content(snapshot.hash()),
            path_change: PathChange::Keep,
            splices: Splices::none(text.len()),
            after: None,
            mode: None,
            executable: None,
            restore: Default::default(),
            edits: Vec::new(),
            notes: Vec::new(),
            totals: None,
        };
        let numbered: Vec<NumberedOperation<'_>> = (1..).zip(operations).collect();
        let budget = Rc::new(Budget::new(&cancel));
        let taken = finder.resolve_in_turn(&mut change, &numbered, &snapshot, &budget);
        (change, taken)
    }

    /// Work that grows with edits × file would show as a text built per edit.
    #[test]
    fn independent_edits_take_few_texts_however_many_they_are() {
        for count in [100, 1_000, 10_000] {
            let text: String = (0..count).map(|n| format!("line {n} old\n")).collect();
            let edits: Vec<Operation> = (0..count)
                .map(|n| replace(&format!("line {n} old"), &format!("line {n} new\nmore")))
                .collect();
            let (after, taken) = apply(&text, &edits);
            assert!(taken.failures.is_empty() && after == text.replace("old", "new\nmore"));
            assert!(taken.texts_built <= 8, "{} texts for {count} edits", taken.texts_built);
        }
    }

    /// The old texts are whole lines next to each other, in any order, and the new ones have more lines, as many or none.
    #[test]
    fn edits_of_adjacent_lines_take_few_texts_however_many_they_are() {
        for newline in ["\n", "\r\n"] {
            for new in ["new\nmore\n", "new\n", ""] {
                for count in [100, 2_000] {
                    let text: String = (0..count).map(|n| format!("line {n} old{newline}")).collect();
                    let text = format!("first{newline}{text}");
                    let edit_of = |n: usize| match new {
                        "" => replace(&format!("line {n} old\n"), ""),
                        _ => replace(&format!("line {n} old\n"), &format!("line {n} {new}")),
                    };
                    let forwards: Vec<Operation> = (0..count).map(edit_of).collect();
                    let backwards: Vec<Operation> = (0..count).rev().map(edit_of).collect();
                    let want = match new {
                        "" => format!("first{newline}"),
                        _ => text.replace(&format!("old{newline}"), &new.replace('\n', newline)),
                    };
                    for edits in [forwards, backwards] {
                        let (after, taken) = apply(&text, &edits);
                        assert!(taken.failures.is_empty() && after == want, "{newline:?} {new:?} {count}");
                        assert!(taken.texts_built <= 8, "{} texts for {count} edits", taken.texts_built);
                    }
                }
            }
        }
    }

    #[test]
    fn independent_edits_of_one_line_take_few_texts() {
        let text: String = (0..5_000).map(|n| format!("f({n});")).collect();
        let edits: Vec<Operation> =
            (0..5_000).map(|n| replace(&format!("f({n})"), &format!("g({n}, 0)"))).collect();
        let (after, taken) = apply(&text, &edits);
        assert!(taken.failures.is_empty() && after.starts_with("g(0, 0);g(1, 0);"), "{}", &after[..40]);
        assert!(taken.texts_built <= 8, "{} texts", taken.texts_built);
    }

    /// The same, with a text built for every edit.
    fn apply_naively(text: &str, edits: &[(String, String)]) -> String {
        edits.iter().fold(text.to_owned(), |text, (old, new)| {
            assert_eq!(text.matches(old.as_str()).count(), 1, "{old}");
            text.replacen(old.as_str(), new, 1)
        })
    }

    fn assert_few_texts(text: &str, edits: &[(String, String)], limit: usize) {
        let operations: Vec<Operation> = edits.iter().map(|(old, new)| replace(old, new)).collect();
        let (after, taken) = apply(text, &operations);
        assert!(taken.failures.is_empty(), "{:?}", taken.failures.first());
        assert!(after == apply_naively(text, edits));
        assert!(taken.texts_built <= limit, "{} texts for {} edits", taken.texts_built, edits.len());
    }

    /// Each edit changes what the one before it wrote.
    #[test]
    fn a_chain_of_edits_takes_few_texts() {
        let filler: String = (0..5_000).map(|n| format!("line {n} that stays\n")).collect();
        let chain = |count: usize, end: &str| -> Vec<(String, String)> {
            (0..count).map(|n| (format!("v = {n}{end}"), format!("v = {}{end}", n + 1))).collect()
        };
        for text in
            [format!("v = 0;\n{filler}"), format!("{filler}v = 0;\n{filler}"), format!("{filler}v = 0;")]
        {
            assert_few_texts(&text, &chain(2_000, ";"), 20);
        }
        // The chain moves through the file, one line at a time.
        let text = format!("mark\n{filler}");
        let moving: Vec<(String, String)> = (0..2_000)
            .map(|n| (format!("mark\nline {n} that stays\n"), format!("line {n} passed\nmark\n")))
            .collect();
        assert_few_texts(&text, &moving, 20);
        // Several chains in turn, far from each other, and edits of their own in between.
        let text: String = (0..50).map(|at| format!("at {at}: v = 0;\n{}", &filler[..4_000])).collect();
        let several: Vec<(String, String)> = (0..1_000)
            .map(|n| {
                let (at, step) = (n % 50, n / 50);
                (format!("at {at}: v = {step};"), format!("at {at}: v = {};", step + 1))
            })
            .collect();
        assert_few_texts(&text, &several, 20);
    }

    #[test]
    fn edits_of_a_file_with_lone_carriage_returns_take_few_texts() {
        // Excerpts grow into each other until one is too large. How often that happens depends on the file, not on the edits.
        for filler in ["x".repeat(600), String::new()] {
            for newline in ["\n", "\r"] {
                let lines = (0..400).map(|n| format!("line {n} old{newline}{filler}{newline}"));
                let text: String = lines.collect();
                let text = format!("progress 1%\rprogress 2%{newline}{text}done 1%\rdone 2%{newline}");
                let limit = 10 + 2 * text.len() / MAX_EXCERPT_BYTES;
                let edit_of = |n: usize| (format!("line {n} old"), format!("line {n} new"));
                assert_few_texts(&text, &(0..400).map(edit_of).collect::<Vec<_>>(), limit);
                assert_few_texts(&text, &(0..400).rev().map(edit_of).collect::<Vec<_>>(), limit);
                let apart = (0..400).map(|n| edit_of(n * 617 % 400)).collect::<Vec<_>>();
                assert_few_texts(&text, &apart, limit);
            }
        }
    }

    /// Lines are counted as they are when an edit's turn comes.
    #[test]
    fn a_chain_reports_the_lines_of_each_turn() {
        let filler: String = (0..500).map(|n| format!("line {n} that stays\n")).collect();
        let text = format!("{filler}v = 0;\n{filler}w = 0;\n");
        let edits = [("v = 0;", "v =\n1;"), ("1;", "2;"), ("w = 0;", "w = 1;"), ("w = 1;", "w = 2;")];
        let operations: Vec<Operation> = edits.iter().map(|(old, new)| replace(old, new)).collect();
        let (lines, taken) = lines_of(&text, &operations);
        assert!(taken.failures.is_empty());
        assert_eq!(lines, [501, 502, 1003, 1003]);
    }

    #[test]
    fn an_edit_sees_what_the_ones_before_it_wrote() {
        for (text, edits, want) in [
            ("a\nx\n", &[("a", "b"), ("b", "c")][..], "c\nx\n"),
            ("ac\nx\n", &[("a", "b"), ("bc", "d")], "d\nx\n"),
            ("xac\n", &[("a", ""), ("xc", "d")], "d\n"),
            ("a\nb\n", &[("a", "1"), ("b", "2"), ("1\n2", "3")], "3\n"),
            ("a\nb\nc\n", &[("a\n", "1\n"), ("b\n", "2\n"), ("1\n2\n", "3\n")], "3\nc\n"),
            ("x\na\nb\n", &[("a\n", ""), ("x\nb\n", "3\n")], "3\n"),
            ("x\na\nb\nc\n", &[("b\n", ""), ("a\n", ""), ("x\nc", "3")], "3\n"),
        ] {
            let edits: Vec<Operation> = edits.iter().map(|(old, new)| replace(old, new)).collect();
            let (after, taken) = apply(text, &edits);
            assert!(taken.failures.is_empty(), "{:?}", taken.failures);
            assert_eq!(after, want);
        }
    }

    #[test]
    fn an_edit_that_became_ambiguous_or_lost_its_text_fails() {
        for edits in [[("x", "a"), ("a", "b")], [("a", "x"), ("a", "b")]] {
            let edits: Vec<Operation> = edits.iter().map(|(old, new)| replace(old, new)).collect();
            let (_, taken) = apply("a\nx\n", &edits);
            assert_eq!(taken.failures.iter().map(|(edit, _)| *edit).collect::<Vec<_>>(), [2]);
        }
        let edits = [replace("x", "a"), replace("a\n", "b\n")];
        assert_eq!(apply("a\nx\n", &edits).1.failures.len(), 1);
    }

    #[test]
    fn prefix_sums_add_up() {
        let mut sums = PrefixSums::new(4);
        sums.add(1, 5);
        sums.add(3, -2);
        assert_eq!((0..=4).map(|at| sums.before(at)).collect::<Vec<_>>(), [0, 0, 5, 5, 3]);
    }
}
