//! Unintended changes of bytes.

use rstest::rstest;
use slipstitch_core::outcome::Status;

use super::{applied, recovered, refused};
use crate::rig::Rig;

#[test]
fn lf_request_in_a_crlf_file() {
    applied("a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny\nb", "a\r\nx\r\ny\r\nb\r\nc\r\n");
}

/// The same if the place has to be recovered, and for requests with other line endings.
#[rstest]
#[case::lf("a();\nb(); ", "a();\nx();\nb();")]
#[case::crlf("a();\r\nb(); ", "a();\r\nx();\r\nb();")]
#[case::cr("a();\rb(); ", "a();\rx();\rb();")]
#[case::mixed("a();\r\nb(); \n", "a();\nx();\r\nb();\n")]
fn recovered_edit_of_a_crlf_file(#[case] old: &str, #[case] new: &str) {
    let answer = applied(
        "if z {\r\n  a();\r\n  b();\r\n}\r\n",
        old,
        new,
        "if z {\r\n  a();\r\n  x();\r\n  b();\r\n}\r\n",
    );
    recovered(&answer);
}

#[test]
fn keeps_mixed_line_endings() {
    let file = "one\r\ntwo\nthree\rfour\r\nfive\n";
    applied(file, "two\nthree", "two\nTHREE", "one\r\ntwo\nTHREE\rfour\r\nfive\n");
    applied(file, "two \nthree", "2\nthree", "one\r\n2\nthree\rfour\r\nfive\n");
    applied(file, "one\ntwo \nthree\nfour", "one\ntwo\nthree\n4", "one\r\ntwo\nthree\r4\r\nfive\n");
}

#[rstest]
#[case::exactly("a", "x", "x\nb\nc")]
#[case::recovered("a \nb", "x\nb", "x\nb\nc")]
#[case::the_last_line("b\nc\n", "b\nx\n", "a\nb\nx")]
#[case::the_last_line_recovered(" b\n c\n", " b\n x\n", "a\nb\nx")]
fn keeps_a_missing_final_newline(#[case] old: &str, #[case] new: &str, #[case] after: &str) {
    applied("a\nb\nc", old, new, after);
}

/// Lines added after a last line without newline are not joined with it, and the file still ends without one.
#[rstest]
#[case::exactly("c", "c\nd\ne")]
#[case::with_newlines("b\nc\n", "b\nc\nd\ne\n")]
#[case::recovered("b \nc\n", "b\nc\nd\ne\n")]
fn adds_lines_after_a_last_line_without_newline(#[case] old: &str, #[case] new: &str) {
    applied("a\nb\nc", old, new, "a\nb\nc\nd\ne");
}

const ODD: &str = "blanks  \t\nﬁ ① ½ ™\nna\u{ef}ve nai\u{308}ve\n  call( a );\nend\u{a0}\n";

#[rstest]
#[case::exactly("  call( a );", "  call( b );")]
#[case::recovered("call( a ); \nend", "call( b );\nend")]
fn keeps_unusual_characters_elsewhere(#[case] old: &str, #[case] new: &str) {
    applied(ODD, old, new, ODD.replace("call( a )", "call( b )"));
}

/// Letters that look alike, ligatures and composed characters are not look-alike punctuation.
#[rstest]
#[case::ligature("ﬁle = 1\n", "file = 1", "file = 2")]
#[case::fraction("x = ½\n", "x = 1/2", "x = 1/3")]
#[case::cyrillic("сору(a)\n", "copy(a)", "copy(b)")]
#[case::composed("na\u{ef}ve()\n", "nai\u{308}ve()", "clever()")]
#[case::full_width("x ＝ 1\n", "x = 1", "x = 2")]
fn rejects_look_alike_letters(#[case] file: &str, #[case] old: &str, #[case] new: &str) {
    refused(file, old, new, "no_match");
}

#[test]
fn keeps_a_byte_order_mark_that_the_request_may_omit() {
    applied("\u{feff}one\ntwo\n", "one\ntwo", "1\ntwo", "\u{feff}1\ntwo\n");
    applied("\u{feff}one\ntwo\n", "  one\n  two", "  1\n  two", "\u{feff}1\ntwo\n");
    applied("\u{feff}one\ntwo\n", "\u{feff}one \ntwo", "\u{feff}1\ntwo", "\u{feff}1\ntwo\n");
}

