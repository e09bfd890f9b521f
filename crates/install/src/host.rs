//! What is known about a host: where it keeps its MCP servers, what an entry looks like, and what else it needs.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::directories::Directories;
use crate::format::{Format, Place};
use crate::launch::Launch;

/// An agent host: a program that starts the MCP servers listed in its settings.
#[derive(Debug)]
pub struct Host {
    /// The identifier that users type, such as `claude-code`.
    pub id: &'static str,
    /// The product's name.
    pub name: &'static str,
    /// The user's settings.
    pub(crate) user: Settings,
    /// The settings of a project, with paths relative to it.
    pub(crate) project: Option<Settings>,
    /// A second file for permissions, if they are not in the first.
    pub(crate) permissions: Option<PermissionFiles>,
    /// Programs and directories that show that the host is installed.
    pub(crate) traces: Traces,
    /// Whether it is started from a desktop, where the `PATH` of the user's shell is unknown.
    pub(crate) is_desktop: bool,
    /// What the user does after an installation to use the server.
    pub next_step: &'static str,
    /// Whether the host asks before it lets the server edit, and what allows it without asking.
    pub(crate) approval: Approval,
    /// What switches the host's own edit tools off.
    pub(crate) builtin_edits: BuiltinEdits,
    /// The command that lists the host's servers.
    pub(crate) list: Option<ListCommand>,
}

/// Settings files and the place of servers in them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// The first that exists is used; if none does, the first is created. Templates as in [`Directories::resolve`].
    pub(crate) files: &'static [&'static str],
    /// The same on Windows, where it differs.
    pub(crate) windows_files: &'static [&'static str],
    pub(crate) format: Format,
    /// The keys of the mapping or list that contains the servers.
    pub(crate) servers: &'static [&'static str],
    pub(crate) container: Container,
    /// An entry as JSON. The strings `{program}`, `{args}`, `{words}` (both) and `{name}` are replaced.
    pub(crate) entry: &'static str,
    /// What a new file starts with.
    pub(crate) initial: &'static str,
}

/// What the servers are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    /// A mapping from names to servers.
    Mapping,
    /// A list of servers that have a `name`.
    List,
}

/// Files with permissions.
#[derive(Debug)]
pub(crate) struct PermissionFiles {
    pub(crate) user: &'static str,
    pub(crate) project: &'static str,
    pub(crate) format: Format,
}

/// What shows that a host is installed.
#[derive(Debug)]
pub(crate) struct Traces {
    pub(crate) programs: &'static [&'static str],
    pub(crate) paths: &'static [&'static str],
}

/// How a host treats the server's edits.
#[derive(Debug)]
pub(crate) enum Approval {
    /// It runs them without asking.
    Unasked,
    /// It asks, or refuses if nobody is there to ask. These additions allow them.
    Allow { otherwise: &'static str, additions: &'static [Extra] },
    /// The same, but it runs its own edits without asking. So that it does the same with ours, these additions are made
    /// unless the user wants to be asked. `allowed` says what it does then.
    AllowByDefault { allowed: &'static str, otherwise: &'static str, additions: &'static [Extra] },
    /// It asks, and only the user can change that, in this way.
    ByHand(&'static str),
}

/// How a host's own edit tools are switched off.
#[derive(Debug)]
pub(crate) enum BuiltinEdits {
    /// By these additions.
    Off(&'static [Extra]),
    /// Only in this way.
    ByHand(&'static str),
}

/// An addition to a host's settings besides the server. In templates, `{name}` is the server's name; one that contains
/// `{tool}` stands for one string per tool.
#[derive(Debug)]
pub(crate) enum Extra {
    /// A field of the server's entry, with a value as JSON.
    EntryField(&'static str, &'static str),
    /// A field of the server's entry that lists its tools.
    EntryTools(&'static str),
    /// Items of a list in the permissions file if the host has one, else in the servers' file.
    Items { list: &'static [&'static str], templates: &'static [&'static str] },
    /// Fields of a mapping in the servers' file, all with this value as JSON.
    Fields { mapping: &'static [&'static str], templates: &'static [&'static str], value: &'static str },
}

/// The command by which a host lists its servers.
#[derive(Debug)]
pub(crate) struct ListCommand {
    pub(crate) program: &'static str,
    pub(crate) args: &'static [&'static str],
    /// Whether it starts the servers and says which of them work.
    pub(crate) connects: bool,
}

/// Whether the host shall ask before it runs the server's edits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EditApproval {
    /// As it does with its own edits, as far as a setting can say so.
    #[default]
    LikeItsOwn,
    /// It shall not ask.
    Allow,
    /// It shall ask.
    Ask,
}

