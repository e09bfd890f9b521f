//! Settings: the user's file, and a file in the root that can only tighten it. A file that is named on the command line or by the
//! environment may not relax what needs a person either, unless somebody is there (`own_file.rs`).
//!
//! ```toml
//! [limits]
//! max_request_bytes = 16777216
//! max_file_bytes = 4294967296
//!
//! [files]
//! legacy_encoding = "gbk"     # of files that are not Unicode; detected if not set
//! fsync = true
//! hard_links = "refuse"       # or "break" or "write-through": how files with several hard links are changed
//!
//! [protected]
//! rule = "ask"                # or "deny" or "allow": whether protected paths can be changed
//! paths = ["migrations"]      # protected in addition to the built-in list
//! except = [".vscode"]        # not protected, although it is in the built-in list
//!
//! [protected.groups]          # rules of single groups; `slipstitch config protected` lists them
//! editors = "allow"
//! credentials = "deny"
//!
//! [[rules]]                   # the first rule that fits a file decides; without one, the change is applied
//! paths = ["src/upload/**"]   # also: operations, dialects, agents, groups, more_lines_than, keeps_less_than
//! found = ["recovered"]
//! verdict = "ask"             # or "auto" or "deny"
//! reason = "check the place"
//!
//! [undo]
//! others = "ask"              # or "deny" or "allow": whether tools can undo changes of other sessions
//!
//! [review]
//! unattended = false          # whether a process without a terminal can accept proposals
//! passphrase = false          # true: nobody can decide until `slipstitch review passphrase` has set one
//! forms = true                # whether agent hosts may ask in forms of their own; not with a passphrase
//! wait_seconds = 50           # how long a call waits for a decision while somebody has the review open; 0 never
//! on_pending = ["notify.sh"]  # a command to run when something waits, with SLIPSTITCH_PROPOSAL and _SUMMARY set
//! notify = false              # whether to show a desktop notification then
//!
//! [editors]
//! emacs = true                # keep the buffers of running Emacs servers in sync
//! emacs_server = "/run/work"  # one more server: its name, or the path of its socket or server file
//!
//! [evidence]
//! enabled = true              # keep what sessions saw, and use earlier versions to find the place of an edit
//! git = true                  # among them, the staged and the committed version
//!
//! [journal]
//! max_bytes = 536870912       # the oldest changes are forgotten beyond this size
//! max_age_days = 90           # older changes are forgotten; never if not set
//! private = ["secrets/**"]    # files whose text is not kept, in addition to the built-in list
//! private_except = [".env"]   # not private, although it is in the built-in list
//! ```

mod effective;
mod key_line;
mod own_file;
mod rules;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};
use slipstitch_core::fields::{self, FieldError};
use slipstitch_core::guard::{ConsentRule, GlobError, Policy, UnknownGroup};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{ReadResult, Workspace};
use slipstitch_core::settings::Settings;
use slipstitch_core::text::{Encoding, EncodingRule};
use slipstitch_editors::{Emacs, ServerLocations};
use slipstitch_platform::private;

use crate::disk::{Fsync, HardLinks};
use crate::journal::{PrivateFiles, Retention};
pub use effective::IgnoredSetting;
pub use own_file::{RECORD as OWN_FILE_RECORD, Relaxing, trust, trusted};
use rules::{RuleSection, parse_rules};

/// The name of the file in the root that can tighten the settings.
pub const ROOT_FILE: &str = "slipstitch.toml";

/// The user's settings file in the folder that the system has for settings.
const USER_FILE: &str = "slipstitch/config.toml";

/// The settings in force.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The limits for the guards.
    pub policy: Policy,
    /// The settings of single dialects, from `[tools]`.
    pub settings: Settings,
    /// How the encoding of a file is determined.
    pub encoding: EncodingRule,
    /// Whether changes are flushed to the disk.
    pub fsync: Fsync,
    /// What happens to a file with several hard links.
    pub hard_links: HardLinks,
    /// Which editors' buffers are kept in sync.
    pub editors: Editors,
    /// Which earlier versions of files help to find the place of an edit.
    pub evidence: EvidenceSources,
    /// How much the journal keeps, and for how long.
    pub retention: Retention,
    /// Which files' text the journal does not keep.
    pub private_files: PrivateFiles,
    /// How proposals are decided.
    pub review: ReviewSettings,
    /// The keys of settings files that would relax these settings and may not.
    pub ignored: Vec<IgnoredSetting>,
    /// The rules of both files as they are written, for people who look at the settings.
    written_rules: Vec<toml::Value>,
}

