//! Newlines at the start and the end of the old text. Each may be a blank line, or end the line before.

use rstest::rstest;
use serde_json::json;
use slipstitch_core::outcome::Status;

use super::{applied, refused};
use crate::rig::Rig;

// Shows: REQ-PATCH-005-edges
/// A blank line of the file is as good as the newline that an exact match would replace.
#[rstest]
#[case::empty("x\n\n    foo();\ny\n", "\nfoo();\n", "bar();\n", "x\n    bar();\ny\n")]
#[case::with_spaces("x\n    \n    foo();\ny\n", "\nfoo();\n", "bar();\n", "x\n    bar();\ny\n")]
#[case::first_line("    \n    foo();\ny\n", "\nfoo();\n", "bar();\n", "    bar();\ny\n")]
#[case::two("x\n\n\n    foo();\n", "\n\nfoo();\n", "bar();\n", "x\n    bar();\n")]
#[case::two_with_new_text_at_the_files_depth(
    "x\n\n\n    foo();\n    go();\n",
    "\n\nfoo();\ngo();\n",
    "    foo();\n    bar();\n    go();\n",
    "x\n    foo();\n    bar();\n    go();\n"
)]
#[case::one_of_two("x\n\n\n    foo();\n", "\nfoo();\n", "bar();\n", "x\n\n    bar();\n")]
#[case::one_is_kept("x\n\n\n    foo();\n", "\n\nfoo();\n", "\nbar();\n", "x\n\n    bar();\n")]
#[case::all_are_kept("x\n\n    foo();\n", "\nfoo();\n", "\nbar();\n", "x\n\n    bar();\n")]
#[case::kept_with_new_text_at_the_files_depth(
    "x\n\n    foo();\n    go();\n",
    "\nfoo();\ngo();\n",
    "\n    foo();\n    bar();\n    go();\n",
    "x\n\n    foo();\n    bar();\n    go();\n"
)]
#[case::around_it_the_new_text_is_there_already(
    "open_it();\n\n    foo();\nclose_it();\n",
    "\nfoo();\n",
    "open_it();\nfoo();\nclose_it();\n",
    "open_it();\n    open_it();\n    foo();\n    close_it();\nclose_it();\n"
)]
#[case::ends_the_line_before("x\n    foo();\ny\n", "\nfoo();\n", "bar();\n", "x\n    bar();\ny\n")]
#[case::crlf("x\r\n\r\n    foo();\r\n", "\nfoo();\n", "bar();\n", "x\r\n    bar();\r\n")]
fn newlines_at_the_start_are_the_blank_lines_of_the_file(
    #[case] before: &str,
    #[case] old: &str,
    #[case] new: &str,
    #[case] after: &str,
) {
    applied(before, old, new, after);
}

// Shows: REQ-PATCH-005-edges
/// The other place has the indentation of the request, and lacks a newline that the request has.
#[rstest]
#[case::at_the_end("  foo();\n  go();\nx\nfoo();\ngo();", "foo();\ngo();\n")]
#[case::at_the_start("foo();\ngo();\nx\n\n  foo();\n  go();\n", "\nfoo();\ngo();\n")]
fn indentation_does_not_decide_if_a_newline_says_otherwise(#[case] file: &str, #[case] old: &str) {
    refused(file, old, "bar();\n", "ambiguous");
}

/// A blank line at the end goes with the old text, also if the new text has the file's indentation already.
#[test]
fn a_blank_line_at_the_end_is_replaced() {
    let (file, old) = ("x\n    foo();\n        go();\n\ny\n", "foo();\n    go();\n\n");
    applied(file, old, "\n    foo();\n", "x\n\n    foo();\ny\n");
}

/// The first newline may end a line, the second one is a blank line, although the new text has one as well.
#[test]
fn indentation_does_not_decide_if_a_blank_line_says_otherwise() {
    let file = "x\nfoo();\ny\n\n\n    foo();\n";
    refused(file, "\n\nfoo();", "\nfoo();\nbar();", "ambiguous");
}

