//! Finds the project that a command works in, as Git does: the nearest folder above that looks like one.

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use slipstitch::config::ROOT_FILE;
use slipstitch::os_path::path_to_text;

/// What marks the root of a project. Settings count before version control, so that a part of a repository can be a project.
const MARKERS: &[&[&str]] = &[&[ROOT_FILE], &[".git", ".jj", ".hg", ".svn", ".bzr", "_darcs", ".fossil"]];

/// The working folder and the project around it, looked for once: that asks for eight names in every folder above.
#[derive(Debug, Clone, Default)]
pub(crate) struct Project(OnceLock<Option<Found>>);

#[derive(Debug, Clone)]
struct Found {
    folder: PathBuf,
    root: PathBuf,
}

impl Project {
    fn find(&self) -> Option<&Found> {
        let find = || {
            let folder = std::env::current_dir().ok()?;
            Some(Found { root: find_root(&folder), folder })
        };
        self.0.get_or_init(find).as_ref()
    }

    /// The root of the project; `None` if there is no working folder.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.find().map(|found| &*found.root)
    }

    /// A path relative to the working folder as one relative to the root; `None` if it leads out of the root.
    pub(crate) fn path_from_root(&self, text: &str) -> Option<String> {
        let Found { folder, root } = self.find()?;
        relative_to_root(text, folder.strip_prefix(root).ok()?)
    }
}

/// The root of the project around `folder`; the folder itself if it is in none.
pub(crate) fn find_root(folder: &Path) -> PathBuf {
    for markers in MARKERS {
        let has_marker =
            |folder: &&Path| markers.iter().any(|name| folder.join(name).symlink_metadata().is_ok());
        if let Some(root) = folder.ancestors().find(has_marker) {
            return root.to_owned();
        }
    }
    folder.to_owned()
}

/// A path given relative to `folder`, as a path relative to the root above it; `None` if it leads out of the root.
fn relative_to_root(text: &str, folder: &Path) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    let folder = path_to_text(folder);
    for part in Path::new(&*folder).components().chain(Path::new(text).components()) {
        match part {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::ParentDir => drop(names.pop()?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    // A trailing slash says that a folder is meant.
    let slash = if text.ends_with('/') && !names.is_empty() { "/" } else { "" };
    Some(if names.is_empty() { ".".into() } else { names.join("/") + slash })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_marker_above_is_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        let inner = top.join("a/b/c");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(find_root(&inner), top);
        std::fs::write(top.join("a/b/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(find_root(&inner), top.join("a/b"), "a worktree has a file");
        std::fs::write(top.join("a/slipstitch.toml"), "").unwrap();
        assert_eq!(find_root(&inner), top.join("a"), "settings count before version control");
        assert_eq!(find_root(top), top);
    }

    #[test]
    fn paths_are_relative_to_the_working_folder() {
        let of = |text: &str| relative_to_root(text, Path::new("src/net"));
        assert_eq!(of("a.rs").as_deref(), Some("src/net/a.rs"));
        assert_eq!(of("./../a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(of("..").as_deref(), Some("src"));
        assert_eq!(of("../../x/").as_deref(), Some("x/"));
        assert_eq!(of("../..").as_deref(), Some("."));
        assert_eq!(of("../../../x"), None);
        assert_eq!(of("/etc/passwd"), None);
        assert_eq!(of(""), None);
        assert_eq!(relative_to_root("a", Path::new("")).as_deref(), Some("a"));
    }
}
