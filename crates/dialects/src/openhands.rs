//! The `openhands` dialect: `str_replace_editor` of OpenHands.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::answer;
use crate::claude::commands::{self, Command, parse_command};
use slipstitch_core::dialect::{Arguments, Dialect, Effect, OtherName, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::plan::{Operation, ParseError, Plan};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "openhands",
    about: "str_replace_editor, as OpenHands has it: view, create, str_replace, insert, undo_edit",
    tools: &[TOOL],
    guide: "View a file with str_replace_editor before you change it. `old_str` must occur exactly once; `create` refuses \
            existing files.",
    other_names: &[OtherName { tool: "str_replace_editor", other: "insert_text", field: "new_str" }],
    phrases: |_| HintPhrases {
        old: "`old_str`",
        create: Some("create the file with the command `create`"),
        ..HintPhrases::NONE
    },
    example: |_, call| commands::example(call),
    render: answer::render,
    ..Dialect::PLAIN
};

const TOOL: Tool = Tool {
    name: "str_replace_editor",
    aliases: &["str_replace_based_edit_tool"],
    title: "View and edit files",
    about: "Views and edits files. view shows a file or lists a folder. create writes a new file. str_replace replaces \
            old_str, which must occur exactly once. insert adds new_str after insert_line. undo_edit undoes the last \
            change to the file.",
    effect: Effect::Replaces,
    empty_is_value: &["file_text", "new_str"],
    example: r#"{"command": "str_replace", "path": "src/main.py", "old_str": "retries = 3", "new_str": "retries = 5"}"#,
    schema: schema::of::<EditorCall>,
    parse,
};

/// The fields are checked against this; the shared commands read them.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct EditorCall {
    /// What to do.
    command: Command,
    /// The file or folder, absolute or relative to the root.
    path: String,
    /// For create: the complete content.
    file_text: Option<String>,
    /// For str_replace: the text to replace.
    old_str: Option<String>,
    /// For str_replace and insert: the new text.
    new_str: Option<String>,
    /// For insert: the line to insert after; 0 is the start of the file.
    insert_line: Option<usize>,
    /// For view: the first and the last line; -1 is the end.
    view_range: Option<Vec<i64>>,
    /// Has no effect here.
    security_risk: Option<String>,
}

fn parse(mut arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    if let Value::Object(fields) = &mut arguments.fields {
        fields.remove("security_risk");
    }
    let mut plan = parse_command(arguments, "`new_str`")?;
    if let Plan::Edit(plan) = &mut plan {
        for operation in plan.files.iter_mut().flat_map(|file| &mut file.operations) {
            if let Operation::Overwrite { content, .. } = operation {
                *operation = Operation::Create { content: std::mem::take(content) };
            }
        }
    }
    Ok(plan)
}
