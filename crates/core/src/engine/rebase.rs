//! Rebases an edit that was made for an earlier version of a file.
//!
//! The edit is resolved on the text that it was made for, so that line numbers and places mean what they meant there. Then
//! its splices are carried over the later changes. These come from the journal; or, if the version is only known because
//! it was shown to the caller or is in version control, from a line diff. If the version is not known, or if the edit and a
//! later change touch, the edit is refused as stale. An edit by line numbers is carried over if its lines have not changed.

mod lines;

use super::Engine;
use crate::cancel::CancelToken;
use crate::change::{Base, ChangeSet, FileChange, LineTotals, Lines, Place};
use crate::engine::history::{EarlierVersion, find_version};
use crate::find::{EarlierVersions, resolve, resolve_with_evidence};
use crate::guard::stale;
use crate::outcome::Refused;
use crate::path::FilePath;
use crate::plan::{Choice, EditPlan, FilePlan, IfStale, Operation, Which};
use crate::ports::versions::{KnownVersion, VersionSource};
use crate::report::Report;
use crate::snapshot::{FileContent, Snapshot, Snapshots};
use lines::{Sides, carry_over_lines, names_lines};
use slipstitch_text::rebase::{carry_over_splices, map_span};
use slipstitch_text::{ContentHash, Span, Splices, VersionClaim, diff_splices};

/// A plan that was made for earlier versions of its files, rebased onto the current ones.
pub(super) struct RebasedPlan {
    /// The plan, without the outdated versions.
    pub(super) plan: EditPlan,
    /// Its changes to the current files.
    pub(super) changes: ChangeSet,
}

impl Engine<'_> {
    /// Rebases a plan onto the current files; `None` if no file is stale, or if it cannot be done.
    pub(super) fn rebase_stale_plan(
        &self,
        plan: &EditPlan,
        snapshots: &Snapshots,
    ) -> Result<Option<RebasedPlan>, Report> {
        let staleness = |file: &FilePlan| {
            let claim = file.version.as_ref()?;
            stale::check_version(claim, &file.path, snapshots.get(&file.path))
        };
        let is_partial = plan.files.iter().flat_map(|file| &file.operations).all(changes_part_of_text);
        let can_rebase =
            plan.rules.if_stale == IfStale::Rebase && !matches!(plan.choice, Choice::Taken(_)) && is_partial;
        if !can_rebase || plan.files.iter().all(|file| staleness(file).is_none()) {
            return Ok(None);
        }
        self.check_may_take_long()?;
        let mut old_snapshots = Snapshots::default();
        let mut versions = Vec::new();
        for file in &plan.files {
            let current = snapshots.get(&file.path);
            match (staleness(file), current) {
                (None, _) => {
                    versions.push(None);
                    old_snapshots
                        .insert(file.path.clone(), current.map(|now| now.successor(now.bytes().to_vec())));
                }
                (Some(_), Some(now)) => {
                    let Some((snapshot, earlier)) = self.named_version(file, now)? else { return Ok(None) };
                    old_snapshots.insert(file.path.clone(), Some(snapshot));
                    versions.push(Some(earlier));
                }
                (Some(_), None) => return Ok(None),
            }
        }
        if quotes_enough(plan) {
            let named = NamedVersions { plan, versions: &versions };
            return Ok(place_by_quotation(plan, snapshots, &named));
        }
        if self.judge().check_plan(plan, &old_snapshots).is_err() {
            return Ok(None);
        }
        let Ok(changes) = resolve(plan, &old_snapshots) else { return Ok(None) };
        Ok(rebase_changes(plan, &changes, &versions, &old_snapshots, snapshots))
    }

    /// Refuses a plan whose abbreviated version could be more than one known version of a file.
    pub(super) fn check_abbreviations(&self, plan: &EditPlan, snapshots: &Snapshots) -> Result<(), Report> {
        for file in &plan.files {
            let (Some(claim), Some(now)) = (&file.version, snapshots.get(&file.path)) else { continue };
            if !claim.may_be_ambiguous() {
                continue;
            }
            self.check_may_take_long()?;
            let earlier = self.known_versions(&file.path, now);
            let is_named = |bytes: &[u8]| claim.matches(ContentHash::of(bytes), bytes);
            let named = earlier.iter().filter(|version| is_named(&version.bytes)).count();
            if named + usize::from(is_named(now.bytes())) > 1 {
                let message = format!("`{claim}` is the start of more than one version of `{}`", file.path);
                return Err(Report::new(Refused::StaleFile, message)
                    .hint("Nothing was written. Send more digits of the version."));
            }
        }
        Ok(())
    }

    /// The version of a file that a plan names, if it is known.
    fn named_version(
        &self,
        file: &FilePlan,
        now: &Snapshot,
    ) -> Result<Option<(Snapshot, EarlierVersion)>, Report> {
        let Some(claim) = &file.version else { return Ok(None) };
        let Some(earlier) = self.find_earlier_version(&file.path, now, claim)? else { return Ok(None) };
        let content = FileContent { bytes: earlier.bytes.clone().into(), meta: now.meta().clone() };
        let snapshot = Snapshot::new(content, self.encoding);
        // The new text is encoded for the earlier version, so both must have the same encoding.
        let same_encoding = snapshot.encoding() == now.encoding() && snapshot.has_bom() == now.has_bom();
        Ok((same_encoding && !now.is_binary()).then_some((snapshot, earlier)))
    }

    /// The version of a file that `claim` names: rebuilt from the journal, or known from elsewhere.
    pub(super) fn find_earlier_version(
        &self,
        path: &FilePath,
        now: &Snapshot,
        claim: &VersionClaim,
    ) -> Result<Option<EarlierVersion>, Report> {
        let real = now.meta().real.as_ref().unwrap_or(path);
        let recorded = find_version(self.journal, real, now.bytes(), now.hash(), claim)?;
        Ok(recorded.or_else(|| self.find_known_version(path, now, claim)))
    }

    /// A version that the journal does not lead to.
    fn find_known_version(
        &self,
        path: &FilePath,
        now: &Snapshot,
        claim: &VersionClaim,
    ) -> Option<EarlierVersion> {
        let mut known = self.known_versions(path, now).into_iter();
        let found = known.find(|version| claim.matches(ContentHash::of(&version.bytes), &version.bytes))?;
        let since = diff_splices(&found.bytes, now.bytes());
        Some(EarlierVersion { bytes: found.bytes, since, steps: Vec::new() })
    }
}

