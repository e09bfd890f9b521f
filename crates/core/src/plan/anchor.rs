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

    /// Parses `12:a3`, also written `12#a3`. The line's text may follow after `|`, as a read shows it, or after `:` in the other
    /// form.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.split_once('|').map_or(text, |(anchor, _)| anchor).trim();
        let (line, hash) = match text.split_once(['#', ':'])? {
            (line, rest) if text[line.len()..].starts_with('#') => {
                (line, rest.split_once(':').map_or(rest, |(hash, _)| hash))
            }
            parts => parts,
        };
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

    #[test]
    fn an_anchor_is_written_as_it_is_parsed() {
        let anchor = LineAnchor::of(7, "    return None");
        assert_eq!(LineAnchor::parse(&anchor.to_string()), Some(anchor));
        assert_eq!(anchor.to_string().len(), 4);
    }
}
