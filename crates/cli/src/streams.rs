//! Buffered text for stdout and stderr.

use anstyle::Style;
use slipstitch::core::text::display::is_deceptive;
use slipstitch::core::text::file_name::raw_byte;
use unicode_width::UnicodeWidthStr;

/// The two output streams of a command.
pub(crate) struct Streams {
    /// The requested output.
    pub(crate) out: StyledText,
    /// Messages, hints and warnings.
    pub(crate) err: StyledText,
}

/// Narrower terminals wrap prose themselves.
const MIN_WIDTH: usize = 30;
/// In front of the further lines of prose.
const INDENT: &str = "  ";

/// The text of one stream.
pub(crate) struct StyledText {
    use_color: bool,
    escape_controls: bool,
    /// Where prose is wrapped.
    pub(crate) width: Option<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl StyledText {
    /// `escape_controls` is for terminals, where control characters could do anything. Files and pipes get the bytes
    /// unchanged.
    pub(crate) fn new(use_color: bool, escape_controls: bool) -> Self {
        Self { use_color, escape_controls, width: None, bytes: Vec::new() }
    }

    /// Adds a line of prose after `used` columns, wrapped between words. Further lines are indented.
    pub(crate) fn prose(&mut self, text: &str, used: usize) {
        self.wrapped(text, used);
        self.line("");
    }

    /// Adds text after `used` columns, wrapped between words, with continuation lines indented. Returns the column it ends at.
    pub(crate) fn wrapped(&mut self, text: &str, used: usize) -> usize {
        let Some(width) = self.width.filter(|width| *width >= MIN_WIDTH) else {
            self.text(text);
            return used + columns(text);
        };
        let (mut line, mut at) = (String::new(), used);
        for word in text.split(' ') {
            let length = columns(word) + 1;
            if at + length > width && at > INDENT.len() {
                self.line(std::mem::replace(&mut line, INDENT.into()));
                at = INDENT.len();
            } else if at > used || !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            at += length;
        }
        self.text(line);
        at
    }

    /// The width of the terminal, if the text goes to one.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width.filter(|width| *width >= MIN_WIDTH)
    }

    /// Adds a line, wrapped between words, with continuation lines indented to a column. If that leaves too little room beside it,
    /// they are indented a little.
    pub(crate) fn hanging(&mut self, text: &str, column: usize) {
        let Some(width) = self.width() else { return self.text(text) };
        let column = if column + MIN_WIDTH / 2 > width { INDENT.len() } else { column };
        let (mut line, mut is_empty) = (String::new(), true);
        for word in text.split(' ') {
            if !line.trim().is_empty() && !word.is_empty() && columns(&line) + columns(word) + 1 > width {
                self.line(line.trim_end());
                line = " ".repeat(column);
            } else if !line.is_empty() || !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        self.text(line);
    }

    /// Whether styles have an effect.
    pub(crate) fn uses_color(&self) -> bool {
        self.use_color
    }

    /// Adds text.
    pub(crate) fn text(&mut self, text: impl AsRef<[u8]>) {
        if self.escape_controls {
            push_escaped(text.as_ref(), &mut self.bytes);
        } else {
            self.bytes.extend_from_slice(text.as_ref());
        }
    }

    /// Adds text and a newline.
    pub(crate) fn line(&mut self, text: impl AsRef<[u8]>) {
        self.text(text);
        self.bytes.push(b'\n');
    }

    /// Adds text in a style, which ends before a final newline.
    pub(crate) fn styled(&mut self, style: Style, text: impl AsRef<[u8]>) {
        if !self.use_color || style == Style::new() {
            return self.text(text);
        }
        let text = text.as_ref();
        let (text, newline) = text.strip_suffix(b"\n").map_or((text, false), |text| (text, true));
        self.bytes.extend_from_slice(style.render().to_string().as_bytes());
        self.text(text);
        self.bytes.extend_from_slice(style.render_reset().to_string().as_bytes());
        if newline {
            self.bytes.push(b'\n');
        }
    }
}

/// How many columns a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Pads a text with spaces to this many columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{:1$}", "", width.saturating_sub(columns(text)))
}

