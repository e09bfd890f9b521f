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
    /// Have the user review it before it is applied.
    pub(super) propose: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ProposeFileEdit {
    /// The file, in the project.
    pub(super) path: String,
    /// The whole new content, instead of original and modified.
    pub(super) new_content: Option<String>,
    /// The text to replace, which occurs exactly once.
    pub(super) original: Option<String>,
    /// Its replacement.
    pub(super) modified: Option<String>,
    /// For the reviewer.
    pub(super) description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct InsertAtLine {
    /// The file, in the project.
    pub(super) path: String,
    /// Insert after this line; 0 is the start of the file, -1 its end.
    #[schemars(range(min = -1))]
    pub(super) line: i64,
    /// The lines to insert.
    pub(super) content: String,
    /// For the log.
    pub(super) description: Option<String>,
    /// Have the user review it before it is applied.
    #[schemars(extend("x-unlisted" = true))]
    pub(super) propose: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ReadFile {
    /// The file, in the project.
    pub(super) path: String,
    /// First line to show, from 1.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// Last line to show.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct GetFileInfo {
    /// The file, in the project.
    pub(super) path: String,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ListDirectory {
    /// Folder path (default: project root).
    pub(super) path: Option<String>,
    /// Whether to show dotfiles (default true).
    #[schemars(extend("x-unlisted" = true))]
    pub(super) show_hidden: Option<bool>,
    /// The order (default name).
    #[schemars(extend("x-unlisted" = true))]
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
    /// Folder path (default: project root).
    pub(super) path: Option<String>,
    /// How many levels to show. Default: 3.
    #[schemars(range(min = 1))]
    pub(super) max_depth: Option<usize>,
    /// Whether to show dotfiles (default true).
    #[schemars(extend("x-unlisted" = true))]
    pub(super) show_hidden: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct SearchFiles {
    /// A glob matched against the name (*.lisp) or, if it contains a slash, the path (src/**/*.lisp). Without wildcards, any part of the name.
    pub(super) pattern: String,
    /// Where to look: a folder (relative to project root). Default: the project root.
    pub(super) path: Option<String>,
    /// Whether to show dotfiles (default true).
    #[schemars(extend("x-unlisted" = true))]
    pub(super) show_hidden: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct GetProjectRoot {}

#[derive(Deserialize, JsonSchema)]
pub(super) struct CreateFile {
    /// File path (relative to project root).
    pub(super) path: String,
    /// The content (default empty).
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
    /// What this change does (for the reviewer).
    pub(super) description: Option<String>,
}
