//! `str_replace_based_edit_tool`: five commands in one tool, each with its own fields.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{edit_plan, view_plan};
use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Effect, RenderInput, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    Direction, IfMissing, Operation, OtherSessionsConsent, Plan, Run, Target, UndoPlan, Which,
};

pub(super) const NAME: &str = "str_replace_based_edit_tool";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    aliases: &["str_replace_editor"],
    title: "View and edit files",
    about: "Views and edits files. view shows a file with line numbers or lists a folder; create writes or overwrites a \
            file; str_replace replaces old_str, which must occur exactly once; insert adds lines; undo_edit undoes the \
            last change to the file.",
    effect: Effect::Replaces,
    empty_is_value: &["file_text", "new_str", "insert_text"],
    example: r#"{"command": "str_replace", "path": "src/main.py", "old_str": "retries = 3", "new_str": "retries = 5"}"#,
    schema: schema::of::<CommandCall>,
    parse,
};

pub(super) const PHRASES: HintPhrases = HintPhrases {
    old: "`old_str`",
    create: Some("create the file with the command `create`"),
    overwrite: Some("write it with the command `create`"),
    fill: Some("write it with the command `create`, or `insert` at line 0"),
    ..HintPhrases::NONE
};

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CommandCall {
    /// What to do with path.
    command: Command,
    /// A file inside the root; for view also a folder.
    path: String,
    /// view: first and last line, such as [11, 20]; -1 is the end.
    view_range: Option<Vec<i64>>,
    /// create: the whole content.
    file_text: Option<String>,
    /// str_replace: the exact text to replace.
    old_str: Option<String>,
    /// str_replace: its replacement; empty deletes.
    new_str: Option<String>,
    /// insert: the line to insert after; 0 is the start.
    insert_line: Option<usize>,
    /// insert: the lines to insert.
    insert_text: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Command {
    View,
    Create,
    StrReplace,
    Insert,
    UndoEdit,
}

impl Command {
    /// The command of a call; `None` if the call is not valid or the tool has no commands.
    pub(crate) fn of(input: &RenderInput<'_>) -> Option<Self> {
        (input.tool.name == NAME).then(|| Self::deserialize(&input.call["command"]).ok())?
    }
}

/// Each command with its name, its fields other than `path`, and a valid call.
const COMMANDS: &[(Command, &str, &[&str], &str)] = &[
    (
        Command::View,
        "view",
        &["view_range"],
        r#"{"command": "view", "path": "src/main.py", "view_range": [1, 40]}"#,
    ),
    (
        Command::Create,
        "create",
        &["file_text"],
        r#"{"command": "create", "path": "notes.md", "file_text": "- first\n"}"#,
    ),
    (Command::StrReplace, "str_replace", &["old_str", "new_str"], TOOL.example),
    (
        Command::Insert,
        "insert",
        &["insert_line", "insert_text", "new_str"],
        r#"{"command": "insert", "path": "src/main.py", "insert_line": 1, "insert_text": "import sys\n"}"#,
    ),
    (Command::UndoEdit, "undo_edit", &[], r#"{"command": "undo_edit", "path": "src/main.py"}"#),
];

fn parse(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    parse_command(arguments, "`insert_text`")
}

/// Parses a call of a tool with these commands; `inserted` is what it calls the text to insert.
pub(crate) fn parse_command(arguments: Arguments<'_>, inserted: &str) -> Result<Plan, ParseError> {
    let sent = arguments.fields.clone();
    let fields: CommandCall = read(arguments.fields)?;
    let command = fields.command;
    check_fields(&sent, command)?;
    let operation = match command {
        Command::View => {
            let (first, last) = match fields.view_range.as_deref() {
                None => (None, None),
                Some(range) if range.iter().all(|line| *line == 0) => (None, None),
                Some(range) => view_range(range)?,
            };
            return view_plan(&fields.path, first, last, arguments.roots);
        }
        Command::UndoEdit => {
            let path = FilePath::parse(&fields.path, arguments.roots, Absolute::InsideRoot)?;
            let direction = Direction::Undo;
            return Ok(Plan::Undo(UndoPlan {
                target: Target::Last { path: Some(path) },
                direction,
                run: Run::Real,
                others: OtherSessionsConsent::Needed,
            }));
        }
        Command::Create => {
            let content = fields.file_text.ok_or_else(|| needs(command, "`file_text`"))?;
            Operation::Overwrite { content, if_missing: IfMissing::Create }
        }
        Command::StrReplace => Operation::Replace {
            old: fields.old_str.ok_or_else(|| needs(command, "`old_str`"))?,
            new: fields.new_str.unwrap_or_default(),
            which: Which::Unique,
            within: None,
        },
        Command::Insert => {
            let after = fields.insert_line.ok_or_else(|| needs(command, "`insert_line`"))?;
            let filled = |text: &String| !text.is_empty();
            let text = match (fields.insert_text.filter(filled), fields.new_str.filter(filled)) {
                (Some(one), Some(other)) if one != other => {
                    return Err(ParseError::new(
                        "`insert_text` and `new_str` were both sent, with different text",
                        "Send the text to insert once, as `insert_text`.",
                    ));
                }
                (one, other) => one.or(other).ok_or_else(|| needs(command, inserted))?,
            };
            Operation::InsertLines { after: after.into(), text }
        }
    };
    edit_plan(&fields.path, vec![operation], arguments.roots, arguments.warnings)
}

/// A valid call of the command that an invalid call names.
pub(crate) fn example(call: &Value) -> &'static str {
    let named = COMMANDS.iter().find(|(_, name, ..)| call["command"] == *name);
    named.map_or(TOOL.example, |(.., example)| example)
}

fn describe(command: Command) -> (&'static str, &'static str) {
    let found = COMMANDS.iter().find(|(known, ..)| *known == command);
    found.map_or(("", ""), |(_, name, _, example)| (name, example))
}

fn needs(command: Command, field: &str) -> ParseError {
    let (name, example) = describe(command);
    ParseError::new(format!("`{name}` needs {field}"), format!("Example: {example}"))
}

/// Refuses fields that belong to other commands. Empty ones and zeros are placeholders and are ignored.
fn check_fields(sent: &Value, command: Command) -> Result<(), ParseError> {
    let empty = |value: &Value| match value {
        Value::Array(items) => items.iter().all(|item| *item == 0),
        value => *value == "" || *value == 0,
    };
    let (name, example) = describe(command);
    for (field, _) in sent.as_object().into_iter().flatten().filter(|(_, value)| !empty(value)) {
        let owners: Vec<(Command, &str)> = COMMANDS
            .iter()
            .filter(|(_, _, fields, _)| fields.contains(&field.as_str()))
            .map(|&(command, name, ..)| (command, name))
            .collect();
        if !owners.is_empty() && !owners.iter().any(|(owner, _)| *owner == command) {
            let names: Vec<String> = owners.iter().map(|(_, name)| format!("`{name}`")).collect();
            return Err(ParseError::new(
                format!(
                    "the command `{name}` has no field `{field}`; that field belongs to {}",
                    names.join(" and ")
                ),
                format!("Example for `{name}`: {example}"),
            ));
        }
    }
    Ok(())
}

type Bounds = (Option<usize>, Option<usize>);

fn view_range(range: &[i64]) -> Result<Bounds, ParseError> {
    let error = |what: String| {
        Err(ParseError::new(
            format!("`view_range` {what}"),
            "Send the first and the last line, counting from 1, such as [11, 20]; [11, -1] shows everything from line 11.",
        ))
    };
    let [first, last] = *range else {
        return error(format!("has {} numbers; expected 2", range.len()));
    };
    match (usize::try_from(first), usize::try_from(last)) {
        (Ok(0) | Err(_), _) => error(format!("starts at {first}; the first line is 1")),
        (Ok(first), Err(_)) if last == -1 => Ok((Some(first), None)),
        (Ok(first), Ok(last)) if first <= last => Ok((Some(first), Some(last))),
        _ => error(format!("ends at {last}, which is before its start {first}")),
    }
}
