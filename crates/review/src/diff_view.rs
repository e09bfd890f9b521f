//! Hunks as rows of two columns, with the words that changed.

use slipstitch::core::text::display::escape_controls;

use crate::line_part::Part;
use crate::marks::{MAX_MARKED, mark_hunk, pair_lines, text_of};

/// A hunk as rows.
#[derive(Debug, Default)]
pub(crate) struct HunkView {
    pub(crate) rows: Vec<Row>,
    /// The new text from the first to the last line that changes, for editing.
    pub(crate) editable: String,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// A row: an old line, a new line, or both.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) old: Option<Line>,
    pub(crate) new: Option<Line>,
    pub(crate) is_changed: bool,
}

impl Row {
    /// The parts of one of the row's lines to show. If the lines differ only in whitespace, the whitespace is made visible. If a very
    /// long line has long parts in common with the other side, only their ends are shown, so that the change can be found.
    pub(crate) fn shown_parts<'a>(&self, line: &'a Line) -> Vec<(String, &'a Part)> {
        let only_blanks = self.is_changed && self.differs_in_blanks();
        let can_be_cut = text_len(line) > MAX_MARKED && (!self.is_changed || self.is_compared());
        let mut shown = Vec::new();
        for group in line.parts.chunk_by(|one, other| one.is_changed == other.is_changed) {
            if can_be_cut
                && !group[0].is_changed
                && group.iter().map(|part| part.text.len()).sum::<usize>() > 3 * SHOWN_END
            {
                shown.push((escape_but_tabs(&cut_middle(&text_of(group))), &PLAIN));
                continue;
            }
            shown.extend(group.iter().map(|part| {
                let text = escape_but_tabs(&part.text);
                match only_blanks && part.is_changed {
                    true => (text.replace('\t', "→\t").replace(' ', "·"), part),
                    false => (text, part),
                }
            }));
        }
        shown
    }

    /// Whether the two lines were compared, so that unmarked parts are in both.
    fn is_compared(&self) -> bool {
        let has_marks = |line: &Option<Line>| {
            line.as_ref().is_some_and(|line| line.parts.iter().any(|part| part.is_changed))
        };
        self.old.is_some() && self.new.is_some() && (has_marks(&self.old) || has_marks(&self.new))
    }

    /// A note about the end of one of the row's lines that would otherwise be invisible.
    pub(crate) fn end_note(&self, line: &Line) -> Option<&'static str> {
        let ends_differ = match (&self.old, &self.new) {
            (Some(old), Some(new)) => self.is_changed && old.end != new.end,
            _ => false,
        };
        match line.end {
            LineEnd::Missing => Some("no newline at the end"),
            LineEnd::CrLf if ends_differ => Some("CRLF"),
            LineEnd::Lf if ends_differ => Some("LF"),
            LineEnd::Lf | LineEnd::CrLf => None,
        }
    }

    fn differs_in_blanks(&self) -> bool {
        let text = |line: &Option<Line>| -> Option<String> {
            let parts = &line.as_ref()?.parts;
            Some(parts.iter().flat_map(|part| part.text.chars()).filter(|c| !c.is_whitespace()).collect())
        };
        self.old.is_some() && text(&self.old) == text(&self.new)
    }
}

/// Both ends of a long text, and how much is between them.
fn cut_middle(text: &str) -> String {
    let count = text.chars().count();
    if count <= 3 * SHOWN_END {
        return text.to_owned();
    }
    let at = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    let (start, end) = (&text[..at(SHOWN_END)], &text[at(count - SHOWN_END)..]);
    format!("{start}[… {} characters …]{end}", count - 2 * SHOWN_END)
}

/// Tabs stay; other characters that a reader cannot see are escaped.
pub(crate) fn escape_but_tabs(text: &str) -> String {
    text.split('\t').map(escape_controls).collect::<Vec<_>>().join("\t")
}

