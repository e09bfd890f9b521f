//! `--file`: changes of a file, or of everything in a folder.

use std::path::{Component, Path, PathBuf};

use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::path::{FilePath, PathError};
use slipstitch::core::plan::ParseError;
use slipstitch::core::ports::journal::{Filter, Summary};
use slipstitch::core::report::Report;
use slipstitch::os_path::{path_to_text, text_to_path};

use crate::error::CommandError;
use crate::global::Global;

/// How many changes are read from the journal at once.
const PAGE_SIZE: usize = 500;

/// How many dangling symlinks are followed: as many as the system follows.
const MAX_LINKS: usize = 40;

/// A file or folder, existing or not, as the journal names it.
pub(crate) struct PathFilter {
    /// The path as given by the user.
    given: String,
    target: Target,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    File(FilePath),
    /// `None` is the first root.
    Folder(Option<String>),
    /// A path that does not exist any more, and what it led to if it went through symlinks. Each may have been a file or
    /// a folder.
    Missing(Vec<String>),
}

impl PathFilter {
    /// Resolves `text`, following symlinks.
    pub(crate) fn new(text: &str, workspace: &Workspace, global: &Global) -> Result<Self, CommandError> {
        let named = global.path_from_root(text);
        let named = named.as_deref().unwrap_or(text);
        let path = match workspace.path(named) {
            Err(PathError::Folder(_)) => match workspace.path(trim_slashes(named)) {
                // A root.
                Err(PathError::Folder(_)) => None,
                // A folder with a trailing slash.
                _ => Some(root_path(trim_slashes(named), workspace)?),
            },
            _ => Some(root_path(named, workspace)?),
        };
        let full =
            Path::new(workspace.root()).join(text_to_path(path.as_ref().map_or(named, FilePath::as_str)));
        let given = text.to_owned();
        let Ok(real) = full.canonicalize() else {
            let link_target = resolve_missing(&full).and_then(|real| journal_path(&real, workspace)?);
            let names = path.map(|path| path.to_string()).into_iter().chain(link_target);
            return Ok(Self { given, target: Target::Missing(names.collect()) });
        };
        let path = journal_path(&real, workspace).ok_or_else(|| outside_root(text))?;
        let target = match path {
            Some(path) if !real.is_dir() => Target::File(root_path(&path, workspace)?),
            path => Target::Folder(path),
        };
        Ok(Self { given, target })
    }

    /// The names that the journal may have for the file; `None` for a folder.
    pub(crate) fn file_names(&self) -> Option<Vec<String>> {
        match &self.target {
            Target::File(path) => Some(vec![path.to_string()]),
            Target::Folder(_) => None,
            Target::Missing(names) => Some(names.clone()),
        }
    }

    /// The matching changes, newest first. A path that neither exists nor occurs in the journal is an error.
    pub(crate) fn changes(
        &self,
        workspace: &Workspace,
        filter: Filter,
    ) -> Result<Vec<Summary>, CommandError> {
        let found = self.list(workspace, filter)?;
        if found.is_empty() && matches!(self.target, Target::Missing(_)) {
            let any = self.list(workspace, Filter { limit: Some(1), ..Filter::default() })?;
            if any.is_empty() {
                return Err(self.unknown_path(workspace, "no recorded change is about it"));
            }
        }
        Ok(found)
    }

    fn list(&self, workspace: &Workspace, filter: Filter) -> Result<Vec<Summary>, CommandError> {
        if let Target::File(path) = &self.target {
            let filter = Filter { path: Some(path.clone()), ..filter };
            return Ok(workspace.log(&filter).map_err(Report::from)?);
        }
        let limit = filter.limit.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let mut page = Filter { limit: Some(PAGE_SIZE), ..filter };
        while found.len() < limit {
            let listed = workspace.log(&page).map_err(Report::from)?;
            let Some(last) = listed.last() else { break };
            page.before = Some(last.id);
            found.extend(listed.into_iter().filter(|change| self.matches(change)));
        }
        found.truncate(limit);
        Ok(found)
    }

    fn matches(&self, change: &Summary) -> bool {
        let mut paths = change.files.iter().flat_map(|file| [&file.path_before, &file.path_after]).flatten();
        paths.any(|path| self.matches_path(path))
    }

