use rstest::rstest;

use super::super::source::{Notes, Source};
use crate::hunk::{Hunk, Role};
use crate::{Action, FilePatch, ParseOptions, PatchError, PatchErrorKind, Repair};

fn parse_with(text: &str, options: ParseOptions) -> Result<(Vec<FilePatch>, Vec<Repair>), PatchError> {
    let mut notes = Notes::new(options.strict);
    let files = super::parse(&Source::new(text), options, &mut notes)?;
    Ok((files, notes.repairs))
}

fn parse(text: &str) -> (Vec<FilePatch>, Vec<Repair>) {
    parse_with(text, ParseOptions::default()).unwrap()
}

fn parse_strictly(text: &str) -> Vec<FilePatch> {
    parse_with(text, ParseOptions::STRICT).unwrap().0
}

fn parse_error(text: &str) -> PatchError {
    parse_with(text, ParseOptions::default()).unwrap_err()
}

/// The hunks of a file, one string per line: `=context`, `-removed`, `+added`.
fn shown(file: &FilePatch) -> Vec<Vec<String>> {
    hunks(file)
        .iter()
        .map(|hunk| hunk.lines.iter().map(|line| format!("{}{}", sign(line.role), line.text)).collect())
        .collect()
}

fn sign(role: Role) -> char {
    match role {
        Role::Context => '=',
        Role::Removed => '-',
        Role::Added => '+',
    }
}

fn hunks(file: &FilePatch) -> &[Hunk] {
    match &file.action {
        Action::Update { hunks, .. } | Action::Delete { hunks, .. } => hunks,
        other => panic!("no hunks in {other:?}"),
    }
}

fn repaired(text: &str, about: &str) -> Vec<FilePatch> {
    let (files, repairs) = parse(text);
    assert!(repairs.iter().any(|repair| repair.message.contains(about)), "{about}: {repairs:?}");
    let strict = parse_with(text, ParseOptions::STRICT).unwrap_err();
    assert_eq!(strict.kind, PatchErrorKind::Strict, "{strict}");
    files
}

const SIMPLE: &str = "--- a/f.txt\n+++ b/f.txt\n@@ -2,3 +2,3 @@ section\n a\n-b\n+c\n d\n";

#[test]
fn parses_a_plain_diff() {
    let files = parse_strictly(SIMPLE);
    assert_eq!((files[0].path.as_deref(), files[0].line), (Some("f.txt"), 1));
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c", "=d"]]);
    assert_eq!((hunks(&files[0])[0].line, hunks(&files[0])[0].scopes.len()), (Some(2), 0));
}

#[test]
fn parses_several_files_and_hunks() {
    let text = format!("{SIMPLE}@@ -9 +9 @@\n-x\n+y\n--- a/g.txt\n+++ b/g.txt\n@@ -1 +0,0 @@\n-only\n");
    let files = parse_strictly(&text);
    assert_eq!(files.len(), 2);
    assert_eq!(shown(&files[0]).len(), 2);
    assert_eq!((files[1].path.as_deref(), files[1].line), (Some("g.txt"), 11));
}

#[test]
fn a_zero_count_inserts_after_the_line() {
    let files = parse_strictly("--- a/f\n+++ b/f\n@@ -7,0 +8,2 @@\n+x\n+y\n");
    assert_eq!(hunks(&files[0])[0].line, Some(7));
    let (files, _) = parse("--- a/f\n+++ b/f\n@@ -7,2 +8,2 @@\n+x\n+y\n");
    assert_eq!(hunks(&files[0])[0].line, None, "a line number that contradicts the counts is ignored");
}

#[test]
fn parses_git_headers() {
    let text = "diff --git a/old name.py b/new.py\nsimilarity index 90%\nrename from old name.py\nrename to new.py\n\
                index 1..2 100644\n--- a/old name.py\t\n+++ b/new.py\n@@ -1 +1 @@\n-a\n+b\n\
                diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n\
                diff --git a/empty b/empty\nnew file mode 100755\nindex 0..0\n\
                diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n";
    let files = parse_strictly(text);
    assert_eq!(files[0].path.as_deref(), Some("old name.py"));
    assert!(matches!(&files[0].action, Action::Update { move_to: Some(to), .. } if to == "new.py"));
    assert!(
        matches!(&files[1].action, Action::Update { executable: Some(true), hunks, .. } if hunks.is_empty())
    );
    assert_eq!(files[2].action, Action::Create { content: String::new(), executable: true });
    assert_eq!(files[3].action, Action::Delete { hunks: vec![], executable: false });
    assert_eq!(files[3].path.as_deref(), Some("gone"));
}