/// One line of a file.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) parts: Vec<Part>,
    end: LineEnd,
}

/// How a shortened part looks.
static PLAIN: Part = Part { text: String::new(), is_changed: false, class: None };

fn text_len(line: &Line) -> usize {
    line.parts.iter().map(|part| part.text.len()).sum()
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Lf,
    CrLf,
    /// The file ends without a newline.
    Missing,
}

/// How many characters are shown at each end of the unchanged part of a very long line.
const SHOWN_END: usize = 120;

/// A line of a diff: what it is, its text, and how it ends.
struct DiffLine<'a> {
    sign: char,
    text: &'a str,
    end: LineEnd,
}

impl HunkView {
    /// Parses one hunk of a unified diff; headers of the file are skipped.
    pub(crate) fn parse(diff: &str, path: &str) -> Self {
        let mut view = Self::default();
        // `lines` would drop the carriage returns.
        let mut lines = diff.split_terminator('\n').peekable();
        while let Some(line) = lines.next() {
            let Some((old, new)) = hunk_start(line) else { continue };
            let mut body: Vec<DiffLine<'_>> = Vec::new();
            while let Some(line) =
                lines.next_if(|line| hunk_start(line).is_none() && !line.starts_with("diff --git "))
            {
                match line.chars().next() {
                    Some('\\') => {
                        body.iter_mut().last().into_iter().for_each(|last| last.end = LineEnd::Missing)
                    }
                    Some(sign @ ('+' | '-' | ' ')) => {
                        let (text, end) = match line[1..].strip_suffix('\r') {
                            Some(text) => (text, LineEnd::CrLf),
                            None => (&line[1..], LineEnd::Lf),
                        };
                        body.push(DiffLine { sign, text, end });
                    }
                    None => body.push(DiffLine { sign: ' ', text: "", end: LineEnd::Lf }),
                    // The diff is incomplete; `summary::unseen_note` says so.
                    Some(_) => {}
                }
            }
            view.add(&body, old, new, path);
        }
        view
    }

