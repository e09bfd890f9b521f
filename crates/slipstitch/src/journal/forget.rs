//! Forgets changes, files or sessions on request, for good: no byte of their text is left in the state folder.
//!
//! SQLite does not overwrite what it deletes, and keeps old pages in its log. So the rows are deleted with
//! `secure_delete`, the database is rebuilt, which drops what earlier deletions left in free pages, and the log is
//! truncated.
//!
//! The log cannot be truncated while another process reads. So a file in the state folder remembers that something is left
//! to erase, until it is.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, TransactionBehavior, params};
use serde::Serialize;
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::{ChangeId, Run};
use slipstitch_core::ports::journal::{JournalError, ProposalId};
use slipstitch_platform::private::owner_only;

use super::checksum::{CHANGES, PROPOSALS};
use super::transaction::CachedTransaction;
use super::{
    DbError, FileOwner, SqliteJournal, call_paths, change_id, failures, gc, proposal, query, row_id,
};
use crate::private_files;

/// The file that exists while deleted text may be left.
const UNFINISHED: &str = "unfinished-erasing";
/// The file whose time stamp says when something was last forgotten.
const FORGOTTEN: &str = "journal.forgotten";

/// What to forget: what is named, or else what meets all conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgetSelection {
    /// These changes.
    pub changes: Vec<ChangeId>,
    /// These proposals.
    pub proposals: Vec<ProposalId>,
    /// Everything about files with these paths.
    pub paths: Vec<FilePath>,
    /// Everything of this session.
    pub session: Option<String>,
}

/// What was forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// The changes, with the undos and redos of them.
    pub changes: Vec<ChangeId>,
    /// The proposals, pending or decided.
    pub proposals: Vec<ProposalId>,
    /// The number of texts of files that were kept because a change left them or a session saw them.
    pub texts: usize,
    /// The number of texts that sessions remembered, such as clipboards.
    pub memories: usize,
    /// The number of calls in the statistics.
    pub calls: usize,
    /// Other changes of the same files. Their diffs and inverses may contain the same text.
    pub related: Vec<ChangeId>,
}

impl Forgotten {
    /// Whether nothing was forgotten.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.proposals.is_empty() && self.texts + self.memories + self.calls == 0
    }
}

