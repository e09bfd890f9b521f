//! Texts that only help later edits: what a change left in its files, and what sessions saw.
//!
//! No promise depends on them, so an edit does not wait until they are written. They are queued in memory and written with
//! the records of calls: shortly after the call, before anything reads or deletes them, and when the journal is closed. A
//! process that is killed loses the last ones, like one that is killed before it marks its change as done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use rusqlite::Connection;
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{LastText, ShownTexts};
use slipstitch_core::text::ContentHash;

use super::shown::ShownTo;
use super::{DbError, SqliteJournal, last_text, now, shown};

/// How many bytes of text are queued before they are written.
const MAX_QUEUED_BYTES: usize = 8 << 20;

/// How many texts are queued before they are written.
const MAX_QUEUED_TEXTS: usize = 1024;

/// The texts that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Aids {
    /// At most one for each path: a later change replaces what an earlier one left.
    last_texts: BTreeMap<FilePath, (ChangeId, LastText)>,
    /// In the order in which they were shown.
    shown: Vec<QueuedShown>,
    /// The paths of `shown`: a patch shows many files, and each only once.
    shown_paths: BTreeSet<FilePath>,
    /// The length of all texts.
    bytes: usize,
    /// When the oldest was queued.
    since: i64,
}

/// Which text is queued for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueuedText {
    /// Nothing is queued.
    None,
    /// The text that was asked about.
    Same,
    /// Another text, or the note that the text is unknown.
    Other,
}

#[derive(Debug)]
struct QueuedShown {
    session: String,
    path: FilePath,
    hash: ContentHash,
    text: Vec<u8>,
}

impl Aids {
    pub(super) fn is_empty(&self) -> bool {
        self.last_texts.is_empty() && self.shown.is_empty()
    }

    fn is_full(&self) -> bool {
        self.last_texts.len() + self.shown.len() > MAX_QUEUED_TEXTS || self.bytes > MAX_QUEUED_BYTES
    }

    fn add_last_text(&mut self, path: FilePath, id: ChangeId, text: LastText) {
        self.bytes += text_len(&text);
        if let Some((_, replaced)) = self.last_texts.insert(path, (id, text)) {
            self.bytes -= text_len(&replaced);
        }
    }

    fn add_shown(&mut self, added: QueuedShown) {
        if !self.shown_paths.insert(added.path.clone()) {
            let is_same = |shown: &QueuedShown| shown.session == added.session && shown.path == added.path;
            self.shown.retain(|shown| !(is_same(shown) && shown.hash == added.hash));
            if self.shown.iter().filter(|shown| is_same(shown)).count() >= ShownTexts::MAX_PER_PATH
                && let Some(oldest) = self.shown.iter().position(is_same)
            {
                self.shown.remove(oldest);
            }
            let last_texts = self.last_texts.values().map(|(_, text)| text_len(text));
            self.bytes = last_texts.chain(self.shown.iter().map(|shown| shown.text.len())).sum();
        }
        self.bytes += added.text.len();
        self.shown.push(added);
    }

    /// Writes the texts in an open transaction, or none of them if that fails: they are no reason to fail what else is
    /// written.
    pub(super) fn write(&self, journal: &SqliteJournal, transaction: &Connection) -> Result<(), DbError> {
        if self.is_empty() {
            return Ok(());
        }
        transaction.execute_batch("SAVEPOINT aids")?;
        if self.write_all(journal, transaction).is_err() {
            transaction.execute_batch("ROLLBACK TO aids")?;
        }
        Ok(transaction.execute_batch("RELEASE aids")?)
    }

    fn write_all(&self, journal: &SqliteJournal, transaction: &Connection) -> Result<(), DbError> {
        // Another process may have been told to forget something that was queued here earlier.
        let is_forgotten = journal.is_forgotten(self.since);
        for (path, (id, text)) in &self.last_texts {
            let text = if is_forgotten { &LastText::Unknown } else { text };
            last_text::store(transaction, &journal.root, *id, path, text)?;
        }
        if is_forgotten {
            return Ok(());
        }
        for QueuedShown { session, path, hash, text } in &self.shown {
            let to = ShownTo { root: &journal.root, session, path };
            if shown::store(transaction, &to, *hash, text)? {
                journal.check_share_occasionally(transaction)?;
            }
        }
        Ok(())
    }

    /// Puts texts back that could not be written, in front of those that were queued meanwhile.
    pub(super) fn restore(&mut self, unwritten: Self) {
        let newer = std::mem::replace(self, unwritten);
        for (path, (id, text)) in newer.last_texts {
            self.add_last_text(path, id, text);
        }
        newer.shown.into_iter().for_each(|shown| self.add_shown(shown));
        if self.is_full() {
            *self = Self::default();
        }
    }
}

