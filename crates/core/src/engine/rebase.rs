//! An edit for a version that the file has no more, carried over what was done since.
//!
//! The edit is resolved on the text that it was made for, so that line numbers and places mean what they meant there.
//! Then its splices are carried over the later changes. Where the journal does not know the version, or both touch, the
//! file is stale.

use super::Engine;
use crate::change::{Base, ChangeSet, FileChange, LineTotals, Lines, Place};
use crate::engine::history;
use crate::engine::history::Earlier;
use crate::find::resolve;
use crate::guard;
use crate::guard::stale;
use crate::plan::{Choice, EditPlan, FilePlan, IfStale, Operation};
use crate::report::Report;
use crate::snapshot::FileContent;
use crate::snapshot::Snapshot;
use crate::snapshot::Snapshots;
use slipstitch_text::Span;
use slipstitch_text::rebase::{carry_over_splices, map_span};

/// A plan whose files are not the versions that it was made for.
pub(super) struct Carried {
    /// The plan for the files as they are: without the versions that they do not have.
    pub(super) plan: EditPlan,
    /// What it does to them.
    pub(super) changes: ChangeSet,
}

impl Engine<'_> {
    /// The plan carried over to what the files have now; nothing if no file is stale, or if it cannot be done.
    pub(super) fn carried(&self, plan: &EditPlan, seen: &Snapshots) -> Result<Option<Carried>, Report> {
        let outdated = |file: &FilePlan| {
            let claim = file.version.as_ref()?;
            stale::differs(claim, &file.path, seen.get(&file.path))
        };
        let of_text = plan.files.iter().flat_map(|file| &file.operations).all(is_of_text);
        let able =
            plan.rules.if_stale == IfStale::Rebase && !matches!(plan.choice, Choice::Taken(_)) && of_text;
        if !able || plan.files.iter().all(|file| outdated(file).is_none()) {
            return Ok(None);
        }
        let mut then = Snapshots::default();
        let mut known = Vec::new();
        for file in &plan.files {
            let current = seen.get(&file.path);
            match (outdated(file), current) {
                (None, _) => {
                    known.push(None);
                    then.insert(file.path.clone(), current.map(|now| now.successor(now.bytes().to_vec())));
                }
                (Some(_), Some(now)) => {
                    let Some((snapshot, earlier)) = self.version_of(file, now)? else { return Ok(None) };
                    then.insert(file.path.clone(), Some(snapshot));
                    known.push(Some(earlier));
                }
                (Some(_), None) => return Ok(None),
            }
        }
        if guard::admit(self.guards, plan, &then, self.policy).is_err() {
            return Ok(None);
        }
        let Ok(changes) = resolve(plan, &then) else { return Ok(None) };
        Ok(carry_all(plan, &changes, &known, &then, seen))
    }

    /// The version of a file that a plan names, if the journal leads there.
    fn version_of(&self, file: &FilePlan, now: &Snapshot) -> Result<Option<(Snapshot, Earlier)>, Report> {
        let Some(claim) = &file.version else { return Ok(None) };
        let home = now.meta().real.as_ref().unwrap_or(&file.path);
        let Some(earlier) = history::version(self.journal, home, now.bytes(), now.hash(), claim)? else {
            return Ok(None);
        };
        let content = FileContent { bytes: earlier.bytes.clone().into(), meta: now.meta().clone() };
        let snapshot = Snapshot::new(content, self.encoding);
        // New text is written in the encoding of the text that it was made for.
        let alike = snapshot.encoding() == now.encoding() && snapshot.has_bom() == now.has_bom();
        Ok((alike && !now.is_binary()).then_some((snapshot, earlier)))
    }
}

/// Whether an operation is about part of a file's text: to replace or move all of a file is to know all of it.
fn is_of_text(operation: &Operation) -> bool {
    match operation {
        Operation::Replace { .. }
        | Operation::ReplaceLines { .. }
        | Operation::InsertLines { .. }
        | Operation::Append { .. }
        | Operation::Prepend { .. }
        | Operation::Hunk(_) => true,
        Operation::ReplaceAt { .. }
        | Operation::Create { .. }
        | Operation::Overwrite { .. }
        | Operation::Fill { .. }
        | Operation::Delete
        | Operation::Move { .. }
        | Operation::SetExecutable(_) => false,
    }
}

fn carry_all(
    plan: &EditPlan,
    changes: &ChangeSet,
    known: &[Option<Earlier>],
    then: &Snapshots,
    seen: &Snapshots,
) -> Option<Carried> {
    let mut files = Vec::new();
    for (change, earlier) in changes.files().iter().zip(known.iter().chain(std::iter::repeat(&None))) {
        files.push(match (earlier, then.get(&change.path), seen.get(&change.path)) {
            (Some(earlier), Some(old), Some(now)) => carry_file(change, earlier, old, now)?,
            _ => change.clone(),
        });
    }
    let carried = ChangeSet::new(files).ok()?;
    let carried = carried.with_clipboards(changes.clipboards().clone(), changes.notes().to_vec());
    let mut plan = plan.clone();
    for (file, _) in plan.files.iter_mut().zip(known).filter(|(_, earlier)| earlier.is_some()) {
        file.version = None;
    }
    Some(Carried { plan, changes: carried })
}

fn carry_file(change: &FileChange, earlier: &Earlier, old: &Snapshot, now: &Snapshot) -> Option<FileChange> {
    let splices = carry_over_splices(&change.splices, &earlier.later).ok()?;
    let mut notes = change.notes.clone();
    notes.push(format!(
        "`{}` changed since version {}: the edit was made for that version and carried over",
        change.path,
        old.hash()
    ));
    let mut edits = change.edits.clone();
    for place in edits.iter_mut().flat_map(|edit| &mut edit.places) {
        *place = moved(*place, change, earlier, old, now);
    }
    let gained = change.totals.map(|totals| totals.after as isize - totals.before as isize);
    let before = now.line_count();
    Some(FileChange {
        path: change.path.clone(),
        base: Base::Content(now.hash()),
        path_change: change.path_change.clone(),
        after: Some(splices.hash_after(now.bytes())),
        splices,
        mode: now.meta().mode,
        executable: change.executable,
        edits,
        notes,
        totals: gained.map(|gained| LineTotals { before, after: before.saturating_add_signed(gained) }),
    })
}

/// Where the lines of an edit are now.
fn moved(place: Place, change: &FileChange, earlier: &Earlier, old: &Snapshot, now: &Snapshot) -> Place {
    let line = old.raw_span(old.line_span(place.before.start)).unwrap_or(Span::new(0, 0));
    // What was done since to the same line, before the edit, moves the edit and not the line's start.
    let within = |at: usize| line.start() <= at && at <= line.end();
    let at = change.splices.iter().map(|splice| splice.at.start()).find(|&at| within(at));
    let at = at.unwrap_or(line.start());
    let here = map_span(&earlier.later, Span::new(at, at)).end();
    let line_at =
        |snapshot: &Snapshot, raw: usize| snapshot.line_of(snapshot.view_span(Span::new(raw, raw)).start());
    let by = line_at(now, here) as isize - line_at(old, at) as isize;
    let shifted = |lines: Lines| Lines { start: lines.start.saturating_add_signed(by), ..lines };
    Place { before: shifted(place.before), after: shifted(place.after) }
}
