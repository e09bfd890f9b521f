//! The `agent-q` dialect: one exact replacement per call, a description for the change log, and proposals for changes
//! that a user should review first.

mod render;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::read_plan;
use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath, RootName};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    EditPlan, EditRules, FilePlan, Footer, IfAlreadyApplied, IfMissing, InsertAfter, Operation, Plan, Review,
    Shrink, Which,
};
use slipstitch_core::settings::AgentQ;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "agent-q",
    about: "The file tools of Agent-Q: edit_file for one exact replacement, propose_file_edit for user review, \
            insert_at_line, read_file, get_file_info, list_directory",
    tools: TOOLS,
    guide: GUIDE,
    phrases: |_| PHRASES,
    render: render::render,
    ..Dialect::PLAIN
};

const GUIDE: &str = "\
    Read a file with read_file, then make one edit_file call per change; old_str must match exactly, including \
    whitespace, and occur exactly once. insert_at_line adds lines. Large changes and propose_file_edit wait for the \
    user's review. Give every change a `description`: it is recorded in the log.";

const PHRASES: HintPhrases = HintPhrases {
    old: "`old_str`",
    overwrite: Some("propose its new content with `propose_file_edit`"),
    append: Some("use `insert_at_line` with `line` -1"),
    fill: Some("use `insert_at_line` with `line` 0"),
    ..HintPhrases::NONE
};

const EDIT_FILE: &str = "edit_file";
const LIST_DIRECTORY: &str = "list_directory";
const PROPOSE_FILE_EDIT: &str = "propose_file_edit";

// Large changes are reviewed by a user, so the shrink guard would add nothing.
const RULES: EditRules =
    EditRules { shrink: Shrink::Allowed, if_already_applied: IfAlreadyApplied::NoMatch, ..EditRules::STRICT };

const TOOLS: &[Tool] = &[
    Tool {
        name: EDIT_FILE,
        aliases: &[],
        title: "Edit a file",
        about: "Make targeted edits to a file using exact string replacement. The old_str must match exactly once in the \
                file, whitespace and indentation included. For multiple changes, call multiple times. WARNING: This \
                modifies files. Changes are logged and may require approval; the answer says so when one does. \
                Safety level: moderate.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"path": "src/agent.lisp", "old_str": "(setf limit 50)", "new_str": "(setf limit 100)", "description": "Raise the limit"}"#,
        schema: schema::of::<EditFile>,
        parse: edit_file,
    },
    Tool {
        name: PROPOSE_FILE_EDIT,
        aliases: &[],
        title: "Propose new content for a file",
        about: "Proposes new content for a whole file. Nothing is written until the user has reviewed the diff and \
                accepted it. Use it for risky changes and changes in many places; for a single precise change use \
                edit_file. Safety level: dangerous.",
        effect: Effect::Replaces,
        empty_is_value: &[],
        example: r#"{"path": "src/agent.lisp", "new_content": "(in-package :agent)\n", "description": "Start over"}"#,
        schema: schema::of::<ProposeFileEdit>,
        parse: propose_file_edit,
    },
    Tool {
        name: "insert_at_line",
        aliases: &[],
        title: "Insert lines",
        about: "Inserts whole lines after a line number: 0 is the start of the file, -1 its end. Line numbers shift \
                after each change, so read the file first. Safety level: moderate.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"path": "src/agent.lisp", "line": 3, "content": "(defvar *limit* 50)\n"}"#,
        schema: schema::of::<InsertAtLine>,
        parse: insert_at_line,
    },
    Tool {
        name: "read_file",
        aliases: &[],
        title: "Read a file",
        about: "Shows a file's lines with their numbers; the numbers are not part of the text. Read a file before you \
                edit it. Safety level: safe.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: r#"{"path": "src/agent.lisp", "start_line": 1, "end_line": 80}"#,
        schema: schema::of::<ReadFile>,
        parse: |arguments| {
            let fields: ReadFile = read(arguments.fields)?;
            let path = path(&fields.path, arguments.roots)?;
            Ok(read_plan(path, [fields.start_line, fields.end_line], Footer::Unusual))
        },
    },
    Tool {
        name: "get_file_info",
        aliases: &[],
        title: "Describe a file",
        about: "Reports whether a file exists and is writable, its size, number of lines, line endings and encoding, \
                without its content. Safety level: safe.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: r#"{"path": "src/agent.lisp"}"#,
        schema: schema::of::<GetFileInfo>,
        parse: |arguments| {
            let fields: GetFileInfo = read(arguments.fields)?;
            Ok(Plan::Info(path(&fields.path, arguments.roots)?))
        },
    },
    Tool {
        name: LIST_DIRECTORY,
        aliases: &[],
        title: "List a folder",
        about: "Lists the files and folders in a folder, with file sizes. Safety level: safe.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: r#"{"path": "src"}"#,
        schema: schema::of::<ListDirectory>,
        parse: |arguments| {
            let fields: ListDirectory = read(arguments.fields)?;
            let folder = fields.path.as_deref().unwrap_or(".");
            Ok(Plan::List(FilePath::parse_folder(folder, arguments.roots, Absolute::InsideRoot)?))
        },
    },
];

