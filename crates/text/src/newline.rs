//! Line endings: the three kinds, which one dominates a file, and conversion between them.

use std::borrow::Cow;

use serde::Serialize;

/// A line ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Newline {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r` alone
    Cr,
}

impl Newline {
    /// The characters of the line ending.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }

    /// The usual name: `LF`, `CRLF` or `CR`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
            Self::Cr => "CR",
        }
    }
}

/// How many line endings of each kind a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct NewlineCounts {
    /// `\n`
    pub lf: usize,
    /// `\r\n`
    pub crlf: usize,
    /// `\r` alone
    pub cr: usize,
}

impl NewlineCounts {
    /// Counts the line endings of `bytes`, whose encoding must be ASCII-compatible.
    pub fn of(bytes: &[u8]) -> Self {
        let newlines = memchr::memchr_iter(b'\n', bytes).count();
        let mut counts = Self { lf: newlines, ..Self::default() };
        for at in memchr::memchr_iter(b'\r', bytes) {
            if bytes.get(at + 1) == Some(&b'\n') {
                counts.crlf += 1;
                counts.lf -= 1;
            } else {
                counts.cr += 1;
            }
        }
        counts
    }

    /// The most frequent kind. Ties go to CRLF, then LF, then CR; a text without line endings gets LF.
    pub fn dominant(self) -> Newline {
        if self.crlf + self.lf + self.cr == 0 || (self.lf > self.crlf && self.lf >= self.cr) {
            Newline::Lf
        } else if self.crlf >= self.lf && self.crlf >= self.cr {
            Newline::CrLf
        } else {
            Newline::Cr
        }
    }

    /// Whether more than one kind occurs.
    pub fn is_mixed(self) -> bool {
        [self.lf, self.crlf, self.cr].iter().filter(|&&count| count > 0).count() > 1
    }
}

/// Converts every line ending of `text` to `\n`.
pub fn canonical(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Converts every `\n` of canonical `text` to `newline`.
pub fn convert_newlines(text: &str, newline: Newline) -> Cow<'_, str> {
    match newline {
        Newline::Lf => Cow::Borrowed(text),
        other if text.contains('\n') => Cow::Owned(text.replace('\n', other.as_str())),
        _ => Cow::Borrowed(text),
    }
}

/// Iterates over the lines of a canonical text, each including its `\n`.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("", Newline::Lf)]
    #[case("a", Newline::Lf)]
    #[case("a\nb\r\n", Newline::CrLf)]
    #[case("a\nb\r", Newline::Lf)]
    #[case("a\r\nb\r", Newline::CrLf)]
    #[case("a\nb\nc\r\n", Newline::Lf)]
    #[case("a\rb\rc\n", Newline::Cr)]
    #[case("a\r\rb\n\r\n", Newline::Cr)]
    fn t_sfe_nl_02_most_frequent_kind_dominates(#[case] text: &str, #[case] want: Newline) {
        assert_eq!(NewlineCounts::of(text.as_bytes()).dominant(), want);
    }

    #[test]
    fn converts_to_canonical_text_and_back() {
        assert_eq!(canonical("a\r\nb\rc\n\r\r\n"), "a\nb\nc\n\n\n");
        assert_eq!(convert_newlines("a\nb\n", Newline::CrLf), "a\r\nb\r\n");
        assert!(matches!(canonical("a\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn other_separators_are_not_line_endings() {
        let text = "a\u{c}b\u{b}c\u{2028}d\u{85}e\n";
        assert_eq!(lines(text).count(), 1);
        assert_eq!(NewlineCounts::of(text.as_bytes()), NewlineCounts { lf: 1, crlf: 0, cr: 0 });
    }
}
