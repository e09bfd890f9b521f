//! A file that is searched, with what is computed about it once, when it is first needed.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use super::limits::{Budget, LINE_COST, MANY_SEARCHES, MAX_INDEXED_BYTES};
use super::search_index::{IndexedLines, SearchIndex};
use crate::path::FilePath;
use crate::plan::Run;
use crate::ports::versions::{KnownVersion, VersionSource};
use crate::snapshot::{FileContent, Snapshot};
use slipstitch_text::{EncodingRule, diff_slices};

/// Earlier versions of a file that a request may quote, most likely first.
pub trait EarlierVersions {
    /// The versions of the file at `path`, whose text is `now`.
    fn of(&self, path: &FilePath, now: &Snapshot) -> Vec<KnownVersion>;

    /// Earlier texts of the file at `path`, which no longer exists. `moved` is the content of the file that may have been moved
    /// from there.
    fn of_missing(&self, path: &FilePath, moved: Option<&[u8]>) -> Vec<Vec<u8>> {
        let _ = (path, moved);
        Vec::new()
    }
}

/// A finder without evidence judges by the text alone.
impl EarlierVersions for () {
    fn of(&self, _: &FilePath, _: &Snapshot) -> Vec<KnownVersion> {
        Vec::new()
    }
}

/// A file that is searched.
pub(super) struct FileText<'a> {
    pub(super) snapshot: &'a Snapshot,
    path: &'a FilePath,
    versions: &'a dyn EarlierVersions,
    searches: usize,
    /// Whether notes say what was done, or what would be.
    pub(super) run: Run,
    lines: OnceCell<Rc<IndexedLines>>,
    earlier: OnceCell<Vec<EarlierText>>,
    /// What may still be spent on inexact searches.
    pub(super) budget: Rc<Budget>,
}

impl<'a> FileText<'a> {
    /// `searches` is how many requests may have to be searched for.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        path: &'a FilePath,
        versions: &'a dyn EarlierVersions,
        searches: usize,
        budget: &Rc<Budget>,
    ) -> Self {
        Self {
            snapshot,
            path,
            versions,
            searches,
            run: Run::Real,
            lines: OnceCell::new(),
            earlier: OnceCell::new(),
            budget: Rc::clone(budget),
        }
    }

    /// The same file, searched for a dry or a real run.
    pub(super) fn in_run(self, run: Run) -> Self {
        Self { run, ..self }
    }

    /// The index of the whole file; `None` if the file is too large or the budget is spent.
    pub(super) fn index(&self) -> Option<SearchIndex<'a>> {
        if self.snapshot.text_len() > MAX_INDEXED_BYTES || self.budget.is_spent() {
            return None;
        }
        let lines =
            self.lines.get_or_init(|| IndexedLines::new(self.snapshot, self.searches >= MANY_SEARCHES));
        Some(SearchIndex::new(self.snapshot, Rc::clone(lines)))
    }

    /// Pays for a search of so many lines; false if the budget is spent.
    pub(super) fn spend_on_lines(&self, lines: usize) -> bool {
        self.budget.spend(LINE_COST * lines);
        !self.budget.is_spent()
    }

    /// Earlier versions of the file, most likely first.
    pub(super) fn earlier(&self) -> &[EarlierText] {
        self.earlier.get_or_init(|| {
            let known = self.versions.of(self.path, self.snapshot);
            known.into_iter().filter_map(|version| EarlierText::new(version, self.snapshot)).collect()
        })
    }
}

/// An earlier version of a file.
pub(super) struct EarlierText {
    pub(super) snapshot: Snapshot,
    pub(super) source: VersionSource,
    lines: OnceCell<Rc<IndexedLines>>,
    map: OnceCell<LineMap>,
}

impl EarlierText {
    fn new(version: KnownVersion, now: &Snapshot) -> Option<Self> {
        let content = FileContent { bytes: version.bytes.into(), meta: now.meta().clone() };
        let snapshot = Snapshot::new(content, EncodingRule::Detect);
        let usable = !snapshot.is_binary() && snapshot.text_len() <= MAX_INDEXED_BYTES;
        usable.then(|| Self {
            snapshot,
            source: version.source,
            lines: OnceCell::new(),
            map: OnceCell::new(),
        })
    }

