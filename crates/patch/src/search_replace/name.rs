//! Finds the file's path above a block, in the forms that models write it.

use super::super::source::Source;
use super::super::unified::opening_fence;

/// Finds the path between the line `start` and the block at `open`: directly above the block, above
/// the fence around it, or on the fence's line.
pub(crate) fn find_above(source: &Source<'_>, open: usize, start: usize) -> Option<String> {
    let mut fences = 0;
    let mut blanks = 0;
    for at in (start..open).rev() {
        let line = source.trimmed(at);
        if line.trim().is_empty() {
            blanks += 1;
            if blanks > 2 {
                return None;
            }
        } else if let Some(fence) = opening_fence(line) {
            if fences > 0 {
                return None;
            }
            fences += 1;
            let info = &line.trim_start()[fence.len()..];
            if let Some(path) = from_info(info) {
                return Some(path.to_owned());
            }
        } else if is_tag_fence(line).is_some() {
            if fences > 0 {
                return None;
            }
            fences += 1;
        } else {
            return from_line(line, blanks == 0).map(str::to_owned);
        }
    }
    None
}

/// The tag of a line that begins a fence made of tags, for models that cannot write backticks reliably.
pub(crate) fn is_tag_fence(line: &str) -> Option<&str> {
    let tag = line.trim().strip_prefix('<')?.strip_suffix('>')?;
    ["source", "code", "pre", "codeblock", "sourcecode"].contains(&tag).then_some(tag)
}

/// The path in a fence's info string: `python src/a.py`, `python:src/a.py`, `src/a.py`.
fn from_info(info: &str) -> Option<&str> {
    let ends_word = |c: char| c.is_whitespace() || matches!(c, ':' | '=' | '"' | '\'' | '{' | '}' | ',');
    info.split(ends_word).rfind(|word| is_pathlike(word))
}

/// The path on a separate line. Without a label or quotes it must look like a path.
fn from_line(line: &str, adjacent: bool) -> Option<&str> {
    let line = line.trim();
    let plain = line.trim_start_matches(['#', '*', '-', '>', ' ']).trim();
    let (labelled, plain) = strip_label(plain.trim_end_matches(['*', ' ']));
    let plain = plain.trim().trim_end_matches(':').trim_end_matches('*').trim();
    let quoted =
        plain.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).filter(|inner| !inner.contains('`'));
    let heading = line.starts_with('#') || line.starts_with("**");
    match quoted.map(str::trim) {
        Some(path) if !path.is_empty() => Some(path),
        _ if plain.is_empty() || plain.contains('`') => None,
        _ if labelled => Some(plain),
        _ if plain.contains(char::is_whitespace) => {
            (heading && is_pathlike(plain) && !is_sentence(plain)).then_some(plain)
        }
        _ => (is_pathlike(plain) || adjacent && is_word(plain)).then_some(plain),
    }
}

/// Strips `File:` or a similar label, and returns whether there was one.
fn strip_label(line: &str) -> (bool, &str) {
    let labels = ["file:", "filename:", "file name:", "file path:", "filepath:", "path:"];
    let label = labels
        .iter()
        .find(|label| line.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label)));
    match label {
        Some(label) => (true, line[label.len()..].trim_start_matches(['*', ' '])),
        None => (false, line),
    }
}

/// Whether a text looks like a path: it has a folder or an extension.
fn is_pathlike(text: &str) -> bool {
    let Some(last) = text.rsplit('/').next() else { return false };
    let extension = last.rsplit_once('.').is_some_and(|(_, end)| {
        (1..=12).contains(&end.len())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte))
    });
    !last.is_empty() && (extension || text.contains('/')) && !text.ends_with(['.', '!', '?', ','])
}

/// Whether a text with spaces looks like prose.
fn is_sentence(text: &str) -> bool {
    text.split_whitespace().count() > 4
}

/// Whether a single word could be a file without an extension: `Makefile`, `LICENSE`.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'))
        && !text.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("src/a.py\n", Some("src/a.py"))]
    #[case("Makefile\n", Some("Makefile"))]
    #[case("`src/a.py`\n", Some("src/a.py"))]
    #[case("`my file.txt`:\n", Some("my file.txt"))]
    #[case("src/a.py:\n", Some("src/a.py"))]
    #[case("### src/a.py\n", Some("src/a.py"))]
    #[case("### `src/a.py`\n", Some("src/a.py"))]
    #[case("**src/a.py**\n", Some("src/a.py"))]
    #[case("**src/a.py:**\n", Some("src/a.py"))]
    #[case("File: my file\n", Some("my file"))]
    #[case("**File:** src/a.py\n", Some("src/a.py"))]
    #[case("src/a.py\n```python\n", Some("src/a.py"))]
    #[case("src/a.py\n\n```python\n", Some("src/a.py"))]
    #[case("src/a.py\n<source>\n", Some("src/a.py"))]
    #[case("<source>\nsrc/a.py\n", Some("src/a.py"))]
    #[case("src/a.py\n<div>\n", None)]
    #[case("```python src/a.py\n", Some("src/a.py"))]
    #[case("```python:src/a.py\n", Some("src/a.py"))]
    #[case("```a.py\n", Some("a.py"))]
    #[case("```python title=\"src/a.py\"\n", Some("src/a.py"))]
    #[case("other.py\n```\nx\n```\n\n```python\n", None)]
    #[case("Now the second one:\n", None)]
    #[case("Then change main.py as follows:\n", None)]
    #[case("Done.\n", None)]
    #[case("Done\n\n", None)]
    #[case("```python\n", None)]
    #[case("", None)]
    fn finds_paths_above_the_block(#[case] text: &str, #[case] name: Option<&str>) {
        let source = Source::new(text);
        assert_eq!(find_above(&source, source.len(), 0).as_deref(), name);
    }

    #[test]
    fn ignores_the_previous_block() {
        let source = Source::new("a.py\n>>>>>>> REPLACE\n");
        assert_eq!(find_above(&source, 2, 2), None);
    }
}
