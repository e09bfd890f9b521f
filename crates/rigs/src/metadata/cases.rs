//! Metadata that a file can have, and how to read it back.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{XattrFlags, lgetxattr, llistxattr, lsetxattr};

/// A uid and gid that no one here has.
const STRANGER: u32 = 4321;

/// One kind of metadata.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    /// Name in the table.
    pub(super) name: &'static str,
    /// Sets it on a file.
    pub(super) apply: fn(&Path) -> io::Result<()>,
    /// The setting `files.hard_links`.
    pub(super) hard_links: &'static str,
    /// A program cannot keep what its user cannot see.
    pub(super) visible_to: VisibleTo,
}

/// Who can see some metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VisibleTo {
    Everyone,
    Root,
}

const fn case(name: &'static str, apply: fn(&Path) -> io::Result<()>) -> Case {
    Case { name, apply, hard_links: "refuse", visible_to: VisibleTo::Everyone }
}

const fn hard_link(name: &'static str, policy: &'static str) -> Case {
    Case { hard_links: policy, ..case(name, add_second_name) }
}

/// Every case.
pub(super) const CASES: &[Case] = &[
    case("mode 0600", |file| set_mode(file, 0o600)),
    case("mode 0755", |file| set_mode(file, 0o755)),
    case("mode 0444", |file| set_mode(file, 0o444)),
    case("setuid", |file| set_mode(file, 0o4755)),
    case("setgid", |file| set_mode(file, 0o2755)),
    case("sticky", |file| set_mode(file, 0o1644)),
    case("other owner", |file| {
        set_mode(file, 0o666)?;
        chown(file, Some(STRANGER), None)
    }),
    case("other group", |file| {
        chown(file, None, Some(STRANGER))?;
        set_mode(file, 0o664)
    }),
    case("other owner, setuid", |file| {
        chown(file, Some(STRANGER), Some(STRANGER))?;
        set_mode(file, 0o6777)
    }),
    case("ACL", set_acl),
    case("user attribute", |file| set_attribute(file, "user.rig", b"kept")),
    case("long user attribute", |file| set_attribute(file, "user.long", &[b'x'; 2000])),
    case("security attribute", |file| set_attribute(file, "security.rig", b"kept")),
    Case {
        visible_to: VisibleTo::Root,
        ..case("trusted attribute", |file| set_attribute(file, "trusted.rig", b"kept"))
    },
    case("relative symlink", |file| {
        fs::rename(file, file.with_file_name("target"))?;
        symlink("target", file)
    }),
    case("absolute symlink", |file| {
        let target = file.with_file_name("target");
        fs::rename(file, &target)?;
        symlink(target, file)
    }),
    hard_link("hard link, refuse", "refuse"),
    hard_link("hard link, break", "break"),
    hard_link("hard link, write-through", "write-through"),
];

fn set_mode(file: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(file, Permissions::from_mode(mode))
}

fn set_attribute(file: &Path, name: &str, value: &[u8]) -> io::Result<()> {
    lsetxattr(file, name, value, XattrFlags::empty()).map_err(Into::into)
}

/// The second name of a hard-linked file.
pub(super) fn second_name(file: &Path) -> PathBuf {
    file.with_file_name("second")
}

fn add_second_name(file: &Path) -> io::Result<()> {
    fs::hard_link(file, second_name(file))
}

/// Sets an ACL that gives [`STRANGER`] access, in the kernel's binary format.
fn set_acl(file: &Path) -> io::Result<()> {
    let no_id = u32::MAX;
    // Owner rw, stranger rw, group r, mask rw, others none.
    let entries: [(u16, u16, u32); 5] =
        [(0x01, 6, no_id), (0x02, 6, STRANGER), (0x04, 4, no_id), (0x10, 6, no_id), (0x20, 0, no_id)];
    let mut acl = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        acl.extend_from_slice(&tag.to_le_bytes());
        acl.extend_from_slice(&permissions.to_le_bytes());
        acl.extend_from_slice(&id.to_le_bytes());
    }
    set_attribute(file, "system.posix_acl_access", &acl)
}

/// The metadata of a file and of the symlink that leads to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Metadata {
    /// The target, if the name is a symlink.
    link: Option<PathBuf>,
    mode: u32,
    owner: (u32, u32),
    attributes: BTreeMap<String, Vec<u8>>,
}

impl Metadata {
    pub(super) fn read(file: &Path) -> io::Result<Self> {
        let found = fs::metadata(file)?;
        let real = file.canonicalize()?;
        let mut attributes = BTreeMap::new();
        let mut list = vec![0_u8; 1 << 12];
        let length = llistxattr(&real, &mut list)?;
        for name in list[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            let name = String::from_utf8_lossy(name).into_owned();
            let mut value = vec![0_u8; 1 << 13];
            let length = lgetxattr(&real, name.as_str(), &mut value)?;
            value.truncate(length);
            attributes.insert(name, value);
        }
        let link = fs::read_link(file).ok();
        Ok(Self { link, mode: found.mode(), owner: (found.uid(), found.gid()), attributes })
    }

    /// Describes the first difference in `after`.
    pub(super) fn first_loss(&self, after: &Self) -> Option<String> {
        if self.link != after.link {
            return Some("the symlink".into());
        }
        if self.mode != after.mode {
            return Some(format!("the mode: {:o} became {:o}", self.mode, after.mode));
        }
        if self.owner != after.owner {
            return Some(format!("the owner: {:?} became {:?}", self.owner, after.owner));
        }
        let changed =
            self.attributes.iter().find(|(name, value)| after.attributes.get(*name) != Some(*value));
        let added = after.attributes.keys().find(|name| !self.attributes.contains_key(*name));
        changed.map(|(name, _)| name).or(added).map(|name| format!("the attribute `{name}`"))
    }
}
