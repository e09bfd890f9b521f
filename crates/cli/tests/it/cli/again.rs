//! Requests that are sent twice are already applied the second time, whatever their form.

use super::rig::Rig;

/// Runs a command twice: the second time it is already applied, and nothing is written.
fn assert_applied_once(rig: &Rig, words: &[&str]) {
    rig.run(words).assert_done();
    let once = rig.get("a.txt");
    let again = rig.run(words);
    again.assert_done();
    assert!(again.err.starts_with("already applied: "), "{words:?}: {again:?}");
    assert_eq!(rig.get("a.txt"), once, "{words:?}");
}

#[test]
fn a_replacement_inside_a_line_is_recognised() {
    for text in ["wait(3000);\nrest\n", "wait(3000);\r\nrest\r\n"] {
        let rig = Rig::with(text);
        assert_applied_once(&rig, &["edit", "a.txt", "--old", "3000", "--new", "40"]);
        rig.run(["edit", "a.txt", "--old", "40", "--new", "50"]).assert_done();
        // Something else is in its place now.
        rig.run(["edit", "a.txt", "--old", "3000", "--new", "40"])
            .assert_failed(1, &["line 1 changed since"]);
    }
}

#[test]
fn a_replacement_of_every_occurrence_is_recognised() {
    let rig = Rig::with("use core::a;\nuse core::b;\n\nmod core;\n");
    assert_applied_once(&rig, &["edit", "a.txt", "--old", "core::", "--new", "std::", "--all"]);
    rig.put("b.txt", "nothing of it\n");
    let run = rig.run(["edit", "*.txt", "--old", "core::", "--new", "std::", "--all"]);
    run.assert_done();
    assert!(run.err.contains("already applied"), "{run:?}");
    // One of the places has changed since, so this is uncertain.
    rig.put("a.txt", "use alloc::a;\nuse std::b;\n");
    rig.run(["edit", "a.txt", "--old", "core::", "--new", "std::", "--all"]).assert_failed(1, &[]);
}

#[test]
fn a_removal_is_recognised_unless_the_text_was_moved() {
    let remove = ["edit", "a.txt", "--old", "let second = compute();\n", "--new", ""];
    let text = "let first = 1;\nlet second = compute();\nlet third = 3;\n";
    let rig = Rig::with(text);
    rig.run(remove).assert_done();
    let again = rig.run(remove);
    again.assert_done();
    assert!(again.err.contains("the old text was already removed"), "{again:?}");
    let rig = Rig::with(text);
    rig.run(["read", "a.txt"]).assert_done();
    rig.run(["append", "a.txt", "--content", "// end\n"]).assert_done();
    rig.put("a.txt", "let first = 1;\nlet third = 3;\n// end\nlet second = compute(1);\n");
    rig.run(remove).assert_failed(1, &["was removed since"]);
}

#[test]
fn lines_are_recognised_by_what_was_expected() {
    let rig = Rig::with("one\ntwo\nthree\n");
    assert_applied_once(&rig, &["lines", "a.txt", "2", "--new", "zwei\nund mehr", "--expect", "two"]);
    // Below a shorter text, the rest of the expected text may still be there.
    rig.put("a.txt", "long line\nother\n");
    rig.run(["lines", "a.txt", "1-2", "--new", "long line", "--expect", "old\nother"])
        .assert_failed(1, &["not what was expected"]);
}

const FILES: &str = "diff --git a/new.txt b/new.txt\nnew file mode 100755\n--- /dev/null\n+++ b/new.txt\n\
@@ -0,0 +1 @@\n+hello\n\
diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
diff --git a/from.txt b/to.txt\nsimilarity index 66%\nrename from from.txt\nrename to to.txt\n\
--- a/from.txt\n+++ b/to.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n\
diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n--- a/a.txt\n+++ b/a.txt\n\
@@ -1 +1 @@\n-first line\n+FIRST LINE\n";

