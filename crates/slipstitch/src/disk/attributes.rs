//! Copies a file's owner, permission bits, ACL and extended attributes to the file that replaces it, and restores those
//! of a deleted file.
//!
//! An attribute that cannot be copied is an error: none is dropped silently.

use std::ffi::CString;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{Gid, Mode, RawMode, Uid, XattrFlags};
use rustix::fs::{fchmod, fchown, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;
use slipstitch_core::change::Attributes;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;

use super::error::{io_error, refused};

/// Gives `to` every attribute of `from`.
pub(super) fn copy_attributes(
    path: &FilePath,
    from: &File,
    metadata: &Metadata,
    to: &File,
) -> Result<(), WorkspaceError> {
    set_attributes(path, "write", to, &read_attributes(path, from, metadata)?)
}

/// The attributes of a file, without those that the system computes from the content.
pub(super) fn read_attributes(
    path: &FilePath,
    file: &File,
    metadata: &Metadata,
) -> Result<Attributes, WorkspaceError> {
    let failed = |errno: Errno| io_error(path, "read", errno);
    let mut extended = Vec::new();
    for name in xattr_names(file).map_err(failed)?.iter().filter(|name| !is_derived_from_content(name)) {
        if let Some(value) = xattr_value(file, name).map_err(failed)? {
            extended.push((name.as_bytes().to_vec(), value));
        }
    }
    let mode = metadata.mode() & 0o7777;
    Ok(Attributes { owner: metadata.uid(), group: metadata.gid(), mode, extended })
}

/// Gives a file that no one else can open yet exactly these attributes, or refuses.
///
/// The order matters. Changing the owner clears mode bits and capabilities. And an access list comes before the mode:
/// where there is one, the group's bits of the mode are its mask, and without it they would open the file to the group.
pub(super) fn set_attributes(
    path: &FilePath,
    action: &'static str,
    to: &File,
    wanted: &Attributes,
) -> Result<(), WorkspaceError> {
    let have = to.metadata().map_err(|error| io_error(path, action, error))?;
    let owner = set_owner(path, action, to, &have, wanted)?;
    let extended = set_xattrs(path, action, to, &wanted.extended)?;
    match (owner, extended) {
        (Outcome::Unchanged, Outcome::Unchanged) if have.mode() & 0o7777 == wanted.mode & 0o7777 => Ok(()),
        (Outcome::Unchanged, Outcome::Unchanged) => change_mode(path, to, wanted.mode),
        // A new owner or access list may have changed the mode.
        _ => ensure_mode(path, to, wanted.mode),
    }
}

/// Whether an attribute was already as wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Unchanged,
    Changed,
}

/// Refuses attributes that this process cannot give to a file it creates, as far as that is known beforehand.
pub(super) fn check_restorable(path: &FilePath, wanted: &Attributes) -> Result<(), WorkspaceError> {
    let user = rustix::process::geteuid();
    if user.is_root() || user.as_raw() == wanted.owner {
        return Ok(());
    }
    Err(refused(path, "create", owner_reason("create", wanted)))
}

/// Gives `file` exactly these permission bits.
///
/// A file that already has them is not touched, because only its owner may call chmod.
pub(super) fn ensure_mode(path: &FilePath, file: &File, mode: u32) -> Result<(), WorkspaceError> {
    if mode_of(path, file)? == mode & 0o7777 {
        return Ok(());
    }
    change_mode(path, file, mode)
}

/// Changes the permission bits, and checks that this took effect: systems silently clear bits that the caller may not set.
fn change_mode(path: &FilePath, file: &File, mode: u32) -> Result<(), WorkspaceError> {
    fchmod(file, Mode::from_raw_mode((mode & 0o7777) as RawMode))
        .map_err(|errno| io_error(path, "write", errno))?;
    let (want, have) = (mode & 0o7777, mode_of(path, file)?);
    if want == have {
        return Ok(());
    }
    Err(refused(path, "write", format!("its mode {want:o} cannot be kept and would become {have:o}")))
}

fn mode_of(path: &FilePath, file: &File) -> Result<u32, WorkspaceError> {
    let metadata = file.metadata().map_err(|error| io_error(path, "write", error))?;
    Ok(metadata.mode() & 0o7777)
}

