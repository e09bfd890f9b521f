//! The lines of a hunk: what each one's first character says, and what a missing one may mean.

use super::PatchError;
use super::source::{Notes, is_blank, lines};
use crate::hunk::{Hunk, HunkLine, Role};

/// A hunk as it was read, with what its lines looked like.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) hunk: Hunk,
    /// For each line, whether it is context that began with a blank.
    prefixed: Vec<bool>,
    /// Context lines with text and no prefix: the first one's index, and how many.
    bare: Seen,
    /// Empty context lines without their blank.
    blank: Seen,
    /// `\ No newline` marks that stand where no file can end.
    stray: Seen,
}

/// Where something was first seen, and how often.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    first: usize,
    count: usize,
}

impl Seen {
    fn note(&mut self, index: usize) {
        if self.count == 0 {
            self.first = index;
        }
        self.count += 1;
    }
}

impl Body {
    /// Reads the lines of one hunk, the first of which stands at `index`.
    pub(super) fn read(source: &[&str], index: usize) -> Self {
        let mut body = Self::default();
        for (at, line) in source.iter().enumerate() {
            body.push(line, index + at);
        }
        body.check_ends(index);
        body
    }

    fn push(&mut self, line: &str, index: usize) {
        if is_end_mark(line) {
            match self.hunk.lines.last_mut() {
                Some(last) => last.newline = false,
                None => self.stray.note(index),
            }
            return;
        }
        let (role, text, prefixed) = match line.as_bytes().first() {
            Some(b'+') => (Role::Added, &line[1..], false),
            Some(b'-') => (Role::Removed, &line[1..], false),
            Some(b' ') => (Role::Context, &line[1..], true),
            _ if is_blank(line) => {
                self.blank.note(index);
                (Role::Context, line, false)
            }
            _ => {
                self.bare.note(index);
                (Role::Context, line, false)
            }
        };
        self.hunk.lines.push(HunkLine { role, text: text.to_owned(), newline: true });
        self.prefixed.push(prefixed);
    }

    /// A file ends once: marks on other lines than the last of their side mean nothing.
    fn check_ends(&mut self, index: usize) {
        let last_old = self.hunk.lines.iter().rposition(|line| line.role.is_old());
        let last_new = self.hunk.lines.iter().rposition(|line| line.role.is_new());
        for (at, line) in self.hunk.lines.iter_mut().enumerate().filter(|(_, line)| !line.newline) {
            let ends_old = !line.role.is_old() || last_old == Some(at);
            let ends_new = !line.role.is_new() || last_new == Some(at);
            if ends_old && ends_new {
                self.hunk.at_end = true;
            } else {
                line.newline = true;
                self.stray.note(index);
            }
        }
    }

    /// How many lines the old and the new side have.
    pub(super) fn counts(&self) -> (usize, usize) {
        counts(&self.hunk)
    }

    /// Tells what was read into the lines.
    pub(super) fn tell(&self, notes: &mut Notes) -> Result<(), PatchError> {
        if self.blank.count > 0 {
            let what =
                format!("{} without the leading blank: read as empty context", lines(self.blank.count));
            notes.repair(self.blank.first, what)?;
        }
        if self.bare.count > 0 {
            let what =
                format!("{} without ` `, `+` or `-` at the start: read as context", lines(self.bare.count));
            notes.repair(self.bare.first, what)?;
        }
        if self.stray.count > 0 {
            notes.repair(self.stray.first, "`\\ No newline at end of file` inside the hunk was left out")?;
        }
        Ok(())
    }

    /// Whether the hunk by itself looks as if its context had no prefix: indented by an odd number
    /// of blanks, once one is taken off, where the changed lines are indented by an even one.
    fn looks_shifted(&self) -> bool {
        let indent = |line: &HunkLine| line.text.bytes().take_while(|byte| *byte == b' ').count();
        let (kept, changed): (Vec<_>, Vec<_>) = (self.hunk.lines.iter())
            .filter(|line| !line.text.trim().is_empty())
            .partition(|line| line.role == Role::Context);
        !kept.is_empty()
            && !changed.is_empty()
            && kept.iter().all(|line| indent(line) % 2 == 1)
            && changed.iter().all(|line| indent(line) % 2 == 0)
    }

    /// The lines with the first blank of context kept, if that is another reading.
    fn unshifted(&self) -> Option<Vec<HunkLine>> {
        let another = |(line, prefixed): (&HunkLine, &bool)| *prefixed && !line.text.trim().is_empty();
        if !self.hunk.lines.iter().zip(&self.prefixed).any(another) {
            return None;
        }
        let lines = self.hunk.lines.iter().zip(&self.prefixed).map(|(line, prefixed)| HunkLine {
            text: if *prefixed { format!(" {}", line.text) } else { line.text.clone() },
            ..line.clone()
        });
        Some(lines.collect())
    }
}

