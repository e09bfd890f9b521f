//! `slipstitch config check`: problems of the settings, and what they decide about a call.

use std::path::PathBuf;

use anstyle::AnsiColor;
use clap::Args;
use serde_json::json;
use slipstitch::Workspace;
use slipstitch::config::{Config, IgnoredSetting, ROOT_FILE};
use slipstitch::core::cancel::CancelToken;
use slipstitch::core::engine::Request;
use slipstitch::core::outcome::{Outcome, Refused, Status};
use slipstitch::core::ports::approver::Auto;
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;

use crate::error::CommandError;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::render::write_labelled;
use crate::streams::Streams;
use crate::{input, json as json_input};

const EXAMPLES: &str = "\
Examples:
  slipstitch config check
  slipstitch config check edit_file '{\"path\": \"a.txt\", \"old_text\": \"x\", \"new_text\": \"y\"}'
  slipstitch config check --agent codex write_file - < call.json

Without a call, this checks the settings files and lists keys of the project's file that have no
effect, and whether `on_pending` works. With one, it shows what would happen to it (auto, ask, deny,
or why it is refused or invalid) and which rule decides. Nothing is written.";

/// Check the settings files, or show which rule decides about a tool call
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Check {
    /// The dialect that the tool belongs to
    #[arg(long, value_name = "NAME", default_value = "native")]
    dialect: String,
    /// The tool's name
    tool: Option<String>,
    /// The arguments as a JSON object; `-` is standard input
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    arguments: Option<String>,
}

impl Check {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open()?;
        let mut ignored: Vec<String> = workspace.config().ignored.iter().map(ToString::to_string).collect();
        ignored.extend(workspace.notice_problems());
        let call = match &self.tool {
            Some(tool) => Some(self.judge_call(tool, &workspace)?),
            None => None,
        };
        let in_project = |setting: &IgnoredSetting| setting.file == ROOT_FILE;
        let own_file =
            workspace.config().ignored.iter().any(in_project).then(|| Config::file(None)).flatten();
        Ok(Box::new(Checked { ignored, call, own_file }))
    }

    fn judge_call(&self, tool: &str, workspace: &Workspace) -> Result<JudgedCall, CommandError> {
        let text = match self.arguments.as_deref() {
            None => "{}".into(),
            Some("-") => input::read_stdin()?,
            Some(text) => text.to_owned(),
        };
        let arguments = json_input::parse(&text).map_err(|error| {
            Report::custom(
                Status::Invalid,
                "invalid_json",
                format!("the arguments are not valid JSON: {error}"),
            )
            .hint("Pass one JSON object, as for `slipstitch call`.")
        })?;
        let request = Request { dialect: self.dialect.clone(), tool: tool.into(), arguments };
        let planned = workspace.plan(request)?.into_dry_run();
        let (answer, _) = workspace.run_unrecorded(planned, &mut Auto, &CancelToken::default());
        Ok(JudgedCall::of(answer.report))
    }
}

/// What the settings decide about a call.
struct JudgedCall {
    verdict: &'static str,
    /// The status that the call would have.
    status: Status,
    /// Why, one reason each.
    reasons: Vec<String>,
}

impl JudgedCall {
    fn of(report: Report) -> Self {
        let asks: Vec<String> = report
            .warnings
            .iter()
            .filter_map(|warning| warning.strip_prefix(Report::NEEDS_APPROVAL))
            .map(str::to_owned)
            .collect();
        match report.status() {
            status if !asks.is_empty() => Self { verdict: "ask", status, reasons: asks },
            status if status.is_error() => {
                let verdict = match (report.outcome, status) {
                    (Outcome::Refused(Refused::DeniedByRule | Refused::ProtectedPath), _) => "deny",
                    (_, Status::Invalid) => "invalid",
                    (_, Status::Failed) => "failed",
                    _ => "refused",
                };
                Self { verdict, status, reasons: vec![report.message] }
            }
            status if !report.allowed_by.is_empty() => {
                Self { verdict: "auto", status, reasons: report.allowed_by }
            }
            status => Self {
                verdict: "auto",
                status,
                reasons: vec!["no rule or protected path asks for approval".into()],
            },
        }
    }
}

struct Checked {
    ignored: Vec<String>,
    call: Option<JudgedCall>,
    /// The user's settings file, if the project's file asks for something that only the user's can grant.
    own_file: Option<PathBuf>,
}

impl CommandOutput for Checked {
    /// The status of the call if it would fail; otherwise `Shown`.
    fn status(&self) -> Status {
        let failed = self.call.as_ref().map(|call| call.status).filter(|status| status.is_error());
        failed.unwrap_or(Status::Shown)
    }

    fn json(&self) -> serde_json::Result<String> {
        let call = self.call.as_ref().map(|call| json!({"verdict": call.verdict, "reasons": call.reasons}));
        serde_json::to_string(&json!({"ignored": self.ignored, "call": call}))
    }

    fn write(&self, streams: &mut Streams) {
        for line in &self.ignored {
            streams.out.line(escape_controls(line));
        }
        match &self.call {
            Some(call) => {
                streams.out.line(call.verdict);
                call.reasons
                    .iter()
                    .for_each(|reason| streams.out.line(format!("  {}", escape_controls(reason))));
            }
            None if self.ignored.is_empty() => streams.err.line("No problems found."),
            None => {}
        }
        if let Some(file) = &self.own_file {
            let hint = format!("If you want them, put them into your own settings, `{}`.", file.display());
            write_labelled(AnsiColor::Cyan, "hint", &escape_controls(&hint), &mut streams.err);
        }
    }
}
