//! Lines that are longer than the screen is wide. They are wrapped, never cut: nobody should accept what they cannot see.

use ratatui::style::Style;
use ratatui::text::Span;
use unicode_width::UnicodeWidthChar;

/// Tabs are shown as this many blanks.
const TAB: &str = "    ";

/// Splits styled text into rows of at most `width` columns; at least one row.
pub(super) fn wrap(parts: &[(String, Style)], width: usize) -> Vec<Vec<Span<'static>>> {
    let width = width.max(4);
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut column = 0;
    for (text, style) in parts {
        let mut piece = String::new();
        for c in text.replace('\t', TAB).chars() {
            let columns = c.width().unwrap_or(0);
            if column + columns > width {
                push(&mut rows, std::mem::take(&mut piece), *style);
                rows.push(Vec::new());
                column = 0;
            }
            piece.push(c);
            column += columns;
        }
        push(&mut rows, piece, *style);
    }
    rows
}

/// Like [`wrap`], for sentences: a row ends between words, if it can.
pub(super) fn wrap_words(parts: &[(String, Style)], width: usize) -> Vec<Vec<Span<'static>>> {
    let width = width.max(4);
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut column = 0;
    for (text, style) in parts {
        for word in text.replace('\t', TAB).split_inclusive(' ') {
            // The blank after a word may stick out; it is not drawn.
            let columns = width_of(word.trim_end());
            if column > 0 && column + columns > width {
                rows.push(Vec::new());
                column = 0;
            }
            if columns > width {
                let mut pieces = wrap(&[(word.to_owned(), *style)], width).into_iter();
                rows.last_mut().into_iter().for_each(|row| row.extend(pieces.next().unwrap_or_default()));
                rows.extend(pieces);
                column = rows.last().map_or(0, |row| row.iter().map(Span::width).sum());
                continue;
            }
            let word = if column + width_of(word) > width { word.trim_end() } else { word };
            column += width_of(word);
            push(&mut rows, word.to_owned(), *style);
        }
    }
    rows
}

fn push(rows: &mut [Vec<Span<'static>>], text: String, style: Style) {
    if let (false, Some(row)) = (text.is_empty(), rows.last_mut()) {
        row.push(Span::styled(text, style));
    }
}

/// The columns that text takes.
pub(super) fn width_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Text in at most `width` columns, with an ellipsis if it is longer.
pub(super) fn shorten(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut columns = 0;
    for c in text.chars() {
        columns += c.width().unwrap_or(0);
        if columns >= width {
            break;
        }
        short.push(c);
    }
    if width > 0 {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_lines_are_wrapped() {
        let parts = [("let a = \t1;".to_owned(), Style::new()), (" 漢字 é".to_owned(), Style::new())];
        for width in 4..30 {
            let rows = wrap(&parts, width);
            let text: String = rows.iter().flatten().map(|span| span.content.as_ref()).collect();
            assert_eq!(text, "let a =     1; 漢字 é");
            assert!(rows.iter().all(|row| row.iter().map(Span::width).sum::<usize>() <= width));
        }
        assert_eq!(wrap(&[], 10).len(), 1);
    }

    #[test]
    fn sentences_are_wrapped_between_words() {
        let rows = |text: &str, width| -> Vec<String> {
            let rows = wrap_words(&[(text.to_owned(), Style::new())], width);
            rows.iter().map(|row| row.iter().map(|span| span.content.as_ref()).collect()).collect()
        };
        assert_eq!(rows("waits because it is protected", 14), ["waits because ", "it is ", "protected"]);
        assert_eq!(rows("a unbreakable-word b", 6), ["a ", "unbrea", "kable-", "word b"]);
        assert_eq!(rows("", 10), [""]);
        for width in 4..40 {
            let wrapped = rows("one two  three 漢字漢字漢字 four-and-five, six", width);
            assert!(wrapped.iter().all(|row| width_of(row) <= width), "{wrapped:?}");
            assert_eq!(wrapped.concat().replace(' ', ""), "onetwothree漢字漢字漢字four-and-five,six");
        }
    }

    #[test]
    fn long_titles_end_with_an_ellipsis() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcd", 3), "ab…");
        assert_eq!(shorten("漢字漢字", 5), "漢字…");
        assert_eq!(shorten("abc", 0), "");
    }
}
