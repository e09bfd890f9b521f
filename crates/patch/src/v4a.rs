//! V4A patches: `*** Begin Patch`, a part per file, `*** End Patch`.

mod frame;
mod marker;
mod sections;
#[cfg(test)]
mod tests;

pub(super) use marker::Marker;

use super::source::{Notes, Source, fault, is_blank, shorten, syntax};
use super::{Fault, FilePatch, PatchError};

const EXAMPLE: &str = "A V4A patch is `*** Begin Patch`, then `*** Update File: path`, `@@` and lines that begin with a \
                       blank (kept), `-` (gone) or `+` (new), then `*** End Patch`.";

/// Reads the text as a V4A patch.
pub(super) fn parse(source: &Source<'_>, notes: &mut Notes) -> Result<Vec<FilePatch>, PatchError> {
    match frame::find(source) {
        None => Err(fault(
            Fault::Format,
            0,
            "there is no `*** Begin Patch` and no `*** Update File:` in the text",
            EXAMPLE,
        )),
        Some(frame) if frame.indent.is_empty() => {
            Parser { source, notes, at: frame.first, end: frame.end }.run()
        }
        Some(frame) => {
            notes.repair(frame.first, "the patch is indented as a whole: the indentation was taken off")?;
            let dedented = source.dedented(frame.indent);
            let frame = frame::find(&dedented).unwrap_or(frame);
            Parser { source: &dedented, notes, at: frame.first, end: frame.end }.run()
        }
    }
}

struct Parser<'a, 'n> {
    source: &'a Source<'a>,
    notes: &'n mut Notes,
    /// The line that is looked at, as an index.
    at: usize,
    /// The first line that is no longer the patch's.
    end: usize,
}

impl<'a> Parser<'a, '_> {
    fn run(mut self) -> Result<Vec<FilePatch>, PatchError> {
        self.prologue()?;
        let mut files = Vec::new();
        let mut ended = false;
        while self.at < self.end {
            let index = self.at;
            let line = self.source.line(index);
            match self.marker(index)? {
                Some(Marker::Begin) => ended = false,
                Some(Marker::End) => {
                    ended = true;
                    self.epilogue()?;
                    continue;
                }
                Some(marker) if marker.names_file() => {
                    files.push(self.section(marker, index)?);
                    continue;
                }
                None if is_blank(line.trim_end()) => {}
                _ => return Err(self.stray(index)),
            }
            self.at += 1;
        }
        if files.is_empty() {
            return Err(syntax(self.end.saturating_sub(1), "the patch names no file", EXAMPLE));
        }
        if !ended {
            self.notes.repair(
                self.end.saturating_sub(1),
                "`*** End Patch` is missing: the patch ends with the text",
            )?;
        }
        Ok(files)
    }

    /// Tells what stands before the patch, or that its first line is missing.
    fn prologue(&mut self) -> Result<(), PatchError> {
        let before = self.source.slice(0, self.at).iter().position(|line| !line.trim().is_empty());
        if let Some(index) = before {
            self.notes.repair(index, "the text before the patch was left out")?;
        }
        if Marker::parse(self.source.line(self.at)) != Some(Marker::Begin) {
            self.notes
                .repair(self.at, "`*** Begin Patch` is missing: the patch begins with its first file")?;
        }
        Ok(())
    }

    /// Goes on after `*** End Patch`: to another patch or file, else to the end.
    fn epilogue(&mut self) -> Result<(), PatchError> {
        let goes_on = |at: &usize| {
            Marker::parse(self.source.line(*at))
                .is_some_and(|marker| marker.names_file() || marker == Marker::Begin)
        };
        let next = (self.at + 1..self.end).find(goes_on);
        let stop = next.unwrap_or(self.source.len());
        let text = (self.at + 1..stop).find(|&at| !self.source.line(at).trim().is_empty());
        if let Some(index) = text {
            self.notes.repair(index, "the text after `*** End Patch` was left out")?;
        }
        if let Some(index) = next {
            self.notes.repair(index, "the patch goes on after `*** End Patch`: read as one")?;
        }
        self.at = next.unwrap_or(self.end);
        Ok(())
    }

    /// The marker on a line; a `***` line that is none is an error, as it may hide a file.
    fn marker(&mut self, index: usize) -> Result<Option<Marker<'a>>, PatchError> {
        let line = self.source.line(index);
        let found = match Marker::parse(line) {
            None if self.is_last_end(index) => Some(Marker::End),
            found => found,
        };
        match found {
            Some(marker) if !marker.is_canonical(line) => {
                self.notes.repair(
                    index,
                    format!("`{}` was read as the marker that it resembles", shorten(line.trim())),
                )?;
            }
            None if line
                .strip_prefix("*** ")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic())) =>
            {
                return Err(syntax(
                    index,
                    format!("`{}` is not a line of a V4A patch", shorten(line.trim_end())),
                    "The `***` lines are Begin Patch, Add File:, Delete File:, Update File:, Move to:, End of File and End Patch.",
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

    fn stray(&self, index: usize) -> PatchError {
        let line = shorten(self.source.trimmed(index));
        syntax(index, format!("`{line}` stands outside of any file's part"), EXAMPLE)
    }
}
