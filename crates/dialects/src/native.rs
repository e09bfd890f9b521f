//! The `native` dialect: Slipstitch's own tools, which combine the strengths of the other dialects.

mod fields;

use fields::{
    Common, EditFile, EditLines, GetFileInfo, LineEdit, PatchFiles, ReadFile, TextEdit, UndoEdit, WriteFile,
    WriteMode,
};

use crate::hashline::parse_anchor;
use crate::read_plan;
use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath, RootName};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::patch::{PatchDirection, PatchOptions};
use slipstitch_core::plan::{
    Choice, Direction, EditPlan, EditRules, FilePlan, Footer, IfMissing, LinePrefix, LineRange, Operation,
    OtherSessionsConsent, Plan, ReadPlan, Run, Separator, Target, Tolerance, UndoPlan, Which,
};
use slipstitch_text::VersionClaim;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "native",
    about: "Slipstitch's own tools: read, edit by text or by line, write, patch, undo",
    tools: TOOLS,
    optional: &["edit_lines", "undo_edit", "get_file_info"],
    guide: GUIDE,
    phrases: |tool| if tool.name == "patch" { PATCH_PHRASES } else { PHRASES },
    ..Dialect::PLAIN
};

const GUIDE: &str = "\
    Read a file before you edit it. All `edits` of a call are for the file as it was before the call. To edit several files \
    at once use patch. Send the `version` from the last answer if the file must not have changed since. If a refusal lists \
    candidates, send `candidate` with a number instead of the text.";

const PHRASES: HintPhrases = HintPhrases {
    choose: Some("send `candidate` with the number of the intended place instead of the text"),
    old: "`old_text`",
    within: Some("set `start_line` and `end_line` to the lines that contain it"),
    all: Some("set `replace_all`"),
    create: Some("create the file with `write_file`"),
    overwrite: Some("overwrite it with `write_file`"),
    confirm: None,
    append: Some("append with `write_file`"),
    fill: Some("write it with `write_file`"),
    ..HintPhrases::NONE
};

/// A patch has only its lines, so it cannot narrow the search.
const PATCH_PHRASES: HintPhrases = HintPhrases {
    old: "the hunk",
    within: None,
    all: None,
    choose: Some("send the same patch again with `candidate`, the number of the intended place"),
    ..PHRASES
};

const TOOLS: &[Tool] = &[
    Tool {
        name: "read_file",
        aliases: &[],
        title: "Read a file",
        about: "Shows a file with line numbers, which are not part of its text, and its version.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: r#"{"path": "src/main.rs", "start_line": 1, "end_line": 80}"#,
        schema: schema::of::<ReadFile>,
        parse: |arguments| {
            let fields: ReadFile = read(arguments.fields)?;
            let path = path(&fields.path, arguments.roots)?;
            let plan = read_plan(path, [fields.start_line, fields.end_line], Footer::Version);
            Ok(match plan {
                Plan::Read(plan) if fields.anchors == Some(true) => {
                    Plan::Read(ReadPlan { prefix: LinePrefix::Hash, ..plan })
                }
                plan => plan,
            })
        },
    },
    Tool {
        name: "edit_file",
        aliases: &[],
        title: "Edit a file by its text",
        about: "Replaces old_text, which must occur exactly once, with new_text. Copy old_text from the file, with its \
                indentation and enough surrounding lines.",
        effect: Effect::Edits,
        empty_is_value: &["new_text"],
        example: r#"{"path": "src/main.rs", "old_text": "let retries = 3;", "new_text": "let retries = 5;"}"#,
        schema: schema::of::<EditFile>,
        parse: edit_file,
    },
    Tool {
        name: "edit_lines",
        aliases: &[],
        title: "Edit a file by line numbers",
        about: "Replaces whole lines by number. All numbers refer to the current file.",
        effect: Effect::Edits,
        empty_is_value: &["new_text", "expect"],
        example: r#"{"path": "src/main.rs", "start_line": 10, "end_line": 12, "new_text": "    run();\n"}"#,
        schema: schema::of::<EditLines>,
        parse: edit_lines,
    },
    Tool {
        name: "write_file",
        aliases: &[],
        title: "Write a file",
        about: "Creates, overwrites, or adds to a file. To change part of a file use edit_file.",
        effect: Effect::Replaces,
        empty_is_value: &["content"],
        example: r#"{"path": "notes/todo.md", "content": "- first\n", "mode": "create"}"#,
        schema: schema::of::<WriteFile>,
        parse: write_file,
    },
    Tool {
        name: "patch",
        aliases: &[],
        title: "Apply a patch",
        about: "Changes, creates, deletes and renames files with a unified diff, a V4A patch (*** Begin Patch) or \
                SEARCH/REPLACE blocks below file names. All of it is applied or nothing. Line numbers need not be \
                correct; context must.",
        effect: Effect::Replaces,
        empty_is_value: &[],
        example: r#"{"patch": "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,2 +1,2 @@\n fn main() {\n-    run(3);\n+    run(5);\n"}"#,
        schema: schema::of::<PatchFiles>,
        parse: patch,
    },
    Tool {
        name: "undo_edit",
        aliases: &[],
        title: "Undo a change",
        about: "Undoes the given change, or the last one of this session. Later changes elsewhere are kept.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"change": "c12"}"#,
        schema: schema::of::<UndoEdit>,
        parse: |arguments| {
            let fields: UndoEdit = read(arguments.fields)?;
            let change = fields.change.as_deref().map(change_id).transpose()?;
            Ok(Plan::Undo(UndoPlan {
                target: change.map_or(Target::Last { path: None }, Target::Change),
                direction: Direction::Undo,
                run: run(fields.dry_run),
                others: OtherSessionsConsent::Needed,
            }))
        },
    },
    Tool {
        name: "get_file_info",
        aliases: &[],
        title: "Describe a file",
        about: "Describes a file: version, size, lines, line endings, encoding, whether it is writable.",
        effect: Effect::Reads,
        empty_is_value: &[],
        example: r#"{"path": "src/main.rs"}"#,
        schema: schema::of::<GetFileInfo>,
        parse: |arguments| {
            let fields: GetFileInfo = read(arguments.fields)?;
            Ok(Plan::Info(path(&fields.path, arguments.roots)?))
        },
    },
];

