//! How a file is laid out: its line endings and indentation.

/// The indentation of one level where the file does not show its own.
pub(super) const DEFAULT_INDENT: &str = "  ";

/// The line ending that most lines have; CRLF on a tie.
pub(super) fn dominant_newline(text: &str) -> &'static str {
    let all = text.matches('\n').count();
    let crlf = text.matches("\r\n").count();
    if crlf > 0 && crlf * 2 >= all { "\r\n" } else { "\n" }
}

/// The whitespace at the start of the line that contains byte `at`.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Where the line that contains byte `at` starts.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the line after the one that contains byte `at` starts; the end of the text if there is none.
pub(super) fn next_line_start(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dominant_newline_wins() {
        assert_eq!(dominant_newline(""), "\n");
        assert_eq!(dominant_newline("a\nb\r\n"), "\r\n");
        assert_eq!(dominant_newline("a\nb\nc\r\n"), "\n");
    }

    #[test]
    fn lines_are_found_from_any_byte_in_them() {
        let text = "a\n \tb c\nd";
        for at in 2..8 {
            assert_eq!((line_start(text, at), next_line_start(text, at)), (2, 8), "{at}");
            assert_eq!(line_indent(text, at), " \t");
        }
        assert_eq!((line_start(text, 8), next_line_start(text, 8)), (8, 9));
    }
}