/// The hunks of one file, and whether their lines are those of a CRLF file.
///
/// Whether context has no prefix is a matter of the whole file: a hunk that lies inside an indented
/// block shows it less than one that does not.
pub(super) fn settle(mut bodies: Vec<Body>, notes: &Notes) -> (Vec<Hunk>, bool) {
    let crlf = all_crlf(&bodies);
    if crlf {
        bodies.iter_mut().flat_map(|body| &mut body.hunk.lines).for_each(strip_return);
    }
    let any_bare = bodies.iter().any(|body| body.bare.count > 0);
    for body in &mut bodies {
        if !notes.strict() && (any_bare || body.looks_shifted()) {
            body.hunk.alternative = body.unshifted();
        }
    }
    (bodies.into_iter().map(|body| body.hunk).collect(), crlf)
}

/// Whether every line that has an end of its own ends in a carriage return. Empty context may have
/// lost its one together with its prefix.
fn all_crlf(bodies: &[Body]) -> bool {
    let mut some = false;
    let shows = |(line, prefixed): &(&HunkLine, &bool)| {
        line.newline && (**prefixed || line.role != Role::Context || !line.text.is_empty())
    };
    let lines = bodies.iter().flat_map(|body| body.hunk.lines.iter().zip(&body.prefixed));
    lines.filter(shows).all(|(line, _)| {
        some = true;
        line.text.ends_with('\r')
    }) && some
}

fn strip_return(line: &mut HunkLine) {
    if line.newline && line.text.ends_with('\r') {
        line.text.pop();
    }
}

/// How many lines the old and the new side of a hunk have.
pub(super) fn counts(hunk: &Hunk) -> (usize, usize) {
    (hunk.old_lines().count(), hunk.new_lines().count())
}

/// Whether a line is `\ No newline at end of file`, in whatever language.
pub(super) fn is_end_mark(line: &str) -> bool {
    line.starts_with("\\ ") || line.trim_end() == "\\No newline at end of file"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Body {
        Body::read(&text.lines().collect::<Vec<_>>(), 0)
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
    fn prefixes_say_what_becomes_of_a_line() {
        let body = body(" a\n-b\n+c\n\n");
        assert_eq!(shown(&body.hunk.lines), ["=a", "-b", "+c", "="]);
        assert_eq!((body.counts(), body.blank.count, body.bare.count), ((3, 3), 1, 0));
    }

    #[test]
    fn a_missing_final_newline_belongs_to_the_line_before_the_mark() {
        let body = body("-a\n\\ No newline at end of file\n+a\n");
        assert_eq!(body.hunk.lines.iter().map(|line| line.newline).collect::<Vec<_>>(), [false, true]);
        assert!(body.hunk.at_end);
    }

    #[test]
    fn a_mark_inside_the_old_side_is_left_out() {
        let body = body("-a\n\\ No newline at end of file\n b\n");
        assert!(!body.hunk.at_end && body.hunk.lines.iter().all(|line| line.newline));
        assert_eq!(body.stray.count, 1);
    }

    #[test]
    fn a_backslash_is_no_mark() {
        assert_eq!(shown(&body("\\section{x}\n+y").hunk.lines), ["=\\section{x}", "+y"]);
    }

    #[test]
    fn bare_context_in_one_hunk_gives_all_hunks_a_second_reading() {
        let bodies = vec![body("fn f() {\n    a();\n+    b();\n"), body("    c();\n-    d();\n")];
        let (hunks, _) = settle(bodies, &Notes::new(false));
        assert_eq!(shown(&hunks[0].lines), ["=fn f() {", "=   a();", "+    b();"]);
        let second = |hunk: &Hunk| shown(hunk.alternative.as_deref().unwrap());
        assert_eq!(second(&hunks[0]), ["=fn f() {", "=    a();", "+    b();"]);
        assert_eq!(second(&hunks[1]), ["=    c();", "-    d();"]);
    }

    #[test]
    fn indented_bare_context_alone_is_seen_by_its_odd_shift() {
        let (hunks, _) = settle(vec![body("    a();\n-    b();\n")], &Notes::new(false));
        assert_eq!(shown(hunks[0].alternative.as_deref().unwrap()), ["=    a();", "-    b();"]);
        let (hunks, _) = settle(vec![body("     a();\n-    b();\n")], &Notes::new(false));
        assert_eq!(hunks[0].alternative, None);
    }

    #[test]
    fn carriage_returns_go_only_if_all_lines_have_them() {
        let read = |lines: &[&str]| settle(vec![Body::read(lines, 0)], &Notes::new(false));
        let (hunks, crlf) = read(&[" a\r", "", "-b\r", "+c", "\\ No newline at end of file"]);
        assert!(crlf);
        assert_eq!(shown(&hunks[0].lines), ["=a", "=", "-b", "+c"]);
        let (hunks, crlf) = read(&[" a\r", "-b"]);
        assert!(!crlf);
        assert_eq!(hunks[0].lines[0].text, "a\r");
    }
}
