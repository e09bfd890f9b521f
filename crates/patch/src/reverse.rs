//! A patch that takes another one back.

use super::merge::merge;
use super::shift::{Stretch, shifted, start};
use super::source::fault;
use super::{Action, Block, Fault, FilePatch, Format, Patch, PatchError};
use crate::hunk::{Hunk, HunkLine, Role};

impl Patch {
    /// The patch that takes this one back.
    ///
    /// # Errors
    /// If the patch does not say enough: a V4A patch that deletes a file does not say what it
    /// held, and a block without new text leaves nothing to find its place by.
    pub fn reversed(&self) -> Result<Self, PatchError> {
        let files: Result<_, _> = self.files.iter().map(|file| reversed_file(file, self.format)).collect();
        let files = merge(files?).map_err(|clash| irreversible(clash.line, clash.message))?;
        Ok(Self { format: self.format, files, repairs: Vec::new() })
    }
}

fn reversed_file(file: &FilePatch, format: Format) -> Result<FilePatch, PatchError> {
    let line = file.line;
    let same = |action, crlf| FilePatch { path: file.path.clone(), action, line, crlf };
    match &file.action {
        Action::Create { content, executable } => {
            let (hunks, crlf) = whole(content, format);
            Ok(same(Action::Delete { hunks, executable: *executable }, crlf))
        }
        Action::Delete { hunks, executable } => {
            let content = content(hunks, file, format)?;
            Ok(same(Action::Create { content, executable: *executable }, false))
        }
        Action::Update { hunks, move_to, executable } => {
            let hunks = reversed_hunks(hunks, line)?;
            let path = move_to.clone().or_else(|| file.path.clone());
            let move_to = move_to.as_ref().and(file.path.clone());
            let action = Action::Update { hunks, move_to, executable: executable.map(|may| !may) };
            Ok(FilePatch { path, action, line, crlf: file.crlf })
        }
        Action::Replace { blocks } => {
            Ok(same(Action::Replace { blocks: reversed_blocks(blocks, line)? }, file.crlf))
        }
    }
}

fn irreversible(line: usize, message: impl Into<String>) -> PatchError {
    let hint = "Undo the change by its id instead, or send the opposite patch.";
    fault(Fault::Irreversible, line.saturating_sub(1), message, hint)
}

/// The hunk that takes out a whole content, and whether the content has CRLF throughout.
fn whole(content: &str, format: Format) -> (Vec<Hunk>, bool) {
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
    let whole_lines = || lines.iter().filter(|line| line.newline);
    let crlf = whole_lines().next().is_some() && whole_lines().all(|line| line.text.ends_with('\r'));
    if crlf {
        lines.iter_mut().filter(|line| line.newline).for_each(|line| {
            line.text.pop();
        });
    }
    let line = Some(1).filter(|_| format == Format::Unified);
    (vec![Hunk { lines, line, at_end: !terminated, ..Hunk::default() }], crlf)
}

