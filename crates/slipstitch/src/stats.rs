//! Statistics about tool calls: one record per call, and counts. They never leave the machine.

use serde::{Deserialize, Serialize};
use slipstitch_core::change::Rung;
use slipstitch_core::engine::Touches;
use slipstitch_core::outcome::{Status, Unplaced};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::journal::ProposalId;
use slipstitch_core::report::{Action, FileReport, Report};
use slipstitch_core::text::display::truncate_chars;

/// The maximum length in bytes of names that callers choose.
const MAX_NAME: usize = 120;

/// The maximum length in characters of a text in a [`FailedEdit`].
const MAX_TEXT: usize = 200;

const STATUSES: [Status; 9] = [
    Status::Applied,
    Status::WouldApply,
    Status::NoChange,
    Status::AlreadyApplied,
    Status::Shown,
    Status::Pending,
    Status::Refused,
    Status::Invalid,
    Status::Failed,
];

/// How many paths of a call are recorded.
const MAX_PATHS: usize = 64;

/// The record of one call: who called what, and the outcome. Only [`CallRecord::failure`] contains text of files, and only
/// the last of those are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord {
    /// The calling session.
    pub session: String,
    /// The calling program, by the name it gave.
    pub agent: Option<String>,
    /// The model that made the call, if the client says so.
    pub model: Option<String>,
    /// The dialect.
    pub dialect: String,
    /// The tool.
    pub tool: String,
    /// The files that the call is about, at most the first 64.
    pub paths: Vec<String>,
    /// Which of the tool's modes was used, if they are counted.
    pub variant: Option<String>,
    /// Whether it added lines to an existing file and removed none; only for tools whose modes are counted.
    pub is_addition: bool,
    /// The outcome, as the name of a [`Status`].
    pub status: String,
    /// The outcome's machine-readable code.
    pub code: String,
    /// Why a text was not found, if that was diagnosed.
    pub cause: Option<String>,
    /// The loosest rung that found a place.
    pub rung: Option<String>,
    /// How the request differed from the file; no kind twice.
    pub differences: Vec<String>,
    /// The proposal that the call became, if it needed a review.
    pub proposal: Option<ProposalId>,
    /// The first edit of the call that had no place.
    pub failure: Option<FailedEdit>,
}

/// An edit that had no place: the line that differs, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedEdit {
    /// When it was made, in milliseconds since 1970.
    pub at: i64,
    /// The calling session.
    pub session: String,
    /// The calling program, by the name it gave.
    pub agent: Option<String>,
    /// The model that made the call, if the client says so.
    #[serde(default)]
    pub model: Option<String>,
    /// The dialect.
    pub dialect: String,
    /// The tool.
    pub tool: String,
    /// The file.
    pub path: String,
    /// The outcome's machine-readable code.
    pub code: String,
    /// Why the text was not found, if that was diagnosed.
    pub cause: Option<String>,
    /// The first line that was sent and is not in the file like that.
    pub sent: Option<String>,
    /// The closest line of the file, and its number.
    pub closest: Option<String>,
    /// The number of that line, from 1.
    pub line: Option<usize>,
    /// What the caller was told.
    pub message: String,
}

impl FailedEdit {
    fn of(report: &Report, session: &str, agent: Option<&str>, dialect: &str, tool: &str) -> Option<Self> {
        let failure = report.failures.iter().find(|failure| failure.reason != Unplaced::AlreadyApplied)?;
        let first = failure.candidates.first();
        let text = |text: &str| truncate_chars(text, MAX_TEXT).into_owned();
        Some(Self {
            at: 0,
            session: session.into(),
            agent: agent.map(truncate_name),
            model: None,
            dialect: truncate_name(dialect),
            tool: truncate_name(tool),
            path: failure.path.to_string(),
            code: report.code().into(),
            cause: failure.cause.as_ref().map(variant_name),
            sent: failure.expected.as_deref().or(failure.sent.as_deref()).map(text),
            closest: failure
                .found
                .as_deref()
                .or_else(|| first.and_then(|first| first.preview.lines().next()))
                .map(text),
            line: failure.line.or_else(|| first.map(|first| first.lines.start)),
            message: text(&failure.message),
        })
    }
}

