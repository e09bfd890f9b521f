//! The search for a hunk's place, from strict to loose. The first step that finds anything ends it, even if it finds
//! several places: a looser step could only find more.

use super::line_table::{LineQuery, Nearest, OccurrenceIndex};
use super::scope::Block;
use super::{Caveat, HunkFinder, HunkMatch, PendingHunk, line_position};
use crate::change::Rung;
use crate::find::diagnosis;
use crate::find::error::Reason;
use crate::find::landmark::add_landmarks;
use crate::find::limits::{MAX_CANDIDATES, MAX_LISTED_MATCHES};
use crate::plan::Tolerance;

/// A hunk and where to look for it.
#[derive(Clone, Copy)]
pub(super) struct HunkSearch<'s> {
    pub(super) pending: &'s PendingHunk<'s>,
    /// The position that the hunk states, from 0.
    pub(super) stated: Option<usize>,
    /// The blocks that its scopes name; the whole file if it has none.
    pub(super) blocks: &'s [Block],
}

impl HunkSearch<'_> {
    /// Whether the whole file is searched.
    fn is_anywhere(&self, lines: usize) -> bool {
        matches!(self.blocks, [block] if block.lines == (0..lines))
    }
}

impl HunkFinder<'_> {
    /// The one place of a hunk whose lines are in the file; `None` if they are not.
    pub(super) fn locate(
        &self,
        pending: &PendingHunk<'_>,
        stated: Option<usize>,
    ) -> Result<Option<HunkMatch>, Reason> {
        let blocks = match self.scopes.blocks(&pending.hunk.scopes, &self.table, &self.budget) {
            Ok(blocks) => blocks,
            Err(Reason::ScopeMissing { scope }) => return self.locate_without_scope(pending, scope),
            Err(reason) => return Err(reason),
        };
        let search = HunkSearch { pending, stated, blocks: &blocks };
        if pending.as_sent().old_count() == 0 {
            return match self.locate_insertion(search) {
                // Another reading of the hunk has lines to go by.
                Err(Reason::NoPlace)
                    if self.rules.tolerance == Tolerance::Recover && pending.has_reading_with_old_lines() =>
                {
                    Ok(None)
                }
                located => located.map(Some),
            };
        }
        match self.locate_exact(search)? {
            Some(matched) => Ok(Some(matched)),
            None if self.budget.is_spent() => Err(Reason::TooCostly),
            None => self.locate_below_scope(search),
        }
    }

    /// A scope that is not in the file is prose or out of date. The hunk's own lines prove the place if they occur once.
    fn locate_without_scope(
        &self,
        pending: &PendingHunk<'_>,
        scope: String,
    ) -> Result<Option<HunkMatch>, Reason> {
        if self.rules.tolerance != Tolerance::Recover || pending.as_sent().is_blank() {
            return Err(Reason::ScopeMissing { scope });
        }
        let anywhere = self.scopes.blocks(&[], &self.table, &self.budget)?;
        match self.locate_exact(HunkSearch { pending, stated: None, blocks: &anywhere }) {
            Ok(found) => Ok(found.map(|matched| HunkMatch { caveat: Caveat::ScopeMissing, ..matched })),
            // With the right scope, one of the places would be the one.
            Err(Reason::Ambiguous { .. }) => Err(Reason::ScopeMissing { scope }),
            Err(reason) => Err(reason),
        }
    }

    /// Places a hunk that only adds lines: by its scope, its line number, or the end of the file.
    fn locate_insertion(&self, search: HunkSearch<'_>) -> Result<HunkMatch, Reason> {
        let at = |start| HunkMatch { variant: 0, start, rung: Rung::Stated, caveat: Caveat::None };
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

    /// Finds the lines of a hunk by its line number and its heading.
    ///
    /// Models get line numbers wrong and headings right, and so do diffs of earlier versions. If the lines are in the block that
    /// the heading names and elsewhere as well, the heading breaks the tie; if the number says otherwise, the hunk is ambiguous.
    fn locate_exact(&self, search: HunkSearch<'_>) -> Result<Option<HunkMatch>, Reason> {
        let found = self.locate_by_lines(search);
        let is_doubtful = matches!(found, Ok(Some(_)) | Err(Reason::Ambiguous { .. }));
        let section = search.pending.hunk.section.as_deref();
        let Some(section) = section.filter(|_| is_doubtful && self.rules.tolerance == Tolerance::Recover)
        else {
            return found;
        };
        let blocks = self.scopes.section_blocks(section, &self.table, &self.budget);
        let is_inside = |matched: &HunkMatch| blocks.iter().any(|block| block.lines.contains(&matched.start));
        if blocks.is_empty() || matches!(&found, Ok(Some(matched)) if is_inside(matched)) {
            return found;
        }
        match (found, self.locate_by_lines(HunkSearch { stated: None, blocks: &blocks, ..search })) {
            (Ok(Some(matched)), Ok(Some(inside))) => {
                Err(ambiguous([matched.start, inside.start].into_iter(), 2))
            }
            (_, Ok(Some(inside))) => Ok(Some(inside)),
            (_, Err(reason)) => Err(reason),
            (found, Ok(None)) => found,
        }
    }

    /// The exact match at the stated line, or else the nearest one; without a line number, the only exact match.
    fn locate_by_lines(&self, search: HunkSearch<'_>) -> Result<Option<HunkMatch>, Reason> {
        let variants = &search.pending.variants;
        let at = |variant, start, caveat| HunkMatch { variant, start, rung: Rung::Exact, caveat };
        // If the hunk before it was off, this one may be right all the same.
        let header = search.pending.hunk.line.map(line_position);
        let at_stated = search.stated.into_iter().chain(header).find_map(|start| {
            let matches = |variant: &usize| {
                self.table.has_lines_at(&variants[*variant], start, &self.budget)
                    && self.is_allowed_exactly(search, *variant, start)
            };
            (0..variants.len()).find(matches).map(|variant| at(variant, start, Caveat::None))
        });
        if at_stated.is_some() {
            return Ok(at_stated);
        }
        let index = self.index();
        let queries: Vec<LineQuery> = variants.iter().map(|variant| index.query(variant)).collect();
        let mut found: Vec<HunkMatch> = Vec::new();
        for (variant, query) in queries.iter().enumerate() {
            // Blank lines occur everywhere, so they only match at the stated line.
            if variants[variant].is_blank() {
                continue;
            }
            found.extend(match search.stated {
                Some(stated) => self.locate_nearest(search, variant, query, stated)?,
                None => {
                    let all = self.places(search, index, query);
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
        let start = match self.index().nearest(query, stated, allowed, &self.budget) {
            Nearest::None => return Ok(None),
            Nearest::At(start) => start,
            Nearest::Tie(one, other) => return Err(ambiguous([one, other].into_iter(), 2)),
        };
        let all = self.places(search, self.index(), query).filter(|&start| allowed(start));
        let mut others: Vec<usize> = all.take(MAX_LISTED_MATCHES).filter(|&other| other != start).collect();
        let distance = start.abs_diff(stated);
        let close = |other: &usize| other.abs_diff(stated) < distance.saturating_mul(2);
        if others.iter().any(close) {
            others.retain(|other| close(other));
            let count = others.len() + 1;
            return Err(ambiguous(std::iter::once(start).chain(others), count));
        }
        let caveat = if others.is_empty() { Caveat::None } else { Caveat::Elsewhere };
        Ok(Some(HunkMatch { variant, start, rung: Rung::Exact, caveat }))
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
            let shown = starts.iter().take(MAX_CANDIDATES);
            candidates.extend(shown.map(|start| diagnosis::candidate_at(span(start), self.file.snapshot)));
            add_landmarks(candidates, self.file.snapshot);
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
        let anywhere = search.is_anywhere(self.table.count());
        (!at_end || end == self.table.count())
            && (anywhere
                || search.blocks.iter().any(|block| block.lines.start <= start && end <= block.lines.end))
    }

    /// Like [`Self::is_allowed`]; the final newline must also be as the hunk says.
    fn is_allowed_exactly(&self, search: HunkSearch<'_>, variant: usize, start: usize) -> bool {
        let lacks_newline = search.pending.variants[variant].old_lacks_newline();
        (self.table.lacks_final_newline() || !lacks_newline) && self.is_allowed(search, variant, start)
    }
}

/// The place of the variants that match, which must be the same for all of them.
pub(super) fn require_same_place(found: Vec<HunkMatch>) -> Result<Option<HunkMatch>, Reason> {
    match found[..] {
        [] => Ok(None),
        [first, ref rest @ ..] if rest.iter().all(|other| other.start == first.start) => Ok(Some(first)),
        _ => Err(ambiguous(found.iter().map(|matched| matched.start), found.len())),
    }
}

pub(super) fn ambiguous(starts: impl Iterator<Item = usize>, count: usize) -> Reason {
    let mut lines: Vec<usize> = starts.take(MAX_LISTED_MATCHES).map(|start| start + 1).collect();
    lines.sort_unstable();
    Reason::Ambiguous { lines, count, non_overlapping: count, overlapping: false, candidates: Vec::new() }
}
