//! Which later changes prevent an undo.
//!
//! A later change that touches what the change wrote is one of them, and so is every change that touches what such a change
//! wrote: lines appended one after the other are a chain in which each can only be undone after the next. So the changes
//! found here, undone from the last to the first, make room for the undo.

use crate::engine::history::FileHistory;
use crate::plan::ChangeId;
use crate::ports::journal::{ForeignEdit, RecordedText};
use slipstitch_text::{ContentHash, Span, Splices, diff_splices};

/// A later change of the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Overlap {
    /// The change; `None` for what the journal has no record of: another program, or Slipstitch with another root.
    pub(super) by: Option<ChangeId>,
    /// The places that overlap, in the text where the search ended.
    pub(super) places: Vec<Span>,
}

/// The later changes of a place.
#[derive(Debug, Default)]
pub(super) struct Overlaps {
    /// Oldest first, without those that were undone again.
    pub(super) changes: Vec<Overlap>,
    /// Whether the search reached the current text, so that their places are places in it.
    pub(super) is_complete: bool,
}

/// What was done without a record after the last recorded change, and the text that it led to.
pub(super) struct LastForeignEdit {
    edit: ForeignEdit,
    hash_after: ContentHash,
}

impl LastForeignEdit {
    /// `last` is the text that the last recorded change left, `found` the one that was read.
    pub(super) fn between(last: &[u8], found: &[u8], hash_after: ContentHash) -> Self {
        let edit = ForeignEdit { hash_before: ContentHash::of(last), splices: diff_splices(found, last) };
        Self { edit, hash_after }
    }
}

impl Overlaps {
    /// Those that are in the journal.
    pub(super) fn recorded(&self) -> Vec<ChangeId> {
        self.changes.iter().filter_map(|change| change.by).collect()
    }
}

/// A change while the search goes on.
struct Touching {
    by: Option<ChangeId>,
    /// Everything that it wrote.
    written: Vec<Span>,
    /// For each of these, whether it overlaps what was there before.
    overlaps: Vec<bool>,
}

/// Finds the changes that prevent undoing one that wrote `places` of the text with the hash `left`, from which the
/// history starts. Only the records are needed, so it does not matter whether the texts can be rebuilt; the search ends at a
/// foreign change that was not recorded, or in the text with the hash `now`.
pub(super) fn find_overlaps(
    history: &FileHistory,
    places: Vec<Span>,
    (left, now): (ContentHash, ContentHash),
    last: Option<&LastForeignEdit>,
) -> Overlaps {
    let mut search = Search { place: places, undone: Vec::new(), touching: Vec::new() };
    let mut hash = left;
    let mut is_complete = true;
    for step in &history.steps {
        let record = &step.record;
        let (Some(before), Some(after)) = (record.hash_before(), record.hash_after()) else {
            is_complete = false;
            break;
        };
        let is_reached =
            before == hash || search.pass_foreign_edit((hash, before), record.foreign_edit.as_ref(), last);
        if !is_reached || record.text == RecordedText::Withheld {
            is_complete = false;
            break;
        }
        search.pass(step.by, &step.reverts, &record.inverse.splices);
        hash = after;
    }
    let is_complete = is_complete && (hash == now || search.pass_foreign_edit((hash, now), None, last));
    Overlaps { changes: search.finish(), is_complete }
}

struct Search {
    /// What the change to undo wrote.
    place: Vec<Span>,
    touching: Vec<Touching>,
    /// Undos of changes that were found, each with the change if it is only one.
    undone: Vec<(ChangeId, Option<ChangeId>)>,
}

impl Search {
    /// Goes on past a foreign edit that leads from one text to another, if it is known.
    fn pass_foreign_edit(
        &mut self,
        (from, to): (ContentHash, ContentHash),
        recorded: Option<&ForeignEdit>,
        last: Option<&LastForeignEdit>,
    ) -> bool {
        let last = last.filter(|last| last.hash_after == to).map(|last| &last.edit);
        let known = recorded.into_iter().chain(last).find(|edit| edit.hash_before == from);
        match known {
            Some(edit) => self.pass(None, &[], &edit.splices),
            None => return false,
        }
        true
    }

    /// Goes on past a change; `inverse` reverts it.
    fn pass(&mut self, by: Option<ChangeId>, reverts: &[ChangeId], inverse: &Splices) {
        let written: Vec<Span> = inverse.iter().map(|splice| splice.at).collect();
        let mut overlaps = vec![false; written.len()];
        map_places(&mut self.place, inverse, &mut overlaps);
        for touching in &mut self.touching {
            map_places(&mut touching.written, inverse, &mut overlaps);
        }
        // An undo need not touch the place of what it undoes: where text was removed on both sides of a place and put back
        // later, the place is at one end of that text, and the undo may insert at the other.
        let is_reverted = |other: &Touching| other.by.is_some_and(|by| reverts.contains(&by));
        if self.touching.iter().any(is_reverted) {
            self.touching.retain(|other| !is_reverted(other));
            let only = (reverts.len() == 1).then(|| reverts[0]);
            self.undone.extend(by.map(|by| (by, only)));
        } else if overlaps.contains(&true) {
            // A redo brings back the change that was undone; that one can be undone again.
            let redone =
                self.undone.iter().find(|(undo, _)| reverts == [*undo]).and_then(|(_, change)| *change);
            self.touching.push(Touching { by: redone.or(by), written, overlaps });
        }
    }

    fn finish(self) -> Vec<Overlap> {
        let overlap = |Touching { by, written, overlaps }| {
            let places = written.into_iter().zip(overlaps).filter(|(_, overlaps)| *overlaps);
            Overlap { by, places: places.map(|(place, _)| place).collect() }
        };
        self.touching.into_iter().map(overlap).collect()
    }
}

/// Maps places of the text before a change to the text after it. `inverse` reverts the change; `touches` notes which of its
/// splices touch a place.
fn map_places(places: &mut [Span], inverse: &Splices, touches: &mut [bool]) {
    for place in places {
        // Growth of the text before the place, so far.
        let mut shift = 0isize;
        let (mut start, mut end) = (place.start(), place.end());
        let mut moved_end = 0isize;
        let mut offset = 0isize;
        for (splice, touches) in inverse.iter().zip(touches.iter_mut()) {
            let first = splice.at.start().strict_add_signed(offset);
            let before = Span::new(first, first + splice.insert.len());
            let growth = splice.at.len() as isize - splice.insert.len() as isize;
            offset -= growth;
            *touches |= before.start() <= place.end() && before.end() >= place.start();
            if before.end() <= place.start() {
                shift += growth;
            } else if before.start() < place.end() {
                start = start.min(before.start());
                end = end.max(before.end());
                moved_end += growth;
            }
        }
        let first = start.strict_add_signed(shift);
        *place = Span::new(first, first + (end - start).strict_add_signed(moved_end));
    }
}
