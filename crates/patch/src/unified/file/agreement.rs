//! Whether the headers of a section agree about its files.
//!
//! A git diff names a file up to three times: on the `diff --git` line, in `---` and `+++`, and in the rename headers. If
//! they differ, any choice could change or delete a file that the author did not mean, so the section is refused, as git
//! refuses it. Plain diffs have only `---` and `+++`, and are read more leniently.

use super::super::super::source::{Notes, syntax_error, truncate};
use super::super::path::{self, Name};
use super::Section;
use crate::{ParseOptions, PatchError};

const RENAME_HINT: &str = "Name the old file in `rename from` and `--- a/`, and the new one in `rename to` and `+++ b/`; \
                           or leave the rename headers out if the file keeps its name.";
const NAMES_HINT: &str = "Name the same file on the `diff --git` line and in the headers below it, or leave the `diff --git` \
                          line out.";

impl Section {
    /// Refuses headers that contradict each other, and completes a rename.
    pub(super) fn check_agreement(
        &mut self,
        options: ParseOptions,
        notes: &mut Notes,
    ) -> Result<(), PatchError> {
        self.check_rename(options)?;
        self.check_existence()?;
        self.complete_rename(options, notes)?;
        self.check_git_line(options)
    }

    fn contradiction(&self, message: String, hint: &str) -> PatchError {
        syntax_error(self.index, message, hint)
    }

    /// Checks that there is a file before or after, and that `/dev/null` agrees with `new file mode` and `deleted file
    /// mode`.
    fn check_existence(&self) -> Result<(), PatchError> {
        let is_null = |name: &Option<Name>| name.as_ref().is_some_and(|name| name.path.is_none());
        if is_null(&self.old) && (is_null(&self.new) || self.new.is_none())
            || is_null(&self.new) && self.old.is_none()
            || self.created.is_some() && self.deleted.is_some()
        {
            return Err(syntax_error(
                self.index,
                "the headers name neither an old nor a new file",
                "Only one of `---` and `+++` may be `/dev/null`; the other must name the file.",
            ));
        }
        let sides = [
            (self.created, &self.old, &self.new, "new file mode", "---", "+++"),
            (self.deleted, &self.new, &self.old, "deleted file mode", "+++", "---"),
        ];
        for (mode, absent, present, keyword, absent_mark, present_mark) in sides {
            if mode.is_none() {
                continue;
            }
            let hint = format!(
                "With `{keyword}`, write `{absent_mark} /dev/null` and name the file in `{present_mark}`; or leave \
                 `{keyword}` out."
            );
            if let Some(Name { path: Some(path), is_epoch: false }) = absent {
                let message = format!("`{absent_mark} {}` contradicts `{keyword}`", truncate(path));
                return Err(self.contradiction(message, &hint));
            }
            if is_null(present) {
                let message = format!("`{present_mark} /dev/null` contradicts `{keyword}`");
                return Err(self.contradiction(message, &hint));
            }
        }
        Ok(())
    }

    /// Checks that the rename headers agree with `---` and `+++`.
    fn check_rename(&self, options: ParseOptions) -> Result<(), PatchError> {
        if self.from.is_none() && self.to.is_none() {
            return Ok(());
        }
        if self.created.is_some() || self.deleted.is_some() {
            let message = "the section says that the file is renamed, and that it is created or deleted";
            return Err(self.contradiction(message.into(), RENAME_HINT));
        }
        for (header, name, mark, keyword) in
            [(&self.old, &self.from, "---", "rename from"), (&self.new, &self.to, "+++", "rename to")]
        {
            let (Some(header), Some(name)) = (header, name) else { continue };
            let path = header.path.as_deref();
            if !path.is_some_and(|path| self.is_renamed_path(path, name, options)) {
                let path = truncate(path.unwrap_or("/dev/null"));
                let message = format!("`{mark} {path}` contradicts `{keyword} {}`", truncate(name));
                return Err(self.contradiction(message, RENAME_HINT));
            }
        }
        Ok(())
    }

