use rstest::rstest;

use super::super::source::{Notes, Source};
use crate::{Action, Fault, FilePatch, PatchError};

fn read_with(text: &str, strict: bool) -> Result<Vec<FilePatch>, PatchError> {
    super::parse(&Source::new(text), &mut Notes::new(strict))
}

fn clean(text: &str) -> Vec<FilePatch> {
    read_with(text, true).unwrap()
}

/// Every block, with its file.
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
fn markers_come_in_variants(#[case] open: &str, #[case] divide: &str, #[case] close: &str) {
    let files = clean(&format!("a.py\n{open}\nx\n  y\n{divide}\nz\n{close}\n"));
    assert_eq!(blocks(&files), [(Some("a.py"), "x\n  y\n", "z\n")]);
}

#[test]
fn the_name_is_carried_to_the_next_block() {
    let text = "a.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n\nAnd further down:\n\n```python\n\
                <<<<<<< SEARCH\np\n=======\n>>>>>>> REPLACE\n```\n\n`b.py`\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n";
    let files = clean(text);
    assert_eq!(
        blocks(&files),
        [(Some("a.py"), "x\n", "y\n"), (Some("a.py"), "p\n", ""), (Some("b.py"), "", "new\n")]
    );
    assert_eq!(files.iter().map(|file| file.line).collect::<Vec<_>>(), [3, 13, 20]);
}

#[test]
fn no_name_is_no_file() {
    assert_eq!(blocks(&clean("<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE"))[0].0, None);
}

#[rstest]
#[case(":start_line:12\n-------\nx\n", Some(12), "x\n")]
#[case(":start_line: 12\n:end_line:14\n-------\nx\n", Some(12), "x\n")]
#[case(":start_line:12\nx\n", Some(12), "x\n")]
#[case("-------\nx\n", None, "-------\nx\n")]
#[case(":start_line:0\n-------\nx\n", None, "x\n")]
#[case(":start_line:x\n", None, ":start_line:x\n")]
fn hints_say_where(#[case] top: &str, #[case] line: Option<usize>, #[case] search: &str) {
    let files = clean(&format!("a\n<<<<<<< SEARCH\n{top}=======\ny\n>>>>>>> REPLACE\n"));
    let Action::Replace { blocks } = &files[0].action else { panic!() };
    assert_eq!((blocks[0].start_line, blocks[0].search.as_str()), (line, search));
}

#[test]
fn escaped_markers_are_content() {
    let text =
        "a\n<<<<<<< SEARCH\n\\<<<<<<< HEAD\nx\n\\=======\ny\n\\>>>>>>> branch\n=======\nx\n>>>>>>> REPLACE\n";
    assert_eq!(blocks(&clean(text)), [(Some("a"), "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> branch\n", "x\n")]);
}

#[test]
fn markers_of_another_width_are_content_if_the_blocks_own_are_whole() {
    let text =
        "a\n<<<<<<<<< SEARCH\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> branch\n=========\nx\n>>>>>>>>> REPLACE\n";
    assert_eq!(blocks(&clean(text)), [(Some("a"), "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> branch\n", "x\n")]);
    let heading = "a\n<<<<<<< SEARCH\nTitle\n=====\n=======\nTitel\n=====\n>>>>>>> REPLACE\n";
    assert_eq!(blocks(&clean(heading)), [(Some("a"), "Title\n=====\n", "Titel\n=====\n")]);
}

#[test]
fn uneven_markers_are_repaired() {
    let text = "a\n<<<<<<< SEARCH\nx\n======\ny\n>>>>>> REPLACE\n";
    assert_eq!(blocks(&read_with(text, false).unwrap()), [(Some("a"), "x\n", "y\n")]);
    assert_eq!(read_with(text, true).unwrap_err().fault, Fault::Strict);
}

#[rstest]
#[case::two_divides("a\n<<<<<<< SEARCH\nx\n=======\ny\n=======\nz\n>>>>>>> REPLACE\n", "lines 4 and 6")]
#[case::nested(
    "a\n<<<<<<< SEARCH\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n=======\nz\n>>>>>>> REPLACE\n",
    "another block"
)]
#[case::open("a\n<<<<<<< SEARCH\nx\n=======\ny\n", "no `>>>>>>> REPLACE`")]
#[case::undivided("a\n<<<<<<< SEARCH\nx\n>>>>>>> REPLACE\n", "no `=======`")]
#[case::only_end("a\nx\n=======\ny\n>>>>>>> REPLACE\n", "is missing")]
#[case::number(
    "a\n<<<<<<< SEARCH\n:start_line:99999999999999999999\nx\n=======\n>>>>>>> REPLACE\n",
    "not a line number"
)]
#[case::nothing("hello\n", "no `<<<<<<< SEARCH`")]
fn what_is_not_certain_is_refused(#[case] text: &str, #[case] about: &str) {
    let error = read_with(text, false).unwrap_err();
    assert!(error.message.contains(about), "{error}");
    assert!(!error.hint.is_empty());
}
