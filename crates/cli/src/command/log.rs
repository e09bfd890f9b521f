//! `slipstitch log`: list changes.

mod follow;

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style};
use clap::Args;
use clap_complete::ArgValueCompleter;
use serde::Serialize;
use slipstitch::Workspace;
use slipstitch::core::engine::history::ForeignChange;
use slipstitch::core::engine::{pruned_change, unknown_change};
use slipstitch::core::plan::{ChangeId, ChangeLabels};
use slipstitch::core::ports::journal::{
    ChangeKind, ChangeState, Entry, FileSummary, Filter, Origin, Summary,
};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;

use crate::complete;
use crate::consent::PHRASES;
use crate::error::CommandError;
use crate::global::Global;
use crate::ids::{IdRange, parse_ids};
use crate::other_roots::{OtherRoots, follow_ids, root_note};
use crate::output::{CommandOutput, CommandResult};
use crate::progress::Progress;
use crate::render::write_labelled;
use crate::selection::{Selection, expand_ids, known_names, reject_filters, write_nothing_listed};
use crate::streams::{Streams, StyledText, columns, padded};
use crate::terminal;
pub(super) use slipstitch_review::times::format_local as local_time;

/// How many files of a change are listed on its line.
const MAX_FILES: usize = 3;

const EXAMPLES: &str = "\
Examples:
  slipstitch log
  slipstitch log --since 2h --file src/main.rs
  slipstitch log --file src
  slipstitch log --agent claude-code
  slipstitch log --session agent --since 2025-01-01 --until 2025-01-31
  slipstitch log c3 c5..c7
  slipstitch log --all --json
  slipstitch log --follow              show changes and proposals as they happen

A line that starts with ~ marks a file that was changed between two changes or since the last one
by something not recorded here, such as an editor, or by a change of another root.

A time is a date (2025-01-31), a date and time (2025-01-31T12:00, or RFC 3339 with an offset), or
a duration before now (30m, 2h, 3d, 1w).";

/// List changes, newest first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Log {
    /// Only these changes, such as c7 or c3..c7
    #[arg(value_name = "ID", value_parser = parse_ids::<ChangeId>, add = ArgValueCompleter::new(complete::change_ids))]
    ids: Vec<IdRange>,
    /// Show at most N changes
    #[arg(long, value_name = "N", default_value = "50", conflicts_with = "all")]
    limit: usize,
    /// Show all changes
    #[arg(long)]
    all: bool,
    /// Keep showing changes, proposals and decisions as they happen, until interrupted; with --json, one object per line
    #[arg(long, short = 'f', conflicts_with_all = ["all", "limit", "ids"])]
    follow: bool,
    #[command(flatten)]
    selection: Selection,
}

impl Log {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let progress = Progress::start("Reading the journal", global);
        let workspace = global.open_to_select()?;
        if self.follow {
            drop(progress);
            return follow::run(&workspace, &self.selection, global);
        }
        if !self.ids.is_empty() {
            reject_filters(&self.selection, global)?;
            let workspace = follow_ids(workspace, &self.ids, global)?;
            let changes = named_changes(&self.ids, &workspace)?;
            let note = root_note(&workspace, global);
            return Ok(Box::new(LogOutput { note, ..LogOutput::of(changes, &workspace)? }));
        }
        let max = if self.all { usize::MAX } else { self.limit };
        // One more than shown, to know whether there are more.
        let filter = Filter { limit: max.checked_add(1), ..Filter::default() };
        let mut changes = self.selection.changes(filter, &workspace, global)?;
        let more = changes.len() > max;
        changes.truncate(max);
        let is_selected = self.selection.is_given(global) || global.session.is_some();
        let empty = match is_selected && changes.is_empty() {
            true => Empty::NothingSelected(known_names(&workspace, global)),
            false => Empty::Nothing,
        };
        let note = self.selection.note_on_other_roots(&workspace, global);
        Ok(Box::new(LogOutput { more, empty, note, ..LogOutput::of(changes, &workspace)? }))
    }
}

