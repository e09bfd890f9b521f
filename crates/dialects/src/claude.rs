//! The `claude` dialect: the names that Claude models know from their training.

mod commands;
mod render;

use schemars::JsonSchema;
use serde::Deserialize;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Dialect, Effect, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath, RootName};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    Batch, EditPlan, EditRules, FilePlan, Folders, Footer, Matching, Missing, NewLineEnd, Operation,
    OverwriteConsent, Plan, ReadPlan, Which,
};

/// The dialect's line in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "claude",
    about: "The tools that Claude models were trained on: str_replace_based_edit_tool, Edit, MultiEdit, Write, Read",
    tools: TOOLS,
    phrases: |tool| if tool.name == commands::NAME { commands::PHRASES } else { PHRASES },
    example: |tool, call| if tool.name == commands::NAME { commands::example(call) } else { tool.example },
    render: render::render,
    ..Dialect::PLAIN
};

const PHRASES: HintPhrases = HintPhrases {
    old: "`old_string`",
    all: Some("set `replace_all`"),
    create: Some("create the file with `Write`"),
    overwrite: Some("overwrite it with `Write`"),
    fill: Some("write it with `Write`"),
    ..HintPhrases::NONE
};

/// The most text that one look answers with.
const READ_BUDGET: usize = 256 << 10;

const RULES: EditRules = EditRules {
    matching: Matching::Recover,
    batch: Batch::Sequential,
    context: 4,
    newline: NewLineEnd::Nearby,
    ..EditRules::STRICT
};

const TOOLS: &[Tool] = &[
    commands::TOOL,
    Tool {
        name: "Edit",
        aliases: &[],
        title: "Edit a file",
        about: "Replaces old_string by new_string in a file. old_string must be copied from the file without line \
                numbers and must occur there exactly once, unless replace_all is set. An empty old_string makes a file \
                that is missing or empty. For several changes to one file use MultiEdit; to write a whole file use \
                Write.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"file_path": "src/main.py", "old_string": "retries = 3", "new_string": "retries = 5"}"#,
        schema: schema::of::<Edit>,
        parse: |arguments| {
            let fields: Edit = read(arguments.fields)?;
            if fields.old_string.is_empty() {
                return first_text(&fields.file_path, fields.new_string, arguments.roots, arguments.warnings);
            }
            let edit = StringEdit {
                old_string: fields.old_string,
                new_string: fields.new_string,
                replace_all: fields.replace_all,
            };
            edit_plan(&fields.file_path, vec![edit.operation()], arguments.roots, arguments.warnings)
        },
    },
    Tool {
        name: "MultiEdit",
        aliases: &[],
        title: "Edit a file in several places",
        about: "Makes several replacements in one file, one after the other: each sees what the ones before it left. \
                If one of them fails, nothing is written.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"file_path": "src/main.py", "edits": [{"old_string": "import os", "new_string": "import os\nimport sys"}, {"old_string": "retries = 3", "new_string": "retries = 5"}]}"#,
        schema: schema::of::<MultiEdit>,
        parse: |arguments| {
            let fields: MultiEdit = read(arguments.fields)?;
            if fields.edits.is_empty() {
                return Err(ParseError::new("`edits` is an empty list", "Put at least one edit into it."));
            }
            let operations = fields.edits.into_iter().map(StringEdit::operation).collect();
            edit_plan(&fields.file_path, operations, arguments.roots, arguments.warnings)
        },
    },
    Tool {
        name: "Write",
        aliases: &[],
        title: "Write a file",
        about: "Makes a file with the content given, and its folders; a file that is there is overwritten as a whole. \
                To change part of a file use Edit.",
        effect: Effect::Replaces,
        empty_is_value: &[],
        example: r#"{"file_path": "notes/todo.md", "content": "- first\n"}"#,
        schema: schema::of::<Write>,
        parse: |arguments| {
            let fields: Write = read(arguments.fields)?;
            let operation = Operation::Overwrite { content: fields.content, missing: Missing::Create };
            edit_plan(&fields.file_path, vec![operation], arguments.roots, arguments.warnings)
        },
    },
    Tool {
        name: "Read",
        aliases: &[],
        title: "Read a file",
        about: "Shows a file's lines with their numbers; the numbers are not part of the text. A folder is listed. For \
                part of a long file give offset and limit.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: r#"{"file_path": "src/main.py", "offset": 100, "limit": 50}"#,
        schema: schema::of::<Read>,
        parse: |arguments| {
            let fields: Read = read(arguments.fields)?;
            let first = fields.offset.map(|offset| offset.max(1));
            let last = fields.limit.map(|limit| first.unwrap_or(1).saturating_add(limit - 1));
            view(&fields.file_path, first, last, arguments.roots)
        },
    },
];