/// Both places have another indentation.
#[test]
fn a_newline_alone_does_not_decide() {
    refused("  foo();\n  go();\nx\n    foo();\n    go();", "foo();\ngo();\n", "bar();\n", "ambiguous");
}

/// One edit keeps the blank line that the other one replaces.
#[test]
fn a_blank_line_is_part_of_the_place_even_if_it_is_kept() {
    let before = "x();\n\n    foo();\n";
    let rig = Rig::new(before);
    let edits = json!([
        {"old_text": "x();\n\n", "new_text": "y();\n"},
        {"old_text": "\nfoo();\n", "new_text": "\nbar();\n"},
    ]);
    let answer = rig.call("edit_file", json!({"edits": edits}));
    assert_eq!(rig.bytes(), before.as_bytes(), "{}", answer.text);
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
}

// Shows: REQ-PATCH-005-boundaries
/// Text that is written as it is replaces what the old text covers, and no newline before it.
#[rstest]
#[case::newline_of_the_line_before("x\n    foo();", "\nfoo();", "bar();\n", "x\n\tbar();\n")]
#[case::blank_line("x\n\n    foo();", "\nfoo();", "bar();\n", "x\n\tbar();\n")]
#[case::other_blank_line("x\n\n    foo();\n    go();", "foo();\ngo();", "bar();\n", "x\n\n\tbar();\n")]
#[case::first_line("\n    foo();\n    go();", "foo();\ngo();", "bar();\n", "\n\tbar();\n")]
#[case::blank_first_line("\n    foo();", "\nfoo();", "bar();\n", "\tbar();\n")]
#[case::shared("x\n\n    foo();", "\nfoo();", "\nbar();", "x\n\n\tbar();")]
#[case::shared_that_ends_a_line("x\n    foo();", "\nfoo();", "\nbar();", "x\n\tbar();")]
fn reindented_text_replaces_the_last_lines_of_a_file(
    #[case] before: &str,
    #[case] old: &str,
    #[case] new: &str,
    #[case] after: &str,
) {
    let rig = Rig::new(before);
    let patch = json!({"operation": "replace", "oldText": old, "newText": new, "reindent": {"strip": "", "add": "\t"}});
    let answer = rig.call_in("phoenix", "patch", json!({"patches": [patch]}));
    assert_eq!(String::from_utf8(rig.bytes()).unwrap(), after, "{}", answer.text);
}

// Shows: REQ-PATCH-005-clipboard
/// A clipboard has the file's text for all of the old text.
#[rstest]
#[case::replaced("x\n\n    foo();\ny\n", "\nfoo();", "bar();", "\n    foo();")]
#[case::kept("x\n\n    foo();\ny\n", "\nfoo();", "\nbar();", "\n    foo();")]
#[case::replaced_at_the_end("x\n\n    foo();", "\nfoo();", "bar();", "\n    foo();")]
#[case::deleted_at_the_end("x\n    foo();\n    go();", "foo();\ngo();", "", "    foo();\n    go();")]
#[case::ends_the_line_before("x\n    foo();\ny\n", "\nfoo();", "bar();", "    foo();")]
fn a_clipboard_has_the_blank_lines_that_the_old_text_starts_with(
    #[case] before: &str,
    #[case] old: &str,
    #[case] new: &str,
    #[case] copied: &str,
) {
    let rig = Rig::new(before);
    let cut = json!({"operation": "replace", "oldText": old, "newText": new, "toClipboard": "c"});
    rig.call_in("phoenix", "patch", json!({"patches": [cut]}));
    let paste = json!({"operation": "overwrite", "fromClipboard": "c"});
    let answer = rig.call_in("phoenix", "patch", json!({"patches": [paste]}));
    assert_eq!(String::from_utf8(rig.bytes()).unwrap(), copied, "{}", answer.text);
}
