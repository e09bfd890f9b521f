//! `slipstitch call`: one tool call, answered as a server would.

use clap::Args;
use serde_json::Value;
use slipstitch::core::engine::Answer;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::core::settings::Mode;
use slipstitch::dialects::builtin;

use crate::args::Global;
use crate::names::{self, Odd};
use crate::output::{Done, Outcome};
use crate::page::Page;
use crate::{input, json};

const EXAMPLES: &str = "\
Examples:
  slipstitch call read_file '{\"path\": \"src/main.rs\"}'
  slipstitch call edit_file '{\"path\": \"a.txt\", \"old_text\": \"x\", \"new_text\": \"y\"}'
  slipstitch call --json undo_edit
  generate-call | slipstitch call edit_file -

`slipstitch tools` shows the tools and their fields.";

/// Make one tool call exactly as a server would answer it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Call {
    /// The family of tools
    #[arg(long, value_name = "NAME", default_value = "native")]
    dialect: String,
    /// What the session may do: restricted allows looking only [possible values: restricted, unrestricted]
    #[arg(long, value_name = "MODE", value_parser = mode)]
    mode: Option<Mode>,
    /// The tool
    tool: String,
    /// Its arguments as a JSON object, or a patch for a tool that takes one; `-` reads them from standard input [default: {}]
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    arguments: Option<String>,
}

impl Call {
    pub(super) fn run(self, global: &Global) -> Done {
        let text = match self.arguments.as_deref() {
            None => "{}".into(),
            Some("-") => input::from_stdin()?,
            Some(text) => text.to_owned(),
        };
        let arguments = match json::parse(&text) {
            Ok(arguments) => arguments,
            Err(_) if self.takes_text(&text) => Value::String(text),
            Err(error) => return Err(self.not_json(&error)),
        };
        let workspace = global.open_in(self.mode)?;
        let mut named = Vec::new();
        names_in(&arguments, &mut named);
        let answer = workspace.call(&self.dialect, &self.tool, arguments);
        Ok(Box::new(Said { answer, named }))
    }

    /// Whether text that is not JSON is a patch for a tool that takes nothing else.
    fn takes_text(&self, text: &str) -> bool {
        let tool = builtin().find(&self.dialect).and_then(|dialect| dialect.tool(&self.tool));
        let json = text.trim_start().starts_with(['{', '[', '"']);
        !json && tool.is_some_and(|tool| tool.text_field().is_some())
    }

    fn not_json(&self, error: &serde_json::Error) -> Box<Report> {
        let tool = builtin().find(&self.dialect).and_then(|dialect| dialect.tool(&self.tool));
        let example = tool.map_or(r#"{"path": "a.txt"}"#, |tool| tool.example);
        Report::custom(Status::Invalid, "invalid_json", format!("the arguments are not valid JSON: {error}"))
            .hint(format!("Give one JSON object, such as '{example}'."))
            .into()
    }
}

pub(super) fn mode(name: &str) -> Result<Mode, String> {
    Mode::named(name).ok_or_else(|| "expected `restricted` or `unrestricted`".into())
}

/// What a tool answered, and the names of files that it was given.
struct Said {
    answer: Answer,
    named: Vec<String>,
}

/// Names of arguments that are names of files, besides those with `path` in them.
const FILES: &[&str] = &["file", "filename", "file_name", "target", "target_file"];

/// The names of files among a tool's arguments. The rest is text.
fn names_in(arguments: &Value, names: &mut Vec<String>) {
    match arguments {
        Value::Array(items) => items.iter().for_each(|item| names_in(item, names)),
        Value::Object(fields) => {
            for (field, value) in fields {
                match value {
                    Value::String(name) if field.contains("path") || FILES.contains(&field.as_str()) => {
                        names.push(name.clone());
                    }
                    value => names_in(value, names),
                }
            }
        }
        _ => {}
    }
}

impl Outcome for Said {
    fn status(&self) -> Status {
        self.answer.report.status()
    }

    fn json(&self) -> serde_json::Result<String> {
        let mut object = serde_json::to_value(&self.answer.report)?;
        object["answer"] = self.answer.text.clone().into();
        if let Some(payload) = &self.answer.payload {
            object["payload"] = payload.clone();
        }
        serde_json::to_string(&object)
    }

    fn write(&self, page: &mut Page) {
        let Answer { report, text, .. } = &self.answer;
        let surface = if report.is_success() { &mut page.out } else { &mut page.notes };
        // Most dialects answer with the report's own sentences, and all name the file as it was given.
        let text = match report.hint.as_deref().zip(names::hint(report)) {
            Some((hint, shown)) if hint != shown => text.replace(hint, &shown),
            _ => text.clone(),
        };
        let text = match names::message(report) {
            shown if shown != report.message => text.replace(&report.message, &shown),
            _ => text,
        };
        let text = Odd::of(report).escaped(&text);
        surface.line(Odd::among(self.named.iter().cloned()).escaped(&text));
    }
}
