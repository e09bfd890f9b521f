use rstest::rstest;

use super::super::source::{Notes, Source};
use crate::hunk::{Hunk, Role};
use crate::{Action, Fault, FilePatch, Options, PatchError, Repair};

fn read_with(text: &str, options: Options) -> Result<(Vec<FilePatch>, Vec<Repair>), PatchError> {
    let mut notes = Notes::new(options.strict);
    let files = super::parse(&Source::new(text), options, &mut notes)?;
    Ok((files, notes.repairs))
}

fn read(text: &str) -> (Vec<FilePatch>, Vec<Repair>) {
    read_with(text, Options::default()).unwrap()
}

fn clean(text: &str) -> Vec<FilePatch> {
    read_with(text, Options { strict: true, strip: None }).unwrap().0
}

fn refused(text: &str) -> PatchError {
    read_with(text, Options::default()).unwrap_err()
}

/// The hunks of a file, one text per line: `=kept`, `-gone`, `+new`.
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
    let (files, repairs) = read(text);
    assert!(repairs.iter().any(|repair| repair.what.contains(about)), "{about}: {repairs:?}");
    let strict = read_with(text, Options { strict: true, strip: None }).unwrap_err();
    assert_eq!(strict.fault, Fault::Strict, "{strict}");
    files
}

const SIMPLE: &str = "--- a/f.txt\n+++ b/f.txt\n@@ -2,3 +2,3 @@ section\n a\n-b\n+c\n d\n";

#[test]
fn a_plain_diff_is_read() {
    let files = clean(SIMPLE);
    assert_eq!((files[0].path.as_deref(), files[0].line), (Some("f.txt"), 1));
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c", "=d"]]);
    assert_eq!((hunks(&files[0])[0].line, hunks(&files[0])[0].scopes.len()), (Some(2), 0));
}

#[test]
fn several_files_and_hunks_are_read() {
    let text = format!("{SIMPLE}@@ -9 +9 @@\n-x\n+y\n--- a/g.txt\n+++ b/g.txt\n@@ -1 +0,0 @@\n-only\n");
    let files = clean(&text);
    assert_eq!(files.len(), 2);
    assert_eq!(shown(&files[0]).len(), 2);
    assert_eq!((files[1].path.as_deref(), files[1].line), (Some("g.txt"), 11));
}

#[test]
fn a_zero_count_inserts_after_the_line() {
    let files = clean("--- a/f\n+++ b/f\n@@ -7,0 +8,2 @@\n+x\n+y\n");
    assert_eq!(hunks(&files[0])[0].line, Some(7));
    let (files, _) = read("--- a/f\n+++ b/f\n@@ -7,2 +8,2 @@\n+x\n+y\n");
    assert_eq!(hunks(&files[0])[0].line, None, "a number that cannot be right places nothing");
}

#[test]
fn git_headers_are_read() {
    let text = "diff --git a/old name.py b/new.py\nsimilarity index 90%\nrename from old name.py\nrename to new.py\n\
                index 1..2 100644\n--- a/old name.py\t\n+++ b/new.py\n@@ -1 +1 @@\n-a\n+b\n\
                diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n\
                diff --git a/empty b/empty\nnew file mode 100755\nindex 0..0\n\
                diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n";
    let files = clean(text);
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
    let files = clean(
        "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
    );
    assert_eq!(files[0].action, Action::Create { content: "x\ny".into(), executable: false });
    assert!(matches!(&files[1].action, Action::Delete { hunks, .. } if hunks.len() == 1));
    assert_eq!((files[0].path.as_deref(), files[1].path.as_deref()), (Some("n"), Some("o")));
}

#[test]
fn timestamps_of_no_time_create() {
    let files = clean(
        "--- n.c\t1970-01-01 00:00:00.000000000 +0000\n+++ n.c\t2024-05-05 10:00:00.000000000 +0000\n@@ -0,0 +1 @@\n+x\n",
    );
    assert_eq!(files[0].action, Action::Create { content: "x\n".into(), executable: false });
}

#[test]
fn dashes_inside_a_hunk_are_content_as_the_counts_say() {
    let text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new\n select 1\n";
    assert_eq!(shown(&clean(text)[0]), [["--- old comment", "+++ new", "=select 1"]]);
}

#[test]
fn headers_of_the_next_file_are_no_content_though_counts_reach_there() {
    let text = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n";
    let files = repaired(text, "recounted");
    assert_eq!(files.len(), 2);
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c"]]);
}

#[rstest]
#[case::too_few("@@ -1,1 +1,1 @@\n a\n-b\n+c\n d\n")]
#[case::too_many("@@ -1,9 +1,9 @@\n a\n-b\n+c\n d\n")]
#[case::one_side("@@ -1,3 +1,5 @@\n a\n-b\n+c\n d\n")]
fn wrong_counts_are_recounted(#[case] hunk: &str) {
    let files = repaired(&format!("--- a/f\n+++ b/f\n{hunk}"), "recounted");
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c", "=d"]]);
    assert_eq!(hunks(&files[0])[0].line, Some(1));
}

#[test]
fn changes_beyond_the_counts_and_a_blank_line_are_not_lost() {
    let files = repaired("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\n d\n-e\n", "recounted");
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c", "=", "=d", "-e"]]);
}

#[rstest]
#[case("@@")]
#[case("@@ ... @@")]
#[case("@@ fn main() {")]
fn bare_headers_leave_the_place_to_the_lines(#[case] header: &str) {
    let files =
        repaired(&format!("--- a/f\n+++ b/f\n{header}\n a\n-b\n\n+c\n{header}\n-x\n\n"), "no line numbers");
    assert_eq!(shown(&files[0]), [vec!["=a", "-b", "=", "+c"], vec!["-x"]]);
    assert_eq!(hunks(&files[0])[0].line, None);
}

