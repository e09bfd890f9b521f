//! Large and adversarial inputs: each would take minutes or more if some step were quadratic. No test measures time;
//! one that does not finish has failed.

use std::fmt::Write;

use serde_json::{Value, json};
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::guard::Policy;
use slipstitch_core::outcome::Status;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};
use slipstitch_core::report::Report;

const MILLION: usize = 1_000_000;

fn call(text: impl Into<Vec<u8>>, tool: &str, mut arguments: Value) -> (Answer, Vec<u8>) {
    let files = MemoryWorkspace::default();
    let path = FilePath::from_record("f").unwrap();
    files.put(&path, text);
    let policy = Policy { max_request_bytes: 1 << 30, ..Policy::default() };
    let journal = MemoryJournal::default();
    let engine = Engine::new(&files, &journal)
        .dialects(slipstitch_dialects::builtin())
        .policy(&policy)
        .session("bounded");
    arguments["path"] = "f".into();
    let answer = engine.call(Request { dialect: "native".into(), tool: tool.into(), arguments }, &mut Auto);
    (answer, files.get(&path).unwrap())
}

fn numbered(lines: usize, newline: &str) -> String {
    (0..lines).fold(String::new(), |mut text, n| {
        let _ = write!(text, "line {n} of many{newline}");
        text
    })
}

#[test]
fn a_million_equal_lines_are_ambiguous() {
    let text = "same\n".repeat(MILLION);
    let (answer, _) = call(text, "edit_file", json!({"old_text": "same\nsame\n", "new_text": "x\n"}));
    assert_eq!(answer.report.code(), "ambiguous");
    let failure = &answer.report.failures[0];
    assert_eq!((failure.matches, failure.overlapping), (Some(MILLION / 2), MILLION / 2 - 1));
    assert!(answer.text.len() < 2000, "the answer is short");
}

#[test]
fn a_million_equal_lines_and_a_miss() {
    let text = "same\n".repeat(MILLION);
    let (answer, _) = call(text, "edit_file", json!({"old_text": "same\nother\nsame", "new_text": "x\n"}));
    assert_eq!(answer.report.code(), "no_match");
}

#[test]
fn a_million_replacements() {
    let (answer, after) = call(
        "a\n".repeat(MILLION),
        "edit_file",
        json!({"old_text": "a", "new_text": "bb", "replace_all": true}),
    );
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    assert_eq!(after, "bb\n".repeat(MILLION).into_bytes());
}

#[test]
fn a_million_replacements_among_mixed_line_endings() {
    let (answer, after) = call(
        "a\r\na\ra\n".repeat(MILLION / 10),
        "edit_file",
        json!({"old_text": "a", "new_text": "bb", "replace_all": true}),
    );
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    assert_eq!(after, "bb\r\nbb\rbb\n".repeat(MILLION / 10).into_bytes());
}

#[test]
fn a_needle_that_overlaps_itself_everywhere() {
    let (answer, _) =
        call("a".repeat(2 * MILLION), "edit_file", json!({"old_text": "a".repeat(MILLION), "new_text": "b"}));
    let failure = &answer.report.failures[0];
    assert_eq!((failure.matches, failure.overlapping), (Some(2), MILLION - 1));
    let (answer, _) = call(
        "ab".repeat(MILLION),
        "edit_file",
        json!({"old_text": "ab".repeat(1000) + "c", "new_text": "b"}),
    );
    assert_eq!(answer.report.code(), "no_match");
}

#[test]
fn ten_thousand_edits_in_a_million_lines() {
    let edits: Vec<Value> = (0..10_000)
        .map(|n| json!({"old_text": format!("line {}5 of many\n", n * 7 + 1), "new_text": format!("edit {n}\n")}))
        .collect();
    let (answer, after) = call(numbered(MILLION, "\n"), "edit_file", json!({"edits": edits}));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(memchr::memmem::find_iter(&after, b"edit ").count(), 10_000);
    assert!(answer.text.len() < 20_000, "the answer is short");
}

