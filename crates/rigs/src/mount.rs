//! Temporary mounts of small file systems.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::geteuid;

use crate::program;

/// A mounted file system; dropping it unmounts.
#[derive(Debug)]
pub(crate) struct Mount {
    folder: PathBuf,
}

impl Mount {
    /// Mounts a tmpfs of the given size.
    pub(crate) fn tmpfs(folder: &Path, kilobytes: u64) -> Result<Self, String> {
        let size = format!("size={kilobytes}k");
        Self::new(folder, &["-t", "tmpfs", "-o", &size, "tmpfs"])
    }

    /// Mounts a file system image through a loop device.
    pub(crate) fn image(folder: &Path, image: &Path) -> Result<Self, String> {
        Self::new(folder, &["-o", "loop", &image.to_string_lossy()])
    }

    fn new(folder: &Path, args: &[&str]) -> Result<Self, String> {
        if !geteuid().is_root() {
            return Err("mounting a file system needs root".into());
        }
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        program::run(Command::new("mount").args(args).arg(folder))?;
        Ok(Self { folder: folder.into() })
    }

    /// Unmounts, reporting an error instead of ignoring it.
    pub(crate) fn unmount(self) -> Result<(), String> {
        let done = program::run(Command::new("umount").arg(&self.folder));
        if done.is_ok() {
            std::mem::forget(self);
        }
        done
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a process may still have a file open there, and the mount must not outlive the rig.
        let _ = program::run(Command::new("umount").arg("-l").arg(&self.folder));
    }
}
