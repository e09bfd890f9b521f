//! Places that are protected because of what is around them on the disk, whatever they are called.
//!
//! The core does no I/O, so the library looks and the guard judges: [`ProtectedPlaces`] is the port between them.

use std::fmt::Debug;

use super::names;
use crate::path::FilePath;
use crate::snapshot::FileId;

/// A path that a change creates, writes, moves or deletes.
#[derive(Debug, Clone, Copy)]
pub struct TouchedPath<'a> {
    /// The path with symlinks resolved.
    pub real: &'a FilePath,
    /// Which file it is, if it exists.
    pub id: Option<FileId>,
    /// Whether it had no other name (hard link) when it was read.
    pub has_one_name: bool,
    /// Whether there will be a file after the change.
    pub remains: bool,
}

/// Why a place is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// The settings in force were read from this file.
    Settings,
    /// It belongs to the journal or the locks.
    State,
    /// It is a part of a Git repository, or the last part that turns a folder into one.
    GitRepository,
    /// Git runs it as a hook, or as a command that its configuration names.
    GitCommand,
    /// Git's configuration includes it.
    GitConfiguration,
    /// There is more on the disk than is searched, so Git may run or obey it.
    SearchCutShort,
}

impl PlaceKind {
    /// The group whose rule applies.
    pub fn group(self) -> &'static str {
        match self {
            Self::Settings | Self::State => names::SLIPSTITCH,
            Self::GitRepository | Self::GitCommand | Self::GitConfiguration | Self::SearchCutShort => {
                names::VERSION_CONTROL
            }
        }
    }

    /// What it is, for messages.
    pub fn what(self) -> &'static str {
        match self {
            Self::Settings => "Slipstitch's settings",
            Self::State => "Slipstitch's state",
            Self::GitRepository => "a Git repository",
            Self::GitCommand => "a Git hook or command",
            Self::GitConfiguration => "Git's configuration",
            Self::SearchCutShort => {
                "Git may run or obey it: there are too many folders or settings around it to search them all"
            }
        }
    }

    /// Whether an exception in the settings applies. The settings themselves cannot be exempted by a name.
    pub(super) fn can_be_exempt(self) -> bool {
        match self {
            Self::Settings | Self::State => false,
            Self::GitRepository | Self::GitCommand | Self::GitConfiguration | Self::SearchCutShort => true,
        }
    }
}

/// Finds protected places.
pub trait ProtectedPlaces: Debug + Send + Sync {
    /// What is known about each path of a change. The paths are judged together, because a change may create all parts of a
    /// repository at once.
    fn find(&self, touched: &[TouchedPath<'_>]) -> Vec<FoundPlace>;
}

/// What is known about the place of a path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundPlace {
    /// Why it is protected, if it is.
    pub kind: Option<PlaceKind>,
    /// The other paths of the file, if it has several hard links.
    pub other_paths: Vec<FilePath>,
}

/// No place is protected.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPlaces;

impl ProtectedPlaces for NoPlaces {
    fn find(&self, touched: &[TouchedPath<'_>]) -> Vec<FoundPlace> {
        vec![FoundPlace::default(); touched.len()]
    }
}
