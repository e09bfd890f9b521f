//! `slipstitch stats`: how tool calls went, and why some did not.

use anstyle::Style;
use clap::Args;
use serde::Serialize;
use slipstitch::core::report::Report;
use slipstitch::stats::{CallFilter, CallGroup, Count, Tally};

use super::log::{one_line, since_time};
use crate::args::Global;
use crate::output::{Done, Outcome};
use crate::page::{Page, Surface};

const EXAMPLES: &str = "\
Examples:
  slipstitch stats
  slipstitch stats --since 7d
  slipstitch stats --agent claude-code --dialect native
  slipstitch stats --json

Counted are the tool calls of agents, through `slipstitch mcp` and `slipstitch call`, in this root. Of each
the journal keeps how it ended, and nothing of the files. It stays on this machine.

Recovered calls are those whose text was not quite the file's; they are among the applied ones.";

/// Count how tool calls went, and why some were refused
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Stats {
    /// Only calls in this dialect
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// Only calls at this time or later: a date, a time, or how long ago (30m, 2h, 3d)
    #[arg(long, value_name = "TIME", value_parser = since_time)]
    since: Option<i64>,
}

impl Stats {
    pub(super) fn run(self, global: &Global) -> Done {
        if let Some(name) = &self.dialect {
            slipstitch::core::engine::dialect(name).map_err(Box::new)?;
        }
        let filter = CallFilter {
            session: global.session.clone(),
            agent: global.agent.clone(),
            dialect: self.dialect,
            since: self.since,
        };
        let groups = global.open()?.stats(&filter).map_err(Report::from)?;
        let mut total = Tally::default();
        groups.iter().for_each(|group| total.merge(&group.tally));
        Ok(Box::new(Counts { groups, total }))
    }
}

#[derive(Serialize)]
struct Counts {
    groups: Vec<CallGroup>,
    total: Tally,
}

const HEADS: [&str; 9] =
    ["calls", "applied", "recovered", "dry runs", "unchanged", "shown", "refused", "invalid", "failed"];

fn numbers(tally: &Tally) -> [u64; 9] {
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

impl Outcome for Counts {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    fn write(&self, page: &mut Page) {
        if self.groups.is_empty() {
            page.notes.line("There are no such calls.");
            return;
        }
        let names: Vec<String> = self.groups.iter().map(name).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("total".len());
        let heads = HEADS.iter().map(|head| format!("  {head}")).collect::<String>();
        page.out.styled(Style::new().bold(), format!("{:width$}{heads}\n", ""));
        for (name, group) in names.iter().zip(&self.groups) {
            row(name, width, &group.tally, &mut page.out);
            reasons(&group.tally, &mut page.out);
        }
        if self.groups.len() > 1 {
            row("total", width, &self.total, &mut page.out);
            reasons(&self.total, &mut page.out);
        }
    }
}

/// The session, the program if it is known, and the dialect.
fn name(group: &CallGroup) -> String {
    let agent = group.agent.as_ref().map_or(String::new(), |agent| format!(" ({agent})"));
    one_line(&format!("{}{agent}, {}", group.session, group.dialect))
}

fn row(name: &str, width: usize, tally: &Tally, out: &mut Surface) {
    let cells = HEADS.iter().zip(numbers(tally));
    let cells: String = cells.map(|(head, number)| format!("  {number:>0$}", head.len())).collect();
    out.line(format!("{name:<width$}{cells}"));
}

fn reasons(tally: &Tally, out: &mut Surface) {
    for (what, counts) in [("recovered", &tally.recovered_by), ("not done", &tally.causes)] {
        if !counts.is_empty() {
            let said: Vec<String> =
                counts.iter().map(|Count { what, count }| format!("{what} {count}")).collect();
            out.line(one_line(&format!("  {what}: {}", said.join(", "))));
        }
    }
}
