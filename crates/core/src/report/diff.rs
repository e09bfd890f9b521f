//! The change as a unified diff, made from its splices: the size of the file does not matter.
//!
//! Lines of a diff end at `\n` and nowhere else, and hold the file's own bytes, `\r` among them, so
//! that `git apply` and GNU patch make the same file of it. Only a file in another encoding, or one whose
//! lines end at `\r` alone, is shown as decoded text, because a diff of its bytes would be unreadable.

use std::ops::Range;

use crate::change::{Base, ChangeSet, FileChange, PathChange};
use crate::path::FilePath;
use crate::snapshot::Snapshot;
use crate::snapshot::Snapshots;
use slipstitch_text::Splice;
use slipstitch_text::diff_lines;
use slipstitch_text::{Encoding, Newline};

/// A file's diff with more text than this says so instead: nobody reads it, and the journal keeps what
/// takes the change back anyway.
const MAX_BYTES: usize = 32 << 20;

/// The diff of all files of a change, as bytes, with `context` lines around each place.
pub fn unified(changes: &ChangeSet, seen: &Snapshots, context: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for file in changes.files().iter().filter(|file| !file.is_empty()) {
        file_diff(file, seen.get(&file.path), context, &mut out);
    }
    out
}

/// The diff of one file; `snapshot` is the file before, if there was one.
fn file_diff(file: &FileChange, snapshot: Option<&Snapshot>, context: usize, out: &mut Vec<u8>) {
    let decoded = snapshot.filter(|snapshot| !snapshot.is_binary() && needs_decoding(snapshot));
    let (old, splices): (&[u8], Vec<Splice>) = match (snapshot, decoded) {
        (_, Some(snapshot)) => {
            (snapshot.text(), file.splices.iter().map(|splice| as_text(splice, snapshot)).collect())
        }
        (Some(snapshot), None) => (snapshot.bytes(), file.splices.iter().cloned().collect()),
        (None, None) => (&[], file.splices.iter().cloned().collect()),
    };
    let edits = line_edits(old, &splices);
    let bytes: usize = edits.iter().map(|edit| edit.old.len() + edit.new.len()).sum();
    header(file, !edits.is_empty(), out);
    if bytes > MAX_BYTES {
        out.extend_from_slice(format!("(the diff would hold {bytes} bytes and was left out)\n").as_bytes());
    } else {
        hunks(old, &edits, context, out);
    }
}

/// Whether a diff of the file's bytes would be unreadable.
fn needs_decoding(snapshot: &Snapshot) -> bool {
    snapshot.encoding() != Encoding::Utf8 || snapshot.newlines().dominant() == Newline::Cr
}

/// The same splice in the decoded text.
fn as_text(splice: &Splice, snapshot: &Snapshot) -> Splice {
    Splice { at: snapshot.view_span(splice.at), insert: snapshot.decode(&splice.insert) }
}

fn header(file: &FileChange, has_hunks: bool, out: &mut Vec<u8>) {
    let old = prefixed("a/", &file.path);
    let new = prefixed("b/", file.path_after().unwrap_or(&file.path));
    let mut line = |text: String| {
        out.extend_from_slice(text.as_bytes());
        out.push(b'\n');
    };
    let mode = if file.mode.is_some_and(|mode| mode & 0o111 != 0) { "100755" } else { "100644" };
    // Always, so that diffs can be put one after the other: after a rename without hunks, `---` alone
    // would be read as part of it.
    line(format!("diff --git {old} {new}"));
    if let Some(executable) = file.executable.filter(|_| file.path_change != PathChange::Delete) {
        let (old, new) = if executable { ("100644", "100755") } else { ("100755", "100644") };
        line(format!("old mode {old}"));
        line(format!("new mode {new}"));
    }
    match (file.base, &file.path_change) {
        (Base::Absent, _) => line(format!("new file mode {mode}")),
        (_, PathChange::Delete) => line(format!("deleted file mode {mode}")),
        (_, PathChange::Move(to)) => {
            line(format!("rename from {}", quoted(file.path.as_str())));
            line(format!("rename to {}", quoted(to.as_str())));
        }
        (_, PathChange::Keep) => {}
    }
    if has_hunks {
        let gone = |absent: bool, name: String| if absent { "/dev/null".into() } else { name };
        line(format!("--- {}", gone(file.base == Base::Absent, old)));
        line(format!("+++ {}", gone(file.path_change == PathChange::Delete, new)));
    }
}

/// A name for a header.
fn prefixed(prefix: &str, path: &FilePath) -> String {
    quoted(&format!("{prefix}{path}"))
}

