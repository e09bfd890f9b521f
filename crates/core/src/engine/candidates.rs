//! Edits whose text was not found, or too often: the places that come close are remembered, so that the caller can
//! choose one of them instead of sending the text again; and files that the session changed are looked into.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Engine;
use crate::change::Lines;
use crate::find::{Cause, Diagnosis, Reason, ResolveError};
use crate::outcome::Refused;
use crate::path::FilePath;
use crate::plan::{Choice, EditPlan, LineRange, Operation, Which};
use crate::ports::journal::{Filter, JournalError};
use crate::report::Report;
use crate::snapshot::Snapshots;
use slipstitch_text::canonical;

/// What a session's memory of a refused edit is called; the path follows.
const CANDIDATES: &str = "candidates/";

/// How many other files are looked into, and how large they may be.
const MAX_FILES: usize = 8;
const MAX_BYTES: usize = 1 << 20;
/// A text with fewer letters and digits says nothing about the file it is from.
const LEAST_CHARACTERS: usize = 12;

/// A refused edit.
#[derive(Serialize, Deserialize)]
struct Offer {
    /// The file's content when it was refused.
    hash: String,
    edits: Vec<Edit>,
    /// Which of the edits has no place, from 0.
    failed: usize,
    /// The places that come close: first line and number of lines.
    candidates: Vec<(usize, usize)>,
    description: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Edit {
    old: String,
    new: String,
    all: bool,
    within: Option<(usize, usize)>,
}

impl Engine<'_> {
    /// The edit that a caller chose a place for, or why there is none.
    pub(super) fn chosen(&self, plan: &EditPlan) -> Result<Option<EditPlan>, Box<Report>> {
        let Choice::Taken(number) = plan.choice else { return Ok(None) };
        let Some(file) = plan.files.first() else { return Ok(None) };
        let path = &file.path;
        let nothing = |reason: Refused, message: String| {
            Box::new(Report::new(reason, message).hint("Send the edit itself: `old_text` and `new_text`."))
        };
        let offer = self.offer(path).map_err(|error| Box::new(error.into()))?;
        let Some(offer) = offer else {
            return Err(nothing(
                Refused::NoCandidates,
                format!("no refused edit of `{path}` is known in this session"),
            ));
        };
        let current = self.snapshot(path).map_err(|error| Box::new(error.into()))?;
        if current.is_none_or(|snapshot| snapshot.hash().to_string() != offer.hash) {
            let message = format!("`{path}` has changed since its candidates were shown");
            return Err(nothing(Refused::StaleCandidates, message));
        }
        let place = number.checked_sub(1).and_then(|at| offer.candidates.get(at).copied());
        let Some((start, count)) = place else {
            let message = format!("there is no candidate {number}: {} were shown", offer.candidates.len());
            return Err(nothing(Refused::NoCandidates, message));
        };
        let chosen = LineRange { first: start, last: start + count.max(1) - 1 };
        let mut plan = plan.clone();
        plan.choice = Choice::None;
        plan.description = plan.description.or(offer.description);
        let operation = |(at, edit): (usize, Edit)| {
            let (old, new) = (edit.old, edit.new);
            match at == offer.failed {
                true => Operation::ReplaceAt { old, new, lines: chosen },
                false => Operation::Replace {
                    old,
                    new,
                    which: if edit.all { Which::All } else { Which::Unique },
                    within: edit.within.map(|(first, last)| LineRange { first, last }),
                },
            }
        };
        plan.files[0].operations = offer.edits.into_iter().enumerate().map(operation).collect();
        Ok(Some(plan))
    }

    fn offer(&self, path: &FilePath) -> Result<Option<Offer>, JournalError> {
        let name = format!("{CANDIDATES}{path}");
        let memory = self.journal.recall(self.session, &name)?;
        let found = memory.into_iter().find(|(key, _)| *key == name);
        Ok(found.and_then(|(_, text)| serde_json::from_str(&text).ok()))
    }

