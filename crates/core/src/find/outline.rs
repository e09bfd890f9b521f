//! Finds the lines that a change is under by the layout of the request, whatever the language: a line that is less deep than
//! the change and above it, or a title.
//!
//! [`heading`](super::heading) knows how many languages name an item, but never all of them. `Host alpha` in the settings of
//! SSH, `let load x =`, `\section{Use}` and `<bean id="a">` say just as much about the place as `def load(x):`, and layout
//! shows it: the lines that belong to them are deeper, or they are underlined, or stand alone as a comment.

use super::alignment::indent;
use super::heading::{block_name, is_comment, is_complete, names_item, opens_block};
use super::script::{Role, Row, Script};
use super::search_index::SearchIndex;

/// Context lines of a script that say which block its changes are in.
pub(super) struct EnclosingRows(Vec<bool>);

impl EnclosingRows {
    pub(super) fn contains(&self, row: usize) -> bool {
        self.0[row]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len()).filter(|&row| self.0[row])
    }
}

/// The context lines that enclose a change, each one less deep than the next, and the nearest title above it.
pub(super) fn rows_around_changes(script: &Script) -> EnclosingRows {
    let rows = &script.rows;
    let width = |row: usize| indent(&rows[row].text).len();
    let mut is_found = vec![false; rows.len()];
    let mut enclosing: Vec<usize> = Vec::new();
    let mut title = None;
    let mut start = 0;
    for run in rows.chunk_by(|a, b| (a.role == Role::Context) == (b.role == Role::Context)) {
        let run = start..start + run.len();
        start = run.end;
        if rows[run.start].role != Role::Context
            && let Some(depth) = run.clone().filter(|&row| !rows[row].blank).map(width).min()
        {
            // What encloses a line that is already found is found too.
            let around = enclosing.iter().rev().filter(|&&row| width(row) < depth);
            let new: Vec<usize> = around.copied().take_while(|&row| !is_found[row]).collect();
            new.into_iter().chain(title).for_each(|row| is_found[row] = true);
        }
        for row in run.filter(|&row| rows[row].is_old() && !rows[row].blank) {
            match is_title(rows, row) {
                true => title = Some(row),
                // `[package]` below a comment says more about the place.
                false if names_item(&rows[row].text) => title = None,
                false => {}
            }
            if !is_part_of_layout(&rows[row].text) {
                enclosing.truncate(enclosing.partition_point(|&other| width(other) < width(row)));
                enclosing.push(row);
            }
        }
    }
    is_found.iter_mut().zip(rows).for_each(|(is_found, row)| *is_found &= row.role == Role::Context);
    EnclosingRows(is_found)
}

/// The line that names the innermost item around `line`, which follows the lines `above`: `def send(self, part):` for a line of
/// its body. For people: it would rather find nothing than the wrong item.
pub fn enclosing_item<'a>(above: &[&'a str], line: &str) -> Option<&'a str> {
    let mut depth = indent(line).len();
    for line in above.iter().rev().filter(|line| !line.trim().is_empty()) {
        let (width, text) = (indent(line).len(), line.trim());
        // `[section]` and `## Title` are followed by lines of the same depth.
        let is_section = width == depth && text.starts_with(['[', '#', '\\']) && !opens_block(text);
        if (width < depth || is_section) && names_item(text) && !is_complete(text) {
            return Some(text);
        }
        // The end of a heading over several lines, `) -> Self {`, is no deeper than its beginning.
        if !text.starts_with([')', ']', '{']) && !is_comment(text) {
            depth = depth.min(width);
        }
    }
    None
}

/// Whether a line of the file encloses another one below it, or is underlined.
pub(super) fn encloses(index: &SearchIndex<'_>, at: usize, below: usize) -> bool {
    let depth = indent(&index.text(at)).len();
    let is_deeper = |line: usize| {
        let text = index.text(line);
        indent(&text).len() > depth || is_part_of_layout(&text)
    };
    let is_title = || at + 1 < index.len() && is_underline(index.text(at + 1).trim());
    at <= below && (is_title() || (at + 1..=below).all(is_deeper))
}

/// The row of a script that shows where its first change is: the first of the rows from the change on that is paired with a line,
/// or else the last one above it.
pub(super) fn row_at_change(script: &Script, is_paired: impl Fn(usize) -> bool) -> Option<usize> {
    let change = script.first_change();
    (change..script.rows.len())
        .find(|&row| is_paired(row))
        .or_else(|| (0..change).rev().find(|&row| is_paired(row)))
}

/// Whether a line says nothing about the block that it is in: a comment, a directive of a preprocessor, the end of a block, the
/// line below a title.
fn is_part_of_layout(line: &str) -> bool {
    let line = line.trim();
    let is_end = line.starts_with(['}', ')', ']']) && block_name(line).is_none() && !line.ends_with('{');
    let is_directive = line.starts_with('#') && !line.ends_with('\\');
    is_comment(line) || is_directive || is_end || is_underline(line)
}

