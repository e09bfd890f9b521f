//! A line number in front of every line, as tools that show files write it.

use super::{each_line, without_last_newline};

/// What may stand between the number and the line.
const MARKS: &[&str] = &["\t", "|", "→", ": ", " | ", "│", ":", ". "];

pub(super) fn mend(old: &str, new: &str) -> Option<(String, String)> {
    let mark = mark_of(old)?;
    let bare = stripped(old, mark)?;
    // New text is often written without numbers; if only some lines have one, it is text.
    let new = stripped(new, mark).unwrap_or_else(|| new.to_owned());
    Some((bare, new))
}

/// The mark after the first line's number.
fn mark_of(text: &str) -> Option<&'static str> {
    let first = text.trim_start_matches('\n').split('\n').next()?;
    let (_, rest) = number(first)?;
    let mut marks: Vec<&&str> =
        MARKS.iter().filter(|mark| rest.starts_with(mark.trim_end_matches(' '))).collect();
    marks.sort_by_key(|mark| std::cmp::Reverse((rest.starts_with(**mark), mark.len())));
    marks.first().map(|mark| **mark)
}

/// The number that a line starts with, and what follows it.
fn number(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start_matches(' ');
    let line = line
        .strip_prefix(['L', 'l'])
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(line);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 7 {
        return None;
    }
    Some((line[..digits].parse().ok()?, &line[digits..]))
}

/// The text without the numbers, if every line has one and each is one more than the one before it.
fn stripped(text: &str, mark: &str) -> Option<String> {
    let (body, end) = without_last_newline(text);
    let lead = body.len() - body.trim_start_matches('\n').len();
    let mut last: Option<usize> = None;
    let bare = each_line(&body[lead..], |line| {
        let (number, rest) = number(line)?;
        // The blank after the mark of an empty line is easily lost.
        let rest = rest.strip_prefix(mark).or_else(|| (rest == mark.trim_end_matches(' ')).then_some(""))?;
        let follows = last.is_none_or(|last| number == last + 1);
        last = Some(number);
        follows.then(|| rest.to_owned())
    })?;
    Some(format!("{}{bare}{end}", &body[..lead]))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::mend;

    #[rstest]
    #[case::pipe("  42|a\n  43|  b", "a\n  b")]
    #[case::tab("42\ta\n43\t\n44\tc\n", "a\n\nc\n")]
    #[case::colon("9: a\n10: b", "a\nb")]
    #[case::empty_line("9: a\n10:\n11: b", "a\n\nb")]
    #[case::arrow("    7→\tx", "\tx")]
    #[case::spaced("1 | a\n2 | b", "a\nb")]
    #[case::letter("L1: a\nL2: b", "a\nb")]
    fn numbers_come_off(#[case] old: &str, #[case] bare: &str) {
        assert_eq!(mend(old, "x"), Some((bare.to_owned(), "x".to_owned())));
    }

    #[test]
    fn numbers_that_are_text_stay() {
        assert_eq!(mend("1: a\nb", "x"), None);
        assert_eq!(mend("1: a\n1: b", "x"), None);
        assert_eq!(mend("80: http", "80: https").map(|(_, new)| new).as_deref(), Some("https"));
        assert_eq!(mend("1|a\n2|b", "1|a\nb").map(|(_, new)| new).as_deref(), Some("1|a\nb"));
    }
}
