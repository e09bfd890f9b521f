//! Reverses patches.

use super::idle::drop_sections;
use super::merge::merge;
use super::shift::{ReplacedRange, header_start, positions_after};
use super::source::{Notes, error_at};
use super::{Action, Block, FilePatch, Format, Patch, PatchError, PatchErrorKind};
use crate::hunk::{Hunk, HunkLine, Reading, Role};

impl Patch {
    /// The patch that undoes this one.
    ///
    /// # Errors
    /// If the patch does not contain enough information: a V4A patch that deletes a file does not
    /// state its content, and a block without new text leaves nothing to search for.
    pub fn reversed(&self) -> Result<Self, PatchError> {
        let files: Result<_, _> = self.files.iter().map(|file| reverse_file(file, self.format)).collect();
        let mut notes = Notes::new(false);
        let files = drop_sections(files?, &mut notes)
            .and_then(|files| merge(files, &mut notes))
            .map_err(|error| irreversible(error.line, error.message))?;
        Ok(Self { format: self.format, files, repairs: Vec::new() })
    }
}

fn reverse_file(file: &FilePatch, format: Format) -> Result<FilePatch, PatchError> {
    let line = file.line;
    let with_action = |action, crlf| FilePatch { path: file.path.clone(), action, line, crlf };
    match &file.action {
        Action::Create { content, executable } => {
            let (hunks, crlf) = remove_content(content, format);
            Ok(with_action(Action::Delete { hunks, executable: *executable }, crlf))
        }
        Action::Delete { hunks, executable } => {
            let content = deleted_content(hunks, file, format)?;
            Ok(with_action(Action::Create { content, executable: *executable }, false))
        }
        Action::Update { hunks, move_to, executable } => {
            let hunks = reverse_hunks(hunks, line)?;
            let path = move_to.clone().or_else(|| file.path.clone());
            let move_to = move_to.as_ref().and(file.path.clone());
            let action = Action::Update { hunks, move_to, executable: executable.map(|may| !may) };
            Ok(FilePatch { path, action, line, crlf: file.crlf })
        }
        Action::Replace { blocks } => {
            Ok(with_action(Action::Replace { blocks: reverse_blocks(blocks, line)? }, file.crlf))
        }
    }
}

fn irreversible(line: usize, message: impl Into<String>) -> PatchError {
    let hint = "Undo the change by its id instead, or send the opposite patch.";
    error_at(PatchErrorKind::Irreversible, line.saturating_sub(1), message, hint)
}

/// The hunk that removes the whole content of a file, and whether it has CRLF line endings throughout.
fn remove_content(content: &str, format: Format) -> (Vec<Hunk>, bool) {
    if content.is_empty() {
        return (Vec::new(), false);
    }
    let terminated = content.ends_with('\n');
    let body = content.strip_suffix('\n').unwrap_or(content);
    let mut lines: Vec<HunkLine> = body
        .split('\n')
        .map(|text| HunkLine { role: Role::Removed, text: text.to_owned(), newline: true })
        .collect();
    if let Some(last) = lines.last_mut() {
        last.newline = terminated;
    }
    let terminated_lines = || lines.iter().filter(|line| line.newline);
    let crlf =
        terminated_lines().next().is_some() && terminated_lines().all(|line| line.text.ends_with('\r'));
    if crlf {
        lines.iter_mut().filter(|line| line.newline).for_each(|line| {
            line.text.pop();
        });
    }
    let line = Some(1).filter(|_| format == Format::Unified);
    (vec![Hunk { lines, line, at_end: !terminated, ..Hunk::default() }], crlf)
}

