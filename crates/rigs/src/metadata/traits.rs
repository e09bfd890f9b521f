//! What a file can be beside its bytes, and how a rig gives it that.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{XattrFlags, lgetxattr, llistxattr, lsetxattr};

/// A user and a group that nobody here is.
const STRANGER: u32 = 4321;

/// What a file has beside its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trait {
    /// What the table calls it.
    pub(super) name: &'static str,
    /// Gives it to a file.
    pub(super) give: fn(&Path) -> io::Result<()>,
    /// The policy for hard links under which it is tried.
    pub(super) links: &'static str,
    /// Who can see it: what a user cannot see, no program of that user can keep.
    pub(super) seen_by: SeenBy,
}

/// Who can see a trait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeenBy {
    Everyone,
    Root,
}

macro_rules! having {
    ($name:literal, $give:expr) => {
        Trait { name: $name, give: $give, links: "refuse", seen_by: SeenBy::Everyone }
    };
}

/// Every trait.
pub(super) const TRAITS: &[Trait] = &[
    having!("mode 0600", |file| mode(file, 0o600)),
    having!("mode 0755", |file| mode(file, 0o755)),
    having!("mode 0444", |file| mode(file, 0o444)),
    having!("setuid", |file| mode(file, 0o4755)),
    having!("setgid", |file| mode(file, 0o2755)),
    having!("sticky", |file| mode(file, 0o1644)),
    having!("another owner", |file| {
        mode(file, 0o666)?;
        chown(file, Some(STRANGER), None)
    }),
    having!("another group", |file| {
        chown(file, None, Some(STRANGER))?;
        mode(file, 0o664)
    }),
    having!("another owner, setuid", |file| {
        chown(file, Some(STRANGER), Some(STRANGER))?;
        mode(file, 0o6777)
    }),
    having!("access list", access_list),
    having!("user attribute", |file| attribute(file, "user.rig", b"kept")),
    having!("long user attribute", |file| attribute(file, "user.long", &[b'x'; 2000])),
    having!("security attribute", |file| attribute(file, "security.rig", b"kept")),
    Trait {
        name: "trusted attribute",
        give: |file| attribute(file, "trusted.rig", b"kept"),
        links: "refuse",
        seen_by: SeenBy::Root,
    },
    having!("symlink", |file| {
        fs::rename(file, file.with_file_name("target"))?;
        symlink("target", file)
    }),
    having!("symlink given in full", |file| {
        let target = file.with_file_name("target");
        fs::rename(file, &target)?;
        symlink(target, file)
    }),
    having!("hard link, refuse", twin),
    Trait { name: "hard link, break", give: twin, links: "break", seen_by: SeenBy::Everyone },
    Trait { name: "hard link, write-through", give: twin, links: "write-through", seen_by: SeenBy::Everyone },
];

fn mode(file: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(file, Permissions::from_mode(mode))
}

fn attribute(file: &Path, name: &str, value: &[u8]) -> io::Result<()> {
    lsetxattr(file, name, value, XattrFlags::empty()).map_err(Into::into)
}

/// The other name of a file with two.
pub(super) fn twin_of(file: &Path) -> PathBuf {
    file.with_file_name("twin")
}

fn twin(file: &Path) -> io::Result<()> {
    fs::hard_link(file, twin_of(file))
}

/// An access list that lets a stranger read, in the form in which the kernel takes it.
fn access_list(file: &Path) -> io::Result<()> {
    let nobody = u32::MAX;
    // Owner rw, the stranger rw, group r, mask rw, others none.
    let entries: [(u16, u16, u32); 5] =
        [(0x01, 6, nobody), (0x02, 6, STRANGER), (0x04, 4, nobody), (0x10, 6, nobody), (0x20, 0, nobody)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend_from_slice(&tag.to_le_bytes());
        list.extend_from_slice(&rights.to_le_bytes());
        list.extend_from_slice(&id.to_le_bytes());
    }
    attribute(file, "system.posix_acl_access", &list)
}

/// A name and what it leads to, beside the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Looks {
    /// Where the name leads, if it is a symlink.
    pub(super) link: Option<PathBuf>,
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
    pub(super) attributes: BTreeMap<String, Vec<u8>>,
}

impl Looks {
    pub(super) fn of(file: &Path) -> io::Result<Self> {
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

    /// What is not the same, in words.
    pub(super) fn lost(&self, after: &Self) -> Option<String> {
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
        let gained = after.attributes.keys().find(|name| !self.attributes.contains_key(*name));
        changed.map(|(name, _)| name).or(gained).map(|name| format!("the attribute `{name}`"))
    }
}
