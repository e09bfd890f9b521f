//! Proposals and their review, in memory.

mod repeat;

use serde_json::json;
use slipstitch_core::engine::{Answer, Engine, HunkVerdict, Request, Verdict};
use slipstitch_core::guard::{Conditions, ConsentRule, Policy, Rule};
use slipstitch_core::outcome::Status;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::journal::{Filter, Journal, ProposalDecision, ProposalId};
use slipstitch_core::ports::memory::{Fault, MemoryJournal, MemoryWorkspace};
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::settings::Settings;

#[derive(Default)]
struct Rig {
    files: MemoryWorkspace,
    journal: MemoryJournal,
    policy: Policy,
    settings: Settings,
}

fn a() -> FilePath {
    FilePath::from_record("a").unwrap()
}

impl Rig {
    fn with(text: &str) -> Self {
        let rig = Self::default();
        rig.files.put(&a(), text);
        rig
    }

    fn engine(&self) -> Engine<'_> {
        Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .policy(&self.policy)
            .settings(&self.settings)
            .session("agent")
    }

    fn call(&self, tool: &str, arguments: serde_json::Value) -> Answer {
        self.engine().call(Request { dialect: "agent-q".into(), tool: tool.into(), arguments }, &mut Auto)
    }

    fn propose(&self) -> ProposalId {
        let report = self.call("propose_file_edit", json!({"path": "a", "new_content": "1\n"})).report;
        assert_eq!((report.status(), report.code()), (Status::Pending, "pending_review"));
        assert!(!report.is_error() && !report.is_success());
        report.proposal.unwrap()
    }

    fn text(&self) -> Vec<u8> {
        self.files.get(&a()).unwrap()
    }
}

#[test]
fn an_accepted_proposal_is_applied_exactly_once() {
    let rig = Rig::with("one\n");
    let id = rig.propose();
    assert_eq!(rig.text(), b"one\n");
    assert!(rig.journal.list(&Filter::default()).unwrap().is_empty());
    let report = rig.engine().accept(id, "ada");
    assert_eq!((report.status(), report.proposal), (Status::Applied, Some(id)));
    assert_eq!(rig.text(), b"1\n");
    let entry = &rig.journal.list(&Filter::default()).unwrap()[0];
    assert_eq!((entry.approval.as_str(), entry.origin.tool.as_str()), ("ada", "propose_file_edit"));
    let decision = rig.journal.proposal(id).unwrap().unwrap().decision;
    assert_eq!(
        decision,
        Some(ProposalDecision::Accepted {
            by: "ada".into(),
            change: entry.id,
            left_out: Vec::new(),
            edited: Vec::new()
        })
    );
    assert_eq!(rig.engine().accept(id, "ada").code(), "already_settled");
    assert_eq!(rig.engine().reject(id, "ada", None).code(), "already_settled");
    assert_eq!(rig.engine().accept(ProposalId(9), "ada").code(), "unknown_proposal");
}

#[test]
fn accepting_one_proposal_makes_another_for_the_same_file_stale() {
    let rig = Rig::with("one\n");
    let first = rig.propose();
    let other = json!({"path": "a", "new_content": "2\n"});
    let second = rig.call("propose_file_edit", other).report.proposal.unwrap();
    assert_eq!(rig.engine().accept(first, "ada").status(), Status::Applied);
    let report = rig.engine().accept(second, "ada");
    assert_eq!((report.status(), report.code()), (Status::Refused, "stale_file"));
    assert!(report.message.contains("`a`"), "{}", report.message);
    assert_eq!(rig.journal.proposals().unwrap().len(), 1, "it still waits for review");
}

#[test]
fn a_concurrent_write_makes_the_proposal_stale() {
    let rig = Rig::with("one\n");
    let id = rig.propose();
    rig.files.write_after_next_read(&a(), "other\n");
    assert_eq!(rig.engine().accept(id, "ada").code(), "stale_file");
    assert_eq!(rig.text(), b"other\n");
}

#[test]
fn a_proposal_that_cannot_be_written_keeps_waiting() {
    let rig = Rig::with("one\n");
    let id = rig.propose();
    let full = WorkspaceError::Io { path: a(), action: "write", reason: "the disk is full".into() };
    rig.files.fail_next(Fault::Publish, full);
    assert_eq!(rig.engine().accept(id, "ada").status(), Status::Failed);
    assert_eq!(rig.engine().accept(id, "ada").status(), Status::Applied);
}

