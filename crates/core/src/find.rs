//! Stage two: finds the one right place for every operation, or explains why there is none.
//!
//! # Why ambiguity never descends
//!
//! Comparisons are tried from strict to loose: exact text, whitespace aside, transport damage removed, different
//! words in context lines. The first one that matches anything ends the search, even if it matches several places.
//! Everything a strict comparison accepts, a looser one accepts too, so descending could only add candidates, never
//! remove one. If `x()` occurs twice exactly and a third time with other indentation, ignoring indentation does
//! not tell which of the first two was meant. The edit is refused and the caller is asked for more context.

mod alignment;
mod applied;
mod block;
mod block_comment;
mod clipboard;
mod combine;
mod culprit;
mod diagnose;
mod diagnosis;
mod drift;
mod elision;
mod error;
mod evidence;
mod excerpts;
mod file_text;
mod heading;
mod hunk;
mod in_turn;
mod indentation;
mod inside;
mod ladder;
mod landmark;
mod large;
mod limits;
mod merge;
mod miss;
mod near_matches;
mod new_depths;
mod notebook;
mod notebook_problem;
mod odd_indentation;
mod offer;
mod order;
mod outline;
mod punctuation;
mod recovered_edit;
mod recovery;
mod request;
mod resolved_edit;
mod script;
mod search;
mod search_index;
mod sequence_matcher;
mod similar;
mod similarity;
mod sketch;
mod slip;
mod spacing;
mod still_there;
mod text;
mod whitespace;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub use diagnosis::{Candidate, Cause, Diagnosis, Landmark, Mismatch, ResendEdit};
pub use error::{Failure, Reason, ResolveError};
pub(crate) use error::{describe_overlap, times};
pub use file_text::EarlierVersions;
pub(crate) use large::searched_texts;
pub use notebook_problem::NotebookProblem;
pub use outline::enclosing_item;

use crate::cancel::CancelToken;
use crate::change::{Base, ChangeSet, FileChange, PathChange, PlacedEdit};
use crate::outcome::Unplaced;
use crate::path::FilePath;
use crate::plan::{
    Batch, EditPlan, EditRules, FilePlan, IfAlreadyApplied, IfMissing, NewlineStyle, Operation, Overwriting,
    Run, Tolerance,
};
use crate::snapshot::{FileContent, FileId, Meta};
use crate::snapshot::{Snapshot, Snapshots};
use combine::{combine, lines_covered_by};
use diagnosis::AppliedForm;
use file_text::FileText;
use limits::Budget;
use resolved_edit::ResolvedEdit;
use slipstitch_text::EncodingRule;
use slipstitch_text::Splices;

/// Turns a plan into splices, or reports every operation that could not be placed. Judges by the text alone.
pub fn resolve(plan: &EditPlan, seen: &Snapshots) -> Result<ChangeSet, ResolveError> {
    resolve_with_evidence(plan, seen, &(), &CancelToken::default(), &mut |_| {})
}

/// Like [`resolve`], guided by earlier versions of the files. Calls `report_progress` after each file with the number of
/// files resolved so far. A cancelled search ends early, with failures that mean nothing.
pub fn resolve_with_evidence(
    plan: &EditPlan,
    seen: &Snapshots,
    versions: &dyn EarlierVersions,
    cancel: &CancelToken,
    report_progress: &mut dyn FnMut(usize),
) -> Result<ChangeSet, ResolveError> {
    let located = LocatedEdits::default();
    let finder = Finder { rules: plan.rules, run: plan.run, seen, versions, cancel, located: &located };
    if plan.clipboards.uses.is_empty() {
        return finder.resolve(plan, report_progress);
    }
    match clipboard::fill(plan, &finder) {
        Ok(filled) => {
            let finder = Finder { located: &filled.located, ..finder };
            Ok(finder.resolve(&filled.plan, report_progress)?.with_clipboards(filled.copied, filled.notes))
        }
        Err(unfilled) => {
            let mut failures =
                finder.resolve(plan, report_progress).map_or_else(|error| error.failures, |_| Vec::new());
            failures.extend(unfilled.failures);
            // If an edit was not found, report that and not the clipboard that stays empty because of it.
            if failures.is_empty() {
                failures = unfilled.consequences;
            }
            failures.sort_by_key(|failure| failure.edit);
            let edits = plan.files.iter().map(|file| file.operations.len()).sum();
            Err(ResolveError { failures, edits })
        }
    }
}

