//! The search for a hunk's place, from strict to loose. The first step that finds anything ends it, even if it finds
//! several places: a looser step could only find more.

use super::line_table::{LineQuery, Nearest, OccurrenceIndex};
use super::search::{HunkSearch, MAX_LISTED_MATCHES, ambiguous, require_same_place};
use super::{Caveat, HunkFinder, HunkMatch, PendingHunk};
use crate::change::Rung;
use crate::find::diagnosis;
use crate::find::error::Reason;
use crate::plan::Placing;

impl HunkFinder<'_> {
    /// The one place of a hunk, or why there is none.
    pub(super) fn locate(
        &self,
        pending: &PendingHunk<'_>,
        stated: Option<usize>,
    ) -> Result<HunkMatch, Reason> {
        let blocks = self.scopes.blocks(&pending.hunk.scopes, &self.table, &self.budget)?;
        let search = HunkSearch { pending, stated, blocks: &blocks };
        if pending.variants[0].old_count() == 0 {
            return self.locate_insertion(search);
        }
        match self.locate_by_lines(search)? {
            Some(matched) => Ok(matched),
            None if self.budget.is_spent() => Err(Reason::TooCostly),
            None => self.locate_below_scope(search)?.ok_or(Reason::HUNK_MISSING),
        }
    }

    /// Places a hunk that only adds lines: by its scope, its line number, or the end of the file.
    fn locate_insertion(&self, search: HunkSearch<'_>) -> Result<HunkMatch, Reason> {
        let at = |start| HunkMatch {
            variant: 0,
            start,
            rung: Rung::Stated,
            similarity: 1.0,
            caveat: Caveat::None,
        };
        let (hunk, count) = (search.pending.hunk, self.table.count());
        match (search.blocks, search.stated) {
            ([block], _) if !hunk.scopes.is_empty() => Ok(at(block.end)),
            (blocks, _) if !hunk.scopes.is_empty() => {
                Err(ambiguous(blocks.iter().map(|block| block.lines.start), blocks.len()))
            }
            _ if hunk.at_end => Ok(at(count)),
            (_, Some(line)) if line <= count => Ok(at(line)),
            (_, Some(line)) => Err(Reason::OutOfRange { first: line, last: line, count }),
            (_, None) if count == 0 => Ok(at(0)),
            (_, None) => Err(Reason::NoPlace),
        }
    }

    /// The steps from strict to loose. Their order is behaviour; new ones go to the end.
    fn locate_by_lines(&self, search: HunkSearch<'_>) -> Result<Option<HunkMatch>, Reason> {
        if let Some(found) = self.locate_exact(search)? {
            return Ok(Some(found));
        }
        // Recovery has its own steps; see `recover.rs`.
        if self.placing == Placing::Recover {
            return Ok(None);
        }
        // Blank lines match every other blank line. In strict mode there is no index.
        let stop = search.pending.variants[0].is_blank() || self.budget.is_spent();
        let Some(index) = self.trimmed.as_ref().filter(|_| !stop) else {
            return Ok(None);
        };
        if let Some(found) = self.locate_trimmed(search, index)? {
            return Ok(Some(found));
        }
        self.locate_similar(search, index)
    }

    /// Exactly at the stated line, or else at the nearest exact match, or without a line number at the only one.
    fn locate_exact(&self, search: HunkSearch<'_>) -> Result<Option<HunkMatch>, Reason> {
        let variants = &search.pending.variants;
        let queries: Vec<LineQuery> = variants.iter().map(|variant| self.exact.query(variant)).collect();
        let at =
            |variant, start, caveat| HunkMatch { variant, start, rung: Rung::Exact, similarity: 1.0, caveat };
        let at_stated = search.stated.and_then(|start| {
            let matches = |variant: &usize| {
                self.exact.matches_at(&queries[*variant], start, &self.budget)
                    && self.is_allowed_exactly(search, *variant, start)
            };
            (0..queries.len()).find(matches).map(|variant| at(variant, start, Caveat::None))
        });
        if at_stated.is_some() {
            return Ok(at_stated);
        }
        let mut found: Vec<HunkMatch> = Vec::new();
        for (variant, query) in queries.iter().enumerate() {
            // Blank lines occur everywhere, so they only match at the stated line.
            if variants[variant].is_blank() {
                continue;
            }
            found.extend(match search.stated {
                Some(stated) => self.locate_nearest(search, variant, query, stated)?,
                None => {
                    let all = self.places(search, &self.exact, query);
                    let all = all.filter(|&start| self.is_allowed_exactly(search, variant, start));
                    self.require_unique(all, variants[variant].old_count())?
                        .map(|start| at(variant, start, Caveat::None))
                }
            });
        }
        require_same_place(found)
    }

    /// The exact match nearest to the stated line, if it is at least twice as near as any other.
    ///
    /// Nothing matches at the stated line itself, so the number is known to be wrong and only hints at the place.
    /// Models miscount by an unknown amount: if a hunk states line 100 and its lines occur at 90 and 115, an error of
    /// 10 is not much more likely than an error of 15, and taking the nearer one would be a guess. With the other
    /// match at 130 the nearer one is clearly better; it is used, with a note that there are others. A factor works
    /// better than a fixed distance because it grows with the error: being off by 2 or by 3 lines is as hard to tell
    /// apart as being off by 200 or by 300.
    fn locate_nearest(
        &self,
        search: HunkSearch<'_>,
        variant: usize,
        query: &LineQuery,
        stated: usize,
    ) -> Result<Option<HunkMatch>, Reason> {
        let allowed = |start| self.is_allowed_exactly(search, variant, start);
        let start = match self.exact.nearest(query, stated, allowed, &self.budget) {
            Nearest::None => return Ok(None),
            Nearest::At(start) => start,
            Nearest::Tie(one, other) => return Err(ambiguous([one, other].into_iter(), 2)),
        };
        let all = self.places(search, &self.exact, query).filter(|&start| allowed(start));
        let mut others: Vec<usize> = all.take(MAX_LISTED_MATCHES).filter(|&other| other != start).collect();
        let distance = start.abs_diff(stated);
        let close = |other: &usize| other.abs_diff(stated) < distance.saturating_mul(2);
        if others.iter().any(close) {
            others.retain(|other| close(other));
            let count = others.len() + 1;
            return Err(ambiguous(std::iter::once(start).chain(others), count));
        }
        let caveat = if others.is_empty() { Caveat::None } else { Caveat::Elsewhere };
        Ok(Some(HunkMatch { variant, start, rung: Rung::Exact, similarity: 1.0, caveat }))
    }

    /// The only match, ignoring whitespace at the ends of lines.
    fn locate_trimmed(
        &self,
        search: HunkSearch<'_>,
        index: &OccurrenceIndex<'_>,
    ) -> Result<Option<HunkMatch>, Reason> {
        let mut found = Vec::new();
        for (variant, lines) in search.pending.variants.iter().enumerate() {
            let query = index.query(lines);
            let all = self.places(search, index, &query);
            let all = all.filter(|&start| self.is_allowed(search, variant, start));
            let starts: Vec<usize> = all.take(MAX_LISTED_MATCHES).collect();
            let start = match starts[..] {
                [] => continue,
                [start] => start,
                _ => self.nearest_of_equal(&starts, search.stated, lines.old_count())?,
            };
            let similarity = super::fuzzy::similarity(lines, &self.table, start, &self.budget);
            let rung = Rung::Tolerant;
            found.push(HunkMatch { variant, start, rung, similarity, caveat: Caveat::None });
        }
        require_same_place(found)
    }

    /// Some models give any line above the place as its scope, not one around it. An exact match is accepted if it is
    /// the only one in the file and below that line.
    fn locate_below_scope(&self, search: HunkSearch<'_>) -> Result<Option<HunkMatch>, Reason> {
        if search.pending.hunk.scopes.is_empty() {
            return Ok(None);
        }
        let anywhere = self.scopes.blocks(&[], &self.table, &self.budget)?;
        let found = self.locate_exact(HunkSearch { stated: None, blocks: &anywhere, ..search })?;
        // In a delimited block only the start has to be inside; the context may continue below it.
        let below = |matched: &HunkMatch| {
            search.blocks.iter().any(|block| match block.is_delimited {
                true => block.lines.contains(&matched.start),
                false => block.lines.start < matched.start,
            })
        };
        Ok(found.filter(below).map(|matched| HunkMatch { caveat: Caveat::OutsideScope, ..matched }))
    }

    /// Chooses between several inexact matches by line number, but only if all of them have identical text.
    pub(super) fn nearest_of_equal(
        &self,
        starts: &[usize],
        stated: Option<usize>,
        count: usize,
    ) -> Result<usize, Reason> {
        let unclear = || ambiguous(starts.iter().copied(), starts.len());
        let stated = stated.ok_or_else(unclear)?;
        let lines = |start: usize| (start..start + count).map(|at| self.table.line(at));
        if !starts.iter().all(|&start| lines(start).eq(lines(starts[0]))) {
            return Err(unclear());
        }
        let mut near: Vec<usize> = starts.to_vec();
        near.sort_by_key(|start| start.abs_diff(stated));
        match near[..] {
            [first, second, ..] if first.abs_diff(stated) == second.abs_diff(stated) => Err(unclear()),
            [first, ..] => Ok(first),
            [] => Err(unclear()),
        }
    }

    /// The only place, for a hunk with `rows` old lines; several are an error.
    fn require_unique(
        &self,
        places: impl Iterator<Item = usize>,
        rows: usize,
    ) -> Result<Option<usize>, Reason> {
        // One more than is listed, to show that there are more.
        let starts: Vec<usize> = places.take(MAX_LISTED_MATCHES + 1).collect();
        if let [] | [_] = starts[..] {
            return Ok(starts.first().copied());
        }
        let mut reason = ambiguous(starts.iter().copied(), starts.len());
        if let Reason::Ambiguous { candidates, .. } = &mut reason {
            let span = |start: &usize| self.table.span(*start, start + rows);
            let shown = starts.iter().take(diagnosis::MAX_CANDIDATES);
            candidates.extend(shown.map(|start| diagnosis::candidate_at(span(start), self.snapshot)));
        }
        Err(reason)
    }

    /// Every position in the blocks of a search where a query matches, in order.
    fn places<'q>(
        &'q self,
        search: HunkSearch<'q>,
        index: &'q OccurrenceIndex<'_>,
        query: &'q LineQuery,
    ) -> impl Iterator<Item = usize> + 'q {
        let mut after = 0; // blocks may be nested
        search.blocks.iter().flat_map(move |block| {
            let lines = block.lines.start.max(after)..block.lines.end;
            after = after.max(lines.end);
            index.matches_within(query, lines, &self.budget)
        })
    }

    /// Whether a hunk may be placed here, given its scopes and end-of-file markers.
    pub(super) fn is_allowed(&self, search: HunkSearch<'_>, variant: usize, start: usize) -> bool {
        let (hunk, lines) = (search.pending.hunk, &search.pending.variants[variant]);
        let end = start + lines.old_count();
        let at_end = hunk.at_end || lines.ends_file();
        (!at_end || end == self.table.count())
            && (hunk.scopes.is_empty()
                || search.blocks.iter().any(|block| block.lines.start <= start && end <= block.lines.end))
    }

    /// Like [`Self::is_allowed`]; the final newline must also be as the hunk says.
    fn is_allowed_exactly(&self, search: HunkSearch<'_>, variant: usize, start: usize) -> bool {
        let lacks_newline = search.pending.variants[variant].old_lacks_newline();
        (self.table.lacks_final_newline() || !lacks_newline) && self.is_allowed(search, variant, start)
    }
}
