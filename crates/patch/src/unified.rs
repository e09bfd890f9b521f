//! Unified diffs, plain and as git writes them, and as models write them.

mod extent;
mod file;
pub(super) mod header;
mod path;
#[cfg(test)]
mod tests;

pub(super) use extent::{closes, opened_fence};

use super::body::Body;
use super::source::{Notes, Source, blank_lines, fault, lines, shorten, syntax};
use super::{Fault, FilePatch, Options, PatchError};
use extent::Bounds;
use file::Section;
use header::Header;

/// Where a unified diff that has none of it should begin.
const EXAMPLE: &str = "A unified diff has `--- a/file`, `+++ b/file`, then hunks: `@@ -1,2 +1,2 @@` and lines that begin \
                       with a blank (kept), `-` (gone) or `+` (new).";

/// Reads the text as a unified diff.
pub(super) fn parse(
    source: &Source<'_>,
    options: Options,
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
        return Err(fault(Fault::Format, 0, "there is no hunk and no file header in the text", EXAMPLE));
    }
    if !source.terminated {
        notes_end(parser.notes, source)?;
    }
    Ok(parser.files)
}

fn notes_end(notes: &mut Notes, source: &Source<'_>) -> Result<(), PatchError> {
    notes.repair(source.len().saturating_sub(1), "the diff does not end in a newline: one was added")
}

struct Parser<'a, 'n> {
    source: &'a Source<'a>,
    options: Options,
    notes: &'n mut Notes,
    /// The line that is looked at, as an index.
    at: usize,
    /// The Markdown fence that is open.
    fence: Option<&'a str>,
    /// Whether there was one.
    fenced: bool,
    /// The file that is being read.
    section: Option<Section>,
    files: Vec<FilePatch>,
}