/// What a search works on.
#[derive(Clone, Copy)]
struct Finder<'a> {
    rules: EditRules,
    run: Run,
    seen: &'a Snapshots,
    versions: &'a dyn EarlierVersions,
    cancel: &'a CancelToken,
    /// Edits whose place is known already, so that they are not searched for again.
    located: &'a LocatedEdits,
}

/// Resolved edits by number.
type LocatedEdits = BTreeMap<usize, ResolvedEdit>;

impl Finder<'_> {
    fn resolve(
        &self,
        plan: &EditPlan,
        report_progress: &mut dyn FnMut(usize),
    ) -> Result<ChangeSet, ResolveError> {
        let mut files = Vec::new();
        let mut overwritten = Vec::new();
        let mut failures = find_aliases(plan, self.seen);
        let vacated = vacated_paths(plan);
        let mut edit = 1;
        for (at, file) in plan.files.iter().enumerate() {
            match self.resolve_file(file, edit, &vacated) {
                Ok((mut change, other)) => {
                    if plan.files.len() > 1 {
                        change.notes.iter_mut().for_each(|note| *note = format!("`{}`: {note}", file.path));
                    }
                    files.push(change);
                    overwritten.extend(other);
                }
                Err(more) => failures.extend(more),
            }
            edit += file.operations.len();
            report_progress(at + 1);
        }
        // Guards pair changes with the plan's files by position, so additional changes go to the end.
        files.extend(overwritten);
        if failures.is_empty() {
            match ChangeSet::new(files) {
                Ok(changes) => return Ok(changes),
                Err(twice) => failures.push(Failure { path: twice.0, edit: None, reason: Reason::PathTwice }),
            }
        }
        Err(ResolveError { failures, edits: edit - 1 })
    }
}

/// Finds paths that lead to the same file; the second change would overwrite the first.
fn find_aliases(plan: &EditPlan, seen: &Snapshots) -> Vec<Failure> {
    let mut names: BTreeMap<FileId, &FilePath> = BTreeMap::new();
    let mut failures = Vec::new();
    for file in &plan.files {
        let Some(id) = seen.get(&file.path).and_then(|snapshot| snapshot.meta().id) else { continue };
        // The same path twice is a file that moves away and one that takes its place.
        if let Some(first) = names.insert(id, &file.path)
            && *first != file.path
        {
            let reason = Reason::SameFile { other: first.clone() };
            failures.push(Failure { path: file.path.clone(), edit: None, reason });
        }
    }
    failures
}

/// The paths whose files move away or are deleted. All edits are made for the files as they are before any of them, so
/// another file may take such a path.
fn vacated_paths(plan: &EditPlan) -> BTreeSet<&FilePath> {
    plan.files.iter().filter(|file| vacates(file)).map(|file| &file.path).collect()
}

fn vacates(file: &FilePlan) -> bool {
    file.operations.iter().any(|one| match one {
        Operation::Move { to, .. } => *to != file.path,
        Operation::Delete => true,
        _ => false,
    })
}

/// What happens to a file after its text is edited.
#[derive(Default)]
struct FileActions<'a> {
    deleted: bool,
    moved: Option<(&'a FilePath, Overwriting)>,
    executable: Option<bool>,
}

impl FileActions<'_> {
    /// Whether the only action is to set the mode that the file already has.
    fn is_mode_only(&self, snapshot: Option<&Snapshot>) -> bool {
        let mode = snapshot.and_then(|snapshot| snapshot.meta().mode);
        let has_mode = |executable: bool| mode.is_some_and(|mode| (mode & 0o111 != 0) == executable);
        !self.deleted && self.moved.is_none() && self.executable.is_some_and(has_mode)
    }
}

/// Separates the operations on a file's text from the trailing ones on the file itself.
fn split_file_actions(file: &FilePlan) -> (&[Operation], FileActions<'_>) {
    let path = &file.path;
    let mut actions = FileActions::default();
    let mut rest = &file.operations[..];
    while let Some((last, before)) = rest.split_last() {
        match last {
            Operation::Move { to, overwriting: over } if actions.moved.is_none() => {
                // A file that is moved to its own path stays where it is.
                actions.moved = (to != path).then_some((to, *over))
            }
            Operation::SetExecutable(executable) => actions.executable = Some(*executable),
            Operation::Delete if matches!(before.last(), Some(Operation::Hunk(_))) => actions.deleted = true,
            _ => break,
        }
        rest = before;
    }
    (rest, actions)
}

