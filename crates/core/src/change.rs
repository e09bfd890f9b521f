//! Changes as data: splices of bytes that know the text they apply to, compose and invert; what becomes of a
//! file; what becomes of several files together.

mod class;

use std::collections::BTreeMap;

pub use class::Class;
use serde::{Deserialize, Serialize};

use crate::path::FilePath;
use slipstitch_text::{ContentHash, Splices};

/// What a file must be for a change to apply to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// No file.
    Absent,
    /// A file with this content.
    Content(ContentHash),
}

/// Where the file is after the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// At the same path, or at the path where it is created.
    Keep,
    /// At another path.
    Move(FilePath),
    /// Gone.
    Delete,
}

/// A change to one file, bound to the content it was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file's path before, or the path of the file to make.
    pub path: FilePath,
    /// What must be there.
    pub base: Base,
    /// What becomes of its name.
    pub fate: Fate,
    /// What becomes of its bytes.
    pub splices: Splices,
    /// The content after; `None` if the file is gone.
    pub after: Option<ContentHash>,
    /// Permission bits for a file that is made anew.
    pub mode: Option<u32>,
    /// Whether a file that was there may be run from now on; `None`: as before.
    pub executable: Option<bool>,
    /// Which edits of the request this came from, and where they went.
    pub edits: Vec<Placed>,
    /// What the caller should know of how this was read.
    pub notes: Vec<String>,
    /// How many lines the file has before and after, where that was counted.
    pub totals: Option<Totals>,
}

/// How many lines a file has before and after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Before.
    pub before: usize,
    /// After.
    pub after: usize,
}

/// Where one edit of a request went in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// The edit's number in the request, from 1.
    pub edit: usize,
    /// How the place was found.
    pub rung: Rung,
    /// How the request differs from the file there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    /// In how many places it went in.
    pub occurrences: usize,
    /// Those places; the first [`Placed::MAX_PLACES`] of them.
    pub places: Vec<Place>,
}

impl Placed {
    /// How many places of one edit are listed.
    pub const MAX_PLACES: usize = 100;
}

/// The lines that one edit covers before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// In the file as it was.
    pub before: Lines,
    /// In the file as it is now.
    pub after: Lines,
}

/// Some lines: `count` of them from `start`, the first line of a file being 1.
/// With a count of 0 it is the place before line `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// The first line.
    pub start: usize,
    /// How many.
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

/// How a place was found. Strictest first; the order is behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rung {
    /// The operation names its place: line numbers, the end of the file, the whole file.
    Stated,
    /// The text stands there exactly, line ends aside.
    Exact,
    /// But for white space: at the ends of lines, at their starts, blank lines.
    Whitespace,
    /// But for punctuation that looks alike.
    Punctuation,
    /// But for damage on the way: line numbers, fences, escapes, entities, diff markers.
    Transport,
    /// With lines left out that stay as they are.
    Elision,
    /// With lines that stay as they are and have other words in the file.
    Drift,
    /// The lines of a hunk stand there but for white space at their ends.
    Tolerant,
    /// Lines like those of a hunk stand there.
    Fuzzy,
    /// The caller chose it among places that come close.
    Chosen,
}

/// Changes to files that go in together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeSet {
    files: Vec<FileChange>,
    clipboards: BTreeMap<String, String>,
    notes: Vec<String>,
}

/// Two changes of one set that touch the same path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is changed twice in one request")]
pub struct PathTwice(pub FilePath);

impl ChangeSet {
    /// Puts the changes of several files together; no path may occur twice.
    pub fn new(files: Vec<FileChange>) -> Result<Self, PathTwice> {
        let mut seen = std::collections::BTreeSet::new();
        for file in &files {
            let target = match &file.fate {
                Fate::Move(to) => Some(to),
                Fate::Keep | Fate::Delete => None,
            };
            for path in std::iter::once(&file.path).chain(target) {
                if !seen.insert(path) {
                    return Err(PathTwice(path.clone()));
                }
            }
        }
        Ok(Self { files, ..Self::default() })
    }

    /// The same with text that was taken out of the files for the session to remember.
    pub fn with_clipboards(mut self, clipboards: BTreeMap<String, String>, notes: Vec<String>) -> Self {
        self.clipboards = clipboards;
        self.notes = notes;
        self
    }

    /// What the session is to remember, by name.
    pub fn clipboards(&self) -> &BTreeMap<String, String> {
        &self.clipboards
    }

    /// What the caller should know of the change as a whole.
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

    /// The change that takes this one back. `before` answers with a file's content before;
    /// it is asked only for files that were there.
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
    /// Whether neither the bytes nor the name nor the mode change.
    pub fn is_empty(&self) -> bool {
        self.fate == Fate::Keep
            && self.executable.is_none()
            && match self.base {
                Base::Absent => false,
                Base::Content(hash) => self.after == Some(hash),
            }
    }

    /// The file's path after the change, if there is a file then.
    pub fn path_after(&self) -> Option<&FilePath> {
        match &self.fate {
            Fate::Keep => Some(&self.path),
            Fate::Move(to) => Some(to),
            Fate::Delete => None,
        }
    }

    /// The change that takes this one back; `before` is the content before.
    pub fn invert(&self, before: &[u8]) -> Self {
        Self {
            path: self.path_after().unwrap_or(&self.path).clone(),
            base: self.after.map_or(Base::Absent, Base::Content),
            fate: match (&self.fate, self.base) {
                (Fate::Move(_), _) => Fate::Move(self.path.clone()),
                (Fate::Keep, Base::Absent) => Fate::Delete,
                (Fate::Keep | Fate::Delete, _) => Fate::Keep,
            },
            splices: self.splices.invert(before),
            after: match self.base {
                Base::Absent => None,
                Base::Content(hash) => Some(hash),
            },
            mode: self.mode,
            executable: self.executable.map(|executable| !executable),
            edits: Vec::new(),
            notes: Vec::new(),
            totals: self.totals.map(|Totals { before, after }| Totals { before: after, after: before }),
        }
    }
}
