//! Forgets old entries to save space.
//!
//! The oldest changes are forgotten first, each as a whole, but never a pending change or a pending proposal.
//! When space is needed, the sessions that worked last keep what their next `undo` and `redo` need, however
//! little space there is (see [`MAX_SPARED`]).
//!
//! A forgotten change loses its splices and its diff. Its row stays as long as other rows refer to it, so that
//! the journal has no dangling references.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use rusqlite::{Connection, TransactionBehavior, params};
use serde::Serialize;
use slipstitch_core::plan::Run;
use slipstitch_core::ports::journal::JournalError;

use super::checksum::CHANGES;
use super::{DbError, SqliteJournal, calls, last_text, now, schema, shown};

/// After how many changes the limits are checked again. The first change of a process checks them too.
pub(super) const CHECK_INTERVAL: usize = 256;

/// A session that has been idle for this long counts as ended, and its memory is deleted.
const MAX_SESSION_DAYS: u64 = 30;

/// How many changes are spared because they are the next to be undone or redone in their session.
const MAX_SPARED: usize = 32;

/// How long calls are kept for statistics, if there is no maximum age for changes.
const DEFAULT_CALL_DAYS: u64 = 90;

const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1000;

/// How much the journal keeps, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// The maximum size in bytes.
    pub max_bytes: u64,
    /// The age in days at which changes are forgotten; never if not set.
    pub max_age_days: Option<u64>,
}

impl Retention {
    /// The limits that keep at least as much, and as long, as either of the two.
    pub(crate) fn or_longer(self, other: &Self) -> Self {
        Self {
            max_bytes: self.max_bytes.max(other.max_bytes),
            max_age_days: self.max_age_days.zip(other.max_age_days).map(|(one, other)| one.max(other)),
        }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self { max_bytes: 512 << 20, max_age_days: None }
    }
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Collected {
    /// The number of changes.
    pub changes: usize,
    /// The number of decided proposals.
    pub proposals: usize,
    /// The number of texts that sessions remembered.
    pub memories: usize,
    /// The number of calls in the statistics.
    pub calls: usize,
    /// The number of texts of files: those that changes left, and those that sessions saw.
    pub texts: usize,
    /// The maximum size of the journal in bytes.
    pub max_bytes: u64,
    /// The size of the journal before.
    pub bytes_before: u64,
    /// The size of the journal now.
    pub bytes_after: u64,
}

impl Collected {
    /// Whether nothing was forgotten.
    pub fn is_empty(&self) -> bool {
        self.changes + self.proposals + self.memories + self.calls + self.texts == 0
    }
}

impl SqliteJournal {
    /// Forgets what exceeds the limits, in all roots, and returns the space to the file system. A dry run returns
    /// the same result and forgets nothing.
    pub fn collect(&self, run: Run) -> Result<Collected, JournalError> {
        const ACTION: &str = "be cleaned up";
        self.write_aids();
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let collected = enforce_limits(&mut connection, &self.retention, self.retention.max_bytes, run)
            .map_err(|error| self.failure(error, ACTION))?;
        if run == Run::Real {
            shrink(&connection).map_err(|error| self.failure(error, ACTION))?;
        }
        Ok(collected)
    }

