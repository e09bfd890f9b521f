//! Which folders a session may touch: those that were named, else the host's project, else what the client says,
//! else the working folder.

use std::ffi::OsString;
use std::path::PathBuf;

use slipstitch::{Builder, Workspace};

/// The variables in which hosts name the project that they start a server for; the first that is set counts.
///
/// The last one may hold several folders, with commas in between.
pub const PROJECT_VARIABLES: &[&str] =
    &["SLIPSTITCH_ROOT", "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS"];

/// Where a server's folders come from.
#[derive(Debug, Clone, Default)]
pub struct RootSource {
    /// Folders that were named when the server was started. If there are any, nothing else counts.
    pub given: Vec<PathBuf>,
    /// The host's project, as [`RootSource::new`] finds it.
    pub project: Vec<PathBuf>,
}

/// Why folders cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RootsError {
    /// What the client calls a root is not a folder on this machine.
    #[error("the client names `{0}` as its root, which is not a folder here")]
    NotAFolder(String),
    /// The client has roots and does not say which.
    #[error("the client was asked for its roots and did not name them: {0}")]
    Unsaid(String),
    /// A folder that was named when the server was started is not there.
    #[error("the root `{}` is not a folder", .0.display())]
    Missing(PathBuf),
}

impl RootsError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAFolder(_) | Self::Missing(_) => {
                "Start the server with `--root` and the folder to work in."
            }
            Self::Unsaid(_) => {
                "Make the call again: the client is asked again. If it stays so, start the server with `--root` and the folder to work in."
            }
        }
    }
}

impl RootSource {
    /// Folders that were named, and the project that a host names in its variables. A variable that does not name
    /// folders is passed over; `note` is told.
    pub fn new(
        given: Vec<PathBuf>,
        variable: impl Fn(&str) -> Option<OsString>,
        mut note: impl FnMut(String),
    ) -> Self {
        for name in PROJECT_VARIABLES {
            let Some(value) = variable(name).filter(|value| !value.is_empty()) else { continue };
            let folders: Vec<PathBuf> = match value.to_str() {
                Some(text) if *name == "WORKSPACE_FOLDER_PATHS" => {
                    text.split(',').map(PathBuf::from).collect()
                }
                _ => vec![PathBuf::from(&value)],
            };
            if folders.iter().all(|folder| folder.is_absolute() && folder.is_dir()) {
                return Self { given, project: folders };
            }
            note(format!(
                "{name} is `{}`, which is not a folder given in full; it is passed over",
                value.display()
            ));
        }
        Self { given, project: Vec::new() }
    }

    /// Whether the folders that were named can be used, as far as that shows before a client comes.
    pub(crate) fn check(&self) -> Result<(), RootsError> {
        if let Some(missing) = self.given.iter().find(|folder| !folder.is_dir()) {
            return Err(RootsError::Missing(missing.clone()));
        }
        Ok(())
    }

    /// The folders that are known without asking the client.
    pub fn known(&self) -> Option<&[PathBuf]> {
        [&self.given, &self.project].into_iter().find(|folders| !folders.is_empty()).map(Vec::as_slice)
    }
}

/// A workspace with these folders as its roots: paths are relative to the first, the files of the others are named in
/// full.
pub(crate) fn builder(folders: &[PathBuf]) -> Builder {
    let mut folders = folders.iter();
    let first = folders.next().map_or_else(|| Workspace::builder("."), Workspace::builder);
    folders.fold(first, |builder, folder| builder.also_root(folder))
}

/// The folders that a client names as `file://` addresses.
pub(crate) fn from_client<'a>(uris: impl Iterator<Item = &'a str>) -> Result<Vec<PathBuf>, RootsError> {
    uris.map(|uri| {
        file_path(uri).filter(|path| path.is_dir()).ok_or_else(|| RootsError::NotAFolder(uri.into()))
    })
    .collect()
}

/// The path of a `file://` address on this machine.
fn file_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                let text = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(text, 16).ok()?);
                rest = after;
            }
            (b'%', _) => return None,
            (b'?' | b'#', _) => return None,
            (byte, after) => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_paths() {
        for (uri, path) in [
            ("file:///home/a", Some("/home/a")),
            ("file:///home/a%20b/%C3%A4", Some("/home/a b/ä")),
            ("file://localhost/x", Some("/x")),
            ("file://elsewhere/x", None),
            ("https://example.com/x", None),
            ("file:///x%2", None),
            ("file:///x%zz", None),
            ("file:///x?y", None),
            ("/x", None),
        ] {
            assert_eq!(file_path(uri), path.map(PathBuf::from), "{uri}");
        }
    }

    #[test]
    fn what_was_named_counts_before_the_project_of_the_host() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().to_owned();
        let variable = |name: &str| (name == "CLAUDE_PROJECT_DIR").then(|| project.clone().into_os_string());
        let source = RootSource::new(Vec::new(), variable, |note| panic!("{note}"));
        assert_eq!(source.known(), Some(&[project.clone()][..]));
        let source = RootSource::new(vec!["/named".into()], variable, |note| panic!("{note}"));
        assert_eq!(source.known(), Some(&[PathBuf::from("/named")][..]));
        let source = RootSource::new(Vec::new(), |_| None, |note| panic!("{note}"));
        assert_eq!(source.known(), None);
    }

    #[test]
    fn a_variable_that_names_no_folder_is_passed_over_and_told() {
        let mut notes = Vec::new();
        let variable = |name: &str| (name == "CLAUDE_PROJECT_DIR").then(|| OsString::from("relative"));
        let source = RootSource::new(Vec::new(), variable, |note| notes.push(note));
        assert_eq!(source.known(), None);
        assert!(notes[0].contains("CLAUDE_PROJECT_DIR is `relative`"), "{notes:?}");
    }

    #[test]
    fn several_folders_are_several_roots() {
        let folder = tempfile::tempdir().unwrap();
        let roots = ["a", "b"].map(|name| folder.path().join(name));
        roots.iter().for_each(|root| std::fs::create_dir(root).unwrap());
        let workspace = builder(&roots).state_dir(folder.path().join("state")).open().unwrap();
        assert_eq!(workspace.roots().count(), 2);
    }
}
