//! `incise call`: one tool call, answered as a server would.

use clap::Args;
use incise::core::dialect::Dialect;
use incise::core::pipeline::Answer;
use incise::core::report::{Report, Status};
use incise::core::settings::Mode;
use serde_json::Value;

use crate::args::Global;
use crate::output::{Done, Outcome};
use crate::page::Page;
use crate::{input, json};

const EXAMPLES: &str = "\
Examples:
  incise call read_file '{\"path\": \"src/main.rs\"}'
  incise call edit_file '{\"path\": \"a.txt\", \"old_text\": \"x\", \"new_text\": \"y\"}'
  incise call --json undo_edit
  generate-call | incise call edit_file -

`incise tools` shows the tools and their fields.";

/// Make one tool call exactly as a server would answer it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Call {
    /// The family of tools
    #[arg(long, value_name = "NAME", default_value = "incise")]
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
        Ok(Box::new(workspace.call(&self.dialect, &self.tool, arguments)))
    }

    /// Whether text that is not JSON is a patch for a tool that takes nothing else.
    fn takes_text(&self, text: &str) -> bool {
        let tool = Dialect::named(&self.dialect).and_then(|dialect| dialect.tool(&self.tool));
        let json = text.trim_start().starts_with(['{', '[', '"']);
        !json && tool.is_some_and(|tool| tool.text_field().is_some())
    }

    fn not_json(&self, error: &serde_json::Error) -> Box<Report> {
        let tool = Dialect::named(&self.dialect).and_then(|dialect| dialect.tool(&self.tool));
        let example = tool.map_or(r#"{"path": "a.txt"}"#, |tool| tool.example);
        Report::new(Status::Invalid, "invalid_json", format!("the arguments are not valid JSON: {error}"))
            .hint(format!("Give one JSON object, such as '{example}'."))
            .into()
    }
}

pub(super) fn mode(name: &str) -> Result<Mode, String> {
    Mode::named(name).ok_or_else(|| "expected `restricted` or `unrestricted`".into())
}

impl Outcome for Answer {
    fn status(&self) -> Status {
        self.report.status
    }

    fn json(&self) -> serde_json::Result<String> {
        let mut object = serde_json::to_value(&self.report)?;
        object["answer"] = self.text.clone().into();
        if let Some(payload) = &self.payload {
            object["payload"] = payload.clone();
        }
        serde_json::to_string(&object)
    }

    fn write(&self, page: &mut Page) {
        let surface = if self.report.status.is_success() { &mut page.out } else { &mut page.notes };
        surface.line(&self.text);
    }
}
