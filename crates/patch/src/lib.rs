//! Parses unified diffs, V4A patches and SEARCH/REPLACE blocks into one [`Patch`].
//!
//! | To | use |
//! | --- | --- |
//! | parse a patch in any format | [`parse`] |
//! | detect the format only | [`detect`] |
//! | reverse a patch | [`Patch::reversed`] |
//! | find whole files in an answer | [`whole_files`] |
//!
//! The crate reads no files: a patch says which files it is for and which lines it expects there.
//! Common mistakes of models are repaired when only one interpretation is possible, and every
//! repair is reported in [`Patch::repairs`]. Where the file must decide, a hunk keeps its lines as
//! sent and lists the other interpretations in [`Hunk::alternatives`].
//!
//! ```
//! use slipstitch_patch::{Action, ParseOptions, parse};
//!
//! let text = "```diff\n--- a/f\n+++ b/f\n@@\n-old\n+new\n```\n";
//! let patch = parse(text, None, ParseOptions::default())?;
//! assert_eq!(patch.files[0].path.as_deref(), Some("f"));
//! assert!(matches!(&patch.files[0].action, Action::Update { hunks, .. } if hunks.len() == 1));
//! assert_eq!(patch.repairs[0].message, "removed the Markdown fence around the diff");
//! # Ok::<(), slipstitch_patch::PatchError>(())
//! ```

mod body;
mod detect;
mod hunk;
mod idle;
mod merge;
mod reading;
mod reverse;
mod search_replace;
mod shift;
mod source;
mod unified;
mod v4a;
mod whole;
mod wrap;

pub use hunk::{Hunk, HunkLine, HunkRepair, Reading, Role};
use source::{Notes, Source};
pub use whole::{WholeFile, whole_files};

/// A patch format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// `---`, `+++` and `@@ -1,2 +1,3 @@`, as written by `diff -u` and git.
    Unified,
    /// `*** Begin Patch`, as used by `apply_patch`.
    V4a,
    /// `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.
    SearchReplace,
}

/// A parsed patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The format it was written in.
    pub format: Format,
    /// The changes per file, in the order of the text. One entry per path, or two where a file is
    /// created in place of one that is deleted or moves away. All of them are made for the files as they
    /// are before the patch.
    pub files: Vec<FilePatch>,
    /// The mistakes that were repaired.
    pub repairs: Vec<Repair>,
}

/// The part of a patch that is about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The file's path; `None` if the patch has no header for it.
    pub path: Option<String>,
    /// What to do to the file.
    pub action: Action,
    /// The line of the patch's text where this part begins, from 1.
    pub line: usize,
    /// Whether every hunk line ended in a carriage return, that is, the diff is of a CRLF file. The
    /// lines' text does not include it.
    pub crlf: bool,
}

/// What to do to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Create it.
    Create {
        /// The whole content, as given in the patch.
        content: String,
        /// Whether the file is executable.
        executable: bool,
    },
    /// Delete it.
    Delete {
        /// The expected content; empty if the patch does not state it.
        hunks: Vec<Hunk>,
        /// Whether the deleted file was executable.
        executable: bool,
    },
    /// Change its lines, its name or its mode.
    Update {
        /// The changes to its lines.
        hunks: Vec<Hunk>,
        /// The new path, for a rename.
        move_to: Option<String>,
        /// The new executable bit; `None` leaves it unchanged.
        executable: Option<bool>,
    },
    /// Replace text.
    Replace {
        /// The blocks, in order. A block with an empty search text creates the file.
        blocks: Vec<Block>,
    },
}

/// One SEARCH/REPLACE block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The lines to find, each with its newline.
    pub search: String,
    /// The lines to replace them with, each with its newline.
    pub replace: String,
    /// The line, from 1, where the search text is expected.
    pub start_line: Option<usize>,
}

/// A mistake or an ambiguity in a patch and how it was interpreted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The line of the patch's text, from 1.
    pub line: usize,
    /// What was wrong and how it was interpreted.
    pub message: String,
}

/// Why a text cannot be parsed as a patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("patch line {line}: {message}")]
pub struct PatchError {
    /// The line of the patch's text, from 1.
    pub line: usize,
    /// The kind of error.
    pub kind: PatchErrorKind,
    /// What is wrong.
    pub message: String,
    /// What to send instead.
    pub hint: String,
}

/// The kind of a [`PatchError`], for callers that handle kinds differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatchErrorKind {
    /// The text does not follow the format.
    Syntax,
    /// The text is in no known format, or mixes several.
    Format,
    /// A header has an absolute path or one that contains `..`.
    Path,
    /// The patch uses an unsupported feature: binary content, symlinks, copies.
    Unsupported,
    /// The patch would need a repair, and strict parsing was requested.
    Strict,
    /// The patch does not contain enough information to be reversed.
    Irreversible,
}

