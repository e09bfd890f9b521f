//! `slipstitch tools`: print the schemas of a dialect's tools.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use slipstitch::core::dialect::{Dialect, Tool};
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::core::text::display::quote_names;
use slipstitch::dialects::BUILTIN;

use crate::error::CommandError;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::streams::Streams;

const EXAMPLES: &str = "\
Examples:
  slipstitch tools
  slipstitch tools edit_file
  slipstitch tools --format anthropic > tools.json
  slipstitch tools --dialect native --format openai
  slipstitch tools --dialect xzatoma --guidelines >> system-prompt.md";

/// Print tool schemas as JSON
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tools {
    /// The dialect
    #[arg(long, value_name = "NAME", default_value = "native")]
    dialect: String,
    /// The format of the schemas
    #[arg(long, value_enum, default_value = "mcp")]
    format: Format,
    /// Print usage guidelines for the model's instructions instead of schemas
    #[arg(long, conflicts_with_all = ["format", "tool"])]
    guidelines: bool,
    /// Print only this tool
    tool: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// The result of an MCP server's tools/list
    Mcp,
    /// The `tools` field of the Messages API
    Anthropic,
    /// The `tools` field of the Chat Completions API
    Openai,
}

impl Tools {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let dialect = slipstitch::dialects::builtin().lookup(&self.dialect).map_err(Report::from)?;
        if self.guidelines {
            return Ok(Box::new(Guidelines { dialect: dialect.name, text: guidelines(dialect)? }));
        }
        let tools: Vec<&Tool> = match &self.tool {
            // Most dialects are listed without opening a workspace.
            None if dialect.is_enabled.is_some() => {
                dialect.enabled_tools(global.open()?.settings()).iter().collect()
            }
            None => dialect.tools.iter().collect(),
            Some(name) => vec![slipstitch::dialects::builtin().lookup_tool(dialect, name)?],
        };
        let list = |to_schema: fn(&Dialect, &Tool) -> Value| {
            Value::Array(tools.iter().map(|tool| to_schema(dialect, tool)).collect())
        };
        Ok(Box::new(Schemas(match self.format {
            Format::Mcp => json!({"tools": list(slipstitch_mcp::tool_definition)}),
            Format::Anthropic => list(anthropic_schema),
            Format::Openai => list(openai_schema),
        })))
    }
}

fn anthropic_schema(_: &Dialect, tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description(), "input_schema": (tool.schema)()})
}

fn openai_schema(_: &Dialect, tool: &Tool) -> Value {
    let function =
        json!({"name": tool.name, "description": tool.description(), "parameters": (tool.schema)()});
    json!({"type": "function", "function": function})
}

fn guidelines(dialect: &Dialect) -> Result<&'static str, CommandError> {
    dialect.guidelines.ok_or_else(|| {
        let others = BUILTIN.iter().filter(|other| other.guidelines.is_some()).map(|other| other.name);
        let message = format!("the dialect `{}` has no guidelines", dialect.name);
        let hint = format!(
            "Its tool descriptions are sufficient. Dialects with guidelines: {}.",
            quote_names(others)
        );
        Report::custom(Status::Invalid, "no_guidelines", message).hint(hint).into()
    })
}

struct Guidelines {
    dialect: &'static str,
    text: &'static str,
}

impl CommandOutput for Guidelines {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&json!({"dialect": self.dialect, "guidelines": self.text}))
    }

    fn write(&self, streams: &mut Streams) {
        streams.out.line(self.text.trim_end());
    }
}

struct Schemas(Value);

impl CommandOutput for Schemas {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.0)
    }

    fn write(&self, streams: &mut Streams) {
        streams.out.line(format!("{:#}", self.0));
    }
}
