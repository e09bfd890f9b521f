//! A folder with everything in it, to compare it with itself later.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How the names of temporary files begin.
const TEMPORARY: &str = ".slipstitch-";

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// Kind and permissions, as the system writes them in one number.
    mode: u32,
    owner: (u32, u32),
    /// A file's bytes or where a symlink leads.
    bytes: Vec<u8>,
    /// Paths in the tree that are the same file.
    twins: BTreeSet<String>,
}

/// Everything beneath a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<String, Node>);

impl Tree {
    /// Looks at a folder. Temporary files are listed apart: first what users see, then those.
    pub(crate) fn look(folder: &Path) -> io::Result<(Self, Vec<String>)> {
        let mut walk = Walk::default();
        walk.enter(folder, "")?;
        for paths in walk.inodes.values().filter(|paths| paths.len() > 1) {
            for path in paths {
                if let Some(node) = walk.tree.0.get_mut(path) {
                    node.twins = paths.clone();
                }
            }
        }
        Ok((walk.tree, walk.temporary))
    }

    /// The same without what taking a change back does not restore: it leaves the folder that was made for a file, and does
    /// not join files again that the policy told it to separate.
    pub(crate) fn after_undo(mut self) -> Self {
        const FOLDER: u32 = 0o040_000;
        const KIND: u32 = 0o170_000;
        // From the end: a folder comes before what it holds.
        for path in self.0.keys().rev().cloned().collect::<Vec<_>>() {
            let is_folder = self.0.get(&path).is_some_and(|node| node.mode & KIND == FOLDER);
            let inside = format!("{path}/");
            if is_folder && !self.0.keys().any(|other| other.starts_with(&inside)) {
                self.0.remove(&path);
            }
        }
        self.0.values_mut().for_each(|node| node.twins.clear());
        self
    }

    /// The first path at which it is neither as in `old` nor as in `new`.
    pub(crate) fn torn(&self, old: &Self, new: &Self) -> Option<String> {
        let paths: BTreeSet<&String> = [self, old, new].into_iter().flat_map(|tree| tree.0.keys()).collect();
        let found = paths.into_iter().find(|path| {
            let here = self.0.get(*path);
            here != old.0.get(*path) && here != new.0.get(*path)
        })?;
        Some(found.clone())
    }

    /// The first path at which two trees differ, and how.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let paths: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        paths.into_iter().find_map(|path| match (self.0.get(path), other.0.get(path)) {
            (one, two) if one == two => None,
            (None, _) => Some(format!("`{path}` is missing")),
            (_, None) => Some(format!("`{path}` should not be there")),
            (Some(one), Some(two)) if one.bytes != two.bytes => Some(format!("`{path}` has other content")),
            (Some(one), Some(two)) if one.mode != two.mode => {
                Some(format!("`{path}` has mode {:o}, not {:o}", one.mode, two.mode))
            }
            _ => Some(format!("`{path}` has another owner or other links")),
        })
    }
}

#[derive(Default)]
struct Walk {
    tree: Tree,
    temporary: Vec<String>,
    inodes: BTreeMap<u64, BTreeSet<String>>,
}

impl Walk {
    fn enter(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if name.starts_with(TEMPORARY) {
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
            let node = Node { mode: metadata.mode(), owner, bytes, twins: BTreeSet::new() };
            self.tree.0.insert(path.clone(), node);
            if metadata.is_dir() {
                self.enter(&entry.path(), &format!("{path}/"))?;
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

    fn tree(of: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in of {
            fs::write(folder.path().join(path), text).unwrap();
        }
        let (tree, _) = Tree::look(folder.path()).unwrap();
        (folder, tree)
    }

    #[test]
    fn differences_are_seen() {
        let (folder, old) = tree(&[("a", "1"), ("b", "1")]);
        let (_other, new) = tree(&[("a", "2"), ("b", "2")]);
        assert_eq!(old.difference(&old), None);
        assert_eq!(new.difference(&old).unwrap(), "`a` has other content");
        let (_mixed, mixed) = tree(&[("a", "1"), ("b", "2")]);
        assert_eq!(mixed.torn(&old, &new), None);
        assert!(mixed != old && mixed != new);
        let (_torn, torn) = tree(&[("a", "1"), ("b", "")]);
        assert_eq!(torn.torn(&old, &new).unwrap(), "b");
        fs::set_permissions(folder.path().join("a"), fs::Permissions::from_mode(0o600)).unwrap();
        let (narrowed, _) = Tree::look(folder.path()).unwrap();
        assert_eq!(narrowed.difference(&old).unwrap(), "`a` has mode 100600, not 100644");
    }

    #[test]
    fn separated_links_and_temporary_files_are_seen() {
        let (folder, _) = tree(&[("a", "1")]);
        fs::hard_link(folder.path().join("a"), folder.path().join("b")).unwrap();
        let (linked, _) = Tree::look(folder.path()).unwrap();
        fs::remove_file(folder.path().join("b")).unwrap();
        fs::write(folder.path().join("b"), "1").unwrap();
        fs::write(folder.path().join(".slipstitch-0.tmp"), "").unwrap();
        let (apart, temporary) = Tree::look(folder.path()).unwrap();
        assert!(apart.difference(&linked).is_some());
        assert_eq!(temporary, [".slipstitch-0.tmp"]);
    }
}