impl CallRecord {
    /// The record of a call with this report.
    pub fn new(session: &str, agent: Option<&str>, dialect: &str, tool: &str, report: &Report) -> Self {
        let edits = || report.files.iter().flat_map(|file| &file.edits);
        let mut differences: Vec<_> = edits().flat_map(|edit| edit.differences.iter().copied()).collect();
        differences.sort_unstable();
        differences.dedup();
        Self {
            session: session.into(),
            agent: agent.map(truncate_name),
            model: None,
            dialect: truncate_name(dialect),
            tool: truncate_name(tool),
            paths: Vec::new(),
            variant: None,
            is_addition: false,
            status: variant_name(&report.status()),
            code: report.code().into(),
            cause: report.failures.iter().find_map(|failure| failure.cause.as_ref()).map(variant_name),
            rung: edits().map(|edit| edit.rung).max().map(|rung| variant_name(&rung)),
            differences: differences.iter().map(variant_name).collect(),
            proposal: report.proposal,
            failure: FailedEdit::of(report, session, agent, dialect, tool),
        }
    }

    /// The same record with the model that made the call, if it is known.
    #[must_use]
    pub fn with_model(mut self, model: Option<&str>) -> Self {
        let model = model.map(truncate_name);
        if let Some(failure) = &mut self.failure {
            failure.model.clone_from(&model);
        }
        self.model = model;
        self
    }

    /// The same record with the files that the call is about: those it names, and those it changed.
    #[must_use]
    pub fn with_paths(mut self, touches: &Touches, report: &Report) -> Self {
        let named = match touches {
            Touches::Paths { paths, .. } => Some(paths),
            Touches::Anything | Touches::Nothing => None,
        };
        let named = named.into_iter().flatten().flatten();
        let mut paths: Vec<&FilePath> = named.chain(report.files.iter().map(|file| &file.path)).collect();
        paths.sort_unstable();
        paths.dedup();
        self.paths = paths.into_iter().take(MAX_PATHS).map(ToString::to_string).collect();
        self
    }

    /// The same record with the mode that the call used, if it named one.
    #[must_use]
    pub fn with_variant(self, variant: Option<&str>, report: &Report) -> Self {
        let is_addition = variant.is_some() && adds_to_a_file(report);
        Self { variant: variant.map(truncate_name), is_addition, ..self }
    }
}

/// Whether a change added lines to an existing file and kept all others. A last line that only got a newline is kept.
fn adds_to_a_file(report: &Report) -> bool {
    let is_modified = |file: &FileReport| file.action == Action::Modified;
    let (Status::Applied, [file], Some(diff)) = (report.status(), &report.files[..], &report.diff) else {
        return false;
    };
    let changed = |marker: char, head: &'static str| {
        let lines = diff.lines().filter(move |line| !line.starts_with(head));
        lines.filter_map(move |line| line.strip_prefix(marker))
    };
    let mut added = changed('+', "+++ ");
    let keeps_all = changed('-', "--- ").all(|removed| added.any(|line| line == removed));
    let all_added = changed('+', "+++ ").count();
    is_modified(file) && keeps_all && all_added > changed('-', "--- ").count()
}

/// What a call means for the attempts before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// It was refused or invalid, and can be corrected.
    Failed,
    /// It did what the caller wanted.
    Succeeded,
    /// It waits for the user, or failed for a reason that the caller cannot correct.
    Neither,
}

impl Attempt {
    /// By the recorded outcome of a call.
    pub(crate) fn of(status: &str, code: &str) -> Self {
        let is = |known: Status| variant_name(&known) == status;
        if code == "pending_review" || code == "declined" {
            Self::Neither
        } else if is(Status::Refused) || is(Status::Invalid) {
            Self::Failed
        } else if is(Status::Applied) || is(Status::NoChange) || is(Status::AlreadyApplied) {
            Self::Succeeded
        } else {
            Self::Neither
        }
    }
}

