//! Notes of calls, for statistics.

use std::time::Duration;

use incise_core::journal::JournalError;
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, TransactionBehavior, params, params_from_iter};

use super::{BUSY, Fault, SqliteJournal, now};
use crate::stats::{Call, CallFilter, Group, Tally};

/// How long a note waits for another process that writes. It is not worth more.
const PATIENCE: Duration = Duration::from_millis(50);

impl SqliteJournal {
    /// Notes how a call went. It does not wait for the disk: a power cut may lose the last notes, which
    /// are for statistics only.
    pub fn note_call(&self, call: &Call) -> Result<(), JournalError> {
        let connection = self.connection.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let noted = without_waiting(&connection, |connection| insert(connection, &self.root, call));
        noted.map_err(|error| Fault::from(error).during("note a call"))
    }

    /// How calls went, by session, program and dialect, in order of their first call.
    pub fn tallies(&self, filter: &CallFilter) -> Result<Vec<Group>, JournalError> {
        self.transact("count calls", TransactionBehavior::Deferred, |transaction| {
            Ok(count(transaction, &self.root, filter)?)
        })
    }
}

/// Forgets the calls of all roots before a time, in milliseconds since 1970. Says how many.
pub(super) fn forget(transaction: &Transaction<'_>, before: i64) -> Result<usize, Fault> {
    Ok(transaction.execute("DELETE FROM calls WHERE at < ?1", params![before])?)
}

/// Writes with the connection's patience and care turned down, and turns them up again.
fn without_waiting(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let care: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.busy_timeout(PATIENCE)?;
    let done = work(connection);
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "synchronous", care)?;
    done
}

fn insert(connection: &Connection, root: &str, call: &Call) -> rusqlite::Result<()> {
    let classes = (!call.classes.is_empty()).then(|| call.classes.join(","));
    let mut insert = connection.prepare_cached(
        "INSERT INTO calls (root, at, session, agent, dialect, tool, status, code, cause, rung, classes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    insert.execute(params![
        root,
        now(),
        call.session,
        call.agent,
        call.dialect,
        call.tool,
        call.status,
        call.code,
        call.cause,
        call.rung,
        classes
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
    use incise_core::report::{Report, Status};

    #[test]
    fn what_waits_for_the_disk_goes_on_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path(), "/r").unwrap();
        let report = Report::new(Status::Shown, "read", "");
        journal.note_call(&Call::of("s", None, "incise", "read_file", &report)).unwrap();
        assert_eq!(journal.tallies(&CallFilter::default()).unwrap()[0].tally.shown, 1);
        let connection = journal.connection.lock().unwrap();
        let level: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
        assert_eq!(level, 2, "FULL, as before the note");
    }
}
