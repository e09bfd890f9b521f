//! The journal of changes: one SQLite database that all processes and all roots of a state folder share.
//!
//! A change is recorded as pending ([`Journal::begin`]) before the files change and marked as done after. A crash
//! in between leaves a pending change, with the intent from which it is recovered and the inverse that undoes it.

mod calls;
mod gc;
mod insert;
mod last_text;
mod lifecycle;
mod proposal;
mod query;
mod schema;
mod session_memory;
mod shown;
mod splice_codec;
mod transaction;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, TransactionBehavior};
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{
    Aftereffects, ChangeState, Entry, Filter, Journal, JournalError, Proposal, ProposalDecision, ProposalId,
    Record, RejectedHunk, StoredProposal, Summary,
};
use slipstitch_core::text::ContentHash;

use crate::Fsync;
use crate::stats::CallRecord;
pub use gc::{Collected, Retention};
use shown::ShownTo;
use transaction::CachedTransaction;

/// The database's name in the state folder.
const FILE: &str = "journal.db";
/// How long to wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The journal of one root.
#[derive(Debug)]
pub struct SqliteJournal {
    connection: Mutex<Connection>,
    root: String,
    fsync: Fsync,
    retention: Retention,
    /// Records of calls that are not written yet, with their times.
    queued_calls: Mutex<Vec<(i64, CallRecord)>>,
    /// How many changes were made since the limits were last checked.
    changes_since_check: AtomicUsize,
    /// How many shown texts were stored since their total size was last checked.
    shown_since_check: AtomicUsize,
}

impl SqliteJournal {
    /// Opens the journal of `root` in `state_dir` and creates the database if it is missing.
    ///
    /// Acknowledged changes survive a power cut; see [`SqliteJournal::with_fsync`].
    pub fn open(state_dir: &Path, root: &str) -> Result<Self, JournalError> {
        let failed = |reason: String| JournalError { action: "be opened", reason };
        let path = state_dir.join(FILE);
        // SQLite would make it readable for everyone, and it contains parts of files.
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| failed(format!("`{}`: {error}", path.display())))?;
        let mut connection = Connection::open(&path).map_err(|error| failed(error.to_string()))?;
        schema::prepare(&mut connection, BUSY_TIMEOUT).map_err(|error| match error {
            schema::SchemaError::Sqlite(error) => DbError::from(error).during("be opened"),
            error => {
                failed(format!("`{}` {error}; move the file away to start a new journal", path.display()))
            }
        })?;
        Ok(Self {
            connection: Mutex::new(connection),
            root: root.into(),
            fsync: Fsync::On,
            retention: Retention::default(),
            queued_calls: Mutex::default(),
            changes_since_check: AtomicUsize::new(gc::CHECK_INTERVAL),
            shown_since_check: AtomicUsize::new(shown::CHECK_INTERVAL),
        })
    }

    /// Sets whether changes are flushed to the disk before they are acknowledged. Without it, a power cut can lose
    /// the last changes but never damages the journal.
    pub fn with_fsync(mut self, fsync: Fsync) -> Result<Self, JournalError> {
        self.fsync = fsync;
        self.query("be opened", |connection| Ok(set_synchronous(connection, fsync)?))?;
        Ok(self)
    }

    /// Checks the database for damage and returns its size in bytes.
    pub fn check(&self) -> Result<u64, JournalError> {
        self.transact("be checked", TransactionBehavior::Deferred, |transaction| {
            let verdict: String = transaction.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            if verdict != "ok" {
                return Err(DbError::Corrupt(verdict));
            }
            let pages: i64 = transaction.pragma_query_value(None, "page_count", |row| row.get(0))?;
            let size: i64 = transaction.pragma_query_value(None, "page_size", |row| row.get(0))?;
            Ok((pages * size).unsigned_abs())
        })
    }

    /// The pending changes that were begun in other roots and affect files in `roots`, each with its own root.
    pub fn pending_elsewhere(&self, roots: &[&str]) -> Result<Vec<(ChangeId, String)>, JournalError> {
        self.query("list pending changes", |connection| {
            let inside = |file: &Path| roots.iter().any(|root| file.starts_with(root));
            query::pending_elsewhere(connection, &self.root, inside)
        })
    }

    /// Sets how much is kept, and for how long.
    pub fn with_retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Runs `work` in a transaction.
    fn transact<T>(
        &self,
        action: &'static str,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, JournalError> {
        // After a panic the transaction is rolled back, so the connection can still be used.
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let run = || {
            let transaction = CachedTransaction::begin(&connection, behavior)?;
            let result = work(&connection)?;
            transaction.commit()?;
            Ok(result)
        };
        run().map_err(|error: DbError| error.during(action))
    }

    /// Runs a single query, which needs no transaction.
    fn query<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, JournalError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&connection).map_err(|error| error.during(action))
    }
}

