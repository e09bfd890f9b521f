//! Carries a proposal over to the files as they are now.
//!
//! A proposal is made for the text that its files had then. If a file has changed since, that text is rebuilt from the
//! journal, or taken from what the proposing session saw, and the proposal's splices are carried over what was done since. This is
//! only done if nothing touched the lines that the proposal changes: two edits of one line have no order, even if they
//! change different words of it.

use std::collections::BTreeMap;

use super::refusals::{FileFate, changed_since, conflicting_lines, damaged};
use crate::change::{Base, ChangeSet, FileChange, PathChange};
use crate::engine::Engine;
use crate::engine::history::EarlierVersion;
use crate::engine::rebase::rebase_file;
use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::ports::journal::{Filter, StoredProposal};
use crate::report::{ConflictReport, Report, excerpt, whole_lines};
use crate::snapshot::{Snapshot, Snapshots};
use slipstitch_text::rebase::{carry_over_neighbours, map_span};
use slipstitch_text::{ContentHash, Span, Splice, VersionClaim};

/// How long a text may be to be shown as a whole to people who review a change of it.
const MAX_SHOWN_TEXT: usize = 4 << 20;

/// The files of a proposal as they are now, and those that changed as they were when it was made.
pub(super) struct ProposalBase {
    pub(super) now: Snapshots,
    /// The files as the proposal was made for them, if one of them has changed.
    then: Option<Snapshots>,
    earlier: BTreeMap<FilePath, EarlierVersion>,
}

impl ProposalBase {
    /// The files as the proposal was made for them.
    pub(super) fn then(&self) -> &Snapshots {
        self.then.as_ref().unwrap_or(&self.now)
    }
}

