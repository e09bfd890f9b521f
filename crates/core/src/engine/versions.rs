//! The versions of a file that the caller may have seen.
//!
//! Text that is not in a file may be a quotation of an earlier version, and only that version can tell such a quotation from
//! a near twin. Nothing here is read before the text was looked for in the file as it is. All of it is bounded, and what
//! cannot be read is left out: versions only help to find a place.

use std::collections::BTreeSet;

use super::history::{HistoryWalk, WalkLimits, text_before_removal};
use super::private::{is_private, is_private_change};
use super::{Engine, Evidence};
use crate::change::{Base, ChangeSet};
use crate::find::EarlierVersions;
use crate::path::FilePath;
use crate::ports::journal::{JournalError, ShownTexts};
use crate::ports::versions::{KnownVersion, VersionSource};
use crate::snapshot::{Snapshot, Snapshots};
use slipstitch_text::ContentHash;

/// Larger files, and larger versions, are not considered.
const MAX_FILE_BYTES: usize = 1 << 20;
/// How many versions are offered, and how large they may be together.
const MAX_VERSIONS: usize = 16;
const MAX_TOTAL_BYTES: usize = 8 << 20;
/// The part that is reserved for versions from outside the journal, however long a file's history is.
const OUTSIDE_VERSIONS: usize = 2;
const OUTSIDE_BYTES: usize = 2 * MAX_FILE_BYTES;
/// How far back the journal is read.
const WALK_LIMITS: WalkLimits = WalkLimits { changes: 64, bytes: 32 << 20 };

impl EarlierVersions for Engine<'_> {
    fn of(&self, path: &FilePath, now: &Snapshot) -> Vec<KnownVersion> {
        self.known_versions(path, now)
    }

    fn of_missing(&self, path: &FilePath, moved: Option<&[u8]>) -> Vec<Vec<u8>> {
        let moved = moved.unwrap_or_default();
        if self.evidence == Evidence::Ignored || moved.len() > MAX_FILE_BYTES {
            return Vec::new();
        }
        // Versions found before the error are still valid.
        let recorded = text_before_removal(self.journal, path, moved).ok().flatten();
        let outside = || self.versions.versions(path, moved).into_iter().map(|version| version.bytes);
        recorded.into_iter().chain(outside()).collect()
    }
}

impl Engine<'_> {
    /// The versions of a file that the caller may have seen, most likely first, without the current one and without
    /// duplicates: the texts shown to this session, those in the journal, and those from [`Engine::versions`].
    pub(crate) fn known_versions(&self, path: &FilePath, now: &Snapshot) -> Vec<KnownVersion> {
        if self.evidence == Evidence::Ignored || now.byte_len() > MAX_FILE_BYTES {
            return Vec::new();
        }
        let path = real_path(path, now);
        let mut found = Collector::new(now);
        self.collect_shown_texts(path, &mut found);
        // Versions found before the error are still valid.
        let _ = self.collect_journal_versions(path, now, &mut found);
        found.admit_all();
        for version in self.versions.versions(path, now.bytes()) {
            found.add(version);
        }
        found.versions
    }

    /// Adds the texts that this session saw under a name.
    fn collect_shown_texts(&self, name: &FilePath, found: &mut Collector) {
        for (_, bytes) in self.journal.shown(self.session, name).unwrap_or_default() {
            found.add(KnownVersion { bytes, source: VersionSource::Shown });
        }
    }

    /// Adds the versions that the journal can rebuild. Where a change renamed the file, the texts that this session saw under
    /// the name before it come first.
    fn collect_journal_versions(
        &self,
        path: &FilePath,
        now: &Snapshot,
        found: &mut Collector,
    ) -> Result<(), JournalError> {
        let mut walk = HistoryWalk::new(self.journal, path, now.bytes(), now.hash(), WALK_LIMITS)?;
        let mut name = path.clone();
        while !found.is_full()
            && let Some(step) = walk.step()?
        {
            if *walk.path() != name {
                name.clone_from(walk.path());
                self.collect_shown_texts(&name, found);
            }
            let source = VersionSource::Journal(step.change.nearest());
            found.add_hashed(walk.hash(), walk.bytes(), source);
        }
        Ok(())
    }

    /// Keeps a text that an answer shows or names, in case the caller edits that version after the file changed.
    pub(super) fn note_shown(&self, path: &FilePath, shown: &Snapshot) {
        let is_kept = shown.byte_len() <= ShownTexts::MAX_BYTES && !shown.is_binary();
        if is_kept
            && self.evidence == Evidence::Used
            && !is_private(self.journal, path, real_path(path, shown))
        {
            self.note_text(real_path(path, shown), shown.hash(), shown.bytes());
        }
    }

    /// Keeps the texts that a change left, which its answer describes.
    pub(super) fn note_results(&self, changes: &ChangeSet, before: &Snapshots) {
        if self.evidence == Evidence::Ignored {
            return;
        }
        for change in changes.files() {
            let (Some(path), Some(hash)) = (change.path_after(), change.after) else { continue };
            if change.splices.new_len() > ShownTexts::MAX_BYTES
                || is_private_change(self.journal, change, before)
            {
                continue;
            }
            let real = match change.base {
                Base::Content(_) if *path == change.path => {
                    before.get(path).map_or(path, |before| real_path(path, before))
                }
                _ => path,
            };
            self.note_text(real, hash, &change.splices.apply(before.bytes_before(change)));
        }
    }

    fn note_text(&self, path: &FilePath, hash: ContentHash, text: &[u8]) {
        // The answer is right without it.
        let _ = self.journal.note_shown(self.session, path, hash, text);
    }
}

