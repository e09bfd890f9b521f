//! A caller that does what a refusal says: it sends what it is given as it is, and reads the lines that are named.

use rstest::rstest;
use serde_json::json;
use slipstitch_core::change::Lines;
use slipstitch_core::engine::Answer;
use slipstitch_core::outcome::Status;
use slipstitch_core::report::FailureReport;

use crate::rig::{Rig, path};

fn failure(answer: &Answer) -> &FailureReport {
    &answer.report.failures[0]
}

/// An edit made for `seen`, when the file is `now`.
#[track_caller]
fn refused_since(seen: &str, now: &str, old: &str, new: &str) -> (Rig, Answer) {
    let rig = Rig::new(seen);
    assert_eq!(rig.call("read_file", json!({})).report.status(), Status::Shown);
    rig.files.put(&path("file.txt"), now);
    let answer = rig.edit(old, new);
    assert_eq!(rig.bytes(), now.as_bytes(), "{}", answer.text);
    (rig, answer)
}

/// The text to send instead ends with a newline exactly if the new text does. Otherwise following the answer would add a blank line, or
/// remove a line break.
#[rstest]
#[case::with_newlines("name1:\n  n += 1\n", "first:\n  n += 1\n")]
#[case::without("name1:\n  n += 1", "first:\n  n += 1")]
#[case::new_only("name1:\n  n += 1", "first:\n  n += 1\n")]
#[case::old_only("name1:\n  n += 1\n", "first:\n  n += 1")]
#[case::blank_line_first("\nname1:\n  n += 1\n", "\nfirst:\n  n += 1\n")]
#[case::blank_lines_first("\n\nname1:\n  n += 1\n", "\n\nfirst:\n  n += 1\n")]
fn what_is_sent_instead_keeps_the_line_breaks(#[case] old: &str, #[case] new: &str) {
    let seen = "zero:\n  x = 1\n\nname1:\n  n += 1\n  c = 1\n";
    let now = seen.replace("name1", "name3");
    let (rig, answer) = refused_since(seen, &now, old, new);
    let FailureReport { resend, resend_edit, .. } = failure(&answer);
    let (old, new) = match (resend, resend_edit) {
        (Some(resend), None) => (resend.as_str(), new),
        (None, Some(edit)) => (edit.old_text.as_str(), edit.new_text.as_str()),
        _ => panic!("{}", answer.text),
    };
    let answer = rig.edit(old, new);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), now.replace("name3", "first"), "{}", answer.text);
}

#[track_caller]
fn assert_offers_no_edit(answer: &Answer) {
    let FailureReport { resend, resend_edit, candidates, .. } = failure(answer);
    assert_eq!((resend, resend_edit), (&None, &None), "{}", answer.text);
    assert!(candidates.iter().all(|one| !one.choosable), "{}", answer.text);
}

/// The line that a diff says the quoted one has become is another one.
#[rstest]
#[case::blocks_swapped(
    "fn one() {\n\tok\n\tread(a)\n}\n\nfn two() {\n\tok\n\tread(a)\n}\n",
    "fn two() {\n\tok\n\tread(a)\n}\n\nfn one() {\n\tok\n\tread(a)\n}\n",
    "}\n\nfn two() {\n\tok\n\tread(a)\n",
    "}\n\nfn three() {\n\tok\n\tread(a)\n"
)]
#[case::its_place_was_taken_by_a_block_from_above(
    "[one]\nretries = 3\ny\na\n\n[two]\nretries = 3\ny\nc = 1\n",
    "[four]\nretries = 3\nx\na\n\n[one]\nretries = 3\nx\na\n",
    "[two]\nretries = 3\n",
    "[three]\nretries = 3\n"
)]
#[case::removed_above_a_renamed_one(
    "fn one() {\n\twait(a, b)\n}\n\nfn two() {\n\tc = 1\n\tb\n}\n\nfn three() {\n\t}\n\tb\n\tcheck(path)\n}\n",
    "fn one() {\n\twait(a, b)\n}\n\nfn four() {\n\t}\n\tb\n\tcheck(path)\n}\n",
    "\twait(a, b)\n}\n\nfn two() {\n",
    "\twait(a, b)\n}\n\nfn five() {\n"
)]
fn a_line_that_may_be_another_one_is_not_offered(
    #[case] seen: &str,
    #[case] now: &str,
    #[case] old: &str,
    #[case] new: &str,
) {
    let (_, answer) = refused_since(seen, now, old, new);
    assert_offers_no_edit(&answer);
}

