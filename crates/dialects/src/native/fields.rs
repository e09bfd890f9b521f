//! The fields of the native tools. Doc comments become the schemas' descriptions, so they are written for the model.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub(super) struct ReadFile {
    /// The file, relative to the root.
    pub(super) path: String,
    /// The first line to show, counting from 1. Default: the start of the file.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// The last line to show (inclusive). Default: the end of the file.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct EditFile {
    /// The file, relative to the root.
    pub(super) path: String,
    /// The text to replace, copied from the file without line numbers. It must occur exactly once.
    pub(super) old_text: Option<String>,
    /// The replacement. Empty deletes the old text.
    pub(super) new_text: Option<String>,
    /// Replace every occurrence of old_text instead of exactly one.
    pub(super) replace_all: Option<bool>,
    /// The match must start at or after this line. Use it to choose between several occurrences.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// The match must end at or before this line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
    /// Several replacements in this file, applied together. Use it instead of old_text and new_text.
    pub(super) edits: Option<Vec<TextEdit>>,
    /// After a refusal that listed candidates: apply that edit at the candidate with this number. Use it instead of
    /// old_text and new_text.
    #[schemars(range(min = 1))]
    pub(super) candidate: Option<usize>,
    #[serde(flatten)]
    pub(super) common: Common,
}

/// The fields common to every tool that changes a file.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Common {
    /// The version from the answer of read_file or of the last edit. The edit applies to that version: later changes
    /// elsewhere in the file are kept, and if a later change touched the same lines, nothing is written.
    pub(super) version: Option<String>,
    /// Show what would change without writing.
    pub(super) dry_run: Option<bool>,
    /// What the change does, in a few words, for the log.
    pub(super) description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct TextEdit {
    /// The text to replace, copied from the file without line numbers.
    pub(super) old_text: String,
    /// The replacement. Empty deletes the old text.
    pub(super) new_text: String,
    /// Replace every occurrence of old_text instead of exactly one.
    pub(super) replace_all: Option<bool>,
    /// The match must start at or after this line.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// The match must end at or before this line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct PatchFiles {
    /// The patch: a unified diff, a V4A patch or SEARCH/REPLACE blocks, including the names of the files.
    pub(super) patch: String,
    /// After a refusal that listed candidates: the number of the intended one. Send the same patch again with it.
    #[schemars(range(min = 1))]
    pub(super) candidate: Option<usize>,
    /// The file to patch if the patch does not name one.
    pub(super) path: Option<String>,
    /// Show what would change without writing.
    pub(super) dry_run: Option<bool>,
    /// What the change does, in a few words, for the log.
    pub(super) description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct EditLines {
    /// The file, relative to the root.
    pub(super) path: String,
    /// The first line to replace, counting from 1.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// The last line to replace (inclusive). Default: start_line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
    /// The new lines. Empty deletes the lines.
    pub(super) new_text: Option<String>,
    /// The text you believe those lines have now. If they differ, nothing is written.
    pub(super) expect: Option<String>,
    /// Several replacements in this file, applied together. All line numbers refer to the current file, or to `version` if
    /// it is sent.
    pub(super) edits: Option<Vec<LineEdit>>,
    #[serde(flatten)]
    pub(super) common: Common,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct LineEdit {
    /// The first line to replace, counting from 1.
    #[schemars(range(min = 1))]
    pub(super) start_line: usize,
    /// The last line to replace (inclusive). Default: start_line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
    /// The new lines. Empty deletes the lines.
    pub(super) new_text: String,
    /// The text you believe those lines have now.
    pub(super) expect: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct WriteFile {
    /// The file, relative to the root.
    pub(super) path: String,
    /// The text to write.
    pub(super) content: String,
    /// create: a new file; fails if it exists. overwrite: replace the whole file. append: add at its end. prepend: add at its
    /// start.
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
    /// The id of the change to undo, such as "c12", from the answer to the edit. Default: the last change of this session.
    pub(super) change: Option<String>,
    /// Show what would change without writing.
    pub(super) dry_run: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct GetFileInfo {
    /// The file, relative to the root.
    pub(super) path: String,
}
