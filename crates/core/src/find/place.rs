//! From answers to splices: overlaps found, order settled, lines counted.

use super::Failed;
use super::error::Reason;
use super::text::Answer;
use crate::change::{LineTotals, Lines, Place, PlacedEdit};
use crate::snapshot::Snapshot;
use slipstitch_text::{Piece, Span, Splice, Splices};

/// A claimed place and which answer it belongs to.
#[derive(Clone, Copy)]
struct Claim {
    at: Span,
    answer: usize,
}

/// Some answers' splices and the lines they cover.
pub(super) struct Placement {
    pub(super) splices: Splices,
    pub(super) placed: Vec<PlacedEdit>,
    /// How many ends of lines the text gains.
    gained: isize,
}

impl Placement {
    /// How many lines the text has before and after, without building the text after.
    pub(super) fn totals(&self, snapshot: &Snapshot) -> LineTotals {
        let last = match self.splices.pieces().last() {
            Some(Piece::Keep(span)) => span.of(snapshot.bytes()),
            Some(Piece::Insert(bytes)) => bytes,
            None => return LineTotals { before: snapshot.line_count(), after: 0 },
        };
        let ends = |newline| snapshot.encoding().encode(newline).is_ok_and(|bytes| last.ends_with(&bytes));
        let before = snapshot.line_count();
        let newlines = before - usize::from(!snapshot.ends_with_newline());
        let open_end = !ends("\n") && !ends("\r");
        LineTotals { before, after: newlines.strict_add_signed(self.gained) + usize::from(open_end) }
    }
}

/// Puts all answers into one set of splices and says which lines each one covers.
pub(super) fn place(answers: &[Answer], snapshot: &Snapshot) -> Result<Placement, Vec<Failed>> {
    let mut claims: Vec<Claim> = Vec::new();
    for (answer, places) in answers.iter().enumerate() {
        claims.extend(places.spans.iter().map(|&at| Claim { at, answer }));
    }
    // By claimed place and then by order in the request: two insertions that meet at one point keep
    // the order of the text around them, and at the very same place the order given.
    claims.sort_by_key(|claim| (claim.at.start(), claim.at.end(), claim.answer));
    let overlaps = overlaps(&claims, answers, snapshot);
    if !overlaps.is_empty() {
        return Err(overlaps);
    }
    let splices = splices(&claims, answers, snapshot)?;
    let (placed, gained) = places(&claims, answers, snapshot);
    Ok(Placement { splices, placed, gained })
}

fn overlaps(claims: &[Claim], answers: &[Answer], snapshot: &Snapshot) -> Vec<Failed> {
    let mut failures = Vec::new();
    let mut reach: Option<Claim> = None;
    for &claim in claims {
        if let Some(far) = reach
            && far.answer != claim.answer
            && far.at.overlaps(claim.at)
        {
            let pair = [answers[far.answer].edit, answers[claim.answer].edit];
            let (first, second) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            failures
                .push((second, Reason::Overlap { first, second, line: snapshot.line_of(claim.at.start()) }));
        }
        if reach.is_none_or(|far| claim.at.end() >= far.at.end()) {
            reach = Some(claim);
        }
    }
    failures.dedup();
    failures
}

fn splices(claims: &[Claim], answers: &[Answer], snapshot: &Snapshot) -> Result<Splices, Vec<Failed>> {
    let mut list = Vec::new();
    for claim in claims {
        let answer = &answers[claim.answer];
        for part in &answer.parts {
            let start = claim.at.start();
            let view = Span::new(start + part.old.start, start + part.old.end);
            let at = snapshot.raw_span(view).ok_or_else(|| vec![(answer.edit, Reason::SplitsCharacter)])?;
            list.push(Splice { at, insert: part.insert.clone() });
        }
    }
    match in_order(list, snapshot) {
        // Lines that both texts share would meet; written anew they keep apart.
        Err(Reason::JoinsNewlines) => in_order(whole_claims(claims, answers, snapshot)?, snapshot),
        result => result,
    }
    .map_err(|reason| vec![(answers[0].edit, reason)])
}

fn whole_claims(
    claims: &[Claim],
    answers: &[Answer],
    snapshot: &Snapshot,
) -> Result<Vec<Splice>, Vec<Failed>> {
    let whole = |claim: &Claim| {
        let at = snapshot.raw_span(claim.at).ok_or(Reason::SplitsCharacter)?;
        Ok(Splice { at, insert: snapshot.encode(&answers[claim.answer].new)? })
    };
    claims
        .iter()
        .map(|claim| whole(claim).map_err(|reason| vec![(answers[claim.answer].edit, reason)]))
        .collect()
}

