//! Which entry in which settings file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::directories::Directories;
use crate::error::Error;
use crate::format::Format;
use crate::host::{Host, Settings};
use crate::launch::PROGRAM_NAME;

/// One server entry in one of a host's settings files.
#[derive(Debug, Clone)]
pub struct Target {
    /// The host.
    pub host: &'static Host,
    /// Which of its settings files.
    pub scope: Scope,
    /// The name of the server in that file.
    pub name: ServerName,
}

/// Whose settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The user's, for all projects.
    User,
    /// The one of the project in this directory.
    Project(PathBuf),
}

/// A server's name. Hosts agree on ASCII letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName(String);

/// The error for a name that some hosts reject.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a server's name consists of letters, digits, `-` and `_`")]
pub struct InvalidServerName;

impl Target {
    /// The path of the settings file, which need not exist.
    pub fn file(&self) -> Result<PathBuf, Error> {
        let candidates = self.candidates()?;
        let existing = candidates.iter().find(|file| file.exists());
        existing.or(candidates.first()).cloned().ok_or(Error::NoProjectFile { host: self.host.name })
    }

    /// The key under which the file lists its servers.
    pub fn servers_key(&self) -> Result<String, Error> {
        Ok(self.settings()?.servers_key())
    }

    /// The files that the host reads servers from, the one to create first.
    pub(crate) fn candidates(&self) -> Result<Vec<PathBuf>, Error> {
        let settings = self.settings()?;
        match &self.scope {
            Scope::User => Ok(settings.candidates(&Directories::from_env().ok_or(Error::NoHome)?)),
            Scope::Project(root) => Ok(settings.candidates_in(&project_directory(root)?)),
        }
    }

    /// What is known about the settings of this scope.
    pub(crate) fn settings(&self) -> Result<&'static Settings, Error> {
        match self.scope {
            Scope::User => Ok(&self.host.user),
            Scope::Project(_) => {
                self.host.project.as_ref().ok_or(Error::NoProjectFile { host: self.host.name })
            }
        }
    }

    /// The host's second file, for permissions, if it has one.
    pub(crate) fn permissions_file(&self) -> Result<Option<(PathBuf, Format)>, Error> {
        let Some(files) = &self.host.permissions else { return Ok(None) };
        let path = match &self.scope {
            Scope::User => Directories::from_env().ok_or(Error::NoHome)?.resolve(files.user),
            Scope::Project(root) => project_directory(root)?.join(files.project),
        };
        Ok(Some((path, files.format)))
    }

    /// The scope and the server, for descriptions in the journal.
    pub(crate) fn label(&self) -> String {
        let scope = match self.scope {
            Scope::User => "user",
            Scope::Project(_) => "project",
        };
        format!("{scope} settings of {}, server {}", self.host.id, self.name)
    }
}

fn project_directory(root: &Path) -> Result<PathBuf, Error> {
    let project = std::path::absolute(root).map_err(|error| Error::bad_root(root, error))?;
    if project.is_dir() { Ok(project) } else { Err(Error::bad_root(&project, "it is not a directory")) }
}

impl ServerName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ServerName {
    fn default() -> Self {
        Self(PROGRAM_NAME.into())
    }
}

impl FromStr for ServerName {
    type Err = InvalidServerName;

    fn from_str(text: &str) -> Result<Self, InvalidServerName> {
        let is_allowed = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
        match !text.is_empty() && text.chars().all(is_allowed) {
            true => Ok(Self(text.into())),
            false => Err(InvalidServerName),
        }
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_every_host_accepts() {
        for name in ["slipstitch", "my-editor_2"] {
            assert_eq!(name.parse::<ServerName>().as_ref().map(ServerName::as_str), Ok(name));
        }
        for name in ["", "a b", "a.b", "a\"", "é", "a/b"] {
            assert!(name.parse::<ServerName>().is_err(), "{name}");
        }
    }

    #[test]
    fn a_project_must_exist_and_the_host_must_have_project_files() {
        let root = tempfile::tempdir().unwrap();
        let target = |id: &str, root: PathBuf| Target {
            host: Host::find(id).unwrap(),
            scope: Scope::Project(root),
            name: ServerName::default(),
        };
        let file = target("zed", root.path().into()).file();
        assert_eq!(file.unwrap(), root.path().join(".zed/settings.json"));
        let missing = target("zed", root.path().join("missing")).file();
        assert!(matches!(missing, Err(Error::BadRoot { .. })), "{missing:?}");
        let goose = target("goose", root.path().into()).file();
        assert!(matches!(goose, Err(Error::NoProjectFile { host: "goose" })), "{goose:?}");
    }

    #[test]
    fn the_first_existing_file_is_used() {
        let project = tempfile::tempdir().unwrap();
        let target = Target {
            host: Host::find("opencode").unwrap(),
            scope: Scope::Project(project.path().into()),
            name: ServerName::default(),
        };
        let assert_file = |name: &str| assert_eq!(target.file().unwrap(), project.path().join(name));
        assert_file("opencode.json");
        std::fs::write(project.path().join("opencode.jsonc"), "{}").unwrap();
        assert_file("opencode.jsonc");
        std::fs::write(project.path().join("opencode.json"), "{}").unwrap();
        assert_file("opencode.json");
    }
}
