//! Undo and stale edits as three-way merges, against an oracle that knows lines and nothing of splices.
//!
//! Every line that is ever written is unlike all others. So the lines of a text tell which edit each came from, and what
//! a merge must give can be said without one: the lines of one edit exchanged, all others as they were.

use proptest::prelude::*;
use serde_json::json;
use slipstitch_core::engine::Engine;
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::Status;
use slipstitch_core::plan::{Direction, Plan, Run, Target, UndoPlan};
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::journal::Origin;
use slipstitch_core::report::Report;
use slipstitch_core::text::ContentHash;

use crate::rig::{Rig, path};

/// A text as its lines.
type Text = Vec<String>;

/// One edit as a test asks for it: where, how many lines go, how many come.
type Wish = (u8, usize, usize);

/// What one edit did.
#[derive(Debug, Clone)]
struct Deed {
    old: Text,
    new: Text,
    before: Option<String>,
    after: Option<String>,
}

struct World {
    rig: Rig,
    deeds: Vec<Deed>,
    next: usize,
}

fn joined(text: &[String]) -> String {
    text.iter().map(|line| format!("{line}\n")).collect()
}

impl World {
    fn new(lines: usize) -> Self {
        let text: Text = (0..lines).map(|number| format!("first {number}")).collect();
        Self { rig: Rig::new(joined(&text)), deeds: Vec::new(), next: 0 }
    }

    fn text(&self) -> Text {
        String::from_utf8(self.rig.bytes()).unwrap().lines().map(Into::into).collect()
    }

    fn fresh(&mut self, count: usize) -> Text {
        let made = (0..count).map(|number| format!("line {}.{number}", self.next)).collect();
        self.next += 1;
        made
    }

    /// Which lines of a text a wish is about.
    fn place(text: &Text, wish: Wish) -> (usize, usize) {
        let start = usize::from(wish.0) * text.len() / 256;
        (start, wish.1.min(text.len() - start).max(1))
    }

    /// Makes an edit by line numbers; it becomes the next change in the journal.
    fn edit(&mut self, wish: Wish) {
        let text = self.text();
        if text.len() < 2 {
            return;
        }
        let (start, count) = Self::place(&text, wish);
        // The last line that is left stays.
        let come = if count == text.len() { wish.2.max(1) } else { wish.2 };
        let new = self.fresh(come);
        let call = json!({"start_line": start + 1, "end_line": start + count, "new_text": joined(&new)});
        let report = self.rig.call("edit_lines", call).report;
        assert_eq!(report.status(), Status::Applied, "{report:?}");
        self.deeds.push(Deed {
            old: text[start..start + count].to_vec(),
            new,
            before: start.checked_sub(1).map(|at| text[at].clone()),
            after: text.get(start + count).cloned(),
        });
    }

    /// Someone puts a line in with an editor.
    fn foreign(&mut self, at: u8) {
        let mut text = self.text();
        let at = usize::from(at) * (text.len() + 1) / 256;
        let line = self.fresh(1).remove(0);
        text.insert(at, line);
        self.rig.files.put(&path("file.txt"), joined(&text));
    }

    fn undo(&self, number: usize) -> Report {
        self.rig.call("undo_edit", json!({"change": format!("c{number}")})).report
    }
}

/// The text with the one run of `gone` exchanged for `come`; nothing if `gone` is not there in one piece.
fn exchanged(text: &Text, gone: &Text, come: &Text) -> Option<Text> {
    let start = text.windows(gone.len().max(1)).position(|lines| lines == &gone[..])?;
    Some([&text[..start], come, &text[start + gone.len()..]].concat())
}

impl Deed {
    /// What undo must give, as far as that can be said.
    fn undone(&self, text: &Text) -> Option<Text> {
        if !self.new.is_empty() {
            return exchanged(text, &self.new, &self.old);
        }
        // Nothing was left: between the lines that were beside it.
        let at = match (&self.before, &self.after) {
            (Some(before), _) if text.contains(before) => text.iter().position(|line| line == before)? + 1,
            (_, Some(after)) => text.iter().position(|line| line == after)?,
            _ => return None,
        };
        Some([&text[..at], &self.old, &text[at..]].concat())
    }