impl<'a> Parser<'a, '_> {
    /// Reads what begins at the current line: a header, a hunk, or a line that says nothing.
    fn step(&mut self) -> Result<(), PatchError> {
        let line = self.source.trimmed(self.at);
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.begin(Section::git(names, self.at)?)?;
        } else if line.starts_with("@@") {
            return self.hunk();
        } else if line.starts_with("--- ") || line.starts_with("+++ ") {
            return self.header(line);
        } else if let Some(refusal) = unsupported(self.source, self.at) {
            return Err(refusal);
        } else if self.toggles_fence()? {
        } else if let Some(section) = &mut self.section {
            section.extended(line, self.at)?;
        }
        self.at += 1;
        Ok(())
    }

    /// Ends the current file and begins another.
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

    /// Follows Markdown fences; they are no part of a diff.
    fn toggles_fence(&mut self) -> Result<bool, PatchError> {
        let line = self.source.trimmed(self.at);
        match self.fence {
            Some(fence) if closes(line, fence) => {
                self.fence = None;
                // Hunks of another fence say themselves which file they are for.
                self.finish()?;
            }
            Some(_) => return Ok(false),
            None => match opened_fence(line) {
                Some(fence) => {
                    if !closes(line, fence) || self.source.len() > self.at + 1 {
                        self.fence = Some(fence);
                    }
                    if !std::mem::replace(&mut self.fenced, true) {
                        self.notes.repair(self.at, "the Markdown fence around the diff was left out")?;
                    }
                }
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    /// Reads `---` and `+++`; one of them is enough before a hunk.
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
            self.notes
                .repair(self.at, format!("the `{missing}` header is missing: the other names the file"))?;
        }
        if !self.section.as_ref().is_some_and(Section::awaits_names) {
            self.begin(Section::plain(self.at))?;
        }
        if let Some(section) = &mut self.section {
            section.name(old, new, self.at)?;
        }
        self.at += count;
        Ok(())
    }

    /// Reads a hunk with its header.
    fn hunk(&mut self) -> Result<(), PatchError> {
        let index = self.at;
        let header = header::parse(self.source.line(index), index)?;
        if self.section.is_none() {
            self.notes.repair(
                index,
                "there are no `---` and `+++` headers: the file must be named beside the diff",
            )?;
            self.section = Some(Section::plain(index));
        }
        if let Some(wrong) = header.wrong {
            self.notes.repair(
                index,
                format!("the hunk header {wrong}: the hunk's lines find its place and length"),
            )?;
        }
        let bounds = Bounds {
            source: self.source,
            fence: self.fence,
            git: self.section.as_ref().is_some_and(Section::is_git),
        };
        let extent = bounds.extent(index + 1, &header);
        let mut body = Body::read(self.source.slice(index + 1, extent.end), index + 1);
        if body.hunk.lines.is_empty() {
            return Err(syntax(index, "the hunk has no lines", EXAMPLE));
        }
        self.check_fence(extent.end, &header, &body)?;
        self.recount(index, &header, &mut body)?;
        body.tell(self.notes)?;
        if let Some(prose) = extent.prose {
            self.notes
                .repair(prose, "the text after the hunk was read as prose, as the hunk's counts say")?;
        }
        if extent.blank > 0 {
            let what = format!("{} after the hunk: read as no part of it", blank_lines(extent.blank));
            self.notes.repair(extent.end, what)?;
        }
        self.at = extent.end;
        if let Some(section) = &mut self.section {
            section.hunks.push(body);
        }
        Ok(())
    }

    /// Compares the counts with the lines, and says where the hunk should stand.
    fn recount(&mut self, index: usize, header: &Header<'_>, body: &mut Body) -> Result<(), PatchError> {
        let Some(old) = header.old else { return Ok(()) };
        let (olds, news) = body.counts();
        let stated = (old.count, header.new.map_or(news, |new| new.count));
        if stated != (olds, news) {
            let what = format!(
                "the header counts {} old and {} new, the hunk has {olds} and {news}: recounted",
                lines(stated.0),
                stated.1
            );
            self.notes.repair(index, what)?;
        }
        // A hunk without old lines has nothing but its number, which is believed only if the
        // header knows that there are none.
        body.hunk.line = match olds {
            0 => Some(old.start).filter(|_| old.count == 0),
            _ => Some(old.start).filter(|start| *start > 0),
        };
        Ok(())
    }

    /// Refuses a hunk that a fence seems to cut in two: the fence may be a line of the file.
    fn check_fence(&self, end: usize, header: &Header<'_>, body: &Body) -> Result<(), PatchError> {
        let (Some(fence), Some(old)) = (self.fence, header.old) else { return Ok(()) };
        let short = body.counts().0 < old.count && closes(self.source.trimmed(end), fence);
        let is_fence = |at: &usize| closes(self.source.trimmed(*at), fence);
        let parts = |at: &usize| {
            self.source.line(*at).starts_with("@@") || self.source.line(*at).starts_with("diff ")
        };
        let cut = short && (end + 1..self.source.len()).take_while(|at| !parts(at)).any(|at| is_fence(&at));
        if !cut {
            return Ok(());
        }
        Err(syntax(
            end,
            "the Markdown fence closes before the hunk has the lines that its header counts",
            "Send the diff without a fence, or in a longer one (````), and begin context lines with a blank.",
        ))
    }
}

/// The refusal of what a unified diff cannot say, or says in another way.
fn unsupported(source: &Source<'_>, at: usize) -> Option<PatchError> {
    let line = source.trimmed(at);
    let refuse = |message: String, hint: &str| Some(fault(Fault::Unsupported, at, message, hint));
    if line == "GIT binary patch" || line.starts_with("Binary files ") && line.ends_with(" differ") {
        return refuse(
            format!("`{}`: binary content cannot be patched as text", shorten(line)),
            "Leave the binary file out of the diff, and write it with another tool.",
        );
    }
    if line.starts_with("diff --cc ") || line.starts_with("diff --combined ") {
        return refuse(
            "this is a combined diff of a merge, which has several old sides".into(),
            "Send a diff against one parent, as `git diff <parent> <merge>` makes it.",
        );
    }
    if line.starts_with("*** ")
        && source.line(at + 1).starts_with("--- ")
        && source.line(at + 2).starts_with("*****")
    {
        return refuse("this is a context diff".into(), "Send a unified diff, as `diff -u` makes it.");
    }
    None
}