/// Whether every edit of a plan quotes enough text to prove its place. A line diff alone could confuse it with a twin.
fn quotes_enough(plan: &EditPlan) -> bool {
    const MIN_LETTERS: usize = 12;
    plan.files.iter().flat_map(|file| &file.operations).all(|operation| match operation {
        Operation::Replace { old, which: Which::Unique | Which::UniqueLines, .. } => {
            old.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_LETTERS
        }
        _ => false,
    })
}

/// The versions that a plan names.
struct NamedVersions<'v> {
    plan: &'v EditPlan,
    versions: &'v [Option<EarlierVersion>],
}

impl EarlierVersions for NamedVersions<'_> {
    fn of(&self, path: &FilePath, _: &Snapshot) -> Vec<KnownVersion> {
        let named = self.plan.files.iter().zip(self.versions).find(|(file, _)| file.path == *path);
        let version = named.and_then(|(_, version)| version.as_ref());
        let known = |version: &EarlierVersion| KnownVersion {
            bytes: version.bytes.clone(),
            source: VersionSource::Shown,
        };
        version.map(known).into_iter().collect()
    }
}

/// The plan on the current files: where its texts are exactly once, or where the named versions lead.
fn place_by_quotation(
    plan: &EditPlan,
    snapshots: &Snapshots,
    named: &NamedVersions<'_>,
) -> Option<RebasedPlan> {
    let mut plan = plan.clone();
    plan.files.iter_mut().for_each(|file| file.version = None);
    let changes =
        resolve_with_evidence(&plan, snapshots, named, &CancelToken::default(), &mut |_| {}).ok()?;
    Some(RebasedPlan { plan, changes })
}

/// Whether an operation changes part of a file's text. One that replaces or moves the whole file claims to know all of
/// its current text, so it is never rebased.
fn changes_part_of_text(operation: &Operation) -> bool {
    match operation {
        Operation::Replace { .. }
        | Operation::ReplaceLines { .. }
        | Operation::InsertLines { .. }
        | Operation::Append { .. }
        | Operation::Prepend { .. }
        | Operation::Hunk(_) => true,
        Operation::ReplaceAt { .. }
        | Operation::HunkAt { .. }
        | Operation::Sketch(_)
        | Operation::Cell(_)
        | Operation::Create { .. }
        | Operation::Overwrite { .. }
        | Operation::Fill { .. }
        | Operation::Delete
        | Operation::Move { .. }
        | Operation::SetExecutable(_) => false,
    }
}

