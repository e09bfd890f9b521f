//! What the tool lists cost a model.

use serde_json::json;
use slipstitch_core::dialect::{ListedFields, Tool};

use crate::BUILTIN;

/// The tokens of a tool as a host sends it to a model, in the longest of the usual forms.
fn tokens(tool: &Tool, fields: ListedFields) -> usize {
    let (name, about, schema) = (tool.name, tool.about, tool.input_schema(fields));
    let forms = [
        json!({"name": name, "description": about, "input_schema": schema}),
        json!({"type": "function", "function": {"name": name, "description": about, "parameters": schema}}),
        json!({"type": "function", "name": name, "description": about, "parameters": schema, "strict": false}),
    ];
    forms.iter().map(|sent| slipstitch_tokens::count(&sent.to_string())).max().unwrap_or_default()
}

/// The ceiling for the tools that a dialect lists by default.
const MAX_TOKENS: usize = 700;

#[test]
#[expect(clippy::print_stdout, reason = "prints a table for the documentation")]
fn tool_lists_stay_within_their_ceilings() {
    let mut too_long = Vec::new();
    for dialect in BUILTIN {
        let listed: Vec<(&str, usize)> =
            dialect.default_tools().map(|tool| (tool.name, tokens(tool, ListedFields::Common))).collect();
        let total: usize = listed.iter().map(|(_, tokens)| tokens).sum();
        let all: usize = dialect.tools.iter().map(|tool| tokens(tool, ListedFields::All)).sum();
        // `cargo test -p slipstitch-dialects tool_lists -- --nocapture` prints the table in docs/mcp.md.
        println!("| `{}` | {total} | {all} |", dialect.name);
        if total > MAX_TOKENS {
            too_long.push(format!("{}: {total} tokens: {listed:?}", dialect.name));
        }
    }
    assert!(too_long.is_empty(), "{too_long:#?}");
}
