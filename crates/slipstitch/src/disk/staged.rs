//! Changes that are prepared but not visible yet.

use slipstitch_core::change::Restore;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::Written;
use slipstitch_core::snapshot::FileId;
use slipstitch_core::text::ContentHash;

use super::Fsync;
use super::emptied_folders::EmptiedFolders;
use super::fingerprint::Fingerprint;
use super::flush::Flushing;
use super::folders::CreatedFolders;
use super::in_place::InPlaceWrite;
use super::intent::AsideElsewhere;
use super::lock::{FolderIds, HeldLocks};
use super::lookup::Location;
use super::roots::Roots;
use super::temp::{TempFactory, TempFile};

/// Changes that are ready to be published.
///
/// The order of the fields is the order in which they are dropped: temporary files, and what keeps them open, before the
/// folders that were created for them, and the locks last.
#[derive(Debug)]
pub(super) struct DiskStaged<'a> {
    pub(super) steps: Vec<Step>,
    pub(super) written: Vec<Written>,
    /// What the files leave that their inverse has to restore; like `written`, one for each file.
    pub(super) left: Vec<Restore>,
    pub(super) flushing: Flushing,
    pub(super) folders: CreatedFolders,
    /// Folders that are removed with the change, if it leaves them empty.
    pub(super) emptied_folders: EmptiedFolders,
    pub(super) temps: TempFactory<'a>,
    pub(super) roots: &'a Roots,
    pub(super) displaced_check: DisplacedCheck,
    pub(super) fsync: Fsync,
    pub(super) folder_ids: FolderIds,
    pub(super) locks: HeldLocks,
}

/// The smallest part of a change: one name that is created, replaced, removed or written in place.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) path: FilePath,
    pub(super) action: &'static str,
    pub(super) location: Location,
    /// Whether `location` has another folder, because the file's own folder was to be removed and could not be while it is open.
    pub(super) is_folder_closed: bool,
    pub(super) kind: StepKind,
    /// The index of the change's file that it belongs to.
    pub(super) file_index: usize,
}

#[derive(Debug)]
pub(super) enum StepKind {
    /// Gives the temporary file a name that does not exist yet.
    Create { temp: TempFile, id: FileId, after: ContentHash },
    /// Exchanges the temporary file and the original.
    Replace { temp: TempFile, spare: TempFile, id: FileId, original: Fingerprint, after: ContentHash },
    /// Renames the original to `aside`, which removes it when dropped. It is next to the original or `elsewhere`.
    Remove { aside: TempFile, elsewhere: Option<AsideElsewhere>, original: Fingerprint },
    /// Writes into the file itself.
    InPlace { write: InPlaceWrite, before: ContentHash, after: ContentHash },
}

/// Whether a step verifies the file that it displaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DisplacedCheck {
    On,
    /// Only after it is displaced, not right before. Only for rigs.
    #[cfg(feature = "rig")]
    Late,
    /// Only for rigs.
    #[cfg(feature = "rig")]
    Off,
}
