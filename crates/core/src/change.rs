//! Changes as data: what happens to the bytes, path and mode of each file, bound to the content that the change was
//! made for.

mod difference;

use std::collections::{BTreeMap, BTreeSet};

pub use difference::DifferenceKind;
use serde::{Deserialize, Serialize};

use crate::path::FilePath;
use slipstitch_text::{ContentHash, Splices};

/// The state that a file must be in for a change to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The file does not exist, or another change of the set moves or deletes the one that does.
    Absent,
    /// The file has this content.
    Content(ContentHash),
}

/// What a change does to a file's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathChange {
    /// The file stays at its path, or is created there.
    Keep,
    /// The file is moved to another path.
    Move(FilePath),
    /// The file is deleted.
    Delete,
}

/// A change to one file, bound to the content it was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file's path before the change, or the path to create it at.
    pub path: FilePath,
    /// The required state of the file.
    pub base: Base,
    /// What happens to its path.
    pub path_change: PathChange,
    /// What happens to its bytes.
    pub splices: Splices,
    /// The content after the change; `None` if the file is deleted.
    pub after: Option<ContentHash>,
    /// Permission bits for a file that is created.
    pub mode: Option<u32>,
    /// The new executable bit of an existing file; `None` leaves it unchanged.
    pub executable: Option<bool>,
    /// What it restores besides the content, if it reverts another change.
    pub restore: Restore,
    /// The edits of the request and where they were applied.
    pub edits: Vec<PlacedEdit>,
    /// Notes for the caller on how the edits were interpreted.
    pub notes: Vec<String>,
    /// The file's line counts, if they were determined.
    pub totals: Option<LineTotals>,
}

/// What a change that reverts another one restores besides the content. A workspace determines it
/// ([`Staged::restores`](crate::ports::workspace::Staged::restores)); the journal stores it with the inverse.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restore {
    /// The attributes of a deleted file that is created again.
    pub attributes: Option<Attributes>,
    /// Folders that were created for the file, outer ones first. They are removed with it if they are empty then.
    pub folders: Vec<FilePath>,
    /// The folders that contained the file before it left its path, outer ones first. Those that are missing when it
    /// returns are created again with these attributes: otherwise they could open the file to more people than before.
    pub parents: Vec<FolderAttributes>,
}

/// A folder and its attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderAttributes {
    /// The folder.
    pub path: FilePath,
    /// Its attributes.
    pub attributes: Attributes,
}

/// The attributes of a file or folder, apart from its content and its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attributes {
    /// The user it belongs to.
    pub owner: u32,
    /// The group it belongs to.
    pub group: u32,
    /// All permission bits.
    pub mode: u32,
    /// The extended attributes, among them access lists: names and values.
    pub extended: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The number of lines of a file before and after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineTotals {
    /// Lines before the change.
    pub before: usize,
    /// Lines after the change.
    pub after: usize,
}

/// An edit of a request and where it was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedEdit {
    /// The edit's number in the request, from 1.
    pub edit: usize,
    /// How the place was found.
    pub rung: Rung,
    /// How the request differs from the file there.
    #[serde(rename = "classes", default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<DifferenceKind>,
    /// The number of places it was applied at.
    pub occurrences: usize,
    /// The places, at most [`PlacedEdit::MAX_PLACES`].
    pub places: Vec<Place>,
}

impl PlacedEdit {
    /// The maximum number of places listed per edit.
    pub const MAX_PLACES: usize = 100;
}

/// The lines that one edit covers before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Lines of the old file.
    pub before: Lines,
    /// Lines of the new file.
    pub after: Lines,
}

/// A range of `count` lines from line `start`, counted from 1. A count of 0 is the position before line `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// The first line.
    pub start: usize,
    /// The number of lines.
    pub count: usize,
}

impl std::fmt::Display for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.count {
            0 => write!(f, "before line {}", self.start),
            1 => write!(f, "line {}", self.start),
            n => write!(f, "lines {}-{}", self.start, self.start + n - 1),
        }
    }
}

/// How a place was found, strictest first. The order is part of the behaviour: an edit reports its loosest rung.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rung {
    /// The operation states its place: line numbers, the end of the file, the whole file.
    Stated,
    /// The text matches exactly, apart from line endings.
    Exact,
    /// The text differs in whitespace: trailing, indentation, blank lines.
    Whitespace,
    /// The text differs in look-alike punctuation.
    Punctuation,
    /// The text was damaged in transport: line numbers, fences, escapes, entities, diff markers.
    Transport,
    /// The request elides unchanged lines.
    Elision,
    /// Context lines differ from the file.
    Drift,
    /// The lines as a whole are similar enough to the file's.
    Fuzzy,
    /// The request quotes an earlier version of the file.
    Evidence,
    /// The caller chose the place among close matches.
    Chosen,
}