/// Why nothing was forgotten, or not for good.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetError {
    /// The selection names a change that the root's journal does not have, or has forgotten already.
    #[error("there is no change {0} in this root's journal")]
    UnknownChange(ChangeId),
    /// The selection names a proposal that the root's journal does not have.
    #[error("there is no proposal {0} in this root's journal")]
    UnknownProposal(ProposalId),
    /// The rows are deleted, but their bytes may still be in the journal's files.
    #[error("the journal no longer has this, but its bytes are not erased from the disk yet: {reason}")]
    Unfinished {
        /// What was deleted.
        forgotten: Box<Forgotten>,
        /// Why it is not erased.
        reason: JournalError,
    },
    /// The journal could not be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl SqliteJournal {
    /// Forgets for good what is selected. A dry run returns the same result and forgets nothing.
    ///
    /// Fails if the rows are deleted but another process keeps old pages in use, so that bytes may be left.
    /// [`finish_erasing`](Self::finish_erasing) erases them later.
    pub fn forget(&self, selection: &ForgetSelection, run: Run) -> Result<Forgotten, ForgetError> {
        const ACTION: &str = "forget";
        // Queued records and texts would be written after they were to be forgotten.
        let _ = self.flush_calls();
        let forgotten = self.erase(ACTION, run, |transaction| {
            if run == Run::Real {
                self.note_time_of_forgetting().map_err(|error| DbError::CannotRemember(error.to_string()))?;
            }
            if let Some(unknown) = find_unknown(transaction, &self.root, selection)? {
                return Ok(Err(unknown));
            }
            let forgotten = select(transaction, &self.root, selection)?;
            let forgotten = delete(transaction, &self.root, selection, forgotten)?;
            // Before it is committed: the process may die right after that.
            if run == Run::Real && !forgotten.is_empty() {
                self.remember_unfinished_erasing()
                    .map_err(|error| DbError::CannotRemember(error.to_string()))?;
            }
            Ok(Ok(forgotten))
        })??;
        if run == Run::Dry {
            return Ok(forgotten);
        }
        for id in &forgotten.changes {
            self.private_texts.forget(*id);
        }
        self.private_texts.forget_memory();
        match self.rebuild(ACTION) {
            Ok(()) => Ok(forgotten),
            Err(reason) => Err(ForgetError::Unfinished { forgotten: Box::new(forgotten), reason }),
        }
    }

    /// Notes when something was forgotten. Called with the journal locked: what others have queued is written after that.
    fn note_time_of_forgetting(&self) -> io::Result<()> {
        let path = self.state_dir.join(FORGOTTEN);
        let note = private_files::open(&path, owner_only(OpenOptions::new().write(true).create(true)))?;
        note.set_modified(SystemTime::now())
    }

    /// Whether something was forgotten at a time or later, in milliseconds since 1970. Text that was queued before must not be
    /// written any more.
    pub(super) fn is_forgotten(&self, at: i64) -> bool {
        let noted = std::fs::metadata(self.state_dir.join(FORGOTTEN)).and_then(|note| note.modified());
        let since_1970 = noted.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since_1970.and_then(|since| i64::try_from(since.as_millis()).ok()).is_some_and(|noted| at <= noted)
    }

    /// Whether only this process knows the text of a file that a change modified.
    pub(crate) fn knows_private_text_of(&self, id: ChangeId) -> bool {
        self.private_texts.knows(id)
    }

    /// Whether text that was deleted may still be in the journal's files.
    pub fn has_unfinished_erasing(&self) -> bool {
        self.unfinished_erasing().symlink_metadata().is_ok()
    }

    /// Erases what earlier deletions left in the journal's files. Returns whether there was anything to do.
    pub fn finish_erasing(&self) -> Result<bool, JournalError> {
        if !self.has_unfinished_erasing() {
            return Ok(false);
        }
        self.rebuild("erase forgotten text").map(|()| true)
    }

    fn unfinished_erasing(&self) -> PathBuf {
        self.state_dir.join(UNFINISHED)
    }

    fn remember_unfinished_erasing(&self) -> io::Result<()> {
        private_files::open(&self.unfinished_erasing(), OpenOptions::new().append(true).create(true))
            .map(drop)
    }

    /// Rebuilds the database and truncates the log, so that nothing deleted is left.
    fn rebuild(&self, action: &'static str) -> Result<(), JournalError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let rebuilt = connection.execute_batch("VACUUM").map_err(DbError::from);
        rebuilt.and_then(|()| truncate_log(&connection)).map_err(|error| self.failure(error, action))?;
        match std::fs::remove_file(self.unfinished_erasing()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(JournalError::new(action, error.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// Runs a transaction whose deletions overwrite what they delete, and then truncates the log. If that is not possible
    /// yet, it is remembered.
    pub(super) fn erase<T>(
        &self,
        action: &'static str,
        run: Run,
        work: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, JournalError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let erase = || {
            connection.pragma_update(None, "secure_delete", "ON")?;
            let transaction = CachedTransaction::begin(&connection, TransactionBehavior::Immediate)?;
            let result = work(&connection)?;
            match run {
                Run::Real => transaction.commit()?,
                Run::Dry => drop(transaction),
            }
            if run == Run::Real && truncate_log(&connection).is_err() {
                self.remember_unfinished_erasing()
                    .map_err(|error| DbError::CannotRemember(error.to_string()))?;
            }
            Ok(result)
        };
        let result = erase();
        let _ = connection.pragma_update(None, "secure_delete", "FAST");
        result.map_err(|error: DbError| self.failure(error, action))
    }
}

/// Copies SQLite's log into the database and truncates it.
fn truncate_log(connection: &Connection) -> Result<(), DbError> {
    let is_busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if is_busy { Err(DbError::StillInUse) } else { Ok(()) }
}

/// The error for the first id that the journal does not have. Damaged records are known: they can be forgotten.
fn find_unknown(
    transaction: &Connection,
    root: &str,
    selection: &ForgetSelection,
) -> Result<Option<ForgetError>, DbError> {
    let mut change =
        transaction.prepare("SELECT 1 FROM changes WHERE id = ?1 AND root = ?2 AND forgotten = 0")?;
    for &id in &selection.changes {
        if !change.exists(params![row_id(id), root])? {
            return Ok(Some(ForgetError::UnknownChange(id)));
        }
    }
    let mut proposal = transaction.prepare("SELECT 1 FROM proposals WHERE id = ?1 AND root = ?2")?;
    for &id in &selection.proposals {
        if !proposal.exists(params![FileOwner::Proposal(id).row_id(), root])? {
            return Ok(Some(ForgetError::UnknownProposal(id)));
        }
    }
    Ok(None)
}

/// The changes and proposals that are selected. Those that are named exist.
fn select(transaction: &Connection, root: &str, selection: &ForgetSelection) -> Result<Forgotten, DbError> {
    let mut changes: BTreeSet<i64> = selection.changes.iter().copied().map(row_id).collect();
    if !selection.paths.is_empty() {
        for path in &selection.paths {
            changes.extend(query::change_ids_of(transaction, root, path)?);
        }
        if let Some(session) = &selection.session {
            let of_session: BTreeSet<i64> = changes_of_session(transaction, root, session)?.collect();
            changes = changes.intersection(&of_session).copied().collect();
        }
    } else if let Some(session) = &selection.session {
        changes.extend(changes_of_session(transaction, root, session)?);
    }
    add_reverting_changes(transaction, &mut changes)?;
    for &id in &changes {
        let is_pending = "SELECT state = 'pending' FROM changes WHERE id = ?1";
        if transaction.query_row(is_pending, [id], |row| row.get(0))? {
            return Err(DbError::StillPending(change_id(id)));
        }
    }
    let proposals = select_proposals(transaction, root, selection, &changes)?;
    let related = related_changes(transaction, root, &changes)?;
    Ok(Forgotten {
        changes: changes.into_iter().map(change_id).collect(),
        proposals,
        related,
        ..Forgotten::default()
    })
}

fn changes_of_session(
    transaction: &Connection,
    root: &str,
    session: &str,
) -> Result<impl Iterator<Item = i64>, DbError> {
    let mut select =
        transaction.prepare("SELECT id FROM changes WHERE root = ?1 AND session = ?2 AND forgotten = 0")?;
    let ids = select.query_map(params![root, session], |row| row.get(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(ids.into_iter())
}

/// Adds the undos and redos of changes, which have the same text.
fn add_reverting_changes(transaction: &Connection, changes: &mut BTreeSet<i64>) -> Result<(), DbError> {
    let mut select = transaction.prepare(
        "SELECT change FROM reverted JOIN changes ON changes.id = change WHERE target = ?1 AND forgotten = 0",
    )?;
    let mut queue: Vec<i64> = changes.iter().copied().collect();
    while let Some(id) = queue.pop() {
        let reverting = select.query_map([id], |row| row.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?;
        queue.extend(reverting.into_iter().filter(|&found| changes.insert(found)));
    }
    Ok(())
}

fn select_proposals(
    transaction: &Connection,
    root: &str,
    selection: &ForgetSelection,
    changes: &BTreeSet<i64>,
) -> Result<Vec<ProposalId>, DbError> {
    let ids = |query: &str, values: &[&dyn rusqlite::ToSql]| -> Result<Vec<i64>, DbError> {
        let mut select = transaction.prepare(query)?;
        Ok(select.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?)
    };
    let mut found: BTreeSet<i64> =
        selection.proposals.iter().map(|&id| FileOwner::Proposal(id).row_id()).collect();
    for change in changes {
        found.extend(ids("SELECT id FROM proposals WHERE change = ?1", params![change])?);
    }
    let session = selection.session.as_deref();
    for path in &selection.paths {
        found.extend(ids(
            "SELECT id FROM proposals WHERE root = ?1 AND (?3 IS NULL OR session = ?3)
                 AND id IN (SELECT proposal FROM proposal_files WHERE path = ?2 OR moved_to = ?2)",
            params![root, path.as_str(), session],
        )?);
    }
    if let (Some(session), true) = (session, selection.paths.is_empty()) {
        found.extend(ids(
            "SELECT id FROM proposals WHERE root = ?1 AND session = ?2",
            params![root, session],
        )?);
    }
    Ok(found.into_iter().map(|row| ProposalId(row.unsigned_abs())).collect())
}

/// The paths of changes, before and after them.
fn paths_of(transaction: &Connection, changes: &BTreeSet<i64>) -> Result<BTreeSet<String>, DbError> {
    let of_change = "SELECT path FROM files WHERE change = ?1
         UNION SELECT moved_to FROM files WHERE change = ?1 AND moved_to IS NOT NULL";
    values_of(transaction, of_change, changes.iter().copied())
}

/// The texts that a query finds for each of some rows.
fn values_of(
    transaction: &Connection,
    query: &str,
    rows: impl Iterator<Item = i64>,
) -> Result<BTreeSet<String>, DbError> {
    let mut select = transaction.prepare(query)?;
    let mut values = BTreeSet::new();
    for row in rows {
        for value in select.query_map([row], |row| row.get::<_, String>(0))? {
            values.insert(value?);
        }
    }
    Ok(values)
}

/// Other changes of the same files.
fn related_changes(
    transaction: &Connection,
    root: &str,
    changes: &BTreeSet<i64>,
) -> Result<Vec<ChangeId>, DbError> {
    let mut related = BTreeSet::new();
    for path in paths_of(transaction, changes)? {
        if let Ok(path) = FilePath::from_record(&path) {
            related.extend(query::change_ids_of(transaction, root, &path)?);
        }
    }
    Ok(related.difference(changes).copied().map(change_id).collect())
}

/// Deletes what was selected, and every copy of its text.
fn delete(
    transaction: &Connection,
    root: &str,
    selection: &ForgetSelection,
    mut forgotten: Forgotten,
) -> Result<Forgotten, DbError> {
    let changes: BTreeSet<i64> = forgotten.changes.iter().copied().map(row_id).collect();
    let proposals = || forgotten.proposals.iter().map(|id| FileOwner::Proposal(*id).row_id());
    // Read before the rows that have them are deleted.
    let mut paths = paths_of(transaction, &changes)?;
    let of_proposal = "SELECT path FROM proposal_files WHERE proposal = ?1
         UNION SELECT moved_to FROM proposal_files WHERE proposal = ?1 AND moved_to IS NOT NULL";
    paths.extend(values_of(transaction, of_proposal, proposals())?);
    paths.extend(selection.paths.iter().map(ToString::to_string));
    let of_change = "SELECT session FROM changes WHERE id = ?1";
    let mut sessions = values_of(transaction, of_change, changes.iter().copied())?;
    sessions.extend(values_of(transaction, "SELECT session FROM proposals WHERE id = ?1", proposals())?);
    sessions.extend(selection.session.iter().cloned());
    for change in &changes {
        transaction.execute("DELETE FROM files WHERE change = ?1", [change])?;
        transaction.execute(
            "UPDATE changes SET forgotten = 1, diff = '', description = NULL, intent = NULL WHERE id = ?1",
            [change],
        )?;
        CHANGES.update_sums(transaction, params![change])?;
    }
    for row in proposals() {
        delete_proposal(transaction, row)?;
    }
    forget_texts(transaction, root, &paths, sessions, &mut forgotten)?;
    if let (Some(session), true) = (&selection.session, selection.paths.is_empty()) {
        let key = params![root, session];
        forgotten.texts += transaction.execute("DELETE FROM shown WHERE root = ?1 AND session = ?2", key)?;
        forgotten.calls += transaction.execute("DELETE FROM calls WHERE root = ?1 AND session = ?2", key)?;
    }
    for path in &selection.paths {
        call_paths::forget(transaction, root, path.as_str())?;
    }
    gc::remove_unreferenced(transaction)?;
    Ok(forgotten)
}

/// Deletes the texts of files, and what these sessions and those that saw the files remember.
fn forget_texts(
    transaction: &Connection,
    root: &str,
    paths: &BTreeSet<String>,
    mut sessions: BTreeSet<String>,
    forgotten: &mut Forgotten,
) -> Result<(), DbError> {
    // What a session that saw the file remembers may be text of it, although the session changed nothing.
    let mut seen_by =
        transaction.prepare("SELECT DISTINCT session FROM shown WHERE root = ?1 AND path = ?2")?;
    for path in paths {
        for session in seen_by.query_map(params![root, path], |row| row.get::<_, String>(0))? {
            sessions.insert(session?);
        }
    }
    for path in paths {
        let key = params![root, path];
        forgotten.texts +=
            transaction.execute("DELETE FROM last_texts WHERE root = ?1 AND path = ?2", key)?;
        forgotten.texts += transaction.execute("DELETE FROM shown WHERE root = ?1 AND path = ?2", key)?;
    }
    for path in paths {
        let quoted = serde_json::Value::from(path.as_str()).to_string();
        let failures = "DELETE FROM session_memory
                        WHERE root = ?1 AND substr(name, 1, length(?2)) = ?2 AND instr(text, ?3) > 0";
        forgotten.memories += transaction.execute(failures, params![root, failures::PREFIX, quoted])?;
    }
    for session in &sessions {
        let memory = "DELETE FROM session_memory WHERE root = ?1 AND session = ?2 AND name <> 'mode'";
        forgotten.memories += transaction.execute(memory, params![root, session])?;
    }
    Ok(())
}

/// Deletes a proposal. The newest only loses its text, see [`gc::remove_unreferenced`].
fn delete_proposal(transaction: &Connection, row: i64) -> Result<(), DbError> {
    proposal::erase_text(transaction, row)?;
    let is_newest = "SELECT ?1 = max(id) FROM proposals";
    if !transaction.query_row(is_newest, [row], |row| row.get::<_, bool>(0))? {
        transaction.execute("DELETE FROM proposals WHERE id = ?1", [row])?;
        return Ok(());
    }
    transaction.execute(
        "UPDATE proposals SET why = '', reason = NULL, change = NULL, left_out = NULL, verdict = 'rejected',
                decided_by = 'forgotten'
         WHERE id = ?1",
        [row],
    )?;
    PROPOSALS.update_sums(transaction, params![row])?;
    Ok(())
}
