//! The line endings of new lines in files with mixed ones, for every form of request, against an oracle that works on
//! a list of lines.
//!
//! A break inside or after a replaced line takes that line's ending; an insertion takes the ending of the line before
//! it, at the top that of the line after it; `forge` takes the most frequent one.

use proptest::prelude::*;
use serde_json::{Value, json};
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::outcome::Status;
use slipstitch_core::ports::approver::Auto;

use crate::rig::{Rig, path};

const KINDS: [&str; 3] = ["\n", "\r\n", "\r"];

/// A file with distinct lines, each with its own ending; the last one may lack it.
#[derive(Debug, Clone)]
struct Lines {
    endings: Vec<&'static str>,
    is_terminated: bool,
}

impl Lines {
    fn len(&self) -> usize {
        self.endings.len()
    }

    fn text(&self, line: usize) -> String {
        format!("line {line}")
    }

    /// The bytes after a line.
    fn ending(&self, line: usize) -> &'static str {
        if line + 1 == self.len() && !self.is_terminated { "" } else { self.endings[line] }
    }

    /// The ending for breaks in or after a line: its own, or else that of the line before.
    fn break_at(&self, line: usize) -> &'static str {
        match self.ending(line) {
            "" if line > 0 => self.ending(line - 1),
            "" => "\n",
            ending => ending,
        }
    }

    fn dominant(&self) -> &'static str {
        let count = |kind: &str| (0..self.len()).filter(|&line| self.ending(line) == kind).count();
        let (lf, crlf, cr) = (count("\n"), count("\r\n"), count("\r"));
        match () {
            () if lf + crlf + cr == 0 => "\n",
            () if crlf >= lf && crlf >= cr => "\r\n",
            () if lf >= cr => "\n",
            () => "\r",
        }
    }

    fn joined(&self, from: usize, to: usize) -> String {
        (from..to).map(|line| format!("{}{}", self.text(line), self.ending(line))).collect()
    }

    fn bytes(&self) -> String {
        self.joined(0, self.len())
    }

    /// The file after lines `from..to` were replaced with `count` new ones.
    fn replaced(&self, from: usize, to: usize, count: usize) -> String {
        let new: String = (0..count)
            .map(|number| {
                let ending = match number + 1 == count {
                    true => self.ending(to - 1),
                    false => self.break_at((from + number).min(to - 1)),
                };
                format!("new {number}{ending}")
            })
            .collect();
        format!("{}{new}{}", self.joined(0, from), self.joined(to, self.len()))
    }

    /// The file after `count` lines were inserted before a line.
    fn inserted(&self, at: usize, count: usize) -> String {
        let ending = self.break_at(at.saturating_sub(1));
        let new: String = (0..count).map(|number| format!("new {number}{ending}")).collect();
        format!("{}{new}{}", self.joined(0, at), self.joined(at, self.len()))
    }
}

fn files() -> impl Strategy<Value = Lines> {
    (proptest::collection::vec(0usize..3, 1..9), any::<bool>()).prop_map(|(kinds, is_terminated)| Lines {
        endings: kinds.into_iter().map(|kind| KINDS[kind]).collect(),
        is_terminated,
    })
}

fn call(rig: &Rig, dialect: &str, tool: &str, arguments: Value) -> Answer {
    let engine = Engine::new(&rig.files, &rig.journal)
        .dialects(slipstitch_dialects::builtin())
        .policy(&rig.policy)
        .session("tests");
    engine.call(Request { dialect: dialect.into(), tool: tool.into(), arguments }, &mut Auto)
}

/// Lines as a request has them, joined with LF.
fn quoted(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

/// A replacement as each form of request states it.
struct Replacement<'l> {
    lines: &'l Lines,
    from: usize,
    to: usize,
    count: usize,
}

