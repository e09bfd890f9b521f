//! Git's configuration files, those of a repository and those of the user, and what they point to: hooks, commands and
//! included files.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use slipstitch_core::guard::PlaceKind;
use slipstitch_core::snapshot::FileId;
use slipstitch_platform::{info, private};

use super::command_words::CommandWords;
use super::git_environment::{self, expand_home};
use crate::git::Repository;
use crate::git::config::{self as git_config, Setting};

use super::place::{Found, Place};
use super::plain_commands::runs_no_named_file;

/// Of a larger configuration file, only the beginning is read.
const MAX_CONFIG_BYTES: u64 = 4 << 20;
/// How many configuration files are read, with those that they include.
const MAX_FILES: usize = 256;
/// How many repositories are remembered.
const MAX_REPOSITORIES: usize = 256;

/// What the configurations of repositories and of the user point to, remembered until a configuration file changes.
#[derive(Debug)]
pub(super) struct GitPlaces {
    /// The configuration files of the system and of the user, which apply everywhere.
    user_files: Vec<PathBuf>,
    /// The settings that environment variables make.
    environment: Vec<Setting>,
    /// The repository that they name.
    repository: Option<Repository>,
    /// By repository; `None` for a path that is in no repository.
    known: Mutex<HashMap<Option<RepositoryKey>, ConfiguredPlaces>>,
}

/// What tells repositories apart: one Git folder may be used from several work trees.
pub(super) type RepositoryKey = (PathBuf, PathBuf);

pub(super) fn repository_key(repository: &Repository) -> RepositoryKey {
    (repository.own.clone(), repository.work_tree.clone())
}

impl Default for GitPlaces {
    fn default() -> Self {
        let variable = |name: &str| std::env::var_os(name);
        Self {
            repository: git_environment::repository(&variable),
            ..Self::new(git_environment::user_files(&variable), git_environment::settings(&variable))
        }
    }
}

impl GitPlaces {
    pub(super) fn new(user_files: Vec<PathBuf>, environment: Vec<Setting>) -> Self {
        Self { user_files, environment, repository: None, known: Mutex::default() }
    }

    #[cfg(test)]
    pub(super) fn with_repository(self, repository: Repository) -> Self {
        Self { repository: Some(repository), ..self }
    }

    /// The repository that the environment names.
    pub(super) fn repository(&self) -> Option<&Repository> {
        self.repository.as_ref()
    }

    /// What a repository protects. Without a repository, the user's configuration still applies: it points to the same
    /// files wherever Git runs.
    pub(super) fn find(&self, repository: Option<&Repository>) -> CurrentPlaces {
        let mut places = Vec::new();
        if let Some(Repository { own, common, .. }) = repository {
            places.push(Place::new(own.clone(), PlaceKind::GitRepository));
            if common != own {
                places.push(Place::new(common.clone(), PlaceKind::GitRepository));
            }
        }
        let key = repository.map(repository_key);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut configurations = known.get(&key).and_then(ConfiguredPlaces::look_again);
        if configurations.is_none() {
            if known.len() >= MAX_REPOSITORIES {
                known.clear();
            }
            let read = ConfiguredPlaces::read(self, repository);
            configurations = Some(read.look());
            known.insert(key.clone(), read);
        }
        let configurations = configurations.unwrap_or_default();
        let Some(configured) = known.get(&key) else {
            return CurrentPlaces { places, configurations, ..CurrentPlaces::default() };
        };
        places.extend(configured.places.iter().map(|(place, kind)| Place::new(place.clone(), *kind)));
        let (endings, is_cut_short) = (configured.endings.clone(), configured.is_cut_short);
        CurrentPlaces { places, endings, configurations, is_cut_short }
    }
}

/// Protected places as they are now.
#[derive(Debug, Default)]
pub(super) struct CurrentPlaces {
    /// The repository's own folders first.
    places: Vec<Place>,
    /// How the paths of commands end whose folders are not known.
    endings: Vec<PathBuf>,
    /// The configuration files.
    configurations: Vec<Place>,
    /// Whether there is more configuration than was read.
    is_cut_short: bool,
}