/// Which calls to count; an empty filter counts all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    /// Only calls of this session.
    pub session: Option<String>,
    /// Only calls of this program.
    pub agent: Option<String>,
    /// Only calls by this model.
    pub model: Option<String>,
    /// Only calls in this dialect.
    pub dialect: Option<String>,
    /// Only calls about these files, or about files in these folders. The empty path is the first root.
    pub files: Option<Vec<String>>,
    /// Only calls at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only calls before this time, in milliseconds since 1970.
    pub until: Option<i64>,
}

/// One recorded call, for people who want to see what is behind the counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCall {
    /// When it was made, in milliseconds since 1970.
    pub at: i64,
    /// The calling session.
    pub session: String,
    /// The calling program, by the name it gave.
    pub agent: Option<String>,
    /// The dialect.
    pub dialect: String,
    /// The tool.
    pub tool: String,
    /// The outcome, as the name of a [`Status`].
    pub status: String,
    /// Why it was not applied, as in [`Tally::causes`].
    pub cause: Option<String>,
    /// What it was recovered from, as in [`Tally::recovered_by`].
    pub recovered_from: Option<String>,
    /// The proposal that the call became, if it needed a review.
    pub proposal: Option<ProposalId>,
}

/// Which calls are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSelection {
    /// What calls are limited to, as for the counts.
    pub filter: CallFilter,
    /// Only calls that were not applied because of this, as in [`Tally::causes`].
    pub cause: Option<String>,
    /// Only calls that were recovered from this, as in [`Tally::recovered_by`].
    pub recovered_from: Option<String>,
}

impl CallFilter {
    /// Whether the call of a refused edit is selected.
    pub(crate) fn selects(&self, failure: &FailedEdit) -> bool {
        self.session.as_ref().is_none_or(|session| *session == failure.session)
            && self.agent.as_ref().is_none_or(|agent| Some(agent) == failure.agent.as_ref())
            && self.model.as_ref().is_none_or(|model| Some(model) == failure.model.as_ref())
            && self.files.as_ref().is_none_or(|names| names.iter().any(|name| is_within(&failure.path, name)))
            && self.dialect.as_ref().is_none_or(|dialect| *dialect == failure.dialect)
            && self.since.is_none_or(|since| failure.at >= since)
            && self.until.is_none_or(|until| failure.at < until)
    }
}

/// Whether a path is `name`, or in the folder with that name.
fn is_within(path: &str, name: &str) -> bool {
    if name.is_empty() {
        return !path.starts_with('/');
    }
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Counts of calls by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All calls.
    pub calls: u64,
    /// Calls that changed files, including recovered ones.
    pub applied: u64,
    /// Calls, including dry runs, whose text was not exactly the file's and was found anyway.
    pub recovered: u64,
    /// Dry runs that would change files.
    pub dry_runs: u64,
    /// Calls that had nothing to change.
    pub unchanged: u64,
    /// Calls that only read.
    pub shown: u64,
    /// Valid calls that were refused.
    pub refused: u64,
    /// Calls with invalid arguments.
    pub invalid: u64,
    /// Calls that failed because of the system or the journal.
    pub failed: u64,
    /// The rungs that recovered places, most frequent first.
    pub recovered_by: Vec<Count>,
    /// Why calls were refused, invalid or failed, most frequent first.
    pub causes: Vec<Count>,
    /// The modes that calls used, most frequent first; only of tools whose modes are counted.
    pub modes: Vec<Count>,
    /// The modes of calls that added lines to an existing file and removed none, most frequent first.
    pub additions: Vec<Count>,
    /// How many refused attempts preceded a call that succeeded, most frequent first. A call that succeeded at once is
    /// not counted.
    pub corrected_after: Vec<Count>,
}

/// The code of calls that wait for review.
const PENDING: &str = "pending_review";

