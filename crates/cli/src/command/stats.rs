//! `slipstitch stats`: count tool calls by outcome.

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCandidates;
use serde::Serialize;
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;
use slipstitch::stats::{CallFilter, CallGroup, Count, FailedEdit, Tally};

use super::dialect_name::DialectName;
use crate::complete;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::progress::Progress;
use crate::render::write_labelled;
use crate::selection::{Selection, write_nothing_listed};
use crate::streams::{Streams, StyledText, columns, padded};
use crate::terminal;
use slipstitch_review::times;

const EXAMPLES: &str = "\
Examples:
  slipstitch stats
  slipstitch stats --since 7d
  slipstitch stats --agent claude-code --dialect native
  slipstitch stats --file src
  slipstitch stats --by model
  slipstitch stats --failures
  slipstitch stats --json

This counts tool calls made through `slipstitch mcp` and `slipstitch call` in this root. The
journal records how each call ended, which files it was about, and the model, if the client says
which it is (Codex does) or SLIPSTITCH_MODEL names it. Of the last 20 refused edits it also keeps the file, the first
line that differed and the closest line, except for private files. The data stays on this machine.

Recovered calls are those whose old text did not match exactly; they are included in the applied
calls. Additions are calls that added lines to an existing file and removed none, by mode.";

/// Count tool calls by outcome, with the reasons for refusals
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Stats {
    /// Only calls in this dialect
    #[arg(long, value_name = "NAME", value_parser = DialectName)]
    dialect: Option<String>,
    /// Only calls by this model
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::models))]
    model: Option<String>,
    /// Group calls by this; sessions are also split by agent, model and dialect
    #[arg(long, value_name = "WHAT", value_enum, default_value = "session")]
    by: RowKey,
    /// Show all refused edits that are kept, not only the last ones
    #[arg(long)]
    failures: bool,
    #[command(flatten)]
    selection: Selection,
}

/// What calls are grouped by: each group is a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RowKey {
    // Comments for the help would make all of it long.
    Session,
    Agent,
    Model,
    Dialect,
}

impl RowKey {
    fn name(self, group: &CallGroup) -> String {
        let CallGroup { session, agent, model, dialect, .. } = group;
        escape_controls(&match self {
            Self::Session => {
                let caller: Vec<&str> = [agent, model].into_iter().flatten().map(String::as_str).collect();
                let caller =
                    if caller.is_empty() { String::new() } else { format!(" ({})", caller.join(", ")) };
                format!("{session}{caller}, {dialect}")
            }
            Self::Agent => agent.clone().unwrap_or_else(|| "no name".into()),
            Self::Model => model.clone().unwrap_or_else(|| "not known".into()),
            Self::Dialect => dialect.clone(),
        })
    }

    /// The rows: groups of the same name are counted together.
    fn rows(self, groups: &[CallGroup]) -> Vec<(String, Tally)> {
        let mut rows: Vec<(String, Tally)> = Vec::new();
        for group in groups {
            let name = self.name(group);
            match rows.iter_mut().find(|(known, _)| *known == name) {
                Some((_, tally)) => tally.merge(&group.tally),
                None => rows.push((name, group.tally.clone())),
            }
        }
        rows
    }
}

/// How many refused edits are shown without `--failures`.
const LAST_FAILURES: usize = 3;

impl Stats {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        if let Some(name) = &self.dialect {
            slipstitch::dialects::builtin().lookup(name).map_err(Report::from)?;
        }
        let _progress = Progress::start("Reading the journal", global);
        let workspace = global.open_to_select()?;
        let files = self.selection.path_filter(&workspace, global)?;
        let is_selected = self.selection.is_given(global)
            || global.session.is_some()
            || self.dialect.is_some()
            || self.model.is_some();
        let calls = self.selection.calls(files.as_ref(), global);
        let filter = CallFilter { model: self.model, dialect: self.dialect, ..calls };
        let groups = workspace.stats(&filter).map_err(Report::from)?;
        let failures = workspace.failures(&filter).map_err(Report::from)?;
        if let Some(missing) = files.filter(|files| groups.is_empty() && files.is_missing()) {
            return Err(missing.unknown_path(&workspace, "no recorded call is about it"));
        }
        let mut total = Tally::default();
        groups.iter().for_each(|group| total.merge(&group.tally));
        // The journal lists the changes of other roots by who made them, not by how a call was made.
        let note = match filter.model.is_some() || filter.dialect.is_some() {
            true => None,
            false => self.selection.note_on_other_roots(&workspace, global),
        };
        let shown = if self.failures { usize::MAX } else { LAST_FAILURES };
        Ok(Box::new(StatsOutput { groups, total, failures, shown, by: self.by, is_selected, note }))
    }
}

