//! Added lines at the depth that the request means. Where two depths are possible, nothing is written.

use rstest::rstest;
use serde_json::json;
use slipstitch_core::outcome::Status;

use super::{applied, refused};
use crate::rig::Rig;

/// In a file too small to show its unit, the lines of the place do.
#[rstest]
#[case::one_column_left(
    "function f() {\n  const a = use();\n  return <A b={a.b} />;\n}\n",
    "function f() {\n  const a = use();\n return <A b={a.b} />;\n}",
    "function f() {\n  const a = use();\n return (\n   <A\n     b={a.b}\n   />\n );\n}",
    "function f() {\n  const a = use();\n  return (\n    <A\n      b={a.b}\n    />\n  );\n}\n"
)]
#[case::one_column_right(
    "function f() {\n  const a = use();\n  return <A b={a.b} />;\n}\n",
    "function f() {\n  const a = use();\n   return <A b={a.b} />;\n}",
    "function f() {\n  const a = use();\n   return (\n     <A b={a.b} />\n   );\n}",
    "function f() {\n  const a = use();\n  return (\n    <A b={a.b} />\n  );\n}\n"
)]
#[case::four_columns(
    "def f(a):\n    b = use(a)\n    return done(b)\n",
    "def f(a):\n    b = use(a)\n   return done(b)",
    "def f(a):\n    b = use(a)\n   if b:\n       return done(b)\n   return a",
    "def f(a):\n    b = use(a)\n    if b:\n        return done(b)\n    return a\n"
)]
#[case::only_the_old_line(
    "def f(a):\n    b = use(a)\n    return done(b)\n",
    "def f(a):\n    b = use(a)\n   return done(b)",
    "def f(a):\n    b = use(a)\n    if b:\n        return done(b)",
    "def f(a):\n    b = use(a)\n    if b:\n        return done(b)\n"
)]
fn lines_below_a_line_that_is_one_column_off_move_with_it(
    #[case] file: &str,
    #[case] old: &str,
    #[case] new: &str,
    #[case] after: &str,
) {
    applied(file, old, new, after);
}

/// Context lines that lost their marker are one column off; added lines at the same column need not be.
#[test]
fn the_slip_of_a_comment_is_not_that_of_code() {
    let file = "const cli = {\n\n    /**\n     * Runs it at once.\n     * @param a A thing.\n     */\n    run(a) {\n        if (a) {\n            go(a);\n        }\n    }\n};\n";
    let added = "+     * Makes one.\n+     */\n+    fresh() {\n+        go();\n+    },\n+\n+    /**\n";
    let patch = format!(
        "*** Begin Patch\n*** Update File: file.txt\n@@\n const cli = {{\n \n    /**\n{added}     * Runs it at once.\n      * @param a A thing.\n*** End Patch\n"
    );
    let rig = Rig::new(file);
    let answer = rig.call("patch", json!({ "patch": patch }));
    if answer.report.status() == Status::Applied {
        let after = file.replacen("    /**\n", &format!("    /**\n{}", added.replace('+', "")), 1);
        assert_eq!(String::from_utf8_lossy(&rig.bytes()), after, "{}", answer.text);
    } else {
        assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    }
}

const CALLS: &str = "def run():\n    first_call()\n    second_call()\n    third_call()\n    return done\n";

/// Only the old text lost its indentation, and the new text moves some of its lines.
#[rstest]
#[case::into_a_new_block(
    "first_call()\nsecond_call()\nthird_call()",
    "    first_call()\n    if ready:\n        second_call()\n    third_call()",
    "def run():\n    first_call()\n    if ready:\n        second_call()\n    third_call()\n    return done\n"
)]
#[case::all_of_it_lost_indentation(
    "first_call()\nsecond_call()\nthird_call()",
    "if ready:\n    first_call()\n    second_call()\nthird_call()",
    "def run():\n    if ready:\n        first_call()\n        second_call()\n    third_call()\n    return done\n"
)]
fn the_repeated_lines_show_which_text_lost_its_indentation(
    #[case] old: &str,
    #[case] new: &str,
    #[case] after: &str,
) {
    applied(CALLS, old, new, after);
}

/// Only the first line of the old text lost its indentation, and both texts have blank lines or trailing whitespace that the file
/// does not have, or lack what it has.
#[rstest]
#[case::blank_line_left_out(
    "first_call()\n    second_call()\n    third_call()\n",
    "    first_call()\n    second_call()\n    third_call(1)\n",
    "def run():\n    first_call()\n    second_call()\n\n    third_call(1)\n    return done\n"
)]
#[case::blank_line_too_many(
    "first_call()\n\n    second_call()\n\n    third_call()\n",
    "    first_call()\n\n    second_call()\n\n    third_call(1)\n",
    "def run():\n    first_call()\n    second_call()\n\n    third_call(1)\n    return done\n"
)]
#[case::trailing_whitespace(
    "first_call()  \n    second_call()  \n\n    third_call()\n",
    "    first_call()  \n    second_call()  \n\n    third_call(1)\n",
    "def run():\n    first_call()\n    second_call()\n\n    third_call(1)\n    return done\n"
)]
fn what_both_texts_have_stays_as_the_file_has_it(#[case] old: &str, #[case] new: &str, #[case] after: &str) {
    let file = CALLS.replace("second_call()\n", "second_call()\n\n");
    applied(file.as_str(), old, new, after);
}

