//! Finds text that differs from the file only in whitespace, wherever in a line it begins and ends. For diagnoses: a place
//! that is found like this is shown, and never edited.

use super::limits::{MAX_CANDIDATES, MAX_WORD_BYTES};
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// Where a text is if every run of whitespace counts as one space, or as one line break if there is one in it.
pub(super) fn find_places(text: &str, within: Option<Span>, snapshot: &Snapshot) -> Vec<Span> {
    let file = snapshot.text();
    let within = within.unwrap_or(Span::new(0, file.len()));
    let wanted = Collapsed::new(text.trim().as_bytes());
    if wanted.bytes.is_empty() || within.len() > MAX_WORD_BYTES {
        return Vec::new();
    }
    let collapsed = Collapsed::new(within.of(file));
    let is_word = |byte: Option<&u8>| {
        byte.is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii())
    };
    let is_cut = |start: usize, end: usize| {
        let bytes = &collapsed.bytes;
        let cuts_before = start > 0 && is_word(bytes.get(start - 1)) && is_word(bytes.get(start));
        cuts_before || (is_word(bytes.get(end)) && is_word(bytes.get(end - 1)))
    };
    memchr::memmem::find_iter(&collapsed.bytes, &wanted.bytes)
        .map(|start| (start, start + wanted.bytes.len()))
        .filter(|&(start, end)| !is_cut(start, end))
        .take(MAX_CANDIDATES)
        .map(|(start, end)| {
            let offset = |at: usize| within.start() + collapsed.offsets[at];
            Span::new(offset(start), offset(end - 1) + 1)
        })
        .collect()
}

/// A text with every run of whitespace as one byte.
struct Collapsed {
    bytes: Vec<u8>,
    /// Where each byte was.
    offsets: Vec<usize>,
}

impl Collapsed {
    fn new(text: &[u8]) -> Self {
        let (mut bytes, mut offsets): (Vec<u8>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut is_in_run = false;
        for (at, &byte) in text.iter().enumerate() {
            let is_blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            match bytes.last_mut() {
                Some(last) if is_blank && is_in_run => {
                    if byte == b'\n' {
                        *last = byte;
                    }
                }
                _ => {
                    bytes.push(match byte {
                        b'\t' | b'\r' => b' ',
                        byte => byte,
                    });
                    offsets.push(at);
                }
            }
            is_in_run = is_blank;
        }
        Self { bytes, offsets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::FileContent;

    fn found(file: &str, text: &str) -> Vec<String> {
        let content = FileContent { bytes: file.as_bytes().to_vec().into(), meta: Default::default() };
        let snapshot = Snapshot::new(content, Default::default());
        let places = find_places(text, None, &snapshot);
        places.iter().map(|at| String::from_utf8_lossy(at.of(snapshot.text())).into_owned()).collect()
    }

    #[test]
    fn runs_of_whitespace_count_as_one() {
        let file = "if x:\n    go()\n\nif y:\n\tgo()\n";
        assert_eq!(found(file, ":\n go()"), [":\n    go()", ":\n\tgo()"]);
        assert_eq!(found(file, " if  y:"), ["if y:"]);
        assert_eq!(found(file, "x: go()"), [""; 0], "a line break is not a space");
    }

    #[test]
    fn words_are_not_cut() {
        assert_eq!(found("return abc\n", "return  a"), [""; 0]);
        assert_eq!(found("max = 10\n", "x  = 1"), [""; 0]);
        assert_eq!(found("größe = 1\n", "e  = 1"), [""; 0]);
        assert_eq!(found("f( x = 1 )\n", "x  = 1"), ["x = 1"]);
    }
}
