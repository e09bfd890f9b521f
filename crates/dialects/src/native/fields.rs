//! The fields of the native tools. Their comments are what the model reads.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub(super) struct ReadFile {
    /// The file, relative to the root.
    pub(super) path: String,
    /// The first line to show, counting from 1. Default: the start of the file.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// The last line to show. Default: the end of the file.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct EditFile {
    /// The file, relative to the root.
    pub(super) path: String,
    /// The text to replace, copied from the file without line numbers. It must stand there exactly once.
    pub(super) old_text: Option<String>,
    /// The text to put there. Empty deletes the old text.
    pub(super) new_text: Option<String>,
    /// Replace every occurrence of old_text instead of exactly one.
    pub(super) replace_all: Option<bool>,
    /// The match must lie at or after this line. Tells equal texts apart.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// The match must lie at or before this line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
    /// Several replacements in this file, made together. Instead of old_text and new_text.
    pub(super) edits: Option<Vec<TextEdit>>,
    /// After a refusal that showed candidates: make that edit at the candidate of this number. Instead of the texts,
    /// which need not be sent again.
    #[schemars(range(min = 1))]
    pub(super) candidate: Option<usize>,
    #[serde(flatten)]
    pub(super) common: Common,
}

/// What every tool that changes a file takes.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Common {
    /// The version that read_file or the last edit answered with. The edit is made for that version: what was changed
    /// since elsewhere in the file is kept, and if it was changed in the same place nothing is written.
    pub(super) version: Option<String>,
    /// Show what would change without writing.
    pub(super) dry_run: Option<bool>,
    /// What the change is for, in a few words, for the log.
    pub(super) description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct TextEdit {
    /// The text to replace, copied from the file without line numbers.
    pub(super) old_text: String,
    /// The text to put there. Empty deletes the old text.
    pub(super) new_text: String,
    /// Replace every occurrence of old_text instead of exactly one.
    pub(super) replace_all: Option<bool>,
    /// The match must lie at or after this line.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// The match must lie at or before this line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct PatchFiles {
    /// The patch: a unified diff, a V4A patch or SEARCH/REPLACE blocks, with the names of its files.
    pub(super) patch: String,
    /// The file, for a patch that names none.
    pub(super) path: Option<String>,
    /// Show what would change without writing.
    pub(super) dry_run: Option<bool>,
    /// What the change is for, in a few words, for the log.
    pub(super) description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct EditLines {
    /// The file, relative to the root.
    pub(super) path: String,
    /// The first line to replace, counting from 1.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// The last line to replace. Default: start_line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
    /// The lines to put there. Empty deletes the lines.
    pub(super) new_text: Option<String>,
    /// What you believe stands in those lines now. If it does not, nothing is written.
    pub(super) expect: Option<String>,
    /// Several replacements in this file, made together; all line numbers refer to the file as it is now, or to the
    /// version sent along.
    pub(super) edits: Option<Vec<LineEdit>>,
    #[serde(flatten)]
    pub(super) common: Common,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct LineEdit {
    /// The first line to replace, counting from 1.
    #[schemars(range(min = 1))]
    pub(super) start_line: usize,
    /// The last line to replace. Default: start_line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
    /// The lines to put there. Empty deletes the lines.
    pub(super) new_text: String,
    /// What you believe stands in those lines now.
    pub(super) expect: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct WriteFile {
    /// The file, relative to the root.
    pub(super) path: String,
    /// The text to write.
    pub(super) content: String,
    /// create: a file that is not there yet. overwrite: all of the file. append: at its end. prepend: at its start.
    pub(super) mode: WriteMode,
    #[serde(flatten)]
    pub(super) common: Common,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum WriteMode {
    Create,
    Overwrite,
    Append,
    Prepend,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct UndoEdit {
    /// The change to take back, such as "c12", as the answer to the edit named it. Default: the last one of this session.
    pub(super) change: Option<String>,
    /// Show what would change without writing.
    pub(super) dry_run: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct GetFileInfo {
    /// The file, relative to the root.
    pub(super) path: String,
}
