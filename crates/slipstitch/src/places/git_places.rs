//! What a repository's configuration points to: hooks, commands and included files.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use slipstitch_core::guard::PlaceKind;

use super::git_config::{self, Setting};
use crate::git::Repository;
use crate::state;

/// A larger configuration file is not read.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// How many configuration files are read, with those that they include.
const MAX_FILES: usize = 64;
/// How many repositories are remembered.
const MAX_REPOSITORIES: usize = 256;

/// What the configurations of repositories point to, remembered until a configuration file changes.
#[derive(Debug, Default)]
pub(super) struct GitPlaces(Mutex<HashMap<PathBuf, ConfiguredPlaces>>);

impl GitPlaces {
    /// Why a path is protected by a repository, if it is.
    pub(super) fn find(&self, repository: &Repository, path: &Path) -> Option<PlaceKind> {
        let is_inside = |folder: &Path| path.starts_with(state::resolve(folder));
        if is_inside(&repository.own) || is_inside(&repository.common) {
            return Some(PlaceKind::GitRepository);
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.get(&repository.own).is_some_and(ConfiguredPlaces::is_current) {
            if known.len() >= MAX_REPOSITORIES {
                known.clear();
            }
            known.insert(repository.own.clone(), ConfiguredPlaces::read(repository));
        }
        let places = &known.get(&repository.own)?.places;
        // Resolved every time: a folder on the way may have become a symlink.
        places.iter().find(|(place, _)| is_inside(place)).map(|(_, kind)| *kind)
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
    inode: u64,
    len: u64,
    changed: (i64, i64),
}

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        let found = fs::metadata(file).ok()?;
        Some(Self { inode: found.ino(), len: found.len(), changed: (found.ctime(), found.ctime_nsec()) })
    }
}

impl ConfiguredPlaces {
    fn read(repository: &Repository) -> Self {
        let mut read = Self::default();
        for file in user_configs() {
            read.add_file(file, repository);
        }
        read.add_file(repository.common.join("config"), repository);
        read.add_file(repository.own.join("config.worktree"), repository);
        read
    }

    fn is_current(&self) -> bool {
        self.files.iter().all(|(file, stamp)| Stamp::of(file) == *stamp)
    }

    /// Reads a configuration file and those that it includes, whatever the condition is.
    fn add_file(&mut self, file: PathBuf, repository: &Repository) {
        let is_known = self.files.iter().any(|(known, _)| *known == file);
        if is_known || self.files.len() >= MAX_FILES {
            return;
        }
        // Before the file is read: a later change is noticed.
        self.files.push((file.clone(), Stamp::of(&file)));
        let Some(text) = read_config(&file) else { return };
        for setting in git_config::parse(&text) {
            self.add_setting(&setting, &file, repository);
        }
    }

    fn add_setting(&mut self, setting: &Setting, file: &Path, repository: &Repository) {
        let Setting { section, key, value } = setting;
        match (section.as_str(), key.as_str()) {
            ("include" | "includeif", "path") => {
                let folder = file.parent().unwrap_or(Path::new("/"));
                let included = folder.join(expand_home(value));
                self.places.push((included.clone(), PlaceKind::GitConfiguration));
                self.add_file(included, repository);
            }
            // Hooks run at the top of the work tree.
            ("core", "hookspath") | ("init", "templatedir") => {
                self.places.push((repository.work_tree.join(expand_home(value)), PlaceKind::GitCommand));
            }
            (section, key) if names_command(section, key) => {
                let words =
                    value.trim_start_matches('!').split([' ', '\t', '\n', '"', '\'', ';', '&', '|', '=']);
                for word in words.filter(|word| !word.is_empty()) {
                    let path = repository.work_tree.join(expand_home(word));
                    // A word without a slash is a program of the system, unless there is such a file.
                    if word.contains('/') || path.is_file() {
                        self.places.push((path, PlaceKind::GitCommand));
                    }
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