impl Finder<'_> {
    /// Resolves one file. The second change is to the file that this one is moved over, if any.
    fn resolve_file(
        &self,
        file: &FilePlan,
        first_edit: usize,
        vacated: &BTreeSet<&FilePath>,
    ) -> Result<(FileChange, Option<FileChange>), Vec<Failure>> {
        let file_at = |path: &FilePath| self.seen.get(path).filter(|_| !vacated.contains(path));
        let fail = |edit: usize, reason| vec![Failure { path: file.path.clone(), edit: Some(edit), reason }];
        let (operations, actions) = split_file_actions(file);
        let last_edit = first_edit + file.operations.len().saturating_sub(1);
        let snapshot = if vacates(file) { self.seen.get(&file.path) } else { file_at(&file.path) };
        if snapshot.is_none()
            && let Some(applied) = self.find_vacated(file, operations, &actions, &file_at)
        {
            // The file as a whole is done, so each of its operations counts as done.
            let reason = Reason::AlreadyApplied(Diagnosis::of_applied_file(applied));
            let done = Failure { path: file.path.clone(), edit: None, reason };
            return Err(vec![done; file.operations.len()]);
        }
        let mut change = match operations {
            [operation] if whole::is_whole(operation) && actions.moved.is_none() => {
                whole::resolve(operation, &file.path, snapshot, first_edit, self.rules)
                    .map_err(|reason| fail(first_edit, reason))
            }
            _ => self.resolve_text(file, operations, first_edit, snapshot),
        }
        .map_err(|mut failures| {
            let is_done = |failure: &Failure| failure.reason.unplaced() == Unplaced::AlreadyApplied;
            let all_done = failures.len() == operations.len() && failures.iter().all(is_done);
            if all_done && actions.is_mode_only(snapshot) {
                let done = Reason::AlreadyApplied(Diagnosis::of_applied_file(AppliedForm::Mode));
                failures.extend(fail(last_edit, done));
            }
            failures
        })?;
        if actions.deleted
            && let Some(snapshot) = snapshot
        {
            if change.splices.new_len() > snapshot.text_start() {
                return Err(fail(last_edit, Reason::NotAllDeleted));
            }
            let deletion = whole::delete(&file.path, last_edit, snapshot);
            change = FileChange { notes: change.notes, ..deletion };
        }
        if let Some(executable) = actions.executable {
            set_executable(&mut change, executable, snapshot);
        }
        match actions.moved {
            Some((to, Overwriting::Refused)) if file_at(to).is_some() => {
                Err(fail(last_edit, Reason::FileExists { path: to.clone() }))
            }
            Some((to, _)) => match (file_at(to), snapshot) {
                (Some(target), Some(source)) => {
                    let over = whole::replace_by_move(&change, to, source, target);
                    let deletion = whole::delete(&file.path, last_edit, source);
                    Ok((FileChange { notes: change.notes, edits: change.edits, ..deletion }, Some(over)))
                }
                _ => {
                    change.path_change = PathChange::Move(to.clone());
                    Ok((change, None))
                }
            },
            None => Ok((change, None)),
        }
    }
}

impl Finder<'_> {
    /// How a file that no longer exists was removed, if that is what the plan asks for. A file that neither the journal nor Git
    /// knows does not count as deleted: its path may be wrong.
    fn find_vacated<'s>(
        &self,
        file: &FilePlan,
        operations: &[Operation],
        actions: &FileActions<'_>,
        file_at: &dyn Fn(&FilePath) -> Option<&'s Snapshot>,
    ) -> Option<AppliedForm> {
        if self.rules.if_already_applied != IfAlreadyApplied::Succeed {
            return None;
        }
        let Some((to, _)) = actions.moved else {
            let deletes = actions.deleted || matches!(operations, [Operation::Delete]);
            let was_there = || !self.versions.of_missing(&file.path, None).is_empty();
            return (deletes && was_there()).then_some(AppliedForm::Deletion);
        };
        let target = file_at(to)?;
        let becomes_target = |bytes: Vec<u8>| {
            let content = FileContent { bytes: bytes.into(), meta: target.meta().clone() };
            let before = Snapshot::new(content, EncodingRule::Detect);
            let base = Base::Content(before.hash());
            let change = self.edit_text(file, operations, 1, &before, base);
            change.is_ok_and(|change| change.after == Some(target.hash()))
        };
        let texts = self.versions.of_missing(&file.path, Some(target.bytes()));
        texts.into_iter().any(becomes_target).then_some(AppliedForm::Move)
    }
}

