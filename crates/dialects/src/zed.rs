//! The `zed` dialect: the file tools of Zed's agent, also in the forms that they had before.

mod tagged;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::answer;
use crate::phrases::writes_with;
use crate::spec::{Described, Field, Paths, RULES, Role, Spec, content, resolve_path, tool};
use slipstitch_core::dialect::{Arguments, Dialect, Effect, Tool, read, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::plan::patch::replacement;
use slipstitch_core::plan::{EditPlan, FilePlan, IfMissing, Operation, ParseError, Plan, Which};
use slipstitch_patch::Block;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "zed",
    about: "The tools of Zed's agent: edit_file, write_file",
    tools: &[EDIT_FILE, tool::<WriteFile>()],
    guide: "Change a file with edit_file: each `old_text` must occur exactly once. Paths start with the name of the root's \
            folder, or are relative to it.",
    modernize: |tool, call| {
        if tool.name == EDIT_FILE.name
            && let Value::Object(fields) = call
            && let Some(edits) = fields.get("edits").and_then(Value::as_str).and_then(tagged::edits)
        {
            fields.insert("edits".into(), edits);
        }
    },
    phrases: |_| HintPhrases { old: "`old_text`", ..writes_with!("write_file") },
    render: answer::render,
    ..Dialect::PLAIN
};

/// Zed's paths start with the name of the project's folder.
const PATH: Field = Field::new(
    "path",
    Role::Path,
    "The file: the name of the root's folder and the path in it, or only the latter.",
);

const EDIT_FILE: Tool = Tool {
    name: "edit_file",
    aliases: &[],
    title: "Edit a file",
    about: "Replaces text in a file, once or several times; each edit applies to the result of the one before. All are \
            applied or none.",
    effect: Effect::Edits,
    empty_is_value: &["content"],
    example: r#"{"path": "app/src/main.rs", "edits": [{"old_text": "retries = 3", "new_text": "retries = 5"}]}"#,
    schema: schema::of::<EditFile>,
    parse: edit_file,
};

/// In older versions the call had a mode, and a description for the user. The edits could be a text with tags
/// ([`tagged`]).
#[derive(Deserialize, JsonSchema)]
struct EditFile {
    /// The file: the name of the root's folder and the path in it, or only the latter.
    path: String,
    /// The replacements, in order.
    edits: Option<Vec<Edit>>,
    /// What the edit is for.
    #[schemars(extend("x-unlisted" = true))]
    display_description: Option<String>,
    /// edit, or create, overwrite or write with content.
    #[schemars(extend("x-unlisted" = true))]
    mode: Option<Mode>,
    /// The complete content, unless the mode is edit.
    #[schemars(extend("x-unlisted" = true))]
    content: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Edit {
    /// The exact text to replace; it must occur once.
    old_text: String,
    /// The replacement.
    new_text: String,
    /// The line where the old text is expected.
    #[schemars(range(min = 1), extend("x-unlisted" = true))]
    line: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Edit,
    Create,
    Overwrite,
    Write,
}

fn edit_file(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: EditFile = read(arguments.fields)?;
    let path = resolve_path(&fields.path, Paths::WithRootName, arguments.roots)?;
    let mode = fields.mode.unwrap_or(Mode::Edit);
    // An empty content is one for a file, and a placeholder beside edits.
    let content = fields.content.filter(|content| mode != Mode::Edit || !content.is_empty());
    let operations = match (mode, fields.edits, content) {
        (Mode::Edit, Some(edits), None) if edits.is_empty() => {
            return Err(ParseError::new("`edits` is an empty list", "Put at least one edit into it."));
        }
        (Mode::Edit, Some(edits), None) => edits.iter().map(Edit::operation).collect::<Result<_, _>>()?,
        (Mode::Create, None, Some(content)) => vec![Operation::Create { content }],
        (Mode::Overwrite | Mode::Write, None, Some(content)) => {
            vec![Operation::Overwrite { content, if_missing: IfMissing::Create }]
        }
        (Mode::Edit, ..) => {
            return Err(ParseError::new(
                "`edit_file` needs `edits` and nothing else besides `path`",
                format!("To write a whole file use `write_file`. Example: {}", EDIT_FILE.example),
            ));
        }
        _ => {
            return Err(ParseError::new(
                "this mode needs `content` and no `edits`",
                "Send the complete content with `write_file`, or `edits` without a mode.",
            ));
        }
    };
    let files = vec![FilePlan { path, version: None, operations }];
    let (description, warnings) = (fields.display_description, arguments.warnings);
    Ok(Plan::Edit(EditPlan { description, warnings, ..EditPlan::new(files, RULES) }))
}

impl Edit {
    /// The line decides between equal matches, as in a SEARCH/REPLACE block.
    fn operation(&self) -> Result<Operation, ParseError> {
        let (old, new) = (self.old_text.clone(), self.new_text.clone());
        match self.line {
            None => Ok(Operation::Replace { old, new, which: Which::Unique, within: None }),
            start_line => {
                replacement(&Block { search: whole_lines(old), replace: whole_lines(new), start_line })
            }
        }
    }
}

/// The text with a newline at its end, unless it is empty.
fn whole_lines(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

struct WriteFile;

impl Described for WriteFile {
    const SPEC: Spec = Spec {
        name: "write_file",
        example: r#"{"path": "app/notes/todo.md", "content": "- first\n"}"#,
        fields: &[PATH, content("content")],
        paths: Paths::WithRootName,
        ..Spec::WRITE
    };
}