impl Engine<'_> {
    /// Reads the files of a proposal, and finds the text that it was made for where that has changed.
    pub(super) fn read_base(
        &self,
        changes: &ChangeSet,
        stored: &StoredProposal,
    ) -> Result<ProposalBase, Report> {
        let mut now = Snapshots::default();
        let mut earlier = BTreeMap::new();
        for file in changes.files() {
            self.read_into(&mut now, &file.path)?;
            // Guards also check the path that a file moves to.
            if let PathChange::Move(to) = &file.path_change {
                self.read_into(&mut now, to)?;
            }
            let stale = |fate: FileFate| {
                changed_since(stored.id, &file.path, fate, &self.changes_since(stored, &file.path))
            };
            match (file.base, now.get(&file.path)) {
                (Base::Absent, None) => {}
                (Base::Absent, Some(_)) if changes.vacates(&file.path) => {}
                (Base::Content(hash), Some(snapshot)) if snapshot.hash() == hash => {}
                (Base::Content(hash), Some(snapshot)) if file.has_separate_hunks() => {
                    let found = self.find_base(stored, &file.path, snapshot, hash)?;
                    let found = found.ok_or_else(|| stale(FileFate::Changed))?;
                    earlier.insert(file.path.clone(), found);
                }
                (Base::Absent, Some(_)) => return Err(stale(FileFate::Created)),
                (Base::Content(_), Some(_)) => return Err(stale(FileFate::Changed)),
                (Base::Content(_), None) => return Err(stale(FileFate::Deleted)),
            }
        }
        let then = (!earlier.is_empty()).then(|| self.rebuild(changes, &now, &earlier));
        let base = ProposalBase { now, then, earlier };
        check_intact(stored, changes, base.then())?;
        Ok(base)
    }

    /// The text of a file that a proposal was made for, for people who review it; `None` if it is not known any more, or is
    /// too long to be shown.
    pub fn text_before(&self, stored: &StoredProposal, file: &FileChange) -> Option<String> {
        let Base::Content(hash) = file.base else { return None };
        let mut files = Snapshots::default();
        self.read_into(&mut files, &file.path).ok()?;
        let now = files.get(&file.path)?;
        let is_shown = |snapshot: &Snapshot| !snapshot.is_binary() && snapshot.text().len() <= MAX_SHOWN_TEXT;
        if now.is_in_blocks() || !is_shown(now) {
            return None;
        }
        let text = |snapshot: &Snapshot| String::from_utf8_lossy(snapshot.text()).into_owned();
        if now.hash() == hash {
            return Some(text(now));
        }
        let before = now.successor(self.find_base(stored, &file.path, now, hash).ok()??.bytes);
        is_shown(&before).then(|| text(&before))
    }

    /// The text that a proposal was made for.
    fn find_base(
        &self,
        stored: &StoredProposal,
        path: &FilePath,
        now: &Snapshot,
        hash: ContentHash,
    ) -> Result<Option<EarlierVersion>, Report> {
        // What the proposing session saw may be known when nothing else is.
        let proposer = self.session(&stored.proposal.origin.session);
        let Some(found) = proposer.find_earlier_version(path, now, &VersionClaim::from(hash))? else {
            return Ok(None);
        };
        let before = now.successor(found.bytes.clone());
        let same_form = before.has_bom() == now.has_bom() && !before.is_binary() && !now.is_binary();
        Ok(same_form.then_some(found))
    }

    /// The files as they were when the proposal was made.
    fn rebuild(
        &self,
        changes: &ChangeSet,
        now: &Snapshots,
        earlier: &BTreeMap<FilePath, EarlierVersion>,
    ) -> Snapshots {
        let mut then = Snapshots::default();
        for path in changes.files().iter().map(|file| &file.path) {
            let snapshot = now.get(path).map(|now| {
                let bytes =
                    earlier.get(path).map_or_else(|| now.bytes().to_vec(), |found| found.bytes.clone());
                now.successor(bytes)
            });
            then.insert(path.clone(), snapshot);
        }
        then
    }

    /// The recorded changes of a file since a proposal was made, oldest first.
    fn changes_since(&self, stored: &StoredProposal, path: &FilePath) -> Vec<ChangeId> {
        let filter = Filter { path: Some(path.clone()), since: Some(stored.at), ..Filter::default() };
        // Only for the message.
        let mut ids: Vec<ChangeId> =
            self.journal.list(&filter).unwrap_or_default().iter().map(|change| change.id).collect();
        ids.reverse();
        ids
    }

    /// A change of the files as they were, as a change of the files as they are now.
    pub(super) fn carry_over(
        &self,
        changes: ChangeSet,
        base: &ProposalBase,
        stored: &StoredProposal,
    ) -> Result<ChangeSet, Report> {
        if base.earlier.is_empty() {
            return Ok(changes);
        }
        let mut files = Vec::new();
        for file in changes.files() {
            files.push(match (base.earlier.get(&file.path), base.now.get(&file.path)) {
                (Some(earlier), Some(now)) => self.carry_over_file(file, earlier, now, base, stored)?,
                _ => file.clone(),
            });
        }
        ChangeSet::new(files).map_err(|error| damaged(stored.id, &error.to_string()))
    }

    fn carry_over_file(
        &self,
        file: &FileChange,
        earlier: &EarlierVersion,
        now: &Snapshot,
        base: &ProposalBase,
        stored: &StoredProposal,
    ) -> Result<FileChange, Report> {
        let carried = carry_over_neighbours(&file.splices, &earlier.since);
        let touched =
            file.splices.iter().find(|splice| touches_lines(splice, earlier)).map(|splice| splice.at);
        let splices = match (touched, carried) {
            (None, Ok(splices)) => splices,
            (touched, carried) => {
                let at = touched.or(carried.err().map(|conflict| conflict.mine)).unwrap_or(Span::new(0, 0));
                return Err(self.describe_conflict(file, at, earlier, now, stored));
            }
        };
        match base.then().get(&file.path) {
            Some(then) => Ok(rebase_file(file, splices, earlier, then, now)),
            None => Err(damaged(stored.id, "a file is missing")),
        }
    }

    /// Both sides of a place that the proposal and somebody else have changed.
    fn describe_conflict(
        &self,
        file: &FileChange,
        at: Span,
        earlier: &EarlierVersion,
        now: &Snapshot,
        stored: &StoredProposal,
    ) -> Report {
        let expected = whole_lines(&earlier.bytes, at);
        let there = map_span(&earlier.since, expected);
        let lines = whole_lines(now.bytes(), there);
        conflicting_lines(
            stored.id,
            ConflictReport {
                path: file.path.clone(),
                change: None,
                proposal: Some(stored.id),
                by: self.changes_of_lines(stored, &file.path, now, lines),
                later: Vec::new(),
                line: now.line_of(now.view_span(lines).start()),
                expected: Some(excerpt(expected.of(&earlier.bytes))),
                left: excerpt(&proposed_lines(file, expected, &earlier.bytes)),
                now: excerpt(lines.of(now.bytes())),
            },
        )
    }

    /// The recorded changes since a proposal was made that changed these lines of the present text, oldest first. What somebody
    /// did without Slipstitch hides those before it.
    fn changes_of_lines(
        &self,
        stored: &StoredProposal,
        path: &FilePath,
        now: &Snapshot,
        lines: Span,
    ) -> Vec<ChangeId> {
        let path = now.meta().real.as_ref().unwrap_or(path);
        let (mut hash, mut lines) = (now.hash(), lines);
        let mut found = Vec::new();
        for id in self.changes_since(stored, path).into_iter().rev() {
            let Ok(Some(entry)) = self.journal.entry(id) else { break };
            let record = entry.files.iter().find(|record| record.path_after() == Some(path));
            let Some(record) = record.filter(|record| record.hash_after() == Some(hash)) else { break };
            let back = &record.inverse.splices;
            if back.iter().any(|splice| overlaps_lines(splice, lines)) {
                found.push(id);
                lines = map_span(back, lines);
            } else {
                let before = back.iter().filter(|splice| splice.at.end() <= lines.start());
                let shift: isize =
                    before.map(|splice| splice.insert.len() as isize - splice.at.len() as isize).sum();
                lines = Span::new(
                    lines.start().saturating_add_signed(shift),
                    lines.end().saturating_add_signed(shift),
                );
            }
            let Some(before) = record.hash_before() else { break };
            hash = before;
        }
        found.reverse();
        found
    }
}