#[derive(Deserialize, JsonSchema)]
struct EditFile {
    /// File path (relative to project root). The file must exist.
    path: String,
    /// Exact string to find (must be unique). Copy it from the file without line numbers, with its indentation.
    old_str: String,
    /// Replacement string. Empty deletes old_str.
    new_str: String,
    /// What this change does (for logging).
    description: Option<String>,
    /// If true, the user reviews the change before it is applied. Set it for a risky change or when the user asks for it.
    propose: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct ProposeFileEdit {
    /// File path (relative to project root). The file must exist.
    path: String,
    /// The complete new content of the file.
    new_content: String,
    /// What this change does (shown to the user who reviews it).
    description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct InsertAtLine {
    /// File path (relative to project root). The file must exist.
    path: String,
    /// Insert after this line, counting from 1. 0 is the start of the file, -1 its end.
    #[schemars(range(min = -1))]
    line: i64,
    /// The lines to insert. A missing final newline is added, except at the end of a file that has none.
    content: String,
    /// What this change does (for logging).
    description: Option<String>,
    /// If true, the user reviews the change before it is applied.
    propose: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct ReadFile {
    /// File path (relative to project root).
    path: String,
    /// The first line to show, counting from 1. Default: the start of the file.
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// The last line to show (inclusive). Default: the end of the file.
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
struct GetFileInfo {
    /// File path (relative to project root).
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct ListDirectory {
    /// Folder path (relative to project root). Default: the project root.
    path: Option<String>,
}

fn path(text: &str, roots: &[RootName]) -> Result<FilePath, ParseError> {
    Ok(FilePath::parse(text, roots, Absolute::InsideRoot)?)
}

fn edit_file(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: EditFile = read(arguments.fields)?;
    let path = path(&fields.path, arguments.roots)?;
    let operation =
        Operation::Replace { old: fields.old_str, new: fields.new_str, which: Which::Unique, within: None };
    let review = review(fields.propose, &arguments.settings.agent_q);
    Ok(plan(path, operation, fields.description, review, arguments.warnings))
}

fn propose_file_edit(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: ProposeFileEdit = read(arguments.fields)?;
    let path = path(&fields.path, arguments.roots)?;
    let operation = Operation::Overwrite { content: fields.new_content, if_missing: IfMissing::Fail };
    let review = Review::Always { why: "propose_file_edit always requires a review".into() };
    Ok(plan(path, operation, fields.description, review, arguments.warnings))
}

fn insert_at_line(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: InsertAtLine = read(arguments.fields)?;
    let path = path(&fields.path, arguments.roots)?;
    let text = fields.content;
    let operation = match usize::try_from(fields.line) {
        Ok(after) => Operation::InsertLines { after: after.into(), text },
        Err(_) if fields.line == -1 => Operation::InsertLines { after: InsertAfter::LastLine, text },
        Err(_) => {
            let message = format!("`line` is {}; the only negative value allowed is -1", fields.line);
            return Err(ParseError::new(
                message,
                "Send a line number, 0 for the start of the file, or -1 for its end.",
            ));
        }
    };
    let review = review(fields.propose, &arguments.settings.agent_q);
    Ok(plan(path, operation, fields.description, review, arguments.warnings))
}

/// Decides which edits become proposals: requested ones, all of them if the settings say so, otherwise large ones.
fn review(propose: Option<bool>, settings: &AgentQ) -> Review {
    if propose == Some(true) {
        return Review::Always { why: "the call requests a review".into() };
    }
    if settings.always_propose {
        return Review::Always { why: "the settings require a review of every edit".into() };
    }
    Review::OverLines { lines: settings.propose_over_lines }
}

fn plan(
    path: FilePath,
    operation: Operation,
    description: Option<String>,
    review: Review,
    warnings: Vec<String>,
) -> Plan {
    Plan::Edit(EditPlan {
        description,
        warnings,
        review,
        ..EditPlan::new(vec![FilePlan { path, version: None, operations: vec![operation] }], RULES)
    })
}
