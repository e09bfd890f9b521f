//! Plans that show what is in a folder.

use crate::path::FilePath;

/// A folder to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPlan {
    /// The folder; the root if `None`.
    pub folder: Option<FilePath>,
    /// How many levels of folders are shown; 1 is the folder itself.
    pub depth: usize,
    /// Whether names that start with a dot are shown.
    pub hidden: HiddenEntries,
    /// The order of the entries.
    pub order: EntryOrder,
}

impl ListPlan {
    /// Lists all entries of one folder by name.
    pub fn new(folder: Option<FilePath>) -> Self {
        Self { folder, depth: 1, hidden: HiddenEntries::Shown, order: EntryOrder::Name }
    }
}

/// Files to find by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPlan {
    /// Where to look; the root if `None`.
    pub folder: Option<FilePath>,
    /// A glob for the name, or for the path below the folder if it has a slash. Without wildcards, a part of the name.
    pub pattern: String,
    /// Whether names that start with a dot are searched.
    pub hidden: HiddenEntries,
}

/// Whether names that start with a dot are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenEntries {
    /// Shown.
    Shown,
    /// Left out.
    LeftOut,
}

/// The order of a folder's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryOrder {
    /// By name.
    Name,
    /// Largest files first.
    Size,
    /// Folders first, then by the ending of the name.
    Kind,
    /// Most recently changed first.
    Modified,
}
