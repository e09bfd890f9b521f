//! Which changes a command works on. `log`, `undo`, `redo`, `stats` and `review` select them in the same way: by id, and by
//! `--session`, `--agent`, `--file`, `--since` and `--until`.

use std::collections::BTreeSet;

use anstyle::AnsiColor;
use clap::Args;
use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{Filter, Origin, ProposalId, Summary};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::{escape_controls, join_items};
use slipstitch::stats::CallFilter;

use crate::caller_names::CallerNames;
use crate::error::CommandError;
use crate::file_argument::file_name;
use crate::global::Global;
use crate::ids::IdRange;
use crate::other_roots::OtherRoots;
use crate::path_filter::PathFilter;
use crate::render::write_labelled;
use crate::streams::StyledText;
use slipstitch_review::times;

/// The options that select changes, apart from `--session` and `--agent`, which are global.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Selection {
    /// Only changes of this file, or of files in this folder; symlinks are followed
    #[arg(long, value_name = "FILE", visible_alias = "path", value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    pub(crate) file: Option<String>,
    /// Only changes since this time: a date, a time, or a duration such as 30m, 2h or 3d
    #[arg(long, value_name = "TIME", value_parser = times::parse_since)]
    pub(crate) since: Option<i64>,
    /// Only changes before this time; a date includes the whole day
    #[arg(long, value_name = "TIME", value_parser = times::parse_until)]
    pub(crate) until: Option<i64>,
}

impl Selection {
    /// These options, with those of `other` for what is not given.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            file: self.file.or(other.file),
            since: self.since.or(other.since),
            until: self.until.or(other.until),
        }
    }

    /// Whether an option other than `--session` is given.
    pub(crate) fn is_given(&self, global: &Global) -> bool {
        self.file.is_some() || self.since.is_some() || self.until.is_some() || global.agent.is_some()
    }

    /// The selected changes, newest first.
    pub(crate) fn changes(
        &self,
        filter: Filter,
        workspace: &Workspace,
        global: &Global,
    ) -> Result<Vec<Summary>, CommandError> {
        let filter = self.limit(filter, global);
        match &self.file {
            None => Ok(workspace.log(&filter).map_err(Report::from)?),
            Some(file) => PathFilter::new(file, workspace, global)?.changes(workspace, filter),
        }
    }

    /// The filter with these options, apart from `--file`.
    fn limit(&self, filter: Filter, global: &Global) -> Filter {
        let (session, agent) = (global.session.clone(), global.agent.clone());
        Filter { session, agent, since: self.since, until: self.until, ..filter }
    }

    /// Names other roots of the project with changes that are selected, as the rest of a sentence about them.
    pub(crate) fn other_roots(
        &self,
        filter: Filter,
        workspace: &Workspace,
        global: &Global,
    ) -> Option<String> {
        // A path means another file there.
        match &self.file {
            Some(_) => None,
            None => OtherRoots::of(workspace).describe(&self.limit(filter, global)),
        }
    }

    /// A note that names other roots of the project with changes that are selected, for a command that shows one root.
    pub(crate) fn note_on_other_roots(&self, workspace: &Workspace, global: &Global) -> Option<String> {
        let roots = self.other_roots(Filter::default(), workspace, global)?;
        Some(format!("changes {roots}"))
    }

    /// Whether something that was made then, by this origin and with these files, is selected.
    pub(crate) fn includes<'a>(
        &self,
        at: i64,
        origin: &Origin,
        paths: impl IntoIterator<Item = &'a slipstitch::core::path::FilePath>,
        path_filter: Option<&PathFilter>,
        global: &Global,
    ) -> bool {
        let mut paths = paths.into_iter();
        global.session.as_ref().is_none_or(|session| *session == origin.session)
            && global.agent.as_ref().is_none_or(|agent| Some(agent) == origin.agent.as_ref())
            && self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at < until)
            && path_filter.is_none_or(|filter| paths.any(|path| filter.matches_path(path)))
    }

    /// The same selection of calls.
    pub(crate) fn calls(&self, files: Option<&PathFilter>, global: &Global) -> CallFilter {
        CallFilter {
            session: global.session.clone(),
            agent: global.agent.clone(),
            files: files.map(PathFilter::names),
            since: self.since,
            until: self.until,
            ..CallFilter::default()
        }
    }

    /// The same selection for the review page.
    pub(crate) fn for_page(
        &self,
        workspace: &Workspace,
        global: &Global,
    ) -> Result<slipstitch_review::Selection, CommandError> {
        let time = |at: Option<i64>| at.map(times::format_exact).unwrap_or_default();
        let files = self.path_filter(workspace, global)?;
        Ok(slipstitch_review::Selection {
            agent: global.agent.clone().unwrap_or_default(),
            session: global.session.clone().unwrap_or_default(),
            file: files.map_or(Ok(String::new()), |files| files.only_name())?,
            since: time(self.since),
            until: time(self.until),
            ..slipstitch_review::Selection::default()
        })
    }

    /// The filter for `--file`, if it is given.
    pub(crate) fn path_filter(
        &self,
        workspace: &Workspace,
        global: &Global,
    ) -> Result<Option<PathFilter>, CommandError> {
        self.file.as_deref().map(|file| PathFilter::new(file, workspace, global)).transpose()
    }
}

