//! One file's part of a unified diff: its headers and hunks, and what they come to.

use super::super::source::{Notes, fault, shorten, syntax};
use super::path::{self, Name};
use crate::body::{Body, settle};
use crate::hunk::{Hunk, Role};
use crate::{Action, Fault, FilePatch, Options, PatchError};

/// What was read of a file so far.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// Where it begins, as an index.
    index: usize,
    /// Whether it began with `diff --git`.
    git: bool,
    /// The names of that line.
    git_names: Option<(String, String)>,
    old: Option<Name>,
    new: Option<Name>,
    /// `rename from` and `rename to`.
    from: Option<String>,
    to: Option<String>,
    old_mode: Option<bool>,
    new_mode: Option<bool>,
    /// `new file mode` and `deleted file mode`: whether it can be run.
    created: Option<bool>,
    deleted: Option<bool>,
    pub(super) hunks: Vec<Body>,
}

impl Section {
    pub(super) fn plain(index: usize) -> Self {
        Self { index, ..Self::default() }
    }

    /// The section of a `diff --git` line.
    pub(super) fn git(names: &str, index: usize) -> Result<Self, PatchError> {
        Ok(Self { index, git: true, git_names: path::git_names(names, index)?, ..Self::default() })
    }

    pub(super) fn is_git(&self) -> bool {
        self.git
    }

    /// Whether `---` and `+++` would be this file's.
    pub(super) fn awaits_names(&self) -> bool {
        self.git && self.hunks.is_empty() && self.old.is_none() && self.new.is_none()
    }

    /// Takes the names of `---` and `+++`.
    pub(super) fn name(
        &mut self,
        old: Option<&str>,
        new: Option<&str>,
        index: usize,
    ) -> Result<(), PatchError> {
        self.old = old.map(|old| path::name(old, index)).transpose()?;
        self.new = new.map(|new| path::name(new, index + usize::from(old.is_some()))).transpose()?;
        Ok(())
    }

