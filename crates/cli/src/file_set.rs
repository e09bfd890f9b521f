//! File arguments: names, and globs that are expanded as ripgrep would.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::path::FilePath;
use slipstitch::core::report::Report;
use slipstitch::os_path::{path_to_text, text_to_path};

use crate::error::CommandError;
use crate::global::Global;

/// The files that arguments name.
#[derive(Debug, Default)]
pub(crate) struct FileSet {
    /// Files that were named.
    pub(crate) named: Vec<FilePath>,
    /// Files that a glob found, without those that were named.
    pub(crate) found: Vec<FilePath>,
}

impl FileSet {
    /// Expands arguments. A glob finds no hidden files and none that Git ignores, and it must find at least one file.
    pub(crate) fn new(
        arguments: &[String],
        workspace: &Workspace,
        global: &Global,
    ) -> Result<Self, CommandError> {
        let mut set = Self::default();
        for text in arguments {
            let exists = || text_to_path(text).symlink_metadata().is_ok();
            if !is_glob(text) || exists() {
                set.named.push(global.file(text, workspace)?);
                continue;
            }
            let before = set.found.len();
            set.add_matches(text, workspace, global)?;
            if set.found.len() == before {
                return Err(no_match(text));
            }
        }
        set.found.retain(|path| !set.named.contains(path));
        set.found.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        set.found.dedup();
        Ok(set)
    }

    /// Whether it is a single file that was named.
    pub(crate) fn single(&self) -> Option<&FilePath> {
        match (&self.named[..], &self.found[..]) {
            ([one], []) => Some(one),
            _ => None,
        }
    }

    fn add_matches(
        &mut self,
        text: &str,
        workspace: &Workspace,
        global: &Global,
    ) -> Result<(), CommandError> {
        let glob = compile(global.path_from_root(text).as_deref().unwrap_or(text))?;
        let root = Path::new(workspace.root());
        for entry in WalkBuilder::new(root).build().flatten() {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let relative = entry.path().strip_prefix(root).ok().filter(|path| glob.is_match(path));
            if let Some(path) = relative.and_then(|path| workspace.path(&path_to_text(path)).ok()) {
                self.found.push(path);
            }
        }
        Ok(())
    }
}

/// Whether an argument has characters that make it a glob.
fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

fn compile(text: &str) -> Result<GlobMatcher, CommandError> {
    let glob = GlobBuilder::new(text.trim_start_matches("./")).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| {
        CommandError::usage(
            format!("`{text}` is not a valid glob: {}", error.kind()),
            "Use a file name or a glob such as 'src/**/*.rs'.",
        )
    })
}

fn no_match(text: &str) -> CommandError {
    Report::custom(Status::Invalid, "file_not_found", format!("no file matches `{text}`"))
        .hint("Globs find no hidden files and none that Git ignores. Name such a file itself.")
        .into()
}