/// Calls a tool of a dialect whose batches are applied in turn.
fn call_in_turn(text: String, dialect: &str, edits: &[(String, String)]) -> (Answer, String) {
    let files = MemoryWorkspace::default();
    let path = FilePath::from_record("f").unwrap();
    files.put(&path, text);
    let policy = Policy { max_request_bytes: 1 << 30, ..Policy::default() };
    let journal = MemoryJournal::default();
    let engine = Engine::new(&files, &journal)
        .dialects(slipstitch_dialects::builtin())
        .policy(&policy)
        .session("bounded");
    let edits: Vec<Value> =
        edits.iter().map(|(old, new)| json!({"old_string": old, "new_string": new})).collect();
    let (tool, path_field) =
        if dialect == "nexus3" { ("edit_file", "path") } else { ("MultiEdit", "file_path") };
    let arguments = json!({path_field: "f", "edits": edits});
    let answer = engine.call(Request { dialect: dialect.into(), tool: tool.into(), arguments }, &mut Auto);
    (answer, String::from_utf8(files.get(&path).unwrap()).unwrap())
}

#[test]
fn twenty_thousand_edits_in_turn() {
    let text = numbered(400_000, "\n");
    let edits: Vec<(String, String)> = (0..20_000)
        .map(|n| (format!("line {}7 of many", n + 1_000), format!("edit {n}\nand more")))
        .collect();
    for dialect in ["nexus3", "claude"] {
        let (answer, after) = call_in_turn(text.clone(), dialect, &edits);
        assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
        assert_eq!(after.matches("edit ").count(), 20_000);
        assert_eq!(after.lines().count(), 420_000);
    }
}

/// How many edits failed, listed in the report or not.
fn failed_edits(report: &Report) -> usize {
    report.failures.len() + report.more_failures
}

#[test]
fn thousands_of_edits_in_turn_that_all_miss() {
    let edits: Vec<(String, String)> = (0..4_000).map(|n| (format!("line {n} of few"), "x".into())).collect();
    let (answer, _) = call_in_turn(numbered(10_000, "\n"), "claude", &edits);
    assert_eq!(failed_edits(&answer.report), 4_000);
}

#[test]
fn ten_thousand_misses_in_a_large_file() {
    let edits: Vec<Value> =
        (0..10_000).map(|n| json!({"old_text": format!("line {n} of few\n"), "new_text": "x"})).collect();
    let (answer, _) = call(numbered(100_000, "\r\n"), "edit_file", json!({"edits": edits}));
    assert_eq!(failed_edits(&answer.report), 10_000);
}

#[test]
fn ten_thousand_line_ranges() {
    let edits: Vec<Value> =
        (0..10_000).map(|n| json!({"start_line": n * 90 + 1, "new_text": "x\ny"})).collect();
    let (answer, _) = call(numbered(MILLION, "\r\n"), "edit_lines", json!({"edits": edits}));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
}

#[test]
fn a_file_rewritten_with_scattered_changes() {
    let new: String = numbered(300_000, "\n").replace("7 of", "seven of");
    let (answer, after) =
        call(numbered(300_000, "\n"), "write_file", json!({"content": new, "mode": "overwrite"}));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    assert_eq!(after, new.into_bytes());
}

#[test]
fn a_file_rewritten_from_end_to_end() {
    let old = "a\nb\n".repeat(200_000);
    let new = "b\nc\na\n".repeat(150_000);
    let (answer, after) = call(old, "write_file", json!({"content": new, "mode": "overwrite"}));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    assert_eq!(after, new.into_bytes());
}

#[test]
fn one_line_of_many_megabytes() {
    let text = "word ".repeat(4 * MILLION) + "end";
    let (answer, _) = call(text.clone(), "edit_file", json!({"old_text": "word end", "new_text": "x"}));
    assert_eq!(answer.report.status(), Status::Applied);
    let (answer, _) = call(text, "edit_file", json!({"old_text": "words end here", "new_text": "x"}));
    assert_eq!(answer.report.code(), "no_match");
    assert!(answer.text.len() < 2000, "previews are short");
}

#[test]
fn a_million_replacements_in_one_line() {
    let (answer, after) = call(
        "ab ".repeat(MILLION),
        "edit_file",
        json!({"old_text": "ab", "new_text": "cd", "replace_all": true}),
    );
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    assert_eq!(after, "cd ".repeat(MILLION).into_bytes());
    assert!(answer.text.len() < 20_000, "the answer is short");
}

