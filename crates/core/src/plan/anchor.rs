//! Lines named by number and hash.

use std::fmt;

use slipstitch_text::line_hash;

/// A line's number and the hash of its text, written `12:a3`.
///
/// A read can show one in front of every line. An edit that names its lines this way quotes nothing, and still a stale or
/// miscounted number is noticed, except when the line that has the number now has the same hash by chance (1 in 256).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineAnchor {
    /// The line's number, from 1.
    pub line: usize,
    /// The hash of its text without whitespace.
    pub hash: u8,
}

impl LineAnchor {
    /// The anchor of a line with this text.
    pub fn of(line: usize, text: &str) -> Self {
        Self { line, hash: line_hash(text) }
    }

    /// Parses `12:a3`, also written `12#a3`. The line's text may follow, as in [`Self::split_from`].
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((anchor, _)) = Self::split_from(text) {
            return Some(anchor);
        }
        let (line, hash) = text.trim().split_once(['#', ':'])?;
        Self::from_parts(line, hash)
    }

    /// Splits a line into the anchor in front of it and its text: `12:a3|text` as a read shows it, and `12#a3:text` or
    /// `12#a3|text` in the other form.
    pub fn split_from(line: &str) -> Option<(Self, &str)> {
        let (number, rest) = line.split_once(['#', ':'])?;
        let separators: &[char] = if line[number.len()..].starts_with('#') { &[':', '|'] } else { &['|'] };
        let (hash, text) = rest.split_once(separators)?;
        Some((Self::from_parts(number.trim_start(), hash.trim_end())?, text))
    }

    fn from_parts(line: &str, hash: &str) -> Option<Self> {
        let is_hash = hash.len() == 2 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_number = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        if !is_hash || !is_number {
            return None;
        }
        let line = line.parse().ok().filter(|line| *line > 0)?;
        Some(Self { line, hash: u8::from_str_radix(hash, 16).ok()? })
    }
}

impl fmt::Display for LineAnchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:02x}", self.line, self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("12:a3", Some((12, 0xa3)))]
    #[case(" 12:A3 ", Some((12, 0xa3)))]
    #[case("12:a3|let x = 1;", Some((12, 0xa3)))]
    #[case("12:a3|a:b|c", Some((12, 0xa3)))]
    #[case("12#a3", Some((12, 0xa3)))]
    #[case("12#a3:let x = a:b;", Some((12, 0xa3)))]
    #[case("12#a3|let x = 1;", Some((12, 0xa3)))]
    #[case("12:a3:let x = 1;", None)]
    #[case("12#VK", None)]
    #[case("0:a3", None)]
    #[case("12", None)]
    #[case("12:a", None)]
    #[case("12:a3f", None)]
    #[case("12:xy", None)]
    #[case("+1:a3", None)]
    #[case("12:+3", None)]
    #[case("99999999999999999999:a3", None)]
    fn parses_anchors(#[case] text: &str, #[case] want: Option<(usize, u8)>) {
        assert_eq!(LineAnchor::parse(text), want.map(|(line, hash)| LineAnchor { line, hash }));
    }

    #[rstest]
    #[case("12:a3|a | b:c", Some("a | b:c"))]
    #[case("12#a3:a | b:c", Some("a | b:c"))]
    #[case("12#a3|a:b | c", Some("a:b | c"))]
    #[case(" 12:a3 |  x\r\n", Some("  x\r\n"))]
    #[case("12:a3|", Some(""))]
    #[case("12#a3:", Some(""))]
    #[case("12:a3", None)]
    #[case("12#a3", None)]
    #[case("12:a3:x | y", None)]
    #[case("x12:a3|y", None)]
    #[case("a | b", None)]
    fn the_text_after_an_anchor_starts_after_its_own_separator(
        #[case] line: &str,
        #[case] want: Option<&str>,
    ) {
        let anchor = LineAnchor { line: 12, hash: 0xa3 };
        assert_eq!(LineAnchor::split_from(line), want.map(|text| (anchor, text)));
    }

    #[test]
    fn an_anchor_is_written_as_it_is_parsed() {
        let anchor = LineAnchor::of(7, "    return None");
        assert_eq!(LineAnchor::parse(&anchor.to_string()), Some(anchor));
        assert_eq!(anchor.to_string().len(), 4);
    }
}
