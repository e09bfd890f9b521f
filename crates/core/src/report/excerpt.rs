//! Parts of texts that reports show.

use slipstitch_text::Span;
use slipstitch_text::display::decode_lossy;
use slipstitch_text::display::truncate_bytes;

/// How much of a text is shown.
const MAX_LINES: usize = 12;
const MAX_BYTES: usize = 2000;

/// The place, extended to whole lines.
pub(crate) fn whole_lines(text: &[u8], span: Span) -> Span {
    let start = memchr::memrchr(b'\n', &text[..span.start()]).map_or(0, |at| at + 1);
    let ends_line = span.end() > start && text[span.end() - 1] == b'\n';
    let end = match memchr::memchr(b'\n', &text[span.end()..]) {
        _ if ends_line => span.end(),
        Some(at) => span.end() + at + 1,
        None => text.len(),
    };
    Span::new(start, end)
}

/// The first lines of a text, with undecodable bytes replaced.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    for line in lines.by_ref().take(MAX_LINES) {
        let line = decode_lossy(line);
        if let Some((start, _)) = truncate_bytes(&line, MAX_BYTES.saturating_sub(out.len())) {
            out.push_str(start);
            out.push('…');
            return out;
        }
        out.push_str(&line);
    }
    match lines.count() {
        0 => {}
        more => out.push_str(&format!("[… {more} more lines …]\n")),
    }
    out
}