#[derive(Serialize)]
struct StatsOutput {
    groups: Vec<CallGroup>,
    total: Tally,
    /// The last edits that had no place, newest first.
    failures: Vec<FailedEdit>,
    /// How many of them are shown as text.
    #[serde(skip)]
    shown: usize,
    /// What the rows of the text are.
    #[serde(skip)]
    by: RowKey,
    /// Whether options limit which calls are counted.
    #[serde(skip)]
    is_selected: bool,
    /// Names other roots of the project with changes that are selected.
    #[serde(skip)]
    note: Option<String>,
}

const COLUMNS: [&str; 9] =
    ["calls", "applied", "recovered", "dry runs", "unchanged", "shown", "refused", "invalid", "failed"];

fn column_values(tally: &Tally) -> [u64; 9] {
    [
        tally.calls,
        tally.applied,
        tally.recovered,
        tally.dry_runs,
        tally.unchanged,
        tally.shown,
        tally.refused,
        tally.invalid,
        tally.failed,
    ]
}

impl CommandOutput for StatsOutput {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    fn write(&self, streams: &mut Streams) {
        if let Some(note) = &self.note {
            write_labelled(AnsiColor::Cyan, "note", note, &mut streams.err);
        }
        if self.groups.is_empty() {
            write_nothing_listed("calls", None, self.is_selected, &mut streams.err);
            return;
        }
        streams.out.width = terminal::width();
        let grouped = self.by.rows(&self.groups);
        let width = grouped.iter().map(|(name, _)| columns(name)).max().unwrap_or(0).max("total".len());
        let table_width = width + COLUMNS.iter().map(|head| head.len() + 2).sum::<usize>();
        let fits = terminal::width().is_none_or(|columns| table_width <= columns);
        if fits {
            let heads = COLUMNS.iter().map(|head| format!("  {head}")).collect::<String>();
            streams.out.styled(Style::new().bold(), format!("{:width$}{heads}\n", ""));
        }
        let mut rows: Vec<(&str, &Tally)> =
            grouped.iter().map(|(name, tally)| (name.as_str(), tally)).collect();
        if grouped.len() > 1 {
            rows.push(("total", &self.total));
        }
        for (name, tally) in rows {
            match fits {
                true => write_row(name, width, tally, &mut streams.out),
                false => write_list(name, tally, &mut streams.out),
            }
            write_reasons(tally, &mut streams.out);
        }
        write_chart(&self.total, &mut streams.out);
        write_failures(&self.failures, self.shown, &mut streams.out);
    }
}

/// The columns that are not empty, for a terminal on which the table does not fit.
fn write_list(name: &str, tally: &Tally, out: &mut StyledText) {
    out.styled(Style::new().bold(), format!("{name}\n"));
    let cells = COLUMNS.iter().zip(column_values(tally)).filter(|(_, number)| *number > 0);
    let name = |head: &str, number: u64| match (head, number) {
        ("calls" | "dry runs", 1) => head.trim_end_matches('s').to_owned(),
        _ => head.to_owned(),
    };
    let cells: Vec<String> = cells.map(|(head, number)| format!("{number} {}", name(head, number))).collect();
    out.prose(&format!("  {}", cells.join(", ")), 0);
}

/// The widest bar of the chart.
const BAR: u64 = 30;

