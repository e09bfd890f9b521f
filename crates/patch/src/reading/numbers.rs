//! Line numbers and anchors in front of the lines, as file viewers print them.

use super::{Draft, DraftLine, split_prefix};
use crate::hunk::{HunkRepair, Role};

/// What separates a number from its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// A few characters after the anchor between a colon and a bar: `12:ab|`.
    Anchor,
    /// A text that is rarely part of a line after a number.
    Clear(&'static str),
    /// A text that often is part of a line after a number, as in `80: http`.
    Weak(&'static str),
}

/// The marks to try; of marks that differ by a space, the one that leaves less indentation first.
const MARKS: &[Mark] = &[
    Mark::Anchor,
    Mark::Clear("→"),
    Mark::Clear("│ "),
    Mark::Clear("│"),
    Mark::Clear(" | "),
    Mark::Clear("| "),
    Mark::Clear("|"),
    Mark::Weak("\t"),
    Mark::Weak(": "),
    Mark::Weak(":"),
    Mark::Weak(". "),
];

/// The readings without the numbers of the lines: two if a space may belong to the line or not.
pub(super) fn strip<'l>(draft: &Draft<'l>) -> Vec<Draft<'l>> {
    // Almost no line starts with a number, and then no mark needs to be tried.
    if draft.lines.iter().all(|line| leading_number(line.text()).is_none()) {
        return Vec::new();
    }
    // If a hunk has no change as it is, prefixes after the numbers show that it has one.
    let outside = MARKS.iter().filter_map(|mark| strip_outside(&draft.lines, *mark));
    let inside = MARKS.iter().filter_map(|mark| strip_inside(&draft.lines, *mark));
    outside.chain(inside).take(2).map(|lines| draft.repaired(HunkRepair::LineNumbers, lines)).collect()
}

/// Strips numbers that follow the prefixes: `-12: a`. Every old line must have one.
fn strip_inside<'l>(lines: &[DraftLine<'l>], mark: Mark) -> Option<Vec<DraftLine<'l>>> {
    let mut numbers = Rising::new(mark);
    let is_stripped = added_numbers(lines, mark)?;
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        out.push(match line.role {
            Role::Added if is_stripped => {
                line.with_text(mark.split(line.text()).map_or(line.text(), |(_, rest)| rest))
            }
            Role::Added => line.clone(),
            _ => line.with_text(numbers.split(line.text())?),
        });
    }
    numbers.is_convincing().then_some(out)
}

/// Whether added lines have numbers too; `None` if it is unclear what is text.
fn added_numbers(lines: &[DraftLine<'_>], mark: Mark) -> Option<bool> {
    let added = || lines.iter().filter(|line| line.role == Role::Added && !line.is_blank());
    let count = added().filter(|line| mark.split(line.text()).is_some()).count();
    match count {
        0 => Some(false),
        _ if mark == Mark::Anchor || count == added().count() => Some(true),
        _ => None,
    }
}

/// Strips numbers in front of the prefixes: `12:-a`. An added line may have no number, as it is not in the file yet, if it is clear
/// that the others have no prefix in front of theirs.
fn strip_outside<'l>(lines: &[DraftLine<'l>], mark: Mark) -> Option<Vec<DraftLine<'l>>> {
    let is_unnumbered = |line: &DraftLine<'_>| line.role == Role::Added && mark.split(line.text()).is_none();
    let has_unnumbered = lines.iter().any(is_unnumbered);
    let is_outside = |line: &DraftLine<'_>| match line.role {
        Role::Context => !(line.prefixed && has_unnumbered),
        Role::Added => is_unnumbered(line),
        Role::Removed => false,
    };
    if !lines.iter().all(is_outside) {
        return None;
    }
    let mut count = 0;
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        if line.role == Role::Added {
            out.push(line.clone());
            continue;
        }
        let rest = match mark.split(line.text()) {
            Some((_, rest)) => {
                count += 1;
                rest
            }
            None if line.is_blank() => "",
            None => mark.split_unnumbered(line.text()).filter(|rest| rest.starts_with('+'))?,
        };
        let (role, text, prefixed) = split_prefix(rest);
        // Without its prefix, the line could be anything.
        if !prefixed && role == Role::Context && !rest.is_empty() {
            return None;
        }
        out.push(DraftLine { role, text: text.to_owned().into(), newline: line.newline, prefixed });
    }
    let has_change = out.iter().any(|line| line.role != Role::Context);
    (count > 0 && has_change).then_some(out)
}

/// Checks that the numbers of old lines count up.
struct Rising {
    mark: Mark,
    last: Option<usize>,
    count: usize,
}

impl Rising {
    fn new(mark: Mark) -> Self {
        Self { mark, last: None, count: 0 }
    }

    /// The line without its number; `None` if it has none or the wrong one. A blank line may have lost it.
    fn split<'l>(&mut self, line: &'l str) -> Option<&'l str> {
        let Some((number, rest)) = self.mark.split(line) else {
            self.last = self.last.map(|last| last + 1);
            return line.trim().is_empty().then_some(line);
        };
        let follows = self.last.is_none_or(|last| match self.mark {
            Mark::Anchor => number > last,
            Mark::Clear(_) | Mark::Weak(_) => number == last + 1,
        });
        self.last = Some(number);
        self.count += 1;
        follows.then_some(rest)
    }

    /// Whether the numbers are too many to be text.
    fn is_convincing(&self) -> bool {
        self.count >= if matches!(self.mark, Mark::Weak(_)) { 2 } else { 1 }
    }
}

impl Mark {
    /// Splits a line into its number and the text after the mark.
    fn split(self, line: &str) -> Option<(usize, &str)> {
        let (number, rest) = leading_number(line)?;
        let rest = match self {
            Self::Anchor => strip_anchor(rest)?,
            // The space after the mark of an empty line is easily lost.
            Self::Clear(mark) | Self::Weak(mark) => {
                rest.strip_prefix(mark).or_else(|| (mark != "\t" && rest == mark.trim_end()).then_some(""))?
            }
        };
        Some((number, rest))
    }

    /// The text after the separator of a line whose number was left out: `   |+a`.
    fn split_unnumbered(self, line: &str) -> Option<&str> {
        match self {
            Self::Clear(mark) => line.trim_start_matches(' ').strip_prefix(mark.trim_start()),
            Self::Anchor | Self::Weak(_) => None,
        }
    }
}

/// The number at the start of a line, and the rest of the line.
fn leading_number(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start_matches(' ');
    let unlettered = line.strip_prefix(['L', 'l']).unwrap_or(line);
    let digits = unlettered.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=7).contains(&digits) {
        return None;
    }
    Some((unlettered[..digits].parse().ok()?, &unlettered[digits..]))
}

/// The text after `:ab|`.
fn strip_anchor(rest: &str) -> Option<&str> {
    let (anchor, rest) = rest.strip_prefix(':')?.split_once('|')?;
    let is_anchor =
        (1..=8).contains(&anchor.len()) && anchor.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_anchor.then_some(rest)
}