#[test]
fn thousands_of_needles_that_contain_each_other() {
    let edits: Vec<Value> =
        (0..5000).map(|n| json!({"old_text": "a".repeat(1 + n % 900), "new_text": "b"})).collect();
    let (answer, _) = call("a".repeat(MILLION), "edit_file", json!({"edits": edits}));
    assert_eq!(failed_edits(&answer.report), 5000);
    assert!(answer.report.failures.iter().all(|failure| failure.reason.code() == "ambiguous"));
}

#[test]
fn a_request_much_longer_than_the_file() {
    let lines: Vec<String> = (0..100_000).map(|n| format!("request line number {n}")).collect();
    let new: Vec<String> = lines.iter().rev().cloned().collect();
    let (answer, _) =
        call("two\nlines\n", "edit_file", json!({"old_text": lines.join("\n"), "new_text": new.join("\n")}));
    assert_eq!(answer.report.code(), "no_match");
}

#[test]
fn shows_only_part_of_a_long_line() {
    let text = "x".repeat(10 * MILLION);
    let (answer, _) = call(text.clone(), "read_file", json!({}));
    assert!(answer.text.len() < 300_000, "{}", answer.text.len());
    let (answer, _) = call(text + "end", "edit_file", json!({"old_text": "xend", "new_text": "y"}));
    assert_eq!(answer.report.status(), Status::Applied);
    assert!(answer.text.len() < 10_000, "{}", answer.text.len());
}

/// A diff of one file with a hunk at each of these lines, from 0.
fn many_hunks(lines: impl Iterator<Item = usize>, body: impl Fn(usize) -> String) -> String {
    lines.fold("--- a/f\n+++ b/f\n".to_owned(), |mut diff, n| {
        let _ = write!(diff, "@@ -{},3 +{},3 @@\n{}", n + 1, n + 1, body(n));
        diff
    })
}

#[test]
fn ten_thousand_hunks_on_a_million_lines() {
    let body = |n| {
        format!(" line {n} of many\n-line {} of many\n+changed {}\n line {} of many\n", n + 1, n + 1, n + 2)
    };
    // Every line number is off by seven.
    let diff = many_hunks((0..10_000).map(|n| n * 100 + 7), |n| body(n - 7));
    let (answer, after) = call(numbered(MILLION, "\n"), "patch", json!({ "patch": diff }));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    let after = String::from_utf8(after).unwrap();
    assert_eq!(after.lines().filter(|line| line.starts_with("changed")).count(), 10_000);
    assert_eq!(after.lines().nth(9901), Some("changed 9901"));
}

#[test]
fn ten_thousand_hunks_that_match_nowhere() {
    let body = |n| format!(" line {n} of many\n-line {n} of none\n+x\n line {} of many\n", n + 2);
    let diff = many_hunks((0..10_000).map(|n| n * 100), body);
    let (answer, _) = call(numbered(MILLION, "\n"), "patch", json!({ "patch": diff }));
    assert_eq!(answer.report.code(), "no_match");
    assert_eq!(failed_edits(&answer.report), 10_000);
    assert!(answer.text.len() < 20_000, "the answer is short");
}

#[test]
fn a_thousand_hunks_on_a_million_equal_lines() {
    let same = "same\n".repeat(MILLION);
    let diff = many_hunks((0..1000).map(|n| n * 100), |_| " same\n-same\n+other\n same\n".into());
    let (answer, after) = call(same.clone(), "patch", json!({ "patch": diff }));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    assert_eq!(String::from_utf8(after).unwrap().matches("other").count(), 1000);
    let without = "--- a/f\n+++ b/f\n".to_owned() + &"@@ @@\n same\n-same\n+other\n same\n".repeat(1000);
    let (answer, _) = call(same, "patch", json!({ "patch": without }));
    assert_eq!(failed_edits(&answer.report), 1000, "{}", answer.report.message);
}