    /// Checks the limits from time to time. Errors are ignored: nothing depends on it.
    pub(super) fn check_limits_occasionally(&self) {
        if self.changes_since_check.fetch_add(1, Ordering::Relaxed) < CHECK_INTERVAL {
            return;
        }
        self.changes_since_check.store(0, Ordering::Relaxed);
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = self.retention.max_bytes;
        if live_bytes(&connection).is_ok_and(|live| live > limit) {
            // With a margin, so that the next process does not have to do it again.
            let _ = enforce_limits(&mut connection, &self.retention, limit - limit / 8, Run::Real);
        }
    }
}

/// The size without free pages, which SQLite uses for new rows.
fn live_bytes(connection: &Connection) -> Result<u64, DbError> {
    let pragma = |name: &str| -> rusqlite::Result<u64> {
        connection.pragma_query_value(None, name, |row| row.get(0).map(i64::unsigned_abs))
    };
    let pages = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    Ok(pages * pragma("page_size")?)
}

fn enforce_limits(
    connection: &mut Connection,
    retention: &Retention,
    max_bytes: u64,
    run: Run,
) -> Result<Collected, DbError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut collected = Collected {
        bytes_before: live_bytes(&transaction)?,
        max_bytes: retention.max_bytes,
        ..Collected::default()
    };
    let ago = |days: u64| {
        now().saturating_sub(i64::try_from(days.saturating_mul(MILLIS_PER_DAY)).unwrap_or(i64::MAX))
    };
    if let Some(days) = retention.max_age_days {
        let last = "SELECT max(id) FROM changes WHERE at < ?1";
        let last: Option<i64> = transaction.query_row(last, [ago(days)], |row| row.get(0))?;
        collected.changes += forget_changes(&transaction, last.unwrap_or(0), ago(days), "TRUE")?;
        collected.proposals += forget_proposals(&transaction, ago(days))?;
    }
    collected.memories = forget_sessions(&transaction, ago(MAX_SESSION_DAYS))?;
    collected.calls =
        calls::delete_before(&transaction, ago(retention.max_age_days.unwrap_or(DEFAULT_CALL_DAYS)))?;
    let shown_days = retention.max_age_days.unwrap_or(MAX_SESSION_DAYS).min(MAX_SESSION_DAYS);
    collected.texts += shown::delete_before(&transaction, ago(shown_days))?;
    let condition = spare_condition(ago(MAX_SESSION_DAYS));
    loop {
        let live = live_bytes(&transaction)?;
        let Some(excess) = live.checked_sub(max_bytes).filter(|&excess| excess > 0) else { break };
        // Texts of files are only an aid, so they are deleted before anything that can be undone is forgotten.
        let mut texts = shown::delete_oldest(&transaction, excess)?;
        if texts == 0 {
            texts = last_text::delete_oldest(&transaction, excess)?;
        }
        if texts > 0 {
            collected.texts += texts;
            continue;
        }
        let (changes, proposals) = match last_of_oldest(&transaction, excess, &condition)? {
            Some((last, at)) => {
                let proposals = forget_proposals(&transaction, at)?;
                (forget_changes(&transaction, last, i64::MAX, &condition)?, proposals)
            }
            None => (0, forget_proposals(&transaction, i64::MAX)?),
        };
        collected.changes += changes;
        collected.proposals += proposals;
        if changes + proposals == 0 {
            break;
        }
    }
    remove_unreferenced(&transaction)?;
    collected.bytes_after = live_bytes(&transaction)?;
    match run {
        Run::Real => transaction.commit()?,
        Run::Dry => transaction.rollback()?,
    }
    Ok(collected)
}

/// The SQL condition for changes that are not the next to be undone or redone in their session. It spares the
/// newest [`MAX_SPARED`] of those, at or after the time `since`.
fn spare_condition(since: i64) -> String {
    format!(
        "id NOT IN (SELECT max(id) FROM changes
                    WHERE kind <> 'redo' AND undone_by IS NULL AND state = 'done' AND forgotten = 0 AND at >= {since}
                    GROUP BY root, session, kind ORDER BY max(id) DESC LIMIT {MAX_SPARED})"
    )
}

/// Of the oldest changes that add up to `excess` bytes, the id and time of the newest.
fn last_of_oldest(
    transaction: &Connection,
    excess: u64,
    condition: &str,
) -> Result<Option<(i64, i64)>, DbError> {
    let mut select = transaction.prepare_cached(&format!(
        "SELECT id, at, length(CAST(diff AS BLOB))
                + coalesce((SELECT sum(length(splices) + coalesce(length(gap_splices), 0)) FROM files WHERE change = id), 0)
         FROM changes WHERE state <> 'pending' AND forgotten = 0 AND {condition} ORDER BY id",
    ))?;
    let mut rows = select.query([])?;
    let (mut last, mut sum) = (None, 0u64);
    while let Some(row) = rows.next()? {
        last = Some((row.get(0)?, row.get(1)?));
        sum += row.get::<_, i64>(2)?.unsigned_abs();
        if sum >= excess {
            break;
        }
    }
    Ok(last)
}

