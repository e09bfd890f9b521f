//! A line number in front of every line, as file viewers print it.

use std::collections::HashSet;

use super::{split_last_newline, strip_each_line};

/// What may separate the number from the line.
const MARKS: &[&str] = &["\t", "|", "→", ": ", " | ", "│", ":", ". "];

pub(super) fn repair(old: &str, new: &str) -> Option<(String, String)> {
    // In `7:    x` the space after the colon may or may not belong to the mark. The reading that shares more lines
    // with the new text, which often has no numbers, is right.
    let interpretations = possible_marks(old).into_iter().filter_map(|mark| {
        let bare = strip(old, mark, true)?;
        // New text may have no numbers. If only some lines have one, it is unclear what is text.
        let numbered = |line: &str| leading_number(line).is_some_and(|(_, rest)| rest.starts_with(mark));
        let plain = || (!new.split('\n').any(numbered)).then(|| new.to_owned());
        let new = strip(new, mark, false).or_else(plain)?;
        Some((bare, new))
    });
    interpretations.rev().max_by_key(|(bare, new)| count_shared_lines(bare, new))
}

/// The marks that may follow the first line's number, most likely first.
fn possible_marks(text: &str) -> Vec<&'static str> {
    let first = text.trim_start_matches('\n').split('\n').next().unwrap_or_default();
    let Some((_, rest)) = leading_number(first) else { return Vec::new() };
    let mut marks: Vec<&str> =
        MARKS.iter().copied().filter(|mark| rest.starts_with(mark.trim_end_matches(' '))).collect();
    marks.sort_by_key(|mark| std::cmp::Reverse((rest.starts_with(mark), mark.len())));
    marks
}

/// The whitespace that a line starts with.
fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// How many lines of `new` occur in `old`, and how many have the indentation of some line of it.
fn count_shared_lines(old: &str, new: &str) -> (usize, usize) {
    let known: HashSet<&str> = old.split('\n').collect();
    let depths: HashSet<&str> = old.split('\n').map(indentation).collect();
    let count = |is_known: &dyn Fn(&str) -> bool| new.split('\n').filter(|line| is_known(line)).count();
    (count(&|line| known.contains(line)), count(&|line| depths.contains(indentation(line))))
}

/// The number at the start of a line, and the rest of the line.
fn leading_number(line: &str) -> Option<(usize, &str)> {
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

/// Strips the numbers if every line has one. With `rising`, they must count up by one.
fn strip(text: &str, mark: &str, rising: bool) -> Option<String> {
    let (body, end) = split_last_newline(text);
    let lead = body.len() - body.trim_start_matches('\n').len();
    let mut last: Option<usize> = None;
    let bare = strip_each_line(&body[lead..], |line| {
        let (number, rest) = leading_number(line)?;
        // The space after the mark of an empty line is easily lost.
        let rest = rest.strip_prefix(mark).or_else(|| (rest == mark.trim_end_matches(' ')).then_some(""))?;
        let follows = !rising || last.is_none_or(|last| number == last + 1);
        last = Some(number);
        follows.then(|| rest.to_owned())
    })?;
    Some(format!("{}{bare}{end}", &body[..lead]))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::repair;

    #[rstest]
    #[case::pipe("  42|a\n  43|  b", "a\n  b")]
    #[case::tab("42\ta\n43\t\n44\tc\n", "a\n\nc\n")]
    #[case::colon("9: a\n10: b", "a\nb")]
    #[case::empty_line("9: a\n10:\n11: b", "a\n\nb")]
    #[case::arrow("    7→\tx", "\tx")]
    #[case::spaced("1 | a\n2 | b", "a\nb")]
    #[case::letter("L1: a\nL2: b", "a\nb")]
    fn strips_line_numbers(#[case] old: &str, #[case] bare: &str) {
        assert_eq!(repair(old, "x"), Some((bare.to_owned(), "x".to_owned())));
    }

    #[rstest]
    #[case::old_only("2:    a\n3:    b", "    a\n    c", "    a\n    b", "    a\n    c")]
    #[case::with_a_space("2:     a\n3:     b", "    a\n    c", "    a\n    b", "    a\n    c")]
    #[case::nothing_shared("2:    a", "    c", "    a", "    c")]
    #[case::further_out_below("L2:    a\nL3:b", "    a\nc", "    a\nb", "    a\nc")]
    fn finds_out_whether_a_space_follows_the_mark(
        #[case] old: &str,
        #[case] new: &str,
        #[case] bare: &str,
        #[case] bare_new: &str,
    ) {
        assert_eq!(repair(old, new), Some((bare.to_owned(), bare_new.to_owned())));
    }

    #[test]
    fn keeps_numbers_that_are_text() {
        assert_eq!(repair("1: a\nb", "x"), None);
        assert_eq!(repair("1: a\n1: b", "x"), None);
        assert_eq!(repair("80: http", "80: https").map(|(_, new)| new).as_deref(), Some("https"));
        assert_eq!(repair("1|a\n2|b", "1|a\nb"), None);
        assert_eq!(repair("1|a\n2|b\n3|c", "1|a\n3|c").map(|(_, new)| new).as_deref(), Some("a\nc"));
    }
}