fn path(text: &str, roots: &[RootName]) -> Result<FilePath, ParseError> {
    Ok(FilePath::parse(text, roots, Absolute::InsideRoot)?)
}

fn run(dry: Option<bool>) -> Run {
    if dry == Some(true) { Run::Dry } else { Run::Real }
}

fn change_id(text: &str) -> Result<ChangeId, ParseError> {
    ChangeId::parse(text).ok_or_else(|| {
        ParseError::new(
            format!("`change` is \"{text}\", which is not a change id"),
            "Send the id from the answer to the edit, such as \"c12\", or omit it to undo the last change.",
        )
    })
}

/// Plans operations on one file.
fn plan(
    file: &str,
    common: Common,
    operations: Vec<Operation>,
    roots: &[RootName],
    warnings: Vec<String>,
) -> Result<Plan, ParseError> {
    let version = common.version.as_deref().map(VersionClaim::parse).transpose()?;
    Ok(Plan::Edit(EditPlan {
        run: run(common.dry_run),
        description: common.description,
        warnings,
        ..EditPlan::new(vec![FilePlan { path: path(file, roots)?, version, operations }], EditRules::NATIVE)
    }))
}

fn candidate_and_edit() -> ParseError {
    ParseError::new(
        "`candidate` was sent together with an edit",
        "Send only `candidate` to apply the refused edit there, or send the edit without it.",
    )
}

fn edit_file(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: EditFile = read(arguments.fields)?;
    // An empty `new_text` next to `edits` is a placeholder.
    let is_single = fields.old_text.is_some()
        || fields.new_text.as_ref().is_some_and(|text| !text.is_empty())
        || fields.replace_all == Some(true)
        || fields.start_line.or(fields.end_line).is_some();
    if let Some(number) = fields.candidate {
        if is_single || fields.edits.as_ref().is_some_and(|edits| !edits.is_empty()) {
            return Err(candidate_and_edit());
        }
        return plan(&fields.path, fields.common, Vec::new(), arguments.roots, arguments.warnings)
            .map(|plan| with_choice(plan, Choice::Taken(number)));
    }
    let edits = match (filled_list(fields.edits, is_single), fields.old_text, fields.new_text) {
        (Some(_), ..) if is_single => return Err(edits_and_single()),
        (Some(edits), ..) if edits.is_empty() => return Err(no_edits()),
        (Some(edits), ..) => edits,
        (None, Some(old_text), Some(new_text)) => vec![TextEdit {
            old_text,
            new_text,
            replace_all: fields.replace_all,
            start_line: fields.start_line,
            end_line: fields.end_line,
        }],
        (None, old, new) => {
            let missing = match (old.is_some(), new.is_some()) {
                (true, _) => "`new_text`",
                (_, true) => "`old_text`",
                _ => "`old_text` and `new_text`, or `edits`",
            };
            return Err(ParseError::new(
                format!("`edit_file` needs {missing}"),
                "To replace text, send both; an empty `new_text` deletes. To write a whole file use `write_file`; to edit by line number use `edit_lines`.",
            ));
        }
    };
    let operations = edits
        .into_iter()
        .map(|edit| {
            Ok(Operation::Replace {
                within: within(edit.start_line, edit.end_line)?,
                which: if edit.replace_all == Some(true) { Which::All } else { Which::Unique },
                old: edit.old_text,
                new: edit.new_text,
            })
        })
        .collect::<Result<_, ParseError>>()?;
    plan(&fields.path, fields.common, operations, arguments.roots, arguments.warnings)
        .map(|plan| with_choice(plan, Choice::Offered))
}

