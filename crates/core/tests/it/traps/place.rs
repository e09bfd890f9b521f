//! Wrong place, reported as success.

use rstest::rstest;
use serde_json::json;
use slipstitch_core::outcome::Status;

use super::{applied, recovered, refused};
use crate::rig::{Rig, path};

#[test]
fn twice_exactly_and_once_more_with_other_white_space() {
    let file = "a();\nb();\n\na();\nb();\n\n    a();\n    b();\n";
    let answer = refused(file, "a();\nb();\n", "c();\n", "ambiguous");
    assert_eq!(answer.report.failures[0].lines, [1, 4]);
}

/// The relative: none exactly, two with white space at their ends.
#[test]
fn never_exactly_and_twice_with_trailing_blanks() {
    let answer = refused("a(); \nb();\n\na(); \nb();\n", "a();\nb();\n", "c();\n", "ambiguous");
    assert_eq!(answer.report.failures[0].lines, [1, 4]);
}

#[test]
fn a_tab_where_the_file_has_two_and_four_blanks() {
    refused("if x:\n  a()\nif y:\n    a()\n", "\ta()", "\tb()", "ambiguous");
}

/// The relative: a line stripped of its indentation that stands at two depths is in the file twice.
#[test]
fn no_indentation_where_the_file_has_two_depths() {
    refused("if x:\n  a()\nif y:\n    a()\n", "a()", "b()", "ambiguous");
    refused("if x:\n  a()\n  b()\nif y:\n    a()\n    b()\n", "a()\nb()", "c()", "ambiguous");
}

/// The relative: the request's own indentation is one of the two, so the place is known.
#[test]
fn trailing_blanks_where_one_of_two_depths_is_the_request_s() {
    applied("if x:\n  a()\nif y:\n    a()\n", "    a() ", "    b()", "if x:\n  a()\nif y:\n    b()\n");
}

#[rstest]
#[case::two_blanks_before_half_a_name("fn f() {\n    return abc\n}\n", "return  a", "return b")]
#[case::half_a_number("count = 100\n", "count  =  1", "count = 2")]
#[case::trailing_blank_inside_a_word("foobar\n", "foo ", "baz ")]
#[case::end_of_a_word("max = 10\n", "x  = 1", "y = 1")]
#[case::half_a_word_behind_a_look_alike("let x = ‘abc’ - y\n", "'ab", "'cd")]
#[case::the_end_of_a_name_across_lines("reset_all()\ndone()\n", "all()\ndone() ", "some()\ndone()")]
#[case::the_start_of_a_name_across_lines("run()\nstop_all()\n", "run() \nstop", "run()\nhalt")]
fn no_match_inside_a_token(#[case] file: &str, #[case] old: &str, #[case] new: &str) {
    refused(file, old, new, "no_match");
}

#[rstest]
#[case::another_number("timeout = 5000\n", "timeout = 3000", "timeout = 9000", "5000")]
#[case::another_macro(
    "setup(a, b);\nassert_eq!(a, b);\n",
    "setup(a, b);\nassert_ne!(a, b);\n",
    "setup(a, b);\nassert!(a);\n",
    "assert_eq"
)]
#[case::another_number_among_lines(
    "let a = 1;\nlet timeout = 5000;\nlet b = 2;\nlet c = 3;\n",
    "let a = 1;\nlet timeout = 3000;\nlet b = 2;\nlet c = 3;\n",
    "let a = 1;\nlet timeout = 9000;\nlet b = 2;\nlet c = 3;\n",
    "5000"
)]
#[case::another_operator(
    "start();\nmark();\nif a <= b {\n    go();\n}\n",
    "start();\nmark();\nif a < b {\n    go();\n}\n",
    "start();\nmark();\nif a != b {\n    go();\n}\n",
    "a <= b"
)]
#[case::another_string(
    "open();\nsend(\"POST\", url);\nclose();\nend();\n",
    "open();\nsend(\"GET\", url);\nclose();\nend();\n",
    "open();\nsend(\"PUT\", url);\nclose();\nend();\n",
    "POST"
)]
#[case::a_negation(
    "open();\nif !done { wait(); }\nclose();\nend();\n",
    "open();\nif done { wait(); }\nclose();\nend();\n",
    "open();\nclose();\nend();\n",
    "!done"
)]
#[case::a_letter_for_a_digit("let x = l0;\n", "let x = 10;", "let x = 11;", "l0")]
fn a_line_that_goes_says_something_else(
    #[case] file: &str,
    #[case] old: &str,
    #[case] new: &str,
    #[case] shown: &str,
) {
    let answer = refused(file, old, new, "no_match");
    assert!(answer.text.contains(shown), "the answer shows what the file has: {}", answer.text);
}

