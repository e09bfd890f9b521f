//! Stage two: find the one right place for every operation, or say why there is none.
//!
//! Strict first, and ambiguity never descends to a looser rung: a looser rung only matches more.

mod block;
mod class;
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
pub(crate) mod narrow;
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

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use class::Class;
pub use diagnosis::{Candidate, Cause, Diagnosis};
pub use error::{Failure, Reason, ResolveError};

use crate::change::{Base, ChangeSet, Fate, FileChange, Placed, Splices, Totals};
use crate::path::FilePath;
use crate::plan::{Batch, EditPlan, FilePlan, Manner, Missing, Operation, Over};
use crate::snapshot::{EncodingRule, Snapshot};
use crate::workspace::{FileContent, FileId, Meta};
use place::{place, places_of};
use text::Answer;

/// The files of a plan as they were read; `None` where there is no file.
#[derive(Debug, Default)]
pub struct Snapshots {
    files: BTreeMap<FilePath, Option<Snapshot>>,
    /// Where paths without a file really lead.
    missing: BTreeMap<FilePath, FilePath>,
}

impl Snapshots {
    /// Adds what was found at a path.
    pub fn insert(&mut self, path: FilePath, found: Option<Snapshot>) {
        self.files.insert(path, found);
    }

    /// Adds that there is no file at a path, which really is `real`.
    pub fn insert_missing(&mut self, path: FilePath, real: Option<FilePath>) {
        if let Some(real) = real {
            self.missing.insert(path.clone(), real);
        }
        self.files.insert(path, None);
    }

    /// Where a path really leads: symlinks followed, whether there is a file or not.
    pub fn real<'a>(&'a self, path: &'a FilePath) -> &'a FilePath {
        let file = self.get(path).and_then(|snapshot| snapshot.meta().real.as_ref());
        file.or_else(|| self.missing.get(path)).unwrap_or(path)
    }

    /// The file at a path, if there is one.
    pub fn get(&self, path: &FilePath) -> Option<&Snapshot> {
        self.files.get(path)?.as_ref()
    }

    /// The bytes of the file at a path; none where there is no file.
    pub fn bytes(&self, path: &FilePath) -> &[u8] {
        self.get(path).map_or(&[], Snapshot::bytes)
    }
}

/// The line of an insertion that goes after the last one, whichever that is.
///
/// Callers that take line numbers from outside hand on smaller ones only.
pub const AFTER_THE_LAST_LINE: usize = usize::MAX;

/// Turns a plan into splices, or reports every operation that has no place.
pub fn resolve(plan: &EditPlan, seen: &Snapshots) -> Result<ChangeSet, ResolveError> {
    resolve_telling(plan, seen, &mut |_| {})
}