    /// Takes one of git's lines between `diff --git` and `---`.
    pub(super) fn extended(&mut self, line: &str, index: usize) -> Result<(), PatchError> {
        if !self.awaits_names() {
            return Ok(());
        }
        let quoted = |text: &str| -> Result<String, PatchError> {
            let path = if text.starts_with('"') { path::unquote(text, index)?.0 } else { text.to_owned() };
            path::checked(path, index)
        };
        if let Some(mode) = line.strip_prefix("old mode ") {
            self.old_mode = Some(executable(mode, index)?);
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.new_mode = Some(executable(mode, index)?);
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.created = Some(executable(mode, index)?);
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            self.deleted = Some(executable(mode, index)?);
        } else if let Some(from) = line.strip_prefix("rename from ") {
            self.from = Some(quoted(from)?);
        } else if let Some(to) = line.strip_prefix("rename to ") {
            self.to = Some(quoted(to)?);
        } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
            return Err(fault(
                Fault::Unsupported,
                index,
                format!("`{}`: copies are not made from a diff", shorten(line)),
                "Send the copy as a new file with its whole content (`git diff --no-renames`).",
            ));
        }
        Ok(())
    }

    /// What the section does.
    pub(super) fn finish(mut self, options: Options, notes: &mut Notes) -> Result<FilePatch, PatchError> {
        let bodies = std::mem::take(&mut self.hunks);
        self.check_names()?;
        let (old, new) = self.paths(options, notes)?;
        let line = self.index + 1;
        if self.creates(&bodies) {
            let path = new.or(old);
            let content = self.content(&bodies)?;
            let executable = self.created.unwrap_or(false);
            return Ok(FilePatch { path, action: Action::Create { content, executable }, line, crlf: false });
        }
        let (hunks, crlf) = settle(bodies, notes);
        if self.deletes(&hunks) {
            self.check_deletion(&hunks)?;
            let action = Action::Delete { hunks, executable: self.deleted.unwrap_or(false) };
            return Ok(FilePatch { path: old.or(new), action, line, crlf });
        }
        let executable = self.new_mode.filter(|new| self.old_mode != Some(*new));
        let move_to = if self.is_rename() { new.clone() } else { None };
        let path = if self.is_rename() { old } else { new.or(old) };
        if hunks.is_empty() && move_to.is_none() && executable.is_none() {
            return Err(syntax(
                self.index,
                "no hunk follows the file's headers",
                "Add the hunk, `@@ -1,2 +1,2 @@` and its lines, or leave the headers out.",
            ));
        }
        Ok(FilePatch { path, action: Action::Update { hunks, move_to, executable }, line, crlf })
    }

    /// A file that is neither before nor after is none.
    fn check_names(&self) -> Result<(), PatchError> {
        let nowhere = |name: &Option<Name>| name.as_ref().is_some_and(|name| name.path.is_none());
        if nowhere(&self.old) && (nowhere(&self.new) || self.new.is_none())
            || nowhere(&self.new) && self.old.is_none()
            || self.created.is_some() && self.deleted.is_some()
        {
            return Err(syntax(
                self.index,
                "the headers name no file, neither before nor after",
                "One of `---` and `+++` may be `/dev/null`; the other names the file.",
            ));
        }
        Ok(())
    }

    fn is_rename(&self) -> bool {
        self.from.is_some() && self.to.is_some()
    }

    /// Whether there is no old file: git or `/dev/null` says so, or a timestamp and the hunk do.
    fn creates(&self, bodies: &[Body]) -> bool {
        let never =
            |name: &Name| name.path.is_none() || name.never && bodies.iter().all(|body| body.counts().0 == 0);
        self.created.is_some() || self.old.as_ref().is_some_and(never)
    }

    /// The same of the new file.
    fn deletes(&self, hunks: &[Hunk]) -> bool {
        let all_gone = || hunks.iter().flat_map(|hunk| &hunk.lines).all(|line| line.role == Role::Removed);
        let never = |name: &Name| name.path.is_none() || name.never && all_gone();
        self.deleted.is_some() || self.new.as_ref().is_some_and(never)
    }

    /// The content of a new file: its added lines, and empty ones that lost their `+`.
    fn content(&self, bodies: &[Body]) -> Result<String, PatchError> {
        let mut content = String::new();
        for line in bodies.iter().flat_map(|body| &body.hunk.lines) {
            if line.role != Role::Added && !line.text.trim().is_empty() {
                return Err(syntax(
                    self.index,
                    "the diff makes a new file, and has lines that are not added",
                    "Begin every line of a new file with `+`, or name the old file in the `---` header.",
                ));
            }
            content.push_str(if line.role == Role::Added { &line.text } else { "" });
            content.push_str(if line.newline { "\n" } else { "" });
        }
        Ok(content)
    }

    fn check_deletion(&self, hunks: &[Hunk]) -> Result<(), PatchError> {
        let stays =
            |hunk: &Hunk| hunk.lines.iter().any(|line| line.role != Role::Removed && !line.text.is_empty());
        if hunks.iter().any(stays) {
            return Err(syntax(
                self.index,
                "the diff deletes the file, and has lines that stay or are added",
                "Begin every line of a deleted file with `-`, or name the new file in the `+++` header.",
            ));
        }
        Ok(())
    }

    /// The old and the new path, prefixes off; none where there is no file or no header.
    fn paths(
        &self,
        options: Options,
        notes: &mut Notes,
    ) -> Result<(Option<String>, Option<String>), PatchError> {
        if let (Some(from), Some(to)) = (&self.from, &self.to) {
            // These two lines have no prefix to begin with.
            let count = options.strip.unwrap_or(1).saturating_sub(1);
            return Ok((
                Some(path::strip(from, count, self.index)?),
                Some(path::strip(to, count, self.index)?),
            ));
        }
        let header = |name: &Option<Name>| name.as_ref().and_then(|name| name.path.clone());
        let (mut old, mut new) = (header(&self.old), header(&self.new));
        if self.old.is_none()
            && self.new.is_none()
            && let Some((git_old, git_new)) = self.git_names.clone()
        {
            (old, new) = (Some(git_old), Some(git_new));
        }
        if self.git && old.is_none() && new.is_none() && self.git_names.is_none() {
            return Err(syntax(
                self.index,
                "the names on the `diff --git` line cannot be told apart",
                "Add the `---` and `+++` headers, or put the names in quotes.",
            ));
        }
        let (old, new) = self.strip(old, new, options)?;
        Ok(self.agree(old, new, notes))
    }

    /// Takes the folders off that were asked for, or git's prefixes.
    fn strip(
        &self,
        old: Option<String>,
        new: Option<String>,
        options: Options,
    ) -> Result<(Option<String>, Option<String>), PatchError> {
        let count =
            options.strip.unwrap_or_else(|| usize::from(self.prefixed(old.as_deref(), new.as_deref())));
        let strip = |path: Option<String>| path.map(|path| path::strip(&path, count, self.index)).transpose();
        Ok((strip(old)?, strip(new)?))
    }

    /// Whether the names have git's prefixes.
    fn prefixed(&self, old: Option<&str>, new: Option<&str>) -> bool {
        match (old, new, &self.git_names) {
            (Some(old), Some(new), _) => path::has_prefixes(old, new, self.git),
            (_, _, Some((old, new))) => path::has_prefixes(old, new, true),
            (Some(one), None, _) | (None, Some(one), _) => one.starts_with("a/") || one.starts_with("b/"),
            (None, None, _) => false,
        }
    }

    /// Two names without a rename are one file: the new one, unless it is the copy.
    fn agree(
        &self,
        old: Option<String>,
        new: Option<String>,
        notes: &mut Notes,
    ) -> (Option<String>, Option<String>) {
        let (Some(before), Some(after)) = (&old, &new) else { return (old, new) };
        if before == after {
            return (old, new);
        }
        let is_copy = [".new", ".modified", ".mod"].iter().any(|end| after.strip_suffix(end) == Some(before));
        let is_prefixed = after.strip_prefix("b/") == Some(before);
        let chosen = if is_copy || is_prefixed { before.clone() } else { after.clone() };
        let backup = [".orig", ".bak", ".old", "~"].iter().any(|end| before.strip_suffix(end) == Some(after));
        if !is_copy && !backup {
            let what =
                format!("the headers name `{before}` and `{after}`, and no rename: `{chosen}` is meant");
            notes.remark(self.index, what);
        }
        (Some(chosen.clone()), Some(chosen))
    }
}

/// Whether a mode lets the file be run; other kinds of file are refused.
fn executable(mode: &str, index: usize) -> Result<bool, PatchError> {
    let unsupported = |what: &str| {
        fault(
            Fault::Unsupported,
            index,
            format!("mode {} is that of {what}", shorten(mode.trim())),
            "Only regular files (100644, 100755) can be patched.",
        )
    };
    match mode.trim() {
        "100755" => Ok(true),
        "120000" => Err(unsupported("a symbolic link")),
        "160000" => Err(unsupported("a submodule")),
        mode if mode.starts_with("100")
            && mode.len() == 6
            && mode.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            Ok(matches!(mode.as_bytes()[3], b'1' | b'3' | b'5' | b'7'))
        }
        _ => Err(syntax(
            index,
            format!("`{}` is not a file mode", shorten(mode.trim())),
            "Modes are 100644 or 100755.",
        )),
    }
}
