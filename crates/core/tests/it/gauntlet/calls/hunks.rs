//! Patches whose form is wrong and whose meaning is clear.

use super::Call;
use crate::gauntlet::certainty::{by_content, folded_lines, occurrences};
use crate::gauntlet::draft::{Draft, Role, Row};
use crate::gauntlet::random::Random;

/// A hunk: its first line in the file, and its lines with their markers.
struct Hunk {
    start: usize,
    lines: Vec<String>,
}

fn draft(files: &[Vec<String>], random: &mut Random) -> Option<Draft> {
    let (lead, trail) = (random.from(2, 3), random.from(2, 3));
    Draft::of(random.pick(files)?, lead, trail, random)
        .filter(|draft| by_content(draft) && draft.before() != draft.after())
}

fn marker(role: Role) -> char {
    match role {
        Role::Context => ' ',
        Role::Removed => '-',
        Role::Added => '+',
    }
}

fn text(row: &Row) -> &str {
    row.file.as_deref().unwrap_or_default()
}

fn hunk(draft: &Draft) -> Hunk {
    let lines = draft.rows.iter().map(|row| format!("{}{}", marker(row.role), text(row))).collect();
    Hunk { start: draft.head.len() + 1, lines }
}

/// The hunks as a unified diff or as a V4A patch.
fn patch(hunks: &[Hunk], random: &mut Random) -> String {
    let v4a = random.chance(50);
    let mut out = match v4a {
        true => "*** Begin Patch\n*** Update File: file.txt\n".to_owned(),
        false => "--- a/file.txt\n+++ b/file.txt\n".to_owned(),
    };
    for Hunk { start, lines } in hunks {
        let without = |marker: char| lines.iter().filter(|line| !line.starts_with(marker)).count();
        out += &match v4a {
            true => "@@\n".to_owned(),
            false => format!("@@ -{start},{} +{start},{} @@\n", without('+'), without('-')),
        };
        lines.iter().for_each(|line| out += &format!("{line}\n"));
    }
    out + if v4a { "*** End Patch\n" } else { "" }
}

fn call(draft: &Draft, hunks: &[Hunk], random: &mut Random) -> Call {
    Call::patch(draft.before(), &patch(hunks, random), Some(draft.after()))
}

/// A replaced line given as context first. A line that is only removed is left out: the hunk may have been applied before to
/// a file that had the line twice.
pub(super) fn echo(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let draft = draft(files, random)?;
    let at = draft.rows.iter().position(|row| row.role == Role::Removed)?;
    let after = draft.rows[at..].iter().find(|row| row.role != Role::Removed)?;
    if after.role != Role::Added {
        return None;
    }
    let line = text(&draft.rows[at]);
    let mut echoed = hunk(&draft);
    echoed.lines.insert(at, format!(" {line}"));
    let twice = folded_lines([line, line]);
    let lines = folded_lines(draft.lines([Role::Context, Role::Removed]));
    (twice.len() == 2 && occurrences(&lines, &twice).is_empty()).then(|| call(&draft, &[echoed], random))
}

/// A hunk without lines at the end.
pub(super) fn empty_hunk(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let draft = draft(files, random)?;
    let empty = Hunk { start: draft.head.len() + draft.rows.len(), lines: Vec::new() };
    Some(call(&draft, &[hunk(&draft), empty], random))
}

/// Lines as context only, or replaced with themselves.
fn noop(lines: &[String], start: usize, random: &mut Random) -> Hunk {
    let marked = |marker: char| lines[1..].iter().map(move |line| format!("{marker}{line}"));
    let mut all = vec![format!(" {}", lines[0])];
    match random.chance(50) {
        true => all.extend(marked(' ')),
        false => all.extend(marked('-').chain(marked('+'))),
    }
    Hunk { start, lines: all }
}

/// A hunk that changes nothing, of lines after the others.
pub(super) fn noop_hunk(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let draft = draft(files, random)?;
    let at = random.below(draft.tail.len().checked_sub(4)?);
    let lines = &draft.tail[at..at + 3];
    let part = folded_lines(lines.iter().map(String::as_str));
    let file = folded_lines(draft.lines([Role::Context, Role::Removed]));
    let start = draft.lines([Role::Context, Role::Removed]).len() - draft.tail.len() + at + 1;
    (part.len() == 3 && occurrences(&file, &part).len() == 1)
        .then(|| call(&draft, &[hunk(&draft), noop(lines, start, random)], random))
}

/// The same, of lines that are not in the file.
pub(super) fn noop_hunk_absent(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let draft = draft(files, random)?;
    let other = random.pick(files)?;
    let at = random.below(other.len().checked_sub(4)?);
    let lines = &other[at..at + 3];
    let part = folded_lines(lines.iter().map(String::as_str));
    let file = folded_lines(draft.lines([Role::Context, Role::Removed]));
    let is_absent = part.len() == 3 && part.iter().all(|line| !file.contains(line));
    is_absent.then(|| call(&draft, &[hunk(&draft), noop(lines, at + 1, random)], random))
}

/// A prefix in front of every line that the file has, and perhaps of the added ones.
fn prefixed(draft: &Draft, random: &mut Random, prefix: impl Fn(usize, &mut Random) -> String) -> Call {
    let added_too = random.chance(50);
    let start = draft.head.len() + 1;
    let (mut old, mut new) = (start, start);
    let mut lines = Vec::new();
    for row in &draft.rows {
        let number = if row.role == Role::Added { new } else { old };
        let shown = match row.role == Role::Added && !added_too {
            true => String::new(),
            false => prefix(number, random),
        };
        lines.push(format!("{}{shown}{}", marker(row.role), text(row)));
        old += usize::from(row.role != Role::Added);
        new += usize::from(row.role != Role::Removed);
    }
    call(draft, &[Hunk { start, lines }], random)
}

pub(super) fn line_numbers(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let draft = draft(files, random)?;
    let form = random.below(3);
    Some(prefixed(&draft, random, |number, _| match form {
        0 => format!("{number:>4}|"),
        1 => format!("{number}: "),
        _ => format!("{number:>5}→"),
    }))
}

/// A number, two letters and a bar: `12:ab|`.
pub(super) fn hash_prefixes(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let draft = draft(files, random)?;
    const LETTERS: [char; 6] = ['k', 'c', 'g', 't', 'w', 'z'];
    Some(prefixed(&draft, random, |number, random| {
        format!("{number}:{}{}|", LETTERS[random.below(6)], LETTERS[random.below(6)])
    }))
}
