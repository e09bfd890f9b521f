//! The traps that are about patches, as calls of the tool `patch`. Traps about single hunks are in `hunks.rs`, about
//! cost in `bounded.rs`, about files on disk in the tests of `slipstitch`.

use std::collections::BTreeMap;

use serde_json::json;
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::outcome::Status;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};

type Files<'a> = &'a [(&'a str, &'a [u8])];

fn path(name: &str) -> FilePath {
    FilePath::from_record(name).unwrap()
}

fn call(before: Files<'_>, patch: &str) -> (Answer, BTreeMap<String, Vec<u8>>) {
    let files = MemoryWorkspace::default();
    for (name, bytes) in before {
        files.put(&path(name), *bytes);
    }
    let journal = MemoryJournal::default();
    let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin()).session("test");
    let request =
        Request { dialect: "native".into(), tool: "patch".into(), arguments: json!({ "patch": patch }) };
    let answer = engine.call(request, &mut Auto);
    (answer, files.all().into_iter().map(|(path, bytes)| (path.to_string(), bytes)).collect())
}

#[track_caller]
fn assert_applies(before: &[u8], patch: &str, after: &[u8]) -> Answer {
    let (answer, files) = call(&[("f", before)], patch);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(files["f"], after, "{}", String::from_utf8_lossy(&files["f"]));
    answer
}

#[track_caller]
fn assert_refused(before: Files<'_>, patch: &str, code: &str) -> Answer {
    let (answer, files) = call(before, patch);
    assert_eq!(answer.report.code(), code, "{}", answer.text);
    let before: BTreeMap<String, Vec<u8>> =
        before.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
    assert_eq!(files, before, "nothing must be written");
    answer
}

/// A unified diff of the file `f` with one hunk.
fn diff(header: &str, body: &str) -> String {
    format!("--- a/f\n+++ b/f\n{header}\n{body}")
}

// Traps: request says `timeout = 3000`, the file says `timeout = 5000`, the line is to be replaced
// Traps: request says `assert_ne!(a, b)`, the file has `assert_eq!(a, b)`
#[test]
fn a_removed_line_must_match_the_file() {
    let file = b"[net]\ntimeout = 5000\nretries = 1\n";
    let patch = diff("@@ -1,3 +1,3 @@", " [net]\n-timeout = 3000\n+timeout = 9000\n retries = 1\n");
    let answer = assert_refused(&[("f", file)], &patch, "no_match");
    assert!(
        answer.text.contains("`timeout = 3000`") && answer.text.contains("`timeout = 5000`"),
        "{}",
        answer.text
    );
    let file = b"let b = f(a);\nassert_eq!(a, b);\ndone();\n";
    let patch = diff("@@", " let b = f(a);\n-assert_ne!(a, b);\n done();\n");
    assert_refused(&[("f", file)], &patch, "no_match");
}

// Traps: a block whose first and last line match and whose middle is unrelated
// Traps: context dropped until nothing is left, then every hit replaced
#[test]
fn a_removed_line_alone_does_not_locate_a_hunk() {
    let file = b"begin\nalpha beta gamma\ntarget\ndelta epsilon\nend\n";
    let patch =
        diff("@@", " begin\n something else entirely\n-target\n+changed\n nothing like it here\n end\n");
    assert_refused(&[("f", file)], &patch, "no_match");
    let file = b"x\ntarget\ny\ntarget\nz\n";
    let patch = diff("@@ -1,3 +1,3 @@", " unknown line\n-target\n+changed\n another one\n");
    assert_refused(&[("f", file)], &patch, "no_match");
}

// Traps: CRLF file, LF request
#[test]
fn keeps_crlf() {
    let patch = diff("@@ -1,3 +1,4 @@", " a\n-b\n+B\n+C\n c\n");
    assert_applies(b"a\r\nb\r\nc\r\n", &patch, b"a\r\nB\r\nC\r\nc\r\n");
    // The transport added carriage returns, or the context was copied with them.
    assert_applies(b"a\nb\nc\n", &patch.replace('\n', "\r\n"), b"a\nB\nC\nc\n");
    let copied = diff("@@ -1,3 +1,4 @@", " a\r\n-b\r\n+B\n+C\n c\r\n");
    assert_applies(b"a\r\nb\r\nc\r\n", &copied, b"a\r\nB\r\nC\r\nc\r\n");
}

