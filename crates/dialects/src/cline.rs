//! The `cline` dialect: the edit tools of Cline, with the older ones that take SEARCH/REPLACE blocks.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer;
use crate::phrases::writes_with;
use crate::spec::{
    Action, Described, Field, Paths, Role, Spec, content, edit_plan, path, resolve_path, tool,
};
use slipstitch_core::dialect::{Arguments, Dialect, Effect, Tool, read, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::plan::{Operation, ParseError, Plan, Which};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "cline",
    about: "The tools of Cline: editor, replace_in_file, write_to_file, apply_patch",
    tools: &[EDITOR, tool::<ReplaceInFile>(), tool::<WriteToFile>(), tool::<ApplyPatch>()],
    guide: "Change a file with editor, or several places of it with replace_in_file; the text to replace must occur \
            exactly once.",
    phrases: |tool| HintPhrases {
        old: match tool.name {
            "replace_in_file" => "the SEARCH text",
            "apply_patch" => "the hunk",
            _ => "`old_text`",
        },
        ..writes_with!("write_to_file")
    },
    render: answer::render,
    ..Dialect::PLAIN
};

const EDITOR: Tool = Tool {
    name: "editor",
    aliases: &[],
    title: "Edit a file",
    about: "Replaces old_text, inserts new_text before insert_line, or with neither creates a file.",
    effect: Effect::Edits,
    empty_is_value: &[],
    example: r#"{"path": "src/main.py", "old_text": "retries = 3", "new_text": "retries = 5"}"#,
    schema: schema::of::<Editor>,
    parse: editor,
};

#[derive(Deserialize, JsonSchema)]
struct Editor {
    /// The file, relative to the root or absolute.
    path: String,
    /// The new text.
    new_text: String,
    /// The exact text to replace; it must occur once.
    old_text: Option<String>,
    /// The line to insert before, from 1; one more than the last line appends.
    #[schemars(range(min = 1))]
    insert_line: Option<usize>,
}

fn editor(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: Editor = read(arguments.fields)?;
    let operation = match (fields.old_text, fields.insert_line) {
        (Some(_), Some(_)) => {
            return Err(ParseError::new(
                "`old_text` and `insert_line` were both sent",
                "Send `old_text` to replace text, or `insert_line` to insert before a line.",
            ));
        }
        (Some(old), None) => {
            Operation::Replace { old, new: fields.new_text, which: Which::Unique, within: None }
        }
        (None, Some(line)) => Operation::InsertLines { after: (line - 1).into(), text: fields.new_text },
        (None, None) => Operation::Create { content: fields.new_text },
    };
    let path = resolve_path(&fields.path, Paths::InRoot, arguments.roots)?;
    edit_plan(path, vec![operation], arguments.warnings)
}

struct ReplaceInFile;

impl Described for ReplaceInFile {
    const SPEC: Spec = Spec {
        name: "replace_in_file",
        title: "Edit a file with blocks",
        about: "Replaces text in a file by blocks, in the order of the file: ------- SEARCH, the exact lines to find, \
                =======, the new lines, +++++++ REPLACE. All blocks are applied or none.",
        example: r#"{"path": "a.py", "diff": "------- SEARCH\nx = 1\n=======\nx = 2\n+++++++ REPLACE"}"#,
        action: Action::Blocks,
        fields: &[path("path"), Field::new("diff", Role::Patch, "The blocks, in order.")],
        ..Spec::REPLACE
    };
}

/// The same in Roo Code, a fork.
pub(super) struct WriteToFile;

impl Described for WriteToFile {
    const SPEC: Spec = Spec {
        name: "write_to_file",
        example: r#"{"path": "notes/todo.md", "content": "- first\n"}"#,
        fields: &[
            path("path"),
            content("content"),
            Field::new("line_count", Role::Unused("integer"), "Has no effect here.").unlisted(),
        ],
        ..Spec::WRITE
    };
}

struct ApplyPatch;

impl Described for ApplyPatch {
    const SPEC: Spec = Spec {
        example: r#"{"input": "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch"}"#,
        fields: &[Field::new("input", Role::Patch, "The complete patch.")],
        ..Spec::APPLY_PATCH
    };
}
