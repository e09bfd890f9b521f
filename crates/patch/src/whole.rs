//! Whole files in an answer: each in a fence, below its path.

use super::PatchError;
use super::search_replace::{find_path_above, is_tag_fence};
use super::source::{Source, syntax_error};
use super::unified::opening_fence;

/// A file of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeFile {
    /// The file's path.
    pub path: String,
    /// The whole content.
    pub content: String,
    /// The line of the answer where its fence begins, from 1.
    pub line: usize,
}

const HINT: &str = "Write the path on its own line, directly above a fence around the whole file.";

const LONGER: &str = "Put four backticks around files that contain three.";

const APART: &str = "Put a blank line between two files, and four backticks around files that contain three.";

/// The whole files of an answer. Fences without a path are ignored.
///
/// # Errors
/// If the fence around a file does not end, which an answer that was cut off looks like.
pub fn whole_files(text: &str) -> Result<Vec<WholeFile>, PatchError> {
    let source = Source::new(text);
    let mut files = Vec::new();
    let mut previous_end = 0;
    let mut at = 0;
    while at < source.len() {
        let Some(close) = closing_fence(source.trimmed(at)) else {
            at += 1;
            continue;
        };
        let path = find_path_above(&source, at + 1, previous_end);
        // The content may have fences of its own. One that is indented or has other marks does not end the file.
        let end = (at + 1..source.len()).find(|&end| source.trimmed(end) == close);
        match (path, end) {
            // The lines between two fences inside a file look like a path too. Between two files there is a blank line.
            (Some(_), _) if !files.is_empty() && !has_blank(&source, previous_end, at) => {
                return Err(syntax_error(at, "it is ambiguous where the file above this fence ends", APART));
            }
            (Some(path), Some(end)) => {
                let inner = (at + 1..end)
                    .find(|&inner| closing_fence(source.trimmed(inner)).as_ref() == Some(&close));
                if let Some(inner) = inner {
                    let message =
                        format!("it is ambiguous where `{path}` ends, because a fence begins inside it");
                    return Err(syntax_error(inner, message, LONGER));
                }
                let content: String =
                    source.slice(at + 1, end).iter().flat_map(|line| [*line, "\n"]).collect();
                files.push(WholeFile { path, content, line: at + 1 });
                previous_end = end + 1;
                at = end + 1;
            }
            (Some(path), None) => {
                return Err(syntax_error(at, format!("the fence around `{path}` does not end"), HINT));
            }
            // If the file before it has a fence of its own, this is where that one ends.
            (None, _) if !files.is_empty() && source.trimmed(at) == close => {
                return Err(syntax_error(at, "it is ambiguous where the file above this fence ends", LONGER));
            }
            (None, Some(end)) => at = end + 1,
            (None, None) => at += 1,
        }
    }
    Ok(files)
}

fn has_blank(source: &Source<'_>, start: usize, end: usize) -> bool {
    source.slice(start, end).iter().any(|line| line.trim().is_empty())
}

/// The line that ends the fence which a line begins.
fn closing_fence(line: &str) -> Option<String> {
    if let Some(tag) = is_tag_fence(line) {
        return Some(format!("</{tag}>"));
    }
    opening_fence(line).filter(|fence| line.starts_with(fence)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn found(text: &str) -> Vec<(String, String)> {
        whole_files(text).unwrap().into_iter().map(|file| (file.path, file.content)).collect()
    }

    #[rstest]
    #[case("src/a.py\n```python\nx = 1\n```\n", &[("src/a.py", "x = 1\n")])]
    #[case("Here:\n\n**src/a.py**\n```\nx\n\ny\n```\nDone.\n\n`b.md`\n````md\n```\ncode\n```\n````\n",
           &[("src/a.py", "x\n\ny\n"), ("b.md", "```\ncode\n```\n")])]
    #[case("a.py\n<source>\nx\n</source>\n", &[("a.py", "x\n")])]
    #[case("Run this:\n```sh\nmake\n```\na.py\n```\nx\n```\n", &[("a.py", "x\n")])]
    #[case("empty.txt\n```\n```\n", &[("empty.txt", "")])]
    #[case("no files here\n", &[])]
    fn finds_whole_files(#[case] text: &str, #[case] want: &[(&str, &str)]) {
        let want: Vec<(String, String)> =
            want.iter().map(|(path, content)| (path.to_string(), content.to_string())).collect();
        assert_eq!(found(text), want);
    }

    #[rstest]
    #[case("a.md\n```\nx\n```sh\nmake\n```\ny\n```\n", 4)]
    #[case("a.md\n```\nx\n```\nmake\n```\ny\n```\n", 6)]
    fn a_file_with_fences_of_its_own_needs_longer_ones(#[case] text: &str, #[case] line: usize) {
        let error = whole_files(text).unwrap_err();
        assert!(error.message.contains("ambiguous") && error.hint.contains("four backticks"), "{error}");
        assert_eq!(error.line, line);
        let longer = text.replacen("```\n", "````\n", 1);
        let longer = format!("{}````\n", longer.strip_suffix("```\n").unwrap());
        assert_eq!(found(&longer)[0].0, "a.md");
    }

    #[test]
    fn a_file_that_was_cut_off_is_refused() {
        let error = whole_files("a.py\n```\nx = 1\n").unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (2, "the fence around `a.py` does not end"));
    }
}
