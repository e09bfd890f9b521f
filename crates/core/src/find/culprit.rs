//! Which of the lines that differ a refusal names.
//!
//! A fuzzy hunk whose first context line and whose removed line both differ fails because of the removed line: the threshold could
//! have placed the rest. Naming the first difference would send the caller to a line that it may leave as it is.

use super::diagnosis::Mismatch;
use super::spacing::{code_key, is_same_code, spacing_key};
use crate::plan::Tolerance;

/// The first line that the rules do not tolerate; if they tolerate each of them, the first one that differs in more than form.
pub(super) fn choose_culprit(mut differing: Vec<Mismatch>, tolerance: Tolerance) -> Option<Mismatch> {
    let refused = differing.iter().position(|line| !is_tolerated(line, tolerance));
    let worded = || differing.iter().position(|line| !is_same_form(line));
    let at = refused.or_else(worded).unwrap_or(0);
    (at < differing.len()).then(|| differing.swap_remove(at))
}

fn is_tolerated(line: &Mismatch, tolerance: Tolerance) -> bool {
    let Some(found) = &line.found else { return false };
    match tolerance {
        Tolerance::Exact => false,
        Tolerance::TrailingWhitespace => line.expected.trim_end() == found.trim_end(),
        Tolerance::Whitespace if line.is_removed => code_key(&line.expected) == code_key(found),
        Tolerance::Whitespace => spacing_key(&line.expected) == spacing_key(found),
        // Context may differ; whether the whole is similar enough is not a question of one line.
        Tolerance::Similar { .. } | Tolerance::Recover => !line.is_removed || is_same_form(line),
    }
}

/// Whether a line of the file differs from the request's in whitespace and look-alike punctuation only.
fn is_same_form(line: &Mismatch) -> bool {
    line.found.as_ref().is_some_and(|found| is_same_code(&line.expected, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn line(number: usize, is_removed: bool, expected: &str, found: &str) -> Mismatch {
        Mismatch { line: Some(number), expected: expected.into(), found: Some(found.into()), is_removed }
    }

    #[rstest]
    #[case(Tolerance::Exact, 1)]
    #[case(Tolerance::TrailingWhitespace, 2)]
    #[case(Tolerance::Whitespace, 3)]
    #[case(Tolerance::similar(0.8), 5)]
    #[case(Tolerance::Recover, 5)]
    fn names_the_first_line_that_is_not_tolerated(#[case] tolerance: Tolerance, #[case] expected: usize) {
        let differing = vec![
            line(1, true, "a ", "a"),
            line(2, false, "f( b )", "f(b)"),
            line(3, false, "def mein():", "def main():"),
            line(4, true, "“c”", "\"c\""),
            line(5, true, "timeout = 3000", "timeout = 5000"),
        ];
        assert_eq!(choose_culprit(differing, tolerance).unwrap().line, Some(expected));
    }

    #[test]
    fn names_other_words_if_everything_is_tolerated() {
        let differing = vec![line(1, false, "a  b", "a b"), line(2, false, "x", "y")];
        assert_eq!(choose_culprit(differing, Tolerance::similar(0.8)).unwrap().line, Some(2));
        let form = vec![line(1, false, "a  b", "a b")];
        assert_eq!(choose_culprit(form, Tolerance::similar(0.8)).unwrap().line, Some(1));
        assert_eq!(choose_culprit(Vec::new(), Tolerance::Exact), None);
    }

    #[test]
    fn a_line_past_the_end_of_the_file_is_never_tolerated() {
        let past = Mismatch { line: Some(9), expected: "x".into(), found: None, is_removed: false };
        let differing = vec![line(1, false, "x", "y"), past];
        assert_eq!(choose_culprit(differing, Tolerance::Recover).unwrap().line, Some(9));
    }
}