/// Gives `to` the owner and group, or refuses.
///
/// Only a privileged process can give a file away. With most unprivileged editors, the new
/// file belongs to the user who edited it. Here that is refused, so that the caller can write in place instead.
fn set_owner(
    path: &FilePath,
    action: &'static str,
    to: &File,
    have: &Metadata,
    wanted: &Attributes,
) -> Result<Outcome, WorkspaceError> {
    let failed = |error: io::Error| io_error(path, action, error);
    let owner = (have.uid() != wanted.owner).then(|| Uid::from_raw(wanted.owner));
    let group = (have.gid() != wanted.group).then(|| Gid::from_raw(wanted.group));
    if owner.is_none() && group.is_none() {
        return Ok(Outcome::Unchanged);
    }
    match fchown(to, owner, group) {
        Ok(()) => Ok(Outcome::Changed),
        Err(Errno::PERM) if owner.is_some() => Err(refused(path, action, owner_reason(action, wanted))),
        Err(Errno::PERM) if action == "create" => {
            let reason = format!("it belonged to group {}, and only root can restore that", wanted.group);
            Err(refused(path, action, reason))
        }
        Err(Errno::PERM) => {
            let reason = "it belongs to another group, and replacing it would change the group";
            Err(refused(path, action, reason))
        }
        Err(errno) => Err(failed(errno.into())),
    }
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
    for name in xattr_names(to).map_err(|errno| io_error(path, "read", errno))? {
        // `to` may have inherited an ACL from the folder's default ACL.
        let is_wanted = wanted.iter().any(|(wanted, _)| wanted == name.as_bytes());
        if !is_wanted && name.as_bytes().starts_with(b"system.posix_acl") {
            fremovexattr(to, &name).map_err(|errno| io_error(path, action, errno))?;
            outcome = Outcome::Changed;
        }
    }
    for (name, value) in wanted {
        let name = CString::new(name.as_slice()).unwrap_or_default();
        if xattr_value(to, &name).unwrap_or(None).as_ref() == Some(value) {
            continue;
        }
        fsetxattr(to, &name, value, XattrFlags::empty()).map_err(|errno| {
            let kept = if action == "create" { "restored" } else { "kept" };
            let name = name.to_string_lossy();
            refused(path, action, format!("its attribute `{name}` cannot be {kept}: {errno}"))
        })?;
        outcome = Outcome::Changed;
    }
    Ok(outcome)
}

/// Whether the system computes this attribute from the file's content.
fn is_derived_from_content(name: &CString) -> bool {
    [&b"security.ima"[..], b"security.evm"].contains(&name.as_bytes())
}

/// Whether a file has Linux capabilities, which the system clears when anyone writes to the file.
pub(super) fn has_capabilities(file: &File) -> bool {
    xattr_names(file).is_ok_and(|names| names.iter().any(|name| name.as_bytes() == b"security.capability"))
}

/// The names of a file's extended attributes; empty if the file system does not support them.
fn xattr_names(file: &File) -> Result<Vec<CString>, Errno> {
    let list = match read_with_growing_buffer(|buffer| flistxattr(file, buffer)) {
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
        list => list?,
    };
    Ok(list.split(|&byte| byte == 0).filter(|n| !n.is_empty()).filter_map(|n| CString::new(n).ok()).collect())
}

fn xattr_value(file: &File, name: &CString) -> Result<Option<Vec<u8>>, Errno> {
    match read_with_growing_buffer(|buffer| fgetxattr(file, name, buffer)) {
        Err(Errno::NODATA) => Ok(None),
        value => value.map(Some),
    }
}

/// Calls `read` with larger and larger buffers until the result fits.
fn read_with_growing_buffer(read: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 256];
    loop {
        match read(&mut buffer) {
            Ok(len) => {
                buffer.truncate(len);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < 1 << 20 => buffer.resize(buffer.len() * 4, 0),
            Err(errno) => return Err(errno),
        }
    }
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
            match fsetxattr(&from, name, value, XattrFlags::empty()) {
                // The file system has no extended attributes.
                Err(Errno::NOTSUP) => return,
                result => result.unwrap(),
            }
        }
        ensure_mode(&path, &from, 0o751).unwrap();
        copy_attributes(&path, &from, &from.metadata().unwrap(), &to).unwrap();
        assert_eq!(xattr_value(&to, &CString::new("user.short").unwrap()).unwrap().unwrap(), b"1");
        assert_eq!(xattr_value(&to, &CString::new("user.long").unwrap()).unwrap().unwrap(), long);
        assert_eq!(mode_of(&path, &to).unwrap(), 0o751);
    }
}
