//! Text on its way to a terminal, a file or a pipe.

use anstyle::Style;

/// What goes to standard output and what goes beside it.
pub(crate) struct Page {
    /// What was asked for.
    pub(crate) out: Surface,
    /// What is said about it.
    pub(crate) notes: Surface,
}

/// One stream's text.
pub(crate) struct Surface {
    colour: bool,
    terminal: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Surface {
    pub(crate) fn new(colour: bool, terminal: bool) -> Self {
        Self { colour, terminal, bytes: Vec::new() }
    }

    /// Adds text. On a terminal, where control characters could do anything, they are shown; in a file
    /// or a pipe the bytes stay as they are.
    pub(crate) fn text(&mut self, text: impl AsRef<[u8]>) {
        if self.terminal {
            show(text.as_ref(), &mut self.bytes);
        } else {
            self.bytes.extend_from_slice(text.as_ref());
        }
    }

    /// Adds text that ends a line.
    pub(crate) fn line(&mut self, text: impl AsRef<[u8]>) {
        self.text(text);
        self.bytes.push(b'\n');
    }

    /// Adds text in a style; a newline at its end is left out of the style.
    pub(crate) fn styled(&mut self, style: Style, text: impl AsRef<[u8]>) {
        if !self.colour || style == Style::new() {
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

/// Adds `text` to `out` with its control characters in caret notation: all of C0 and C1 but tabs and
/// line ends.
fn show(text: &[u8], out: &mut Vec<u8>) {
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

    fn on(terminal: bool, text: &[u8]) -> Vec<u8> {
        let mut surface = Surface::new(false, terminal);
        surface.text(text);
        surface.bytes
    }

    #[test]
    fn a_terminal_is_shown_control_characters() {
        assert_eq!(on(true, b"a\x1b[2Jb\rc\x07\x7f\td\r\n"), b"a^[[2Jb^Mc^G^?\td\r\n");
        assert_eq!(on(true, "é\u{9b}x\u{a0}".as_bytes()), "é\\u{9b}x\u{a0}".as_bytes());
        assert_eq!(on(true, b"\xff\xc2"), b"\xff\xc2");
    }

    #[test]
    fn a_pipe_gets_the_bytes() {
        let text = b"a\x1b[2Jb\rc\x00\xff\r\n";
        assert_eq!(on(false, text), text);
    }

    #[test]
    fn a_style_ends_with_its_line() {
        let mut surface = Surface::new(true, false);
        surface.styled(AnsiColor::Red.on_default(), "-x\n");
        assert_eq!(surface.bytes, b"\x1b[31m-x\x1b[0m\n");
        let mut surface = Surface::new(false, false);
        surface.styled(AnsiColor::Red.on_default(), "-x\n");
        assert_eq!(surface.bytes, b"-x\n");
    }
}
