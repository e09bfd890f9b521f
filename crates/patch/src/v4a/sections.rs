//! The sections of a V4A patch: a file that is added, deleted or updated.

use super::super::body::{Body, finish_hunks};
use super::super::source::{blank_lines, is_blank, lines, syntax_error};
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
            Marker::Add(path) => (path, self.parse_added(stop)?, false),
            Marker::Delete(path) => {
                let (hunks, crlf) = self.parse_deleted(stop)?;
                (path, Action::Delete { hunks, executable: false }, crlf)
            }
            Marker::Update(path) => {
                let (action, crlf) = self.parse_updated(index, stop)?;
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
    fn parse_added(&mut self, stop: usize) -> Result<Action, PatchError> {
        self.skip_unified_headers(stop)?;
        if self.at < stop && self.source.line(self.at).starts_with("@@") {
            self.notes.repair(self.at, "ignored `@@` in a new file")?;
            self.at += 1;
        }
        let stop = self.content_end(stop)?;
        self.reject_unknown_markers(stop)?;
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
        Ok(finish_hunks(vec![body], self.notes))
    }

    /// Parses the hunks of a file and its new path.
    fn parse_updated(&mut self, index: usize, stop: usize) -> Result<(Action, bool), PatchError> {
        let mut move_to = None;
        self.skip_blank(stop);
        if let Some(Marker::MoveTo(path)) = self.marker_before(stop)? {
            move_to = Some(path.to_owned()).filter(|path| !path.is_empty());
            self.at += 1;
        }
        self.skip_unified_headers(stop)?;
        let mut bodies = Vec::new();
        let stop = self.source.trim_blank_end(self.at, stop);
        while self.at < stop {
            bodies.push(self.parse_hunk(stop)?);
        }
        if bodies.is_empty() && move_to.is_none() {
            return Err(syntax_error(
                index,
                "`*** Update File:` is not followed by any lines",
                "Add `@@` and the lines to change, or leave the file out.",
            ));
        }
        let (hunks, crlf) = finish_hunks(bodies, self.notes);
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

    /// Skips `---` and `+++` headers, which belong to unified diffs and add nothing here.
    fn skip_unified_headers(&mut self, stop: usize) -> Result<(), PatchError> {
        let is_pair = self.at + 1 < stop
            && self.source.line(self.at).starts_with("--- ")
            && self.source.line(self.at + 1).starts_with("+++ ")
            && (self.at + 2 == stop || self.source.line(self.at + 2).starts_with(['@', '+']));
        if is_pair {
            self.notes.repair(self.at, "ignored `---` and `+++` headers inside a V4A patch")?;
            self.at += 2;
        }
        Ok(())
    }

    /// Parses one hunk with the `@@` lines before it.
    fn parse_hunk(&mut self, stop: usize) -> Result<Body, PatchError> {
        let index = self.at;
        let (scopes, numbers) = self.parse_scopes(stop)?;
        let ends = |at: &usize| {
            let line = self.source.line(*at);
            line.starts_with("@@") || line.starts_with("***") && Marker::parse(line).is_some()
        };
        let bound = (self.at..stop).find(ends).unwrap_or(stop);
        self.reject_unknown_markers(bound)?;
        let end = self.source.trim_blank_end(self.at, bound);
        let mut body = Body::parse(self.source.slice(self.at, end), self.at);
        if body.hunk.lines.is_empty() {
            return Err(syntax_error(
                index,
                "the hunk has no lines",
                "After `@@`, write the lines to find and change: ` context`, `-removed`, `+added`.",
            ));
        }
        body.report_repairs(self.notes)?;
        if bound > end && bound < stop {
            let message = format!("ignored {} after the hunk", blank_lines(bound - end));
            self.notes.repair(end, message)?;
        }
        body.hunk.scopes = scopes;
        body.hunk.line = numbers.and_then(|old| match body.counts().0 {
            0 => Some(old.start).filter(|_| old.count == 0),
            _ => Some(old.start).filter(|start| *start > 0),
        });
        self.at = bound;
        match self.marker_before(stop)? {
            Some(Marker::EndOfFile) => {
                body.hunk.at_end = true;
                self.at += 1;
            }
            Some(_) => return Err(self.unexpected_line(self.at)),
            None => {}
        }
        Ok(body)
    }

    /// Rejects unknown `***` lines inside a hunk, which may be misspelled markers.
    fn reject_unknown_markers(&mut self, end: usize) -> Result<(), PatchError> {
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
            let line = self.source.line(self.at);
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

/// The scope of a `@@` line, without the space after `@@`.
fn scope(line: &str) -> Option<&str> {
    let text = line[2..].trim_end();
    let text = text.strip_suffix("@@").map_or(text, str::trim_end);
    let text = text.strip_prefix(' ').unwrap_or(text);
    Some(text).filter(|text| !matches!(text.trim(), "" | "..." | "…"))
}
