//! `slipstitch schema`: the JSON Schemas of `--json` output.

use clap::Args;
use clap_complete::{ArgValueCandidates, CompletionCandidate};
use serde_json::Value;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::output::{CommandOutput, CommandResult};
use crate::streams::Streams;

const EXAMPLES: &str = "\
Examples:
  slipstitch schema              list the commands
  slipstitch schema log
  slipstitch schema 'review show'

Every command can fail, and then prints a report instead; its schema is `slipstitch schema report`.";

const REPORT: &str = include_str!("../../schemas/report.json");
/// One decision is a report; several are a list of reports.
const DECISIONS: &str = include_str!("../../schemas/decisions.json");
/// One host is a report; several are a list of reports.
const HOSTS: &str = include_str!("../../schemas/hosts.json");

/// Commands and their schemas.
const SCHEMAS: &[(&str, &str)] = &[
    ("report", REPORT),
    ("edit", REPORT),
    ("lines", REPORT),
    ("write", REPORT),
    ("append", REPORT),
    ("delete", REPORT),
    ("move", REPORT),
    ("patch", REPORT),
    ("read", REPORT),
    ("info", REPORT),
    ("undo", REPORT),
    ("redo", REPORT),
    ("call", REPORT),
    ("mode", REPORT),
    ("tools", include_str!("../../schemas/tools.json")),
    ("log", include_str!("../../schemas/log.json")),
    ("show", include_str!("../../schemas/show.json")),
    ("sessions", include_str!("../../schemas/sessions.json")),
    ("stats", include_str!("../../schemas/stats.json")),
    ("review", include_str!("../../schemas/review.json")),
    ("review list", include_str!("../../schemas/review.json")),
    ("review show", include_str!("../../schemas/review-show.json")),
    ("review accept", DECISIONS),
    ("review reject", DECISIONS),
    ("mcp install", HOSTS),
    ("mcp uninstall", HOSTS),
    ("config show", include_str!("../../schemas/config-show.json")),
    ("config path", include_str!("../../schemas/config-path.json")),
    ("config check", include_str!("../../schemas/config-check.json")),
    ("config protected", include_str!("../../schemas/config-protected.json")),
    ("doctor", include_str!("../../schemas/doctor.json")),
    ("gc", include_str!("../../schemas/gc.json")),
    ("forget", include_str!("../../schemas/forget.json")),
    ("uninstall", include_str!("../../schemas/uninstall.json")),
];

/// Print the JSON Schema of a command's `--json` output
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Schema {
    /// The command, such as `log` or `'review show'`
    #[arg(value_name = "COMMAND", add = ArgValueCandidates::new(names))]
    command: Vec<String>,
}

/// The commands that have a schema, for completion.
fn names() -> Vec<CompletionCandidate> {
    SCHEMAS.iter().map(|(name, _)| CompletionCandidate::new(*name)).collect()
}

impl Schema {
    pub(super) fn run(self) -> CommandResult {
        let name = self.command.join(" ");
        if name.is_empty() {
            let names: Vec<&str> = SCHEMAS.iter().map(|(name, _)| *name).collect();
            return Ok(Box::new(Text(names.join("\n"))));
        }
        match SCHEMAS.iter().find(|(known, _)| *known == name) {
            Some((_, schema)) => Ok(Box::new(Text(with_report(schema)))),
            None => Err(Report::custom(Status::Invalid, "usage", format!("there is no schema for `{name}`"))
                .hint("`slipstitch schema` lists the commands that have one.")
                .into()),
        }
    }
}

/// Schemas that contain reports refer to their schema as `#/$defs/report`, which is added here, so that it is written once.
fn with_report(schema: &str) -> String {
    let parsed = (serde_json::from_str::<Value>(schema), serde_json::from_str::<Value>(REPORT));
    let (true, (Ok(mut schema), Ok(mut report))) = (schema.contains("\"#/$defs/report\""), parsed) else {
        return schema.into();
    };
    let mut definitions = report["$defs"].take();
    if let (Some(report), Some(definitions)) = (report.as_object_mut(), definitions.as_object_mut()) {
        ["$schema", "title", "$defs"].iter().for_each(|name| drop(report.remove(*name)));
        definitions.insert("report".into(), Value::Object(report.clone()));
    }
    schema["$defs"] = definitions;
    format!("{schema:#}")
}

/// A schema, or the list of them. A schema is JSON already.
struct Text(String);

impl CommandOutput for Text {
    fn json(&self) -> serde_json::Result<String> {
        match serde_json::from_str::<Value>(&self.0) {
            Ok(schema) => serde_json::to_string(&schema),
            Err(_) => serde_json::to_string(&self.0.lines().collect::<Vec<_>>()),
        }
    }

    fn write(&self, streams: &mut Streams) {
        streams.out.line(self.0.trim_end());
    }
}