/// Which earlier versions of files help to find the place of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceSources {
    /// Whether any do.
    pub enabled: bool,
    /// Whether those in Git do.
    pub git: bool,
}

impl Default for EvidenceSources {
    fn default() -> Self {
        Self { enabled: true, git: true }
    }
}

/// How proposals are decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSettings {
    /// Whether a process without a terminal can accept proposals.
    pub unattended: bool,
    /// Whether nobody can decide before a passphrase is set. The passphrase itself is in the state folder.
    pub passphrase: bool,
    /// Whether agent hosts may ask for decisions in forms of their own.
    pub forms: bool,
    /// How long a call waits for a decision while somebody has the review open.
    pub wait: Duration,
    /// The command to run when something waits for review, with its arguments; empty for none.
    pub on_pending: Vec<String>,
    /// Whether to show a desktop notification when something waits for review.
    pub notify: bool,
}

impl Default for ReviewSettings {
    /// Clients give up on a call after a minute or later, so the wait ends before that.
    fn default() -> Self {
        Self {
            unattended: false,
            passphrase: false,
            forms: true,
            wait: Duration::from_secs(50),
            on_pending: Vec::new(),
            notify: false,
        }
    }
}

/// Which editors' buffers are kept in sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editors {
    /// Whether Emacs is used.
    pub emacs: bool,
    /// One more Emacs server, besides those that are found: its name, or the path of its socket or server file.
    pub emacs_server: Option<String>,
}

impl Default for Editors {
    fn default() -> Self {
        Self { emacs: true, emacs_server: None }
    }
}

impl Editors {
    /// The Emacs servers, if Emacs is used.
    pub fn emacs(&self) -> Option<Emacs> {
        self.emacs.then(|| Emacs::new(self.emacs_server.clone(), ServerLocations::of_process()))
    }
}

/// Why settings could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("the configuration `{}` is not valid TOML: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// A key is unknown, or its value is not what is expected.
    #[error("the configuration `{}` is not valid: {}`{key}`: {reason}", path.display(), describe_line(*line))]
    Key {
        /// The file.
        path: PathBuf,
        /// The line of the key, from 1, if it is known.
        line: Option<usize>,
        /// The key with its section, such as `limits.max_file_bytes`.
        key: String,
        /// What is wrong, and what is expected.
        reason: String,
    },
    /// The file in the root cannot be used.
    #[error("cannot use the configuration `{}`: {reason}", path.display())]
    RootFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl ConfigError {
    fn key(path: &Path, key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Key { path: path.into(), line: None, key: key.into(), reason: reason.into() }
    }

    /// The same error with the line of its key in the file's text.
    fn in_text(self, text: &str) -> Self {
        match self {
            Self::Key { path, line: None, key, reason } => {
                Self::Key { path, line: key_line::find(text, &key), key, reason }
            }
            error => error,
        }
    }

    /// The file, and the line and the key if they are known.
    pub fn place(&self) -> (&Path, Option<usize>, Option<&str>) {
        match self {
            Self::Io { path, .. } | Self::Syntax { path, .. } | Self::RootFile { path, .. } => {
                (path, None, None)
            }
            Self::Key { path, line, key, .. } => (path, *line, Some(key)),
        }
    }

    fn glob(path: &Path, key: &str, error: GlobError) -> Self {
        Self::key(path, key, error.to_string())
    }
}

