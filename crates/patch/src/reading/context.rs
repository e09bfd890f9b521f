//! Context lines without the leading space.

use super::{Draft, DraftLine};
use crate::hunk::{HunkRepair, Role};

/// The readings in which the space stripped from context belongs to the line: from all lines, and
/// from those that would otherwise be indented by an odd number of spaces.
pub(super) fn add_spaces(draft: &Draft, any_bare: bool) -> Vec<Draft> {
    let is_candidate = |line: &&DraftLine| line.prefixed && !line.is_blank();
    let candidates = || draft.lines.iter().filter(is_candidate);
    let mut out = Vec::new();
    if candidates().next().is_none() {
        return out;
    }
    let add = |repair, fits: &dyn Fn(&DraftLine) -> bool| {
        let lines = draft.lines.iter().map(|line| match line.prefixed && fits(line) {
            true => line.with_text(format!(" {}", line.text())),
            false => line.clone(),
        });
        draft.repaired(repair, lines.collect())
    };
    if any_bare || looks_shifted(draft) {
        out.push(add(HunkRepair::BareContext, &|_| true));
    }
    let is_mixed = candidates().any(is_odd) && candidates().any(|line| !is_odd(line));
    if is_mixed && changes_are_even(draft) {
        out.push(add(HunkRepair::MixedContext, &is_odd));
    }
    out
}

/// Whether the hunk on its own looks as if its context had no prefix: after stripping one space,
/// context is indented by an odd number of spaces and changed lines by an even number.
fn looks_shifted(draft: &Draft) -> bool {
    let mut context = of_role(draft, |role| role == Role::Context).peekable();
    context.peek().is_some() && context.all(is_odd) && changes_are_even(draft)
}

/// Whether there are changed lines and all are indented by an even number of spaces.
fn changes_are_even(draft: &Draft) -> bool {
    let mut changed = of_role(draft, |role| role != Role::Context).peekable();
    changed.peek().is_some() && changed.all(|line| !is_odd(line))
}

/// The lines with text that have a role.
fn of_role(draft: &Draft, is: fn(Role) -> bool) -> impl Iterator<Item = &DraftLine> {
    draft.lines.iter().filter(move |line| is(line.line.role) && !line.is_blank())
}

/// Whether a line is indented by an odd number of spaces.
fn is_odd(line: &DraftLine) -> bool {
    line.text().bytes().take_while(|byte| *byte == b' ').count() % 2 == 1
}
