//! Where the lines of a block comment start: one below the other, whatever their depth.
//!
//! ` * @param` is one column deeper than `/**`, which is no level of indentation. So it is not mapped like other lines, but
//! takes its place from the comment that it continues.

use super::alignment::indent;

/// A block comment that is open at some line of the new text, if its start was among the lines of the request.
#[derive(Debug, Default)]
pub(super) struct BlockComment {
    open: Option<OpenComment>,
}

#[derive(Debug)]
struct OpenComment {
    /// The indentation of the line that starts it, as the request has it.
    sent: String,
    /// The same as it will be in the file.
    file: String,
    /// The indentation of the last line that continues it in the file.
    last: Option<String>,
}

impl BlockComment {
    /// Notes a line that was sent, and the same line as it is in the file or will be written.
    pub(super) fn note(&mut self, sent: &str, file: &str) {
        let text = file.trim_start();
        if text.starts_with("/*") {
            let (sent, file) = (indent(sent).to_owned(), indent(file).to_owned());
            self.open = Some(OpenComment { sent, file, last: None });
        } else if let Some(open) = self.open.as_mut().filter(|_| text.starts_with('*')) {
            open.last = Some(indent(file).to_owned());
        } else {
            self.open = None;
        }
        if text.contains("*/") {
            self.open = None;
        }
    }

    /// The indentation of an added line that continues the comment; `None` if it does not, or if it is indented as no
    /// continuation is.
    pub(super) fn indentation_of(&self, line: &str) -> Option<String> {
        let open = self.open.as_ref().filter(|_| line.trim_start().starts_with('*'))?;
        if let Some(last) = &open.last {
            return Some(last.clone());
        }
        // The column before the asterisk is often lost, too.
        let rest = indent(line).strip_prefix(open.sent.as_str()).filter(|rest| matches!(*rest, "" | " "))?;
        Some(format!("{}{rest}", open.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_comment_follow_its_first_line() {
        let mut comment = BlockComment::default();
        comment.note(" /**", "  /**");
        assert_eq!(comment.indentation_of("  * a").as_deref(), Some("   "));
        assert_eq!(comment.indentation_of("      * a"), None, "not under the first line");
        comment.note("  * a", "   * a");
        assert_eq!(comment.indentation_of("     * b").as_deref(), Some("   "));
        comment.note("  */", "   */");
        assert_eq!(comment.indentation_of("  * c"), None, "it has ended");
    }

    #[test]
    fn a_list_is_no_comment() {
        let mut comment = BlockComment::default();
        comment.note("* a", "  * a");
        assert_eq!(comment.indentation_of("  * b"), None);
    }
}
