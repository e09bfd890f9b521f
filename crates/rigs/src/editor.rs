//! An editor without any protection, to see that rigs notice what it does.

use std::fs;
use std::io;

/// Replaces text in files, one after the other, each in place: what is simplest to write and goes wrong when
/// anything does. The words are file, old text and new text, again and again.
pub(crate) fn naive(words: &[String]) -> io::Result<()> {
    for three in words.chunks_exact(3) {
        let text = fs::read_to_string(&three[0])?;
        fs::write(&three[0], text.replacen(&three[1], &three[2], 1))?;
    }
    Ok(())
}