impl Journal for SqliteJournal {
    fn begin(&self, record: &Record) -> Result<ChangeId, JournalError> {
        self.transact("record a change", TransactionBehavior::Immediate, |transaction| {
            insert::insert_change(transaction, &self.root, now(), record)
        })
    }

    fn seal(&self, id: ChangeId, left: &Aftereffects) -> Result<(), JournalError> {
        self.transact("mark a change as done", TransactionBehavior::Immediate, |transaction| {
            lifecycle::finish(transaction, &self.root, id, ChangeState::Done)?;
            session_memory::store_for_change(transaction, &self.root, id, &left.memory)?;
            last_text::store(transaction, &self.root, id, &left.texts)?;
            lifecycle::update_undone_by(transaction, id)
        })?;
        self.check_limits_occasionally();
        Ok(())
    }

    fn remember(&self, session: &str, memory: &[(String, String)]) -> Result<(), JournalError> {
        self.transact("store the session's memory", TransactionBehavior::Immediate, |transaction| {
            session_memory::store(transaction, &self.root, session, memory)
        })
    }

    fn recall(&self, session: &str, prefix: &str) -> Result<Vec<(String, String)>, JournalError> {
        self.query("read the session's memory", |connection| {
            session_memory::load(connection, &self.root, session, prefix)
        })
    }

    fn abandon(&self, id: ChangeId) -> Result<(), JournalError> {
        self.transact("mark a change as abandoned", TransactionBehavior::Immediate, |transaction| {
            lifecycle::finish(transaction, &self.root, id, ChangeState::Abandoned)
        })
    }

    fn pending(&self) -> Result<Vec<(ChangeId, Option<String>)>, JournalError> {
        self.transact("list pending changes", TransactionBehavior::Deferred, |transaction| {
            query::pending(transaction, &self.root)
        })
    }

    fn pending_in_other_root(&self, path: &FilePath) -> Result<Option<(ChangeId, String)>, JournalError> {
        let absolute = Path::new(&self.root).join(path.as_str());
        // Intents contain canonical paths.
        let canonical = absolute.canonicalize().unwrap_or_else(|_| absolute.clone());
        let found = self.query("list pending changes", |connection| {
            query::pending_elsewhere(connection, &self.root, |file| file == absolute || file == canonical)
        })?;
        Ok(found.into_iter().next())
    }

    fn last_text(&self, path: &FilePath, but: ContentHash) -> Result<Option<Vec<u8>>, JournalError> {
        self.query("read a file's last text", |connection| last_text::load(connection, &self.root, path, but))
    }

    fn note_shown(
        &self,
        session: &str,
        path: &FilePath,
        hash: ContentHash,
        text: &[u8],
    ) -> Result<(), JournalError> {
        self.store_shown(&ShownTo { root: &self.root, session, path }, hash, text)
    }

    fn shown(&self, session: &str, path: &FilePath) -> Result<Vec<(ContentHash, Vec<u8>)>, JournalError> {
        self.query("read the texts that were shown", |connection| {
            shown::load(connection, &ShownTo { root: &self.root, session, path })
        })
    }

    fn entry(&self, id: ChangeId) -> Result<Option<Entry>, JournalError> {
        self.transact("show a change", TransactionBehavior::Deferred, |transaction| {
            query::entry(transaction, &self.root, id)
        })
    }

