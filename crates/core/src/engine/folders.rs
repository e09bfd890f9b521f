//! Calls that show what is in folders.

use globset::{GlobBuilder, GlobMatcher};

use super::Engine;
use crate::outcome::{Invalid, Outcome};
use crate::path::FilePath;
use crate::plan::{EntryOrder, HiddenEntries, ListPlan, SearchPlan};
use crate::ports::workspace::{EntryKind, FolderEntry, WorkspaceError};
use crate::report::Report;

/// How many entries are listed.
const MAX_ENTRIES: usize = 1000;
/// How many entries a search looks at.
const MAX_VISITED: usize = 100_000;
/// How deep folders are searched. Symlinks can make a folder contain itself.
const MAX_DEPTH: usize = 32;

/// An entry and how deep it is below the listed folder, from 0.
struct TreeEntry {
    depth: usize,
    entry: FolderEntry,
}

impl Engine<'_> {
    pub(super) fn list(&self, plan: &ListPlan) -> Report {
        let entries = match self.sorted_entries(plan.folder.as_ref(), plan.hidden, plan.order) {
            Ok(entries) => entries,
            Err(error) => return error.into(),
        };
        let mut tree = Vec::new();
        self.add_tree(plan, plan.folder.as_ref(), entries, 0, &mut tree);
        let top = tree.iter().filter(|entry| entry.depth == 0).count();
        let count = if plan.depth > 1 { tree.len() } else { top };
        let message = format!("{}: {}", folder_name(plan.folder.as_ref()), count_entries(count));
        let mut report = Report::new(Outcome::Shown, message);
        report.text = Some(tree_text(&report.message, &tree));
        report
    }

    /// Adds entries and, as far as the plan says, what is below them. Folders that cannot be read count as empty.
    fn add_tree(
        &self,
        plan: &ListPlan,
        folder: Option<&FilePath>,
        entries: Vec<FolderEntry>,
        depth: usize,
        tree: &mut Vec<TreeEntry>,
    ) {
        for entry in entries {
            // One folder is counted as a whole; deeper ones only as far as they are shown.
            if depth > 0 && tree.len() > MAX_ENTRIES {
                return;
            }
            let below = (entry.kind == EntryKind::Folder && depth + 1 < plan.depth.min(MAX_DEPTH))
                .then(|| child(folder, &entry.name))
                .flatten();
            tree.push(TreeEntry { depth, entry });
            if let Some(below) = below {
                let entries = self.sorted_entries(Some(&below), plan.hidden, plan.order).unwrap_or_default();
                self.add_tree(plan, Some(&below), entries, depth + 1, tree);
            }
        }
    }

    fn sorted_entries(
        &self,
        folder: Option<&FilePath>,
        hidden: HiddenEntries,
        order: EntryOrder,
    ) -> Result<Vec<FolderEntry>, WorkspaceError> {
        let mut entries = self.files.list(folder)?;
        if hidden == HiddenEntries::LeftOut {
            entries.retain(|entry| !entry.name.starts_with('.'));
        }
        let ending = |name: &str| name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
        match order {
            // As the workspace returns them. The other orders are stable, so names decide between equals.
            EntryOrder::Name => {}
            EntryOrder::Size => entries.sort_by_key(|entry| std::cmp::Reverse(entry.size)),
            EntryOrder::Kind => {
                entries.sort_by_key(|entry| (entry.kind != EntryKind::Folder, ending(&entry.name)));
            }
            EntryOrder::Modified => entries.sort_by_key(|entry| std::cmp::Reverse(entry.modified)),
        }
        Ok(entries)
    }

    pub(super) fn search(&self, plan: &SearchPlan) -> Report {
        let pattern = match compile_pattern(&plan.pattern) {
            Ok(pattern) => pattern,
            Err(error) => {
                let message = format!("`pattern` is not a valid glob: {error}");
                return Report::new(Invalid::BadRequest, message)
                    .hint("Send a glob such as `*.lisp`, or a part of the name.");
            }
        };
        let entries = match self.sorted_entries(plan.folder.as_ref(), plan.hidden, EntryOrder::Name) {
            Ok(entries) => entries,
            Err(error) => return error.into(),
        };
        let mut search = Search { pattern, hidden: plan.hidden, found: Vec::new(), visited: 0 };
        self.search_below(plan.folder.as_ref(), "", entries, 0, &mut search);
        let where_to = folder_name(plan.folder.as_ref());
        let count = match search.found.len() {
            1 => "1 match".into(),
            count => format!("{count} matches"),
        };
        let mut report = Report::new(Outcome::Shown, format!("{count} for `{}` in {where_to}", plan.pattern));
        let mut text = report.message.clone();
        for path in search.found.iter().take(MAX_ENTRIES) {
            text.push_str(&format!("\n{path}"));
        }
        if search.found.len() > MAX_ENTRIES {
            text.push_str(&format!("\n[… {} more …]", search.found.len() - MAX_ENTRIES));
        }
        if search.visited >= MAX_VISITED {
            text.push_str(&format!(
                "\n[… stopped after {MAX_VISITED} entries; search a subfolder with `path` …]"
            ));
        }
        report.text = Some(text);
        report
    }

    fn search_below(
        &self,
        folder: Option<&FilePath>,
        prefix: &str,
        entries: Vec<FolderEntry>,
        depth: usize,
        search: &mut Search,
    ) {
        for entry in entries {
            search.visited += 1;
            if search.visited >= MAX_VISITED {
                return;
            }
            let below = format!("{prefix}{}", entry.name);
            let path = child(folder, &entry.name);
            let is_folder = entry.kind == EntryKind::Folder;
            if search.pattern.matches(&entry.name, &below)
                && let Some(path) = &path
            {
                search.found.push(if is_folder { format!("{path}/") } else { path.to_string() });
            }
            if let Some(path) = path.filter(|_| is_folder && depth < MAX_DEPTH) {
                let entries =
                    self.sorted_entries(Some(&path), search.hidden, EntryOrder::Name).unwrap_or_default();
                self.search_below(Some(&path), &format!("{below}/"), entries, depth + 1, search);
            }
        }
    }

    pub(super) fn show_root(&self) -> Report {
        let root = self.files.root_names().first().map_or(".", |root| root.name.as_str());
        let mut report = Report::new(Outcome::Shown, format!("the root is {root}"));
        report.text = Some(root.to_owned());
        report
    }
}

