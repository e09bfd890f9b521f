//! The memory of changes, in one SQLite database that all processes and all roots of a state
//! folder share.
//!
//! A change is announced ([`Journal::begin`]) before the files change and sealed after, so that a
//! crash in between leaves a pending entry that says what was meant and how to take it back.

mod blob;
mod calls;
mod gc;
mod marks;
mod memory;
mod proposal;
mod query;
mod record;
mod schema;
mod text;
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
    Record, StoredProposal, Summary,
};
use slipstitch_core::text::ContentHash;

use crate::Fsync;
use crate::stats::Call;
pub use gc::{Collected, Retention};
use transaction::Open;

/// The database's name in the state folder.
const FILE: &str = "journal.db";
/// How long to wait for another process that writes.
const BUSY: Duration = Duration::from_secs(10);

/// The journal of one root.
#[derive(Debug)]
pub struct SqliteJournal {
    connection: Mutex<Connection>,
    root: String,
    fsync: Fsync,
    retention: Retention,
    /// Notes of calls that wait to be written, with their times.
    notes: Mutex<Vec<(i64, Call)>>,
    /// How many changes were sealed since the limits were last looked at.
    unchecked: AtomicUsize,
}

impl SqliteJournal {
    /// Opens the journal in `state_dir`, making it if it is missing, and shows only what belongs
    /// to `root`. What it acknowledges survives a power cut; see [`SqliteJournal::with_fsync`].
    pub fn open(state_dir: &Path, root: &str) -> Result<Self, JournalError> {
        let failed = |reason: String| JournalError { action: "be opened", reason };
        let path = state_dir.join(FILE);
        // SQLite would make it readable for everyone; it holds pieces of files.
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| failed(format!("{}: {error}", path.display())))?;
        let mut connection = Connection::open(&path).map_err(|error| failed(error.to_string()))?;
        schema::prepare(&mut connection, BUSY).map_err(|error| match error {
            schema::SchemaError::Sqlite(error) => Fault::from(error).during("be opened"),
            error => failed(error.to_string()),
        })?;
        Ok(Self {
            connection: Mutex::new(connection),
            root: root.into(),
            fsync: Fsync::On,
            retention: Retention::default(),
            notes: Mutex::default(),
            unchecked: AtomicUsize::new(gc::LOOK_EVERY),
        })
    }

    /// Chooses whether an acknowledged change waits for the disk. Without it a power cut can lose
    /// the last entries, but never damages the journal.
    pub fn with_fsync(mut self, fsync: Fsync) -> Result<Self, JournalError> {
        self.fsync = fsync;
        self.ask("be opened", |connection| Ok(wait_for_disk(connection, fsync)?))?;
        Ok(self)
    }

    /// Looks for damage and answers with the journal's size in bytes.
    pub fn check(&self) -> Result<u64, JournalError> {
        self.transact("be checked", TransactionBehavior::Deferred, |transaction| {
            let verdict: String = transaction.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            if verdict != "ok" {
                return Err(Fault::Unsound(verdict));
            }
            let pages: i64 = transaction.pragma_query_value(None, "page_count", |row| row.get(0))?;
            let size: i64 = transaction.pragma_query_value(None, "page_size", |row| row.get(0))?;
            Ok((pages * size).unsigned_abs())
        })
    }

    /// Changes that were begun in other roots, reach into these, and are neither done nor given up: each with the root that
    /// it was begun in.
    pub fn pending_elsewhere(&self, roots: &[&str]) -> Result<Vec<(ChangeId, String)>, JournalError> {
        self.ask("list unfinished changes", |connection| {
            let inside = |file: &Path| roots.iter().any(|root| file.starts_with(root));
            query::pending_elsewhere(connection, &self.root, inside)
        })
    }

    /// Chooses how much is kept, for how long.
    pub fn with_retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Runs `work` in a transaction of its own: all of it is kept, or nothing.
    fn transact<T>(
        &self,
        action: &'static str,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, JournalError> {
        // A panic while the lock was held has rolled its transaction back; the connection is fine.
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let run = || {
            let transaction = Open::begin(&connection, behavior)?;
            let result = work(&connection)?;
            transaction.commit()?;
            Ok(result)
        };
        run().map_err(|fault: Fault| fault.during(action))
    }

    /// Asks one question, which needs no transaction of its own.
    fn ask<T>(
        &self,
        action: &'static str,
        question: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, JournalError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        question(&connection).map_err(|fault| fault.during(action))
    }
}

impl Journal for SqliteJournal {
    fn begin(&self, record: &Record) -> Result<ChangeId, JournalError> {
        self.transact("announce a change", TransactionBehavior::Immediate, |transaction| {
            record::insert(transaction, &self.root, now(), record)
        })
    }

    fn seal(&self, id: ChangeId, left: &Aftereffects) -> Result<(), JournalError> {
        self.transact("note that a change is done", TransactionBehavior::Immediate, |transaction| {
            marks::settle(transaction, &self.root, id, ChangeState::Done)?;
            memory::remember_of(transaction, &self.root, id, &left.memory)?;
            text::keep(transaction, &self.root, id, &left.texts)?;
            marks::note_taken_back(transaction, id)
        })?;
        self.keep_within_limits();
        Ok(())
    }

    fn remember(&self, session: &str, memory: &[(String, String)]) -> Result<(), JournalError> {
        self.transact("note what a session remembers", TransactionBehavior::Immediate, |transaction| {
            memory::remember(transaction, &self.root, session, memory)
        })
    }

    fn recall(&self, session: &str, prefix: &str) -> Result<Vec<(String, String)>, JournalError> {
        self.ask("tell what a session remembers", |connection| {
            memory::recall(connection, &self.root, session, prefix)
        })
    }

