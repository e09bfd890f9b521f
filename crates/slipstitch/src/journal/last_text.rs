//! The contents that our last changes left in files, so that later changes by others can be recognised.

use std::sync::OnceLock;

use rusqlite::{Connection, OptionalExtension, ToSql, params};
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::LastText;
use slipstitch_core::text::ContentHash;

use super::checksum::LAST_TEXTS;
use super::{DbError, row_id};

/// Stores what the change `id` left at a path, replacing what earlier changes left there.
pub(super) fn store(
    transaction: &Connection,
    root: &str,
    id: ChangeId,
    path: &FilePath,
    text: &LastText,
) -> Result<(), DbError> {
    match text {
        LastText::Short { text, hash } => {
            upsert(transaction, root, path.as_str(), row_id(id), &hash.to_string(), text)?;
        }
        LastText::Unknown => {
            let delete = "DELETE FROM last_texts WHERE root = ?1 AND path = ?2";
            transaction.prepare_cached(delete)?.execute(params![root, path.as_str()])?;
        }
    }
    Ok(())
}

/// Updates a row in place if it exists: SQLite then writes only the pages that differ.
fn upsert(
    transaction: &Connection,
    root: &str,
    path: &str,
    change: i64,
    hash: &str,
    text: &[u8],
) -> rusqlite::Result<()> {
    // Put together once: a patch updates a row for each of its files.
    static UPDATE: OnceLock<String> = OnceLock::new();
    let update = UPDATE.get_or_init(|| {
        let columns = [("change", "?3"), ("hash", "?4"), ("text", "?5")];
        LAST_TEXTS.update_statement(&columns, "root = ?1 AND path = ?2")
    });
    let values = params![root, path, change, hash, text];
    let updated = transaction.prepare_cached(update)?.execute(values)?;
    if updated == 0 {
        let id = LAST_TEXTS.next_id(transaction)?;
        let row: [(&str, &dyn ToSql); 6] = [
            ("id", &id),
            ("root", &root),
            ("path", &path),
            ("change", &change),
            ("hash", &hash),
            ("text", &text),
        ];
        LAST_TEXTS.insert(transaction, &row)?;
    }
    Ok(())
}

/// The text that the last change left at a path, if it was stored and its hash is not `except`.
pub(super) fn load(
    connection: &Connection,
    root: &str,
    path: &FilePath,
    except: ContentHash,
) -> Result<Option<Vec<u8>>, DbError> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT change, hash, text, {} FROM last_texts WHERE root = ?1 AND path = ?2",
        LAST_TEXTS.is_intact()
    ))?;
    let stored: Option<(i64, String, Vec<u8>)> = select
        .query_row(params![root, path.as_str()], |row| {
            // A text is only an aid, so a damaged one is treated as missing. It is read only if it is needed.
            let is_usable = row.get(3)? && row.get_ref(1)?.as_str()? != except.to_string();
            Ok(if is_usable { Some((row.get(0)?, row.get(1)?, row.get(2)?)) } else { None })
        })
        .optional()?
        .flatten();
    let Some((change, hash, text)) = stored else { return Ok(None) };
    let is_last = last_change(connection, root, path)? == Some(change);
    Ok((is_last && ContentHash::of(&text).to_string() == hash).then_some(text))
}

/// The last change at a path. It may be later than the one that stored the text: a change that was recovered
/// after its process died stores none.
fn last_change(connection: &Connection, root: &str, path: &FilePath) -> Result<Option<i64>, DbError> {
    let mut select = connection.prepare_cached(
        "SELECT files.change FROM files INDEXED BY files_by_path CROSS JOIN changes ON changes.id = files.change
         WHERE files.root = ?1 AND files.path = ?2 AND changes.state = 'done'
         ORDER BY files.change DESC LIMIT 1",
    )?;
    Ok(select.query_row(params![root, path.as_str()], |row| row.get(0)).optional()?)
}

/// Deletes the oldest texts, until they add up to `excess` bytes. Returns how many.
pub(super) fn delete_oldest(transaction: &Connection, excess: u64) -> Result<usize, DbError> {
    let mut select =
        transaction.prepare_cached("SELECT change, length(text) FROM last_texts ORDER BY change")?;
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
    Ok(transaction.execute("DELETE FROM last_texts WHERE change <= ?1", [last])?)
}

/// Deletes the texts whose changes are forgotten.
pub(super) fn delete_forgotten(transaction: &Connection) -> Result<(), DbError> {
    transaction.execute(
        "DELETE FROM last_texts
         WHERE NOT EXISTS (SELECT 1 FROM changes WHERE id = last_texts.change AND forgotten = 0)",
        [],
    )?;
    Ok(())
}
