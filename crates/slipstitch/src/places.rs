//! Places beneath the roots that are protected whatever they are called: the files that the settings were read from, the
//! state folder, and what Git runs or obeys.
//!
//! Every edit passes here, so little is read: a few metadata lookups on the way from the file to the top, and Git's
//! configuration only when it has changed.

mod git_config;
mod git_places;
#[cfg(test)]
mod tests;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use slipstitch_core::guard::{PlaceKind, ProtectedPlaces, TouchedPath};
use slipstitch_core::path::FilePath;
use slipstitch_core::snapshot::FileId;

use crate::git::Repository;
use crate::state;
use git_places::GitPlaces;

/// Finds protected places on the disk.
#[derive(Debug)]
pub(crate) struct DiskPlaces {
    /// The roots with symlinks resolved. Relative paths are relative to the first.
    roots: Vec<PathBuf>,
    /// The files that the settings were read from, or would be if they existed.
    settings: Vec<PathBuf>,
    state: PathBuf,
    git: GitPlaces,
}

impl DiskPlaces {
    pub(crate) fn new(roots: Vec<PathBuf>, settings: Vec<PathBuf>, state: PathBuf) -> Self {
        // A relative path must not change its meaning with the working folder.
        let settings = settings.into_iter().map(|path| std::path::absolute(&path).unwrap_or(path)).collect();
        Self { roots, settings, state, git: GitPlaces::default() }
    }

    fn absolute(&self, path: &FilePath) -> PathBuf {
        match self.roots.first() {
            Some(root) => root.join(path.as_str()),
            None => path.as_str().into(),
        }
    }

    /// Whether a path leads to one of our own files. A different spelling or a symlink leads to the same resolved path,
    /// and a hard link to the same file.
    fn find_own(&self, path: &Path, id: Option<FileId>) -> Option<PlaceKind> {
        if path.starts_with(&self.state) || self.is_journal(id) {
            return Some(PlaceKind::State);
        }
        let is_same = |file: &PathBuf| state::resolve(file) == path || id.is_some() && file_id(file) == id;
        self.settings.iter().any(is_same).then_some(PlaceKind::Settings)
    }

    fn is_journal(&self, id: Option<FileId>) -> bool {
        let Some(id) = id else { return false };
        let Ok(entries) = std::fs::read_dir(&self.state) else { return false };
        let mut files = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        files.any(|entry| file_id(&entry.path()) == Some(id))
    }

    /// Whether Git runs or obeys what is at a path, by the configuration of the repositories above it and of the user.
    fn find_git(&self, path: &Path, id: Option<FileId>) -> Option<PlaceKind> {
        let repositories: Vec<_> = path.ancestors().skip(1).filter_map(Repository::at).collect();
        if repositories.is_empty() {
            return self.git.find(None, path, id);
        }
        repositories.iter().find_map(|repository| self.git.find(Some(repository), path, id))
    }

    /// Whether a path is in a folder that Git takes for a repository, or will once `created` exist.
    fn is_in_repository(&self, path: &Path, created: &[PathBuf]) -> bool {
        let folders = path.ancestors().skip(1);
        let mut inside = folders.take_while(|folder| self.roots.iter().any(|root| folder.starts_with(root)));
        inside.any(|folder| is_git_folder(folder, created))
    }
}

impl ProtectedPlaces for DiskPlaces {
    fn find(&self, touched: &[TouchedPath<'_>]) -> Vec<Option<PlaceKind>> {
        let absolute = |touched: &TouchedPath<'_>| self.absolute(touched.real);
        let created: Vec<PathBuf> = touched.iter().filter(|one| one.remains).map(absolute).collect();
        touched
            .iter()
            .map(|one| {
                let path = self.absolute(one.real);
                if let Some(own) = self.find_own(&path, one.id) {
                    return Some(own);
                }
                if self.is_in_repository(&path, &created) {
                    return Some(PlaceKind::GitRepository);
                }
                self.find_git(&path, one.id)
            })
            .collect()
    }
}

fn file_id(path: &Path) -> Option<FileId> {
    let found = std::fs::metadata(path).ok()?;
    Some(FileId { device: found.dev(), inode: found.ino() })
}

/// Whether a folder has what Git requires of a repository: `HEAD`, and either `objects` and `refs` or a pointer to them.
fn is_git_folder(folder: &Path, created: &[PathBuf]) -> bool {
    let exists = |name: &str| {
        let path = folder.join(name);
        std::fs::symlink_metadata(&path).is_ok() || created.iter().any(|file| file.starts_with(&path))
    };
    exists("HEAD") && (exists("objects") && exists("refs") || exists("commondir"))
}
