//! Temporary mounts of small file systems.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::geteuid;

use crate::program;

/// How long a mount may be in use after the last known process is gone.
const MAX_BUSY: Duration = Duration::from_secs(60);

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

    /// Mounts an overlay whose layers are new folders in `below`.
    pub(crate) fn overlay(folder: &Path, below: &Path) -> Result<Self, String> {
        let [lower, upper, work] = ["lower", "upper", "work"].map(|layer| below.join(layer));
        for layer in [&lower, &upper, &work] {
            std::fs::create_dir(layer).map_err(|error| error.to_string())?;
        }
        let layers =
            format!("lowerdir={},upperdir={},workdir={}", lower.display(), upper.display(), work.display());
        Self::new(folder, &["-t", "overlay", "-o", &layers, "overlay"])
    }

    /// Mounts a folder a second time, through FUSE.
    pub(crate) fn bindfs(folder: &Path, source: &Path) -> Result<Self, String> {
        Self::run(Command::new("bindfs").arg(source), folder)
            .map_err(|error| format!("{error} (Debian: packages `bindfs` and `fuse3`)"))
    }

    /// Like [`Mount::bindfs`], for a source that others change meanwhile: nothing about its files is cached.
    pub(crate) fn bindfs_uncached(folder: &Path, source: &Path) -> Result<Self, String> {
        let options = ["-o", "attr_timeout=0,entry_timeout=0,negative_timeout=0"];
        Self::run(Command::new("bindfs").args(options).arg(source), folder)
            .map_err(|error| format!("{error} (Debian: packages `bindfs` and `fuse3`)"))
    }

    fn new(folder: &Path, args: &[&str]) -> Result<Self, String> {
        Self::run(Command::new("mount").args(args), folder)
    }

    /// Runs a command that mounts something at `folder`, which is its last argument.
    fn run(command: &mut Command, folder: &Path) -> Result<Self, String> {
        if !geteuid().is_root() {
            return Err("mounting a file system needs root".into());
        }
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        program::run(command.arg(folder))?;
        Ok(Self { folder: folder.into() })
    }

    /// Unmounts, reporting an error instead of ignoring it.
    ///
    /// A process that another thread has forked holds our open files until it executes its program, which can take a while
    /// on a busy machine. So a mount that is in use gets some time.
    pub(crate) fn unmount(self) -> Result<(), String> {
        let deadline = Instant::now() + MAX_BUSY;
        let done = loop {
            match program::run(Command::new("umount").arg(&self.folder)) {
                Err(error) if error.contains("busy") && Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(50));
                }
                done => break done,
            }
        };
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
