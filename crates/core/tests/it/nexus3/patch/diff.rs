//! Hunks as the text of a diff, with all the headers that tools and models write.

use super::model::Hunk;
use crate::gauntlet::random::Random;

/// The headers of a diff. All of them are informational.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Headers {
    Plain,
    /// Without `a/` and `b/`.
    NoPrefix,
    /// With the times of the files, as `diff -u` writes them.
    Times,
    /// `diff --git` and an index line.
    Git,
    /// `diff --git` with a new file mode.
    GitMode,
    /// `diff --git` with a rename.
    GitRename,
    /// As `git format-patch` writes it.
    Mail,
    /// Nothing but hunks.
    None,
    /// The name of another file.
    OtherName,
    /// Sections for other files too.
    Several,
    /// Sections for other files only.
    OnlyOthers,
    /// A path with `..`.
    Traversal,
}

const HEADERS: &[Headers] = &[
    Headers::Plain,
    Headers::Plain,
    Headers::Plain,
    Headers::NoPrefix,
    Headers::Times,
    Headers::Git,
    Headers::Git,
    Headers::GitMode,
    Headers::GitRename,
    Headers::Mail,
    Headers::None,
    Headers::OtherName,
    Headers::Several,
    Headers::Several,
    Headers::OnlyOthers,
    Headers::Traversal,
];

/// How a diff is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writing {
    pub(super) headers: Headers,
    /// "LLMs frequently produce off-by-one line counts".
    pub(super) wrong_counts: bool,
    /// Blank context lines without their prefix, as in the document's own example.
    pub(super) bare_blanks: bool,
    /// Lines that end with `\r\n`.
    pub(super) crlf: bool,
}

impl Writing {
    pub(super) fn random(random: &mut Random) -> Self {
        Self {
            headers: *random.pick(HEADERS).unwrap_or(&Headers::Plain),
            wrong_counts: random.chance(10),
            bare_blanks: random.chance(25),
            crlf: random.chance(10),
        }
    }
}

fn opening(headers: Headers) -> &'static str {
    match headers {
        Headers::Plain => "--- a/f.py\n+++ b/f.py\n",
        Headers::NoPrefix => "--- f.py\n+++ f.py\n",
        Headers::Times => {
            "--- f.py\t2026-01-23 10:00:00.000000000 +0000\n+++ f.py\t2026-01-23 10:00:01.000000000 +0000\n"
        }
        Headers::Git => "diff --git a/f.py b/f.py\nindex 1a2b3c4..5d6e7f8 100644\n--- a/f.py\n+++ b/f.py\n",
        Headers::GitMode => {
            "diff --git a/f.py b/f.py\nold mode 100644\nnew mode 100755\nindex 1a2b3c4..5d6e7f8\n--- a/f.py\n+++ b/f.py\n"
        }
        Headers::GitRename => {
            "diff --git a/old.py b/f.py\nsimilarity index 90%\nrename from old.py\nrename to f.py\nindex 1a2b3c4..5d6e7f8 100644\n--- a/old.py\n+++ b/f.py\n"
        }
        Headers::Mail => {
            "From 1a2b3c4 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] Change f.py\n\nIt was wrong.\n---\n f.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\ndiff --git a/f.py b/f.py\nindex 1a2b3c4..5d6e7f8 100644\n--- a/f.py\n+++ b/f.py\n"
        }
        Headers::None => "",
        Headers::OtherName | Headers::OnlyOthers => "--- a/lib/g.py\n+++ b/lib/g.py\n",
        Headers::Several => {
            "--- a/g.py\n+++ b/g.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n--- a/src/f.py\n+++ b/src/f.py\n"
        }
        Headers::Traversal => "--- a/../f.py\n+++ b/../f.py\n",
    }
}

fn closing(headers: Headers) -> &'static str {
    match headers {
        Headers::Several => "--- a/lib/h.py\n+++ b/lib/h.py\n@@ -1 +1,2 @@\n one\n+more\n",
        Headers::OnlyOthers => "--- a/h.py\n+++ b/h.py\n@@ -1 +1,2 @@\n one\n+more\n",
        Headers::Mail => "-- \n2.47.0\n\n",
        _ => "",
    }
}

/// `-5,2`, or `-5` for one line.
fn range(start: usize, count: usize) -> String {
    if count == 1 { start.to_string() } else { format!("{start},{count}") }
}

/// The hunks as a unified diff.
pub(super) fn write(hunks: &[Hunk], writing: Writing, random: &mut Random) -> String {
    const MARKER: &str = "\\ No newline at end of file\n";
    let mut out = String::from(opening(writing.headers));
    let mut shift = 0isize;
    for hunk in hunks {
        let (mut old, new) = (hunk.old_lines().len(), hunk.new_lines().len());
        let start = hunk.start.saturating_add_signed(shift) + usize::from(old == 0);
        shift += new as isize - old as isize;
        if writing.wrong_counts {
            old += 1;
        }
        let heading = if random.chance(30) { " def load(self):" } else { "" };
        out.push_str(&format!("@@ -{} +{} @@{heading}\n", range(hunk.start, old), range(start, new)));
        let last = |without: char| hunk.lines.iter().rposition(|(prefix, _)| *prefix != without);
        for (n, (prefix, line)) in hunk.lines.iter().enumerate() {
            if writing.bare_blanks && *prefix == ' ' && line.is_empty() {
                out.push('\n');
            } else {
                out.push_str(&format!("{prefix}{line}\n"));
            }
            let ends_old = hunk.markers.old && *prefix != '+' && Some(n) == last('+');
            let ends_new = hunk.markers.new && *prefix != '-' && Some(n) == last('-');
            if ends_old || ends_new {
                out.push_str(MARKER);
            }
        }
    }
    out.push_str(closing(writing.headers));
    if writing.crlf { out.replace('\n', "\r\n") } else { out }
}