// Shows: 002-error-permission
#[test]
fn permission_errors_start_with_the_short_message() {
    let rig = Rig::with("one\n");
    let denied = WorkspaceError::Denied { path: a(), action: "write" };
    let reason = denied.to_string();
    rig.files.fail_next(Fault::Stage, denied);
    let answer = rig.call("edit_file", json!({"path": "a", "old_str": "one", "new_str": "1"}));
    assert_eq!(answer.text, format!("Error: Cannot write to file\nError editing file: {reason}"));
    assert_eq!(rig.text(), b"one\n");
}

/// Ten lines, with changes in lines 1, 5 and 10: too far apart to share a hunk.
const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n";

fn propose_three_hunks(rig: &Rig) -> ProposalId {
    let new = TEN.replace("1\n2\n", "one\nand\n2\n").replace("\n9\n", "\nnine\n").replace("17\n", "");
    let report = rig.call("propose_file_edit", json!({"path": "a", "new_content": new})).report;
    let id = report.proposal.unwrap();
    assert_eq!(rig.journal.proposal(id).unwrap().unwrap().proposal.hunks().len(), 3);
    id
}

fn left_out(report: &slipstitch_core::report::Report) -> Vec<(usize, Option<&str>)> {
    report.left_out.iter().map(|rejected| (rejected.hunk, rejected.reason.as_deref())).collect()
}

// Shows: 002-review-hunks
#[test]
fn accepted_hunks_are_applied_and_the_others_are_left_out() {
    let rig = Rig::with(TEN);
    let id = propose_three_hunks(&rig);
    let report = rig.engine().accept_hunks(id, "ada", &[1, 3]);
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(rig.text(), TEN.replace("1\n2\n", "one\nand\n2\n").replace("17\n", "").into_bytes());
    assert_eq!(left_out(&report), [(2, None)]);
    assert_eq!(
        (report.code(), &report.warnings[..]),
        ("partly_accepted", &["not applied: hunk 2 at a:9".to_owned()][..])
    );
    let places = &report.files[0].edits[0].places;
    assert_eq!(
        places.iter().map(|place| (place.before.start, place.after.start)).collect::<Vec<_>>(),
        [(1, 1), (17, 18)]
    );
    let stored = rig.journal.proposal(id).unwrap().unwrap();
    assert_eq!(stored.decision.unwrap().to_string(), "partly accepted by ada as c1 without hunk 2");
    assert_eq!(rig.engine().accept_hunks(id, "ada", &[2]).code(), "already_settled");
    // The change that was made can be undone like any other.
    let undone = rig.engine().call(
        Request { dialect: "native".into(), tool: "undo_edit".into(), arguments: json!({}) },
        &mut Auto,
    );
    assert!(undone.report.is_success(), "{}", undone.text);
    assert_eq!(rig.text(), TEN.as_bytes());
}

// Shows: 002-review-hunks
#[test]
fn rejected_hunks_wait_for_the_decision_on_the_others() {
    let rig = Rig::with(TEN);
    let id = propose_three_hunks(&rig);
    let report = rig.engine().reject_hunks(id, "ada", &[2], Some("keep the number"));
    assert!(report.is_success() && report.message.contains("2 of 3 hunks still pending"), "{report:?}");
    assert_eq!(rig.text(), TEN.as_bytes());
    assert_eq!(
        rig.journal.proposals().unwrap()[0].rejected_hunks[0].reason.as_deref(),
        Some("keep the number")
    );
    for hunks in [&[2][..], &[1, 2]] {
        let report = rig.engine().accept_hunks(id, "bob", hunks);
        assert!(!report.is_success());
        assert_eq!(report.message, format!("hunk 2 of {id} was rejected by ada: keep the number"));
        assert_eq!(rig.text(), TEN.as_bytes());
    }
    let report = rig.engine().accept(id, "bob");
    assert_eq!(left_out(&report), [(2, Some("keep the number"))]);
    assert_eq!(report.warnings, ["not applied: hunk 2 at a:9 (rejected by ada: keep the number)"]);
    assert_eq!(rig.text(), TEN.replace("1\n2\n", "one\nand\n2\n").replace("17\n", "").into_bytes());
}