    /// Remembers the places that a refused edit could go to; says whether there are any to choose from.
    pub(super) fn offer_candidates(
        &self,
        error: &ResolveError,
        plan: &EditPlan,
        seen: &Snapshots,
    ) -> Result<bool, JournalError> {
        let ([failure], [file]) = (&error.failures[..], &plan.files[..]) else { return Ok(false) };
        let (Some(edit), Some(snapshot)) = (failure.edit, seen.get(&file.path)) else { return Ok(false) };
        let candidates = match &failure.reason {
            Reason::NotFound(diagnosis) => &diagnosis.candidates,
            Reason::Ambiguous { candidates, .. } => candidates,
            _ => return Ok(false),
        };
        let edits: Option<Vec<Edit>> = file.operations.iter().map(remembered).collect();
        let Some(edits) = edits.filter(|_| plan.choice == Choice::Offered && !candidates.is_empty()) else {
            return Ok(false);
        };
        let offer = Offer {
            hash: snapshot.hash().to_string(),
            edits,
            failed: edit - 1,
            candidates: candidates.iter().map(|one| (one.lines.start, one.lines.count)).collect(),
            description: plan.description.clone(),
        };
        let Ok(text) = serde_json::to_string(&offer) else { return Ok(false) };
        self.journal.remember(self.session, &[(format!("{CANDIDATES}{}", file.path), text)])?;
        Ok(true)
    }

    /// Forgets what was offered for the files of a plan: another edit came after it.
    pub(super) fn forget_candidates(&self, plan: &EditPlan) {
        for file in &plan.files {
            let name = format!("{CANDIDATES}{}", file.path);
            if self.offer(&file.path).is_ok_and(|offer| offer.is_some()) {
                // What cannot be forgotten is still bound to the file's content.
                let _ = self.journal.remember(self.session, &[(name, String::new())]);
            }
        }
    }

    /// Looks for texts that are nowhere in their file in others: those of the plan, and those that the session
    /// changed last.
    pub(super) fn look_elsewhere(&self, error: &mut ResolveError, plan: &EditPlan, seen: &Snapshots) {
        let operations: Vec<&Operation> = plan.files.iter().flat_map(|file| &file.operations).collect();
        let mut others = None;
        for failure in &mut error.failures {
            let Reason::NotFound(diagnosis) = &mut failure.reason else { continue };
            let old = failure.edit.and_then(|edit| operations.get(edit - 1)).map_or("", |one| one.old_text());
            let telling = old.chars().filter(|c| c.is_alphanumeric()).count() >= LEAST_CHARACTERS;
            if diagnosis.cause != Cause::NotFound || !telling {
                continue;
            }
            let others = others.get_or_insert_with(|| self.others(plan));
            if let Some(found) = others.iter().find_map(|path| self.stands_in(old, path, seen)) {
                *diagnosis = Diagnosis::elsewhere(found);
            }
        }
    }

    /// Other files that the caller may have meant.
    fn others(&self, plan: &EditPlan) -> Vec<FilePath> {
        let filter =
            Filter { session: Some(self.session.into()), limit: Some(4 * MAX_FILES), ..Filter::default() };
        let changed = self.journal.list(&filter).unwrap_or_default();
        let changed =
            changed.iter().flat_map(|change| &change.files).filter_map(|file| file.path_after.clone());
        let mut known = BTreeSet::new();
        let all = plan.files.iter().map(|file| file.path.clone()).chain(changed);
        all.filter(|path| known.insert(path.clone())).take(MAX_FILES).collect()
    }

    fn stands_in(&self, old: &str, path: &FilePath, seen: &Snapshots) -> Option<(FilePath, Lines)> {
        let read;
        let snapshot = match seen.get(path) {
            Some(snapshot) => snapshot,
            None => {
                read = self.snapshot(path).ok()??;
                &read
            }
        };
        if snapshot.text().len() > MAX_BYTES || snapshot.is_binary() {
            return None;
        }
        let old = canonical(old);
        let at = memchr::memmem::find(snapshot.text(), snapshot.needle(&old).as_bytes())?;
        let count = old.trim_end_matches('\n').split('\n').count();
        Some((path.clone(), Lines { start: snapshot.line_of(at), count }))
    }
}

/// What is remembered of an operation; `None` if it is no replacement of text.
fn remembered(operation: &Operation) -> Option<Edit> {
    match operation {
        Operation::Replace { old, new, which, within } => Some(Edit {
            old: old.clone(),
            new: new.clone(),
            all: *which == Which::All,
            within: within.map(|lines| (lines.first, lines.last)),
        }),
        _ => None,
    }
}
