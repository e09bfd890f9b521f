//! A line number in front of every line, as tools that show files write it.

use std::collections::HashSet;

use super::{each_line, without_last_newline};
use crate::find::seats::indent;

/// What may stand between the number and the line.
const MARKS: &[&str] = &["\t", "|", "→", ": ", " | ", "│", ":", ". "];

pub(super) fn mend(old: &str, new: &str) -> Option<(String, String)> {
    // `7:    x` may have a blank after its mark, or not: new text without numbers shares more lines with the
    // old one that was meant.
    let readings = marks_of(old).into_iter().filter_map(|mark| {
        let bare = stripped(old, mark, true)?;
        // New text is often written without numbers. If only some lines have one, nobody knows what is text.
        let numbered = |line: &str| number(line).is_some_and(|(_, rest)| rest.starts_with(mark));
        let plain = || (!new.split('\n').any(numbered)).then(|| new.to_owned());
        let new = stripped(new, mark, false).or_else(plain)?;
        Some((bare, new))
    });
    readings.rev().max_by_key(|(bare, new)| shared_lines(bare, new))
}

/// The marks that may follow the first line's number, the likeliest first.
fn marks_of(text: &str) -> Vec<&'static str> {
    let first = text.trim_start_matches('\n').split('\n').next().unwrap_or_default();
    let Some((_, rest)) = number(first) else { return Vec::new() };
    let mut marks: Vec<&str> =
        MARKS.iter().copied().filter(|mark| rest.starts_with(mark.trim_end_matches(' '))).collect();
    marks.sort_by_key(|mark| std::cmp::Reverse((rest.starts_with(mark), mark.len())));
    marks
}

/// How many lines of one text stand in another, and how many are indented as some line of it is.
fn shared_lines(old: &str, new: &str) -> (usize, usize) {
    let known: HashSet<&str> = old.split('\n').collect();
    let depths: HashSet<&str> = old.split('\n').map(indent).collect();
    let count = |is_known: &dyn Fn(&str) -> bool| new.split('\n').filter(|line| is_known(line)).count();
    (count(&|line| known.contains(line)), count(&|line| depths.contains(indent(line))))
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

/// The text without the numbers, if every line has one and, where they must rise, each is one more than the one
/// before it.
fn stripped(text: &str, mark: &str, rising: bool) -> Option<String> {
    let (body, end) = without_last_newline(text);
    let lead = body.len() - body.trim_start_matches('\n').len();
    let mut last: Option<usize> = None;
    let bare = each_line(&body[lead..], |line| {
        let (number, rest) = number(line)?;
        // The blank after the mark of an empty line is easily lost.
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

    #[rstest]
    #[case::old_only("2:    a\n3:    b", "    a\n    c", "    a\n    b", "    a\n    c")]
    #[case::with_a_blank("2:     a\n3:     b", "    a\n    c", "    a\n    b", "    a\n    c")]
    #[case::nothing_shared("2:    a", "    c", "    a", "    c")]
    #[case::further_out_below("L2:    a\nL3:b", "    a\nc", "    a\nb", "    a\nc")]
    fn a_blank_after_the_mark_or_none(
        #[case] old: &str,
        #[case] new: &str,
        #[case] bare: &str,
        #[case] bare_new: &str,
    ) {
        assert_eq!(mend(old, new), Some((bare.to_owned(), bare_new.to_owned())));
    }

    #[test]
    fn numbers_that_are_text_stay() {
        assert_eq!(mend("1: a\nb", "x"), None);
        assert_eq!(mend("1: a\n1: b", "x"), None);
        assert_eq!(mend("80: http", "80: https").map(|(_, new)| new).as_deref(), Some("https"));
        assert_eq!(mend("1|a\n2|b", "1|a\nb"), None);
        assert_eq!(mend("1|a\n2|b\n3|c", "1|a\n3|c").map(|(_, new)| new).as_deref(), Some("a\nc"));
    }
}
