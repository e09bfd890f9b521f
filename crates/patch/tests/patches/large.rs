//! Large and adversarial patches: superlinear cost would show as a test that does not finish.

use std::fmt::Write;

use slipstitch_patch::{Action, Format, ParseOptions, Patch, parse};

use super::{parsed, targets};

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

/// A diff of ten thousand hunks; `header` returns the header for a line number.
fn many_hunks(header: impl Fn(usize) -> String) -> String {
    let mut text = String::from("--- a/f\n+++ b/f\n");
    for hunk in 0..10_000 {
        let _ = write!(text, "{}\n a\n-b {hunk}\n+c\n\n d\n", header(hunk * 100 + 1));
    }
    text
}

#[test]
fn parses_ten_thousand_hunks() {
    for text in [
        many_hunks(|line| format!("@@ -{line},4 +{line},4 @@")),
        many_hunks(|line| format!("@@ -{line},4000000000 +{line},4000000000 @@")),
        many_hunks(|_| "@@".into()),
    ] {
        let patch = parsed(&text);
        assert_eq!(hunk_count(&patch), 10_000);
        assert_eq!(hunk_count(&parsed(&targets::print(&patch.reversed().unwrap()))), 10_000);
    }
}

#[test]
fn merges_ten_thousand_sections_of_few_files() {
    let mut text = String::from("*** Begin Patch\n");
    let mut blocks = String::new();
    for part in 0..10_000 {
        let _ = write!(text, "*** Update File: f{}\n@@ scope\n@@\n-a\n+b\n\n", part % 10);
        let _ = write!(blocks, "f{}.txt\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", part % 10);
    }
    for text in [text, blocks] {
        let patch = parsed(&text);
        assert_eq!((patch.files.len(), hunk_count(&patch)), (10, 10_000));
    }
}

#[test]
fn parses_a_million_blank_lines_anywhere() {
    let blank = "\n".repeat(MILLION);
    let diff = |middle: &str, end: &str| format!("--- a/f\n+++ b/f\n@@\n a\n{middle}-b\n{end}");
    assert_eq!(hunk_count(&parsed(&diff("", &blank))), 1);
    assert_eq!(hunk_count(&parsed(&diff(&blank, ""))), 1);
    assert_eq!(hunk_count(&parsed(&format!("{blank}{}", diff("", "")))), 1);
    let v4a = format!(
        "*** Begin Patch\n*** Update File: f\n@@{blank} a\n{blank}-b\n{blank}@@\n-c\n{blank}*** End Patch\n{blank}"
    );
    assert_eq!(hunk_count(&parsed(&v4a)), 2);
    let blocks = format!("f\n<<<<<<< SEARCH\n{blank}=======\n{blank}>>>>>>> REPLACE\n{blank}");
    assert_eq!(hunk_count(&parsed(&blocks)), 1);
}

#[test]
fn parses_blank_lines_between_many_hunks() {
    let gap = "\n".repeat(200);
    let text = (0..5_000).fold(String::from("--- a/f\n+++ b/f\n"), |text, _| text + "@@\n-a\n" + &gap);
    assert_eq!(hunk_count(&parsed(&text)), 5_000);
    let v4a = text.replace("--- a/f\n+++ b/f\n", "*** Update File: f\n");
    assert_eq!(hunk_count(&parsed(&v4a)), 5_000);
}

#[test]
fn parses_very_long_lines_and_truncates_them_in_messages() {
    let long = "x".repeat(20 * MILLION);
    assert_eq!(hunk_count(&parsed(&format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-{long}\n+y\n"))), 1);
    for text in [
        format!("--- a/../{long}\n+++ b/f\n@@ -1 +1 @@\n-a\n"),
        format!("@@ -{} +1 @@\n-a\n", "9".repeat(20 * MILLION)),
        format!("*** Begin Patch\n*** Frobnicate: {long}\n*** End Patch\n"),
        format!("*** Begin Patch\n{long}\n*** End Patch\n"),
    ] {
        let error = parse(&text, None, ParseOptions::default()).unwrap_err();
        assert!(error.message.len() < 1000, "the message quotes the whole line");
    }
}

#[test]
fn parses_tens_of_thousands_of_stray_markers() {
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
                if let Ok(patch) = parse(&text, format, ParseOptions::default()) {
                    assert!(patch.files.len() <= MILLION);
                }
            }
        }
    }
}
