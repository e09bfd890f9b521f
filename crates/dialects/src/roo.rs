//! The `roo` dialect: the edit tools of Roo Code.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer;
use crate::cline::WriteToFile;
use crate::phrases::writes_with;
use crate::spec::{
    Action, Described, EmptyOld, Field, Paths, Role, Spec, all, edit_plan, new, old, path, resolve_path, tool,
};
use slipstitch_core::dialect::{Arguments, Dialect, Effect, Tool, read, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::plan::{InsertAfter, Operation, ParseError, Plan};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "roo",
    about: "The tools of Roo Code: apply_diff, edit, edit_file, write_to_file, apply_patch",
    tools: &[
        tool::<ApplyDiff>(),
        tool::<Edit>(),
        tool::<EditFile>(),
        tool::<WriteToFile>(),
        tool::<ApplyPatch>(),
    ],
    // A model that knows `search_replace` finds `edit` in the list, which takes the same fields.
    unlisted: &[tool::<SearchReplace>(), INSERT_CONTENT],
    guide: "Change files with apply_diff or edit: the text to replace must occur exactly once, or its line must be given. \
            All changes of a call are applied or none.",
    phrases: |tool| HintPhrases {
        old: match tool.name {
            "apply_diff" => "the SEARCH text",
            "apply_patch" => "the hunk",
            _ => "`old_string`",
        },
        all: if tool.name == "edit" { Some("set `replace_all`") } else { None },
        within: if tool.name == "apply_diff" {
            Some("give the line where it starts after :start_line:")
        } else {
            None
        },
        ..writes_with!("write_to_file")
    },
    render: answer::render,
    ..Dialect::PLAIN
};

struct ApplyDiff;

impl Described for ApplyDiff {
    const SPEC: Spec = Spec {
        name: "apply_diff",
        title: "Edit a file with blocks",
        about: "Replaces text in a file by blocks: <<<<<<< SEARCH, :start_line:N, -------, the lines to find, =======, the \
                new lines, >>>>>>> REPLACE. All blocks are applied or none.",
        example: r#"{"path": "a.py", "diff": "<<<<<<< SEARCH\n:start_line:3\n-------\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE"}"#,
        action: Action::Blocks,
        fields: &[path("path"), Field::new("diff", Role::Patch, "The blocks, in order.")],
        ..Spec::REPLACE
    };
}

/// The base of the tools that replace a snippet.
const SEARCH_REPLACE: Spec = Spec {
    name: "search_replace",
    about: "Replaces text in a file.",
    example: r#"{"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}"#,
    fields: &[path("file_path"), old("old_string"), new("new_string")],
    ..Spec::REPLACE
};

struct Edit;

impl Described for Edit {
    const SPEC: Spec = Spec {
        name: "edit",
        aliases: &["search_and_replace"],
        fields: &[path("file_path"), old("old_string"), new("new_string"), all("replace_all")],
        ..SEARCH_REPLACE
    };
}

struct EditFile;

impl Described for EditFile {
    const SPEC: Spec = Spec {
        name: "edit_file",
        about: "Replaces text in a file. An empty old_string creates one.",
        action: Action::Replace(EmptyOld::Creates),
        fields: &[
            path("file_path"),
            old("old_string"),
            new("new_string"),
            Field::new("expected_replacements", Role::Expected, "How often it occurs, if not once.")
                .optional(),
        ],
        ..SEARCH_REPLACE
    };
}

struct SearchReplace;

impl Described for SearchReplace {
    const SPEC: Spec = SEARCH_REPLACE;
}

/// The older tool for insertions.
const INSERT_CONTENT: Tool = Tool {
    name: "insert_content",
    aliases: &[],
    title: "Insert lines",
    about: "Inserts lines before a line of a file, or at its end.",
    effect: Effect::Edits,
    empty_is_value: &[],
    example: r#"{"path": "a.py", "line": 1, "content": "import sys\n"}"#,
    schema: schema::of::<InsertContent>,
    parse: insert_content,
};

#[derive(Deserialize, JsonSchema)]
struct InsertContent {
    /// The file, relative to the root or absolute.
    path: String,
    /// The line to insert before, from 1; 0 appends.
    line: usize,
    /// The lines to insert.
    content: String,
}

fn insert_content(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: InsertContent = read(arguments.fields)?;
    let after = fields.line.checked_sub(1).map_or(InsertAfter::LastLine, InsertAfter::Line);
    let path = resolve_path(&fields.path, Paths::InRoot, arguments.roots)?;
    edit_plan(path, vec![Operation::InsertLines { after, text: fields.content }], arguments.warnings)
}

struct ApplyPatch;

impl Described for ApplyPatch {
    const SPEC: Spec = Spec {
        example: r#"{"patch": "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch"}"#,
        fields: &[Field::new("patch", Role::Patch, "The complete patch.")],
        ..Spec::APPLY_PATCH
    };
}
