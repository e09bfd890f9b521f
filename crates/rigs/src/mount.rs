//! File systems of a rig's own, which go with the value.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::geteuid;

/// A file system that is mounted at a folder.
#[derive(Debug)]
pub(crate) struct Mounted {
    folder: PathBuf,
}

impl Mounted {
    /// A small file system in memory.
    pub(crate) fn in_memory(folder: &Path, kilobytes: u64) -> Result<Self, String> {
        let size = format!("size={kilobytes}k");
        Self::mount(folder, &["-t", "tmpfs", "-o", &size, "tmpfs"])
    }

    /// The file system in an image.
    pub(crate) fn image(folder: &Path, image: &Path) -> Result<Self, String> {
        Self::mount(folder, &["-o", "loop", &image.to_string_lossy()])
    }

    fn mount(folder: &Path, words: &[&str]) -> Result<Self, String> {
        if !geteuid().is_root() {
            return Err("only root may mount a file system".into());
        }
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        run(Command::new("mount").args(words).arg(folder))?;
        Ok(Self { folder: folder.into() })
    }

    /// Takes it away, and says if that does not work.
    pub(crate) fn unmount(self) -> Result<(), String> {
        let done = run(Command::new("umount").arg(&self.folder));
        if done.is_ok() {
            std::mem::forget(self);
        }
        done
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Whatever still has a file open there, nothing of it may stay behind.
        let _ = run(Command::new("umount").arg("-l").arg(&self.folder));
    }
}

/// Runs a program to its end; what it complains of is the error.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done =
        command.stdin(Stdio::null()).output().map_err(|error| format!("`{name}` cannot be run: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("`{name}` failed: {}", String::from_utf8_lossy(&done.stderr).trim()))
}
