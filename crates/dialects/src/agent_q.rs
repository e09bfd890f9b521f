//! The `agent-q` dialect: one exact replacement at a time, with words for the log, and proposals for
//! what a person should see first.

mod render;

use schemars::JsonSchema;
use serde::Deserialize;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath, RootName};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    EditPlan, EditRules, FilePlan, Folders, Footer, InsertAfter, Missing, Operation, Plan, ReadPlan,
    Repeated, Review, Shrink, Which,
};
use slipstitch_core::settings::AgentQ;

/// The dialect's line in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "agent-q",
    about: "The file tools of Agent-Q: edit_file for one exact replacement, propose_file_edit for a review, \
            insert_at_line, read_file, get_file_info, list_directory",
    tools: TOOLS,
    phrases: |_| PHRASES,
    render: render::render,
    ..Dialect::PLAIN
};

const PHRASES: HintPhrases = HintPhrases {
    old: "`old_str`",
    overwrite: Some("propose its new text with `propose_file_edit`"),
    append: Some("use `insert_at_line` with the line -1"),
    fill: Some("use `insert_at_line` with the line 0"),
    ..HintPhrases::NONE
};

const EDIT_FILE: &str = "edit_file";
const LIST_DIRECTORY: &str = "list_directory";
const PROPOSE_FILE_EDIT: &str = "propose_file_edit";

/// The most text that one read answers with.
const READ_BUDGET: usize = 256 << 10;

// Large changes go to a person, so the shrink guard has nothing to add.
const RULES: EditRules =
    EditRules { shrink: Shrink::Allowed, repeated: Repeated::NoMatch, ..EditRules::STRICT };

const TOOLS: &[Tool] = &[
    Tool {
        name: EDIT_FILE,
        aliases: &[],
        title: "Edit a file",
        about: "Edits a file by exact string replacement: old_str must stand in the file exactly once, white space and \
                indentation included, and new_str takes its place. Make one call per change. WARNING: this writes to \
                the file. Every change is logged; a large one waits for the user's approval, and the answer then \
                says so. Safety level: moderate.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"path": "src/agent.lisp", "old_str": "(setf limit 50)", "new_str": "(setf limit 100)", "description": "Raise the limit"}"#,
        schema: schema::of::<EditFile>,
        parse: edit_file,
    },
    Tool {
        name: PROPOSE_FILE_EDIT,
        aliases: &[],
        title: "Propose a new text of a file",
        about: "Proposes a new text for a whole file. Nothing is written: the user sees the diff and accepts or rejects \
                it. For changes in many places and for risky ones; for a single precise change use edit_file. Safety \
                level: dangerous.",
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
        about: "Inserts whole lines after a line number: 0 is the start of the file, -1 its end. Numbers shift after \
                each change, so read the file first. Safety level: moderate.",
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
            Ok(Plan::Read(ReadPlan {
                path: path(&fields.path, arguments.roots)?,
                first: fields.start_line,
                last: fields.end_line,
                budget: READ_BUDGET,
                folders: Folders::Refused,
                footer: Footer::Unusual,
            }))
        },
    },
    Tool {
        name: "get_file_info",
        aliases: &[],
        title: "Describe a file",
        about: "Tells whether a file is there and can be written, its size, lines, line ends and encoding, without \
                showing its text. Safety level: safe.",
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
        about: "Lists the files and folders in a folder, with the sizes of the files. Safety level: safe.",
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
    /// true has the user review the change before it is made. Set it when the user asks for that, or for a risky change.
    propose: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct ProposeFileEdit {
    /// File path (relative to project root). The file must exist.
    path: String,
    /// The whole new text of the file, from its first line to its last.
    new_content: String,
    /// What this change does, for the user who reviews it.
    description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct InsertAtLine {
    /// File path (relative to project root). The file must exist.
    path: String,
    /// The line after which the lines go, counting from 1. 0 is the start of the file, -1 its end.
    #[schemars(range(min = -1))]
    line: i64,
    /// The lines to insert. A newline at the end is added if it is missing; at the end of a file without one it is
    /// left out.
    content: String,
    /// What this change does (for logging).
    description: Option<String>,
    /// true has the user review the change before it is made.
    propose: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct ReadFile {
    /// File path (relative to project root).
    path: String,
    /// The first line to show, counting from 1. Default: the start of the file.
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// The last line to show, itself included. Default: the end of the file.
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
    let operation = Operation::Overwrite { content: fields.new_content, missing: Missing::Fail };
    let review = Review::Always { why: "propose_file_edit always waits for a review".into() };
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
            let message = format!("`line` is {}, and only -1 counts from the end", fields.line);
            return Err(ParseError::new(message, "Send 0 for the start, -1 for the end, or a line number."));
        }
    };
    let review = review(fields.propose, &arguments.settings.agent_q);
    Ok(plan(path, operation, fields.description, review, arguments.warnings))
}

/// Which edits become proposals: those asked for, all if the settings say so, else the large ones.
fn review(propose: Option<bool>, settings: &AgentQ) -> Review {
    if propose == Some(true) {
        return Review::Always { why: "the call asks for a review".into() };
    }
    if settings.always_propose {
        return Review::Always { why: "the settings ask for a review of every edit".into() };
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
