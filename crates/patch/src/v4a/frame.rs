//! Locates a V4A patch in a text: prose, fences and shell commands may surround it.

use super::super::source::Source;
use super::super::unified::{closes_fence, opening_fence};
use super::Marker;

/// The lines of a text that contain the patch.
pub(super) struct Frame<'a> {
    /// The index of the first marker.
    pub(super) first: usize,
    /// The index after the patch's last line.
    pub(super) end: usize,
    /// The indentation of every line.
    pub(super) indent: &'a str,
}

/// Finds the patch by its first marker. An indented marker counts only if there is no other.
pub(super) fn find<'a>(source: &Source<'a>) -> Option<Frame<'a>> {
    let opens = |line: &str| {
        Marker::parse(line).is_some_and(|marker| marker.starts_file() || marker == Marker::Begin)
    };
    let all = source.slice(0, source.len());
    let first = all
        .iter()
        .position(|line| opens(line))
        .or_else(|| all.iter().position(|line| opens(line.trim_start())))?;
    let line = source.line(first);
    let indent = &line[..line.len() - line.trim_start().len()];
    Some(Frame { first, end: end(source, first), indent })
}

/// The end of the patch: the end of the text, without closing fences and heredoc delimiters.
fn end(source: &Source<'_>, first: usize) -> usize {
    let mut end = trim_whitespace_end(source, first, source.len());
    let before = source.slice(0, first);
    let fence = before.iter().rev().find_map(|line| opening_fence(line));
    let delimiter = before.iter().rev().find_map(|line| heredoc_delimiter(line));
    loop {
        let line = source.trimmed(end.saturating_sub(1));
        let closing = fence.is_some_and(|fence| closes_fence(line.trim_start(), fence))
            || delimiter.is_some_and(|word| line.trim().trim_end_matches(['"', '\'', ')', ';', ' ']) == word)
            || (fence.is_none() && line == "```")
            || (delimiter.is_some() && matches!(line.trim(), "\"" | "'" | ")" | "\")" | "')"));
        if !closing || end <= first + 1 {
            return end;
        }
        end = trim_whitespace_end(source, first, end - 1);
    }
}

fn trim_whitespace_end(source: &Source<'_>, first: usize, end: usize) -> usize {
    let white = source.slice(first, end).iter().rev().take_while(|line| line.trim().is_empty()).count();
    end - white
}

/// The delimiter of a heredoc that starts on the line.
fn heredoc_delimiter(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start().trim_start_matches(['\'', '"', '\\']);
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|word| !word.is_empty())
}
