use rstest::rstest;

use super::super::source::{Notes, Source};
use crate::{Action, FilePatch, PatchError, PatchErrorKind};

fn parse_with(text: &str, strict: bool) -> Result<Vec<FilePatch>, PatchError> {
    super::parse(&Source::new(text), &mut Notes::new(strict))
}

fn parse_strictly(text: &str) -> Vec<FilePatch> {
    parse_with(text, true).unwrap()
}

/// The first block of every entry, with its path.
fn blocks(files: &[FilePatch]) -> Vec<(Option<&str>, &str, &str)> {
    files
        .iter()
        .map(|file| {
            let Action::Replace { blocks } = &file.action else { panic!("{file:?}") };
            (file.path.as_deref(), blocks[0].search.as_str(), blocks[0].replace.as_str())
        })
        .collect()
}

#[rstest]
#[case("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE")]
#[case("<<<<< SEARCH", "=====", ">>>>> REPLACE")]
#[case("<<<<<<<<< SEARCH", "=========", ">>>>>>>>> REPLACE")]
#[case("<<<<<<< ORIGINAL", "=======", ">>>>>>> UPDATED")]
#[case("<<<<<<< HEAD", "=======", ">>>>>>> branch")]
#[case("<<<<<<<", "=======", ">>>>>>>")]
#[case("------- SEARCH", "=======", "+++++++ REPLACE")]
#[case("--- SEARCH", "===", "+++ REPLACE")]
#[case("<<<< SEARCH", "====", ">>>> REPLACE")]
fn accepts_marker_variants(#[case] open: &str, #[case] divide: &str, #[case] close: &str) {
    let files = parse_strictly(&format!("a.py\n{open}\nx\n  y\n{divide}\nz\n{close}\n"));
    assert_eq!(blocks(&files), [(Some("a.py"), "x\n  y\n", "z\n")]);
}

#[test]
fn a_path_applies_to_the_following_blocks() {
    let text = "a.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n\nAnd further down:\n\n```python\n\
                <<<<<<< SEARCH\np\n=======\n>>>>>>> REPLACE\n```\n\n`b.py`\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n";
    let files = parse_strictly(text);
    assert_eq!(
        blocks(&files),
        [(Some("a.py"), "x\n", "y\n"), (Some("a.py"), "p\n", ""), (Some("b.py"), "", "new\n")]
    );
    assert_eq!(files.iter().map(|file| file.line).collect::<Vec<_>>(), [3, 13, 20]);
}

#[test]
fn a_block_without_a_path_has_none() {
    assert_eq!(blocks(&parse_strictly("<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE"))[0].0, None);
}

#[rstest]
#[case(":start_line:12\n-------\nx\n", Some(12), "x\n")]
#[case(":start_line: 12\n:end_line:14\n-------\nx\n", Some(12), "x\n")]
#[case(":start_line:12\nx\n", Some(12), "x\n")]
#[case("-------\nx\n", None, "-------\nx\n")]
#[case(":start_line:0\n-------\nx\n", None, "x\n")]
#[case(":start_line:x\n", None, ":start_line:x\n")]
fn parses_line_hints(#[case] top: &str, #[case] line: Option<usize>, #[case] search: &str) {
    let files = parse_strictly(&format!("a\n<<<<<<< SEARCH\n{top}=======\ny\n>>>>>>> REPLACE\n"));
    let Action::Replace { blocks } = &files[0].action else { panic!() };
    assert_eq!((blocks[0].start_line, blocks[0].search.as_str()), (line, search));
}

#[test]
fn treats_escaped_markers_as_content() {
    let text =
        "a\n<<<<<<< SEARCH\n\\<<<<<<< HEAD\nx\n\\=======\ny\n\\>>>>>>> branch\n=======\nx\n>>>>>>> REPLACE\n";
    assert_eq!(
        blocks(&parse_strictly(text)),
        [(Some("a"), "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> branch\n", "x\n")]
    );
}

