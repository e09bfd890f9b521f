//! Edits in the wrong place that are reported as success.

use rstest::rstest;
use serde_json::json;
use slipstitch_core::outcome::Status;

use super::{applied, recovered, refused};
use crate::rig::{Rig, path};

#[test]
fn rejects_two_exact_matches_despite_a_third_with_other_whitespace() {
    let file = "a();\nb();\n\na();\nb();\n\n    a();\n    b();\n";
    let answer = refused(file, "a();\nb();\n", "c();\n", "ambiguous");
    assert_eq!(answer.report.failures[0].lines, [1, 4]);
}

/// No exact match, two with trailing whitespace.
#[test]
fn rejects_two_matches_with_trailing_whitespace() {
    let answer = refused("a(); \nb();\n\na(); \nb();\n", "a();\nb();\n", "c();\n", "ambiguous");
    assert_eq!(answer.report.failures[0].lines, [1, 4]);
}

#[test]
fn rejects_a_tab_if_the_file_has_two_and_four_spaces() {
    refused("if x:\n  a()\nif y:\n    a()\n", "\ta()", "\tb()", "ambiguous");
}

/// A line without its indentation that occurs at two depths occurs twice.
#[test]
fn rejects_unindented_text_that_occurs_at_two_depths() {
    refused("if x:\n  a()\nif y:\n    a()\n", "a()", "b()", "ambiguous");
    refused("if x:\n  a()\n  b()\nif y:\n    a()\n    b()\n", "a()\nb()", "c()", "ambiguous");
}

/// The request's indentation is one of the two, so the place is known.
#[test]
fn accepts_trailing_whitespace_if_the_indentation_is_unique() {
    applied("if x:\n  a()\nif y:\n    a()\n", "    a() ", "    b()", "if x:\n  a()\nif y:\n    b()\n");
}

#[rstest]
#[case::two_spaces_before_half_a_name("fn f() {\n    return abc\n}\n", "return  a", "return b")]
#[case::half_a_number("count = 100\n", "count  =  1", "count = 2")]
#[case::trailing_space_inside_a_word("foobar\n", "foo ", "baz ")]
#[case::end_of_a_word("max = 10\n", "x  = 1", "y = 1")]
#[case::half_a_word_after_a_look_alike("let x = ‘abc’ - y\n", "'ab", "'cd")]
#[case::the_end_of_a_name_across_lines("reset_all()\ndone()\n", "all()\ndone() ", "some()\ndone()")]
#[case::the_start_of_a_name_across_lines("run()\nstop_all()\n", "run() \nstop", "run()\nhalt")]
fn rejects_matches_inside_a_token(#[case] file: &str, #[case] old: &str, #[case] new: &str) {
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
fn rejects_a_removed_line_with_different_content(
    #[case] file: &str,
    #[case] old: &str,
    #[case] new: &str,
    #[case] shown: &str,
) {
    let answer = refused(file, old, new, "no_match");
    assert!(answer.text.contains(shown), "the answer shows what the file has: {}", answer.text);
}

#[test]
fn rejects_a_different_macro_on_a_single_line() {
    refused("assert_eq!(a, b);\n", "assert_ne!(a, b);", "assert!(a);", "no_match");
}

const NEAR_IDENTICAL_FUNCTIONS: &str = "\
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

/// The request is closer to the second function by one token.
#[test]
fn distinguishes_near_identical_functions_or_refuses() {
    let old =
        "    let text = read(path);\n    let config = parse(text);\n    chek_all(config);\n    config\n}";
    let new = old.replace("    config\n}", "    seal(config)\n}");
    let rig = Rig::new(NEAR_IDENTICAL_FUNCTIONS);
    let answer = rig.edit(old, &new);
    let right = NEAR_IDENTICAL_FUNCTIONS
        .strip_suffix("    config\n}\n")
        .map(|start| format!("{start}    seal(config)\n}}\n"));
    match answer.report.status() {
        Status::Applied => assert_eq!(Some(rig.bytes()), right.map(String::into_bytes)),
        _ => assert_eq!(rig.bytes(), NEAR_IDENTICAL_FUNCTIONS.as_bytes()),
    }
}

/// Equally close to both.
#[test]
fn rejects_a_third_sibling() {
    let old = "    let config = parse(text);\n    check_one(config);\n    config\n}";
    let new = "    let config = parse(text);\n    check_one(config);\n    audit(config);\n    config\n}";
    let rig = Rig::new(NEAR_IDENTICAL_FUNCTIONS);
    let answer = rig.edit(old, new);
    assert_eq!(rig.bytes(), NEAR_IDENTICAL_FUNCTIONS.as_bytes(), "{}", answer.text);
    assert_eq!(answer.report.status(), Status::Refused);
}

#[test]
fn rejects_a_block_that_matches_only_at_its_ends() {
    let file = "fn f() {\n    alpha(1);\n    beta(2);\n    gamma(3);\n}\n";
    let old = "fn f() {\n    open(file);\n    write(line);\n    close();\n}";
    refused(file, old, "fn f() {\n    open(file);\n    sync();\n    close();\n}", "no_match");
}

/// Context that does not match is not dropped until only a common line is left.
#[test]
fn never_drops_context_to_find_a_match() {
    let file = "one {\n    x();\n}\ntwo {\n    x();\n}\n";
    refused(file, "nine {\n    x();\n}\nten {", "nine {\n    y();\n}\nten {", "no_match");
    refused(file, "nine {\n    x();", "nine {\n    y();", "no_match");
}

#[test]
fn names_the_other_file_that_has_the_old_text() {
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
fn rejects_empty_old_text() {
    refused("a\n\n   \nb\n", "", "x", "bad_request");
}

#[rstest]
#[case::spaces("   ")]
#[case::newline("\n")]
#[case::blank_lines("\n  \n\t\n")]
fn rejects_blank_old_text(#[case] old: &str) {
    refused("a\n\n   \nb\n", old, "x", "blank_old_text");
}

/// Old text that is blank once a fence, numbers or invisible characters are removed.
#[rstest]
#[case::in_a_fence("```\n\n```")]
#[case::numbered("1|\n2|  ")]
#[case::invisible("\u{200b}\u{feff}")]
#[case::escaped("\\n\\t\\n")]
fn rejects_old_text_that_is_blank_without_damage(#[case] old: &str) {
    let rig = Rig::new("a\n\n   \nb\n");
    let answer = rig.edit(old, "x");
    assert_eq!(rig.bytes(), b"a\n\n   \nb\n");
    assert!(!answer.report.is_success(), "{}", answer.text);
}

const TIE: &str = "begin\n    step(1);\n    wait();\nend\nbegin\n    step(1);\n    wait();\nend\n";

/// A line range decides between identical texts.
#[test]
fn line_range_decides_between_identical_texts() {
    let rig = Rig::new(TIE);
    let edit = json!({"old_text": "step(1); \nwait();", "new_text": "step(2);\nwait();", "start_line": 5, "end_line": 8});
    let answer = rig.call("edit_file", edit);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    let after = "begin\n    step(1);\n    wait();\nend\nbegin\n    step(2);\n    wait();\nend\n";
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), after);
    recovered(&answer);
}