fn describe_line(line: Option<usize>) -> String {
    line.map_or(String::new(), |line| format!("line {line}: "))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Sections {
    limits: LimitsSection,
    files: FilesSection,
    editors: EditorsSection,
    evidence: EvidenceSection,
    journal: JournalSection,
    protected: ProtectedSection,
    undo: UndoSection,
    rules: Vec<RuleSection>,
    review: ReviewSection,
    tools: toml::Table,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitsSection {
    max_request_bytes: Option<usize>,
    max_file_bytes: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FilesSection {
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

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EvidenceSection {
    enabled: Option<bool>,
    git: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct JournalSection {
    max_bytes: Option<u64>,
    max_age_days: Option<u64>,
    private: Vec<String>,
    private_except: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ProtectedSection {
    rule: Option<String>,
    paths: Vec<String>,
    except: Vec<String>,
    groups: BTreeMap<String, String>,
}

impl ProtectedSection {
    fn rule(&self, path: &Path) -> Result<Option<ConsentRule>, ConfigError> {
        self.rule.as_ref().map(|name| parse_rule(name, "protected.rule", path)).transpose()
    }

    /// Passes the rule of each group to `set`.
    fn for_each_group(
        &self,
        path: &Path,
        mut set: impl FnMut(&str, ConsentRule) -> Result<(), UnknownGroup>,
    ) -> Result<(), ConfigError> {
        for (group, rule) in &self.groups {
            let rule = parse_rule(rule, &format!("protected.groups.{group}"), path)?;
            set(group, rule)
                .map_err(|error| ConfigError::key(path, "protected.groups", error.to_string()))?;
        }
        Ok(())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ReviewSection {
    unattended: Option<bool>,
    passphrase: Option<bool>,
    forms: Option<bool>,
    wait_seconds: Option<u64>,
    on_pending: Option<Vec<String>>,
    notify: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct UndoSection {
    others: Option<String>,
}

impl UndoSection {
    fn others(&self, path: &Path) -> Result<Option<ConsentRule>, ConfigError> {
        self.others.as_ref().map(|name| parse_rule(name, "undo.others", path)).transpose()
    }
}

fn parse_rule(name: &str, key: &str, path: &Path) -> Result<ConsentRule, ConfigError> {
    ConsentRule::named(name).ok_or_else(|| {
        let reason = format!("unknown rule `{name}`, expected `ask`, `deny` or `allow`");
        ConfigError::key(path, key, reason)
    })
}

impl Config {
    /// Loads the user's settings: `explicit`, else `slipstitch/config.toml` in the XDG configuration folder if
    /// it exists.
    pub fn load(explicit: Option<&Path>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        let Some(path) = Self::file(explicit) else { return Ok(config) };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && explicit.is_none() => {
                return Ok(config);
            }
            Err(source) => return Err(ConfigError::Io { path, source }),
        };
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| ConfigError::Syntax {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        let applied = deserialize(&table, None, &path).and_then(|sections| config.apply(&sections, &path));
        applied.map_err(|error| error.in_text(&text))?;
        config.keep_rules(&table);
        Ok(config)
    }

    /// The user's settings file: `explicit`, else the one in the folder that the system has for it. It need not exist.
    pub fn file(explicit: Option<&Path>) -> Option<PathBuf> {
        let default = || Some(private::config_folder()?.join(USER_FILE));
        explicit.map(Path::to_owned).or_else(default)
    }

    /// Applies [`ROOT_FILE`] in the root, if it exists.
    ///
    /// An agent may be able to write it. It is therefore read like any other file beneath the root, it can lower
    /// limits but never raise them, and errors do not quote its lines.
    pub fn tighten_by_root(&mut self, files: &dyn Workspace) -> Result<(), ConfigError> {
        let path = PathBuf::from(ROOT_FILE);
        let unusable = |reason: String| ConfigError::RootFile { path: path.clone(), reason };
        let name = FilePath::from_record(ROOT_FILE).map_err(|error| unusable(error.to_string()))?;
        let content = match files.read(&name).map_err(|error| unusable(error.to_string()))? {
            ReadResult::Missing { .. } => return Ok(()),
            ReadResult::File(content) => content,
        };
        let text = std::str::from_utf8(&content.bytes).map_err(|error| unusable(error.to_string()))?;
        let syntax_error = |error: toml::de::Error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            ConfigError::Syntax { path: path.clone(), reason: format!("line {line}: {}", error.message()) }
        };
        let table: toml::Table = text.parse().map_err(syntax_error)?;
        let applied = deserialize(&table, None, &path).and_then(|sections| self.tighten(&sections, &path));
        applied.map_err(|error| error.in_text(text))?;
        self.keep_rules(&table);
        let ignored = self.find_ignored(&table, text, ROOT_FILE);
        self.ignored.extend(ignored);
        Ok(())
    }

    /// Remembers the rules of a file as they are written.
    fn keep_rules(&mut self, table: &toml::Table) {
        if let Some(toml::Value::Array(rules)) = table.get("rules") {
            self.written_rules.extend_from_slice(rules);
        }
    }

    fn apply(&mut self, sections: &Sections, path: &Path) -> Result<(), ConfigError> {
        if let Some(limit) = sections.limits.max_request_bytes {
            self.policy.max_request_bytes = limit;
        }
        if let Some(limit) = sections.limits.max_file_bytes {
            self.policy.max_file_bytes = limit;
        }
        if let Some(name) = &sections.files.legacy_encoding {
            let encoding = Encoding::from_name(name)
                .map_err(|error| ConfigError::key(path, "files.legacy_encoding", error.to_string()))?;
            self.encoding = EncodingRule::Assume(encoding);
        }
        self.settings = self.merge_tools(&sections.tools, path)?;
        self.apply_protected(&sections.protected, path)?;
        if let Some(rule) = sections.undo.others(path)? {
            self.policy.undo_others = rule;
        }
        self.policy.rules.user = parse_rules(&sections.rules, path)?;
        self.apply_review(&sections.review);
        if let Some(fsync) = sections.files.fsync {
            self.fsync = if fsync { Fsync::On } else { Fsync::Off };
        }
        if let Some(hard_links) = sections.files.hard_links {
            self.hard_links = hard_links;
        }
        if let Some(enabled) = sections.evidence.enabled {
            self.evidence.enabled = enabled;
        }
        if let Some(git) = sections.evidence.git {
            self.evidence.git = git;
        }
        if let Some(limit) = sections.journal.max_bytes {
            self.retention.max_bytes = limit;
        }
        if sections.journal.max_age_days.is_some() {
            self.retention.max_age_days = sections.journal.max_age_days;
        }
        let except = self.private_files.except(&sections.journal.private_except);
        except.map_err(|error| ConfigError::glob(path, "journal.private_except", error))?;
        self.add_private_files(&sections.journal, path)?;
        self.apply_editors(&sections.editors, path)
    }

    fn apply_protected(&mut self, section: &ProtectedSection, path: &Path) -> Result<(), ConfigError> {
        let protected = &mut self.policy.protected;
        if let Some(rule) = section.rule(path)? {
            protected.rule = rule;
        }
        section.for_each_group(path, |group, rule| protected.set_group_rule(group, rule))?;
        protected
            .except(&section.except)
            .map_err(|error| ConfigError::glob(path, "protected.except", error))?;
        protected.add(&section.paths).map_err(|error| ConfigError::glob(path, "protected.paths", error))
    }

    fn apply_review(&mut self, section: &ReviewSection) {
        let review = &mut self.review;
        review.unattended = section.unattended.unwrap_or(review.unattended);
        review.passphrase = section.passphrase.unwrap_or(review.passphrase);
        review.forms = section.forms.unwrap_or(review.forms);
        review.wait = section.wait_seconds.map_or(review.wait, Duration::from_secs);
        review.on_pending = section.on_pending.clone().unwrap_or_default();
        review.notify = section.notify.unwrap_or(review.notify);
    }

    fn apply_editors(&mut self, section: &EditorsSection, path: &Path) -> Result<(), ConfigError> {
        if let Some(emacs) = section.emacs {
            self.editors.emacs = emacs;
        }
        if let Some(name) = &section.emacs_server {
            if name.is_empty() || name.contains('\0') {
                let reason = "expected the name of the server or the path of its socket";
                return Err(ConfigError::key(path, "editors.emacs_server", reason));
            }
            self.editors.emacs_server = Some(name.clone());
        }
        Ok(())
    }

    /// The dialects' settings, overridden by those of a `[tools]` section.
    fn merge_tools(&self, section: &toml::Table, path: &Path) -> Result<Settings, ConfigError> {
        let mut merged = toml::Table::try_from(&self.settings)
            .map_err(|error| ConfigError::key(path, "tools", error.to_string()))?;
        for (tool, keys) in section {
            match (merged.get_mut(tool), keys) {
                (Some(toml::Value::Table(known)), toml::Value::Table(keys)) => known.extend(keys.clone()),
                _ => drop(merged.insert(tool.clone(), keys.clone())),
            }
        }
        deserialize(&merged, Some("tools"), path)
    }

    fn tighten(&mut self, sections: &Sections, path: &Path) -> Result<(), ConfigError> {
        if let Some(limit) = sections.limits.max_request_bytes {
            self.policy.max_request_bytes = self.policy.max_request_bytes.min(limit);
        }
        if let Some(limit) = sections.limits.max_file_bytes {
            self.policy.max_file_bytes = self.policy.max_file_bytes.min(limit);
        }
        let requested = self.merge_tools(&sections.tools, path)?;
        self.settings.tighten(&requested);
        if sections.files.fsync == Some(true) {
            self.fsync = Fsync::On;
        }
        self.tighten_protected(&sections.protected, path)?;
        if let Some(rule) = sections.undo.others(path)? {
            self.policy.undo_others = self.policy.undo_others.max(rule);
        }
        self.policy.rules.project = parse_rules(&sections.rules, path)?;
        // The rest of `[review]` is ignored: an agent could make it run a command.
        self.review.unattended &= sections.review.unattended != Some(false);
        self.review.passphrase |= sections.review.passphrase == Some(true);
        self.review.forms &= sections.review.forms != Some(false);
        if sections.files.hard_links == Some(HardLinks::Refuse) {
            self.hard_links = HardLinks::Refuse;
        }
        // Less may be read and kept, but not more.
        self.evidence.enabled &= sections.evidence.enabled != Some(false);
        self.evidence.git &= sections.evidence.git != Some(false);
        // The rest of `[journal]` is ignored: an agent could make the journal forget what it did.
        self.add_private_files(&sections.journal, path)?;
        // Syncing with editors only adds refusals, so it may be enabled; which server is used may not be changed.
        if sections.editors.emacs == Some(true) {
            self.editors.emacs = true;
        }
        Ok(())
    }

    fn add_private_files(&mut self, section: &JournalSection, path: &Path) -> Result<(), ConfigError> {
        let added = self.private_files.add(&section.private);
        added.map_err(|error| ConfigError::glob(path, "journal.private", error))
    }

    /// Adds paths and applies stricter rules. Exceptions would loosen the settings, so they are ignored.
    fn tighten_protected(&mut self, section: &ProtectedSection, path: &Path) -> Result<(), ConfigError> {
        let protected = &mut self.policy.protected;
        if let Some(rule) = section.rule(path)? {
            protected.tighten(rule);
        }
        section.for_each_group(path, |group, rule| protected.tighten_group(group, rule))?;
        protected.add(&section.paths).map_err(|error| ConfigError::glob(path, "protected.paths", error))
    }
}

/// Deserializes settings; the error names the key, inside `section` if that is given.
fn deserialize<T: DeserializeOwned>(
    table: &toml::Table,
    section: Option<&str>,
    path: &Path,
) -> Result<T, ConfigError> {
    let values = table_to_json(table).and_then(fields::deserialize);
    values.map_err(|FieldError { field, reason }| {
        let key = section.into_iter().chain([field.as_str()]).filter(|part| !part.is_empty());
        let key = key.collect::<Vec<_>>().join(".");
        // The names of Rust's number types mean nothing to users.
        let reason = ["usize", "u64"].iter().fold(reason, |reason, number| {
            reason.replace(&format!("expected {number}"), "expected a non-negative integer")
        });
        ConfigError::key(path, key, reason)
    })
}

fn table_to_json(table: &toml::Table) -> Result<serde_json::Value, FieldError> {
    let to_field = |(name, value): (&String, &toml::Value)| {
        Ok((name.clone(), to_json(value).map_err(|error| error.in_field(name))?))
    };
    table.iter().map(to_field).collect()
}

fn to_json(value: &toml::Value) -> Result<serde_json::Value, FieldError> {
    match value {
        toml::Value::String(text) => Ok(text.as_str().into()),
        toml::Value::Integer(number) => Ok((*number).into()),
        toml::Value::Float(number) if number.is_finite() => Ok((*number).into()),
        toml::Value::Float(_) => Err(FieldError::custom("expected a finite number")),
        toml::Value::Boolean(value) => Ok((*value).into()),
        toml::Value::Datetime(_) => Err(FieldError::custom("no setting is a date or a time")),
        toml::Value::Array(items) => {
            let item = |(index, item)| to_json(item).map_err(|error| error.in_field(&format!("[{index}]")));
            items.iter().enumerate().map(item).collect()
        }
        toml::Value::Table(table) => table_to_json(table),
    }
}

#[cfg(test)]
mod tests;
