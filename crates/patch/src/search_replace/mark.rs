//! The marker lines of SEARCH/REPLACE blocks.

/// One of a block's three markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkKind {
    /// `<<<<<<< SEARCH`
    Search,
    /// `=======`
    Divider,
    /// `>>>>>>> REPLACE`
    Replace,
}

/// A marker line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    /// The number of marker characters.
    pub(crate) width: usize,
    /// Whether it could belong to a merge conflict, because it has none of the words such as SEARCH.
    pub(crate) plain: bool,
}

/// The least width of markers without a word.
pub(crate) const MIN_PLAIN_WIDTH: usize = 5;

impl Mark {
    /// Parses a line of five to nine equal characters and the word after them. Three or four are enough with the word; a
    /// divider of that width counts only in a block of the same width, because headings are underlined like that.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let first = *line.as_bytes().first().filter(|byte| b"<=>-+".contains(byte))?;
        let width = line.bytes().take(10).take_while(|byte| *byte == first).count();
        if !(3..=9).contains(&width) {
            return None;
        }
        let rest = &line[width..];
        let word = rest.trim().trim_end_matches(['<', '>']).trim_end();
        if !word.is_empty() && !rest.starts_with([' ', '\t']) {
            return None;
        }
        let is = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
        let kind = match first {
            b'<' if is(&["SEARCH", "ORIGINAL", "HEAD", ""]) => MarkKind::Search,
            b'-' if is(&["SEARCH"]) => MarkKind::Search,
            b'=' if word.is_empty() => MarkKind::Divider,
            b'>' if is(&["REPLACE", "UPDATED", ""]) || may_be_branch(word) => MarkKind::Replace,
            b'+' if is(&["REPLACE"]) => MarkKind::Replace,
            _ => return None,
        };
        let plain = !is(&["SEARCH", "ORIGINAL", "REPLACE", "UPDATED"]);
        if width < MIN_PLAIN_WIDTH && plain && kind != MarkKind::Divider {
            return None;
        }
        Some(Self { kind, width, plain })
    }

    /// Whether the marker starts a block.
    pub(crate) fn starts_block(self) -> bool {
        self.kind == MarkKind::Search
    }
}

/// Whether a word could be a branch name, as at the end of a merge conflict.
fn may_be_branch(word: &str) -> bool {
    !word.contains(char::is_whitespace)
}

/// Whether a line is a line-number hint at the top of a block.
pub(crate) fn is_line_hint(line: &str) -> bool {
    let line = line.trim_end();
    [":start_line:", ":end_line:"].iter().any(|name| {
        line.strip_prefix(name).is_some_and(|digits| {
            let digits = digits.trim();
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

/// Whether a line must be escaped inside a block.
fn needs_escape(line: &str) -> bool {
    let unescaped = line.trim_start_matches('\\');
    Mark::parse(unescaped).is_some() || is_line_hint(unescaped)
}

/// Strips the backslash that escapes a line of the file that looks like a marker.
pub(super) fn unescape(line: &str) -> &str {
    match line.strip_prefix('\\') {
        Some(rest) if needs_escape(rest) => rest,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("<<<<<<< SEARCH", MarkKind::Search, 7, false)]
    #[case("<<<<< search", MarkKind::Search, 5, false)]
    #[case("<<<<<<<<< ORIGINAL  ", MarkKind::Search, 9, false)]
    #[case("<<<<<<< SEARCH>", MarkKind::Search, 7, false)]
    #[case("<<<<<<< HEAD", MarkKind::Search, 7, true)]
    #[case("<<<<<<<", MarkKind::Search, 7, true)]
    #[case("------- SEARCH", MarkKind::Search, 7, false)]
    #[case("=======\r", MarkKind::Divider, 7, true)]
    #[case(">>>>>>> REPLACE", MarkKind::Replace, 7, false)]
    #[case(">>>>>>> UPDATED", MarkKind::Replace, 7, false)]
    #[case(">>>>>>>", MarkKind::Replace, 7, true)]
    #[case(">>>>>>> feature/x", MarkKind::Replace, 7, true)]
    #[case("+++++++ REPLACE", MarkKind::Replace, 7, false)]
    #[case("--- SEARCH", MarkKind::Search, 3, false)]
    #[case("<<<< SEARCH", MarkKind::Search, 4, false)]
    #[case("===", MarkKind::Divider, 3, true)]
    #[case("+++ REPLACE", MarkKind::Replace, 3, false)]
    fn parses_markers(#[case] line: &str, #[case] kind: MarkKind, #[case] width: usize, #[case] plain: bool) {
        assert_eq!(Mark::parse(line), Some(Mark { kind, width, plain }));
    }

    #[rstest]
    #[case("<< SEARCH")]
    #[case("<<<")]
    #[case(">>> branch")]
    #[case("--- a/file")]
    #[case("+++ b/file")]
    #[case("==")]
    #[case("<<<<<<<<<< SEARCH")]
    #[case("<<<<<<< something else")]
    #[case("<<<<<<<SEARCHING")]
    #[case("------- a heading")]
    #[case("-------")]
    #[case("======= x")]
    #[case(" =======")]
    #[case("\\=======")]
    #[case("===========")]
    fn ignores_other_lines(#[case] line: &str) {
        assert_eq!(Mark::parse(line), None);
    }

    #[rstest]
    #[case("=======", "\\=======")]
    #[case("\\=======", "\\\\=======")]
    #[case(":start_line:5", "\\:start_line:5")]
    #[case("plain", "plain")]
    #[case("\\plain", "\\plain")]
    fn unescapes_markers_and_hints(#[case] line: &str, #[case] written: &str) {
        assert_eq!(unescape(written), line);
    }
}