impl Replacement<'_> {
    fn old_text(&self) -> String {
        quoted((self.from..self.to).map(|line| self.lines.text(line)))
    }

    fn new_text(&self) -> String {
        quoted((0..self.count).map(|number| format!("new {number}")))
    }

    /// The context lines before and after.
    fn context(&self) -> [Option<String>; 2] {
        let before = self.from.checked_sub(1).map(|line| self.lines.text(line));
        [before, (self.to < self.lines.len()).then(|| self.lines.text(self.to))]
    }

    fn with_context(&self, text: String) -> String {
        let [before, after] = self.context();
        quoted(before.into_iter().chain([text]).chain(after))
    }

    /// The lines of a hunk, with markers.
    fn hunk(&self) -> String {
        let [before, after] = self.context();
        let mut out = String::new();
        before.iter().for_each(|line| out.push_str(&format!(" {line}\n")));
        (self.from..self.to).for_each(|line| out.push_str(&format!("-{}\n", self.lines.text(line))));
        (0..self.count).for_each(|number| out.push_str(&format!("+new {number}\n")));
        after.iter().for_each(|line| out.push_str(&format!(" {line}\n")));
        out
    }

    fn unified(&self) -> String {
        let [before, after] = self.context();
        let context = usize::from(before.is_some()) + usize::from(after.is_some());
        let start = self.from + 1 - usize::from(before.is_some());
        let (old, new) = (self.to - self.from + context, self.count + context);
        // What the diff says about the end of the file must be true.
        let mut hunk = self.hunk();
        if self.to + 1 >= self.lines.len() && !self.lines.is_terminated {
            let marker = "\\ No newline at end of file\n";
            hunk = match after {
                Some(_) => format!("{hunk}{marker}"),
                None => {
                    let added = hunk.find("\n+").map_or(hunk.len(), |at| at + 1);
                    let (old, new) = hunk.split_at(added);
                    format!("{old}{marker}{new}{}", if new.is_empty() { "" } else { marker })
                }
            };
        }
        format!("--- a/file.txt\n+++ b/file.txt\n@@ -{start},{old} +{start},{new} @@\n{hunk}")
    }

    /// The request in one of its forms, for the `native` dialect.
    fn request(&self, form: usize) -> (&'static str, Value) {
        let (old, new) = (self.old_text(), self.new_text());
        let edit = |old: String, new: String| {
            ("edit_file", json!({"path": "file.txt", "old_text": old, "new_text": new}))
        };
        let patch = |patch: String| ("patch", json!({"path": "file.txt", "patch": patch}));
        match form {
            0 => edit(old, new),
            1 if self.lines.ending(self.to - 1).is_empty() => edit(old, new),
            1 => edit(old + "\n", new + "\n"),
            2 => edit(self.with_context(old), self.with_context(new)),
            // Trailing blanks that the file does not have: found by recovery.
            3 => edit(old.replace('\n', "  \n") + "  ", new),
            4 => edit(
                self.with_context(old).replace('\n', "\r\n"),
                self.with_context(new).replace('\n', "\r\n"),
            ),
            5 => (
                "edit_lines",
                json!({
                    "path": "file.txt", "start_line": self.from + 1, "end_line": self.to, "new_text": new,
                }),
            ),
            6 => patch(self.unified()),
            7 => patch(format!(
                "*** Begin Patch\n*** Update File: file.txt\n@@\n{}*** End Patch\n",
                self.hunk()
            )),
            _ => patch(format!(
                "file.txt\n<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n",
                self.with_context(old),
                self.with_context(new)
            )),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn breaks_of_replaced_lines_take_the_endings_of_those_lines(
        lines in files(),
        (from, more, count) in (0usize..8, 0usize..3, 1usize..5),
        form in 0usize..9,
    ) {
        let from = from % lines.len();
        let to = (from + 1 + more).min(lines.len());
        let rig = Rig::new(lines.bytes());
        let (tool, arguments) = Replacement { lines: &lines, from, to, count }.request(form);
        let answer = call(&rig, "native", tool, arguments.clone());
        prop_assert_eq!(answer.report.status(), Status::Applied, "{}\n{}", arguments, answer.text);
        let after = String::from_utf8(rig.bytes()).unwrap();
        prop_assert_eq!(after, lines.replaced(from, to, count), "{}", arguments);
    }

    // Shows: 000-raw-bytes, FR-SFE-08
    #[test]
    fn every_dialect_takes_the_endings_of_replaced_lines(
        lines in files(),
        (from, more, count) in (0usize..8, 0usize..3, 1usize..5),
        dialect in 0usize..6,
    ) {
        let from = from % lines.len();
        let to = (from + 1 + more).min(lines.len());
        let edit = Replacement { lines: &lines, from, to, count };
        let (old, new) = (edit.old_text(), edit.new_text());
        let (dialect, tool, arguments) = match dialect {
            0 => ("phoenix", "patch", json!({"path": "file.txt", "patches": [
                {"operation": "replace", "oldText": old, "newText": new}]})),
            1 => ("xzatoma", "edit_file", json!({"path": "file.txt", "mode": "edit", "old_text": old, "content": new})),
            2 => ("agent-q", "edit_file", json!({"path": "file.txt", "old_str": old, "new_str": new})),
            3 => ("claude", "Edit", json!({"file_path": "file.txt", "old_string": old, "new_string": new})),
            4 => ("nexus3", "edit_file", json!({"path": "file.txt", "old_string": old, "new_string": new})),
            _ => ("forge", "Edit", json!({"path": "file.txt", "old_snippet": old, "new_snippet": new})),
        };
        let rig = Rig::new(lines.bytes());
        let answer = call(&rig, dialect, tool, arguments.clone());
        prop_assert_eq!(answer.report.status(), Status::Applied, "{}\n{}", arguments, answer.text);
        let expected = match dialect {
            "forge" => {
                let new = new.replace('\n', lines.dominant()) + lines.ending(to - 1);
                format!("{}{new}{}", lines.joined(0, from), lines.joined(to, lines.len()))
            }
            _ => lines.replaced(from, to, count),
        };
        prop_assert_eq!(String::from_utf8(rig.bytes()).unwrap(), expected, "{}", arguments);
    }

    #[test]
    fn inserted_lines_take_the_ending_of_the_line_before(
        lines in files(),
        (at, count) in (0usize..8, 1usize..4),
        form in 0usize..5,
    ) {
        let at = at % lines.len();
        let new: Vec<String> = (0..count).map(|number| format!("new {number}")).collect();
        let new = new.join("\n");
        let edit = |old: String, new: String| ("edit_file", json!({"path": "file.txt", "old_text": old, "new_text": new}));
        let line = |line: usize| lines.text(line);
        let write = |mode: &str| ("write_file", json!({"path": "file.txt", "mode": mode, "content": format!("{new}\n")}));
        let (tool, arguments, expected) = match form {
            0 => {
                let (tool, arguments) = edit(line(at), format!("{new}\n{}", line(at)));
                (tool, arguments, lines.inserted(at, count))
            }
            1 if at > 0 => {
                let (tool, arguments) = edit(line(at - 1), format!("{}\n{new}", line(at - 1)));
                (tool, arguments, lines.inserted(at, count))
            }
            2 => {
                let added: String = (0..count).map(|number| format!("+new {number}\n")).collect();
                let before = at.checked_sub(1).map_or(String::new(), |before| format!(" {}\n", line(before)));
                let patch = format!("*** Begin Patch\n*** Update File: file.txt\n@@\n{before}{added} {}\n*** End Patch\n", line(at));
                ("patch", json!({"patch": patch}), lines.inserted(at, count))
            }
            3 => {
                let (tool, arguments) = write("prepend");
                (tool, arguments, lines.inserted(0, count))
            }
            _ => {
                let ending = lines.break_at(lines.len() - 1);
                let separator = if lines.is_terminated { "" } else { ending };
                let added: String = (0..count).map(|number| format!("new {number}{ending}")).collect();
                let (tool, arguments) = write("append");
                (tool, arguments, format!("{}{separator}{added}", lines.bytes()))
            }
        };
        let rig = Rig::new(lines.bytes());
        let answer = call(&rig, "native", tool, arguments.clone());
        prop_assert_eq!(answer.report.status(), Status::Applied, "{}\n{}", arguments, answer.text);
        prop_assert_eq!(String::from_utf8(rig.bytes()).unwrap(), expected, "{}", arguments);
    }

    #[test]
    fn replacing_every_occurrence_takes_the_endings_of_each(kinds in proptest::collection::vec(0usize..3, 1..9)) {
        let before: String = kinds.iter().map(|&kind| format!("same;{}", KINDS[kind])).collect();
        let rig = Rig::new(before);
        let answer = rig.call("edit_file", json!({"old_text": "same;", "new_text": "one\ntwo", "replace_all": true}));
        prop_assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
        let expected: String = kinds.iter().map(|&kind| format!("one{0}two{0}", KINDS[kind])).collect();
        prop_assert_eq!(String::from_utf8(rig.bytes()).unwrap(), expected);
    }
}

#[test]
fn the_two_files_that_showed_the_wrong_ending() {
    let rig = Rig::new("a\nb\r\nc\nd\n");
    rig.edit("c", "C\nC2");
    assert_eq!(String::from_utf8(rig.bytes()).unwrap(), "a\nb\r\nC\nC2\nd\n");
    let rig = Rig::new("x\ny\na\r\nb\r\nz\n");
    rig.edit("a", "A\nA2");
    assert_eq!(String::from_utf8(rig.bytes()).unwrap(), "x\ny\nA\r\nA2\r\nb\r\nz\n");
    assert!(rig.files.get(&path("file.txt")).is_some());
}
