//! Copies a file's owner, permission bits, ACL and extended attributes to the file that replaces it, and restores those
//! of a deleted file.
//!
//! An attribute that cannot be copied is an error: none is dropped silently.

use std::ffi::CString;
use std::fs::File;
use std::io;

use slipstitch_core::change::Attributes;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_platform::attributes as system;
use slipstitch_platform::attributes::MODE_BITS;
use slipstitch_platform::info::FileInfo;
use slipstitch_platform::{info, problem, process};

use super::error::{io_error, refused};

/// Gives `to` every attribute of `from`. Returns what it was before.
pub(super) fn copy_attributes(
    path: &FilePath,
    from: &File,
    metadata: &FileInfo,
    to: &File,
) -> Result<FileInfo, WorkspaceError> {
    let before = set_attributes(path, "write", to, &read_attributes(path, from, metadata)?)?;
    system::copy_access_list(from, to)
        .map_err(|error| refused(path, "write", format!("its access list cannot be kept: {error}")))?;
    Ok(before)
}

/// The attributes of a file, without those that the system computes from the content.
pub(super) fn read_attributes(
    path: &FilePath,
    file: &File,
    metadata: &FileInfo,
) -> Result<Attributes, WorkspaceError> {
    let failed = |error: io::Error| io_error(path, "read", error);
    let mut extended = Vec::new();
    for name in system::extended_names(file).map_err(failed)? {
        if system::is_derived_from_content(name.as_bytes()) {
            continue;
        }
        if let Some(value) = system::extended(file, &name).map_err(failed)? {
            extended.push((name.into_bytes(), value));
        }
    }
    Ok(Attributes { owner: metadata.owner, group: metadata.group, mode: metadata.mode, extended })
}

/// Gives a file that no one else can open yet exactly these attributes, or refuses. Returns what it was before.
///
/// The order matters. Changing the owner clears mode bits and capabilities. And an access list comes before the mode:
/// where there is one, the group's bits of the mode are its mask, and without it they would open the file to the group.
pub(super) fn set_attributes(
    path: &FilePath,
    action: &'static str,
    to: &File,
    wanted: &Attributes,
) -> Result<FileInfo, WorkspaceError> {
    let have = info::of(to).map_err(|error| io_error(path, action, error))?;
    let owner = set_owner(path, action, to, &have, wanted)?;
    let extended = set_xattrs(path, action, to, &wanted.extended)?;
    match (owner, extended) {
        (Outcome::Unchanged, Outcome::Unchanged) if have.mode & MODE_BITS == wanted.mode & MODE_BITS => {}
        (Outcome::Unchanged, Outcome::Unchanged) => change_mode(path, to, wanted.mode)?,
        // A new owner or access list may have changed the mode.
        _ => ensure_mode(path, to, wanted.mode)?,
    }
    Ok(have)
}

/// Whether an attribute was already as wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Unchanged,
    Changed,
}

/// Refuses attributes that this process cannot give to a file it creates, as far as that is known beforehand.
pub(super) fn check_restorable(path: &FilePath, wanted: &Attributes) -> Result<(), WorkspaceError> {
    if process::is_privileged() || process::user() == wanted.owner {
        return Ok(());
    }
    Err(refused(path, "create", owner_reason("create", wanted)))
}

/// Gives `file` exactly these permission bits.
///
/// A file that already has them is not touched, because only its owner may call chmod.
pub(super) fn ensure_mode(path: &FilePath, file: &File, mode: u32) -> Result<(), WorkspaceError> {
    if mode_of(path, file)? == mode & MODE_BITS {
        return Ok(());
    }
    change_mode(path, file, mode)
}

/// Changes the permission bits, and checks that this took effect: systems silently clear bits that the caller may not set.
fn change_mode(path: &FilePath, file: &File, mode: u32) -> Result<(), WorkspaceError> {
    system::set_mode(file, mode).map_err(|error| io_error(path, "write", error))?;
    let (want, have) = (mode & MODE_BITS, mode_of(path, file)?);
    if want == have {
        return Ok(());
    }
    Err(refused(path, "write", format!("its mode {want:o} cannot be kept and would become {have:o}")))
}

