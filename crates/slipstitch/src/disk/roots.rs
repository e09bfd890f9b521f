//! The root folders, each held open.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use cap_std::fs::Dir;
use slipstitch_core::path::{FilePath, RootName};
use slipstitch_platform::files::{AsHandle, handle_path};
use slipstitch_platform::names;

use crate::os_path::{path_to_text, text_to_path};

/// A root: an open directory, and the absolute paths by which callers may refer to it.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) dir: Arc<Dir>,
    /// The canonical path first, then the path as it was given.
    names: Vec<String>,
}

/// All roots. Paths are relative to the first, or absolute.
#[derive(Debug)]
pub(super) struct Roots {
    list: Vec<Root>,
    names: Vec<RootName>,
}

/// A path relative to one of the roots.
#[derive(Debug, Clone)]
pub(super) struct RootedPath<'a> {
    pub(super) root: &'a Root,
    pub(super) path: PathBuf,
}

impl Root {
    pub(super) fn new(dir: Dir, names: Vec<String>) -> Self {
        Self { dir: Arc::new(dir), names }
    }

    pub(super) fn canonical(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }
}

impl Roots {
    pub(super) fn new(first: Root) -> Self {
        let mut roots = Self { list: Vec::new(), names: Vec::new() };
        roots.names.extend(first.names.iter().map(|name| system_name(RootName::first(name))));
        roots.list.push(first);
        roots
    }

    /// Adds a root whose files have absolute paths.
    pub(super) fn add(&mut self, root: Root) {
        if self.list.iter().any(|known| known.canonical() == root.canonical()) {
            return;
        }
        let real = names::to_record(Path::new(root.canonical()));
        self.names.extend(root.names.iter().map(|name| system_name(RootName::other(name, &real))));
        self.list.push(root);
    }

    pub(super) fn names(&self) -> &[RootName] {
        &self.names
    }

    /// The canonical path of the first root.
    pub(super) fn first(&self) -> &str {
        self.list.first().map_or("", Root::canonical)
    }

    /// The canonical path and the handle of every root.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Arc<Dir>)> {
        self.list.iter().map(|root| (root.canonical(), &root.dir))
    }

    /// The root that `path` belongs to; `None` if it is absolute and in no root.
    pub(super) fn resolve(&self, path: &FilePath) -> Option<RootedPath<'_>> {
        if path.is_absolute() {
            return self.resolve_absolute(&names::from_record(path.as_str()));
        }
        Some(RootedPath { root: self.list.first()?, path: text_to_path(path.as_str()) })
    }

    /// The innermost root that contains an absolute path.
    pub(super) fn resolve_absolute(&self, path: &Path) -> Option<RootedPath<'_>> {
        let candidates = self.list.iter().flat_map(|root| {
            let relative = root.names.iter().filter_map(|name| path.strip_prefix(name).ok());
            relative.map(move |relative| RootedPath { root, path: relative.to_owned() })
        });
        candidates.min_by_key(|rooted| rooted.path.as_os_str().len())
    }

    /// The path of an open file or folder, with `suffix` appended, in the form that requests use.
    ///
    /// `None` if the system cannot say what an open handle refers to.
    pub(super) fn path_of(&self, handle: impl AsHandle, suffix: &Path) -> Option<FilePath> {
        self.path_in(&handle_path(handle)?, suffix)
    }

    /// The path of what is in a folder with this canonical path, in the form that requests use.
    pub(super) fn path_in(&self, folder: &Path, suffix: &Path) -> Option<FilePath> {
        let absolute = folder.join(suffix);
        // The system reports canonical paths, so no other name of a root can match.
        let candidates = self.list.iter().enumerate().filter_map(|(index, root)| {
            let relative = absolute.strip_prefix(root.canonical()).ok()?;
            Some((index, relative))
        });
        let (index, relative) = candidates.min_by_key(|(_, relative)| relative.as_os_str().len())?;
        let text = if index == 0 { path_to_text(relative) } else { names::to_record(&absolute) };
        FilePath::from_record(&text).ok()
    }
}

/// A root's name, for paths as this system writes them.
fn system_name(name: RootName) -> RootName {
    name.with_windows_names(names::HAS_WINDOWS_NAMES)
}

/// The absolute paths of open folders, each asked for once: the files of a change mostly share them. It does not keep the
/// folders open: Windows removes no folder that is.
#[derive(Debug, Default)]
pub(super) struct FolderPaths(Vec<(Weak<Dir>, Option<PathBuf>)>);

impl FolderPaths {
    /// `None` if the system cannot say what an open handle refers to.
    pub(super) fn path_of(&mut self, dir: &Arc<Dir>) -> Option<&Path> {
        let known = self.0.iter().rposition(|(known, _)| known.as_ptr() == Arc::as_ptr(dir));
        let index = known.unwrap_or_else(|| {
            self.0.push((Arc::downgrade(dir), handle_path(&**dir)));
            self.0.len() - 1
        });
        self.0[index].1.as_deref()
    }
}
