//! The other paths of a file with several hard links.
//!
//! A protected or private file can be reached by a second name that says nothing about it. Only files with more than one
//! link are looked for, in all folders of the roots, and the result is remembered until the file's metadata changes.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use slipstitch_platform::info;

/// How many entries of folders are looked at.
const MAX_ENTRIES: usize = 50_000;
/// How many files are remembered.
const MAX_REMEMBERED: usize = 1_024;

/// Finds the other paths of files.
#[derive(Debug)]
pub(crate) struct HardLinkFinder {
    /// With symlinks resolved.
    roots: Vec<PathBuf>,
    max_entries: usize,
    known: Mutex<HashMap<FileState, OtherPaths>>,
}

/// The other paths of a file beneath the roots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OtherPaths {
    pub(crate) paths: Vec<PathBuf>,
    /// Whether there may be more, because the roots have too many files.
    pub(crate) is_cut_short: bool,
}

/// What changes when a file gets another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct FileState {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl HardLinkFinder {
    pub(crate) fn new(roots: Vec<PathBuf>) -> Self {
        Self { roots, max_entries: MAX_ENTRIES, known: Mutex::default() }
    }

    /// The other paths of the file at an absolute path.
    pub(crate) fn find(&self, path: &Path) -> OtherPaths {
        let Ok(found) = info::at(path) else { return OtherPaths::default() };
        if !found.is_file() || found.links < 2 {
            return OtherPaths::default();
        }
        let state = FileState { device: found.device, inode: found.inode, changed: found.changed };
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known_paths = known().get(&state).cloned();
        let mut all = known_paths.unwrap_or_else(|| {
            let all = self.search(state, found.links);
            let mut known = known();
            if known.len() >= MAX_REMEMBERED {
                known.clear();
            }
            known.insert(state, all.clone());
            all
        });
        all.paths.retain(|other| other != path);
        all
    }

    /// All paths of a file, the nearest to the roots first.
    fn search(&self, state: FileState, links: u64) -> OtherPaths {
        let mut found = OtherPaths::default();
        let mut left = self.max_entries;
        let mut folders: VecDeque<PathBuf> = self.roots.iter().cloned().collect();
        while let Some(folder) = folders.pop_front() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let Some(rest) = left.checked_sub(1) else {
                    return OtherPaths { is_cut_short: true, ..found };
                };
                left = rest;
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() {
                    folders.push_back(entry.path());
                } else if kind.is_file() && info::may_be(&entry, state.inode) {
                    if info::of_entry(&entry).is_ok_and(|found| found.id() == (state.device, state.inode)) {
                        found.paths.push(entry.path());
                    }
                    if found.paths.len() as u64 >= links {
                        return found;
                    }
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_other_names_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("one"), "1").unwrap();
        let finder = HardLinkFinder::new(vec![folder.path().into()]);
        assert_eq!(finder.find(&at("one")), OtherPaths::default());
        fs::hard_link(at("one"), at("a/b/two")).unwrap();
        assert_eq!(finder.find(&at("one")).paths, [at("a/b/two")]);
        assert_eq!(finder.find(&at("a/b/two")).paths, [at("one")]);
        assert_eq!(finder.find(&at("none")), OtherPaths::default());
        let small = HardLinkFinder { max_entries: 1, ..HardLinkFinder::new(vec![folder.path().into()]) };
        assert!(small.find(&at("one")).is_cut_short);
    }
}
