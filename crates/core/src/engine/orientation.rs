//! Helps a caller that named a wrong path: with the root, or with the closest path that exists.

use super::Engine;
use crate::outcome::{Invalid, Outcome, Topic};
use crate::path::{FilePath, describe_roots};
use crate::plan::{ListPlan, Plan, SearchPlan};
use crate::ports::workspace::{EntryKind, FolderEntry};
use crate::report::Report;

/// How many entries of folders are looked at to find a file by its name.
const MAX_ENTRIES: usize = 5_000;
/// Folders whose files are not meant.
const SKIPPED: &[&str] = &["node_modules", "target", "__pycache__"];

impl Engine<'_> {
    /// Adds the root to a report about a path outside it, and the closest existing path to one about a missing file.
    pub(super) fn orient(&self, mut report: Report, plan: &Plan) -> Report {
        if report.outcome == Outcome::Invalid(Invalid::OutsideRoot) {
            let root = describe_roots(self.files.root_names());
            let hint = report.hint.take().unwrap_or_default();
            return report.hint(format!("The project root is `{root}`. {hint}").trim_end());
        }
        if report.outcome.topic() != Some(Topic::FileNotFound) {
            return report;
        }
        let Some(closest) = missing_path(&report, plan).and_then(|path| self.closest_path(path)) else {
            return report;
        };
        report.closest_path = Some(closest);
        let question = report.did_you_mean().unwrap_or_default();
        let hints = report.failures.iter_mut().map(|failure| &mut failure.hint).chain(&mut report.hint);
        hints.for_each(|hint| *hint = format!("{question} {hint}"));
        report
    }

    /// The existing path that a caller of `path` most likely means: almost the same name in the same folder, the same
    /// name in another folder, or else a similar name in the same folder.
    pub fn closest_path(&self, path: &FilePath) -> Option<FilePath> {
        let (folder, name) = match path.as_str().rsplit_once('/') {
            Some((folder, name)) => (folder, name),
            None => ("", path.as_str()),
        };
        let beside = self.entries(folder);
        let distances = beside.iter().filter(|entry| entry.kind == EntryKind::File);
        let distances = distances.map(|entry| (name_distance(&entry.name, name), entry));
        let nearest = distances.min_by_key(|(distance, _)| *distance);
        let nearest = nearest.filter(|(distance, entry)| *distance <= max_distance(&entry.name, name));
        if let Some((0..=1, entry)) = nearest {
            return join(folder, &entry.name);
        }
        let similar = || join(folder, &nearest?.1.name);
        self.find_by_name(path, name).or_else(similar)
    }

    /// The file with this name whose path has most in common with `path`, if there is one.
    fn find_by_name(&self, path: &FilePath, name: &str) -> Option<FilePath> {
        let (mut left, mut found) = (MAX_ENTRIES, Vec::new());
        let mut folders = std::collections::VecDeque::from([String::new()]);
        while let Some(folder) = folders.pop_front().filter(|_| left > 0) {
            for entry in self.entries(&folder) {
                left = left.saturating_sub(1);
                let Some(here) = join(&folder, &entry.name) else { continue };
                let is_searched = !entry.name.starts_with('.') && !SKIPPED.contains(&entry.name.as_str());
                match entry.kind {
                    EntryKind::Folder if is_searched => folders.push_back(here.as_str().to_owned()),
                    EntryKind::File if name_distance(&entry.name, name) == 0 => found.push(here),
                    _ => {}
                }
            }
        }
        let shared = |found: &FilePath| shared_names(found.as_str(), path.as_str());
        let best = found.iter().map(shared).max()?;
        let mut best_paths = found.into_iter().filter(|found| shared(found) == best);
        // Two that are as good are a guess.
        best_paths.next().filter(|_| best_paths.next().is_none())
    }

    /// The entries of a folder; empty if it cannot be read.
    fn entries(&self, folder: &str) -> Vec<FolderEntry> {
        let folder = FilePath::from_record(folder).ok();
        self.files.list(folder.as_ref()).unwrap_or_default()
    }
}

/// The path of a plan that does not exist.
fn missing_path<'a>(report: &'a Report, plan: &'a Plan) -> Option<&'a FilePath> {
    match plan {
        Plan::Edit(plan) => {
            let is_missing = |reason: crate::outcome::Unplaced| reason.topic() == Topic::FileNotFound;
            let failure = report.failures.iter().find(|failure| is_missing(failure.reason));
            match (failure, &plan.files[..]) {
                (Some(failure), _) => Some(&failure.path),
                (None, [file]) => Some(&file.path),
                (None, _) => None,
            }
        }
        Plan::Read(plan) => Some(&plan.path),
        Plan::Info(path) => Some(path),
        Plan::List(ListPlan { folder, .. }) | Plan::Search(SearchPlan { folder, .. }) => folder.as_ref(),
        Plan::Fetch(fetch) => Some(&fetch.path),
        Plan::Undo(_) | Plan::ModeUpgrade { .. } | Plan::ShowRoot => None,
    }
}

fn join(folder: &str, name: &str) -> Option<FilePath> {
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    FilePath::from_record(&path).ok()
}

/// How many names two paths share at their ends.
fn shared_names(left: &str, right: &str) -> usize {
    left.rsplit('/').zip(right.rsplit('/')).take_while(|(left, right)| left == right).count()
}

/// How different two names may be and still be taken for each other: short names are different names, unless only their
/// extensions differ.
fn max_distance(left: &str, right: &str) -> usize {
    let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_lowercase();
    let (left, right) = (stem(left), stem(right));
    if left == right { usize::MAX } else { (right.chars().count() / 2).min(3) }
}

/// The number of characters to insert, delete or replace to get from one name to the other; case does not count.
fn name_distance(left: &str, right: &str) -> usize {
    let fold = |name: &str| name.to_lowercase().chars().collect::<Vec<_>>();
    let (left, right) = (fold(left), fold(right));
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, a) in left.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, b) in right.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_between_names() {
        for (left, right, distance) in [
            ("main.rs", "main.rs", 0),
            ("Main.rs", "main.rs", 0),
            ("mian.rs", "main.rs", 2),
            ("a.ts", "a.tsx", 1),
        ] {
            assert_eq!(name_distance(left, right), distance, "{left} {right}");
            assert_eq!(name_distance(right, left), distance, "{right} {left}");
        }
        assert_eq!(shared_names("x/src/a.rs", "src/a.rs"), 2);
    }
}
