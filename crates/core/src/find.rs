//! Stage two: find the one right place for every operation, or say why there is none.
//!
//! Strict first, and ambiguity never descends to a looser rung: a looser rung only matches more.

mod block;
mod clipboard;
mod diagnosis;
mod drift;
mod elision;
mod error;
mod heading;
mod hunk;
mod indentation;
mod inside;
mod merge;
mod place;
mod punctuation;
mod reading;
mod recover;
mod script;
mod search;
mod seats;
mod terrain;
mod text;
mod whole;

use std::collections::BTreeMap;

pub use diagnosis::{Candidate, Cause, Diagnosis};
pub use error::{Failure, Reason, ResolveError};

use crate::change::{Base, ChangeSet, FileChange, LineTotals, PathChange, PlacedEdit};
use crate::path::FilePath;
use crate::plan::{Batch, EditPlan, EditRules, FilePlan, IfMissing, Operation, Overwriting};
use crate::snapshot::{FileContent, FileId, Meta};
use crate::snapshot::{Snapshot, Snapshots};
use place::{place, places_of};
use slipstitch_text::EncodingRule;
use slipstitch_text::Splices;
use text::Answer;

/// Turns a plan into splices, or reports every operation that has no place.
pub fn resolve(plan: &EditPlan, seen: &Snapshots) -> Result<ChangeSet, ResolveError> {
    resolve_with_progress(plan, seen, &mut |_| {})
}

/// The same; `told` hears after each file how many have been looked through.
pub fn resolve_with_progress(
    plan: &EditPlan,
    seen: &Snapshots,
    told: &mut dyn FnMut(usize),
) -> Result<ChangeSet, ResolveError> {
    if plan.clipboards.uses.is_empty() {
        return resolve_filled(plan, seen, told);
    }
    match clipboard::fill(plan, seen) {
        Ok(filled) => {
            Ok(resolve_filled(&filled.plan, seen, told)?.with_clipboards(filled.taken, filled.notes))
        }
        Err(unfilled) => {
            let mut failures =
                resolve_filled(plan, seen, told).map_or_else(|error| error.failures, |_| Vec::new());
            failures.extend(unfilled.failures);
            // An edit without a place takes nothing: say that rather than what follows from it.
            if failures.is_empty() {
                failures = unfilled.consequences;
            }
            failures.sort_by_key(|failure| failure.edit);
            let edits = plan.files.iter().map(|file| file.operations.len()).sum();
            Err(ResolveError { failures, edits })
        }
    }
}

fn resolve_filled(
    plan: &EditPlan,
    seen: &Snapshots,
    told: &mut dyn FnMut(usize),
) -> Result<ChangeSet, ResolveError> {
    let mut files = Vec::new();
    let mut beside = Vec::new();
    let mut failures = same_file_twice(plan, seen);
    let mut edit = 1;
    for (at, file) in plan.files.iter().enumerate() {
        match resolve_file(file, edit, plan.rules, seen) {
            Ok((mut change, other)) => {
                if plan.files.len() > 1 {
                    change.notes.iter_mut().for_each(|note| *note = format!("`{}`: {note}", file.path));
                }
                files.push(change);
                beside.extend(other);
            }
            Err(more) => failures.extend(more),
        }
        edit += file.operations.len();
        told(at + 1);
    }
    // Guards look at changes and the files of the plan side by side.
    files.extend(beside);
    if failures.is_empty() {
        match ChangeSet::new(files) {
            Ok(changes) => return Ok(changes),
            Err(twice) => failures.push(Failure { path: twice.0, edit: None, reason: Reason::PathTwice }),
        }
    }
    Err(ResolveError { failures, edits: edit - 1 })
}

/// Two names for one file would let the second change undo the first.
fn same_file_twice(plan: &EditPlan, seen: &Snapshots) -> Vec<Failure> {
    let mut names: BTreeMap<FileId, &FilePath> = BTreeMap::new();
    let mut failures = Vec::new();
    for file in &plan.files {
        let Some(id) = seen.get(&file.path).and_then(|snapshot| snapshot.meta().id) else { continue };
        if let Some(first) = names.insert(id, &file.path) {
            let reason = Reason::SameFile { other: first.clone() };
            failures.push(Failure { path: file.path.clone(), edit: None, reason });
        }
    }
    failures
}

/// What is to become of a file once its text is as it should be.
#[derive(Default)]
struct Tail<'a> {
    deleted: bool,
    moved: Option<(&'a FilePath, Overwriting)>,
    executable: Option<bool>,
}