/// Apart from its indentation, the quotation is in the version twice; exactly, it is there once.
#[test]
fn the_exact_place_in_a_version_is_the_quoted_one() {
    let seen = "void one(int a) {\n    }\n    x()\n    n += 1\n}\n\nvoid two(int a) {\n    }\n    x()\n    n += 1\n    }\n";
    let now = seen.replace("{\n    }\n", "{\n");
    let old = "    }\n    x()\n    n += 1\n}\n";
    let rig = Rig::new(seen);
    rig.call("read_file", json!({}));
    rig.files.put(&path("file.txt"), now.as_str());
    let answer = rig.edit(old, &old.replace("x()", "y()"));
    let after = String::from_utf8_lossy(&rig.bytes()).into_owned();
    assert_eq!(after, now.replacen("x()", "y()", 1), "{}", answer.text);
}

/// What a single call does not notice about equal lines must not depend on how many edits it has.
#[test]
fn one_edit_gets_the_same_answer_as_one_of_several() {
    let body = "\tok\n\tread(a)\n}\n";
    let tail = "alpha = 1\nbravo = 2\ncharlie = 3\n";
    let seen = format!("fn one() {{\n{body}\nfn two() {{\n{body}\n{tail}");
    let now = format!("fn two() {{\n{body}\nfn one() {{\n{body}\n{tail}");
    let (old, new) = ("}\n\nfn two() {\n\tok\n\tread(a)\n", "}\n\nfn three() {\n\tok\n\tread(a)\n");
    let (_, alone) = refused_since(&seen, &now, old, new);
    let rig = Rig::new(seen.as_str());
    rig.call("read_file", json!({}));
    rig.files.put(&path("file.txt"), now.as_str());
    let other = |old: &str, new: &str| json!({"old_text": old, "new_text": new});
    let edits = [
        other(old, new),
        other("alpha  = 1\n", "alpha = 4\n"),
        other("bravo  = 2\n", "bravo = 5\n"),
        other("charlie  = 3\n", "charlie = 6\n"),
    ];
    let together = rig.call("edit_file", json!({"edits": edits}));
    assert_eq!(failure(&alone).cause, failure(&together).cause);
    assert_eq!(failure(&alone).resend, failure(&together).resend, "{}", together.text);
    assert_eq!(failure(&alone).read, failure(&together).read, "{}", together.text);
}

/// The lines that dots stand for say nothing about the place. The removed line is below another comment too.
#[rstest]
#[case::a_few("  position: absolute;\n  margin: 0;\n  top: 1em;\n}\n\n.other {\n  color: red;\n")]
#[case::many(&"  position: absolute;\n".repeat(30))]
fn lines_left_out_do_not_make_another_place_closer(#[case] left_out: &str) {
    let file = format!(
        ".table {{\n  left: 1em;\n}}\n\n/* Inside Table */\n.image > .ribbon,\n.card .image > .ribbon {{\n{left_out}}}\n.card .last {{\n  left: calc(100% + 1em);\n  padding-left: 0.833em;\n}}\n\n/* Inside Table */\n.table td > .ribbon {{\n  left: calc(2em);\n  padding: 0;\n}}\n"
    );
    let old = "}\n\n/* Inside Table */\n.image > .ribbon,\n.card .image > .ribbon {\n  /* ... */\n  left: calc(100% + 1em);\n  padding-left: 0.833em;\n";
    let new = old.replace("/* Inside Table */", "/* Inside Image */");
    let rig = Rig::new(file.as_str());
    let answer = rig.edit(old, &new);
    let line = 1 + file.lines().position(|line| line == "/* Inside Table */").unwrap();
    if answer.report.status() == Status::Applied {
        let expected = file.replacen("/* Inside Table */", "/* Inside Image */", 1);
        assert_eq!(String::from_utf8_lossy(&rig.bytes()), expected);
        return;
    }
    let FailureReport { read, .. } = failure(&answer);
    let [Lines { start, count }] = read[..] else { panic!("{}", answer.text) };
    // Only the piece with the change, not what is left out.
    assert!((start..start + count).contains(&line) && count < 14, "{}", answer.text);
}
