//! Edits made for a version that the session was shown, after someone else changed the file.

use proptest::prelude::*;
use serde_json::json;
use slipstitch_core::outcome::Status;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{Journal, ShownTexts};
use slipstitch_core::text::ContentHash;

use crate::rig::{Rig, path};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";

fn version_of(text: &str) -> String {
    ContentHash::of(text.as_bytes()).to_string()
}

fn write(rig: &Rig, text: &str) {
    rig.files.put(&path("file.txt"), text);
}

fn text_of(rig: &Rig) -> String {
    String::from_utf8(rig.bytes()).unwrap()
}

#[test]
fn an_edit_for_a_version_that_was_read_is_carried_over_an_outside_change() {
    let reads = [("read_file", json!({})), ("read_file", json!({"start_line": 5, "end_line": 5}))];
    for (tool, arguments) in reads {
        let rig = Rig::new(TEXT);
        assert_eq!(rig.call(tool, arguments).report.status(), Status::Shown);
        write(&rig, "zero\none\nTWO\nthree\nfour\nfive\n");
        let edit = json!({"start_line": 4, "new_text": "4\n", "version": version_of(TEXT)});
        let report = rig.call("edit_lines", edit).report;
        assert_eq!(report.status(), Status::Applied, "{report:?}");
        assert_eq!(text_of(&rig), "zero\none\nTWO\nthree\n4\nfive\n");
    }
}

#[test]
fn a_change_in_the_same_place_is_refused_with_the_current_version() {
    let rig = Rig::new(TEXT);
    rig.call("read_file", json!({}));
    let now = TEXT.replace("four", "FOUR");
    write(&rig, &now);
    let edit = json!({"start_line": 4, "new_text": "4\n", "version": version_of(TEXT)});
    let report = rig.call("edit_lines", edit).report;
    assert_eq!((report.status(), report.code()), (Status::Refused, "stale_file"));
    assert_eq!(text_of(&rig), now);
    // The refusal names the current version, so an edit for that one is carried over as well.
    write(&rig, &format!("zero\n{now}"));
    let edit = json!({"start_line": 4, "new_text": "4\n", "version": version_of(&now)});
    assert_eq!(rig.call("edit_lines", edit).report.status(), Status::Applied);
    assert_eq!(text_of(&rig), "zero\none\ntwo\nthree\n4\nfive\n");
}

#[test]
fn an_edit_for_the_version_that_an_edit_left_is_carried_over_even_if_the_journal_forgot_that_one() {
    let rig = Rig::new(TEXT);
    rig.edit("one", "ONE");
    let after = TEXT.replace("one", "ONE");
    rig.journal.prune(ChangeId(1));
    write(&rig, &format!("{after}six\n"));
    let edit = json!({"start_line": 2, "new_text": "2\n", "version": version_of(&after)});
    assert_eq!(rig.call("edit_lines", edit).report.status(), Status::Applied);
    assert_eq!(text_of(&rig), "ONE\n2\nthree\nfour\nfive\nsix\n");
}

#[test]
fn one_of_several_identical_blocks_is_not_guessed() {
    let block = "begin\n  body\nend\n";
    let text = format!("top\n{block}{block}bottom\n");
    let rig = Rig::new(text.clone());
    rig.call("read_file", json!({}));
    // One of the two was removed, and nothing tells which.
    let now = format!("top\n{block}bottom\n");
    write(&rig, &now);
    for line in [3, 6] {
        let edit = json!({"start_line": line, "new_text": "  BODY\n", "version": version_of(&text)});
        assert_eq!(rig.call("edit_lines", edit).report.code(), "stale_file");
    }
    assert_eq!(text_of(&rig), now);
}

#[test]
fn another_session_has_not_seen_it() {
    let mut rig = Rig::new(TEXT);
    rig.call("read_file", json!({}));
    write(&rig, &format!("zero\n{TEXT}"));
    rig.session = "other";
    let edit = json!({"start_line": 4, "new_text": "4\n", "version": version_of(TEXT)});
    assert_eq!(rig.call("edit_lines", edit).report.code(), "stale_file");
}

#[test]
fn the_last_texts_of_a_path_are_kept() {
    let rig = Rig::new("");
    for number in 0..=ShownTexts::MAX_PER_PATH {
        write(&rig, &format!("{number}\n"));
        rig.call("read_file", json!({}));
        rig.call("read_file", json!({}));
    }
    write(&rig, "1\n");
    rig.call("read_file", json!({}));
    let shown = rig.journal.shown("tests", &path("file.txt")).unwrap();
    let shown: Vec<_> = shown.into_iter().map(|(_, text)| String::from_utf8(text).unwrap()).collect();
    assert_eq!(shown, ["1\n", "8\n", "7\n", "6\n", "5\n", "4\n", "3\n", "2\n"]);
}

proptest! {
    /// Every line is unique, so it is known which lines an edit for an earlier version means.
    #[test]
    fn an_edit_for_a_version_that_was_read_hits_the_lines_it_was_made_for(
        lines in 1usize..12,
        at in 0usize..12,
        outside in prop::collection::vec((0usize..12, 0usize..3, 0usize..3), 1..4),
    ) {
        let text: Vec<String> = (0..lines).map(|number| format!("first {number}")).collect();
        let joined = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let rig = Rig::new(joined(&text));
        rig.call("read_file", json!({}));
        let mut now = text.clone();
        for (round, (start, removed, added)) in outside.into_iter().enumerate() {
            let start = start % (now.len() + 1);
            let end = (start + removed).min(now.len());
            now.splice(start..end, (0..added).map(|number| format!("outside {round}.{number}")));
        }
        write(&rig, &joined(&now));
        let at = at % lines;
        let version = version_of(&joined(&text));
        let edit = json!({"start_line": at + 1, "new_text": "mine\n", "version": version});
        let report = rig.call("edit_lines", edit).report;
        match report.status() {
            Status::Applied => {
                let expected: Vec<String> =
                    now.iter().map(|line| if *line == text[at] { "mine".into() } else { line.clone() }).collect();
                prop_assert!(now.contains(&text[at]));
                prop_assert_eq!(text_of(&rig), joined(&expected));
            }
            _ => {
                prop_assert_eq!(report.code(), "stale_file");
                prop_assert_eq!(text_of(&rig), joined(&now));
            }
        }
    }
}

#[test]
fn a_stale_quotation_names_only_the_lines_that_changed() {
    let text = "fn a() {\n    let first = open(1);\n    let second = open(2);\n    let third = open(3);\n}\n";
    // The quotation begins and ends inside a line, or is of whole lines.
    let quotations = [
        "first = open(1);\n    let second = open(2);\n    let third",
        "    let first = open(1);\n    let second = open(2);\n    let third = open(3);\n",
    ];
    for old in quotations {
        let rig = Rig::new(text);
        rig.call("read_file", json!({}));
        write(&rig, &text.replace("open(2)", "close(2)"));
        let report = rig.call("edit_file", json!({"old_text": old, "new_text": "gone"})).report;
        assert_eq!(report.code(), "no_match", "{report:?}");
        assert!(report.message.contains("line 3 changed since"), "{}", report.message);
    }
    // If only lines were removed, what is left is named.
    let rig = Rig::new(text);
    rig.call("read_file", json!({}));
    write(&rig, &text.replace("    let second = open(2);\n", ""));
    let report = rig.call("edit_file", json!({"old_text": quotations[0], "new_text": "gone"})).report;
    assert!(report.message.contains("lines 2-3 changed since"), "{}", report.message);
}