    fn abandon(&self, id: ChangeId) -> Result<(), JournalError> {
        self.transact("note that a change was given up", TransactionBehavior::Immediate, |transaction| {
            marks::settle(transaction, &self.root, id, ChangeState::Abandoned)
        })
    }

    fn pending(&self) -> Result<Vec<(ChangeId, Option<String>)>, JournalError> {
        self.transact("list unfinished changes", TransactionBehavior::Deferred, |transaction| {
            query::pending(transaction, &self.root)
        })
    }

    fn pending_in_other_root(&self, path: &FilePath) -> Result<Option<(ChangeId, String)>, JournalError> {
        let named = Path::new(&self.root).join(path.as_str());
        // An intent names a file by the place where it is.
        let real = named.canonicalize().unwrap_or_else(|_| named.clone());
        let found = self.ask("list unfinished changes", |connection| {
            query::pending_elsewhere(connection, &self.root, |file| file == named || file == real)
        })?;
        Ok(found.into_iter().next())
    }

    fn last_text(&self, path: &FilePath, but: ContentHash) -> Result<Option<Vec<u8>>, JournalError> {
        self.ask("tell what a file had", |connection| text::left(connection, &self.root, path, but))
    }

    fn entry(&self, id: ChangeId) -> Result<Option<Entry>, JournalError> {
        self.transact("show a change", TransactionBehavior::Deferred, |transaction| {
            query::entry(transaction, &self.root, id)
        })
    }

    fn was_pruned(&self, id: ChangeId) -> Result<bool, JournalError> {
        self.transact("tell what was forgotten", TransactionBehavior::Deferred, |transaction| {
            query::forgotten(transaction, &self.root, id)
        })
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, JournalError> {
        self.transact("list changes", TransactionBehavior::Deferred, |transaction| {
            query::list(transaction, &self.root, filter)
        })
    }

    fn propose(&self, proposal: &Proposal) -> Result<ProposalId, JournalError> {
        self.transact("keep a proposal", TransactionBehavior::Immediate, |transaction| {
            proposal::insert(transaction, &self.root, now(), proposal)
        })
    }

    fn proposals(&self) -> Result<Vec<StoredProposal>, JournalError> {
        self.transact("list proposals", TransactionBehavior::Deferred, |transaction| {
            proposal::waiting(transaction, &self.root)
        })
    }

    fn proposal(&self, id: ProposalId) -> Result<Option<StoredProposal>, JournalError> {
        self.transact("show a proposal", TransactionBehavior::Deferred, |transaction| {
            proposal::one(transaction, &self.root, id)
        })
    }

    fn record_decision(&self, id: ProposalId, settled: &ProposalDecision) -> Result<(), JournalError> {
        self.transact("settle a proposal", TransactionBehavior::Immediate, |transaction| {
            proposal::settle(transaction, &self.root, id, settled)
        })
    }
}

/// What can go wrong inside an operation.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0} is not in it")]
    Unknown(ChangeId),
    #[error("{id} is not pending but {state}")]
    NotPending { id: ChangeId, state: String },
    #[error("it is damaged: {0}")]
    Unsound(String),
    #[error("no proposal {0} waits")]
    NotWaiting(ProposalId),
    #[error("{owner} is damaged: {what}")]
    Damaged { owner: Owner, what: String },
}

/// What rows of files belong to.
#[derive(Debug, Clone, Copy)]
enum Owner {
    Change(ChangeId),
    Proposal(ProposalId),
}

impl Owner {
    /// The table of its files.
    fn table(self) -> &'static str {
        match self {
            Self::Change(_) => "files",
            Self::Proposal(_) => "proposal_files",
        }
    }

    /// The column that names it there.
    fn column(self) -> &'static str {
        match self {
            Self::Change(_) => "change",
            Self::Proposal(_) => "proposal",
        }
    }

    fn row(self) -> i64 {
        match self {
            Self::Change(id) => row_of(id),
            Self::Proposal(id) => row_of(ChangeId(id.0)),
        }
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Change(id) => id.fmt(f),
            Self::Proposal(id) => id.fmt(f),
        }
    }
}

impl Fault {
    fn during(self, action: &'static str) -> JournalError {
        let reason = match &self {
            Self::Sqlite(error) if schema::is_busy(error) => format!(
                "another process has kept it locked for more than {} s; let that one end (`fuser {FILE}` in the state \
                 folder names it), then try again",
                BUSY.as_secs()
            ),
            fault => fault.to_string(),
        };
        JournalError { action, reason }
    }
}

/// Says whether what is committed from now on waits for the disk.
fn wait_for_disk(connection: &Connection, fsync: Fsync) -> rusqlite::Result<()> {
    let level = match fsync {
        Fsync::On => "FULL",
        Fsync::Off => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", level)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The row of a change. SQLite counts less far than a [`ChangeId`] does: a larger number is no row,
/// and neither is -1.
fn row_of(id: ChangeId) -> i64 {
    i64::try_from(id.0).unwrap_or(-1)
}

/// The change of a row.
fn id_of(row: i64) -> ChangeId {
    ChangeId(row.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_stays_locked_is_told_as_that_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path(), "/").unwrap();
        let patience = Duration::from_millis(20);
        journal.connection.lock().unwrap().busy_timeout(patience).unwrap();
        let mut other = Connection::open(folder.path().join(FILE)).unwrap();
        let held = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        let memory = [("name".to_owned(), "text".to_owned())];
        let told = journal.remember("s", &memory).unwrap_err().to_string();
        assert!(told.contains("another process has kept it locked"), "{told}");
        assert!(told.contains("then try again") && !told.contains("database is locked"), "{told}");
        drop(held);
        journal.remember("s", &memory).unwrap();
    }
}