/// What the user wants besides the server itself.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// Whether the host shall ask before edits.
    pub edits: EditApproval,
    /// Switch the host's own edit tools off.
    pub disable_builtin_edits: bool,
    /// The names of the server's tools, for hosts that allow tools one by one.
    pub tools: Vec<String>,
}

/// A value that an installation adds to a settings file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Addition {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

impl Host {
    /// Whether the host seems to be installed for this user.
    pub fn is_present(&self) -> bool {
        let exists = |directories: &Directories| {
            self.traces.paths.iter().any(|template| directories.resolve(template).exists())
        };
        Directories::has_program(self.traces.programs)
            || Directories::from_env().is_some_and(|all| exists(&all))
    }

    /// Whether projects can have settings of their own.
    pub fn has_project_settings(&self) -> bool {
        self.project.is_some()
    }

    /// What the host does about edits after an installation; `None` if there is nothing to say.
    pub fn approval_note(&self, edits: EditApproval) -> Option<String> {
        let offer = |otherwise: &str| {
            format!(
                "{otherwise} With `--allow-edits` it runs Slipstitch's edits unasked; Slipstitch itself still asks about protected paths."
            )
        };
        match (&self.approval, edits) {
            (Approval::Unasked, _) | (_, EditApproval::Allow) => None,
            (Approval::AllowByDefault { allowed, .. }, EditApproval::LikeItsOwn) => {
                Some(format!("{allowed} `--ask-for-edits` changes that."))
            }
            (Approval::Allow { otherwise, .. } | Approval::AllowByDefault { otherwise, .. }, _) => {
                Some(offer(otherwise))
            }
            (Approval::ByHand(note), _) => Some((*note).into()),
        }
    }

    /// Why an installation with these extras does less than they ask for; one line each.
    pub fn unsupported_extras(&self, extras: &Extras) -> Vec<String> {
        let mut notes = Vec::new();
        if let (EditApproval::Allow, Approval::ByHand(note)) = (extras.edits, &self.approval) {
            notes.push(format!("`--allow-edits` changes nothing here. {note}"));
        }
        if let (true, BuiltinEdits::ByHand(note)) = (extras.disable_builtin_edits, &self.builtin_edits) {
            notes.push(format!("`--disable-builtin-edits` changes nothing here: {note}"));
        }
        notes
    }

    /// What these extras add besides the server.
    pub(crate) fn extras(&self, extras: &Extras) -> Vec<&'static Extra> {
        let allow: &'static [Extra] = match &self.approval {
            Approval::Allow { additions, .. } if extras.edits == EditApproval::Allow => additions,
            Approval::AllowByDefault { additions, .. } if extras.edits != EditApproval::Ask => additions,
            _ => &[],
        };
        let off: &'static [Extra] = match &self.builtin_edits {
            BuiltinEdits::Off(additions) if extras.disable_builtin_edits => additions,
            _ => &[],
        };
        allow.iter().chain(off).collect()
    }
}

impl Settings {
    /// The candidates for the settings file, the one to create first.
    pub(crate) fn candidates(&self, directories: &Directories) -> Vec<PathBuf> {
        let windows = directories.is_windows() && !self.windows_files.is_empty();
        let files = if windows { self.windows_files } else { self.files };
        files.iter().map(|template| directories.resolve(template)).collect()
    }

    /// The candidates in a project.
    pub(crate) fn candidates_in(&self, project: &Path) -> Vec<PathBuf> {
        self.files.iter().map(|file| project.join(file)).collect()
    }

    /// The place of a server.
    pub(crate) fn place(&self, name: &str) -> Place {
        match self.container {
            Container::Mapping => Place::field(self.servers, name),
            Container::List => Place::item(self.servers, name),
        }
    }

    /// The key of the servers, for messages.
    pub(crate) fn servers_key(&self) -> String {
        self.servers.join(".")
    }

    /// The entry that starts a server, as this host writes it.
    pub(crate) fn server(
        &self,
        name: &str,
        launch: &Launch,
        extras: &[&Extra],
        tools: &[String],
    ) -> Addition {
        let mut entry = fill(&parse(self.entry), name, launch);
        for extra in extras {
            let (key, value) = match extra {
                Extra::EntryField(key, value) => (key, parse(value)),
                Extra::EntryTools(key) => (key, tools.into()),
                Extra::Items { .. } | Extra::Fields { .. } => continue,
            };
            if let Value::Object(fields) = &mut entry {
                fields.insert((*key).into(), value);
            }
        }
        Addition { place: self.place(name), value: entry }
    }
}

