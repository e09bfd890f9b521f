//! The lines of a hunk: parses their prefixes, and interprets lines without one.

use super::PatchError;
use super::idle::DROPPED;
use super::reading::{readings, split_prefix};
use super::source::{Notes, is_blank, lines, syntax_error};
use crate::hunk::{Hunk, HunkLine, Role, is_no_op};

/// A parsed hunk and how its lines were written.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) hunk: Hunk,
    /// The index of its first line.
    pub(super) index: usize,
    /// For each line, whether it is context that began with a space.
    prefixed: Vec<bool>,
    /// Context lines with text and no prefix.
    bare: Occurrences,
    /// Empty context lines without the leading space.
    blank: Occurrences,
    /// `\ No newline at end of file` markers where the file cannot end.
    stray: Occurrences,
}

/// Where something first occurred, as an index, and how often.
#[derive(Debug, Default, Clone, Copy)]
struct Occurrences {
    first: usize,
    count: usize,
}

impl Occurrences {
    fn add(&mut self, index: usize) {
        if self.count == 0 {
            self.first = index;
        }
        self.count += 1;
    }
}

impl Body {
    /// Parses the lines of one hunk, the first of which is at `index`.
    pub(super) fn parse(source: &[&str], index: usize) -> Self {
        let mut body = Self { index, ..Self::default() };
        for (at, line) in source.iter().enumerate() {
            body.push(line, index + at);
        }
        body.check_end_markers(index);
        body
    }

    fn push(&mut self, line: &str, index: usize) {
        if is_no_newline_marker(line) {
            match self.hunk.lines.last_mut() {
                Some(last) => last.newline = false,
                None => self.stray.add(index),
            }
            return;
        }
        let (role, text, prefixed) = split_prefix(line);
        if role == Role::Context && !prefixed {
            if is_blank(line) { &mut self.blank } else { &mut self.bare }.add(index);
        }
        self.hunk.lines.push(HunkLine { role, text: text.to_owned(), newline: true });
        self.prefixed.push(prefixed);
    }

    /// Ignores end markers on lines other than the last of their side: a file ends only once.
    fn check_end_markers(&mut self, index: usize) {
        let last_old = self.hunk.lines.iter().rposition(|line| line.role.is_old());
        let last_new = self.hunk.lines.iter().rposition(|line| line.role.is_new());
        for (at, line) in self.hunk.lines.iter_mut().enumerate().filter(|(_, line)| !line.newline) {
            let ends_old = !line.role.is_old() || last_old == Some(at);
            let ends_new = !line.role.is_new() || last_new == Some(at);
            if ends_old && ends_new {
                self.hunk.at_end = true;
            } else {
                line.newline = true;
                self.stray.add(index);
            }
        }
    }

    /// The number of old and of new lines.
    pub(super) fn counts(&self) -> (usize, usize) {
        counts(&self.hunk)
    }

    /// Reports how lines without a prefix were interpreted.
    pub(super) fn report_repairs(&self, notes: &mut Notes) -> Result<(), PatchError> {
        if self.blank.count > 0 {
            let message =
                format!("{} without the leading space: treated as empty context", lines(self.blank.count));
            notes.repair(self.blank.first, message)?;
        }
        if self.bare.count > 0 {
            let message =
                format!("{} without a ` `, `+` or `-` prefix: treated as context", lines(self.bare.count));
            notes.repair(self.bare.first, message)?;
        }
        if self.stray.count > 0 {
            notes.repair(
                self.stray.first,
                "ignored `\\ No newline at end of file` in the middle of the hunk",
            )?;
        }
        Ok(())
    }

    /// The lines, each with whether it is context that began with a space.
    fn prefixed_lines(&self) -> impl Iterator<Item = (&HunkLine, bool)> {
        self.hunk.lines.iter().zip(self.prefixed.iter().copied())
    }

    /// Replaces lines that change nothing by their first reading that does.
    fn read_as_change(&mut self, any_bare: bool, notes: &mut Notes) -> Result<(), PatchError> {
        let reading = match is_no_op(&self.hunk.lines) {
            true => readings(self.prefixed_lines(), any_bare).into_iter().next(),
            false => None,
        };
        let Some(reading) = reading else { return Ok(()) };
        let message =
            format!("the hunk changes nothing as written: it was read as if {}", reading.describe());
        notes.repair(self.index, message)?;
        self.prefixed = reading.lines.iter().map(|line| line.role == Role::Context).collect();
        self.hunk.lines = reading.lines;
        // The line number of an insertion has another meaning.
        if self.hunk.old_lines().next().is_none() {
            self.hunk.line = None;
        }
        Ok(())
    }
}

