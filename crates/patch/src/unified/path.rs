//! Paths in headers: quoting, timestamps, `a/` and `b/` prefixes, and paths that are rejected.

use super::super::source::{error_at, syntax_error, truncate};
use crate::{ParseOptions, PatchError, PatchErrorKind};

/// A path in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// The path; `None` for `/dev/null`.
    pub(super) path: Option<String>,
    /// Whether its timestamp is the Unix epoch, which `diff -N` writes if there is no file.
    pub(super) is_epoch: bool,
}

/// Parses what follows `--- ` or `+++ `.
pub(super) fn parse_name(text: &str, index: usize, options: ParseOptions) -> Result<Name, PatchError> {
    let text = text.trim_start();
    let (path, stamp) = if text.starts_with('"') {
        let (path, rest) = unquote(text, index)?;
        (path, rest)
    } else {
        let (path, stamp) = split_stamp(text);
        (path.trim_end().to_owned(), stamp)
    };
    let stamp = stamp.trim();
    let is_epoch = stamp.starts_with("1970-01-01") || stamp.starts_with("1969-12-31");
    let path = if path == "/dev/null" { None } else { Some(check_path(path, index, options)?) };
    Ok(Name { path, is_epoch })
}

/// Checks that a path has no `..`, and is relative unless absolute ones are accepted; strips a leading `./`.
pub(super) fn check_path(path: String, index: usize, options: ParseOptions) -> Result<String, PatchError> {
    let plain = path.trim_start_matches("./");
    if plain.is_empty() {
        return Err(syntax_error(
            index,
            "the header has no path",
            "Write the file's path, as in `--- a/src/lib.rs`.",
        ));
    }
    let problem = if is_absolute(plain) && !options.absolute_paths {
        "is absolute"
    } else if plain.split(['/', '\\']).any(|part| part == "..") {
        "contains `..`"
    } else {
        return Ok(if plain.len() == path.len() { path } else { plain.to_owned() });
    };
    Err(path_error(&path, problem, index))
}

fn path_error(path: &str, problem: &str, index: usize) -> PatchError {
    error_at(
        PatchErrorKind::Path,
        index,
        format!("the path `{}` {problem}", truncate(path)),
        "Give the path relative to the root, without `..`, as in `--- a/src/lib.rs`.",
    )
}

fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    path.starts_with(['/', '\\']) || (drive && path[2..].starts_with(['/', '\\']))
}

/// Checks that two absolute paths are in one folder. Only one of them is the file's path, which the caller checks.
pub(super) fn check_same_folder(old: &str, new: &str, index: usize) -> Result<(), PatchError> {
    let folder = |path: &str| path.rfind(['/', '\\']).map(|end| path[..end].to_owned());
    match (is_absolute(old), is_absolute(new)) {
        (false, false) => Ok(()),
        _ if folder(old) == folder(new) => Ok(()),
        (true, _) => Err(path_error(old, "is absolute, and the other header has another folder", index)),
        (false, true) => Err(path_error(new, "is absolute, and the other header has another folder", index)),
    }
}

/// Splits a path from the timestamp after it: at a tab, or before ` 2024-01-31 12:00`.
fn split_stamp(text: &str) -> (&str, &str) {
    if let Some((path, stamp)) = text.split_once('\t') {
        return (path, stamp);
    }
    let spaces = text.match_indices(' ').map(|(at, _)| at);
    match spaces.into_iter().find(|at| is_stamp(&text.as_bytes()[at + 1..])) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, ""),
    }
}

/// Whether the text starts with a timestamp such as `2024-01-31 12:00`.
fn is_stamp(text: &[u8]) -> bool {
    const SHAPE: &[u8] = b"0000-00-00 00:00";
    text.len() >= SHAPE.len()
        && SHAPE.iter().zip(text).all(|(shape, byte)| match shape {
            b'0' => byte.is_ascii_digit(),
            shape => shape == byte,
        })
}