    /// The index of the version.
    pub(super) fn index(&self) -> SearchIndex<'_> {
        let lines = self.lines.get_or_init(|| IndexedLines::new(&self.snapshot, true));
        SearchIndex::new(&self.snapshot, Rc::clone(lines))
    }

    /// Where the version's lines are now.
    pub(super) fn map(&self, now: &SearchIndex<'_>) -> &LineMap {
        self.map.get_or_init(|| LineMap::new(&self.index(), now))
    }
}

/// Where the non-blank lines of an earlier version are in the current text. Lines that differ in whitespace only count as
/// the same.
pub(super) struct LineMap {
    /// Ranges of positions that differ: in the version, and now.
    changed: Vec<(Range<usize>, Range<usize>)>,
}

/// Lines of a version that are still there with nothing new between them.
pub(super) struct UnchangedLines<'m> {
    /// Their positions in the version; unbounded at the end if nothing below them has changed.
    pub(super) lines: Range<usize>,
    /// The changed range above them, in the version and now.
    pub(super) above: Option<&'m (Range<usize>, Range<usize>)>,
    /// The changed range below them.
    pub(super) below: Option<&'m (Range<usize>, Range<usize>)>,
}

impl LineMap {
    fn new(earlier: &SearchIndex<'_>, now: &SearchIndex<'_>) -> Self {
        let hashes =
            |index: &SearchIndex<'_>| -> Vec<u64> { (0..index.len()).map(|at| index.squashed(at)).collect() };
        Self { changed: diff_slices(&hashes(earlier), &hashes(now)) }
    }

    /// The current position of a line of the version; `None` if the line was changed or removed.
    pub(super) fn now(&self, at: usize) -> Option<usize> {
        let next = self.changed.partition_point(|(old, _)| old.end <= at);
        if self.changed.get(next).is_some_and(|(old, _)| old.contains(&at)) {
            return None;
        }
        let (old_end, new_end) = match next.checked_sub(1) {
            Some(previous) => (self.changed[previous].0.end, self.changed[previous].1.end),
            None => (0, 0),
        };
        Some(at - old_end + new_end)
    }

    /// Whether a current line is not in the earlier version.
    pub(super) fn is_new(&self, at: usize) -> bool {
        let next = self.changed.partition_point(|(_, new)| new.end <= at);
        self.changed.get(next).is_some_and(|(_, new)| new.contains(&at))
    }

    /// The unchanged lines around an unchanged line of the version.
    pub(super) fn unchanged_around(&self, at: usize) -> UnchangedLines<'_> {
        let next = self.changed.partition_point(|(old, _)| old.end <= at);
        let above = next.checked_sub(1).map(|previous| &self.changed[previous]);
        let below = self.changed.get(next);
        let start = above.map_or(0, |(old, _)| old.end);
        let end = below.map_or(usize::MAX, |(old, _)| old.start);
        UnchangedLines { lines: start..end, above, below }
    }

    /// The range of changed lines that a line of the version belongs to, in the version and now; `None` if it is unchanged.
    pub(super) fn replaced(&self, at: usize) -> Option<(Range<usize>, Range<usize>)> {
        let next = self.changed.partition_point(|(old, _)| old.end <= at);
        self.changed.get(next).filter(|(old, _)| old.contains(&at)).cloned()
    }

    /// The positions of the current lines that are not in the earlier version.
    pub(super) fn added(&self) -> impl Iterator<Item = usize> {
        self.changed.iter().flat_map(|(_, added)| added.clone())
    }

    /// The current positions between the first and the last line of a non-empty range of the version.
    pub(super) fn range_now(&self, range: Range<usize>) -> Range<usize> {
        let around = |at: usize| match self.now(at) {
            Some(now) => now..now + 1,
            None => {
                let next = self.changed.partition_point(|(old, _)| old.end <= at);
                self.changed[next].1.clone()
            }
        };
        let (first, last) = (around(range.start), around(range.end - 1));
        first.start..last.end.max(first.start)
    }
}
