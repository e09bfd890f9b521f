//! Edits that depend on each other, or on how the lines around them end, without building the text for each of them.
//!
//! Such an edit is applied to an excerpt: the lines around its match, cut out of the text with a margin. Where the old text
//! of a later edit occurs is known without searching the text again: where it occurred at first and no excerpt was cut out,
//! and in the excerpts, which are searched whenever they change. Nothing that an edit creates can reach over the edge of
//! its excerpt, because the margin is longer than every old text. So a chain of edits costs the text once, and then an
//! excerpt per edit.
//!
//! Only what is certain is done here: exact, unique matches without remarks. The first edit for which that is not so ends the
//! pass, and is resolved against the whole text.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use aho_corasick::{AhoCorasick, MatchKind};

use super::combine::{combine, lines_covered_by};
use super::file_text::FileText;
use super::limits::{Budget, EXCERPT_MARGIN, MAX_EXCERPT_BYTES, MAX_EXCERPTS};
use super::search::{Hits, Needle, search};
use super::{Finder, NumberedOperation};
use crate::change::{PlacedEdit, Rung};
use crate::path::FilePath;
use crate::plan::{NewlineStyle, Operation, Which};
use crate::snapshot::Snapshot;
use slipstitch_text::{Encoding, NewlineCounts, Span, Splice, Splices, canonical};

/// What a pass did.
pub(super) struct ExcerptPass {
    /// How many operations were applied, from the first.
    pub(super) taken: usize,
    pub(super) placed: Vec<PlacedEdit>,
    /// All of them together.
    pub(super) splices: Splices,
}

impl Finder<'_> {
    /// Applies operations in turn, as long as each is certain; `None` if the first one is not.
    pub(super) fn resolve_in_excerpts(
        &self,
        operations: &[NumberedOperation<'_>],
        base: &Snapshot,
        path: &FilePath,
        budget: &Rc<Budget>,
    ) -> Option<ExcerptPass> {
        if base.encoding() != Encoding::Utf8 || operations.is_empty() {
            return None;
        }
        let mut excerpts = Excerpts::new(operations, self.rules.newline, base)?;
        let mut placed = Vec::new();
        let mut taken = 0;
        for (at, operation) in operations.iter().enumerate() {
            if budget.is_cancelled() {
                break;
            }
            let Some(edit) = self.resolve_in_excerpt(&mut excerpts, at, operation, (path, budget)) else {
                break;
            };
            placed.extend(edit);
            taken = at + 1;
        }
        (taken > 0).then(|| ExcerptPass { taken, placed, splices: excerpts.splices() })
    }

    /// Applies one operation to the excerpt that contains its only match; `None` if anything about it is not certain.
    fn resolve_in_excerpt(
        &self,
        excerpts: &mut Excerpts<'_>,
        at: usize,
        &(number, operation): &NumberedOperation<'_>,
        (path, budget): (&FilePath, &Rc<Budget>),
    ) -> Option<Vec<PlacedEdit>> {
        let start = excerpts.find_only_match(at)?;
        let excerpt = &excerpts.list[&start];
        let file = FileText::new(&excerpt.text, path, &(), 1, budget).in_run(self.run);
        let mut resolved = self.resolve_operations(std::slice::from_ref(operation), number, &file);
        let edit = resolved.pop()?.ok()?;
        if edit.rung != Rung::Exact || !edit.notes.is_empty() {
            return None;
        }
        let edits = [edit];
        let combined = combine(&edits, self.rules.newline, &excerpt.text).ok()?;
        let text = excerpt.text.successor(combined.splices.apply(excerpt.text.bytes()));
        let removed = total(excerpt.text.newlines()).saturating_sub(total(text.newlines()));
        if !excerpts.accepts(&text) || !excerpts.keeps_newlines(removed) {
            return None;
        }
        let shift = excerpts.line_shift(start);
        let mut placed = lines_covered_by(&edits[0], &excerpt.text);
        for place in placed.iter_mut().flat_map(|placed| &mut placed.places) {
            place.before.start = place.before.start.strict_add_signed(shift);
            place.after.start = place.after.start.strict_add_signed(shift);
        }
        let placed = placed.into_iter().collect();
        excerpts.newlines_removed += removed;
        excerpts.replace(start, text, &combined.splices);
        Some(placed)
    }
}

/// A part of the text, cut out at the start and the end of lines.
struct Excerpt {
    /// Where it was in the text, before any edit.
    view: Span,
    raw: Span,
    /// What it has become.
    text: Snapshot,
    splices: Splices,
    /// How many lines it has more than before.
    lines_gained: isize,
    /// How often each old text occurs in it, and where it does first.
    found: HashMap<usize, (usize, usize)>,
}

fn total(counts: NewlineCounts) -> usize {
    counts.lf + counts.crlf + counts.cr
}

