//! Malformed requests that models send in practice.

use rstest::rstest;
use serde_json::{Value, json};
use slipstitch_core::outcome::Status;

use super::{applied, recovered, refused};
use crate::rig::Rig;

const FILE: &str = "fn f() {\n    let a = 1;\n    let b = 2;\n    g(a, b);\n}\n";

fn numbered(text: &str, first: usize, form: fn(usize) -> String) -> String {
    let lines: Vec<String> = (first..).zip(text.split('\n')).map(|(n, line)| form(n) + line).collect();
    lines.join("\n")
}

#[rstest]
#[case::pipe(|n| format!("{n:>4}|"))]
#[case::tab(|n| format!("{n}\t"))]
#[case::wide_tab(|n| format!("{n:>6}\t"))]
#[case::colon(|n| format!("{n}: "))]
#[case::arrow(|n| format!("{n:>5}→"))]
#[case::letter(|n| format!("L{n}:"))]
#[case::spaced_pipe(|n| format!("{n} | "))]
fn strips_line_numbers_from_every_line(#[case] form: fn(usize) -> String) {
    let (old, new) = ("    let a = 1;\n    let b = 2;", "    let a = 1;\n    let c = 3;\n    let b = 2;");
    let after = FILE.replace("    let b", "    let c = 3;\n    let b");
    let answer = applied(FILE, &numbered(old, 2, form), new, &after);
    assert!(recovered(&answer).contains("line numbers"));
    applied(FILE, &numbered(old, 2, form), &numbered(new, 2, form), &after);
}

/// If only some lines have a number, it could be text. It is never written.
#[test]
fn rejects_line_numbers_on_some_lines() {
    refused(FILE, "2|    let a = 1;\n    let b = 2;", "    let b = 2;", "no_match");
    let (old, new) = ("2|    let a = 1;\n3|    let b = 2;", "2|    let a = 1;\n    let b = 2;");
    refused(FILE, old, new, "no_match");
    let gap = "2|    let a = 1;\n4|    let c = 3;";
    applied(FILE, old, gap, FILE.replace("    let b = 2;", "    let c = 3;"));
}

/// Numbers that the file has are text.
#[test]
fn keeps_line_numbers_that_the_file_has() {
    let file = "1: alpha\n2: beta\n3: gamma\n";
    applied(file, "1: alpha\n2: beta", "1: alpha\n2: BETA", "1: alpha\n2: BETA\n3: gamma\n");
    applied(file, "1: alpha \n2: beta", "1: alpha\n2: BETA", "1: alpha\n2: BETA\n3: gamma\n");
}