fn with_choice(plan: Plan, choice: Choice) -> Plan {
    match plan {
        Plan::Edit(plan) => Plan::Edit(EditPlan { choice, ..plan }),
        plan => plan,
    }
}

/// The list of edits. An empty list next to the fields of a single edit is a placeholder.
fn filled_list<T>(edits: Option<Vec<T>>, is_single: bool) -> Option<Vec<T>> {
    edits.filter(|edits| !(is_single && edits.is_empty()))
}

fn within(first: Option<usize>, last: Option<usize>) -> Result<Option<LineRange>, ParseError> {
    if first.is_none() && last.is_none() {
        return Ok(None);
    }
    range(first.unwrap_or(1), last.unwrap_or(usize::MAX)).map(Some)
}

fn range(first: usize, last: usize) -> Result<LineRange, ParseError> {
    if last < first {
        let message = format!("`end_line` ({last}) is before `start_line` ({first})");
        return Err(ParseError::new(
            message,
            "Send the first and the last line of the range; both are included.",
        ));
    }
    Ok(LineRange { first, last })
}

fn edits_and_single() -> ParseError {
    ParseError::new(
        "`edits` was sent together with fields of a single edit",
        "Put all changes into `edits`, or send one change without `edits`.",
    )
}

fn no_edits() -> ParseError {
    ParseError::new("`edits` is an empty list", "Put at least one edit into it.")
}

fn patch(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: PatchFiles = read(arguments.fields)?;
    let named = fields.path.as_deref().map(|text| path(text, arguments.roots)).transpose()?;
    let options = PatchOptions {
        format: None,
        parse_options: Default::default(),
        direction: PatchDirection::Forward,
        path: named.as_ref(),
        roots: arguments.roots,
        overwriting: arguments.settings.patch.overwriting(),
        tolerance: Tolerance::Recover,
    };
    let mut plan = slipstitch_core::plan::patch::plan(&fields.patch, &options)?;
    plan.choice = Choice::of(fields.candidate);
    plan.run = run(fields.dry_run);
    plan.description = fields.description;
    plan.warnings.splice(0..0, arguments.warnings);
    Ok(Plan::Edit(plan))
}

fn edit_lines(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: EditLines = read(arguments.fields)?;
    // An empty text next to `edits` is a placeholder.
    let filled = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let is_single =
        fields.start_line.or(fields.end_line).is_some() || filled(&fields.new_text) || filled(&fields.expect);
    let edits = match (filled_list(fields.edits, is_single), fields.start_line, fields.new_text) {
        (Some(_), ..) if is_single => return Err(edits_and_single()),
        (Some(edits), ..) if edits.is_empty() => return Err(no_edits()),
        (Some(edits), ..) => edits,
        (None, Some(start_line), Some(new_text)) => {
            vec![LineEdit { start_line, end_line: fields.end_line, new_text, expect: fields.expect }]
        }
        (None, start, new) => {
            let missing = match (start.is_some(), new.is_some()) {
                (true, _) => "`new_text`",
                (_, true) => "`start_line`",
                _ => "`start_line` and `new_text`, or `edits`",
            };
            return Err(ParseError::new(
                format!("`edit_lines` needs {missing}"),
                "Send the first line and the new lines; an empty `new_text` deletes.",
            ));
        }
    };
    let anchors = fields.anchors.unwrap_or_default();
    let anchors = anchors.iter().map(|text| parse_anchor(text)).collect::<Result<_, _>>()?;
    let operations = edits
        .into_iter()
        .map(|edit| {
            let lines = range(edit.start_line, edit.end_line.unwrap_or(edit.start_line))?;
            Ok(Operation::ReplaceLines { lines, new: edit.new_text, expect: edit.expect })
        })
        .collect::<Result<_, ParseError>>()?;
    plan(&fields.path, fields.common, operations, arguments.roots, arguments.warnings).map(
        |plan| match plan {
            Plan::Edit(plan) => Plan::Edit(EditPlan { anchors, ..plan }),
            plan => plan,
        },
    )
}

fn write_file(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: WriteFile = read(arguments.fields)?;
    let (text, if_missing, separator) = (fields.content, IfMissing::Create, Separator::Newline);
    let operation = match fields.mode {
        WriteMode::Create => Operation::Create { content: text },
        WriteMode::Overwrite => Operation::Overwrite { content: text, if_missing },
        WriteMode::Append => Operation::Append { text, separator, if_missing },
        WriteMode::Prepend => Operation::Prepend { text, separator, if_missing },
    };
    plan(&fields.path, fields.common, vec![operation], arguments.roots, arguments.warnings)
}