/// Parts the operations on a file's text from those that come after them.
fn split_tail(operations: &[Operation]) -> (&[Operation], Tail<'_>) {
    let mut tail = Tail::default();
    let mut rest = operations;
    while let Some((last, before)) = rest.split_last() {
        match last {
            Operation::Move { to, overwriting } if tail.moved.is_none() => {
                tail.moved = Some((to, *overwriting))
            }
            Operation::SetExecutable(executable) => tail.executable = Some(*executable),
            Operation::Delete if matches!(before.last(), Some(Operation::Hunk(_))) => tail.deleted = true,
            _ => break,
        }
        rest = before;
    }
    (rest, tail)
}

/// The change to a file, and the change to another that it is moved over.
fn resolve_file(
    file: &FilePlan,
    first_edit: usize,
    rules: EditRules,
    seen: &Snapshots,
) -> Result<(FileChange, Option<FileChange>), Vec<Failure>> {
    let fail = |edit: usize, reason| vec![Failure { path: file.path.clone(), edit: Some(edit), reason }];
    let (operations, tail) = split_tail(&file.operations);
    let last_edit = first_edit + file.operations.len().saturating_sub(1);
    let snapshot = seen.get(&file.path);
    let mut change = match operations {
        [operation] if whole::is_whole(operation) && tail.moved.is_none() => {
            whole::resolve(operation, &file.path, snapshot, first_edit)
                .map_err(|reason| fail(first_edit, reason))?
        }
        _ => resolve_text(file, operations, first_edit, rules, snapshot)?,
    };
    if tail.deleted
        && let Some(snapshot) = snapshot
    {
        if change.splices.new_len() > snapshot.text_start() {
            return Err(fail(last_edit, Reason::NotAllDeleted));
        }
        let gone = whole::delete(&file.path, last_edit, snapshot);
        change = FileChange { notes: change.notes, ..gone };
    }
    if let Some(executable) = tail.executable {
        set_executable(&mut change, executable, snapshot);
    }
    match tail.moved {
        Some((to, Overwriting::Refused)) if seen.get(to).is_some() => {
            Err(fail(last_edit, Reason::FileExists { path: to.clone() }))
        }
        Some((to, _)) => match (seen.get(to), snapshot) {
            (Some(target), Some(source)) => {
                let over = whole::moved_over(&change, to, source, target);
                let gone = whole::delete(&file.path, last_edit, source);
                Ok((FileChange { notes: change.notes, edits: change.edits, ..gone }, Some(over)))
            }
            _ => {
                change.path_change = PathChange::Move(to.clone());
                Ok((change, None))
            }
        },
        None => Ok((change, None)),
    }
}

/// A new file gets the mode; one that is there only if its own is another.
fn set_executable(change: &mut FileChange, executable: bool, snapshot: Option<&Snapshot>) {
    match snapshot.map(|snapshot| snapshot.meta().mode) {
        None => change.mode = executable.then_some(0o755),
        Some(Some(mode)) if (mode & 0o111 != 0) != executable => change.executable = Some(executable),
        Some(_) => {}
    }
}

fn resolve_text(
    file: &FilePlan,
    operations: &[Operation],
    first_edit: usize,
    rules: EditRules,
    snapshot: Option<&Snapshot>,
) -> Result<FileChange, Vec<Failure>> {
    let fail = |edit: usize, reason| vec![Failure { path: file.path.clone(), edit: Some(edit), reason }];
    if let Some(at) = operations.iter().position(whole::is_whole) {
        return Err(fail(first_edit + at, Reason::NotAlone));
    }
    let absent;
    let (snapshot, base) = match snapshot {
        Some(snapshot) => (snapshot, Base::Content(snapshot.hash())),
        None if !operations.is_empty() && operations.iter().all(makes_file) => {
            absent = Snapshot::new(
                FileContent { bytes: Vec::new().into(), meta: Meta::default() },
                EncodingRule::Detect,
            );
            (&absent, Base::Absent)
        }
        None => {
            let at = operations.iter().position(|operation| !makes_file(operation)).unwrap_or(0);
            return Err(fail(first_edit + at, Reason::FileMissing));
        }
    };
    if snapshot.is_binary() && !operations.is_empty() {
        return Err(fail(first_edit, Reason::Binary));
    }
    edit_text(file, operations, first_edit, rules, snapshot, base)
}

fn makes_file(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Append { if_missing: IfMissing::Create, .. }
            | Operation::Prepend { if_missing: IfMissing::Create, .. }
    )
}

