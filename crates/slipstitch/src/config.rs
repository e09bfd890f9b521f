//! Settings: a file of the user's, and one in the root that can only tighten it.
//!
//! ```toml
//! [limits]
//! max_request_bytes = 16777216
//! max_file_bytes = 4294967296
//!
//! [files]
//! legacy_encoding = "gbk"     # of files that are not Unicode; detected if not set
//! fsync = true
//! hard_links = "refuse"       # what happens to a file with several names: refuse, break, write-through
//!
//! [protected]
//! rule = "ask"                # or "deny" or "allow": what happens to changes of protected paths
//! paths = ["migrations"]      # protected beside those that are anyway
//! except = [".vscode"]        # not protected after all
//!
//! [editors]
//! emacs = true                # look after the buffers of a running Emacs server
//! emacs_server = "work"       # its name or the path of its socket, if not the usual one
//!
//! [journal]
//! max_bytes = 536870912       # beyond that the oldest changes are forgotten
//! max_age_days = 90           # older changes are forgotten; never if not set
//! ```

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;
use serde::Deserialize;
use slipstitch_core::guard::{GlobError, Policy, ProtectedRule};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{ReadResult, Workspace};
use slipstitch_core::settings::Settings;
use slipstitch_core::text::{Encoding, EncodingRule};
use slipstitch_editors::Emacs;

use crate::disk::{Fsync, HardLinks};
use crate::journal::Retention;

/// The file in the root that may tighten the settings.
pub const ROOT_FILE: &str = "slipstitch.toml";

/// The settings in force.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The limits that guards go by.
    pub policy: Policy,
    /// What is set for single dialects, in `[tools]`.
    pub settings: Settings,
    /// How files' encodings are found out.
    pub encoding: EncodingRule,
    /// Whether a change waits for the disk.
    pub fsync: Fsync,
    /// What happens to a file with several names.
    pub hard_links: HardLinks,
    /// Which editors' buffers are looked after.
    pub editors: Editors,
    /// How much the journal keeps, for how long.
    pub retention: Retention,
}

/// Which editors' buffers are looked after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editors {
    /// Whether Emacs is asked.
    pub emacs: bool,
    /// The name of its server, or the path of the socket; the usual one if not set.
    pub emacs_server: Option<String>,
}

impl Default for Editors {
    fn default() -> Self {
        Self { emacs: true, emacs_server: None }
    }
}

impl Editors {
    /// The Emacs to ask, if it is to be asked.
    pub fn emacs(&self) -> Option<Emacs> {
        self.emacs.then(|| Emacs::new(self.emacs_server.clone()))
    }
}

