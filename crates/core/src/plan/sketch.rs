//! Code with lines left out.

use slipstitch_text::canonical;

/// Comment markers that may precede the dots.
const COMMENT_MARKERS: &[&str] = &[
    "//", "#", "--", ";", "/*", "<!--", "%", "*", "{/*", "\"\"\"", "(*", "{-", "{#", "<%--", "@*", "'",
    "REM ",
];

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

/// Whether a line is a comment that starts with dots.
pub(crate) fn is_elided_comment(line: &str) -> bool {
    let line = line.trim();
    let comment = COMMENT_MARKERS.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim_start);
    let is_elision =
        |body: &str| (body.starts_with("...") || body.starts_with('…')) && body.len() <= MAX_ELISION_BYTES;
    comment.is_some_and(is_elision)
}
