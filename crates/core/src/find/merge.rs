//! Merges a request into its place: context lines keep the file's bytes, removed lines are deleted, and added lines
//! are indented like the file. Normalised text is only used to find the place and is never written.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::alignment::{Alignment, RowMatch, indent};
use super::block_comment::BlockComment;
use super::indentation::{IndentSample, Indentation};
use super::new_depths::NewDepths;
use super::punctuation::{fold_punctuation, fold_with_offsets, is_distinctive, line_key};
use super::script::{FileEnd, Role, Script};
use super::search_index::SearchIndex;
use slipstitch_text::Span;

/// A request merged into its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Merged {
    /// The whole lines it covers, in the searchable text.
    pub(super) at: Span,
    /// The replacements: a range of the searchable text and its new canonical text.
    pub(super) parts: Vec<(Range<usize>, String)>,
    /// Whether added lines have the request's indentation because nothing shows what it should be.
    pub(super) has_unclear_indent: bool,
}

impl Merged {
    /// Excludes the last newline if the request stops before it.
    fn without_last_newline(mut self, script: &Script, index: &SearchIndex<'_>) -> Self {
        let newline = index.snapshot.needle("\n");
        if !script.stops_before_newline || !self.at.of(index.snapshot.text()).ends_with(newline.as_bytes()) {
            return self;
        }
        let end = self.at.end() - newline.len();
        if let Some((range, text)) = self.parts.last_mut().filter(|(range, _)| range.end > end) {
            // Lines that are deleted without replacement lose their newline too.
            if range.start > end || !text.ends_with('\n') {
                return self;
            }
            range.end = end;
            text.pop();
        }
        self.at = Span::new(self.at.start(), end);
        self
    }
}

/// Why a request cannot be merged into a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unmergeable {
    /// The shared lines do not determine the indentation of the added ones.
    Indentation,
    /// Elided lines would be deleted.
    Elision,
    /// The added lines are already there.
    AlreadyPresent,
}

/// What is done with added lines whose place leaves something open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergePolicy {
    /// They are refused if the shared lines do not show their indentation, and blank ones if they may be there already.
    Careful,
    /// They are written as sent, with a warning.
    AsSent,
}

/// Merges a request into a place.
pub(super) fn merge(
    script: &Script,
    alignment: &Alignment,
    index: &SearchIndex<'_>,
    policy: MergePolicy,
) -> Result<Merged, Unmergeable> {
    let mut changes = Changes::of(script, alignment, index, policy)?;
    // While a line that goes is there, the request is not applied, whatever is around it.
    changes.removed.extend(alignment.removed_newline(script));
    // Beside other blank lines, blank lines prove nothing.
    let proves_something = policy == MergePolicy::Careful || !changes.adds_blank_lines_only();
    if changes.removed.is_empty()
        && !changes.added.is_empty()
        && proves_something
        && changes.are_already_present(index)
    {
        return Err(Unmergeable::AlreadyPresent);
    }
    let merged = changes.merged(alignment, script.file_end, index);
    Ok(merged.without_last_newline(script, index))
}

/// The changes to the lines of the file.
#[derive(Default)]
struct Changes {
    removed: BTreeSet<usize>,
    /// Added lines, by the line they are inserted before.
    added: BTreeMap<usize, Vec<String>>,
    /// Whether added lines have the request's indentation because nothing shows what it should be.
    has_unclear_indent: bool,
}

