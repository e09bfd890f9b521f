//! Resolved edits: the spans that an operation replaces, and the bytes that it writes there.

use std::ops::Range;

use super::alignment::indent;
use super::error::Reason;
use crate::change::{DifferenceKind, Rung};
use crate::plan::{EditRules, LineRange, NewlineStyle, OmittedNewline};
use crate::snapshot::Snapshot;
use slipstitch_text::display::decode_lossy;
use slipstitch_text::{ShortBytes, Span, canonical, diff_lines};

/// An operation with its place in the file and its new text.
#[derive(Debug, Clone)]
pub(super) struct ResolvedEdit {
    /// The operation's number in the request.
    pub(super) number: usize,
    pub(super) rung: Rung,
    /// The spans it claims in the searchable text, in order.
    pub(super) spans: Vec<Span>,
    /// What changes inside each span.
    pub(super) parts: Parts,
    /// Where it belongs among insertions at the same position.
    pub(super) anchor: Anchor,
    /// The complete new text of one span, for counting lines.
    pub(super) new: String,
    pub(super) notes: Vec<String>,
    /// How the request differs from the file.
    pub(super) classes: Vec<DifferenceKind>,
}

impl ResolvedEdit {
    /// An edit without a number, notes or differences.
    pub(super) fn new(rung: Rung, spans: Vec<Span>, parts: Parts, new: String) -> Self {
        let anchor = Anchor::Text;
        Self { number: 0, rung, spans, parts, anchor, new, notes: Vec::new(), classes: Vec::new() }
    }
}

/// What an insertion is attached to. In an empty file all insertions are at the same position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Anchor {
    /// The beginning of the file.
    Start,
    /// Text or a line of the file.
    Text,
    /// The end of the file.
    End,
}

/// What an edit changes inside its spans.
#[derive(Debug, Clone)]
pub(super) enum Parts {
    /// The same in every span.
    Shared(Vec<Part>),
    /// One list for each span.
    PerSpan(Vec<Vec<Part>>),
}

impl Parts {
    /// The changes inside the span with this index.
    pub(super) fn of_span(&self, index: usize) -> &[Part] {
        match self {
            Self::Shared(parts) => parts,
            Self::PerSpan(lists) => &lists[index],
        }
    }
}

/// New bytes for part of a claimed span; `old` is relative to the start of the span.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) old: Range<usize>,
    pub(super) insert: ShortBytes,
}

/// The span of a line range, which may extend past the end of the file but must start inside it.
pub(super) fn line_range_span(lines: LineRange, snapshot: &Snapshot) -> Result<Span, Reason> {
    let count = snapshot.line_count();
    let LineRange { first, last } = lines;
    if first < 1 || first > count || last < first {
        return Err(Reason::OutOfRange { first, last, count });
    }
    Ok(Span::new(snapshot.line_span(first).start(), snapshot.line_span(last.min(count)).end()))
}

/// Replaces every span with `new`.
pub(super) fn replace(
    name: &str,
    rung: Rung,
    spans: Vec<Span>,
    mut new: String,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let mut notes = Vec::new();
    if rules.omitted_newline == OmittedNewline::Keep
        && let [at] = spans[..]
        && let Some((kept, note)) = keep_line_start(at, &new, snapshot)
    {
        notes.push(format!("{name}: {note}"));
        new = kept;
    }
    let drops = |span: &&Span| drops_newline(**span, &new, snapshot);
    if let Some(span) = spans.iter().find(drops) {
        let line = snapshot.line_of(span.end() - 1);
        match rules.omitted_newline {
            OmittedNewline::Keep => {
                notes.push(format!(
                    "{name}: the old text ends with a newline and the new text does not; the newline after line {line} was kept (to join lines, include both in the old text)"
                ));
                new.push('\n');
            }
            OmittedNewline::Literal if span.end() < snapshot.text_len() => {
                notes.push(format!(
                    "{name}: the old text ends with a newline and the new text does not; line {line} was joined with the next line"
                ));
            }
            OmittedNewline::Literal => {}
        }
    }
    // The parts differ only if the lines around the spans end differently.
    let differ = spans.len() > 1
        && rules.newline == NewlineStyle::Nearby
        && snapshot.newlines().is_mixed()
        && new.contains('\n');
    let parts = match differ {
        true => Parts::PerSpan(
            spans
                .iter()
                .map(|&at| diff_parts(at, &new, rules.newline, snapshot))
                .collect::<Result<_, Reason>>()?,
        ),
        false => Parts::Shared(diff_parts(spans[0], &new, rules.newline, snapshot)?),
    };
    Ok(ResolvedEdit { notes, ..ResolvedEdit::new(rung, spans, parts, new) })
}

