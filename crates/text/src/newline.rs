//! Ends of lines: the three kinds, which of them a file prefers, and conversion between them.

use std::borrow::Cow;

use serde::Serialize;

/// A way to end a line.
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
    /// The characters it is made of.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
            Self::Cr => "CR",
        }
    }
}

/// How many ends of lines of each kind a text has.
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
    /// Counts them in bytes of an encoding that keeps ASCII as it is.
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

    /// The most frequent kind; CRLF before LF before CR where they tie; LF where there is none.
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
    pub fn mixed(self) -> bool {
        [self.lf, self.crlf, self.cr].iter().filter(|&&count| count > 0).count() > 1
    }
}

/// `text` with every end of line as `\n`.
pub fn canonical(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Canonical `text` with its ends of lines as `newline`.
pub fn converted(text: &str, newline: Newline) -> Cow<'_, str> {
    match newline {
        Newline::Lf => Cow::Borrowed(text),
        other if text.contains('\n') => Cow::Owned(text.replace('\n', other.as_str())),
        _ => Cow::Borrowed(text),
    }
}

/// The lines of a canonical text, each with its `\n`.
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
    fn t_sfe_nl_02_the_most_frequent_kind_dominates(#[case] text: &str, #[case] want: Newline) {
        assert_eq!(NewlineCounts::of(text.as_bytes()).dominant(), want);
    }

    #[test]
    fn text_becomes_canonical_and_back() {
        assert_eq!(canonical("a\r\nb\rc\n\r\r\n"), "a\nb\nc\n\n\n");
        assert_eq!(converted("a\nb\n", Newline::CrLf), "a\r\nb\r\n");
        assert!(matches!(canonical("a\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn other_separators_do_not_end_a_line() {
        let odd = "a\u{c}b\u{b}c\u{2028}d\u{85}e\n";
        assert_eq!(lines(odd).count(), 1);
        assert_eq!(NewlineCounts::of(odd.as_bytes()), NewlineCounts { lf: 1, crlf: 0, cr: 0 });
    }
}