/// Returns the hunks of a file to update, and whether the file has CRLF line endings. Hunks that
/// change nothing are dropped if the section has another change: another hunk, or to the file's name
/// or mode, as `has_change` says.
pub(super) fn finish_update(
    mut bodies: Vec<Body>,
    has_change: bool,
    notes: &mut Notes,
) -> Result<(Vec<Hunk>, bool), PatchError> {
    let any_bare = has_bare_context(&bodies);
    for body in &mut bodies {
        body.read_as_change(any_bare, notes)?;
    }
    Ok(finish_hunks(drop_hunks(bodies, has_change, notes)?, any_bare, notes))
}

/// Drops the hunks of one section that change nothing. `has_change` says whether the section changes
/// the file's name or mode.
fn drop_hunks(bodies: Vec<Body>, has_change: bool, notes: &mut Notes) -> Result<Vec<Body>, PatchError> {
    if notes.keeps_idle_hunks() {
        return Ok(bodies);
    }
    let is_bare =
        |body: &&Body| body.bare.count > 0 && body.hunk.lines.iter().all(|line| line.role == Role::Context);
    let changes = bodies.iter().any(|body| !body.hunk.changes_nothing());
    // The change may have been lost along with the prefixes.
    if !has_change
        && !changes
        && let Some(body) = bodies.iter().find(is_bare)
    {
        return Err(syntax_error(
            body.index,
            "no line of the hunk starts with `+` or `-`",
            "Start removed lines with `-`, added lines with `+`, and all others with a space.",
        ));
    }
    let mut has_kept = has_change || changes;
    let mut kept = Vec::with_capacity(bodies.len());
    for body in bodies {
        if !body.hunk.changes_nothing() || !std::mem::replace(&mut has_kept, true) {
            kept.push(body);
        } else if body.hunk.lines.iter().any(may_hide_change) {
            return Err(syntax_error(
                body.index,
                "the hunk changes nothing as written, and has `\\n+` or `\\n-` in a line",
                "Send line breaks instead of `\\n`.",
            ));
        } else {
            notes.repair(body.index, DROPPED)?;
        }
    }
    Ok(kept)
}

/// Returns the hunks of a file to delete, and whether the file has CRLF line endings.
pub(super) fn finish_deletion(bodies: Vec<Body>, notes: &Notes) -> (Vec<Hunk>, bool) {
    let any_bare = has_bare_context(&bodies);
    finish_hunks(bodies, any_bare, notes)
}

/// Whether context lacks its prefix. That is decided for all hunks of a file together, because a hunk
/// inside an indented block does not show it.
fn has_bare_context(bodies: &[Body]) -> bool {
    bodies.iter().any(|body| body.bare.count > 0)
}

/// Whether a line may be several lines joined by a literal `\n`, some of which are changes.
fn may_hide_change(line: &HunkLine) -> bool {
    line.text.contains("\\n+") || line.text.contains("\\n-")
}

/// Strips the carriage returns of a CRLF file, and adds the other readings of the hunks.
fn finish_hunks(mut bodies: Vec<Body>, any_bare: bool, notes: &Notes) -> (Vec<Hunk>, bool) {
    let crlf = all_crlf(&bodies);
    if crlf {
        bodies.iter_mut().flat_map(|body| &mut body.hunk.lines).for_each(strip_carriage_return);
    }
    for body in &mut bodies {
        if !notes.strict() && !is_no_op(&body.hunk.lines) {
            body.hunk.alternatives = readings(body.prefixed_lines(), any_bare);
        }
    }
    (bodies.into_iter().map(|body| body.hunk).collect(), crlf)
}