/// Adjusts new text that would change the start of its first line by accident: it lacks the newline that the old
/// text starts with, or it repeats the indentation that precedes the old text on its line.
fn keep_line_start(at: Span, new: &str, snapshot: &Snapshot) -> Option<(String, String)> {
    let old = snapshot.text_in(at);
    let old = decode_lossy(&old);
    let old = canonical(&old);
    let line = snapshot.line_of(at.start());
    if let Some(rest) = old.strip_prefix('\n') {
        let ends_line = old.ends_with('\n')
            || at.end() == snapshot.text_len()
            || matches!(snapshot.byte_before(at.end() + 1), Some(b'\n' | b'\r'));
        let joins_lines = new.trim() == old.trim() || indent(new) != indent(rest);
        return (ends_line && !new.is_empty() && !new.starts_with('\n') && !joins_lines && !rest.starts_with('\n')).then(|| {
            let note = format!("the old text starts with a newline and the new text does not; the newline after line {line} was kept (to join lines, include both in the old text)");
            (format!("\n{new}"), note)
        });
    }
    let before = snapshot.text_in(Span::new(snapshot.line_span(line).start(), at.start()));
    let before =
        std::str::from_utf8(&before).ok().filter(|before| !before.is_empty() && before.trim().is_empty())?;
    let bare = new.strip_prefix(before).filter(|bare| !bare.starts_with([' ', '\t']) && *bare != old)?;
    (indent(&old).is_empty()).then(|| {
        let note = format!("the new text repeats the indentation before the old text on line {line}; it was not written twice");
        (bare.to_owned(), note)
    })
}

/// Whether whole lines would be replaced by text without a final newline. A span also counts as whole lines if it
/// starts after the indentation of its first line, which models often leave out.
fn drops_newline(span: Span, new: &str, snapshot: &Snapshot) -> bool {
    let ends_line = || !span.is_empty() && snapshot.byte_before(span.end()) == Some(b'\n');
    if new.is_empty() || new.ends_with('\n') || !ends_line() {
        return false;
    }
    let line_start = snapshot.line_span(snapshot.line_of(span.start())).start();
    let before = snapshot.text_in(Span::new(line_start, span.start()));
    before.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Resolves an operation whose place was given explicitly.
pub(super) fn resolved_at(
    edit: usize,
    at: Span,
    new: String,
    style: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let parts = diff_parts(at, &new, style, snapshot)?;
    let resolved = ResolvedEdit::new(Rung::Stated, vec![at], Parts::Shared(parts), new);
    Ok(ResolvedEdit { number: edit, ..resolved })
}

/// The smallest changes that turn the text at `at` into canonical `new`, in the file's encoding and newlines.
pub(super) fn diff_parts(
    at: Span,
    new: &str,
    style: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<Vec<Part>, Reason> {
    let new = snapshot.needle(new);
    diff_lines(&snapshot.text_in(at), new.as_bytes())
        .into_iter()
        .map(|swap| {
            let view = Span::new(at.start() + swap.old.start, at.start() + swap.old.end);
            Ok(Part { old: swap.old, insert: encode_at(&canonical(&new[swap.new]), view, style, snapshot)? })
        })
        .collect()
}

/// Encodes canonical text that replaces `view`: the one place that decides about the endings of new lines.
pub(super) fn encode_at(
    text: &str,
    view: Span,
    style: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<ShortBytes, Reason> {
    let encoded = match style {
        NewlineStyle::Dominant => snapshot.encode(text)?,
        NewlineStyle::Nearby => snapshot.encode_at(text, view)?,
    };
    Ok(encoded.into())
}
