//! Git's configuration files, those of a repository and those of the user, and what they point to: hooks, commands and
//! included files.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use slipstitch_core::guard::PlaceKind;
use slipstitch_core::snapshot::FileId;

use super::git_config::{self, Setting};
use crate::git::Repository;
use crate::state;

/// A larger configuration file is not read.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// How many configuration files are read, with those that they include.
const MAX_FILES: usize = 64;
/// How many repositories are remembered.
const MAX_REPOSITORIES: usize = 256;

/// What the configurations of repositories and of the user point to, remembered until a configuration file changes.
#[derive(Debug)]
pub(super) struct GitPlaces {
    /// The configuration files of the system and of the user, which apply everywhere.
    user_files: Vec<PathBuf>,
    /// By the repository's folder; `None` for a path that is in no repository.
    known: Mutex<HashMap<Option<PathBuf>, ConfiguredPlaces>>,
}

impl Default for GitPlaces {
    fn default() -> Self {
        Self::new(user_configs())
    }
}

impl GitPlaces {
    pub(super) fn new(user_files: Vec<PathBuf>) -> Self {
        Self { user_files, known: Mutex::default() }
    }

    /// Why a path is protected by a repository, if it is. Without a repository, the user's configuration still applies:
    /// it points to the same files wherever Git runs.
    pub(super) fn find(
        &self,
        repository: Option<&Repository>,
        path: &Path,
        id: Option<FileId>,
    ) -> Option<PlaceKind> {
        let is_inside = |folder: &Path| path.starts_with(state::resolve(folder));
        if repository.is_some_and(|found| is_inside(&found.own) || is_inside(&found.common)) {
            return Some(PlaceKind::GitRepository);
        }
        let key = repository.map(|found| found.own.clone());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.get(&key).is_some_and(ConfiguredPlaces::is_current) {
            if known.len() >= MAX_REPOSITORIES {
                known.clear();
            }
            known.insert(key.clone(), ConfiguredPlaces::read(&self.user_files, repository));
        }
        let configured = known.get(&key)?;
        if id.is_some_and(|id| configured.is_configuration(id)) {
            return Some(PlaceKind::GitConfiguration);
        }
        // Resolved every time: a folder on the way may have become a symlink.
        configured.places.iter().find(|(place, _)| is_inside(place)).map(|(_, kind)| *kind)
    }
}

/// The places that one repository's configuration points to.
#[derive(Debug, Default)]
struct ConfiguredPlaces {
    places: Vec<(PathBuf, PlaceKind)>,
    /// The files that were read, or are missing.
    files: Vec<(PathBuf, Option<Stamp>)>,
}

/// What changes when a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    id: FileId,
    len: u64,
    changed: (i64, i64),
}

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        let found = fs::metadata(file).ok()?;
        let id = FileId { device: found.dev(), inode: found.ino() };
        Some(Self { id, len: found.len(), changed: (found.ctime(), found.ctime_nsec()) })
    }
}

impl ConfiguredPlaces {
    fn read(user_files: &[PathBuf], repository: Option<&Repository>) -> Self {
        let mut read = Self::default();
        let work_tree = repository.map(|found| found.work_tree.as_path());
        for file in user_files {
            read.add_file(file.clone(), work_tree);
        }
        if let Some(repository) = repository {
            read.add_file(repository.common.join("config"), work_tree);
            read.add_file(repository.own.join("config.worktree"), work_tree);
        }
        read
    }

    fn is_current(&self) -> bool {
        self.files.iter().all(|(file, stamp)| Stamp::of(file) == *stamp)
    }

    /// Whether a file is one of the configuration files, perhaps by a hard link.
    fn is_configuration(&self, id: FileId) -> bool {
        self.files.iter().any(|(_, stamp)| stamp.is_some_and(|stamp| stamp.id == id))
    }

