//! Applies an edit to the text that the file has instead of the old text.
//!
//! This is what a person does with "the file has this instead": keep the file's lines, delete what was to be deleted,
//! and insert the new lines at the same indentation as the lines around them.

use std::collections::HashMap;

/// The new text for an edit from `old` to `new` whose old text is really `actual`; `None` if a line to delete cannot be
/// told from the others, or if the lines do not show how to indent an added one.
pub(super) fn rebase(old: &str, new: &str, actual: &str) -> Option<String> {
    let [old, new, actual] = [old, new, actual].map(|text| text.split('\n').collect::<Vec<_>>());
    let kept = common_lines(&old, &new, |a, b| a == b);
    let there = pair_lines(&old, &actual);
    let mut is_kept = vec![false; old.len()];
    kept.iter().for_each(|&(at, _)| is_kept[at] = true);
    let (at, shift, out) = (0, ("", ""), Vec::new());
    let mut rebased = Rebased { old: &old, actual: &actual, there: &there, is_kept, at, shift, out };
    let (mut i, mut j) = (0, 0);
    for (next_i, next_j) in kept.into_iter().chain([(old.len(), new.len())]) {
        for removed in i..next_i {
            rebased.delete(removed)?;
        }
        if next_j > j && !rebased.is_shift_clear(next_i) {
            return None;
        }
        // Lines inserted at the start of the old text belong to its first line, not to the line above it in the file.
        if let (0, Some(place)) = (next_i, there.first().copied().flatten()) {
            rebased.copy_until(place);
        }
        new[j..next_j].iter().for_each(|line| rebased.insert(line));
        if next_i < old.len() {
            rebased.keep(next_i);
        }
        (i, j) = (next_i + 1, next_j + 1);
    }
    rebased.copy_until(actual.len());
    Some(rebased.out.join("\n"))
}

/// The new text for an edit from `old` to `new` on lines that the caller has just read. `None` unless every line to delete
/// is among them, all but its whitespace, next to each other if they were, and both neighbours of every insertion, and all
/// of that only once.
pub(super) fn rebase_on_lines(old: &str, new: &str, shown: &str) -> Option<String> {
    let [old_lines, new_lines, lines] = [old, new, shown].map(|text| text.split('\n').collect::<Vec<_>>());
    let kept = common_lines(&old_lines, &new_lines, |a, b| a == b);
    let same: HashMap<usize, usize> =
        common_lines(&old_lines, &lines, |a, b| a.trim() == b.trim()).into_iter().collect();
    let is_blank = |line: usize| old_lines[line].trim().is_empty();
    // Whether only blank lines are between the places of two old lines.
    let are_neighbours = |a: usize, b: usize| match (same.get(&a), same.get(&b)) {
        (Some(&a), Some(&b)) => a < b && lines[a + 1..b].iter().all(|line| line.trim().is_empty()),
        _ => false,
    };
    let filled: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let (mut i, mut j) = (0, 0);
    for (next_i, next_j) in kept.into_iter().chain([(old_lines.len(), new_lines.len())]) {
        let before = (0..i).rev().find(|&line| !is_blank(line));
        let after = (next_i..old_lines.len()).find(|&line| !is_blank(line));
        let removed: Vec<usize> = (i..next_i).filter(|&line| !is_blank(line)).collect();
        let is_changed = next_i > i || next_j > j;
        let deciding: Vec<usize> = match (&removed[..], before, after) {
            ([], before, after) => before.into_iter().chain(after).collect(),
            (removed, ..) => removed.to_vec(),
        };
        let is_there = deciding.iter().all(|line| same.contains_key(line))
            && deciding.windows(2).all(|two| are_neighbours(two[0], two[1]));
        let texts: Vec<&str> = deciding.iter().map(|&line| old_lines[line].trim()).collect();
        let is_decided =
            !texts.is_empty() && filled.windows(texts.len()).filter(|run| *run == texts).count() == 1;
        if is_changed && !(is_there && is_decided) {
            return None;
        }
        (i, j) = (next_i + 1, next_j + 1);
    }
    rebase(old, new, shown)
}

struct Rebased<'a> {
    old: &'a [&'a str],
    actual: &'a [&'a str],
    /// For each old line, the actual line that it stands for.
    there: &'a [Option<usize>],
    /// Whether an old line stays where it is.
    is_kept: Vec<bool>,
    /// The actual lines before this one are done.
    at: usize,
    /// The indentation of the last paired line, in the old text and in fact.
    shift: (&'a str, &'a str),
    out: Vec<String>,
}