#[test]
fn dev_null_creates_and_deletes() {
    let files = parse_strictly(
        "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
    );
    assert_eq!(files[0].action, Action::Create { content: "x\ny".into(), executable: false });
    assert!(matches!(&files[1].action, Action::Delete { hunks, .. } if hunks.len() == 1));
    assert_eq!((files[0].path.as_deref(), files[1].path.as_deref()), (Some("n"), Some("o")));
}

#[test]
fn an_epoch_timestamp_creates_a_file() {
    let files = parse_strictly(
        "--- n.c\t1970-01-01 00:00:00.000000000 +0000\n+++ n.c\t2024-05-05 10:00:00.000000000 +0000\n@@ -0,0 +1 @@\n+x\n",
    );
    assert_eq!(files[0].action, Action::Create { content: "x\n".into(), executable: false });
}

#[test]
fn dashes_inside_a_hunk_are_content_if_the_counts_include_them() {
    let text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new\n select 1\n";
    assert_eq!(shown(&parse_strictly(text)[0]), [["--- old comment", "+++ new", "=select 1"]]);
}

#[test]
fn headers_of_the_next_file_are_not_content_even_if_the_counts_include_them() {
    let text = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n";
    let files = repaired(text, "corrected the line counts");
    assert_eq!(files.len(), 2);
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c"]]);
}

#[rstest]
#[case::too_few("@@ -1,1 +1,1 @@\n a\n-b\n+c\n d\n")]
#[case::too_many("@@ -1,9 +1,9 @@\n a\n-b\n+c\n d\n")]
#[case::one_side("@@ -1,3 +1,5 @@\n a\n-b\n+c\n d\n")]
fn corrects_wrong_counts(#[case] hunk: &str) {
    let files = repaired(&format!("--- a/f\n+++ b/f\n{hunk}"), "corrected the line counts");
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c", "=d"]]);
    assert_eq!(hunks(&files[0])[0].line, Some(1));
}

#[test]
fn keeps_changes_after_the_counted_end_and_a_blank_line() {
    let files =
        repaired("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\n d\n-e\n", "corrected the line counts");
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c", "=", "=d", "-e"]]);
}

#[rstest]
#[case("@@")]
#[case("@@ ... @@")]
#[case("@@ fn main() {")]
fn hunks_with_bare_headers_have_no_line(#[case] header: &str) {
    let files =
        repaired(&format!("--- a/f\n+++ b/f\n{header}\n a\n-b\n\n+c\n{header}\n-x\n\n"), "no line numbers");
    assert_eq!(shown(&files[0]), [vec!["=a", "-b", "=", "+c"], vec!["-x"]]);
    assert_eq!(hunks(&files[0])[0].line, None);
}

#[test]
fn accepts_blank_context_without_the_leading_space() {
    let files = repaired("--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n\n-b\n+c\n\n", "leading space");
    assert_eq!(shown(&files[0]), [["=a", "=", "-b", "+c", "="]]);
}

#[test]
fn accepts_context_without_prefix() {
    let files =
        repaired("--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\ndef f():\n    a\n-    b\n+    c\n    d\n", "prefix");
    assert_eq!(shown(&files[0]), [["=def f():", "=   a", "-    b", "+    c", "=   d"]]);
    assert_eq!(hunks(&files[0])[0].alternatives[0].lines[1].text, "    a");
}

#[test]
fn accepts_a_hunk_without_file_headers() {
    let files = repaired("@@ -1 +1 @@\n-a\n+b\n", "`---` and `+++` headers are missing");
    assert_eq!(files[0].path, None);
}

