//! A file as a whole: the items around its hunks, and all of its lines with what would change.

use std::borrow::Cow;

use slipstitch::Workspace;
use slipstitch::core::change::{Base, FileChange};
use slipstitch::core::find::enclosing_item;
use slipstitch::core::path::FilePath;
use slipstitch::core::ports::journal::StoredProposal;

/// How many lines are drawn at once. A part is longer if a change goes on.
const PART_LINES: usize = 400;

/// The text of a file as a proposal was made for it, if it is known.
#[derive(Debug)]
pub(crate) struct FileBefore {
    text: Option<String>,
    can_be_shown: bool,
}

impl FileBefore {
    pub(crate) fn read(workspace: &Workspace, found: &StoredProposal, path: &FilePath) -> Self {
        let file = found.proposal.files.iter().find(|file| file.path == *path);
        let text = file.and_then(|file| workspace.text_before(found, file));
        Self { can_be_shown: text.is_some(), text }
    }

    /// A file that is not read yet. If there was one, it probably can be.
    pub(crate) fn unread(found: &StoredProposal, path: &FilePath) -> Self {
        let is_this = |file: &&FileChange| file.path == *path && matches!(file.base, Base::Content(_));
        Self { can_be_shown: found.proposal.files.iter().any(|file| is_this(&file)), text: None }
    }

    /// Whether the whole file can be shown, as far as is known.
    pub(crate) fn can_be_shown(&self) -> bool {
        self.can_be_shown
    }

    /// The lines that name the items around hunks, one for each hunk. If the file is not known, the hunk's own lines must do.
    pub(crate) fn items_around<'a>(&'a self, diffs: &[&'a str]) -> Vec<Option<&'a str>> {
        let lines: Option<Vec<&str>> = self.text.as_deref().map(|text| text.lines().collect());
        let item = |diff: &&'a str| {
            let change = FirstChange::of(diff)?;
            let above = lines.as_ref().and_then(|lines| lines.get(..change.line - 1));
            enclosing_item(above.unwrap_or(&change.above), change.text)
        };
        diffs.iter().map(item).collect()
    }

    /// All lines of the file as diffs without gaps, in parts. `None` if the file is not known or the diff is for another text.
    pub(crate) fn parts(&self, diff: &str) -> Option<Vec<String>> {
        let lines = all_lines(self.text.as_deref()?, diff)?;
        let mut parts = Vec::new();
        let (mut old, mut new) = (1, 1);
        let mut rest = &lines[..];
        while !rest.is_empty() {
            let is_context = |line: &Cow<'_, str>| line.starts_with(' ');
            let end = rest.iter().skip(PART_LINES).position(is_context);
            let (part, later) = rest.split_at(end.map_or(rest.len(), |at| PART_LINES + at));
            let mut text = format!("@@ -{old} +{new} @@\n");
            for line in part {
                old += usize::from(line.starts_with([' ', '-']));
                new += usize::from(line.starts_with([' ', '+']));
                text.push_str(line);
                text.push('\n');
            }
            parts.push(text);
            rest = later;
        }
        Some(parts)
    }
}

/// The part with the first change.
pub(crate) fn first_changed_part(parts: &[String]) -> usize {
    let is_changed = |part: &String| part.lines().any(|line| line.starts_with(['+', '-']));
    parts.iter().position(is_changed).unwrap_or(0)
}

/// The first change of a hunk.
struct FirstChange<'a> {
    /// The line of the old text where it is, from 1.
    line: usize,
    /// The first changed line that is not blank.
    text: &'a str,
    /// The hunk's lines above it.
    above: Vec<&'a str>,
}

impl<'a> FirstChange<'a> {
    fn of(diff: &'a str) -> Option<Self> {
        let (start, body) = hunks(diff).into_iter().next()?;
        let is_changed = |line: &&&str| line.starts_with(['+', '-']);
        let above = body.iter().take_while(|line| !is_changed(line)).filter_map(|line| line.get(1..));
        let above: Vec<&str> = above.collect();
        let changed = body.iter().filter(is_changed).filter_map(|line| line.get(1..));
        let text = changed.into_iter().find(|line| !line.trim().is_empty())?;
        Some(Self { line: start + above.len(), text, above })
    }
}

