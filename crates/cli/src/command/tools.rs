//! `incise tools`: the schemas of a dialect's tools.

use clap::{Args, ValueEnum};
use incise::core::dialect::{Effect, Tool};
use incise::core::pipeline;
use serde_json::{Value, json};

use crate::args::Global;
use crate::output::{Done, Outcome};
use crate::page::Page;

const EXAMPLES: &str = "\
Examples:
  incise tools
  incise tools edit_file
  incise tools --format anthropic > tools.json
  incise tools --dialect incise --format openai";

/// Print the schemas of the tools as JSON
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tools {
    /// The family of tools
    #[arg(long, value_name = "NAME", default_value = "incise")]
    dialect: String,
    /// For whom
    #[arg(long, value_enum, default_value = "mcp")]
    format: Format,
    /// Only this tool
    tool: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A server's answer to tools/list
    Mcp,
    /// The `tools` field of the Messages API
    Anthropic,
    /// The `tools` field of the Chat Completions API
    Openai,
}

impl Tools {
    pub(super) fn run(self, _: &Global) -> Done {
        let dialect = pipeline::dialect(&self.dialect)?;
        let tools: Vec<&Tool> = match &self.tool {
            None => dialect.tools.iter().collect(),
            Some(name) => vec![pipeline::tool(dialect, name)?],
        };
        let listed = |form: fn(&Tool) -> Value| Value::Array(tools.iter().map(|tool| form(tool)).collect());
        Ok(Box::new(Schemas(match self.format {
            Format::Mcp => json!({"tools": listed(mcp)}),
            Format::Anthropic => listed(anthropic),
            Format::Openai => listed(openai),
        })))
    }
}

fn mcp(tool: &Tool) -> Value {
    let reads = tool.effect == Effect::Reads;
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.about,
        "inputSchema": (tool.schema)(),
        "annotations": {
            "readOnlyHint": reads,
            "destructiveHint": !reads,
            "idempotentHint": reads,
            "openWorldHint": false,
        },
    })
}

fn anthropic(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.about, "input_schema": (tool.schema)()})
}

fn openai(tool: &Tool) -> Value {
    let function = json!({"name": tool.name, "description": tool.about, "parameters": (tool.schema)()});
    json!({"type": "function", "function": function})
}

struct Schemas(Value);

impl Outcome for Schemas {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.0)
    }

    fn write(&self, page: &mut Page) {
        page.out.line(format!("{:#}", self.0));
    }
}
