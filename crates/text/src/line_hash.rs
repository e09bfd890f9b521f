//! Short hashes of lines.

use twox_hash::XxHash32;

/// A hash of a line's text without its whitespace: the lowest byte of its xxHash32 with seed 0. Whitespace is what `\s` matches in
/// JavaScript, where the format comes from.
///
/// It is short enough to be shown in front of every line of a file. Two lines have the same hash by chance in 1 of 256 cases,
/// so it can show that a line is not the expected one, but not which line was meant.
pub fn line_hash(line: &str) -> u8 {
    let text: String = line.chars().filter(|c| !is_whitespace(*c)).collect();
    XxHash32::oneshot(0, text.as_bytes()).to_le_bytes()[0]
}

fn is_whitespace(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

#[cfg(test)]
mod tests {
    use super::line_hash;

    #[test]
    fn is_the_lowest_byte_of_xxhash32() {
        // The reference values of xxHash32 with seed 0: 0x02cc5d05 for no bytes, 0x550d7456 for `a`, 0x32d153ff for `abc`.
        assert_eq!([line_hash(""), line_hash("a"), line_hash("abc")], [0x05, 0x56, 0xff]);
    }

    #[test]
    fn whitespace_does_not_count() {
        assert_eq!(line_hash("  a\tb c\r"), line_hash("abc"));
        assert_eq!(line_hash("\u{a0}a\u{2003}b\u{feff}c\u{2028}"), line_hash("abc"));
        // In JavaScript, the next-line character (U+0085) is not whitespace.
        assert_eq!(line_hash("a\u{85}b"), 0xb4);
    }
}