// Shows: 002-review-hunks
#[test]
fn rejecting_every_hunk_rejects_the_proposal() {
    let rig = Rig::with(TEN);
    let id = propose_three_hunks(&rig);
    for hunk in [2, 1] {
        assert!(rig.engine().reject_hunks(id, "ada", &[hunk], None).is_success());
    }
    assert_eq!(rig.journal.proposals().unwrap().len(), 1);
    assert!(rig.engine().reject_hunks(id, "ada", &[3, 3], Some("no")).is_success());
    assert_eq!(rig.journal.proposals().unwrap().len(), 0);
    let decision = rig.journal.proposal(id).unwrap().unwrap().decision;
    assert!(matches!(&decision, Some(ProposalDecision::Rejected { by, .. }) if by == "ada"), "{decision:?}");
    assert_eq!(rig.text(), TEN.as_bytes());
}

#[test]
fn hunks_that_do_not_exist_are_refused() {
    let rig = Rig::with(TEN);
    let id = propose_three_hunks(&rig);
    for hunks in [&[][..], &[0], &[4], &[1, 9]] {
        for report in
            [rig.engine().accept_hunks(id, "ada", hunks), rig.engine().reject_hunks(id, "ada", hunks, None)]
        {
            assert_eq!(report.code(), "bad_request", "{hunks:?}: {report:?}");
        }
    }
    assert_eq!((rig.text(), rig.journal.proposals().unwrap().len()), (TEN.into(), 1));
}

