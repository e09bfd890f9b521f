//! Detects the format of a patch.

use super::search_replace::{self, Mark};
use super::source::{Source, error_at};
use super::v4a::Marker;
use super::{Format, PatchError, PatchErrorKind};

/// Detects the format. No format or several are an error that lists what was found and where.
pub(super) fn detect(source: &Source<'_>) -> Result<Format, PatchError> {
    let mut found = find_headers(source);
    if found.is_empty() {
        found.extend(find_weak_evidence(source));
    }
    match found.as_slice() {
        [] => Err(error_at(
            PatchErrorKind::Format,
            0,
            "the text is not a patch in a known format",
            "Send a unified diff (`--- a/file`, `+++ b/file`, `@@ -1,2 +1,2 @@`), a V4A patch (`*** Begin Patch`) or \
             SEARCH/REPLACE blocks (`<<<<<<< SEARCH`).",
        )),
        [(format, _)] => Ok(*format),
        [first, .., (_, last)] => {
            let all: Vec<String> = found
                .iter()
                .map(|(format, index)| format!("{} (line {})", format.name(), index + 1))
                .collect();
            let hint = format!("Send each format in a separate call, or everything as {}.", first.0.name());
            Err(error_at(
                PatchErrorKind::Format,
                *last,
                format!("the text mixes several patch formats: {}", all.join(", ")),
                hint,
            ))
        }
    }
}

/// Finds the formats whose patches begin somewhere in the text, each with its first line. The lines
/// inside a patch are content and do not count.
fn find_headers(source: &Source<'_>) -> Vec<(Format, usize)> {
    let mut found: Vec<(Format, usize)> = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let (format, next) = match patch_start(source, at) {
            Some(start) => start,
            None => {
                at += 1;
                continue;
            }
        };
        if !found.iter().any(|(known, _)| *known == format) {
            found.push((format, at));
        }
        at = next;
    }
    found
}

/// The format of the patch that begins at a line, and the line to continue at.
fn patch_start(source: &Source<'_>, at: usize) -> Option<(Format, usize)> {
    let line = source.line(at);
    if opens_v4a(line) {
        let ends = |at: &usize| Marker::parse(source.line(*at)) == Some(Marker::End);
        let end = (at + 1..source.len()).find(ends).unwrap_or(source.len());
        return Some((Format::V4a, end + 1));
    }
    if let Some(mark) = Mark::parse(line)
        && mark.starts_block()
    {
        return match search_replace::find_span(source, at, mark.width) {
            Ok(span) => Some((Format::SearchReplace, span.replace + 1)),
            // A marker with the word SEARCH is evidence even if the block is broken.
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
    Marker::parse(line).is_some_and(|marker| marker.starts_file() || marker == Marker::Begin)
}

/// Looks for a patch without a proper header: an indented V4A patch, or a bare `@@`.
fn find_weak_evidence(source: &Source<'_>) -> Option<(Format, usize)> {
    let all = source.slice(0, source.len());
    let v4a = all.iter().position(|line| opens_v4a(line.trim_start()));
    let bare = || all.iter().position(|line| line.starts_with("@@"));
    v4a.map(|index| (Format::V4a, index)).or_else(|| bare().map(|index| (Format::Unified, index)))
}

#[cfg(test)]
mod tests {
    use super::super::detect as detect_text;
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
    fn detects_each_format(#[case] text: &str, #[case] format: Format) {
        assert_eq!(detect_text(text), Ok(format));
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
    fn ignores_content_that_looks_like_another_format(#[case] text: &str, #[case] format: Format) {
        assert_eq!(detect_text(text), Ok(format));
    }

    #[test]
    fn lists_mixed_formats_with_their_lines() {
        let error = detect_text("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n*** Begin Patch\n*** End Patch\n")
            .unwrap_err();
        assert_eq!(
            error.message,
            "the text mixes several patch formats: unified diff (line 1), V4A patch (line 6)"
        );
        assert_eq!((error.kind, error.line), (PatchErrorKind::Format, 6));
    }

    #[rstest]
    #[case("")]
    #[case("hello\n")]
    #[case("- one\n- two\n")]
    #[case("<<<<<<< HEAD\nx\n")]
    fn rejects_unknown_formats(#[case] text: &str) {
        assert_eq!(detect_text(text).unwrap_err().kind, PatchErrorKind::Format);
    }
}