    /// Whether a path of a change is the file, or in the folder.
    pub(crate) fn matches_path(&self, path: &FilePath) -> bool {
        match &self.target {
            Target::File(file) => path == file,
            // Files in other roots have absolute paths.
            Target::Folder(None) => !path.is_absolute(),
            Target::Folder(Some(folder)) => is_inside(path, folder),
            Target::Missing(names) => names.iter().any(|name| is_inside(path, name)),
        }
    }

    /// The names under which calls may be recorded for the file or folder. The empty name is the first root.
    pub(crate) fn names(&self) -> Vec<String> {
        match &self.target {
            Target::File(path) => vec![path.to_string()],
            Target::Folder(folder) => vec![folder.clone().unwrap_or_default()],
            Target::Missing(names) => names.clone(),
        }
    }

    /// The name of the file or folder, for a place that takes one name. `.` is the first root.
    pub(crate) fn only_name(&self) -> Result<String, CommandError> {
        let mut names = self.names();
        names.dedup();
        match &names[..] {
            [name] if name.is_empty() => Ok(".".into()),
            [name] => Ok(name.clone()),
            _ => Err(CommandError::usage(
                format!("`{}` led through a symlink and does not exist any more", self.given),
                "Name the file that it led to.",
            )),
        }
    }

    /// Whether it does not exist any more.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.target, Target::Missing(_))
    }

    /// The error for a path that neither exists nor is recorded.
    pub(crate) fn unknown_path(&self, workspace: &Workspace, unrecorded: &str) -> CommandError {
        let names = self.names();
        let path = names.first().and_then(|name| FilePath::from_record(name).ok());
        let closest = path.and_then(|path| workspace.closest_path(&path));
        let question = closest.map_or(String::new(), |path| format!("Did you mean `{path}`? "));
        let message = format!("`{}` does not exist, and {unrecorded}", self.given);
        Report::custom(Status::Invalid, "unknown_path", message)
            .hint(format!("{question}Check the path, or leave `--file` out to list everything."))
            .into()
    }
}

/// Parses a path relative to the root.
fn root_path(text: &str, workspace: &Workspace) -> Result<FilePath, CommandError> {
    workspace.path(text).map_err(|error| Report::from(ParseError::from(error)).into())
}

/// Whether a path is `folder` itself or inside it.
fn is_inside(path: &FilePath, folder: &str) -> bool {
    let rest = path.as_str().strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Where a path that does not exist would be: its deepest existing ancestor with symlinks resolved, plus the rest.
/// Dangling symlinks are followed too.
fn resolve_missing(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let existing = path.ancestors().find(|part| part.symlink_metadata().is_ok())?.to_owned();
        let rest = path.strip_prefix(&existing).ok()?.to_owned();
        // The parent of a missing folder is unknown, so `..` can't be resolved.
        if rest.components().any(|part| !matches!(part, Component::Normal(_))) {
            return None;
        }
        // Not `join`, which would add a trailing slash if `rest` is empty.
        let append_rest = |start: PathBuf| start.components().chain(rest.components()).collect();
        path = match existing.canonicalize() {
            Ok(real) => return Some(append_rest(real)),
            Err(_) => append_rest(existing.parent()?.canonicalize().ok()?.join(existing.read_link().ok()?)),
        };
    }
    None
}

/// Removes trailing `/` and `/.`.
fn trim_slashes(text: &str) -> &str {
    let shorter = text.strip_suffix("/.").or_else(|| text.strip_suffix('/'));
    shorter.map_or(text, trim_slashes)
}

/// How the journal names a real path: relative to the first root, absolute in another root, and `Some(None)` for the
/// first root itself. `None` if it is outside every root.
fn journal_path(real: &Path, workspace: &Workspace) -> Option<Option<String>> {
    let mut roots = workspace.roots();
    let first = roots.next()?;
    // If roots are nested, the innermost counts.
    let inner = roots.filter(|root| real.starts_with(root)).max_by_key(|root| root.len());
    let text = |path: &Path| path_to_text(path).into_owned();
    match (real.strip_prefix(first), inner) {
        (Ok(_), Some(inner)) if inner.len() > first.len() => Some(Some(text(real))),
        (Ok(rest), _) => Some(Some(text(rest)).filter(|rest| !rest.is_empty())),
        (Err(_), Some(_)) => Some(Some(text(real))),
        (Err(_), None) => None,
    }
}

fn outside_root(text: &str) -> CommandError {
    Report::custom(Status::Invalid, "outside_root", format!("`{text}` leads outside the project root"))
        .hint("Use a path inside the root; only those have changes here.")
        .into()
}
