//! Help for edits whose old text has no match or several.
//!
//! The candidates are remembered, so that the caller can choose one instead of sending the text again; and other files of
//! the session are searched for the text.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Engine;
use super::private::{is_private, remember};
use crate::change::Lines;
use crate::find::{Cause, Diagnosis, Reason, ResolveError};
use crate::outcome::Refused;
use crate::path::FilePath;
use crate::plan::{Choice, EditPlan, LineRange, Operation, Which};
use crate::ports::journal::{Filter, JournalError};
use crate::report::Report;
use crate::snapshot::Snapshots;
use slipstitch_patch::Hunk;
use slipstitch_text::canonical;

/// Key prefix of refused edits in a session's memory; the path follows.
const CANDIDATES: &str = "candidates/";

/// How many other files are searched, and how large each may be.
const MAX_FILES: usize = 8;
const MAX_BYTES: usize = 1 << 20;
/// Shorter texts, counted in letters and digits, could come from any file.
const MIN_CHARACTERS: usize = 12;

/// A refused edit and its candidates.
#[derive(Serialize, Deserialize)]
struct Offer {
    /// The hash of the file when the edit was refused.
    hash: String,
    edits: Vec<RememberedEdit>,
    /// The index of the edit that failed.
    failed: usize,
    /// The candidates: first line and number of lines.
    candidates: Vec<(usize, usize)>,
    description: Option<String>,
}

#[derive(Serialize, Deserialize)]
enum RememberedEdit {
    Replace {
        old: String,
        new: String,
        all: bool,
        #[serde(default)]
        lines: bool,
        within: Option<(usize, usize)>,
    },
    Hunk(Box<Hunk>),
}

impl RememberedEdit {
    /// An operation as it is remembered; `None` if it does not look for text.
    fn of(operation: &Operation) -> Option<Self> {
        match operation {
            // A choice of one place would contradict the number of places that the edit states.
            Operation::Replace { which: Which::Exactly(_), .. } => None,
            Operation::Replace { old, new, which, within } => Some(Self::Replace {
                old: old.clone(),
                new: new.clone(),
                all: *which == Which::All,
                lines: *which == Which::UniqueLines,
                within: within.map(|lines| (lines.first, lines.last)),
            }),
            Operation::Hunk(hunk) => Some(Self::Hunk(hunk.clone())),
            _ => None,
        }
    }

    /// The operation again.
    fn repeated(self) -> Operation {
        match self {
            Self::Replace { old, new, all, lines, within } => Operation::Replace {
                old,
                new,
                which: match (all, lines) {
                    (true, _) => Which::All,
                    (false, true) => Which::UniqueLines,
                    (false, false) => Which::Unique,
                },
                within: within.map(|(first, last)| LineRange { first, last }),
            },
            Self::Hunk(hunk) => Operation::Hunk(hunk),
        }
    }

    /// The operation at the lines that the caller chose.
    fn at(self, lines: LineRange) -> Operation {
        match self {
            Self::Replace { old, new, .. } => Operation::ReplaceAt { old, new, lines },
            Self::Hunk(hunk) => Operation::HunkAt { hunk, lines },
        }
    }
}