/// The hunks of a diff of one file: the first line of the old text that each is about, from 1, and its lines.
fn hunks(diff: &str) -> Vec<(usize, Vec<&str>)> {
    let mut found: Vec<(usize, Vec<&str>)> = Vec::new();
    for line in diff.lines() {
        match old_start(line) {
            Some(start) => found.push((start, Vec::new())),
            None => found.last_mut().into_iter().for_each(|(_, body)| body.push(line)),
        }
    }
    found
}

/// The first line of the old text in the header of a hunk. A hunk without old lines names the line before it.
fn old_start(line: &str) -> Option<usize> {
    let (old, _) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (start, count) = old.split_once(',').unwrap_or((old, "1"));
    let start: usize = start.parse().ok()?;
    Some(if count == "0" { start + 1 } else { start.max(1) })
}

/// The lines of a diff of one file, with those that it leaves out. `None` if the diff is for another text.
fn all_lines<'a>(before: &'a str, diff: &'a str) -> Option<Vec<Cow<'a, str>>> {
    let old: Vec<&str> = before.lines().collect();
    let context = |line: &&str| Cow::Owned(format!(" {line}"));
    let mut lines: Vec<Cow<'a, str>> = Vec::new();
    let mut at = 0;
    for (start, body) in hunks(diff) {
        lines.extend(old.get(at..start - 1)?.iter().map(context));
        at = start - 1;
        for line in body {
            if line.starts_with([' ', '-']) || line.is_empty() {
                let text = line.get(1..).unwrap_or_default();
                if old.get(at)?.trim_end_matches('\r') != text.trim_end_matches('\r') {
                    return None;
                }
                at += 1;
            }
            lines.push(Cow::Borrowed(if line.is_empty() { " " } else { line }));
        }
    }
    let is_rest_shown = at < old.len();
    lines.extend(old.get(at..)?.iter().map(context));
    if is_rest_shown && !before.ends_with('\n') {
        lines.push(Cow::Borrowed("\\ No newline at end of file"));
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "class A:\n    def f(self):\n        a = 1\n        b = 2\n        c = 3\n\n    def g(self):\n        pass";
    const DIFF: &str = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -4,2 +4,2 @@\n         b = 2\n-        c = 3\n+        c = 4\n";

    fn file(text: Option<&str>) -> FileBefore {
        FileBefore { text: text.map(str::to_owned), can_be_shown: text.is_some() }
    }

    fn known() -> FileBefore {
        file(Some(BEFORE))
    }

    #[test]
    fn hunks_are_named_after_the_item_around_them() {
        assert_eq!(known().items_around(&[DIFF]), [Some("def f(self):")]);
        assert_eq!(file(None).items_around(&[DIFF]), [None], "its own lines do not say it");
        let insertion = "@@ -7,0 +8 @@\n+        return 1\n";
        assert_eq!(known().items_around(&[insertion]), [Some("def g(self):")]);
        let created = "new file mode 100644\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(file(None).items_around(&[created, "rename to b\n"]), [None, None]);
    }

    #[test]
    fn the_whole_file_has_every_line_once() {
        let parts = known().parts(DIFF).unwrap();
        assert_eq!(parts.len(), 1);
        let old: Vec<&str> = parts[0]
            .lines()
            .skip(1)
            .filter(|line| line.starts_with([' ', '-']))
            .map(|line| &line[1..])
            .collect();
        assert_eq!(old.join("\n"), BEFORE);
        assert!(
            parts[0].contains("+        c = 4\n") && parts[0].ends_with("\\ No newline at end of file\n")
        );
        assert_eq!(file(Some("other\n")).parts(DIFF), None, "the diff is for another text");
        assert_eq!(file(None).parts(DIFF), None);
    }

    #[test]
    fn long_files_come_in_parts_that_split_no_change() {
        let before: String = (1..=1000).map(|line| format!("{line}\n")).collect();
        let changed: String = (398..=405).map(|line| format!("-{line}\n+x{line}\n")).collect();
        let parts = file(Some(&before)).parts(&format!("@@ -398,8 +398,8 @@\n{changed}")).unwrap();
        assert_eq!(first_changed_part(&parts), 0);
        assert!(
            parts[0].contains("+x405\n") && parts[1].starts_with("@@ -406 +406 @@\n 406\n"),
            "{}",
            parts[1]
        );
        assert_eq!(parts.concat().lines().filter(|line| line.starts_with([' ', '-'])).count(), 1000);
        assert_eq!(parts.len(), 3);
    }
}
