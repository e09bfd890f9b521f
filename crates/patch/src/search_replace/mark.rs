//! The marker lines of SEARCH/REPLACE blocks.

/// Which of a block's three markers a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// `<<<<<<< SEARCH`
    Open,
    /// `=======`
    Divide,
    /// `>>>>>>> REPLACE`
    Close,
}

/// A marker line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) side: Side,
    /// How many characters it is drawn with.
    pub(crate) width: usize,
    /// Whether it could be of a merge conflict: it does not say SEARCH or REPLACE.
    pub(crate) plain: bool,
}

impl Mark {
    /// Reads a line of five to nine equal characters, and the word after them.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let first = *line.as_bytes().first().filter(|byte| b"<=>-+".contains(byte))?;
        let width = line.bytes().take(10).take_while(|byte| *byte == first).count();
        if !(5..=9).contains(&width) {
            return None;
        }
        let rest = &line[width..];
        let word = rest.trim().trim_end_matches(['<', '>']).trim_end();
        if !word.is_empty() && !rest.starts_with([' ', '\t']) {
            return None;
        }
        let is = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
        let side = match first {
            b'<' if is(&["SEARCH", "ORIGINAL", "HEAD", ""]) => Side::Open,
            b'-' if is(&["SEARCH"]) => Side::Open,
            b'=' if word.is_empty() => Side::Divide,
            b'>' if is(&["REPLACE", "UPDATED", ""]) || is_branch(word) => Side::Close,
            b'+' if is(&["REPLACE"]) => Side::Close,
            _ => return None,
        };
        let plain = !is(&["SEARCH", "ORIGINAL", "REPLACE", "UPDATED"]);
        Some(Self { side, width, plain })
    }

    /// Whether a block begins here.
    pub(crate) fn is_open(self) -> bool {
        self.side == Side::Open
    }
}

/// Whether a word could be the name of a branch, as merge conflicts end with.
fn is_branch(word: &str) -> bool {
    !word.contains(char::is_whitespace)
}

/// Whether a line is a hint at the top of a block.
pub(crate) fn is_hint(line: &str) -> bool {
    let line = line.trim_end();
    [":start_line:", ":end_line:"].iter().any(|name| {
        line.strip_prefix(name).is_some_and(|digits| {
            let digits = digits.trim();
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

/// Whether a line of a file must be escaped inside a block.
fn is_special(line: &str) -> bool {
    let bare = line.trim_start_matches('\\');
    Mark::parse(bare).is_some() || is_hint(bare)
}

/// A line of a block as it stands in the file: a backslash before what looks like a marker is
/// there to hide it.
pub(super) fn unescaped(line: &str) -> &str {
    match line.strip_prefix('\\') {
        Some(rest) if is_special(rest) => rest,
        _ => line,
    }
}

/// A line of a file as it can stand in a block.
pub(crate) fn escaped(line: &str) -> String {
    if is_special(line) { format!("\\{line}") } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("<<<<<<< SEARCH", Side::Open, 7, false)]
    #[case("<<<<< search", Side::Open, 5, false)]
    #[case("<<<<<<<<< ORIGINAL  ", Side::Open, 9, false)]
    #[case("<<<<<<< SEARCH>", Side::Open, 7, false)]
    #[case("<<<<<<< HEAD", Side::Open, 7, true)]
    #[case("<<<<<<<", Side::Open, 7, true)]
    #[case("------- SEARCH", Side::Open, 7, false)]
    #[case("=======\r", Side::Divide, 7, true)]
    #[case(">>>>>>> REPLACE", Side::Close, 7, false)]
    #[case(">>>>>>> UPDATED", Side::Close, 7, false)]
    #[case(">>>>>>>", Side::Close, 7, true)]
    #[case(">>>>>>> feature/x", Side::Close, 7, true)]
    #[case("+++++++ REPLACE", Side::Close, 7, false)]
    fn markers_are_read(#[case] line: &str, #[case] side: Side, #[case] width: usize, #[case] plain: bool) {
        assert_eq!(Mark::parse(line), Some(Mark { side, width, plain }));
    }

    #[rstest]
    #[case("<<<< SEARCH")]
    #[case("<<<<<<<<<< SEARCH")]
    #[case("<<<<<<< something else")]
    #[case("<<<<<<<SEARCHING")]
    #[case("------- a heading")]
    #[case("-------")]
    #[case("======= x")]
    #[case(" =======")]
    #[case("\\=======")]
    #[case("===========")]
    fn other_lines_are_none(#[case] line: &str) {
        assert_eq!(Mark::parse(line), None);
    }

    #[rstest]
    #[case("=======", "\\=======")]
    #[case("\\=======", "\\\\=======")]
    #[case(":start_line:5", "\\:start_line:5")]
    #[case("plain", "plain")]
    #[case("\\plain", "\\plain")]
    fn escapes_go_both_ways(#[case] line: &str, #[case] written: &str) {
        assert_eq!(escaped(line), written);
        assert_eq!(unescaped(written), line);
    }
}
