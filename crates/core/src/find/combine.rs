//! Combines resolved edits into splices: checks for overlaps, orders them, and counts lines.

use super::EditFailure;
use super::error::Reason;
use super::resolved_edit::{ResolvedEdit, encode_at};
use crate::change::{LineTotals, Lines, Place, PlacedEdit};
use crate::plan::NewlineStyle;
use crate::snapshot::Snapshot;
use slipstitch_text::{Piece, Span, Splice, Splices};

/// A line ending takes no more bytes in any encoding.
const MAX_NEWLINE_BYTES: usize = 8;

/// A claimed span and the index of its edit.
#[derive(Clone, Copy)]
struct Claim {
    at: Span,
    edit: usize,
    /// The index of the span among those of its edit.
    span: usize,
}

/// The splices of some edits, and the lines they cover.
pub(super) struct Combined {
    pub(super) splices: Splices,
    pub(super) placed: Vec<PlacedEdit>,
    /// How many line endings the text gains.
    newlines_gained: isize,
}

impl Combined {
    /// Line counts before and after, computed without building the new text.
    pub(super) fn totals(&self, snapshot: &Snapshot) -> LineTotals {
        let last = match self.splices.pieces().last() {
            Some(Piece::Keep(span)) => {
                let from = span.start().max(span.end().saturating_sub(MAX_NEWLINE_BYTES));
                snapshot.bytes_in(Span::new(from, span.end()))
            }
            Some(Piece::Insert(bytes)) => bytes.into(),
            None => return LineTotals { before: snapshot.line_count(), after: 0 },
        };
        let ends = |newline| snapshot.encoding().encode(newline).is_ok_and(|bytes| last.ends_with(&bytes));
        let before = snapshot.line_count();
        let newlines = before - usize::from(!snapshot.ends_with_newline());
        let lacks_newline = !ends("\n") && !ends("\r");
        LineTotals {
            before,
            after: newlines.strict_add_signed(self.newlines_gained) + usize::from(lacks_newline),
        }
    }
}

