//! Unified diffs in git's form, which `git apply` and GNU patch read.

use super::super::body::counts;
use super::super::shift::{Stretch, shifted, start};
use super::super::source::MAX_LINE;
use crate::hunk::{Hunk, Role};
use crate::{Action, FilePatch};

pub(super) fn print(files: &[&FilePatch], out: &mut String) {
    for file in files {
        if let Some(path) = &file.path {
            headers(path, &file.action, out);
        }
        match &file.action {
            Action::Create { content, .. } => creation(content, out),
            Action::Delete { hunks, .. } | Action::Update { hunks, .. } => print_hunks(hunks, file.crlf, out),
            Action::Replace { .. } => {}
        }
    }
}

fn headers(path: &str, action: &Action, out: &mut String) {
    let new = match action {
        Action::Update { move_to: Some(to), .. } => to,
        _ => path,
    };
    out.push_str(&format!("diff --git {} {}\n", quoted("a/", path), quoted("b/", new)));
    let (mut old_name, mut new_name) = (named("a/", path), named("b/", new));
    let has_lines = match action {
        Action::Create { content, executable } => {
            out.push_str(&format!("new file mode {}\n", mode(*executable)));
            old_name = "/dev/null".into();
            !content.is_empty()
        }
        Action::Delete { hunks, executable } => {
            out.push_str(&format!("deleted file mode {}\n", mode(*executable)));
            new_name = "/dev/null".into();
            !hunks.is_empty()
        }
        Action::Update { hunks, move_to, executable } => {
            if let Some(may) = executable {
                out.push_str(&format!("old mode {}\nnew mode {}\n", mode(!may), mode(*may)));
            }
            if move_to.is_some() {
                out.push_str(&format!("rename from {}\nrename to {}\n", quoted("", path), quoted("", new)));
            }
            !hunks.is_empty()
        }
        Action::Replace { .. } => false,
    };
    if has_lines {
        out.push_str(&format!("--- {old_name}\n+++ {new_name}\n"));
    }
}

fn mode(executable: bool) -> &'static str {
    if executable { "100755" } else { "100644" }
}

/// The name as `---` and `+++` have it: a tab ends one with blanks.
fn named(prefix: &str, path: &str) -> String {
    let name = quoted(prefix, path);
    if path.contains(' ') && !name.starts_with('"') { format!("{name}\t") } else { name }
}

/// The name, in quotes where it would not be read as it is.
fn quoted(prefix: &str, path: &str) -> String {
    let special = |c: char| c.is_control() || matches!(c, '"' | '\\');
    let edge = |c: char| c.is_whitespace();
    if !path.contains(special) && !path.starts_with(edge) && !path.ends_with(edge) {
        return format!("{prefix}{path}");
    }
    let mut out = format!("\"{prefix}");
    for c in path.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("\\{byte:03o}")));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn creation(content: &str, out: &mut String) {
    if content.is_empty() {
        return;
    }
    let mut body = String::new();
    let count = super::added(content, &mut body);
    out.push_str(&format!("@@ -0,0 +{} @@\n", side(0, count)));
    out.push_str(&body);
}

fn print_hunks(hunks: &[Hunk], crlf: bool, out: &mut String) {
    let stretches: Vec<_> = hunks.iter().map(Stretch::of).collect();
    // Hunks that overlap are no clean diff; their old numbers are as good as any.
    let own = || stretches.iter().map(|stretch| stretch.map(|stretch| stretch.before)).collect();
    let after = shifted(&stretches).unwrap_or_else(own);
    for ((hunk, stretch), after) in hunks.iter().zip(&stretches).zip(after) {
        let header = match (stretch, after) {
            (Some(stretch), Some(after)) => {
                format!("@@ -{} +{} @@\n", side(stretch.before, stretch.old), side(after, stretch.new))
            }
            _ => unplaced(hunk),
        };
        out.push_str(&header);
        super::lines(hunk, crlf, out);
    }
}

/// The header of a hunk that does not say where it is: a bare one, or counts alone where its lines
/// would be taken for the headers of a file.
fn unplaced(hunk: &Hunk) -> String {
    let doubtful = hunk.lines.iter().any(|line| line.role == Role::Removed && line.text.starts_with("-- "));
    let (old, new) = counts(hunk);
    if doubtful { format!("@@ -0,{old} +0,{new} @@\n") } else { "@@\n".into() }
}

/// `12,3`; one line needs no count.
fn side(before: usize, count: usize) -> String {
    let start = start(before, count).min(MAX_LINE);
    if count == 1 { start.to_string() } else { format!("{start},{count}") }
}
