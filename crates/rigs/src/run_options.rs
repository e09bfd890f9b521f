//! What a rig can be asked to do.

use crate::file_systems::FileSystem;
use crate::findings::{Protection, Scale};

/// What a rig runs with.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// How long it runs.
    pub scale: Scale,
    /// Whether the protection that it tests is active.
    pub protection: Protection,
    /// The file systems for `kill`; empty for those that the scale suggests. `concurrency` runs on FUSE if that is one of
    /// them.
    pub file_systems: Vec<FileSystem>,
    /// The modes of `renameat2` for `kill`; empty for those that the scale suggests.
    pub rename_flags: Vec<RenameFlags>,
    /// At most this many kills on each file system in each mode; `None` for no limit.
    pub max_kills: Option<usize>,
    /// The part of the kills to run; `None` for all of them.
    pub part: Option<Part>,
    /// Editing processes and edits of each, for `concurrency`; `None` for what the scale suggests.
    pub editing: Option<(usize, usize)>,
}

impl RunOptions {
    /// The defaults for a scale.
    pub fn new(scale: Scale, protection: Protection) -> Self {
        let (file_systems, rename_flags) = (Vec::new(), Vec::new());
        let (max_kills, part, editing) = (None, None, None);
        Self { scale, protection, file_systems, rename_flags, max_kills, part, editing }
    }
}

/// One of several equal parts of a long run. Together they do what one run does, and each is done soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// From 1.
    number: usize,
    of: usize,
}

impl Part {
    /// Parses `3/20`.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, of) = text.split_once('/')?;
        let (number, of) = (number.parse().ok()?, of.parse().ok()?);
        (1..=of).contains(&number).then_some(Self { number, of })
    }

    /// Whether the item with an index belongs to the part.
    pub(crate) fn contains(self, index: usize) -> bool {
        index % self.of == self.number - 1
    }

    /// Its share of a number of random tries, at least one.
    pub(crate) fn share(self, tries: usize) -> usize {
        tries.div_ceil(self.of)
    }

    /// A seed of its own.
    pub(crate) fn seed(self) -> u64 {
        1_000_000 * self.number as u64
    }
}

/// Whether `renameat2` takes flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenameFlags {
    /// As far as the file system supports them.
    On,
    /// Every call with flags fails with EINVAL, as on some network file systems.
    Off,
}

impl RenameFlags {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_everything_once() {
        let parts: Vec<Part> = (1..=3).map(|number| Part::parse(&format!("{number}/3")).unwrap()).collect();
        for index in 0..10 {
            assert_eq!(parts.iter().filter(|part| part.contains(index)).count(), 1);
        }
        for text in ["", "1", "0/3", "4/3", "1/0", "a/b"] {
            assert_eq!(Part::parse(text), None, "{text}");
        }
    }
}