/// Sets the mode of a new file; of an existing one only if it differs.
fn set_executable(change: &mut FileChange, executable: bool, snapshot: Option<&Snapshot>) {
    match snapshot.map(|snapshot| snapshot.meta().mode) {
        None => change.mode = executable.then_some(0o755),
        Some(Some(mode)) if (mode & 0o111 != 0) != executable => change.executable = Some(executable),
        Some(_) => {}
    }
}

impl Finder<'_> {
    fn resolve_text(
        &self,
        file: &FilePlan,
        operations: &[Operation],
        first_edit: usize,
        snapshot: Option<&Snapshot>,
    ) -> Result<FileChange, Vec<Failure>> {
        let fail = |edit: usize, reason| vec![Failure { path: file.path.clone(), edit: Some(edit), reason }];
        if let Some(at) = operations.iter().position(whole::is_whole) {
            return Err(fail(first_edit + at, Reason::NotAlone));
        }
        let absent;
        let (snapshot, base) = match snapshot {
            Some(snapshot) => (snapshot, Base::Content(snapshot.hash())),
            None if !operations.is_empty()
                && operations.iter().all(|one| creates_file(one, self.rules.tolerance)) =>
            {
                absent = Snapshot::new(
                    FileContent { bytes: Vec::new().into(), meta: Meta::default() },
                    EncodingRule::Detect,
                );
                (&absent, Base::Absent)
            }
            None => {
                let at =
                    operations.iter().position(|one| !creates_file(one, self.rules.tolerance)).unwrap_or(0);
                return Err(fail(first_edit + at, Reason::FileMissing));
            }
        };
        if snapshot.is_binary() && !operations.is_empty() {
            return Err(fail(first_edit, Reason::Binary));
        }
        self.edit_text(file, operations, first_edit, snapshot, base)
    }
}

fn creates_file(operation: &Operation, tolerance: Tolerance) -> bool {
    match operation {
        Operation::Append { if_missing, .. } | Operation::Prepend { if_missing, .. } => {
            *if_missing == IfMissing::Create
        }
        // Callers that limit what may differ name an existing file.
        Operation::Hunk(hunk) => tolerance == Tolerance::Recover && hunk.can_create_file(),
        Operation::Sketch(sketch) => sketch.is_complete(),
        _ => false,
    }
}