#[test]
fn hunks_that_nearly_match_everywhere_stay_within_the_budget() {
    let text = "a\nb\n".repeat(MILLION / 2);
    let body = |_| " a\n b\n a\n-b\n+x\n b\n a\n".to_owned();
    let diff = many_hunks((0..2000).map(|n| n * 400), body);
    let (answer, after) = call(text.clone(), "patch", json!({ "patch": diff }));
    assert!(!answer.report.is_success(), "{}", answer.report.message);
    assert_eq!(after.len(), text.len());
}

#[test]
fn searching_for_similar_lines_stays_within_the_budget() {
    let text = numbered(MILLION / 2, "\n");
    let body =
        |n: usize| format!(" liine {n} of many\n-line {} of many\n+x\n line {} of many\n", n + 1, n + 2);
    let diff = many_hunks((0..2000).map(|n| n * 200), body);
    let (answer, _) = call(text, "patch", json!({ "patch": diff }));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
}

/// Sends an edit that must be refused, and checks that the file is unchanged and the answer short.
#[track_caller]
fn refused(text: &str, old: &str, new: &str, code: &str) {
    let (answer, after) = call(text, "edit_file", json!({"old_text": old, "new_text": new}));
    assert_eq!(answer.report.code(), code, "{}", answer.report.message);
    assert!(after == text.as_bytes(), "a refusal writes nothing");
    assert!(answer.text.len() < 20_000, "the answer is short: {}", answer.text.len());
}

#[test]
fn a_million_equal_lines_and_a_drifted_request() {
    let text = "    same();\n".repeat(MILLION);
    refused(&text, "same();\nsame();", "same();\nx();\nsame();", "ambiguous");
    let long = "same(); \n".repeat(2000);
    refused(&text, &long, &format!("{long}x();"), "ambiguous");
    let drifted = format!("{}smae();\nsame();", "same();\n".repeat(10));
    refused(&text, &drifted, &format!("{drifted}\nx();"), "no_match");
}

#[test]
fn a_request_of_fifteen_kilobytes_that_matches_nowhere() {
    let text = numbered(400_000, "\n");
    let old: String = (0..400).map(|n| format!("request {n} that is not there at all\n")).collect();
    refused(&text, &old, &old.replace("not there", "there"), "no_match");
    // Every line resembles every line of the file.
    let old: String = (0..600).map(|n| format!("line {n} of a many\n")).collect();
    refused(&text, &old, &old.replace("line 7 ", "line seven "), "no_match");
}

#[test]
fn nested_repeats() {
    let text = "a".repeat(MILLION) + "\n" + &"aa\n".repeat(100_000);
    refused(&text, &("a".repeat(5000) + "\n\taa\n" + &"aa\n".repeat(3000) + "b"), "x", "no_match");
    let text = "a\na\nb\n".repeat(200_000);
    let old = " a\n a\n b\n".repeat(300) + " a\n a\n c";
    refused(&text, &old, &old.replace('c', "d"), "no_match");
}

#[test]
fn five_hundred_lines_that_each_occur_two_thousand_times() {
    let line = |n: usize| format!("    common_line_number({n});\n");
    let text: String =
        (0..2000).map(|round| (0..500).map(|n| line((n * 7 + round) % 500)).collect::<String>()).collect();
    let old: String = (0..500).map(|n| line((n * 11) % 500)).collect();
    refused(&text, &old, &(old.clone() + "new();\n"), "no_match");
}

#[test]
fn elisions_between_thousands_of_heads_and_tails() {
    let text = "head();\n".repeat(1500) + &"body();\n".repeat(1000) + &"tail();\n".repeat(1500);
    refused(&text, "head();\n...\ntail();", "head();\n...\nx();\ntail();", "ambiguous");
    let far = "head();\n".repeat(5000) + &"body();\n".repeat(90_000) + &"tail();\n".repeat(5000);
    refused(&far, "head();\n...\ntail();", "head();\n...\nx();\ntail();", "no_match");
    // As many elisions as lines.
    let old = "head();\n...\n".repeat(2000) + "tail();";
    let (answer, after) = call(
        text.as_str(),
        "edit_file",
        json!({"old_text": old, "new_text": old.replace("tail();", "x();\ntail();")}),
    );
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.report.message);
    assert!(after == text.as_bytes());
}

