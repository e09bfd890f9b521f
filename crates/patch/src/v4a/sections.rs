//! The sections of a V4A patch: a file that is added, deleted or updated.

use super::super::body::{Body, finish_deletion, finish_update};
use super::super::source::{DROPPED_EMPTY, blank_lines, is_blank, lines, syntax_error};
use super::super::unified::header;
use super::{Marker, Parser};
use crate::hunk::{Hunk, Role};
use crate::{Action, FilePatch, PatchError};

impl Parser<'_, '_> {
    /// Parses the section of one file, whose marker is at `index`.
    pub(super) fn section(&mut self, marker: Marker<'_>, index: usize) -> Result<FilePatch, PatchError> {
        self.at = index + 1;
        let stop = (self.at..self.end).find(|&at| self.ends_section(at)).unwrap_or(self.end);
        let (path, action, crlf) = match marker {
            Marker::Add(path) => (path, self.parse_added(path, stop)?, false),
            Marker::Delete(path) => {
                let (hunks, crlf) = self.parse_deleted(stop)?;
                (path, Action::Delete { hunks, executable: false }, crlf)
            }
            Marker::Update(path) => {
                let (action, crlf) = self.parse_updated(path, index, stop)?;
                (path, action, crlf)
            }
            _ => return Err(self.unexpected_line(index)),
        };
        if path.is_empty() {
            return Err(syntax_error(
                index,
                "the marker has no path",
                "Write `*** Update File: path/to/file`.",
            ));
        }
        self.at = stop;
        Ok(FilePatch { path: Some(path.to_owned()), action, line: index + 1, crlf })
    }

    fn ends_section(&self, at: usize) -> bool {
        let found = Marker::parse(self.source.line(at));
        found.is_some_and(|marker| marker.starts_file() || matches!(marker, Marker::Begin | Marker::End))
            || self.is_last_end(at)
    }

    /// Parses the content of a new file.
    fn parse_added(&mut self, path: &str, stop: usize) -> Result<Action, PatchError> {
        self.skip_unified_headers(path, stop)?;
        if self.at < stop && self.source.line(self.at).starts_with("@@") {
            self.notes.repair(self.at, "ignored `@@` in a new file")?;
            self.at += 1;
        }
        let stop = self.content_end(stop)?;
        self.check_unknown_markers(stop)?;
        let body = self.source.slice(self.at, stop);
        if let Some(at) = find_ambiguous_line(body) {
            return Err(syntax_error(
                self.at + at,
                "the new file has a line that does not start with `+`",
                "Start every line of an added file with `+`, including empty ones.",
            ));
        }
        let unprefixed = body.iter().filter(|line| !line.starts_with('+')).count();
        if unprefixed > 0 {
            let message = format!("{} of the new file without `+`: treated as added", lines(unprefixed));
            self.notes.repair(self.at, message)?;
        }
        let mut content = String::new();
        for line in body {
            content.push_str(line.strip_prefix('+').unwrap_or(line));
            content.push('\n');
        }
        if self.source.get(stop).is_some_and(super::super::body::is_no_newline_marker) {
            content.pop();
        }
        Ok(Action::Create { content, executable: false })
    }

    /// The end of a new file's lines, without trailing blank lines, `*** End of File` and
    /// `\ No newline at end of file`.
    fn content_end(&mut self, stop: usize) -> Result<usize, PatchError> {
        let mut end = self.source.trim_blank_end(self.at, stop);
        for at in (self.at..end).rev() {
            let line = self.source.line(at);
            if self.marker(at)? != Some(Marker::EndOfFile) && !super::super::body::is_no_newline_marker(line)
            {
                break;
            }
            end = at;
        }
        Ok(end)
    }

    /// Parses the expected content of a deleted file, which most patches do not state.
    fn parse_deleted(&mut self, stop: usize) -> Result<(Vec<Hunk>, bool), PatchError> {
        let end = self.source.trim_blank_end(self.at, stop);
        self.skip_blank(end);
        if self.at < end && self.source.line(self.at).starts_with("@@") {
            self.notes.repair(self.at, "ignored `@@` in a deleted file")?;
            self.at += 1;
        }
        if self.source.trim_blank_end(self.at, end) == self.at {
            return Ok((Vec::new(), false));
        }
        let body = Body::parse(self.source.slice(self.at, end), self.at);
        if body.hunk.lines.iter().any(|line| line.role != Role::Removed) || body.hunk.lines.is_empty() {
            return Err(syntax_error(
                self.at,
                "a deleted file has lines that are not removed",
                "Write nothing after `*** Delete File: path`, or use `*** Update File: path`.",
            ));
        }
        self.notes.repair(self.at, "the lines of the deleted file must match its content")?;
        Ok(finish_deletion(vec![body], self.notes))
    }