fn edit_text(
    file: &FilePlan,
    operations: &[Operation],
    first_edit: usize,
    rules: EditRules,
    snapshot: &Snapshot,
    base: Base,
) -> Result<FileChange, Vec<Failure>> {
    let mut change = FileChange {
        path: file.path.clone(),
        base,
        path_change: PathChange::Keep,
        splices: Splices::none(snapshot.bytes().len()),
        after: Some(snapshot.hash()),
        mode: snapshot.meta().mode,
        executable: None,
        edits: Vec::new(),
        notes: Vec::new(),
        totals: None,
    };
    let failures = match rules.batch {
        Batch::Original => {
            let (answers, failures) = split(answer_all(operations, first_edit, rules, snapshot));
            if failures.is_empty() { add(&mut change, answers, snapshot) } else { failures }
        }
        Batch::Sequential => in_turn(&mut change, (first_edit..).zip(operations), rules, snapshot),
        Batch::SequentialInOriginal => {
            let (answers, mut failures) = split(answer_all(operations, first_edit, rules, snapshot));
            let placed: Vec<usize> = answers.iter().map(|answer| answer.edit).collect();
            let rest = (first_edit..).zip(operations).filter(|(edit, _)| placed.contains(edit));
            let mut displaced = in_turn(&mut change, rest, rules, snapshot);
            displaced.extend(recounted(&answers, &change.edits));
            failures
                .extend(displaced.into_iter().map(|(edit, why)| (edit, Reason::Displaced(Box::new(why)))));
            failures.sort_by_key(|(edit, _)| *edit);
            change.edits = answers.iter().flat_map(|answer| places_of(answer, snapshot)).collect();
            failures
        }
    };
    if !failures.is_empty() {
        let with_path = |(edit, reason)| Failure { path: file.path.clone(), edit: Some(edit), reason };
        return Err(failures.into_iter().map(with_path).collect());
    }
    change.after = Some(change.splices.hash_after(snapshot.bytes()));
    Ok(change)
}

/// Answers every operation on one text, each for itself; hunks are looked for together.
fn answer_all(
    operations: &[Operation],
    first_edit: usize,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Vec<Result<Answer, Failed>> {
    if operations.iter().any(|operation| matches!(operation, Operation::Hunk(_))) {
        hunk::answer_all(operations, first_edit, rules, snapshot)
    } else {
        text::answer_all(operations, first_edit, rules, snapshot)
    }
}

/// Edits that replace another number of occurrences than the file has.
fn recounted(answers: &[Answer], in_turn: &[PlacedEdit]) -> Vec<Failed> {
    let now = |edit| in_turn.iter().find(|placed| placed.edit == edit).map(|placed| placed.occurrences);
    let recount = |answer: &Answer| {
        let (before, after) = (answer.spans.len(), now(answer.edit)?);
        (before != after).then_some((answer.edit, Reason::Recount { before, after }))
    };
    answers.iter().filter_map(recount).collect()
}

/// Resolves each operation on what the ones before it left. One that fails is passed over, so that
/// the others' failures are found too.
fn in_turn<'a>(
    change: &mut FileChange,
    operations: impl Iterator<Item = (usize, &'a Operation)>,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Vec<(usize, Reason)> {
    let mut failures = Vec::new();
    let mut latest: Option<Snapshot> = None;
    for (edit, operation) in operations {
        let current = latest.as_ref().unwrap_or(snapshot);
        let operation = std::slice::from_ref(operation);
        let (answers, failed) = split(answer_all(operation, edit, rules, current));
        failures.extend(failed);
        let mut step = FileChange { splices: Splices::none(current.bytes().len()), ..change.clone() };
        failures.extend(add(&mut step, answers, current));
        latest = Some(current.successor(step.splices.apply(current.bytes())));
        change.splices = change.splices.then(&step.splices);
        change.edits = step.edits;
        change.notes = step.notes;
    }
    let after = latest.as_ref().unwrap_or(snapshot).line_count();
    change.totals = Some(LineTotals { before: snapshot.line_count(), after });
    failures
}

type Failed = (usize, Reason);

fn split(results: Vec<Result<Answer, Failed>>) -> (Vec<Answer>, Vec<Failed>) {
    let mut answers = Vec::new();
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(answer) => answers.push(answer),
            Err(failure) => failures.push(failure),
        }
    }
    (answers, failures)
}

/// Puts the answers to some operations on one text into the change.
fn add(change: &mut FileChange, answers: Vec<Answer>, snapshot: &Snapshot) -> Vec<Failed> {
    match place(&answers, snapshot) {
        Ok(placement) => {
            change.totals = Some(placement.totals(snapshot));
            change.splices = placement.splices;
            change.edits.extend(placement.placed);
            change.notes.extend(answers.into_iter().flat_map(|answer| answer.notes));
            Vec::new()
        }
        Err(failures) => failures,
    }
}
