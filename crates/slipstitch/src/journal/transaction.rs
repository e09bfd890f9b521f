//! Transactions with cached statements: parsing `BEGIN` every time would cost as much as a small query, and a
//! call uses several transactions.

use rusqlite::{Connection, TransactionBehavior};

/// An open transaction. Dropping it without a commit rolls it back.
#[derive(Debug)]
pub(super) struct CachedTransaction<'a> {
    connection: &'a Connection,
}

impl<'a> CachedTransaction<'a> {
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

impl Drop for CachedTransaction<'_> {
    fn drop(&mut self) {
        // After a failed commit the transaction is still open, unless SQLite has rolled it back itself.
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_rolls_back() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        let rows = || connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap();
        for (commit, rows_after) in [(false, 0), (true, 1), (false, 1)] {
            let transaction = CachedTransaction::begin(&connection, TransactionBehavior::Immediate).unwrap();
            connection.execute("INSERT INTO t VALUES (1)", []).unwrap();
            match commit {
                true => transaction.commit().unwrap(),
                false => drop(transaction),
            }
            assert!(connection.is_autocommit());
            assert_eq!(rows(), rows_after);
        }
    }
}