/// Orders splices and keeps ends of lines apart: a `\r` that comes to stand before a `\n` would make
/// one end of line out of two. Where one of them is new it is written as `\r\n` instead.
pub(super) fn in_order(list: Vec<Splice>, snapshot: &Snapshot) -> Result<Splices, Reason> {
    let length = snapshot.bytes().len();
    let splices = Splices::new(length, list).map_err(|_| Reason::SplitsCharacter)?;
    if !splices.iter().all(|splice| snapshot.fits_between(splice.at, &splice.insert)) {
        return Err(Reason::SplitsCharacter);
    }
    if snapshot.newlines().cr == 0 {
        return Ok(splices);
    }
    let encoded = |text: &str| snapshot.encoding().encode(text);
    let (cr, lf, crlf) = (encoded("\r")?, encoded("\n")?, encoded("\r\n")?);
    let mut list: Vec<Splice> = splices.iter().cloned().collect();
    for number in 0..list.len() {
        let kept_before = match number.checked_sub(1) {
            Some(previous) if list[previous].at.end() == list[number].at.start() => continue,
            Some(previous) => Span::new(list[previous].at.end(), list[number].at.start()),
            None => Span::new(0, list[number].at.start()),
        };
        // Splices that touch each other are one insertion.
        let touching =
            (number + 1..list.len()).take_while(|&next| list[next - 1].at.end() == list[next].at.start());
        let last = touching.last().unwrap_or(number);
        let until = list.get(last + 1).map_or(length, |next| next.at.start());
        let kept_after = Span::new(list[last].at.end(), until).of(snapshot.bytes());
        let after_cr = kept_before.of(snapshot.bytes()).ends_with(&cr);
        let before_lf = kept_after.starts_with(&lf);
        let filled: Vec<usize> = (number..=last).filter(|&at| !list[at].insert.is_empty()).collect();
        match (filled.first(), filled.last()) {
            (Some(&first), Some(&last)) => {
                if after_cr && list[first].insert.starts_with(&lf) {
                    list[first].insert.splice(..lf.len(), crlf.iter().copied());
                }
                if before_lf && list[last].insert.ends_with(&cr) {
                    list[last].insert.extend_from_slice(&lf);
                }
            }
            _ if after_cr && before_lf => return Err(Reason::JoinsNewlines),
            _ => {}
        }
    }
    Splices::new(length, list).map_err(|_| Reason::SplitsCharacter)
}

/// The lines that one answer covers, other edits left aside.
pub(super) fn places_of(answer: &Answer, snapshot: &Snapshot) -> Vec<PlacedEdit> {
    let claims: Vec<Claim> = answer.spans.iter().map(|&at| Claim { at, answer: 0 }).collect();
    places(&claims, std::slice::from_ref(answer), snapshot).0
}

fn places(claims: &[Claim], answers: &[Answer], snapshot: &Snapshot) -> (Vec<PlacedEdit>, isize) {
    let mut placed: Vec<PlacedEdit> = answers
        .iter()
        .map(|answer| PlacedEdit {
            edit: answer.edit,
            rung: answer.rung,
            differences: answer.classes.clone(),
            occurrences: answer.spans.len(),
            places: Vec::new(),
        })
        .collect();
    let (mut shift, mut shift_after) = (0isize, 0isize);
    for claim in claims {
        let new = &answers[claim.answer].new;
        let newlines = memchr::memchr_iter(b'\n', new.as_bytes()).count();
        let first = snapshot.line_of(claim.at.start());
        let last = snapshot.line_of(claim.at.end());
        shift_after += newlines as isize - (last - first) as isize;
        // A newline that only ends the last line of the file is no line of the new text.
        let ends_last_line = usize::from(claim.at.is_empty() && ends_last_line(claim.at, new, snapshot));
        let (first, last, newlines) =
            (first + ends_last_line, last + ends_last_line, newlines - ends_last_line);
        let to_line_start = claim.at.end() == 0 || snapshot.text()[claim.at.end() - 1] == b'\n';
        let from_line_start = claim.at.start() == 0 || snapshot.text()[claim.at.start() - 1] == b'\n';
        let at_end = claim.at.end() == snapshot.text().len();
        let covered = |lines: usize, ends_line: bool| if ends_line { lines } else { lines + 1 };
        // Without the newline at its end, what is there now runs into the line after it.
        let ends_line = new.ends_with('\n') || (new.is_empty() && from_line_start);
        let joins = to_line_start && !ends_line && !at_end;
        let before = if claim.at.is_empty() { 0 } else { covered(last - first, to_line_start && !joins) };
        let after = match new.is_empty() {
            true if claim.at.is_empty() => 0,
            true => usize::from(!(from_line_start && (to_line_start || at_end))),
            // What is left of the last line stands in a line of its own after a newline.
            false => covered(newlines, new.ends_with('\n') && (to_line_start || at_end)),
        };
        let list = &mut placed[claim.answer].places;
        if list.len() < PlacedEdit::MAX_PLACES {
            let before = Lines { start: first, count: before };
            list.push(Place { before, after: Lines { start: first.strict_add_signed(shift), count: after } });
        }
        shift = shift_after;
    }
    (placed, shift)
}

/// Whether an insertion starts by ending the last line, which had no newline, and goes on.
fn ends_last_line(at: Span, new: &str, snapshot: &Snapshot) -> bool {
    let open_end = at.start() > 0 && at.start() == snapshot.text().len() && !snapshot.ends_with_newline();
    open_end && new.len() > 1 && new.starts_with('\n')
}
