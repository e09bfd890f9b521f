//! Repositories next to the way to a file. They are not above it, but their configuration may still lead to it: with
//! `core.hooksPath = ../hooks`, Git runs what is next to the work tree.
//!
//! Looking everywhere would cost more than an edit. So the folders in every folder above the file are looked at, and the
//! folders in those, up to the folder around the root. What a folder contains is remembered until it changes.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::git::Repository;

/// How many folders are listed for one path.
const MAX_LISTED: usize = 512;
/// How many entries of a folder are read.
const MAX_ENTRIES: usize = 2_000;
/// How many listings are remembered.
const MAX_REMEMBERED: usize = 4_096;
/// A folder that has changed this recently may change again without a new time.
const SETTLED_AFTER: Duration = Duration::from_millis(50);

/// Finds repositories, and remembers what folders contain.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    known: Mutex<HashMap<PathBuf, Listing>>,
}

#[derive(Debug, Clone)]
struct Listing {
    /// When the folder had changed; `None` if that was so recent that it must be listed again.
    changed: Option<SystemTime>,
    folders: Vec<PathBuf>,
}

impl Neighbours {
    /// Looks for repositories on behalf of one call.
    pub(super) fn search<'a>(&'a self, roots: &'a [PathBuf]) -> NeighbourSearch<'a> {
        NeighbourSearch { neighbours: self, roots, listed: HashMap::new(), repositories: HashMap::new() }
    }

    /// How many folders are remembered.
    #[cfg(test)]
    pub(super) fn listed(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The folders in a folder, without symlinks.
    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let changed = fs::metadata(folder).and_then(|found| found.modified()).ok();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listing) = known.get(folder)
            && listing.changed.is_some()
            && listing.changed == changed
        {
            return listing.folders.clone();
        }
        let is_settled = |time: &SystemTime| time.elapsed().is_ok_and(|age| age > SETTLED_AFTER);
        let listing = Listing { changed: changed.filter(is_settled), folders: list_folders(folder) };
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(folder.to_owned(), listing.clone());
        listing.folders
    }
}

/// What one call asks about neighbours, each folder once: its files mostly share them.
#[derive(Debug)]
pub(super) struct NeighbourSearch<'a> {
    neighbours: &'a Neighbours,
    roots: &'a [PathBuf],
    listed: HashMap<PathBuf, Rc<[PathBuf]>>,
    repositories: HashMap<PathBuf, Option<Rc<Repository>>>,
}

impl NeighbourSearch<'_> {
    /// The repositories next to the folders that lead to the files in a folder. Their own, those above them, are not among them.
    pub(super) fn find(&mut self, folder: &Path) -> Vec<Rc<Repository>> {
        let mut left = MAX_LISTED;
        let mut near = BTreeSet::new();
        for above in folder.ancestors() {
            let is_inside = self.roots.iter().any(|root| above.starts_with(root));
            for child in self.list(above, &mut left).iter() {
                // Around the root, only what is next to it: that may be everything a user has.
                if is_inside {
                    near.extend(self.list(child, &mut left).iter().cloned());
                }
                near.insert(child.clone());
            }
            if !is_inside {
                break;
            }
        }
        near.retain(|near| !folder.starts_with(near));
        near.into_iter().filter_map(|near| self.repository(near)).collect()
    }

    fn list(&mut self, folder: &Path, left: &mut usize) -> Rc<[PathBuf]> {
        let Some(rest) = left.checked_sub(1) else { return Rc::default() };
        *left = rest;
        if let Some(known) = self.listed.get(folder) {
            return Rc::clone(known);
        }
        let folders: Rc<[PathBuf]> = self.neighbours.list(folder).into();
        self.listed.insert(folder.to_owned(), Rc::clone(&folders));
        folders
    }

    fn repository(&mut self, folder: PathBuf) -> Option<Rc<Repository>> {
        if let Some(known) = self.repositories.get(&folder) {
            return known.clone();
        }
        let found = Repository::at(&folder).or_else(|| Repository::bare(&folder)).map(Rc::new);
        self.repositories.insert(folder, found.clone());
        found
    }
}

fn list_folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let entries = entries.take(MAX_ENTRIES).flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
}
