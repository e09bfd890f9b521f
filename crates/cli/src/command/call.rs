//! `slipstitch call`: make one tool call, answered as the MCP server would.

use clap::Args;
use clap_complete::ArgValueCandidates;
use serde_json::Value;
use slipstitch::core::engine::Answer;
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::report::Report;
use slipstitch::core::settings::Mode;
use slipstitch::dialects::builtin;

use super::dialect_name::DialectName;
use crate::error::{CommandError, Layout};
use crate::escape::{self, UnsafeNames};
use crate::global::Global;
use crate::model_option::ModelOption;
use crate::output::{CommandOutput, CommandResult, Effect};
use crate::streams::Streams;
use crate::{complete, consent, input, json};

const EXAMPLES: &str = "\
Examples:
  slipstitch call read_file '{\"path\": \"src/main.rs\"}'
  slipstitch call edit_file '{\"path\": \"a.txt\", \"old_text\": \"x\", \"new_text\": \"y\"}'
  slipstitch call --json undo_edit
  generate-call | slipstitch call edit_file -

Run `slipstitch tools` to see the tools and their fields.";

/// Make one tool call, answered exactly as the MCP server would
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Call {
    /// The dialect that the tool belongs to
    #[arg(long, value_name = "NAME", default_value = "native", value_parser = DialectName)]
    dialect: String,
    /// What the session may do; a restricted session can only read [possible values: restricted, unrestricted]
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    mode: Option<Mode>,
    #[command(flatten)]
    model: ModelOption,
    /// The tool's name
    #[arg(add = ArgValueCandidates::new(complete::tools))]
    tool: String,
    /// The arguments as a JSON object, or the plain text of a patch for a tool that takes one; `-` is standard input
    /// [default: {}]
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    arguments: Option<String>,
}

impl Call {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        Ok(Box::new(self.make(global).unwrap_or_else(|error| self.answer_failure(error))))
    }

    fn make(&self, global: &Global) -> Result<CallOutput, CommandError> {
        let text = match self.arguments.as_deref() {
            None => "{}".into(),
            Some("-") => input::read_stdin()?,
            Some(text) => text.to_owned(),
        };
        let arguments = match json::parse(&text) {
            Ok(arguments) => arguments,
            Err(_) if self.is_plain_patch(&text) => Value::String(text),
            Err(error) => return Err(self.invalid_json(&error)),
        };
        let workspace = global.open_for_call(self.mode, &self.model)?;
        let mut paths = Vec::new();
        collect_paths(&arguments, &mut paths);
        let mut answer = workspace.call(&self.dialect, &self.tool, arguments);
        consent::add_private_warning(&workspace, &mut answer.report);
        Ok(CallOutput { answer, paths, layout: Layout::OneLine })
    }

    /// The tool's answer to a call that did not reach it, such as one whose arguments are not JSON. The program that makes the
    /// call reads the answer from stdout, whatever went wrong.
    fn answer_failure(&self, CommandError { report, layout }: CommandError) -> CallOutput {
        let dialect = builtin().find(&self.dialect);
        let answer = match dialect.and_then(|dialect| Some((dialect, dialect.tool(&self.tool)?))) {
            Some((dialect, tool)) => Answer::rendered(dialect, tool, &Value::Null, *report),
            None => (*report).into(),
        };
        CallOutput { answer, paths: Vec::new(), layout }
    }

    /// Whether `text`, which is not valid JSON, is meant as a patch for a tool that takes plain text.
    fn is_plain_patch(&self, text: &str) -> bool {
        let tool = builtin().find(&self.dialect).and_then(|dialect| dialect.tool(&self.tool));
        let looks_like_json = text.trim_start().starts_with(['{', '[', '"']);
        !looks_like_json && tool.is_some_and(|tool| tool.text_field().is_some())
    }

    fn invalid_json(&self, error: &serde_json::Error) -> CommandError {
        let tool = builtin().find(&self.dialect).and_then(|dialect| dialect.tool(&self.tool));
        let example = tool.map_or(r#"{"path": "a.txt"}"#, |tool| tool.example);
        Report::custom(Status::Invalid, "invalid_json", format!("the arguments are not valid JSON: {error}"))
            .hint(format!("Pass one JSON object, such as '{example}'."))
            .into()
    }
}

pub(super) fn parse_mode(name: &str) -> Result<Mode, String> {
    Mode::from_name(name).ok_or_else(|| "expected `restricted` or `unrestricted`".into())
}

/// A tool's answer, and the paths among its arguments.
struct CallOutput {
    answer: Answer,
    paths: Vec<String>,
    layout: Layout,
}

/// Fields that contain paths, besides those with `path` in their name.
const PATH_FIELDS: &[&str] = &["file", "filename", "file_name", "target", "target_file"];

/// Collects the paths among a tool's arguments.
fn collect_paths(arguments: &Value, paths: &mut Vec<String>) {
    match arguments {
        Value::Array(items) => items.iter().for_each(|item| collect_paths(item, paths)),
        Value::Object(fields) => {
            for (field, value) in fields {
                match value {
                    Value::String(path)
                        if field.contains("path") || PATH_FIELDS.contains(&field.as_str()) =>
                    {
                        paths.push(path.clone());
                    }
                    value => collect_paths(value, paths),
                }
            }
        }
        _ => {}
    }
}

impl CommandOutput for CallOutput {
    fn status(&self) -> Status {
        self.answer.report.status()
    }

    fn change(&self) -> Option<ChangeId> {
        self.answer.report.change
    }

    fn effect(&self) -> Effect {
        self.answer.report.effect()
    }

    fn json(&self) -> serde_json::Result<String> {
        let mut object = serde_json::to_value(&self.answer.report)?;
        object["answer"] = self.answer.text.clone().into();
        if let Some(payload) = &self.answer.payload {
            object["payload"] = payload.clone();
        }
        serde_json::to_string(&object)
    }

    fn write(&self, streams: &mut Streams) {
        let Answer { report, text, .. } = &self.answer;
        // A refusal is an answer too: the program that makes the call reads it, and the exit status tells the rest.
        // Most dialects quote the report's message and hint, and all of them name the file as the call did.
        let text = match report.hint.as_deref().zip(escape::printable_hint(report, self.layout)) {
            Some((hint, printable)) if hint != printable => text.replace(hint, &printable),
            _ => text.clone(),
        };
        let text = match escape::printable_message(report, self.layout) {
            printable if printable != report.message => text.replace(&report.message, &printable),
            _ => text,
        };
        let text = UnsafeNames::in_report(report).escape_in(&text);
        streams.out.line(UnsafeNames::among(self.paths.iter().cloned()).escape_in(&text));
    }
}
