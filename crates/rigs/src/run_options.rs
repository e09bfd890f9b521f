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
    /// The file systems for `kill`; empty for those that the scale suggests.
    pub file_systems: Vec<FileSystem>,
    /// The modes of `renameat2` for `kill`; empty for those that the scale suggests.
    pub rename_flags: Vec<RenameFlags>,
    /// At most this many kills on each file system in each mode; `None` for no limit.
    pub max_kills: Option<usize>,
    /// Editing processes and edits of each, for `concurrency`; `None` for what the scale suggests.
    pub editing: Option<(usize, usize)>,
}

impl RunOptions {
    /// The defaults for a scale.
    pub fn new(scale: Scale, protection: Protection) -> Self {
        let (file_systems, rename_flags) = (Vec::new(), Vec::new());
        Self { scale, protection, file_systems, rename_flags, max_kills: None, editing: None }
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