impl Engine<'_> {
    /// The refused edit with the chosen candidate as its place; `None` if the plan chooses no candidate.
    pub(super) fn apply_choice(&self, plan: &EditPlan) -> Result<Option<EditPlan>, Box<Report>> {
        let Choice::Taken(number) = plan.choice else { return Ok(None) };
        let Some(file) = plan.files.first() else { return Ok(None) };
        let path = &file.path;
        let refuse = |reason: Refused, message: String| {
            Box::new(
                Report::new(reason, message)
                    .hint("Send the edit itself, not only the number of a candidate."),
            )
        };
        let offer = self.recall_offer(path).map_err(|error| Box::new(error.into()))?;
        let Some(offer) = offer else {
            return Err(refuse(
                Refused::NoCandidates,
                format!("this session has no refused edit of `{path}`"),
            ));
        };
        let current = self.snapshot(path).map_err(|error| Box::new(error.into()))?;
        if current.is_none_or(|snapshot| snapshot.hash().to_string() != offer.hash) {
            let message = format!("`{path}` changed since its candidates were shown");
            return Err(refuse(Refused::StaleCandidates, message));
        }
        let place = number.checked_sub(1).and_then(|at| offer.candidates.get(at).copied());
        let Some((start, count)) = place else {
            let message = format!("there is no candidate {number}: {} were shown", offer.candidates.len());
            return Err(refuse(Refused::NoCandidates, message));
        };
        let chosen = LineRange { first: start, last: start + count.max(1) - 1 };
        let mut plan = plan.clone();
        plan.choice = Choice::None;
        plan.description = plan.description.or(offer.description);
        // Some tools send the edit again, together with the number of the candidate.
        let sent: Option<Vec<RememberedEdit>> = file.operations.iter().map(RememberedEdit::of).collect();
        let edits = sent.filter(|sent| sent.len() == offer.edits.len()).unwrap_or(offer.edits);
        let operation = |(at, edit): (usize, RememberedEdit)| match at == offer.failed {
            true => edit.at(chosen),
            false => edit.repeated(),
        };
        plan.files[0].operations = edits.into_iter().enumerate().map(operation).collect();
        Ok(Some(plan))
    }

    fn recall_offer(&self, path: &FilePath) -> Result<Option<Offer>, JournalError> {
        let name = format!("{CANDIDATES}{path}");
        let memory = self.journal.recall(self.session, &name)?;
        let found = memory.into_iter().find(|(key, _)| *key == name);
        Ok(found.and_then(|(_, text)| serde_json::from_str(&text).ok()))
    }

    /// Remembers the candidates of a refused edit. Returns whether one of them can be chosen.
    pub(super) fn remember_candidates(
        &self,
        error: &ResolveError,
        plan: &EditPlan,
        snapshots: &Snapshots,
    ) -> Result<bool, JournalError> {
        let ([failure], [file]) = (&error.failures[..], &plan.files[..]) else { return Ok(false) };
        let (Some(edit), Some(snapshot)) = (failure.edit, snapshots.get(&file.path)) else {
            return Ok(false);
        };
        let candidates = match &failure.reason {
            Reason::NotFound(diagnosis) => &diagnosis.candidates,
            Reason::Ambiguous { candidates, .. } => candidates,
            _ => return Ok(false),
        };
        let edits: Option<Vec<RememberedEdit>> = file.operations.iter().map(RememberedEdit::of).collect();
        let is_offered = plan.choice == Choice::Offered && plan.clipboards.uses.is_empty();
        let Some(edits) = edits.filter(|_| is_offered && !candidates.is_empty()) else {
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
        let is_private = is_private(self.journal, &file.path, snapshots.real_path(&file.path));
        remember(self.journal, self.session, &[(format!("{CANDIDATES}{}", file.path), text)], is_private)?;
        Ok(matches!(failure.reason, Reason::Ambiguous { .. }) || candidates.iter().any(|one| one.choosable))
    }

    /// Forgets the candidates for the files of a plan, because a new edit replaces the refused one.
    pub(super) fn forget_candidates(&self, plan: &EditPlan) {
        let name = |path: &FilePath| format!("{CANDIDATES}{path}");
        // A patch may have thousands of files, so they are looked up together.
        let prefix = match &plan.files[..] {
            [] => return,
            [file] => name(&file.path),
            _ => CANDIDATES.to_owned(),
        };
        let offers = self.journal.recall(self.session, &prefix).unwrap_or_default();
        let open: BTreeSet<String> =
            offers.into_iter().filter(|(_, offer)| !offer.is_empty()).map(|(name, _)| name).collect();
        if open.is_empty() {
            return;
        }
        let names: BTreeSet<String> = plan.files.iter().map(|file| name(&file.path)).collect();
        let forgotten: Vec<(String, String)> =
            names.intersection(&open).map(|name| (name.clone(), String::new())).collect();
        // A brief attempt may be repeated, and must then find the offers.
        if !forgotten.is_empty() && self.check_may_take_long().is_ok() {
            // If this fails, the old offers still apply only to the contents they were made for.
            let _ = self.journal.remember(self.session, &forgotten);
        }
    }

    /// Searches other files for texts that are not in their own: the files of the plan, and those that the session
    /// changed last.
    pub(super) fn search_other_files(
        &self,
        error: &mut ResolveError,
        plan: &EditPlan,
        snapshots: &Snapshots,
    ) {
        let operations: Vec<&Operation> = plan.files.iter().flat_map(|file| &file.operations).collect();
        let mut others = None;
        for failure in &mut error.failures {
            let Reason::NotFound(diagnosis) = &mut failure.reason else { continue };
            let old = failure.edit.and_then(|edit| operations.get(edit - 1)).map_or("", |one| one.old_text());
            let is_distinctive = old.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_CHARACTERS;
            if diagnosis.cause != Cause::NotFound || !is_distinctive {
                continue;
            }
            let others = others.get_or_insert_with(|| self.other_files(plan));
            if let Some(found) = others.iter().find_map(|path| self.find_in_file(old, path, snapshots)) {
                *diagnosis = Diagnosis::elsewhere(found);
            }
        }
    }

    /// Files that the caller may have meant instead.
    fn other_files(&self, plan: &EditPlan) -> Vec<FilePath> {
        let filter =
            Filter { session: Some(self.session.into()), limit: Some(4 * MAX_FILES), ..Filter::default() };
        let changed = self.journal.list(&filter).unwrap_or_default();
        let changed =
            changed.iter().flat_map(|change| &change.files).filter_map(|file| file.path_after.clone());
        let mut known = BTreeSet::new();
        let all = plan.files.iter().map(|file| file.path.clone()).chain(changed);
        all.filter(|path| known.insert(path.clone())).take(MAX_FILES).collect()
    }

    fn find_in_file(&self, old: &str, path: &FilePath, snapshots: &Snapshots) -> Option<(FilePath, Lines)> {
        let read;
        let snapshot = match snapshots.get(path) {
            Some(snapshot) => snapshot,
            None => {
                read = self.snapshot(path).ok()??;
                &read
            }
        };
        if snapshot.text_len() > MAX_BYTES || snapshot.is_binary() {
            return None;
        }
        let old = canonical(old);
        let at = memchr::memmem::find(snapshot.text(), snapshot.needle(&old).as_bytes())?;
        let count = old.trim_end_matches('\n').split('\n').count();
        Some((path.clone(), Lines { start: snapshot.line_of(at), count }))
    }
}
