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
    pub(super) repositories: Vec<Repository>,
    /// Whether there may be more.
    pub(super) is_cut_short: bool,
}

/// The progress of one search.
#[derive(Debug)]
struct Search {
    listings_left: usize,
    is_cut_short: bool,
}

#[derive(Debug, Clone)]
struct Listing {
    /// When the folder had changed; `None` if that was so recent that it must be listed again.
    changed: Option<SystemTime>,
    folders: Vec<PathBuf>,
    /// Whether all entries of the folder were read.
    is_whole: bool,
}

impl Neighbours {
    /// The repositories next to the folders that lead to a path. Its own, those above it, are not among them.
    pub(super) fn find(&self, path: &Path, roots: &[PathBuf]) -> FoundNeighbours {
        let is_in_root = |folder: &Path| roots.iter().any(|root| folder.starts_with(root));
        let mut search = Search { listings_left: self.limits.listings, is_cut_short: false };
        let mut near = BTreeSet::new();
        for folder in path.ancestors().skip(1) {
            let is_inside = is_in_root(folder);
            for child in self.list(folder, &mut search) {
                // Around the root, only what is next to it: that may be everything a user has.
                let inner = if is_inside { self.list(&child, &mut search) } else { Vec::new() };
                near.extend(inner);
                near.insert(child);
            }
            if !is_inside {
                break;
            }
        }
        near.retain(|folder| !path.starts_with(folder));
        let repositories =
            near.iter().filter_map(|folder| Repository::at(folder).or_else(|| Repository::bare(folder)));
        FoundNeighbours { repositories: repositories.collect(), is_cut_short: search.is_cut_short }
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
    fn list(&self, folder: &Path, search: &mut Search) -> Vec<PathBuf> {
        let Some(rest) = search.listings_left.checked_sub(1) else {
            search.is_cut_short = true;
            return Vec::new();
        };
        search.listings_left = rest;
        let changed = fs::metadata(folder).and_then(|found| found.modified()).ok();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listing) = known.get(folder)
            && listing.changed.is_some()
            && listing.changed == changed
        {
            search.is_cut_short |= !listing.is_whole;
            return listing.folders.clone();
        }
        let is_settled = |time: &SystemTime| time.elapsed().is_ok_and(|age| age > SETTLED_AFTER);
        let (folders, is_whole) = list_folders(folder, self.limits.entries);
        search.is_cut_short |= !is_whole;
        let listing = Listing { changed: changed.filter(is_settled), folders, is_whole };
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(folder.to_owned(), listing.clone());
        listing.folders
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