#[derive(Deserialize, JsonSchema)]
struct Edit {
    /// The file: an absolute path beneath the root, or one relative to the root.
    file_path: String,
    /// The text to replace, copied from the file without line numbers. Empty only for a file that is missing or empty,
    /// which then gets new_string as its text.
    old_string: String,
    /// The text to put there. Empty deletes old_string.
    new_string: String,
    /// Replace every occurrence of old_string instead of exactly one.
    replace_all: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct MultiEdit {
    /// The file: an absolute path beneath the root, or one relative to the root.
    file_path: String,
    /// The replacements, in the order in which they are made.
    edits: Vec<StringEdit>,
}

#[derive(Deserialize, JsonSchema)]
struct StringEdit {
    /// The text to replace, as it stands after the edits before this one.
    old_string: String,
    /// The text to put there. Empty deletes old_string.
    new_string: String,
    /// Replace every occurrence of old_string instead of exactly one.
    replace_all: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct Write {
    /// The file: an absolute path beneath the root, or one relative to the root.
    file_path: String,
    /// The whole content of the file.
    content: String,
}

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// The file or folder: an absolute path beneath the root, or one relative to the root.
    file_path: String,
    /// The first line to show, counting from 1. Default: the start of the file.
    offset: Option<usize>,
    /// How many lines to show. Default: all of them.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

impl StringEdit {
    fn operation(self) -> Operation {
        Operation::Replace {
            old: self.old_string,
            new: self.new_string,
            which: if self.replace_all == Some(true) { Which::All } else { Which::Unique },
            within: None,
        }
    }
}

/// One file's operations as a plan.
fn edit_plan(
    path: &str,
    operations: Vec<Operation>,
    roots: &[RootName],
    warnings: Vec<String>,
) -> Result<Plan, ParseError> {
    let path = FilePath::parse(path, roots, Absolute::InsideRoot)?;
    Ok(Plan::Edit(EditPlan {
        warnings,
        ..EditPlan::new(vec![FilePlan { path, version: None, operations }], RULES)
    }))
}

/// The text of a file that is missing or empty. One that has text is not overwritten by this.
fn first_text(
    path: &str,
    content: String,
    roots: &[RootName],
    warnings: Vec<String>,
) -> Result<Plan, ParseError> {
    let path = FilePath::parse(path, roots, Absolute::InsideRoot)?;
    let operations = vec![Operation::Overwrite { content, missing: Missing::Create }];
    let rules = EditRules { overwrite: OverwriteConsent::Lacking, ..RULES };
    Ok(Plan::Edit(EditPlan {
        warnings,
        ..EditPlan::new(vec![FilePlan { path, version: None, operations }], rules)
    }))
}

/// A look at a file's lines, or at what a folder holds.
fn view(
    path: &str,
    first: Option<usize>,
    last: Option<usize>,
    roots: &[RootName],
) -> Result<Plan, ParseError> {
    let Some(path) = FilePath::parse_folder(path, roots, Absolute::InsideRoot)? else {
        return Ok(Plan::List(None));
    };
    let (folders, footer) = (Folders::Listed, Footer::Unusual);
    Ok(Plan::Read(ReadPlan { path, first, last, budget: READ_BUDGET, folders, footer }))
}