/// Parses a path quoted as git does; returns the rest too.
pub(super) fn unquote(text: &str, index: usize) -> Result<(String, &str), PatchError> {
    let bad = |what: &str| {
        syntax_error(
            index,
            format!("the quoted path {what}"),
            "Quote it as git does (`\"a/\\303\\244.txt\"`), or leave the quotes out.",
        )
    };
    let bytes = text.as_bytes();
    let mut path = Vec::new();
    let mut at = 1;
    loop {
        match bytes.get(at) {
            None => return Err(bad("has no closing quote")),
            Some(b'"') => break,
            Some(b'\\') => {
                let (byte, width) = unescape(&bytes[at + 1..]).ok_or_else(|| bad("has an unknown escape"))?;
                path.push(byte);
                at += 1 + width;
            }
            Some(&byte) => {
                path.push(byte);
                at += 1;
            }
        }
    }
    let path = String::from_utf8(path).map_err(|_| bad("is not UTF-8"))?;
    Ok((path, &text[at + 1..]))
}

/// The byte of an escape sequence, and the sequence's length after the backslash.
fn unescape(rest: &[u8]) -> Option<(u8, usize)> {
    let simple = |byte| Some((byte, 1));
    match rest.first()? {
        b'a' => simple(7),
        b'b' => simple(8),
        b't' => simple(b'\t'),
        b'n' => simple(b'\n'),
        b'v' => simple(11),
        b'f' => simple(12),
        b'r' => simple(b'\r'),
        b'"' => simple(b'"'),
        b'\\' => simple(b'\\'),
        b'0'..=b'3' => {
            let octal =
                rest.get(..3).filter(|digits| digits.iter().all(|digit| (b'0'..=b'7').contains(digit)))?;
            Some((octal.iter().fold(0, |value, digit| value * 8 + (digit - b'0')), 3))
        }
        _ => None,
    }
}

/// The two paths of a `diff --git` line; `None` if it is not clear where the first one ends.
pub(super) fn git_names(
    text: &str,
    index: usize,
    options: ParseOptions,
) -> Result<Option<(String, String)>, PatchError> {
    let text = text.trim_end();
    if text.starts_with('"') {
        let (old, rest) = unquote(text, index)?;
        let rest = rest.trim_start();
        let new = if rest.starts_with('"') { unquote(rest, index)?.0 } else { rest.to_owned() };
        return check_both(old, new, index, options);
    }
    if let Some((old, new)) = text.split_once(" \"") {
        let new = unquote(&text[text.len() - new.len() - 1..], index)?.0;
        return check_both(old.to_owned(), new, index, options);
    }
    // Unquoted paths may contain spaces, so only a pair that differs in nothing but its prefix is certain.
    let middle = text.len() / 2;
    if text.len() % 2 == 1 && text.as_bytes()[middle] == b' ' {
        let (old, new) = (&text[..middle], &text[middle + 1..]);
        if strip_first(old) == strip_first(new) || old == new {
            return check_both(old.to_owned(), new.to_owned(), index, options);
        }
    }
    match text.split_once(' ') {
        Some((old, new)) if !new.contains(' ') => check_both(old.to_owned(), new.to_owned(), index, options),
        _ => Ok(None),
    }
}

fn check_both(
    old: String,
    new: String,
    index: usize,
    options: ParseOptions,
) -> Result<Option<(String, String)>, PatchError> {
    Ok(Some((check_path(old, index, options)?, check_path(new, index, options)?)))
}

/// The path without its first folder.
fn strip_first(path: &str) -> Option<&str> {
    path.split_once('/').map(|(_, rest)| rest)
}

/// Whether two paths have the prefixes that git adds, `a/` and `b/` or the mnemonic ones.
pub(super) fn has_prefixes(old: &str, new: &str, in_git: bool) -> bool {
    let (Some((old, _)), Some((new, _))) = (old.split_once('/'), new.split_once('/')) else { return false };
    let mnemonic = |prefix: &str| matches!(prefix, "a" | "b" | "c" | "i" | "o" | "w");
    matches!((old, new), ("a", "b") | ("b", "a")) || (in_git && old != new && mnemonic(old) && mnemonic(new))
}

