//! Which kind of patch a text is.

use super::search_replace::{self, Mark};
use super::source::{Source, fault};
use super::v4a::Marker;
use super::{Fault, Format, PatchError};

/// The kind of a text; none or several are an error that says what was seen and where.
pub(super) fn detect(source: &Source<'_>) -> Result<Format, PatchError> {
    let mut seen = strong(source);
    if seen.is_empty() {
        seen.extend(weak(source));
    }
    match seen.as_slice() {
        [] => Err(fault(
            Fault::Format,
            0,
            "the text is not a patch of a known kind",
            "Send a unified diff (`--- a/file`, `+++ b/file`, `@@ -1,2 +1,2 @@`), a V4A patch (`*** Begin Patch`) or \
             SEARCH/REPLACE blocks (`<<<<<<< SEARCH`).",
        )),
        [(format, _)] => Ok(*format),
        [first, .., (_, last)] => {
            let all: Vec<String> = seen
                .iter()
                .map(|(format, index)| format!("{} (line {})", format.name(), index + 1))
                .collect();
            let hint = format!("Send each kind in a call of its own, or all as {}.", first.0.name());
            Err(fault(
                Fault::Format,
                *last,
                format!("the text holds several kinds of patch: {}", all.join(", ")),
                hint,
            ))
        }
    }
}

/// The kinds that begin somewhere in the text, each with the first line that shows it. What stands
/// inside a patch is content and shows nothing.
fn strong(source: &Source<'_>) -> Vec<(Format, usize)> {
    let mut seen: Vec<(Format, usize)> = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let (format, next) = match begins(source, at) {
            Some(found) => found,
            None => {
                at += 1;
                continue;
            }
        };
        if !seen.iter().any(|(known, _)| *known == format) {
            seen.push((format, at));
        }
        at = next;
    }
    seen
}

/// The kind that begins at a line, and the line to go on with.
fn begins(source: &Source<'_>, at: usize) -> Option<(Format, usize)> {
    let line = source.line(at);
    if opens_v4a(line) {
        let ends = |at: &usize| Marker::parse(source.line(*at)) == Some(Marker::End);
        let end = (at + 1..source.len()).find(ends).unwrap_or(source.len());
        return Some((Format::V4a, end + 1));
    }
    if let Some(mark) = Mark::parse(line)
        && mark.is_open()
    {
        return match search_replace::span(source, at, mark.width) {
            Ok(span) => Some((Format::SearchReplace, span.close + 1)),
            // A marker that says SEARCH shows what was meant, though the block is broken.
            Err(_) => (!mark.plain).then_some((Format::SearchReplace, at + 1)),
        };
    }
    let next = source.line(at + 1);
    let unified = line.starts_with("diff --git ")
        || line.starts_with("diff --cc ")
        || line.starts_with("--- ") && next.starts_with("+++ ")
        || (line.starts_with("--- ") || line.starts_with("+++ ")) && next.starts_with("@@")
        || line.starts_with("@@ -") && line[4..].starts_with(|c: char| c.is_ascii_digit())
        || line.starts_with("*** ") && next.starts_with("--- ");
    unified.then_some((Format::Unified, at + 1))
}

fn opens_v4a(line: &str) -> bool {
    Marker::parse(line).is_some_and(|marker| marker.names_file() || marker == Marker::Begin)
}

/// What a text shows that has no clean beginning: an indented V4A patch, or a bare `@@`.
fn weak(source: &Source<'_>) -> Option<(Format, usize)> {
    let all = source.slice(0, source.len());
    let v4a = all.iter().position(|line| opens_v4a(line.trim_start()));
    let bare = || all.iter().position(|line| line.starts_with("@@"));
    v4a.map(|index| (Format::V4a, index)).or_else(|| bare().map(|index| (Format::Unified, index)))
}

#[cfg(test)]
mod tests {
    use super::super::detect as kind;
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", Format::Unified)]
    #[case("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", Format::Unified)]
    #[case("prose\n@@ -1 +1 @@\n-a\n", Format::Unified)]
    #[case("@@\n-a\n+b\n", Format::Unified)]
    #[case("```diff\n@@ ... @@\n-a\n```\n", Format::Unified)]
    #[case("*** Begin Patch\n*** End Patch\n", Format::V4a)]
    #[case("*** Update File: x\n@@\n-a\n", Format::V4a)]
    #[case("  *** Begin Patch\n  *** Update File: x\n", Format::V4a)]
    #[case("a\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n", Format::SearchReplace)]
    #[case("<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n", Format::SearchReplace)]
    #[case("<<<<<<< SEARCH\nx\n", Format::SearchReplace)]
    fn kinds_are_told_apart(#[case] text: &str, #[case] format: Format) {
        assert_eq!(kind(text), Ok(format));
    }

    #[rstest]
    #[case::diff_in_block(
        "a\n<<<<<<< SEARCH\n--- a/x\n+++ b/x\n=======\n*** Begin Patch\n>>>>>>> REPLACE\n",
        Format::SearchReplace
    )]
    #[case::block_in_diff(
        "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-<<<<<<< SEARCH\n *** Begin Patch\n",
        Format::Unified
    )]
    #[case::diff_in_v4a(
        "*** Begin Patch\n*** Update File: x\n@@ -1,2 +1,2 @@\n-a\n--- a/x\n+++ b/x\n*** End Patch\n",
        Format::V4a
    )]
    fn content_does_not_count(#[case] text: &str, #[case] format: Format) {
        assert_eq!(kind(text), Ok(format));
    }

    #[test]
    fn several_kinds_are_named_with_their_lines() {
        let error =
            kind("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n*** Begin Patch\n*** End Patch\n").unwrap_err();
        assert_eq!(
            error.message,
            "the text holds several kinds of patch: unified diff (line 1), V4A patch (line 6)"
        );
        assert_eq!((error.fault, error.line), (Fault::Format, 6));
    }

    #[rstest]
    #[case("")]
    #[case("hello\n")]
    #[case("- one\n- two\n")]
    #[case("<<<<<<< HEAD\nx\n")]
    fn no_kind_is_an_error(#[case] text: &str) {
        assert_eq!(kind(text).unwrap_err().fault, Fault::Format);
    }
}
