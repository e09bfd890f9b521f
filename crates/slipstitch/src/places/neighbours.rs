//! Repositories next to the way to a file. They are not above it, but their configuration may still lead to it: with
//! `core.hooksPath = ../hooks`, Git runs what is next to the work tree.
//!
//! Looking everywhere would cost more than an edit. So the folders in every folder above the file are looked at, and the
//! folders in those, up to the folder around the root. What a folder contains is remembered until it changes.
//!
//! There are limits, and whoever can create folders can exceed them. So the result says when the search was cut short.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::git::Repository;

/// How many listings are remembered. More than are made for one path.
const MAX_REMEMBERED: usize = 32_768;
/// A folder that has changed this recently may change again without a new time.
const SETTLED_AFTER: Duration = Duration::from_millis(50);

/// How far the search goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchLimits {
    /// How many folders are listed for one path.
    pub(super) listings: usize,
    /// How many entries of a folder are read.
    pub(super) entries: usize,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self { listings: 16_384, entries: 100_000 }
    }
}

/// Finds repositories, and remembers what folders contain.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    limits: SearchLimits,
    known: Mutex<HashMap<PathBuf, Listing>>,
}

/// The repositories next to the way to a file.
#[derive(Debug)]
pub(super) struct FoundNeighbours {
    pub(super) repositories: Vec<Rc<Repository>>,
    /// Whether there may be more.
    pub(super) is_cut_short: bool,
}

/// The progress of one search.
#[derive(Debug)]
struct Progress {
    listings_left: usize,
    is_cut_short: bool,
}

#[derive(Debug, Clone, Default)]
struct Listing {
    /// When the folder had changed; `None` if that was so recent that it must be listed again.
    changed: Option<SystemTime>,
    folders: Vec<PathBuf>,
    /// Whether all entries of the folder were read.
    is_whole: bool,
}

impl Neighbours {
    /// Looks for repositories on behalf of one call.
    pub(super) fn search<'a>(&'a self, roots: &'a [PathBuf]) -> NeighbourSearch<'a> {
        NeighbourSearch { neighbours: self, roots, listed: HashMap::new(), repositories: HashMap::new() }
    }

    #[cfg(test)]
    pub(super) fn with_limits(limits: SearchLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// How many folders are remembered.
    #[cfg(test)]
    pub(super) fn listed(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The folders in a folder, without symlinks.
    fn list(&self, folder: &Path) -> Listing {
        let changed = fs::metadata(folder).and_then(|found| found.modified()).ok();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listing) = known.get(folder)
            && listing.changed.is_some()
            && listing.changed == changed
        {
            return listing.clone();
        }
        let is_settled = |time: &SystemTime| time.elapsed().is_ok_and(|age| age > SETTLED_AFTER);
        let (folders, is_whole) = list_folders(folder, self.limits.entries);
        let listing = Listing { changed: changed.filter(is_settled), folders, is_whole };
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(folder.to_owned(), listing.clone());
        listing
    }
}

/// What one call asks about neighbours, each folder once: its files mostly share them.
#[derive(Debug)]
pub(super) struct NeighbourSearch<'a> {
    neighbours: &'a Neighbours,
    roots: &'a [PathBuf],
    listed: HashMap<PathBuf, Rc<Listing>>,
    repositories: HashMap<PathBuf, Option<Rc<Repository>>>,
}

impl NeighbourSearch<'_> {
    /// The repositories next to the folders that lead to the files in a folder. Their own, those above them, are not among them.
    pub(super) fn find(&mut self, folder: &Path) -> FoundNeighbours {
        let mut progress = Progress { listings_left: self.neighbours.limits.listings, is_cut_short: false };
        let mut near = BTreeSet::new();
        for above in folder.ancestors() {
            let is_inside = self.roots.iter().any(|root| above.starts_with(root));
            for child in &self.list(above, &mut progress).folders {
                // Around the root, only what is next to it: that may be everything a user has.
                if is_inside {
                    near.extend(self.list(child, &mut progress).folders.iter().cloned());
                }
                near.insert(child.clone());
            }
            if !is_inside {
                break;
            }
        }
        near.retain(|near| !folder.starts_with(near));
        let repositories = near.into_iter().filter_map(|near| self.repository(near)).collect();
        FoundNeighbours { repositories, is_cut_short: progress.is_cut_short }
    }

    fn list(&mut self, folder: &Path, progress: &mut Progress) -> Rc<Listing> {
        let Some(rest) = progress.listings_left.checked_sub(1) else {
            progress.is_cut_short = true;
            return Rc::default();
        };
        progress.listings_left = rest;
        let listing = match self.listed.get(folder) {
            Some(known) => Rc::clone(known),
            None => {
                let listing = Rc::new(self.neighbours.list(folder));
                self.listed.insert(folder.to_owned(), Rc::clone(&listing));
                listing
            }
        };
        progress.is_cut_short |= !listing.is_whole;
        listing
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

/// The folders in a folder, and whether all its entries were read.
fn list_folders(folder: &Path, max_entries: usize) -> (Vec<PathBuf>, bool) {
    let Ok(mut entries) = fs::read_dir(folder) else { return (Vec::new(), true) };
    let first = entries.by_ref().take(max_entries).flatten();
    let folders = first.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let folders = folders.map(|entry| entry.path()).collect();
    (folders, entries.next().is_none())
}