    /// Whether nobody has come near what was left.
    fn is_alone(&self, text: &Text) -> bool {
        let run: Text = self.before.iter().chain(&self.new).chain(&self.after).cloned().collect();
        let Some(start) = text.windows(run.len()).position(|lines| lines == &run[..]) else { return false };
        (self.before.is_some() || start == 0) && (self.after.is_some() || start + run.len() == text.len())
    }
}

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    proptest::collection::vec((any::<u8>(), 1usize..4, 0usize..4), 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn undo_keeps_later_work_or_refuses(wishes in wishes(), which in any::<prop::sample::Index>()) {
        let mut world = World::new(18);
        wishes.iter().for_each(|wish| world.edit(*wish));
        let number = which.index(world.deeds.len());
        let (deed, before) = (&world.deeds[number], world.text());
        let report = world.undo(number + 1);
        if report.status() == Status::Applied {
            prop_assert_eq!(Some(world.text()), deed.undone(&before), "{:?}", deed);
            let redone = world.rig.call("undo_edit", json!({"change": report.change.unwrap().to_string()})).report;
            prop_assert_eq!(redone.status(), Status::Applied);
            prop_assert_eq!(world.text(), before);
        } else {
            prop_assert_eq!((report.status(), report.code()), (Status::Refused, "changed_since"));
            prop_assert!(!deed.is_alone(&before), "refused though nobody came near: {}", report.message);
            prop_assert!(!report.conflicts.is_empty(), "the conflict is shown");
            prop_assert_eq!(world.text(), before);
        }
    }

    #[test]
    fn all_changes_undone_in_any_order_give_the_original(wishes in wishes(), order in any::<u64>()) {
        let mut world = World::new(18);
        let original = world.text();
        wishes.iter().for_each(|wish| world.edit(*wish));
        let mut left: Vec<usize> = (1..=world.deeds.len()).collect();
        let mut seed = order;
        while !left.is_empty() {
            let before = world.text();
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (seed >> 33) as usize % left.len();
            match world.undo(left[at]).status() {
                Status::Applied => drop(left.remove(at)),
                _ => {
                    prop_assert_eq!(world.text(), before);
                    // The newest that stands is in nobody's way.
                    let newest = left.pop().unwrap();
                    let report = world.undo(newest);
                    prop_assert_eq!(report.status(), Status::Applied, "c{}: {}", newest, report.message);
                }
            }
        }
        prop_assert_eq!(world.text(), original);
    }

    #[test]
    fn a_foreign_change_is_kept_or_the_undo_refused(
        first in wishes(), foreign in proptest::collection::vec(any::<u8>(), 1..3), then in wishes(),
        which in any::<prop::sample::Index>(),
    ) {
        let mut world = World::new(18);
        first.iter().for_each(|wish| world.edit(*wish));
        foreign.iter().for_each(|at| world.foreign(*at));
        then.iter().take(2).for_each(|wish| world.edit(*wish));
        let number = which.index(world.deeds.len());
        let (deed, before) = (&world.deeds[number], world.text());
        let report = world.undo(number + 1);
        if report.status() == Status::Applied {
            prop_assert_eq!(Some(world.text()), deed.undone(&before), "{:?}", deed);
        } else {
            prop_assert_eq!((report.status(), report.code()), (Status::Refused, "changed_since"));
            prop_assert_eq!(world.text(), before);
        }
    }

    #[test]
    fn an_edit_for_an_earlier_version_is_carried_over_or_stale(
        first in wishes(), then in wishes(), wish in (any::<u8>(), 1usize..4, 0usize..4),
    ) {
        let mut world = World::new(18);
        first.iter().for_each(|wish| world.edit(*wish));
        let (then_text, version) = (world.text(), ContentHash::of(&world.rig.bytes()));
        then.iter().for_each(|wish| world.edit(*wish));
        let before = world.text();
        let (start, count) = World::place(&then_text, wish);
        let new = world.fresh(wish.2.max(1));
        let report = world.rig.call("edit_lines", json!({
            "start_line": start + 1, "end_line": start + count, "new_text": joined(&new), "version": version.to_string(),
        })).report;
        let old = then_text[start..start + count].to_vec();
        if report.status() == Status::Applied {
            prop_assert_eq!(Some(world.text()), exchanged(&before, &old, &new));
            if before != then_text {
                prop_assert!(report.warnings.iter().any(|text| text.contains("carried over")), "{:?}", report);
            }
            // The lines told are those of the file as it was a moment ago, and as it is now.
            let place = report.files[0].edits[0].places[0];
            prop_assert_eq!(&before[place.before.start - 1..][..place.before.count], &old[..]);
            prop_assert_eq!(&world.text()[place.after.start - 1..][..place.after.count], &new[..]);
        } else {
            prop_assert_eq!((report.status(), report.code()), (Status::Refused, "stale_file"));
            prop_assert_eq!(world.text(), before.clone());
            let around = Deed {
                old: new, new: old, before: start.checked_sub(1).map(|at| then_text[at].clone()),
                after: then_text.get(start + count).cloned(),
            };
            prop_assert!(!around.is_alone(&before), "stale though nobody came near");
        }
    }
}