/// A search and what it found.
struct Search {
    pattern: Pattern,
    hidden: HiddenEntries,
    found: Vec<String>,
    visited: usize,
}

enum Pattern {
    Part(String),
    Name(GlobMatcher),
    Path(GlobMatcher),
}

impl Pattern {
    fn matches(&self, name: &str, path: &str) -> bool {
        match self {
            Self::Part(part) => name.contains(part.as_str()),
            Self::Name(glob) => glob.is_match(name),
            Self::Path(glob) => glob.is_match(path),
        }
    }
}

fn compile_pattern(pattern: &str) -> Result<Pattern, globset::Error> {
    if !pattern.contains(['*', '?', '[', '{', '/']) {
        return Ok(Pattern::Part(pattern.into()));
    }
    let glob = GlobBuilder::new(pattern).literal_separator(true).build()?.compile_matcher();
    Ok(if pattern.contains('/') { Pattern::Path(glob) } else { Pattern::Name(glob) })
}

/// The path of a folder's entry; `None` if its name cannot be part of a path.
fn child(folder: Option<&FilePath>, name: &str) -> Option<FilePath> {
    let path = folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
    FilePath::from_record(&path).ok()
}

fn folder_name(folder: Option<&FilePath>) -> String {
    folder.map_or("the root".into(), |path| format!("`{path}`"))
}

fn count_entries(count: usize) -> String {
    match count {
        1 => "1 entry".into(),
        count => format!("{count} entries"),
    }
}

fn tree_text(title: &str, tree: &[TreeEntry]) -> String {
    let mut out = title.to_owned();
    for TreeEntry { depth, entry } in tree.iter().take(MAX_ENTRIES) {
        let indent = "  ".repeat(*depth);
        let line = match entry.kind {
            EntryKind::File if entry.size == 1 => format!("\n{indent}{} (1 byte)", entry.name),
            EntryKind::File => format!("\n{indent}{} ({} bytes)", entry.name, entry.size),
            EntryKind::Folder => format!("\n{indent}{}/", entry.name),
            EntryKind::Other => format!("\n{indent}{} (not a regular file)", entry.name),
        };
        out.push_str(&line);
    }
    if tree.len() > MAX_ENTRIES {
        out.push_str(&format!("\n[… {} more …]", tree.len() - MAX_ENTRIES));
    }
    out
}
