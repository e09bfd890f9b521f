//! `slipstitch log --follow`: changes, proposals and decisions as they happen.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::json;
use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{Filter, ProposalId, StoredProposal, Summary};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;

use super::{Widths, local_time, write_change};
use crate::error::CommandError;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult, print_part};
use crate::selection::Selection;
use crate::streams::Streams;

/// How often the journal is looked at. Other processes write to it, and SQLite tells nobody.
const INTERVAL: Duration = Duration::from_millis(400);

/// How many changes are shown at the start.
const FIRST: usize = 10;

/// Shows what happens until the process is interrupted or nobody reads any more.
pub(super) fn run(workspace: &Workspace, selection: &Selection, global: &Global) -> CommandResult {
    let mut follower = Follower { workspace, selection, global, last: None, pending: BTreeSet::new() };
    let mut seen = None;
    loop {
        let now = Some(workspace.activity().map_err(Report::from)?);
        if now != seen {
            seen = now;
            match follower.show_news() {
                Ok(()) => {}
                Err(FollowError::Command(error)) => return Err(error),
                Err(FollowError::Closed) => break,
            }
        }
        std::thread::sleep(INTERVAL);
    }
    Ok(Box::new(Report::custom(Status::Shown, "shown", "nobody reads the output any more")))
}

enum FollowError {
    /// The output cannot be written.
    Closed,
    Command(CommandError),
}

impl From<io::Error> for FollowError {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

impl From<CommandError> for FollowError {
    fn from(error: CommandError) -> Self {
        Self::Command(error)
    }
}

/// What was shown so far.
struct Follower<'a> {
    workspace: &'a Workspace,
    selection: &'a Selection,
    global: &'a Global,
    last: Option<ChangeId>,
    pending: BTreeSet<ProposalId>,
}

impl Follower<'_> {
    fn show_news(&mut self) -> Result<(), FollowError> {
        let limit = if self.last.is_none() { Some(FIRST) } else { None };
        let filter = Filter { after: self.last, limit, ..Filter::default() };
        let changes = self.selection.changes(filter, self.workspace, self.global)?;
        for change in changes.into_iter().rev() {
            self.last = self.last.max(Some(change.id));
            print_part(&Change(change), self.global)?;
        }
        // Until something was changed, everything is after the first change.
        self.last = self.last.or(Some(ChangeId(0)));
        let files = self.selection.path_filter(self.workspace, self.global)?;
        let mut pending =
            self.workspace.proposals().map_err(|error| CommandError::from(Report::from(error)))?;
        pending.retain(|found| {
            let paths = found.proposal.files.iter().map(|file| &file.path);
            self.selection.includes(found.at, &found.proposal.origin, paths, files.as_ref(), self.global)
        });
        let now: BTreeSet<ProposalId> = pending.iter().map(|found| found.id).collect();
        for found in pending.into_iter().filter(|found| !self.pending.contains(&found.id)) {
            let at = found.at;
            print_part(&Waiting { found, at }, self.global)?;
        }
        for id in self.pending.difference(&now) {
            if let Ok(Some(found)) = self.workspace.proposal(*id) {
                // The journal has no time for rejections, but it was just now.
                let at = jiff::Timestamp::now().as_millisecond();
                print_part(&Waiting { found, at }, self.global)?;
            }
        }
        self.pending = now;
        Ok(())
    }
}

/// A change that was made.
struct Change(Summary);

impl CommandOutput for Change {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&json!({"change": self.0}))
    }

    fn write(&self, streams: &mut Streams) {
        write_change(&self.0, &Widths { id: 5, session: 0, tool: 0 }, &mut streams.out);
    }
}

/// A proposal that began to wait, or was decided.
struct Waiting {
    found: StoredProposal,
    /// When that happened, in milliseconds since 1970.
    at: i64,
}

impl CommandOutput for Waiting {
    fn json(&self) -> serde_json::Result<String> {
        let Self { found, at } = self;
        serde_json::to_string(&json!({
            "proposal": found.id,
            "at": at,
            "session": found.proposal.origin.session,
            "agent": found.proposal.origin.agent,
            "why": found.proposal.reason,
            "settled": found.decision,
        }))
    }

    fn write(&self, streams: &mut Streams) {
        let Self { found, at } = self;
        let origin = &found.proposal.origin;
        let who = escape_controls(origin.agent.as_deref().unwrap_or(&origin.session));
        streams.out.styled(Style::new().bold(), format!("{:<5}", found.id.to_string()));
        streams.out.text(format!("  {}  {who}  ", local_time(*at)));
        let state = match &found.decision {
            None => format!("waits for review: {}", found.proposal.reason),
            Some(decision) => decision.to_string(),
        };
        streams.out.styled(AnsiColor::Yellow.on_default(), escape_controls(&state));
        streams.out.line("");
    }
}