/// Without a line range, or with one that contains both, they are ambiguous.
#[test]
fn rejects_a_tie_without_a_line_range() {
    refused(TIE, "step(1); \nwait();", "step(2);\nwait();", "ambiguous");
    let rig = Rig::new(TIE);
    let edit = json!({"old_text": "step(1); \nwait();", "new_text": "step(2);\nwait();", "start_line": 1, "end_line": 8});
    assert_eq!(rig.call("edit_file", edit).report.code(), "ambiguous");
    assert_eq!(rig.bytes(), TIE.as_bytes());
}

/// A match must lie completely inside the line range.
#[test]
fn rejects_a_match_that_the_line_range_cuts() {
    let rig = Rig::new("a();\nb();\nc();\nd();\n");
    let edit = json!({"old_text": "b(); \nc();", "new_text": "x();", "start_line": 3, "end_line": 4});
    assert_eq!(rig.call("edit_file", edit).report.code(), "no_match");
    assert_eq!(rig.bytes(), b"a();\nb();\nc();\nd();\n");
}

/// If the text before or after an elision occurs twice, the place is ambiguous.
#[rstest]
#[case::two_tails("f {\n  a\n  b\n}\ng {\n  c\n}\n", "f {\n...\n}", "f {\n...\n  x\n}")]
#[case::two_heads("f {\n  a\nf {\n  b\n} f\n", "f {\n...\n} f", "f {\n...\n  x\n} f")]
fn rejects_an_elision_with_two_possible_ends(#[case] file: &str, #[case] old: &str, #[case] new: &str) {
    refused(file, old, new, "ambiguous");
}

/// An elision in the old text only would delete lines that the request does not name.
#[test]
fn rejects_an_elision_that_would_delete_lines() {
    let file = "head();\nkeep(1);\nkeep(2);\ntail();\n";
    let rig = Rig::new(file);
    let answer = rig.edit("head();\n// ... existing code ...\ntail();", "head();\ntail();");
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(answer.report.status(), Status::Refused);
}

