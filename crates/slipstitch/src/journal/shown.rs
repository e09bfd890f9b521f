//! The texts that were shown to sessions, so that an edit made for one of them can be understood after the file changed.

use std::sync::atomic::Ordering;

use rusqlite::{Connection, params};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::journal::ShownTexts;
use slipstitch_core::text::ContentHash;

use super::checksum::SHOWN;
use super::{DbError, SqliteJournal, now};

/// After how many stored texts their total size is checked again. The first text of a process checks it too.
pub(super) const CHECK_INTERVAL: usize = 32;

/// The share of the journal's maximum size that these texts may take up: one part in this many.
const SHARE: u64 = 8;

/// The key of a list of texts.
pub(super) struct ShownTo<'a> {
    pub(super) root: &'a str,
    pub(super) session: &'a str,
    pub(super) path: &'a FilePath,
}

impl SqliteJournal {
    /// Deletes the oldest texts of all sessions from time to time, if they take up more than their share.
    pub(super) fn check_share_occasionally(&self, transaction: &Connection) -> rusqlite::Result<()> {
        if self.shown_since_check.fetch_add(1, Ordering::Relaxed) < CHECK_INTERVAL {
            return Ok(());
        }
        self.shown_since_check.store(0, Ordering::Relaxed);
        let total = transaction
            .prepare_cached("SELECT coalesce(sum(bytes), 0) FROM shown")?
            .query_row([], |row| row.get(0).map(i64::unsigned_abs))?;
        match total.saturating_sub(self.retention.max_bytes / SHARE) {
            0 => Ok(()),
            excess => delete_oldest(transaction, excess).map(drop),
        }
    }
}

/// Stores a text as the last one shown, unless it already is, and deletes the oldest ones over the limit. Returns whether it
/// was stored.
pub(super) fn store(
    transaction: &Connection,
    to: &ShownTo<'_>,
    hash: ContentHash,
    text: &[u8],
) -> rusqlite::Result<bool> {
    let (root, session, path, hash) = (to.root, to.session, to.path.as_str(), hash.to_string());
    let list = "SELECT id, hash FROM shown WHERE root = ?1 AND session = ?2 AND path = ?3 ORDER BY id DESC";
    let mut list = transaction.prepare_cached(list)?;
    let known = list.query_map(params![root, session, path], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let known: Vec<(i64, String)> = known.collect::<Result<_, _>>()?;
    if known.first().is_some_and(|(_, last)| *last == hash) {
        return Ok(false);
    }
    let (same, others): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, known)| *known == hash);
    let too_many = others.into_iter().skip(ShownTexts::MAX_PER_PATH - 1);
    for (id, _) in same.into_iter().chain(too_many) {
        transaction.prepare_cached("DELETE FROM shown WHERE id = ?1")?.execute([id])?;
    }
    let bytes = i64::try_from(text.len()).unwrap_or(i64::MAX);
    SHOWN.insert(
        transaction,
        &[
            ("id", &SHOWN.next_id(transaction)?),
            ("root", &root),
            ("session", &session),
            ("path", &path),
            ("hash", &hash),
            ("bytes", &bytes),
            ("text", &text),
            ("at", &now()),
        ],
    )?;
    Ok(true)
}

/// The texts, newest first.
pub(super) fn load(
    connection: &Connection,
    to: &ShownTo<'_>,
) -> Result<Vec<(ContentHash, Vec<u8>)>, DbError> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT text, hash FROM shown WHERE root = ?1 AND session = ?2 AND path = ?3 AND {} ORDER BY id DESC",
        SHOWN.is_intact()
    ))?;
    let texts = select.query_map(params![to.root, to.session, to.path.as_str()], |row| {
        let (text, stored): (Vec<u8>, String) = (row.get(0)?, row.get(1)?);
        let hash = ContentHash::of(&text);
        Ok((hash.to_string() == stored).then_some((hash, text)))
    })?;
    // A text is only an aid, so a damaged one is treated as missing.
    Ok(texts.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}

/// Deletes the oldest texts, until they add up to `excess` bytes. Returns how many.
pub(super) fn delete_oldest(transaction: &Connection, excess: u64) -> rusqlite::Result<usize> {
    let mut select = transaction.prepare_cached("SELECT id, bytes FROM shown ORDER BY id")?;
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
    transaction.execute("DELETE FROM shown WHERE id <= ?1", [last])
}

/// Deletes the texts that were shown before a time, in milliseconds since 1970. Returns how many.
pub(super) fn delete_before(transaction: &Connection, time: i64) -> rusqlite::Result<usize> {
    transaction.execute("DELETE FROM shown WHERE at < ?1", params![time])
}