/// The changes with these ids, newest first. Ids of a range that do not exist are skipped.
fn named_changes(ranges: &[IdRange], workspace: &Workspace) -> Result<Vec<Summary>, CommandError> {
    let mut changes = Vec::new();
    for id in expand_ids(ranges, &Filter::default(), workspace)?.into_iter().rev() {
        changes.push(find_change(workspace, id)?.summary);
    }
    Ok(changes)
}

#[derive(Serialize)]
struct LogOutput {
    changes: Vec<Summary>,
    /// Files changed without a record between these changes or since.
    foreign: Vec<ForeignChange>,
    /// Whether older changes were left out.
    more: bool,
    /// What an empty list means.
    #[serde(skip)]
    empty: Empty,
    /// What was done with other roots of the project to the files of `foreign`, in the same order.
    #[serde(skip)]
    elsewhere: Vec<Option<String>>,
    /// What the user should know about other roots of the project.
    #[serde(skip)]
    note: Option<String>,
}

impl LogOutput {
    fn of(changes: Vec<Summary>, workspace: &Workspace) -> Result<Self, CommandError> {
        let foreign = workspace.foreign(&changes).map_err(Report::from)?;
        let roots = OtherRoots::of(workspace);
        let describe = |found: &ForeignChange| {
            let changes = roots.changes_of(&found.path, found.after, found.before);
            let (id, root) = changes.first()?;
            let others = if changes.len() > 1 { " and others" } else { "" };
            Some(format!("{id}{others}, made with the root `{}`", escape_controls(root)))
        };
        let elsewhere = foreign.iter().map(describe).collect();
        Ok(Self { changes, foreign, more: false, empty: Empty::Nothing, elsewhere, note: None })
    }
}

/// What an empty list means.
enum Empty {
    Nothing,
    /// The options select nothing. Lists the existing names if one of the options has an unknown one.
    NothingSelected(Option<String>),
}

impl CommandOutput for LogOutput {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    fn write(&self, streams: &mut Streams) {
        let width = |text: fn(&Summary) -> String| {
            self.changes.iter().map(|change| columns(&text(change))).max().unwrap_or(0)
        };
        let widths = Widths {
            id: width(|change| change.id.to_string()),
            session: width(who),
            tool: width(|change| change.origin.tool.clone()),
        };
        let mut foreign: BTreeMap<ChangeId, Vec<(&ForeignChange, Option<&str>)>> = BTreeMap::new();
        for (found, by) in self.foreign.iter().zip(&self.elsewhere) {
            foreign.entry(found.before.unwrap_or(found.after)).or_default().push((found, by.as_deref()));
        }
        streams.out.width = terminal::width();
        for change in &self.changes {
            let beside = foreign.remove(&change.id).unwrap_or_default();
            let (since, before): (Vec<_>, Vec<_>) =
                beside.into_iter().partition(|(found, _)| found.before.is_none());
            since.into_iter().for_each(|(found, by)| write_foreign_change(found, by, &mut streams.out));
            write_change(change, &widths, &mut streams.out);
            before.into_iter().for_each(|(found, by)| write_foreign_change(found, by, &mut streams.out));
        }
        if self.changes.is_empty() && !self.more {
            let (hint, is_selected) = match &self.empty {
                Empty::Nothing => (None, false),
                Empty::NothingSelected(hint) => (hint.as_deref(), true),
            };
            write_nothing_listed("changes", hint, is_selected, &mut streams.err);
        }
        if self.more {
            streams.err.line("There are older changes; use `--limit N` or `--all` to show them.");
        }
        if let Some(note) = &self.note {
            write_labelled(AnsiColor::Cyan, "note", note, &mut streams.err);
        }
    }
}

/// Column widths.
struct Widths {
    id: usize,
    session: usize,
    tool: usize,
}