/// Whether every line with a newline ends in a carriage return. Empty context lines do not count, as
/// they may have lost it together with the prefix.
fn all_crlf(bodies: &[Body]) -> bool {
    let mut any = false;
    let counts = |(line, prefixed): &(&HunkLine, &bool)| {
        line.newline && (**prefixed || line.role != Role::Context || !line.text.is_empty())
    };
    let lines = bodies.iter().flat_map(|body| body.hunk.lines.iter().zip(&body.prefixed));
    lines.filter(counts).all(|(line, _)| {
        any = true;
        line.text.ends_with('\r')
    }) && any
}

fn strip_carriage_return(line: &mut HunkLine) {
    if line.newline && line.text.ends_with('\r') {
        line.text.pop();
    }
}

/// The number of old and of new lines of a hunk.
pub(super) fn counts(hunk: &Hunk) -> (usize, usize) {
    (hunk.old_lines().count(), hunk.new_lines().count())
}

/// Whether a line is `\ No newline at end of file`, in any language.
pub(super) fn is_no_newline_marker(line: &str) -> bool {
    line.starts_with("\\ ") || line.trim_end() == "\\No newline at end of file"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Body {
        Body::parse(&text.lines().collect::<Vec<_>>(), 0)
    }

    fn finished(bodies: Vec<Body>) -> (Vec<Hunk>, bool) {
        finish_update(bodies, false, &mut Notes::new(false)).unwrap()
    }

    fn shown(lines: &[HunkLine]) -> Vec<String> {
        let sign = |role| match role {
            Role::Context => '=',
            Role::Removed => '-',
            Role::Added => '+',
        };
        lines.iter().map(|line| format!("{}{}", sign(line.role), line.text)).collect()
    }

    #[test]
    fn prefixes_give_the_role() {
        let body = body(" a\n-b\n+c\n\n");
        assert_eq!(shown(&body.hunk.lines), ["=a", "-b", "+c", "="]);
        assert_eq!((body.counts(), body.blank.count, body.bare.count), ((3, 3), 1, 0));
    }

    #[test]
    fn a_no_newline_marker_applies_to_the_line_before_it() {
        let body = body("-a\n\\ No newline at end of file\n+a\n");
        assert_eq!(body.hunk.lines.iter().map(|line| line.newline).collect::<Vec<_>>(), [false, true]);
        assert!(body.hunk.at_end);
    }

    #[test]
    fn ignores_a_marker_in_the_middle_of_the_old_side() {
        let body = body("-a\n\\ No newline at end of file\n b\n");
        assert!(!body.hunk.at_end && body.hunk.lines.iter().all(|line| line.newline));
        assert_eq!(body.stray.count, 1);
    }

    #[test]
    fn a_backslash_alone_is_not_a_marker() {
        assert_eq!(shown(&body("\\section{x}\n+y").hunk.lines), ["=\\section{x}", "+y"]);
    }

    #[test]
    fn bare_context_in_one_hunk_gives_every_hunk_an_alternative() {
        let bodies = vec![body("fn f() {\n    a();\n+    b();\n"), body("    c();\n-    d();\n")];
        let hunks = finished(bodies).0;
        assert_eq!(shown(&hunks[0].lines), ["=fn f() {", "=   a();", "+    b();"]);
        assert_eq!(shown(&hunks[0].alternatives[0].lines), ["=fn f() {", "=    a();", "+    b();"]);
        assert_eq!(shown(&hunks[1].alternatives[0].lines), ["=    c();", "-    d();"]);
    }

    #[test]
    fn recognizes_indented_bare_context_by_its_odd_indentation() {
        let hunks = finished(vec![body("    a();\n-    b();\n")]).0;
        assert_eq!(shown(&hunks[0].alternatives[0].lines), ["=    a();", "-    b();"]);
        let hunks = finished(vec![body("     a();\n-    b();\n")]).0;
        assert_eq!(hunks[0].alternatives, []);
    }

    #[test]
    fn strips_carriage_returns_only_if_all_lines_have_them() {
        let parsed = |lines: &[&str]| finished(vec![Body::parse(lines, 0)]);
        let (hunks, crlf) = parsed(&[" a\r", "", "-b\r", "+c", "\\ No newline at end of file"]);
        assert!(crlf);
        assert_eq!(shown(&hunks[0].lines), ["=a", "=", "-b", "+c"]);
        let (hunks, crlf) = parsed(&[" a\r", "-b"]);
        assert!(!crlf);
        assert_eq!(hunks[0].lines[0].text, "a\r");
    }
}