    fn was_pruned(&self, id: ChangeId) -> Result<bool, JournalError> {
        self.transact("look up a change", TransactionBehavior::Deferred, |transaction| {
            query::is_forgotten(transaction, &self.root, id)
        })
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, JournalError> {
        self.transact("list changes", TransactionBehavior::Deferred, |transaction| {
            query::list(transaction, &self.root, filter)
        })
    }

    fn propose(&self, proposal: &Proposal) -> Result<ProposalId, JournalError> {
        self.transact("store a proposal", TransactionBehavior::Immediate, |transaction| {
            proposal::insert_proposal(transaction, &self.root, now(), proposal)
        })
    }

    fn proposals(&self) -> Result<Vec<StoredProposal>, JournalError> {
        self.transact("list proposals", TransactionBehavior::Deferred, |transaction| {
            proposal::pending(transaction, &self.root)
        })
    }

    fn proposal(&self, id: ProposalId) -> Result<Option<StoredProposal>, JournalError> {
        self.transact("show a proposal", TransactionBehavior::Deferred, |transaction| {
            proposal::find(transaction, &self.root, id)
        })
    }

    fn record_rejected_hunks(&self, id: ProposalId, hunks: &[RejectedHunk]) -> Result<(), JournalError> {
        self.transact("store the decision on a proposal", TransactionBehavior::Immediate, |transaction| {
            proposal::reject_hunks(transaction, &self.root, id, hunks)
        })
    }

    fn record_decision(&self, id: ProposalId, settled: &ProposalDecision) -> Result<(), JournalError> {
        self.transact("store the decision on a proposal", TransactionBehavior::Immediate, |transaction| {
            proposal::decide(transaction, &self.root, id, settled)
        })
    }
}

/// Why an operation on the database failed.
#[derive(Debug, thiserror::Error)]
enum DbError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("there is no change {0}")]
    UnknownChange(ChangeId),
    #[error("{id} is not pending but {state}")]
    NotPending { id: ChangeId, state: String },
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    #[error("the proposal {0} is not pending")]
    ProposalNotPending(ProposalId),
    #[error("{owner} is damaged: {reason}")]
    InvalidRow { owner: FileOwner, reason: String },
}

impl DbError {
    fn during(self, action: &'static str) -> JournalError {
        let reason = match &self {
            Self::Sqlite(error) if schema::is_busy(error) => format!(
                "another process has locked it for more than {} s; end that process (`fuser {FILE}` in the state \
                 folder shows it), then try again",
                BUSY_TIMEOUT.as_secs()
            ),
            error => error.to_string(),
        };
        JournalError { action, reason }
    }
}

/// What a row of `files` or `proposal_files` belongs to.
#[derive(Debug, Clone, Copy)]
enum FileOwner {
    Change(ChangeId),
    Proposal(ProposalId),
}

impl FileOwner {
    /// The table of its files.
    fn table(self) -> &'static str {
        match self {
            Self::Change(_) => "files",
            Self::Proposal(_) => "proposal_files",
        }
    }

    /// The column of that table with its id.
    fn column(self) -> &'static str {
        match self {
            Self::Change(_) => "change",
            Self::Proposal(_) => "proposal",
        }
    }

    fn row_id(self) -> i64 {
        match self {
            Self::Change(id) => row_id(id),
            Self::Proposal(id) => row_id(ChangeId(id.0)),
        }
    }
}

impl std::fmt::Display for FileOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Change(id) => id.fmt(f),
            Self::Proposal(id) => id.fmt(f),
        }
    }
}

/// Sets whether commits are flushed to the disk from now on.
fn set_synchronous(connection: &Connection, fsync: Fsync) -> rusqlite::Result<()> {
    let level = match fsync {
        Fsync::On => "FULL",
        Fsync::Off => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", level)
}

/// The current time in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The row id of a change. An id that is too large for SQLite becomes -1, which no row has.
fn row_id(id: ChangeId) -> i64 {
    i64::try_from(id.0).unwrap_or(-1)
}

/// The change with a row id.
fn change_id(row_id: i64) -> ChangeId {
    ChangeId(row_id.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_journal_is_reported_with_the_next_step() {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path(), "/").unwrap();
        journal.connection.lock().unwrap().busy_timeout(Duration::from_millis(20)).unwrap();
        let mut other = Connection::open(folder.path().join(FILE)).unwrap();
        let held = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        let memory = [("name".to_owned(), "text".to_owned())];
        let error = journal.remember("s", &memory).unwrap_err().to_string();
        assert!(error.contains("another process has locked it"), "{error}");
        assert!(error.contains("then try again") && !error.contains("database is locked"), "{error}");
        drop(held);
        journal.remember("s", &memory).unwrap();
    }
}
