//! `slipstitch log`: what was changed, by whom, when.

mod subject;
mod time;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde::Serialize;
use slipstitch::core::engine::history::Foreign;
use slipstitch::core::ports::journal::{FileSummary, Filter, Kind, State, Summary};
use slipstitch::core::report::Report;

use crate::args::Global;
use crate::output::{Done, Outcome};
use crate::page::{Page, Surface};
use subject::Subject;

pub(super) use crate::names::one_line;
pub(super) use time::{local as local_time, since as since_time};

/// How many paths of one change a line names.
const MAX_PATHS: usize = 3;

const EXAMPLES: &str = "\
Examples:
  slipstitch log
  slipstitch log --since 2h --path src/main.rs
  slipstitch log --path src
  slipstitch log --session agent --since 2025-01-01 --until 2025-01-31
  slipstitch log --all --json

A line that starts with ~ tells of a file that something else has changed: between two of these
changes, or since the last.

A time is a date (2025-01-31), a date and a time (2025-01-31T12:00, or with an
offset as in RFC 3339), or how long ago it was (30m, 2h, 3d, 1w).";

/// List changes, newest first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Log {
    /// Only changes of this file, or of the files beneath this folder; a symlink stands for what it leads to
    #[arg(long, value_name = "FILE")]
    path: Option<String>,
    /// Only changes at this time or later
    #[arg(long, value_name = "TIME", value_parser = time::since)]
    since: Option<i64>,
    /// Only changes before this time; a date includes its day
    #[arg(long, value_name = "TIME", value_parser = time::until)]
    until: Option<i64>,
    /// At most so many
    #[arg(long, value_name = "N", default_value = "50", conflicts_with = "all")]
    limit: usize,
    /// All of them
    #[arg(long)]
    all: bool,
}

impl Log {
    pub(super) fn run(self, global: &Global) -> Done {
        let workspace = global.open()?;
        let subject = self.path.map(|path| Subject::named(&path, &workspace, global)).transpose()?;
        let most = if self.all { usize::MAX } else { self.limit };
        let filter = Filter {
            session: global.session.clone(),
            agent: global.agent.clone(),
            since: self.since,
            until: self.until,
            // One more than is shown tells whether there are more.
            limit: most.checked_add(1),
            ..Filter::default()
        };
        let mut changes = match &subject {
            None => workspace.log(&filter).map_err(Report::from)?,
            Some(subject) => subject.changes(&workspace, filter)?,
        };
        let more = changes.len() > most;
        changes.truncate(most);
        let foreign = workspace.foreign(&changes).map_err(Report::from)?;
        Ok(Box::new(Listing { changes, foreign, more }))
    }
}

#[derive(Serialize)]
struct Listing {
    changes: Vec<Summary>,
    /// Files that something else has changed in between, or since.
    foreign: Vec<Foreign>,
    /// Whether older ones were left out.
    more: bool,
}

impl Outcome for Listing {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    fn write(&self, page: &mut Page) {
        let width = |text: fn(&Summary) -> String| {
            self.changes.iter().map(|change| text(change).chars().count()).max().unwrap_or(0)
        };
        let widths = Widths {
            id: width(|change| change.id.to_string()),
            session: width(|change| one_line(&change.origin.session)),
            tool: width(|change| change.origin.tool.clone()),
        };
        for change in &self.changes {
            let (since, before): (Vec<_>, Vec<_>) = self
                .foreign
                .iter()
                .filter(|found| found.before.unwrap_or(found.after) == change.id)
                .partition(|found| found.before.is_none());
            since.into_iter().for_each(|found| foreign_line(found, &mut page.out));
            line(change, &widths, &mut page.out);
            before.into_iter().for_each(|found| foreign_line(found, &mut page.out));
        }
        if self.changes.is_empty() && !self.more {
            page.notes.line("There are no such changes.");
        }
        if self.more {
            page.notes.line("There are older changes; `--limit N` and `--all` show more.");
        }
    }
}

struct Widths {
    id: usize,
    session: usize,
    tool: usize,
}

fn line(change: &Summary, widths: &Widths, out: &mut Surface) {
    let Widths { id, session, tool } = *widths;
    out.styled(Style::new().bold(), format!("{:<id$}", change.id.to_string()));
    let (from, by) = (one_line(&change.origin.session), &change.origin.tool);
    out.text(format!("  {}  {:<session$}  {:<tool$}  ", local_time(change.at), from, by));
    let step = step(change).map_or(String::new(), |step| step + ": ");
    let mut deeds: Vec<String> = change.files.iter().take(MAX_PATHS).map(deed).collect();
    if change.files.len() > MAX_PATHS {
        deeds.push(format!("{} more", change.files.len() - MAX_PATHS));
    }
    out.text(one_line(&format!("{step}{}", deeds.join(", "))));
    if let Some(description) = &change.description {
        out.text(format!("  {}", one_line(description)));
    }
    if let Some(state) = state(change) {
        out.text("  ");
        out.styled(AnsiColor::Yellow.on_default(), format!("[{state}]"));
    }
    out.line("");
}

/// A file that was changed behind our back, between the lines of the changes that it lies between.
fn foreign_line(found: &Foreign, out: &mut Surface) {
    let when = match found.before {
        Some(before) => format!("between {} and {before}", found.after),
        None => format!("since {}", found.after),
    };
    let path = one_line(found.path.as_str());
    out.styled(AnsiColor::Yellow.on_default(), format!("~ {path} was changed by something else {when}"));
    out.line("");
}

/// What a change is with regard to another.
pub(super) fn step(change: &Summary) -> Option<String> {
    match &change.kind {
        Kind::Edit => None,
        Kind::Undo(of) => Some(format!("undo of {of}")),
        Kind::Redo(of) => Some(format!("redo of {of}")),
    }
}

/// What is not as usual about a change.
pub(super) fn state(change: &Summary) -> Option<String> {
    match (change.state, change.undone_by) {
        (State::Pending, _) => Some("pending".into()),
        (State::Abandoned, _) => Some("given up".into()),
        (State::Done, Some(by)) => Some(format!("undone by {by}")),
        (State::Done, None) => None,
    }
}

/// What was done to a file.
pub(super) fn deed(file: &FileSummary) -> String {
    match (&file.path_before, &file.path_after) {
        (None, Some(path)) => format!("created {path}"),
        (Some(path), None) => format!("deleted {path}"),
        (Some(from), Some(to)) if from != to => format!("moved {from} to {to}"),
        (Some(path), Some(_)) => format!("changed {path}"),
        (None, None) => "nothing".into(),
    }
}