/// How to parse a patch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// Reject mistakes instead of repairing them.
    pub strict: bool,
    /// How many leading folders to strip from the paths of a unified diff. By default, git's `a/` and
    /// `b/` are stripped if both headers have them.
    pub strip: Option<usize>,
    /// Reject hunk headers that are not complete (`@@ -1,2 +1,3 @@`) instead of locating their hunks by their lines. Wrong
    /// line counts are still corrected.
    pub complete_headers: bool,
    /// Accept absolute paths in headers. The caller must check [`FilePatch::path`]; the other path of a file's headers
    /// must be in the same folder.
    pub absolute_paths: bool,
    /// The caller names the file, so a unified diff needs no `---` and `+++` headers.
    pub names_optional: bool,
    /// Keep hunks that change nothing, so that their lines must be in the file as well.
    pub keep_idle_hunks: bool,
}

impl ParseOptions {
    /// Rejects every mistake, incomplete hunk headers too.
    pub const STRICT: Self = Self {
        strict: true,
        strip: None,
        complete_headers: false,
        absolute_paths: false,
        names_optional: false,
        keep_idle_hunks: false,
    };
}

impl Format {
    /// The format's usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unified => "unified diff",
            Self::V4a => "V4A patch",
            Self::SearchReplace => "SEARCH/REPLACE blocks",
        }
    }
}

/// Parses a patch in the given format, or in the detected one if `format` is `None`.
///
/// # Errors
/// If the text is in no known format or mixes several, if it is malformed, or if it needs a repair
/// and `options.strict` is set.
pub fn parse(text: &str, format: Option<Format>, options: ParseOptions) -> Result<Patch, PatchError> {
    let mut notes = Notes::new(options.strict).keeping_idle_hunks(options.keep_idle_hunks);
    let inner = wrap::unwrap(text);
    if inner.is_some() {
        notes.repair(
            0,
            "unwrapped the patch from JSON or from a single line with `\\n` escapes; line numbers count the lines inside",
        )?;
    }
    let source = Source::new(inner.as_deref().unwrap_or(text));
    let format = match format {
        Some(format) => format,
        None => detect::detect(&source)?,
    };
    let sections = match format {
        Format::Unified => unified::parse(&source, options, &mut notes),
        Format::V4a => v4a::parse(&source, &mut notes),
        Format::SearchReplace => search_replace::parse(&source, &mut notes),
    };
    let sections = sections.map_err(|error| suggest_format(error, &source, format))?;
    let files = merge::merge(idle::drop_sections(sections, &mut notes)?, &mut notes)?;
    Ok(Patch { format, files, repairs: notes.repairs })
}

/// Detects the format of a patch.
///
/// # Errors
/// If the text is in no known format, or mixes several; the error lists them with their lines.
pub fn detect(text: &str) -> Result<Format, PatchError> {
    detect::detect(&Source::new(wrap::unwrap(text).as_deref().unwrap_or(text)))
}

/// Names the detected format in the error if it is not the requested one.
fn suggest_format(mut error: PatchError, source: &Source<'_>, format: Format) -> PatchError {
    if error.kind == PatchErrorKind::Format
        && let Ok(other) = detect::detect(source)
        && other != format
    {
        error.message = format!("expected {}, but the text looks like {}", describe(format), describe(other));
    }
    error
}

fn describe(format: Format) -> &'static str {
    match format {
        Format::Unified => "a unified diff",
        Format::V4a => "a V4A patch",
        Format::SearchReplace => "SEARCH/REPLACE blocks",
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";

    fn parsed(text: &str) -> Patch {
        parse(text, None, ParseOptions::default()).unwrap()
    }

    #[test]
    fn merges_sections_of_one_file() {
        let text = "*** Begin Patch\n*** Update File: f\n-a\n*** Add File: g\n+x\n*** Update File: f\n-b\n*** End Patch\n";
        let patch = parsed(text);
        assert_eq!(patch.files.iter().map(|file| file.line).collect::<Vec<_>>(), [2, 4]);
        assert!(matches!(&patch.files[0].action, Action::Update { hunks, .. } if hunks.len() == 2));
        let conflict =
            parse(&text.replace("Add File: g", "Add File: f"), None, ParseOptions::default()).unwrap_err();
        assert_eq!(
            (conflict.line, conflict.message.as_str()),
            (4, "`f` is updated at line 2 and created at line 4")
        );
    }

    #[test]
    fn unwraps_a_patch_from_json_and_reports_it() {
        let patch = parsed(&serde_json::json!({ "input": DIFF }).to_string());
        assert_eq!(patch.files, parsed(DIFF).files);
        assert!(patch.repairs[0].message.contains("JSON"));
        let strict = ParseOptions::STRICT;
        assert_eq!(
            parse(&serde_json::json!([DIFF]).to_string(), None, strict).unwrap_err().kind,
            PatchErrorKind::Strict
        );
    }

    #[test]
    fn ignores_a_byte_order_mark() {
        assert_eq!(parsed(&format!("\u{feff}{DIFF}")).files, parsed(DIFF).files);
    }

    #[test]
    fn names_the_detected_format_if_another_was_requested() {
        let error = parse(DIFF, Some(Format::V4a), ParseOptions::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "patch line 1: expected a V4A patch, but the text looks like a unified diff"
        );
    }
}
