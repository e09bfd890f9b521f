//! The part of a unified diff that is about one file: its headers and hunks, combined into an action.

mod agreement;

use super::super::source::{Notes, error_at, syntax_error, truncate};
use super::path::{self, Name};
use crate::body::{Body, finish_deletion, finish_update};
use crate::hunk::{Hunk, Role};
use crate::{Action, FilePatch, ParseOptions, PatchError, PatchErrorKind};

/// The headers and hunks of a file parsed so far.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// The index of its first line.
    index: usize,
    /// Whether it starts with `diff --git`.
    git: bool,
    /// The paths on the `diff --git` line.
    git_names: Option<(String, String)>,
    old: Option<Name>,
    new: Option<Name>,
    /// `rename from` and `rename to`.
    from: Option<String>,
    to: Option<String>,
    old_mode: Option<bool>,
    new_mode: Option<bool>,
    /// `new file mode` and `deleted file mode`: whether the file is executable.
    created: Option<bool>,
    deleted: Option<bool>,
    pub(super) hunks: Vec<Body>,
}

impl Section {
    pub(super) fn plain(index: usize) -> Self {
        Self { index, ..Self::default() }
    }

    /// Starts a section at a `diff --git` line.
    pub(super) fn git(names: &str, index: usize, options: ParseOptions) -> Result<Self, PatchError> {
        let git_names = path::git_names(names, index, options)?;
        Ok(Self { index, git: true, git_names, ..Self::default() })
    }

    pub(super) fn is_git(&self) -> bool {
        self.git
    }

    /// Whether `---` and `+++` headers would belong to this section.
    pub(super) fn expects_names(&self) -> bool {
        self.git && self.hunks.is_empty() && self.old.is_none() && self.new.is_none()
    }

    /// Parses the paths of `---` and `+++`.
    pub(super) fn set_names(
        &mut self,
        old: Option<&str>,
        new: Option<&str>,
        index: usize,
        options: ParseOptions,
    ) -> Result<(), PatchError> {
        let new_index = index + usize::from(old.is_some());
        self.old = old.map(|old| path::parse_name(old, index, options)).transpose()?;
        self.new = new.map(|new| path::parse_name(new, new_index, options)).transpose()?;
        Ok(())
    }