#[test]
fn blank_context_may_lack_its_blank() {
    let files = repaired("--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n\n-b\n+c\n\n", "leading blank");
    assert_eq!(shown(&files[0]), [["=a", "=", "-b", "+c", "="]]);
}

#[test]
fn context_may_lack_its_prefix() {
    let files = repaired(
        "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\ndef f():\n    a\n-    b\n+    c\n    d\n",
        "at the start",
    );
    assert_eq!(shown(&files[0]), [["=def f():", "=   a", "-    b", "+    c", "=   d"]]);
    let second = hunks(&files[0])[0].alternative.as_ref().unwrap();
    assert_eq!(second[1].text, "    a");
}

#[test]
fn a_hunk_may_come_without_headers() {
    let files = repaired("@@ -1 +1 @@\n-a\n+b\n", "no `---` and `+++`");
    assert_eq!(files[0].path, None);
}

#[test]
fn one_header_is_enough() {
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
fn a_missing_newline_at_the_end_is_added() {
    assert_eq!(shown(&repaired(SIMPLE.trim_end(), "end in a newline")[0]), [["=a", "-b", "+c", "=d"]]);
}

#[rstest]
#[case::tagged("```diff\n", "```\n")]
#[case::plain("```\n", "```")]
#[case::tilde("~~~\n", "~~~\n")]
#[case::prose("Here is the change:\n\n```diff\n", "```\n\n- It works.\n- Really.\n")]
fn a_fence_is_left_out(#[case] before: &str, #[case] after: &str) {
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
fn hunks_of_a_second_fence_do_not_go_to_the_first_file() {
    let (files, _) =
        read(&format!("```diff\n{SIMPLE}```\nand in other.txt:\n```diff\n@@ -1 +1 @@\n-x\n+y\n```\n"));
    assert_eq!((files[0].path.as_deref(), files[1].path.as_deref()), (Some("f.txt"), None));
}

#[test]
fn a_fence_inside_the_hunk_is_not_guessed_about() {
    let text = "```diff\n--- a/f.md\n+++ b/f.md\n@@ -1,5 +1,5 @@\n a\n-b\n+c\n```\nx\n```\n d\n```\n";
    assert!(refused(text).message.contains("fence"));
}

#[test]
fn prose_after_a_clean_hunk_is_left_out() {
    let (files, _) = read(&format!("{SIMPLE}\nThis changes b:\n- it was wrong\n"));
    assert_eq!(shown(&files[0]), [["=a", "-b", "+c", "=d"]]);
    let (files, _) = read("--- a/f\n+++ b/f\n@@\n a\n-b\n c\n\nThat should do.\n");
    assert_eq!(shown(&files[0]), [["=a", "-b", "=c"]]);
}

#[test]
fn a_mail_signature_is_no_deletion() {
    assert_eq!(shown(&clean(&format!("{SIMPLE}-- \n2.47.0\n\n"))[0]), [["=a", "-b", "+c", "=d"]]);
}

#[test]
fn diffs_that_came_by_crlf_and_diffs_of_crlf_files_read_the_same() {
    let by_channel = clean(&SIMPLE.replace('\n', "\r\n"));
    assert_eq!(shown(&by_channel[0]), [["=a", "-b", "+c", "=d"]]);
    assert!(!by_channel[0].crlf);
    let of_file = clean("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n");
    assert_eq!(shown(&of_file[0]), [["=a", "-b", "+c"]]);
    assert!(of_file[0].crlf);
}

#[test]
fn a_new_file_keeps_its_carriage_returns() {
    let files = clean("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\r\n");
    assert_eq!(files[0].action, Action::Create { content: "a\r\n".into(), executable: false });
}

#[test]
fn prefixes_are_taken_off_only_as_a_pair() {
    let path = |old: &str, new: &str| {
        let (files, _) = read(&format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n"));
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
fn folders_are_taken_off_as_asked() {
    let options = Options { strict: true, strip: Some(2) };
    let text = "--- p/q/x\n+++ r/s/x\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(read_with(text, options).unwrap().0[0].path.as_deref(), Some("x"));
    assert!(read_with(text, Options { strip: Some(3), ..options }).is_err());
}

#[rstest]
#[case("GIT binary patch\n", "binary")]
#[case("diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n", "binary")]
#[case("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", "copies")]
#[case("diff --git a/x b/x\nnew file mode 120000\n", "symbolic link")]
#[case("diff --git a/x b/x\nnew file mode 160000\n", "submodule")]
#[case("diff --cc x\n@@@ -1,2 -1,2 +1,3 @@@\n", "combined")]
#[case("*** a/x\n--- b/x\n***************\n*** 1,2 ****\n", "context diff")]
fn what_cannot_be_done_is_refused_by_name(#[case] text: &str, #[case] name: &str) {
    let error = refused(text);
    assert_eq!(error.fault, Fault::Unsupported);
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
fn what_makes_no_sense_is_an_error(#[case] text: &str) {
    let error = refused(text);
    assert!(matches!(error.fault, Fault::Syntax | Fault::Format), "{error}");
    assert!(!error.hint.is_empty());
}

#[test]
fn paths_that_lead_out_are_refused() {
    for path in ["../x", "/etc/passwd", "a/../../x"] {
        let error = refused(&format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n"));
        assert_eq!((error.fault, error.line), (Fault::Path, 1));
    }
}
