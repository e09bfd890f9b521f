//! The typed API: edits, patches and undo as method calls.

use std::fs;
use std::path::PathBuf;

use slipstitch::core::guard::{Guard, GuardInput, Guards, Refusal, Verdict};
use slipstitch::core::outcome::{Invalid, Refused, Status, Unplaced};
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Decision};
use slipstitch::{EditError, Workspace};

use crate::support::TestFolder;

const TEXT: &str = "one\ntwo\nthree\ntwo\n";

/// A workspace with the file `a.txt`.
struct Rig {
    folder: TestFolder,
    workspace: Workspace,
}

impl Rig {
    fn new() -> Self {
        Self::with_guards(Guards::builtin())
    }

    fn with_guards(guards: Guards) -> Self {
        let folder = TestFolder::new();
        folder.put("a.txt", TEXT);
        let builder = Workspace::builder(folder.at("")).state_dir(folder.state()).config(folder.config());
        let workspace = builder.guards(guards).open().unwrap();
        Self { folder, workspace }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.at(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

#[track_caller]
fn unplaced(error: &EditError) -> Unplaced {
    match error {
        EditError::Unplaced { reason, .. } => *reason,
        other => panic!("expected an edit without a place: {other:?}"),
    }
}

#[track_caller]
fn refused(error: &EditError) -> Refused {
    match error {
        EditError::Refused { reason, .. } => *reason,
        other => panic!("expected a refusal: {other:?}"),
    }
}

#[test]
fn replaces_text_and_returns_a_receipt() {
    let rig = Rig::new();
    let edit = rig.workspace.edit("a.txt").replace("one", "1").replace("three", "3");
    let receipt = edit.description("digits").apply().unwrap();
    assert_eq!(rig.read("a.txt"), "1\ntwo\n3\ntwo\n");
    assert_eq!((receipt.change, receipt.status), (Some(ChangeId(1)), Status::Applied));
    assert!(receipt.diff.contains("-one\n+1\n"), "{}", receipt.diff);
    assert_eq!(receipt.files[0].edits.len(), 2);
    let entry = rig.workspace.change(ChangeId(1)).unwrap().unwrap();
    assert_eq!(entry.summary.description.as_deref(), Some("digits"));
}

#[test]
fn ambiguous_text_is_a_typed_error_with_a_hint() {
    let rig = Rig::new();
    let error = rig.workspace.edit("a.txt").replace("two", "2").apply().unwrap_err();
    assert_eq!(unplaced(&error), Unplaced::Ambiguous);
    assert!(error.to_string().contains("lines 2, 4"), "{error}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("`within`") && hint.contains("`replace_all`"), "{hint}");
    assert_eq!(error.report().unwrap().failures[0].lines, [2, 4]);
    assert_eq!(rig.read("a.txt"), TEXT);
}

#[test]
fn missing_text_is_a_typed_error() {
    let rig = Rig::new();
    let error = rig.workspace.edit("a.txt").replace("four", "4").apply().unwrap_err();
    assert_eq!(unplaced(&error), Unplaced::NoMatch);
}

#[test]
fn replace_all_replaces_every_occurrence() {
    let rig = Rig::new();
    rig.workspace.edit("a.txt").replace_all("two", "2").apply().unwrap();
    assert_eq!(rig.read("a.txt"), "one\n2\nthree\n2\n");
}

#[test]
fn within_limits_the_replacements_after_it() {
    let rig = Rig::new();
    rig.workspace.edit("a.txt").replace("one", "1").within(3..=4).replace("two", "2").apply().unwrap();
    assert_eq!(rig.read("a.txt"), "1\ntwo\nthree\n2\n");
}

#[test]
fn edits_by_line_number_refer_to_the_original_file() {
    let rig = Rig::new();
    let edit = rig.workspace.edit("a.txt").insert_after(0, "zero\n").replace_lines(2..=3, "2\n3\n3b");
    edit.insert_after(4, "five\n").apply().unwrap();
    assert_eq!(rig.read("a.txt"), "zero\none\n2\n3\n3b\ntwo\nfive\n");
    rig.workspace.edit("a.txt").replace_lines(1..=1, "").apply().unwrap();
    assert_eq!(rig.read("a.txt"), "one\n2\n3\n3b\ntwo\nfive\n");
}

#[test]
fn line_ranges_that_the_file_does_not_have_are_refused() {
    let rig = Rig::new();
    #[expect(clippy::reversed_empty_ranges, reason = "one of the mistakes under test")]
    for lines in [5..=5, 4..=9, 3..=2, 0..=1] {
        let error = rig.workspace.edit("a.txt").replace_lines(lines, "x\n").apply().unwrap_err();
        assert_eq!(unplaced(&error), Unplaced::OutOfRange);
        assert!(error.hint().unwrap().contains("`append`"), "{:?}", error.hint());
    }
    let error = rig.workspace.edit("a.txt").within(5..=6).replace("one", "1").apply().unwrap_err();
    assert_eq!(unplaced(&error), Unplaced::OutOfRange);
    assert_eq!(rig.read("a.txt"), TEXT);
}

#[test]
fn append_and_prepend_add_lines_and_create_files() {
    let rig = Rig::new();
    fs::write(rig.path("a.txt"), "one").unwrap();
    rig.workspace.edit("a.txt").prepend("zero").append("two\n").apply().unwrap();
    assert_eq!(rig.read("a.txt"), "zero\none\ntwo\n");
    rig.workspace.edit("new/b.txt").append("first\n").apply().unwrap();
    assert_eq!(rig.read("new/b.txt"), "first\n");
}

#[test]
fn creates_overwrites_and_deletes_files() {
    let rig = Rig::new();
    rig.workspace.edit("b/c.txt").create("new\n").apply().unwrap();
    assert_eq!(rig.read("b/c.txt"), "new\n");
    let error = rig.workspace.edit("b/c.txt").create("again\n").apply().unwrap_err();
    assert_eq!(unplaced(&error), Unplaced::FileExists);
    assert!(error.hint().unwrap().contains("`overwrite`"), "{:?}", error.hint());
    rig.workspace.edit("b/c.txt").overwrite("newer\n").apply().unwrap();
    assert_eq!(rig.read("b/c.txt"), "newer\n");
    rig.workspace.edit("b/c.txt").delete().apply().unwrap();
    assert!(!rig.path("b/c.txt").exists());
    let error = rig.workspace.edit("b/c.txt").replace("a", "b").apply().unwrap_err();
    assert!(matches!(error, EditError::Invalid { reason: Invalid::FileNotFound, .. }), "{error:?}");
    assert!(error.hint().unwrap().contains("`create`"), "{:?}", error.hint());
}

#[test]
fn an_edit_without_operations_changes_nothing() {
    let rig = Rig::new();
    let receipt = rig.workspace.edit("a.txt").apply().unwrap();
    assert_eq!((receipt.change, receipt.status), (None, Status::NoChange));
}

#[test]
fn identical_text_changes_nothing() {
    let rig = Rig::new();
    let receipt = rig.workspace.edit("a.txt").replace("one", "one").apply().unwrap();
    assert_eq!((receipt.change, receipt.status), (None, Status::NoChange));
}

const PATCH: &str = "\
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
--- /dev/null
+++ b/b.txt
@@ -0,0 +1 @@
+new
";

#[test]
fn applies_and_reverses_a_patch_of_several_files() {
    let rig = Rig::new();
    let receipt = rig.workspace.patch(PATCH).description("digits").apply().unwrap();
    assert_eq!(receipt.files.len(), 2);
    assert_eq!((rig.read("a.txt").as_str(), rig.read("b.txt").as_str()), ("one\n2\nthree\ntwo\n", "new\n"));
    rig.workspace.patch(PATCH).reversed().apply().unwrap();
    assert_eq!(rig.read("a.txt"), TEXT);
    assert!(!rig.path("b.txt").exists());
}

#[test]
fn a_patch_that_does_not_apply_writes_no_file() {
    let rig = Rig::new();
    fs::write(rig.path("a.txt"), "other\n").unwrap();
    let error = rig.workspace.patch(PATCH).apply().unwrap_err();
    assert_eq!(unplaced(&error), Unplaced::NoMatch);
    assert!(!rig.path("b.txt").exists());
}

#[test]
fn a_malformed_patch_is_a_typed_error() {
    let rig = Rig::new();
    let error = rig.workspace.patch("not a patch").apply().unwrap_err();
    assert!(matches!(error, EditError::Patch(_)), "{error:?}");
    assert!(error.hint().is_some() && error.report().is_none());
}

#[test]
fn undo_and_redo_go_through_the_history() {
    let rig = Rig::new();
    rig.workspace.edit("a.txt").replace("one", "1").apply().unwrap();
    let second = rig.workspace.edit("a.txt").replace("three", "3").apply().unwrap();
    rig.workspace.undo().apply().unwrap();
    assert_eq!(rig.read("a.txt"), "1\ntwo\nthree\ntwo\n");
    rig.workspace.redo().apply().unwrap();
    assert_eq!(rig.read("a.txt"), "1\ntwo\n3\ntwo\n");
    rig.workspace.undo().change(second.change.unwrap()).apply().unwrap();
    assert_eq!(rig.read("a.txt"), "1\ntwo\nthree\ntwo\n");
    rig.workspace.undo().session().apply().unwrap();
    assert_eq!(rig.read("a.txt"), TEXT);
}

#[test]
fn undo_keeps_later_changes_and_refuses_conflicts() {
    let rig = Rig::new();
    let first = rig.workspace.edit("a.txt").replace("one", "1").apply().unwrap().change.unwrap();
    fs::write(rig.path("a.txt"), "1\ntwo\nTHREE\ntwo\n").unwrap();
    let preview = rig.workspace.undo().change(first).preview().unwrap();
    assert_eq!(preview.status, Status::WouldApply);
    fs::write(rig.path("a.txt"), "uno\ntwo\nTHREE\ntwo\n").unwrap();
    let error = rig.workspace.undo().change(first).apply().unwrap_err();
    assert_eq!(refused(&error), Refused::ChangedSince);
    fs::write(rig.path("a.txt"), "1\ntwo\nTHREE\ntwo\n").unwrap();
    rig.workspace.undo().change(first).apply().unwrap();
    assert_eq!(rig.read("a.txt"), "one\ntwo\nTHREE\ntwo\n");
}

#[test]
fn undo_without_a_change_is_a_typed_error() {
    let rig = Rig::new();
    let error = rig.workspace.undo().apply().unwrap_err();
    assert_eq!(refused(&error), Refused::NothingToUndo);
}

#[test]
fn previews_write_nothing() {
    let rig = Rig::new();
    let edit = rig.workspace.edit("a.txt").replace("one", "1");
    for receipt in [edit.preview().unwrap(), rig.workspace.patch(PATCH).preview().unwrap()] {
        assert_eq!((receipt.change, receipt.status), (None, Status::WouldApply));
        assert!(!receipt.diff.is_empty());
    }
    assert_eq!(rig.read("a.txt"), TEXT);
    assert!(!rig.path("b.txt").exists());
    assert!(rig.workspace.log(&Default::default()).unwrap().is_empty());
    edit.apply().unwrap();
    assert_eq!(rig.read("a.txt"), "1\ntwo\nthree\ntwo\n");
}

#[test]
fn recover_accepts_what_exact_matching_refuses() {
    let rig = Rig::new();
    fs::write(rig.path("a.txt"), "fn main() {\n    run(1);  \n    stop();\n}\n").unwrap();
    let edit =
        rig.workspace.edit("a.txt").replace("    run(1);\n    stop();\n", "    run(2);\n    stop();\n");
    let error = edit.preview().unwrap_err();
    assert_eq!(unplaced(&error), Unplaced::NoMatch);
    let receipt = edit.recover().apply().unwrap();
    assert!(rig.read("a.txt").contains("run(2);"), "{}", rig.read("a.txt"));
    assert!(!receipt.warnings.is_empty());
}

#[test]
fn exact_matching_ignores_line_endings_only() {
    let rig = Rig::new();
    fs::write(rig.path("a.txt"), "one\r\ntwo\r\n").unwrap();
    rig.workspace.edit("a.txt").replace("one\ntwo", "1\n2").apply().unwrap();
    assert_eq!(rig.read("a.txt"), "1\r\n2\r\n");
}

#[test]
fn version_keeps_later_changes_and_refuses_conflicts() {
    let rig = Rig::new();
    let receipt = rig.workspace.edit("a.txt").replace("one", "1").apply().unwrap();
    let version = receipt.files[0].version.unwrap().to_string();
    rig.workspace.edit("a.txt").replace("three", "3").apply().unwrap();
    let edit = |old: &str, new: &str| rig.workspace.edit("a.txt").version(&version).replace(old, new).apply();
    edit("1\n", "uno\n").unwrap();
    assert_eq!(rig.read("a.txt"), "uno\ntwo\n3\ntwo\n");
    let error = edit("three", "drei").unwrap_err();
    assert_eq!(refused(&error), Refused::StaleFile);
    let error = rig.workspace.edit("a.txt").version("nonsense").replace("one", "1").apply().unwrap_err();
    assert!(matches!(error, EditError::Version(_)), "{error:?}");
    assert!(error.hint().is_some());
}

#[test]
fn paths_outside_the_root_are_typed_errors() {
    let rig = Rig::new();
    let error = rig.workspace.edit("../secret").replace("a", "b").apply().unwrap_err();
    assert!(matches!(error, EditError::Path(_)), "{error:?}");
    assert!(error.hint().is_some());
}

#[test]
fn custom_guard_refuses_with_its_code() {
    fn judge(input: &GuardInput<'_>) -> Verdict {
        let is_text = |path: &str| path.ends_with(".txt");
        match input.plan.files.iter().find(|file| is_text(file.path.as_str())) {
            Some(file) => Verdict::Refuse(Refusal::Custom {
                code: "text_is_frozen",
                message: format!("`{}` is frozen", file.path),
                hint: "Edit another file.".into(),
            }),
            None => Verdict::Pass,
        }
    }
    let rig = Rig::with_guards(Guards::builtin().with(Guard { name: "frozen", judge }));
    let error = rig.workspace.edit("a.txt").replace("one", "1").apply().unwrap_err();
    assert!(matches!(error, EditError::Custom { code: "text_is_frozen", .. }), "{error:?}");
    assert_eq!(
        (error.to_string(), error.hint()),
        ("`a.txt` is frozen".into(), Some("Edit another file.".into()))
    );
    assert_eq!(rig.read("a.txt"), TEXT);
    rig.workspace.edit("b.md").create("free\n").apply().unwrap();
}

#[test]
fn an_approver_decides_before_anything_is_written() {
    struct Reviewer(Vec<String>);
    impl Approver for Reviewer {
        fn decide(&mut self, question: &ApprovalRequest<'_>) -> Decision {
            self.0.push(question.diff.to_owned());
            match question.diff.contains("\n+1\n") {
                true => Decision::Approve { by: "reviewer".into() },
                false => Decision::Decline { by: "reviewer".into(), reason: "only digits".into() },
            }
        }
    }
    let rig = Rig::new();
    let mut reviewer = Reviewer(Vec::new());
    let edit = |new: &str| rig.workspace.edit("a.txt").replace("one", new);
    let error = edit("uno").apply_with(&mut reviewer).unwrap_err();
    assert_eq!(refused(&error), Refused::Declined);
    assert_eq!(rig.read("a.txt"), TEXT);
    edit("1").apply_with(&mut reviewer).unwrap();
    assert_eq!(rig.read("a.txt"), "1\ntwo\nthree\ntwo\n");
    assert_eq!(reviewer.0.len(), 2);
    let error = rig.workspace.undo().apply_with(&mut reviewer).unwrap_err();
    assert_eq!(refused(&error), Refused::Declined);
}

#[test]
fn protected_paths_are_kept_for_review() {
    let rig = Rig::new();
    let error = rig.workspace.edit(".git/config").create("x\n").apply().unwrap_err();
    assert_eq!(refused(&error), Refused::PendingReview);
    assert_eq!(rig.workspace.proposals().unwrap().len(), 1);
}