    /// Parses one of git's extended headers between `diff --git` and `---`.
    pub(super) fn parse_git_header(
        &mut self,
        line: &str,
        index: usize,
        options: ParseOptions,
    ) -> Result<(), PatchError> {
        if !self.expects_names() {
            return Ok(());
        }
        let parse_path = |text: &str| -> Result<String, PatchError> {
            let path = if text.starts_with('"') { path::unquote(text, index)?.0 } else { text.to_owned() };
            path::check_path(path, index, options)
        };
        // Git reads the second spelling too.
        let either_prefix = |one: &str, other: &str| line.strip_prefix(one).or(line.strip_prefix(other));
        if let Some(mode) = line.strip_prefix("old mode ") {
            self.old_mode = Some(parse_mode(mode, index)?);
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.new_mode = Some(parse_mode(mode, index)?);
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.created = Some(parse_mode(mode, index)?);
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            self.deleted = Some(parse_mode(mode, index)?);
        } else if let Some(from) = either_prefix("rename from ", "rename old ") {
            self.from = Some(parse_path(from)?);
        } else if let Some(to) = either_prefix("rename to ", "rename new ") {
            self.to = Some(parse_path(to)?);
        } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
            return Err(error_at(
                PatchErrorKind::Unsupported,
                index,
                format!("`{}`: copies are not supported", truncate(line)),
                "Send the copy as a new file with its whole content (`git diff --no-renames`).",
            ));
        }
        Ok(())
    }

    /// Combines the section into a file's patch.
    pub(super) fn finish(
        mut self,
        options: ParseOptions,
        notes: &mut Notes,
    ) -> Result<FilePatch, PatchError> {
        let bodies = std::mem::take(&mut self.hunks);
        self.check_agreement(options, notes)?;
        let (old, new) = self.paths(options, notes)?;
        let line = self.index + 1;
        if self.creates(&bodies) {
            let path = new.or(old);
            let content = self.content(&bodies)?;
            let executable = self.created.unwrap_or(false);
            return Ok(FilePatch { path, action: Action::Create { content, executable }, line, crlf: false });
        }
        if self.deletes(&bodies) {
            let (hunks, crlf) = finish_deletion(bodies, notes);
            self.check_deletion(&hunks)?;
            let action = Action::Delete { hunks, executable: self.deleted.unwrap_or(false) };
            return Ok(FilePatch { path: old.or(new), action, line, crlf });
        }
        let executable = self.new_mode.filter(|new| self.old_mode != Some(*new));
        let move_to = if self.is_rename() { new.clone() } else { None };
        let has_change = move_to.is_some() || executable.is_some();
        let (hunks, crlf) = finish_update(bodies, has_change, notes)?;
        let path = if self.is_rename() { old } else { new.or(old) };
        if hunks.is_empty() && move_to.is_none() && executable.is_none() {
            return Err(syntax_error(
                self.index,
                "the file headers are not followed by a hunk",
                "Add a hunk (`@@ -1,2 +1,2 @@` and its lines), or remove the headers.",
            ));
        }
        Ok(FilePatch { path, action: Action::Update { hunks, move_to, executable }, line, crlf })
    }

    fn is_rename(&self) -> bool {
        self.from.is_some() && self.to.is_some()
    }

    /// Whether the section creates a file: git or `/dev/null` says so, or the timestamp and the hunks do.
    fn creates(&self, bodies: &[Body]) -> bool {
        let is_absent = |name: &Name| {
            name.path.is_none() || name.is_epoch && bodies.iter().all(|body| body.counts().0 == 0)
        };
        self.created.is_some() || self.old.as_ref().is_some_and(is_absent)
    }

    /// Whether the section deletes the file, by the same evidence.
    fn deletes(&self, bodies: &[Body]) -> bool {
        let mut lines = bodies.iter().flat_map(|body| &body.hunk.lines);
        let mut all_removed = || lines.all(|line| line.role == Role::Removed);
        let mut is_absent = |name: &Name| name.path.is_none() || name.is_epoch && all_removed();
        self.deleted.is_some() || self.new.as_ref().is_some_and(&mut is_absent)
    }

    /// The content of a new file: its added lines, including empty ones without a `+`.
    fn content(&self, bodies: &[Body]) -> Result<String, PatchError> {
        let mut content = String::new();
        for line in bodies.iter().flat_map(|body| &body.hunk.lines) {
            if line.role != Role::Added && !line.text.trim().is_empty() {
                return Err(syntax_error(
                    self.index,
                    "the diff creates a file but has lines that are not added",
                    "Start every line of a new file with `+`, or name the old file in the `---` header.",
                ));
            }
            content.push_str(if line.role == Role::Added { &line.text } else { "" });
            content.push_str(if line.newline { "\n" } else { "" });
        }
        Ok(content)
    }

    fn check_deletion(&self, hunks: &[Hunk]) -> Result<(), PatchError> {
        let keeps_lines =
            |hunk: &Hunk| hunk.lines.iter().any(|line| line.role != Role::Removed && !line.text.is_empty());
        if hunks.iter().any(keeps_lines) {
            return Err(syntax_error(
                self.index,
                "the diff deletes the file but has context or added lines",
                "Start every line of a deleted file with `-`, or name the new file in the `+++` header.",
            ));
        }
        Ok(())
    }

    /// The old and the new path without prefixes; `None` if there is no file or no header.
    fn paths(
        &self,
        options: ParseOptions,
        notes: &mut Notes,
    ) -> Result<(Option<String>, Option<String>), PatchError> {
        if let (Some(from), Some(to)) = (&self.from, &self.to) {
            // `rename from` and `rename to` have no `a/` and `b/` prefix.
            let count = options.strip.unwrap_or(1).saturating_sub(1);
            return Ok((
                Some(path::strip(from, count, self.index, options)?),
                Some(path::strip(to, count, self.index, options)?),
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
            return Err(syntax_error(
                self.index,
                "the paths on the `diff --git` line are ambiguous",
                "Add `---` and `+++` headers, or quote the paths.",
            ));
        }
        let (old, new) = self.strip(old, new, options)?;
        if let (Some(old), Some(new)) = (&old, &new) {
            path::check_same_folder(old, new, self.index)?;
        }
        Ok(self.choose_path(old, new, notes))
    }

    /// Strips the requested number of folders, or git's prefixes.
    fn strip(
        &self,
        old: Option<String>,
        new: Option<String>,
        options: ParseOptions,
    ) -> Result<(Option<String>, Option<String>), PatchError> {
        let count =
            options.strip.unwrap_or_else(|| usize::from(self.has_prefixes(old.as_deref(), new.as_deref())));
        let strip = |path: Option<String>| {
            path.map(|path| path::strip(&path, count, self.index, options)).transpose()
        };
        Ok((strip(old)?, strip(new)?))
    }

    /// Whether the paths have git's prefixes.
    fn has_prefixes(&self, old: Option<&str>, new: Option<&str>) -> bool {
        match (old, new, &self.git_names) {
            (Some(old), Some(new), _) => path::has_prefixes(old, new, self.git),
            (Some(one), None, Some((old, new))) | (None, Some(one), Some((old, new))) => {
                let folder = |path: &str| path.split_once('/').map(|(folder, _)| folder.to_owned());
                path::has_prefixes(old, new, true) && [folder(old), folder(new)].contains(&folder(one))
            }
            (None, None, Some((old, new))) => path::has_prefixes(old, new, true),
            (Some(one), None, _) | (None, Some(one), _) => one.starts_with("a/") || one.starts_with("b/"),
            (None, None, _) => false,
        }
    }

    /// Different paths without a rename mean one file: the new path, unless that is a copy such as `x.new`.
    fn choose_path(
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
            let message =
                format!("the headers name `{before}` and `{after}` without a rename: used `{chosen}`");
            notes.remark(self.index, message);
        }
        (Some(chosen.clone()), Some(chosen))
    }
}

/// Whether a mode is executable. Modes of other kinds of files are an error.
fn parse_mode(mode: &str, index: usize) -> Result<bool, PatchError> {
    let unsupported = |what: &str| {
        error_at(
            PatchErrorKind::Unsupported,
            index,
            format!("mode {} means {what}, which is not supported", truncate(mode.trim())),
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
        _ => Err(syntax_error(
            index,
            format!("`{}` is not a file mode", truncate(mode.trim())),
            "Modes are 100644 or 100755.",
        )),
    }
}