/// Forgets the changes up to the id `last` that are older than `before` and meet a condition. Returns how many.
fn forget_changes(
    transaction: &Connection,
    last: i64,
    before: i64,
    condition: &str,
) -> Result<usize, DbError> {
    // All are selected first: forgetting one changes what the condition spares.
    let condition = format!("id <= ?1 AND at < ?2 AND state <> 'pending' AND forgotten = 0 AND {condition}");
    let mut select = transaction.prepare(&format!("SELECT id FROM changes WHERE {condition}"))?;
    let selected: Vec<i64> =
        select.query_map(params![last, before], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut files = transaction.prepare_cached("DELETE FROM files WHERE change = ?1")?;
    let mut forget = transaction
        .prepare_cached("UPDATE changes SET forgotten = 1, diff = '', description = NULL WHERE id = ?1")?;
    for change in &selected {
        files.execute([change])?;
        forget.execute([change])?;
        CHANGES.update_sums(transaction, params![change])?;
    }
    last_text::delete_forgotten(transaction)?;
    Ok(selected.len())
}

/// Deletes decided proposals that are older than a time.
fn forget_proposals(transaction: &Connection, before: i64) -> Result<usize, DbError> {
    // The newest row stays, as in `remove_unreferenced`.
    let forget = "DELETE FROM proposals
                  WHERE at < ?1 AND verdict <> 'pending' AND id < (SELECT max(id) FROM proposals)";
    Ok(transaction.execute(forget, [before])?)
}

/// Deletes the memory of sessions that have been idle since a time. Their mode is kept: a session that comes back
/// must not be allowed more than before.
fn forget_sessions(transaction: &Connection, since: i64) -> Result<usize, DbError> {
    let forget = "
        DELETE FROM session_memory AS memory WHERE name <> 'mode'
            AND NOT EXISTS (SELECT 1 FROM session_memory AS other
                            WHERE other.root = memory.root AND other.session = memory.session AND other.at >= ?1)
            AND NOT EXISTS (SELECT 1 FROM changes
                            WHERE changes.root = memory.root AND changes.session = memory.session AND changes.at >= ?1)";
    Ok(transaction.execute(forget, [since])?)
}

/// Deletes the rows of forgotten changes that no other row refers to, until there are none left.
pub(super) fn remove_unreferenced(transaction: &Connection) -> Result<(), DbError> {
    // References among forgotten changes do not matter any more.
    transaction.execute(
        "UPDATE changes SET undone_by = NULL
         WHERE forgotten = 1 AND undone_by IN (SELECT id FROM changes WHERE forgotten = 1)",
        [],
    )?;
    CHANGES.update_sums_where(transaction, "forgotten = 1", [])?;
    let newest = "SELECT id FROM changes WHERE id = (SELECT max(id) FROM changes) AND forgotten = 1";
    transaction.execute(&format!("DELETE FROM reverted WHERE change IN ({newest})"), [])?;
    // The newest row stays: SQLite's counter of ids is then always the highest id, which `slipstitch doctor` verifies.
    let remove = "
        DELETE FROM changes WHERE forgotten = 1 AND id < (SELECT max(id) FROM changes)
            AND NOT EXISTS (SELECT 1 FROM reverted WHERE reverted.target = changes.id)
            AND NOT EXISTS (SELECT 1 FROM changes AS other WHERE other.undone_by = changes.id)
            AND NOT EXISTS (SELECT 1 FROM proposals WHERE proposals.change = changes.id)";
    while transaction.execute(remove, [])? > 0 {}
    Ok(())
}

/// Returns free pages to the file system. If another process is using the journal, this is left to a later run.
fn shrink(connection: &Connection) -> Result<(), DbError> {
    match connection.execute_batch("VACUUM") {
        Err(error) if schema::is_busy(&error) => return Ok(()),
        result => result?,
    }
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}
