//! The journal of changes: one SQLite database that all processes and all roots of a state folder share.
//!
//! A change is recorded as pending ([`Journal::begin`]) before the files change and marked as done after. A crash
//! in between leaves a pending change, with the intent from which it is recovered and the inverse that undoes it.

mod activity;
mod aids;
mod call_paths;
mod calls;
mod check;
mod checksum;
mod failures;
mod forget;
mod gc;
mod insert;
mod last_text;
mod leftover_log;
mod lifecycle;
mod log;
mod other_roots;
mod patience;
mod private;
mod proposal;
mod query;
mod restore_codec;
mod schema;
mod session_memory;
mod shown;
mod splice_codec;
mod transaction;

#[cfg(test)]
mod growth;

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use slipstitch_core::cancel::CancelToken;
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::{ChangeId, Run};
use slipstitch_core::ports::journal::{
    Aftereffects, ChangeState, Entry, Filter, Journal, JournalError, PathState, Proposal, ProposalDecision,
    ProposalId, Record, RejectedHunk, StoredProposal, Summary,
};
use slipstitch_core::text::ContentHash;
use slipstitch_platform::files;
use slipstitch_platform::private::owner_only;

use crate::Fsync;
use crate::hard_links::HardLinkFinder;
use crate::os_path::{path_to_text, text_to_path};
use crate::private_files::{self, Expected};
use crate::stats::CallRecord;
use aids::{Aids, QueuedText};
pub use check::JournalCheck;
use checksum::Table;
pub use forget::{ForgetError, ForgetSelection, Forgotten};
pub use gc::{Collected, Retention};
use leftover_log::OpenMark;
use log::Log;
use patience::Patience;
pub use private::PrivateFiles;
use private::PrivateTexts;
use shown::ShownTo;
use transaction::CachedTransaction;

/// The database's name in the state folder.
const FILE: &str = "journal.db";

/// Whether a state folder has a journal.
pub(crate) fn exists_in(state_dir: &Path) -> bool {
    state_dir.join(FILE).symlink_metadata().is_ok()
}

/// How long to wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The journal of one root.
#[derive(Debug)]
pub struct SqliteJournal {
    connection: Mutex<Connection>,
    patience: Patience,
    log: Log,
    /// Whether SQLite itself flushes every commit, because the database has no log.
    has_log: bool,
    state_dir: PathBuf,
    /// Dropped after the connection, with which SQLite empties its log.
    _open: OpenMark,
    root: String,
    fsync: Fsync,
    retention: Retention,
    private_files: PrivateFiles,
    /// Finds other names of files, which may be private.
    hard_links: Option<HardLinkFinder>,
    private_texts: PrivateTexts,
    /// Records of calls that are not written yet, with their times.
    queued_calls: Mutex<Vec<(i64, CallRecord)>>,
    aids: Mutex<Aids>,
    /// How many changes were made since the limits were last checked.
    changes_since_check: AtomicUsize,
    /// How many shown texts were stored since their total size was last checked.
    shown_since_check: AtomicUsize,
}

impl SqliteJournal {
    /// The proposal that became this change, if a review applied it.
    pub fn accepted_proposal(&self, change: ChangeId) -> Result<Option<StoredProposal>, JournalError> {
        self.transact("look up a proposal", TransactionBehavior::Deferred, |transaction| {
            proposal::find_accepted(transaction, &self.root, change)
        })
    }