#[test]
fn another_macro_alone() {
    refused("assert_eq!(a, b);\n", "assert_ne!(a, b);", "assert!(a);", "no_match");
}

const TWINS: &str = "\
fn load(path: &str) -> Config {
    let text = read(path);
    let config = parse(text);
    check(config);
    config
}

fn load_all(path: &str) -> Config {
    let text = read(path);
    let config = parse(text);
    check_all(config);
    config
}
";

/// Near twins: the request is closer to the second by one token.
#[test]
fn near_twins_are_told_apart_or_refused() {
    let old =
        "    let text = read(path);\n    let config = parse(text);\n    chek_all(config);\n    config\n}";
    let new = old.replace("    config\n}", "    seal(config)\n}");
    let rig = Rig::new(TWINS);
    let answer = rig.edit(old, &new);
    let right = TWINS.strip_suffix("    config\n}\n").map(|start| format!("{start}    seal(config)\n}}\n"));
    match answer.report.status() {
        Status::Applied => assert_eq!(Some(rig.bytes()), right.map(String::into_bytes)),
        _ => assert_eq!(rig.bytes(), TWINS.as_bytes()),
    }
}

/// The relative: as near to one as to the other.
#[test]
fn a_third_sibling_is_at_neither() {
    let old = "    let config = parse(text);\n    check_one(config);\n    config\n}";
    let new = "    let config = parse(text);\n    check_one(config);\n    audit(config);\n    config\n}";
    let rig = Rig::new(TWINS);
    let answer = rig.edit(old, new);
    assert_eq!(rig.bytes(), TWINS.as_bytes(), "{}", answer.text);
    assert_eq!(answer.report.status(), Status::Refused);
}

#[test]
fn a_block_whose_ends_match_and_whose_middle_is_unrelated() {
    let file = "fn f() {\n    alpha(1);\n    beta(2);\n    gamma(3);\n}\n";
    let old = "fn f() {\n    open(file);\n    write(line);\n    close();\n}";
    refused(file, old, "fn f() {\n    open(file);\n    sync();\n    close();\n}", "no_match");
}

/// Context that is nowhere is not dropped until only a line is left that stands everywhere.
#[test]
fn context_is_never_dropped_until_something_matches() {
    let file = "one {\n    x();\n}\ntwo {\n    x();\n}\n";
    refused(file, "nine {\n    x();\n}\nten {", "nine {\n    y();\n}\nten {", "no_match");
    refused(file, "nine {\n    x();", "nine {\n    y();", "no_match");
}

#[test]
fn the_old_text_is_in_another_file() {
    let rig = Rig::new("alpha\n");
    rig.files.put(&path("other.txt"), "the needle is here\nbeta\n");
    let touched =
        rig.call("edit_file", json!({"path": "other.txt", "old_text": "beta", "new_text": "gamma"}));
    assert_eq!(touched.report.status(), Status::Applied);
    let answer = rig.edit("the needle is here", "gone");
    assert_eq!(answer.report.code(), "no_match");
    assert!(answer.text.contains("other.txt"), "the answer names the file: {}", answer.text);
    assert_eq!(rig.bytes(), b"alpha\n");
    assert_eq!(rig.files.get(&path("other.txt")).as_deref(), Some(&b"the needle is here\ngamma\n"[..]));
}

