//! What `log --path` names: a file, or a folder with everything beneath it.

use std::path::{Component, Path, PathBuf};

use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::path::{FilePath, PathError};
use slipstitch::core::ports::journal::{Filter, Summary};
use slipstitch::core::report::Report;

use crate::args::Global;

/// How many changes are looked at at once.
const PAGE: usize = 500;

/// How many links that lead to nothing are followed: as many as the system follows.
const MAX_LINKS: usize = 40;

/// A file or a folder, there or not, as the journal names it.
pub(super) struct Subject {
    /// As it was given.
    given: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    File(FilePath),
    /// Nothing for the whole of the first root.
    Folder(Option<String>),
    /// It may have been either, under the name that was given or, by way of links, another.
    Gone(Vec<String>),
}

impl Subject {
    /// What `text` names, by way of symlinks if there are any.
    pub(super) fn named(text: &str, workspace: &Workspace, global: &Global) -> Result<Self, Box<Report>> {
        let path = match workspace.path(text) {
            Err(PathError::Folder(_)) => match workspace.path(without_slash(text)) {
                // A root.
                Err(PathError::Folder(_)) => None,
                // A folder that is written as one.
                _ => Some(global.file(without_slash(text), workspace)?),
            },
            _ => Some(global.file(text, workspace)?),
        };
        let there = Path::new(workspace.root()).join(path.as_ref().map_or(text, FilePath::as_str));
        let given = text.to_owned();
        let Ok(real) = there.canonicalize() else {
            let led_to = end_of_links(&there).and_then(|real| in_journal(&real, workspace)?);
            let names = path.map(|path| path.to_string()).into_iter().chain(led_to);
            return Ok(Self { given, kind: Kind::Gone(names.collect()) });
        };
        let path = in_journal(&real, workspace).ok_or_else(|| outside(text))?;
        let kind = match path {
            Some(path) if !real.is_dir() => Kind::File(global.file(&path, workspace)?),
            path => Kind::Folder(path),
        };
        Ok(Self { given, kind })
    }

    /// Its changes, newest first. A name that is neither there nor in the journal is a mistake.
    pub(super) fn changes(&self, workspace: &Workspace, filter: Filter) -> Result<Vec<Summary>, Box<Report>> {
        let found = self.list(workspace, filter)?;
        if found.is_empty() && matches!(self.kind, Kind::Gone(_)) {
            let any = self.list(workspace, Filter { limit: Some(1), ..Filter::default() })?;
            if any.is_empty() {
                return Err(self.unknown());
            }
        }
        Ok(found)
    }

    fn list(&self, workspace: &Workspace, filter: Filter) -> Result<Vec<Summary>, Box<Report>> {
        if let Kind::File(path) = &self.kind {
            let filter = Filter { path: Some(path.clone()), ..filter };
            return Ok(workspace.log(&filter).map_err(Report::from)?);
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
        paths.any(|path| match &self.kind {
            Kind::File(own) => path == own,
            // Files of other roots are named in full.
            Kind::Folder(None) => !path.is_absolute(),
            Kind::Folder(Some(own)) => is_beneath(path, own),
            Kind::Gone(names) => names.iter().any(|own| is_beneath(path, own)),
        })
    }

    fn unknown(&self) -> Box<Report> {
        let message = format!("`{}` is not there, and the journal has no change of it", self.given);
        Report::custom(Status::Invalid, "unknown_path", message)
            .hint("Give a path relative to the root; `slipstitch log` without `--path` shows all changes.")
            .into()
    }
}

/// Whether a path is `own`, or beneath it.
fn is_beneath(path: &FilePath, own: &str) -> bool {
    let rest = path.as_str().strip_prefix(own);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Where something that is not there would be: the deepest part that is there with its links followed, and the rest
/// as it is. A link to nothing is followed, too.
fn end_of_links(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let there = path.ancestors().find(|part| part.symlink_metadata().is_ok())?.to_owned();
        let rest = path.strip_prefix(&there).ok()?.to_owned();
        // What is above something that is not there is not known.
        if rest.components().any(|part| !matches!(part, Component::Normal(_))) {
            return None;
        }
        // Not `join`, which would end a path in a slash if there is no rest.
        let whole = |start: PathBuf| start.components().chain(rest.components()).collect();
        path = match there.canonicalize() {
            Ok(real) => return Some(whole(real)),
            Err(_) => whole(there.parent()?.canonicalize().ok()?.join(there.read_link().ok()?)),
        };
    }
    None
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
    Report::custom(Status::Invalid, "outside_root", format!("`{text}` leads outside the root"))
        .hint("Only files beneath the root have changes here; give the path of one.")
        .into()
}