fn utf16(text: &str) -> Vec<u8> {
    [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn recovers_in_a_utf16_file() {
    let answer = applied(
        utf16("eins\r\n  zwei()\r\n  dr\u{e4}i()\r\n"),
        "zwei()\ndr\u{e4}i()",
        "zwei()\nx\u{1f600}()\ndr\u{e4}i()",
        utf16("eins\r\n  zwei()\r\n  x\u{1f600}()\r\n  dr\u{e4}i()\r\n"),
    );
    recovered(&answer);
}

#[rstest]
#[case::latin1(encoding_rs::WINDOWS_1252, "  pr\u{e9}parer();\n  caf\u{e9}();\n  fin();\n")]
#[case::gbk(encoding_rs::GBK, "  准备工作和一些说明文字();\n  caf\u{e9}();\n  fin();\n")]
#[case::shift_jis(encoding_rs::SHIFT_JIS, "  これは日本語の文章です();\n  カフェ();\n  fin();\n")]
fn recovers_in_a_legacy_encoding(#[case] encoding: &'static encoding_rs::Encoding, #[case] text: &str) {
    let before = encoding.encode(text).0.into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let old = format!("{}\n{}", lines[1], lines[2]);
    let new = format!("{}\nplus();\n{}", lines[1], lines[2]);
    let after = encoding.encode(&text.replace("  fin();", "  plus();\n  fin();")).0.into_owned();
    recovered(&applied(&before, &old, &new, after));
    refused(&before, &old, &format!("{old}\n\u{1f600}();"), "unencodable");
}

#[rstest]
#[case::dollars("$& $1 $$ ${x} $`")]
#[case::backslashes(r"\1 \0 \\ \g<1> \u0041")]
#[case::percents("%s %n %1$s {} {0}")]
#[case::control("\u{1}\u{7f}\u{1b}[0m")]
fn writes_new_text_literally(#[case] text: &str) {
    applied("a b c\n", "b", text, format!("a {text} c\n"));
    applied("  one\n  two\n", "one \ntwo", &format!("{text}\ntwo"), format!("  {text}\n  two\n"));
}

#[test]
fn keeps_curly_quotes_of_context_lines() {
    let file = "say “hello”\nlet x = 1;\nwait… – it’s\n";
    let (old, new) =
        ("say \"hello\"\nlet x = 1;\nwait... - it's", "say \"hello\"\nlet x = 2;\nwait... - it's");
    applied(file, old, new, "say “hello”\nlet x = 2;\nwait… – it’s\n");
}

/// Punctuation of a changed line is kept where the request does not change it, and new punctuation is written.
#[test]
fn keeps_curly_quotes_of_changed_lines() {
    applied("say(“hello”, 1)\n", "say(\"hello\", 1)", "say(\"hello\", 2)", "say(“hello”, 2)\n");
    applied("say(“hello”)\n", "say(\"hello\")", "say('bye')", "say('bye')\n");
    applied("a — b\nc\n", "a - b\nc", "a - b\nd - e\nc", "a — b\nd - e\nc\n");
}

/// A no-break or zero-width space in the request is ignored and not written.
#[test]
fn does_not_write_invisible_characters_of_the_request() {
    let file = "let a = 1;\nlet b = 2;\n";
    applied(file, "let\u{a0}a = 1;\nlet b = 2;", "let\u{a0}a = 1;\nlet b = 3;", "let a = 1;\nlet b = 3;\n");
    applied(
        file,
        "let a\u{200b} = 1;\nlet b = 2;",
        "let a\u{200b} = 1;\nlet b = 3;",
        "let a = 1;\nlet b = 3;\n",
    );
}

#[rstest]
#[case::form_feed("\u{c}")]
#[case::vertical_tab("\u{b}")]
#[case::line_separator("\u{2028}")]
#[case::paragraph_separator("\u{2029}")]
#[case::next_line("\u{85}")]
fn other_control_characters_do_not_end_lines(#[case] mark: &str) {
    let file = format!("one {mark} two\n  a();\n  b();\nend{mark}x\n");
    let after = file.replace("  a();\n", "  a();\n  z();\n");
    let answer = applied(&file, "a();\nb();", "a();\nz();\nb();", after);
    let place = answer.report.files[0].edits[0].places[0];
    assert_eq!(place.before.start, 2, "{}", answer.text);
    refused(&file, "one\ntwo\n a();", "x", "no_match");
}

#[test]
fn indents_added_lines_like_the_file() {
    let file = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n";
    let old = "def f(self):\n    return 1";
    let new = "def f(self):\n    if self:\n        return 0\n\n    return 1";
    let after = "class A:\n    def f(self):\n        if self:\n            return 0\n\n        return 1\n\n    def g(self):\n        return 2\n";
    applied(file, old, new, after);
}

#[test]
fn space_indented_request_in_a_tab_indented_file() {
    let file = "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n";
    let old = "    if a {\n        b()\n    }";
    let new = "    if a {\n        for {\n            c()\n        }\n        b()\n    }";
    applied(file, old, new, "func f() {\n\tif a {\n\t\tfor {\n\t\t\tc()\n\t\t}\n\t\tb()\n\t}\n}\n");
}

/// The reverse: spaces in the file, tabs in the request.
#[test]
fn tab_indented_request_in_a_space_indented_file() {
    let file = "func f() {\n  if a {\n    b()\n  }\n}\n";
    let new = "\tif a {\n\t\tb()\n\t\tc()\n\t}";
    applied(file, "\tif a {\n\t\tb()\n\t}", new, "func f() {\n  if a {\n    b()\n    c()\n  }\n}\n");
}

/// If the shared lines contradict each other, the indentation of added lines is not guessed.
#[test]
fn rejects_inconsistent_indentation() {
    let file = "        a()\n  b()\n      c()\n";
    let rig = Rig::new(file);
    let answer = rig.edit("  a()\n      b()\n   c()", "  a()\n    x()\n      b()\n   c()");
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(answer.report.status(), Status::Refused);
}

/// The request turns two blank lines into one; the file has only one, which is kept.
#[test]
fn does_not_remove_a_blank_line_that_only_the_request_has() {
    let file = "first();\n\nsecond();\nthird();\n";
    let (old, new) = ("first();\n\n\nsecond();\nthird();", "first();\n\nsecond();\nfourth();");
    applied(file, old, new, "first();\n\nsecond();\nfourth();\n");
}

/// Lines without the indentation of the first one are still whole lines and are not joined with the next.
#[test]
fn does_not_join_lines_quoted_without_the_first_indentation() {
    let file = "fn f() {\n    a();\n    b();\n    c();\n}\n";
    applied(file, "a();\n    b();\n", "a();\n    x();", "fn f() {\n    a();\n    x();\n    c();\n}\n");
}

/// To join lines, the old text includes both; the report covers both.
#[test]
fn reports_both_lines_that_are_joined() {
    let answer = applied("ab\ncd\nef\n", "b\n", "b ", "ab cd\nef\n");
    let place = answer.report.files[0].edits[0].places[0];
    assert_eq!((place.before.count, place.after.count), (2, 1));
}
