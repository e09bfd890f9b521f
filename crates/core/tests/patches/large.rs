//! Large and nasty patches: cost that grew faster than the text would show as a test that does not end.

use std::fmt::Write;

use slipstitch_core::patch::{Action, Format, Options, Patch, parse};

use super::read;

const MILLION: usize = 1_000_000;

fn hunk_count(patch: &Patch) -> usize {
    patch
        .files
        .iter()
        .map(|file| match &file.action {
            Action::Update { hunks, .. } => hunks.len(),
            Action::Replace { blocks } => blocks.len(),
            _ => 0,
        })
        .sum()
}

/// Ten thousand hunks with the header that `header` gives them.
fn ten_thousand(header: impl Fn(usize) -> String) -> String {
    let mut text = String::from("--- a/f\n+++ b/f\n");
    for hunk in 0..10_000 {
        let _ = write!(text, "{}\n a\n-b {hunk}\n+c\n\n d\n", header(hunk * 100 + 1));
    }
    text
}

#[test]
fn ten_thousand_hunks() {
    for text in [
        ten_thousand(|line| format!("@@ -{line},4 +{line},4 @@")),
        ten_thousand(|line| format!("@@ -{line},4000000000 +{line},4000000000 @@")),
        ten_thousand(|_| "@@".into()),
    ] {
        let patch = read(&text);
        assert_eq!(hunk_count(&patch), 10_000);
        assert_eq!(hunk_count(&read(&patch.reversed().unwrap().print())), 10_000);
    }
}

#[test]
fn ten_thousand_sections_for_few_files() {
    let mut text = String::from("*** Begin Patch\n");
    let mut blocks = String::new();
    for part in 0..10_000 {
        let _ = write!(text, "*** Update File: f{}\n@@ scope\n@@\n-a\n+b\n\n", part % 10);
        let _ = write!(blocks, "f{}.txt\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", part % 10);
    }
    for text in [text, blocks] {
        let patch = read(&text);
        assert_eq!((patch.files.len(), hunk_count(&patch)), (10, 10_000));
    }
}

#[test]
fn a_million_blank_lines_anywhere() {
    let blank = "\n".repeat(MILLION);
    let diff = |middle: &str, end: &str| format!("--- a/f\n+++ b/f\n@@\n a\n{middle}-b\n{end}");
    assert_eq!(hunk_count(&read(&diff("", &blank))), 1);
    assert_eq!(hunk_count(&read(&diff(&blank, ""))), 1);
    assert_eq!(hunk_count(&read(&format!("{blank}{}", diff("", "")))), 1);
    let v4a = format!(
        "*** Begin Patch\n*** Update File: f\n@@{blank} a\n{blank}-b\n{blank}@@\n-c\n{blank}*** End Patch\n{blank}"
    );
    assert_eq!(hunk_count(&read(&v4a)), 2);
    let blocks = format!("f\n<<<<<<< SEARCH\n{blank}=======\n{blank}>>>>>>> REPLACE\n{blank}");
    assert_eq!(hunk_count(&read(&blocks)), 1);
}

#[test]
fn blank_lines_and_hunks_in_turn() {
    let gap = "\n".repeat(200);
    let text = (0..5_000).fold(String::from("--- a/f\n+++ b/f\n"), |text, _| text + "@@\n-a\n" + &gap);
    assert_eq!(hunk_count(&read(&text)), 5_000);
    let v4a = text.replace("--- a/f\n+++ b/f\n", "*** Update File: f\n");
    assert_eq!(hunk_count(&read(&v4a)), 5_000);
}

#[test]
fn lines_of_many_megabytes() {
    let long = "x".repeat(20 * MILLION);
    assert_eq!(hunk_count(&read(&format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-{long}\n+y\n"))), 1);
    for text in [
        format!("--- a/../{long}\n+++ b/f\n@@ -1 +1 @@\n-a\n"),
        format!("@@ -{} +1 @@\n-a\n", "9".repeat(20 * MILLION)),
        format!("*** Begin Patch\n*** Frobnicate: {long}\n*** End Patch\n"),
        format!("*** Begin Patch\n{long}\n*** End Patch\n"),
    ] {
        let error = parse(&text, None, Options::default()).unwrap_err();
        assert!(error.message.len() < 1000, "a message that quotes it all");
    }
}

#[test]
fn tens_of_thousands_of_marks_that_lead_nowhere() {
    let all = [Format::Unified, Format::V4a, Format::SearchReplace];
    for line in [
        "@@",
        "--- a",
        "+++ a",
        "-- ",
        "```",
        "~~~~",
        "diff --git a/x b/x",
        "*** Begin Patch",
        "*** End Patch",
        "*** Update File: x",
        "*** End of File",
        "<<<<<<< HEAD",
        "<<<<<<< SEARCH",
        "=======",
        ">>>>>>> REPLACE",
        "\\ No newline at end of file",
        "Index: x",
    ] {
        let text = format!("{line}\n").repeat(MILLION / 20);
        for start in ["", "@@ -1 +1 @@\n-a\n", "*** Update File: x\n-a\n", "f\n<<<<< SEARCH\n"] {
            let text = format!("{start}{text}");
            for format in all.map(Some).into_iter().chain([None]) {
                if let Ok(patch) = parse(&text, format, Options::default()) {
                    assert!(patch.files.len() <= MILLION);
                }
            }
        }
    }
}
