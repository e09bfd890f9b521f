//! Records of tool calls, for statistics.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params, params_from_iter};
use slipstitch_core::ports::journal::{JournalError, ProposalId};

use super::call_paths;
use super::checksum::CALLS;
use super::transaction::CachedTransaction;
use super::{DbError, FileOwner, SqliteJournal, now};
use crate::stats::{Attempt, CallFilter, CallGroup, CallRecord, CallSelection, ListedCall, Tally};

/// How long statistics wait for another process that writes. They are not worth a longer delay.
const CALL_BUSY_TIMEOUT: Duration = Duration::from_millis(50);

/// How many records are queued in memory before they are written.
const FLUSH_INTERVAL: usize = 64;

/// How many records stay queued if they cannot be written; beyond that they are dropped.
const MAX_QUEUED: usize = 1_024;

/// How often a journal tries to write the queue when it is closed.
const CLOSE_ATTEMPTS: usize = 20;

impl SqliteJournal {
    /// Records a call. The record is not flushed to the disk: a power cut may lose the last records, which are
    /// only for statistics.
    pub fn record_call(&self, call: &CallRecord) -> Result<(), JournalError> {
        let at = now();
        self.write_calls(|connection| self.insert_call(connection, at, call))
    }

    /// Queues a record in memory and returns whether the queue was empty.
    ///
    /// The queue is written by [`SqliteJournal::flush_calls`], before any other record, before calls are counted,
    /// and when the journal is closed.
    pub fn queue_call(&self, call: CallRecord) -> bool {
        let mut queue = self.queued_calls.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push((now(), call));
        let is_first = queue.len() == 1;
        let is_full = queue.len().is_multiple_of(FLUSH_INTERVAL);
        drop(queue);
        if is_full {
            // Statistics are no reason to fail.
            let _ = self.flush_calls();
        }
        is_first
    }

    /// Writes the queued records, and the queued texts (see `aids.rs`).
    pub fn flush_calls(&self) -> Result<(), JournalError> {
        let has_calls = !self.queued_calls.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        let has_aids = !self.aids.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        if !has_calls && !has_aids {
            return Ok(());
        }
        self.write_calls(|_| Ok(()))
    }

    /// Updates the record of a call that needed a review, once that is decided. Does nothing if the call was never
    /// recorded.
    pub fn update_call(&self, call: &CallRecord) -> Result<(), JournalError> {
        self.write_calls(|connection| update(connection, &self.root, call).map(drop))
    }

    /// Records a call that is repeated because its review is decided. It updates the record of the first attempt,
    /// so that both count as one call.
    pub fn record_repeated_call(&self, call: &CallRecord) -> Result<(), JournalError> {
        let at = now();
        self.write_calls(|connection| match update(connection, &self.root, call)? {
            0 => self.insert_call(connection, at, call),
            _ => Ok(()),
        })
    }

    /// Writes the queued records and then calls `work`, so that records are in the order of their calls. Also writes the
    /// queued texts.
    fn write_calls(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), JournalError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let queued = std::mem::take(&mut *self.queued_calls.lock().unwrap_or_else(PoisonError::into_inner));
        let aids = std::mem::take(&mut *self.aids.lock().unwrap_or_else(PoisonError::into_inner));
        let write = |connection: &Connection| -> Result<(), DbError> {
            let transaction = CachedTransaction::begin(connection, TransactionBehavior::Immediate)?;
            aids.write(self, connection)?;
            for (at, call) in &queued {
                self.insert_call(connection, *at, call)?;
            }
            work(connection)?;
            Ok(transaction.commit()?)
        };
        let written = self.patience.at_most(CALL_BUSY_TIMEOUT, || write(&connection));
        if written.is_err() {
            // Another process holds the lock: put them back at the front, for the next attempt.
            self.aids.lock().unwrap_or_else(PoisonError::into_inner).restore(aids);
            if queued.len() < MAX_QUEUED {
                self.queued_calls.lock().unwrap_or_else(PoisonError::into_inner).splice(0..0, queued);
            }
        }
        written.map_err(|error| self.failure(error, "record a call"))
    }

    fn insert_call(&self, connection: &Connection, at: i64, call: &CallRecord) -> rusqlite::Result<()> {
        insert(connection, &self.root, at, call)?;
        self.keep_failure(connection, at, call)
    }

    /// Counts calls by session, program, model and dialect, in the order of their first calls.
    pub fn count_calls(&self, filter: &CallFilter) -> Result<Vec<CallGroup>, JournalError> {
        let _ = self.flush_calls();
        self.transact("count calls", TransactionBehavior::Deferred, |transaction| {
            Ok(count(transaction, &self.root, filter)?)
        })
    }
}

