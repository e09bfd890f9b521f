//! Notes of calls, for statistics.

use std::sync::PoisonError;
use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{Connection, TransactionBehavior, params, params_from_iter};
use slipstitch_core::ports::journal::{JournalError, ProposalId};

use super::transaction::Open;
use super::{BUSY, Fault, Owner, SqliteJournal, now, wait_for_disk};
use crate::Fsync;
use crate::stats::{Call, CallFilter, Group, Tally};

/// How long a note waits for another process that writes. It is not worth more.
const PATIENCE: Duration = Duration::from_millis(50);

/// How many notes wait in memory before they are written.
const MAX_WAITING: usize = 64;

/// How many are kept if they cannot be written; beyond that they are given up.
const MAX_KEPT: usize = 1_024;

/// How often a journal that is closed tries to write what waits.
const LAST_TRIES: usize = 20;

impl SqliteJournal {
    /// Notes how a call went. It does not wait for the disk: a power cut may lose the last notes, which
    /// are for statistics only.
    pub fn note_call(&self, call: &Call) -> Result<(), JournalError> {
        self.noting(|connection| insert(connection, &self.root, now(), call))
    }

    /// Keeps a note in memory, to be written with others: by [`SqliteJournal::write_notes`], before any other note, before
    /// calls are counted, and when the journal is closed. Says whether it is the first that waits.
    pub fn queue_record(&self, call: Call) -> bool {
        let mut waiting = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push((now(), call));
        let first = waiting.len() == 1;
        let many = waiting.len().is_multiple_of(MAX_WAITING);
        drop(waiting);
        if many {
            // Statistics are worth no failure.
            let _ = self.write_notes();
        }
        first
    }

    /// Writes the notes that wait.
    pub fn write_notes(&self) -> Result<(), JournalError> {
        if self.notes.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return Ok(());
        }
        self.noting(|_| Ok(()))
    }

    /// Notes how a call went that waited for a person, in the place of the note that it waits. A call that was
    /// never noted has none.
    pub fn note_settled(&self, call: &Call) -> Result<(), JournalError> {
        self.noting(|connection| rewrite(connection, &self.root, call).map(drop))
    }

    /// Notes a call that is made again because a person has decided on it: it is one call, with one note.
    pub fn note_again(&self, call: &Call) -> Result<(), JournalError> {
        self.noting(|connection| match rewrite(connection, &self.root, call)? {
            0 => insert(connection, &self.root, now(), call),
            _ => Ok(()),
        })
    }

    /// Writes the notes that wait, and then does `work`: notes are in the order of their calls.
    fn noting(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), JournalError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        let write = |connection: &Connection| {
            let transaction = Open::begin(connection, TransactionBehavior::Immediate)?;
            for (at, call) in &waiting {
                insert(connection, &self.root, *at, call)?;
            }
            work(connection)?;
            transaction.commit()
        };
        let done = without_waiting(&connection, self.fsync, write);
        if done.is_err() && waiting.len() < MAX_KEPT {
            // Another process was in the way: they wait for the next time, in their place.
            self.notes.lock().unwrap_or_else(PoisonError::into_inner).splice(0..0, waiting);
        }
        done.map_err(|error| Fault::from(error).during("note a call"))
    }

    /// How calls went, by session, program and dialect, in order of their first call.
    pub fn tallies(&self, filter: &CallFilter) -> Result<Vec<Group>, JournalError> {
        let _ = self.write_notes();
        self.transact("count calls", TransactionBehavior::Deferred, |transaction| {
            Ok(count(transaction, &self.root, filter)?)
        })
    }
}

impl Drop for SqliteJournal {
    fn drop(&mut self) {
        for _ in 0..LAST_TRIES {
            if self.write_notes().is_ok() {
                return;
            }
        }
    }
}

/// Forgets the calls of all roots before a time, in milliseconds since 1970. Says how many.
pub(super) fn forget(transaction: &Connection, before: i64) -> Result<usize, Fault> {
    Ok(transaction.execute("DELETE FROM calls WHERE at < ?1", params![before])?)
}

/// Writes with the connection's patience and care turned down, and turns them up again.
fn without_waiting(
    connection: &Connection,
    fsync: Fsync,
    work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    if fsync == Fsync::On {
        wait_for_disk(connection, Fsync::Off)?;
    }
    connection.busy_timeout(PATIENCE)?;
    let done = work(connection);
    connection.busy_timeout(BUSY)?;
    if fsync == Fsync::On {
        wait_for_disk(connection, Fsync::On)?;
    }
    done
}

/// Rewrites the last note of a call that waits, be it for a proposal or for leave to write. Says how many there were.
fn rewrite(connection: &Connection, root: &str, call: &Call) -> rusqlite::Result<usize> {
    let mut update = connection.prepare_cached(
        "UPDATE calls SET status = ?6, code = ?7, cause = ?8, rung = ?9, classes = ?10
         WHERE id = (SELECT id FROM calls
                     WHERE root = ?1 AND session = ?2 AND dialect = ?3 AND tool = ?4 AND proposal IS ?5
                       AND (code = 'pending_review' OR (?5 IS NOT NULL AND ?6 = 'applied'))
                     ORDER BY id DESC LIMIT 1)",
    )?;
    update.execute(params![
        root,
        call.session,
        call.dialect,
        call.tool,
        row_of(call.proposal),
        call.status,
        call.code,
        call.cause,
        call.rung,
        classes(call),
    ])
}

