//! First or last lines with other white space, or blank ones too many, that old and new text share: they
//! stay as the file has them.
//!
//! A shared line with other *words* is a different matter: the same body under another heading is
//! another place.

use super::recover::{Attempt, Found};
use super::search::{Needle, search};
use crate::change::{Rung, Span};
use crate::snapshot::Snapshot;

pub(super) fn look(old: &str, new: &str, within: Span, snapshot: &Snapshot) -> Attempt {
    for (front, back) in [(1, 0), (0, 1), (1, 1)] {
        let Some((inner, inner_new)) = trimmed(old, new, front, back) else { continue };
        if inner.trim().is_empty() {
            continue;
        }
        let needle = snapshot.needle(inner);
        let hits =
            search(snapshot.text(), &[Needle { text: needle.as_bytes(), within, keep: 1000 }]).remove(0);
        let spans = hits.starts.iter().map(|&start| Span::new(start, start + needle.len()));
        let places: Vec<Span> = spans
            .filter(|&at| whole_lines(at, snapshot) && edges_agree(old, at, front, back, snapshot))
            .collect();
        match places[..] {
            [] => {}
            [at] => {
                let how = "first or last lines that old and new text share have other white space in the file; they stay as they are";
                return Attempt::One(Found {
                    rung: Rung::Edges,
                    at,
                    new: inner_new.to_owned(),
                    how: how.into(),
                });
            }
            ref several => {
                return Attempt::Several(several.iter().map(|at| snapshot.line_of(at.start())).collect());
            }
        }
    }
    Attempt::Nothing
}

/// Whether the lines that were left out are blank, or stand beside the place but for white space.
fn edges_agree(old: &str, at: Span, front: usize, back: usize, snapshot: &Snapshot) -> bool {
    let squashed = |text: &str| text.split_whitespace().collect::<String>();
    let first = snapshot.line_of(at.start());
    let last = snapshot.line_of(at.end().max(at.start() + 1) - 1);
    let agrees = |wanted: &str, number: Option<usize>| {
        wanted.trim().is_empty()
            || number.is_some_and(|number| squashed(&snapshot.line(number)) == squashed(wanted))
    };
    let mut lines = old.strip_suffix('\n').unwrap_or(old).split('\n');
    (front == 0 || lines.next().is_some_and(|line| agrees(line, first.checked_sub(1).filter(|&n| n > 0))))
        && (back == 0 || lines.next_back().is_some_and(|line| agrees(line, Some(last + 1))))
}

/// Both texts without lines at the front and the back, if they share those.
fn trimmed<'a>(old: &'a str, new: &'a str, front: usize, back: usize) -> Option<(&'a str, &'a str)> {
    let (mut old, mut new) = (old, new);
    for _ in 0..front {
        let (line, rest) = old.split_once('\n')?;
        let (same, new_rest) = new.split_once('\n')?;
        (old, new) = (line == same).then_some((rest, new_rest))?;
    }
    for _ in 0..back {
        let ends = old.ends_with('\n') && new.ends_with('\n');
        let cut = |text: &'a str| -> Option<(&'a str, &'a str)> {
            let body = if ends { &text[..text.len() - 1] } else { text };
            let at = body.rfind('\n')?;
            Some((&text[..if ends { at + 1 } else { at }], &body[at + 1..]))
        };
        let ((old_rest, line), (new_rest, same)) = (cut(old)?, cut(new)?);
        (old, new) = (line == same).then_some((old_rest, new_rest))?;
    }
    Some((old, new))
}

fn whole_lines(at: Span, snapshot: &Snapshot) -> bool {
    let text = snapshot.text();
    let newline = snapshot.needle("\n");
    let starts = at.start() == 0 || text[at.start() - 1] == b'\n';
    let ends = text[..at.end()].ends_with(b"\n")
        || at.end() == text.len()
        || text[at.end()..].starts_with(newline.as_bytes());
    starts && ends
}
