//! The folders beneath which files are used, each held open.

use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use slipstitch_core::path::{FilePath, RootName};

/// One root: a handle that is held, and the names by which callers may call it.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) dir: Arc<Dir>,
    /// Without symlinks first, then as it was given.
    names: Vec<String>,
}

/// All roots. Paths are relative to the first, or in full.
#[derive(Debug)]
pub(super) struct Roots {
    list: Vec<Root>,
    names: Vec<RootName>,
}

/// A way from a root to somewhere beneath it.
#[derive(Debug, Clone)]
pub(super) struct Way<'a> {
    pub(super) root: &'a Root,
    pub(super) path: PathBuf,
}

impl Root {
    pub(super) fn new(dir: Dir, names: Vec<String>) -> Self {
        Self { dir: Arc::new(dir), names }
    }

    fn real(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }
}

impl Roots {
    pub(super) fn new(first: Root) -> Self {
        let mut roots = Self { list: Vec::new(), names: Vec::new() };
        roots.names.extend(first.names.iter().map(RootName::first));
        roots.list.push(first);
        roots
    }

    /// Adds another root, whose files are named in full.
    pub(super) fn add(&mut self, root: Root) {
        if self.list.iter().any(|known| known.real() == root.real()) {
            return;
        }
        self.names.extend(root.names.iter().map(|name| RootName::other(name, root.real())));
        self.list.push(root);
    }

    pub(super) fn names(&self) -> &[RootName] {
        &self.names
    }

    /// The first root without symlinks.
    pub(super) fn first(&self) -> &str {
        self.list.first().map_or("", Root::real)
    }

    /// Every root without symlinks.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(Root::real)
    }

    /// Every root's name and handle.
    pub(super) fn each(&self) -> impl Iterator<Item = (&str, &Arc<Dir>)> {
        self.list.iter().map(|root| (root.real(), &root.dir))
    }

    /// The way to a path; `None` if it is in full and in no root.
    pub(super) fn way(&self, path: &FilePath) -> Option<Way<'_>> {
        if path.is_absolute() {
            return self.inside(Path::new(path.as_str()));
        }
        Some(Way { root: self.list.first()?, path: path.as_str().into() })
    }

    /// The way to a name in full, from the innermost root that it is beneath.
    pub(super) fn inside(&self, full: &Path) -> Option<Way<'_>> {
        let ways = self.list.iter().flat_map(|root| {
            let rests = root.names.iter().filter_map(|name| full.strip_prefix(name).ok());
            rests.map(move |rest| Way { root, path: rest.to_owned() })
        });
        ways.min_by_key(|way| way.path.as_os_str().len())
    }

    /// Where an open file or folder is, as requests would name it, with `beneath` added. Only a system that
    /// tells the name of what is open has an answer.
    pub(super) fn real(&self, open: impl AsFd, beneath: &Path) -> Option<FilePath> {
        let full = full_name(open)?.join(beneath);
        // By the name without symlinks, as the system tells no other.
        let root = self.list.iter().enumerate().filter_map(|(at, root)| {
            let rest = full.strip_prefix(root.real()).ok()?;
            Some((at, rest))
        });
        let (at, rest) = root.min_by_key(|(_, rest)| rest.as_os_str().len())?;
        let text = if at == 0 { rest.to_str()? } else { full.to_str()? };
        FilePath::from_record(text).ok()
    }
}

/// The name of what is open, in full.
pub(super) fn full_name(open: impl AsFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", open.as_fd().as_raw_fd())).ok()
}
