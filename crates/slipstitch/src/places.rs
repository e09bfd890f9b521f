//! Places beneath the roots that are protected whatever they are called: the files that the settings were read from, the
//! state folder, and what Git runs or obeys.
//!
//! Every edit passes here, so little is read: a few metadata lookups on the way from the file to the top, and Git's
//! configuration only when it has changed.

mod command_words;
mod git_environment;
mod git_places;
mod neighbours;
mod place;
mod plain_commands;
mod state_files;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use slipstitch_core::guard::{FoundPlace, PlaceKind, ProtectedPlaces, TouchedPath};
use slipstitch_core::path::FilePath;
use slipstitch_core::snapshot::FileId;

use crate::git::Repository;
use crate::hard_links::{HardLinkFinder, OtherPaths};
use crate::os_path::{path_to_text, text_to_path};
use git_places::{CurrentPlaces, GitPlaces, RepositoryKey, repository_key};
use neighbours::{NeighbourSearch, Neighbours};
use place::Place;
use state_files::StateFiles;

/// Finds protected places on the disk.
#[derive(Debug)]
pub(crate) struct DiskPlaces {
    /// The roots with symlinks resolved. Relative paths are relative to the first.
    roots: Vec<PathBuf>,
    /// The files that settings are read from, by this process or others, or would be if they existed.
    settings: Vec<PathBuf>,
    state: StateFiles,
    git: GitPlaces,
    neighbours: Neighbours,
    hard_links: HardLinkFinder,
}

impl DiskPlaces {
    pub(crate) fn new(roots: Vec<PathBuf>, settings: Vec<PathBuf>, state: PathBuf) -> Self {
        // A relative path must not change its meaning with the working folder.
        let settings = settings.into_iter().map(|path| std::path::absolute(&path).unwrap_or(path));
        let mut settings: Vec<PathBuf> = settings.collect();
        // Most of them are the same file. Each costs a look at the disk in every call.
        settings.sort();
        settings.dedup();
        Self {
            hard_links: HardLinkFinder::new(roots.clone()),
            roots,
            settings,
            state: StateFiles::new(state),
            git: GitPlaces::default(),
            neighbours: Neighbours::default(),
        }
    }

    fn absolute(&self, path: &FilePath) -> PathBuf {
        match self.roots.first() {
            Some(root) => root.join(text_to_path(path.as_str())),
            None => text_to_path(path.as_str()),
        }
    }
}

impl ProtectedPlaces for DiskPlaces {
    fn find(&self, touched: &[TouchedPath<'_>]) -> Vec<FoundPlace> {
        let absolute = |touched: &TouchedPath<'_>| self.absolute(touched.real);
        let mut created: Vec<PathBuf> = touched.iter().filter(|one| one.remains).map(absolute).collect();
        created.sort();
        let mut survey = Survey::new(self, created);
        let relative = |other: &PathBuf| {
            // Files of further roots keep their absolute paths.
            let path = self.roots.first().and_then(|root| other.strip_prefix(root).ok()).unwrap_or(other);
            FilePath::from_record(&path_to_text(path)).ok()
        };
        let find = |one: &TouchedPath<'_>| {
            let (kind, others) = match one.has_one_name {
                true => (survey.find(&absolute(one), one.id), OtherPaths::default()),
                false => survey.find_by_all_names(&absolute(one), one.id),
            };
            FoundPlace { kind, other_paths: others.paths.iter().filter_map(relative).collect() }
        };
        touched.iter().map(find).collect()
    }
}

/// What one call asks about the disk, each thing once: the files of a call mostly share their folders.
struct Survey<'a> {
    places: &'a DiskPlaces,
    /// The files that will exist once the call is done, sorted.
    created: Vec<PathBuf>,
    /// The files in the state folder.
    state: Vec<FileId>,
    settings: Vec<Place>,
    folders: HashMap<PathBuf, Rc<FolderPlaces>>,
    neighbours: NeighbourSearch<'a>,
    /// By repository; `None` for what applies outside of repositories.
    git: HashMap<Option<RepositoryKey>, Rc<CurrentPlaces>>,
}

/// What applies to all files in a folder.
struct FolderPlaces {
    is_in_repository: bool,
    git: Vec<Rc<CurrentPlaces>>,
    /// Whether there may be more repositories next to the folder.
    is_cut_short: bool,
}

