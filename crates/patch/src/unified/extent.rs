//! Finds the end of a hunk: by its line counts if they fit, otherwise by the text that follows.

use super::super::source::{Source, is_blank};
use super::header::Header;
use crate::body::is_no_newline_marker;

/// The end of a hunk and what was skipped after it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The index after the hunk's last line.
    pub(super) end: usize,
    /// The index of prose after the hunk that looks like changed lines.
    pub(super) prose: Option<usize>,
    /// The number of blank lines skipped after the hunk.
    pub(super) blank: usize,
}

/// The context for finding where hunks end.
pub(super) struct Bounds<'a> {
    pub(super) source: &'a Source<'a>,
    /// The Markdown fence around the diff.
    pub(super) fence: Option<&'a str>,
    /// Whether `diff --git` lines separate the files, so that `---` and `+++` inside a hunk are content.
    pub(super) git: bool,
}

impl Bounds<'_> {
    /// The extent of the hunk whose first line is at `start`.
    pub(super) fn extent(&self, start: usize, header: &Header<'_>) -> Extent {
        if let (Some(old), Some(new)) = (header.old, header.new)
            && let Some(end) = self.end_by_counts(start, old.count, new.count)
            && let Some(prose) = self.check_rest(end)
        {
            return Extent { end, prose, blank: 0 };
        }
        self.extent_by_text(start)
    }

    /// The end according to the counts, if they fit the lines.
    fn end_by_counts(&self, start: usize, mut old: usize, mut new: usize) -> Option<usize> {
        let mut at = start;
        while old > 0 || new > 0 {
            let line = self.source.get(at)?;
            if self.is_fixed_bound(at) || self.is_plain_header(at) {
                return None;
            }
            match line.as_bytes().first() {
                Some(b'+') => new = new.checked_sub(1)?,
                Some(b'-') => old = old.checked_sub(1)?,
                _ if is_no_newline_marker(line) => {}
                _ => (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?),
            }
            at += 1;
        }
        while self.source.get(at).is_some_and(is_no_newline_marker) {
            at += 1;
        }
        Some(at)
    }

    /// Checks the lines after the counted end. `None` if they show that the counts are wrong;
    /// otherwise the start of prose that could be mistaken for changes, if any.
    fn check_rest(&self, end: usize) -> Option<Option<usize>> {
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

    /// The extent according to the text: up to the next header, without blank lines and prose before it.
    fn extent_by_text(&self, start: usize) -> Extent {
        let bound = self.next_bound(start);
        let end = self.source.trim_blank_end(start, bound);
        let blank = bound - end;
        let lines = self.source.slice(start, end);
        let tail = lines.iter().rposition(|line| line.starts_with(['+', '-'])).map_or(0, |last| last + 1);
        let has_prefix =
            |line: &&str| line.starts_with(['+', '-', ' ']) || is_blank(line) || is_no_newline_marker(line);
        let clean = lines[..tail].iter().all(&has_prefix);
        // Context after the last change can be dropped safely, so skip what looks like prose.
        let paragraph = (tail..lines.len().saturating_sub(1))
            .find(|&at| is_blank(lines[at]) && !has_prefix(&lines[at + 1]))
            .filter(|_| clean && tail > 0 && self.fence.is_none());
        let end = paragraph.map_or(end, |at| self.source.trim_blank_end(start, start + at));
        Extent { end, prose: None, blank }
    }

    /// The first line from `start` on that cannot be part of a hunk.
    fn next_bound(&self, start: usize) -> usize {
        (start..self.source.len()).find(|&at| self.is_bound(at)).unwrap_or(self.source.len())
    }

    fn is_bound(&self, at: usize) -> bool {
        self.is_fixed_bound(at) || self.is_header_pair(at) || self.is_signature(at)
    }

    /// Whether the line is never content, whatever the counts say.
    fn is_fixed_bound(&self, at: usize) -> bool {
        let line = self.source.line(at);
        line.starts_with("@@")
            || line.starts_with("diff --git ")
            || line.starts_with("Index: ") && self.source.line(at + 1).starts_with("=====")
            || self.is_fence(at)
    }

    /// Whether the fence around the diff closes here. One that was never opened closes only at the end.
    fn is_fence(&self, at: usize) -> bool {
        let line = self.source.trimmed(at);
        match self.fence {
            Some(fence) => closes_fence(line, fence),
            None => closes_fence(line, "```") && self.source.text_end == at + 1,
        }
    }

    /// Whether `---`, `+++` and `@@` lines follow each other.
    fn is_header_pair(&self, at: usize) -> bool {
        self.source.line(at).starts_with("--- ")
            && self.source.line(at + 1).starts_with("+++ ")
            && self.source.line(at + 2).starts_with("@@")
    }

    /// Whether the lines are headers of the next file although the counts say they are content: both
    /// name the same file, and no `diff --git` lines separate files.
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

    /// Whether the line starts the signature that `git format-patch` adds at the end.
    fn is_signature(&self, at: usize) -> bool {
        self.source.line(at).trim_end() == "--"
            && self.source.line(at + 1).starts_with(|first: char| first.is_ascii_digit())
            && self.source.text_end == at + 2
    }
}

/// The backticks or tildes of the fence that a line opens, if it opens one.
pub(crate) fn opening_fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let first = line.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let width = line.len() - line.trim_start_matches(first).len();
    (width >= 3 && !line[width..].contains(first)).then(|| &line[..width])
}

/// Whether a line closes `fence`: at least as many of its characters, and nothing else.
pub(crate) fn closes_fence(line: &str, fence: &str) -> bool {
    let line = line.trim_end();
    line.starts_with(fence)
        && fence.chars().next().is_some_and(|first| line.trim_start_matches(first).is_empty())
}
