//! Small texts that sessions remember, by name.

use rusqlite::{Connection, params};
use slipstitch_core::plan::ChangeId;

use super::checksum::SESSION_MEMORY;
use super::{DbError, now, row_id};

/// Stores texts for a session, replacing those with the same names.
pub(super) fn store(
    transaction: &Connection,
    root: &str,
    session: &str,
    memory: &[(String, String)],
) -> Result<(), DbError> {
    let mut insert = transaction.prepare_cached(
        "INSERT OR REPLACE INTO session_memory (root, session, name, text, at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (name, text) in memory {
        insert.execute(params![root, session, name, text, now()])?;
        SESSION_MEMORY.update_sums(transaction, params![root, session, name])?;
    }
    Ok(())
}

/// Stores texts for the session that made a change.
pub(super) fn store_for_change(
    transaction: &Connection,
    root: &str,
    id: ChangeId,
    memory: &[(String, String)],
) -> Result<(), DbError> {
    if memory.is_empty() {
        return Ok(());
    }
    let query = "SELECT session FROM changes WHERE id = ?1";
    let session: String = transaction.query_row(query, params![row_id(id)], |row| row.get(0))?;
    store(transaction, root, &session, memory)
}

/// The texts of a session whose names start with `prefix`, sorted by name.
pub(super) fn load(
    connection: &Connection,
    root: &str,
    session: &str,
    prefix: &str,
) -> Result<Vec<(String, String)>, DbError> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT name, text, {} FROM session_memory
         WHERE root = ?1 AND session = ?2 AND substr(name, 1, length(?3)) = ?3 ORDER BY name",
        SESSION_MEMORY.is_intact()
    ))?;
    let rows = select.query_map(params![root, session, prefix], |row| {
        // A damaged value may not be valid UTF-8.
        Ok(if row.get(2)? { Some((row.get(0)?, row.get(1)?)) } else { None })
    })?;
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let intact: Option<Vec<_>> = rows.into_iter().collect();
    intact.ok_or_else(|| DbError::Damaged(format!("what session `{session}` remembers")))
}