    /// Adds a configuration file, which may be missing, and those that it includes, whatever the condition is.
    fn add_file(&mut self, file: PathBuf, work_tree: Option<&Path>) {
        if self.files.iter().any(|(known, _)| *known == file) {
            return;
        }
        self.places.push((file.clone(), PlaceKind::GitConfiguration));
        if self.files.len() >= MAX_FILES {
            return;
        }
        // Before the file is read: a later change is noticed.
        self.files.push((file.clone(), Stamp::of(&file)));
        let Some(text) = read_config(&file) else { return };
        for setting in git_config::parse(&text) {
            self.add_setting(&setting, &file, work_tree);
        }
    }

    fn add_setting(&mut self, setting: &Setting, file: &Path, work_tree: Option<&Path>) {
        let Setting { section, key, value } = setting;
        // Hooks and commands run at the top of the work tree. Without one, a relative path leads nowhere.
        let locate = |value: &str| {
            let path = expand_home(value);
            if path.is_absolute() { Some(path) } else { work_tree.map(|top| top.join(path)) }
        };
        match (section.as_str(), key.as_str()) {
            ("include" | "includeif", "path") => {
                let folder = file.parent().unwrap_or(Path::new("/"));
                self.add_file(folder.join(expand_home(value)), work_tree);
            }
            ("core", "hookspath") | ("init", "templatedir") => {
                self.places.extend(locate(value).map(|path| (path, PlaceKind::GitCommand)));
            }
            (section, key) if names_command(section, key) => {
                let words =
                    value.trim_start_matches('!').split([' ', '\t', '\n', '"', '\'', ';', '&', '|', '=']);
                for word in words.filter(|word| !word.is_empty()) {
                    // A word without a slash is a program of the system, unless there is such a file.
                    let path = locate(word).filter(|path| word.contains('/') || path.is_file());
                    self.places.extend(path.map(|path| (path, PlaceKind::GitCommand)));
                }
            }
            _ => {}
        }
    }
}

/// Whether Git runs the value of a setting as a command.
fn names_command(section: &str, key: &str) -> bool {
    matches!(
        (section, key),
        ("alias" | "pager", _)
            | ("core", "fsmonitor" | "sshcommand" | "editor" | "pager" | "askpass" | "gitproxy")
            | ("core", "alternaterefscommand")
            | ("diff", "external" | "command" | "textconv")
            | ("difftool" | "mergetool" | "browser" | "man" | "guitool", "cmd" | "path")
            | ("filter", "clean" | "smudge" | "process")
            | ("merge", "driver")
            | ("gpg", "program" | "defaultkeycommand")
            | ("credential", "helper")
            | ("sequence", "editor")
            | ("interactive", "difffilter")
            | ("trailer", "cmd" | "command")
            | ("uploadpack", "packobjectshook")
            | ("gc", "recentobjectshook")
            | ("tar", "command")
            | ("imap", "tunnel")
            | ("instaweb", "httpd")
            // `lfs.customtransfer.<name>.path` and `lfs.extension.<name>.clean`.
            | ("lfs", "path" | "clean" | "smudge")
            | ("remote", "uploadpack" | "receivepack")
            | ("sendemail", "sendmailcmd" | "tocmd" | "cccmd" | "headercmd" | "smtpserver")
            | ("submodule", "update")
            | ("hook", "command")
    )
}

/// The configuration files of the system and of the user.
fn user_configs() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut files = vec![variable("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into())];
    match (variable("GIT_CONFIG_GLOBAL"), home()) {
        (Some(global), _) => files.push(global),
        (None, Some(home)) => {
            let xdg = variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
            files.extend([xdg.join("git/config"), home.join(".gitconfig")]);
        }
        (None, None) => {}
    }
    files
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn expand_home(value: &str) -> PathBuf {
    match (value.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => value.into(),
    }
}

fn read_config(file: &Path) -> Option<String> {
    // Opening a pipe would wait for a writer.
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(file).ok()?.take(MAX_CONFIG_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