    /// Opens the journal of `root` in `state_dir` and creates the database if it is missing.
    ///
    /// Acknowledged changes survive a power cut; see [`SqliteJournal::with_fsync`].
    pub fn open(state_dir: &Path, root: &str) -> Result<Self, JournalError> {
        let failed = |reason: String| JournalError::new("be opened", reason);
        let path = state_dir.join(FILE);
        let with_path = |reason: &dyn std::fmt::Display| format!("`{}`: {reason}", path.display());
        // SQLite refuses a symlink too, but not in a way that says which file is one.
        for suffix in ["", "-wal", "-shm", "-journal"] {
            private_files::check(&state_dir.join(format!("{FILE}{suffix}")), Expected::File)
                .map_err(|error| failed(error.to_string()))?;
        }
        create_private(&path).map_err(|error| failed(with_path(&error)))?;
        let log = state_dir.join(format!("{FILE}-wal"));
        let open = OpenMark::take(state_dir, &log).map_err(|error| failed(with_path(&error)))?;
        // SQLite refuses a symlink anywhere in the path, but only the file itself matters.
        let real = files::real_path(state_dir).map_err(|error| failed(error.to_string()))?.join(FILE);
        let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection =
            Connection::open_with_flags(&real, flags).map_err(|error| failed(with_path(&error)))?;
        let has_log = schema::prepare(&mut connection, BUSY_TIMEOUT).map_err(|error| match error {
            schema::SchemaError::Sqlite(error) => {
                let error = DbError::from(error).during("be opened");
                JournalError { reason: with_path(&error.reason), ..error }
            }
            error => failed(format!("`{}` {error}; {}", path.display(), error.advice())),
        })?;
        let patience = Patience::install(&mut connection).map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            connection: Mutex::new(connection),
            patience,
            log: Log::of(state_dir),
            has_log,
            state_dir: state_dir.into(),
            _open: open,
            root: root.into(),
            fsync: Fsync::On,
            retention: Retention::default(),
            private_files: PrivateFiles::default(),
            hard_links: None,
            private_texts: PrivateTexts::default(),
            queued_calls: Mutex::default(),
            aids: Mutex::default(),
            changes_since_check: AtomicUsize::new(gc::CHECK_INTERVAL),
            shown_since_check: AtomicUsize::new(shown::CHECK_INTERVAL),
        })
    }

    /// Sets whether changes are flushed to the disk before they are acknowledged. Without it, a power cut can lose
    /// the last changes but never damages the journal.
    pub fn with_fsync(mut self, fsync: Fsync) -> Self {
        self.fsync = fsync;
        self
    }

    /// The pending changes that were begun in other roots and affect files in `roots`, each with its own root.
    pub fn pending_elsewhere(&self, roots: &[&str]) -> Result<Vec<(ChangeId, String)>, JournalError> {
        self.query("list pending changes", |connection| {
            let inside = |file: &Path| roots.iter().any(|root| file.starts_with(root));
            query::pending_elsewhere(connection, &self.root, inside)
        })
    }

    /// The root that a change was recorded with, unless it is gone.
    pub(crate) fn root_of_change(&self, id: ChangeId) -> Result<Option<String>, JournalError> {
        self.query("find a change's root", |connection| other_roots::of_change(connection, id))
    }

    /// The root that a proposal was recorded with, unless it is gone.
    pub(crate) fn root_of_proposal(&self, id: ProposalId) -> Result<Option<String>, JournalError> {
        self.query("find a proposal's root", |connection| other_roots::of_proposal(connection, id))
    }

    /// The other roots around this one and inside it that have changes or pending proposals.
    pub(crate) fn nested_roots(&self) -> Result<Vec<String>, JournalError> {
        self.query("list roots", |connection| other_roots::around_and_inside(connection, &self.root))
    }

    /// The changes of another root, newest first.
    pub(crate) fn list_of_root(&self, root: &str, filter: &Filter) -> Result<Vec<Summary>, JournalError> {
        self.query("list changes", |connection| query::list(connection, root, filter))
    }

    /// Also takes a file for private if a hard link beneath these roots, with symlinks resolved, has a private name.
    pub(crate) fn with_hard_links_in(mut self, roots: Vec<PathBuf>) -> Self {
        self.hard_links = Some(HardLinkFinder::new(roots));
        self
    }

    /// Sets which files' text is not stored.
    pub fn with_private_files(mut self, files: PrivateFiles) -> Self {
        self.private_files = files;
        self
    }

    /// Sets how much is kept, and for how long.
    pub fn with_retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Sets a token that is cancelled when the process is to end. From then on, nothing waits for another process that has
    /// locked the journal.
    pub fn with_interrupt(self, interrupt: Option<CancelToken>) -> Self {
        self.patience.set_interrupt(interrupt);
        self
    }

    /// Runs `work` in a transaction. What it writes survives a power cut.
    fn transact<T>(
        &self,
        action: &'static str,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, JournalError> {
        let is_write = matches!(behavior, TransactionBehavior::Immediate);
        let result = self.transact_unflushed(action, behavior, work)?;
        if is_write {
            self.flush_log(action)?;
        }
        Ok(result)
    }

    /// Runs `work` in a transaction. A power cut may undo it, but not what was written before.
    fn transact_unflushed<T>(
        &self,
        action: &'static str,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, JournalError> {
        self.transact_for(None, action, behavior, work)
    }

    /// Runs `work` in a transaction, unless the call is cancelled while it still waits for other processes. Once the
    /// transaction has started, the call cannot be cancelled.
    fn transact_unless_cancelled<T>(
        &self,
        action: &'static str,
        cancel: &CancelToken,
        work: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<Option<T>, JournalError> {
        let claim_and_work = |connection: &Connection| match cancel.begin_writing() {
            true => work(connection).map(Some),
            false => Ok(None),
        };
        match self.transact_for(Some(cancel), action, TransactionBehavior::Immediate, claim_and_work) {
            Ok(Some(result)) => {
                self.flush_log(action)?;
                Ok(Some(result))
            }
            Err(_) if cancel.is_cancelled() => Ok(None),
            result => result,
        }
    }

    /// Runs `work` in a transaction. If it is on behalf of a call, cancelling the call ends the wait for other processes.
    fn transact_for<T>(
        &self,
        call: Option<&CancelToken>,
        action: &'static str,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, JournalError> {
        let mut work = Some(work);
        let deadline = self.patience.deadline();
        let mut attempts = 0;
        loop {
            match self.try_transact(call, behavior, &mut work) {
                // Until the next attempt, others can use the connection for work that needs no lock.
                Err(DbError::Sqlite(busy))
                    if work.is_some()
                        && schema::is_busy(&busy)
                        && self.patience.pause(attempts, deadline, call) =>
                {
                    attempts += 1;
                }
                result => return result.map_err(|error| self.failure(error, action)),
            }
        }
    }

    /// Runs `work` in a transaction if that can begin at once. Otherwise `work` stays where it is, for another attempt.
    fn try_transact<T>(
        &self,
        call: Option<&CancelToken>,
        behavior: TransactionBehavior,
        work: &mut Option<impl FnOnce(&Connection) -> Result<T, DbError>>,
    ) -> Result<T, DbError> {
        // After a panic the transaction is rolled back, so the connection can still be used.
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = || CachedTransaction::begin(&connection, behavior);
        let transaction = self.patience.at_most(Duration::ZERO, begin)?;
        let work = work.take().ok_or(rusqlite::Error::InvalidQuery)?;
        let run = || {
            let result = work(&connection)?;
            transaction.commit()?;
            Ok(result)
        };
        // Only while this call has the connection: it must not end the waits of other calls.
        match call {
            Some(call) => self.patience.for_call(call, run),
            None => run(),
        }
    }

    /// Makes what was written survive a power cut.
    fn flush_log(&self, action: &'static str) -> Result<(), JournalError> {
        if self.fsync == Fsync::On && self.has_log {
            self.log.flush().map_err(|error| JournalError::new(action, error.to_string()))?;
        }
        Ok(())
    }

    /// Runs a single query, which needs no transaction.
    fn query<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, JournalError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&connection).map_err(|error| self.failure(error, action))
    }

    /// The error for callers.
    fn failure(&self, error: DbError, action: &'static str) -> JournalError {
        match error {
            DbError::Sqlite(busy) if schema::is_busy(&busy) && self.patience.is_interrupted() => {
                JournalError::new(action, "the process was asked to end while another one had locked it")
            }
            error => error.during(action),
        }
    }
}

