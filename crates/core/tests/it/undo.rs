//! Undo and stale edits as three-way merges, against an oracle that works on lines and knows no splices.
//!
//! Every line that is ever written is unique. So each line shows which edit it came from, and the expected result of a
//! merge can be computed without one: the lines of one edit are replaced, all others stay.

use proptest::prelude::*;
use serde_json::json;
use slipstitch_core::engine::Engine;
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::Status;
use slipstitch_core::plan::{ChangeId, Direction, OtherSessionsConsent, Plan, Run, Target, UndoPlan};
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::journal::Origin;
use slipstitch_core::report::Report;
use slipstitch_core::text::ContentHash;

use crate::rig::{Rig, path};

/// A text as its lines.
type Text = Vec<String>;

/// A generated edit: its position, and how many lines it removes and adds.
type EditSpec = (u8, usize, usize);

/// An edit that was applied.
#[derive(Debug, Clone)]
struct AppliedEdit {
    old: Text,
    new: Text,
    before: Option<String>,
    after: Option<String>,
}

/// A file and the edits that were applied to it.
struct EditedFile {
    rig: Rig,
    edits: Vec<AppliedEdit>,
    /// The number of the next set of unique lines.
    next: usize,
}

fn joined(text: &[String]) -> String {
    text.iter().map(|line| format!("{line}\n")).collect()
}

impl EditedFile {
    fn new(lines: usize) -> Self {
        let text: Text = (0..lines).map(|number| format!("first {number}")).collect();
        Self { rig: Rig::new(joined(&text)), edits: Vec::new(), next: 0 }
    }

    fn text(&self) -> Text {
        String::from_utf8(self.rig.bytes()).unwrap().lines().map(Into::into).collect()
    }

    fn unique_lines(&mut self, count: usize) -> Text {
        let lines = (0..count).map(|number| format!("line {}.{number}", self.next)).collect();
        self.next += 1;
        lines
    }

    /// The first line that an edit removes, and how many it removes.
    fn place(text: &Text, spec: EditSpec) -> (usize, usize) {
        let start = usize::from(spec.0) * text.len() / 256;
        (start, spec.1.min(text.len() - start).max(1))
    }

    /// Applies an edit by line numbers, as the next change in the journal.
    fn edit(&mut self, spec: EditSpec) {
        let text = self.text();
        if text.len() < 2 {
            return;
        }
        let (start, count) = Self::place(&text, spec);
        // At least one line stays.
        let added = if count == text.len() { spec.2.max(1) } else { spec.2 };
        let new = self.unique_lines(added);
        let call = json!({"start_line": start + 1, "end_line": start + count, "new_text": joined(&new)});
        let report = self.rig.call("edit_lines", call).report;
        assert_eq!(report.status(), Status::Applied, "{report:?}");
        self.edits.push(AppliedEdit {
            old: text[start..start + count].to_vec(),
            new,
            before: start.checked_sub(1).map(|at| text[at].clone()),
            after: text.get(start + count).cloned(),
        });
    }

    /// Inserts a line without the engine, as an editor does.
    fn edit_outside(&mut self, at: u8) {
        let mut text = self.text();
        let at = usize::from(at) * (text.len() + 1) / 256;
        let line = self.unique_lines(1).remove(0);
        text.insert(at, line);
        self.rig.files.put(&path("file.txt"), joined(&text));
    }

    fn undo(&self, number: usize) -> Report {
        self.rig.call("undo_edit", json!({"change": format!("c{number}")})).report
    }
}

/// The text with the lines `old` replaced by `new`; `None` if `old` is not in it as one block.
fn replace_lines(text: &Text, old: &Text, new: &Text) -> Option<Text> {
    let start = text.windows(old.len().max(1)).position(|lines| lines == &old[..])?;
    Some([&text[..start], new, &text[start + old.len()..]].concat())
}

