//! What a caller can do next, in the words of its tools. Hints advise nothing else.
//!
//! The engine knows why an edit was not made, but not which tools the caller has: a hint to append helps
//! nobody who cannot. So a dialect states its means, and the engine makes its hints from them.

/// The words and the ways out that a tool family has. Each way is the end of a sentence that tells the caller
/// to take it; `None` where there is no such way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintPhrases {
    /// What the text to be replaced is called.
    pub old: &'static str,
    /// To say in which lines a text lies.
    pub within: Option<&'static str>,
    /// To replace every occurrence of a text.
    pub all: Option<&'static str>,
    /// To make a file that is missing.
    pub create: Option<&'static str>,
    /// To replace a file as a whole.
    pub overwrite: Option<&'static str>,
    /// To confirm that a file's text may go.
    pub confirm: Option<&'static str>,
    /// To add lines at the end of a file.
    pub append: Option<&'static str>,
    /// To give an empty file its first lines.
    pub fill: Option<&'static str>,
    /// To choose one of the places that were shown.
    pub choose: Option<&'static str>,
}

impl HintPhrases {
    /// None of them.
    pub const NONE: Self = Self {
        old: "the old text",
        within: None,
        all: None,
        create: None,
        overwrite: None,
        confirm: None,
        append: None,
        fill: None,
        choose: None,
    };

    /// All of them, for callers that are no dialect's tools: programs that embed the library.
    pub const ALL: Self = Self {
        old: "the old text",
        within: Some("give the line range it lies in"),
        all: Some("ask for all of them to be replaced"),
        create: Some("create the file first"),
        overwrite: Some("overwrite it"),
        confirm: Some("confirm that"),
        append: Some("append"),
        fill: Some("write or append to it instead"),
        choose: None,
    };
}

/// A sentence that goes on where there is a way to go on.
pub(crate) fn and_then(start: &str, link: &str, way: Option<&str>, end: &str) -> String {
    match way {
        Some(way) => format!("{start}{link}{way}{end}."),
        None => format!("{start}."),
    }
}

/// `first`, `second` or `third`: those that there are.
pub(crate) fn either(first: &str, others: [Option<&'static str>; 2]) -> String {
    let ways: Vec<&str> = others.into_iter().flatten().collect();
    match ways.split_last() {
        None => format!("{first}."),
        Some((last, [])) => format!("{first}, or {last}."),
        Some((last, before)) => format!("{first}, {}, or {last}.", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_listed_with_commas() {
        assert_eq!(either("One", [None, None]), "One.");
        assert_eq!(either("One", [None, Some("two")]), "One, or two.");
        assert_eq!(either("One", [Some("two"), Some("three")]), "One, two, or three.");
    }
}