#[test]
fn hunks_of_files_in_other_encodings_keep_their_bytes() {
    let encode = |text: &str| -> Vec<u8> {
        [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    let rig = Rig::default();
    let crlf = TEN.replace('\n', "\r\n");
    rig.files.put(&a(), encode(&crlf));
    let id = propose_three_hunks(&rig);
    assert!(rig.engine().accept_hunks(id, "ada", &[1, 2]).is_success());
    assert_eq!(
        rig.text(),
        encode(&crlf.replace("1\r\n2\r\n", "one\r\nand\r\n2\r\n").replace("\n9\r", "\nnine\r"))
    );
}

/// Applies some hunks of a unified diff, by their line numbers alone.
fn apply_hunks(old: &str, diff: &str, accepted: &[usize]) -> String {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut out, mut at, mut number) = (String::new(), 0, 0);
    for line in diff.lines().skip_while(|line| !line.starts_with("@@")) {
        match line.split_at(1) {
            ("@", header) => {
                number += 1;
                let range = header.trim_start_matches("@ -").split([' ', ',']).collect::<Vec<_>>();
                let (start, count): (usize, usize) = (range[0].parse().unwrap(), range[1].parse().unwrap());
                let start = if count == 0 { start } else { start - 1 };
                out.extend(lines[at..start].iter().copied());
                at = start;
            }
            ("+", text) if accepted.contains(&number) => out.extend([text, "\n"]),
            ("-", _) if accepted.contains(&number) => at += 1,
            (" " | "-", _) => {
                out.push_str(lines[at]);
                at += 1;
            }
            _ => {}
        }
    }
    out.extend(lines[at..].iter().copied());
    out
}

proptest::proptest! {
    /// Any choice of hunks gives what applying those hunks of the shown diff gives.
    #[test]
    fn any_choice_of_hunks_is_applied_as_shown(
        old in proptest::collection::vec("[abc]{0,2}\n", 1..60),
        edits in proptest::collection::vec((0usize..60, "([xyz]\n){0,3}", 0usize..3), 1..8),
        mask in proptest::prelude::any::<u32>(),
    ) {
        let mut lines = old.clone();
        for (at, text, remove) in edits {
            let at = at.min(lines.len());
            let end = (at + remove).min(lines.len());
            lines.splice(at..end, [text]);
        }
        let (old, new) = (old.concat(), lines.concat());
        proptest::prop_assume!(old != new && !new.is_empty());
        let rig = Rig::with(&old);
        let report = rig.call("propose_file_edit", json!({"path": "a", "new_content": new})).report;
        let id = report.proposal.unwrap();
        let proposal = rig.journal.proposal(id).unwrap().unwrap().proposal;
        let count = proposal.hunks().len();
        let mut accepted: Vec<usize> = (1..=count).filter(|number| mask >> (number % 32) & 1 == 1).collect();
        if accepted.is_empty() {
            accepted.push(1);
        }
        let report = rig.engine().accept_hunks(id, "ada", &accepted);
        proptest::prop_assert!(report.is_success(), "{:?}", report);
        let expected = apply_hunks(&old, &proposal.diff, &accepted);
        proptest::prop_assert_eq!(String::from_utf8(rig.text()).unwrap(), expected);
        if accepted.len() == count {
            proptest::prop_assert_eq!(rig.text(), new.into_bytes());
        }
    }
}

#[test]
fn two_proposals_for_different_lines_are_both_acceptable() {
    let rig = Rig::with(TEN);
    let propose = |from: &str, to: &str| {
        let report =
            rig.call("propose_file_edit", json!({"path": "a", "new_content": TEN.replace(from, to)})).report;
        report.proposal.unwrap()
    };
    let (first, second) = (propose("1\n2\n", "one\nand\n2\n"), propose("\n9\n", "\nnine\n"));
    assert_eq!(rig.engine().accept(first, "ada").status(), Status::Applied);
    let report = rig.engine().accept(second, "ada");
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(rig.text(), TEN.replace("1\n2\n", "one\nand\n2\n").replace("\n9\n", "\nnine\n").into_bytes());
    assert!(report.warnings.iter().any(|warning| warning.contains("carried over")), "{:?}", report.warnings);
    let diff = report.diff.unwrap();
    assert!(diff.contains("@@ -7,7 +7,7 @@"), "the lines where it is now: {diff}");
}

#[test]
fn a_proposal_follows_its_lines_through_another_program_s_change() {
    let rig = Rig::with(TEN);
    let id = propose_three_hunks(&rig);
    let foreign = |text: &str| text.replace("\n5\n", "\nfive\nand a half\n");
    rig.files.put(&a(), foreign(TEN));
    let report = rig.engine().accept(id, "ada");
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    let expected = TEN.replace("1\n2\n", "one\nand\n2\n").replace("\n9\n", "\nnine\n").replace("17\n", "");
    assert_eq!(rig.text(), foreign(&expected).into_bytes());
}

#[test]
fn a_change_of_the_proposal_s_own_lines_is_shown_and_its_hunk_can_be_left_out() {
    let rig = Rig::with(TEN);
    let id = propose_three_hunks(&rig);
    let now = TEN.replace("\n9\n", "\n9 and a half\n");
    rig.files.put(&a(), now.as_str());
    let report = rig.engine().accept(id, "ada");
    assert_eq!((report.status(), report.code()), (Status::Refused, "stale_file"));
    let conflict = &report.conflicts[0];
    assert_eq!(
        (conflict.line, conflict.left.as_str(), conflict.now.as_str()),
        (9, "nine\n", "9 and a half\n")
    );
    assert_eq!(rig.text(), now.as_bytes());
    let report = rig.engine().accept_hunks(id, "ada", &[1, 3]);
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(rig.text(), now.replace("1\n2\n", "one\nand\n2\n").replace("17\n", "").into_bytes());
}

#[test]
fn an_edit_of_another_word_in_the_same_line_is_a_conflict_too() {
    let rig = Rig::with("alpha beta gamma\n2\n");
    let new = "ALPHA beta gamma\n2\n";
    let id = rig.call("propose_file_edit", json!({"path": "a", "new_content": new})).report.proposal.unwrap();
    rig.files.put(&a(), "alpha beta GAMMA\n2\n");
    assert_eq!(rig.engine().accept(id, "ada").code(), "stale_file");
    assert_eq!(rig.text(), b"alpha beta GAMMA\n2\n");
}

fn edited(hunk: usize, text: &str) -> Verdict {
    let hunks = [(hunk, HunkVerdict::Edit { text: text.into() })].into();
    Verdict { hunks, others: HunkVerdict::Accept }
}

#[test]
fn an_edited_hunk_is_written_as_edited() {
    for (old, text, expected) in [
        (TEN.to_owned(), "NINE\nand more", TEN.replace("\n9\n", "\nNINE\nand more\n")),
        (
            TEN.replace('\n', "\r\n"),
            "NINE\r\nmore\n",
            TEN.replace("\n9\n", "\nNINE\nmore\n").replace('\n', "\r\n"),
        ),
        (TEN.to_owned(), "", TEN.replace("\n9\n", "\n")),
    ] {
        let rig = Rig::with(&old);
        let id = propose_three_hunks(&rig);
        let mut verdict = edited(2, text);
        verdict.others = HunkVerdict::Reject { reason: Some("not now".into()) };
        let report = rig.engine().decide(id, "ada", &verdict);
        assert_eq!(report.status(), Status::Applied, "{report:?}");
        assert_eq!(String::from_utf8(rig.text()).unwrap(), expected);
        assert_eq!(report.edited_hunks, [2]);
        assert_eq!(left_out(&report), [(1, Some("not now")), (3, Some("not now"))]);
        let decision = rig.journal.proposal(id).unwrap().unwrap().decision.unwrap().to_string();
        assert!(decision.ends_with(", with hunk 2 edited"), "{decision}");
    }
}

#[test]
fn a_created_file_can_be_edited_and_a_deleted_one_cannot() {
    let rig = Rig::default();
    let arguments = json!({"path": "a", "content": "one\n"});
    let mut policy = Policy::default();
    let rule = Rule::new(Conditions::default(), ConsentRule::Ask, None, "rule 1 in config.toml".into());
    policy.rules.user.push(rule.unwrap());
    let rig = Rig { policy, ..rig };
    let can_edit = |rig: &Rig, id| {
        let proposal = rig.journal.proposal(id).unwrap().unwrap().proposal;
        proposal.can_edit_hunk(&proposal.hunks()[0])
    };
    let id = rig.call("create_file", arguments).report.proposal.unwrap();
    assert!(can_edit(&rig, id));
    let report = rig.engine().decide(id, "ada", &edited(1, "two\n"));
    assert_eq!((report.status(), rig.text()), (Status::Applied, b"two\n".to_vec()), "{report:?}");
    let id = rig.call("delete_file", json!({"path": "a"})).report.proposal.unwrap();
    assert!(!can_edit(&rig, id), "no face offers what would be refused");
    let report = rig.engine().decide(id, "ada", &edited(1, "x"));
    assert_eq!(report.code(), "bad_request", "{report:?}");
    assert_eq!(rig.text(), b"two\n");
}

#[test]
fn hunks_edited_back_to_the_old_text_leave_nothing_to_apply() {
    let rig = Rig::with("1\n2\n");
    let arguments = json!({"path": "a", "new_content": "1\ntwo\n"});
    let id = rig.call("propose_file_edit", arguments).report.proposal.unwrap();
    assert_eq!(rig.engine().decide(id, "ada", &edited(1, "2\n")).code(), "bad_request");
    assert_eq!(rig.journal.proposals().unwrap().len(), 1);
}

#[test]
fn rejecting_hunk_by_hunk_rejects_the_proposal_with_all_reasons() {
    let rig = Rig::with(TEN);
    let id = propose_three_hunks(&rig);
    let reject = |reason: &str| HunkVerdict::Reject { reason: Some(reason.into()) };
    let verdict = Verdict { hunks: [(1, reject("no")), (2, reject("wrong"))].into(), others: reject("no") };
    let report = rig.engine().decide(id, "ada", &verdict);
    assert_eq!(report.message, format!("{id} was rejected by ada: no; wrong"));
    assert_eq!(rig.text(), TEN.as_bytes());
}

#[test]
fn a_pending_change_says_how_to_get_the_decision_and_not_how_to_make_it() {
    let rig = Rig::with("one\n");
    let report = rig.call("propose_file_edit", json!({"path": "a", "new_content": "1\n"})).report;
    let hint = report.hint.unwrap();
    assert!(hint.contains("slipstitch://proposals/p1") && hint.contains("the same call"), "{hint}");
    assert!(!hint.contains("slipstitch review") && !hint.contains("{id}"), "{hint}");
}

#[test]
fn neighbouring_lines_do_not_conflict() {
    let changes: [(&str, &str); 4] =
        [("\n9\n", "\nnine\n"), ("\n10\n", "\nten\n"), ("\n10\n", "\n"), ("\n8\n", "\n")];
    let pairs = [(0, 1), (1, 0), (0, 2), (2, 0), (3, 0), (0, 3)];
    for (one, other) in pairs {
        let rig = Rig::with(TEN);
        let propose = |(from, to): (&str, &str)| {
            let new = TEN.replace(from, to);
            rig.call("propose_file_edit", json!({"path": "a", "new_content": new})).report.proposal.unwrap()
        };
        let (first, second) = (propose(changes[one]), propose(changes[other]));
        assert_eq!(rig.engine().accept(first, "ada").status(), Status::Applied);
        let report = rig.engine().accept(second, "ada");
        assert_eq!(report.status(), Status::Applied, "{one} and {other}: {report:?}");
        let expected = [one, other]
            .iter()
            .fold(TEN.to_owned(), |text, &change| text.replace(changes[change].0, changes[change].1));
        assert_eq!(String::from_utf8(rig.text()).unwrap(), expected);
    }
}

#[test]
fn a_conflict_shows_all_sides_and_names_the_change_that_made_it() {
    let rig = Rig::with(TEN);
    let propose = |from: &str, to: &str| {
        let new = TEN.replace(from, to);
        rig.call("propose_file_edit", json!({"path": "a", "new_content": new})).report.proposal.unwrap()
    };
    let late = propose("\n9\n", "\nnine\n");
    let others = [("1\n2\n", "one\n2\n"), ("\n9\n", "\nIX\n"), ("\n16\n", "\nsixteen\n")];
    for id in others.map(|(from, to)| propose(from, to)) {
        assert_eq!(rig.engine().accept(id, "ada").status(), Status::Applied);
    }
    let report = rig.engine().accept(late, "ada");
    assert_eq!(report.code(), "stale_file");
    let conflict = &report.conflicts[0];
    let sides = (conflict.expected.as_deref(), conflict.left.as_str(), conflict.now.as_str());
    assert_eq!(sides, (Some("9\n"), "nine\n", "IX\n"));
    assert_eq!(conflict.by.iter().map(ToString::to_string).collect::<Vec<_>>(), ["c2"]);
    assert!(report.message.contains("by c2 at line 9"), "{}", report.message);
    // Both add a last line.
    let rig = Rig::with("1\n");
    let propose = |new: &str| {
        rig.call("propose_file_edit", json!({"path": "a", "new_content": new})).report.proposal.unwrap()
    };
    let (first, second) = (propose("1\ntwo\n"), propose("1\n2\n"));
    rig.engine().accept(first, "ada");
    let report = rig.engine().accept(second, "ada");
    assert_eq!((report.code(), report.conflicts.len()), ("stale_file", 1), "{report:?}");
}

#[test]
fn a_file_that_is_gone_is_said_to_be_gone() {
    let rig = Rig::with("one\n");
    let id = rig.propose();
    let deletion = rig.call("delete_file", json!({"path": "a"})).report.proposal.unwrap();
    assert!(rig.engine().accept(deletion, "ada").is_success());
    let report = rig.engine().accept(id, "ada");
    assert!(report.message.contains("`a` was deleted or moved by c1 since"), "{}", report.message);
}

/// Tools that describe what a call asked for would say nothing about a decision, or something that is not true.
#[test]
fn every_dialect_says_what_was_decided() {
    let replace = json!({"file_path": "a", "old_string": "one", "new_string": "1"});
    for (dialect, tool, arguments) in [
        ("gemini", "replace", replace.clone()),
        ("claude", "Edit", replace.clone()),
        (
            "phoenix",
            "patch",
            json!({"path": "a", "patches": [{"operation": "replace", "oldText": "one", "newText": "1"}]}),
        ),
        ("nexus3", "edit_file", json!({"path": "a", "old_string": "one", "new_string": "1"})),
        ("agent-q", "edit_file", json!({"path": "a", "old_str": "one", "new_str": "1"})),
        ("copilot", "replace_string_in_file", json!({"filePath": "a", "oldString": "one", "newString": "1"})),
        (
            "codex",
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** End Patch\n"}),
        ),
    ] {
        let mut rig = Rig::with("one\n");
        let rule = Rule::new(Conditions::default(), ConsentRule::Ask, None, "rule 1 in config.toml".into());
        rig.policy.rules.user.push(rule.unwrap());
        let call = || {
            let request =
                Request { dialect: dialect.into(), tool: tool.into(), arguments: arguments.clone() };
            rig.engine().call(request, &mut Auto)
        };
        let first = call();
        let Some(id) = first.report.proposal else { panic!("{dialect}: {}", first.text) };
        assert_eq!(rig.engine().decide(id, "ada", &edited(1, "EDITED\n")).status(), Status::Applied);
        let again = call();
        assert!(again.text.contains("edited") && again.text.contains("EDITED"), "{dialect}: {}", again.text);
    }
}
