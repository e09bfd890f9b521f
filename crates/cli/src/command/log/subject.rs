//! What `log --path` names: a file, or a folder with everything beneath it.

use std::path::Path;

use incise::Workspace;
use incise::core::journal::{Filter, Summary};
use incise::core::path::{FilePath, PathError};
use incise::core::report::{Report, Status};

use crate::args::Global;

/// How many changes are looked at at once.
const PAGE: usize = 500;

/// A file or a folder, there or not, as the journal names it.
pub(super) struct Subject {
    /// As it was given.
    given: String,
    /// Nothing for the whole of the first root.
    path: Option<String>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    /// It may have been either.
    Gone,
}

impl Subject {
    /// What `text` names, by way of symlinks if there are any.
    pub(super) fn named(text: &str, workspace: &Workspace, global: &Global) -> Result<Self, Box<Report>> {
        let path = match workspace.path(text) {
            // A root, or a folder that is written as one.
            Err(PathError::Folder(_)) => workspace.path(without_slash(text)).ok(),
            _ => Some(global.file(text, workspace)?),
        };
        let there = Path::new(workspace.root()).join(path.as_ref().map_or(text, FilePath::as_str));
        let given = text.to_owned();
        let Ok(real) = there.canonicalize() else {
            return Ok(Self { given, path: path.map(|path| path.to_string()), kind: Kind::Gone });
        };
        let kind = if real.is_dir() { Kind::Folder } else { Kind::File };
        let path = in_journal(&real, workspace).ok_or_else(|| outside(text))?;
        Ok(Self { given, path, kind })
    }

    /// Its changes, newest first. A name that is neither there nor in the journal is a mistake.
    pub(super) fn changes(&self, workspace: &Workspace, filter: Filter) -> Result<Vec<Summary>, Box<Report>> {
        let found = self.list(workspace, filter)?;
        if found.is_empty() && self.kind == Kind::Gone {
            let any = self.list(workspace, Filter { limit: Some(1), ..Filter::default() })?;
            if any.is_empty() {
                return Err(self.unknown());
            }
        }
        Ok(found)
    }

    fn list(&self, workspace: &Workspace, filter: Filter) -> Result<Vec<Summary>, Box<Report>> {
        if let (Kind::File, Some(path)) = (self.kind, &self.path) {
            let path = workspace.path(path).ok();
            return Ok(workspace.log(&Filter { path, ..filter }).map_err(Report::from)?);
        }
        let wanted = filter.limit.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let mut page = Filter { limit: Some(PAGE), ..filter };
        while found.len() < wanted {
            let listed = workspace.log(&page).map_err(Report::from)?;
            let Some(last) = listed.last() else { break };
            page.before = Some(last.id);
            found.extend(listed.into_iter().filter(|change| self.is_about(change)));
        }
        found.truncate(wanted);
        Ok(found)
    }

    fn is_about(&self, change: &Summary) -> bool {
        let mut paths = change.files.iter().flat_map(|file| [&file.path_before, &file.path_after]).flatten();
        paths.any(|path| match &self.path {
            // Files of other roots are named in full.
            None => !path.is_absolute(),
            Some(own) => {
                let rest = path.as_str().strip_prefix(own.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        })
    }

    fn unknown(&self) -> Box<Report> {
        let message = format!("`{}` is not there, and the journal has no change of it", self.given);
        Report::new(Status::Invalid, "unknown_path", message)
            .hint("Give a path relative to the root; `incise log` without `--path` shows all changes.")
            .into()
    }
}

/// A folder as it would be written if it were a file.
fn without_slash(text: &str) -> &str {
    let shorter = text.strip_suffix("/.").or_else(|| text.strip_suffix('/'));
    shorter.map_or(text, without_slash)
}

/// How the journal names a real path: relative to the first root, in full in another; nothing is the first root.
fn in_journal(real: &Path, workspace: &Workspace) -> Option<Option<String>> {
    let mut roots = workspace.roots();
    let first = roots.next()?;
    // Of a root in a root, the inner one.
    let inner = roots.filter(|root| real.starts_with(root)).max_by_key(|root| root.len());
    match (real.strip_prefix(first), inner) {
        (Ok(_), Some(inner)) if inner.len() > first.len() => Some(Some(real.to_str()?.to_owned())),
        (Ok(rest), _) => Some(Some(rest.to_str()?.to_owned()).filter(|rest| !rest.is_empty())),
        (Err(_), Some(_)) => Some(Some(real.to_str()?.to_owned())),
        (Err(_), None) => None,
    }
}

fn outside(text: &str) -> Box<Report> {
    Report::new(Status::Invalid, "outside_root", format!("`{text}` leads outside the root"))
        .hint("Only files beneath the root have changes here; give the path of one.")
        .into()
}