impl Changes {
    fn of(
        script: &Script,
        alignment: &Alignment,
        index: &SearchIndex<'_>,
        policy: MergePolicy,
    ) -> Result<Self, Unmergeable> {
        let added: Vec<&str> = script
            .rows
            .iter()
            .filter(|row| row.role == Role::Added && !row.blank)
            .map(|row| indent(&row.text))
            .collect();
        let new_depths = NewDepths::of(script, alignment, index);
        let is_undetermined = new_depths == NewDepths::Undetermined;
        if is_undetermined && policy == MergePolicy::Careful {
            return Err(Unmergeable::Indentation);
        }
        let indentation = Indentation::learn(&IndentSample {
            pairs: &alignment.indent_pairs(script, index),
            added: &added,
            file_unit: index.indent_unit(),
            new_is_like_file: new_depths == NewDepths::LikeFile,
        });
        let ends_clean = policy == MergePolicy::Careful && adds_trailing_whitespace(script, alignment, index);
        let first_new = script.rows.iter().position(|row| row.role != Role::Removed);
        let partners = pair_replacements(script);
        let moved_rows = removed_by_words(script);
        let mut changes = Self::default();
        let mut comment = BlockComment::default();
        let mut before = None; // the last line of the file that a row has matched so far
        let mut last_removed = None;
        for (number, row) in script.rows.iter().enumerate() {
            if let (Role::Context, RowMatch::Line(line)) = (row.role, alignment.rows[number]) {
                comment.note(&row.text, &index.snapshot.line(line));
            }
            match (row.role, alignment.rows[number]) {
                (Role::Removed, RowMatch::Elided(..)) => return Err(Unmergeable::Elision),
                (Role::Removed, RowMatch::Line(line)) => {
                    // Blank lines between two removed lines are removed with them.
                    let is_blank = |line: &usize| line_key(&index.snapshot.line(*line)).is_empty();
                    let between = last_removed.map_or(line, |last: usize| last + 1)..line;
                    if between.clone().all(|line| is_blank(&line)) {
                        changes.removed.extend(between);
                    }
                    changes.removed.insert(line);
                    (before, last_removed) = (Some(line), Some(line));
                }
                (Role::Context, RowMatch::Line(line)) => (before, last_removed) = (Some(line), None),
                (Role::Context, RowMatch::Elided(_, last)) => (before, last_removed) = (Some(last), None),
                (Role::Context, RowMatch::Unmatched) if !row.blank => last_removed = None,
                (Role::Context | Role::Removed, RowMatch::Unmatched) => {}
                (Role::Added, _) => {
                    let at = match before.filter(|_| !follows_missing_line(script, alignment, number)) {
                        Some(line) => line + 1,
                        None => next_matched_line(alignment, number),
                    };
                    let file = partners[number].and_then(|removed| Some((removed, alignment.line(removed)?)));
                    let file = file.map(|(removed, line)| (removed, index.snapshot.line(line)));
                    let text = match file {
                        _ if row.blank && ends_clean => String::new(),
                        // The new text is what the file already has; only the old text differs.
                        Some((_, line)) if line == row.text => row.text.clone(),
                        _ if row.blank => row.text.clone(),
                        file => {
                            let indent = indent(&row.text);
                            let known = comment
                                .indentation_of(&row.text)
                                .or_else(|| indentation.apply(indent, first_new == Some(number)))
                                .filter(|_| !is_undetermined);
                            let new_indent = match (known, policy) {
                                (Some(known), _) => known,
                                (None, MergePolicy::Careful) => return Err(Unmergeable::Indentation),
                                (None, MergePolicy::AsSent) => {
                                    changes.has_unclear_indent = true;
                                    indent.to_owned()
                                }
                            };
                            let body = &row.text[indent.len()..];
                            let body = if ends_clean { body.trim_end() } else { body };
                            let moved = moved_rows.get(row.text.trim()).copied();
                            let moved = moved
                                .and_then(|removed| Some((removed, alignment.line(removed)?)))
                                .map(|(removed, line)| (removed, index.snapshot.line(line)));
                            let restored = moved.or(file).and_then(|(removed, line)| {
                                restore_punctuation(script.rows[removed].text.trim(), body, line.trim())
                            });
                            format!("{new_indent}{}", restored.as_deref().unwrap_or(body))
                        }
                    };
                    comment.note(&row.text, &text);
                    changes.added.entry(at).or_default().push(text);
                }
            }
        }
        Ok(changes)
    }

    fn adds_blank_lines_only(&self) -> bool {
        self.added.values().flatten().all(|line| line.trim().is_empty())
    }

    /// Whether the added lines are already in the file, next to their place.
    fn are_already_present(&self, index: &SearchIndex<'_>) -> bool {
        // Lines such as a single brace occur everywhere and prove nothing.
        let distinctive = |lines: &&Vec<String>| {
            lines.iter().all(|line| line.trim().is_empty()) || lines.iter().any(|line| is_distinctive(line))
        };
        self.added.values().all(|lines| distinctive(&lines))
            && self.added.iter().all(|(&at, lines)| is_present_at(at, lines, index))
    }

