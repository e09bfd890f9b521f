//! Files of the user's profile are for the user and the system only, and what is created in a folder has the folder's access
//! list. So nothing is set for single files.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use etcetera::BaseStrategy;
use etcetera::base_strategy::Windows;

use crate::file_info::Exposure;

const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// Does nothing: the folder's access list applies.
pub fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Opens a symlink itself, which is no regular file then. Replaces other flags.
pub fn no_follow(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
}

/// Does nothing: no open waits for a pipe at a path of a file.
pub fn no_wait(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Opens a file so that it can be flushed, which needs the right to write to it.
pub fn to_flush(options: &mut OpenOptions) -> &mut OpenOptions {
    options.read(true).write(true)
}

/// Does nothing: NTFS writes the names of files in its own log.
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes an exclusive lock that this handle holds a shared one. It is released in between: a handle cannot have both.
pub fn share_lock(file: &File) -> io::Result<()> {
    file.unlock()?;
    file.lock_shared()
}

/// Creates a folder, and the folders around it, unless they exist. Outside the user's profile, the folder gets an access list
/// with the user alone.
pub fn create_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(path)?;
    let path = std::path::absolute(path)?;
    let is_in_profile = std::env::var_os("USERPROFILE").is_some_and(|profile| path.starts_with(profile));
    if is_in_profile { Ok(()) } else { restrict(&path) }
}

/// Lets only the current user use a folder and what is created in it.
fn restrict(folder: &Path) -> io::Result<()> {
    let user = std::env::var("USERNAME").map_err(io::Error::other)?;
    let status = Command::new("icacls")
        .arg(folder)
        .args(["/inheritance:r", "/grant:r"])
        .arg(format!("{user}:(OI)(CI)F"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    match status.success() {
        true => Ok(()),
        false => {
            Err(io::Error::other(format!("its access list could not be set (icacls ended with {status})")))
        }
    }
}

/// Not known: access lists are not read.
pub fn exposure(path: &Path) -> io::Result<Exposure> {
    std::fs::metadata(path).map(|_| Exposure::None)
}

/// Not known: access lists are not read.
pub fn open_to_others(file: &File) -> io::Result<Option<u32>> {
    file.metadata().map(|_| None)
}

/// `%LOCALAPPDATA%`.
pub fn state_folder() -> Option<PathBuf> {
    Some(Windows::new().ok()?.cache_dir())
}

/// `%APPDATA%`.
pub fn config_folder() -> Option<PathBuf> {
    Some(Windows::new().ok()?.config_dir())
}

/// The folder for settings of the account. On Windows, this is what the environment says.
pub fn account_config_folder() -> Option<PathBuf> {
    config_folder()
}