/// Whether a row is a title: underlined, or a comment that a blank line separates from what follows.
fn is_title(rows: &[Row], row: usize) -> bool {
    let Some(below) = rows.get(row + 1).filter(|_| !rows[row].blank && rows[row].is_old()) else {
        return false;
    };
    let is_underlined = is_underline(below.text.trim()) && !is_underline(rows[row].text.trim());
    is_underlined
        || (below.blank && is_comment(&rows[row].text) && rows[row].text.contains(char::is_alphanumeric))
}

/// Whether a line consists of one mark that is repeated, as below a title.
fn is_underline(line: &str) -> bool {
    const MARKS: &[char] = &['=', '-', '~', '^', '*', '+', '#', '_'];
    line.len() >= 3 && MARKS.iter().any(|&mark| line.chars().all(|c| c == mark))
}

/// Whether the line at a position of the file starts the paragraph that a row of the request is in, a change is in that
/// paragraph, and another paragraph starts in the same way, or the request starts there too and names something else. Such a
/// line is all that tells apart stages of a Dockerfile, entries of a catalogue or rows of a table.
pub(super) fn tells_paragraphs_apart(
    script: &Script,
    row: usize,
    at: usize,
    index: &SearchIndex<'_>,
) -> bool {
    let below = &script.rows[row + 1..];
    let has_change = below.iter().take_while(|row| !row.blank).any(|row| row.role != Role::Context);
    let is_first = |at: usize| at == 0 || index.line_number(at - 1) + 1 < index.line_number(at);
    let text = index.text(at);
    let first_word = |line: &str| -> Option<String> { line.split_whitespace().next().map(str::to_owned) };
    let word = first_word(&text);
    let is_alike = |other: usize| other != at && is_first(other) && first_word(&index.text(other)) == word;
    let starts_request = || script.rows[..row].iter().all(|row| row.blank || !row.is_old());
    // `retries = 3` and `retries = 5` are about the same thing.
    let names_another = || starts_request() && block_name(&script.rows[row].text) != block_name(&text);
    has_change && !is_comment(&text) && is_first(at) && (names_another() || (0..index.len()).any(is_alike))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::by_depth("Host a\n    Port 1\n", "Host a\n    Port 2\n", &["Host a"])]
    #[case::nested("a\n  b\n    c\n", "a\n  b\n    d\n", &["a", "  b"])]
    #[case::siblings("a\n  b\n  c\n", "a\n  b\n  d\n", &["a"])]
    #[case::directives("f\n#if A\n    b\n", "f\n#if A\n    c\n", &["f"])]
    #[case::underlined("Title\n=====\ntext\n", "Title\n=====\nother\n", &["Title"])]
    #[case::comment_alone("# Title\n\ntext\n", "# Title\n\nother\n", &["# Title"])]
    #[case::comment_above_a_name("# Title\n\n[a]\ntext\n", "# Title\n\n[a]\nother\n", &[])]
    #[case::comment("# why\ntext\n", "# why\nother\n", &[])]
    #[case::two_changes("a\n  b\nc\n  d\n", "a\n  x\nc\n  y\n", &["a", "c"])]
    fn finds_the_lines_that_a_change_is_under(
        #[case] old: &str,
        #[case] new: &str,
        #[case] expected: &[&str],
    ) {
        let script = Script::of_snippet(old, new);
        let rows = rows_around_changes(&script);
        let found: Vec<&str> = rows.iter().map(|row| script.rows[row].text.as_str()).collect();
        assert_eq!(found, expected);
    }

    // The line in question ends with `<`.
    #[rstest]
    #[case("class A:\n    def send(self):\n        a = 1\n        b = 2 <\n", Some("def send(self):"))]
    #[case("class A:\n    def send(self): <\n        a = 1\n", Some("class A:"))]
    #[case("def f():\n    pass\n\nx = 1 <\n", None)]
    #[case("impl A {\n    fn f(\n        a: u8,\n    ) -> u8 {\n        a <\n    }\n}\n", Some("fn f("))]
    #[case("fn f() {}\nfn g() {\n    if a {\n        b();\n    }\n    c(); <\n}\n", Some("fn g() {"))]
    #[case("[a]\nx = 1\n\n[b]\n# y\ny = 2 <\n", Some("[b]"))]
    #[case("## Use\n\ntext <\n", Some("## Use"))]
    #[case("one\n    two <\n", None)]
    #[case("a <", None)]
    fn the_innermost_item_is_named(#[case] text: &str, #[case] expected: Option<&str>) {
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| line.ends_with('<')).unwrap();
        assert_eq!(enclosing_item(&lines[..at], lines[at]), expected);
    }
}