#[test]
fn old_text_that_is_empty() {
    refused("a\n\n   \nb\n", "", "x", "bad_request");
}

#[rstest]
#[case::blanks("   ")]
#[case::newline("\n")]
#[case::blank_lines("\n  \n\t\n")]
fn old_text_that_says_nothing(#[case] old: &str) {
    refused("a\n\n   \nb\n", old, "x", "blank_old_text");
}

/// The relative: what is left of it once fence, numbers or invisible characters are taken off says nothing.
#[rstest]
#[case::in_a_fence("```\n\n```")]
#[case::numbered("1|\n2|  ")]
#[case::invisible("\u{200b}\u{feff}")]
#[case::escaped("\\n\\t\\n")]
fn old_text_of_which_nothing_is_left(#[case] old: &str) {
    let rig = Rig::new("a\n\n   \nb\n");
    let answer = rig.edit(old, "x");
    assert_eq!(rig.bytes(), b"a\n\n   \nb\n");
    assert!(!answer.report.is_success(), "{}", answer.text);
}

const TIE: &str = "begin\n    step(1);\n    wait();\nend\nbegin\n    step(1);\n    wait();\nend\n";

/// A hint settles between places whose text is the same.
#[test]
fn a_hint_settles_between_equal_texts() {
    let rig = Rig::new(TIE);
    let edit = json!({"old_text": "step(1); \nwait();", "new_text": "step(2);\nwait();", "start_line": 5, "end_line": 8});
    let answer = rig.call("edit_file", edit);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    let after = "begin\n    step(1);\n    wait();\nend\nbegin\n    step(2);\n    wait();\nend\n";
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), after);
    recovered(&answer);
}

/// Without a hint, or with one that holds both, they are ambiguous.
#[test]
fn a_tie_without_a_hint_is_ambiguous() {
    refused(TIE, "step(1); \nwait();", "step(2);\nwait();", "ambiguous");
    let rig = Rig::new(TIE);
    let edit = json!({"old_text": "step(1); \nwait();", "new_text": "step(2);\nwait();", "start_line": 1, "end_line": 8});
    assert_eq!(rig.call("edit_file", edit).report.code(), "ambiguous");
    assert_eq!(rig.bytes(), TIE.as_bytes());
}

/// A hint never reaches beyond its lines, and half a block inside it is not a match.
#[test]
fn a_hint_that_cuts_the_place_in_two() {
    let rig = Rig::new("a();\nb();\nc();\nd();\n");
    let edit = json!({"old_text": "b(); \nc();", "new_text": "x();", "start_line": 3, "end_line": 4});
    assert_eq!(rig.call("edit_file", edit).report.code(), "no_match");
    assert_eq!(rig.bytes(), b"a();\nb();\nc();\nd();\n");
}

/// Dots that stand for lines: heads or tails in two places leave the place in doubt.
#[rstest]
#[case::two_tails("f {\n  a\n  b\n}\ng {\n  c\n}\n", "f {\n...\n}", "f {\n...\n  x\n}")]
#[case::two_heads("f {\n  a\nf {\n  b\n} f\n", "f {\n...\n} f", "f {\n...\n  x\n} f")]
fn an_elision_with_two_ends(#[case] file: &str, #[case] old: &str, #[case] new: &str) {
    refused(file, old, new, "ambiguous");
}

/// Dots that stand in old text only would delete what nobody has named.
#[test]
fn an_elision_that_would_delete_what_it_hides() {
    let file = "head();\nkeep(1);\nkeep(2);\ntail();\n";
    let rig = Rig::new(file);
    let answer = rig.edit("head();\n// ... existing code ...\ntail();", "head();\ntail();");
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(answer.report.status(), Status::Refused);
}