/// The error for a selection without changes.
pub(crate) fn nothing_selected(
    verb: &str,
    selection: &Selection,
    workspace: &Workspace,
    global: &Global,
) -> CommandError {
    let elsewhere = selection.other_roots(Filter::default(), workspace, global);
    let hint = elsewhere
        .map(|roots| format!("Such changes {roots}."))
        .or_else(|| known_names(workspace, global))
        .unwrap_or_else(|| "`slipstitch log` takes the same options and shows what they select.".into());
    Report::custom(Status::Refused, "nothing_selected", format!("no change to {verb} matches these options"))
        .hint(format!("Nothing was written. {hint}"))
        .into()
}

/// Ids already say which changes are meant.
pub(crate) fn reject_filters(selection: &Selection, global: &Global) -> Result<(), CommandError> {
    match selection.is_given(global) {
        true => Err(CommandError::usage(
            "ids cannot be combined with options that select changes",
            "Name the ids alone, or only use the options.",
        )),
        false => Ok(()),
    }
}

/// Lists the agents or sessions that made changes, if the selected one made none.
pub(crate) fn known_names(workspace: &Workspace, global: &Global) -> Option<String> {
    let names = CallerNames::of(workspace);
    let describe = |kind: &str, wanted: &Option<String>, known: &BTreeSet<String>| {
        let wanted = wanted.as_ref().filter(|wanted| !known.contains(*wanted))?;
        let known: Vec<String> = known.iter().map(|name| format!("`{}`", escape_controls(name))).collect();
        let known = if known.is_empty() { String::new() } else { format!("; known: {}", join_items(&known)) };
        Some(format!("No changes here are from {kind} `{}`{known}.", escape_controls(wanted)))
    };
    describe("the agent", &global.agent, &names.agents)
        .or_else(|| describe("the session", &global.session, &names.sessions))
}

/// Says why a list is empty: because of the options, or because there is nothing at all.
pub(crate) fn write_nothing_listed(what: &str, hint: Option<&str>, is_selected: bool, err: &mut StyledText) {
    if !is_selected {
        return err.line(format!("No {what} recorded here."));
    }
    err.line(format!("No {what} match these options."));
    if let Some(hint) = hint {
        write_labelled(AnsiColor::Cyan, "hint", hint, err);
    }
}

/// The ids in several ranges of proposals. A range selects only pending proposals; single ids are taken as they are.
pub(crate) fn expand_proposal_ids(
    ranges: &[IdRange<ProposalId>],
    workspace: &Workspace,
) -> Result<Vec<ProposalId>, CommandError> {
    let mut ids: Vec<ProposalId> = ranges.iter().filter_map(|range| range.single()).collect();
    if ids.len() < ranges.len() {
        let pending = workspace.proposals().map_err(Report::from)?;
        let is_named = |id: &ProposalId| ranges.iter().any(|range| range.contains(*id));
        ids.extend(pending.iter().map(|found| found.id).filter(is_named));
    }
    ids.sort_unstable();
    ids.dedup();
    match ids.is_empty() {
        true => {
            Err(Report::custom(Status::Refused, "nothing_selected", "none of these proposals is pending")
                .hint("`slipstitch review` lists the pending proposals.")
                .into())
        }
        false => Ok(ids),
    }
}

/// The ids of several ranges. In a range, only changes that `filter` allows count; single ids are taken as they are.
pub(crate) fn expand_ids(
    ranges: &[IdRange],
    filter: &Filter,
    workspace: &Workspace,
) -> Result<Vec<ChangeId>, CommandError> {
    let mut ids: Vec<ChangeId> = ranges.iter().filter_map(|range| range.single()).collect();
    for range in ranges.iter().filter(|range| range.single().is_none()) {
        let within = Filter {
            after: ChangeId(range.first.0.saturating_sub(1)).into(),
            before: ChangeId(range.last.0.saturating_add(1)).into(),
            ..filter.clone()
        };
        let listed = workspace.log(&within).map_err(Report::from)?;
        ids.extend(listed.iter().map(|change| change.id).filter(|id| range.contains(*id)));
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}
