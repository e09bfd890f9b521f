//! Hunks as rows of two columns, with the words that changed.

use similar::{ChangeTag, TextDiff};

use crate::highlight::Highlighter;
use crate::line_part::Part;

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

/// One line of a file.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) parts: Vec<Part>,
    pub(crate) lacks_newline: bool,
}

/// Lines longer than this are shown without marks.
const MAX_MARKED: usize = 2_000;

/// Two lines are put side by side, and their words compared, if they have this much in common; otherwise everything would be
/// marked.
const MIN_SIMILARITY: f32 = 0.5;

/// How many lines a block may have for its lines to be compared with each other.
const MAX_PAIRED: usize = 40;

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

/// Which removed and added lines resemble each other, in order. Large blocks are paired line by line.
fn pair_lines(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    if old.len().max(new.len()) > MAX_PAIRED {
        return (0..old.len().min(new.len())).map(|line| (line, line)).collect();
    }
    // The best sum of similarities for the lines from here to the end.
    let mut best = vec![vec![0f32; new.len() + 1]; old.len() + 1];
    let mut similar = vec![vec![0f32; new.len()]; old.len()];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            similar[i][j] = similarity(&old[i], &new[j]);
            let paired =
                if similar[i][j] >= MIN_SIMILARITY { similar[i][j] + best[i + 1][j + 1] } else { 0.0 };
            best[i][j] = paired.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() && j < new.len() {
        if best[i][j] == best[i + 1][j] {
            i += 1;
        } else if best[i][j] == best[i][j + 1] {
            j += 1;
        } else {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        }
    }
    pairs
}

/// How much of two lines is the same, by words; blanks do not count.
fn similarity(old: &str, new: &str) -> f32 {
    if old.len().max(new.len()) > MAX_MARKED {
        return 0.0;
    }
    let words = |text: &str| -> Vec<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let split = text.split_inclusive(|c: char| !is_word(c)).flat_map(|piece| {
            let end = piece
                .char_indices()
                .next_back()
                .filter(|(_, c)| !is_word(*c))
                .map_or(piece.len(), |(at, _)| at);
            [piece[..end].to_owned(), piece[end..].to_owned()]
        });
        split.filter(|word| !word.trim().is_empty()).collect()
    };
    let (old, new) = (words(old), words(new));
    if old.is_empty() && new.is_empty() {
        return 1.0;
    }
    TextDiff::from_slices(
        &old.iter().map(String::as_str).collect::<Vec<_>>(),
        &new.iter().map(String::as_str).collect::<Vec<_>>(),
    )
    .ratio()
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
                "rename to " => Some(format!("moved to {value}")),
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
    let texts = |lines: &[usize]| lines.iter().map(|&line| text_of(&marks[line])).collect::<Vec<_>>();
    let pairs = pair_lines(&texts(removed), &texts(added));
    for (old, new) in pairs.into_iter().map(|(old, new)| (removed[old], added[new])) {
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

/// Names and numbers, white space, and everything else one character at a time: `f(a)` is changed to `f(a, b)` by `, b`.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut found: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let continues = last == Some(kind(c)) && kind(c) != 0;
        if at > 0 && !continues {
            found.push(&text[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    if start < text.len() {
        found.push(&text[start..]);
    }
    found
}

/// The parts of two lines, with the words marked that differ; `None` if the lines have too little in common.
fn mark_words(old: &[Part], new: &[Part]) -> Option<(Vec<Part>, Vec<Part>)> {
    let (before, after) = (text_of(old), text_of(new));
    if before.len().max(after.len()) > MAX_MARKED {
        return None;
    }
    let (old_tokens, new_tokens) = (tokens(&before), tokens(&after));
    let diff = TextDiff::from_slices(&old_tokens, &new_tokens);
    if similarity(&before, &after) < MIN_SIMILARITY {
        return None;
    }
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let (mut at_old, mut at_new) = (0, 0);
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Delete => {
                extend_ranges(&mut removed, at_old..at_old + length);
                at_old += length;
            }
            ChangeTag::Insert => {
                extend_ranges(&mut added, at_new..at_new + length);
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

/// Adds a range, to the last one if it continues that.
fn extend_ranges(ranges: &mut Vec<std::ops::Range<usize>>, next: std::ops::Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == next.start => last.end = next.end,
        _ => ranges.push(next),
    }
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
        assert_eq!(tokens("a_b(1,  é)"), ["a_b", "(", "1", ",", "  ", "é", ")"]);
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
        assert_eq!(describe_lines(moved), "the file itself");
        assert_eq!(file_notes("diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n"), ["new file"]);
    }

    #[test]
    fn a_new_file_and_a_missing_newline() {
        let diff = "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+é\n\\ No newline at end of file\n";
        let view = HunkView::parse(diff, "n");
        let line = view.rows[0].new.as_ref().unwrap();
        assert!(line.lacks_newline && line.number == 1 && view.rows[0].old.is_none());
    }
}