/// The first line of a block tells it from its siblings if the line that opens it names nothing.
#[test]
fn a_block_that_starts_with_another_line_is_another_block() {
    let file = "  }, {\n    schema: {\n      response: {\n        200: new CustomSchemaClass()\n      }\n    },\n    assertions: (schema) => {\n      check(schema)\n";
    let old = "  }, {\n    schema: {\n      body: nonNormalizedSchema,\n      response: {\n        200: new CustomSchemaClass()\n      }\n    },\n    assertions: (schema) => {";
    refused(file, old, &old.replace("        200: new CustomSchemaClass()\n", ""), "no_match");
}

/// The change is below the block, and the line that opens the block is that of other blocks too.
#[test]
fn a_block_above_the_change_that_starts_with_another_line_is_another_block() {
    let file = "  const cases = [{\n    schema: {\n      body: new CustomSchemaClass()\n    },\n    assertions: (schema) => {\n      check(schema.body)\n    }\n  }, {\n    schema: {\n      response: {\n        200: new CustomSchemaClass()\n      }\n    },\n    assertions: (schema) => {\n      check(schema.response[200])\n    }\n  }]\n";
    let old = "    schema: {\n      body: nonNormalizedSchema,\n      response: {\n        200: new CustomSchemaClass()\n      }\n    },\n    assertions: (schema) => {";
    refused(file, old, &format!("{old}\n      enter(schema)"), "no_match");
    // If no other block is opened like it, the line may be one that the caller made up.
    let only = file.replacen("schema: {", "headers: {", 1);
    let new = format!("{old}\n      enter(schema)");
    applied(
        &only,
        old,
        &new,
        only.replacen("      check(schema.response", "      enter(schema)\n      check(schema.response", 1),
    );
}

/// A unique line, with another line than the quoted one next to it.
#[test]
fn a_line_between_a_removed_line_and_its_neighbour_is_the_mark_of_another_block() {
    let file = ".dimmer.disabled {\n  width: 0 !important;\n  height: 0 !important;\n}\n\n/* Variations */\n\n/* Legacy */\n.one {\n}\n";
    let old = "  width: 0 !important;\n}\n\n/* Variations */\n\n/* Legacy */\n.one {";
    refused(file, old, &old.replace("width: 0", "max-width: 0"), "no_match");
    // The same the other way round: the file lacks the neighbour.
    let file =
        ".dimmer.disabled {\n  width: 0 !important;\n}\n\n/* Variations */\n\n/* Legacy */\n.one {\n}\n";
    let old = ".dimmer.disabled {\n  width: 0 !important;\n  height: 0 !important;\n}\n\n/* Variations */\n\n/* Legacy */\n.one {";
    refused(file, old, &old.replace("width: 0", "max-width: 0"), "no_match");
    let file = ".dimmer.disabled {\n  width: 0 !important;\n  height: 0 !important;\n}\n\n/* Variations */\n";
    let above = ".dimmer.disabled {\n  height: 0 !important;\n}\n\n/* Variations */";
    refused(file, above, &above.replace("height: 0", "max-height: 0"), "no_match");
}

/// `}` is the start of `})`, and of many other lines.
#[test]
fn a_bracket_at_the_end_of_a_quotation_is_no_part_of_a_line() {
    let options = |last: &str, end: &str| {
        format!(
            "    timeout: 10000,\n    header: 'request-id',\n    label: 'reqId',\n    delimiter: {last}\n  {end}\n"
        )
    };
    let file =
        format!("const defaults = {{\n{}\ncompare({{\n{}", options("false", "}"), options("true", "})"));
    let old = options("true", "}");
    let rig = crate::rig::Rig::new(file.as_str());
    let answer = rig.edit(old.trim_end(), old.replace("'request-id'", "false").trim_end());
    // `  }` is in the file byte for byte, as part of `  })`.
    if answer.report.status() != Status::Applied {
        assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    }
    let shifted = file.replace("compare({\n    ", "  compare({\n      ").replace(
        "    label: 'reqId',\n    delimiter: true\n  })",
        "      label: 'reqId',\n      delimiter: true\n    })",
    );
    let shifted = shifted.replace(
        "10000,\n    header: 'request-id',\n      label",
        "10000,\n      header: 'request-id',\n      label",
    );
    let rig = crate::rig::Rig::new(shifted.as_str());
    let answer = rig.edit(old.trim_end(), old.replace("'request-id'", "false").trim_end());
    assert_eq!(rig.bytes(), shifted.as_bytes(), "{}", answer.text);
}
