//! Applies an edit to the text that the file has instead of the old text.
//!
//! This is what a person does with "the file has this instead": keep the file's lines, delete what was to be deleted,
//! and insert the new lines at the same indentation as the lines around them.

/// The new text for an edit from `old` to `new` whose old text is really `actual`; `None` if a line to delete cannot be
/// told from the others.
pub(super) fn rebase(old: &str, new: &str, actual: &str) -> Option<String> {
    let [old, new, actual] = [old, new, actual].map(|text| text.split('\n').collect::<Vec<_>>());
    let kept = common_lines(&old, &new, |a, b| a == b);
    let there = pair_lines(&old, &actual);
    let mut rebased =
        Rebased { old: &old, actual: &actual, there: &there, at: 0, shift: ("", ""), out: Vec::new() };
    let (mut i, mut j) = (0, 0);
    for (next_i, next_j) in kept.into_iter().chain([(old.len(), new.len())]) {
        for removed in i..next_i {
            rebased.delete(removed)?;
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

struct Rebased<'a> {
    old: &'a [&'a str],
    actual: &'a [&'a str],
    /// For each old line, the actual line that it stands for.
    there: &'a [Option<usize>],
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
    use super::rebase;

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
    fn does_not_guess_which_line_to_delete() {
        assert_eq!(rebase("a\nb\nc", "a\nc", "a\nx\ny\nc"), None);
    }
}
