//! Which lines of a hunk replace each other, and the words that differ between them.

use std::ops::Range;

use slipstitch::core::text::diff_slices;

use crate::highlight::Highlighter;
use crate::line_part::Part;

/// Lines longer than this are not compared word by word: everything between their common start and end is marked.
pub(crate) const MAX_MARKED: usize = 2_000;

/// Two lines are put side by side, and their words compared, only if they have this much in common. Otherwise nearly everything would
/// be marked.
const MIN_SIMILARITY: f32 = 0.5;

/// The longest word, in characters, whose ends are searched for.
const MAX_WORD: usize = 40;

/// How many lines a block may have for its lines to be compared with each other.
const MAX_PAIRED: usize = 40;

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

pub(crate) fn text_of(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

/// Names and numbers, white space, and everything else one character at a time: `f(a)` is changed to `f(a, b)` by `, b`.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
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
    if similarity(&before, &after) < MIN_SIMILARITY {
        return None;
    }
    if before.len().max(after.len()) > MAX_MARKED {
        let (start, end) = common_ends(&before, &after);
        // Whole words: `2` and `22` have both ends in common, and nothing of the shorter one would be marked.
        let start = start - word_len(before[..start].chars().rev());
        let end = end - word_len(before[before.len() - end..].chars());
        let changed = |text: &str| start..text.len() - end;
        return Some((split_parts(old, &[changed(&before)]), split_parts(new, &[changed(&after)])));
    }
    let (old_tokens, new_tokens) = (tokens(&before), tokens(&after));
    let (old_ends, new_ends) = (token_ends(&old_tokens), token_ends(&new_tokens));
    let bytes = |ends: &[usize], tokens: Range<usize>| ends[tokens.start]..ends[tokens.end];
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for (from, to) in diff_slices(&old_tokens, &new_tokens) {
        removed.extend((!from.is_empty()).then(|| bytes(&old_ends, from)));
        added.extend((!to.is_empty()).then(|| bytes(&new_ends, to)));
    }
    Some((split_parts(old, &removed), split_parts(new, &added)))
}

/// Where each token ends, after a zero: token `n` is `ends[n]..ends[n + 1]`.
fn token_ends(tokens: &[&str]) -> Vec<usize> {
    let ends = tokens.iter().scan(0, |at, token| {
        *at += token.len();
        Some(*at)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Splits parts at the ends of the ranges, and marks those inside.
fn split_parts(parts: &[Part], changed: &[Range<usize>]) -> Vec<Part> {
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

/// Pairs removed and added lines that resemble each other, in order. Large blocks are paired line by line.
pub(crate) fn pair_lines(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
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

/// How many bytes belong to the word that a text starts with.
fn word_len(text: impl Iterator<Item = char>) -> usize {
    text.take(MAX_WORD).take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum()
}

/// How many bytes two texts have in common at the start, and at the end.
fn common_ends(old: &str, new: &str) -> (usize, usize) {
    let same = |pairs: &mut dyn Iterator<Item = (char, char)>| {
        pairs.take_while(|(old, new)| old == new).map(|(c, _)| c.len_utf8()).sum::<usize>()
    };
    let start = same(&mut old.chars().zip(new.chars()));
    let end = same(&mut old[start..].chars().rev().zip(new[start..].chars().rev()));
    (start, end)
}

/// How much of two lines is the same, by words; blanks do not count.
fn similarity(old: &str, new: &str) -> f32 {
    if old.len().max(new.len()) > MAX_MARKED {
        let (start, end) = common_ends(old, new);
        return 2.0 * (start + end) as f32 / (old.len() + new.len()) as f32;
    }
    let (old, new) = (words(old), words(new));
    if old.is_empty() && new.is_empty() {
        return 1.0;
    }
    let changed: usize = diff_slices(&old, &new).iter().map(|(from, to)| from.len() + to.len()).sum();
    let all = old.len() + new.len();
    (all - changed) as f32 / all as f32
}

/// The words of a text, and every other character that is not a blank.
fn words(text: &str) -> Vec<&str> {
    tokens(text).into_iter().filter(|token| !token.trim().is_empty()).collect()
}