/// How often something happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Count {
    /// What happened.
    pub what: String,
    /// How often.
    pub count: u64,
}

/// The calls of one session, program, model and dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallGroup {
    /// The session.
    pub session: String,
    /// The program, if it gave a name.
    pub agent: Option<String>,
    /// The model, if the client said which it is.
    pub model: Option<String>,
    /// The dialect.
    pub dialect: String,
    /// The counts.
    #[serde(flatten)]
    pub tally: Tally,
}

fn status_named(name: &str) -> Status {
    STATUSES.into_iter().find(|known| variant_name(known) == name).unwrap_or(Status::Failed)
}

/// What a call was recovered from, if it was.
fn recovered_from(status: Status, rung: Option<&str>) -> Option<&str> {
    rung.filter(|rung| matches!(status, Status::Applied | Status::WouldApply) && is_recovery(rung))
}

/// Why a call was not applied, if it was not.
fn name_cause(status: Status, code: &str, cause: Option<&str>) -> Option<String> {
    let cause = cause.filter(|cause| *cause != code);
    (!status.is_success()).then(|| cause.map_or(code.to_owned(), |cause| format!("{code}/{cause}")))
}

impl ListedCall {
    /// Adds what the counts say about a call with this outcome.
    pub(crate) fn with_outcome(self, code: &str, cause: Option<&str>, rung: Option<&str>) -> Self {
        let status = status_named(&self.status);
        let recovered_from = recovered_from(status, rung).map(str::to_owned);
        Self { cause: name_cause(status, code, cause), recovered_from, ..self }
    }
}

impl CallSelection {
    /// Whether a call that the filter selects is listed.
    pub(crate) fn selects(&self, call: &ListedCall) -> bool {
        let is = |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        is(&self.cause, &call.cause) && is(&self.recovered_from, &call.recovered_from)
    }
}

impl Tally {
    /// Counts `count` calls with the same outcome.
    pub(crate) fn add(
        &mut self,
        status: &str,
        code: &str,
        cause: Option<&str>,
        rung: Option<&str>,
        count: u64,
    ) {
        self.calls += count;
        let status = status_named(status);
        let counter = match status {
            Status::Applied => &mut self.applied,
            Status::WouldApply => &mut self.dry_runs,
            Status::NoChange | Status::AlreadyApplied => &mut self.unchanged,
            Status::Shown => &mut self.shown,
            // Until it is decided, nothing is written.
            Status::Pending | Status::Refused => &mut self.refused,
            Status::Invalid => &mut self.invalid,
            Status::Failed => &mut self.failed,
        };
        *counter += count;
        if let Some(rung) = recovered_from(status, rung) {
            self.recovered += count;
            add_count(&mut self.recovered_by, rung.into(), count);
        }
        if let Some(what) = name_cause(status, code, cause) {
            add_count(&mut self.causes, what, count);
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.calls, other.calls),
            (&mut self.applied, other.applied),
            (&mut self.recovered, other.recovered),
            (&mut self.dry_runs, other.dry_runs),
            (&mut self.unchanged, other.unchanged),
            (&mut self.shown, other.shown),
            (&mut self.refused, other.refused),
            (&mut self.invalid, other.invalid),
            (&mut self.failed, other.failed),
        ] {
            *mine += theirs;
        }
        for count in &other.recovered_by {
            add_count(&mut self.recovered_by, count.what.clone(), count.count);
        }
        for count in &other.causes {
            add_count(&mut self.causes, count.what.clone(), count.count);
        }
        for count in &other.modes {
            add_count(&mut self.modes, count.what.clone(), count.count);
        }
        for count in &other.additions {
            add_count(&mut self.additions, count.what.clone(), count.count);
        }
        for count in &other.corrected_after {
            add_count(&mut self.corrected_after, count.what.clone(), count.count);
        }
    }

    /// Counts a call that used this mode.
    pub(crate) fn add_mode(&mut self, mode: &str, is_addition: bool) {
        add_count(&mut self.modes, mode.into(), 1);
        if is_addition {
            add_count(&mut self.additions, mode.into(), 1);
        }
    }

    /// Counts a call that succeeded after this many refused attempts.
    pub(crate) fn add_correction(&mut self, attempts: u64) {
        match attempts {
            0 => {}
            1 => add_count(&mut self.corrected_after, "1 attempt".into(), 1),
            more => add_count(&mut self.corrected_after, format!("{more} attempts"), 1),
        }
    }

    /// The share of calls that ended in an error, in percent: refused, invalid or failed. A call that waits for review is none of
    /// them. `None` if there were no calls.
    pub fn error_share(&self) -> Option<f64> {
        let waits = |count: &&Count| count.what.split('/').next() == Some(PENDING);
        let pending: u64 = self.causes.iter().filter(waits).map(|count| count.count).sum();
        let errors = (self.refused + self.invalid + self.failed).saturating_sub(pending);
        (self.calls > 0).then(|| errors as f64 * 100.0 / self.calls as f64)
    }

    /// The share of additions to files that used a mode, in percent; `None` if there were none.
    pub fn addition_share(&self, mode: &str) -> Option<f64> {
        let total: u64 = self.additions.iter().map(|count| count.count).sum();
        let used = self.additions.iter().find(|count| count.what == mode).map_or(0, |count| count.count);
        (total > 0).then(|| used as f64 * 100.0 / total as f64)
    }
}

