//! The last refused edits of a root, for `slipstitch stats`: which line was sent, which was closest, and why it was refused.
//!
//! They are kept in what a session remembers, so that forgetting a session or a file covers them. Text of private files is
//! not kept.

use rusqlite::{Connection, params};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::journal::{Journal, JournalError};

use super::checksum::SESSION_MEMORY;
use super::{DbError, SqliteJournal};
use crate::stats::{CallFilter, CallRecord, FailedEdit};

/// How many are kept for a root.
const MAX_FAILURES: usize = 20;

/// What their names in the session's memory begin with.
pub(super) const PREFIX: &str = "failure/";

impl SqliteJournal {
    /// The last refused edits of the calls that a filter selects, newest first.
    pub fn failures(&self, filter: &CallFilter) -> Result<Vec<FailedEdit>, JournalError> {
        let _ = self.flush_calls();
        let kept = self.query("read refused edits", |connection| load(connection, &self.root))?;
        Ok(kept.into_iter().filter(|failure| filter.selects(failure)).collect())
    }

    /// Keeps the refused edit of a call, if there is one, and drops the oldest.
    pub(super) fn keep_failure(
        &self,
        connection: &Connection,
        at: i64,
        call: &CallRecord,
    ) -> rusqlite::Result<()> {
        let may_keep = |failure: &&FailedEdit| {
            FilePath::from_record(&failure.path).is_ok_and(|path| self.keeps_text_of(&path))
        };
        let Some(failure) = call.failure.as_ref().filter(may_keep) else { return Ok(()) };
        if self.is_forgotten(at) {
            return Ok(());
        }
        let failure = FailedEdit { at, ..failure.clone() };
        let Ok(text) = serde_json::to_string(&failure) else { return Ok(()) };
        let name = format!("{PREFIX}{at}");
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO session_memory (root, session, name, text, at) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![self.root, call.session, name, text, at])?;
        SESSION_MEMORY.update_sums(connection, params![self.root, call.session, name])?;
        connection
            .prepare_cached(
                "DELETE FROM session_memory WHERE root = ?1 AND substr(name, 1, length(?2)) = ?2 AND at <
                     (SELECT min(at) FROM (SELECT at FROM session_memory
                          WHERE root = ?1 AND substr(name, 1, length(?2)) = ?2 ORDER BY at DESC LIMIT ?3))",
            )?
            .execute(params![self.root, PREFIX, MAX_FAILURES as i64])?;
        Ok(())
    }
}

fn load(connection: &Connection, root: &str) -> Result<Vec<FailedEdit>, DbError> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT text, {} FROM session_memory
         WHERE root = ?1 AND substr(name, 1, length(?2)) = ?2 ORDER BY at DESC",
        SESSION_MEMORY.is_intact()
    ))?;
    let rows = select.query_map(params![root, PREFIX], |row| {
        // A damaged value may not be valid UTF-8.
        Ok(if row.get(1)? { Some(row.get::<_, String>(0)?) } else { None })
    })?;
    let texts = rows.collect::<Result<Vec<_>, _>>()?;
    // Statistics are no reason to fail: a damaged one is left out.
    Ok(texts.into_iter().flatten().filter_map(|text| serde_json::from_str(&text).ok()).collect())
}