    /// Parses the hunks of a file and its new path.
    fn parse_updated(&mut self, path: &str, index: usize, stop: usize) -> Result<(Action, bool), PatchError> {
        let mut move_to = None;
        self.skip_blank(stop);
        if let Some(Marker::MoveTo(path)) = self.marker_before(stop)? {
            move_to = Some(path.to_owned()).filter(|path| !path.is_empty());
            self.at += 1;
        }
        let mut bodies = Vec::new();
        let stop = self.source.trim_blank_end(self.at, stop);
        self.skip_unified_headers(path, stop)?;
        while self.at < stop {
            if self.is_header_between(path, self.at, stop) {
                self.skip_unified_headers(path, stop)?;
            }
            bodies.extend(self.parse_hunk(path, stop)?);
        }
        if bodies.is_empty() && move_to.is_none() {
            return Err(syntax_error(
                index,
                "`*** Update File:` is not followed by any lines",
                "Add `@@` and the lines to change, or leave the file out.",
            ));
        }
        let (hunks, crlf) = finish_update(bodies, move_to.is_some(), self.notes)?;
        Ok((Action::Update { hunks, move_to, executable: None }, crlf))
    }

    fn marker_before(&mut self, stop: usize) -> Result<Option<Marker<'_>>, PatchError> {
        if self.at < stop { self.marker(self.at) } else { Ok(None) }
    }

    fn skip_blank(&mut self, stop: usize) {
        while self.at < stop && is_blank(self.source.line(self.at)) {
            self.at += 1;
        }
    }

    /// Skips the headers of a unified diff, which add nothing here, and separators.
    fn skip_unified_headers(&mut self, path: &str, stop: usize) -> Result<(), PatchError> {
        self.skip_separators(stop)?;
        let start = self.at;
        let is_git = |line: &str| line.starts_with("diff --git ") || line.starts_with("index ");
        while self.at < stop && is_git(self.source.line(self.at)) {
            self.at += 1;
        }
        let next = self.source.line(self.at + 2);
        let is_pair = self.is_header_pair(self.at, stop, |_| true)
            && (self.at + 2 == stop || next.starts_with(['@', '+']))
            || self.is_header_pair(self.at, stop, |name| name == path);
        if is_pair {
            self.at += 2;
        } else if !self.source.line(self.at).starts_with("@@") {
            // Without other headers after them, the lines may be content.
            self.at = start;
        }
        if self.at > start {
            self.notes.repair(start, "ignored `---` and `+++` headers inside a V4A patch")?;
            self.skip_separators(stop)?;
        }
        Ok(())
    }

    /// Whether `---` and `+++` headers with certain names are at a line.
    fn is_header_pair(&self, at: usize, stop: usize, is_name: impl Fn(&str) -> bool) -> bool {
        let is_header = |at: usize, mark: &str, prefix: &str| {
            let Some(name) = self.source.line(at).strip_prefix(mark) else { return false };
            let name = name.split('\t').next().unwrap_or(name).trim();
            name == "/dev/null" || is_name(name.strip_prefix(prefix).unwrap_or(name))
        };
        at + 1 < stop && is_header(at, "--- ", "a/") && is_header(at + 1, "+++ ", "b/")
    }

    /// Whether the headers of a unified diff of the section's file separate two hunks.
    fn is_header_between(&self, path: &str, at: usize, stop: usize) -> bool {
        let next = || (at + 2..stop).find(|&next| !is_blank(self.source.line(next)));
        self.source.line(at).starts_with("--- ")
            && self.is_header_pair(at, stop, |name| name == path)
            && next().is_some_and(|next| self.source.line(next).starts_with("@@"))
    }

    /// Skips lines of asterisks, which some models write between sections and hunks.
    fn skip_separators(&mut self, stop: usize) -> Result<(), PatchError> {
        while self.at < stop && is_separator(self.source.line(self.at)) {
            self.notes.repair(self.at, IGNORED_SEPARATOR)?;
            self.at += 1;
        }
        Ok(())
    }

    /// The end of `start..end` without separators and blank lines before it.
    fn trim_separators(&mut self, start: usize, end: usize) -> Result<usize, PatchError> {
        let mut end = self.source.trim_blank_end(start, end);
        while end > start && is_separator(self.source.line(end - 1)) {
            self.notes.repair(end - 1, IGNORED_SEPARATOR)?;
            end = self.source.trim_blank_end(start, end - 1);
        }
        Ok(end)
    }

    /// Parses one hunk with the `@@` lines before it; `None` if it is empty.
    fn parse_hunk(&mut self, path: &str, stop: usize) -> Result<Option<Body>, PatchError> {
        let index = self.at;
        let (scopes, numbers) = self.parse_scopes(stop)?;
        self.skip_separators(stop)?;
        let ends = |at: &usize| {
            let line = self.source.line(*at);
            line.starts_with("@@")
                || line.starts_with("***") && Marker::parse(line).is_some()
                || self.is_header_between(path, *at, stop)
        };
        let bound = (self.at..stop).find(ends).unwrap_or(stop);
        self.check_unknown_markers(bound)?;
        let end = self.trim_separators(self.at, bound)?;
        let mut body = Body::parse(self.source.slice(self.at, end), self.at);
        if body.hunk.lines.is_empty() {
            return self.skip_empty_hunk(index, bound, stop, numbers).map(|()| None);
        }
        body.report_repairs(self.notes)?;
        let blank = bound - self.source.trim_blank_end(self.at, bound);
        if blank > 0 && bound < stop {
            let message = format!("ignored {} after the hunk", blank_lines(blank));
            self.notes.repair(end, message)?;
        }
        body.hunk.scopes = scopes;
        body.hunk.line = numbers.and_then(|old| match body.counts().0 {
            0 => Some(old.start).filter(|_| old.count == 0),
            _ => Some(old.start).filter(|start| *start > 0),
        });
        self.at = bound;
        body.hunk.at_end |= self.skip_end_of_file(stop)?;
        Ok(Some(body))
    }

    /// Skips `@@` lines without a hunk. Line numbers announce lines, so the text may be cut off.
    fn skip_empty_hunk(
        &mut self,
        index: usize,
        bound: usize,
        stop: usize,
        numbers: Option<header::Range>,
    ) -> Result<(), PatchError> {
        if numbers.is_some() || index == bound {
            return Err(syntax_error(
                index,
                "the hunk has no lines",
                "After `@@`, write the lines to find and change: ` context`, `-removed`, `+added`.",
            ));
        }
        self.notes.repair(index, DROPPED_EMPTY)?;
        self.at = bound;
        self.skip_end_of_file(stop).map(|_| ())
    }

    /// Skips `*** End of File` and returns whether it was there.
    fn skip_end_of_file(&mut self, stop: usize) -> Result<bool, PatchError> {
        match self.marker_before(stop)? {
            Some(Marker::EndOfFile) => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Err(self.unexpected_line(self.at)),
            None => Ok(false),
        }
    }

    /// Rejects unknown `***` lines inside a hunk, which may be misspelled markers.
    fn check_unknown_markers(&mut self, end: usize) -> Result<(), PatchError> {
        for at in self.at..end {
            if self.source.line(at).starts_with("***") {
                self.marker(at)?;
            }
        }
        Ok(())
    }

    /// Parses the `@@` lines before a hunk: scopes, outermost first, or the old side's line numbers.
    fn parse_scopes(&mut self, stop: usize) -> Result<(Vec<String>, Option<header::Range>), PatchError> {
        let mut scopes = Vec::new();
        let mut numbers = None;
        loop {
            let next = (self.at..stop).find(|&at| !is_blank(self.source.line(at)));
            match next {
                Some(next) if self.source.line(next).starts_with("@@") => self.at = next,
                _ => return Ok((scopes, numbers)),
            }
            let line = undoubled(self.source.line(self.at));
            if line.len() < self.source.line(self.at).len() {
                self.notes.repair(self.at, "ignored the doubled `@@`")?;
            }
            let text = line[2..].trim();
            if text.starts_with('-') && text[1..].starts_with(|c: char| c.is_ascii_digit()) {
                numbers = header::parse(line, self.at)?.old.or(numbers);
            } else if let Some(scope) = scope(line) {
                scopes.push(scope.to_owned());
            }
            self.at += 1;
        }
    }
}