/// The content of a deleted file, as the deletion states it.
fn deleted_content(hunks: &[Hunk], file: &FilePatch, format: Format) -> Result<String, PatchError> {
    let path = file.path.as_deref().unwrap_or("the file");
    let hunk = match hunks {
        [] if format == Format::Unified => return Ok(String::new()),
        [hunk] if matches!(hunk.line, None | Some(1)) => hunk,
        _ => {
            return Err(irreversible(
                file.line,
                format!("the patch does not contain the content of the deleted `{path}`"),
            ));
        }
    };
    let mut content = String::new();
    for line in hunk.old_lines() {
        content.push_str(&line.text);
        content.push_str(match (line.newline, file.crlf) {
            (false, _) => "",
            (true, false) => "\n",
            (true, true) => "\r\n",
        });
    }
    Ok(content)
}

/// Reverses hunks and moves them to where the originals put their lines.
fn reverse_hunks(hunks: &[Hunk], line: usize) -> Result<Vec<Hunk>, PatchError> {
    let ranges: Vec<_> = hunks.iter().map(ReplacedRange::of).collect();
    let after = positions_after(&ranges).ok_or_else(|| irreversible(line, "hunks for the file overlap"))?;
    let mut reversed: Vec<Hunk> =
        hunks.iter().zip(&after).map(|(hunk, before)| reverse_hunk(hunk, *before)).collect();
    if after.iter().all(Option::is_some) {
        let mut order: Vec<usize> = (0..hunks.len()).collect();
        order.sort_by_key(|&index| ranges[index].map(|range| (range.before, range.old)));
        let mut taken: Vec<Option<Hunk>> = reversed.into_iter().map(Some).collect();
        reversed = order.into_iter().filter_map(|index| taken[index].take()).collect();
    }
    Ok(reversed)
}

fn reverse_hunk(hunk: &Hunk, before: Option<usize>) -> Hunk {
    Hunk {
        lines: reverse_lines(&hunk.lines),
        line: before.map(|before| header_start(before, hunk.new_lines().count())),
        scopes: hunk.scopes.clone(),
        section: hunk.section.clone(),
        at_end: hunk.at_end,
        alternatives: hunk.alternatives.iter().map(reverse_reading).collect(),
    }
}

fn reverse_reading(reading: &Reading) -> Reading {
    Reading { lines: reverse_lines(&reading.lines), repairs: reading.repairs.clone() }
}

/// Swaps removed and added lines, and sorts each change so that removed lines come first.
fn reverse_lines(lines: &[HunkLine]) -> Vec<HunkLine> {
    let swapped = |role| match role {
        Role::Context => Role::Context,
        Role::Removed => Role::Added,
        Role::Added => Role::Removed,
    };
    let mut reversed: Vec<HunkLine> =
        lines.iter().map(|line| HunkLine { role: swapped(line.role), ..line.clone() }).collect();
    for change in
        reversed.chunk_by_mut(|first, second| first.role != Role::Context && second.role != Role::Context)
    {
        change.sort_by_key(|line| line.role == Role::Added);
    }
    reversed
}

/// Swaps the search and replacement texts of blocks.
fn reverse_blocks(blocks: &[Block], line: usize) -> Result<Vec<Block>, PatchError> {
    let ranges: Vec<_> = blocks.iter().map(replaced_range).collect();
    let after = positions_after(&ranges).ok_or_else(|| irreversible(line, "blocks for the file overlap"))?;
    let reversed = blocks.iter().zip(after).map(|(block, before)| {
        if block.search.is_empty() {
            return Err(irreversible(
                line,
                "a block without search text creates a file, and blocks cannot delete one",
            ));
        }
        if block.replace.is_empty() {
            return Err(irreversible(
                line,
                "a block without new text leaves nothing to search for when reversed",
            ));
        }
        let start_line = before.map(|before| before + 1);
        Ok(Block { search: block.replace.clone(), replace: block.search.clone(), start_line })
    });
    reversed.collect()
}

fn replaced_range(block: &Block) -> Option<ReplacedRange> {
    let lines = |text: &str| text.lines().count();
    let before = block.start_line?.saturating_sub(1);
    Some(ReplacedRange { before, old: lines(&block.search), new: lines(&block.replace) })
}