/// The path of the file itself, which `path` may lead to through a symlink.
pub(super) fn real_path<'a>(path: &'a FilePath, snapshot: &'a Snapshot) -> &'a FilePath {
    snapshot.meta().real.as_ref().unwrap_or(path)
}

/// The versions found so far.
struct Collector {
    versions: Vec<KnownVersion>,
    known: BTreeSet<ContentHash>,
    versions_left: usize,
    bytes_left: usize,
}

impl Collector {
    fn new(now: &Snapshot) -> Self {
        Self {
            versions: Vec::new(),
            known: BTreeSet::from([now.hash()]),
            versions_left: MAX_VERSIONS - OUTSIDE_VERSIONS,
            bytes_left: MAX_TOTAL_BYTES - OUTSIDE_BYTES,
        }
    }

    /// Releases the reserve for versions from outside the journal.
    fn admit_all(&mut self) {
        self.versions_left += OUTSIDE_VERSIONS;
        self.bytes_left += OUTSIDE_BYTES;
    }

    fn is_full(&self) -> bool {
        self.versions_left == 0
    }

    fn add(&mut self, version: KnownVersion) {
        if self.admit(ContentHash::of(&version.bytes), version.bytes.len()) {
            self.versions.push(version);
        }
    }

    fn add_hashed(&mut self, hash: ContentHash, bytes: &[u8], source: VersionSource) {
        if self.admit(hash, bytes.len()) {
            self.versions.push(KnownVersion { bytes: bytes.to_vec(), source });
        }
    }

