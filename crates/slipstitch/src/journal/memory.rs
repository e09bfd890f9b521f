//! What sessions remember: small texts by name.

use rusqlite::{Connection, params};
use slipstitch_core::plan::ChangeId;

use super::{Fault, now, row_of};

/// Notes texts for a session; a name that is there gets the new text.
pub(super) fn remember(
    transaction: &Connection,
    root: &str,
    session: &str,
    memory: &[(String, String)],
) -> Result<(), Fault> {
    let mut insert = transaction.prepare_cached(
        "INSERT OR REPLACE INTO memory (root, session, name, text, at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (name, text) in memory {
        insert.execute(params![root, session, name, text, now()])?;
    }
    Ok(())
}

/// The same for the session that a change belongs to.
pub(super) fn remember_of(
    transaction: &Connection,
    root: &str,
    id: ChangeId,
    memory: &[(String, String)],
) -> Result<(), Fault> {
    if memory.is_empty() {
        return Ok(());
    }
    let session: String =
        transaction
            .query_row("SELECT session FROM changes WHERE id = ?1", params![row_of(id)], |row| row.get(0))?;
    remember(transaction, root, &session, memory)
}

/// The texts of a session whose names start with `prefix`.
pub(super) fn recall(
    connection: &Connection,
    root: &str,
    session: &str,
    prefix: &str,
) -> Result<Vec<(String, String)>, Fault> {
    let mut select = connection.prepare_cached(
        "SELECT name, text FROM memory
         WHERE root = ?1 AND session = ?2 AND substr(name, 1, length(?3)) = ?3 ORDER BY name",
    )?;
    let rows = select.query_map(params![root, session, prefix], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
