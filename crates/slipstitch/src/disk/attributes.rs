//! What a file is beside its bytes, carried over to the file that replaces it: owner, permission
//! bits, access list and extended attributes. Nothing is dropped in silence.

use std::ffi::CString;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{Gid, Mode, RawMode, Uid, XattrFlags};
use rustix::fs::{fchmod, fchown, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;

use super::error::{refusal, refused};

/// Makes `to` like `from` in everything but its bytes.
pub(super) fn carry_over(
    path: &FilePath,
    from: &File,
    metadata: &Metadata,
    to: &File,
) -> Result<(), WorkspaceError> {
    carry_owner(path, metadata, to)?;
    // A change of owner clears bits, so the mode comes after it; an access list holds the group's
    // bits, so it comes last.
    set_mode(path, to, metadata.mode())?;
    carry_xattrs(path, from, to)?;
    check_mode(path, to, metadata.mode())
}

/// Gives `file` exactly these permission bits. Only its owner may change them, but everyone may leave them.
pub(super) fn give_mode(path: &FilePath, file: &File, mode: u32) -> Result<(), WorkspaceError> {
    if mode_of(path, file)? == mode & 0o7777 {
        return Ok(());
    }
    set_mode(path, file, mode)?;
    check_mode(path, file, mode)
}

fn set_mode(path: &FilePath, file: &File, mode: u32) -> Result<(), WorkspaceError> {
    fchmod(file, Mode::from_raw_mode((mode & 0o7777) as RawMode))
        .map_err(|errno| refusal(path, "write", errno))
}

/// Systems clear some bits without an error when the caller may not set them.
fn check_mode(path: &FilePath, file: &File, mode: u32) -> Result<(), WorkspaceError> {
    let (want, have) = (mode & 0o7777, mode_of(path, file)?);
    if want == have {
        return Ok(());
    }
    Err(refused(path, "write", format!("its mode {want:o} cannot be kept, it would become {have:o}")))
}

fn mode_of(path: &FilePath, file: &File) -> Result<u32, WorkspaceError> {
    let metadata = file.metadata().map_err(|error| refusal(path, "write", error))?;
    Ok(metadata.mode() & 0o7777)
}

/// Only a privileged process may give a file away. Where this one may not, the new file belongs to
/// whoever changed it, as with any editor; but a program that runs as its owner must not change
/// owners on the way.
fn carry_owner(path: &FilePath, from: &Metadata, to: &File) -> Result<(), WorkspaceError> {
    let failed = |error: io::Error| refusal(path, "write", error);
    let have = to.metadata().map_err(failed)?;
    let owner = (have.uid() != from.uid()).then(|| Uid::from_raw(from.uid()));
    let group = (have.gid() != from.gid()).then(|| Gid::from_raw(from.gid()));
    if owner.is_none() && group.is_none() {
        return Ok(());
    }
    match fchown(to, owner, group) {
        Ok(()) => return Ok(()),
        Err(Errno::PERM) => {}
        Err(errno) => return Err(failed(errno.into())),
    }
    if owner.is_some() {
        return Err(refused(
            path,
            "write",
            "it belongs to another user, and a new file would belong to this one",
        ));
    }
    Err(refused(path, "write", "it belongs to another group, and a new file would belong to this user's"))
}

fn carry_xattrs(path: &FilePath, from: &File, to: &File) -> Result<(), WorkspaceError> {
    let failed = |errno: Errno| refusal(path, "read", errno);
    let wanted = names(from).map_err(failed)?;
    for name in names(to).map_err(failed)? {
        // An access list that the folder hands to new files is not the file's own.
        if !wanted.contains(&name) && name.as_bytes().starts_with(b"system.posix_acl") {
            fremovexattr(to, &name).map_err(|errno| refusal(path, "write", errno))?;
        }
    }
    for name in wanted.iter().filter(|name| !follows_content(name)) {
        let value = value(from, name).map_err(failed)?;
        if value.is_some() && value == self::value(to, name).unwrap_or(None) {
            continue;
        }
        if let Some(value) = value {
            fsetxattr(to, name, &value, XattrFlags::empty()).map_err(|errno| {
                let name = name.to_string_lossy();
                refused(path, "write", format!("its attribute `{name}` cannot be kept: {errno}"))
            })?;
        }
    }
    Ok(())
}

/// Attributes that the system derives from the content.
fn follows_content(name: &CString) -> bool {
    [&b"security.ima"[..], b"security.evm"].contains(&name.as_bytes())
}

/// Whether a file has rights of its own, which the system takes away when someone writes to it.
pub(super) fn has_capabilities(file: &File) -> bool {
    names(file).is_ok_and(|names| names.iter().any(|name| name.as_bytes() == b"security.capability"))
}

/// The names of a file's extended attributes; none where there is no such thing.
fn names(file: &File) -> Result<Vec<CString>, Errno> {
    let list = match grown(|buffer| flistxattr(file, buffer)) {
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
        list => list?,
    };
    Ok(list.split(|&byte| byte == 0).filter(|n| !n.is_empty()).filter_map(|n| CString::new(n).ok()).collect())
}

fn value(file: &File, name: &CString) -> Result<Option<Vec<u8>>, Errno> {
    match grown(|buffer| fgetxattr(file, name, buffer)) {
        Err(Errno::NODATA) => Ok(None),
        value => value.map(Some),
    }
}

/// Calls `read` with a larger buffer until the answer fits.
fn grown(read: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
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
    fn attributes_are_carried_over() {
        let (from, to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let path = FilePath::from_record("x").unwrap();
        let long = vec![7; 1000];
        for (name, value) in [("user.short", &b"1"[..]), ("user.long", &long)] {
            match fsetxattr(&from, name, value, XattrFlags::empty()) {
                // A file system without them has nothing to carry over.
                Err(Errno::NOTSUP) => return,
                result => result.unwrap(),
            }
        }
        give_mode(&path, &from, 0o751).unwrap();
        carry_over(&path, &from, &from.metadata().unwrap(), &to).unwrap();
        assert_eq!(value(&to, &CString::new("user.short").unwrap()).unwrap().unwrap(), b"1");
        assert_eq!(value(&to, &CString::new("user.long").unwrap()).unwrap().unwrap(), long);
        assert_eq!(mode_of(&path, &to).unwrap(), 0o751);
    }
}