/// Combines edits of one text into one set of splices.
pub(super) fn combine(
    edits: &[ResolvedEdit],
    newline: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<Combined, Vec<EditFailure>> {
    let mut claims: Vec<Claim> = Vec::with_capacity(edits.iter().map(|places| places.spans.len()).sum());
    for (edit, places) in edits.iter().enumerate() {
        claims.extend(places.spans.iter().enumerate().map(|(span, &at)| Claim { at, edit, span }));
    }
    // Sorted by position, then by order in the request: adjacent insertions follow the text around them, and
    // insertions at the same position keep the order given. In an empty file, what belongs to the beginning precedes
    // what belongs to the end.
    let anchor = |claim: &Claim| edits[claim.edit].anchor;
    claims.sort_by_key(|claim| (claim.at.start(), claim.at.end(), anchor(claim), claim.edit));
    let overlaps = overlaps(&claims, edits, snapshot);
    if !overlaps.is_empty() {
        return Err(overlaps);
    }
    let splices = splices(&claims, edits, newline, snapshot)?;
    let (placed, newlines_gained) = covered_lines(&claims, edits, snapshot);
    Ok(Combined { splices, placed, newlines_gained })
}

fn overlaps(claims: &[Claim], edits: &[ResolvedEdit], snapshot: &Snapshot) -> Vec<EditFailure> {
    let mut failures = Vec::new();
    let mut reach: Option<Claim> = None;
    for &claim in claims {
        if let Some(far) = reach
            && far.edit != claim.edit
            && far.at.overlaps(claim.at)
        {
            let pair = [edits[far.edit].number, edits[claim.edit].number];
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

fn splices(
    claims: &[Claim],
    edits: &[ResolvedEdit],
    newline: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<Splices, Vec<EditFailure>> {
    let parts_of = |claim: &Claim| edits[claim.edit].parts.of_span(claim.span);
    let mut list = Vec::with_capacity(claims.iter().map(|claim| parts_of(claim).len()).sum());
    for claim in claims {
        let edit = &edits[claim.edit];
        for part in parts_of(claim) {
            let start = claim.at.start();
            let view = Span::new(start + part.old.start, start + part.old.end);
            let at = snapshot.raw_span(view).ok_or_else(|| vec![(edit.number, Reason::SplitsCharacter)])?;
            list.push(Splice { at, insert: part.insert.clone() });
        }
    }
    match ordered_splices(list, snapshot) {
        // A pure deletion would bring a `\r` and a `\n` together; rewriting the whole claims keeps them apart.
        Err(Reason::JoinsNewlines) => {
            ordered_splices(whole_claims(claims, edits, newline, snapshot)?, snapshot)
        }
        result => result,
    }
    .map_err(|reason| vec![(edits[0].number, reason)])
}

fn whole_claims(
    claims: &[Claim],
    edits: &[ResolvedEdit],
    newline: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<Vec<Splice>, Vec<EditFailure>> {
    let whole = |claim: &Claim| {
        let at = snapshot.raw_span(claim.at).ok_or(Reason::SplitsCharacter)?;
        Ok(Splice { at, insert: encode_at(&edits[claim.edit].new, claim.at, newline, snapshot)? })
    };
    claims
        .iter()
        .map(|claim| whole(claim).map_err(|reason| vec![(edits[claim.edit].number, reason)]))
        .collect()
}

/// Sorts splices and keeps line endings apart: a `\r` followed by a `\n` would turn two line endings into one. If
/// one of the two is new, it is written as `\r\n` instead.
pub(super) fn ordered_splices(list: Vec<Splice>, snapshot: &Snapshot) -> Result<Splices, Reason> {
    let length = snapshot.byte_len();
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
        // Adjacent splices count as one insertion.
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
                    list[first].insert = [&crlf, &list[first].insert[lf.len()..]].concat().into();
                }
                if before_lf && list[last].insert.ends_with(&cr) {
                    list[last].insert = [&list[last].insert, &lf[..]].concat().into();
                }
            }
            _ if after_cr && before_lf => return Err(Reason::JoinsNewlines),
            _ => {}
        }
    }
    Splices::new(length, list).map_err(|_| Reason::SplitsCharacter)
}

/// The lines that one edit covers, ignoring other edits.
pub(super) fn lines_covered_by(edit: &ResolvedEdit, snapshot: &Snapshot) -> Vec<PlacedEdit> {
    let claims: Vec<Claim> =
        edit.spans.iter().enumerate().map(|(span, &at)| Claim { at, edit: 0, span }).collect();
    covered_lines(&claims, std::slice::from_ref(edit), snapshot).0
}

/// The lines that each edit covers before and after, and how many line endings the text gains.
fn covered_lines(claims: &[Claim], edits: &[ResolvedEdit], snapshot: &Snapshot) -> (Vec<PlacedEdit>, isize) {
    let mut placed: Vec<PlacedEdit> = edits
        .iter()
        .map(|edit| PlacedEdit {
            edit: edit.number,
            rung: edit.rung,
            differences: edit.classes.clone(),
            occurrences: edit.spans.len(),
            places: Vec::new(),
        })
        .collect();
    let (mut shift, mut shift_after) = (0isize, 0isize);
    for claim in claims {
        let new = &edits[claim.edit].new;
        let newlines = memchr::memchr_iter(b'\n', new.as_bytes()).count();
        if placed[claim.edit].places.len() == PlacedEdit::MAX_PLACES {
            let removed = memchr::memchr_iter(b'\n', &snapshot.text_in(claim.at)).count();
            shift_after += newlines as isize - removed as isize;
            shift = shift_after;
            continue;
        }
        let first = snapshot.line_of(claim.at.start());
        let last = snapshot.line_of(claim.at.end());
        shift_after += newlines as isize - (last - first) as isize;
        // A newline that only terminates the file's last line does not start a line of the new text.
        let ends_last_line = usize::from(claim.at.is_empty() && ends_last_line(claim.at, new, snapshot));
        let (first, last, newlines) =
            (first + ends_last_line, last + ends_last_line, newlines - ends_last_line);
        let is_line_start = |at: usize| snapshot.byte_before(at).is_none_or(|byte| byte == b'\n');
        let to_line_start = is_line_start(claim.at.end());
        let from_line_start = is_line_start(claim.at.start());
        let at_end = claim.at.end() == snapshot.text_len();
        let covered = |lines: usize, ends_line: bool| if ends_line { lines } else { lines + 1 };
        // Without a final newline the new text is joined with the next line.
        let ends_line = new.ends_with('\n') || (new.is_empty() && from_line_start);
        let joins = to_line_start && !ends_line && !at_end;
        let before = if claim.at.is_empty() { 0 } else { covered(last - first, to_line_start && !joins) };
        let after = match new.is_empty() {
            true if claim.at.is_empty() => 0,
            true => usize::from(!(from_line_start && (to_line_start || at_end))),
            // After a newline, the rest of the last replaced line becomes a separate line.
            false => covered(newlines, new.ends_with('\n') && (to_line_start || at_end)),
        };
        let before = Lines { start: first, count: before };
        let after = Lines { start: first.strict_add_signed(shift), count: after };
        placed[claim.edit].places.push(Place { before, after });
        shift = shift_after;
    }
    (placed, shift)
}

/// Whether an insertion starts by terminating the last line, which had no newline, and adds more text.
fn ends_last_line(at: Span, new: &str, snapshot: &Snapshot) -> bool {
    let lacks_newline = at.start() > 0 && at.start() == snapshot.text_len() && !snapshot.ends_with_newline();
    lacks_newline && new.len() > 1 && new.starts_with('\n')
}
