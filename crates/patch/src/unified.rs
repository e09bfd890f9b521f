//! Unified diffs: plain ones, git's, and the approximations that models write.

mod extent;
mod file;
pub(super) mod header;
mod path;
#[cfg(test)]
mod tests;

pub(super) use extent::{closes_fence, opening_fence};

use super::body::Body;
use super::source::{
    DROPPED_EMPTY, Notes, Source, blank_lines, error_at, is_blank, lines, syntax_error, truncate,
};
use super::{FilePatch, ParseOptions, PatchError, PatchErrorKind};
use extent::Bounds;
use file::Section;
use header::Header;

const EXAMPLE: &str = "A unified diff has `--- a/file`, `+++ b/file`, then hunks: `@@ -1,2 +1,2 @@` and lines that start \
                       with a space (context), `-` (removed) or `+` (added).";

/// Parses a unified diff.
pub(super) fn parse(
    source: &Source<'_>,
    options: ParseOptions,
    notes: &mut Notes,
) -> Result<Vec<FilePatch>, PatchError> {
    let mut parser = Parser {
        source,
        options,
        notes,
        at: 0,
        fence: None,
        fenced: false,
        section: None,
        files: Vec::new(),
    };
    while parser.at < source.len() {
        parser.step()?;
    }
    parser.finish()?;
    if parser.files.is_empty() {
        return Err(error_at(PatchErrorKind::Format, 0, "the text has no hunk and no file header", EXAMPLE));
    }
    if !source.terminated {
        parser
            .notes
            .repair(source.len().saturating_sub(1), "added the missing newline at the end of the diff")?;
    }
    Ok(parser.files)
}

struct Parser<'a, 'n> {
    source: &'a Source<'a>,
    options: ParseOptions,
    notes: &'n mut Notes,
    /// The index of the current line.
    at: usize,
    /// The open Markdown fence.
    fence: Option<&'a str>,
    /// Whether a fence was seen.
    fenced: bool,
    /// The file being parsed.
    section: Option<Section>,
    files: Vec<FilePatch>,
}