#[test]
fn accepts_a_single_file_header() {
    assert_eq!(
        repaired("+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "`---` header is missing")[0].path.as_deref(),
        Some("f")
    );
    assert_eq!(
        repaired("--- a/f\n@@ -1 +1 @@\n-a\n+b\n", "`+++` header is missing")[0].path.as_deref(),
        Some("f")
    );
}

#[test]
fn adds_a_missing_newline_at_the_end() {
    assert_eq!(shown(&repaired(SIMPLE.trim_end(), "missing newline")[0]), [["=a", "-b", "+c", "=d"]]);
}

#[rstest]
#[case::tagged("```diff\n", "```\n")]
#[case::plain("```\n", "```")]
#[case::tilde("~~~\n", "~~~\n")]
#[case::prose("Here is the change:\n\n```diff\n", "```\n\n- It works.\n- Really.\n")]
fn removes_a_markdown_fence(#[case] before: &str, #[case] after: &str) {
    let files = repaired(&format!("{before}{SIMPLE}{after}"), "Markdown fence");
    assert_eq!(files.len(), 1);
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c", "=d"]]);
}

#[test]
fn a_fence_ends_a_hunk_without_numbers() {
    let files = repaired("```diff\n--- a/f\n+++ b/f\n@@\n a\n-b\n\n```\nDone.\n- yes\n", "Markdown fence");
    assert_eq!(shown(&files[0]), [["=a", "-b"]]);
}

#[test]
fn hunks_in_a_second_fence_do_not_belong_to_the_first_file() {
    let (files, _) =
        parse(&format!("```diff\n{SIMPLE}```\nand in other.txt:\n```diff\n@@ -1 +1 @@\n-x\n+y\n```\n"));
    assert_eq!((files[0].path.as_deref(), files[1].path.as_deref()), (Some("f.txt"), None));
}

#[test]
fn rejects_a_fence_inside_a_hunk() {
    let text = "```diff\n--- a/f.md\n+++ b/f.md\n@@ -1,5 +1,5 @@\n a\n-b\n+c\n```\nx\n```\n d\n```\n";
    assert!(parse_error(text).message.contains("fence"));
}

#[test]
fn ignores_prose_after_a_hunk() {
    let (files, _) = parse(&format!("{SIMPLE}\nThis changes b:\n- it was wrong\n"));
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c", "=d"]]);
    let (files, _) = parse("--- a/f\n+++ b/f\n@@\n a\n-b\n c\n\nThat should do.\n");
    assert_eq!(shown(&files[0]), [["=a", "-b", "=c"]]);
}

#[test]
fn ignores_a_mail_signature() {
    assert_eq!(shown(&parse_strictly(&format!("{SIMPLE}-- \n2.47.0\n\n"))[0]), [["=a", "-b", "+c", "=d"]]);
}

#[test]
fn tells_crlf_transport_from_crlf_files() {
    let transport = parse_strictly(&SIMPLE.replace('\n', "\r\n"));
    assert_eq!(shown(&transport[0]), [["=a", "-b", "+c", "=d"]]);
    assert!(!transport[0].crlf);
    let of_file = parse_strictly("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n");
    assert_eq!(shown(&of_file[0]), [["=a", "-b", "+c"]]);
    assert!(of_file[0].crlf);
}

#[test]
fn a_new_file_keeps_its_carriage_returns() {
    let files = parse_strictly("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\r\n");
    assert_eq!(files[0].action, Action::Create { content: "a\r\n".into(), executable: false });
}

#[test]
fn strips_git_prefixes_only_as_a_pair() {
    let path = |old: &str, new: &str| {
        let (files, _) = parse(&format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n"));
        files[0].path.clone().unwrap()
    };
    assert_eq!(path("a/x", "b/x"), "x");
    assert_eq!(path("a/x", "a/x"), "a/x");
    assert_eq!(path("src/x", "src/x"), "src/x");
    assert_eq!(path("x.orig", "x"), "x");
    assert_eq!(path("x", "x.new"), "x");
    assert_eq!(path("x", "y"), "y");
    assert_eq!(path("x", "b/x"), "x");
    assert_eq!(path("a/x", "x"), "x");
}

#[test]
fn strips_the_requested_number_of_folders() {
    let options = ParseOptions { strip: Some(2), ..ParseOptions::STRICT };
    let text = "--- p/q/x\n+++ r/s/x\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(parse_with(text, options).unwrap().0[0].path.as_deref(), Some("x"));
    assert!(parse_with(text, ParseOptions { strip: Some(3), ..options }).is_err());
}

#[rstest]
#[case("GIT binary patch\n", "binary")]
#[case("diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n", "binary")]
#[case("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", "copies")]
#[case("diff --git a/x b/x\nnew file mode 120000\n", "symbolic link")]
#[case("diff --git a/x b/x\nnew file mode 160000\n", "submodule")]
#[case("diff --cc x\n@@@ -1,2 -1,2 +1,3 @@@\n", "combined")]
#[case("*** a/x\n--- b/x\n***************\n*** 1,2 ****\n", "context diff")]
fn rejects_unsupported_content_by_name(#[case] text: &str, #[case] name: &str) {
    let error = parse_error(text);
    assert_eq!(error.kind, PatchErrorKind::Unsupported);
    assert!(error.message.contains(name), "{error}");
}

#[rstest]
#[case("")]
#[case("hello\n")]
#[case("--- a/f\n+++ b/f\n")]
#[case("--- a/f\n+++ b/f\n@@ -1 +1 @@\n")]
#[case("--- a/f\n+++ b/f\n@@ -x +1 @@\n-a\n")]
#[case("--- a/f\n+++ b/f\n@@ -1,99999999999999999999 +1 @@\n-a\n")]
#[case("--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n b\n")]
#[case("--- a/f\n+++ /dev/null\n@@ -1,2 +1 @@\n-a\n b\n")]
#[case("diff --git a/x b/x\nindex 1..2 100644\n")]
#[case("diff --git a/x b/x\nnew file mode 1\n")]
fn rejects_malformed_diffs(#[case] text: &str) {
    let error = parse_error(text);
    assert!(matches!(error.kind, PatchErrorKind::Syntax | PatchErrorKind::Format), "{error}");
    assert!(!error.hint.is_empty());
}

#[test]
fn rejects_paths_outside_the_root() {
    for path in ["../x", "/etc/passwd", "a/../../x"] {
        let error = parse_error(&format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n"));
        assert_eq!((error.kind, error.line), (PatchErrorKind::Path, 1));
    }
}

#[rstest]
#[case::trailing("@@ -1 +1 @@\n-a\n+b\n@@\n")]
#[case::doubled("@@ -1 +1 @@\n@@ -1 +1 @@\n-a\n+b\n")]
#[case::before_a_fence("@@ -1 +1 @@\n-a\n+b\n@@\n```\n")]
fn drops_an_empty_hunk(#[case] body: &str) {
    let files = repaired(&format!("--- a/f\n+++ b/f\n{body}"), "dropped an empty hunk");
    assert_eq!(shown(&files[0]), [["-a", "+b"]]);
}

#[test]
fn drops_an_empty_hunk_before_the_next_file() {
    let text = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n@@\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(repaired(text, "dropped an empty hunk").len(), 2);
}

#[test]
fn a_header_with_numbers_and_no_lines_may_be_cut_off() {
    let error = parse_error("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n@@ -9,3 +9,4 @@\n");
    assert_eq!(error.message, "the hunk has no lines");
    let text = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n@@ -9,0 +9,0 @@\n";
    assert_eq!(repaired(text, "dropped an empty hunk").len(), 1);
}

#[rstest]
#[case::context_only("@@ -1,2 +1,2 @@\n a\n b\n")]
#[case::same_line("@@ -1 +1 @@\n-a\n+a\n")]
#[case::crlf("@@ -1 +1 @@\n-a\r\n+a\r\n")]
fn drops_a_hunk_that_changes_nothing(#[case] idle: &str) {
    let files = repaired(&format!("--- a/f\n+++ b/f\n{idle}@@ -9 +9 @@\n-x\n+y\n"), "changes nothing");
    assert_eq!(shown(&files[0]), [["-x", "+y"]]);
    let only = parse_strictly(&format!("--- a/f\n+++ b/f\n{idle}"));
    assert!(hunks(&only[0])[0].changes_nothing());
}

#[test]
fn a_file_that_is_left_as_it_is_stays_in_the_patch() {
    let text = format!("{SIMPLE}--- a/g\n+++ b/g\n@@ -1 +1 @@\n a\n");
    let patch = crate::parse(&text, None, ParseOptions::default()).unwrap();
    assert_eq!(patch.files[1].path.as_deref(), Some("g"));
    assert_eq!((patch.repairs.len(), patch.repairs[0].line), (1, 8));
    assert_eq!(patch.repairs[0].message, "the changes to this file leave it as it is");
}

#[test]
fn drops_a_section_that_changes_nothing_of_a_file_with_another() {
    let text = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n a\n--- a/f\n+++ b/f\n@@ -9 +9 @@\n-x\n+y\n";
    let patch = crate::parse(text, None, ParseOptions::default()).unwrap();
    assert_eq!(shown(&patch.files[0]), [["-x", "+y"]]);
    assert_eq!(patch.repairs[0].message, "dropped a hunk that changes nothing");
    assert!(crate::parse(text, None, ParseOptions::STRICT).is_err());
}

#[test]
fn a_hunk_from_line_zero_can_create_the_file() {
    let files = parse_strictly("--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    assert!(hunks(&files[0])[0].can_create_file());
    let files = parse_strictly("--- a/f\n+++ b/f\n@@ -3,0 +4 @@\n+a\n");
    assert!(!hunks(&files[0])[0].can_create_file());
}

#[rstest]
#[case("a/x", "b/y")]
#[case("x", "y")]
#[case("i/x", "w/y")]
fn rename_headers_agree_with_the_names(#[case] old: &str, #[case] new: &str) {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let both = "rename from x\nrename to y\n";
    let text = format!("diff --git {old} {new}\n{both}--- {old}\n+++ {new}\n{hunk}");
    let (files, _) = parse(&text);
    assert_eq!(files[0].path.as_deref(), Some("x"));
    assert!(matches!(&files[0].action, Action::Update { move_to: Some(to), .. } if to == "y"));
}

#[rstest]
#[case("rename from x\n")]
#[case("rename to y\n")]
fn a_missing_rename_header_is_taken_from_the_others(#[case] header: &str) {
    for names in ["--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", ""] {
        let text = format!("diff --git a/x b/y\n{header}{names}");
        let files = repaired(&text, "is missing: used `");
        assert_eq!(files[0].path.as_deref(), Some("x"), "{header}{names}");
        assert!(matches!(&files[0].action, Action::Update { move_to: Some(to), .. } if to == "y"));
    }
}

#[rstest]
#[case("rename from x\nrename to y\n--- a/z\n+++ b/y\n", "`--- a/z` contradicts `rename from x`")]
#[case("rename from x\nrename to y\n--- a/x\n+++ b/z\n", "`+++ b/z` contradicts `rename to y`")]
#[case("rename from x\nrename to y\n--- a/z\n+++ b/z\n", "`--- a/z` contradicts `rename from x`")]
#[case("rename from x\nrename to y\n--- /dev/null\n+++ b/y\n", "contradicts `rename from x`")]
#[case("rename from x\nrename to y\n--- a/x\n+++ /dev/null\n", "contradicts `rename to y`")]
#[case(
    "new file mode 100644\nrename from x\nrename to y\n--- a/x\n+++ b/y\n",
    "renamed, and that it is created"
)]
fn contradicting_rename_headers_are_refused(#[case] headers: &str, #[case] message: &str) {
    let error = parse_error(&format!("diff --git a/x b/y\n{headers}@@ -1 +1 @@\n-a\n+b\n"));
    assert_eq!((error.kind, error.line), (PatchErrorKind::Syntax, 1));
    assert!(error.message.contains(message), "{}", error.message);
}

#[rstest]
#[case::deletes_another(
    "a/a b/a\ndeleted file mode 100644\n--- a/c\n+++ /dev/null\n",
    "`--- a/c` contradicts `diff --git a/a b/a`"
)]
#[case::deletes_deeper(
    "a/a b/a\ndeleted file mode 100644\n--- a/a/a\n+++ /dev/null\n",
    "`--- a/a/a` contradicts"
)]
#[case::deletes_shorter(
    "a/s/a b/s/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n",
    "`--- a/a` contradicts"
)]
#[case::deletes_by_null("a/a b/a\n--- a/c\n+++ /dev/null\n", "`--- a/c` contradicts")]
#[case::creates_another(
    "a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/m\n",
    "`+++ b/m` contradicts `diff --git a/n b/n`"
)]
#[case::creates_by_null("a/n b/n\n--- /dev/null\n+++ b/m\n", "`+++ b/m` contradicts")]
#[case::deletes_what_remains(
    "a/c b/c\ndeleted file mode 100644\n--- a/c\n+++ b/c\n",
    "`+++ b/c` contradicts `deleted file mode`"
)]
#[case::creates_what_exists(
    "a/c b/c\nnew file mode 100644\n--- a/c\n+++ b/c\n",
    "`--- a/c` contradicts `new file mode`"
)]
#[case::deletes_nothing(
    "a/c b/c\ndeleted file mode 100644\n--- /dev/null\n+++ b/c\n",
    "contradicts `deleted file mode`"
)]
#[case::creates_nothing(
    "a/c b/c\nnew file mode 100644\n--- a/c\n+++ /dev/null\n",
    "contradicts `new file mode`"
)]
#[case::updates_another("a/a b/a\n--- a/c\n+++ b/c\n", "`--- a/c` contradicts")]
#[case::updates_another_without_prefixes("s/a s/a\n--- t/a\n+++ t/a\n", "`--- t/a` contradicts")]
#[case::updates_another_new_name("a/a b/a\n--- a/a\n+++ b/c\n", "`+++ b/c` contradicts")]
#[case::quoted(
    "\"a/\\303\\244\" \"b/\\303\\244\"\n--- a/c\n+++ b/c\n",
    "`--- a/c` contradicts `diff --git a/ä b/ä`"
)]
#[case::renames_another(
    "a/x b/y\nrename from z\nrename to y\n",
    "`rename from z` contradicts `diff --git a/x b/y`"
)]
#[case::renames_to_another(
    "a/x b/y\nrename from x\nrename to z\n--- a/x\n+++ b/z\n",
    "`rename to z` contradicts"
)]
#[case::completes_to_another("a/x b/y\nrename from x\n--- a/x\n+++ b/z\n", "`rename to z` contradicts")]
#[case::deletes_one_of_two("a/x b/y\ndeleted file mode 100644\n", "names two files")]
#[case::changes_the_mode_of_one_of_two("a/x b/y\nold mode 100644\nnew mode 100755\n", "names two files")]
fn headers_that_contradict_each_other_are_refused(#[case] headers: &str, #[case] message: &str) {
    for hunk in ["", "@@ -1 +0,0 @@\n-a\n", "@@ -0,0 +1 @@\n+a\n", "@@ -1 +1 @@\n-a\n+b\n"] {
        let error = parse_error(&format!("diff --git {headers}{hunk}"));
        assert_eq!((error.kind, error.line), (PatchErrorKind::Syntax, 1), "{error}");
        assert!(error.message.contains(message), "{}", error.message);
    }
}