/// Finding a piece between elisions must not cost a pass over the whole file.
#[test]
fn thousands_of_elisions_in_a_large_file() {
    let text = numbered(300_000, "\n");
    let old: String = (0..3000).map(|n| format!("line {} of many\n...\n", n * 90)).collect();
    let new = old.replace("line 900 of many", "line 900 of many\nand one more line");
    let (answer, after) = call(text.as_str(), "edit_file", json!({"old_text": old, "new_text": new}));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    assert_eq!(after.len(), text.len() + "and one more line\n".len());
}

#[test]
fn a_hundred_thousand_blank_lines() {
    let blank = "  \n\n".repeat(50_000);
    let text = format!("first();\n{blank}second();\n");
    refused(&text, "first();\nthird();", "x();", "no_match");
    let (answer, after) = call(
        text.as_str(),
        "edit_file",
        json!({"old_text": "first();\nsecond(); ", "new_text": "first();\nsecond();\nthird();"}),
    );
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    assert!(after == format!("{text}third();\n").as_bytes());
    let request = format!("first();\n{}second(); ", "\n".repeat(200_000));
    let (answer, _) = call(
        text.as_str(),
        "edit_file",
        json!({"old_text": request, "new_text": "first();\nsecond();\nthird();"}),
    );
    assert!(answer.report.status() != Status::Failed, "{}", answer.report.message);
}

#[test]
fn one_line_of_ten_megabytes_with_look_alikes() {
    let text = "say “word” – ".repeat(600_000) + "the end";
    refused(&text, "say \"word\" - say", "x", "ambiguous");
    refused(&text, "say \"words\" - say", "x", "no_match");
    let (answer, after) = call(
        text.as_str(),
        "edit_file",
        json!({"old_text": "\"word\" - the end", "new_text": "\"word\" - an end"}),
    );
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    assert!(after == text.replace("the end", "an end").as_bytes());
    assert!(answer.text.len() < 20_000, "the answer is short: {}", answer.text.len());
}

/// Only part of long, similar lines is compared.
#[test]
fn many_long_lines_that_are_nearly_equal() {
    let line = |n: usize, end: &str| format!("{n} {}{end}\n", "abcdefghij".repeat(400));
    let text: String = (0..2000).map(|n| line(n % 40, "")).collect();
    let old: String = (0..1000).map(|n| line(n % 40, if n % 3 == 0 { "!" } else { "" })).collect();
    refused(&text, &old, &(old.clone() + "more\n"), "ambiguous");
}

/// Each interpretation of a request with every kind of transport damage costs one pass.
#[test]
fn a_request_with_every_kind_of_transport_damage() {
    let body: String = (0..2000).map(|n| format!("-{n}| a &lt; \\\"b\\\" &amp; c\\t{n}\n")).collect();
    let old = format!("```\n{body}```");
    refused(&numbered(200_000, "\n"), &old, "x", "no_match");
}

#[test]
fn ten_thousand_hunks_under_scopes() {
    // One class with a hundred thousand functions that have the same body.
    let text = (0..100_000).fold("class A:\n".to_owned(), |mut text, n| {
        let _ = writeln!(text, "    def f{n}(self):\n        start()\n        stop()");
        text
    });
    let hunks = |head: &dyn Fn(usize) -> String| {
        let list: String = (0..10_000)
            .map(|n| format!("@@ class A:\n@@ {}\n-        stop()\n+        halt()\n", head(n * 10)))
            .collect();
        format!("*** Begin Patch\n*** Update File: f\n{list}*** End Patch\n")
    };
    let patch = hunks(&|n| format!("def f{n}(self):"));
    let (answer, after) = call(text.clone(), "patch", json!({ "patch": patch }));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.report.message);
    let after = String::from_utf8(after).unwrap();
    assert_eq!(after.matches("halt()").count(), 10_000);
    assert!(
        after.contains("def f30(self):\n        start()\n        halt()\n    def f31"),
        "in the right functions"
    );
    // A search for scopes that need a line-by-line comparison is stopped in time.
    let patch = hunks(&|n| format!("def f{n}("));
    let (answer, _) = call(text, "patch", json!({ "patch": patch }));
    assert_eq!(answer.report.failures.last().map(|failure| failure.reason.code()), Some("too_costly"));
}