// Traps: BOM
// Traps: Latin-1, GBK, Shift-JIS, UTF-16 file
#[test]
fn keeps_byte_order_marks_and_encodings() {
    let patch = diff("@@ -1,2 +1,2 @@", "-a\n+ä\n b\n");
    assert_applies(b"\xEF\xBB\xBFa\nb\n", &patch, "\u{feff}ä\nb\n".as_bytes());
    let utf16 = |text: &str| -> Vec<u8> {
        [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    assert_applies(&utf16("a\r\nb\r\n"), &patch, &utf16("ä\r\nb\r\n"));
    let latin = |text: &str| -> Vec<u8> { text.chars().map(|c| c as u8).collect() };
    let file = latin("a\nb\nÜberraschung für Käthe, schöne Grüße aus Köln\n");
    assert_applies(&file, &patch, &latin("ä\nb\nÜberraschung für Käthe, schöne Grüße aus Köln\n"));
    let arrow = diff("@@ -1,2 +1,2 @@", "-a\n+→\n b\n");
    assert_refused(&[("f", &file)], &arrow, "unencodable");
}

// Traps: trailing whitespace on untouched lines, `ﬁ`, `①`, `½`, NFC/NFD text elsewhere
// Traps: form feed, vertical tab, U+2028, U+0085 in the file
// Traps: `$&`, `$1`, `\1`, `%s`, NUL-free binary-looking text in the new text
#[test]
fn special_characters_are_literal() {
    let rest = "blanks  \t\nﬁ ① ½ é e\u{301}\nform\u{c}feed \u{b}\u{2028}\u{85}x\n";
    let before = format!("a\n{rest}b\n");
    let after = format!("$& $1 \\1 %s \u{1b}[0m\n{rest}b\n");
    let patch = diff("@@ -1,1 +1,1 @@", "-a\n+$& $1 \\1 %s \u{1b}[0m\n");
    assert_applies(before.as_bytes(), &patch, after.as_bytes());
    let with_context =
        diff("@@ -3,3 +3,3 @@", " ﬁ ① ½ é e\u{301}\n form\u{c}feed \u{b}\u{2028}\u{85}x\n-b\n+c\n");
    assert_applies(before.as_bytes(), &with_context, format!("a\n{rest}c\n").as_bytes());
}

// Traps: curly quotes in the file, straight ones in old *and* new, on a line that new does not change
#[test]
fn keeps_the_files_context_lines() {
    let before = "say(“hello”)\nfirst()\nsecond()\nthird()\n";
    let patch = diff("@@ -1,4 +1,4 @@", " say(\"hello\")\n first()\n-second()\n+2nd()\n third()\n");
    assert_applies(before.as_bytes(), &patch, "say(“hello”)\nfirst()\n2nd()\nthird()\n".as_bytes());
}

// Traps: second file of a patch fails
// Traps: second edit of a batch fails
#[test]
fn writes_nothing_and_reports_all_failures_if_one_file_fails() {
    let patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n--- a/h\n+++ b/h\n@@ -1 +1 @@\n-x\n+y\n";
    let answer = assert_refused(&[("f", b"a\n"), ("g", b"other\n"), ("h", b"third\n")], patch, "no_match");
    assert_eq!(answer.report.failures.len(), 2);
}

// Traps: two Update sections for one file in one patch
// Traps: two edits of one batch overlap
#[test]
fn merges_sections_of_one_file() {
    let patch =
        "*** Begin Patch\n*** Update File: f\n@@\n-a\n+1\n*** Update File: f\n@@\n-c\n+3\n*** End Patch\n";
    assert_applies(b"a\nb\nc\n", patch, b"1\nb\n3\n");
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-a\n-b\n+1\n*** Update File: f\n@@\n-b\n+2\n*** End Patch\n";
    assert_refused(&[("f", b"a\nb\nc\n")], patch, "overlap");
}

// Traps: move or add over an existing file
#[test]
fn does_not_overwrite_existing_files() {
    let files: Files<'_> = &[("f", b"a\n"), ("g", b"x\n")];
    assert_refused(files, "*** Begin Patch\n*** Add File: g\n+new\n*** End Patch\n", "file_exists");
    assert_refused(
        files,
        "*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@\n-a\n+b\n*** End Patch\n",
        "file_exists",
    );
    assert_refused(files, "--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+new\n", "file_exists");
}

// Traps: edit that changes nothing; old absent, new already there
#[test]
fn reports_changes_that_are_already_applied() {
    assert_refused(&[("f", b"a\nb\n")], &diff("@@ -1,2 +1,2 @@", " a\n-b\n+b\n"), "no_change");
    let (answer, _) = call(
        &[("f", b"start\nnew value\nend\n")],
        &diff("@@ -1,3 +1,3 @@", " start\n-old value\n+new value\n end\n"),
    );
    assert_eq!(answer.report.status(), Status::AlreadyApplied, "{}", answer.text);
}

// Traps: `@@` without numbers, wrong counts, wrong start, missing space on blank context lines, missing `---`/`+++`
// Traps: a trailing blank line in the diff, a Markdown fence around it, a heredoc around a V4A patch
#[test]
fn repairs_and_reports_common_mistakes() {
    let (before, after) = (b"a\n\nb\nc\n", b"a\n\nB\nc\n");
    let body = " a\n \n-b\n+B\n c\n";
    let valid = diff("@@ -1,4 +1,4 @@", body);
    assert!(assert_applies(before, &valid, after).report.warnings.is_empty());
    for patch in [
        diff("@@", body),
        diff("@@ ... @@", body),
        diff("@@ -1,9 +1,2 @@", body),
        diff("@@ -1,4 +1,4 @@", &body.replace("\n \n", "\n\n")),
        format!("```diff\n{valid}```\n"),
        format!("Here is the change:\n\n```diff\n{valid}```\nDone.\n"),
        format!("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: f\n@@\n{body}*** End Patch\nEOF\n"),
    ] {
        let answer = assert_applies(before, &patch, after);
        assert!(!answer.report.warnings.is_empty(), "the repair must be reported: {patch}");
    }
    for patch in [format!("{valid}\n"), valid.trim_end().to_owned(), diff("@@ -40,4 +40,4 @@", body)] {
        assert_applies(before, &patch, after);
    }
}

// Traps: a hunk number of 99999999999999999999
#[test]
fn rejects_line_numbers_that_are_too_large() {
    let patch = diff("@@ -99999999999999999999,1 +1,1 @@", "-a\n+b\n");
    let answer = assert_refused(&[("f", b"a\n")], &patch, "bad_patch");
    assert!(answer.text.contains("patch line 3"), "{}", answer.text);
    assert_refused(&[("f", b"a\n")], &diff("@@ -999999,0 +1,1 @@", "+b\n"), "out_of_range");
}

// Traps: deletion diff (`+++ /dev/null`)
#[test]
fn deletes_and_creates_files() {
    let (answer, files) = call(&[("f", b"a\n")], "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert!(files.is_empty());
    let (answer, files) =
        call(&[], "--- /dev/null\n+++ b/deep/g\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(files["deep/g"], b"a\nb");
}

// Traps: `..` or an absolute path in a diff header
#[test]
fn rejects_paths_outside_the_root() {
    for name in ["../f", "x/../../f", "/etc/passwd"] {
        let unified = format!("--- {name}\n+++ {name}\n@@ -1 +1 @@\n-a\n+b\n");
        let prefixed = format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n");
        let added = format!("*** Begin Patch\n*** Add File: {name}\n+b\n*** End Patch\n");
        let moved =
            format!("*** Begin Patch\n*** Update File: f\n*** Move to: {name}\n@@\n-a\n+b\n*** End Patch\n");
        let block = format!("{name}\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n");
        for patch in [unified, prefixed, added, moved, block] {
            let (answer, files) = call(&[("f", b"a\n")], &patch);
            assert_eq!(answer.report.status(), Status::Invalid, "{patch}{}", answer.text);
            assert_eq!(files.len(), 1);
            assert_eq!(files["f"], b"a\n");
        }
    }
}

// Traps: "... rest of the code unchanged" in the *new* text with nothing like it in the old
// Traps: the model sends the whole file as old and three lines as new
#[test]
fn refuses_placeholders_and_replacements_that_shrink_the_file() {
    let file: String = (0..30).map(|n| format!("line {n}\n")).collect();
    let patch = diff("@@ -1,2 +1,2 @@", " line 0\n-line 1\n+// ... rest of the code unchanged ...\n");
    assert_refused(&[("f", file.as_bytes())], &patch, "placeholder_text");
    let block = format!("f\n<<<<<<< SEARCH\n{file}=======\nline 0\nline 1\n>>>>>>> REPLACE\n");
    assert_refused(&[("f", file.as_bytes())], &block, "shrinks_file");
}

// Traps: the old text is found in another file of the workspace
#[test]
fn does_not_apply_to_another_file() {
    assert_refused(&[("f", b"x\n"), ("g", b"a\nb\n")], &diff("@@ -1,2 +1,2 @@", " a\n-b\n+c\n"), "no_match");
}

/// A context line that the file does not have may open a block, if the change is not in that block.
#[test]
fn an_extra_context_line_may_open_a_block_beside_the_change() {
    let file = "fn run() {\n    first_call();\n    second_call();\n    third_call();\n}\n\n#[test]\nfn works() {\n    fourth_call();\n}\n";
    let patch = |extra_above: &str, extra_below: &str| {
        format!(
            "*** Begin Patch\n*** Update File: f\n@@\n fn run() {{\n     first_call();\n{extra_above}     second_call();\n-    third_call();\n+    fifth_call();\n }}\n \n #[test]\n{extra_below} fn works() {{\n     fourth_call();\n*** End Patch\n"
        )
    };
    let after = file.replace("third_call", "fifth_call");
    for below in [" export interface Box {\n", " while (waiting) {\n", " get(forever.layer(\n"] {
        assert_applies(file.as_bytes(), &patch("", below), after.as_bytes());
    }
    // Above it, the change may be meant for that block.
    for above in [
        "     while waiting {\n",
        " fn other() {\n",
        " static int other(int a)\n",
        " ## Other\n",
        " [other]\n",
    ] {
        assert_refused(&[("f", file.as_bytes())], &patch(above, ""), "no_match");
    }
    // A heading that the file has instead is the mark of another block.
    let other = file.replace("#[test]\nfn works() {", "#[test]\nfn fails() {");
    assert_refused(&[("f", other.as_bytes())], &patch("", ""), "no_match");
}

/// `\n` joins the lines of a hunk, and the first one is added: as it is, the hunk has no place.
#[test]
fn a_hunk_that_literal_newlines_turn_into_one_added_line_is_read_as_its_lines() {
    let file = "---\n# Collections must specify a version\n# to galaxy\nrequires: '>=2.9.10'\n";
    let body =
        "+#SPDX-License-Identifier: MIT-0\\n ---\\n # Collections must specify a version\\n # to galaxy\n";
    let patch = format!("*** Begin Patch\n*** Update File: f\n@@\n{body}*** End Patch\n");
    assert_applies(file.as_bytes(), &patch, format!("#SPDX-License-Identifier: MIT-0\n{file}").as_bytes());
    // Added text that is joined has no place either way.
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n+one\\n two\\n three\n*** End Patch\n";
    let (answer, files) = call(&[("f", file.as_bytes())], patch);
    assert_ne!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(files["f"], file.as_bytes());
}

/// Context without its prefix, around a comment whose asterisks are at odd columns.
#[test]
fn bare_context_with_a_comment_does_not_shift_added_lines() {
    let file = "class A {\n    set(value) {\n        this.value = value;\n        run('a', value);\n    }\n    /**\n     * Exceptions\n     */\n    get() {\n    }\n}\n";
    let body = "        this.value = value;\n        run('a', value);\n+    }\n+    /**\n+     * Loading\n+     */\n+    get loading() {\n+        return 1;\n    }\n    /**\n     * Exceptions\n";
    let added = "    }\n    /**\n     * Loading\n     */\n    get loading() {\n        return 1;\n";
    let expected = file.replace("run('a', value);\n", &format!("run('a', value);\n{added}"));
    assert_applies(
        file.as_bytes(),
        &format!("--- a/f\n+++ b/f\n@@ -3,5 +3,11 @@\n{body}"),
        expected.as_bytes(),
    );
}
