//! The former name of a file. Git does not record renames, so it is inferred as Git does: from a tracked file that is gone and
//! whose content is much like the file's.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use gix_hash::ObjectId;
use gix_index::entry::{Mode, Stage};
use gix_object::bstr::{BStr, ByteSlice};
use gix_object::{Kind, TreeRefIter};

use super::{Lookup, MAX_BLOB_BYTES, MAX_NODE_BYTES};

/// How many entries of the index and of the last commit are looked at.
const MAX_ENTRIES: usize = 200_000;
/// How many missing files are compared.
const MAX_COMPARED: usize = 32;
/// How much of the larger text both must share, in percent, as in `git diff`.
const MIN_SHARED_PERCENT: usize = 50;
/// How many entries are looked at between two glances at the clock.
const ENTRIES_PER_CHECK: usize = 256;

/// A tracked file that is not in the work tree.
struct MissingFile {
    path: String,
    id: ObjectId,
}

/// What the file at `path`, whose content is `now`, was called in the last commit; `None` if no missing file resembles it, or if
/// two do so equally.
pub(super) fn former_name(lookup: &Lookup<'_>, path: &str, now: &[u8]) -> Option<String> {
    let mut missing = Vec::new();
    collect_from_index(lookup, path, &mut missing)?;
    collect_from_commit(lookup, path, &mut missing)?;
    let lines = LineCounts::of(now);
    let mut best: Option<(usize, MissingFile)> = None;
    let mut is_tied = false;
    for file in missing.into_iter().take(MAX_COMPARED) {
        let Some(text) = lookup.objects.read(&file.id, Kind::Blob, MAX_BLOB_BYTES) else { continue };
        let shared = lines.shared_bytes(&text);
        if shared * 100 < MIN_SHARED_PERCENT * now.len().max(text.len()) {
            continue;
        }
        let known = best.as_ref().map_or(0, |(known, _)| *known);
        is_tied = if shared > known { false } else { is_tied || shared == known };
        if shared > known {
            best = Some((shared, file));
        }
    }
    best.filter(|_| !is_tied).map(|(_, file)| file.path)
}

/// Adds the files that are in the index and not in the work tree. `None` if the time is up.
fn collect_from_index(lookup: &Lookup<'_>, path: &str, missing: &mut Vec<MissingFile>) -> Option<()> {
    let Some(index) = &lookup.index else { return Some(()) };
    for (n, entry) in index.entries().iter().enumerate().take(MAX_ENTRIES) {
        if n % ENTRIES_PER_CHECK == 0 {
            lookup.deadline.check()?;
        }
        let is_file = [Mode::FILE, Mode::FILE_EXECUTABLE].contains(&entry.mode);
        let name = entry.path(index).to_str().ok();
        if let Some(name) = name.filter(|name| is_file && has_same_extension(name, path))
            && is_gone(lookup, name)
        {
            missing.push(MissingFile { path: name.to_owned(), id: entry.id });
        }
    }
    Some(())
}

/// Adds the files of the last commit that are neither in the index nor in the work tree. `None` if the time is up.
fn collect_from_commit(lookup: &Lookup<'_>, path: &str, missing: &mut Vec<MissingFile>) -> Option<()> {
    let Some(index) = &lookup.index else { return Some(()) };
    let Some(tree) = lookup.head.and_then(|head| lookup.objects.tree_of(head)) else { return Some(()) };
    let known: BTreeSet<ObjectId> = missing.iter().map(|file| file.id).collect();
    let mut folders = vec![(String::new(), tree)];
    let mut left = MAX_ENTRIES;
    while let Some((folder, id)) = folders.pop() {
        lookup.deadline.check()?;
        let Some(tree) = lookup.objects.read(&id, Kind::Tree, MAX_NODE_BYTES) else { continue };
        for entry in TreeRefIter::from_bytes(&tree, lookup.objects.hash).map_while(Result::ok) {
            left = left.checked_sub(1)?;
            let Ok(name) = entry.filename.to_str() else { continue };
            let name = format!("{folder}{name}");
            if entry.mode.is_tree() {
                folders.push((name + "/", entry.oid.to_owned()));
            } else if entry.mode.is_blob()
                && has_same_extension(&name, path)
                && !known.contains(entry.oid)
                && index.entry_by_path_and_stage(BStr::new(&name), Stage::Unconflicted).is_none()
                && is_gone(lookup, &name)
            {
                missing.push(MissingFile { path: name, id: entry.oid.to_owned() });
            }
        }
    }
    Some(())
}

fn has_same_extension(one: &str, other: &str) -> bool {
    Path::new(one).extension() == Path::new(other).extension()
}

/// Whether no file has this name in the work tree.
fn is_gone(lookup: &Lookup<'_>, name: &str) -> bool {
    let found = fs::symlink_metadata(lookup.repository.work_tree.join(name));
    found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// How often each line occurs in a text.
struct LineCounts<'t>(HashMap<&'t [u8], usize>);

impl<'t> LineCounts<'t> {
    fn of(text: &'t [u8]) -> Self {
        let mut counts = HashMap::new();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            *counts.entry(line).or_default() += 1;
        }
        Self(counts)
    }

    /// How many bytes of lines another text shares with this one.
    fn shared_bytes(&self, other: &[u8]) -> usize {
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        let mut shared = 0;
        for line in other.split_inclusive(|&byte| byte == b'\n') {
            let count = counts.entry(line).or_default();
            *count += 1;
            if self.0.get(line).is_some_and(|here| *here >= *count) {
                shared += line.len();
            }
        }
        shared
    }
}