/// The repair of a line of asterisks.
pub(super) const IGNORED_SEPARATOR: &str = "ignored a line of asterisks";

/// Whether a line has only asterisks, and enough of them that it is not code.
pub(super) fn is_separator(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 10 && line.bytes().all(|byte| byte == b'*')
}

/// Finds a line of a new file that may not be content. A `+` may be missing between lines that have
/// it, or from all lines. Lines after the last `+` may be prose, and lines that start with a space
/// may be context.
fn find_ambiguous_line(body: &[&str]) -> Option<usize> {
    let is_prefixed = |line: &&str| line.starts_with([' ', '@']);
    match body.iter().rposition(|line| line.starts_with('+')) {
        Some(last) => {
            let ambiguous = |line: &&str| is_prefixed(line) || line.starts_with(['-', '\\']);
            body.iter().position(ambiguous).or_else(|| Some(last + 1).filter(|after| *after < body.len()))
        }
        None if body.iter().all(|line| is_prefixed(line) || is_blank(line)) => {
            body.iter().position(is_prefixed)
        }
        None => None,
    }
}

/// A `@@` line without all but the last `@@` in front of its text: `@@ @@ def f():`.
fn undoubled(mut line: &str) -> &str {
    // `@@ @@count` is a scope: a class variable in Ruby.
    let is_doubled = |text: &str| text.starts_with([' ', '\t']) && !text.trim().is_empty();
    while let Some(rest) = line.strip_prefix("@@").map(str::trim_start)
        && rest.strip_prefix("@@").is_some_and(is_doubled)
    {
        line = rest;
    }
    line
}

/// The scope of a `@@` line, without the space after `@@`.
fn scope(line: &str) -> Option<&str> {
    let text = line[2..].trim_end();
    let text = text.strip_suffix("@@").map_or(text, str::trim_end);
    let text = text.strip_prefix(' ').unwrap_or(text);
    Some(text).filter(|text| !matches!(text.trim(), "" | "..." | "…"))
}