/// Runs a plan of undo for a session.
fn undo_as(rig: &Rig, session: &str, target: Target) -> Report {
    let settings = Default::default();
    let engine = Engine::new(&rig.files, &rig.journal)
        .dialects(slipstitch_dialects::builtin())
        .policy(&rig.policy)
        .settings(&settings)
        .session(session);
    let origin =
        Origin { session: session.into(), agent: None, dialect: "native".into(), tool: "undo_edit".into() };
    let plan = UndoPlan { target, direction: Direction::Undo, run: Run::Real };
    engine.execute(&Plan::Undo(plan), origin, HintPhrases::ALL, &mut Auto)
}

/// Makes edits of which the even ones belong to the session `even`.
fn interleaved(wishes: &[Wish]) -> World {
    let mut world = World::new(18);
    for (number, wish) in wishes.iter().enumerate() {
        world.rig.session = if number % 2 == 0 { "even" } else { "tests" };
        world.edit(*wish);
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_session_undone_at_once_is_its_changes_undone_one_by_one(wishes in wishes()) {
        let (at_once, one_by_one) = (interleaved(&wishes), interleaved(&wishes));
        let before = at_once.text();
        let report = undo_as(&at_once.rig, "even", Target::Session);
        let numbers = (1..=one_by_one.deeds.len()).filter(|number| number % 2 == 1).rev();
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
        prop_assert_eq!(at_once.text(), before, "brought back, or never touched");
    }
}

fn text_of(rig: &Rig) -> String {
    String::from_utf8(rig.bytes()).unwrap()
}

#[test]
fn a_conflict_shows_both_sides_and_names_the_change() {
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
        answer.text.contains("c1 left in `file.txt`:\n    B\nthere is now, at line 2:\n    BB\n"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("Take back c2 first"), "{}", answer.text);
    assert_eq!(text_of(&rig), "A\nBB\nc\n");
}

#[test]
fn a_foreign_conflict_shows_what_is_there() {
    let rig = Rig::new("a\nb\nc\nd\ne\nf\ng\nh\n");
    rig.edit("d", "D");
    rig.files.put(&path("file.txt"), "a\nb\nc\nX\ne\nf\ng\nh\n");
    let report = rig.call("undo_edit", json!({})).report;
    assert_eq!(report.code(), "changed_since");
    let conflict = &report.conflicts[0];
    assert!(conflict.left.contains("D\n") && conflict.now.contains("X\n"), "{conflict:?}");
    assert!(conflict.by.is_empty() && report.message.contains("something else"), "{report:?}");
}

#[test]
fn what_was_forgotten_is_not_called_foreign() {
    use slipstitch_core::engine::history::foreign;
    use slipstitch_core::plan::ChangeId;
    use slipstitch_core::ports::journal::{Filter, Journal};
    let rig = Rig::new("a\nb\n");
    rig.edit("a", "A");
    rig.edit("b", "B");
    rig.edit("A", "AA");
    let told =
        || foreign(&rig.journal, &rig.journal.list(&Filter::default()).unwrap(), |_| None).unwrap().len();
    assert_eq!(told(), 0);
    rig.journal.forget(ChangeId(2));
    assert_eq!(told(), 0, "c2 was between c1 and c3");
}

#[test]
fn a_foreign_change_elsewhere_is_kept() {
    let rig = Rig::new("a\nb\nc\nd\ne\nf\ng\nh\n");
    rig.edit("d", "D");
    rig.files.put(&path("file.txt"), "new\na\nb\nc\nD\ne\nf\ng\nh\n");
    assert_eq!(rig.call("undo_edit", json!({})).report.status(), Status::Applied);
    assert_eq!(text_of(&rig), "new\na\nb\nc\nd\ne\nf\ng\nh\n");
}

#[test]
fn two_places_that_fit_the_diff_are_none() {
    let block = "a\nb\nc\nD\ne\nf\ng\n";
    let rig = Rig::new(format!("start\n{}", block.replace('D', "d")));
    rig.edit("d", "D");
    rig.files.put(&path("file.txt"), format!("start\n{block}{block}"));
    assert_eq!(rig.call("undo_edit", json!({})).report.code(), "changed_since");
}

#[test]
fn what_is_back_already_is_not_put_back_twice() {
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
fn a_move_is_undone_with_later_edits() {
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
fn an_edit_is_undone_in_a_file_that_was_moved_since() {
    let rig = Rig::new("one\ntwo\nthree\n");
    rig.edit("one", "1");
    let rename = "diff --git a/file.txt b/new.txt\nrename from file.txt\nrename to new.txt\n";
    assert_eq!(rig.call("patch", json!({"patch": rename, "path": null})).report.status(), Status::Applied);
    assert_eq!(rig.call("undo_edit", json!({"change": "c1"})).report.status(), Status::Applied);
    assert_eq!(rig.files.get(&path("new.txt")).unwrap(), b"one\ntwo\nthree\n");
}

#[test]
fn a_file_in_the_way_of_a_move_back_refuses_it() {
    let rig = Rig::new("one\n");
    let rename = "diff --git a/file.txt b/new.txt\nrename from file.txt\nrename to new.txt\n";
    rig.call("patch", json!({"patch": rename, "path": null}));
    rig.files.put(&path("file.txt"), "someone's\n");
    let report = rig.call("undo_edit", json!({})).report;
    assert_eq!((report.status(), report.code()), (Status::Refused, "changed_since"), "{report:?}");
    assert!(report.message.contains("stands at `file.txt`"), "{report:?}");
}

#[test]
fn a_creation_is_undone_only_while_nothing_was_added() {
    let rig = Rig::new("x\n");
    let made = json!({"path": "made.txt", "content": "one\ntwo\n", "mode": "create"});
    assert_eq!(rig.call("write_file", made).report.status(), Status::Applied);
    let edit = json!({"path": "made.txt", "old_text": "two", "new_text": "2"});
    assert_eq!(rig.call("edit_file", edit).report.status(), Status::Applied);
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    assert_eq!(report.code(), "changed_since");
    assert!(report.message.contains("which made it, by c2"), "{report:?}");
    assert_eq!(rig.call("undo_edit", json!({"change": "c2"})).report.status(), Status::Applied);
    assert_eq!(rig.call("undo_edit", json!({"change": "c1"})).report.status(), Status::Applied);
    assert_eq!(rig.files.get(&path("made.txt")), None);
}

#[test]
fn a_deletion_is_undone_only_where_nothing_stands() {
    let rig = Rig::new("one\n");
    let delete = "--- a/file.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
    assert_eq!(rig.call("patch", json!({"patch": delete, "path": null})).report.status(), Status::Applied);
    rig.files.put(&path("file.txt"), "other\n");
    assert_eq!(rig.call("undo_edit", json!({})).report.code(), "changed_since");
    assert_eq!(text_of(&rig), "other\n");
}

#[test]
fn a_file_that_was_removed_and_brought_back_can_still_be_undone_in() {
    let rig = Rig::new("one\ntwo\nthree\n");
    rig.edit("one", "1");
    rig.edit("three", "3");
    let delete = "--- a/file.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-two\n-3\n";
    assert_eq!(rig.call("patch", json!({"patch": delete, "path": null})).report.status(), Status::Applied);
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    assert_eq!(report.code(), "changed_since");
    assert!(report.message.contains("removed after c1 by c3"), "{report:?}");
    assert_eq!(rig.call("undo_edit", json!({"change": "c3"})).report.status(), Status::Applied);
    assert_eq!(rig.call("undo_edit", json!({"change": "c1"})).report.status(), Status::Applied);
    assert_eq!(text_of(&rig), "one\ntwo\n3\n");
}

#[test]
fn a_version_that_only_an_editor_left_is_stale() {
    let rig = Rig::new("a\nb\nc\n");
    let version = ContentHash::of(b"a\nb\nc\n").to_string();
    rig.files.put(&path("file.txt"), "a\nb\nC\n");
    rig.edit("C", "CC");
    let edit = json!({"old_text": "a", "new_text": "A", "version": version});
    assert_eq!(rig.call("edit_file", edit).report.code(), "stale_file");
}

#[test]
fn a_forgotten_change_says_so() {
    let rig = Rig::new("a\nb\n");
    rig.edit("a", "A");
    rig.journal.forget(slipstitch_core::plan::ChangeId(1));
    let report = rig.call("undo_edit", json!({"change": "c1"})).report;
    assert_eq!((report.status(), report.code()), (Status::Refused, "forgotten_change"));
    assert_eq!(rig.call("undo_edit", json!({"change": "c7"})).report.code(), "unknown_change");
}

#[test]
fn a_copy_far_away_is_not_the_place() {
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