impl Finder<'_> {
    fn edit_text(
        &self,
        file: &FilePlan,
        operations: &[Operation],
        first_edit: usize,
        snapshot: &Snapshot,
        base: Base,
    ) -> Result<FileChange, Vec<Failure>> {
        let mut change = FileChange {
            path: file.path.clone(),
            base,
            path_change: PathChange::Keep,
            splices: Splices::none(snapshot.byte_len()),
            after: Some(snapshot.hash()),
            mode: snapshot.meta().mode,
            executable: None,
            restore: Default::default(),
            edits: Vec::new(),
            notes: Vec::new(),
            totals: None,
        };
        let budget = Rc::new(Budget::new(self.cancel));
        let text =
            FileText::new(snapshot, &file.path, self.versions, operations.len(), &budget).in_run(self.run);
        let batch = match operations {
            // Nothing comes before a lone edit.
            [_] => Batch::Original,
            _ => self.rules.batch,
        };
        let failures = match batch {
            Batch::Original => {
                let (edits, failures) = split_results(self.resolve_operations(operations, first_edit, &text));
                if failures.is_empty() {
                    add_edits(&mut change, edits, self.rules.newline, snapshot)
                } else {
                    failures
                }
            }
            Batch::InOrder => {
                let results = self.resolve_operations(operations, first_edit, &text);
                let results = order::settle_by_order(results, operations, snapshot, |at, operation| {
                    let mut found = self.resolve_operations(operation, first_edit + at, &text);
                    found.pop()
                });
                let (edits, failures) = split_results(results);
                if failures.is_empty() {
                    add_edits(&mut change, edits, self.rules.newline, snapshot)
                } else {
                    failures
                }
            }
            Batch::Sequential => {
                let numbered: Vec<NumberedOperation<'_>> = (first_edit..).zip(operations).collect();
                self.resolve_in_turn(&mut change, &numbered, snapshot, &budget).failures
            }
            Batch::SequentialInOriginal => {
                let (edits, mut failures) =
                    split_results(self.resolve_operations(operations, first_edit, &text));
                let failed: BTreeSet<usize> = failures.iter().map(|(edit, _)| *edit).collect();
                let is_placed = |(edit, _): &NumberedOperation<'_>| !failed.contains(edit);
                let rest: Vec<NumberedOperation<'_>> =
                    (first_edit..).zip(operations).filter(is_placed).collect();
                let mut displaced = self.resolve_in_turn(&mut change, &rest, snapshot, &budget).failures;
                displaced.extend(changed_counts(&edits, &change.edits));
                failures.extend(displaced.into_iter().map(|(edit, why)| (edit, why.after_earlier_edits())));
                failures.sort_by_key(|(edit, _)| *edit);
                change.edits = edits.iter().flat_map(|edit| lines_covered_by(edit, snapshot)).collect();
                failures
            }
        };
        if !failures.is_empty() {
            let with_path = |(edit, reason)| Failure { path: file.path.clone(), edit: Some(edit), reason };
            return Err(failures.into_iter().map(with_path).collect());
        }
        change.after = Some(snapshot.hash_after(&change.splices));
        Ok(change)
    }

    /// A file's text with a separate budget, for so many searches.
    fn file_text<'t>(&'t self, snapshot: &'t Snapshot, path: &'t FilePath, searches: usize) -> FileText<'t> {
        let budget = Rc::new(Budget::new(self.cancel));
        FileText::new(snapshot, path, self.versions, searches, &budget).in_run(self.run)
    }

    /// Resolves every operation against the same text, each on its own. Hunks are placed together.
    fn resolve_operations(
        &self,
        operations: &[Operation],
        first_edit: usize,
        text: &FileText<'_>,
    ) -> Vec<Result<ResolvedEdit, EditFailure>> {
        if operations
            .iter()
            .any(|operation| matches!(operation, Operation::Hunk(_) | Operation::HunkAt { .. }))
        {
            hunk::resolve_operations(operations, first_edit, self.rules, text)
        } else {
            let numbered = (first_edit..).zip(operations);
            let open: Vec<NumberedOperation<'_>> =
                numbered.clone().filter(|(edit, _)| !self.located.contains_key(edit)).collect();
            let mut resolved = text::resolve_operations(&open, self.rules, text).into_iter();
            let resolve = |(edit, _)| match self.located.get(&edit) {
                Some(located) => Some(Ok(located.clone())),
                None => resolved.next(),
            };
            numbered.filter_map(resolve).collect()
        }
    }
}

/// Edits that would replace more or fewer occurrences than the original file has.
fn changed_counts(edits: &[ResolvedEdit], applied: &[PlacedEdit]) -> Vec<EditFailure> {
    let now: BTreeMap<usize, usize> =
        applied.iter().map(|placed| (placed.edit, placed.occurrences)).collect();
    let recount = |edit: &ResolvedEdit| {
        let (before, after) = (edit.spans.len(), *now.get(&edit.number)?);
        (before != after).then_some((edit.number, Reason::Recount { before, after }))
    };
    edits.iter().filter_map(recount).collect()
}

/// An operation and its number in the request.
type NumberedOperation<'a> = (usize, &'a Operation);

/// An operation's number in the request, and why it failed.
type EditFailure = (usize, Reason);

fn split_results(results: Vec<Result<ResolvedEdit, EditFailure>>) -> (Vec<ResolvedEdit>, Vec<EditFailure>) {
    let mut edits = Vec::new();
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(edit) => edits.push(edit),
            Err(failure) => failures.push(failure),
        }
    }
    (edits, failures)
}

/// Adds resolved edits of one text to the change.
fn add_edits(
    change: &mut FileChange,
    edits: Vec<ResolvedEdit>,
    newline: NewlineStyle,
    snapshot: &Snapshot,
) -> Vec<EditFailure> {
    match combine(&edits, newline, snapshot) {
        Ok(combined) => {
            change.totals = Some(combined.totals(snapshot));
            change.splices = combined.splices;
            change.edits.extend(combined.placed);
            change.notes.extend(edits.into_iter().flat_map(|edit| edit.notes));
            Vec::new()
        }
        Err(failures) => failures,
    }
}
