//! Why an installation or removal did not happen.

use std::path::{Path, PathBuf};

use slipstitch::core::outcome::{Failed, Outcome};
use slipstitch::core::report::Report;

use crate::format::FormatError;

/// The underlying cause of an error.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why nothing was installed or removed. Whatever the error, the settings file is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The user's settings files are in the home directory, and there is none.
    #[error("HOME is not set, so the user's settings files cannot be found")]
    NoHome,
    /// The host has settings for users only.
    #[error("{host} has no project settings file")]
    NoProjectFile {
        /// The host's name.
        host: &'static str,
    },
    /// A directory that the server should work in, or whose settings are meant, is unusable.
    #[error("the directory `{}` cannot be used: {source}", path.display())]
    BadRoot {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: Source,
    },
    /// An installation would replace an entry that differs from the new one.
    #[error("`{}` already has a different server named `{name}`", file.display())]
    DifferentEntry {
        /// The settings file.
        file: PathBuf,
        /// The server's name.
        name: String,
    },
    /// An installation would replace a setting that has another value.
    #[error("`{}` already sets `{key}` to something else", file.display())]
    DifferentSetting {
        /// The settings file.
        file: PathBuf,
        /// The setting.
        key: String,
    },
    /// The entry to remove does not start Slipstitch.
    #[error("the server `{name}` in `{}` starts another program", file.display())]
    ForeignEntry {
        /// The settings file.
        file: PathBuf,
        /// The server's name.
        name: String,
    },
    /// The settings file or a directory above it is a symlink that leads nowhere. Its target may be on a volume that is
    /// not mounted, so nothing is created in its place.
    #[error("`{}` is a symlink to `{}`, which does not exist", link.display(), destination.display())]
    DanglingLink {
        /// The symlink.
        link: PathBuf,
        /// What it points to.
        destination: PathBuf,
    },
    /// The entry cannot be added or removed without touching other bytes of the settings file.
    #[error("`{}` cannot be edited safely: {source}", file.display())]
    Unsafe {
        /// The settings file.
        file: PathBuf,
        /// Why.
        source: FormatError,
    },
    /// The host's file format cannot express the entry.
    #[error("the entry cannot be written: {0}")]
    Render(#[source] FormatError),
    /// The settings file, the journal or the configuration cannot be opened.
    #[error("`{}` cannot be used: {source}", path.display())]
    Unusable {
        /// The settings file or a directory above it.
        path: PathBuf,
        /// Why.
        source: Source,
    },
    /// The settings file may not be written. Programs that manage settings make them read-only.
    #[error("no permission to write `{}`", file.display())]
    NoPermission {
        /// The settings file.
        file: PathBuf,
    },
    /// The engine refused or failed to write the file.
    #[error("{}", .0.message)]
    Engine(Box<Report>),
}

impl Error {
    pub(crate) fn bad_root(path: &Path, source: impl Into<Source>) -> Self {
        Self::BadRoot { path: path.into(), source: source.into() }
    }

    pub(crate) fn unusable(path: &Path, source: impl Into<Source>) -> Self {
        Self::Unusable { path: path.into(), source: source.into() }
    }

    pub(crate) fn unsafe_edit(file: &Path, source: impl Into<FormatError>) -> Self {
        Self::Unsafe { file: file.into(), source: source.into() }
    }

    /// The error that the engine did not write a file.
    pub(crate) fn unwritten(file: &Path, report: Report) -> Self {
        match report.outcome {
            Outcome::Failed(Failed::PermissionDenied) => Self::NoPermission { file: file.into() },
            _ => report.into(),
        }
    }
}

impl From<Report> for Error {
    fn from(report: Report) -> Self {
        Self::Engine(Box::new(report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_permission_is_named_in_full() {
        let file = Path::new("/home/me/.qwen/settings.json");
        let report = Report::new(Failed::PermissionDenied, "no permission to write `settings.json`");
        let error = Error::unwritten(file, report);
        assert_eq!(error.to_string(), "no permission to write `/home/me/.qwen/settings.json`");
        let report = Report::new(Failed::Io, "no space left");
        assert_eq!(Error::unwritten(file, report).to_string(), "no space left");
    }
}
