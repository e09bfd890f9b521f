//! Lines joined by a literal `\n`, as left behind by one JSON encoding too many.

use super::{Draft, DraftLine, split_prefix};
use crate::hunk::{HunkRepair, Role};

/// The reading in which `\n` outside of string literals ends a line. An old line must contain one,
/// or the hunk must consist of a single line: escapes in new lines alone are code.
pub(super) fn split<'l>(draft: &Draft<'l>) -> Option<Draft<'l>> {
    let lines = &draft.lines;
    // Almost no line has a backslash, which is found faster than both characters.
    if !lines.iter().any(|line| line.text().as_bytes().contains(&b'\\') && line.text().contains("\\n")) {
        return None;
    }
    let pieces: Vec<Vec<&str>> = lines.iter().map(|line| split_outside_strings(line.text())).collect();
    let is_split = |(line, pieces): (&DraftLine<'_>, &Vec<&str>)| {
        pieces.len() > 1 && (line.role.is_old() || lines.len() == 1)
    };
    if !lines.iter().zip(&pieces).any(is_split) {
        return None;
    }
    let escapes = Escapes::of(lines);
    let mut out = Vec::with_capacity(lines.len());
    for (at, pieces) in pieces.iter().enumerate() {
        // New lines that are separate lines already were not joined.
        let is_separate = lines[at].role == Role::Added && has_added_neighbor(lines, at);
        if pieces.len() == 1 || is_separate {
            out.push(lines[at].clone());
        } else {
            // A hunk that only adds lines has no place, so what follows with a space is its context.
            let is_all = lines.len() == 1 && lines[at].role == Role::Added;
            let is_marked = lines[at].prefixed || is_all;
            split_line(&lines[at], is_marked, pieces, escapes, &mut out);
        }
    }
    Some(draft.repaired(HunkRepair::LiteralNewlines, out))
}

fn has_added_neighbor(lines: &[DraftLine<'_>], at: usize) -> bool {
    let is_added = |line: Option<&DraftLine<'_>>| line.is_some_and(|line| line.role == Role::Added);
    is_added(at.checked_sub(1).and_then(|before| lines.get(before))) || is_added(lines.get(at + 1))
}

/// Splits a line at every `\n` that is not inside a string literal. A final one ends the last line.
fn split_outside_strings(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut quote = None;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if bytes.get(at + 1) == Some(&b'n') && !is_in_string(quote, &text[at + 2..]) => {
                pieces.push(&text[start..at]);
                start = at + 2;
                at += 1;
                quote = None;
            }
            b'\\' => at += 1,
            byte if quote == Some(byte) => quote = None,
            // An apostrophe inside a word opens nothing.
            byte @ (b'"' | b'\'' | b'`') if quote.is_none() && (byte == b'"' || !is_word_byte(bytes, at)) => {
                quote = Some(byte);
            }
            _ => {}
        }
        at += 1;
    }
    if !matches!(&text[start..], "" | "\r") || pieces.is_empty() {
        pieces.push(&text[start..]);
    }
    pieces
}

/// Whether a `\n` belongs to a string literal, given the quote that is open before it and the text after it. A lone quote or
/// apostrophe opens nothing: the string must end before the next `\n`, and a line of the hunk must not start here.
fn is_in_string(quote: Option<u8>, after: &str) -> bool {
    let Some(quote) = quote.map(char::from) else { return false };
    let rest = after.split("\\n").next().unwrap_or_default();
    rest.contains(quote) && (quote == '"' || !after.starts_with(['+', '-', ' ']))
}

/// Whether a letter or digit is directly before `at`.
fn is_word_byte(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_alphanumeric())
}

/// Adds the pieces of a line: each with its own prefix if all have one and one is a change, otherwise
/// in the role of the line. `is_marked` says whether pieces that start with a space may be context.
fn split_line(
    whole: &DraftLine<'_>,
    is_marked: bool,
    pieces: &[&str],
    escapes: Escapes,
    out: &mut Vec<DraftLine<'_>>,
) {
    let later = || pieces[1..].iter().filter(|piece| !piece.trim().is_empty());
    let have_prefixes = later().all(|piece| piece.starts_with(['+', '-', ' ']));
    let has_change = later().any(|piece| piece.starts_with(['+', '-']));
    let is_spaced = is_marked && later().all(|piece| piece.starts_with(' '));
    // In a diff of a CRLF file, only the last piece has its carriage return.
    let ending = if whole.text().ends_with('\r') { "\r" } else { "" };
    for (at, piece) in pieces.iter().enumerate() {
        let (role, text, prefixed) = match at {
            0 => (whole.role, *piece, whole.prefixed),
            _ if have_prefixes && has_change || is_spaced => split_prefix(piece),
            _ => (whole.role, *piece, false),
        };
        let text = text.strip_suffix("\\r").or(text.strip_suffix('\r')).unwrap_or(text);
        let text = escapes.decode(text) + ending;
        let newline = whole.newline || at + 1 < pieces.len();
        out.push(DraftLine { role, text: text.into(), newline, prefixed });
    }
}

/// The other escapes that the encoding added. Text that has a character plainly was not encoded.
#[derive(Debug, Clone, Copy)]
struct Escapes {
    tabs: bool,
    /// Quotes and backslashes.
    quotes: bool,
}

impl Escapes {
    fn of(lines: &[DraftLine<'_>]) -> Self {
        let has_plain_quote = |text: &str| text.match_indices('"').any(|(at, _)| !text[..at].ends_with('\\'));
        Self {
            tabs: !lines.iter().any(|line| line.text().contains('\t')),
            quotes: lines.iter().any(|line| line.text().contains("\\\""))
                && !lines.iter().any(|line| has_plain_quote(line.text())),
        }
    }

    /// Decodes the escapes. Inside string literals they are code, unless the quotes are escaped too.
    fn decode(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut quote = None;
        let mut chars = text.chars().peekable();
        while let Some(next) = chars.next() {
            match next {
                '\\' => {
                    let decoded = match chars.peek() {
                        Some('t') if self.tabs && quote.is_none() => Some('\t'),
                        Some(&escaped @ ('"' | '\\')) if self.quotes => Some(escaped),
                        _ => None,
                    };
                    match decoded {
                        Some(decoded) => {
                            out.push(decoded);
                            chars.next();
                        }
                        None => out.extend([next].into_iter().chain(chars.next())),
                    }
                }
                _ => {
                    match quote {
                        Some(open) if open == next => quote = None,
                        None if matches!(next, '"' | '\'' | '`') => quote = Some(next),
                        _ => {}
                    }
                    out.push(next);
                }
            }
        }
        out
    }
}
