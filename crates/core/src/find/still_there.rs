//! A quotation from an earlier version that is still in the file, where equal lines make it uncertain which of them are meant.

use crate::change::Lines;

/// A quotation that is in the current file unchanged since the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StillThere {
    /// Its current lines.
    pub(crate) at: Lines,
    /// What has become of lines equal to those that decide about the place.
    pub(crate) equal_lines: EqualLines,
}

/// Lines that equal a quoted one, apart from whitespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EqualLines {
    /// There are more of them than in the version.
    Added,
    /// There are fewer of them.
    Removed,
    /// There are as many, and more than one.
    Several,
    /// There are none.
    None,
}
