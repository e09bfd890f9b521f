//! The settings in effect as a table, and the keys of a project's file that have no effect.

use slipstitch_core::guard::ConsentRule;
use slipstitch_core::text::EncodingRule;
use toml::{Table, Value};

use super::Config;
use crate::disk::{Fsync, HardLinks};

/// A key that is ignored because its file may not relax the user's settings.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct IgnoredSetting {
    /// The key with its section, such as `files.fsync`.
    pub key: String,
    /// The file.
    pub file: String,
    /// The line of the file, from 1.
    pub line: Option<usize>,
    /// What the file says.
    pub requested: String,
    /// What is in effect instead.
    pub in_effect: String,
}

impl std::fmt::Display for IgnoredSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { key, file, line, requested, in_effect } = self;
        let line = line.map_or(String::new(), |line| format!(":{line}"));
        write!(
            f,
            "{file}{line}: `{key} = {requested}` is ignored: {}; {in_effect} is in effect",
            self.reason()
        )
    }
}

impl IgnoredSetting {
    /// Why it is ignored.
    pub fn reason(&self) -> &'static str {
        match self.file == super::ROOT_FILE {
            true => "a project can only tighten settings",
            false => "only your usual settings file can relax what needs your approval",
        }
    }
}

impl Config {
    /// The settings in effect, as a settings file would have them. Rules are not included.
    pub fn to_table(&self) -> Table {
        let protected = &self.policy.protected;
        let mut table = Table::new();
        let mut set = |section: &str, key: &str, value: Value| {
            let section = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(section) = section {
                section.insert(key.into(), value);
            }
        };
        set("limits", "max_request_bytes", integer(self.policy.max_request_bytes as u64));
        set("limits", "max_file_bytes", integer(self.policy.max_file_bytes));
        if let EncodingRule::Assume(encoding) = self.encoding {
            set("files", "legacy_encoding", encoding.name().to_lowercase().into());
        }
        set("files", "fsync", (self.fsync == Fsync::On).into());
        let hard_links = match self.hard_links {
            HardLinks::Refuse => "refuse",
            HardLinks::Break => "break",
            HardLinks::WriteThrough => "write-through",
        };
        set("files", "hard_links", hard_links.into());
        set("protected", "rule", protected.rule.name().into());
        set("protected", "paths", list(protected.added().iter().map(String::as_str)));
        let groups = slipstitch_core::guard::Protected::groups().iter();
        let own_rule = |name: &str| -> ConsentRule { protected.rule_for(name) };
        let groups: Table = groups
            .filter(|group| own_rule(group.name) != protected.rule)
            .map(|group| (group.name.to_owned(), Value::from(own_rule(group.name).name())))
            .collect();
        if !groups.is_empty() {
            set("protected", "groups", Value::Table(groups));
        }
        set("undo", "others", self.policy.undo_others.name().into());
        set("review", "unattended", self.review.unattended.into());
        set("review", "passphrase", self.review.passphrase.into());
        set("review", "forms", self.review.forms.into());
        set("review", "wait_seconds", integer(self.review.wait.as_secs()));
        set("review", "on_pending", list(self.review.on_pending.iter().map(String::as_str)));
        set("review", "notify", self.review.notify.into());
        set("editors", "emacs", self.editors.emacs.into());
        if let Some(server) = &self.editors.emacs_server {
            set("editors", "emacs_server", server.as_str().into());
        }
        set("evidence", "enabled", self.evidence.enabled.into());
        set("evidence", "git", self.evidence.git.into());
        set("journal", "max_bytes", integer(self.retention.max_bytes));
        if let Some(days) = self.retention.max_age_days {
            set("journal", "max_age_days", integer(days));
        }
        if let Ok(tools) = Table::try_from(&self.settings) {
            table.insert("tools".into(), Value::Table(tools));
        }
        if !self.written_rules.is_empty() {
            table.insert("rules".into(), Value::Array(self.written_rules.clone()));
        }
        table
    }

    /// The keys of a file that are not in effect. Keys whose effect the table does not show are left out.
    pub(super) fn find_ignored(&self, requested: &Table, text: &str, file: &str) -> Vec<IgnoredSetting> {
        let mut search = Search { text, file, ignored: Vec::new() };
        search.compare(requested, &self.to_full_table(), "");
        search.ignored.sort_by_key(|setting| setting.line);
        search.ignored
    }

    /// The settings in effect, including every key that can be relaxed, even if it has its default value.
    fn to_full_table(&self) -> Table {
        let mut table = self.to_table();
        let protected = &self.policy.protected;
        let groups = slipstitch_core::guard::Protected::groups().iter();
        let groups: Table = groups
            .map(|group| (group.name.to_owned(), Value::from(protected.rule_for(group.name).name())))
            .collect();
        let mut set = |section: &str, key: &str, value: Value| {
            if let Some(Value::Table(section)) = table.get_mut(section) {
                section.insert(key.into(), value);
            }
        };
        set("protected", "groups", Value::Table(groups));
        set("protected", "except", list(protected.exceptions()));
        set("journal", "private_except", list(self.private_files.exceptions()));
        table
    }
}

/// Keys whose values are added to those of the user, so they always have an effect.
const ADDING_KEYS: &[&str] = &["journal.private", "rules"];

/// Compares what a file says with what is in effect.
struct Search<'a> {
    text: &'a str,
    file: &'a str,
    ignored: Vec<IgnoredSetting>,
}

impl Search<'_> {
    fn compare(&mut self, requested: &Table, in_effect: &Table, prefix: &str) {
        for (name, value) in requested {
            let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            let in_effect = match (value, in_effect.get(name)) {
                _ if ADDING_KEYS.contains(&key.as_str()) => continue,
                (Value::Table(requested), Some(Value::Table(in_effect))) => {
                    self.compare(requested, in_effect, &key);
                    continue;
                }
                (Value::Array(requested), Some(Value::Array(in_effect)))
                    if requested.iter().all(|item| in_effect.contains(item)) =>
                {
                    continue;
                }
                (requested, Some(in_effect)) if requested == in_effect => continue,
                (_, Some(in_effect)) => in_effect.to_string(),
                (_, None) => "nothing".into(),
            };
            let line = super::key_line::find(self.text, &key);
            let (file, requested) = (self.file.into(), value.to_string());
            self.ignored.push(IgnoredSetting { key, file, line, requested, in_effect });
        }
    }
}

fn integer(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> Value {
    Value::Array(items.map(Value::from).collect())
}
