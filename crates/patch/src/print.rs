//! Patches as text again.

mod blocks;
mod unified;
mod v4a;

use super::{FilePatch, Format, Patch};
use crate::hunk::{Hunk, HunkLine, Role};

impl Patch {
    /// The patch as text, in its own format. What is read from it is the same patch.
    ///
    /// Changes for a file that is not named come first, so that they do not seem to belong to
    /// another one.
    pub fn print(&self) -> String {
        let print = match self.format {
            Format::Unified => unified::print,
            Format::V4a => v4a::print,
            Format::SearchReplace => blocks::print,
        };
        let (unnamed, named): (Vec<_>, Vec<_>) = self.files.iter().partition(|file| file.path.is_none());
        let files: Vec<&FilePatch> = unnamed.into_iter().chain(named).collect();
        let mut out = String::new();
        print(&files, &mut out);
        out
    }
}

/// Prints a hunk's lines.
fn lines(hunk: &Hunk, crlf: bool, out: &mut String) {
    for line in &hunk.lines {
        out.push(match line.role {
            Role::Context => ' ',
            Role::Removed => '-',
            Role::Added => '+',
        });
        out.push_str(&line.text);
        out.push_str(line_end(line, crlf));
    }
}

fn line_end(line: &HunkLine, crlf: bool) -> &'static str {
    match (line.newline, crlf) {
        (true, false) => "\n",
        (true, true) => "\r\n",
        (false, _) => "\n\\ No newline at end of file\n",
    }
}

/// Prints a new file's lines, each with a plus, and returns how many there are.
fn added(content: &str, out: &mut String) -> usize {
    let mut count = 0;
    for line in content.split_inclusive('\n') {
        out.push('+');
        out.push_str(line);
        count += 1;
    }
    if !content.is_empty() && !content.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
    count
}
