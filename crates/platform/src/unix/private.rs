use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
#[cfg(not(target_os = "macos"))]
use std::path::PathBuf;

#[cfg(not(target_os = "macos"))]
use etcetera::BaseStrategy;
use rustix::fs::OFlags;

use crate::file_info::Exposure;

/// Makes a file that these options create readable and writable by its owner only.
pub fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Makes an open fail for a symlink, and return at once for a pipe. Replaces other flags.
pub fn no_follow(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
}

/// Makes an open return at once for a pipe. Replaces other flags.
pub fn no_wait(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(OFlags::NONBLOCK.bits() as i32)
}

/// Opens a file so that it can be flushed.
pub fn to_flush(options: &mut OpenOptions) -> &mut OpenOptions {
    options.read(true)
}

/// Flushes the folder at a path: names that were added to it survive a power cut.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes an exclusive lock that this handle holds a shared one.
pub fn share_lock(file: &File) -> io::Result<()> {
    file.lock_shared()
}

/// Creates a folder for its owner only, and the folders around it, unless they exist.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Who else can use the file or folder at a path.
pub fn exposure(path: &Path) -> io::Result<Exposure> {
    Ok(judge(&std::fs::metadata(path)?))
}

/// The permission bits of an open file if others can read or write it, whoever owns it; `None` if nobody else can.
pub fn open_to_others(file: &File) -> io::Result<Option<u32>> {
    Ok(Some(file.metadata()?.mode() & 0o777).filter(|mode| mode & 0o077 != 0))
}

fn judge(found: &Metadata) -> Exposure {
    let mode = found.mode() & 0o7777;
    match () {
        () if found.uid() != rustix::process::geteuid().as_raw() => Exposure::OtherOwner(found.uid()),
        () if mode & 0o077 != 0 => Exposure::Others(mode),
        () => Exposure::None,
    }
}

/// The folder for state of programs, such as `~/.local/state`.
#[cfg(not(target_os = "macos"))]
pub fn state_folder() -> Option<PathBuf> {
    etcetera::base_strategy::Xdg::new().ok()?.state_dir()
}

/// The folder for settings of programs, such as `~/.config`.
#[cfg(not(target_os = "macos"))]
pub fn config_folder() -> Option<PathBuf> {
    Some(etcetera::base_strategy::Xdg::new().ok()?.config_dir())
}

/// The folder for settings in the home folder of the account, whatever the environment says.
#[cfg(not(target_os = "macos"))]
pub fn account_config_folder() -> Option<PathBuf> {
    Some(super::process::account_home()?.join(".config"))
}