impl CurrentPlaces {
    /// Why a path is protected, if it is.
    pub(super) fn find(&self, path: &Path, id: Option<FileId>) -> Option<PlaceKind> {
        let inside = self.places.iter().find(|place| place.contains(path, id)).map(|place| place.kind);
        match inside {
            Some(PlaceKind::GitRepository) => inside,
            _ if self.configurations.iter().any(|file| file.is_file(id) || file.contains(path, id)) => {
                Some(PlaceKind::GitConfiguration)
            }
            Some(kind) => Some(kind),
            None if self.endings.iter().any(|ending| path.ends_with(ending)) => Some(PlaceKind::GitCommand),
            None => self.is_cut_short.then_some(PlaceKind::SearchCutShort),
        }
    }
}

/// The places that one repository's configuration points to.
#[derive(Debug, Default)]
struct ConfiguredPlaces {
    /// What the configuration files name.
    places: Vec<(PathBuf, PlaceKind)>,
    /// How the paths of commands end whose folders are not known.
    endings: Vec<PathBuf>,
    /// The configuration files that were read, or are missing.
    files: Vec<(PathBuf, Stamp)>,
    is_cut_short: bool,
}

/// The top of the work tree, where hooks and commands run, or several if it is not clear which one Git uses.
type WorkTrees = [PathBuf];

/// What changes when a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    found: Found,
    len: u64,
    changed: (i64, i64),
}

impl Stamp {
    fn of(file: &Path) -> Self {
        let metadata = info::at(file);
        let (len, changed) = metadata.as_ref().map_or((0, (0, 0)), |found| (found.len, found.changed));
        Self { found: Found::from_metadata(&metadata), len, changed }
    }
}

impl ConfiguredPlaces {
    fn read(git: &GitPlaces, repository: Option<&Repository>) -> Self {
        let mut read = Self::default();
        let mut settings = Vec::new();
        for file in &git.user_files {
            read.add_file(file.clone(), &mut settings);
        }
        let mut work_trees = Vec::new();
        if let Some(repository) = repository {
            read.add_file(repository.common.join("config"), &mut settings);
            read.add_file(repository.own.join("config.worktree"), &mut settings);
        }
        read.add_settings(git.environment.clone(), Path::new("/"), &mut settings);
        if let Some(repository) = repository {
            work_trees.push(repository.work_tree.clone());
            let elsewhere = settings.iter().filter(|one| (&*one.section, &*one.key) == ("core", "worktree"));
            work_trees.extend(elsewhere.map(|one| repository.own.join(expand_home(&one.value))));
        }
        for setting in &settings {
            read.add_setting(setting, &work_trees);
        }
        read
    }

    /// The configuration files, unless one has changed since they were read.
    fn look_again(&self) -> Option<Vec<Place>> {
        let is_current = self.files.iter().all(|(file, stamp)| Stamp::of(file) == *stamp);
        is_current.then(|| self.look())
    }

    /// The configuration files as they were when they were read.
    fn look(&self) -> Vec<Place> {
        let place = |(file, stamp): &(PathBuf, Stamp)| {
            Place::found(file.clone(), PlaceKind::GitConfiguration, stamp.found)
        };
        self.files.iter().map(place).collect()
    }

    /// Adds a configuration file, which may be missing, and those that it includes, whatever the condition is.
    fn add_file(&mut self, file: PathBuf, settings: &mut Vec<Setting>) {
        if self.files.iter().any(|(known, _)| *known == file) {
            return;
        }
        if self.files.len() >= MAX_FILES {
            self.places.push((file, PlaceKind::GitConfiguration));
            self.is_cut_short = true;
            return;
        }
        // Before the file is read: a later change is noticed.
        let stamp = Stamp::of(&file);
        self.files.push((file.clone(), stamp));
        let Some((text, is_whole)) = read_config(&file, &stamp) else { return };
        self.is_cut_short |= !is_whole;
        self.add_settings(git_config::parse(&text), file.parent().unwrap_or(Path::new("/")), settings);
    }

    /// Adds settings, and the files that they include, by their paths from a folder.
    fn add_settings(&mut self, added: Vec<Setting>, folder: &Path, settings: &mut Vec<Setting>) {
        for setting in added {
            if matches!(setting.section.as_str(), "include" | "includeif") && setting.key == "path" {
                self.add_file(folder.join(expand_home(&setting.value)), settings);
            }
            settings.push(setting);
        }
    }

