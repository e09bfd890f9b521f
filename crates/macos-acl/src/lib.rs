//! Copies the access list of an open file on macOS, where it is no extended attribute. Empty on other systems.
#![cfg(target_os = "macos")]

use std::fs::File;
use std::io;

use rustix::fs::{CopyfileFlags, copyfile_state_alloc, copyfile_state_free, fcopyfile};

/// Gives `to` the access list of `from`, or none if `from` has none.
pub fn copy_access_list(from: &File, to: &File) -> io::Result<()> {
    let state = copyfile_state_alloc()?;
    // SAFETY: the state was just allocated and is freed once, below.
    let copied = unsafe { fcopyfile(from, to, state, CopyfileFlags::ACL) };
    // SAFETY: the state was allocated above, and nothing uses it after this.
    unsafe { copyfile_state_free(state) }?;
    Ok(copied?)
}