    /// Whether a path is the one in a rename header, which has no prefix.
    fn is_renamed_path(&self, path: &str, name: &str, options: ParseOptions) -> bool {
        path == name || self.stripped(path, 1, options).as_deref() == Some(name)
    }

    fn stripped(&self, path: &str, count: usize, options: ParseOptions) -> Option<String> {
        path::strip(path, count, self.index, options).ok()
    }

    /// Takes a missing rename header from the other headers.
    fn complete_rename(&mut self, options: ParseOptions, notes: &mut Notes) -> Result<(), PatchError> {
        let missing = match (&self.from, &self.to) {
            (None, Some(_)) => "rename from",
            (Some(_), None) => "rename to",
            _ => return Ok(()),
        };
        let path_of = |header: &Option<Name>| header.as_ref().and_then(|name| name.path.clone());
        let has_prefixes = self.has_prefixes(path_of(&self.old).as_deref(), path_of(&self.new).as_deref());
        let git_names = self.git_names.as_ref();
        let (header, git_name) = match self.from {
            None => (&self.old, git_names.map(|names| &names.0)),
            Some(_) => (&self.new, git_names.map(|names| &names.1)),
        };
        let path = header.as_ref().map_or(git_name.cloned(), |name| name.path.clone());
        let path = path.and_then(|path| self.stripped(&path, usize::from(has_prefixes), options));
        let Some(path) = path else {
            let message = "the section has only one of `rename from` and `rename to`";
            return Err(self.contradiction(message.into(), RENAME_HINT));
        };
        notes.repair(self.index, format!("`{missing}` is missing: used `{path}` from the other headers"))?;
        if self.from.is_none() {
            self.from = Some(path);
        } else {
            self.to = Some(path);
        }
        Ok(())
    }

    /// Checks that the other headers agree with the `diff --git` line, if it is clear which paths that has.
    fn check_git_line(&self, options: ParseOptions) -> Result<(), PatchError> {
        let Some((git_old, git_new)) = &self.git_names else { return Ok(()) };
        let contradicts = |header: String| {
            let message =
                format!("`{header}` contradicts `diff --git {} {}`", truncate(git_old), truncate(git_new));
            Err(self.contradiction(message, NAMES_HINT))
        };
        if let (Some(from), Some(to)) = (&self.from, &self.to) {
            for (name, git_name, keyword) in [(from, git_old, "rename from"), (to, git_new, "rename to")] {
                // With spaces, the line can be divided in more than one way if the paths differ.
                if !git_name.contains(' ') && !self.is_renamed_path(git_name, name, options) {
                    return contradicts(format!("{keyword} {}", truncate(name)));
                }
            }
            return Ok(());
        }
        let git_count =
            options.strip.unwrap_or_else(|| usize::from(path::has_prefixes(git_old, git_new, true)));
        let stripped_git = |path: &str| self.stripped(path, git_count, options);
        let header = |name: &Option<Name>| name.as_ref().and_then(|name| name.path.clone());
        let (old, new) = (header(&self.old), header(&self.new));
        let count =
            options.strip.unwrap_or_else(|| usize::from(self.has_prefixes(old.as_deref(), new.as_deref())));
        for (path, git_name, mark) in [(&old, git_old, "---"), (&new, git_new, "+++")] {
            let Some(path) = path else { continue };
            let stripped = self.stripped(path, count, options);
            if path != git_name && (stripped.is_none() || stripped != stripped_git(git_name)) {
                return contradicts(format!("{mark} {}", truncate(path)));
            }
        }
        let names_one_file = stripped_git(git_old) == stripped_git(git_new);
        let is_unclear = old.is_none() && new.is_none() || self.created.or(self.deleted).is_some();
        if is_unclear && !names_one_file {
            let message = format!(
                "`diff --git {} {}` names two files, and no other header says that one is renamed",
                truncate(git_old),
                truncate(git_new)
            );
            return Err(self.contradiction(message, NAMES_HINT));
        }
        Ok(())
    }
}