fn mode_of(path: &FilePath, file: &File) -> Result<u32, WorkspaceError> {
    Ok(info::of(file).map_err(|error| io_error(path, "write", error))?.mode & MODE_BITS)
}

/// Gives `to` the owner and group, or refuses.
///
/// Only a privileged process can give a file away. With most unprivileged editors, the new
/// file belongs to the user who edited it. Here that is refused, so that the caller can write in place instead.
fn set_owner(
    path: &FilePath,
    action: &'static str,
    to: &File,
    have: &FileInfo,
    wanted: &Attributes,
) -> Result<Outcome, WorkspaceError> {
    let owner = (have.owner != wanted.owner).then_some(wanted.owner);
    let group = (have.group != wanted.group).then_some(wanted.group);
    if owner.is_none() && group.is_none() {
        return Ok(Outcome::Unchanged);
    }
    let error = match system::set_owner(to, owner, group) {
        Ok(()) => return Ok(Outcome::Changed),
        Err(error) if !problem::is_not_permitted(&error) => return Err(io_error(path, action, error)),
        Err(_) if owner.is_some() => owner_reason(action, wanted),
        Err(_) if action == "create" => {
            format!("it belonged to group {}, and only root can restore that", wanted.group)
        }
        Err(_) => "it belongs to another group, and replacing it would change the group".into(),
    };
    Err(refused(path, action, error))
}

fn owner_reason(action: &str, wanted: &Attributes) -> String {
    match action {
        "create" => format!("it belonged to user {}, and only root can restore that", wanted.owner),
        _ => "it belongs to another user, and replacing it would change the owner".into(),
    }
}

fn set_xattrs(
    path: &FilePath,
    action: &'static str,
    to: &File,
    wanted: &[(Vec<u8>, Vec<u8>)],
) -> Result<Outcome, WorkspaceError> {
    let mut outcome = Outcome::Unchanged;
    for name in system::extended_names(to).map_err(|error| io_error(path, "read", error))? {
        // `to` may have inherited an ACL from the folder's default ACL.
        let is_wanted = wanted.iter().any(|(wanted, _)| wanted == name.as_bytes());
        if !is_wanted && system::is_access_list(name.as_bytes()) {
            system::remove_extended(to, &name).map_err(|error| io_error(path, action, error))?;
            outcome = Outcome::Changed;
        }
    }
    for (name, value) in wanted {
        let name = CString::new(name.as_slice()).unwrap_or_default();
        if system::extended(to, &name).unwrap_or(None).as_ref() == Some(value) {
            continue;
        }
        system::set_extended(to, &name, value).map_err(|error| {
            let kept = if action == "create" { "restored" } else { "kept" };
            let name = name.to_string_lossy();
            refused(path, action, format!("its attribute `{name}` cannot be {kept}: {error}"))
        })?;
        outcome = Outcome::Changed;
    }
    Ok(outcome)
}

/// Whether a file has an attribute that the system clears when anyone writes to the file, such as Linux capabilities.
pub(super) fn has_capabilities(file: &File) -> bool {
    system::extended_names(file)
        .is_ok_and(|names| names.iter().any(|name| system::is_cleared_by_writing(name.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_mode_and_extended_attributes() {
        let (from, to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let path = FilePath::from_record("x").unwrap();
        let long = vec![7; 1000];
        for (name, value) in [("user.short", &b"1"[..]), ("user.long", &long)] {
            match system::set_extended(&from, &CString::new(name).unwrap(), value) {
                // The file system has no extended attributes.
                Err(error) if problem::of(&error) == Some(problem::Problem::Unsupported) => return,
                result => result.unwrap(),
            }
        }
        ensure_mode(&path, &from, 0o751).unwrap();
        copy_attributes(&path, &from, &info::of(&from).unwrap(), &to).unwrap();
        assert_eq!(system::extended(&to, &CString::new("user.short").unwrap()).unwrap().unwrap(), b"1");
        assert_eq!(system::extended(&to, &CString::new("user.long").unwrap()).unwrap().unwrap(), long);
        assert_eq!(mode_of(&path, &to).unwrap(), 0o751);
    }
}