/// A bar for each outcome, and for each reason why calls were not applied.
fn write_chart(total: &Tally, out: &mut StyledText) {
    let exact = total.applied.saturating_sub(total.recovered);
    let refused = AnsiColor::Yellow.on_default();
    let mut bars: Vec<(String, u64, Style)> = vec![
        ("applied".into(), exact, AnsiColor::Green.on_default()),
        ("recovered".into(), total.recovered, AnsiColor::Cyan.on_default()),
    ];
    bars.extend(total.causes.iter().map(|Count { what, count }| (escape_controls(what), *count, refused)));
    bars.retain(|(_, count, _)| *count > 0);
    let Some(most) = bars.iter().map(|(_, count, _)| *count).max() else { return };
    let width = bars.iter().map(|(name, ..)| columns(name)).max().unwrap_or(0);
    // Besides the bar there are the name, the number and some space.
    let room = terminal::width().and_then(|columns| u64::try_from(columns.saturating_sub(width + 12)).ok());
    let longest = room.unwrap_or(BAR).clamp(1, BAR);
    out.line("");
    for (name, count, style) in bars {
        let length = (count * longest).div_ceil(most);
        out.text(format!("  {}  ", padded(&name, width)));
        out.styled(style, "█".repeat(usize::try_from(length).unwrap_or(0)));
        out.line(format!(" {count}"));
    }
}

/// What was sent, what was closest, and why it was refused.
fn write_failures(failures: &[FailedEdit], shown: usize, out: &mut StyledText) {
    if failures.is_empty() {
        return;
    }
    out.line("");
    out.styled(Style::new().bold(), "Last refused edits\n");
    for failure in failures.iter().take(shown) {
        let FailedEdit { at, session, agent, model, dialect, tool, path, code, cause, .. } = failure;
        let why = cause.as_ref().map_or(code.clone(), |cause| format!("{code}, {cause}"));
        let who = agent.as_ref().unwrap_or(session);
        out.line(escape_controls(&format!("{}  {who}  {path}", times::format_local(*at))));
        let mut line = |name: &str, text: &str| {
            out.text(format!("  {name:<8} "));
            out.prose(&escape_controls(text), "  message  ".len());
        };
        line("tool", &format!("{tool} ({dialect})"));
        if let Some(model) = model {
            line("model", model);
        }
        line("why", &why);
        if let Some(sent) = &failure.sent {
            line("sent", sent);
        }
        if let Some(closest) = &failure.closest {
            let number = failure.line.map_or(String::new(), |line| format!("{line}: "));
            line("closest", &format!("{number}{closest}"));
        }
        if failure.sent.is_none() {
            line("message", &failure.message);
        }
    }
    if failures.len() > shown {
        out.line(format!("  {} more with `--failures`", failures.len() - shown));
    }
}

fn write_row(name: &str, width: usize, tally: &Tally, out: &mut StyledText) {
    let cells = COLUMNS.iter().zip(column_values(tally));
    let cells: String = cells.map(|(head, number)| format!("  {number:>0$}", head.len())).collect();
    out.line(format!("{}{cells}", padded(name, width)));
}

fn write_reasons(tally: &Tally, out: &mut StyledText) {
    let list = |counts: &[Count], show: &dyn Fn(&Count) -> String| {
        counts.iter().map(show).collect::<Vec<_>>().join(", ")
    };
    let plain = |Count { what, count }: &Count| format!("{what} {count}");
    let with_share = |Count { what, count }: &Count| {
        let share = tally.addition_share(what).unwrap_or_default();
        format!("{what} {count} ({share:.0}%)")
    };
    let errors = tally.error_share().filter(|share| *share > 0.0);
    for (what, counts) in [
        ("errors", errors.map_or(String::new(), |share| format!("{share:.0}% of the calls"))),
        ("recovered", list(&tally.recovered_by, &plain)),
        ("not applied", list(&tally.causes, &plain)),
        ("modes", list(&tally.modes, &plain)),
        ("additions", list(&tally.additions, &with_share)),
        ("corrected after", list(&tally.corrected_after, &plain)),
    ] {
        if !counts.is_empty() {
            out.prose(&escape_controls(&format!("  {what}: {counts}")), 0);
        }
    }
}
