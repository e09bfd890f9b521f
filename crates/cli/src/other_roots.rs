//! Changes and proposals of other roots of the same project. An agent's server works in the folder that it was started in, and
//! commands work in the project around it; neither is what a person means who looks for what was done to a file.

use std::path::Path;

use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{ChangeKind, ChangeState, Filter, Summary};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::{escape_controls, join_items};
use slipstitch::os_path::{path_to_text, text_to_path};

use crate::error::CommandError;
use crate::global::Global;
use crate::ids::{IdRange, RangeId};
use crate::shell;

/// How many roots a message names.
const MAX_NAMED: usize = 3;

/// Opens the root that the ids belong to, if that is a root around this one or inside it. `--root` says which one is meant.
pub(crate) fn follow_ids<I: RangeId>(
    workspace: Workspace,
    ranges: &[IdRange<I>],
    global: &Global,
) -> Result<Workspace, CommandError> {
    let mut elsewhere = Vec::new();
    for id in ranges.iter().filter_map(|range| range.single()) {
        elsewhere.extend(id.other_root(&workspace).map_err(Report::from)?.map(|root| (id, root)));
    }
    let Some((id, root)) = elsewhere.first() else { return Ok(workspace) };
    let is_only_root = elsewhere.len() == ranges.len() && elsewhere.iter().all(|(_, other)| other == root);
    let (kind, argument) = (I::KIND, as_argument(root));
    if !is_only_root {
        return Err(CommandError::usage(
            format!("{id} is a {kind} of the root `{}`, and others are not", escape_controls(root)),
            format!("Name {kind}s of one root at a time, such as those of `--root {argument}`."),
        ));
    }
    let is_nested =
        Path::new(root).starts_with(workspace.root()) || Path::new(workspace.root()).starts_with(root);
    if !is_nested || !global.root.is_empty() {
        let message = format!("{id} is a {kind} of another root, `{}`", escape_controls(root));
        let report = Report::custom(Status::Invalid, "other_root", message);
        return Err(report.hint(format!("Run the command there, or with `--root {argument}`.")).into());
    }
    global.open_to_select_at(Path::new(root))
}

/// Says which root paths are relative to, if it is not the project around the working folder.
pub(crate) fn root_note(workspace: &Workspace, global: &Global) -> Option<String> {
    let is_followed = global.root.is_empty() && {
        let project = global.project_root().canonicalize();
        project.is_ok_and(|project| path_to_text(&project) != workspace.root())
    };
    is_followed.then(|| format!("paths are relative to the root `{}`", escape_controls(workspace.root())))
}

/// The other roots around this one and inside it.
pub(crate) struct OtherRoots<'a> {
    workspace: &'a Workspace,
    roots: Vec<String>,
}

impl<'a> OtherRoots<'a> {
    /// They only add to a message, so a journal that cannot be read has none.
    pub(crate) fn of(workspace: &'a Workspace) -> Self {
        Self { workspace, roots: workspace.nested_roots().unwrap_or_default() }
    }

    /// Names those with changes that the filter selects. What the text is about, such as `changes`, comes before it.
    pub(crate) fn describe(&self, filter: &Filter) -> Option<String> {
        let filter = Filter { limit: Some(1), ..filter.clone() };
        let has_changes =
            |root: &&String| self.workspace.log_of_root(root, &filter).is_ok_and(|found| !found.is_empty());
        let roots: Vec<&String> = self.roots.iter().filter(has_changes).collect();
        describe_roots(&roots)
    }

    /// Names those with pending proposals, as the rest of a sentence about proposals.
    pub(crate) fn describe_pending(&self) -> Option<String> {
        let has_proposals =
            |root: &&String| self.workspace.pending_count_of_root(root).is_ok_and(|count| count > 0);
        describe_roots(&self.roots.iter().filter(has_proposals).collect::<Vec<_>>())
    }

    /// The changes of other roots to a file of this one that are still in effect, between two changes of it, newest first. Each
    /// comes with its root.
    pub(crate) fn changes_of(
        &self,
        path: &FilePath,
        after: ChangeId,
        before: Option<ChangeId>,
    ) -> Vec<(ChangeId, &str)> {
        let full = Path::new(self.workspace.root()).join(text_to_path(path.as_str()));
        let mut found = Vec::new();
        for root in &self.roots {
            let Ok(inside) = full.strip_prefix(root) else { continue };
            let Ok(path) = FilePath::from_record(&path_to_text(inside)) else { continue };
            let filter = Filter { path: Some(path), after: Some(after), before, ..Filter::default() };
            let changes = self.workspace.log_of_root(root, &filter).unwrap_or_default();
            // What was made and undone since then has no effect.
            let is_in_effect = |change: &&Summary| {
                let is_back = match &change.kind {
                    ChangeKind::Undo(of) => of.ids().iter().all(|id| *id > after),
                    ChangeKind::Edit | ChangeKind::Redo(_) => false,
                };
                change.state == ChangeState::Done && change.undone_by.is_none() && !is_back
            };
            found.extend(changes.iter().filter(is_in_effect).map(|change| (change.id, root.as_str())));
        }
        found.sort_unstable_by(|one, other| other.cmp(one));
        found
    }
}

fn describe_roots(roots: &[&String]) -> Option<String> {
    let first = roots.first()?;
    let mut names: Vec<String> =
        roots.iter().take(MAX_NAMED).map(|root| format!("`{}`", escape_controls(root))).collect();
    if roots.len() > MAX_NAMED {
        names.push(format!("{} more", roots.len() - MAX_NAMED));
    }
    let (plural, argument) = (if roots.len() > 1 { "roots" } else { "root" }, as_argument(first));
    let names = join_items(&names);
    Some(format!("were also made with the {plural} {names}; select them with `--root {argument}`"))
}

/// A root as a word of a command, relative to the working folder if it is inside it.
fn as_argument(root: &str) -> String {
    let folder = std::env::current_dir().ok();
    let inside = folder.as_deref().and_then(|folder| Path::new(root).strip_prefix(folder).ok());
    match inside.map(path_to_text) {
        Some(path) if path.is_empty() => ".".into(),
        Some(path) => shell::quote(&path).into_owned(),
        None => shell::quote(root).into_owned(),
    }
}