    fn merged(&self, alignment: &Alignment, file_end: FileEnd, index: &SearchIndex<'_>) -> Merged {
        let snapshot = index.snapshot;
        let mut parts = Vec::new();
        let mut points: BTreeSet<usize> = self.added.keys().copied().collect();
        points.extend(&self.removed);
        let mut next = 0;
        for &start in &points {
            if start < next {
                continue;
            }
            // A run of removed lines, with the lines added before, between and after them.
            let mut end = start;
            let mut text: Vec<&str> =
                self.added.get(&end).into_iter().flatten().map(String::as_str).collect();
            while self.removed.contains(&end) {
                end += 1;
                text.extend(self.added.get(&end).into_iter().flatten().map(String::as_str));
            }
            next = end + 1;
            parts.push(replace_lines(start, end, &text, file_end, index));
        }
        let first = snapshot.line_span(alignment.first).start();
        let last = snapshot.line_span(alignment.last).end();
        let (start, end) = parts
            .iter()
            .fold((first, last), |(start, end), (range, _)| (start.min(range.start), end.max(range.end)));
        Merged { at: Span::new(start, end), parts, has_unclear_indent: self.has_unclear_indent }
    }
}

/// Replaces the lines from `start` up to, not including, `end`.
fn replace_lines(
    start: usize,
    end: usize,
    text: &[&str],
    file_end: FileEnd,
    index: &SearchIndex<'_>,
) -> (Range<usize>, String) {
    let snapshot = index.snapshot;
    let from = snapshot.line_span(start).start();
    let to = if end > start { snapshot.line_span(end - 1).end() } else { from };
    let mut lines = text.join("\n");
    let is_end = to == snapshot.text().len();
    let lacks_newline = is_end && !snapshot.ends_with_newline();
    if text.is_empty() && lacks_newline && file_end == FileEnd::Kept {
        // The file still has to end without a newline.
        let newline = snapshot.needle("\n").len();
        return (from.saturating_sub(newline)..to, lines);
    }
    if !text.is_empty() {
        if lacks_newline && end == start {
            lines.insert(0, '\n');
        }
        if !is_end || file_end.leaves_newline(lacks_newline) {
            lines.push('\n');
        }
    }
    (from..to, lines)
}

