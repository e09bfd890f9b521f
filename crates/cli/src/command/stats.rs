//! `slipstitch stats`: count tool calls by outcome.

use anstyle::Style;
use clap::Args;
use serde::Serialize;
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;
use slipstitch::stats::{CallFilter, CallGroup, Count, Tally};

use super::dialect_name::DialectName;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::streams::{Streams, StyledText};
use crate::time;

const EXAMPLES: &str = "\
Examples:
  slipstitch stats
  slipstitch stats --since 7d
  slipstitch stats --agent claude-code --dialect native
  slipstitch stats --json

This counts tool calls made through `slipstitch mcp` and `slipstitch call` in this root. The
journal records how each call ended, but no path and no text. The data stays on this machine.

Recovered calls are those whose old text did not match exactly; they are included in the applied
calls. Additions are calls that added lines to an existing file and removed none, by mode.";

/// Count tool calls by outcome, with the reasons for refusals
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Stats {
    /// Only calls in this dialect
    #[arg(long, value_name = "NAME", value_parser = DialectName)]
    dialect: Option<String>,
    /// Only calls since this time: a date, a time, or a duration such as 30m, 2h or 3d
    // The journal records no paths of calls, so the other options that select changes do not apply.
    #[arg(long, value_name = "TIME", value_parser = time::parse_since)]
    since: Option<i64>,
}

impl Stats {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        if let Some(name) = &self.dialect {
            slipstitch::dialects::builtin().lookup(name).map_err(Report::from)?;
        }
        let filter = CallFilter {
            session: global.session.clone(),
            agent: global.agent.clone(),
            dialect: self.dialect,
            since: self.since,
        };
        let groups = global.open_to_select()?.stats(&filter).map_err(Report::from)?;
        let mut total = Tally::default();
        groups.iter().for_each(|group| total.merge(&group.tally));
        Ok(Box::new(StatsOutput { groups, total }))
    }
}

#[derive(Serialize)]
struct StatsOutput {
    groups: Vec<CallGroup>,
    total: Tally,
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
        if self.groups.is_empty() {
            streams.err.line("No calls recorded here.");
            return;
        }
        let names: Vec<String> = self.groups.iter().map(row_name).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("total".len());
        let heads = COLUMNS.iter().map(|head| format!("  {head}")).collect::<String>();
        streams.out.styled(Style::new().bold(), format!("{:width$}{heads}\n", ""));
        for (name, group) in names.iter().zip(&self.groups) {
            write_row(name, width, &group.tally, &mut streams.out);
            write_reasons(&group.tally, &mut streams.out);
        }
        if self.groups.len() > 1 {
            write_row("total", width, &self.total, &mut streams.out);
            write_reasons(&self.total, &mut streams.out);
        }
    }
}

/// The session, the program if known, and the dialect.
fn row_name(group: &CallGroup) -> String {
    let agent = group.agent.as_ref().map_or(String::new(), |agent| format!(" ({agent})"));
    escape_controls(&format!("{}{agent}, {}", group.session, group.dialect))
}

fn write_row(name: &str, width: usize, tally: &Tally, out: &mut StyledText) {
    let cells = COLUMNS.iter().zip(column_values(tally));
    let cells: String = cells.map(|(head, number)| format!("  {number:>0$}", head.len())).collect();
    out.line(format!("{name:<width$}{cells}"));
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
    for (what, counts) in [
        ("recovered", list(&tally.recovered_by, &plain)),
        ("not applied", list(&tally.causes, &plain)),
        ("modes", list(&tally.modes, &plain)),
        ("additions", list(&tally.additions, &with_share)),
        ("corrected after", list(&tally.corrected_after, &plain)),
    ] {
        if !counts.is_empty() {
            out.line(escape_controls(&format!("  {what}: {counts}")));
        }
    }
}