fn classes(call: &Call) -> Option<String> {
    (!call.classes.is_empty()).then(|| call.classes.join(","))
}

fn row_of(proposal: Option<ProposalId>) -> Option<i64> {
    proposal.map(|id| Owner::Proposal(id).row())
}

fn insert(connection: &Connection, root: &str, at: i64, call: &Call) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO calls (root, at, session, agent, dialect, tool, status, code, cause, rung, classes,
                            proposal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    insert.execute(params![
        root,
        at,
        call.session,
        call.agent,
        call.dialect,
        call.tool,
        call.status,
        call.code,
        call.cause,
        call.rung,
        classes(call),
        row_of(call.proposal),
    ])?;
    Ok(())
}

fn count(connection: &Connection, root: &str, filter: &CallFilter) -> rusqlite::Result<Vec<Group>> {
    let mut query = String::from(
        "SELECT session, agent, dialect, status, code, cause, rung, count(*), min(id) FROM calls WHERE root = ?",
    );
    let mut values: Vec<Value> = vec![root.to_owned().into()];
    for (column, wanted) in
        [("session", &filter.session), ("agent", &filter.agent), ("dialect", &filter.dialect)]
    {
        if let Some(wanted) = wanted {
            query.push_str(&format!(" AND {column} = ?"));
            values.push(wanted.clone().into());
        }
    }
    if let Some(since) = filter.since {
        query.push_str(" AND at >= ?");
        values.push(since.into());
    }
    query.push_str(" GROUP BY session, agent, dialect, status, code, cause, rung ORDER BY min(id)");
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut groups: Vec<Group> = Vec::new();
    while let Some(row) = rows.next()? {
        let (session, agent, dialect): (String, Option<String>, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let (status, code): (String, String) = (row.get(3)?, row.get(4)?);
        let (cause, rung): (Option<String>, Option<String>) = (row.get(5)?, row.get(6)?);
        let calls: i64 = row.get(7)?;
        let known = groups
            .iter()
            .position(|group| (&group.session, &group.agent, &group.dialect) == (&session, &agent, &dialect));
        let at = known.unwrap_or_else(|| {
            groups.push(Group { session, agent, dialect, tally: Tally::default() });
            groups.len() - 1
        });
        groups[at].tally.add(&status, &code, cause.as_deref(), rung.as_deref(), calls.unsigned_abs());
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstitch_core::outcome::Status;
    use slipstitch_core::report::Report;

    #[test]
    fn what_waits_for_the_disk_goes_on_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path(), "/r").unwrap();
        let report = Report::custom(Status::Shown, "read", "");
        journal.note_call(&Call::of("s", None, "native", "read_file", &report)).unwrap();
        assert_eq!(journal.tallies(&CallFilter::default()).unwrap()[0].tally.shown, 1);
        let connection = journal.connection.lock().unwrap();
        let level: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
        assert_eq!(level, 2, "FULL, as before the note");
    }

    #[test]
    fn notes_that_wait_are_written_in_their_order_and_lost_by_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let report = Report::custom(Status::Shown, "read", "");
        let call = |tool: &str| Call::of("s", None, "native", tool, &report);
        let open = || SqliteJournal::open(folder.path(), "/r").unwrap();
        let tools = || -> Vec<String> {
            let connection = Connection::open(folder.path().join(super::super::FILE)).unwrap();
            let mut select = connection.prepare("SELECT tool FROM calls ORDER BY id").unwrap();
            select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
        };
        let journal = open();
        assert!(journal.queue_record(call("a")) && !journal.queue_record(call("b")));
        assert_eq!(tools(), [""; 0]);
        journal.note_call(&call("c")).unwrap();
        assert_eq!(tools(), ["a", "b", "c"]);
        assert!(journal.queue_record(call("d")));
        assert_eq!(journal.tallies(&CallFilter::default()).unwrap()[0].tally.shown, 4);
        journal.queue_record(call("e"));
        drop(journal);
        assert_eq!(tools(), ["a", "b", "c", "d", "e"]);
        let journal = open();
        for _ in 0..MAX_WAITING {
            journal.queue_record(call("f"));
        }
        assert_eq!(tools().len(), 5 + MAX_WAITING, "many are not kept waiting");
    }

    #[test]
    fn notes_that_cannot_be_written_go_on_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path(), "/r").unwrap();
        let report = Report::custom(Status::Shown, "read", "");
        let other = Connection::open(folder.path().join(super::super::FILE)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        for tool in ["a", "b"] {
            journal.queue_record(Call::of("s", None, "native", tool, &report));
            assert!(journal.write_notes().is_err(), "someone else writes");
        }
        other.execute_batch("ROLLBACK").unwrap();
        journal.write_notes().unwrap();
        let tools = "SELECT group_concat(tool) FROM (SELECT tool FROM calls ORDER BY id)";
        let tools: String = other.query_row(tools, [], |row| row.get(0)).unwrap();
        assert_eq!(tools, "a,b");
    }
}
