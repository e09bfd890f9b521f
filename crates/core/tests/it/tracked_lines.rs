//! An edit that quotes an earlier version changes the line that it was made for, or nothing. So does what its refusal offers.
//!
//! Every line is tracked by an id that is not part of its text. A file of small blocks is read; then blocks are removed, moved,
//! added and renamed, and lines are changed. An edit of a line as it was read may be refused. If it is applied, the line
//! with that id must be the one that changes, although other lines may have the same text. The refusal may also offer an edit of the
//! line that has replaced that one.

mod case;
mod maker;

use case::{Case, Outcome};
use serde_json::{Value, json};
use slipstitch_core::engine::Answer;
use slipstitch_core::report::FailureReport;

/// How many wrong edits are tolerated: blocks that swapped places and then became alike can't be told from blocks that were
/// changed in place.
const MAX_UNDECIDABLE_PER_1000: usize = 5;

/// How many cases are made.
const CASES: u64 = 3_000;

#[test]
fn an_edit_of_an_earlier_version_changes_its_own_line_or_nothing() {
    let (mut carried_over, mut wrong) = (0, Vec::new());
    for case in (0..CASES).filter_map(Case::new) {
        let rig = case.rig();
        let answer = rig.edit(&case.old(), &case.new_text());
        match case.outcome(&rig, &answer) {
            Outcome::Nothing | Outcome::Exact => {}
            Outcome::Right => carried_over += 1,
            Outcome::Successor(what) | Outcome::Unseen(what) | Outcome::Wrong(what) => wrong.push(what),
        }
    }
    let shown = wrong.iter().take(3).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.len() * 1000 <= MAX_UNDECIDABLE_PER_1000 * carried_over, "{} wrong\n{shown}", wrong.len());
    // A finder that refuses everything would pass.
    assert!(carried_over > 100, "{carried_over}");
}

/// Few refusals of such small files offer anything, so more cases are needed.
const CASES_WITH_OFFERS: u64 = 10_000;

/// How many offers may be to change a line that the caller has never seen: a twin of a removed block that was added in its place can't
/// be told from that block under a new name, with another change.
const MAX_UNSEEN_PER_100: usize = 3;

#[test]
fn what_a_refusal_offers_changes_the_line_that_was_meant_or_what_replaced_it() {
    let (mut right, mut unseen, mut wrong) = (0, Vec::new(), Vec::new());
    for case in (0..CASES_WITH_OFFERS).filter_map(Case::new) {
        let refused = || {
            let rig = case.rig();
            let answer = rig.edit(&case.old(), &case.new_text());
            matches!(case.outcome(&rig, &answer), Outcome::Nothing).then_some((rig, answer))
        };
        let Some((_, answer)) = refused() else { continue };
        for call in offered_calls(&answer, &case) {
            // An offer must not see what another one wrote.
            let Some((rig, answer)) = refused() else { panic!("the same call was not refused again") };
            let second = rig.call("edit_file", call.clone());
            let describe = |what: String| format!("{what}\nafter: {}\ncall: {call}", answer.text);
            match case.outcome(&rig, &second) {
                Outcome::Nothing => {}
                Outcome::Right | Outcome::Successor(_) | Outcome::Exact => right += 1,
                Outcome::Unseen(what) => unseen.push(describe(what)),
                Outcome::Wrong(what) => wrong.push(describe(what)),
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[0]);
    assert!(
        unseen.len() * 100 <= MAX_UNSEEN_PER_100 * right,
        "{} of unseen lines\n{}",
        unseen.len(),
        unseen[0]
    );
    // A finder that offers nothing would pass.
    assert!(right > 100, "{right}");
}

/// Everything that a refusal offers to do, as calls of `edit_file`.
fn offered_calls(answer: &Answer, case: &Case) -> Vec<Value> {
    let Some(FailureReport { resend, resend_edit, candidates, .. }) = answer.report.failures.first() else {
        return Vec::new();
    };
    let resend = resend.iter().map(|old| json!({"old_text": old, "new_text": case.new_text()}));
    let resend_edit =
        resend_edit.iter().map(|edit| json!({"old_text": edit.old_text, "new_text": edit.new_text}));
    let candidates = candidates.iter().zip(1..).filter(|(candidate, _)| candidate.choosable);
    let candidates = candidates
        .map(|(_, number)| json!({"old_text": case.old(), "new_text": case.new_text(), "candidate": number}));
    resend.chain(resend_edit).chain(candidates).collect()
}