fn write_change(change: &Summary, widths: &Widths, out: &mut StyledText) {
    let Widths { id, session, tool } = *widths;
    out.styled(Style::new().bold(), format!("{:<id$}", change.id.to_string()));
    let (from, by) = (who(change), &change.origin.tool);
    let (from, by) = (padded(&from, session), padded(by, tool));
    let origin = format!("  {}  {from}  {by}  ", local_time(change.at));
    let kind = describe_kind(change).map_or(String::new(), |kind| kind + ": ");
    let mut files: Vec<String> = change.files.iter().take(MAX_FILES).map(describe_file).collect();
    if change.files.len() > MAX_FILES {
        files.push(format!("{} more", change.files.len() - MAX_FILES));
    }
    let description = change.description.as_ref().map_or(String::new(), |text| format!("  {text}"));
    let what = escape_controls(&format!("{kind}{}{description}", files.join(", ")));
    // An origin that is wider than the terminal is wrapped too.
    let used = match out.width().is_some_and(|width| id + columns(&origin) > width) {
        true => out.wrapped(&format!("{origin}{what}"), id),
        false => {
            out.text(&origin);
            out.wrapped(&what, id + columns(&origin))
        }
    };
    if let Some(state) = describe_state(change) {
        let room = columns(&state) + "  []".len();
        let fits = out.width.is_none_or(|width| used + room <= width);
        out.text(if fits { "  " } else { "\n  " });
        out.styled(AnsiColor::Yellow.on_default(), format!("[{state}]"));
    }
    out.line("");
}

/// The session, and the agent if it is known by another name.
fn who(change: &Summary) -> String {
    let Origin { session, agent, .. } = &change.origin;
    escape_controls(&match agent {
        Some(agent) if !session.contains(agent.as_str()) => format!("{agent} ({session})"),
        _ => session.clone(),
    })
}

/// Writes a line for a file that was changed without a record: by another program, or by Slipstitch with another root.
fn write_foreign_change(found: &ForeignChange, by: Option<&str>, out: &mut StyledText) {
    let when = match found.before {
        Some(before) => format!("between {} and {before}", found.after),
        None => format!("since {}", found.after),
    };
    let path = escape_controls(found.path.as_str());
    out.styled(
        AnsiColor::Yellow.on_default(),
        format!("~ {path} was changed {when} by {}", by.unwrap_or("something not recorded here")),
    );
    out.line("");
}

/// Which change this one undoes or redoes, if any.
pub(super) fn describe_kind(change: &Summary) -> Option<String> {
    match &change.kind {
        ChangeKind::Edit => None,
        ChangeKind::Undo(of) => Some(format!("undo of {of}")),
        ChangeKind::Redo(of) => Some(format!("redo of {of}")),
    }
}

/// Writes how the dialect classifies a change, as fields of a detailed view.
pub(super) fn write_labels(labels: &ChangeLabels, field: &mut impl FnMut(&str, &str)) {
    field("log level", &escape_controls(&labels.log_level));
    field("safety level", &escape_controls(&labels.safety_level));
    field("categories", &escape_controls(&labels.categories.join(", ")));
}

/// The state of a change, if it is not simply done.
pub(super) fn describe_state(change: &Summary) -> Option<String> {
    if change.damage.is_some() {
        return Some("damaged".into());
    }
    match (change.state, change.undone_by) {
        (ChangeState::Pending, _) => Some("pending".into()),
        (ChangeState::Abandoned, _) => Some("abandoned".into()),
        (ChangeState::Done, Some(by)) => Some(format!("undone by {by}")),
        (ChangeState::Done, None) => None,
    }
}

/// What a change did to a file.
pub(super) fn describe_file(file: &FileSummary) -> String {
    match (&file.path_before, &file.path_after) {
        (None, Some(path)) => format!("created {path}"),
        (Some(path), None) => format!("deleted {path}"),
        (Some(from), Some(to)) if from != to => format!("moved {from} to {to}"),
        (Some(path), Some(_)) => format!("changed {path}"),
        (None, None) => "nothing".into(),
    }
}

/// A change of the journal, or the error that says why there is none.
pub(super) fn find_change(workspace: &Workspace, id: ChangeId) -> Result<Entry, CommandError> {
    match workspace.change(id).map_err(Report::from)? {
        Some(entry) => Ok(entry),
        None if workspace.was_pruned(id).map_err(Report::from)? => Err(pruned_change(id).into()),
        None => {
            let report = unknown_change(id, &PHRASES);
            Err(report.hint("Run `slipstitch log --all` to list all changes.").into())
        }
    }
}
