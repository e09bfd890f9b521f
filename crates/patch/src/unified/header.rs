//! Hunk headers: `@@ -12,3 +12,4 @@ section`.

use super::super::PatchError;
use super::super::source::{error_at, parse_number, syntax_error, truncate};
use crate::PatchErrorKind;

/// How to write a header where it must be complete.
pub(crate) const COMPLETE_HINT: &str =
    "Write it as `@@ -START,COUNT +START,COUNT @@`, with the line numbers of the hunk.";

/// How to write a header.
pub(crate) const HINT: &str = "Write it as `@@ -12,3 +12,4 @@` (old start and count, new start and count), or write a bare `@@` \
                       to locate the hunk by its context lines.";

/// The start and line count of one side of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: usize,
    pub(crate) count: usize,
}

/// A parsed hunk header.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Header<'a> {
    pub(crate) old: Option<Range>,
    pub(crate) new: Option<Range>,
    /// The section heading, after the numbers or instead of them.
    pub(crate) section: &'a str,
    /// What is missing, as a verb phrase for messages.
    pub(crate) defect: Option<&'static str>,
}

/// Parses the hunk header at `index`, which starts with `@@`.
pub(crate) fn parse(line: &str, index: usize) -> Result<Header<'_>, PatchError> {
    if line.starts_with("@@@") {
        return Err(error_at(
            PatchErrorKind::Unsupported,
            index,
            "this is a combined diff of a merge, which has several old sides",
            "Send a diff against one parent, as `git diff <parent> <merge>` writes it.",
        ));
    }
    let rest = line.strip_prefix("@@").unwrap_or(line).trim();
    if !rest.starts_with('-') {
        return Ok(Header {
            section: split_closing(rest).0,
            defect: Some("has no line numbers"),
            ..Header::default()
        });
    }
    let malformed =
        || syntax_error(index, format!("the hunk header `{}` is malformed", truncate(line.trim_end())), HINT);
    let (old, rest) = parse_range(&rest[1..], index)?.ok_or_else(malformed)?;
    let rest = rest.trim_start();
    let Some(rest) = rest.strip_prefix('+') else {
        let (section, is_closed) = split_heading(rest);
        if !is_closed {
            return Err(malformed());
        }
        let defect = Some("has no line numbers for the new side");
        return Ok(Header { old: Some(old), new: None, section, defect });
    };
    let (new, rest) = parse_range(rest, index)?.ok_or_else(malformed)?;
    let (section, is_closed) = split_heading(rest.trim_start());
    if !is_closed && !rest.trim().is_empty() && !rest.starts_with(' ') {
        return Err(malformed());
    }
    let defect = if is_closed { None } else { Some("has no closing `@@`") };
    Ok(Header { old: Some(old), new: Some(new), section, defect })
}

/// The error for a header that is not complete; `defect` says what is missing.
pub(crate) fn incomplete(line: &str, defect: &str, index: usize) -> PatchError {
    syntax_error(index, format!("the hunk header `{}` {defect}", truncate(line.trim_end())), COMPLETE_HINT)
}

/// Splits off a closing `@@` at the end; returns the text before it and whether there was one.
fn split_closing(rest: &str) -> (&str, bool) {
    match rest.strip_suffix("@@") {
        Some(inner) => (inner.trim_end(), true),
        None => (rest, false),
    }
}

/// Splits off a closing `@@` at the start; returns the text after it and whether there was one.
fn split_heading(rest: &str) -> (&str, bool) {
    match rest.strip_prefix("@@") {
        Some(section) => (section.trim(), true),
        None => (rest.trim(), false),
    }
}

/// Parses `12,3` or `12` at the start of `text`; returns the rest too.
fn parse_range(text: &str, index: usize) -> Result<Option<(Range, &str)>, PatchError> {
    let Some((start, rest)) = split_digits(text) else { return Ok(None) };
    let start = parse_number(start, index)?;
    let Some(after_comma) = rest.strip_prefix(',') else {
        return Ok(Some((Range { start, count: 1 }, rest)));
    };
    let Some((count, rest)) = split_digits(after_comma) else { return Ok(None) };
    Ok(Some((Range { start, count: parse_number(count, index)? }, rest)))
}

fn split_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    if end == 0 { None } else { Some(text.split_at(end)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    type Pair = (usize, usize);

    fn numbers(line: &str) -> Option<(Pair, Option<Pair>)> {
        let header = parse(line, 0).unwrap();
        let pair = |range: Range| (range.start, range.count);
        header.old.map(|old| (pair(old), header.new.map(pair)))
    }

    #[rstest]
    #[case("@@ -1,2 +3,4 @@", (1, 2), (3, 4))]
    #[case("@@ -1 +3 @@", (1, 1), (3, 1))]
    #[case("@@ -0,0 +1,4 @@ fn main() {", (0, 0), (1, 4))]
    #[case("@@ -1,2 +3,4 @@\r", (1, 2), (3, 4))]
    #[case("@@-1,2 +3,4@@", (1, 2), (3, 4))]
    fn parses_well_formed_headers(
        #[case] line: &str,
        #[case] old: (usize, usize),
        #[case] new: (usize, usize),
    ) {
        assert_eq!(numbers(line), Some((old, Some(new))));
        assert_eq!(parse(line, 0).unwrap().defect, None);
    }

    #[rstest]
    #[case("@@")]
    #[case("@@ @@")]
    #[case("@@ ... @@")]
    #[case("@@ fn main() {")]
    fn accepts_headers_without_numbers(#[case] line: &str) {
        assert_eq!(numbers(line), None);
        assert!(parse(line, 0).unwrap().defect.is_some());
    }

    #[test]
    fn accepts_incomplete_headers() {
        assert_eq!(numbers("@@ -4,2 @@"), Some(((4, 2), None)));
        assert_eq!(numbers("@@ -4,2 +4,3"), Some(((4, 2), Some((4, 3)))));
        assert!(parse("@@ -4,2 +4,3", 0).unwrap().defect.is_some());
    }

    #[rstest]
    #[case("@@ -a,b +c,d @@")]
    #[case("@@ -1,2 +x @@")]
    #[case("@@ -1,2 nonsense")]
    #[case("@@ -1,2,3 +1 @@")]
    #[case("@@ -99999999999999999999,1 +1 @@")]
    #[case("@@@ -1,2 -1,2 +1,3 @@@")]
    fn rejects_malformed_headers_and_names_the_line(#[case] line: &str) {
        assert_eq!(parse(line, 6).unwrap_err().line, 7);
    }
}