    fn add(&mut self, body: &[DiffLine<'_>], old: usize, new: usize, path: &str) {
        let lines: Vec<(char, &str)> = body.iter().map(|line| (line.sign, line.text)).collect();
        let mut marks = mark_hunk(path, &lines).into_iter();
        let (mut old_number, mut new_number) = (old, new);
        let (mut removed, mut added): (Vec<Line>, Vec<Line>) = (Vec::new(), Vec::new());
        let first_changed = body.iter().position(|line| line.sign != ' ');
        let last_changed = body.iter().rposition(|line| line.sign != ' ');
        for (index, line) in body.iter().enumerate() {
            let parts = marks.next().unwrap_or_default();
            let make = |number: usize| Line { number, parts: parts.clone(), end: line.end };
            match line.sign {
                '-' => {
                    removed.push(make(old_number));
                    old_number += 1;
                    self.removed += 1;
                }
                '+' => {
                    added.push(make(new_number));
                    new_number += 1;
                    self.added += 1;
                }
                _ => {
                    self.flush(&mut removed, &mut added);
                    let row =
                        Row { old: Some(make(old_number)), new: Some(make(new_number)), is_changed: false };
                    self.rows.push(row);
                    old_number += 1;
                    new_number += 1;
                }
            }
            let is_between = first_changed <= Some(index) && Some(index) <= last_changed;
            if line.sign != '-' && is_between {
                self.editable.push_str(line.text);
                self.editable.push('\n');
            }
        }
        self.flush(&mut removed, &mut added);
    }

    /// Puts lines that resemble each other side by side.
    fn flush(&mut self, removed: &mut Vec<Line>, added: &mut Vec<Line>) {
        let texts = |lines: &[Line]| lines.iter().map(|line| text_of(&line.parts)).collect::<Vec<_>>();
        let pairs = pair_lines(&texts(removed), &texts(added));
        let (mut old, mut new) = (removed.drain(..).peekable(), added.drain(..).peekable());
        let (mut at_old, mut at_new) = (0, 0);
        for (old_end, new_end) in
            pairs.into_iter().map(Some).chain([None]).map(|pair| pair.unwrap_or((usize::MAX, usize::MAX)))
        {
            // Lines without a counterpart are shown next to each other, unmarked.
            while (at_old < old_end && old.peek().is_some()) || (at_new < new_end && new.peek().is_some()) {
                let old = if at_old < old_end { old.next() } else { None };
                let new = if at_new < new_end { new.next() } else { None };
                at_old += usize::from(old.is_some());
                at_new += usize::from(new.is_some());
                self.rows.push(Row { old, new, is_changed: true });
            }
            if let (true, Some(old), Some(new)) = (old_end != usize::MAX, old.next(), new.next()) {
                self.rows.push(Row { old: Some(old), new: Some(new), is_changed: true });
                at_old += 1;
                at_new += 1;
            }
        }
    }
}

/// The lines that a hunk is about, in words.
pub(crate) fn describe_lines(diff: &str) -> String {
    let range = |range: &str| -> Option<(usize, usize)> {
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let described = diff.lines().find_map(|line| {
        let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        // If nothing is left, the lines of the old text.
        let (start, count) = range(new).filter(|(_, count)| *count > 0).or_else(|| range(old))?;
        Some(if count <= 1 {
            format!("line {start}")
        } else {
            format!("lines {start}–{}", start + count - 1)
        })
    });
    described.unwrap_or_else(|| "the file itself".into())
}

/// What happens to a file besides its lines, from the header of its diff.
pub(crate) fn file_notes(diff: &str) -> Vec<String> {
    let header = diff.lines().take_while(|line| !line.starts_with("@@ ") && !line.starts_with("--- "));
    let mut old_mode = None;
    header
        .filter_map(|line| {
            let (name, value) = [
                "new file mode ",
                "deleted file mode ",
                "rename to ",
                "old mode ",
                "new mode ",
                "Binary files ",
            ]
            .iter()
            .find_map(|name| Some((*name, line.strip_prefix(name)?)))?;
            match name {
                "new file mode " => Some("new file".to_owned()),
                "deleted file mode " => Some("deleted".to_owned()),
                "rename to " => Some(format!("moved to {}", unquoted(value))),
                "old mode " => {
                    old_mode = Some(value);
                    None
                }
                "new mode " => Some(format!("mode {} to {value}", old_mode.unwrap_or("changed"))),
                _ => Some("binary".to_owned()),
            }
        })
        .collect()
}

/// A name from a diff's header, without unnecessary quotes.
fn unquoted(name: &str) -> &str {
    let inner = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    inner.filter(|inner| !inner.contains('\\')).unwrap_or(name)
}

/// The first old and new line of a hunk.
fn hunk_start(line: &str) -> Option<(usize, usize)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let start = |range: &str| range.split(',').next().and_then(|start| start.parse().ok());
    Some((start(old)?, start(new)?))
}

/// The hunks of a diff, each with the path of its file.
pub(crate) fn views_of_files<'a>(
    paths: impl Iterator<Item = &'a str>,
    diff: &str,
) -> Vec<(String, HunkView)> {
    let views = |(path, text): (&str, &str)| {
        let hunks = split_hunks(text).into_iter();
        hunks.map(|hunk| (path.to_owned(), HunkView::parse(hunk, path))).collect::<Vec<_>>()
    };
    paths.zip(split_files(diff)).flat_map(views).collect()
}

/// The files of a diff.
pub(crate) fn split_files(diff: &str) -> Vec<&str> {
    split_before(diff, "diff --git ")
}

/// The hunks of one file of a diff.
pub(crate) fn split_hunks(file: &str) -> Vec<&str> {
    split_before(file, "@@ ").into_iter().filter(|part| part.starts_with("@@ ")).collect()
}