#[test]
fn decodes_escapes() {
    let file = "say(\"a\");\n\tsay(\"b\");\nend();\n";
    applied(
        file,
        r#"say(\"a\");\n\tsay(\"b\");"#,
        r#"say(\"c\");\n\tsay(\"b\");"#,
        file.replace("(\"a\")", "(\"c\")"),
    );
    applied(file, r#"say(\"b\");"#, r#"say(\"d\");"#, file.replace("(\"b\")", "(\"d\")"));
}

/// Escapes that the file has are text.
#[test]
fn keeps_escapes_that_the_file_has() {
    let file = "print(\"a\\n\");\nprint(\"b\");\n";
    applied(file, r#"print("a\n");"#, r#"print("c\n");"#, "print(\"c\\n\");\nprint(\"b\");\n");
    applied("x = 'a\\nb'\na\nb\n", r"a\nb", r"c\nd", "x = 'c\\nd'\na\nb\n");
}

#[test]
fn decodes_entities() {
    let file = "if a < b && c {\n    go(\"x\");\n}\n";
    let (old, new) = ("if a &lt; b &amp;&amp; c {", "if a &gt; b &amp;&amp; c {");
    applied(file, old, new, file.replace("a < b", "a > b"));
    let html = "<p>a &lt; b</p>\n<p>a < c</p>\n";
    applied(html, "a &lt; b", "a &gt; b", "<p>a &gt; b</p>\n<p>a < c</p>\n");
}

/// Encoded once too often, in a file with tags and entities. The shared line keeps the file's text.
#[test]
fn decodes_entities_of_text_with_tags() {
    let html = "<p>a &lt; b</p>\n<i>x</i>\n";
    let (old, new) = ("<p>a &amp;lt; b</p>\n<i>x</i>", "<p>a &amp;lt; b</p>\n<i>y</i>");
    applied(html, old, new, html.replace("<i>x", "<i>y"));
}

/// The new text repeats a damaged line but is not damaged as a whole, so nothing can be written.
#[test]
fn never_writes_a_damaged_line_that_both_texts_share() {
    let file = "say(\"a\");\nrun(1);\n";
    let (old, new) = ("say(\\\"a\\\");\nrun(1);", "say(\\\"a\\\");\nrun(\"b\");");
    refused(file, old, new, "no_match");
}

#[rstest]
#[case::both("```rust\n    let a = 1;\n```", "```rust\n    let a = 7;\n```")]
#[case::old_only("```\n    let a = 1;\n```", "    let a = 7;")]
#[case::with_newlines("```rust\n    let a = 1;\n```\n", "```rust\n    let a = 7;\n```\n")]
#[case::and_no_indentation("```rust\nlet a = 1;\n```", "```rust\nlet a = 7;\n```")]
fn strips_a_fence(#[case] old: &str, #[case] new: &str) {
    applied(FILE, old, new, FILE.replace("a = 1", "a = 7"));
}

#[test]
fn strips_diff_markers_from_every_line() {
    let (old, new) = ("     let a = 1;\n-    let b = 2;", "     let a = 1;\n+    let b = 7;");
    applied(FILE, old, new, FILE.replace("b = 2", "b = 7"));
}

#[rstest]
#[case::one_edit_instead_of_a_list(json!({"edits": {"old_text": "a = 1", "new_text": "a = 7"}}))]
#[case::a_list_as_text(json!({"edits": "[{\"old_text\": \"a = 1\", \"new_text\": \"a = 7\"}]"}))]
#[case::a_singular_key(json!({"edit": [{"old_text": "a = 1", "new_text": "a = 7"}]}))]
fn repairs_unambiguous_arguments_with_a_warning(#[case] arguments: Value) {
    let rig = Rig::new(FILE);
    let answer = rig.call("edit_file", arguments);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(rig.bytes(), FILE.replace("a = 1", "a = 7").as_bytes());
    assert!(!answer.report.warnings.is_empty());
}

#[rstest]
#[case::text_that_is_no_list(json!({"edits": "change a to 7"}))]
#[case::a_number(json!({"edits": 7}))]
#[case::nothing(json!({}))]
#[case::a_huge_number(json!({"old_text": "a", "new_text": "b", "start_line": 99999999999999999999u128 as f64}))]
#[case::a_negative_number(json!({"old_text": "a", "new_text": "b", "start_line": -1}))]
fn rejects_arguments_without_an_interpretation(#[case] arguments: Value) {
    let rig = Rig::new(FILE);
    let answer = rig.call("edit_file", arguments);
    assert_eq!(answer.report.status(), Status::Invalid, "{}", answer.text);
    assert!(answer.report.hint.is_some(), "the answer says what to do next: {}", answer.text);
    assert_eq!(rig.bytes(), FILE.as_bytes());
}

#[rstest]
#[case::exactly("    let a = 1;\n    let b = 2;\n    g(a, b);")]
#[case::recovered("let a = 1;\nlet b = 2;\ng(a, b);")]
fn rejects_an_elision_in_the_new_text_only(#[case] old: &str) {
    refused(FILE, old, "let a = 7;\n// ... rest of the code unchanged", "placeholder_text");
}

fn long_file() -> String {
    (0..60).map(|n| format!("    step_{n}();\n")).collect()
}

#[test]
fn rejects_replacing_the_whole_file_with_three_lines() {
    let file = long_file();
    refused(&file, &file, "a();\nb();\nc();\n", "shrinks_file");
    let shifted: String = file.lines().map(|line| line.trim().to_owned() + "\n").collect();
    refused(&file, &shifted, "a();\nb();\nc();\n", "shrinks_file");
}

/// The old text was sent with its line breaks, the new text with `\n` in their place.
#[test]
fn line_breaks_that_were_escaped_in_the_new_text_alone_are_reported() {
    let file = "first_line(1)\nsecond_line(2)\n";
    let is_reported = |old: &str, new: &str| {
        let rig = Rig::new(file);
        let answer = rig.edit(old, new);
        answer.report.warnings.iter().any(|warning| warning.contains("two characters"))
    };
    assert!(is_reported(file.trim_end(), "first_line(1)\\nsecond_line(22)"));
    assert!(!is_reported(file.trim_end(), "print(\"one\\ntwo\")"));
    assert!(!is_reported("second_line(2)", "second_line(\"\\n\")"));
}

/// The dots are in the file and in both texts, behind line numbers in one of them.
#[test]
fn dots_behind_line_numbers_are_in_both_texts() {
    let file = "struct Info {\n    // ...\n}\n\nimpl Connected for Info {\n    fn connect() {\n        run(1)\n        // ...\n";
    let old = "  2→    // ...\n  3→}\n  4→\n  5→impl Connected for Info {\n  6→    fn connect() {\n  7→        run(1)\n  8→        // ...";
    let new = "    // ...\n}\n\nimpl Connected<Stream> for Info {\n    fn connect() {\n        run(1)\n        // ...";
    applied(file, old, new, file.replace("Connected for", "Connected<Stream> for"));
    let numbered = "  6→    fn connect() {\n  7→        run(1)";
    refused(file, numbered, "    fn connect() {\n        // ... the rest", "placeholder_text");
}

/// A file in which the old text is indented by three, and starts with the blank line above a class.
#[rstest]
#[case::replacement("self.mode = mode", "self.mode = None")]
#[case::insertion("self.mode = mode\n", "self.mode = mode\n        self.size = 0\n")]
fn a_blank_line_that_both_texts_start_with_is_not_added(#[case] from: &str, #[case] to: &str) {
    let file = "import os\n\n\nclass Loader:\n    def __init__(self, path):\n        self.path = path\n        self.mode = mode\n\n    def load(self):\n        pass\n";
    let right = "\nclass Loader:\n    def __init__(self, path):\n        self.path = path\n        self.mode = mode\n\n    def load(self):";
    let old = right.replace("\n    ", "\n   ").replace("\n       ", "\n      ");
    applied(file, &old, &right.replace(from, to), file.replace(from, to));
}

/// The newline at the end of a block, or of a text, is not one of the escaped text.
#[test]
fn escaped_text_that_ends_with_a_newline_is_unescaped() {
    let (before, after) =
        ("if a:\n    say(\"a\")\n    run()\nend()\n", "if a:\n    say(\"b\")\n    run()\nend()\n");
    let (old, new) = (r#"    say(\"a\")\n    run()"#, r#"    say(\"b\")\n    run()"#);
    for (old_end, new_end) in [("", ""), ("\n", "\n")] {
        applied(before, &format!("{old}{old_end}"), &format!("{new}{new_end}"), after);
    }
    for patch in [
        format!("file.txt\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"),
        format!("file.txt\n```\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n"),
    ] {
        let rig = Rig::new(before);
        let answer = rig.call("patch", json!({ "patch": patch }));
        assert_eq!(String::from_utf8_lossy(&rig.bytes()), after, "{}", answer.text);
    }
}

/// The old text was escaped, the new one was not: what it has of escapes belongs to its string literals.
#[test]
fn a_new_text_with_line_breaks_is_not_unescaped() {
    let file = "def f():\n    for line in f:\n        handle(line, \"a\\\\nb\\t\")\n    return 1\n\ndef store(self):\n    pass\n";
    let old = "    for line in f:\\n        handle(line, \\\"a\\\\\\\\nb\\\\t\\\")\\n    return 1";
    let new = "    for line in f:\n        added = 1\n        handle(line, \"a\\\\nb\\t\")\n    return 1";
    applied(file, old, new, file.replace("in f:\n", "in f:\n        added = 1\n"));
}

/// A line that only moves to another depth keeps the file's quotation marks.
#[test]
fn a_line_that_is_indented_keeps_its_punctuation() {
    let file = "def g():\n    loader = Loader(\"x\")\n    loader.load()\n";
    let old = "    loader = Loader(\u{201d}x\u{201d})\n    loader.load()";
    let new = "    if z:\n        loader = Loader(\u{201d}x\u{201d})\n    loader.load()";
    let after = "def g():\n    if z:\n        loader = Loader(\"x\")\n    loader.load()\n";
    applied(file, old, new, after);
}
