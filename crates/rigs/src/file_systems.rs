//! The file systems on which a rig can run, each mounted for it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::mount::Mount;
use crate::{program, scratch};

/// A kind of file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// Whatever the temporary folder is on: in memory for quick runs.
    Temporary,
    /// ext4 on a loop device.
    Ext4,
    /// XFS on a loop device.
    Xfs,
    /// Btrfs on a loop device.
    Btrfs,
    /// In memory.
    Tmpfs,
    /// An overlay of two folders in memory.
    Overlay,
    /// A FUSE mount by `bindfs`, where `renameat2` takes no flags and files always have names.
    Fuse,
}

impl FileSystem {
    /// Every kind, with its name on the command line.
    pub const ALL: &[(Self, &'static str)] = &[
        (Self::Temporary, "temporary"),
        (Self::Ext4, "ext4"),
        (Self::Xfs, "xfs"),
        (Self::Btrfs, "btrfs"),
        (Self::Tmpfs, "tmpfs"),
        (Self::Overlay, "overlay"),
        (Self::Fuse, "fuse"),
    ];

    /// The kind with a name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// Mounts one, in memory; `None` for the temporary folder. The error says what is missing on this machine.
    pub(crate) fn mount(self) -> Result<Option<MountedFolder>, String> {
        if self == Self::Temporary {
            return Ok(None);
        }
        let base = scratch::create_in_memory().map_err(|error| error.to_string())?;
        let (path, folder) = (base.path(), base.path().join("mounted"));
        let mounts = match self {
            Self::Temporary => Vec::new(),
            Self::Ext4 => vec![mount_image(path, &folder, "mkfs.ext4", &["-q", "-F"])?],
            Self::Xfs => vec![mount_image(path, &folder, "mkfs.xfs", &["-q", "-f"])?],
            Self::Btrfs => vec![mount_image(path, &folder, "mkfs.btrfs", &["-q", "-f"])?],
            Self::Tmpfs => vec![Mount::tmpfs(&folder, IMAGE_BYTES / 1024)?],
            Self::Overlay => {
                let below = path.join("below");
                vec![Mount::tmpfs(&below, IMAGE_BYTES / 1024)?, Mount::overlay(&folder, &below)?]
            }
            Self::Fuse => {
                let source = path.join("source");
                fs::create_dir(&source).map_err(|error| error.to_string())?;
                vec![Mount::bindfs(&folder, &source)?]
            }
        };
        Ok(Some(MountedFolder { mounts, folder, _base: base }))
    }
}

/// A FUSE mount in memory, and the folder that it shows. Other programs can use the folder itself, where names can be
/// exchanged, so that they know what they displace.
#[derive(Debug)]
pub(crate) struct SharedFuse {
    _mount: Mount,
    pub(crate) folder: PathBuf,
    pub(crate) source: PathBuf,
    _base: TempDir,
}

impl SharedFuse {
    pub(crate) fn mount() -> Result<Self, String> {
        let base = scratch::create_in_memory().map_err(|error| error.to_string())?;
        let (folder, source) = (base.path().join("mounted"), base.path().join("source"));
        fs::create_dir(&source).map_err(|error| error.to_string())?;
        Ok(Self { _mount: Mount::bindfs_uncached(&folder, &source)?, folder, source, _base: base })
    }
}

/// Large enough for every file system; the image is sparse.
const IMAGE_BYTES: u64 = 768 << 20;

fn mount_image(base: &Path, folder: &Path, mkfs: &str, args: &[&str]) -> Result<Mount, String> {
    let image = base.join("image");
    File::create(&image)
        .and_then(|file| file.set_len(IMAGE_BYTES))
        .map_err(|error| format!("cannot create an image: {error}"))?;
    program::run(Command::new(mkfs).args(args).arg(&image))?;
    Mount::image(folder, &image)
}

/// The folder of a mounted file system; dropping it unmounts.
#[derive(Debug)]
pub(crate) struct MountedFolder {
    mounts: Vec<Mount>,
    pub(crate) folder: PathBuf,
    _base: TempDir,
}

impl Drop for MountedFolder {
    fn drop(&mut self) {
        // Newest first: an overlay before what it is made of.
        while self.mounts.pop().is_some() {}
    }
}