/// A line that is aligned by spaces after its tabs keeps them, whichever way the text was shifted.
#[rstest]
#[case::too_deep("\t\tif (first) {\n\t\t\tstop();\n", "\t\tif (first &&\n\t\t    second) {\n\t\t\tstop();\n")]
#[case::not_deep_enough("if (first) {\n\tstop();\n", "if (first &&\n    second) {\n\tstop();\n")]
#[case::exact("\tif (first) {\n\t\tstop();\n", "\tif (first &&\n\t    second) {\n\t\tstop();\n")]
fn spaces_after_tabs_are_kept(#[case] old: &str, #[case] new: &str) {
    let file = "void run(void)\n{\n\tif (first) {\n\t\tstop();\n\t}\n}\n";
    applied(file, old, new, file.replace("(first) {", "(first &&\n\t    second) {"));
}

#[test]
fn braces_that_happen_to_agree_do_not_hide_it() {
    let file = "app.use({\n  schema: {\n    response: {\n      ok: {\n        id: { type: 'number' },\n        name: { type: 'string' }\n      }\n    }\n  }\n})\n";
    let old = "schema: {\n  response: {\n    ok: {\n      id: { type: 'number' },\n      name: { type: 'string' }\n    }\n  }";
    let new = "  schema: {\n    response: {\n      ok: {\n        type: 'object',\n        properties: {\n          id: { type: 'number' },\n          name: { type: 'string' }\n        }\n      }\n    }";
    let after = format!("app.use({{\n{new}\n  }}\n}})\n");
    applied(file, old, new, after);
}

/// The wrapped lines may be those of a text that lost its indentation, or the new line is meant to be further out.
#[rstest]
#[case::wrapped("first_call()\nsecond_call()", "if ready:\n    first_call()\n    second_call()")]
#[case::followed_by_an_outer_line(
    "first_call()\nsecond_call()",
    "    first_call()\n    second_call()\nlast()"
)]
#[case::some_of_each(
    "first_call()\nsecond_call()\nthird_call()",
    "    first_call()\n    other()\n  third_call()"
)]
fn two_possible_depths_are_refused(#[case] old: &str, #[case] new: &str) {
    refused(CALLS, old, new, "no_match");
}

/// The same the other way round: a text with too much indentation that unwraps a line, or a new text that keeps it where it is.
#[test]
fn an_unwrapped_line_of_a_shifted_text_is_refused() {
    let file = "def run():\n    if ready:\n        first_call()\n    return done\n";
    refused(file, "        if ready:\n            first_call()", "        first_call()", "no_match");
}

/// Only the first line lost its indentation, the new text has it, and all others have spaces for the file's tabs.
#[test]
fn one_line_that_is_right_does_not_make_spaces_right_in_a_file_with_tabs() {
    let file = "a {\n\t&.label {\n\t\tmax-width: calc(one - two - three);\n\t}\n}\n";
    let old = "max-width: calc(one - two - three);\n    }\n}\n";
    let new =
        "\t\tmax-width: calc(one - two - three);\n    }\n\n    &.wide {\n        flex-grow: 1;\n    }\n}\n";
    let rig = crate::rig::Rig::new(file);
    let answer = rig.edit(old, new);
    let bytes = rig.bytes();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.lines().all(|line| !line.starts_with("    ")), "{}\n{text}", answer.text);
}

/// Only the old text lost its indentation, and every line that both texts have is in the old one twice.
#[test]
fn lines_that_are_repeated_show_the_depth_if_all_of_them_were_moved_alike() {
    let file = "function f() {\n  if (a) {\n    if (b) {\n      skip(a)\n    } else {\n      parser.run(a, b)\n    }\n    return\n  }\n\n  if (c) {\n    if (d) {\n      parser.run(a, b)\n    } else {\n      handle(c)\n    }\n    return\n  }\n}\n";
    let old = "  } else {\n    parser.run(a, b)\n  }\n  return\n}\n\nif (c) {\n  if (d) {\n    parser.run(a, b)\n  } else {\n    handle(c)\n  }\n  return";
    let new = "    } else {\n      if (c) {\n        handle(c, a)\n        return\n      }\n      parser.run(a, b)\n    }\n    return";
    let quoted: String =
        old.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("  {line}\n") }).collect();
    let rig = Rig::new(file);
    let answer = rig.edit(old, new);
    let after = String::from_utf8_lossy(&rig.bytes()).into_owned();
    let expected = match answer.report.status() {
        Status::Applied => file.replace(&quoted, &format!("{new}\n")),
        _ => file.to_owned(),
    };
    assert_eq!(after, expected, "{}", answer.text);
}

/// ` * a` is one column deeper than `/**`, which is no level of indentation.
#[test]
fn lines_of_a_comment_are_put_under_its_first_line() {
    let file = "class A {\n  end() {\n    this.reading = false\n  }\n\n  destroy (err) {\n    if (!err) {\n      err = new AbortedError()\n    }\n  }\n}\n";
    let old = "    this.reading = false\n  }\n\n destroy (err) {\n    if (!err) {\n      err = new AbortedError()\n    }";
    let new = old.replace(" destroy", " /**\n  * @param err\n  * @returns {void}\n  */\n _destroy");
    let expected =
        file.replace("  destroy", "  /**\n   * @param err\n   * @returns {void}\n   */\n  _destroy");
    applied(file, old, &new, expected);
}

/// The quoted lines of the comment lost a column, and the added one did not.
#[test]
fn an_added_line_of_a_comment_stands_under_the_others() {
    let file = "class A {\n  /**\n   * @param {string} key\n   * @param {any} value\n   */\n  insert (key, value) {\n    run()\n  }\n}\n";
    let old = " /**\n  * @param {string} key\n  * @param {any} value\n  */\n insert (key, value) {";
    let new = old.replace("value\n  */", "value\n   * @returns {void}\n  */");
    let expected = file.replace("value\n   */", "value\n   * @returns {void}\n   */");
    applied(file, old, &new, expected);
}
