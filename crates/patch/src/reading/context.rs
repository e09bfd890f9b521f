//! Context lines without the leading space.

use super::{Draft, DraftLine};
use crate::hunk::{HunkRepair, Role};

/// The readings in which the space stripped from context belongs to the line: from all lines, and
/// from those that would otherwise be indented by an odd number of spaces.
pub(super) fn add_spaces<'l>(draft: &Draft<'l>, any_bare: bool) -> Vec<Draft<'l>> {
    let is_candidate = |line: &&DraftLine<'l>| line.prefixed && !line.is_blank();
    let candidates = || draft.lines.iter().filter(is_candidate);
    let mut out = Vec::new();
    if candidates().next().is_none() {
        return out;
    }
    let add = |repair, fits: &dyn Fn(&DraftLine<'l>) -> bool| {
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
fn looks_shifted(draft: &Draft<'_>) -> bool {
    let mut context = of_role(draft, |role| role == Role::Context).peekable();
    context.peek().is_some() && context.all(is_odd) && changes_are_even(draft)
}

/// Whether there are changed lines and all are indented by an even number of spaces.
fn changes_are_even(draft: &Draft<'_>) -> bool {
    let mut changed = of_role(draft, |role| role != Role::Context).peekable();
    changed.peek().is_some() && changed.all(|line| !is_odd(line))
}

/// The lines with text that have a role.
fn of_role<'d, 'l>(draft: &'d Draft<'l>, is: fn(Role) -> bool) -> impl Iterator<Item = &'d DraftLine<'l>> {
    draft.lines.iter().filter(move |line| is(line.role) && !line.is_blank())
}

/// Whether a line is indented by an odd number of spaces. The asterisk of ` * text`, in a block comment, is one column to the
/// right of its depth.
fn is_odd(line: &DraftLine<'_>) -> bool {
    let spaces = line.text().bytes().take_while(|byte| *byte == b' ').count();
    let body = &line.text()[spaces..];
    let continues_comment = body == "*" || body.starts_with("* ") || body.starts_with("*/");
    (spaces + usize::from(continues_comment)) % 2 == 1
}
