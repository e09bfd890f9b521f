//! `slipstitch tools`: print the schemas of a dialect's tools.

use clap::{Args, ValueEnum};
use clap_complete::ArgValueCandidates;
use serde_json::{Value, json};
use slipstitch::core::dialect::{Dialect, ListedFields, Tool, ToolSelection};
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::core::text::display::quote_names;
use slipstitch::dialects::BUILTIN;

use super::dialect_name::DialectName;
use crate::complete;
use crate::error::CommandError;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::streams::Streams;

const EXAMPLES: &str = "\
Examples:
  slipstitch tools
  slipstitch tools edit_file
  slipstitch tools --format anthropic > tools.json
  slipstitch tools --dialect native --format openai-responses
  slipstitch tools --tools all
  slipstitch tools --dialect xzatoma --guidelines >> system-prompt.md";

/// Print tool schemas as JSON
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tools {
    /// The dialect
    #[arg(long, value_name = "NAME", default_value = "native", value_parser = DialectName)]
    dialect: String,
    /// The format of the schemas
    #[arg(long, value_enum, default_value = "mcp")]
    format: Format,
    /// The tools to print, by name; `default` stands for those that a server offers without this option, `all` for every
    /// tool and field
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "tool")]
    tools: Vec<String>,
    /// Print usage guidelines for the model's instructions instead of schemas
    #[arg(long, conflicts_with_all = ["format", "tool"])]
    guidelines: bool,
    /// Print only this tool
    #[arg(add = ArgValueCandidates::new(complete::tools))]
    tool: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// The result of an MCP server's tools/list
    Mcp,
    /// The `tools` field of the Messages API
    Anthropic,
    /// The `tools` field of OpenAI's Chat Completions API
    Openai,
    /// The `tools` field of OpenAI's Responses API
    OpenaiResponses,
    /// The `tools` field of the Gemini API
    Gemini,
}

impl Tools {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let dialect = slipstitch::dialects::builtin().lookup(&self.dialect).map_err(Report::from)?;
        if self.guidelines {
            return Ok(Box::new(Guidelines { dialect: dialect.name, text: guidelines(dialect)? }));
        }
        let selection = ToolSelection::new(&self.tools, &[dialect]).map_err(|error| {
            Report::custom(Status::Invalid, "unknown_tool", error.to_string()).hint(error.hint())
        })?;
        let tools: Vec<&Tool> = match &self.tool {
            None => {
                // Most dialects are listed without opening a workspace.
                let enabled: Vec<&Tool> = match dialect.is_enabled {
                    Some(_) => dialect.enabled_tools(global.open()?.settings()).collect(),
                    None => dialect.callable_tools().collect(),
                };
                enabled.into_iter().filter(|tool| selection.lists(dialect, tool)).collect()
            }
            Some(name) => vec![slipstitch::dialects::builtin().lookup_tool(dialect, name)?],
        };
        // Who asks for one tool wants to know all about it.
        let fields = if self.tool.is_some() { ListedFields::All } else { selection.fields() };
        Ok(Box::new(Schemas(self.format.render(dialect, &tools, fields))))
    }
}

impl Format {
    fn render(self, dialect: &Dialect, tools: &[&Tool], fields: ListedFields) -> Value {
        let named = |tool: &Tool, key: &str, schema: Value| json!({"name": tool.name, "description": tool.about, key: schema});
        let list = |to_entry: &dyn Fn(&Tool, Value) -> Value| {
            Value::Array(tools.iter().map(|tool| to_entry(tool, tool.input_schema(fields))).collect())
        };
        match self {
            Self::Mcp => {
                json!({"tools": list(&|tool, _| slipstitch_mcp::tool_definition(dialect, tool, fields, false))})
            }
            Self::Anthropic => list(&|tool, schema| named(tool, "input_schema", schema)),
            Self::Openai => list(
                &|tool, schema| json!({"type": "function", "function": named(tool, "parameters", schema)}),
            ),
            Self::OpenaiResponses => list(&|tool, schema| {
                let mut function = named(tool, "parameters", schema);
                function["type"] = "function".into();
                // Strict mode wants every field in every call.
                function["strict"] = false.into();
                function
            }),
            Self::Gemini => {
                let declarations = list(&|tool, schema| named(tool, "parameters", gemini_schema(&schema)));
                json!([{"functionDeclarations": declarations}])
            }
        }
    }
}

/// A schema in the form of Gemini's function declarations, a subset of OpenAPI's: one type per field, and `nullable`.
fn gemini_schema(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut out = serde_json::Map::new();
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("type", Value::Array(names)) => {
                let name = names.iter().find(|name| *name != "null").cloned().unwrap_or_default();
                out.insert("type".into(), name);
                out.insert("nullable".into(), true.into());
            }
            ("properties", Value::Object(fields)) => {
                let fields = fields.iter().map(|(name, field)| (name.clone(), gemini_schema(field)));
                out.insert("properties".into(), Value::Object(fields.collect()));
            }
            ("items", items) => {
                out.insert("items".into(), gemini_schema(items));
            }
            // The API knows no defaults.
            ("default", _) => {}
            (keyword, value) => {
                out.insert(keyword.into(), value.clone());
            }
        }
    }
    Value::Object(out)
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
