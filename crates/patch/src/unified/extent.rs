//! Where a hunk of a unified diff ends: as its counts say if they fit, else as the text shows.

use super::super::source::{Source, is_blank};
use super::header::Header;
use crate::body::is_end_mark;

/// The end of a hunk, as an index.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The first line that is not the hunk's.
    pub(super) end: usize,
    /// Lines between the hunk and what comes next that look like changes and were read as prose.
    pub(super) prose: Option<usize>,
    /// How many blank lines before what comes next were left out.
    pub(super) blank: usize,
}

/// What is needed to see where hunks end.
pub(super) struct Bounds<'a> {
    pub(super) source: &'a Source<'a>,
    /// The fence that the diff stands in.
    pub(super) fence: Option<&'a str>,
    /// Whether `diff --git` lines part the files, so that `---` and `+++` inside a hunk are content.
    pub(super) git: bool,
}

impl Bounds<'_> {
    /// The extent of the hunk whose first line stands at `start`.
    pub(super) fn extent(&self, start: usize, header: &Header<'_>) -> Extent {
        if let (Some(old), Some(new)) = (header.old, header.new)
            && let Some(end) = self.counted(start, old.count, new.count)
            && let Some(prose) = self.leftover(end)
        {
            return Extent { end, prose, blank: 0 };
        }
        self.shown(start)
    }

    /// The end that the counts give, if the lines there are those of a hunk.
    fn counted(&self, start: usize, mut old: usize, mut new: usize) -> Option<usize> {
        let mut at = start;
        while old > 0 || new > 0 {
            let line = self.source.get(at)?;
            if self.is_fixed_bound(at) || self.is_plain_header(at) {
                return None;
            }
            match line.as_bytes().first() {
                Some(b'+') => new = new.checked_sub(1)?,
                Some(b'-') => old = old.checked_sub(1)?,
                _ if is_end_mark(line) => {}
                _ => (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?),
            }
            at += 1;
        }
        while self.source.get(at).is_some_and(is_end_mark) {
            at += 1;
        }
        Some(at)
    }

    /// What to make of the lines after the counted end: `None` if they show that the counts are
    /// wrong, else where prose begins that could be taken for changes.
    fn leftover(&self, end: usize) -> Option<Option<usize>> {
        let stop = self.next_bound(end);
        let rest = self.source.slice(end, stop);
        let is_change = |line: &&str| line.starts_with(['+', '-']);
        let is_hunk_line = |line: &&str| line.starts_with(['+', '-', ' ']) || is_blank(line);
        let changes = rest.iter().any(is_change);
        match rest.first() {
            None => Some(None),
            Some(first) if first.starts_with([' ', '+', '-']) => None,
            Some(_) if !changes => Some(None),
            Some(first) if !is_blank(first) => None,
            Some(_) if rest.iter().all(is_hunk_line) => None,
            Some(_) => Some(Some(end)),
        }
    }

    /// The end that the text shows: the next header, less blank lines and prose before it.
    fn shown(&self, start: usize) -> Extent {
        let bound = self.next_bound(start);
        let end = self.source.without_blank_tail(start, bound);
        let blank = bound - end;
        let lines = self.source.slice(start, end);
        let tail = lines.iter().rposition(|line| line.starts_with(['+', '-'])).map_or(0, |last| last + 1);
        let has_prefix =
            |line: &&str| line.starts_with(['+', '-', ' ']) || is_blank(line) || is_end_mark(line);
        let clean = lines[..tail].iter().all(&has_prefix);
        // Context after the last change decides nothing, so that leaving prose out is safe.
        let paragraph = (tail..lines.len().saturating_sub(1))
            .find(|&at| is_blank(lines[at]) && !has_prefix(&lines[at + 1]))
            .filter(|_| clean && tail > 0 && self.fence.is_none());
        let end = paragraph.map_or(end, |at| self.source.without_blank_tail(start, start + at));
        Extent { end, prose: None, blank }
    }

    /// The first line from `start` on that no hunk holds.
    fn next_bound(&self, start: usize) -> usize {
        (start..self.source.len()).find(|&at| self.is_bound(at)).unwrap_or(self.source.len())
    }

    fn is_bound(&self, at: usize) -> bool {
        self.is_fixed_bound(at) || self.is_header_pair(at) || self.is_signature(at)
    }

    /// Whether the line is never content, whatever counts say.
    fn is_fixed_bound(&self, at: usize) -> bool {
        let line = self.source.line(at);
        line.starts_with("@@")
            || line.starts_with("diff --git ")
            || line.starts_with("Index: ") && self.source.line(at + 1).starts_with("=====")
            || self.is_fence(at)
    }

    /// Whether the fence around the diff closes here; one that was never opened only at the end.
    fn is_fence(&self, at: usize) -> bool {
        let line = self.source.trimmed(at);
        match self.fence {
            Some(fence) => closes(line, fence),
            None => closes(line, "```") && self.source.text_end == at + 1,
        }
    }

    /// Whether `---`, `+++` and `@@` follow each other.
    fn is_header_pair(&self, at: usize) -> bool {
        self.source.line(at).starts_with("--- ")
            && self.source.line(at + 1).starts_with("+++ ")
            && self.source.line(at + 2).starts_with("@@")
    }

    /// Whether the lines are headers of the next file although counts say they are content: the
    /// two name one file, and nothing else parts files here.
    fn is_plain_header(&self, at: usize) -> bool {
        if self.git || !self.is_header_pair(at) {
            return false;
        }
        let path = |line: usize, prefix: &str| {
            let name = self.source.line(line)[4..].split('\t').next().unwrap_or("").trim();
            name.strip_prefix(prefix).unwrap_or(name)
        };
        let (old, new) = (path(at, "a/"), path(at + 1, "b/"));
        old == new || old == "/dev/null" || new == "/dev/null"
    }

    /// Whether the signature that `git format-patch` puts at the end stands here.
    fn is_signature(&self, at: usize) -> bool {
        self.source.line(at).trim_end() == "--"
            && self.source.line(at + 1).starts_with(|first: char| first.is_ascii_digit())
            && self.source.text_end == at + 2
    }
}

/// The fence that a line opens, if it does: its backticks or tildes.
pub(crate) fn opened_fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let first = line.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let width = line.len() - line.trim_start_matches(first).len();
    (width >= 3 && !line[width..].contains(first)).then(|| &line[..width])
}

/// Whether a line closes a fence: as many of its characters or more, and nothing else.
pub(crate) fn closes(line: &str, fence: &str) -> bool {
    let line = line.trim_end();
    line.starts_with(fence)
        && fence.chars().next().is_some_and(|first| line.trim_start_matches(first).is_empty())
}
