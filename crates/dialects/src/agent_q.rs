//! The `agent-q` dialect: one exact replacement per call, a description for the change log, and proposals for changes
//! that a user should review first.
//!
//! The specification defines `edit_file`; of the other tools it has only names and purposes.

mod fields;
mod render;

use crate::read_plan;
use fields::{
    CreateFile, DeleteFile, DirectoryTree, EditFile, GetFileInfo, GetProjectRoot, InsertAtLine,
    ListDirectory, MoveFile, ProposeFileEdit, ReadFile, SearchFiles,
};
use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, OtherName, Tool, ToolLabels, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath, RootName};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    ChangeLabels, EditPlan, EditRules, FilePlan, Footer, HiddenEntries, IfAlreadyApplied, IfMissing,
    InsertAfter, ListPlan, Operation, Overwriting, Plan, Review, SearchPlan, Shrink, Which,
};
use slipstitch_core::settings::AgentQ;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "agent-q",
    about: "The file tools of Agent-Q: edit_file for one exact replacement, propose_file_edit for user review, \
            insert_at_line, create_file, move_file, delete_file, and tools that read files and folders",
    tools: TOOLS,
    // The specification names the others.
    optional: &[CREATE_FILE, MOVE_FILE, DELETE_FILE, DIRECTORY_TREE, SEARCH_FILES, "get_project_root"],
    guide: GUIDE,
    // The names that later versions use in all of their tools.
    other_names: &[
        OtherName { tool: EDIT_FILE, other: "original", field: "old_str" },
        OtherName { tool: EDIT_FILE, other: "modified", field: "new_str" },
        OtherName { tool: MOVE_FILE, other: "path", field: "source" },
        OtherName { tool: MOVE_FILE, other: "new_path", field: "destination" },
    ],
    phrases: |_| PHRASES,
    labels: |tool| Some(labels(tool.name)),
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
const INSERT_AT_LINE: &str = "insert_at_line";
const PROPOSE_FILE_EDIT: &str = "propose_file_edit";
const CREATE_FILE: &str = "create_file";
const MOVE_FILE: &str = "move_file";
const DELETE_FILE: &str = "delete_file";
const LIST_DIRECTORY: &str = "list_directory";
const DIRECTORY_TREE: &str = "directory_tree";
const SEARCH_FILES: &str = "search_files";

/// Levels that `directory_tree` shows unless the call says how many.
const TREE_DEPTH: usize = 3;

/// What the specification says about `edit_file`, and its terms for the other tools.
fn labels(tool: &str) -> ToolLabels {
    match tool {
        EDIT_FILE | INSERT_AT_LINE | CREATE_FILE | MOVE_FILE => {
            ToolLabels { safety_level: "moderate", categories: &["filesystem", "editing"] }
        }
        PROPOSE_FILE_EDIT | DELETE_FILE => {
            ToolLabels { safety_level: "dangerous", categories: &["filesystem", "editing"] }
        }
        _ => ToolLabels { safety_level: "safe", categories: &["filesystem"] },
    }
}

/// The labels of a tool's changes. The definition of `edit_file` says `moderate`, but its changes are logged as `cautious`.
fn change_labels(tool: &str) -> ChangeLabels {
    let labels = labels(tool);
    labels.of_change(if labels.safety_level == "dangerous" { "dangerous" } else { "cautious" })
}

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
        about: "Proposes a change, which is written when the user accepts it. Use it for risky or large changes. \
                Safety level: dangerous.",
        effect: Effect::Replaces,
        empty_is_value: &["new_content", "modified"],
        example: r#"{"path": "src/agent.lisp", "new_content": "(in-package :agent)\n", "description": "Start over"}"#,
        schema: schema::of::<ProposeFileEdit>,
        parse: propose_file_edit,
    },
    Tool {
        name: INSERT_AT_LINE,
        aliases: &[],
        title: "Insert lines",
        about: "Inserts whole lines after a line number.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"path": "src/agent.lisp", "line": 3, "content": "(defvar *limit* 50)\n"}"#,
        schema: schema::of::<InsertAtLine>,
        parse: insert_at_line,
    },
    Tool {
        name: CREATE_FILE,
        aliases: &[],
        title: "Create a file",
        about: "Creates a file and its parent folders.",
        effect: Effect::Edits,
        empty_is_value: &["content"],
        example: r#"{"path": "src/limits.lisp", "content": "(in-package :agent)\n", "description": "Add the limits"}"#,
        schema: schema::of::<CreateFile>,
        parse: create_file,
    },
    Tool {
        name: MOVE_FILE,
        aliases: &[],
        title: "Move a file",
        about: "Moves or renames a file. The destination must not exist.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"source": "src/limits.lisp", "destination": "src/config.lisp"}"#,
        schema: schema::of::<MoveFile>,
        parse: move_file,
    },
    Tool {
        name: DELETE_FILE,
        aliases: &[],
        title: "Delete a file",
        about: "Proposes to delete a file. It is deleted when the user accepts the proposal.",
        effect: Effect::Replaces,
        empty_is_value: &[],
        example: r#"{"path": "src/limits.lisp", "description": "Unused"}"#,
        schema: schema::of::<DeleteFile>,
        parse: delete_file,
    },
    Tool {
        name: "read_file",
        aliases: &[],
        title: "Read a file",
        about: "Shows a file with line numbers.",
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
        about: "Shows a file's size, number of lines, line endings and encoding, and whether it is writable.",
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
        about: "Lists a folder, with file sizes.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: r#"{"path": "src"}"#,
        schema: schema::of::<ListDirectory>,
        parse: |arguments| {
            let fields: ListDirectory = read(arguments.fields)?;
            let plan = ListPlan::new(folder(fields.path, arguments.roots)?);
            let order = fields.sort_by.unwrap_or_default().into();
            Ok(Plan::List(ListPlan { hidden: hidden(fields.show_hidden), order, ..plan }))
        },
    },
    Tool {
        name: DIRECTORY_TREE,
        aliases: &[],
        title: "Show a directory tree",
        about: "Lists the files and folders below a folder, indented by level.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: r#"{"path": "src", "max_depth": 2}"#,
        schema: schema::of::<DirectoryTree>,
        parse: |arguments| {
            let fields: DirectoryTree = read(arguments.fields)?;
            let plan = ListPlan::new(folder(fields.path, arguments.roots)?);
            let depth = fields.max_depth.unwrap_or(TREE_DEPTH);
            Ok(Plan::List(ListPlan { hidden: hidden(fields.show_hidden), depth, ..plan }))
        },
    },
    Tool {
        name: SEARCH_FILES,
        aliases: &[],
        title: "Find files by name",
        about: "Finds files and folders whose names match a pattern, in a folder and below it.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: r#"{"pattern": "*.lisp", "path": "src"}"#,
        schema: schema::of::<SearchFiles>,
        parse: |arguments| {
            let fields: SearchFiles = read(arguments.fields)?;
            let folder = folder(fields.path, arguments.roots)?;
            let hidden = hidden(fields.show_hidden);
            Ok(Plan::Search(SearchPlan { folder, pattern: fields.pattern, hidden }))
        },
    },
    Tool {
        name: "get_project_root",
        aliases: &[],
        title: "Show the project root",
        about: "Returns the absolute path of the project root; relative paths start there.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: "{}",
        schema: schema::of::<GetProjectRoot>,
        parse: |_| Ok(Plan::ShowRoot),
    },
];

