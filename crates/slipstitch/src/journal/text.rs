//! What files held after our last change of them, so that what others did since can be told apart.

use rusqlite::{Connection, OptionalExtension, ToSql, params};
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::LastText;
use slipstitch_core::text::ContentHash;

use super::{Fault, row_of};

/// Keeps what the change `id` left at its paths, in the place of what was kept before.
pub(super) fn keep(
    transaction: &Connection,
    root: &str,
    id: ChangeId,
    texts: &[(FilePath, LastText)],
) -> Result<(), Fault> {
    for (path, text) in texts {
        match text {
            LastText::Short { text, hash } => {
                put(transaction, params![root, path.as_str(), row_of(id), hash.to_string(), text])?;
            }
            LastText::Unknown => {
                let gone = "DELETE FROM texts WHERE root = ?1 AND path = ?2";
                transaction.prepare_cached(gone)?.execute(params![root, path.as_str()])?;
            }
        }
    }
    Ok(())
}

/// A row that is there is written over: SQLite then writes only the pages in which something differs.
fn put(transaction: &Connection, row: &[&dyn ToSql]) -> Result<(), Fault> {
    let over = "UPDATE texts SET change = ?3, hash = ?4, text = ?5 WHERE root = ?1 AND path = ?2";
    if transaction.prepare_cached(over)?.execute(row)? == 0 {
        let new = "INSERT INTO texts (root, path, change, hash, text) VALUES (?1, ?2, ?3, ?4, ?5)";
        transaction.prepare_cached(new)?.execute(row)?;
    }
    Ok(())
}

/// The text that the last change left at a path, if it was kept and is another than the one with this hash.
pub(super) fn left(
    connection: &Connection,
    root: &str,
    path: &FilePath,
    but: ContentHash,
) -> Result<Option<Vec<u8>>, Fault> {
    let mut select =
        connection.prepare_cached("SELECT change, hash, text FROM texts WHERE root = ?1 AND path = ?2")?;
    let kept: Option<(i64, Vec<u8>)> = select
        .query_row(params![root, path.as_str()], |row| {
            // The text is fetched only if it is wanted.
            let same = row.get_ref(1)?.as_str()? == but.to_string();
            Ok(if same { None } else { Some((row.get(0)?, row.get(2)?)) })
        })
        .optional()?
        .flatten();
    let Some((change, text)) = kept else { return Ok(None) };
    Ok((last_change(connection, root, path)? == Some(change)).then_some(text))
}

/// The last change at a path: one that was settled after its process died has left no text.
fn last_change(connection: &Connection, root: &str, path: &FilePath) -> Result<Option<i64>, Fault> {
    let mut select = connection.prepare_cached(
        "SELECT max(files.change) FROM files JOIN changes ON changes.id = files.change
         WHERE files.path = ?2 AND changes.root = ?1 AND changes.state = 'done'",
    )?;
    Ok(select.query_row(params![root, path.as_str()], |row| row.get(0))?)
}

/// Lets go of the oldest texts that together hold so many bytes. Says how many.
pub(super) fn forget_oldest(transaction: &Connection, excess: u64) -> Result<usize, Fault> {
    let mut select = transaction.prepare_cached("SELECT change, length(text) FROM texts ORDER BY change")?;
    let mut rows = select.query([])?;
    let (mut last, mut sum) = (0i64, 0u64);
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        sum += row.get::<_, i64>(1)?.unsigned_abs();
        if sum >= excess {
            break;
        }
    }
    drop(rows);
    Ok(transaction.execute("DELETE FROM texts WHERE change <= ?1", [last])?)
}

/// Lets go of the texts whose changes are forgotten.
pub(super) fn forget(transaction: &Connection) -> Result<(), Fault> {
    transaction.execute(
        "DELETE FROM texts
         WHERE NOT EXISTS (SELECT 1 FROM changes WHERE id = texts.change AND forgotten = 0)",
        [],
    )?;
    Ok(())
}
