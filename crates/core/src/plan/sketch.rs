//! Code with lines left out.

use slipstitch_text::canonical;

/// Comment markers that may precede the dots.
const COMMENT_MARKERS: &[&str] = &[
    "//", "#", "--", ";", "/*", "<!--", "%", "*", "{/*", "\"\"\"", "(*", "{-", "{#", "<%--", "@*", "'",
    "REM ",
];

/// Words of comments that stand for lines left out, as in `// ... rest of the code unchanged ...`.
const ELISION_WORDS: &[&str] = &[
    "above",
    "all",
    "and",
    "are",
    "as",
    "before",
    "below",
    "body",
    "class",
    "code",
    "content",
    "contents",
    "else",
    "everything",
    "existing",
    "fields",
    "file",
    "function",
    "functions",
    "goes",
    "here",
    "implementation",
    "imports",
    "in",
    "is",
    "keep",
    "kept",
    "lines",
    "method",
    "methods",
    "more",
    "no",
    "not",
    "of",
    "omitted",
    "original",
    "other",
    "previous",
    "remain",
    "remaining",
    "remains",
    "rest",
    "same",
    "shown",
    "stay",
    "stays",
    "tests",
    "the",
    "this",
    "unchanged",
    "unmodified",
];

/// Ends of comments in languages that have them.
const COMMENT_ENDS: &[&str] = &["*/}", "*/", "-->", "--%>", "*)", "-}", "#}", "*@"];

/// A longer comment that starts with dots is prose.
const MAX_ELISION_BYTES: usize = 80;

/// Code in which a comment such as `// ...existing code...` stands for lines that stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch(String);

impl Sketch {
    /// A sketch with this text.
    pub fn new(code: &str) -> Self {
        Self(canonical(code).into_owned())
    }

    /// The text, with LF line endings.
    pub fn code(&self) -> &str {
        &self.0
    }

    /// Whether nothing is left out.
    pub fn is_complete(&self) -> bool {
        !self.0.lines().any(is_elided_comment)
    }

    /// The text without the comments that stand for other lines.
    pub fn written_lines(&self) -> String {
        self.0.split_inclusive('\n').filter(|line| !is_elided_comment(line)).collect()
    }
}

/// Whether a line can only stand for lines left out: a comment of dots, alone or with words that say so. A string such as `'...'`
/// and a comment such as `# ... and then retry` may be text to write.
pub(crate) fn is_certain_elision(line: &str) -> bool {
    let line = line.trim();
    let is_text_mark = |mark: &&&str| matches!(**mark, "'" | "\"\"\"" | "*");
    let marks = COMMENT_MARKERS.iter().filter(|mark| !is_text_mark(mark));
    let Some(body) = marks.filter_map(|mark| line.strip_prefix(mark)).next() else { return false };
    let body = COMMENT_ENDS.iter().find_map(|end| body.strip_suffix(end)).unwrap_or(body).trim();
    let mut words = body.split(|c: char| c.is_whitespace() || matches!(c, '.' | '…' | ',' | '(' | ')'));
    let is_known = |word: &str| word.is_empty() || ELISION_WORDS.contains(&word.to_lowercase().as_str());
    (body.starts_with("...") || body.starts_with('…')) && words.all(is_known)
}

/// Whether a line is a comment that starts with dots.
pub(crate) fn is_elided_comment(line: &str) -> bool {
    let line = line.trim();
    let comment = COMMENT_MARKERS.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim_start);
    let is_elision =
        |body: &str| (body.starts_with("...") || body.starts_with('…')) && body.len() <= MAX_ELISION_BYTES;
    comment.is_some_and(is_elision)
}
