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
            let from_root = global.path_from_root(text);
            set.found.extend(find_below_root(from_root.as_deref().unwrap_or(text), workspace)?);
            if set.found.len() == before {
                return Err(no_match(text, !find_below_root(text, workspace)?.is_empty()));
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
}

/// The files that match a glob relative to the root.
fn find_below_root(text: &str, workspace: &Workspace) -> Result<Vec<FilePath>, CommandError> {
    let glob = compile(text)?;
    let root = Path::new(workspace.root());
    let files = WalkBuilder::new(root).build().flatten();
    let files = files.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let paths = files.filter_map(|entry| {
        let relative = entry.path().strip_prefix(root).ok().filter(|path| glob.is_match(path))?;
        workspace.path(&path_to_text(relative)).ok()
    });
    Ok(paths.collect())
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

/// The error for a glob that matches nothing.
fn no_match(text: &str, finds_from_root: bool) -> CommandError {
    let hint = match finds_from_root {
        false => "Globs find no hidden files and none that Git ignores. Name such a file itself.",
        true => "Globs are relative to the working folder; from the project's root, this one finds files.",
    };
    Report::custom(Status::Invalid, "file_not_found", format!("no file matches `{text}`")).hint(hint).into()
}