impl AppliedEdit {
    /// The expected result of undoing the edit, if it is determined.
    fn undo_in(&self, text: &Text) -> Option<Text> {
        if !self.new.is_empty() {
            return replace_lines(text, &self.new, &self.old);
        }
        // The edit only removed lines: they belong between its neighbours.
        let at = match (&self.before, &self.after) {
            (Some(before), _) if text.contains(before) => text.iter().position(|line| line == before)? + 1,
            (_, Some(after)) => text.iter().position(|line| line == after)?,
            _ => return None,
        };
        Some([&text[..at], &self.old, &text[at..]].concat())
    }

    /// Whether the edit's new lines and their neighbours are still together.
    fn is_untouched_in(&self, text: &Text) -> bool {
        let block: Text = self.before.iter().chain(&self.new).chain(&self.after).cloned().collect();
        let Some(start) = text.windows(block.len()).position(|lines| lines == &block[..]) else {
            return false;
        };
        (self.before.is_some() || start == 0) && (self.after.is_some() || start + block.len() == text.len())
    }
}

fn specs() -> impl Strategy<Value = Vec<EditSpec>> {
    proptest::collection::vec((any::<u8>(), 1usize..4, 0usize..4), 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn undo_keeps_later_changes_or_is_refused(specs in specs(), which in any::<prop::sample::Index>()) {
        let mut file = EditedFile::new(18);
        specs.iter().for_each(|spec| file.edit(*spec));
        let number = which.index(file.edits.len());
        let (edit, before) = (&file.edits[number], file.text());
        let report = file.undo(number + 1);
        if report.status() == Status::Applied {
            prop_assert_eq!(Some(file.text()), edit.undo_in(&before), "{:?}", edit);
            let redone = file.rig.call("undo_edit", json!({"change": report.change.unwrap().to_string()})).report;
            prop_assert_eq!(redone.status(), Status::Applied);
            prop_assert_eq!(file.text(), before);
        } else {
            prop_assert_eq!((report.status(), report.code()), (Status::Refused, "changed_since"));
            prop_assert!(!edit.is_untouched_in(&before), "refused, but nothing touched it: {}", report.message);
            prop_assert!(!report.conflicts.is_empty(), "the conflict is reported");
            prop_assert_eq!(file.text(), before);
        }
    }

    #[test]
    fn undoing_all_changes_in_any_order_restores_the_original(specs in specs(), order in any::<u64>()) {
        let mut file = EditedFile::new(18);
        let original = file.text();
        specs.iter().for_each(|spec| file.edit(*spec));
        let mut left: Vec<usize> = (1..=file.edits.len()).collect();
        let mut random = fastrand::Rng::with_seed(order);
        while !left.is_empty() {
            let before = file.text();
            let at = random.usize(..left.len());
            match file.undo(left[at]).status() {
                Status::Applied => drop(left.remove(at)),
                _ => {
                    prop_assert_eq!(file.text(), before);
                    // The newest change that is not undone never conflicts.
                    let newest = left.pop().unwrap();
                    let report = file.undo(newest);
                    prop_assert_eq!(report.status(), Status::Applied, "c{}: {}", newest, report.message);
                }
            }
        }
        prop_assert_eq!(file.text(), original);
    }

    #[test]
    fn undo_keeps_foreign_changes_or_is_refused(
        first in specs(), foreign in proptest::collection::vec(any::<u8>(), 1..3), then in specs(),
        which in any::<prop::sample::Index>(),
    ) {
        let mut file = EditedFile::new(18);
        first.iter().for_each(|spec| file.edit(*spec));
        foreign.iter().for_each(|at| file.edit_outside(*at));
        then.iter().take(2).for_each(|spec| file.edit(*spec));
        let number = which.index(file.edits.len());
        let (edit, before) = (&file.edits[number], file.text());
        let report = file.undo(number + 1);
        if report.status() == Status::Applied {
            prop_assert_eq!(Some(file.text()), edit.undo_in(&before), "{:?}", edit);
        } else {
            prop_assert_eq!((report.status(), report.code()), (Status::Refused, "changed_since"));
            prop_assert_eq!(file.text(), before);
        }
    }

    #[test]
    fn an_edit_for_an_earlier_version_is_carried_over_or_refused_as_stale(
        first in specs(), then in specs(), spec in (any::<u8>(), 1usize..4, 0usize..4),
    ) {
        let mut file = EditedFile::new(18);
        first.iter().for_each(|spec| file.edit(*spec));
        let (old_text, version) = (file.text(), ContentHash::of(&file.rig.bytes()));
        then.iter().for_each(|spec| file.edit(*spec));
        let before = file.text();
        let (start, count) = EditedFile::place(&old_text, spec);
        let new = file.unique_lines(spec.2.max(1));
        let report = file.rig.call("edit_lines", json!({
            "start_line": start + 1, "end_line": start + count, "new_text": joined(&new), "version": version.to_string(),
        })).report;
        let old = old_text[start..start + count].to_vec();
        if report.status() == Status::Applied {
            prop_assert_eq!(Some(file.text()), replace_lines(&before, &old, &new));
            if before != old_text {
                prop_assert!(report.warnings.iter().any(|text| text.contains("carried over")), "{:?}", report);
            }
            // The reported lines are those of the file right before and right after the edit.
            let place = report.files[0].edits[0].places[0];
            prop_assert_eq!(&before[place.before.start - 1..][..place.before.count], &old[..]);
            prop_assert_eq!(&file.text()[place.after.start - 1..][..place.after.count], &new[..]);
        } else {
            prop_assert_eq!((report.status(), report.code()), (Status::Refused, "stale_file"));
            prop_assert_eq!(file.text(), before.clone());
            let edit = AppliedEdit {
                old: new, new: old, before: start.checked_sub(1).map(|at| old_text[at].clone()),
                after: old_text.get(start + count).cloned(),
            };
            prop_assert!(!edit.is_untouched_in(&before), "stale, but nothing touched it");
        }
    }
}

/// Undoes changes as another session.
fn undo_as(rig: &Rig, session: &str, target: Target) -> Report {
    let settings = Default::default();
    let engine = Engine::new(&rig.files, &rig.journal)
        .dialects(slipstitch_dialects::builtin())
        .policy(&rig.policy)
        .settings(&settings)
        .session(session);
    let origin =
        Origin { session: session.into(), agent: None, dialect: "native".into(), tool: "undo_edit".into() };
    let plan =
        UndoPlan { target, direction: Direction::Undo, run: Run::Real, others: OtherSessionsConsent::Given };
    engine.execute(&Plan::Undo(plan), origin, HintPhrases::ALL, &mut Auto)
}

/// Applies edits, every other one in the session `even`.
fn interleaved(specs: &[EditSpec]) -> EditedFile {
    let mut file = EditedFile::new(18);
    for (number, spec) in specs.iter().enumerate() {
        file.rig.session = if number % 2 == 0 { "even" } else { "tests" };
        file.edit(*spec);
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn undoing_a_session_equals_undoing_its_changes_one_by_one(specs in specs()) {
        let (at_once, mut one_by_one) = (interleaved(&specs), interleaved(&specs));
        let before = at_once.text();
        // Undoing a change of another session would need consent.
        one_by_one.rig.session = "even";
        let report = undo_as(&at_once.rig, "even", Target::Session);
        let numbers = (1..=one_by_one.edits.len()).filter(|number| number % 2 == 1).rev();
        let steps: Vec<Report> = numbers.map(|number| one_by_one.undo(number)).collect();
        if report.status() == Status::Applied {
            prop_assert!(steps.iter().all(|step| step.status() == Status::Applied));
            prop_assert_eq!(at_once.text(), one_by_one.text());
            let id = report.change.unwrap();
            prop_assert_eq!(undo_as(&at_once.rig, "even", Target::Change(id)).status(), Status::Applied);
        } else {
            prop_assert_eq!((report.status(), report.code()), (Status::Refused, "changed_since"));
            prop_assert!(steps.iter().any(|step| step.status() == Status::Refused));
        }
        prop_assert_eq!(at_once.text(), before, "redone, or never changed");
    }
}

fn text_of(rig: &Rig) -> String {
    String::from_utf8(rig.bytes()).unwrap()
}

#[test]
fn a_conflict_shows_both_versions_and_names_the_change() {
    let rig = Rig::new("a\nb\nc\n");
    rig.edit("b", "B");
    rig.edit("B", "BB");
    rig.edit("a", "A");
    let answer = rig.call("undo_edit", json!({"change": "c1"}));
    assert_eq!(answer.report.code(), "changed_since");
    let conflict = &answer.report.conflicts[0];
    assert_eq!((conflict.left.as_str(), conflict.now.as_str(), conflict.line), ("B\n", "BB\n", 2));
    assert_eq!(conflict.by.iter().map(ToString::to_string).collect::<Vec<_>>(), ["c2"]);
    assert!(
        answer.text.contains("after c1, in `file.txt`:\n    B\nnow, at line 2:\n    BB\n"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("Undo c2 first"), "{}", answer.text);
    assert_eq!(text_of(&rig), "A\nBB\nc\n");
}

#[test]
fn a_conflict_with_a_foreign_change_shows_the_present_text() {
    let rig = Rig::new("a\nb\nc\nd\ne\nf\ng\nh\n");
    rig.edit("d", "D");
    rig.files.put(&path("file.txt"), "a\nb\nc\nX\ne\nf\ng\nh\n");
    let report = rig.call("undo_edit", json!({})).report;
    assert_eq!(report.code(), "changed_since");
    let conflict = &report.conflicts[0];
    assert!(conflict.left.contains("D\n") && conflict.now.contains("X\n"), "{conflict:?}");
    assert!(conflict.by.is_empty() && report.message.contains("something not recorded here"), "{report:?}");
}

/// The changes that a refused undo of `id` names.
fn named_by_refusal(rig: &Rig, id: &str) -> Vec<String> {
    let report = rig.call("undo_edit", json!({"change": id})).report;
    assert_eq!(report.code(), "changed_since", "{report:?}");
    let conflict = &report.conflicts[0];
    for by in &conflict.by {
        assert!(report.message.contains(&by.to_string()), "{}", report.message);
    }
    conflict.by.iter().map(ToString::to_string).collect()
}

#[test]
fn a_conflict_names_the_change_behind_a_foreign_one() {
    let rig = Rig::new("a\nb\nc\nd\ne\nf\ng\nh\n");
    rig.edit("d", "D");
    rig.files.put(&path("file.txt"), "by hand\na\nb\nc\nD\ne\nf\ng\nh\n");
    rig.edit("D", "DD");
    rig.edit("h", "H");
    assert_eq!(named_by_refusal(&rig, "c1"), ["c2"]);
}

#[test]
fn a_conflict_in_a_large_file_names_the_change_before_a_foreign_one() {
    // Too long for the journal to keep its last text.
    let tail = "tail line\n".repeat(30_000);
    let rig = Rig::new(format!("a\nb\nc\nd\ne\nf\ng\nh\n{tail}"));
    rig.edit("d\n", "D\n");
    rig.edit("D\n", "DD\n");
    let now = text_of(&rig);
    rig.files.put(&path("file.txt"), now + "by hand\n");
    assert_eq!(named_by_refusal(&rig, "c1"), ["c2"]);
}

/// A file to which a line was appended by each change.
fn appended(count: usize) -> Rig {
    let rig = Rig::new("first\n");
    for number in 1..=count {
        let line = json!({"path": "file.txt", "content": format!("{number}\n"), "mode": "append"});
        assert_eq!(rig.call("write_file", line).report.status(), Status::Applied);
    }
    rig
}

#[test]
fn a_conflict_with_appended_lines_names_the_whole_chain() {
    let rig = appended(300);
    let report = rig.call("undo_edit", json!({"change": "c7"})).report;
    assert_eq!(report.conflicts[0].by, (8..=300).map(ChangeId).collect::<Vec<_>>());
    let named = "by 293 changes, from c8 (line 9) to c300 (line 301), so";
    assert!(report.message.contains(named), "{}", report.message);
    assert!(report.hint.unwrap().contains("Undo those first, from c300 back to c8,"));
}

#[test]
fn a_conflict_names_the_lines_of_each_change_and_only_those_that_overlap() {
    let rig = appended(4);
    rig.edit("first", "FIRST\nand a half");
    let report = rig.call("undo_edit", json!({"change": "c2"})).report;
    let (message, hint) = (report.message, report.hint.unwrap());
    assert!(
        message.contains("by c3 (line 5), c4 (line 6), so undoing c2 would lose those changes"),
        "{message}"
    );
    assert_eq!(hint, "Nothing was written. Undo c4, c3 first, or edit the file instead.");
    let later = serde_json::to_value(&report.conflicts[0].later).unwrap();
    let expected = json!([
        {"change": "c3", "lines": [{"start": 5, "count": 1}]},
        {"change": "c4", "lines": [{"start": 6, "count": 1}]},
    ]);
    assert_eq!(later, expected);
}

#[test]
fn changes_that_are_undone_in_the_same_call_are_not_in_the_way() {
    let rig = appended(4);
    // c2 is not given.
    let target = Target::Changes(vec![ChangeId(4), ChangeId(3), ChangeId(1)]);
    let report = undo_as(&rig, "tests", target);
    assert!(report.message.contains("by c2 (line 3), so undoing c1 would lose that change"), "{report:?}");
    // A redone change is named by its own number, also if it is undone in the same call.
    rig.call("undo_edit", json!({"change": "c4"}));
    rig.call("undo_edit", json!({"change": "c5"}));
    assert_eq!(named_by_refusal(&rig, "c2"), ["c3", "c4"]);
    let report = undo_as(&rig, "tests", Target::Changes(vec![ChangeId(4), ChangeId(2)]));
    assert!(report.message.contains("by c3 (line 4), so"), "{report:?}");
}

#[test]
fn a_conflict_names_what_was_done_outside_between_and_after_recorded_changes() {
    let rig = appended(2);
    let add = |line: &str| rig.files.put(&path("file.txt"), text_of(&rig) + line);
    add("by hand\n");
    let line = json!({"path": "file.txt", "content": "more\n", "mode": "append"});
    rig.call("write_file", line);
    add("by hand again\n");
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    let message = &report.message;
    let expected = "by c2 (line 3), something not recorded here (line 4), c3 (line 5), something not recorded here (line 6), so";
    assert!(message.contains(expected), "{message}");
    // Undoing the recorded ones would not be enough.
    assert_eq!(report.hint.unwrap(), "Nothing was written. Edit the file instead.");
}

#[test]
fn a_conflict_shows_every_place_that_was_changed_again() {
    let rig = Rig::new("a\nb\nc\nd\ne\n");
    let edits = json!({"path": "file.txt", "edits": [
        {"old_text": "a\n", "new_text": "A\n"}, {"old_text": "c\n", "new_text": "C\n"}, {"old_text": "e\n", "new_text": "E\n"},
    ]});
    assert_eq!(rig.call("edit_file", edits).report.status(), Status::Applied);
    rig.edit("E", "EE");
    rig.edit("A", "AA");
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    assert!(report.message.contains("by c2 (line 5), c3 (line 1), so"), "{}", report.message);
    let places: Vec<_> =
        report.conflicts.iter().map(|conflict| (conflict.line, conflict.by.clone())).collect();
    assert_eq!(places, [(1, vec![ChangeId(3)]), (5, vec![ChangeId(2)])]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn undoing_what_a_refusal_names_makes_room(specs in specs(), which in any::<prop::sample::Index>()) {
        let mut file = EditedFile::new(8);
        specs.iter().for_each(|spec| file.edit(*spec));
        let number = which.index(file.edits.len()) + 1;
        undo_with_what_is_named(&file, number, 0);
    }
}

/// An edit of lines 5 to 7; around them, lines are removed by three more edits, the last of which removes the edited line too.
#[test]
fn text_that_was_removed_and_put_back_is_not_in_the_way() {
    let mut file = EditedFile::new(8);
    [(128, 3, 1), (43, 1, 0), (52, 2, 0), (0, 2, 0)].into_iter().for_each(|spec| file.edit(spec));
    let refused = file.undo(1);
    assert!(refused.message.contains("by c3 (before line 1), c4 (before line 1), so"), "{}", refused.message);
    assert_eq!(file.undo(4).status(), Status::Applied);
    assert_eq!(file.undo(3).status(), Status::Applied);
    // Only c2 is left, which removed a line elsewhere.
    assert_eq!(file.undo(1).status(), Status::Applied);
    let expected = ["first 0", "first 2", "first 3", "first 4", "first 5", "first 6", "first 7"];
    assert_eq!(file.text(), expected);
}

/// Undoes a change, and before it whatever its refusal names, the newest first.
fn undo_with_what_is_named(file: &EditedFile, number: usize, depth: usize) {
    assert!(depth < 10, "c{number}: the refusals go in circles");
    for _ in 0..10 {
        let report = file.undo(number);
        match report.code() {
            "changed_since" => {}
            "already_undone" | "no_change" => return,
            _ => return assert_eq!(report.status(), Status::Applied, "{report:?}"),
        }
        let named = report.conflicts.iter().flat_map(|conflict| &conflict.by);
        let mut named: Vec<ChangeId> = named.copied().collect();
        named.sort_unstable();
        named.dedup();
        assert!(
            !named.is_empty() && !report.message.contains("something not recorded here"),
            "{}",
            report.message
        );
        assert!(named.iter().all(|later| later.0 as usize > number), "{}", report.message);
        named.iter().rev().for_each(|later| undo_with_what_is_named(file, later.0 as usize, depth + 1));
    }
    panic!("c{number} cannot be undone, although everything that was named is");
}

#[test]
fn a_conflict_does_not_name_changes_that_were_undone() {
    let rig = Rig::new("a\nb\nc\n");
    rig.edit("b", "B");
    rig.edit("B", "BB");
    rig.call("undo_edit", json!({}));
    rig.edit("B", "BBB");
    assert_eq!(named_by_refusal(&rig, "c1"), ["c4"]);
}

#[test]
fn a_created_file_does_not_name_changes_that_were_undone() {
    let rig = Rig::new("x\n");
    rig.call("write_file", json!({"path": "made.txt", "content": "one\ntwo\n", "mode": "create"}));
    let edit = |old: &str, new: &str| {
        let edit = json!({"path": "made.txt", "old_text": old, "new_text": new});
        assert_eq!(rig.call("edit_file", edit).report.status(), Status::Applied);
    };
    edit("two", "2");
    assert_eq!(rig.call("undo_edit", json!({"change": "c2"})).report.status(), Status::Applied);
    edit("one", "1");
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    assert!(report.message.contains("which created it, by c4 (line 1): undoing"), "{}", report.message);
    assert!(report.hint.unwrap().contains("Undo c4 first"));
}

#[test]
fn a_pruned_change_is_not_reported_as_foreign() {
    use slipstitch_core::engine::history::find_foreign_changes;
    use slipstitch_core::ports::journal::{Filter, Journal};
    let rig = Rig::new("a\nb\n");
    rig.edit("a", "A");
    rig.edit("b", "B");
    rig.edit("A", "AA");
    let count = || {
        let changes = rig.journal.list(&Filter::default()).unwrap();
        find_foreign_changes(&rig.journal, &changes, |_| None).unwrap().len()
    };
    assert_eq!(count(), 0);
    rig.journal.prune(ChangeId(2));
    assert_eq!(count(), 0, "c2 was between c1 and c3");
}

#[test]
fn undo_keeps_a_foreign_change_elsewhere_in_the_file() {
    let rig = Rig::new("a\nb\nc\nd\ne\nf\ng\nh\n");
    rig.edit("d", "D");
    rig.files.put(&path("file.txt"), "new\na\nb\nc\nD\ne\nf\ng\nh\n");
    assert_eq!(rig.call("undo_edit", json!({})).report.status(), Status::Applied);
    assert_eq!(text_of(&rig), "new\na\nb\nc\nd\ne\nf\ng\nh\n");
}

#[test]
fn refuses_undo_if_the_diff_applies_in_two_places() {
    let block = "a\nb\nc\nD\ne\nf\ng\n";
    let rig = Rig::new(format!("start\n{}", block.replace('D', "d")));
    rig.edit("d", "D");
    rig.files.put(&path("file.txt"), format!("start\n{block}{block}"));
    assert_eq!(rig.call("undo_edit", json!({})).report.code(), "changed_since");
}

#[test]
fn undoing_text_that_was_changed_back_does_nothing() {
    let rig = Rig::new("a\nb\nc\n");
    rig.edit("b", "B");
    rig.edit("B", "b");
    rig.edit("a", "A");
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    assert_eq!((report.status(), report.code()), (Status::NoChange, "no_change"), "{report:?}");
    assert_eq!(text_of(&rig), "A\nb\nc\n");
    assert_eq!(rig.call("undo_edit", json!({"change": "c2"})).report.status(), Status::Applied);
    assert_eq!(rig.call("undo_edit", json!({"change": "c1"})).report.status(), Status::Applied);
    assert_eq!(text_of(&rig), "A\nb\nc\n");
}

#[test]
fn undoes_a_move_and_keeps_later_edits() {
    let rig = Rig::new("one\ntwo\nthree\n");
    let rename = "diff --git a/file.txt b/new.txt\nrename from file.txt\nrename to new.txt\n--- a/file.txt\n+++ b/new.txt\n@@ -1,3 +1,3 @@\n-one\n+1\n two\n three\n";
    let moved = rig.call("patch", json!({"patch": rename, "path": null})).report;
    assert_eq!(moved.status(), Status::Applied, "{moved:?}");
    let edit = json!({"path": "new.txt", "old_text": "three", "new_text": "3"});
    assert_eq!(rig.call("edit_file", edit).report.status(), Status::Applied);
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(text_of(&rig), "one\ntwo\n3\n");
    assert_eq!(rig.files.get(&path("new.txt")), None);
}

#[test]
fn undoes_an_edit_in_a_file_that_was_moved_since() {
    let rig = Rig::new("one\ntwo\nthree\n");
    rig.edit("one", "1");
    let rename = "diff --git a/file.txt b/new.txt\nrename from file.txt\nrename to new.txt\n";
    assert_eq!(rig.call("patch", json!({"patch": rename, "path": null})).report.status(), Status::Applied);
    assert_eq!(rig.call("undo_edit", json!({"change": "c1"})).report.status(), Status::Applied);
    assert_eq!(rig.files.get(&path("new.txt")).unwrap(), b"one\ntwo\nthree\n");
}

#[test]
fn refuses_to_undo_a_move_onto_another_file() {
    let rig = Rig::new("one\n");
    let rename = "diff --git a/file.txt b/new.txt\nrename from file.txt\nrename to new.txt\n";
    rig.call("patch", json!({"patch": rename, "path": null}));
    rig.files.put(&path("file.txt"), "someone's\n");
    let report = rig.call("undo_edit", json!({})).report;
    assert_eq!((report.status(), report.code()), (Status::Refused, "changed_since"), "{report:?}");
    assert!(report.message.contains("exists at `file.txt`"), "{report:?}");
}

#[test]
fn undoes_a_creation_only_if_the_file_is_unchanged() {
    let rig = Rig::new("x\n");
    let create = json!({"path": "made.txt", "content": "one\ntwo\n", "mode": "create"});
    assert_eq!(rig.call("write_file", create).report.status(), Status::Applied);
    let edit = json!({"path": "made.txt", "old_text": "two", "new_text": "2"});
    assert_eq!(rig.call("edit_file", edit).report.status(), Status::Applied);
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    assert_eq!(report.code(), "changed_since");
    assert!(report.message.contains("which created it, by c2 (line 2)"), "{report:?}");
    assert_eq!(rig.call("undo_edit", json!({"change": "c2"})).report.status(), Status::Applied);
    assert_eq!(rig.call("undo_edit", json!({"change": "c1"})).report.status(), Status::Applied);
    assert_eq!(rig.files.get(&path("made.txt")), None);
}

#[test]
fn undoes_a_deletion_only_if_the_path_is_free() {
    let rig = Rig::new("one\n");
    let delete = "--- a/file.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
    assert_eq!(rig.call("patch", json!({"patch": delete, "path": null})).report.status(), Status::Applied);
    rig.files.put(&path("file.txt"), "other\n");
    assert_eq!(rig.call("undo_edit", json!({})).report.code(), "changed_since");
    assert_eq!(text_of(&rig), "other\n");
}

#[test]
fn undoes_an_edit_in_a_file_that_was_deleted_and_restored() {
    let rig = Rig::new("one\ntwo\nthree\n");
    rig.edit("one", "1");
    rig.edit("three", "3");
    let delete = "--- a/file.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-two\n-3\n";
    assert_eq!(rig.call("patch", json!({"patch": delete, "path": null})).report.status(), Status::Applied);
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    assert_eq!(report.code(), "changed_since");
    assert!(report.message.contains("deleted after c1 by c3"), "{report:?}");
    assert_eq!(rig.call("undo_edit", json!({"change": "c3"})).report.status(), Status::Applied);
    assert_eq!(rig.call("undo_edit", json!({"change": "c1"})).report.status(), Status::Applied);
    assert_eq!(text_of(&rig), "one\ntwo\n3\n");
}

#[test]
fn a_version_that_is_not_in_the_journal_is_stale() {
    let rig = Rig::new("a\nb\nc\n");
    let version = ContentHash::of(b"a\nb\nc\n").to_string();
    rig.files.put(&path("file.txt"), "a\nb\nC\n");
    rig.edit("C", "CC");
    let edit = json!({"old_text": "a", "new_text": "A", "version": version});
    assert_eq!(rig.call("edit_file", edit).report.code(), "stale_file");
}

#[test]
fn a_pruned_change_cannot_be_undone() {
    let rig = Rig::new("a\nb\n");
    rig.edit("a", "A");
    rig.journal.prune(slipstitch_core::plan::ChangeId(1));
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    assert_eq!((report.status(), report.code()), (Status::Refused, "forgotten_change"));
    assert_eq!(rig.call("undo_edit", json!({"change": "c7"})).report.code(), "unknown_change");
}

#[test]
fn a_distant_copy_of_the_text_does_not_match() {
    let line =
        |number: usize| format!("line {number} of a file that is too long for its last text to be kept\n");
    let text: String = (0..5000).map(line).collect();
    let rig = Rig::new(text.clone());
    rig.edit("line 4000 of", "LINE 4000 of");
    let changed = text_of(&rig);
    let copied: String = changed.lines().skip(3997).take(7).map(|line| format!("{line}\n")).collect();
    let foreign = format!("{copied}{}", changed.replace("LINE 4000 of", "mine 4000 of"));
    rig.files.put(&path("file.txt"), foreign.clone());
    assert_eq!(rig.call("undo_edit", json!({})).report.code(), "changed_since");
    assert_eq!(text_of(&rig), foreign);
}
