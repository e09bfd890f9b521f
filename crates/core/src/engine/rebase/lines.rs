//! Carries edits that name lines over later changes.
//!
//! An edit that quotes text may depend on the text next to it: if both sides changed neighbouring text, no result is right for
//! both. An edit that names lines depends on those lines only. "Replace line 5" means the same after somebody changed line 4, and
//! "insert after line 5" means directly after it, whatever was inserted there since. On the other hand, every line of "replace
//! lines 5 to 9" must be as it was, including those that the replacement repeats.

use crate::plan::{InsertAfter, Operation};
use crate::snapshot::Snapshot;
use slipstitch_text::{Span, Splice, Splices};

/// The changes on both sides.
pub(super) struct Sides<'s> {
    /// The edit, made for `old`.
    pub(super) mine: &'s Splices,
    /// The changes to `old` since.
    pub(super) theirs: &'s Splices,
    /// `theirs`, one entry per change; empty if only the outcome is known.
    pub(super) steps: &'s [Splices],
    pub(super) old: &'s Snapshot,
    pub(super) now: &'s Snapshot,
}

/// Whether an operation names lines by their numbers.
pub(super) fn names_lines(operation: &Operation) -> bool {
    matches!(operation, Operation::ReplaceLines { .. } | Operation::InsertLines { .. })
}

/// The edit's splices for the current text. `None` if the lines that the operations name have changed, or may have.
pub(super) fn carry_over_lines(operations: &[Operation], sides: &Sides<'_>) -> Option<Splices> {
    let named = operations.iter().map(|operation| NamedLines::of(operation, sides.old));
    let named: Vec<NamedLines> = named.collect::<Option<_>>()?;
    let Sides { mine, theirs, steps, old, now } = *sides;
    let at_once =
        || named.iter().map(|lines| lines.shift(mine, theirs, [old, now])).collect::<Option<Vec<_>>>();
    // Changes of neighbouring lines merge into one, which is more likely to contain an equal line.
    let shifts = at_once().or_else(|| shift_by_steps(&named, steps, old))?;
    let mut list = Vec::new();
    for splice in mine.iter().filter(|splice| !contains(theirs, splice)) {
        let mut own =
            named.iter().zip(&shifts).filter(|(lines, _)| lines.has(splice)).map(|(_, shift)| *shift);
        let shift = own.next()?;
        // An insertion between two named ranges may belong to either.
        if own.any(|other| other != shift) {
            return None;
        }
        list.push(shift_splice(splice, shift));
    }
    Splices::new(theirs.new_len(), list).ok()
}

/// How far each of the lines has moved, tracked through the changes one by one.
fn shift_by_steps(named: &[NamedLines], steps: &[Splices], old: &Snapshot) -> Option<Vec<isize>> {
    if steps.is_empty() {
        return None;
    }
    let mut text = old.successor(old.bytes().to_vec());
    let mut followed: Vec<(NamedLines, isize)> = named.iter().map(|lines| (*lines, 0)).collect();
    for step in steps {
        let next = text.successor(step.apply(text.bytes()));
        let nothing = Splices::none(text.byte_len());
        for (lines, shift) in &mut followed {
            let further = lines.shift(&nothing, step, [&text, &next])?;
            (*lines, *shift) = (lines.moved(further), *shift + further);
        }
        text = next;
    }
    Some(followed.into_iter().map(|(_, shift)| shift).collect())
}

/// The lines that an operation names, as bytes of the version that it was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedLines {
    Range(Span),
    StartOfFile(usize),
    EndOfFile(usize),
}

impl NamedLines {
    fn of(operation: &Operation, old: &Snapshot) -> Option<Self> {
        let (first, last) = match operation {
            Operation::ReplaceLines { lines, .. } => (lines.first, lines.last),
            Operation::InsertLines { after: InsertAfter::Line(0), .. } => {
                return Some(Self::StartOfFile(old.text_start()));
            }
            Operation::InsertLines { after: InsertAfter::Line(line), .. } => (*line, *line),
            Operation::InsertLines { after: InsertAfter::LastLine, .. } => {
                return Some(Self::EndOfFile(old.byte_len()));
            }
            _ => return None,
        };
        let lines = Span::new(old.line_span(first).start(), old.line_span(last).end());
        old.raw_span(lines).map(Self::Range)
    }

    fn has(self, splice: &Splice) -> bool {
        match self {
            Self::Range(span) => span.start() <= splice.at.start() && splice.at.end() <= span.end(),
            Self::StartOfFile(at) | Self::EndOfFile(at) => splice.at == Span::new(at, at),
        }
    }

    fn moved(self, shift: isize) -> Self {
        match self {
            Self::Range(span) => Self::Range(Span::new(
                span.start().strict_add_signed(shift),
                span.end().strict_add_signed(shift),
            )),
            Self::StartOfFile(at) => Self::StartOfFile(at),
            Self::EndOfFile(at) => Self::EndOfFile(at.strict_add_signed(shift)),
        }
    }

    /// How many bytes the lines have moved; `None` if they changed. A change made on both sides does not count.
    fn shift(&self, mine: &Splices, theirs: &Splices, [old, now]: [&Snapshot; 2]) -> Option<isize> {
        let span = match *self {
            Self::StartOfFile(_) => return Some(0),
            Self::EndOfFile(_) => return Some(theirs.iter().map(growth).sum()),
            Self::Range(span) => span,
        };
        let (mut shift, mut within) = (0, 0);
        for splice in theirs.iter() {
            let is_before = splice.at.end() <= span.start();
            let is_after = splice.at.start() >= span.end();
            if is_before {
                shift += growth(splice);
            } else if !is_after {
                within += growth(splice);
            }
            if contains(mine, splice) {
                continue;
            }
            let touches = splice.at.end() == span.start() || splice.at.start() == span.end();
            // A line diff cannot tell which of two equal lines is new.
            if !is_before && !is_after || touches && has_outer_line(splice, span, old) {
                return None;
            }
        }
        let start = span.start().strict_add_signed(shift);
        let end = span.end().strict_add_signed(shift + within);
        (is_between_lines(start, now) && is_between_lines(end, now)).then_some(shift)
    }
}

fn contains(splices: &Splices, splice: &Splice) -> bool {
    splices.iter().any(|other| other == splice)
}

fn growth(splice: &Splice) -> isize {
    splice.insert.len() as isize - splice.at.len() as isize
}

fn shift_splice(splice: &Splice, shift: isize) -> Splice {
    let start = splice.at.start().strict_add_signed(shift);
    Splice { at: Span::new(start, start + splice.at.len()), insert: splice.insert.clone() }
}

fn is_between_lines(raw: usize, now: &Snapshot) -> bool {
    let at = now.view_span(Span::new(raw, raw)).start();
    raw == now.byte_len() || now.line_span(now.line_of(at)).start() == at
}

/// Whether a splice adds or removes a line that is equal to the first or the last line of a span, apart from whitespace.
fn has_outer_line(splice: &Splice, span: Span, old: &Snapshot) -> bool {
    let named = lines_of(span.of(old.bytes()), old);
    let changed = [lines_of(splice.at.of(old.bytes()), old), lines_of(&splice.insert, old)].concat();
    [named.first(), named.last()].into_iter().flatten().any(|line| changed.contains(line))
}

fn lines_of(bytes: &[u8], old: &Snapshot) -> Vec<Vec<u8>> {
    let text = old.decode(bytes);
    text.split_inclusive(|byte| *byte == b'\n').map(|line| line.trim_ascii().to_vec()).collect()
}