/// Adds to a count and keeps the list sorted: most frequent first, then by name.
fn add_count(counts: &mut Vec<Count>, what: String, count: u64) {
    match counts.iter_mut().find(|known| known.what == what) {
        Some(known) => known.count += count,
        None => counts.push(Count { what, count }),
    }
    counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.what.cmp(&b.what)));
}

/// Whether this rung finds places that an exact match would not.
fn is_recovery(rung: &str) -> bool {
    ![Rung::Stated, Rung::Exact, Rung::Chosen].iter().any(|exact| rung == variant_name(exact))
}

/// The name of an enum's variant, as in JSON.
pub(crate) fn variant_name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

fn truncate_name(name: &str) -> String {
    name[..name.floor_char_boundary(MAX_NAME)].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_every_outcome() {
        let mut tally = Tally::default();
        for (status, code, cause, rung) in [
            ("applied", "applied", None, Some("exact")),
            ("applied", "applied", None, Some("whitespace")),
            ("would_apply", "would_apply", None, Some("drift")),
            ("applied", "applied", None, Some("chosen")),
            ("no_change", "no_change", None, None),
            ("already_applied", "already_applied", None, None),
            ("shown", "read", None, None),
            ("refused", "not_found", Some("stale_context"), None),
            ("refused", "not_found", Some("not_found"), None),
            ("refused", "not_found", Some("not_found"), None),
            ("invalid", "missing_field", None, None),
            ("failed", "io", None, None),
        ] {
            tally.add(status, code, cause, rung, 1);
        }
        let counts =
            [tally.calls, tally.applied, tally.recovered, tally.dry_runs, tally.unchanged, tally.shown];
        assert_eq!(counts, [12, 3, 2, 1, 2, 1]);
        assert_eq!([tally.refused, tally.invalid, tally.failed], [3, 1, 1]);
        let causes: Vec<String> = tally.causes.iter().map(|c| format!("{} {}", c.what, c.count)).collect();
        assert_eq!(causes, ["not_found 2", "io 1", "missing_field 1", "not_found/stale_context 1"]);
        let mut twice = tally.clone();
        twice.merge(&tally);
        assert_eq!((twice.calls, twice.causes[0].count, twice.recovered_by.len()), (24, 4, 2));
    }

    #[test]
    fn long_names_are_truncated_at_a_char_boundary() {
        assert_eq!(truncate_name(&"é".repeat(200)).len(), MAX_NAME);
        assert_eq!(truncate_name("native"), "native");
    }
}
