use rstest::rstest;

use super::super::source::{Notes, Source};
use crate::hunk::{Hunk, Role};
use crate::{Action, FilePatch, PatchError, PatchErrorKind, Repair};

fn parse_with(text: &str, strict: bool) -> Result<(Vec<FilePatch>, Vec<Repair>), PatchError> {
    let mut notes = Notes::new(strict);
    let files = super::parse(&Source::new(text), &mut notes)?;
    Ok((files, notes.repairs))
}

fn parse_strictly(text: &str) -> Vec<FilePatch> {
    parse_with(text, true).unwrap().0
}

fn repaired(text: &str, about: &str) -> Vec<FilePatch> {
    let (files, repairs) = parse_with(text, false).unwrap();
    assert!(repairs.iter().any(|repair| repair.message.contains(about)), "{about}: {repairs:?}");
    assert_eq!(parse_with(text, true).unwrap_err().kind, PatchErrorKind::Strict);
    files
}

fn hunks(file: &FilePatch) -> &[Hunk] {
    match &file.action {
        Action::Update { hunks, .. } | Action::Delete { hunks, .. } => hunks,
        other => panic!("no hunks in {other:?}"),
    }
}

fn shown(hunk: &Hunk) -> Vec<String> {
    let sign = |role| match role {
        Role::Context => '=',
        Role::Removed => '-',
        Role::Added => '+',
    };
    hunk.lines.iter().map(|line| format!("{}{}", sign(line.role), line.text)).collect()
}

/// A patch that updates one file.
fn update(body: &str) -> String {
    format!("*** Begin Patch\n*** Update File: src/my file.py\n{body}*** End Patch\n")
}

#[test]
fn parses_every_kind_of_section() {
    let text = "*** Begin Patch\n*** Add File: new.txt\n+one\n+\n+two\n*** Delete File: old.txt\n\
                *** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch\n";
    let files = parse_strictly(text);
    assert_eq!(files[0].action, Action::Create { content: "one\n\ntwo\n".into(), executable: false });
    assert_eq!(files[1].action, Action::Delete { hunks: vec![], executable: false });
    assert!(matches!(&files[2].action, Action::Update { move_to: Some(to), .. } if to == "b.py"));
    let places: Vec<_> = files.iter().map(|file| (file.path.as_deref().unwrap(), file.line)).collect();
    assert_eq!(places, [("new.txt", 2), ("old.txt", 6), ("a.py", 7)]);
}

#[test]
fn parses_nested_scopes() {
    let files =
        parse_strictly(&update("@@ class B\n@@     def f(self):\n-        return None\n@@\n+x\n y\n"));
    let hunks = hunks(&files[0]);
    assert_eq!(files[0].path.as_deref(), Some("src/my file.py"));
    assert_eq!(hunks[0].scopes, ["class B", "    def f(self):"]);
    assert_eq!(shown(&hunks[0]), ["-        return None"]);
    assert!(hunks[1].scopes.is_empty());
}

#[rstest]
#[case("@@ class B @@\n-x\n", &["class B"], None)]
#[case("@@ ... @@\n-x\n", &[], None)]
#[case("@@ -3,2 +3,2 @@\n-x\n", &[], Some(3))]
#[case("@@ -3,2 +3,2 @@ class B\n@@ def f\n-x\n", &["def f"], Some(3))]
#[case("@@ -7,0 +8,2 @@\n+x\n", &[], Some(7))]
#[case("@@ -7,2 +8,2 @@\n+x\n", &[], None)]
#[case("@@ - item\n-x\n", &["- item"], None)]
fn parses_at_lines_as_scopes_or_numbers(
    #[case] body: &str,
    #[case] scopes: &[&str],
    #[case] line: Option<usize>,
) {
    let files = parse_strictly(&update(body));
    let hunk = &hunks(&files[0])[0];
    assert_eq!(
        (hunk.scopes.iter().map(String::as_str).collect::<Vec<_>>(), hunk.line),
        (scopes.to_vec(), line)
    );
}

#[test]
fn the_first_hunk_needs_no_at_line() {
    assert_eq!(shown(&hunks(&parse_strictly(&update(" a\n-b\n+c\n"))[0])[0]), ["=a", "-b", "+c"]);
}

