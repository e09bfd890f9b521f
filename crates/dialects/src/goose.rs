//! The `goose` dialect: the edit tools of Goose, and `text_editor`, which came before them.

use std::sync::LazyLock;

use serde_json::Value;

use crate::answer;
use crate::claude::commands::{CommandCall, parse_command};
use crate::phrases::writes_with;
use crate::spec::{Described, Spec, content, new, old, path, tool};
use slipstitch_core::dialect::{Arguments, Dialect, Effect, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::plan::{ParseError, Plan};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "goose",
    about: "The tools of Goose: edit, write",
    tools: &[tool::<Edit>(), tool::<Write>()],
    unlisted: &[TEXT_EDITOR],
    guide: "Change a file with edit: `before` must occur exactly once. Create or overwrite one with write.",
    phrases: |tool| match tool.name {
        "text_editor" => HintPhrases { old: "`old_str`", ..HintPhrases::NONE },
        _ => HintPhrases { old: "`before`", ..writes_with!("write") },
    },
    render: answer::render,
    ..Dialect::PLAIN
};

struct Edit;

impl Described for Edit {
    const SPEC: Spec = Spec {
        name: "edit",
        about: "Replaces text in a file. Include enough surrounding lines in before for it to occur exactly once.",
        example: r#"{"path": "src/main.py", "before": "retries = 3", "after": "retries = 5"}"#,
        fields: &[path("path"), old("before"), new("after")],
        ..Spec::REPLACE
    };
}

/// The same in hashline.
pub(super) struct Write;

impl Described for Write {
    const SPEC: Spec = Spec {
        name: "write",
        example: r#"{"path": "notes/todo.md", "content": "- first\n"}"#,
        fields: &[path("path"), content("content")],
        ..Spec::WRITE
    };
}

/// The older tool: commands in one tool, where `write` is what others call `create`.
const TEXT_EDITOR: Tool = Tool {
    name: "text_editor",
    aliases: &[],
    title: "View and edit files",
    about: "Views and edits files with the commands view, write, str_replace, insert and undo_edit.",
    effect: Effect::Replaces,
    empty_is_value: &["file_text", "new_str", "insert_text"],
    example: r#"{"command": "str_replace", "path": "src/main.py", "old_str": "retries = 3", "new_str": "retries = 5"}"#,
    schema: text_editor_schema,
    parse: |mut arguments: Arguments<'_>| -> Result<Plan, ParseError> {
        if arguments.fields["command"] == "write" {
            arguments.fields["command"] = "create".into();
        }
        parse_command(arguments, "`new_str`")
    },
};

fn text_editor_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let mut schema = schema::of::<CommandCall>().clone();
        if let Value::Array(commands) = &mut schema["properties"]["command"]["enum"] {
            commands.push("write".into());
        }
        schema
    });
    &SCHEMA
}
