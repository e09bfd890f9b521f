//! Buffered text for stdout and stderr.

use anstyle::Style;

/// The two output streams of a command.
pub(crate) struct Streams {
    /// The requested output.
    pub(crate) out: StyledText,
    /// Messages, hints and warnings.
    pub(crate) err: StyledText,
}

/// The text of one stream.
pub(crate) struct StyledText {
    use_color: bool,
    escape_controls: bool,
    pub(crate) bytes: Vec<u8>,
}

impl StyledText {
    /// `escape_controls` is for terminals, where control characters could do anything. Files and pipes get the bytes
    /// unchanged.
    pub(crate) fn new(use_color: bool, escape_controls: bool) -> Self {
        Self { use_color, escape_controls, bytes: Vec::new() }
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

/// Appends `text` to `out` with control characters escaped: C0 in caret notation and C1 as `\u{…}`, except tabs and line
/// endings.
fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'\n' | b'\t' => out.push(byte),
            b'\r' if rest.peek().is_none_or(|&next| next == b'\n') => out.push(byte),
            0..0x20 | 0x7f => out.extend([b'^', byte ^ 0x40]),
            0xc2 if rest.peek().is_some_and(|next| (0x80..0xa0).contains(next)) => {
                let second = rest.next().unwrap_or_default();
                out.extend_from_slice(format!("\\u{{{second:x}}}").as_bytes());
            }
            byte => out.push(byte),
        }
    }
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
    fn writes_bytes_unchanged_to_a_pipe() {
        let text = b"a\x1b[2Jb\rc\x00\xff\r\n";
        assert_eq!(written(false, text), text);
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
