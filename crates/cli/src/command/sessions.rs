//! `slipstitch sessions`: who changed files here.

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde::Serialize;
use slipstitch::core::ports::journal::{ChangeState, Filter, Summary};
use slipstitch::core::text::display::escape_controls;

use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::render::write_labelled;
use crate::selection::{Selection, known_names, write_nothing_listed};
use crate::streams::{Streams, columns, padded};
use slipstitch_review::times;

/// How many changes are read from the journal at once.
const PAGE_SIZE: usize = 1000;

const EXAMPLES: &str = "\
Examples:
  slipstitch sessions
  slipstitch sessions --since 1d
  slipstitch undo --session agent --all      undo everything that one of them did";

/// List the sessions that changed files, last one first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Sessions {
    #[command(flatten)]
    selection: Selection,
}

impl Sessions {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open_to_select()?;
        let mut sessions: BTreeMap<(String, Option<String>), Session> = BTreeMap::new();
        let mut filter = Filter { limit: Some(PAGE_SIZE), ..Filter::default() };
        loop {
            let changes = self.selection.changes(filter.clone(), &workspace, global)?;
            let Some(last) = changes.last() else { break };
            filter.before = Some(last.id);
            for change in &changes {
                let key = (change.origin.session.clone(), change.origin.agent.clone());
                sessions.entry(key).or_insert_with(|| Session::new(change)).count(change);
            }
        }
        let mut sessions: Vec<Session> = sessions.into_values().collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.last));
        let is_selected = self.selection.is_given(global) || global.session.is_some();
        let hint = match is_selected && sessions.is_empty() {
            true => known_names(&workspace, global),
            false => None,
        };
        let note = self.selection.note_on_other_roots(&workspace, global);
        Ok(Box::new(SessionList { sessions, is_selected, hint, note }))
    }
}

/// What a session did.
#[derive(Serialize)]
struct Session {
    session: String,
    agent: Option<String>,
    changes: usize,
    undone: usize,
    /// When its first and its last listed change were made, in milliseconds since 1970.
    first: i64,
    last: i64,
}

impl Session {
    fn new(change: &Summary) -> Self {
        Self {
            session: change.origin.session.clone(),
            agent: change.origin.agent.clone(),
            changes: 0,
            undone: 0,
            first: change.at,
            last: change.at,
        }
    }

    fn count(&mut self, change: &Summary) {
        self.changes += 1;
        self.undone += usize::from(change.state == ChangeState::Done && change.undone_by.is_some());
        self.first = self.first.min(change.at);
        self.last = self.last.max(change.at);
    }
}

#[derive(Serialize)]
struct SessionList {
    sessions: Vec<Session>,
    /// Whether any option limits the selection.
    #[serde(skip)]
    is_selected: bool,
    /// The known names, if one of the options has an unknown one.
    #[serde(skip)]
    hint: Option<String>,
    /// Names other roots of the project with changes that are selected.
    #[serde(skip)]
    note: Option<String>,
}

impl CommandOutput for SessionList {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    fn write(&self, streams: &mut Streams) {
        let name_of = |session: &Session| escape_controls(&session.session);
        let width = self.sessions.iter().map(|session| columns(&name_of(session))).max().unwrap_or(0);
        for session in &self.sessions {
            streams.out.styled(Style::new().bold(), padded(&name_of(session), width));
            let undone =
                if session.undone > 0 { format!(", {} undone", session.undone) } else { String::new() };
            let changes =
                if session.changes == 1 { "1 change".into() } else { format!("{} changes", session.changes) };
            let agent = session
                .agent
                .as_deref()
                .map_or(String::new(), |agent| format!("  {}", escape_controls(agent)));
            let last = times::format_local(session.last);
            streams.out.line(format!("  {last}  {changes}{undone}{agent}"));
        }
        if self.sessions.is_empty() {
            write_nothing_listed("changes", self.hint.as_deref(), self.is_selected, &mut streams.err);
        }
        if let Some(note) = &self.note {
            write_labelled(AnsiColor::Cyan, "note", note, &mut streams.err);
        }
    }
}
