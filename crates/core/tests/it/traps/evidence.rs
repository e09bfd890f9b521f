//! Quotations of earlier versions, twins, and the same mistake in every form.

use rstest::rstest;
use serde_json::{Value, json};
use slipstitch_core::find::Cause;
use slipstitch_core::outcome::Status;
use slipstitch_core::ports::versions::ChangedBy;
use slipstitch_core::report::{FailureReport, Report};

use super::{applied, refused};
use crate::rig::{Rig, path};

const READER: &str =
    "def open_read(path):\n    check(path)\n    file = open(path, \"r\")\n    return wrap(file)\n";
const WRITER: &str =
    "def open_write(path):\n    check(path)\n    file = open(path, \"w\")\n    return wrap(file)\n";

/// A file that the session read as `seen` and that then became `now`.
fn changed_since(seen: &str, now: &str) -> Rig {
    let rig = Rig::new(seen);
    assert_eq!(rig.call("read_file", json!({})).report.status(), Status::Shown);
    rig.files.put(&path("file.txt"), now);
    rig
}

#[track_caller]
fn cause(report: &Report) -> Option<Cause> {
    report.failures.first().and_then(|failure| failure.cause)
}

#[test]
fn a_removed_block_is_never_taken_for_its_twin() {
    let (both, left) = (format!("{READER}\n\n{WRITER}"), WRITER);
    let new = READER.replace("wrap(file)", "wrap(file, lock)");
    // On text alone.
    refused(left, READER, &new, "no_match");
    // With evidence, also if words were swapped so that only one line differs.
    let rig = changed_since(&both, left);
    let answer = rig.edit(READER, &new);
    assert_eq!(cause(&answer.report), Some(Cause::RemovedSince), "{}", answer.text);
    assert_eq!(rig.bytes(), left.as_bytes());
    assert_eq!(answer.report.failures[0].changed_by, Some(ChangedBy::Outside));
}

#[test]
fn a_stale_quotation_is_carried_over_if_its_lines_are_untouched() {
    let now = READER.replace("def open_read(path):", "def open_read(path, mode):");
    let rig = changed_since(READER, &format!("import os\n\n{now}"));
    let answer = rig.edit(READER, &READER.replace("wrap(file)", "wrap(file, lock)"));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    let expected = format!("import os\n\n{}", now.replace("wrap(file)", "wrap(file, lock)"));
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), expected);
    assert!(answer.text.contains("quoted from an earlier version"), "{}", answer.text);
}

#[test]
fn a_refusal_names_the_change_that_touched_the_quoted_line() {
    let rig = Rig::new(READER);
    assert_eq!(rig.edit("\"r\"", "\"rb\"").report.status(), Status::Applied);
    let line = "    file = open(path, \"r\")";
    let answer = rig.edit(line, "    file = open(path, \"rt\")");
    assert_eq!(cause(&answer.report), Some(Cause::ChangedSince), "{}", answer.text);
    let by = answer.report.failures[0].changed_by.clone();
    assert!(matches!(by, Some(ChangedBy::Change { ref session, .. }) if session == "tests"), "{by:?}");
    assert_eq!(answer.report.failures[0].resend.as_deref(), Some("    file = open(path, \"rb\")"));
}

#[test]
fn an_edit_that_was_made_before_is_already_applied() {
    let rig = Rig::new(READER);
    for status in [Status::Applied, Status::AlreadyApplied] {
        let answer = rig.edit("    check(path)\n", "    check(path, strict)\n");
        assert_eq!(answer.report.status(), status, "{}", answer.text);
    }
}

#[test]
fn a_version_from_read_file_is_the_base_of_an_edit() {
    let rig = Rig::new(READER);
    let read = rig.call("read_file", json!({})).report;
    let version = read.files[0].hash.unwrap().to_string();
    rig.files.put(&path("file.txt"), format!("import os\n\n{READER}"));
    let arguments = json!({"start_line": 2, "new_text": "    check(path, strict)\n", "version": version});
    let answer = rig.call("edit_lines", arguments);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert!(
        String::from_utf8_lossy(&rig.bytes())
            .contains("import os\n\ndef open_read(path):\n    check(path, strict)\n")
    );
}