#[rstest]
#[case::as_git_writes_it("a/f b/f\n--- a/f\n+++ b/f\n")]
#[case::reversed("b/f a/f\n--- b/f\n+++ a/f\n")]
#[case::other_prefixes("i/f w/f\n--- a/f\n+++ b/f\n")]
#[case::no_prefixes_below("a/f b/f\n--- f\n+++ f\n")]
#[case::no_prefixes_above("f f\n--- a/f\n+++ b/f\n")]
#[case::one_prefix("a/f b/f\n--- a/f\n+++ f\n")]
#[case::only_the_line("a/f b/f\n")]
fn prefixes_are_no_contradiction(#[case] headers: &str) {
    let (files, _) = parse(&format!("diff --git {headers}@@ -1 +1 @@\n-a\n+b\n"));
    assert_eq!(files[0].path.as_deref(), Some("f"));
    assert!(matches!(files[0].action, Action::Update { move_to: None, .. }));
}

#[rstest]
#[case::git("a/s/f b/s/f\ndeleted file mode 100644\n--- a/s/f\n+++ /dev/null\n")]
#[case::no_prefix_below("a/s/f b/s/f\ndeleted file mode 100644\n--- s/f\n+++ /dev/null\n")]
#[case::no_mode("a/s/f b/s/f\n--- a/s/f\n+++ /dev/null\n")]
#[case::timestamp("a/s/f b/s/f\ndeleted file mode 100644\n--- a/s/f\n+++ b/s/f\t1970-01-01 00:00:00 +0000\n")]
#[case::only_the_mode("a/s/f b/s/f\ndeleted file mode 100644\n")]
fn deletions_with_headers_that_agree(#[case] headers: &str) {
    let (files, _) = parse(&format!("diff --git {headers}@@ -1 +0,0 @@\n-a\n"));
    assert_eq!(files[0].path.as_deref(), Some("s/f"));
    assert!(matches!(files[0].action, Action::Delete { .. }));
}

#[test]
fn renames_of_names_with_spaces_and_in_the_old_spelling() {
    for headers in [
        "a/x b/x b/x b/x\nrename from x\nrename to x b/x b/x\n",
        "a/x b/x b/x b/x\nrename old x\nrename new x b/x b/x\n",
    ] {
        let files = parse_strictly(&format!("diff --git {headers}"));
        assert_eq!(files[0].path.as_deref(), Some("x"));
        assert!(matches!(&files[0].action, Action::Update { move_to: Some(to), .. } if to == "x b/x b/x"));
    }
}
