//! Places beneath the roots that are protected whatever they are called: the files that the settings were read from, the
//! state folder, and what Git runs or obeys.
//!
//! Every edit passes here, so little is read: a few metadata lookups on the way from the file to the top, and Git's
//! configuration only when it has changed.

mod command_words;
mod git_environment;
mod git_places;
mod neighbours;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use slipstitch_core::guard::{PlaceKind, ProtectedPlaces, TouchedPath};
use slipstitch_core::path::FilePath;
use slipstitch_core::snapshot::FileId;

use crate::git::Repository;
use crate::hard_links::HardLinkFinder;
use crate::state;
use git_places::{GitPlaces, RepositoryKey, ResolvedPlaces, repository_key};
use neighbours::Neighbours;

/// Finds protected places on the disk.
#[derive(Debug)]
pub(crate) struct DiskPlaces {
    /// The roots with symlinks resolved. Relative paths are relative to the first.
    roots: Vec<PathBuf>,
    /// The files that the settings were read from, or would be if they existed.
    settings: Vec<PathBuf>,
    state: PathBuf,
    git: GitPlaces,
    neighbours: Neighbours,
    hard_links: HardLinkFinder,
}

impl DiskPlaces {
    pub(crate) fn new(roots: Vec<PathBuf>, settings: Vec<PathBuf>, state: PathBuf) -> Self {
        // A relative path must not change its meaning with the working folder.
        let settings = settings.into_iter().map(|path| std::path::absolute(&path).unwrap_or(path)).collect();
        Self {
            hard_links: HardLinkFinder::new(roots.clone()),
            roots,
            settings,
            state,
            git: GitPlaces::default(),
            neighbours: Neighbours::default(),
        }
    }

    fn absolute(&self, path: &FilePath) -> PathBuf {
        match self.roots.first() {
            Some(root) => root.join(path.as_str()),
            None => path.as_str().into(),
        }
    }
}

impl ProtectedPlaces for DiskPlaces {
    fn find(&self, touched: &[TouchedPath<'_>]) -> Vec<Option<PlaceKind>> {
        let absolute = |touched: &TouchedPath<'_>| self.absolute(touched.real);
        let created: Vec<PathBuf> = touched.iter().filter(|one| one.remains).map(absolute).collect();
        let mut survey = Survey::new(self, created);
        touched.iter().map(|one| survey.find_by_all_names(&absolute(one), one.id)).collect()
    }

    fn other_paths(&self, touched: &TouchedPath<'_>) -> Vec<FilePath> {
        if touched.id.is_none() {
            return Vec::new();
        }
        let others = self.hard_links.find(&self.absolute(touched.real)).paths;
        let relative = |other: &PathBuf| {
            // Files of further roots keep their absolute paths.
            let path = self.roots.first().and_then(|root| other.strip_prefix(root).ok()).unwrap_or(other);
            FilePath::from_record(path.to_str()?).ok()
        };
        others.iter().filter_map(relative).collect()
    }
}

/// What one call asks about the disk, each thing once: the files of a call mostly share their folders.
struct Survey<'a> {
    places: &'a DiskPlaces,
    /// The files that will exist once the call is done.
    created: Vec<PathBuf>,
    own: OwnFiles,
    folders: HashMap<PathBuf, Rc<FolderPlaces>>,
    /// By repository; `None` for what applies outside of repositories.
    git: HashMap<Option<RepositoryKey>, Rc<ResolvedPlaces>>,
}

/// Our own files.
struct OwnFiles {
    /// The files in the state folder.
    state: Vec<FileId>,
    /// The settings files with symlinks resolved.
    settings: Vec<(PathBuf, Option<FileId>)>,
}

/// What applies to all files in a folder.
struct FolderPlaces {
    is_in_repository: bool,
    git: Vec<Rc<ResolvedPlaces>>,
}

impl<'a> Survey<'a> {
    fn new(places: &'a DiskPlaces, created: Vec<PathBuf>) -> Self {
        let own = OwnFiles {
            state: file_ids_in(&places.state),
            settings: places.settings.iter().map(|file| (state::resolve(file), file_id(file))).collect(),
        };
        Self { places, created, own, folders: HashMap::new(), git: HashMap::new() }
    }