/// All excerpts of a text.
struct Excerpts<'a> {
    base: &'a Snapshot,
    newline: NewlineStyle,
    /// The matches of each operation in the text, before any edit.
    hits: Vec<Hits>,
    /// The number of each operation's old text.
    needles: Vec<usize>,
    texts: Vec<Vec<u8>>,
    searcher: AhoCorasick,
    /// More than the length of every old text, and of what decides how an edit is applied.
    margin: usize,
    /// By where they start.
    list: BTreeMap<usize, Excerpt>,
    /// How often each old text occurs in all excerpts.
    counts: Vec<usize>,
    newlines_removed: usize,
}

impl<'a> Excerpts<'a> {
    fn new(operations: &[NumberedOperation<'_>], newline: NewlineStyle, base: &'a Snapshot) -> Option<Self> {
        let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut texts: Vec<Vec<u8>> = Vec::new();
        let mut needles = Vec::new();
        for (_, operation) in operations {
            let Operation::Replace { old, which: Which::Unique, within: None, .. } = operation else { break };
            if old.trim().is_empty() {
                break;
            }
            let needle = base.needle(&canonical(old)).into_owned().into_bytes();
            needles.push(*numbers.entry(needle).or_insert_with_key(|needle| {
                texts.push(needle.clone());
                texts.len() - 1
            }));
        }
        if texts.is_empty() {
            return None;
        }
        let within = Span::new(0, base.text().len());
        let wanted: Vec<Needle<'_>> = texts.iter().map(|text| Needle { text, within, keep: 2 }).collect();
        Some(Self {
            base,
            newline,
            hits: search(base.text(), &wanted),
            needles,
            margin: texts.iter().map(Vec::len).max().unwrap_or(0) + EXCERPT_MARGIN,
            searcher: AhoCorasick::builder().match_kind(MatchKind::Standard).build(&texts).ok()?,
            counts: vec![0; texts.len()],
            texts,
            list: BTreeMap::new(),
            newlines_removed: 0,
        })
    }

    /// The excerpt with the only match of an operation, far enough from its edges. It is cut out if necessary.
    fn find_only_match(&mut self, operation: usize) -> Option<usize> {
        let needle = *self.needles.get(operation)?;
        let length = self.texts[needle].len();
        let hits = &self.hits[needle];
        if hits.count > hits.starts.len() {
            return None;
        }
        let mut outside = Vec::new();
        for &start in &hits.starts {
            let span = Span::new(start, start + length);
            match self.excerpt_at(span) {
                Place::Inside => {}
                Place::Outside => outside.push(span),
                Place::OverEdge => return None,
            }
        }
        match (outside[..].first(), outside.len() + self.counts[needle]) {
            (Some(&span), 1) => self.cut_out(span),
            (None, 1) => {
                let (&start, excerpt) = self.list.iter().find(|(_, one)| one.found.contains_key(&needle))?;
                let (_, at) = excerpt.found[&needle];
                if self.is_far_from_edges(excerpt, Span::new(at, at + length)) {
                    return Some(start);
                }
                let start = self.cut_out(excerpt.view)?;
                let excerpt = &self.list[&start];
                let (_, at) = *excerpt.found.get(&needle)?;
                self.is_far_from_edges(excerpt, Span::new(at, at + length)).then_some(start)
            }
            _ => None,
        }
    }

    fn excerpt_at(&self, span: Span) -> Place {
        let last = self.list.range(..span.end()).next_back();
        match last.map(|(_, excerpt)| excerpt.view) {
            Some(view) if view.start() <= span.start() && span.end() <= view.end() => Place::Inside,
            Some(view) if view.end() > span.start() => Place::OverEdge,
            _ => Place::Outside,
        }
    }

    /// Whether a span of an excerpt, with the line around it, is more than the margin away from where it was cut.
    fn is_far_from_edges(&self, excerpt: &Excerpt, span: Span) -> bool {
        let text = excerpt.text.text();
        let starts_file = excerpt.view.start() == 0;
        let ends_file = excerpt.view.end() == self.base.text().len();
        let line_start = memchr::memrchr(b'\n', &text[..span.start()]).unwrap_or(0);
        let line_end = memchr::memchr(b'\n', &text[span.end()..]).map_or(text.len(), |end| span.end() + end);
        (starts_file || line_start >= self.margin) && (ends_file || text.len() - line_end > self.margin)
    }

    /// Makes a span of the text, with lines around it, part of one excerpt.
    fn cut_out(&mut self, span: Span) -> Option<usize> {
        let base = self.base;
        let end = base.text().len();
        // Twice as much as needed, so that not every edit widens it.
        let reach = 2 * self.margin;
        let first = base.line_of(span.start().saturating_sub(reach));
        let last = base.line_of((span.end() + reach).min(end));
        let (mut start, mut stop) = (
            base.line_span(first).start(),
            base.line_span(last.min(base.line_count())).end().max(span.end()),
        );
        // Another excerpt may be the next on either side, if its edge is far enough away.
        let line = Span::new(
            base.line_span(base.line_of(span.start())).start(),
            base.line_span(base.line_of(span.end())).end(),
        );
        if let Some((_, previous)) = self.list.range(..span.start()).next_back()
            && previous.view.end() + self.margin < line.start()
        {
            start = start.max(previous.view.end());
        }
        if let Some((&next, _)) = self.list.range(span.end()..).next()
            && line.end() + self.margin < next
        {
            stop = stop.min(next);
        }
        let first_touched = self.list.range(..=start).next_back().map_or(start, |(&at, _)| at);
        let around: Vec<Span> =
            self.list.range(first_touched..stop).map(|(_, excerpt)| excerpt.view).collect();
        for part in around {
            if part.start() < stop && part.end() > start {
                (start, stop) = (start.min(part.start()), stop.max(part.end()));
            }
        }
        let view = Span::new(start, stop);
        if view.len() > MAX_EXCERPT_BYTES || self.list.len() >= MAX_EXCERPTS {
            return None;
        }
        let raw = base.raw_span(view)?;
        let inner: Vec<usize> = self.list.range(start..stop).map(|(&start, _)| start).collect();
        let parts: Vec<Excerpt> = inner.iter().filter_map(|start| self.list.remove(start)).collect();
        let splices = parts.iter().flat_map(|part| shifted(&part.splices, part.raw.start() - raw.start()));
        let splices = Splices::new(raw.len(), splices.collect());
        let excerpt = splices.ok().map(|splices| Excerpt {
            view,
            raw,
            text: base.successor(splices.apply(raw.of(base.bytes()))),
            splices,
            lines_gained: 0,
            found: HashMap::new(),
        });
        for part in &parts {
            self.forget(part);
        }
        let excerpt = excerpt.filter(|excerpt| self.accepts(&excerpt.text));
        let Some(excerpt) = excerpt else {
            // What was cut out before is still needed.
            for part in parts {
                self.insert(part);
            }
            return None;
        };
        self.insert(excerpt);
        Some(start)
    }

    /// Whether edits of an excerpt are applied as they would be in the whole text.
    fn accepts(&self, text: &Snapshot) -> bool {
        let (counts, base) = (text.newlines(), self.base.newlines());
        // Then a new line ends as the lines around it do.
        let is_local = self.newline == NewlineStyle::Nearby && base.is_mixed();
        !text.has_bom()
            && (total(counts) > 0 || base == NewlineCounts::default())
            && (is_local || counts.dominant() == base.dominant())
            && text.needle("\n") == self.base.needle("\n")
            && text.bytes().len() <= 2 * MAX_EXCERPT_BYTES
    }

    /// Whether the most frequent kind of line ending stays that, in a text with several, if so many are removed.
    fn keeps_newlines(&self, removed: usize) -> bool {
        let counts = self.base.newlines();
        let mut all = [counts.lf, counts.crlf, counts.cr];
        all.sort_unstable();
        self.newline == NewlineStyle::Nearby
            || !counts.is_mixed()
            || self.newlines_removed + removed < all[2] - all[1]
    }

    /// How many lines are before an excerpt when the next edit's turn comes.
    fn line_shift(&self, start: usize) -> isize {
        let above = self.list.range(..start).map(|(_, excerpt)| excerpt.lines_gained);
        self.base.line_of(start) as isize - 1 + above.sum::<isize>()
    }

    /// Changes an excerpt.
    fn replace(&mut self, start: usize, text: Snapshot, splices: &Splices) {
        let Some(mut excerpt) = self.list.remove(&start) else { return };
        self.forget(&excerpt);
        excerpt.splices = excerpt.splices.then(splices);
        excerpt.text = text;
        self.insert(excerpt);
    }

    fn insert(&mut self, mut excerpt: Excerpt) {
        let count_lines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count() as isize;
        let before = count_lines(excerpt.view.of(self.base.text()));
        excerpt.lines_gained = count_lines(excerpt.text.text()) - before;
        excerpt.found.clear();
        for found in self.searcher.find_overlapping_iter(excerpt.text.text()) {
            let needle = found.pattern().as_usize();
            excerpt.found.entry(needle).or_insert((0, found.start())).0 += 1;
            self.counts[needle] += 1;
        }
        self.list.insert(excerpt.view.start(), excerpt);
    }

    /// Removes the matches of an excerpt from the counts.
    fn forget(&mut self, excerpt: &Excerpt) {
        for (&needle, &(count, _)) in &excerpt.found {
            self.counts[needle] -= count;
        }
    }

    /// From the text to the one with all excerpts as they are now.
    fn splices(&self) -> Splices {
        let length = self.base.bytes().len();
        let all = self.list.values().flat_map(|excerpt| shifted(&excerpt.splices, excerpt.raw.start()));
        // Excerpts do not overlap.
        Splices::new(length, all.collect()).unwrap_or_else(|_| Splices::none(length))
    }
}

/// Where a match is.
enum Place {
    Inside,
    Outside,
    OverEdge,
}

/// Splices of a part, for the whole of which it starts at an offset.
fn shifted(splices: &Splices, offset: usize) -> impl Iterator<Item = Splice> {
    splices.iter().map(move |splice| Splice {
        at: Span::new(splice.at.start() + offset, splice.at.end() + offset),
        insert: splice.insert.clone(),
    })
}