    fn add_setting(&mut self, setting: &Setting, work_trees: &WorkTrees) {
        let Setting { section, subsection, key, value } = setting;
        // The subsection of `insteadOf` replaces the start of URLs, so it is a URL itself.
        let value = match (section.as_str(), key.as_str()) {
            ("url", "insteadof" | "pushinsteadof") => subsection,
            _ => value,
        };
        // Without a work tree, a relative path leads nowhere.
        let locate = |value: &str| -> Vec<PathBuf> {
            let path = expand_home(value);
            if path.is_absolute() {
                vec![path]
            } else {
                work_trees.iter().map(|top| top.join(&path)).collect()
            }
        };
        match (section.as_str(), key.as_str()) {
            ("core", "hookspath") | ("init", "templatedir") => {
                self.places.extend(locate(value).into_iter().map(|path| (path, PlaceKind::GitCommand)));
            }
            ("gpg", "allowedsignersfile" | "revocationfile") | ("http", "sslcainfo" | "sslcapath") => {
                let trusted = locate(value).into_iter().map(|path| (path, PlaceKind::GitConfiguration));
                self.places.extend(trusted);
            }
            (section, key) if names_command(section, key) || is_transport_command(value) => {
                let value = value.trim_start();
                let is_shell_command = section != "alias" || value.starts_with('!');
                let shell_command = as_shell_command(section, key, value);
                if runs_no_named_file(&shell_command) {
                    return;
                }
                let command = CommandWords::parse(value.trim_start_matches('!'));
                for (position, word) in command.words.iter().enumerate() {
                    // A program without a slash is one of the system, and an alias names a command of Git, unless there
                    // is such a file. Another word may be a file that does not exist yet.
                    let is_path =
                        word.contains('/') || is_shell_command && position > 0 && !word.starts_with('-');
                    let from_top = locate(word);
                    let from_folder =
                        command.folder.iter().flat_map(|folder| locate(&format!("{folder}/{word}")));
                    let paths = from_top.into_iter().chain(from_folder);
                    let paths = paths.filter(|path| is_path || path.is_file());
                    self.places.extend(paths.map(|path| (path, PlaceKind::GitCommand)));
                }
                // Git does not expand anything in an alias without `!`.
                if is_shell_command {
                    self.endings.extend(command.endings());
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
            | ("svn", "authorsprog")
    ) || is_annex_command(section, key)
}

/// Whether git-annex runs the value of a setting.
fn is_annex_command(section: &str, key: &str) -> bool {
    let name = match section {
        "annex" => key,
        "remote" => key.strip_prefix("annex-").unwrap_or_default(),
        _ => return false,
    };
    name.ends_with("-command") || name.ends_with("hook")
}

/// Whether a value is a URL that runs a command: `ext::tools/connect.sh %S`. Remotes, submodules and branches can have one.
fn is_transport_command(value: &str) -> bool {
    value.starts_with("ext::")
}

/// What Git hands to a shell for a setting.
fn as_shell_command(section: &str, key: &str, value: &str) -> String {
    match (section, key, value.strip_prefix('!')) {
        (_, _, Some(command)) => command.to_owned(),
        ("alias", ..) => format!("git {value}"),
        ("credential", "helper", None) if !value.starts_with('/') => format!("git-credential-{value}"),
        _ => value.to_owned(),
    }
}

/// The text of a configuration file that was just looked at, and whether it is whole.
fn read_config(file: &Path, stamp: &Stamp) -> Option<(String, bool)> {
    if !matches!(stamp.found, Found::Present { is_file: true, .. }) {
        return None;
    }
    let mut bytes = Vec::new();
    // It may have become a pipe meanwhile.
    let file = private::no_wait(OpenOptions::new().read(true)).open(file).ok()?;
    file.take(MAX_CONFIG_BYTES + 1).read_to_end(&mut bytes).ok()?;
    let is_whole = bytes.len() as u64 <= MAX_CONFIG_BYTES;
    Some((String::from_utf8_lossy(&bytes).into_owned(), is_whole))
}