    /// Why the file at a path is protected, by this path or by that of a hard link.
    fn find_by_all_names(&mut self, path: &Path, id: Option<FileId>) -> Option<PlaceKind> {
        let found = self.find(path, id);
        if found.is_some() || id.is_none() {
            return found;
        }
        let others = self.places.hard_links.find(path);
        let by_link = others.paths.iter().find_map(|other| self.find(other, id));
        by_link.or_else(|| others.is_cut_short.then_some(PlaceKind::SearchCutShort))
    }

    fn find(&mut self, path: &Path, id: Option<FileId>) -> Option<PlaceKind> {
        if let Some(own) = self.find_own(path, id) {
            return Some(own);
        }
        let folder = self.folder(path.parent().unwrap_or(path));
        if folder.is_in_repository {
            return Some(PlaceKind::GitRepository);
        }
        folder
            .git
            .iter()
            .find_map(|places| places.find(path, id))
            .or_else(|| self.find_by_neighbours(path, id))
    }

    /// Whether a repository next to the path's folders runs or obeys what is there.
    fn find_by_neighbours(&mut self, path: &Path, id: Option<FileId>) -> Option<PlaceKind> {
        let places = self.places;
        let found = places.neighbours.find(path, &places.roots);
        let mut repositories = found.repositories.iter();
        let protected = repositories.find_map(|repository| self.resolve_git(Some(repository)).find(path, id));
        // Whoever creates enough folders must not hide a repository behind them.
        protected.or_else(|| found.is_cut_short.then_some(PlaceKind::SearchCutShort))
    }

    /// Whether a path leads to one of our own files. A different spelling or a symlink leads to the same resolved path,
    /// and a hard link to the same file.
    fn find_own(&self, path: &Path, id: Option<FileId>) -> Option<PlaceKind> {
        if path.starts_with(&self.places.state) || id.is_some_and(|id| self.own.state.contains(&id)) {
            return Some(PlaceKind::State);
        }
        let is_same =
            |(file, file_id): &(PathBuf, Option<FileId>)| file == path || id.is_some() && *file_id == id;
        self.own.settings.iter().any(is_same).then_some(PlaceKind::Settings)
    }

    fn folder(&mut self, folder: &Path) -> Rc<FolderPlaces> {
        if let Some(known) = self.folders.get(folder) {
            return Rc::clone(known);
        }
        let repositories: Vec<_> = folder.ancestors().filter_map(Repository::at).collect();
        let git = match repositories.is_empty() {
            true => vec![self.resolve_git(None)],
            false => repositories.iter().map(|repository| self.resolve_git(Some(repository))).collect(),
        };
        let work_tree = repositories.first().map(|repository| repository.work_tree.as_path());
        let is_in_repository = self.is_in_repository(folder, work_tree);
        let found = Rc::new(FolderPlaces { is_in_repository, git });
        self.folders.insert(folder.to_owned(), Rc::clone(&found));
        found
    }

    /// What Git runs or obeys, by the configuration of a repository and of the user.
    fn resolve_git(&mut self, repository: Option<&Repository>) -> Rc<ResolvedPlaces> {
        let key = repository.map(repository_key);
        let resolve = || Rc::new(self.places.git.resolve(repository));
        Rc::clone(self.git.entry(key).or_insert_with(resolve))
    }

    /// Whether a folder is in one that Git takes for a repository, or will once the created files exist.
    ///
    /// The root may be such a folder itself, or be inside one, unless a work tree is between them: people keep work trees
    /// in the folder of a bare repository.
    fn is_in_repository(&self, folder: &Path, work_tree: Option<&Path>) -> bool {
        let is_in_root = |folder: &Path| self.places.roots.iter().any(|root| folder.starts_with(root));
        let is_in_work_tree =
            |folder: &Path| work_tree.is_none_or(|top| folder.starts_with(top) && folder != top);
        let mut folders =
            folder.ancestors().take_while(|folder| is_in_root(folder) || is_in_work_tree(folder));
        folders.any(|folder| is_git_folder(folder, &self.created))
    }
}

/// The regular files in a folder.
fn file_ids_in(folder: &Path) -> Vec<FileId> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.filter_map(|entry| file_id(&entry.path())).collect()
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