impl SqliteJournal {
    /// The last calls of a selection, newest first.
    pub fn list_calls(
        &self,
        selection: &CallSelection,
        limit: usize,
    ) -> Result<Vec<ListedCall>, JournalError> {
        let _ = self.flush_calls();
        self.transact("list calls", TransactionBehavior::Deferred, |transaction| {
            Ok(list(transaction, &self.root, selection, limit)?)
        })
    }
}

fn list(
    connection: &Connection,
    root: &str,
    selection: &CallSelection,
    limit: usize,
) -> rusqlite::Result<Vec<ListedCall>> {
    let (condition, values) = condition(root, &selection.filter);
    let mut statement = connection.prepare(&format!(
        "SELECT at, session, agent, dialect, tool, status, code, cause, rung, proposal FROM calls WHERE {condition}
         ORDER BY id DESC"
    ))?;
    let mut rows = statement.query(params_from_iter(&values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (code, cause, rung): (String, Option<String>, Option<String>) =
            (row.get(6)?, row.get(7)?, row.get(8)?);
        let proposal: Option<i64> = row.get(9)?;
        let call = ListedCall {
            at: row.get(0)?,
            session: row.get(1)?,
            agent: row.get(2)?,
            dialect: row.get(3)?,
            tool: row.get(4)?,
            status: row.get(5)?,
            cause: None,
            recovered_from: None,
            proposal: proposal.map(|id| ProposalId(id.unsigned_abs())),
        };
        let call = call.with_outcome(&code, cause.as_deref(), rung.as_deref());
        if selection.selects(&call) {
            found.push(call);
        }
        if found.len() == limit {
            break;
        }
    }
    Ok(found)
}

impl Drop for SqliteJournal {
    fn drop(&mut self) {
        for _ in 0..CLOSE_ATTEMPTS {
            // A process that is to end does not wait for statistics.
            if self.flush_calls().is_ok() || self.patience.is_interrupted() {
                return;
            }
        }
    }
}

/// Deletes the calls of all roots before a time, in milliseconds since 1970. Returns how many.
pub(super) fn delete_before(transaction: &Connection, time: i64) -> Result<usize, DbError> {
    Ok(transaction.execute("DELETE FROM calls WHERE at < ?1", params![time])?)
}

/// Updates the last record of a pending call: a proposal, or a request for write access. Returns the number of
/// updated records, at most one.
fn update(connection: &Connection, root: &str, call: &CallRecord) -> rusqlite::Result<usize> {
    let mut statement = connection.prepare_cached(
        "UPDATE calls SET status = ?6, code = ?7, cause = ?8, rung = ?9, classes = ?10
         WHERE id = (SELECT id FROM calls
                     WHERE root = ?1 AND session = ?2 AND dialect = ?3 AND tool = ?4 AND proposal IS ?5
                       AND (code = 'pending_review' OR (?5 IS NOT NULL AND ?6 = 'applied'))
                     ORDER BY id DESC LIMIT 1)
         RETURNING id",
    )?;
    let values = params![
        root,
        call.session,
        call.dialect,
        call.tool,
        proposal_row(call.proposal),
        call.status,
        call.code,
        call.cause,
        call.rung,
        classes(call),
    ];
    let updated = statement.query_row(values, |row| row.get(0)).optional()?;
    let Some(id) = updated else { return Ok(0) };
    CALLS.update_sum(connection, id)?;
    Ok(1)
}

/// Follows the mode of a call that only added lines.
const ADDITION: char = '+';

fn classes(call: &CallRecord) -> Option<String> {
    (!call.differences.is_empty()).then(|| call.differences.join(","))
}

fn proposal_row(proposal: Option<ProposalId>) -> Option<i64> {
    proposal.map(|id| FileOwner::Proposal(id).row_id())
}

fn insert(connection: &Connection, root: &str, at: i64, call: &CallRecord) -> rusqlite::Result<()> {
    let variant = call.variant.as_ref().map(|mode| match call.is_addition {
        true => format!("{mode}{ADDITION}"),
        false => mode.clone(),
    });
    CALLS.insert(
        connection,
        &[
            ("id", &CALLS.next_id(connection)?),
            ("root", &root),
            ("at", &at),
            ("session", &call.session),
            ("agent", &call.agent),
            ("dialect", &call.dialect),
            ("tool", &call.tool),
            ("status", &call.status),
            ("code", &call.code),
            ("cause", &call.cause),
            ("rung", &call.rung),
            ("classes", &classes(call)),
            ("proposal", &proposal_row(call.proposal)),
            ("variant", &variant),
            ("model", &call.model),
            ("paths", &call_paths::encode(&call.paths)),
        ],
    )
}

/// The condition that selects the calls of a filter, and its values.
fn condition(root: &str, filter: &CallFilter) -> (String, Vec<Value>) {
    let mut query = String::from("root = ?");
    let mut values: Vec<Value> = vec![root.to_owned().into()];
    for (column, wanted) in [
        ("session", &filter.session),
        ("agent", &filter.agent),
        ("model", &filter.model),
        ("dialect", &filter.dialect),
    ] {
        if let Some(wanted) = wanted {
            query.push_str(&format!(" AND {column} = ?"));
            values.push(wanted.clone().into());
        }
    }
    if let Some(since) = filter.since {
        query.push_str(" AND at >= ?");
        values.push(since.into());
    }
    if let Some(until) = filter.until {
        query.push_str(" AND at < ?");
        values.push(until.into());
    }
    if let Some(names) = &filter.files {
        let conditions: Vec<&str> =
            names.iter().map(|name| call_paths::condition(name, &mut values)).collect();
        query.push_str(&format!(" AND (FALSE{})", conditions.concat()));
    }
    (query, values)
}

fn count(connection: &Connection, root: &str, filter: &CallFilter) -> rusqlite::Result<Vec<CallGroup>> {
    let (condition, values) = condition(root, filter);
    let mut statement = connection.prepare(&format!(
        "SELECT session, agent, model, dialect, status, code, cause, rung, count(*), min(id) FROM calls
         WHERE {condition}
         GROUP BY session, agent, model, dialect, status, code, cause, rung ORDER BY min(id)"
    ))?;
    let mut rows = statement.query(params_from_iter(&values))?;
    let mut groups: Vec<CallGroup> = Vec::new();
    while let Some(row) = rows.next()? {
        let caller = caller(row)?;
        let (status, code): (String, String) = (row.get(4)?, row.get(5)?);
        let (cause, rung): (Option<String>, Option<String>) = (row.get(6)?, row.get(7)?);
        let calls: i64 = row.get(8)?;
        let index = groups.iter().position(|group| is_caller(group, &caller)).unwrap_or_else(|| {
            let (session, agent, model, dialect) = caller;
            groups.push(CallGroup { session, agent, model, dialect, tally: Tally::default() });
            groups.len() - 1
        });
        groups[index].tally.add(&status, &code, cause.as_deref(), rung.as_deref(), calls.unsigned_abs());
    }
    count_attempts(connection, &condition, &values, &mut groups)?;
    Ok(groups)
}

/// Session, program, model and dialect of a call.
type CallerColumns = (String, Option<String>, Option<String>, String);

/// The first columns of a row.
fn caller(row: &Row<'_>) -> rusqlite::Result<CallerColumns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn is_caller(group: &CallGroup, (session, agent, model, dialect): &CallerColumns) -> bool {
    (&group.session, &group.agent, &group.model, &group.dialect) == (session, agent, model, dialect)
}

/// Adds which modes were used, and how many attempts it took to correct a refused call.
fn count_attempts(
    connection: &Connection,
    condition: &str,
    values: &[Value],
    groups: &mut [CallGroup],
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!(
        "SELECT session, agent, model, dialect, tool, variant, status, code FROM calls
         WHERE {condition} ORDER BY id"
    ))?;
    let mut rows = statement.query(params_from_iter(values))?;
    // Refused attempts since the last success, by session, dialect and tool.
    let mut failed: HashMap<(String, String, String), u64> = HashMap::new();
    while let Some(row) = rows.next()? {
        let caller = caller(row)?;
        let (tool, variant): (String, Option<String>) = (row.get(4)?, row.get(5)?);
        let (status, code): (String, String) = (row.get(6)?, row.get(7)?);
        let Some(group) = groups.iter_mut().find(|group| is_caller(group, &caller)) else { continue };
        let (session, _, _, dialect) = caller;
        if let Some(variant) = variant {
            let addition = variant.strip_suffix(ADDITION);
            group.tally.add_mode(addition.unwrap_or(&variant), addition.is_some());
        }
        let attempts = failed.entry((session, dialect, tool)).or_default();
        match Attempt::of(&status, &code) {
            Attempt::Failed => *attempts += 1,
            Attempt::Succeeded => group.tally.add_correction(std::mem::take(attempts)),
            Attempt::Neither => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstitch_core::outcome::Status;
    use slipstitch_core::report::Report;

    #[test]
    fn queued_calls_are_written_in_order_and_none_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let report = Report::custom(Status::Shown, "read", "");
        let call = |tool: &str| CallRecord::new("s", None, "native", tool, &report);
        let open = || SqliteJournal::open(folder.path(), "/r").unwrap();
        let tools = || -> Vec<String> {
            let connection = Connection::open(folder.path().join(super::super::FILE)).unwrap();
            let mut select = connection.prepare("SELECT tool FROM calls ORDER BY id").unwrap();
            select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
        };
        let journal = open();
        assert!(journal.queue_call(call("a")) && !journal.queue_call(call("b")));
        assert_eq!(tools(), [""; 0]);
        journal.record_call(&call("c")).unwrap();
        assert_eq!(tools(), ["a", "b", "c"]);
        assert!(journal.queue_call(call("d")));
        assert_eq!(journal.count_calls(&CallFilter::default()).unwrap()[0].tally.shown, 4);
        journal.queue_call(call("e"));
        drop(journal);
        assert_eq!(tools(), ["a", "b", "c", "d", "e"]);
        let journal = open();
        for _ in 0..FLUSH_INTERVAL {
            journal.queue_call(call("f"));
        }
        assert_eq!(tools().len(), 5 + FLUSH_INTERVAL, "a full queue is written");
    }

    #[test]
    fn queued_calls_stay_queued_if_they_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path(), "/r").unwrap();
        let report = Report::custom(Status::Shown, "read", "");
        let other = Connection::open(folder.path().join(super::super::FILE)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        for tool in ["a", "b"] {
            journal.queue_call(CallRecord::new("s", None, "native", tool, &report));
            assert!(journal.flush_calls().is_err(), "another process writes");
        }
        other.execute_batch("ROLLBACK").unwrap();
        journal.flush_calls().unwrap();
        let tools = "SELECT group_concat(tool) FROM (SELECT tool FROM calls ORDER BY id)";
        let tools: String = other.query_row(tools, [], |row| row.get(0)).unwrap();
        assert_eq!(tools, "a,b");
    }
}
