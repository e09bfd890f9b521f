//! Editors without protection, which the rigs must catch.

use std::fs::{self, File};
use std::io::{self, Write};

/// Replaces text in one file after the other, each written in place: the simplest code, and any fault breaks it. The
/// arguments are triples of file, old text and new text.
pub(crate) fn write_in_place(args: &[String]) -> io::Result<()> {
    replace_each(args, |path, text| fs::write(path, text))
}

/// Like [`write_in_place`], but also assumes that one `write` call writes everything.
pub(crate) fn ignore_short_writes(args: &[String]) -> io::Result<()> {
    #[expect(clippy::unused_io_amount, reason = "this is the mistake that the rig must catch")]
    replace_each(args, |path, text| {
        File::create(path)?.write(text.as_bytes())?;
        Ok(())
    })
}

fn replace_each(args: &[String], write: impl Fn(&str, &str) -> io::Result<()>) -> io::Result<()> {
    for replacement in args.chunks_exact(3) {
        let [path, old, new] = replacement else { continue };
        let text = fs::read_to_string(path)?;
        write(path, &text.replacen(old.as_str(), new, 1))?;
    }
    Ok(())
}