fn text_len(text: &LastText) -> usize {
    match text {
        LastText::Short { text, .. } => text.len(),
        LastText::Unknown => 0,
    }
}

impl SqliteJournal {
    /// Queues what a change left in its files.
    pub(super) fn queue_last_texts(&self, id: ChangeId, texts: &[(FilePath, LastText)]) {
        self.queue(|aids| {
            texts.iter().for_each(|(path, text)| aids.add_last_text(path.clone(), id, text.clone()));
        });
    }

    /// Queues a text that a session saw, unless it is too long.
    pub(super) fn queue_shown(&self, session: &str, path: &FilePath, hash: ContentHash, text: &[u8]) {
        if text.len() <= ShownTexts::MAX_BYTES {
            let (session, path) = (session.to_owned(), path.clone());
            self.queue(|aids| aids.add_shown(QueuedShown { session, path, hash, text: text.to_vec() }));
        }
    }

    fn queue(&self, add: impl FnOnce(&mut Aids)) {
        let mut aids = self.aids.lock().unwrap_or_else(PoisonError::into_inner);
        if aids.is_empty() {
            aids.since = now();
        }
        add(&mut aids);
        let is_full = aids.is_full();
        drop(aids);
        if is_full {
            // They are only aids.
            let _ = self.flush_calls();
        }
    }

    /// What the queue says about the text that the last change left at a path.
    pub(super) fn queued_last_text(&self, path: &FilePath, hash: ContentHash) -> QueuedText {
        let aids = self.aids.lock().unwrap_or_else(PoisonError::into_inner);
        match aids.last_texts.get(path) {
            None => QueuedText::None,
            Some((_, LastText::Short { hash: queued, .. })) if *queued == hash => QueuedText::Same,
            Some(_) => QueuedText::Other,
        }
    }

    /// Writes the queued texts at once, because something is about to read or delete them.
    pub(super) fn write_aids(&self) {
        if !self.aids.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            // They are only aids.
            let _ = self.flush_calls();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &tempfile::TempDir) -> SqliteJournal {
        SqliteJournal::open(folder.path(), "/r").unwrap()
    }

    fn path() -> FilePath {
        FilePath::from_record("a").unwrap()
    }

    #[test]
    fn shown_texts_can_be_read_at_once_and_are_kept() {
        use slipstitch_core::ports::journal::Journal;
        let folder = tempfile::tempdir().unwrap();
        let journal = open(&folder);
        let texts: Vec<Vec<u8>> =
            (0..ShownTexts::MAX_PER_PATH + 3).map(|n| format!("{n}\n").into_bytes()).collect();
        for text in &texts {
            journal.note_shown("s", &path(), ContentHash::of(text), text).unwrap();
        }
        let newest = |journal: &SqliteJournal| -> Vec<Vec<u8>> {
            journal.shown("s", &path()).unwrap().into_iter().map(|(_, text)| text).collect()
        };
        let expected: Vec<Vec<u8>> = texts.iter().rev().take(ShownTexts::MAX_PER_PATH).cloned().collect();
        assert_eq!(newest(&journal), expected);
        journal.note_shown("s", &path(), ContentHash::of(b"last"), b"last").unwrap();
        drop(journal);
        assert_eq!(newest(&open(&folder))[0], b"last");
    }

    #[test]
    fn texts_that_cannot_be_written_are_kept_in_order() {
        let text = |text: &str| LastText::Short { text: text.into(), hash: ContentHash::of(text.as_bytes()) };
        let mut unwritten = Aids::default();
        unwritten.add_last_text(path(), ChangeId(1), text("one"));
        let mut queue = Aids::default();
        queue.add_last_text(path(), ChangeId(2), text("two"));
        queue.restore(unwritten);
        assert!(matches!(queue.last_texts[&path()], (ChangeId(2), _)));
        assert_eq!(queue.last_texts.len(), 1);
    }

    #[test]
    fn counts_the_bytes_of_what_is_queued() {
        let mut aids = Aids::default();
        let shown = |text: &str| QueuedShown {
            session: "s".into(),
            path: path(),
            hash: ContentHash::of(text.as_bytes()),
            text: text.into(),
        };
        for number in 0..3 * ShownTexts::MAX_PER_PATH {
            aids.add_shown(shown(&"x".repeat(number)));
            aids.add_shown(shown("seen again"));
            let text = "y".repeat(number);
            let hash = ContentHash::of(text.as_bytes());
            aids.add_last_text(path(), ChangeId(1), LastText::Short { text: text.into(), hash });
            let bytes: usize = aids.shown.iter().map(|shown| shown.text.len()).sum();
            assert_eq!(aids.bytes, bytes + number);
            assert!(aids.shown.len() <= ShownTexts::MAX_PER_PATH);
        }
    }
}