#[test]
fn a_patch_of_whole_files_is_recognised() {
    let rig = Rig::with("first line\n");
    rig.put("gone.txt", "x\n");
    rig.put("from.txt", "alpha\nbeta\ngamma\n");
    rig.run_fed(["patch"], FILES).assert_done();
    let again = rig.run_fed(["patch"], FILES);
    again.assert_done();
    let want = "\
already applied: every part of the patch is in place
  `new.txt`: the file already exists and has this content
  `new.txt`: the file already has this mode
  `gone.txt`: the file was already deleted
  `from.txt`: the file was already moved
  `a.txt`: hunk 1: the old text was not found, and the new text is already at line 1
  `a.txt`: the file already has this mode
hint: Nothing to do.
";
    assert_eq!(again.err, want);
    // Only a part of it.
    rig.run(["delete", "new.txt"]).assert_done();
    let part = rig.run_fed(["patch"], FILES);
    part.assert_failed(
        1,
        &["4 parts are already applied, so nothing was written", "`--reject` applies the others"],
    );
    let rest = rig.run_fed(["patch", "--reject"], FILES);
    assert_eq!((rest.code, rig.get("new.txt").as_str()), (0, "hello\n"), "{rest:?}");
    // Neither the journal nor Git knows this file, so the name may be wrong.
    let unknown = "*** Begin Patch\n*** Delete File: never.txt\n*** End Patch\n";
    rig.run_fed(["patch"], unknown).assert_failed(2, &["`never.txt`: no such file"]);
}

#[test]
fn several_hunks_in_place_are_no_failure() {
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-line 1\n+LINE ONE\n line 2\n\
                 @@ -4,2 +4,2 @@\n line 4\n-line 5\n+LINE FIVE\n";
    let rig = Rig::with("line 1\nline 2\nline 3\nline 4\nline 5\n");
    rig.run_fed(["patch"], patch).assert_done();
    let again = rig.run_fed(["patch"], patch);
    again.assert_done();
    assert!(!again.err.contains("cannot be applied"), "{again:?}");
    let edits = r#"{"path": "a.txt", "edits": [{"old_text": "line 1", "new_text": "LINE ONE"},
                   {"old_text": "line 5", "new_text": "LINE FIVE"}]}"#;
    let call = rig.run(["call", "edit_file", edits]);
    call.assert_done();
    assert!(call.out.starts_with("already applied: the result of all 2 edits is already there"), "{call:?}");
}

#[test]
fn commands_for_whole_files_are_errors_when_there_is_nothing_to_do() {
    let rig = Rig::with("one\n");
    rig.put("b.txt", "two\n");
    rig.run(["delete", "b.txt"]).assert_done();
    rig.run(["delete", "b.txt"]).assert_failed(2, &["`b.txt`: no such file"]);
    rig.run(["move", "a.txt", "c.txt"]).assert_done();
    rig.run(["move", "a.txt", "c.txt"]).assert_failed(2, &["`a.txt`: no such file"]);
    rig.run(["write", "d.txt", "--create", "--content", "x"]).assert_done();
    rig.run(["write", "d.txt", "--create", "--content", "x"]).assert_failed(1, &["already exists"]);
}

#[test]
fn a_version_in_which_nothing_has_changed_explains_nothing() {
    let text = "use a;\n\nimpl Chars {\n    fn new(bs: u8) -> Chars {\n        Chars { bs }\n    }\n}\n";
    let rig = Rig::with(text);
    rig.run(["edit", "a.txt", "--old", "use a", "--new", "use b"]).assert_done();
    // One line has the file's indentation and the others have lost it, so there is no way to indent the new ones.
    let old = "impl Chars {\nfn new(bs: u8) -> Chars {\n    Chars { bs }\n}\n";
    let run = rig.run(["edit", "a.txt", "--old", old, "--new", &old.replace("new", "old")]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(!run.err.contains("changed since"), "{run:?}");
}
