//! The same lines, all shifted by one and the same indentation.

use super::recover::{Attempt, Found};
use crate::change::{Rung, Span};
use crate::snapshot::Snapshot;

/// How many bytes of candidate places are compared; a million equal lines would else take for ever.
const MOST_BYTES: usize = 64 << 20;

pub(super) fn look(old: &str, new: &str, within: Span, snapshot: &Snapshot) -> Attempt {
    let ends_line = old.ends_with('\n');
    let wanted: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    let Some(shift_from) = common_indent(&wanted) else { return Attempt::Nothing };
    let Some(anchor) = wanted.iter().position(|line| !line.trim().is_empty()) else {
        return Attempt::Nothing;
    };
    let needle = wanted[anchor].trim().as_bytes();
    let text = snapshot.text();
    let mut found: Vec<Found> = Vec::new();
    let mut lines = Vec::new();
    let mut budget = MOST_BYTES;
    for hit in memchr::memmem::find_iter(&text[within.start()..within.end()], needle) {
        let number = snapshot.line_of(within.start() + hit);
        let Some(first) = number.checked_sub(anchor).filter(|&first| first >= 1) else { continue };
        let Some(left) = budget.checked_sub(old.len()) else { return Attempt::Nothing };
        budget = left;
        let Some((at, shift_to)) = fits(&wanted, first, shift_from, ends_line, snapshot) else { continue };
        if at.start() < within.start() || at.end() > within.end() || found.iter().any(|other| other.at == at)
        {
            continue;
        }
        lines.push(first);
        let Some(new) = shifted(new, shift_from, &shift_to) else { continue };
        let how = format!("the file has the indentation {shift_to:?} where the request has {shift_from:?}");
        found.push(Found { rung: Rung::Indentation, at, new, how });
    }
    match (lines.len(), found.pop()) {
        (0, _) => Attempt::Nothing,
        (1, Some(one)) => Attempt::One(one),
        (1, None) => Attempt::Nothing,
        _ => Attempt::Several(lines),
    }
}

/// The blanks that all lines start with; `None` if there is no line but blank ones.
fn common_indent<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let mut filled = lines.iter().filter(|line| !line.trim().is_empty());
    let mut common = indent(filled.next()?);
    for line in filled {
        let same = common.bytes().zip(indent(line).bytes()).take_while(|(a, b)| a == b).count();
        common = &common[..same];
    }
    Some(common)
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether the lines from `first` on are the wanted ones but for one indentation; where they lie, and
/// that indentation.
fn fits(
    wanted: &[&str],
    first: usize,
    from: &str,
    ends_line: bool,
    snapshot: &Snapshot,
) -> Option<(Span, String)> {
    let mut to: Option<String> = None;
    let mut end = snapshot.line_span(first).start();
    for (number, want) in (first..).zip(wanted) {
        let line = snapshot.line(number);
        if number > snapshot.line_count() {
            return None;
        }
        end = snapshot.line_span(number).end();
        if want.trim().is_empty() {
            // The new text will bring this line along, so it must be the file's own.
            if line != *want {
                return None;
            }
            continue;
        }
        let there = line.strip_suffix(&want[from.len()..])?;
        if !there.chars().all(|c| c == ' ' || c == '\t') || to.as_deref().is_some_and(|to| to != there) {
            return None;
        }
        to = Some(there.to_owned());
    }
    let start = snapshot.line_span(first).start();
    let has_newline = snapshot.text()[start..end].ends_with(b"\n");
    if ends_line && !has_newline {
        return None;
    }
    let tail = if has_newline && !ends_line { snapshot.needle("\n").len() } else { 0 };
    Some((Span::new(start, end - tail), to?))
}

/// `new` with the file's indentation; `None` if a line has less than the request's own.
fn shifted(new: &str, from: &str, to: &str) -> Option<String> {
    let mut out = String::with_capacity(new.len());
    for line in new.split_inclusive('\n') {
        if line.trim().is_empty() {
            out.push_str(line);
        } else {
            out.push_str(to);
            out.push_str(line.strip_prefix(from)?);
        }
    }
    Some(out)
}
