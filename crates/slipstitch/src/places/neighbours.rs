//! Repositories next to the way to a file. They are not above it, but their configuration may still lead to it: with
//! `core.hooksPath = ../hooks`, Git runs what is next to the work tree.
//!
//! Looking everywhere would cost more than an edit. So the folders in every folder above the file are looked at, and the
//! folders in those, up to the folder around the root. What a folder contains is remembered until it changes.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
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
    /// The repositories next to the folders that lead to a path. Its own, those above it, are not among them.
    pub(super) fn find(&self, path: &Path, roots: &[PathBuf]) -> Vec<Repository> {
        let is_in_root = |folder: &Path| roots.iter().any(|root| folder.starts_with(root));
        let mut left = MAX_LISTED;
        let mut near = BTreeSet::new();
        for folder in path.ancestors().skip(1) {
            let is_inside = is_in_root(folder);
            for child in self.list(folder, &mut left) {
                // Around the root, only what is next to it: that may be everything a user has.
                let inner = if is_inside { self.list(&child, &mut left) } else { Vec::new() };
                near.extend(inner);
                near.insert(child);
            }
            if !is_inside {
                break;
            }
        }
        near.retain(|folder| !path.starts_with(folder));
        near.iter().filter_map(|folder| Repository::at(folder).or_else(|| Repository::bare(folder))).collect()
    }

    /// How many folders are remembered.
    #[cfg(test)]
    pub(super) fn listed(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The folders in a folder, without symlinks.
    fn list(&self, folder: &Path, left: &mut usize) -> Vec<PathBuf> {
        let Some(rest) = left.checked_sub(1) else { return Vec::new() };
        *left = rest;
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

fn list_folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let entries = entries.take(MAX_ENTRIES).flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
}