fn path(text: &str, roots: &[RootName]) -> Result<FilePath, ParseError> {
    Ok(FilePath::parse(text, roots, Absolute::InsideRoot)?)
}

/// The folder of an optional argument; `None` is the root.
fn folder(path: Option<String>, roots: &[RootName]) -> Result<Option<FilePath>, ParseError> {
    Ok(FilePath::parse_folder(path.as_deref().unwrap_or("."), roots, Absolute::InsideRoot)?)
}

fn hidden(show: Option<bool>) -> HiddenEntries {
    if show == Some(false) { HiddenEntries::LeftOut } else { HiddenEntries::Shown }
}

fn edit_file(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: EditFile = read(arguments.fields)?;
    let path = path(&fields.path, arguments.roots)?;
    let operation =
        Operation::Replace { old: fields.old_str, new: fields.new_str, which: Which::Unique, within: None };
    let review = review(fields.propose, &arguments.settings.agent_q);
    Ok(plan(EDIT_FILE, path, operation, fields.description, review, arguments.warnings))
}

fn propose_file_edit(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: ProposeFileEdit = read(arguments.fields)?;
    let path = path(&fields.path, arguments.roots)?;
    let (content, modified) = match (fields.new_content, fields.modified) {
        // An empty text beside another one is a placeholder.
        (Some(content), Some(modified)) if content.is_empty() != modified.is_empty() => {
            (Some(content).filter(|text| !text.is_empty()), Some(modified).filter(|text| !text.is_empty()))
        }
        texts => texts,
    };
    let operation = match (content, fields.original, modified) {
        (Some(content), None, None) | (None, None, Some(content)) => {
            Operation::Overwrite { content, if_missing: IfMissing::Fail }
        }
        // Whether `original` is the whole text or a part of it, it must be what the file has.
        (None, Some(old), Some(new)) => Operation::Replace { old, new, which: Which::Unique, within: None },
        _ => {
            return Err(ParseError::new(
                "the call needs either `new_content`, or `original` and `modified`",
                "Send the file's complete new text as `new_content`, or the text to replace as `original` and its replacement \
                 as `modified`.",
            ));
        }
    };
    let review = Review::Always { why: "propose_file_edit always requires a review".into() };
    Ok(plan(PROPOSE_FILE_EDIT, path, operation, fields.description, review, arguments.warnings))
}

fn create_file(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: CreateFile = read(arguments.fields)?;
    let path = path(&fields.path, arguments.roots)?;
    let operation = Operation::Create { content: fields.content.unwrap_or_default() };
    let review = review(None, &arguments.settings.agent_q);
    Ok(plan(CREATE_FILE, path, operation, fields.description, review, arguments.warnings))
}

fn move_file(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: MoveFile = read(arguments.fields)?;
    let source = path(&fields.source, arguments.roots)?;
    let to = path(&fields.destination, arguments.roots)?;
    let operation = Operation::Move { to, overwriting: Overwriting::Refused };
    let review = review(None, &arguments.settings.agent_q);
    Ok(plan(MOVE_FILE, source, operation, fields.description, review, arguments.warnings))
}

fn delete_file(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: DeleteFile = read(arguments.fields)?;
    let path = path(&fields.path, arguments.roots)?;
    let review = Review::Always { why: "delete_file always requires a review".into() };
    Ok(plan(DELETE_FILE, path, Operation::Delete, fields.description, review, arguments.warnings))
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
    Ok(plan(INSERT_AT_LINE, path, operation, fields.description, review, arguments.warnings))
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
    tool: &str,
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
        labels: Some(Box::new(change_labels(tool))),
        ..EditPlan::new(vec![FilePlan { path, version: None, operations: vec![operation] }], RULES)
    })
}