/// A name with blanks, control characters, quotes or backslashes is written as a C string: git reads
/// blanks without it, GNU patch does not.
fn quoted(name: &str) -> String {
    if !name.chars().any(|c| c.is_ascii_control() || matches!(c, ' ' | '"' | '\\')) {
        return name.into();
    }
    let mut out = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_ascii_control() => out.push_str(&format!("\\{:03o}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whole lines that go and the lines that come.
#[derive(Debug)]
struct LineEdit {
    old: Range<usize>,
    new: Vec<u8>,
}

/// Widens splices to whole lines, joins those that share a line, and leaves out what stays the same.
fn line_edits(old: &[u8], splices: &[Splice]) -> Vec<LineEdit> {
    let mut edits = Vec::new();
    let mut at = 0;
    while at < splices.len() {
        let start = line_start(old, splices[at].at.start());
        let mut new = Vec::new();
        let mut done = start; // old bytes that are accounted for
        let mut ahead = 0; // a line end of the old text that is known already
        let end = loop {
            let splice = &splices[at];
            new.extend_from_slice(&old[done..splice.at.start()]);
            new.extend_from_slice(&splice.insert);
            done = splice.at.end();
            at += 1;
            let end = line_end(old, done, &new, &mut ahead);
            let between_lines = ends_line(&old[..end]) && (end > done || ends_line(&new));
            if splices.get(at).is_none_or(|next| next.at.start() >= end && between_lines) {
                break end;
            }
        };
        new.extend_from_slice(&old[done..end]);
        for swap in diff_lines(&old[start..end], &new) {
            edits.push(LineEdit {
                old: start + swap.old.start..start + swap.old.end,
                new: new[swap.new].to_vec(),
            });
        }
    }
    edits
}

fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1)
}

fn ends_line(text: &[u8]) -> bool {
    text.last().is_none_or(|&byte| byte == b'\n')
}

/// Where the lines that a change touches end: right here if both texts are between lines. A long line
/// with many changes is searched for its end once.
fn line_end(old: &[u8], at: usize, new: &[u8], ahead: &mut usize) -> usize {
    if ends_line(&old[..at]) && ends_line(new) {
        return at;
    }
    if *ahead <= at {
        *ahead = memchr::memchr(b'\n', &old[at..]).map_or(old.len(), |newline| at + newline + 1);
    }
    *ahead
}

/// Counts lines on the way through the old text.
struct Counter<'a> {
    old: &'a [u8],
    at: usize,
    line: usize,
}

impl Counter<'_> {
    /// The number of lines before `to`, which may not go back.
    fn lines_before(&mut self, to: usize) -> usize {
        self.line += memchr::memchr_iter(b'\n', &self.old[self.at..to]).count();
        self.at = to;
        self.line
    }
}

fn hunks(old: &[u8], edits: &[LineEdit], context: usize, out: &mut Vec<u8>) {
    let mut counter = Counter { old, at: 0, line: 0 };
    let mut shift = 0isize;
    let mut first = 0;
    while first < edits.len() {
        let mut last = first;
        while edits.get(last + 1).is_some_and(|next| close(old, edits[last].old.end, next.old.start, context))
        {
            last += 1;
        }
        let group = &edits[first..=last];
        let start = back(old, group[0].old.start, context);
        let end = forth(old, group[group.len() - 1].old.end, context);
        let before = counter.lines_before(start);
        let (body, removed, added) = body(old, group, start, end);
        let number = |before: usize, count: usize| if count == 0 { before } else { before + 1 };
        let after = before.strict_add_signed(shift);
        let head =
            format!("@@ -{},{removed} +{},{added} @@\n", number(before, removed), number(after, added));
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(&body);
        shift += added as isize - removed as isize;
        first = last + 1;
    }
}

/// Whether the context of two edits meets.
fn close(old: &[u8], end: usize, start: usize, context: usize) -> bool {
    let mut newlines = memchr::memchr_iter(b'\n', &old[end..start]);
    newlines.nth(2 * context).is_none()
}

/// The start of the context before a place between lines.
fn back(old: &[u8], mut at: usize, context: usize) -> usize {
    for _ in 0..context {
        if at > 0 {
            at = line_start(old, at - 1);
        }
    }
    at
}

/// The end of the context after a place between lines.
fn forth(old: &[u8], mut at: usize, context: usize) -> usize {
    for _ in 0..context {
        at = memchr::memchr(b'\n', &old[at..]).map_or(old.len(), |newline| at + newline + 1);
    }
    at
}

/// A hunk's lines, how many of them are of the old text and how many of the new.
fn body(old: &[u8], group: &[LineEdit], start: usize, end: usize) -> (Vec<u8>, usize, usize) {
    let mut out = Vec::new();
    let mut at = start;
    let (mut removed, mut added) = (0, 0);
    for edit in group {
        let context = push_lines(b' ', &old[at..edit.old.start], &mut out);
        removed += context + push_lines(b'-', &old[edit.old.clone()], &mut out);
        added += context + push_lines(b'+', &edit.new, &mut out);
        at = edit.old.end;
    }
    let context = push_lines(b' ', &old[at..end], &mut out);
    (out, removed + context, added + context)
}

fn push_lines(sign: u8, text: &[u8], out: &mut Vec<u8>) -> usize {
    let mut count = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        out.push(sign);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
        count += 1;
    }
    count
}