impl Rebased<'_> {
    /// Copies lines that the old text does not mention.
    fn copy_until(&mut self, end: usize) {
        while self.at < end {
            self.out.push(self.actual[self.at].to_owned());
            self.at += 1;
        }
    }

    fn note_shift(&mut self, line: usize, place: usize) {
        if !self.old[line].trim().is_empty() {
            self.shift = (indent(self.old[line]), indent(self.actual[place]));
        }
    }

    /// Whether the lines around an insertion before an old line were moved by the same amount, so that it is clear how to
    /// indent the new ones.
    fn is_shift_clear(&self, line: usize) -> bool {
        let shift = |line: usize| {
            let place = self.there[line].filter(|_| !self.old[line].trim().is_empty())?;
            Some(indent(self.actual[place]).len() as isize - indent(self.old[line]).len() as isize)
        };
        let mut above = (0..line).rev().filter_map(shift);
        let mut below = (line..self.old.len()).filter_map(shift);
        match (above.next(), below.next()) {
            (Some(above), Some(below)) => above == below,
            (Some(last), None) => above.next().is_none_or(|other| other == last),
            (None, Some(first)) => below.next().is_none_or(|other| other == first),
            (None, None) => true,
        }
    }

    fn keep(&mut self, line: usize) {
        if let Some(place) = self.there[line] {
            self.copy_until(place + 1);
            self.note_shift(line, place);
        }
    }

    fn delete(&mut self, line: usize) -> Option<()> {
        let place = self.there[line]?;
        self.copy_until(place);
        self.at = place + 1;
        self.note_shift(line, place);
        Some(())
    }

    fn insert(&mut self, line: &str) {
        // A line that the edit moves is the file's, too.
        let mut same = (0..self.old.len()).filter(|&at| self.old[at] == line && !line.trim().is_empty());
        if let (Some(moved), None) = (same.next(), same.next())
            && !self.is_kept[moved]
            && let Some(place) = self.there[moved].filter(|&place| self.actual[place].trim() != line.trim())
        {
            self.out.push(self.actual[place].to_owned());
            return;
        }
        let (shown, real) = self.shift;
        self.out.push(match line.strip_prefix(shown) {
            Some(rest) if !line.trim().is_empty() => format!("{real}{rest}"),
            _ => line.to_owned(),
        });
    }
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// For each old line, the actual line that it stands for: the same but for whitespace, or in the same position between
/// two that are.
fn pair_lines(old: &[&str], actual: &[&str]) -> Vec<Option<usize>> {
    let mut there = vec![None; old.len()];
    let (mut i, mut j) = (0, 0);
    let same = common_lines(old, actual, |a, b| a.trim() == b.trim());
    for (next_i, next_j) in same.into_iter().chain([(old.len(), actual.len())]) {
        if next_i - i == next_j - j {
            (i..next_i).zip(j..next_j).for_each(|(line, place)| there[line] = Some(place));
        }
        if next_i < old.len() {
            there[next_i] = Some(next_j);
        }
        (i, j) = (next_i + 1, next_j + 1);
    }
    there
}

/// The longest common subsequence, as pairs of line numbers.
fn common_lines(a: &[&str], b: &[&str], same: impl Fn(&str, &str) -> bool) -> Vec<(usize, usize)> {
    let mut best = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let without = best[i + 1][j].max(best[i][j + 1]);
            best[i][j] = if same(a[i], b[j]) { without.max(best[i + 1][j + 1] + 1) } else { without };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if same(a[i], b[j]) && best[i][j] == best[i + 1][j + 1] + 1 {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[i + 1][j] >= best[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::{rebase, rebase_on_lines};

    #[test]
    fn takes_the_files_lines_and_keeps_the_edit() {
        assert_eq!(rebase("a\nb\nc", "a\nB\nc", "a2\nb\nc").as_deref(), Some("a2\nB\nc"));
        assert_eq!(rebase("a\nc", "a\nb\nc", "a\nx\nc").as_deref(), Some("a\nb\nx\nc"));
    }

    #[test]
    fn moves_added_lines_to_the_files_indentation() {
        assert_eq!(
            rebase("a\n  b", "a\n  b\n  c", "    a\n      b").as_deref(),
            Some("    a\n      b\n      c")
        );
    }

    #[test]
    fn builds_only_on_lines_that_it_wanted_to_change() {
        let shown = "x\na\ny\nb\nc\nz";
        assert_eq!(rebase_on_lines("a\nb\nc", "a\nB\nc", shown).as_deref(), Some("x\na\ny\nB\nc\nz"));
        assert_eq!(rebase_on_lines("a\nd\nc", "a\nD\nc", shown), None, "the line to replace is not there");
        assert_eq!(
            rebase_on_lines("a\nb", "a\nnew\nb", shown),
            None,
            "another line is between the neighbours"
        );
        assert_eq!(rebase_on_lines("b\nc", "B\nc", "b\nc\nb\nc"), None, "the line to replace is there twice");
        assert_eq!(rebase_on_lines("b\nc", "b\nnew\nc", shown).as_deref(), Some("x\na\ny\nb\nnew\nc\nz"));
    }

    #[test]
    fn inserts_above_the_first_line_of_the_old_text() {
        assert_eq!(rebase("b\nc", "new\nb\nc", "a\nb\nc").as_deref(), Some("a\nnew\nb\nc"));
    }

    #[test]
    fn does_not_guess_which_line_to_delete() {
        assert_eq!(rebase("a\nb\nc", "a\nc", "a\nx\ny\nc"), None);
    }
}