fn rebase_changes(
    plan: &EditPlan,
    changes: &ChangeSet,
    versions: &[Option<EarlierVersion>],
    old_snapshots: &Snapshots,
    snapshots: &Snapshots,
) -> Option<RebasedPlan> {
    let mut files = Vec::new();
    for (change, earlier) in changes.files().iter().zip(versions.iter().chain(std::iter::repeat(&None))) {
        files.push(match (earlier, old_snapshots.get(&change.path), snapshots.get(&change.path)) {
            (Some(earlier), Some(old), Some(now)) => {
                let sides =
                    Sides { mine: &change.splices, theirs: &earlier.since, steps: &earlier.steps, old, now };
                let operations = plan.files.iter().find(|file| file.path == change.path);
                let splices = match operations.map(|file| &file.operations[..]) {
                    Some(operations) if operations.iter().all(names_lines) => {
                        carry_over_lines(operations, &sides)?
                    }
                    _ => carry_over_splices(sides.mine, sides.theirs).ok()?,
                };
                let rebased = rebase_file(change, splices, earlier, old, now);
                if plan.anchors.is_empty() { rebased } else { with_note_for_anchors(change, rebased) }
            }
            _ => change.clone(),
        });
    }
    let rebased = ChangeSet::new(files).ok()?;
    let rebased = rebased.with_clipboards(changes.clipboards().clone(), changes.notes().to_vec());
    let mut plan = plan.clone();
    for (file, _) in plan.files.iter_mut().zip(versions).filter(|(_, earlier)| earlier.is_some()) {
        file.version = None;
    }
    Some(RebasedPlan { plan, changes: rebased })
}

/// Anchors identify the version they are from, so the caller needs a note only if lines have moved.
fn with_note_for_anchors(change: &FileChange, rebased: FileChange) -> FileChange {
    let places = |file: &FileChange| -> Vec<Place> {
        file.edits.iter().flat_map(|edit| edit.places.clone()).collect()
    };
    let mut notes = change.notes.clone();
    if places(change) != places(&rebased) {
        notes.push("lines have moved since they were shown; these numbers are the current ones".into());
    }
    FileChange { notes, ..rebased }
}

/// Turns a change of an earlier version into one of the current version, given the carried-over splices.
pub(super) fn rebase_file(
    change: &FileChange,
    splices: Splices,
    earlier: &EarlierVersion,
    old: &Snapshot,
    now: &Snapshot,
) -> FileChange {
    let mut notes = change.notes.clone();
    notes.push(format!(
        "`{}` changed since version {}: the edit was made for that version and carried over to the current one",
        change.path,
        old.hash().short()
    ));
    let mut edits = change.edits.clone();
    for place in edits.iter_mut().flat_map(|edit| &mut edit.places) {
        *place = shift_place(*place, change, &splices, earlier, [old, now]);
    }
    let gained = change.totals.map(|totals| totals.after as isize - totals.before as isize);
    let before = now.line_count();
    FileChange {
        path: change.path.clone(),
        base: Base::Content(now.hash()),
        path_change: change.path_change.clone(),
        after: Some(splices.hash_after(now.bytes())),
        splices,
        mode: now.meta().mode,
        executable: change.executable,
        restore: Default::default(),
        edits,
        notes,
        totals: gained.map(|gained| LineTotals { before, after: before.saturating_add_signed(gained) }),
    }
}

/// The current lines of an edit's place.
fn shift_place(
    place: Place,
    change: &FileChange,
    carried: &Splices,
    earlier: &EarlierVersion,
    [old, now]: [&Snapshot; 2],
) -> Place {
    let line = old.raw_span(old.line_span(place.before.start)).unwrap_or(Span::new(0, 0));
    // A later change of the same line, before the edit, moves the edit but not the start of the line. So follow the edit.
    let is_in_line = |at: usize| line.start() <= at && at <= line.end();
    let mine = change.splices.iter().enumerate().find(|(_, splice)| is_in_line(splice.at.start()));
    let at = mine.map_or(line.start(), |(_, splice)| splice.at.start());
    // Splices that are on both sides are not carried over, so the others cannot be paired by order.
    let is_complete = change.splices.iter().len() == carried.iter().len();
    let carried = mine.filter(|_| is_complete).and_then(|(index, _)| carried.iter().nth(index));
    let at_now =
        carried.map_or_else(|| map_span(&earlier.since, Span::new(at, at)).end(), |splice| splice.at.start());
    let line_at =
        |snapshot: &Snapshot, raw: usize| snapshot.line_of(snapshot.view_span(Span::new(raw, raw)).start());
    let shift = line_at(now, at_now) as isize - line_at(old, at) as isize;
    let shifted = |lines: Lines| Lines { start: lines.start.saturating_add_signed(shift), ..lines };
    Place { before: shifted(place.before), after: shifted(place.after) }
}