/// Why settings could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration `{}` cannot be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file makes no sense.
    #[error("the configuration `{}` is not valid: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Sections {
    limits: Limits,
    files: Files,
    editors: EditorsSection,
    journal: JournalSection,
    protected: ProtectedSection,
    tools: toml::Table,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct JournalSection {
    max_bytes: Option<u64>,
    max_age_days: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ProtectedSection {
    rule: Option<String>,
    paths: Vec<String>,
    except: Vec<String>,
}

impl ProtectedSection {
    fn rule(&self, path: &Path) -> Result<Option<ProtectedRule>, ConfigError> {
        let read = |name: &String| {
            ProtectedRule::named(name).ok_or_else(|| ConfigError::Invalid {
                path: path.into(),
                reason: "protected.rule: expected \"ask\", \"deny\" or \"allow\"".into(),
            })
        };
        self.rule.as_ref().map(read).transpose()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Limits {
    max_request_bytes: Option<usize>,
    max_file_bytes: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Files {
    legacy_encoding: Option<String>,
    fsync: Option<bool>,
    hard_links: Option<HardLinks>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EditorsSection {
    emacs: Option<bool>,
    emacs_server: Option<String>,
}

impl Config {
    /// The user's settings: `explicit`, else `slipstitch/config.toml` in the XDG configuration folder if
    /// it is there.
    pub fn load(explicit: Option<&Path>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        if let Some((path, sections)) = user_sections(explicit)? {
            config.take(&sections, &path)?;
        }
        Ok(config)
    }

    /// The user's settings file: `explicit`, else the one in the XDG configuration folder; it need not be there.
    pub fn file(explicit: Option<&Path>) -> Option<PathBuf> {
        let usual = || Some(Xdg::new().ok()?.config_dir().join("slipstitch/config.toml"));
        explicit.map(Path::to_owned).or_else(usual)
    }

    /// Takes [`ROOT_FILE`] in the root into account. An agent may be able to write it, so it is read like
    /// any other file beneath the root, can lower limits but never raise them, and is not quoted.
    pub fn tighten_by_root(&mut self, files: &dyn Workspace) -> Result<(), ConfigError> {
        let path = PathBuf::from(ROOT_FILE);
        let invalid = |reason: String| ConfigError::Invalid { path: path.clone(), reason };
        let name = FilePath::from_record(ROOT_FILE).map_err(|error| invalid(error.to_string()))?;
        let content = match files.read(&name).map_err(|error| invalid(error.to_string()))? {
            ReadResult::Missing { .. } => return Ok(()),
            ReadResult::File(content) => content,
        };
        let text = std::str::from_utf8(&content.bytes).map_err(|error| invalid(error.to_string()))?;
        let sections: Sections = toml::from_str(text).map_err(|error| invalid(error.message().to_owned()))?;
        self.tighten(&sections, &path)
    }

    fn take(&mut self, sections: &Sections, path: &Path) -> Result<(), ConfigError> {
        if let Some(most) = sections.limits.max_request_bytes {
            self.policy.max_request_bytes = most;
        }
        if let Some(most) = sections.limits.max_file_bytes {
            self.policy.max_file_bytes = most;
        }
        if let Some(name) = &sections.files.legacy_encoding {
            let encoding = Encoding::named(name).map_err(|error| ConfigError::Invalid {
                path: path.into(),
                reason: format!("files.legacy_encoding: {error}"),
            })?;
            self.encoding = EncodingRule::Assume(encoding);
        }
        self.settings = self.with_tools(&sections.tools, path)?;
        self.take_protected(&sections.protected, path)?;
        if let Some(fsync) = sections.files.fsync {
            self.fsync = if fsync { Fsync::On } else { Fsync::Off };
        }
        if let Some(hard_links) = sections.files.hard_links {
            self.hard_links = hard_links;
        }
        if let Some(most) = sections.journal.max_bytes {
            self.retention.max_bytes = most;
        }
        if sections.journal.max_age_days.is_some() {
            self.retention.max_age_days = sections.journal.max_age_days;
        }
        self.take_editors(&sections.editors, path)
    }

    fn take_protected(&mut self, section: &ProtectedSection, path: &Path) -> Result<(), ConfigError> {
        let protected = &mut self.policy.protected;
        if let Some(rule) = section.rule(path)? {
            protected.rule = rule;
        }
        protected.except(&section.except).map_err(|error| bad_glob("except", error, path))?;
        protected.add(&section.paths).map_err(|error| bad_glob("paths", error, path))
    }

    fn take_editors(&mut self, section: &EditorsSection, path: &Path) -> Result<(), ConfigError> {
        if let Some(emacs) = section.emacs {
            self.editors.emacs = emacs;
        }
        match &section.emacs_server {
            Some(name) if name.is_empty() || name.contains('\0') => Err(ConfigError::Invalid {
                path: path.into(),
                reason: "editors.emacs_server: give the name of the server or the path of its socket".into(),
            }),
            Some(name) => {
                self.editors.emacs_server = Some(name.clone());
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The dialects' settings with those of a `[tools]` section in their place.
    fn with_tools(&self, section: &toml::Table, path: &Path) -> Result<Settings, ConfigError> {
        let invalid =
            |reason: String| ConfigError::Invalid { path: path.into(), reason: format!("tools: {reason}") };
        let mut all = toml::Table::try_from(&self.settings).map_err(|error| invalid(error.to_string()))?;
        for (tool, keys) in section {
            match (all.get_mut(tool), keys) {
                (Some(toml::Value::Table(known)), toml::Value::Table(keys)) => known.extend(keys.clone()),
                _ => drop(all.insert(tool.clone(), keys.clone())),
            }
        }
        all.try_into().map_err(|error: toml::de::Error| invalid(error.to_string()))
    }

    fn tighten(&mut self, sections: &Sections, path: &Path) -> Result<(), ConfigError> {
        if let Some(most) = sections.limits.max_request_bytes {
            self.policy.max_request_bytes = self.policy.max_request_bytes.min(most);
        }
        if let Some(most) = sections.limits.max_file_bytes {
            self.policy.max_file_bytes = self.policy.max_file_bytes.min(most);
        }
        let wanted = self.with_tools(&sections.tools, path)?;
        self.settings.tighten(&wanted);
        if sections.files.fsync == Some(true) {
            self.fsync = Fsync::On;
        }
        self.tighten_protected(&sections.protected, path)?;
        if sections.files.hard_links == Some(HardLinks::Refuse) {
            self.hard_links = HardLinks::Refuse;
        }
        // What the journal forgets is the user's choice alone: an agent could make it forget what it did.
        // Looking after buffers only adds refusals. Which server is asked is the user's choice alone.
        if sections.editors.emacs == Some(true) {
            self.editors.emacs = true;
        }
        Ok(())
    }

    /// Takes more paths and a stricter rule. Exceptions would loosen, so they are left out.
    fn tighten_protected(&mut self, section: &ProtectedSection, path: &Path) -> Result<(), ConfigError> {
        let protected = &mut self.policy.protected;
        if let Some(rule) = section.rule(path)? {
            protected.rule = protected.rule.max(rule);
        }
        protected.add(&section.paths).map_err(|error| bad_glob("paths", error, path))
    }
}

fn bad_glob(key: &str, error: GlobError, path: &Path) -> ConfigError {
    ConfigError::Invalid { path: path.into(), reason: format!("protected.{key}: {error}") }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Required {
    Yes,
    No,
}

fn user_sections(explicit: Option<&Path>) -> Result<Option<(PathBuf, Sections)>, ConfigError> {
    let Some(path) = Config::file(explicit) else { return Ok(None) };
    let required = if explicit.is_some() { Required::Yes } else { Required::No };
    Ok(read(&path, required)?.map(|sections| (path, sections)))
}

fn read(path: &Path, required: Required) -> Result<Option<Sections>, ConfigError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && required == Required::No => {
            return Ok(None);
        }
        Err(source) => return Err(ConfigError::Io { path: path.into(), source }),
    };
    toml::from_str(&text)
        .map(Some)
        .map_err(|error| ConfigError::Invalid { path: path.into(), reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstitch_core::guard::Protected;

    fn load(user: &str, root: &str) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let user_file = folder.path().join("user.toml");
        std::fs::write(&user_file, user).unwrap();
        let mut config = Config::load(Some(&user_file))?;
        let files = slipstitch_core::ports::memory::MemoryWorkspace::default();
        if !root.is_empty() {
            files.put(&FilePath::from_record(ROOT_FILE).unwrap(), root);
        }
        config.tighten_by_root(&files)?;
        Ok(config)
    }

    #[test]
    fn the_root_can_tighten_and_not_loosen() {
        let user = "[limits]\nmax_file_bytes = 1000\nmax_request_bytes = 50\n";
        let config = load(user, "[limits]\nmax_file_bytes = 5000\nmax_request_bytes = 20\n").unwrap();
        assert_eq!((config.policy.max_file_bytes, config.policy.max_request_bytes), (1000, 20));
        let config = load(user, "[limits]\nmax_request_bytes = 5000\n").unwrap();
        assert_eq!(config.policy.max_request_bytes, 50);
        let config = load("", "[files]\nfsync = false\n").unwrap();
        assert_eq!(config.fsync, Fsync::On);
    }

    #[test]
    fn the_settings_of_dialects_keep_their_documents_names() {
        let user = "[tools.edit]\nrequire_file_hash = true\n[tools.xzatoma]\nmax_file_size = 50\n";
        let root = "[tools.edit]\nrequire_file_hash = false\nenabled = false\nmax_snippet_bytes = 9\n";
        let settings = load(user, root).unwrap().settings;
        assert!(settings.edit.require_file_hash && !settings.edit.enabled);
        assert_eq!((settings.edit.max_snippet_bytes, settings.edit.max_line_edit_bytes), (9, 262_144));
        assert_eq!(settings.xzatoma.max_file_size, 50);
        let error = load("[tools.edit]\nenable = true\n", "").unwrap_err().to_string();
        assert!(error.contains("enable"), "{error}");
        assert!(load("[tools.nonsense]\nx = 1\n", "").is_err());
    }

    #[test]
    fn the_root_can_have_buffers_looked_after_and_not_left_alone() {
        let editors = |user, root| load(user, root).unwrap().editors;
        assert!(editors("", "").emacs && editors("", "").emacs().is_some());
        assert!(editors("", "[editors]\nemacs = false\n").emacs);
        let off = "[editors]\nemacs = false\nemacs_server = \"work\"\n";
        assert!(editors(off, "").emacs().is_none());
        let switched = editors(off, "[editors]\nemacs = true\nemacs_server = \"/elsewhere\"\n");
        assert_eq!(switched, Editors { emacs: true, emacs_server: Some("work".into()) });
        let error = load("[editors]\nemacs_server = \"\"\n", "").unwrap_err().to_string();
        assert!(error.contains("editors.emacs_server"), "{error}");
    }

    #[test]
    fn what_the_journal_keeps_is_the_user_s_choice() {
        let retention = |user, root| load(user, root).unwrap().retention;
        assert_eq!(retention("", ""), Retention { max_bytes: 512 << 20, max_age_days: None });
        let user = "[journal]\nmax_bytes = 1000\nmax_age_days = 7\n";
        let wanted = Retention { max_bytes: 1000, max_age_days: Some(7) };
        assert_eq!(retention(user, ""), wanted);
        assert_eq!(retention(user, "[journal]\nmax_bytes = 1\nmax_age_days = 0\n"), wanted);
    }

    #[test]
    fn the_root_can_protect_more_and_not_less() {
        let protected = |user, root| load(user, root).unwrap().policy.protected;
        let finds = |protected: &Protected, path: &str| {
            let path = FilePath::from_record(path).unwrap();
            protected.find(&path, &path).is_some()
        };
        let user = "[protected]\nexcept = [\".vscode\"]\npaths = [\"migrations\"]\n";
        let found =
            protected(user, "[protected]\nrule = \"allow\"\nexcept = [\".git\"]\npaths = [\"infra\"]\n");
        assert_eq!(found.rule, ProtectedRule::Ask);
        assert!(finds(&found, ".git/config") && finds(&found, "a/migrations/1") && finds(&found, "infra/x"));
        assert!(!finds(&found, ".vscode/settings.json"));
        let found = protected("[protected]\nrule = \"allow\"\n", "[protected]\nrule = \"deny\"\n");
        assert_eq!(found.rule, ProtectedRule::Deny);
        let error = load("[protected]\nrule = \"maybe\"\n", "").unwrap_err().to_string();
        assert!(error.contains("protected.rule") && error.contains("deny"), "{error}");
        let error = load("", "[protected]\npaths = [\"a[\"]\n").unwrap_err().to_string();
        assert!(error.contains("protected.paths") && error.contains("slipstitch.toml"), "{error}");
    }

    #[test]
    fn a_mistake_is_named_with_its_file() {
        let error = load("[limits]\nmax_file = 1\n", "").unwrap_err().to_string();
        assert!(error.contains("user.toml") && error.contains("max_file"), "{error}");
        let error = load("[files]\nlegacy_encoding = \"klingon\"\n", "").unwrap_err().to_string();
        assert!(error.contains("klingon"), "{error}");
        let missing = Config::load(Some(Path::new("missing.toml"))).unwrap_err();
        assert!(matches!(missing, ConfigError::Io { .. }));
    }
}