impl<'a> Parser<'a, '_> {
    /// Parses what begins at the current line: a header, a hunk, or a line to skip.
    fn step(&mut self) -> Result<(), PatchError> {
        let line = self.source.trimmed(self.at);
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.begin(Section::git(names, self.at, self.options)?)?;
        } else if line.starts_with("@@") {
            return self.hunk();
        } else if line.starts_with("--- ") || line.starts_with("+++ ") {
            return self.header(line);
        } else if let Some(error) = unsupported(self.source, self.at) {
            return Err(error);
        } else if self.toggles_fence()? {
        } else if let Some(section) = &mut self.section {
            section.parse_git_header(line, self.at, self.options)?;
        }
        self.at += 1;
        Ok(())
    }

    /// Finishes the current file and starts another.
    fn begin(&mut self, section: Section) -> Result<(), PatchError> {
        self.finish()?;
        self.section = Some(section);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), PatchError> {
        if let Some(section) = self.section.take() {
            self.files.push(section.finish(self.options, self.notes)?);
        }
        Ok(())
    }

    /// Tracks Markdown fences, which are not part of the diff. Returns whether the line is one.
    fn toggles_fence(&mut self) -> Result<bool, PatchError> {
        let line = self.source.trimmed(self.at);
        match self.fence {
            Some(fence) if closes_fence(line, fence) => {
                self.fence = None;
                // Hunks in another fence need their own file headers.
                self.finish()?;
            }
            Some(_) => return Ok(false),
            None => match opening_fence(line) {
                Some(fence) => {
                    if !closes_fence(line, fence) || self.source.len() > self.at + 1 {
                        self.fence = Some(fence);
                    }
                    if !std::mem::replace(&mut self.fenced, true) {
                        self.notes.repair(self.at, "removed the Markdown fence around the diff")?;
                    }
                }
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    /// Parses `---` and `+++`. One of them is enough before a hunk.
    fn header(&mut self, line: &str) -> Result<(), PatchError> {
        let next = self.source.trimmed(self.at + 1);
        let old = line.strip_prefix("--- ");
        let (old, new, count) = match (old, next.strip_prefix("+++ ")) {
            (Some(old), Some(new)) => (Some(old), Some(new), 2),
            _ if !next.starts_with("@@") => {
                // A line of prose.
                self.at += 1;
                return Ok(());
            }
            (Some(old), None) => (Some(old), None, 1),
            (None, _) => (None, line.strip_prefix("+++ "), 1),
        };
        if count == 1 {
            let missing = if old.is_some() { "+++" } else { "---" };
            self.notes.repair(
                self.at,
                format!("the `{missing}` header is missing: used the path of the other header"),
            )?;
        }
        if !self.section.as_ref().is_some_and(Section::expects_names) {
            self.begin(Section::plain(self.at))?;
        }
        if let Some(section) = &mut self.section {
            section.set_names(old, new, self.at, self.options)?;
        }
        self.at += count;
        Ok(())
    }

    /// Parses a hunk with its header.
    fn hunk(&mut self) -> Result<(), PatchError> {
        let index = self.at;
        let header = header::parse(self.source.line(index), index).map_err(|error| {
            // A bare `@@`, which the hint suggests, would not be accepted either.
            let is_complete = self.options.complete_headers && error.hint == header::HINT;
            PatchError { hint: if is_complete { header::COMPLETE_HINT.into() } else { error.hint }, ..error }
        })?;
        if let Some(defect) = header.defect.filter(|_| self.options.complete_headers) {
            return Err(header::incomplete(self.source.line(index), defect, index));
        }
        if self.skip_empty_hunk()? {
            return Ok(());
        }
        if self.section.is_none() {
            if !self.options.names_optional {
                self.notes.repair(
                    index,
                    "the `---` and `+++` headers are missing: the path must be given separately",
                )?;
            }
            self.section = Some(Section::plain(index));
        }
        if let Some(defect) = header.defect {
            self.notes
                .repair(index, format!("the hunk header {defect}: the hunk is located by its lines"))?;
        }
        let bounds = Bounds {
            source: self.source,
            fence: self.fence,
            git: self.section.as_ref().is_some_and(Section::is_git),
        };
        let extent = bounds.extent(index + 1, &header);
        let mut body = Body::parse(self.source.slice(index + 1, extent.end), index + 1);
        if body.hunk.lines.is_empty() {
            // A header that announces lines may be cut off.
            let announced =
                [header.old, header.new].into_iter().flatten().map(|range| range.count).sum::<usize>();
            if announced > 0 {
                return Err(syntax_error(index, "the hunk has no lines", EXAMPLE));
            }
            self.notes.repair(index, DROPPED_EMPTY)?;
            self.at = extent.end;
            return Ok(());
        }
        body.hunk.section = Some(header.section.trim().to_owned()).filter(|section| !section.is_empty());
        self.check_fence(extent.end, &header, &body)?;
        self.recount(index, &header, &mut body)?;
        body.report_repairs(self.notes)?;
        if let Some(prose) = extent.prose {
            self.notes.repair(prose, "ignored the text after the hunk, which its line counts exclude")?;
        }
        if extent.blank > 0 {
            let message = format!("ignored {} after the hunk", blank_lines(extent.blank));
            self.notes.repair(extent.end, message)?;
        }
        self.at = extent.end;
        if let Some(section) = &mut self.section {
            section.hunks.push(body);
        }
        Ok(())
    }

    /// Skips a header that another one follows.
    fn skip_empty_hunk(&mut self) -> Result<bool, PatchError> {
        let next = (self.at + 1..self.source.len()).find(|&at| !is_blank(self.source.line(at)));
        let Some(next) = next.filter(|next| self.source.line(*next).starts_with("@@")) else {
            return Ok(false);
        };
        self.notes.repair(self.at, DROPPED_EMPTY)?;
        self.at = next;
        Ok(true)
    }

    /// Compares the header's counts with the lines, and sets the hunk's expected line.
    fn recount(&mut self, index: usize, header: &Header<'_>, body: &mut Body) -> Result<(), PatchError> {
        let Some(old) = header.old else { return Ok(()) };
        let (olds, news) = body.counts();
        let stated = (old.count, header.new.map_or(news, |new| new.count));
        if stated != (olds, news) {
            let message = format!(
                "corrected the line counts: the header says {} old and {} new, the hunk has {olds} and {news}",
                lines(stated.0),
                stated.1
            );
            self.notes.repair(index, message)?;
        }
        // A hunk without old lines can only be placed by its line number, which is trusted only if
        // the header agrees that there are none.
        body.hunk.line = match olds {
            0 => Some(old.start).filter(|_| old.count == 0),
            _ => Some(old.start).filter(|start| *start > 0),
        };
        Ok(())
    }

    /// Rejects a hunk that a fence seems to cut in two, because the fence may be a line of the file.
    fn check_fence(&self, end: usize, header: &Header<'_>, body: &Body) -> Result<(), PatchError> {
        let (Some(fence), Some(old)) = (self.fence, header.old) else { return Ok(()) };
        let short = body.counts().0 < old.count && closes_fence(self.source.trimmed(end), fence);
        let is_fence = |at: &usize| closes_fence(self.source.trimmed(*at), fence);
        let parts = |at: &usize| {
            self.source.line(*at).starts_with("@@") || self.source.line(*at).starts_with("diff ")
        };
        let cut = short && (end + 1..self.source.len()).take_while(|at| !parts(at)).any(|at| is_fence(&at));
        if !cut {
            return Ok(());
        }
        Err(syntax_error(
            end,
            "the Markdown fence closes before the hunk is complete by its line counts",
            "Send the diff without a fence, or in a longer one (````), and start context lines with a space.",
        ))
    }
}

/// The error for content that is not supported: binary, combined and context diffs.
fn unsupported(source: &Source<'_>, at: usize) -> Option<PatchError> {
    let line = source.trimmed(at);
    let reject = |message: String, hint: &str| Some(error_at(PatchErrorKind::Unsupported, at, message, hint));
    if line == "GIT binary patch" || line.starts_with("Binary files ") && line.ends_with(" differ") {
        return reject(
            format!("`{}`: binary content cannot be patched as text", truncate(line)),
            "Leave the binary file out of the diff and write it with another tool.",
        );
    }
    if line.starts_with("diff --cc ") || line.starts_with("diff --combined ") {
        return reject(
            "this is a combined diff of a merge, which has several old sides".into(),
            "Send a diff against one parent, as `git diff <parent> <merge>` writes it.",
        );
    }
    if line.starts_with("*** ")
        && source.line(at + 1).starts_with("--- ")
        && source.line(at + 2).starts_with("*****")
    {
        return reject("this is a context diff".into(), "Send a unified diff, as `diff -u` writes it.");
    }
    None
}
