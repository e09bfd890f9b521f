//! Editors without protection, to see that rigs notice what they do.

use std::fs::{self, File};
use std::io::{self, Write};

/// Replaces text in files, one after the other, each in place: what is simplest to write and goes wrong when
/// anything does. The words are file, old text and new text, again and again.
pub(crate) fn naive(words: &[String]) -> io::Result<()> {
    replace(words, |path, text| fs::write(path, text))
}

/// The same, and it takes for granted that a write takes everything.
pub(crate) fn careless(words: &[String]) -> io::Result<()> {
    #[expect(clippy::unused_io_amount, reason = "that is what is careless about it")]
    replace(words, |path, text| {
        File::create(path)?.write(text.as_bytes())?;
        Ok(())
    })
}

fn replace(words: &[String], write: impl Fn(&str, &str) -> io::Result<()>) -> io::Result<()> {
    for three in words.chunks_exact(3) {
        let text = fs::read_to_string(&three[0])?;
        write(&three[0], &text.replacen(&three[1], &three[2], 1))?;
    }
    Ok(())
}