/// Strips `count` leading folders from a path.
pub(super) fn strip(
    path: &str,
    count: usize,
    index: usize,
    options: ParseOptions,
) -> Result<String, PatchError> {
    let mut rest = path;
    for _ in 0..count {
        rest = strip_first(rest)
            .map(|rest| rest.trim_start_matches('/'))
            .filter(|rest| !rest.is_empty())
            .ok_or_else(|| {
                syntax_error(
                    index,
                    format!("cannot strip {count} folders from the path `{}`", truncate(path)),
                    "Strip fewer folders.",
                )
            })?;
    }
    check_path(rest.to_owned(), index, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const RELATIVE: ParseOptions = ParseOptions::STRICT;
    const ABSOLUTE: ParseOptions = ParseOptions { absolute_paths: true, ..RELATIVE };

    #[test]
    fn absolute_paths_are_accepted_on_request() {
        let name = parse_name("/root/a.txt", 0, ABSOLUTE).unwrap();
        assert_eq!(name.path.as_deref(), Some("/root/a.txt"));
        assert_eq!(parse_name("/root/../a.txt", 0, ABSOLUTE).unwrap_err().kind, PatchErrorKind::Path);
    }

    #[test]
    fn the_other_absolute_path_must_be_in_the_same_folder() {
        for (old, new) in [("/r/a.orig", "/r/a"), ("/r/a", "/r/a"), ("a", "b"), ("x/a", "y/b")] {
            check_same_folder(old, new, 0).unwrap();
        }
        for (old, new) in [("/etc/a", "/r/a"), ("/etc/a", "a"), ("a", "/etc/a")] {
            assert_eq!(check_same_folder(old, new, 0).unwrap_err().kind, PatchErrorKind::Path);
        }
    }

    #[rstest]
    #[case("a/src/lib.rs", "a/src/lib.rs")]
    #[case("a/with blank.txt\t", "a/with blank.txt")]
    #[case("old.c\t2024-01-31 12:00:00.000000000 +0100", "old.c")]
    #[case("old.c 2024-01-31 12:00:00", "old.c")]
    #[case("\"a/\\303\\244 \\\"x\\\".txt\"", "a/ä \"x\".txt")]
    #[case("./a.txt\r", "a.txt")]
    fn parses_names(#[case] text: &str, #[case] path: &str) {
        assert_eq!(parse_name(text, 0, RELATIVE).unwrap().path.as_deref(), Some(path));
    }

    #[test]
    fn dev_null_and_the_epoch_mean_no_file() {
        assert_eq!(parse_name("/dev/null", 0, RELATIVE).unwrap().path, None);
        assert!(parse_name("x\t1970-01-01 00:00:00.000000000 +0000", 0, RELATIVE).unwrap().is_epoch);
    }

    #[rstest]
    #[case("/etc/passwd")]
    #[case("a/../../etc/passwd")]
    #[case("..\\x")]
    #[case("C:\\x")]
    #[case("\"a/../x\"")]
    fn rejects_paths_outside_the_root(#[case] text: &str) {
        assert_eq!(parse_name(text, 2, RELATIVE).unwrap_err().kind, PatchErrorKind::Path);
    }

    #[rstest]
    #[case("\"a/x")]
    #[case("\"a/\\q\"")]
    #[case("\"a/\\377\"")]
    #[case("")]
    fn rejects_malformed_names(#[case] text: &str) {
        assert_eq!(parse_name(text, 2, RELATIVE).unwrap_err().kind, PatchErrorKind::Syntax);
    }

    #[rstest]
    #[case("a/x b/x", Some(("a/x", "b/x")))]
    #[case("a/two words b/two words", Some(("a/two words", "b/two words")))]
    #[case("x x", Some(("x", "x")))]
    #[case("a/x b/y", Some(("a/x", "b/y")))]
    #[case("a/x \"b/\\303\\244\"", Some(("a/x", "b/ä")))]
    #[case("\"a/\\303\\244\" b/x", Some(("a/ä", "b/x")))]
    #[case("a/p q b/r", None)]
    fn splits_git_lines_when_unambiguous(#[case] text: &str, #[case] names: Option<(&str, &str)>) {
        let expected = names.map(|(old, new)| (old.to_owned(), new.to_owned()));
        assert_eq!(git_names(text, 0, RELATIVE).unwrap(), expected);
    }

    #[test]
    fn strips_folders() {
        assert_eq!(strip("a/b/c", 2, 0, RELATIVE).unwrap(), "c");
        assert!(strip("a/b/c", 3, 0, RELATIVE).is_err());
        assert_eq!(strip("a/C:/x", 1, 0, RELATIVE).unwrap_err().kind, PatchErrorKind::Path);
    }
}