/// Whether every line of the request that is in the file has trailing whitespace that the file's line lacks. Then the trailing
/// whitespace of added lines is dropped, too.
fn adds_trailing_whitespace(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> bool {
    let mut lines = script.anchors().filter_map(|(row, text)| Some((text, alignment.line(row)?))).peekable();
    let ends_in_whitespace = |line: &str| line.ends_with([' ', '\t']);
    lines.peek().is_some()
        && lines.all(|(text, line)| {
            ends_in_whitespace(&text.text) && !ends_in_whitespace(&index.snapshot.line(line))
        })
}

/// Whether the line before an added one is not in the file, but the line after it is: then that line shows the place.
fn follows_missing_line(script: &Script, alignment: &Alignment, number: usize) -> bool {
    let anchors = |rows: std::ops::Range<usize>| {
        rows.filter(|&row| script.rows[row].is_old() && !script.rows[row].blank)
    };
    let is_missing = |row: usize| alignment.rows[row] == RowMatch::Unmatched;
    anchors(0..number).next_back().is_some_and(is_missing)
        && anchors(number..script.rows.len()).next().is_some_and(|row| !is_missing(row))
}

/// The line matched by the first matched row from `number` on.
fn next_matched_line(alignment: &Alignment, number: usize) -> usize {
    let next = alignment.rows[number..].iter().find_map(|row| match *row {
        RowMatch::Line(line) => Some(line),
        RowMatch::Elided(first, _) => Some(first),
        RowMatch::Unmatched => None,
    });
    next.unwrap_or(alignment.first)
}

/// The removed rows by their text without indentation: one that is added again at another depth was moved.
fn removed_by_words(script: &Script) -> HashMap<&str, usize> {
    let removed = script.rows.iter().enumerate().filter(|(_, row)| row.role == Role::Removed);
    removed.map(|(number, row)| (row.text.trim(), number)).collect()
}

/// For each added row, the removed row that it replaces: one with the same text, or, if a run adds as many lines as
/// it removes, the one at the same position.
fn pair_replacements(script: &Script) -> Vec<Option<usize>> {
    let mut removed_by_text: HashMap<&str, usize> = HashMap::new();
    for (number, row) in script.rows.iter().enumerate().filter(|(_, row)| row.role == Role::Removed) {
        removed_by_text.entry(&row.text).or_insert(number);
    }
    let mut partners = vec![None; script.rows.len()];
    let mut at = 0;
    while at < script.rows.len() {
        let run =
            |from: usize, role: Role| script.rows[from..].iter().take_while(|row| row.role == role).count();
        let removed = run(at, Role::Removed);
        let added = run(at + removed, Role::Added);
        let new = at + removed..at + removed + added;
        for (number, partner) in new.clone().zip(&mut partners[new]) {
            let opposite = (removed == added).then_some(number - removed);
            *partner = removed_by_text.get(script.rows[number].text.as_str()).copied().or(opposite);
        }
        at += (removed + added).max(1);
    }
    partners
}

/// Puts the file's punctuation back into an added line wherever the request did not change it. `removed` is the
/// request's version of the line `file`. `None` if the two do not differ in look-alike punctuation.
pub(super) fn restore_punctuation(removed: &str, added: &str, file: &str) -> Option<String> {
    if removed == file || fold_punctuation(removed) != fold_punctuation(file) {
        return None;
    }
    let front: usize =
        removed.chars().zip(added.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (removed_rest, added_rest) = (&removed[front..], &added[front..]);
    let back: usize = removed_rest
        .chars()
        .rev()
        .zip(added_rest.chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let (plain, offsets) = fold_with_offsets(file);
    let (front_at, back_at) = (
        fold_punctuation(&removed[..front]).len(),
        plain.len() - fold_punctuation(&removed[removed.len() - back..]).len(),
    );
    // Three dots that are one character in the file are kept or replaced together.
    let cuts = |at: usize| at > 0 && at < plain.len() && offsets[at] == offsets[at - 1];
    if cuts(front_at) || cuts(back_at) {
        return None;
    }
    let (front_end, back_start) = (offsets[front_at], offsets[back_at]);
    let middle = &added[front..added.len() - back];
    (front_end <= back_start).then(|| format!("{}{middle}{}", &file[..front_end], &file[back_start..]))
}

/// Whether `lines` occur directly before or after line `at`, ignoring blank lines.
fn is_present_at(at: usize, lines: &[String], index: &SearchIndex<'_>) -> bool {
    let count = index.snapshot.line_count();
    let keys: Vec<_> = lines.iter().map(|line| line_key(line)).filter(|key| !key.is_empty()).collect();
    if keys.is_empty() {
        let blank =
            |line: usize| (1..=count).contains(&line) && line_key(&index.snapshot.line(line)).is_empty();
        return (at..at + lines.len()).all(blank) || (at.saturating_sub(lines.len())..at).all(blank);
    }
    let key_of =
        |line: usize| Some(line_key(&index.snapshot.line(line)).into_owned()).filter(|key| !key.is_empty());
    let after = (at..=count).filter_map(key_of).take(keys.len());
    let before: Vec<String> = (1..at).rev().filter_map(key_of).take(keys.len()).collect();
    after.eq(keys.iter().map(|key| key.as_ref().to_owned()))
        || before.into_iter().rev().eq(keys.iter().map(|key| key.as_ref().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::restore_punctuation;

    #[test]
    fn keeps_punctuation_that_the_request_does_not_change() {
        assert_eq!(restore_punctuation("say “a”", "say “b”", "say \"a\"").as_deref(), Some("say \"b\""));
        assert_eq!(restore_punctuation("x - “a”", "x - 'b'", "x – \"a\"").as_deref(), Some("x – 'b'"));
        assert_eq!(restore_punctuation("wait... a", "wait... b", "wait… a").as_deref(), Some("wait… b"));
        assert_eq!(restore_punctuation("a", "b", "a"), None);
        assert_eq!(restore_punctuation("a", "b", "c"), None);
    }
}
