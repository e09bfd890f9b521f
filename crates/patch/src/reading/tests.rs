use rstest::rstest;

use crate::hunk::{HunkLine, HunkRepair, Role};
use crate::{Action, Hunk, ParseOptions, Patch, parse};

fn patch(text: &str, strict: bool) -> Patch {
    parse(text, None, ParseOptions { strict, ..ParseOptions::default() })
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn hunks(patch: &Patch) -> &[Hunk] {
    match &patch.files[0].action {
        Action::Update { hunks, .. } => hunks,
        other => panic!("no hunks in {other:?}"),
    }
}

/// The hunk with these lines, in a V4A patch.
fn hunk(body: &str) -> Hunk {
    let text = format!("*** Begin Patch\n*** Update File: f\n@@\n{body}*** End Patch\n");
    hunks(&patch(&text, false))[0].clone()
}

fn shown(lines: &[HunkLine]) -> String {
    let sign = |role| match role {
        Role::Context => '=',
        Role::Removed => '-',
        Role::Added => '+',
    };
    lines.iter().map(|line| format!("{}{}\n", sign(line.role), line.text)).collect()
}

/// The reading with exactly these repairs.
fn reading(hunk: &Hunk, repairs: &[HunkRepair]) -> Option<String> {
    hunk.alternatives.iter().find(|reading| reading.repairs == repairs).map(|reading| shown(&reading.lines))
}

#[rstest]
#[case::before(" a\n-a\n+b\n", "-a\n+b\n")]
#[case::after_the_removed_line("-a\n a\n+b\n", "-a\n+b\n")]
#[case::several_lines(" x\n a\n b\n-a\n-b\n+c\n", "=x\n-a\n-b\n+c\n")]
#[case::the_first_of_several(" a\n-a\n-b\n+c\n", "-a\n-b\n+c\n")]
#[case::the_first_of_several_that_are_deleted(" a\n-a\n-b\n", "-a\n-b\n")]
#[case::with_a_blank_line(" a\n \n-a\n-\n+c\n", "-a\n-\n+c\n")]
#[case::tabs(" \ta()\n-\ta()\n+\tb()\n", "-\ta()\n+\tb()\n")]
#[case::two_changes(" a\n-a\n+b\n c\n-d\n d\n+e\n", "-a\n+b\n=c\n-d\n+e\n")]
fn an_echoed_line_is_one_line(#[case] body: &str, #[case] expected: &str) {
    assert_eq!(reading(&hunk(body), &[HunkRepair::EchoedLine]).as_deref(), Some(expected));
}

#[rstest]
#[case::other_text(" a\n-b\n+c\n")]
#[case::not_adjacent(" a\n x\n-a\n+c\n")]
#[case::added_only(" a\n+a\n")]
#[case::duplicate_above(" a\n-a\n")]
#[case::duplicates_above(" a\n b\n-a\n-b\n")]
#[case::duplicate_and_a_brace(" a\n-a\n-}\n")]
#[case::duplicate_twice(" a\n-a\n-a\n")]
#[case::duplicate_below("-a\n a\n b\n")]
#[case::after_the_change("-a\n+b\n a\n")]
#[case::blank_only(" \n-\n+c\n")]
fn other_context_is_not_an_echo(#[case] body: &str) {
    assert_eq!(hunk(body).alternatives, []);
}

#[rstest]
#[case::one_line(" x\n a\n-a\n", Some("=x\n-a\n"))]
#[case::several_lines(" a\n b\n-a\n-b\n c\n", Some("-a\n-b\n=c\n"))]
#[case::other_text(" a\n-b\n", None)]
#[case::blank_only(" \n-\n", None)]
#[case::below("-a\n a\n b\n", None)]
fn a_deleted_line_may_be_an_echo(#[case] body: &str, #[case] expected: Option<&str>) {
    assert_eq!(hunk(body).without_echoes().as_deref().map(shown).as_deref(), expected);
}

#[test]
fn an_echo_ends_the_file_as_the_removed_line_does() {
    let text = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-a\n\\ No newline at end of file\n+b\n";
    assert_eq!(hunks(&patch(text, false))[0].alternatives, [], "the context line has a newline");
}

#[rstest]
#[case::pipe(" 12| a\n-13| b\n+13| c\n", "=a\n-b\n+c\n")]
#[case::anchor(" 12:ab|  a\n-13:c4|  b\n+  c\n", "=  a\n-  b\n+  c\n")]
#[case::anchors_of_some_added_lines("-13:c4|b\n+13:c4|c\n+d\n", "-b\n+c\n+d\n")]
#[case::colon(" 9: a\n-10: b\n+10: c\n", "=a\n-b\n+c\n")]
#[case::colon_in_the_old_lines(" 9: a\n-10: b\n+c\n", "=a\n-b\n+c\n")]
#[case::tab(" 9\ta\n-10\t\tb\n+\tc\n", "=a\n-\tb\n+\tc\n")]
#[case::arrow("     9→a\n-    10→b\n+c\n", "=a\n-b\n+c\n")]
#[case::blank_line(" 9: a\n 10:\n-11: b\n+c\n", "=a\n=\n-b\n+c\n")]
#[case::blank_line_without_number(" 9: a\n\n-11: b\n+c\n", "=a\n=\n-b\n+c\n")]
#[case::bare("9| a\n10| x\n-11| b\n+c\n", "=a\n=x\n-b\n+c\n")]
fn strips_line_numbers(#[case] body: &str, #[case] expected: &str) {
    assert_eq!(reading(&hunk(body), &[HunkRepair::LineNumbers]).as_deref(), Some(expected));
}

#[rstest]
#[case::one_weak_mark("-80: http\n+80: https\n")]
#[case::not_every_line(" 9| a\n-b\n+c\n")]
#[case::not_rising(" 9| a\n-9| b\n+c\n")]
#[case::some_added_lines(" 9| a\n-10| b\n+10| c\n+d\n")]
#[case::no_old_lines("+9| a\n")]
fn keeps_numbers_that_may_be_text(#[case] body: &str) {
    assert_eq!(reading(&hunk(body), &[HunkRepair::LineNumbers]), None);
}

#[test]
fn a_space_after_the_mark_may_belong_to_the_line() {
    let hunk = hunk(" 9:  a\n-10:  b\n+c\n");
    let readings: Vec<String> = hunk.alternatives.iter().map(|reading| shown(&reading.lines)).collect();
    assert_eq!(readings, ["= a\n- b\n+c\n", "=  a\n-  b\n+c\n"]);
}

#[test]
fn numbers_in_front_of_the_prefixes_hide_the_change() {
    let hunk = hunk("10| def f():\n11|-    a\n11|+    b\n");
    assert_eq!(shown(&hunk.lines), "=def f():\n-    a\n+    b\n");
}

#[rstest]
#[case::whole_hunk("-a\\n-b\\n+c\n", "-a\n-b\n+c\n")]
#[case::whole_hunk_terminated("-a\\n-b\\n+c\\n\n", "-a\n-b\n+c\n")]
#[case::carriage_returns("-a\\r\\n-b\\r\\n+c\n", "-a\n-b\n+c\n")]
#[case::only_added("+a\\n+b\n", "+a\n+b\n")]
#[case::added_above_context("+a\\n b\\n c\n", "+a\n=b\n=c\n")]
#[case::roles_are_inherited("-a\\nb\n+c\\nd\n", "-a\n-b\n+c\n+d\n")]
#[case::indented("-def f():\\n    a\n+def g():\\n    a\n", "-def f():\n-    a\n+def g():\n+    a\n")]
#[case::context_with_prefixes(" a\\n b\n-c\n", "=a\n=b\n-c\n")]
#[case::strings("-print(\"a\\n\")\\n-x\n+y\n", "-print(\"a\\n\")\n-x\n+y\n")]
#[case::escaped_quotes("-print(\\\"a\\\\n\\\")\\n-\\tx\n", "-print(\"a\\n\")\n-\tx\n")]
#[case::new_lines_stay("-a\\n-b\n+print('\\n')\n+c\n", "-a\n-b\n+print('\\n')\n+c\n")]
#[case::separate_new_lines("-a\\n-b\n+x\\ny\n+c\n", "-a\n-b\n+x\\ny\n+c\n")]
fn splits_at_literal_newlines(#[case] body: &str, #[case] expected: &str) {
    let hunk = hunk(body);
    assert_eq!(reading(&hunk, &[HunkRepair::LiteralNewlines]).as_deref(), Some(expected), "{hunk:?}");
}

#[rstest]
#[case::string("-print(\"a\\nb\")\n+x\n")]
#[case::single_quotes("-print('a\\nb')\n+x\n")]
#[case::backslash("-a\\\\nb\n+x\n")]
#[case::new_line_only("-a\n+b\\nc\n")]
fn keeps_newlines_that_are_code(#[case] body: &str) {
    assert_eq!(hunk(body).alternatives, []);
}

#[test]
fn a_change_hidden_by_literal_newlines_is_not_dropped() {
    let text = "*** Begin Patch\n*** Update File: f\n@@\n a\\n-b\\n+c\n@@\n-x\n+y\n*** End Patch\n";
    let patch = patch(text, false);
    assert_eq!(shown(&hunks(&patch)[0].lines), "=a\n-b\n+c\n");
    assert_eq!(
        patch.repairs[0].message,
        "the hunk changes nothing as written: it was read as if lines were joined by a literal `\\n`"
    );
    assert!(parse(text, None, ParseOptions::STRICT).is_err());
}

/// All context lacks its prefix, and the asterisks are one column to the right of their depth.
#[test]
fn asterisks_of_comments_do_not_hide_bare_context() {
    let hunk = hunk("        a();\n+        b();\n    }\n    /**\n     * c\n");
    let expected = "=        a();\n+        b();\n=    }\n=    /**\n=     * c\n";
    assert_eq!(reading(&hunk, &[HunkRepair::BareContext]).as_deref(), Some(expected), "{hunk:?}");
}

/// After an unpaired quotation mark, the changes may be inside a literal, so they are neither read nor dropped.
#[test]
fn a_hunk_whose_changes_may_be_in_a_literal_is_not_dropped() {
    let text = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n@@ -5 +5 @@\n \"\"\"\\n-x = {\"c\"}\\n+y = {\"c\"}\n";
    assert!(parse(text, None, ParseOptions::default()).is_err());
    let plain = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n@@ -5 +5 @@\n x = 1\n";
    assert!(parse(plain, None, ParseOptions::default()).is_ok());
}

#[test]
fn splits_in_a_crlf_diff() {
    let text = "--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n-a\\n-b\r\n+c\r\n";
    let patch = patch(text, false);
    assert!(patch.files[0].crlf);
    let hunk = &hunks(&patch)[0];
    assert_eq!(reading(hunk, &[HunkRepair::LiteralNewlines]).as_deref(), Some("-a\n-b\n+c\n"));
}

#[test]
fn only_the_last_piece_ends_the_file() {
    let text = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\\n-b\n\\ No newline at end of file\n+c\n";
    let hunk = hunks(&patch(text, false))[0].clone();
    let newlines: Vec<bool> = hunk.alternatives[0].lines.iter().map(|line| line.newline).collect();
    assert_eq!(newlines, [true, false, true]);
}

#[rstest]
#[case::marked_heading(
    " def f():\n    a()\n-    b()\n+    c()\n",
    "=def f():\n=    a()\n-    b()\n+    c()\n"
)]
#[case::marked_below("    a()\n-    b()\n     c()\n", "=    a()\n-    b()\n=    c()\n")]
fn context_may_be_bare_on_some_lines(#[case] body: &str, #[case] expected: &str) {
    assert_eq!(reading(&hunk(body), &[HunkRepair::MixedContext]).as_deref(), Some(expected));
}

