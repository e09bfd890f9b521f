//! The arguments of the tools. The comments are what the model reads.

use schemars::JsonSchema;
use serde::Deserialize;
use slipstitch_core::plan::EntryOrder;

#[derive(Deserialize, JsonSchema)]
pub(super) struct EditFile {
    /// File path (relative to project root). The file must exist.
    pub(super) path: String,
    /// Exact string to find (must be unique). Copy it from the file without line numbers, with its indentation.
    pub(super) old_str: String,
    /// Replacement string. Empty deletes old_str.
    pub(super) new_str: String,
    /// What this change does (for logging).
    pub(super) description: Option<String>,
    /// If true, the user reviews the change before it is applied. Set it for a risky change or when the user asks for it.
    pub(super) propose: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ProposeFileEdit {
    /// File path (relative to project root). The file must exist.
    pub(super) path: String,
    /// The complete new content of the file. Use it instead of original and modified.
    pub(super) new_content: Option<String>,
    /// The text to replace: the whole file, or a part that occurs exactly once. It must match the current file.
    pub(super) original: Option<String>,
    /// The text that replaces original.
    pub(super) modified: Option<String>,
    /// What this change does (shown to the user who reviews it).
    pub(super) description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct InsertAtLine {
    /// File path (relative to project root). The file must exist.
    pub(super) path: String,
    /// Insert after this line, counting from 1. 0 is the start of the file, -1 its end.
    #[schemars(range(min = -1))]
    pub(super) line: i64,
    /// The lines to insert. A missing final newline is added, except at the end of a file that has none.
    pub(super) content: String,
    /// What this change does (for logging).
    pub(super) description: Option<String>,
    /// If true, the user reviews the change before it is applied.
    pub(super) propose: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ReadFile {
    /// File path (relative to project root).
    pub(super) path: String,
    /// The first line to show, counting from 1. Default: the start of the file.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// The last line to show (inclusive). Default: the end of the file.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct GetFileInfo {
    /// File path (relative to project root).
    pub(super) path: String,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ListDirectory {
    /// Folder path (relative to project root). Default: the project root.
    pub(super) path: Option<String>,
    /// If false, names that start with a dot are left out. Default: true.
    pub(super) show_hidden: Option<bool>,
    /// The order: by name (the default), size (largest first), type, or modified (latest first).
    pub(super) sort_by: Option<SortBy>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
pub(super) enum SortBy {
    #[default]
    Name,
    Size,
    Type,
    Modified,
}

impl From<SortBy> for EntryOrder {
    fn from(sort_by: SortBy) -> Self {
        match sort_by {
            SortBy::Name => Self::Name,
            SortBy::Size => Self::Size,
            SortBy::Type => Self::Kind,
            SortBy::Modified => Self::Modified,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct DirectoryTree {
    /// Folder path (relative to project root). Default: the project root.
    pub(super) path: Option<String>,
    /// How many levels to show. Default: 3.
    #[schemars(range(min = 1))]
    pub(super) max_depth: Option<usize>,
    /// If false, names that start with a dot are left out. Default: true.
    pub(super) show_hidden: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct SearchFiles {
    /// A glob matched against the name (*.lisp) or, if it contains a slash, the path (src/**/*.lisp). Without wildcards, any part of the name.
    pub(super) pattern: String,
    /// Where to look: a folder (relative to project root). Default: the project root.
    pub(super) path: Option<String>,
    /// If false, names that start with a dot are left out. Default: true.
    pub(super) show_hidden: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct GetProjectRoot {}

#[derive(Deserialize, JsonSchema)]
pub(super) struct CreateFile {
    /// File path (relative to project root). The file must not exist.
    pub(super) path: String,
    /// The content of the file. Default: an empty file.
    pub(super) content: Option<String>,
    /// What this change does (for logging).
    pub(super) description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct MoveFile {
    /// The file to move (relative to project root).
    pub(super) source: String,
    /// Its new path (relative to project root).
    pub(super) destination: String,
    /// What this change does (for logging).
    pub(super) description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct DeleteFile {
    /// The file to delete (relative to project root).
    pub(super) path: String,
    /// What this change does (shown to the user who reviews it).
    pub(super) description: Option<String>,
}
