//! Hints: what a caller can do next, in the terms of the caller's tools.
//!
//! The engine knows why an edit was refused, but not which tools the caller has; a hint to append is useless to a caller
//! that cannot append. So each dialect states its phrases, and the engine builds hints from those alone.

/// How a tool family phrases the next steps that it offers. Each phrase completes a sentence that advises the step;
/// `None` if the family has no such step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintPhrases {
    /// The tool family's name for the text to replace.
    pub old: &'static str,
    /// To restrict a match to a range of lines.
    pub within: Option<&'static str>,
    /// To replace every occurrence of a text.
    pub all: Option<&'static str>,
    /// To create a missing file.
    pub create: Option<&'static str>,
    /// To replace a whole file.
    pub overwrite: Option<&'static str>,
    /// To confirm that a file's text may be overwritten.
    pub confirm: Option<&'static str>,
    /// To add lines at the end of a file.
    pub append: Option<&'static str>,
    /// To add the first lines to an empty file.
    pub fill: Option<&'static str>,
    /// To choose one of the candidates.
    pub choose: Option<&'static str>,
    /// To state which version of a file an edit is for.
    pub version: &'static str,
    /// A sentence about where the ids of changes come from.
    pub changes: &'static str,
}

impl HintPhrases {
    /// No steps.
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
        version: "send its version",
        changes: "Send the id from the answer to the edit.",
    };

    /// All steps except choosing a candidate, for programs that embed the library and use no dialect.
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
        version: "state its version",
        changes: "Use the id from the report of the edit.",
    };
}

/// A sentence: `start`, and if there is a phrase also `link`, the phrase and `end`.
pub(crate) fn and_then(start: &str, link: &str, phrase: Option<&str>, end: &str) -> String {
    match phrase {
        Some(phrase) => format!("{start}{link}{phrase}{end}."),
        None => format!("{start}."),
    }
}

/// A sentence that lists alternatives: `first`, and those of the others that exist.
pub(crate) fn either(first: &str, others: [Option<&'static str>; 2]) -> String {
    let others: Vec<&str> = others.into_iter().flatten().collect();
    match others.split_last() {
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
