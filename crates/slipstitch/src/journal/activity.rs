//! What the review page shows and waits for.

use rusqlite::{TransactionBehavior, params};
use slipstitch_core::ports::journal::{JournalError, StoredProposal};

use super::{SqliteJournal, proposal};

impl SqliteJournal {
    /// A short text that is different after every change, proposal and decision in this root.
    pub fn activity(&self) -> Result<String, JournalError> {
        self.transact("look for changes", TransactionBehavior::Deferred, |transaction| {
            let mut select = transaction.prepare_cached(
                "SELECT (SELECT coalesce(max(id), 0) FROM changes WHERE root = ?1),
                        (SELECT coalesce(max(id), 0) FROM proposals WHERE root = ?1),
                        (SELECT count(*) FROM proposals WHERE root = ?1 AND verdict = 'pending'),
                        (SELECT coalesce(sum(length(left_out)), 0) FROM proposals WHERE root = ?1 AND verdict = 'pending')",
            )?;
            let row = select.query_row(params![self.root], |row| {
                let numbers: [i64; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
                Ok(numbers.map(|number| number.to_string()).join("."))
            })?;
            Ok(row)
        })
    }

    /// How many proposals are pending.
    pub fn pending_count(&self) -> Result<usize, JournalError> {
        self.pending_count_of_root(&self.root)
    }

    /// How many proposals of a root are pending.
    pub(crate) fn pending_count_of_root(&self, root: &str) -> Result<usize, JournalError> {
        self.transact("count proposals", TransactionBehavior::Deferred, |transaction| {
            let mut select = transaction
                .prepare_cached("SELECT count(*) FROM proposals WHERE root = ?1 AND verdict = 'pending'")?;
            let count: i64 = select.query_row(params![root], |row| row.get(0))?;
            Ok(usize::try_from(count).unwrap_or(0))
        })
    }

    /// The last decided proposals, newest first.
    pub fn decided_proposals(&self, limit: usize) -> Result<Vec<StoredProposal>, JournalError> {
        self.transact("list decided proposals", TransactionBehavior::Deferred, |transaction| {
            proposal::decided(transaction, &self.root, limit)
        })
    }
}