/// The same wrong line as a snippet, a SEARCH/REPLACE block, a V4A hunk and a unified hunk.
#[rstest]
#[case::changed_line("timeout = 3000", "timeout = 4000", "no_match", Some(Cause::ChangedLine))]
#[case::absent("nowhere(to, be, found)", "x", "no_match", Some(Cause::ChangedLine))]
fn the_same_mistake_gets_the_same_answer_in_every_form(
    #[case] old: &str,
    #[case] new: &str,
    #[case] code: &str,
    #[case] cause: Option<Cause>,
) {
    let file = "host = \"a\"\ntimeout = 5000\nretries = 3\n";
    let (old, new) =
        (format!("host = \"a\"\n{old}\nretries = 3"), format!("host = \"a\"\n{new}\nretries = 3"));
    let body = {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        format!(" {}\n-{}\n+{}\n {}\n", old[0], old[1], new[1], old[2])
    };
    let forms: [(&str, Value); 4] = [
        ("edit_file", json!({"old_text": old, "new_text": new})),
        (
            "patch",
            json!({"patch": format!("file.txt\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n")}),
        ),
        (
            "patch",
            json!({"patch": format!("*** Begin Patch\n*** Update File: file.txt\n@@\n{body}*** End Patch\n")}),
        ),
        ("patch", json!({"patch": format!("--- a/file.txt\n+++ b/file.txt\n@@ -1,3 +1,3 @@\n{body}")})),
    ];
    let answers: Vec<FailureReport> = forms
        .into_iter()
        .map(|(tool, mut arguments)| {
            let rig = Rig::new(file);
            arguments["path"] = "file.txt".into();
            let report = rig.call(tool, arguments).report;
            assert_eq!(report.code(), code, "{}", report.message);
            assert_eq!(rig.bytes(), file.as_bytes());
            report.failures.into_iter().next().unwrap()
        })
        .collect();
    assert_eq!(answers[0].cause, cause);
    for other in &answers[1..] {
        assert_eq!(other.cause, answers[0].cause);
        assert_eq!(json!(other.candidates), json!(answers[0].candidates));
        assert_eq!(other.resend, answers[0].resend);
        assert_eq!(json!(other.resend_edit), json!(answers[0].resend_edit));
    }
}

#[test]
fn a_candidate_is_only_applied_where_the_removed_lines_match() {
    let file = "one(1)\ntimeout = 5000\nthree(3)\n";
    let rig = Rig::new(file);
    let answer = rig.edit("timeout = 3000", "timeout = 4000");
    assert!(!answer.text.contains("`candidate`"), "{}", answer.text);
    let answer = rig.call("edit_file", json!({"candidate": 1}));
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
    assert_eq!(rig.bytes(), file.as_bytes());
}

/// Context that was rewritten on several lines: refused on text alone, and merged where the caller says.
#[rstest]
#[case::edit(false)]
#[case::patch(true)]
fn a_candidate_keeps_the_context_of_the_file(#[case] as_patch: bool) {
    let file = "def f(alpha):\n    begin(alpha)\n    check(alpha)\n    total = 1\n    finish(total)\n    return total\n";
    let old = "def f(beta):\n    begin(beta)\n    check(beta)\n    total = 1\n    finish(total)\n    return total\n";
    let rig = Rig::new(file);
    let (tool, arguments) = if as_patch {
        let hunk =
            old.replace("    total = 1\n", "@").lines().map(|line| format!(" {line}\n")).collect::<String>();
        let hunk = hunk.replace(" @", "-    total = 1\n+    total = 2\n ");
        ("patch", json!({"patch": format!("--- a/file.txt\n+++ b/file.txt\n@@ -1,6 +1,6 @@\n{hunk}")}))
    } else {
        ("edit_file", json!({"old_text": old, "new_text": old.replace("total = 1", "total = 2")}))
    };
    let answer = rig.call(tool, arguments.clone());
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
    assert!(answer.text.contains("`candidate`"), "{}", answer.text);
    let mut chosen = if as_patch { arguments } else { json!({}) };
    chosen["candidate"] = 1.into();
    let answer = rig.call(tool, chosen);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), file.replace("total = 1", "total = 2"));
}

#[test]
fn every_recoverable_edit_of_a_call_is_recovered() {
    for count in [11, 50] {
        let file: String = (0..count).map(|n| format!("    call_{n}(a);  \n    next_{n}();\n")).collect();
        let edits: Vec<Value> = (0..count)
            .map(|n| json!({"old_text": format!("call_{n}(a);\nnext_{n}();"), "new_text": format!("call_{n}(b);\nnext_{n}();")}))
            .collect();
        let rig = Rig::new(file.as_str());
        let answer = rig.call("edit_file", json!({"edits": edits}));
        assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
        assert_eq!(String::from_utf8_lossy(&rig.bytes()), file.replace("(a);  ", "(b);"));
    }
}

#[rstest]
#[case::c(
    "static int\nfoo_is_event(struct foo *f)\n{\n\tint rc = 0;\n\tlock(f);\n\tunlock(f);\n\treturn rc;\n}\n",
    "foo_is_event",
    "foo_add_event"
)]
#[case::shell(
    "stop_all()\n{\n  local n=1\n  log \"$n\"\n  kill \"$n\"\n  wait\n}\n",
    "stop_all",
    "start_all"
)]
#[case::lisp(
    "(defun list-add (item)\n  (let ((n 1))\n    (push item items)\n    (log n)\n    items))\n",
    "list-add",
    "list-cut"
)]
fn a_body_under_another_heading_is_another_place(
    #[case] file: &str,
    #[case] name: &str,
    #[case] other: &str,
) {
    let old = file.replace(name, other);
    let new = old.replacen("n", "m", 1).replace('1', "2");
    let answer = Rig::new(file).edit(&old, &new);
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
}

#[test]
fn json_escapes_inside_escaped_text_are_decoded_once() {
    let file = "fn f() {\n    println!(\"a\\n\");\n}\n";
    let old = r#"fn f() {\n    println!(\"a\\n\");\n}"#;
    let new = r#"fn f() {\n    println!(\"b\\n\");\n}"#;
    applied(file, old, new, "fn f() {\n    println!(\"b\\n\");\n}\n");
}