/// Whether a splice changes something in these lines. An insertion right before them counts: it may belong to them.
fn overlaps_lines(splice: &Splice, lines: Span) -> bool {
    let at = splice.at;
    match at.is_empty() || lines.is_empty() {
        true => lines.start() <= at.end() && at.start() <= lines.end(),
        false => at.start() < lines.end() && at.end() > lines.start(),
    }
}

/// Whether something was done since to the lines that a splice changes. The same splice on both sides is no conflict.
fn touches_lines(splice: &Splice, earlier: &EarlierVersion) -> bool {
    let lines = whole_lines(&earlier.bytes, splice.at);
    earlier.since.iter().any(|other| {
        let overlaps = other.at.start() < lines.end() && other.at.end() > lines.start();
        // Text inserted right before a line that changes may belong to it.
        let is_inserted =
            other.at.is_empty() && lines.start() <= other.at.start() && other.at.start() < lines.end();
        (overlaps || is_inserted) && other != splice
    })
}

/// Lines of the text that a proposal was made for, as it would write them.
fn proposed_lines(file: &FileChange, lines: Span, before: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut at = lines.start();
    for other in
        file.splices.iter().filter(|other| other.at.start() >= lines.start() && other.at.end() <= lines.end())
    {
        text.extend_from_slice(Span::new(at, other.at.start()).of(before));
        text.extend_from_slice(&other.insert);
        at = other.at.end();
    }
    text.extend_from_slice(Span::new(at, lines.end()).of(before));
    text
}

/// Checks that the recorded splices give the proposed text.
fn check_intact(stored: &StoredProposal, changes: &ChangeSet, then: &Snapshots) -> Result<(), Report> {
    for file in changes.files() {
        let bytes = then.bytes_before(file);
        let is_intact = file.splices.base_len() == bytes.len()
            && file.after.is_none_or(|after| file.splices.hash_after(bytes) == after);
        if !is_intact {
            let problem = format!("it does not give the proposed text of `{}`", file.path);
            return Err(damaged(stored.id, &problem));
        }
    }
    Ok(())
}
