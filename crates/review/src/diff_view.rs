//! Hunks as rows of two columns, with the words that changed.

use similar::{ChangeTag, TextDiff};

use crate::highlight::Highlighter;
use crate::line_part::Part;

/// A hunk as rows.
#[derive(Debug, Default)]
pub(crate) struct HunkView {
    /// The first and the last line of the new text, or of the old one if nothing is left.
    pub(crate) lines: (usize, usize),
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

/// One line of a file.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) parts: Vec<Part>,
    pub(crate) lacks_newline: bool,
}

/// Lines longer than this are shown without marks.
const MAX_MARKED: usize = 2_000;

/// Words of two lines are only compared if the lines have this much in common; otherwise everything would be marked.
const MIN_SIMILARITY: f32 = 0.4;

/// A line of a diff: what it is, its text, and whether it lacks a newline.
struct DiffLine<'a> {
    sign: char,
    text: &'a str,
    lacks_newline: bool,
}

impl HunkView {
    /// Parses one hunk of a unified diff; headers of the file are skipped.
    pub(crate) fn parse(diff: &str, path: &str) -> Self {
        let mut view = Self::default();
        let mut lines = diff.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((old, new)) = hunk_start(line) else { continue };
            let mut body: Vec<DiffLine<'_>> = Vec::new();
            while let Some(line) =
                lines.next_if(|line| hunk_start(line).is_none() && !line.starts_with("diff --git "))
            {
                match line.chars().next() {
                    Some('\\') => {
                        body.iter_mut().last().into_iter().for_each(|last| last.lacks_newline = true)
                    }
                    Some(sign @ ('+' | '-' | ' ')) => {
                        let text = line[1..].strip_suffix('\r').unwrap_or(&line[1..]);
                        body.push(DiffLine { sign, text, lacks_newline: false });
                    }
                    _ => body.push(DiffLine { sign: ' ', text: "", lacks_newline: false }),
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
            let make =
                |number: usize| Line { number, parts: parts.clone(), lacks_newline: line.lacks_newline };
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
        let end = if new_number > new { new_number - 1 } else { old_number.saturating_sub(1).max(old) };
        let start = if new_number > new { new } else { old };
        self.lines = (if self.lines.0 == 0 { start } else { self.lines.0 }, end);
    }

    /// Pairs removed with added lines.
    fn flush(&mut self, removed: &mut Vec<Line>, added: &mut Vec<Line>) {
        let count = removed.len().max(added.len());
        let (mut old, mut new) = (removed.drain(..), added.drain(..));
        for _ in 0..count {
            let (old, new) = (old.next(), new.next());
            self.rows.push(Row { old, new, is_changed: true });
        }
    }
}

/// The first old and new line of a hunk.
fn hunk_start(line: &str) -> Option<(usize, usize)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let start = |range: &str| range.split(',').next().and_then(|start| start.parse().ok());
    Some((start(old)?, start(new)?))
}

/// Splits the lines of one hunk into parts: by syntax, and by what changed between lines that replace each other. Each line has
/// its sign (`-`, `+` or a space) and its text.
pub fn mark_hunk(path: &str, lines: &[(char, &str)]) -> Vec<Vec<Part>> {
    let highlighter = Highlighter::for_path(path);
    let side = |without: char| lines.iter().filter(move |(sign, _)| *sign != without).map(|(_, text)| *text);
    let mut old_marks = highlighter.mark(side('+')).into_iter();
    let mut new_marks = highlighter.mark(side('-')).into_iter();
    let mut marks: Vec<Vec<Part>> = Vec::with_capacity(lines.len());
    let (mut removed, mut added): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (at, (sign, _)) in lines.iter().enumerate() {
        let parts = match sign {
            '-' => {
                removed.push(at);
                old_marks.next()
            }
            '+' => {
                added.push(at);
                new_marks.next()
            }
            _ => {
                mark_pairs(&mut marks, &mut removed, &mut added);
                old_marks.next();
                new_marks.next()
            }
        };
        marks.push(parts.unwrap_or_default());
    }
    mark_pairs(&mut marks, &mut removed, &mut added);
    marks
}

/// Marks the words that differ between removed lines and the lines added instead of them.
fn mark_pairs(marks: &mut [Vec<Part>], removed: &mut Vec<usize>, added: &mut Vec<usize>) {
    for (old, new) in removed.drain(..).zip(added.drain(..)) {
        if let Some((before, after)) = mark_words(&marks[old], &marks[new]) {
            (marks[old], marks[new]) = (before, after);
        }
    }
    removed.clear();
    added.clear();
}

fn text_of(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

/// The parts of two lines, with the words marked that differ; `None` if the lines have too little in common.
fn mark_words(old: &[Part], new: &[Part]) -> Option<(Vec<Part>, Vec<Part>)> {
    let (before, after) = (text_of(old), text_of(new));
    if before.len().max(after.len()) > MAX_MARKED {
        return None;
    }
    let diff = TextDiff::from_words(before.as_str(), after.as_str());
    if diff.ratio() < MIN_SIMILARITY {
        return None;
    }
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let (mut at_old, mut at_new) = (0, 0);
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Delete => {
                removed.push(at_old..at_old + length);
                at_old += length;
            }
            ChangeTag::Insert => {
                added.push(at_new..at_new + length);
                at_new += length;
            }
            ChangeTag::Equal => {
                at_old += length;
                at_new += length;
            }
        }
    }
    Some((split_parts(old, &removed), split_parts(new, &added)))
}

/// Splits parts at the ends of the ranges, and marks those inside.
fn split_parts(parts: &[Part], changed: &[std::ops::Range<usize>]) -> Vec<Part> {
    let mut split = Vec::new();
    let mut at = 0;
    for part in parts {
        let end = at + part.text.len();
        let mut cuts: Vec<usize> = changed
            .iter()
            .flat_map(|range| [range.start, range.end])
            .filter(|cut| (at..end).contains(cut))
            .collect();
        cuts.extend([at, end]);
        cuts.sort_unstable();
        cuts.dedup();
        for cut in cuts.windows(2) {
            let is_changed = changed.iter().any(|range| range.start <= cut[0] && cut[1] <= range.end);
            let text = part.text[cut[0] - at..cut[1] - at].to_owned();
            split.push(Part { text, is_changed, class: part.class });
        }
        at = end;
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -3,4 +3,5 @@\n same\n-let a = one;\n+let a = two;\n+let b = three;\n between\n-gone\n";

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
        assert_eq!((view.added, view.removed, view.lines), (2, 2, (3, 6)));
        assert_eq!(view.editable, "let a = two;\nlet b = three;\nbetween\n");
    }

    #[test]
    fn only_changed_words_are_marked() {
        let view = HunkView::parse(DIFF, "a.txt");
        let marked = |line: &Option<Line>| -> Vec<String> {
            let parts = line.as_ref().unwrap().parts.iter().filter(|part| part.is_changed);
            parts.map(|part| part.text.clone()).collect()
        };
        assert_eq!(marked(&view.rows[1].old), ["one;"]);
        assert_eq!(marked(&view.rows[1].new), ["two;"]);
        assert!(marked(&view.rows[0].old).is_empty());
    }

    #[test]
    fn a_new_file_and_a_missing_newline() {
        let diff = "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+é\n\\ No newline at end of file\n";
        let view = HunkView::parse(diff, "n");
        let line = view.rows[0].new.as_ref().unwrap();
        assert!(line.lacks_newline && line.number == 1 && view.rows[0].old.is_none());
        assert_eq!(view.lines, (1, 1));
    }
}
