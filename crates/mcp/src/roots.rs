//! Which folders a session may touch: those given at startup, else the host's project, else the client's roots, else the
//! working directory.

use std::ffi::OsString;
use std::path::PathBuf;

use slipstitch::{Builder, Workspace};

/// The environment variables in which hosts name the project that they start a server for; the first one set is used.
///
/// The last one may contain several folders, separated by commas.
pub const PROJECT_VARIABLES: &[&str] =
    &["SLIPSTITCH_ROOT", "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS"];

/// Where a server's root folders come from.
#[derive(Debug, Clone, Default)]
pub struct RootSource {
    /// Folders given at startup. If there are any, nothing else is considered.
    pub given: Vec<PathBuf>,
    /// The host's project, as found by [`RootSource::new`].
    pub project: Vec<PathBuf>,
}

/// Why folders cannot be used as roots.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RootsError {
    /// One of the client's roots is not a folder on this machine.
    #[error("the client's root `{0}` is not a folder on this machine")]
    NotAFolder(String),
    /// The client supports roots but did not list them.
    #[error("the client did not list its roots: {0}")]
    NotListed(String),
    /// A folder given at startup does not exist.
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
            Self::NotListed(_) => {
                "Retry the call; the client will be asked again. If that fails, start the server with `--root` and the folder to work in."
            }
        }
    }
}

impl RootSource {
    /// Folders given at startup, and the project that the host names in the environment. A variable that does not name
    /// folders is ignored, with a message to `warn`.
    pub fn new(
        given: Vec<PathBuf>,
        variable: impl Fn(&str) -> Option<OsString>,
        mut warn: impl FnMut(String),
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
            warn(format!("ignoring {name}: `{}` is not an absolute path to a folder", value.display()));
        }
        Self { given, project: Vec::new() }
    }

    /// Checks before any client connects that the given folders exist.
    pub(crate) fn check(&self) -> Result<(), RootsError> {
        if let Some(missing) = self.given.iter().find(|folder| !folder.is_dir()) {
            return Err(RootsError::Missing(missing.clone()));
        }
        Ok(())
    }

    /// The roots, for the model; `asks_client` says whether the client will be asked for them.
    pub(crate) fn describe(&self, asks_client: bool) -> String {
        let folders = match self.known() {
            Some(folders) => folders.to_vec(),
            None if asks_client => return "the roots of the client's workspace".into(),
            None => vec![PathBuf::from(".")],
        };
        let absolute = |folder: &PathBuf| std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        let names: Vec<String> =
            folders.iter().map(|folder| format!("`{}`", absolute(folder).display())).collect();
        match &names[..] {
            [name] => format!("the root {name}"),
            [first, others @ ..] => format!("the root {first} and, by absolute path, {}", others.join(", ")),
            [] => "the root".into(),
        }
    }

    /// The folders that are known without asking the client.
    pub fn known(&self) -> Option<&[PathBuf]> {
        [&self.given, &self.project].into_iter().find(|folders| !folders.is_empty()).map(Vec::as_slice)
    }
}

/// A builder for a workspace with these roots. Paths are relative to the first; files in the others are named by absolute
/// path.
pub(crate) fn workspace_builder(folders: &[PathBuf]) -> Builder {
    let mut folders = folders.iter();
    let first = folders.next().map_or_else(|| Workspace::builder("."), Workspace::builder);
    folders.fold(first, |builder, folder| builder.also_root(folder))
}

/// The folders that a client names as `file://` URIs.
pub(crate) fn from_client<'a>(uris: impl Iterator<Item = &'a str>) -> Result<Vec<PathBuf>, RootsError> {
    uris.map(|uri| {
        file_path(uri).filter(|path| path.is_dir()).ok_or_else(|| RootsError::NotAFolder(uri.into()))
    })
    .collect()
}

/// The path of a `file://` URI on this machine.
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
    fn converts_file_uris_to_paths() {
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
    fn given_roots_take_precedence_over_the_host_project() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().to_owned();
        let variable = |name: &str| (name == "CLAUDE_PROJECT_DIR").then(|| project.clone().into_os_string());
        let source = RootSource::new(Vec::new(), variable, |warning| panic!("{warning}"));
        assert_eq!(source.known(), Some(&[project.clone()][..]));
        let source = RootSource::new(vec!["/named".into()], variable, |warning| panic!("{warning}"));
        assert_eq!(source.known(), Some(&[PathBuf::from("/named")][..]));
        let source = RootSource::new(Vec::new(), |_| None, |warning| panic!("{warning}"));
        assert_eq!(source.known(), None);
    }

    #[test]
    fn a_variable_that_names_no_folder_is_ignored_with_a_warning() {
        let mut warnings = Vec::new();
        let variable = |name: &str| (name == "CLAUDE_PROJECT_DIR").then(|| OsString::from("relative"));
        let source = RootSource::new(Vec::new(), variable, |warning| warnings.push(warning));
        assert_eq!(source.known(), None);
        assert!(warnings[0].contains("ignoring CLAUDE_PROJECT_DIR: `relative`"), "{warnings:?}");
    }

    #[test]
    fn several_folders_become_several_roots() {
        let folder = tempfile::tempdir().unwrap();
        let roots = ["a", "b"].map(|name| folder.path().join(name));
        roots.iter().for_each(|root| std::fs::create_dir(root).unwrap());
        let workspace = workspace_builder(&roots).state_dir(folder.path().join("state")).open().unwrap();
        assert_eq!(workspace.roots().count(), 2);
    }
}
