//! State: batches, repeated edits, and files that others change.

use rstest::rstest;
use serde_json::{Value, json};
use slipstitch_core::outcome::Status;

use super::{applied, refused};
use crate::rig::Rig;

/// Sends a batch that must be refused, and checks that nothing has changed.
#[track_caller]
fn refused_batch(file: &str, edits: Value) -> slipstitch_core::report::Report {
    let rig = Rig::new(file);
    let answer = rig.call("edit_file", json!({"edits": edits}));
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), file, "{}", answer.text);
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
    answer.report
}

const FILE: &str = "  one();\n  two();\n  three();\n  four();\n  five();\n";

#[test]
fn reports_every_failing_edit_of_a_batch_and_writes_nothing() {
    let report = refused_batch(
        FILE,
        json!([
            {"old_text": "one();\ntwo(); ", "new_text": "1();\ntwo();"},
            {"old_text": "six();", "new_text": "6();"},
            {"old_text": "();", "new_text": "(0);"},
        ]),
    );
    let failed: Vec<(Option<usize>, &str)> =
        report.failures.iter().map(|f| (f.edit, f.reason.code())).collect();
    assert_eq!(failed, [(Some(2), "no_match"), (Some(3), "ambiguous")]);
}

#[rstest]
#[case::exactly("two();\n  three();", "three();\n  four();")]
#[case::recovered("two();\nthree();", "three();\nfour();")]
#[case::one_recovered("two();\nthree();", "  three();")]
fn rejects_overlapping_edits(#[case] first: &str, #[case] second: &str) {
    let report = refused_batch(
        FILE,
        json!([
            {"old_text": first, "new_text": format!("{first}\nx();")},
            {"old_text": second, "new_text": "  y();"},
        ]),
    );
    assert_eq!(report.code(), "overlap");
    assert!(report.message.contains("edits 1 and 2"), "{}", report.message);
}

/// All recovered edits of a batch refer to the original file.
#[test]
fn recovers_edits_of_a_batch_in_the_original_file() {
    let rig = Rig::new(FILE);
    let answer = rig.call(
        "edit_file",
        json!({"edits": [
            {"old_text": "four(); \nfive();", "new_text": "five();"},
            {"old_text": "one(); \ntwo();", "new_text": "one();\nfour();\nfive();\ntwo();"},
        ]}),
    );
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    let after = "  one();\n  four();\n  five();\n  two();\n  three();\n  five();\n";
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), after);
}

#[test]
fn rejects_an_edit_that_needs_the_one_before_it() {
    let report = refused_batch(
        "foo=1\n",
        json!([{"old_text": "foo=1", "new_text": "foo=2"}, {"old_text": "foo=2", "new_text": "foo=3"}]),
    );
    assert_eq!(report.failures[0].edit, Some(2));
}

#[test]
fn replaces_all_if_the_new_text_contains_the_old() {
    let rig = Rig::new("a b a\na\n");
    let answer = rig.call("edit_file", json!({"old_text": "a", "new_text": "aa", "replace_all": true}));
    assert_eq!(answer.report.status(), Status::Applied);
    assert_eq!(rig.bytes(), b"aa b aa\naa\n");
}

#[rstest]
#[case::exactly("  two();", "  two();")]
#[case::recovered("one(); \ntwo();", "one(); \ntwo();")]
#[case::recovered_and_repaired("one(); \ntwo();", "one();\ntwo();")]
fn reports_an_edit_without_effect_as_no_change(#[case] old: &str, #[case] new: &str) {
    let rig = Rig::new(FILE);
    let answer = rig.edit(old, new);
    assert_eq!(rig.bytes(), FILE.as_bytes());
    assert_eq!((answer.report.status(), answer.report.change), (Status::NoChange, None), "{}", answer.text);
}

#[rstest]
#[case::a_line_replaced("  two();\n  drei();", "  two();\n  three();")]
#[case::a_line_inserted("  three();\n  five();", "  three();\n  four();\n  five();")]
fn reports_an_edit_as_already_applied(#[case] old: &str, #[case] new: &str) {
    let answer = refused(FILE, old, new, "already_applied");
    assert_eq!(answer.report.status(), Status::AlreadyApplied);
}

/// New text that is in the file with other indentation, and an insertion sent again: nothing is written.
#[test]
fn never_applies_an_edit_twice() {
    let rig = Rig::new(FILE);
    let answer = rig.edit("two();\ndrei();", "two();\nthree();");
    assert_eq!(rig.bytes(), FILE.as_bytes(), "{}", answer.text);
    assert_ne!(answer.report.status(), Status::Applied);
    let (old, new) = ("two(); \nthree();", "two();\nand_a_half();\nthree();");
    assert_eq!(rig.edit(old, new).report.status(), Status::Applied);
    let after = rig.bytes();
    let answer = rig.edit(old, new);
    assert_eq!(rig.bytes(), after, "{}", answer.text);
    assert_ne!(answer.report.status(), Status::Applied);
}

#[test]
fn recovers_in_a_file_that_others_changed_elsewhere() {
    let rig = Rig::new(FILE);
    let info = rig.call("get_file_info", json!({}));
    let version = info.report.files[0].version.map(|hash| hash.to_string()).unwrap_or_default();
    // The journal does not know about the other editor: with a version the file is stale, without one the text decides.
    rig.files.put(&crate::rig::path("file.txt"), FILE.replace("five", "5"));
    let answer = rig.call(
        "edit_file",
        json!({"old_text": "one(); \ntwo();", "new_text": "1();\ntwo();", "version": version}),
    );
    assert_eq!(answer.report.code(), "stale_file", "{}", answer.text);
    assert_eq!(rig.bytes(), FILE.replace("five", "5").as_bytes());
    let answer = rig.edit("one(); \ntwo();", "1();\ntwo();");
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(rig.bytes(), FILE.replace("five", "5").replace("one", "1").as_bytes());
}

/// A neighbouring line that someone else changed is kept.
#[test]
fn keeps_a_neighbouring_line_that_others_changed() {
    let file = "    let retries = 5;\n    let delay = 10;\n    connect(host, port);\n    listen();\n";
    let old = "    let retries = 3;\n    let delay = 10;\n    connect(host, port);\n    listen();\n";
    let new = old.replace("    listen();", "    authenticate();\n    listen();");
    let after = file.replace("    listen();", "    authenticate();\n    listen();");
    applied(file, old, &new, after);
}

/// A deletion that is already applied must not be applied at a similar place.
#[test]
fn never_repeats_a_deletion_at_a_similar_place() {
    let file = "first({\n  slashes: false,\n  doubles: false,\n  routing: true,\n});\nsecond({\n  slashes: false,\n  shorthand: true,\n  doubles: true,\n  routing: true,\n});\n";
    let old = "  slashes: false,\n  shorthand: true,\n  doubles: false,\n  routing: true,";
    let new = "  slashes: false,\n  doubles: false,\n  routing: true,";
    let rig = Rig::new(file);
    let answer = rig.call("edit_file", json!({"old_text": old, "new_text": new}));
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), file, "{}", answer.text);
}
