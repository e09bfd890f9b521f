//! Several hosts at once: the question before the change, and one report for all.

use std::io::{BufRead, IsTerminal, Write};

use serde_json::json;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;
use slipstitch_install::{Change, Target};

use crate::error::CommandError;
use crate::global::Global;
use crate::output::{CommandOutput, Effect};
use crate::streams::Streams;

/// The outcome for each host.
pub(super) struct HostReports(Vec<(&'static str, Result<Report, CommandError>)>);

impl HostReports {
    /// Runs a command for each target. One that fails does not stop the others.
    pub(super) fn collect(targets: &[Target], run: impl Fn(&Target) -> Result<Report, CommandError>) -> Self {
        Self(targets.iter().map(|target| (target.host.id, run(target))).collect())
    }
}

impl CommandOutput for HostReports {
    /// The worst of them.
    fn status(&self) -> Status {
        let statuses = || {
            self.0
                .iter()
                .map(|(_, outcome)| outcome.as_ref().map_or_else(CommandError::status, Report::status))
        };
        let worst = [Status::Failed, Status::Invalid, Status::Refused];
        worst.into_iter().find(|worst| statuses().any(|status| status == *worst)).unwrap_or(Status::Shown)
    }

    fn effect(&self) -> Effect {
        let mut effects = self.0.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()).map(Report::effect);
        if effects.any(|effect| effect != Effect::Nothing) { Effect::Other } else { Effect::Nothing }
    }

    fn json(&self) -> serde_json::Result<String> {
        let mut hosts = Vec::new();
        for (id, outcome) in &self.0 {
            let report = outcome.as_ref().unwrap_or_else(|error| &error.report);
            hosts.push(json!({"host": id, "report": serde_json::to_value(report)?}));
        }
        serde_json::to_string(&json!({"hosts": hosts}))
    }

    fn write(&self, streams: &mut Streams) {
        for (_, outcome) in &self.0 {
            match outcome {
                Ok(report) => report.write(streams),
                Err(error) => error.write(streams),
            }
        }
    }
}

/// What would change for one host.
pub(super) struct Plan {
    pub(super) changes: Vec<Change>,
    /// What the user should know before agreeing.
    pub(super) note: Option<String>,
}

/// Shows what would change and asks whether to do it. An error if the answer is no, or if there is no one to ask.
pub(super) fn confirm(
    targets: &[Target],
    plan: impl Fn(&Target) -> Result<Plan, CommandError>,
    verb: &str,
    global: &Global,
) -> Result<(), CommandError> {
    let (mut prompt, input) = (std::io::stderr(), std::io::stdin());
    let names: Vec<&str> = targets.iter().map(|target| target.host.id).collect();
    if global.json || !prompt.is_terminal() || !input.is_terminal() {
        let message = format!("found {}, and there is no terminal to ask on", names.join(", "));
        return Err(CommandError::usage(
            message,
            "Nothing was written. Choose hosts with `--client`, or pass `--all`; `--dry-run` shows the changes.",
        ));
    }
    let question: String = targets.iter().map(|target| describe_plan(target, plan(target))).collect();
    let question: String = question.lines().map(|line| format!("{}\n", escape_controls(line))).collect();
    let asked = prompt.write_all(format!("{question}{verb} in all of these? [y/N] ").as_bytes());
    let mut answer = String::new();
    let answered = asked.and_then(|()| prompt.flush()).and_then(|()| input.lock().read_line(&mut answer));
    match answered {
        Ok(_) if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") => Ok(()),
        _ => Err(Report::custom(Status::Refused, "declined", "nothing was written")
            .hint("Choose single hosts with `--client`.")
            .into()),
    }
}

/// The lines about one host in the question.
fn describe_plan(target: &Target, plan: Result<Plan, CommandError>) -> String {
    let mut text = format!("{}:\n", target.host.name);
    match plan {
        Ok(Plan { changes, .. }) if changes.is_empty() => text.push_str("  nothing to do\n"),
        Ok(Plan { changes, note }) => {
            for change in &changes {
                text.push_str(&format!("  {}\n", change.file.display()));
                for line in change.diff.iter().flat_map(|diff| diff.lines()) {
                    text.push_str(&format!("    {line}\n"));
                }
            }
            text.extend(note.map(|note| format!("  {note}\n")));
        }
        Err(error) => text.push_str(&format!("  cannot be changed: {}\n", error.report.message)),
    }
    text
}

/// Which diffs start with the name of their file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FileNames {
    /// Those of a host with several files.
    IfSeveral,
    /// All, because several hosts change.
    Always,
}

impl FileNames {
    /// For a command on these targets.
    pub(super) fn of(targets: &[Target]) -> Self {
        if targets.len() > 1 { Self::Always } else { Self::IfSeveral }
    }
}

/// The diffs of all files.
pub(super) fn join_diffs(changes: &[Change], names: FileNames) -> Option<String> {
    let is_named = changes.len() > 1 || names == FileNames::Always;
    let shown = |change: &Change| {
        let diff = change.diff.as_deref()?;
        let name = if is_named { format!("# {}\n", change.file.display()) } else { String::new() };
        Some(format!("{name}{diff}"))
    };
    let diffs: Vec<String> = changes.iter().filter_map(shown).collect();
    if diffs.is_empty() { None } else { Some(diffs.join("\n")) }
}

/// The files that change, for a message.
pub(super) fn list_files(changes: &[Change]) -> String {
    let files: Vec<String> = changes.iter().map(|change| format!("`{}`", change.file.display())).collect();
    files.join(" and ")
}
