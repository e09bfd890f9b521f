//! What is forgotten to save space: the oldest changes first, each as a whole, never one that is pending and never a
//! proposal that waits. For the sake of space, however little there is, the sessions that worked last do not lose what
//! their next `undo` and their next `redo` need ([`MAX_NEXT`]).
//!
//! A forgotten change loses its splices and its diff. Its row stays as long as another change names it, so that the
//! journal never points at nothing.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use rusqlite::{Connection, TransactionBehavior, params};
use serde::Serialize;
use slipstitch_core::plan::Run;
use slipstitch_core::ports::journal::JournalError;

use super::{Fault, SqliteJournal, calls, now, schema, text};

/// After how many changes the limits are looked at again; the first change of a process looks too.
pub(super) const LOOK_EVERY: usize = 256;

/// Sessions that did nothing for so long are gone, and what they remember is forgotten.
const SESSION_DAYS: u64 = 30;

/// How many changes are spared because a session takes them back or makes them again next.
const MAX_NEXT: usize = 32;

/// How long calls count for statistics, if changes have no age of their own.
const CALL_DAYS: u64 = 90;

const DAY: u64 = 24 * 60 * 60 * 1000;

/// How much the journal keeps, for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// The most bytes that it may take.
    pub max_bytes: u64,
    /// After how many days changes are forgotten; never if not set.
    pub max_age_days: Option<u64>,
}

impl Default for Retention {
    fn default() -> Self {
        Self { max_bytes: 512 << 20, max_age_days: None }
    }
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Collected {
    /// How many changes.
    pub changes: usize,
    /// How many proposals that were decided on.
    pub proposals: usize,
    /// How many texts that sessions remembered.
    pub memories: usize,
    /// How many calls that statistics counted.
    pub calls: usize,
    /// How many texts that files had after their last change.
    pub texts: usize,
    /// How many bytes the journal may hold.
    pub max_bytes: u64,
    /// How many bytes the journal held before.
    pub bytes_before: u64,
    /// How many it holds now.
    pub bytes_after: u64,
}

impl Collected {
    /// Whether nothing was forgotten.
    pub fn is_nothing(&self) -> bool {
        self.changes + self.proposals + self.memories + self.calls + self.texts == 0
    }
}

impl SqliteJournal {
    /// Forgets what is beyond the limits, of all roots, and gives the space back to the disk. A dry run says the same
    /// and forgets nothing.
    pub fn collect(&self, run: Run) -> Result<Collected, JournalError> {
        const ACTION: &str = "be tidied up";
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let collected = forget_beyond(&mut connection, &self.retention, self.retention.max_bytes, run)
            .map_err(|fault| fault.during(ACTION))?;
        if run == Run::Real {
            shrink(&connection).map_err(|fault| fault.during(ACTION))?;
        }
        Ok(collected)
    }

    /// Looks at the limits now and then. Nothing depends on it, so that a failure is no reason to fail a change.
    pub(super) fn keep_within_limits(&self) {
        if self.unchecked.fetch_add(1, Ordering::Relaxed) < LOOK_EVERY {
            return;
        }
        self.unchecked.store(0, Ordering::Relaxed);
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let most = self.retention.max_bytes;
        if live_bytes(&connection).is_ok_and(|live| live > most) {
            // Below the limit by a margin, so that not every process has to do it again.
            let _ = forget_beyond(&mut connection, &self.retention, most - most / 8, Run::Real);
        }
    }
}

/// The bytes that are in use: free pages are given to what comes next.
fn live_bytes(connection: &Connection) -> Result<u64, Fault> {
    let pragma = |name: &str| -> rusqlite::Result<u64> {
        connection.pragma_query_value(None, name, |row| row.get(0).map(i64::unsigned_abs))
    };
    let pages = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    Ok(pages * pragma("page_size")?)
}

fn forget_beyond(
    connection: &mut Connection,
    retention: &Retention,
    most: u64,
    run: Run,
) -> Result<Collected, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (bytes_before, max_bytes) = (live_bytes(&transaction)?, retention.max_bytes);
    let mut done = Collected { bytes_before, max_bytes, ..Collected::default() };
    let ago = |days: u64| now().saturating_sub(i64::try_from(days.saturating_mul(DAY)).unwrap_or(i64::MAX));
    if let Some(days) = retention.max_age_days {
        let last = "SELECT max(id) FROM changes WHERE at < ?1";
        let last: Option<i64> = transaction.query_row(last, [ago(days)], |row| row.get(0))?;
        done.changes += forget_upto(&transaction, last.unwrap_or(0), ago(days), "TRUE")?;
        done.proposals += forget_proposals(&transaction, ago(days))?;
    }
    done.memories = forget_sessions(&transaction, ago(SESSION_DAYS))?;
    done.calls = calls::forget(&transaction, ago(retention.max_age_days.unwrap_or(CALL_DAYS)))?;
    let not_next = not_next(ago(SESSION_DAYS));
    loop {
        let live = live_bytes(&transaction)?;
        let Some(excess) = live.checked_sub(most).filter(|&excess| excess > 0) else { break };
        // What files held after their last change is only a help; it goes before anything that can be taken back.
        let texts = text::forget_oldest(&transaction, excess)?;
        if texts > 0 {
            done.texts += texts;
            continue;
        }
        let (changes, proposals) = match oldest(&transaction, excess, &not_next)? {
            Some((last, at)) => {
                let proposals = forget_proposals(&transaction, at)?;
                (forget_upto(&transaction, last, i64::MAX, &not_next)?, proposals)
            }
            None => (0, forget_proposals(&transaction, i64::MAX)?),
        };
        done.changes += changes;
        done.proposals += proposals;
        if changes + proposals == 0 {
            break;
        }
    }
    remove_unnamed(&transaction)?;
    done.bytes_after = live_bytes(&transaction)?;
    match run {
        Run::Real => transaction.commit()?,
        Run::Dry => transaction.rollback()?,
    }
    Ok(done)
}

