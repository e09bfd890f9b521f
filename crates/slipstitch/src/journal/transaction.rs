//! Transactions whose statements are kept ready: a call uses several, and to read "BEGIN" anew costs as much as a small
//! query.

use rusqlite::{Connection, TransactionBehavior};

/// A transaction that is open until it is committed. One that is dropped is rolled back.
#[derive(Debug)]
pub(super) struct Open<'a> {
    connection: &'a Connection,
}

impl<'a> Open<'a> {
    pub(super) fn begin(connection: &'a Connection, behavior: TransactionBehavior) -> rusqlite::Result<Self> {
        let begin = match behavior {
            TransactionBehavior::Immediate => "BEGIN IMMEDIATE",
            TransactionBehavior::Exclusive => "BEGIN EXCLUSIVE",
            _ => "BEGIN DEFERRED",
        };
        connection.prepare_cached(begin)?.execute([])?;
        Ok(Self { connection })
    }

    pub(super) fn commit(self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        // A commit that failed has left the transaction open, or SQLite has rolled it back itself.
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_committed_is_not_there() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        let rows = || connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap();
        for (committed, after) in [(false, 0), (true, 1), (false, 1)] {
            let open = Open::begin(&connection, TransactionBehavior::Immediate).unwrap();
            connection.execute("INSERT INTO t VALUES (1)", []).unwrap();
            match committed {
                true => open.commit().unwrap(),
                false => drop(open),
            }
            assert!(connection.is_autocommit());
            assert_eq!(rows(), after);
        }
    }
}
