//! Hunk headers: `@@ -12,3 +12,4 @@ section`.

use super::super::PatchError;
use super::super::source::{fault, number, shorten, syntax};
use crate::Fault;

const EXAMPLE: &str = "Write it as `@@ -12,3 +12,4 @@`: old start and count, new start and count; or write a bare `@@` \
                       and let the context lines find the place.";

/// Where one side of a hunk begins and how many lines it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: usize,
    pub(crate) count: usize,
}

/// What a hunk header says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Header<'a> {
    pub(crate) old: Option<Range>,
    pub(crate) new: Option<Range>,
    /// What it says instead of numbers, or after them.
    pub(crate) section: &'a str,
    /// What is wrong with it.
    pub(crate) wrong: Option<&'static str>,
}

/// Reads the hunk header at `index`, which begins with `@@`.
pub(crate) fn parse(line: &str, index: usize) -> Result<Header<'_>, PatchError> {
    if line.starts_with("@@@") {
        return Err(fault(
            Fault::Unsupported,
            index,
            "this is a combined diff of a merge, which has several old sides",
            "Send a diff against one parent, as `git diff <parent> <merge>` makes it.",
        ));
    }
    let rest = line.strip_prefix("@@").unwrap_or(line).trim();
    if !rest.starts_with('-') {
        return Ok(Header {
            section: closed(rest).0,
            wrong: Some("has no line numbers"),
            ..Header::default()
        });
    }
    let malformed =
        || syntax(index, format!("the hunk header `{}` cannot be read", shorten(line.trim_end())), EXAMPLE);
    let (old, rest) = range(&rest[1..], index)?.ok_or_else(malformed)?;
    let rest = rest.trim_start();
    let Some(rest) = rest.strip_prefix('+') else {
        let (section, is_closed) = after(rest);
        if !is_closed {
            return Err(malformed());
        }
        let wrong = Some("has no numbers for the new side");
        return Ok(Header { old: Some(old), new: None, section, wrong });
    };
    let (new, rest) = range(rest, index)?.ok_or_else(malformed)?;
    let (section, is_closed) = after(rest.trim_start());
    if !is_closed && !rest.trim().is_empty() && !rest.starts_with(' ') {
        return Err(malformed());
    }
    let wrong = if is_closed { None } else { Some("lacks its closing `@@`") };
    Ok(Header { old: Some(old), new: Some(new), section, wrong })
}

/// What stands before a closing `@@` at the end, and whether there is one.
fn closed(rest: &str) -> (&str, bool) {
    match rest.strip_suffix("@@") {
        Some(inner) => (inner.trim_end(), true),
        None => (rest, false),
    }
}

/// What stands after a closing `@@` at the start, and whether there is one.
fn after(rest: &str) -> (&str, bool) {
    match rest.strip_prefix("@@") {
        Some(section) => (section.trim(), true),
        None => (rest.trim(), false),
    }
}

/// `12,3` or `12` at the start of `text`, and what follows it.
fn range(text: &str, index: usize) -> Result<Option<(Range, &str)>, PatchError> {
    let Some((start, rest)) = digits(text) else { return Ok(None) };
    let start = number(start, index)?;
    let Some(after_comma) = rest.strip_prefix(',') else {
        return Ok(Some((Range { start, count: 1 }, rest)));
    };
    let Some((count, rest)) = digits(after_comma) else { return Ok(None) };
    Ok(Some((Range { start, count: number(count, index)? }, rest)))
}

fn digits(text: &str) -> Option<(&str, &str)> {
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
    fn clean_headers_are_read(#[case] line: &str, #[case] old: (usize, usize), #[case] new: (usize, usize)) {
        assert_eq!(numbers(line), Some((old, Some(new))));
        assert_eq!(parse(line, 0).unwrap().wrong, None);
    }

    #[rstest]
    #[case("@@")]
    #[case("@@ @@")]
    #[case("@@ ... @@")]
    #[case("@@ fn main() {")]
    fn headers_without_numbers_are_bare(#[case] line: &str) {
        assert_eq!(numbers(line), None);
        assert!(parse(line, 0).unwrap().wrong.is_some());
    }

    #[test]
    fn half_headers_keep_what_they_say() {
        assert_eq!(numbers("@@ -4,2 @@"), Some(((4, 2), None)));
        assert_eq!(numbers("@@ -4,2 +4,3"), Some(((4, 2), Some((4, 3)))));
        assert!(parse("@@ -4,2 +4,3", 0).unwrap().wrong.is_some());
    }

    #[rstest]
    #[case("@@ -a,b +c,d @@")]
    #[case("@@ -1,2 +x @@")]
    #[case("@@ -1,2 nonsense")]
    #[case("@@ -1,2,3 +1 @@")]
    #[case("@@ -99999999999999999999,1 +1 @@")]
    #[case("@@@ -1,2 -1,2 +1,3 @@@")]
    fn malformed_headers_are_errors_that_name_the_line(#[case] line: &str) {
        assert_eq!(parse(line, 6).unwrap_err().line, 7);
    }
}
