//! Lines of a large file, read no further than the last of them.
//!
//! The whole file would have to be read for its version, so the answer has none and says where to get it. The lines are shown this
//! way only if no other part of the file can change how they look: they are ASCII, and nothing before them is a `\r` or a NUL byte.

use std::io;

use super::Engine;
use crate::outcome::Outcome;
use crate::path::FilePath;
use crate::plan::{Footer, LinePrefix, ReadPlan};
use crate::ports::workspace::WorkspaceError;
use crate::report::{FileReport, Report, numbered_excerpt};
use crate::snapshot::{ContentSource, LargeFile};
use slipstitch_text::{BlockHashes, EncodingRule};

/// Lines that are longer than so many times the answer are read with the whole file.
const MAX_EXCESS: usize = 4;

impl Engine<'_> {
    /// The requested lines of a large file; `None` if the answer depends on more of the file.
    pub(super) fn read_excerpt(&self, plan: &ReadPlan, file: &LargeFile) -> Result<Option<Report>, Report> {
        // Answers without a version have a form of their own, which counts the file's lines.
        let (Some(first), Some(last), Footer::Version) = (plan.first.or(Some(1)), plan.last, plan.footer)
        else {
            return Ok(None);
        };
        // Anchors are remembered with the version that they were shown for.
        let is_plain = plan.prefix != LinePrefix::Hash && !matches!(self.encoding, EncodingRule::Force(_));
        if first < 1 || last < first || !is_plain {
            return Ok(None);
        }
        let found = find_lines(&*file.source, first, last, plan.budget.saturating_mul(MAX_EXCESS))
            .map_err(|error| read_error(&plan.path, &error))?;
        let Some(text) = found else { return Ok(None) };
        let size = file.source.content_len();
        let mut report = Report::new(Outcome::Shown, format!("`{}`, {size} bytes", plan.path));
        report.files.push(FileReport::of_excerpt(&plan.path, file));
        report.text = Some(numbered_excerpt(&text, first, last, size, plan));
        Ok(Some(report))
    }
}

fn read_error(path: &FilePath, error: &io::Error) -> Report {
    WorkspaceError::Io { path: path.clone(), action: "read", reason: error.to_string() }.into()
}

/// The text of some lines; `None` if the file ends before them, or if they are not plain enough or longer than `max` bytes.
fn find_lines(
    source: &dyn ContentSource,
    first: usize,
    last: usize,
    max: usize,
) -> io::Result<Option<String>> {
    let len = source.content_len();
    let mut block = vec![0; BlockHashes::BLOCK.min(len)];
    let mut text = Vec::new();
    // How many newlines come before the first line, and how many end a line that is shown.
    let (mut skip, mut take) = (first - 1, last - first + 1);
    let mut at = 0;
    while at < len && take > 0 {
        let got = match source.read_at(at, &mut block) {
            Ok(0) => return Ok(None),
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &block[..got];
        let has_mark = at == 0 && rest.starts_with(b"\xEF\xBB\xBF");
        at += got;
        if has_mark || memchr::memchr2(0, b'\r', rest).is_some() {
            return Ok(None);
        }
        if skip > 0 {
            let Some(start) = skip_newlines(rest, &mut skip) else { continue };
            rest = &rest[start..];
        }
        let end = skip_newlines(rest, &mut take).unwrap_or(rest.len());
        text.extend_from_slice(&rest[..end]);
        if text.len() > max {
            return Ok(None);
        }
    }
    let is_plain = take == 0 && text.is_ascii();
    Ok(String::from_utf8(text).ok().filter(|_| is_plain))
}

/// The offset after the next `count` newlines. If there are fewer, subtracts those.
fn skip_newlines(bytes: &[u8], count: &mut usize) -> Option<usize> {
    let mut newlines = memchr::memchr_iter(b'\n', bytes);
    let found = newlines.nth(*count - 1);
    match found {
        Some(newline) => {
            *count = 0;
            Some(newline + 1)
        }
        None => {
            *count -= memchr::memchr_iter(b'\n', bytes).count();
            None
        }
    }
}