/// Changes to files that are applied together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeSet {
    files: Vec<FileChange>,
    clipboards: BTreeMap<String, String>,
    notes: Vec<String>,
}

/// A path that two changes of one set start from, or lead to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` occurs twice in one request")]
pub struct DuplicatePath(pub FilePath);

impl ChangeSet {
    /// Combines the changes of several files.
    ///
    /// They happen at once: every change starts from the files as they are before all of them. So two files can swap their
    /// names, and a file can be created where another one moves away. No two changes may start from the same file or lead to
    /// the same path.
    pub fn new(files: Vec<FileChange>) -> Result<Self, DuplicatePath> {
        let mut before = BTreeSet::new();
        let mut after = BTreeSet::new();
        for file in &files {
            if file.base != Base::Absent && !before.insert(&file.path) {
                return Err(DuplicatePath(file.path.clone()));
            }
            if let Some(path) = file.path_after()
                && !after.insert(path)
            {
                return Err(DuplicatePath(path.clone()));
            }
        }
        Ok(Self { files, ..Self::default() })
    }

    /// Whether a change moves or deletes the file at a path.
    pub fn vacates(&self, path: &FilePath) -> bool {
        self.files.iter().any(|file| file.vacates(path))
    }

    /// Adds the clipboards to save for the session, and notes for the caller.
    pub fn with_clipboards(mut self, clipboards: BTreeMap<String, String>, notes: Vec<String>) -> Self {
        self.clipboards = clipboards;
        self.notes = notes;
        self
    }

    /// The clipboards to save for the session, by name.
    pub fn clipboards(&self) -> &BTreeMap<String, String> {
        &self.clipboards
    }

    /// Notes for the caller on the change as a whole.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The files, in the order of the request.
    pub fn files(&self) -> &[FileChange] {
        &self.files
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(FileChange::is_empty)
    }

    /// The change that undoes this one. `before` returns a file's content before the change; it is called
    /// only for files that existed.
    pub fn invert<'a>(&self, before: impl Fn(&FilePath) -> &'a [u8]) -> Self {
        let files = self
            .files
            .iter()
            .map(|file| match file.base {
                Base::Absent => file.invert(&[]),
                Base::Content(_) => file.invert(before(&file.path)),
            })
            .collect();
        Self { files, ..Self::default() }
    }
}

impl FileChange {
    /// Whether the bytes, the path and the mode are all unchanged.
    pub fn is_empty(&self) -> bool {
        self.path_change == PathChange::Keep
            && self.executable.is_none()
            && match self.base {
                Base::Absent => false,
                Base::Content(hash) => self.after == Some(hash),
            }
    }

    /// Whether the change moves or deletes the file at a path.
    pub fn vacates(&self, path: &FilePath) -> bool {
        self.base != Base::Absent && self.path == *path && self.path_change != PathChange::Keep
    }

    /// Whether the hunks of its diff can be applied one by one. A file that is created, deleted, moved or made executable
    /// is changed as a whole.
    pub fn has_separate_hunks(&self) -> bool {
        self.path_change == PathChange::Keep && self.executable.is_none() && self.base != Base::Absent
    }

    /// The file's path after the change; `None` if it is deleted.
    pub fn path_after(&self) -> Option<&FilePath> {
        match &self.path_change {
            PathChange::Keep => Some(&self.path),
            PathChange::Move(to) => Some(to),
            PathChange::Delete => None,
        }
    }

    /// The change that undoes this one; `before` is the content before the change.
    pub fn invert(&self, before: &[u8]) -> Self {
        self.inverse_with(self.splices.invert(before))
    }

    /// The change that undoes this one, given the inverse of its splices.
    pub(crate) fn inverse_with(&self, splices: Splices) -> Self {
        Self {
            path: self.path_after().unwrap_or(&self.path).clone(),
            base: self.after.map_or(Base::Absent, Base::Content),
            path_change: match (&self.path_change, self.base) {
                (PathChange::Move(_), _) => PathChange::Move(self.path.clone()),
                (PathChange::Keep, Base::Absent) => PathChange::Delete,
                (PathChange::Keep | PathChange::Delete, _) => PathChange::Keep,
            },
            splices,
            after: match self.base {
                Base::Absent => None,
                Base::Content(hash) => Some(hash),
            },
            mode: self.mode,
            executable: self.executable.map(|executable| !executable),
            restore: Restore::default(),
            edits: Vec::new(),
            notes: Vec::new(),
            totals: self
                .totals
                .map(|LineTotals { before, after }| LineTotals { before: after, after: before }),
        }
    }
}
