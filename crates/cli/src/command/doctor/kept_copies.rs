//! Copies of files that were kept because another program saved at the same moment.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use slipstitch::Workspace;

use super::{Findings, Grade};

/// How many entries of folders are looked at.
const MAX_ENTRIES: usize = 200_000;
/// How many copies are listed.
const MAX_LISTED: usize = 20;
/// A younger file may belong to a change in progress.
const MIN_AGE: Duration = Duration::from_secs(60);

impl Findings {
    /// Adds copies that the user may want to look at and remove.
    pub(super) fn kept_copies(&mut self, workspace: &Workspace) {
        let mut copies = Vec::new();
        let mut left = MAX_ENTRIES;
        for root in workspace.roots() {
            find_copies(Path::new(root), &mut left, &mut copies);
        }
        copies.sort();
        for copy in copies.iter().take(MAX_LISTED) {
            let detail = "a copy that was kept when another program saved at the same moment; compare it with the \
                          file next to it, then remove it";
            self.add(copy.display().to_string(), Grade::Note, detail);
        }
        if copies.len() > MAX_LISTED {
            self.add("kept copies", Grade::Note, format!("{} more", copies.len() - MAX_LISTED));
        }
    }
}

fn find_copies(root: &Path, left: &mut usize, copies: &mut Vec<PathBuf>) {
    let mut folders = VecDeque::from([root.to_owned()]);
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Some(rest) = left.checked_sub(1) else { return };
            *left = rest;
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if kind.is_dir() {
                folders.push_back(entry.path());
            } else if kind.is_file() && name.starts_with(".slipstitch-") && name.ends_with(".tmp") {
                let changed = entry.metadata().and_then(|found| found.modified()).ok();
                let age = changed.and_then(|time| SystemTime::now().duration_since(time).ok());
                if age.is_some_and(|age| age > MIN_AGE) {
                    copies.push(entry.path());
                }
            }
        }
    }
}