/// Appends `text` to `out` with what could deceive a reader escaped: C0 in caret notation; C1 and invisible characters as
/// `\u{…}`; tabs and line endings are kept.
fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    for chunk in text.utf8_chunks() {
        let mut rest = chunk.valid().chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\n' | '\t' => out.push(c as u8),
                '\r' if rest.peek().is_none_or(|&next| next == '\n') => out.push(b'\r'),
                '\0'..'\x20' | '\x7f' => out.extend([b'^', c as u8 ^ 0x40]),
                c if is_deceptive(c) => match raw_byte(c) {
                    Some(byte) => out.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
                    None => out.extend_from_slice(c.escape_unicode().to_string().as_bytes()),
                },
                c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        out.extend_from_slice(chunk.invalid());
    }
}

/// JSON for a terminal: characters that could deceive a reader are written as `\u` escapes. They only occur in strings, so
/// the value is the same.
pub(crate) fn escape_json(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
        if is_deceptive(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstyle::AnsiColor;

    fn written(escape_controls: bool, text: &[u8]) -> Vec<u8> {
        let mut out = StyledText::new(false, escape_controls);
        out.text(text);
        out.bytes
    }

    #[test]
    fn escapes_control_characters_for_a_terminal() {
        assert_eq!(written(true, b"a\x1b[2Jb\rc\x07\x7f\td\r\n"), b"a^[[2Jb^Mc^G^?\td\r\n");
        assert_eq!(written(true, "é\u{9b}x\u{a0}".as_bytes()), "é\\u{9b}x\u{a0}".as_bytes());
        assert_eq!(written(true, b"\xff\xc2"), b"\xff\xc2");
    }

    #[test]
    fn escapes_invisible_characters_for_a_terminal() {
        let text = "if a\u{202e}b\u{2066}c {\u{200b}\n";
        assert_eq!(written(true, text.as_bytes()), b"if a\\u{202e}b\\u{2066}c {\\u{200b}\n");
        assert_eq!(written(false, text.as_bytes()), text.as_bytes());
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let value = serde_json::json!({"a\u{202e}": "b\u{e0041}\u{9b}\u{7f}é\n"});
        let escaped = escape_json(&value.to_string());
        assert!(escaped.chars().all(|c| !is_deceptive(c)), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }

    #[test]
    fn writes_bytes_unchanged_to_a_pipe() {
        let text = b"a\x1b[2Jb\rc\x00\xff\r\n";
        assert_eq!(written(false, text), text);
    }

    #[test]
    fn wraps_prose_between_words() {
        let wrapped = |width, text| {
            let mut err = StyledText { width, ..StyledText::new(false, true) };
            err.text("hint:");
            err.prose(text, 5);
            String::from_utf8(err.bytes).unwrap()
        };
        let text = " Nothing was written. Check the change, then confirm it.";
        assert_eq!(wrapped(None, text), format!("hint:{text}\n"));
        assert_eq!(wrapped(Some(200), text), format!("hint:{text}\n"));
        let want = "hint: Nothing was written. Check\n  the change, then confirm it.\n";
        assert_eq!(wrapped(Some(34), text), want);
        assert_eq!(
            wrapped(Some(34), " 描述描述描述 描述描述描述描述"),
            "hint: 描述描述描述\n  描述描述描述描述\n"
        );
        let long = format!(" {}", "x".repeat(50));
        assert!(wrapped(Some(34), &long).contains(&"x".repeat(50)), "words are not cut");
    }

    #[test]
    fn ends_a_style_before_the_newline() {
        let mut out = StyledText::new(true, false);
        out.styled(AnsiColor::Red.on_default(), "-x\n");
        assert_eq!(out.bytes, b"\x1b[31m-x\x1b[0m\n");
        let mut out = StyledText::new(false, false);
        out.styled(AnsiColor::Red.on_default(), "-x\n");
        assert_eq!(out.bytes, b"-x\n");
    }
}
