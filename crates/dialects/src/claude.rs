//! The `claude` dialect: the tool names and fields that Claude models were trained on.

pub(crate) mod commands;
mod render;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::notebook::NOTEBOOK_EDIT;
use crate::phrases::writes_with;
use crate::read_budget;
use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Dialect, Effect, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath, RootName};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    Batch, Choice, EditPlan, EditRules, FilePlan, Folders, Footer, IfMissing, LinePrefix, ListPlan,
    Operation, OverwriteConsent, Plan, ReadOn, ReadPlan, Tolerance, Which,
};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "claude",
    about: "The tools that Claude models were trained on: str_replace_based_edit_tool, Edit, MultiEdit, Write, Read, NotebookEdit",
    tools: TOOLS,
    // Claude models of 2026 no longer have the first, and most sessions have no notebooks.
    optional: &[MULTI_EDIT, NOTEBOOK_EDIT.name],
    guide: GUIDE,
    phrases: |tool| if tool.name == commands::NAME { commands::PHRASES } else { PHRASES },
    example: |tool, call| if tool.name == commands::NAME { commands::example(call) } else { tool.example },
    render: render::render,
    ..Dialect::PLAIN
};

const GUIDE: &str = "\
    Read a file before you edit it. With Edit and str_replace, the old text must occur exactly once; if it does not, \
    include more surrounding lines or use replace_all.";

const PHRASES: HintPhrases = HintPhrases {
    old: "`old_string`",
    choose: Some("send the same call again with `candidate`, the number of the intended place"),
    all: Some("set `replace_all`"),
    ..writes_with!("Write")
};

const RULES: EditRules =
    EditRules { tolerance: Tolerance::Recover, batch: Batch::Sequential, context: 4, ..EditRules::STRICT };

const MULTI_EDIT: &str = "MultiEdit";
const WRITE: &str = "Write";

const TOOLS: &[Tool] = &[
    commands::TOOL,
    Tool {
        name: "Edit",
        aliases: &[],
        title: "Edit a file",
        about: "Replaces old_string, which must occur exactly once, with new_string.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"file_path": "src/main.py", "old_string": "retries = 3", "new_string": "retries = 5"}"#,
        schema: schema::of::<Edit>,
        parse: |arguments| {
            let fields: Edit = read(arguments.fields)?;
            if fields.old_string.is_empty() {
                return fill_plan(&fields.file_path, fields.new_string, arguments.roots, arguments.warnings);
            }
            let edit = StringEdit {
                old_string: fields.old_string,
                new_string: fields.new_string,
                replace_all: fields.replace_all,
            };
            let mut plan =
                edit_plan(&fields.file_path, vec![edit.operation()], arguments.roots, arguments.warnings)?;
            if let Plan::Edit(plan) = &mut plan {
                plan.choice = Choice::of(fields.candidate);
            }
            Ok(plan)
        },
    },
    Tool {
        name: MULTI_EDIT,
        aliases: &[],
        title: "Edit a file in several places",
        about: "Makes several replacements in one file, in order, all or none.",
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
        name: WRITE,
        aliases: &[],
        title: "Write a file",
        about: "Creates or overwrites a file.",
        effect: Effect::Replaces,
        empty_is_value: &[],
        example: r#"{"file_path": "notes/todo.md", "content": "- first\n"}"#,
        schema: schema::of::<Write>,
        parse: |arguments| {
            let fields: Write = read(arguments.fields)?;
            let operation = Operation::Overwrite { content: fields.content, if_missing: IfMissing::Create };
            edit_plan(&fields.file_path, vec![operation], arguments.roots, arguments.warnings)
        },
    },
    Tool {
        name: "Read",
        aliases: &[],
        title: "Read a file",
        about: "Shows a file with line numbers, which are not part of its text, or lists a folder.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: r#"{"file_path": "src/main.py", "offset": 100, "limit": 50}"#,
        schema: schema::of::<Read>,
        parse: |arguments| {
            let fields: Read = read(arguments.fields)?;
            let first = fields.offset.map(|offset| offset.max(1));
            let last = fields.limit.map(|limit| first.unwrap_or(1).saturating_add(limit - 1));
            view_plan(&fields.file_path, first, last, arguments.roots)
        },
    },
    NOTEBOOK_EDIT,
];

#[derive(Deserialize, JsonSchema)]
struct Edit {
    /// A path inside the root.
    file_path: String,
    /// The exact text to replace. Empty creates the file with new_string.
    old_string: String,
    /// Its replacement; empty deletes.
    new_string: String,
    /// Replace every occurrence.
    replace_all: Option<bool>,
    /// With the same edit again: the number of a candidate that a refusal listed.
    #[schemars(range(min = 1))]
    candidate: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
struct MultiEdit {
    /// A path inside the root.
    file_path: String,
    /// The replacements, in order.
    edits: Vec<StringEdit>,
}

#[derive(Deserialize, JsonSchema)]
struct StringEdit {
    /// The exact text to replace, after the previous edits.
    old_string: String,
    /// Its replacement; empty deletes.
    new_string: String,
    /// Replace every occurrence.
    replace_all: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct Write {
    /// A path inside the root.
    file_path: String,
    /// The whole content.
    content: String,
}

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// A file or folder inside the root.
    file_path: String,
    /// First line to show, from 1.
    offset: Option<usize>,
    /// Number of lines to show.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    /// Pages of a PDF; has no effect here.
    #[schemars(extend("x-unlisted" = true))]
    #[expect(dead_code, reason = "accepted, because models that know the tool send it")]
    pages: Option<String>,
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

/// Plans operations on one file.
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

/// Plans the first content of a file. A file that already has text is refused.
fn fill_plan(
    path: &str,
    content: String,
    roots: &[RootName],
    warnings: Vec<String>,
) -> Result<Plan, ParseError> {
    let path = FilePath::parse(path, roots, Absolute::InsideRoot)?;
    let operations = vec![Operation::Overwrite { content, if_missing: IfMissing::Create }];
    let rules = EditRules { overwrite: OverwriteConsent::Lacking, ..RULES };
    Ok(Plan::Edit(EditPlan {
        warnings,
        ..EditPlan::new(vec![FilePlan { path, version: None, operations }], rules)
    }))
}

/// Plans a read of a file's lines or of a folder's entries.
fn view_plan(
    path: &str,
    first: Option<usize>,
    last: Option<usize>,
    roots: &[RootName],
) -> Result<Plan, ParseError> {
    let Some(path) = FilePath::parse_folder(path, roots, Absolute::InsideRoot)? else {
        return Ok(Plan::List(ListPlan::new(None)));
    };
    let (folders, footer) = (Folders::Listed, Footer::Unusual);
    let (prefix, budget) = (LinePrefix::Number, read_budget(last));
    Ok(Plan::Read(ReadPlan { path, first, last, budget, folders, footer, prefix, read_on: ReadOn::Line }))
}