/// The content that a deletion states.
fn content(hunks: &[Hunk], file: &FilePatch, format: Format) -> Result<String, PatchError> {
    let path = file.path.as_deref().unwrap_or("the file");
    let hunk = match hunks {
        [] if format == Format::Unified => return Ok(String::new()),
        [hunk] if matches!(hunk.line, None | Some(1)) => hunk,
        _ => {
            return Err(irreversible(
                file.line,
                format!("the patch does not say what the deleted `{path}` held"),
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

/// The hunks that take others back, where the others have put their lines.
fn reversed_hunks(hunks: &[Hunk], line: usize) -> Result<Vec<Hunk>, PatchError> {
    let stretches: Vec<_> = hunks.iter().map(Stretch::of).collect();
    let after = shifted(&stretches).ok_or_else(|| irreversible(line, "hunks of the file overlap"))?;
    let mut reversed: Vec<Hunk> =
        hunks.iter().zip(&after).map(|(hunk, before)| reversed_hunk(hunk, *before)).collect();
    if after.iter().all(Option::is_some) {
        let mut order: Vec<usize> = (0..hunks.len()).collect();
        order.sort_by_key(|&index| stretches[index].map(|stretch| (stretch.before, stretch.old)));
        let mut taken: Vec<Option<Hunk>> = reversed.into_iter().map(Some).collect();
        reversed = order.into_iter().filter_map(|index| taken[index].take()).collect();
    }
    Ok(reversed)
}

fn reversed_hunk(hunk: &Hunk, before: Option<usize>) -> Hunk {
    Hunk {
        lines: reversed_lines(&hunk.lines),
        line: before.map(|before| start(before, hunk.new_lines().count())),
        scopes: hunk.scopes.clone(),
        at_end: hunk.at_end,
        alternative: hunk.alternative.as_deref().map(reversed_lines),
    }
}

/// The lines with old and new exchanged; in every change, what goes stands before what comes.
fn reversed_lines(lines: &[HunkLine]) -> Vec<HunkLine> {
    let opposite = |role| match role {
        Role::Context => Role::Context,
        Role::Removed => Role::Added,
        Role::Added => Role::Removed,
    };
    let mut reversed: Vec<HunkLine> =
        lines.iter().map(|line| HunkLine { role: opposite(line.role), ..line.clone() }).collect();
    for change in
        reversed.chunk_by_mut(|first, second| first.role != Role::Context && second.role != Role::Context)
    {
        change.sort_by_key(|line| line.role == Role::Added);
    }
    reversed
}

/// Blocks with search and replacement exchanged.
fn reversed_blocks(blocks: &[Block], line: usize) -> Result<Vec<Block>, PatchError> {
    let stretches: Vec<_> = blocks.iter().map(stretch).collect();
    let after = shifted(&stretches).ok_or_else(|| irreversible(line, "blocks of the file overlap"))?;
    let reversed = blocks.iter().zip(after).map(|(block, before)| {
        if block.search.is_empty() {
            return Err(irreversible(
                line,
                "a block without search text makes a file, which blocks cannot delete",
            ));
        }
        if block.replace.is_empty() {
            return Err(irreversible(
                line,
                "a block without new text leaves no place to put the old text back",
            ));
        }
        let start_line = before.map(|before| before + 1);
        Ok(Block { search: block.replace.clone(), replace: block.search.clone(), start_line })
    });
    reversed.collect()
}

fn stretch(block: &Block) -> Option<Stretch> {
    let lines = |text: &str| text.lines().count();
    let before = block.start_line?.saturating_sub(1);
    Some(Stretch { before, old: lines(&block.search), new: lines(&block.replace) })
}

#[cfg(test)]
mod tests {
    use super::super::{Options, parse};
    use super::*;

    fn read(text: &str) -> Patch {
        parse(text, None, Options::default()).unwrap()
    }

    /// What the reversal of a text prints, without its git line.
    fn back(text: &str) -> String {
        read(text).reversed().unwrap().print()
    }

    #[test]
    fn hunks_are_exchanged_where_they_will_be() {
        let text = "--- a/f\n+++ b/f\n@@ -2,2 +2,3 @@\n a\n-b\n+c\n+d\n@@ -9,0 +11 @@\n+x\n";
        assert_eq!(
            back(text),
            "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -2,3 +2,2 @@\n a\n-c\n-d\n+b\n@@ -11 +9,0 @@\n-x\n"
        );
    }

    #[test]
    fn creations_become_deletions_and_back() {
        let text = "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\r\n+b\r\n";
        let deletion = read(text).reversed().unwrap();
        assert!(
            matches!(&deletion.files[0].action, Action::Delete { hunks, .. } if hunks[0].lines[0].text == "a")
        );
        assert!(deletion.files[0].crlf);
        assert_eq!(deletion.reversed().unwrap().files, read(text).files);
    }

    #[test]
    fn moves_and_modes_go_back() {
        let text = "diff --git a/x b/y\nold mode 100644\nnew mode 100755\nrename from x\nrename to y\n";
        let reversed = read(text).reversed().unwrap();
        assert_eq!(reversed.files[0].path.as_deref(), Some("y"));
        let expected = Action::Update { hunks: vec![], move_to: Some("x".into()), executable: Some(false) };
        assert_eq!(reversed.files[0].action, expected);
    }

    #[test]
    fn what_says_too_little_is_refused() {
        let irreversible = |text: &str| read(text).reversed().unwrap_err().fault == Fault::Irreversible;
        assert!(irreversible("*** Begin Patch\n*** Delete File: x\n*** End Patch\n"));
        assert!(irreversible("a\n<<<<<<< SEARCH\nx\n=======\n>>>>>>> REPLACE\n"));
        assert!(irreversible("a\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n"));
        assert!(irreversible("--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@\n a\n-b\n+c\n@@ -3 +3 @@\n-b\n+d\n"));
    }

    #[test]
    fn blocks_are_exchanged() {
        let text = "a\n<<<<<<< SEARCH\n:start_line:4\n-------\nx\n=======\ny\nz\n>>>>>>> REPLACE\n";
        let reversed = read(text).reversed().unwrap();
        let block = Block { search: "y\nz\n".into(), replace: "x\n".into(), start_line: Some(4) };
        assert_eq!(reversed.files[0].action, Action::Replace { blocks: vec![block] });
    }
}