/// The same; `told` hears after each file how many have been looked through.
pub fn resolve_telling(
    plan: &EditPlan,
    seen: &Snapshots,
    told: &mut dyn FnMut(usize),
) -> Result<ChangeSet, ResolveError> {
    if plan.clips.uses.is_empty() {
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
        match resolve_file(file, edit, plan.manner, seen) {
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
    moved: Option<(&'a FilePath, Over)>,
    executable: Option<bool>,
}

/// Parts the operations on a file's text from those that come after them.
fn split_tail(operations: &[Operation]) -> (&[Operation], Tail<'_>) {
    let mut tail = Tail::default();
    let mut rest = operations;
    while let Some((last, before)) = rest.split_last() {
        match last {
            Operation::Move { to, over } if tail.moved.is_none() => tail.moved = Some((to, *over)),
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
    manner: Manner,
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
        _ => resolve_text(file, operations, first_edit, manner, snapshot)?,
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
        Some((to, Over::Refused)) if seen.get(to).is_some() => {
            Err(fail(last_edit, Reason::FileExists { path: to.clone() }))
        }
        Some((to, _)) => match (seen.get(to), snapshot) {
            (Some(target), Some(source)) => {
                let over = whole::moved_over(&change, to, source, target);
                let gone = whole::delete(&file.path, last_edit, source);
                Ok((FileChange { notes: change.notes, edits: change.edits, ..gone }, Some(over)))
            }
            _ => {
                change.fate = Fate::Moves(to.clone());
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
    manner: Manner,
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
    let operations = with_last_line(operations, snapshot);
    edit_text(file, &operations, first_edit, manner, snapshot, base)
}

fn makes_file(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Append { missing: Missing::Create, .. }
            | Operation::Prepend { missing: Missing::Create, .. }
    )
}

/// The operations with [`AFTER_THE_LAST_LINE`] as the number that it stands for.
fn with_last_line<'a>(operations: &'a [Operation], snapshot: &Snapshot) -> Cow<'a, [Operation]> {
    let at_end = |operation: &Operation| {
        matches!(operation, Operation::InsertLines { after: AFTER_THE_LAST_LINE, .. })
    };
    if !operations.iter().any(at_end) {
        return Cow::Borrowed(operations);
    }
    let count = snapshot.line_count();
    let numbered = |operation: &Operation| match operation {
        Operation::InsertLines { after: AFTER_THE_LAST_LINE, text } => {
            Operation::InsertLines { after: count, text: text.clone() }
        }
        other => other.clone(),
    };
    operations.iter().map(numbered).collect()
}

fn edit_text(
    file: &FilePlan,
    operations: &[Operation],
    first_edit: usize,
    manner: Manner,
    snapshot: &Snapshot,
    base: Base,
) -> Result<FileChange, Vec<Failure>> {
    let mut change = FileChange {
        path: file.path.clone(),
        base,
        fate: Fate::Stays,
        splices: Splices::none(snapshot.bytes().len()),
        after: Some(snapshot.hash()),
        mode: snapshot.meta().mode,
        executable: None,
        edits: Vec::new(),
        notes: Vec::new(),
        totals: None,
    };
    let failures = match manner.batch {
        Batch::Original => {
            let (answers, failures) = split(answer_all(operations, first_edit, manner, snapshot));
            if failures.is_empty() { add(&mut change, answers, snapshot) } else { failures }
        }
        Batch::Sequential => in_turn(&mut change, (first_edit..).zip(operations), manner, snapshot),
        Batch::SequentialInOriginal => {
            let (answers, mut failures) = split(answer_all(operations, first_edit, manner, snapshot));
            let placed: Vec<usize> = answers.iter().map(|answer| answer.edit).collect();
            let rest = (first_edit..).zip(operations).filter(|(edit, _)| placed.contains(edit));
            let mut displaced = in_turn(&mut change, rest, manner, snapshot);
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
    manner: Manner,
    snapshot: &Snapshot,
) -> Vec<Result<Answer, Failed>> {
    if operations.iter().any(|operation| matches!(operation, Operation::Hunk(_))) {
        hunk::answer_all(operations, first_edit, manner, snapshot)
    } else {
        text::answer_all(operations, first_edit, manner, snapshot)
    }
}

/// Edits that replace another number of occurrences than the file has.
fn recounted(answers: &[Answer], in_turn: &[Placed]) -> Vec<Failed> {
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
    manner: Manner,
    snapshot: &Snapshot,
) -> Vec<(usize, Reason)> {
    let mut failures = Vec::new();
    let mut latest: Option<Snapshot> = None;
    for (edit, operation) in operations {
        let current = latest.as_ref().unwrap_or(snapshot);
        let operation = std::slice::from_ref(operation);
        let (answers, failed) = split(answer_all(operation, edit, manner, current));
        failures.extend(failed);
        let mut step = FileChange { splices: Splices::none(current.bytes().len()), ..change.clone() };
        failures.extend(add(&mut step, answers, current));
        latest = Some(current.successor(step.splices.apply(current.bytes())));
        change.splices = change.splices.then(&step.splices);
        change.edits = step.edits;
        change.notes = step.notes;
    }
    let after = latest.as_ref().unwrap_or(snapshot).line_count();
    change.totals = Some(Totals { before: snapshot.line_count(), after });
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