impl<'a> Survey<'a> {
    fn new(places: &'a DiskPlaces, created: Vec<PathBuf>) -> Self {
        let settings = places.settings.iter().cloned();
        Self {
            places,
            created,
            state: places.state.ids(),
            settings: settings.map(|file| Place::new(file, PlaceKind::Settings)).collect(),
            folders: HashMap::new(),
            neighbours: places.neighbours.search(&places.roots),
            git: HashMap::new(),
        }
    }

    /// Why the file at a path is protected, by this path or by that of a hard link, and the paths of its hard links.
    fn find_by_all_names(&mut self, path: &Path, id: Option<FileId>) -> (Option<PlaceKind>, OtherPaths) {
        let by_path = self.find(path, id);
        if id.is_none() {
            return (by_path, OtherPaths::default());
        }
        let others = self.places.hard_links.find(path);
        let found = by_path.or_else(|| others.paths.iter().find_map(|other| self.find(other, id)));
        (found.or_else(|| others.is_cut_short.then_some(PlaceKind::SearchCutShort)), others)
    }

    fn find(&mut self, path: &Path, id: Option<FileId>) -> Option<PlaceKind> {
        if let Some(own) = self.find_own(path, id) {
            return Some(own);
        }
        let folder = self.folder(path.parent().unwrap_or(path));
        if folder.is_in_repository {
            return Some(PlaceKind::GitRepository);
        }
        let protected = folder.git.iter().find_map(|places| places.find(path, id));
        // Whoever creates enough folders must not hide a repository behind them.
        protected.or_else(|| folder.is_cut_short.then_some(PlaceKind::SearchCutShort))
    }

    /// Whether a path leads to one of our own files. A hard link leads to the same file.
    fn find_own(&self, path: &Path, id: Option<FileId>) -> Option<PlaceKind> {
        if path.starts_with(&self.places.state.folder) || id.is_some_and(|id| self.state.contains(&id)) {
            return Some(PlaceKind::State);
        }
        let is_here = |file: &Place| file.is_file(id) || file.contains(path, id);
        self.settings.iter().any(is_here).then_some(PlaceKind::Settings)
    }

    fn folder(&mut self, folder: &Path) -> Rc<FolderPlaces> {
        if let Some(known) = self.folders.get(folder) {
            return Rc::clone(known);
        }
        let own: Vec<_> = folder.ancestors().filter_map(Repository::at).collect();
        let mut git = match own.is_empty() {
            true => vec![self.find_git(None)],
            false => own.iter().map(|repository| self.find_git(Some(repository))).collect(),
        };
        git.extend(self.places.git.repository().map(|named| self.find_git(Some(named))));
        // A repository next to the folder, or next to one above it, may run or obey what is there.
        let neighbours = self.neighbours.find(folder);
        for repository in &neighbours.repositories {
            git.push(self.find_git(Some(repository)));
        }
        let work_tree = own.first().map(|repository| repository.work_tree.as_path());
        let is_in_repository = self.is_in_repository(folder, work_tree);
        let is_cut_short = neighbours.is_cut_short;
        let found = Rc::new(FolderPlaces { is_in_repository, git, is_cut_short });
        self.folders.insert(folder.to_owned(), Rc::clone(&found));
        found
    }

    /// What Git runs or obeys, by the configuration of a repository and of the user.
    fn find_git(&mut self, repository: Option<&Repository>) -> Rc<CurrentPlaces> {
        let key = repository.map(repository_key);
        let find = || Rc::new(self.places.git.find(repository));
        Rc::clone(self.git.entry(key).or_insert_with(find))
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

/// Whether a folder has what Git requires of a repository: `HEAD`, and either `objects` and `refs` or a pointer to them.
/// `created` is sorted.
fn is_git_folder(folder: &Path, created: &[PathBuf]) -> bool {
    let exists = |name: &str| {
        let path = folder.join(name);
        // What is in a folder comes right after it.
        let next = created.get(created.partition_point(|file| *file < path));
        next.is_some_and(|file| file.starts_with(&path)) || std::fs::symlink_metadata(&path).is_ok()
    };
    exists("HEAD") && (exists("objects") && exists("refs") || exists("commondir"))
}