/// Changes that are not what their session takes back or makes again next. Sessions that did nothing since a time are
/// gone, and of very many sessions the last ones count.
fn not_next(since: i64) -> String {
    format!(
        "id NOT IN (SELECT max(id) FROM changes
                    WHERE kind <> 'redo' AND undone_by IS NULL AND state = 'done' AND forgotten = 0 AND at >= {since}
                    GROUP BY root, session, kind ORDER BY max(id) DESC LIMIT {MAX_NEXT})"
    )
}

/// The last of the oldest changes that together hold so many bytes, and its time.
fn oldest(transaction: &Connection, excess: u64, condition: &str) -> Result<Option<(i64, i64)>, Fault> {
    let mut select = transaction.prepare_cached(&format!(
        "SELECT id, at, length(CAST(diff AS BLOB))
                + coalesce((SELECT sum(length(splices) + coalesce(length(gap), 0)) FROM files WHERE change = id), 0)
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

/// Forgets the changes up to a number that are older than a time and fit a condition. Says how many.
fn forget_upto(transaction: &Connection, last: i64, before: i64, condition: &str) -> Result<usize, Fault> {
    // Chosen once: what is next for a session is another change when one is forgotten.
    let which = format!("id <= ?1 AND at < ?2 AND state <> 'pending' AND forgotten = 0 AND {condition}");
    let mut select = transaction.prepare(&format!("SELECT id FROM changes WHERE {which}"))?;
    let chosen: Vec<i64> =
        select.query_map(params![last, before], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut files = transaction.prepare_cached("DELETE FROM files WHERE change = ?1")?;
    let mut forget = transaction
        .prepare_cached("UPDATE changes SET forgotten = 1, diff = '', description = NULL WHERE id = ?1")?;
    for change in &chosen {
        files.execute([change])?;
        forget.execute([change])?;
    }
    text::forget(transaction)?;
    Ok(chosen.len())
}

/// Forgets proposals of before a time that were decided on.
fn forget_proposals(transaction: &Connection, before: i64) -> Result<usize, Fault> {
    let forget = "DELETE FROM proposals WHERE at < ?1 AND verdict <> 'waiting'";
    Ok(transaction.execute(forget, [before])?)
}

/// Forgets what sessions remember that did nothing since a time. What they may do is kept: a session that comes back
/// must not be allowed more than before.
fn forget_sessions(transaction: &Connection, since: i64) -> Result<usize, Fault> {
    let forget = "
        DELETE FROM memory WHERE name <> 'mode'
            AND NOT EXISTS (SELECT 1 FROM memory AS other
                            WHERE other.root = memory.root AND other.session = memory.session AND other.at >= ?1)
            AND NOT EXISTS (SELECT 1 FROM changes
                            WHERE changes.root = memory.root AND changes.session = memory.session AND changes.at >= ?1)";
    Ok(transaction.execute(forget, [since])?)
}

/// Removes the rows of forgotten changes that nothing names, until there are none.
fn remove_unnamed(transaction: &Connection) -> Result<(), Fault> {
    // Among forgotten changes it is no matter which one took back which.
    transaction.execute(
        "UPDATE changes SET undone_by = NULL
         WHERE forgotten = 1 AND undone_by IN (SELECT id FROM changes WHERE forgotten = 1)",
        [],
    )?;
    let remove = "
        DELETE FROM changes WHERE forgotten = 1
            AND NOT EXISTS (SELECT 1 FROM taken_back WHERE taken_back.of = changes.id)
            AND NOT EXISTS (SELECT 1 FROM changes AS other WHERE other.of = changes.id)
            AND NOT EXISTS (SELECT 1 FROM changes AS other WHERE other.undone_by = changes.id)
            AND NOT EXISTS (SELECT 1 FROM proposals WHERE proposals.change = changes.id)";
    while transaction.execute(remove, [])? > 0 {}
    Ok(())
}

/// Gives free pages back to the disk. Other processes may be in the way; it is then left to whoever comes next, as the
/// pages are used again anyway.
fn shrink(connection: &Connection) -> Result<(), Fault> {
    match connection.execute_batch("VACUUM") {
        Err(error) if schema::is_busy(&error) => return Ok(()),
        result => result?,
    }
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}
