//! How calls went: what was noted of each, and counts of it. Nothing of it leaves the machine.

use serde::Serialize;
use slipstitch_core::change::Rung;
use slipstitch_core::outcome::Status;
use slipstitch_core::ports::journal::ProposalId;
use slipstitch_core::report::Report;

/// The most bytes of a name that a caller chose.
const MAX_NAME: usize = 120;

const STATUSES: [Status; 8] = [
    Status::Applied,
    Status::WouldApply,
    Status::NoChange,
    Status::AlreadyApplied,
    Status::Shown,
    Status::Refused,
    Status::Invalid,
    Status::Failed,
];

/// What is noted of one call: who asked for what, and how it ended. No path and no text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The session that called.
    pub session: String,
    /// The program that called, as it calls itself.
    pub agent: Option<String>,
    /// The dialect.
    pub dialect: String,
    /// The tool.
    pub tool: String,
    /// How it ended, in one word.
    pub status: String,
    /// More closely.
    pub code: String,
    /// Why a text was not found, where that was found out.
    pub cause: Option<String>,
    /// The loosest way in which a place was found.
    pub rung: Option<String>,
    /// In what the request differed from the file, each once.
    pub classes: Vec<String>,
    /// The proposal that it became, if it waits for a person or did so.
    pub proposal: Option<ProposalId>,
}

impl Call {
    /// What is to be noted of a call and the report on it.
    pub fn of(session: &str, agent: Option<&str>, dialect: &str, tool: &str, report: &Report) -> Self {
        let edits = || report.files.iter().flat_map(|file| &file.edits);
        let mut classes: Vec<_> = edits().flat_map(|edit| edit.differences.iter().copied()).collect();
        classes.sort_unstable();
        classes.dedup();
        Self {
            session: session.into(),
            agent: agent.map(shortened),
            dialect: shortened(dialect),
            tool: shortened(tool),
            status: word(&report.status()),
            code: report.code().into(),
            cause: report.failures.iter().find_map(|failure| failure.cause.as_ref()).map(word),
            rung: edits().map(|edit| edit.rung).max().map(|rung| word(&rung)),
            classes: classes.iter().map(word).collect(),
            proposal: report.proposal,
        }
    }
}

/// Which calls to count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    /// Those of this session.
    pub session: Option<String>,
    /// Those of this program.
    pub agent: Option<String>,
    /// Those in this dialect.
    pub dialect: Option<String>,
    /// Those at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
}

/// How the calls of one session, program and dialect went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All of them.
    pub calls: u64,
    /// Written; recovered ones too.
    pub applied: u64,
    /// Written, or a dry run that would write, although the text was not quite the file's.
    pub recovered: u64,
    /// Dry runs that would write.
    pub dry_runs: u64,
    /// Nothing was left to do.
    pub unchanged: u64,
    /// Looks at files.
    pub shown: u64,
    /// Understood, and not done.
    pub refused: u64,
    /// The request made no sense.
    pub invalid: u64,
    /// The system or the journal failed.
    pub failed: u64,
    /// By which means places were recovered, most frequent first.
    pub recovered_by: Vec<Count>,
    /// Why calls were refused, invalid or failed, most frequent first.
    pub causes: Vec<Count>,
}

/// How often something was the case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Count {
    /// What.
    pub what: String,
    /// How often.
    pub count: u64,
}

/// The calls of one session, program and dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The session.
    pub session: String,
    /// The program, if it said its name.
    pub agent: Option<String>,
    /// The dialect.
    pub dialect: String,
    /// How its calls went.
    #[serde(flatten)]
    pub tally: Tally,
}

impl Tally {
    /// Counts `count` calls that ended alike.
    pub(crate) fn add(
        &mut self,
        status: &str,
        code: &str,
        cause: Option<&str>,
        rung: Option<&str>,
        count: u64,
    ) {
        self.calls += count;
        let status = STATUSES.into_iter().find(|known| word(known) == status).unwrap_or(Status::Failed);
        let place = match status {
            Status::Applied => &mut self.applied,
            Status::WouldApply => &mut self.dry_runs,
            Status::NoChange | Status::AlreadyApplied => &mut self.unchanged,
            Status::Shown => &mut self.shown,
            Status::Refused => &mut self.refused,
            Status::Invalid => &mut self.invalid,
            Status::Failed => &mut self.failed,
        };
        *place += count;
        if let (Status::Applied | Status::WouldApply, Some(rung)) = (status, rung)
            && is_recovery(rung)
        {
            self.recovered += count;
            note(&mut self.recovered_by, rung.into(), count);
        }
        if !status.is_success() {
            let cause = cause.filter(|cause| *cause != code);
            let what = cause.map_or(code.to_owned(), |cause| format!("{code}/{cause}"));
            note(&mut self.causes, what, count);
        }
    }

    /// Adds the counts of another.
    pub fn join(&mut self, other: &Self) {
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
            note(&mut self.recovered_by, count.what.clone(), count.count);
        }
        for count in &other.causes {
            note(&mut self.causes, count.what.clone(), count.count);
        }
    }
}

/// Adds to a count, and keeps the list sorted: most frequent first, then by name.
fn note(counts: &mut Vec<Count>, what: String, count: u64) {
    match counts.iter_mut().find(|known| known.what == what) {
        Some(known) => known.count += count,
        None => counts.push(Count { what, count }),
    }
    counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.what.cmp(&b.what)));
}

/// Whether a place found so is one that the exact text would not have led to.
fn is_recovery(rung: &str) -> bool {
    ![Rung::Stated, Rung::Exact, Rung::Chosen].iter().any(|plain| rung == word(plain))
}

/// The word for an enum's case, as JSON has it.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn shortened(name: &str) -> String {
    name[..name.floor_char_boundary(MAX_NAME)].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_of_a_call_has_its_count() {
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
        let said: Vec<String> = tally.causes.iter().map(|c| format!("{} {}", c.what, c.count)).collect();
        assert_eq!(said, ["not_found 2", "io 1", "missing_field 1", "not_found/stale_context 1"]);
        let mut twice = tally.clone();
        twice.join(&tally);
        assert_eq!((twice.calls, twice.causes[0].count, twice.recovered_by.len()), (24, 4, 2));
    }

    #[test]
    fn names_that_callers_chose_are_kept_short() {
        assert_eq!(shortened(&"é".repeat(200)).len(), MAX_NAME);
        assert_eq!(shortened("native"), "native");
    }
}