#[test]
fn parses_end_of_file_markers() {
    let files = parse_strictly(&update("@@\n a\n+b\n*** End of File\n@@\n-c\n"));
    assert_eq!(hunks(&files[0]).iter().map(|hunk| hunk.at_end).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn accepts_blank_context_without_the_leading_space() {
    let files = repaired(&update("@@\n\n-b\n\n+c\n\n"), "leading space");
    assert_eq!(shown(&hunks(&files[0])[0]), ["=", "-b", "=", "+c"]);
}

#[test]
fn context_without_prefix_has_two_interpretations() {
    let files = repaired(&update("@@\ndef f():\n    a\n-    b\n"), "prefix");
    let hunk = &hunks(&files[0])[0];
    assert_eq!(shown(hunk), ["=def f():", "=   a", "-    b"]);
    assert_eq!(hunk.alternatives[0].lines[1].text, "    a");
}

const PATCH: &str = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch\n";

#[rstest]
#[case::no_begin(PATCH.replace("*** Begin Patch\n", ""), "missing `*** Begin Patch`")]
#[case::no_end(PATCH.replace("*** End Patch\n", ""), "missing `*** End Patch`")]
#[case::no_end_fence(format!("```\n{}```\n", PATCH.replace("*** End Patch\n", "")), "missing `*** End Patch`")]
#[case::tight(PATCH.replace("*** ", "***"), "standard marker")]
#[case::case(PATCH.replace("Begin Patch", "BEGIN PATCH"), "standard marker")]
#[case::last_padded(PATCH.replace("*** End Patch", "  *** End Patch"), "standard marker")]
#[case::indented(PATCH.lines().map(|line| format!("    {line}\n")).collect(), "indentation of the whole patch")]
#[case::fence(format!("```\n{PATCH}```\n"), "before the patch")]
#[case::prose(format!("Here it is:\n\n```patch\n{PATCH}```\n\nDone.\n"), "after `*** End Patch`")]
#[case::heredoc(format!("apply_patch <<'EOF'\n{PATCH}EOF\n"), "before the patch")]
#[case::heredoc_no_end(format!("bash -lc \"apply_patch <<'EOF'\n{}EOF\"\n", PATCH.replace("*** End Patch\n", "")), "missing `*** End Patch`")]
#[case::unified_headers(PATCH.replace("@@", "--- a/a.py\n+++ b/a.py\n@@"), "inside a V4A patch")]
fn repairs_common_mistakes(#[case] text: String, #[case] about: &str) {
    let files = repaired(&text, about);
    assert_eq!((files.len(), files[0].path.as_deref()), (1, Some("a.py")));
    assert_eq!(shown(&hunks(&files[0])[0]), ["-x", "+y"]);
}

#[test]
fn accepts_trailing_spaces_on_markers_and_crlf() {
    assert_eq!(parse_strictly(&PATCH.replace("Patch\n", "Patch  \n"))[0].path.as_deref(), Some("a.py"));
    assert_eq!(shown(&hunks(&parse_strictly(&PATCH.replace('\n', "\r\n"))[0])[0]), ["-x", "+y"]);
}

#[test]
fn parses_a_second_patch_in_the_text() {
    let files = repaired(&format!("{PATCH}\n{}", PATCH.replace("a.py", "b.py")), "joined the patch");
    assert_eq!(files.iter().map(|file| file.path.as_deref().unwrap()).collect::<Vec<_>>(), ["a.py", "b.py"]);
}

#[test]
fn treats_prefixed_markers_in_a_hunk_as_content() {
    let files = parse_strictly(&update("@@\n *** Begin Patch\n-*** End Patch\n+*** Update File: x\n"));
    assert_eq!(shown(&hunks(&files[0])[0]), ["=*** Begin Patch", "-*** End Patch", "+*** Update File: x"]);
}

/// The content of the single added file.
fn added(body: &str) -> Result<String, PatchError> {
    let (files, _) = parse_with(&format!("*** Begin Patch\n*** Add File: n\n{body}*** End Patch\n"), false)?;
    match &files[0].action {
        Action::Create { content, .. } => Ok(content.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn accepts_new_file_lines_without_plus_when_unambiguous() {
    assert_eq!(added("").unwrap(), "");
    assert_eq!(added("+a\n\n+b\n\n").unwrap(), "a\n\nb\n");
    assert_eq!(added("def f():\n    a\n- b\n").unwrap(), "def f():\n    a\n- b\n");
    assert_eq!(added("+a\nb\n+c\n").unwrap(), "a\nb\nc\n");
    assert_eq!(added("@@\n+a\n*** End of File\n").unwrap(), "a\n");
    assert_eq!(added("+a\n\\ No newline at end of file\n").unwrap(), "a");
    assert!(added("+a\n b\n").unwrap_err().message.contains("`+`"));
    assert!(added(" a\n b\n").is_err());
    assert!(added("+a\n\nThat is all.\n").is_err(), "prose is not content");
    assert!(added("+a\n*** Updat File: x\n+b\n").is_err(), "a misspelled marker is not content");
}

#[test]
fn parses_the_expected_content_of_a_deleted_file() {
    let text = "*** Begin Patch\n*** Delete File: o\n-a\n-b\n*** End Patch\n";
    assert_eq!(shown(&hunks(&repaired(text, "must match")[0])[0]), ["-a", "-b"]);
    assert!(parse_with(&text.replace("-b", " b"), false).is_err());
}

#[rstest]
#[case("", PatchErrorKind::Format)]
#[case("hello\n", PatchErrorKind::Format)]
#[case("*** Begin Patch\n*** End Patch\n", PatchErrorKind::Syntax)]
#[case("*** Begin Patch\n*** Update File: \n@@\n-x\n*** End Patch\n", PatchErrorKind::Syntax)]
#[case("*** Begin Patch\n*** Update File: a\n*** End Patch\n", PatchErrorKind::Syntax)]
#[case("*** Begin Patch\n*** Update File: a\n@@ f\n*** End Patch\n", PatchErrorKind::Syntax)]
#[case("*** Begin Patch\n@@\n-x\n*** End Patch\n", PatchErrorKind::Syntax)]
#[case(
    "*** Begin Patch\n*** Update File: a\n@@\n-x\n*** Rename File: b\n-y\n*** End Patch\n",
    PatchErrorKind::Syntax
)]
#[case(
    "*** Begin Patch\n*** Update File: a\n@@ -99999999999999999999,1 +1 @@\n-x\n*** End Patch\n",
    PatchErrorKind::Syntax
)]
fn rejects_malformed_patches(#[case] text: &str, #[case] kind: PatchErrorKind) {
    let error = parse_with(text, false).unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(!error.hint.is_empty());
}

#[rstest]
#[case::bare("@@\n-x\n+y\n@@\n")]
#[case::scope("@@\n-x\n+y\n@@ def f():\n")]
#[case::blank("@@\n-x\n+y\n\n@@  \n\n")]
#[case::before_the_end_marker("@@\n-x\n+y\n@@\n*** End of File\n")]
fn drops_an_empty_hunk(#[case] body: &str) {
    let files = repaired(&update(body), "dropped an empty hunk");
    assert_eq!(hunks(&files[0]).len(), 1);
    assert_eq!(shown(&hunks(&files[0])[0]), ["-x", "+y"]);
}

#[test]
fn a_header_with_numbers_and_no_lines_may_be_cut_off() {
    let error = parse_with(&update("@@\n-x\n+y\n@@ -3,4 +3,5 @@\n"), false).unwrap_err();
    assert_eq!(error.message, "the hunk has no lines");
}

#[rstest]
#[case::context_only(" a\n b\n")]
#[case::same_line("-a\n+a\n")]
#[case::same_lines(" a\n-b\n-c\n+b\n+c\n")]
fn drops_a_hunk_that_changes_nothing(#[case] idle: &str) {
    let files = repaired(&update(&format!("@@\n{idle}@@ f\n-x\n+y\n@@\n{idle}")), "changes nothing");
    assert_eq!(hunks(&files[0]).len(), 1);
    assert_eq!(hunks(&files[0])[0].scopes, ["f"]);
    // Alone, one is left to say which file is meant.
    let only = parse_strictly(&update(&format!("@@\n{idle}")));
    assert!(hunks(&only[0])[0].changes_nothing());
    assert_eq!(hunks(&repaired(&update(&format!("@@\n{idle}@@\n{idle}")), "changes nothing")[0]).len(), 1);
}

#[test]
fn a_move_needs_no_hunk_that_changes_nothing() {
    let files = repaired(&update("*** Move to: g\n@@\n a\n"), "changes nothing");
    assert!(matches!(&files[0].action, Action::Update { hunks, move_to: Some(_), .. } if hunks.is_empty()));
}

#[test]
fn a_line_break_is_a_change() {
    let files = parse_strictly(&update("@@\n-a\n\\ No newline at end of file\n+a\n@@\n-x\n"));
    assert_eq!(hunks(&files[0]).len(), 2);
}

#[rstest]
#[case("@@ @@ class B\n-x\n", &["class B"], None)]
#[case("@@ @@ class B @@\n-x\n", &["class B"], None)]
#[case("@@@@ class B\n-x\n", &["class B"], None)]
#[case("@@ @@ @@ class B\n-x\n", &["class B"], None)]
#[case("@@ @@ -3,2 +3,2 @@ def f():\n-x\n", &[], Some(3))]
fn ignores_a_doubled_at_sign(#[case] body: &str, #[case] scopes: &[&str], #[case] line: Option<usize>) {
    let files = repaired(&update(body), "doubled");
    let hunk = &hunks(&files[0])[0];
    assert_eq!(
        (hunk.scopes.iter().map(String::as_str).collect::<Vec<_>>(), hunk.line),
        (scopes.to_vec(), line)
    );
}

#[rstest]
#[case("@@ @@\n-x\n", &[])]
#[case("@@   \n-x\n", &[])]
#[case("@@ @@count = 0\n-x\n", &["@@count = 0"])]
#[case("@@ In the loop, count down\n-x\n", &["In the loop, count down"])]
fn keeps_other_scopes(#[case] body: &str, #[case] scopes: &[&str]) {
    assert_eq!(hunks(&parse_strictly(&update(body))[0])[0].scopes, scopes);
}

#[rstest]
#[case::colon("*** Update File: a.py:")]
#[case::quotes("*** Update File: \"a.py\"")]
#[case::ticks_and_colon("*** Update File: `a.py`:")]
#[case::colon_in_ticks("*** Update File: `a.py:`")]
#[case::modify("*** Modify File: a.py")]
#[case::edit("*** Edit File: a.py")]
fn accepts_variants_of_the_file_marker(#[case] marker: &str) {
    let files = repaired(&PATCH.replace("*** Update File: a.py", marker), "nonstandard marker");
    assert_eq!(files[0].path.as_deref(), Some("a.py"));
}

#[rstest]
#[case::before_a_hunk("--- a/a.py\n+++ b/a.py\n-x\n+y\n")]
#[case::with_context("--- a/a.py\n+++ b/a.py\n@@\n-x\n+y\n")]
#[case::git("diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n")]
#[case::only_git("diff --git a/a.py b/a.py\n@@\n-x\n+y\n")]
#[case::between_hunks("@@\n-x\n+y\n--- a/a.py\n+++ b/a.py\n@@\n-x\n+y\n")]
fn ignores_unified_headers_in_a_section(#[case] body: &str) {
    let text = format!("*** Begin Patch\n*** Update File: a.py\n{body}*** End Patch\n");
    let files = repaired(&text, "headers inside a V4A patch");
    assert!(hunks(&files[0]).iter().all(|hunk| shown(hunk) == ["-x", "+y"]));
}

#[test]
fn dashes_that_name_another_file_are_content() {
    let files = parse_strictly(&update("@@\n--- a/x\n+++ b/x\n@@\n-y\n"));
    assert_eq!(shown(&hunks(&files[0])[0]), ["--- a/x", "+++ b/x"]);
}

#[rstest]
#[case::before_the_hunk("***************\n@@\n-x\n+y\n")]
#[case::after_the_scope("@@\n***************\n-x\n+y\n")]
#[case::after_the_hunk("@@\n-x\n+y\n***************\n")]
#[case::between_hunks("@@\n-x\n+y\n\n***************\n\n@@\n-x\n+y\n")]
fn ignores_lines_of_asterisks(#[case] body: &str) {
    let files = repaired(&update(body), "asterisks");
    assert!(hunks(&files[0]).iter().all(|hunk| shown(hunk) == ["-x", "+y"]));
}

#[test]
fn ignores_asterisks_between_sections() {
    let text = PATCH.replace("*** Update", "***************\n*** Update");
    assert_eq!(repaired(&text, "asterisks").len(), 1);
}

#[test]
fn asterisks_in_a_hunk_are_content() {
    let files = repaired(&update("@@\n***************\n-x\n***************\n+y\n"), "asterisks");
    assert_eq!(shown(&hunks(&files[0])[0]), ["-x", "=***************", "+y"]);
}

#[test]
fn code_that_starts_with_asterisks_is_bare_context() {
    let files = repaired(&update("@@\n*** Settings ***\n-x\n+y\n"), "prefix");
    assert_eq!(shown(&hunks(&files[0])[0]), ["=*** Settings ***", "-x", "+y"]);
    assert!(parse_with(&update("@@\n*** Renam File: b\n-x\n"), false).is_err());
}

#[test]
fn a_hunk_from_line_zero_can_create_the_file() {
    let files = parse_strictly(&update("@@ -0,0 +1,2 @@\n+a\n+b\n"));
    assert!(hunks(&files[0])[0].can_create_file());
    let files = parse_strictly(&update("@@\n+a\n"));
    assert!(!hunks(&files[0])[0].can_create_file());
}
