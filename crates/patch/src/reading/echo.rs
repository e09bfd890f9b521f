//! Lines given both as context and as removed.
//!
//! Some models quote the old line as context and then remove it: ` a`, `-a`, `+b`. As written, the
//! file must have the line twice. Only context that touches the removed line is an echo: in `-a`,
//! `+b`, ` a` the last line is as likely the next one of a file in which the line repeats. And only a
//! line that is replaced is, or that is removed together with a line that is not repeated: ` a`, `-a`
//! alone removes a duplicate, and must not remove the line that is left when the patch is sent again.
//! With ` a`, `-a`, `-b` that cannot happen, because `b` would be gone then. What ` a`, `-a` alone means is for the caller to
//! say, so it is a reading to ask about ([`drop_all_echoes`]) and not one to search for.

use super::{Draft, DraftLine};
use crate::hunk::{HunkRepair, Role};

/// The longest run of echoed lines that is looked for.
const MAX_ECHOED: usize = 64;

/// The reading without the context that repeats removed lines directly before or after them.
pub(super) fn drop_echoes<'l>(draft: &Draft<'l>) -> Option<Draft<'l>> {
    let kept = without_echoes(&draft.lines, Deletions::AreDuplicates)?;
    Some(draft.repaired(HunkRepair::EchoedLine, kept))
}

/// The lines without any context that repeats removed lines directly after it.
pub(super) fn drop_all_echoes<'l>(lines: &[DraftLine<'l>]) -> Option<Vec<DraftLine<'l>>> {
    without_echoes(lines, Deletions::AreEchoes)
}

/// What it means if a line is context and then deleted without replacement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deletions {
    /// The file has the line twice.
    AreDuplicates,
    /// The file has the line once.
    AreEchoes,
}

fn without_echoes<'l>(lines: &[DraftLine<'l>], deletions: Deletions) -> Option<Vec<DraftLine<'l>>> {
    let is = |line: Option<&DraftLine<'_>>, role| line.is_some_and(|line| line.role == role);
    let is_context = |line: &DraftLine<'_>| line.role == Role::Context;
    let mut is_echo = vec![false; lines.len()];
    let mut start = 0;
    for run in lines.chunk_by(|first, second| is_context(first) == is_context(second)) {
        let end = start + run.len();
        let removed: Vec<&DraftLine<'l>> = run.iter().filter(|line| line.role == Role::Removed).collect();
        if is(run.first(), Role::Removed) {
            let above = lines[..start].iter().rev().take_while(|line| is_context(line)).count();
            let count = echoed(&removed, above, |count| (&lines[start - count..start], &removed[..count]));
            let is_replaced = is(run.last(), Role::Added);
            let echoed_texts: Vec<&str> = removed[..count].iter().map(|line| line.text()).collect();
            let removes_more =
                removed[count..].iter().any(|line| has_letters(line) && !echoed_texts.contains(&line.text()));
            if is_replaced || removes_more || deletions == Deletions::AreEchoes {
                is_echo[start - count..start].fill(true);
            }
        }
        let below = lines[end..].iter().take_while(|line| is_context(line)).count();
        if is(run.last(), Role::Removed) && is(lines.get(end + below), Role::Added) {
            let count = echoed(&removed, below, |count| {
                (&lines[end..end + count], &removed[removed.len() - count..])
            });
            is_echo[end..end + below].fill(count == below);
        }
        start = end;
    }
    if !is_echo.contains(&true) {
        return None;
    }
    Some(lines.iter().zip(is_echo).filter(|(_, is_echo)| !is_echo).map(|(line, _)| line.clone()).collect())
}

/// Whether a line is more than punctuation, which may be anywhere.
fn has_letters(line: &DraftLine<'_>) -> bool {
    line.text().chars().any(char::is_alphanumeric)
}

/// How many lines of context repeat removed ones; `pair` returns both for a count.
fn echoed<'d, 'l: 'd>(
    removed: &[&DraftLine<'l>],
    context: usize,
    pair: impl Fn(usize) -> (&'d [DraftLine<'l>], &'d [&'d DraftLine<'l>]),
) -> usize {
    let is_same = |(context, removed): (&DraftLine<'l>, &&DraftLine<'l>)| {
        context.text() == removed.text() && context.newline == removed.newline
    };
    let fits = |count: &usize| {
        let (context, removed) = pair(*count);
        context.iter().any(|line| !line.is_blank()) && context.iter().zip(removed).all(is_same)
    };
    (1..=removed.len().min(context).min(MAX_ECHOED)).rev().find(fits).unwrap_or(0)
}
