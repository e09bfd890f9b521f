//! Ids of changes and proposals, and ranges of them, as arguments.

use std::fmt::Display;

use slipstitch::Workspace;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{JournalError, ProposalId};

/// Ids that can be given as lists and ranges.
pub(crate) trait RangeId: Copy + Ord + Display {
    /// The kind of item that the id names.
    const KIND: &str;
    /// Examples of valid ids, for messages.
    const EXAMPLES: &str;
    /// The command that lists the ids.
    const LISTED_BY: &str;
    fn parse(text: &str) -> Option<Self>;
    /// The root that the item was recorded with, if it is another one.
    fn other_root(self, workspace: &Workspace) -> Result<Option<String>, JournalError>;
}

impl RangeId for ChangeId {
    const KIND: &str = "change";
    const EXAMPLES: &str = "c7 or c3..c7";
    const LISTED_BY: &str = "slipstitch log";

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn other_root(self, workspace: &Workspace) -> Result<Option<String>, JournalError> {
        workspace.other_root_of_change(self)
    }
}

impl RangeId for ProposalId {
    const KIND: &str = "proposal";
    const EXAMPLES: &str = "p3 or p3..p5";
    const LISTED_BY: &str = "slipstitch review";

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn other_root(self, workspace: &Workspace) -> Result<Option<String>, JournalError> {
        workspace.other_root_of_proposal(self)
    }
}

/// One id, or a range of them such as c3..c7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdRange<I = ChangeId> {
    pub(crate) first: I,
    pub(crate) last: I,
}

impl<I: RangeId> IdRange<I> {
    /// The id, if it is only one.
    pub(crate) fn single(self) -> Option<I> {
        (self.first == self.last).then_some(self.first)
    }

    pub(crate) fn contains(self, id: I) -> bool {
        self.first <= id && id <= self.last
    }
}

/// Parses `c7` or `c3..c7`.
pub(crate) fn parse_ids<I: RangeId>(text: &str) -> Result<IdRange<I>, String> {
    let parse = |text: &str| {
        I::parse(text).ok_or_else(|| {
            let is_last = matches!(text, "last" | "latest" | "HEAD");
            let last = if is_last { "; without one, `undo` and `show` take the last change" } else { "" };
            let (kind, examples, command) = (I::KIND, I::EXAMPLES, I::LISTED_BY);
            format!("`{text}` is not a {kind} id; ids look like {examples}, and `{command}` lists them{last}")
        })
    };
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last) = (parse(first)?, parse(last)?);
    if last < first {
        return Err(format!("{last} is older than {first}; put the older one first"));
    }
    Ok(IdRange { first, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_ids_and_ranges() {
        let range = |first, last| IdRange { first: ChangeId(first), last: ChangeId(last) };
        assert_eq!(parse_ids("c7"), Ok(range(7, 7)));
        assert_eq!(parse_ids("c3..c7"), Ok(range(3, 7)));
        assert_eq!(parse_ids("3..7"), Ok(range(3, 7)));
        assert_eq!(range(7, 7).single(), Some(ChangeId(7)));
        assert_eq!(parse_ids("p3..5"), Ok(IdRange { first: ProposalId(3), last: ProposalId(5) }));
        for (text, part) in [("x", "`x`"), ("c7..c3", "put the older one first"), ("c3..", "``")] {
            assert!(parse_ids::<ChangeId>(text).unwrap_err().contains(part), "{text}");
        }
    }
}