/// Splits a text before each line that starts with `start`.
fn split_before<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut begin, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.starts_with(start) && at > begin {
            parts.push(&text[begin..at]);
            begin = at;
        }
        at += line.len();
    }
    parts.push(&text[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -3,4 +3,4 @@\n same\n-let a = one;\n+let a = two;\n+let b = three;\n between\n-gone\n";

    #[test]
    fn lines_are_paired_and_numbered() {
        let view = HunkView::parse(DIFF, "a.txt");
        let numbers: Vec<_> = view
            .rows
            .iter()
            .map(|row| (row.old.as_ref().map(|line| line.number), row.new.as_ref().map(|line| line.number)))
            .collect();
        assert_eq!(
            numbers,
            [(Some(3), Some(3)), (Some(4), Some(4)), (None, Some(5)), (Some(5), Some(6)), (Some(6), None)]
        );
        assert_eq!((view.added, view.removed), (2, 2));
        assert_eq!(view.editable, "let a = two;\nlet b = three;\nbetween\n");
    }

    #[test]
    fn lines_that_resemble_each_other_are_side_by_side() {
        let diff = "@@ -1,2 +1,4 @@\n-    put(a)\n-    return status\n+    for x in all:\n+        put(a)\n+        if ok:\n+            return status\n";
        let view = HunkView::parse(diff, "a.txt");
        let text = |line: &Option<Line>| {
            line.as_ref().map_or(String::new(), |line| text_of(&line.parts).trim().to_owned())
        };
        let rows: Vec<(String, String)> =
            view.rows.iter().map(|row| (text(&row.old), text(&row.new))).collect();
        let expected =
            [("", "for x in all:"), ("put(a)", "put(a)"), ("", "if ok:"), ("return status", "return status")];
        assert_eq!(rows, expected.map(|(old, new)| (old.to_owned(), new.to_owned())));
    }

    #[test]
    fn what_a_call_gained_is_marked_and_not_the_whole_call() {
        let diff = "@@ -1 +1 @@\n-    return self.post(message)\n+    return self.post(message, retries=3)\n";
        let view = HunkView::parse(diff, "a.txt");
        let marked = |line: &Option<Line>| -> String {
            let parts = line.as_ref().unwrap().parts.iter().filter(|part| part.is_changed);
            parts.map(|part| part.text.as_str()).collect()
        };
        assert_eq!(
            (marked(&view.rows[0].old).as_str(), marked(&view.rows[0].new).as_str()),
            ("", ", retries=3")
        );
        assert_eq!(crate::marks::tokens("a_b(1,  é)"), ["a_b", "(", "1", ",", "  ", "é", ")"]);
    }

    #[test]
    fn only_changed_words_are_marked() {
        let view = HunkView::parse(DIFF, "a.txt");
        let marked = |line: &Option<Line>| -> Vec<String> {
            let parts = line.as_ref().unwrap().parts.iter().filter(|part| part.is_changed);
            parts.map(|part| part.text.clone()).collect()
        };
        assert_eq!(marked(&view.rows[1].old), ["one"]);
        assert_eq!(marked(&view.rows[1].new), ["two"]);
        assert!(marked(&view.rows[0].old).is_empty());
    }

    #[test]
    fn headers_are_described_in_words() {
        assert_eq!(describe_lines(DIFF), "lines 3–6");
        assert_eq!(describe_lines("@@ -4 +4 @@\n-a\n+b\n"), "line 4");
        assert_eq!(describe_lines("@@ -4,2 +3,0 @@\n-a\n-b\n"), "lines 4–5");
        let moved = "diff --git a/x b/y\nold mode 100644\nnew mode 100755\nrename from x\nrename to y\n";
        assert_eq!(file_notes(moved), ["mode 100644 to 100755", "moved to y"]);
        let quoted = |name: &str| file_notes(&format!("diff --git a/x b/y\nrename to {name}\n"));
        assert_eq!(quoted("\"a b\""), ["moved to a b"]);
        assert_eq!(quoted("\"a\\nb\""), ["moved to \"a\\nb\""], "escapes mean nothing without their quotes");
        assert_eq!(describe_lines(moved), "the file itself");
        assert_eq!(file_notes("diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n"), ["new file"]);
    }

    #[test]
    fn a_new_file_and_a_missing_newline() {
        let diff = "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+é\n\\ No newline at end of file\n";
        let view = HunkView::parse(diff, "n");
        let line = view.rows[0].new.as_ref().unwrap();
        assert_eq!(view.rows[0].end_note(line), Some("no newline at the end"));
        assert!(line.number == 1 && view.rows[0].old.is_none());
    }

    #[test]
    fn the_change_in_a_very_long_line_can_be_found() {
        let (before, after) = ("let a = 1; ".repeat(400), "let b = 2; ".repeat(400));
        let diff = format!(
            "@@ -1,3 +1,3 @@\n {before}\n-{before}old {after}\n+{before}brand new {after}\n-{before}\n"
        );
        let view = HunkView::parse(&diff, "a.txt");
        let shown = |row: &Row, line: &Option<Line>| -> String {
            row.shown_parts(line.as_ref().unwrap()).into_iter().map(|(text, _)| text).collect()
        };
        let [context, changed, removed] = &view.rows[..] else { panic!("{:?}", view.rows) };
        let text = shown(context, &context.new);
        assert!(text.len() < 400 && text.contains("[… 4160 characters …]"), "{text}");
        for (line, word) in [(&changed.old, "; old"), (&changed.new, "; brand new")] {
            let text = shown(changed, line);
            assert!(text.len() < 1_000 && text.contains(&format!("{word} let b")), "{text}");
        }
        let marked: Vec<&str> = changed
            .new
            .as_ref()
            .unwrap()
            .parts
            .iter()
            .filter(|part| part.is_changed)
            .map(|part| part.text.as_str())
            .collect();
        assert_eq!(marked, ["brand new"]);
        // A line that only one side has is shown in full.
        assert_eq!(shown(removed, &removed.old), before);
        // Words are marked whole, and an insertion marks nothing in the old line.
        for (old, new) in [("2", "22"), ("", ", 3")] {
            let diff = format!("@@ -1 +1 @@\n-{before}[1, {old}]{after}\n+{before}[1, {new}]{after}\n");
            let view = HunkView::parse(&diff, "a.txt");
            let row = &view.rows[0];
            assert!(shown(row, &row.new).contains(&format!("[1, {new}]let b")));
            let text = shown(row, &row.old);
            assert!(text.len() < 1_000 && text.contains(&format!("[1, {old}]")) != old.is_empty(), "{text}");
        }
    }

    #[test]
    fn differences_that_nobody_sees_are_made_visible() {
        let diff = "@@ -1,3 +1,3 @@\n-  two  words\n+\ttwo  words\n-end\r\n+end\n-a b\n+a c\n";
        let view = HunkView::parse(diff, "a.txt");
        let shown = |row: &Row, line: &Option<Line>| -> String {
            row.shown_parts(line.as_ref().unwrap()).into_iter().map(|(text, _)| text).collect()
        };
        let both: Vec<[String; 2]> =
            view.rows.iter().map(|row| [shown(row, &row.old), shown(row, &row.new)]).collect();
        assert_eq!(both, [["··two  words", "→\ttwo  words"], ["end", "end"], ["a b", "a c"]]);
        let ends: Vec<[Option<&str>; 2]> = view
            .rows
            .iter()
            .map(|row| [&row.old, &row.new].map(|line| row.end_note(line.as_ref().unwrap())))
            .collect();
        assert_eq!(ends, [[None, None], [Some("CRLF"), Some("LF")], [None, None]]);
    }
}
