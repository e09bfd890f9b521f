//! The fields of the native tools. Doc comments become the schemas' descriptions, so they are written for the model.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub(super) struct ReadFile {
    /// Relative to the root.
    pub(super) path: String,
    /// First line to show, from 1.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// Last line to show.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
    /// Show lines as LINE:HASH|text, for `anchors` of edit_lines.
    #[schemars(extend("x-unlisted" = true))]
    pub(super) anchors: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct EditFile {
    /// Relative to the root.
    pub(super) path: String,
    /// The exact text to replace.
    pub(super) old_text: Option<String>,
    /// Its replacement; empty deletes.
    pub(super) new_text: Option<String>,
    /// Replace every occurrence.
    pub(super) replace_all: Option<bool>,
    /// Only match from this line on.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// Only match up to this line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
    /// Several replacements instead of one; all or none are applied.
    pub(super) edits: Option<Vec<TextEdit>>,
    /// Instead of the text: a listed candidate.
    #[schemars(range(min = 1))]
    pub(super) candidate: Option<usize>,
    #[serde(flatten)]
    pub(super) common: Common,
}

/// The fields common to every tool that changes a file.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Common {
    /// The version that the edit is for.
    pub(super) version: Option<String>,
    /// Only show what would change.
    #[schemars(extend("x-unlisted" = true))]
    pub(super) dry_run: Option<bool>,
    /// What it does, for the log.
    #[schemars(extend("x-unlisted" = true))]
    pub(super) description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct TextEdit {
    /// The exact text to replace.
    pub(super) old_text: String,
    /// Its replacement; empty deletes.
    pub(super) new_text: String,
    /// Replace every occurrence.
    pub(super) replace_all: Option<bool>,
    /// Only match from this line on.
    #[schemars(range(min = 1), extend("x-unlisted" = true))]
    pub(super) start_line: Option<usize>,
    /// Only match up to this line.
    #[schemars(range(min = 1), extend("x-unlisted" = true))]
    pub(super) end_line: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct PatchFiles {
    /// The whole patch, with file names.
    pub(super) patch: String,
    /// With the same patch: a listed candidate.
    #[schemars(range(min = 1))]
    pub(super) candidate: Option<usize>,
    /// The file, if the patch names none.
    #[schemars(extend("x-unlisted" = true))]
    pub(super) path: Option<String>,
    /// Only show what would change.
    #[schemars(extend("x-unlisted" = true))]
    pub(super) dry_run: Option<bool>,
    /// What it does, for the log.
    #[schemars(extend("x-unlisted" = true))]
    pub(super) description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct EditLines {
    /// Relative to the root.
    pub(super) path: String,
    /// First line to replace, from 1.
    #[schemars(range(min = 1))]
    pub(super) start_line: Option<usize>,
    /// Last line to replace; default start_line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
    /// The new lines; empty deletes.
    pub(super) new_text: Option<String>,
    /// What these lines should be now; refused if they differ.
    pub(super) expect: Option<String>,
    /// Several replacements at once. All or none are applied.
    pub(super) edits: Option<Vec<LineEdit>>,
    /// Lines to check first, as LINE:HASH. If one differs, nothing is written.
    pub(super) anchors: Option<Vec<String>>,
    #[serde(flatten)]
    pub(super) common: Common,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct LineEdit {
    /// First line to replace, from 1.
    #[schemars(range(min = 1))]
    pub(super) start_line: usize,
    /// Last line to replace; default start_line.
    #[schemars(range(min = 1))]
    pub(super) end_line: Option<usize>,
    /// The new lines; empty deletes.
    pub(super) new_text: String,
    /// What these lines should be now.
    pub(super) expect: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct WriteFile {
    /// Relative to the root.
    pub(super) path: String,
    /// The text to write.
    pub(super) content: String,
    /// create fails if the file exists.
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
    /// Id of the change, such as c12.
    pub(super) change: Option<String>,
    /// Only show what would change.
    #[schemars(extend("x-unlisted" = true))]
    pub(super) dry_run: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct GetFileInfo {
    /// Relative to the root.
    pub(super) path: String,
}
