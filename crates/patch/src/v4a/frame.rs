//! Where in a text a V4A patch stands: prose, fences and shell commands may be around it.

use super::super::source::Source;
use super::super::unified::{closes, opened_fence};
use super::Marker;

/// The lines of a text that are the patch.
pub(super) struct Frame<'a> {
    /// The first marker, as an index.
    pub(super) first: usize,
    /// The first line after the patch.
    pub(super) end: usize,
    /// The white space before every line.
    pub(super) indent: &'a str,
}

/// Finds the patch by its first marker; an indented one counts if no other is there.
pub(super) fn find<'a>(source: &Source<'a>) -> Option<Frame<'a>> {
    let opens =
        |line: &str| Marker::parse(line).is_some_and(|marker| marker.names_file() || marker == Marker::Begin);
    let all = source.slice(0, source.len());
    let first = all
        .iter()
        .position(|line| opens(line))
        .or_else(|| all.iter().position(|line| opens(line.trim_start())))?;
    let line = source.line(first);
    let indent = &line[..line.len() - line.trim_start().len()];
    Some(Frame { first, end: end(source, first), indent })
}

/// The end of the patch: the text's, without what closes the things around it.
fn end(source: &Source<'_>, first: usize) -> usize {
    let mut end = without_white_tail(source, first, source.len());
    let before = source.slice(0, first);
    let fence = before.iter().rev().find_map(|line| opened_fence(line));
    let word = before.iter().rev().find_map(|line| heredoc_word(line));
    loop {
        let line = source.trimmed(end.saturating_sub(1));
        let closing = fence.is_some_and(|fence| closes(line.trim_start(), fence))
            || word.is_some_and(|word| line.trim().trim_end_matches(['"', '\'', ')', ';', ' ']) == word)
            || (fence.is_none() && line == "```")
            || (word.is_some() && matches!(line.trim(), "\"" | "'" | ")" | "\")" | "')"));
        if !closing || end <= first + 1 {
            return end;
        }
        end = without_white_tail(source, first, end - 1);
    }
}

fn without_white_tail(source: &Source<'_>, first: usize, end: usize) -> usize {
    let white = source.slice(first, end).iter().rev().take_while(|line| line.trim().is_empty()).count();
    end - white
}

/// The word that ends a here document that the line begins.
fn heredoc_word(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start().trim_start_matches(['\'', '"', '\\']);
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|word| !word.is_empty())
}
