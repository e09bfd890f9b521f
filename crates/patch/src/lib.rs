//! Patches as text: unified diffs, V4A patches and SEARCH/REPLACE blocks.
//!
//! | you want to | call |
//! | --- | --- |
//! | read a patch, of whatever kind | [`parse`] |
//! | know its kind only | [`detect`] |
//! | take it back | [`Patch::reversed`] |
//! | write it again | [`Patch::print`] |
//!
//! Nothing is looked up here: a patch says which files it is about and which lines it wants there.
//! What models get wrong is repaired where only one reading is left, and every repair is told.

mod body;
mod detect;
mod hunk;
mod merge;
mod print;
mod reverse;
mod search_replace;
mod shift;
mod source;
mod unified;
mod v4a;
mod wrap;

pub use hunk::{Hunk, HunkLine, Role};
use source::{Notes, Source};

/// The kinds of patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// `---`, `+++` and `@@ -1,2 +1,3 @@`, as of `diff -u` and git.
    Unified,
    /// `*** Begin Patch`, as of `apply_patch`.
    V4a,
    /// `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.
    SearchReplace,
}

/// A patch that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The kind that it was written in.
    pub format: Format,
    /// What it does, file by file, in the order of the text. One entry per file, or two for a file that is
    /// deleted and made anew.
    pub files: Vec<FilePatch>,
    /// What was wrong with it and how it was read.
    pub repairs: Vec<Repair>,
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The file; none if the patch has no header for it.
    pub path: Option<String>,
    /// What is done.
    pub action: Action,
    /// Where in the patch's text that begins, from 1.
    pub line: usize,
    /// Whether all hunk lines ended in a carriage return of their own, which their text lacks: the
    /// diff is of a file with CRLF.
    pub crlf: bool,
}

/// What is done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Make it.
    Create {
        /// The whole content, as it is in the patch.
        content: String,
        /// Whether it may be run.
        executable: bool,
    },
    /// Remove it.
    Delete {
        /// What must stand there; none: the patch does not say.
        hunks: Vec<Hunk>,
        /// Whether it could be run.
        executable: bool,
    },
    /// Change its lines, its name or its mode.
    Update {
        /// The changes to its lines.
        hunks: Vec<Hunk>,
        /// Its new name.
        move_to: Option<String>,
        /// Whether it may be run from now on; none: as before.
        executable: Option<bool>,
    },
    /// Put text in the place of text.
    Replace {
        /// The blocks, in order. A block with an empty search text makes the file.
        blocks: Vec<Block>,
    },
}

/// One SEARCH/REPLACE block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The lines to find, each with its newline.
    pub search: String,
    /// The lines to put there, each with its newline.
    pub replace: String,
    /// The line, from 1, where the search text should begin.
    pub start_line: Option<usize>,
}

/// What was wrong with a patch, or open, and how it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// Where in the patch's text, from 1.
    pub line: usize,
    /// A sentence.
    pub what: String,
}

/// Why a text is not a patch that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("patch line {line}: {message}")]
pub struct PatchError {
    /// Where in the patch's text, from 1.
    pub line: usize,
    /// The family of the fault.
    pub fault: Fault,
    /// What is wrong.
    pub message: String,
    /// What to send instead.
    pub hint: String,
}

/// Families of faults, for callers that answer them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The text does not follow the format.
    Syntax,
    /// The text is of no known format, or of several.
    Format,
    /// A header names a file by an absolute path or one with `..`.
    Path,
    /// It asks for what a text patch cannot hold or we do not do: binary content, links, copies.
    Unsupported,
    /// Repair would be needed, and was switched off.
    Strict,
    /// It does not say enough to be reversed.
    Irreversible,
}

/// How a patch is to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether everything that would be repaired is an error.
    pub strict: bool,
    /// How many folders to take off the paths of a unified diff; if none is given, git's `a/` and
    /// `b/` where both headers have them.
    pub strip: Option<usize>,
}

impl Format {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unified => "unified diff",
            Self::V4a => "V4A patch",
            Self::SearchReplace => "SEARCH/REPLACE blocks",
        }
    }
}

/// Reads a patch of the given format, or of the one that it shows itself to be.
///
/// # Errors
/// If the text is of no known kind or of several, if it makes no sense, or if it would have to be
/// repaired and must not be.
pub fn parse(text: &str, format: Option<Format>, options: Options) -> Result<Patch, PatchError> {
    let mut notes = Notes::new(options.strict);
    let inner = wrap::unwrapped(text);
    if inner.is_some() {
        notes.repair(
            0,
            "the patch was wrapped in JSON or written with `\\n` for line ends: line numbers are those of the patch inside",
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
    let files = merge::merge(sections.map_err(|error| name_other_kind(error, &source, format))?)?;
    Ok(Patch { format, files, repairs: notes.repairs })
}

/// The kind of patch that a text is.
///
/// # Errors
/// If it is none, or several; the error says which were seen and where.
pub fn detect(text: &str) -> Result<Format, PatchError> {
    detect::detect(&Source::new(wrap::unwrapped(text).as_deref().unwrap_or(text)))
}

/// Says which kind the text is if it is not the one that was asked for.
fn name_other_kind(mut error: PatchError, source: &Source<'_>, format: Format) -> PatchError {
    if error.fault == Fault::Format
        && let Ok(other) = detect::detect(source)
        && other != format
    {
        error.message = format!("the text is no {}: it looks like a {}", format.name(), other.name());
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";

    fn read(text: &str) -> Patch {
        parse(text, None, Options::default()).unwrap()
    }

    #[test]
    fn sections_of_one_file_are_one_entry() {
        let text = "*** Begin Patch\n*** Update File: f\n-a\n*** Add File: g\n+x\n*** Update File: f\n-b\n*** End Patch\n";
        let patch = read(text);
        assert_eq!(patch.files.iter().map(|file| file.line).collect::<Vec<_>>(), [2, 4]);
        assert!(matches!(&patch.files[0].action, Action::Update { hunks, .. } if hunks.len() == 2));
        let clash = parse(&text.replace("Add File: g", "Add File: f"), None, Options::default()).unwrap_err();
        assert_eq!(
            (clash.line, clash.message.as_str()),
            (4, "`f` is updated at line 2 and created at line 4")
        );
    }

    #[test]
    fn a_patch_in_json_is_taken_out_and_that_is_said() {
        let patch = read(&serde_json::json!({ "input": DIFF }).to_string());
        assert_eq!(patch.files, read(DIFF).files);
        assert!(patch.repairs[0].what.contains("JSON"));
        let strict = Options { strict: true, strip: None };
        assert_eq!(
            parse(&serde_json::json!([DIFF]).to_string(), None, strict).unwrap_err().fault,
            Fault::Strict
        );
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_patch() {
        assert_eq!(read(&format!("\u{feff}{DIFF}")).files, read(DIFF).files);
    }

    #[test]
    fn asked_for_another_kind_the_error_names_the_one_that_it_is() {
        let error = parse(DIFF, Some(Format::V4a), Options::default()).unwrap_err();
        assert_eq!(error.to_string(), "patch line 1: the text is no V4A patch: it looks like a unified diff");
    }
}