impl Extra {
    /// Whether it belongs in the permissions file.
    pub(crate) fn is_permission(&self) -> bool {
        matches!(self, Self::Items { .. })
    }

    /// The values to add, apart from those in the server's entry.
    pub(crate) fn additions(&self, name: &str, tools: &[String]) -> Vec<Addition> {
        let expand = |templates: &[&str]| -> Vec<String> {
            let expand_one = |template: &&str| match template.contains("{tool}") {
                true => tools.iter().map(|tool| template.replace("{tool}", tool)).collect(),
                false => vec![(*template).to_owned()],
            };
            templates.iter().flat_map(expand_one).map(|text| text.replace("{name}", name)).collect()
        };
        match self {
            Self::EntryField(..) | Self::EntryTools(_) => Vec::new(),
            Self::Items { list, templates } => {
                let addition =
                    |item: String| Addition { place: Place::item(list, &item), value: item.into() };
                expand(templates).into_iter().map(addition).collect()
            }
            Self::Fields { mapping, templates, value } => {
                let addition =
                    |key: String| Addition { place: Place::field(mapping, &key), value: parse(value) };
                expand(templates).into_iter().map(addition).collect()
            }
        }
    }
}

/// Parses JSON of the table. A test parses all of it.
fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

/// Replaces the placeholders of an entry.
fn fill(template: &Value, name: &str, launch: &Launch) -> Value {
    match template {
        Value::String(text) => match text.as_str() {
            "{program}" => launch.program.clone().into(),
            "{args}" => launch.args.clone().into(),
            "{words}" => std::iter::once(&launch.program).chain(&launch.args).cloned().collect(),
            "{name}" => name.into(),
            other => other.into(),
        },
        Value::Object(fields) => {
            let filled = fields.iter().map(|(key, value)| (key.clone(), fill(value, name, launch)));
            Value::Object(filled.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::HOSTS;
    use serde_json::json;

    #[test]
    fn every_json_text_of_the_table_is_valid() {
        let is_valid = |text: &str| serde_json::from_str::<Value>(text).is_ok();
        for host in HOSTS {
            for settings in std::iter::once(&host.user).chain(&host.project) {
                assert!(parse(settings.entry).is_object(), "{}", host.id);
            }
            let all =
                Extras { edits: EditApproval::Allow, disable_builtin_edits: true, tools: vec!["t".into()] };
            for extra in host.extras(&all) {
                match extra {
                    Extra::EntryField(_, value) | Extra::Fields { value, .. } => {
                        assert!(is_valid(value), "{}: {value}", host.id);
                    }
                    Extra::EntryTools(_) | Extra::Items { .. } => {}
                }
            }
        }
    }

    #[test]
    fn notes_are_one_line_and_name_the_flag_that_works() {
        for host in HOSTS {
            let all = Extras { edits: EditApproval::Allow, disable_builtin_edits: true, tools: vec![] };
            let notes = [EditApproval::LikeItsOwn, EditApproval::Ask].into_iter();
            let notes =
                notes.filter_map(|edits| host.approval_note(edits)).chain(host.unsupported_extras(&all));
            for note in notes.chain([host.next_step.to_owned()]) {
                assert!(note.ends_with('.') && !note.contains('\n'), "{}: {note}", host.id);
            }
            let offers =
                |edits, flag| host.approval_note(edits).is_some_and(|note: String| note.contains(flag));
            let is_allowed = matches!(host.approval, Approval::AllowByDefault { .. });
            let is_offered = matches!(host.approval, Approval::Allow { .. });
            assert_eq!(offers(EditApproval::LikeItsOwn, "--allow-edits"), is_offered, "{}", host.id);
            assert_eq!(offers(EditApproval::LikeItsOwn, "--ask-for-edits"), is_allowed, "{}", host.id);
            assert_eq!(offers(EditApproval::Ask, "--allow-edits"), is_offered || is_allowed, "{}", host.id);
        }
    }

    #[test]
    fn templates_expand_to_names_and_tools() {
        let tools = ["edit_file".to_owned(), "patch".to_owned()];
        let extra = Extra::Items { list: &["p"], templates: &["mcp_{name}_{tool}", "x"] };
        let items: Vec<Value> = extra.additions("s", &tools).into_iter().map(|added| added.value).collect();
        assert_eq!(items, [json!("mcp_s_edit_file"), json!("mcp_s_patch"), json!("x")]);
        let launch = Launch::new("p", ["a"]);
        let filled = fill(&json!({"a": "{words}", "b": {"c": "{name}"}, "d": ["{name}"]}), "s", &launch);
        assert_eq!(filled, json!({"a": ["p", "a"], "b": {"c": "s"}, "d": ["{name}"]}));
    }
}
