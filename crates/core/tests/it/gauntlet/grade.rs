//! Grades a result.

use super::kinds::Case;

/// A grade, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
    /// The expected bytes, or a refusal where only that is right.
    Right,
    /// Only whitespace differs.
    Almost,
    /// A refusal although there is a right place.
    Refused,
    /// In the right place, but including the request's mistake; or reported as done without any change.
    WrongInPlace,
    /// Something outside the place has changed.
    Misplaced,
    /// Applied although only a refusal is right.
    FalseApply,
}

impl Grade {
    pub(crate) const ALL: [Self; 6] =
        [Self::Right, Self::Almost, Self::Refused, Self::WrongInPlace, Self::Misplaced, Self::FalseApply];
}

fn squashed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Grades the resulting file; `None` is a refusal.
pub(crate) fn grade(case: &Case, after: Option<&str>) -> Grade {
    let Some(expected) = &case.expected else {
        return if after.is_none_or(|after| after == case.before) { Grade::Right } else { Grade::FalseApply };
    };
    match after {
        None => Grade::Refused,
        Some(after) if after == expected => Grade::Right,
        Some(after) if after == case.before => Grade::WrongInPlace,
        Some(after) => {
            let (text, head, tail) = (squashed(after), squashed(&case.head), squashed(&case.tail));
            let around =
                text.len() >= head.len() + tail.len() && text.starts_with(&head) && text.ends_with(&tail);
            match around {
                _ if text == squashed(expected) => Grade::Almost,
                true => Grade::WrongInPlace,
                false => Grade::Misplaced,
            }
        }
    }
}
