//! `slipstitch config`: the settings in effect.

mod check;
mod show;
mod trust;

use anstyle::Style;
use clap::{Args, Subcommand};
use serde_json::json;
use slipstitch::Workspace;
use slipstitch::core::guard::{ConsentRule, Policy, Protected, Protection};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;

use crate::file_argument::file_name;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::streams::Streams;

const PROTECTED_EXAMPLES: &str = "\
Examples:
  slipstitch config protected                        list the groups, their rules and their paths
  slipstitch config protected .git/config src/a.rs   show what applies to these files

A rule is `ask` (the user must approve a change), `deny` or `allow`. Set it for all groups with
`rule` in `[protected]`, or for one group in `[protected.groups]`.";

/// The widest line of a list of globs.
const MAX_WIDTH: usize = 100;

/// Show and check the settings in effect
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Show(show::Show),
    Path(show::PathCommand),
    Check(check::Check),
    Trust(trust::Trust),
    /// List the protected paths, or show whether files are protected
    #[command(after_help = PROTECTED_EXAMPLES)]
    Protected {
        /// Show what applies to these files; they need not exist
        #[arg(value_name = "FILE", value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
        files: Vec<String>,
    },
}

impl Config {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let files = match self.action {
            Action::Show(command) => return command.run(global),
            Action::Path(command) => return command.run(global),
            Action::Check(command) => return command.run(global),
            Action::Trust(command) => return command.run(global),
            Action::Protected { files } => files,
        };
        let workspace = global.open()?;
        if files.is_empty() {
            return Ok(Box::new(Groups(workspace.policy().clone())));
        }
        let judge = |name: &String| {
            let path = global.file(name, &workspace)?;
            let found = workspace.protection(&path).map_err(Report::from)?;
            Ok(JudgedFile::new(path.to_string(), found, &workspace))
        };
        Ok(Box::new(JudgedFiles(files.iter().map(judge).collect::<Result<_, crate::error::CommandError>>()?)))
    }
}

/// The groups of protected paths.
struct Groups(Policy);

impl CommandOutput for Groups {
    fn json(&self) -> serde_json::Result<String> {
        let protected = &self.0.protected;
        let groups = Protected::groups().iter().map(|group| {
            let rule = protected.rule_for(group.name).name();
            json!({"name": group.name, "what": group.what, "rule": rule, "paths": group.globs})
        });
        serde_json::to_string(&json!({
            "rule": protected.rule.name(),
            "groups": groups.collect::<Vec<_>>(),
            "paths": protected.added(),
            "except": protected.exceptions().collect::<Vec<_>>(),
            "undo_others": self.0.undo_others.name(),
        }))
    }

    fn write(&self, streams: &mut Streams) {
        let protected = &self.0.protected;
        for group in Protected::groups() {
            write_heading(streams, group.name, protected.rule_for(group.name), group.what);
            write_list(streams, group.globs.iter().copied());
        }
        if !protected.added().is_empty() {
            write_heading(streams, Protected::ADDED_GROUP, protected.rule, "listed in the settings");
            write_list(streams, protected.added().iter().map(String::as_str));
        }
        streams.out.styled(Style::new().bold(), "except");
        streams.out.line(": exempt from the groups above");
        write_list(streams, protected.exceptions());
        streams.out.line(
            "Files that the settings were read from, the state folder, and what Git's configuration points to are\n\
             protected whatever they are called. `slipstitch config protected FILE` shows what applies to a file.",
        );
    }
}

fn write_heading(streams: &mut Streams, name: &str, rule: ConsentRule, what: &str) {
    streams.out.styled(Style::new().bold(), name);
    streams.out.line(format!(": {} ({what})", rule.name()));
}

/// Writes globs, as many on a line as fit.
fn write_list<'a>(streams: &mut Streams, globs: impl Iterator<Item = &'a str>) {
    let mut line = String::from(" ");
    for glob in globs {
        let glob = escape_controls(glob);
        if line.len() + glob.len() >= MAX_WIDTH && line.len() > 1 {
            streams.out.line(std::mem::replace(&mut line, String::from(" ")));
        }
        line.push(' ');
        line.push_str(&glob);
    }
    streams.out.line(line);
    streams.out.line("");
}

/// What applies to a file.
struct JudgedFile {
    path: String,
    protection: Option<(Protection, ConsentRule)>,
}

impl JudgedFile {
    fn new(path: String, found: Option<Protection>, workspace: &Workspace) -> Self {
        let rule = |found: &Protection| workspace.policy().protected.rule_for(found.group);
        Self { path, protection: found.map(|found| (found.clone(), rule(&found))) }
    }
}

/// What a file is, if that says more than its group does.
fn describe_within_group(found: &Protection) -> Option<&str> {
    let says_no_more = |what: &str| Protected::groups().iter().any(|group| group.what == what);
    let what: &str = found.what;
    (found.group != Protected::ADDED_GROUP && !says_no_more(what)).then_some(what)
}

struct JudgedFiles(Vec<JudgedFile>);

impl CommandOutput for JudgedFiles {
    fn json(&self) -> serde_json::Result<String> {
        let files = self.0.iter().map(|file| match &file.protection {
            None => json!({"path": file.path, "rule": "allow"}),
            Some((found, rule)) => json!({
                "path": file.path,
                "rule": rule.name(),
                "group": found.group,
                "what": found.what,
                "leads_to": found.real,
            }),
        });
        serde_json::to_string(&json!({"files": files.collect::<Vec<_>>()}))
    }

    fn write(&self, streams: &mut Streams) {
        for file in &self.0 {
            let path = escape_controls(&file.path);
            streams.out.line(match &file.protection {
                None => format!("{path}: allow"),
                Some((found, rule)) => {
                    let real = found
                        .real
                        .as_ref()
                        .map(|real| format!(", through {}", escape_controls(real.as_str())));
                    let what = describe_within_group(found).map(|what| format!(": {what}"));
                    format!(
                        "{path}: {} (group `{}`{}{})",
                        rule.name(),
                        found.group,
                        what.unwrap_or_default(),
                        real.unwrap_or_default()
                    )
                }
            });
        }
    }
}