#[test]
fn treats_markers_of_another_width_as_content_if_the_block_is_complete() {
    let text =
        "a\n<<<<<<<<< SEARCH\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> branch\n=========\nx\n>>>>>>>>> REPLACE\n";
    assert_eq!(
        blocks(&parse_strictly(text)),
        [(Some("a"), "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> branch\n", "x\n")]
    );
    let heading = "a\n<<<<<<< SEARCH\nTitle\n=====\n=======\nTitel\n=====\n>>>>>>> REPLACE\n";
    assert_eq!(blocks(&parse_strictly(heading)), [(Some("a"), "Title\n=====\n", "Titel\n=====\n")]);
}

#[test]
fn an_underlined_heading_is_no_divider_in_a_block_of_another_width() {
    for underline in ["===", "===="] {
        let text =
            format!("a\n<<<<<<< SEARCH\nTitle\n{underline}\n======\nTitel\n{underline}\n>>>>>>> REPLACE\n");
        let (old, new) = (format!("Title\n{underline}\n"), format!("Titel\n{underline}\n"));
        assert_eq!(blocks(&parse_with(&text, false).unwrap()), [(Some("a"), &old[..], &new[..])]);
    }
}

#[test]
fn repairs_markers_of_uneven_width() {
    let text = "a\n<<<<<<< SEARCH\nx\n======\ny\n>>>>>> REPLACE\n";
    assert_eq!(blocks(&parse_with(text, false).unwrap()), [(Some("a"), "x\n", "y\n")]);
    assert_eq!(parse_with(text, true).unwrap_err().kind, PatchErrorKind::Strict);
}

#[rstest]
#[case::two_dividers("a\n<<<<<<< SEARCH\nx\n=======\ny\n=======\nz\n>>>>>>> REPLACE\n", "lines 4 and 6")]
#[case::nested(
    "a\n<<<<<<< SEARCH\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n=======\nz\n>>>>>>> REPLACE\n",
    "another block"
)]
#[case::open("a\n<<<<<<< SEARCH\nx\n=======\ny\n", "no `>>>>>>> REPLACE`")]
#[case::no_divider("a\n<<<<<<< SEARCH\nx\n>>>>>>> REPLACE\n", "no `=======`")]
#[case::only_end("a\nx\n=======\ny\n>>>>>>> REPLACE\n", "has no `<<<<<<< SEARCH`")]
#[case::number(
    "a\n<<<<<<< SEARCH\n:start_line:99999999999999999999\nx\n=======\n>>>>>>> REPLACE\n",
    "not a line number"
)]
#[case::nothing("hello\n", "no `<<<<<<< SEARCH`")]
fn rejects_incomplete_or_ambiguous_blocks(#[case] text: &str, #[case] about: &str) {
    let error = parse_with(text, false).unwrap_err();
    assert!(error.message.contains(about), "{error}");
    assert!(!error.hint.is_empty());
}

#[test]
fn drops_a_block_that_changes_nothing() {
    let text =
        "a\n<<<<<<< SEARCH\nx\n=======\nx\n>>>>>>> REPLACE\n<<<<<<< SEARCH\ny\n=======\nz\n>>>>>>> REPLACE\n";
    let patch = crate::parse(text, None, crate::ParseOptions::default()).unwrap();
    assert_eq!(blocks(&patch.files), [(Some("a"), "y\n", "z\n")]);
    assert_eq!((patch.repairs[0].line, patch.repairs.len()), (2, 1));
    let strict = crate::ParseOptions::STRICT;
    assert_eq!(crate::parse(text, None, strict).unwrap_err().kind, PatchErrorKind::Strict);
    let only = crate::parse(&text[..text.len() / 2], None, strict).unwrap();
    assert_eq!(blocks(&only.files), [(Some("a"), "x\n", "x\n")]);
}