    /// Whether a version is new and there is room for it.
    fn admit(&mut self, hash: ContentHash, len: usize) -> bool {
        let fits = len <= MAX_FILE_BYTES && len <= self.bytes_left && self.versions_left > 0;
        let admitted = fits && self.known.insert(hash);
        if admitted {
            self.versions_left -= 1;
            self.bytes_left -= len;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::test_rig::{Rig, path};
    use crate::plan::ChangeId;
    use crate::ports::journal::Journal;
    use crate::ports::memory::MemoryVersions;

    fn texts(found: &[KnownVersion]) -> Vec<(String, VersionSource)> {
        let text = |version: &KnownVersion| String::from_utf8(version.bytes.clone()).unwrap();
        found.iter().map(|version| (text(version), version.source.clone())).collect()
    }

    fn head(bytes: impl Into<Vec<u8>>) -> KnownVersion {
        KnownVersion { bytes: bytes.into(), source: VersionSource::Head }
    }

    #[test]
    fn sources_are_in_the_order_of_how_likely_they_were_seen() {
        let rig = Rig::new("one\ntwo\n");
        rig.read("a");
        rig.edit("b", "two", "zwei");
        rig.write("ONE\nzwei\n");
        rig.edit("b", "zwei", "drei");
        let outside = MemoryVersions::default();
        outside.add(&path(), head("committed\n"));
        outside.add(&path(), head("one\ntwo\n"));
        outside.add(&path(), head("ONE\ndrei\n"));
        let engine = rig.engine("a").versions(&outside);
        let journal = |number| VersionSource::Journal(ChangeId(number));
        let expected = [
            ("one\ntwo\n", VersionSource::Shown),
            ("ONE\nzwei\n", journal(2)),
            ("one\nzwei\n", journal(1)),
            ("committed\n", VersionSource::Head),
        ];
        let expected: Vec<_> = expected.map(|(text, source)| (text.to_owned(), source)).into();
        assert_eq!(texts(&engine.known_versions(&path(), &rig.now())), expected);
    }

    #[test]
    fn a_file_that_a_change_renamed_has_the_versions_of_its_former_names() {
        let rig = Rig::new("one\ntwo\n");
        rig.read("a");
        rig.write("ONE\ntwo\n");
        rig.edit("b", "two", "zwei");
        let (middle, last) =
            (FilePath::from_record("middle.txt").unwrap(), FilePath::from_record("last.txt").unwrap());
        rig.rename("b", &path(), &middle);
        rig.rename("b", &middle, &last);
        let found = rig.engine("a").known_versions(&last, &rig.now_at(&last));
        let expected = [
            ("one\ntwo\n".to_owned(), VersionSource::Shown),
            ("ONE\ntwo\n".to_owned(), VersionSource::Journal(ChangeId(1))),
        ];
        assert_eq!(texts(&found), expected);
    }

    #[test]
    fn what_a_session_saw_is_only_for_that_session() {
        let rig = Rig::new("one\n");
        rig.read("a");
        rig.write("two\n");
        let known = |session| rig.engine(session).known_versions(&path(), &rig.now()).len();
        assert_eq!((known("a"), known("b")), (1, 0));
    }

    #[test]
    fn an_answer_shows_the_text_after_an_edit_and_the_text_that_a_refused_edit_was_for() {
        let rig = Rig::new("one\ntwo\n");
        rig.edit("a", "two", "zwei");
        let shown = || rig.journal.shown("a", &path()).unwrap();
        assert_eq!(shown(), [(ContentHash::of(b"one\nzwei\n"), b"one\nzwei\n".to_vec())]);
        rig.write("three\n");
        rig.edit("a", "something that is not there", "");
        assert_eq!(shown()[0].1, b"three\n");
    }

    #[test]
    fn without_evidence_nothing_is_kept_or_offered() {
        let rig = Rig::new("one\n");
        rig.read("a");
        rig.edit("a", "one", "two");
        let engine = rig.engine("a").evidence(Evidence::Ignored);
        assert!(engine.known_versions(&path(), &rig.now()).is_empty());
        assert!(!rig.engine("a").known_versions(&path(), &rig.now()).is_empty());
        rig.execute(&engine, &Rig::read_plan());
        rig.write("three\n");
        rig.execute(&engine, &Rig::read_plan());
        assert_eq!(rig.journal.shown("a", &path()).unwrap()[0].1, b"two\n");
    }

    #[test]
    fn a_long_history_leaves_room_for_versions_from_outside() {
        let rig = Rig::new("0\n");
        for number in 0..40 {
            rig.edit("b", &format!("{number}\n"), &format!("{}\n", number + 1));
        }
        let outside = MemoryVersions::default();
        for text in ["x", "y", "z"] {
            outside.add(&path(), head(text));
        }
        let found = rig.engine("a").versions(&outside).known_versions(&path(), &rig.now());
        assert_eq!(found.len(), MAX_VERSIONS);
        assert_eq!(texts(&found[..1]), [("39\n".to_owned(), VersionSource::Journal(ChangeId(40)))]);
        assert_eq!(found[MAX_VERSIONS - 2..], [head("x"), head("y")]);
    }

    #[test]
    fn large_files_and_large_versions_are_left_out() {
        let large = "x\n".repeat(MAX_FILE_BYTES / 2 + 1);
        let outside = MemoryVersions::default();
        outside.add(&path(), head(large.clone()));
        let rig = Rig::new("small\n");
        assert!(rig.engine("a").versions(&outside).known_versions(&path(), &rig.now()).is_empty());
        rig.write(&large);
        rig.read("a");
        outside.add(&path(), head("small\n"));
        assert!(rig.engine("a").versions(&outside).known_versions(&path(), &rig.now()).is_empty());
        assert!(rig.journal.shown("a", &path()).unwrap().is_empty());
    }
}
