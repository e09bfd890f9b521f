//! A snapshot of a folder, for comparison with a later one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::TEMP_PREFIX;

/// A file, folder or symlink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// `st_mode`: file type and permissions.
    mode: u32,
    owner: (u32, u32),
    /// Content of a file, or target of a symlink.
    bytes: Vec<u8>,
    /// All paths in the tree that are hard links to this file, if there are several.
    hard_links: BTreeSet<String>,
}

/// What a missing path means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is torn, unless it is missing before or after the change.
    Torn,
    /// It may be missing for a moment.
    Allowed,
}

/// Everything beneath a folder except temporary files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<String, Node>);

impl Tree {
    /// Reads a folder. Returns the tree that users see, and the paths of Slipstitch's temporary files.
    pub(crate) fn read(folder: &Path) -> io::Result<(Self, Vec<String>)> {
        let mut reader = Reader::default();
        reader.read_folder(folder, "")?;
        for paths in reader.inodes.values().filter(|paths| paths.len() > 1) {
            for path in paths {
                if let Some(node) = reader.tree.0.get_mut(path) {
                    node.hard_links = paths.clone();
                }
            }
        }
        Ok((reader.tree, reader.temporary))
    }

    /// Drops what an undo does not restore: it does not relink files whose hard links the policy broke.
    pub(crate) fn without_hard_links(mut self) -> Self {
        self.0.values_mut().for_each(|node| node.hard_links.clear());
        self
    }

    /// The first path that is neither as in `old` nor as in `new`.
    pub(crate) fn first_torn_path(&self, old: &Self, new: &Self, missing: Missing) -> Option<String> {
        let paths: BTreeSet<&String> = [self, old, new].into_iter().flat_map(|tree| tree.0.keys()).collect();
        let torn = paths.into_iter().find(|path| {
            let found = self.0.get(*path);
            if found.is_none() && missing == Missing::Allowed {
                return false;
            }
            found != old.0.get(*path) && found != new.0.get(*path)
        })?;
        Some(torn.clone())
    }

    /// Describes the first path that differs from `expected`.
    pub(crate) fn first_difference(&self, expected: &Self) -> Option<String> {
        let paths: BTreeSet<&String> = self.0.keys().chain(expected.0.keys()).collect();
        paths.into_iter().find_map(|path| match (self.0.get(path), expected.0.get(path)) {
            (found, wanted) if found == wanted => None,
            (None, _) => Some(format!("`{path}` is missing")),
            (_, None) => Some(format!("`{path}` should not exist")),
            (Some(found), Some(wanted)) if found.bytes != wanted.bytes => {
                Some(format!("`{path}` has different content"))
            }
            (Some(found), Some(wanted)) if found.mode != wanted.mode => {
                Some(format!("`{path}` has mode {:o} instead of {:o}", found.mode, wanted.mode))
            }
            _ => Some(format!("`{path}` has a different owner or different hard links")),
        })
    }
}

#[derive(Default)]
struct Reader {
    tree: Tree,
    temporary: Vec<String>,
    /// Paths by inode, to find hard links.
    inodes: BTreeMap<u64, BTreeSet<String>>,
}

impl Reader {
    fn read_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if name.starts_with(TEMP_PREFIX) {
                self.temporary.push(path);
                continue;
            }
            let metadata = entry.path().symlink_metadata()?;
            let bytes = if metadata.is_file() {
                std::fs::read(entry.path())?
            } else if metadata.is_symlink() {
                std::fs::read_link(entry.path())?.into_os_string().into_encoded_bytes()
            } else {
                Vec::new()
            };
            if metadata.is_file() {
                self.inodes.entry(metadata.ino()).or_default().insert(path.clone());
            }
            let owner = (metadata.uid(), metadata.gid());
            let node = Node { mode: metadata.mode(), owner, bytes, hard_links: BTreeSet::new() };
            self.tree.0.insert(path.clone(), node);
            if metadata.is_dir() {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn create_tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            fs::write(folder.path().join(path), text).unwrap();
        }
        let (tree, _) = Tree::read(folder.path()).unwrap();
        (folder, tree)
    }

    #[test]
    fn reports_changed_content_modes_and_torn_files() {
        let (folder, old) = create_tree(&[("a", "1"), ("b", "1")]);
        let (_new_folder, new) = create_tree(&[("a", "2"), ("b", "2")]);
        assert_eq!(old.first_difference(&old), None);
        assert_eq!(new.first_difference(&old).unwrap(), "`a` has different content");
        let (_mixed_folder, mixed) = create_tree(&[("a", "1"), ("b", "2")]);
        assert_eq!(mixed.first_torn_path(&old, &new, Missing::Torn), None);
        assert!(mixed != old && mixed != new);
        let (_torn_folder, torn) = create_tree(&[("a", "1"), ("b", "")]);
        assert_eq!(torn.first_torn_path(&old, &new, Missing::Torn).unwrap(), "b");
        let (_partial_folder, partial) = create_tree(&[("a", "1")]);
        assert_eq!(partial.first_torn_path(&old, &new, Missing::Torn).unwrap(), "b");
        assert_eq!(partial.first_torn_path(&old, &new, Missing::Allowed), None);
        fs::set_permissions(folder.path().join("a"), fs::Permissions::from_mode(0o600)).unwrap();
        let (narrowed, _) = Tree::read(folder.path()).unwrap();
        assert_eq!(narrowed.first_difference(&old).unwrap(), "`a` has mode 100600 instead of 100644");
    }

    #[test]
    fn reports_broken_hard_links_and_temporary_files() {
        let (folder, _) = create_tree(&[("a", "1")]);
        fs::hard_link(folder.path().join("a"), folder.path().join("b")).unwrap();
        let (linked, _) = Tree::read(folder.path()).unwrap();
        fs::remove_file(folder.path().join("b")).unwrap();
        fs::write(folder.path().join("b"), "1").unwrap();
        fs::write(folder.path().join(".slipstitch-0.tmp"), "").unwrap();
        let (unlinked, temporary) = Tree::read(folder.path()).unwrap();
        assert!(unlinked.first_difference(&linked).is_some());
        assert_eq!(temporary, [".slipstitch-0.tmp"]);
    }
}
