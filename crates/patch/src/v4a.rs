//! V4A patches: `*** Begin Patch`, a section per file, `*** End Patch`.

mod frame;
mod marker;
mod sections;
#[cfg(test)]
mod tests;

pub(super) use marker::Marker;

use super::source::{Notes, Source, error_at, is_blank, syntax_error, truncate};
use super::{FilePatch, PatchError, PatchErrorKind};

const EXAMPLE: &str = "A V4A patch is `*** Begin Patch`, then `*** Update File: path`, `@@` and lines that start with a \
                       space (context), `-` (removed) or `+` (added), then `*** End Patch`.";

/// Parses a V4A patch.
pub(super) fn parse(source: &Source<'_>, notes: &mut Notes) -> Result<Vec<FilePatch>, PatchError> {
    match frame::find(source) {
        None => Err(error_at(
            PatchErrorKind::Format,
            0,
            "the text has no `*** Begin Patch` and no `*** Update File:`",
            EXAMPLE,
        )),
        Some(frame) if frame.indent.is_empty() => {
            Parser { source, notes, at: frame.first, end: frame.end }.run()
        }
        Some(frame) => {
            notes.repair(frame.first, "removed the indentation of the whole patch")?;
            let dedented = source.dedented(frame.indent);
            let frame = frame::find(&dedented).unwrap_or(frame);
            Parser { source: &dedented, notes, at: frame.first, end: frame.end }.run()
        }
    }
}

struct Parser<'a, 'n> {
    source: &'a Source<'a>,
    notes: &'n mut Notes,
    /// The index of the current line.
    at: usize,
    /// The index after the patch's last line.
    end: usize,
}

impl<'a> Parser<'a, '_> {
    fn run(mut self) -> Result<Vec<FilePatch>, PatchError> {
        self.check_start()?;
        let mut files = Vec::new();
        let mut ended = false;
        while self.at < self.end {
            let index = self.at;
            let line = self.source.line(index);
            match self.marker(index)? {
                Some(Marker::Begin) => ended = false,
                Some(Marker::End) => {
                    ended = true;
                    self.skip_after_end()?;
                    continue;
                }
                Some(marker) if marker.starts_file() => {
                    files.push(self.section(marker, index)?);
                    continue;
                }
                None if is_blank(line.trim_end()) => {}
                None if sections::is_separator(line) => {
                    self.notes.repair(index, sections::IGNORED_SEPARATOR)?;
                }
                _ => return Err(self.unexpected_line(index)),
            }
            self.at += 1;
        }
        if files.is_empty() {
            return Err(syntax_error(self.end.saturating_sub(1), "the patch has no file section", EXAMPLE));
        }
        if !ended {
            self.notes.repair(
                self.end.saturating_sub(1),
                "added the missing `*** End Patch` at the end of the text",
            )?;
        }
        Ok(files)
    }

    /// Reports text before the patch, and a missing `*** Begin Patch`.
    fn check_start(&mut self) -> Result<(), PatchError> {
        let before = self.source.slice(0, self.at).iter().position(|line| !line.trim().is_empty());
        if let Some(index) = before {
            self.notes.repair(index, "ignored the text before the patch")?;
        }
        if Marker::parse(self.source.line(self.at)) != Some(Marker::Begin) {
            self.notes.repair(self.at, "added the missing `*** Begin Patch` before the first file")?;
        }
        Ok(())
    }

    /// Skips from `*** End Patch` to the next patch or file section, or to the end.
    fn skip_after_end(&mut self) -> Result<(), PatchError> {
        let continues = |at: &usize| {
            Marker::parse(self.source.line(*at))
                .is_some_and(|marker| marker.starts_file() || marker == Marker::Begin)
        };
        let next = (self.at + 1..self.end).find(continues);
        let stop = next.unwrap_or(self.source.len());
        let text = (self.at + 1..stop).find(|&at| !self.source.line(at).trim().is_empty());
        if let Some(index) = text {
            self.notes.repair(index, "ignored the text after `*** End Patch`")?;
        }
        if let Some(index) = next {
            self.notes.repair(index, "joined the patch with the one that follows `*** End Patch`")?;
        }
        self.at = next.unwrap_or(self.end);
        Ok(())
    }

    /// Parses the marker on a line. An unknown `***` line is an error, because it may start another file's section.
    fn marker(&mut self, index: usize) -> Result<Option<Marker<'a>>, PatchError> {
        let line = self.source.line(index);
        let found = match Marker::parse(line) {
            None if self.is_last_end(index) => Some(Marker::End),
            found => found,
        };
        match found {
            Some(marker) if !marker.is_canonical(line) => {
                self.notes
                    .repair(index, format!("accepted the nonstandard marker `{}`", truncate(line.trim())))?;
            }
            None if marker::looks_misspelled(line) => {
                return Err(syntax_error(
                    index,
                    format!("`{}` is not a V4A marker", truncate(line.trim_end())),
                    "The `***` markers are Begin Patch, Add File:, Delete File:, Update File:, Move to:, End of File and End Patch.",
                ));
            }
            _ => {}
        }
        Ok(found)
    }

    /// Whether the line is an indented `*** End Patch` that ends the text.
    fn is_last_end(&self, index: usize) -> bool {
        index + 1 == self.end
            && self.source.line(index).starts_with([' ', '\t'])
            && Marker::parse(self.source.line(index).trim_start()) == Some(Marker::End)
    }

    fn unexpected_line(&self, index: usize) -> PatchError {
        let line = truncate(self.source.trimmed(index));
        syntax_error(index, format!("`{line}` is outside of any file section"), EXAMPLE)
    }
}