#[test]
fn odd_indentation_of_changes_shows_that_it_is_meant() {
    assert_eq!(hunk(" /**\n  * a\n- * b\n+ * c\n").alternatives, []);
}

#[test]
fn combines_mistakes() {
    use HunkRepair::{BareContext, EchoedLine, LineNumbers, LiteralNewlines};
    let bare = hunk("fn f() {\n    a();\n-    a();\n+    b();\n");
    assert_eq!(
        reading(&bare, &[BareContext, EchoedLine]).as_deref(),
        Some("=fn f() {\n-    a();\n+    b();\n")
    );
    let numbered = hunk(" 9| x\n 10| a\n-10| a\n+10| b\n");
    assert_eq!(reading(&numbered, &[EchoedLine, LineNumbers]).as_deref(), Some("=x\n-a\n+b\n"));
    let joined = hunk(" 9| x\\n-10| a\\n+10| b\n");
    assert_eq!(shown(&joined.lines), "=9| x\n-10| a\n+10| b\n");
    assert_eq!(reading(&joined, &[LineNumbers]).as_deref(), Some("=x\n-a\n+b\n"));
    let echoed = hunk("-x\\n a\\n-a\\n+b\n");
    assert_eq!(reading(&echoed, &[EchoedLine, LiteralNewlines]).as_deref(), Some("-x\n-a\n+b\n"));
}

#[test]
fn fewer_mistakes_come_first_and_the_number_is_bounded() {
    let hunk = hunk("x\n 9:  a\\n 10:  b\n-10:  b\n+  c\n");
    assert!(hunk.alternatives.len() <= 6);
    let counts: Vec<usize> = hunk.alternatives.iter().map(|reading| reading.repairs.len()).collect();
    assert!(counts.is_sorted() && counts[0] == 1, "{hunk:?}");
}

#[test]
fn strict_mode_has_no_other_readings() {
    let text = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-a\n+b\n";
    assert_eq!(hunks(&patch(text, false))[0].alternatives.len(), 1);
    assert_eq!(hunks(&patch(text, true))[0].alternatives, []);
}

#[test]
fn describes_the_mistakes() {
    let hunk = hunk(" 9|x\n 10|a\n-10|a\n+10|b\n");
    let described: Vec<String> = hunk.alternatives.iter().map(crate::Reading::describe).collect();
    assert_eq!(
        described,
        [
            "a line was given both as context and as removed",
            "a line was given both as context and as removed, and the lines were given with line numbers",
        ]
    );
}