/// Creates an empty database if there is none: SQLite would make it readable for everyone, and it contains parts of files.
///
/// One that exists is not even opened. Closing it again would release every lock that this process has on it through other
/// connections, and a process that ends then takes itself for the last one and deletes the log that those still write to.
fn create_private(path: &Path) -> io::Result<()> {
    match private_files::open(path, owner_only(OpenOptions::new().create_new(true).append(true))) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

impl Journal for SqliteJournal {
    fn begin_unless_cancelled(
        &self,
        record: &Record,
        cancel: &CancelToken,
    ) -> Result<Option<ChangeId>, JournalError> {
        let id = self.transact_unless_cancelled("record a change", cancel, |transaction| {
            insert::insert_change(transaction, &self.root, now(), record)
        })?;
        if let Some(id) = id {
            self.private_texts.keep(id, &record.files);
        }
        Ok(id)
    }

    fn seal(&self, id: ChangeId, left: &Aftereffects) -> Result<(), JournalError> {
        let seal = |transaction: &Connection| {
            lifecycle::finish(transaction, &self.root, id, ChangeState::Done)?;
            session_memory::store_for_change(transaction, &self.root, id, &left.memory)?;
            lifecycle::update_undone_by(transaction, id)
        };
        const ACTION: &str = "mark a change as done";
        // Recovery finds out again that the change is done, but not what the session remembers of it.
        match left.memory.is_empty() {
            true => self.transact_unflushed(ACTION, TransactionBehavior::Immediate, seal)?,
            false => self.transact(ACTION, TransactionBehavior::Immediate, seal)?,
        }
        self.queue_last_texts(id, &left.texts);
        self.check_limits_occasionally();
        Ok(())
    }

    fn remember(&self, session: &str, memory: &[(String, String)]) -> Result<(), JournalError> {
        self.transact("store the session's memory", TransactionBehavior::Immediate, |transaction| {
            session_memory::store(transaction, &self.root, session, memory)
        })?;
        self.private_texts.replace(session, memory);
        Ok(())
    }

    fn remember_in_process(&self, session: &str, memory: &[(String, String)]) -> Result<(), JournalError> {
        self.private_texts.remember(session, memory);
        Ok(())
    }

    fn keeps_text_of(&self, path: &FilePath) -> bool {
        if !self.keeps_text_of_name(path) {
            return false;
        }
        let root = Path::new(&self.root);
        let Some(links) = &self.hard_links else { return true };
        let others = links.find(&root.join(text_to_path(path.as_str())));
        let has_private_name = others.paths.iter().any(|other| {
            let other = other.strip_prefix(root).unwrap_or(other);
            FilePath::from_record(&path_to_text(other)).is_ok_and(|other| !self.keeps_text_of_name(&other))
        });
        // Where nobody can tell, the text is not kept.
        !has_private_name && !others.is_cut_short
    }

    fn keeps_text_of_name(&self, path: &FilePath) -> bool {
        !self.private_files.contains(path)
    }

    fn recall(&self, session: &str, prefix: &str) -> Result<Vec<(String, String)>, JournalError> {
        self.query("read the session's memory", |connection| {
            let stored = session_memory::load(connection, &self.root, session, prefix)?;
            Ok(self.private_texts.recall(session, prefix, stored))
        })
    }

    fn abandon(&self, id: ChangeId) -> Result<(), JournalError> {
        self.transact("mark a change as abandoned", TransactionBehavior::Immediate, |transaction| {
            lifecycle::finish(transaction, &self.root, id, ChangeState::Abandoned)
        })?;
        self.private_texts.forget(id);
        Ok(())
    }

    fn pending(&self) -> Result<Vec<(ChangeId, Option<String>)>, JournalError> {
        self.transact("list pending changes", TransactionBehavior::Deferred, |transaction| {
            query::pending(transaction, &self.root)
        })
    }

    fn pending_in_other_root(&self, path: &FilePath) -> Result<Option<(ChangeId, String)>, JournalError> {
        let absolute = Path::new(&self.root).join(text_to_path(path.as_str()));
        // Intents contain canonical paths.
        let canonical = files::real_path(&absolute).unwrap_or_else(|_| absolute.clone());
        let found = self.query("list pending changes", |connection| {
            query::pending_elsewhere(connection, &self.root, |file| file == absolute || file == canonical)
        })?;
        Ok(found.into_iter().next())
    }

    fn last_text(&self, path: &FilePath, but: ContentHash) -> Result<Option<Vec<u8>>, JournalError> {
        match self.queued_last_text(path, but) {
            QueuedText::Same => return Ok(None),
            QueuedText::Other => self.write_aids(),
            QueuedText::None => {}
        }
        self.query("read a file's last text", |connection| last_text::load(connection, &self.root, path, but))
    }

    fn last_texts(&self, paths: &[(&FilePath, ContentHash)]) -> Result<Vec<Option<Vec<u8>>>, JournalError> {
        if let [(path, but)] = paths {
            return Ok(vec![self.last_text(path, *but)?]);
        }
        let queued: Vec<QueuedText> =
            paths.iter().map(|(path, but)| self.queued_last_text(path, *but)).collect();
        if queued.contains(&QueuedText::Other) {
            self.write_aids();
        }
        let load = |connection: &Connection| {
            let load = |((path, but), queued): (&(&FilePath, ContentHash), &QueuedText)| match queued {
                QueuedText::Same => Ok(None),
                _ => last_text::load(connection, &self.root, path, *but),
            };
            paths.iter().zip(&queued).map(load).collect()
        };
        // In a transaction, because otherwise each query would lock the journal.
        self.transact("read files' last texts", TransactionBehavior::Deferred, load)
    }

    fn note_shown(
        &self,
        session: &str,
        path: &FilePath,
        hash: ContentHash,
        text: &[u8],
    ) -> Result<(), JournalError> {
        self.queue_shown(session, path, hash, text);
        Ok(())
    }

    fn shown(&self, session: &str, path: &FilePath) -> Result<Vec<(ContentHash, Vec<u8>)>, JournalError> {
        self.write_aids();
        self.query("read the texts that were shown", |connection| {
            shown::load(connection, &ShownTo { root: &self.root, session, path })
        })
    }

    fn entry(&self, id: ChangeId) -> Result<Option<Entry>, JournalError> {
        self.transact("show a change", TransactionBehavior::Deferred, |transaction| {
            let mut entry = query::entry(transaction, &self.root, id)?;
            if let Some(entry) = &mut entry {
                self.private_texts.restore(id, &mut entry.files);
            }
            Ok(entry)
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

    fn states_of(
        &self,
        path: &FilePath,
        before: Option<ChangeId>,
        limit: usize,
    ) -> Result<Vec<PathState>, JournalError> {
        self.transact("list changes", TransactionBehavior::Deferred, |transaction| {
            query::states_of(transaction, &self.root, path, before, limit)
        })
    }

    fn any_pruned_between(&self, after: ChangeId, before: ChangeId) -> Result<bool, JournalError> {
        self.transact("look up changes", TransactionBehavior::Deferred, |transaction| {
            query::any_forgotten_between(transaction, &self.root, after, before)
        })
    }

    fn propose_unless_cancelled(
        &self,
        proposal: &Proposal,
        cancel: &CancelToken,
    ) -> Result<Option<ProposalId>, JournalError> {
        self.transact_unless_cancelled("store a proposal", cancel, |transaction| {
            proposal::check_space(
                transaction,
                &self.root,
                proposal,
                proposal::space_within(&self.retention),
            )?;
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
        const ACTION: &str = "store the decision on a proposal";
        if self.query(ACTION, |connection| proposal::is_private(connection, id))? {
            return self.erase(ACTION, Run::Real, |transaction| {
                proposal::decide(transaction, &self.root, id, settled)?;
                proposal::erase_text(transaction, FileOwner::Proposal(id).row_id())
            });
        }
        self.transact(ACTION, TransactionBehavior::Immediate, |transaction| {
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
    #[error("the record of {0} is damaged")]
    Damaged(String),
    #[error("{0} is still pending")]
    StillPending(ChangeId),
    #[error(
        "another process is reading the journal, so deleted text may still be in its log; try again when it is done"
    )]
    StillInUse,
    #[error("cannot note in the state folder that text is to be erased: {0}")]
    CannotRemember(String),
    #[error(
        "the session's pending proposals would take {needed} bytes, and the limit is {limit} (half of `max_bytes` in \
         `[journal]`, but at least 1 MiB); accept or reject some of them first"
    )]
    TooManyProposals { needed: u64, limit: u64 },
    #[error("the proposal {0} is not pending")]
    ProposalNotPending(ProposalId),
    #[error("{owner} is damaged: {reason}")]
    InvalidRow { owner: FileOwner, reason: String },
}

impl DbError {
    fn during(self, action: &'static str) -> JournalError {
        let reason = match &self {
            Self::Damaged(_) | Self::InvalidRow { .. } => {
                return JournalError::damaged(action, self.to_string());
            }
            Self::Sqlite(error) if schema::is_busy(error) => format!(
                "another process has locked it for more than {} s; end that process (`fuser {FILE}` in the state \
                 folder shows it), then try again",
                BUSY_TIMEOUT.as_secs()
            ),
            error => error.to_string(),
        };
        JournalError::new(action, reason)
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
    fn table(self) -> &'static Table {
        match self {
            Self::Change(_) => &checksum::FILES,
            Self::Proposal(_) => &checksum::PROPOSAL_FILES,
        }
    }

    /// The column of that table with its id.
    fn column(self) -> &'static str {
        self.table().key[0]
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
mod tests;