#[cfg(test)]
mod tests {
    use super::super::{ParseOptions, parse};
    use super::*;

    fn parsed(text: &str) -> Patch {
        parse(text, None, ParseOptions::default()).unwrap()
    }

    #[test]
    fn reverses_hunks_at_their_new_positions() {
        let text = "--- a/f\n+++ b/f\n@@ -2,2 +2,3 @@\n a\n-b\n+c\n+d\n@@ -9,0 +11 @@\n+x\n";
        let opposite = "--- a/f\n+++ b/f\n@@ -2,3 +2,2 @@\n a\n-c\n-d\n+b\n@@ -11 +9,0 @@\n-x\n";
        assert_eq!(parsed(text).reversed().unwrap().files, parsed(opposite).files);
    }

    #[test]
    fn reverses_creations_and_deletions() {
        let text = "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\r\n+b\r\n";
        let deletion = parsed(text).reversed().unwrap();
        assert!(
            matches!(&deletion.files[0].action, Action::Delete { hunks, .. } if hunks[0].lines[0].text == "a")
        );
        assert!(deletion.files[0].crlf);
        assert_eq!(deletion.reversed().unwrap().files, parsed(text).files);
    }

    #[test]
    fn reverses_moves_and_modes() {
        let text = "diff --git a/x b/y\nold mode 100644\nnew mode 100755\nrename from x\nrename to y\n";
        let reversed = parsed(text).reversed().unwrap();
        assert_eq!(reversed.files[0].path.as_deref(), Some("y"));
        let expected = Action::Update { hunks: vec![], move_to: Some("x".into()), executable: Some(false) };
        assert_eq!(reversed.files[0].action, expected);
    }

    #[test]
    fn rejects_patches_without_enough_information() {
        let irreversible =
            |text: &str| parsed(text).reversed().unwrap_err().kind == PatchErrorKind::Irreversible;
        assert!(irreversible("*** Begin Patch\n*** Delete File: x\n*** End Patch\n"));
        assert!(irreversible("a\n<<<<<<< SEARCH\nx\n=======\n>>>>>>> REPLACE\n"));
        assert!(irreversible("a\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n"));
        assert!(irreversible("--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@\n a\n-b\n+c\n@@ -3 +3 @@\n-b\n+d\n"));
    }

    #[test]
    fn reverses_blocks() {
        let text = "a\n<<<<<<< SEARCH\n:start_line:4\n-------\nx\n=======\ny\nz\n>>>>>>> REPLACE\n";
        let reversed = parsed(text).reversed().unwrap();
        let block = Block { search: "y\nz\n".into(), replace: "x\n".into(), start_line: Some(4) };
        assert_eq!(reversed.files[0].action, Action::Replace { blocks: vec![block] });
    }

    #[test]
    fn reverses_every_reading() {
        let text = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1|x\n 2|a\n-2|a\n+2|b\n";
        let (patch, reversed) = (parsed(text), parsed(text).reversed().unwrap());
        let readings = |patch: &Patch| match &patch.files[0].action {
            Action::Update { hunks, .. } => hunks[0].alternatives.clone(),
            other => panic!("{other:?}"),
        };
        let (forward, back) = (readings(&patch), readings(&reversed));
        assert_eq!(forward.len(), 2);
        for (forward, back) in forward.iter().zip(&back) {
            assert_eq!(forward.repairs, back.repairs);
            let texts = |lines: &[HunkLine], role| -> Vec<String> {
                lines.iter().filter(|line| line.role == role).map(|line| line.text.clone()).collect()
            };
            assert_eq!(texts(&forward.lines, Role::Removed), texts(&back.lines, Role::Added));
            assert_eq!(texts(&forward.lines, Role::Added), texts(&back.lines, Role::Removed));
        }
        assert_eq!(readings(&reversed.reversed().unwrap()), forward);
    }
}
