//! Tools that change cells of Jupyter notebooks: `NotebookEdit` of Claude Code and `edit_notebook_file` of VS Code.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::spec::{Paths, edit_plan, resolve_path};
use slipstitch_core::dialect::{Arguments, Effect, Tool, read, schema};
use slipstitch_core::plan::{CellChange, CellContent, CellEdit, CellPlace, Operation, ParseError, Plan};

/// Claude Code's tool.
pub(crate) const NOTEBOOK_EDIT: Tool = Tool {
    name: "NotebookEdit",
    aliases: &[],
    title: "Edit a notebook",
    about: "Replaces, inserts or deletes a cell of a Jupyter notebook.",
    effect: Effect::Edits,
    empty_is_value: &["new_source"],
    example: r#"{"notebook_path": "a.ipynb", "cell_id": "3fa1b2c4", "new_source": "x = 1\n"}"#,
    schema: schema::of::<NotebookEdit>,
    parse: notebook_edit,
};

/// VS Code's tool.
pub(crate) const EDIT_NOTEBOOK_FILE: Tool = Tool {
    name: "edit_notebook_file",
    aliases: &[],
    title: "Edit a notebook",
    about: "Edits, inserts or deletes a cell of a Jupyter notebook.",
    effect: Effect::Edits,
    empty_is_value: &["newCode"],
    example: r#"{"filePath": "a.ipynb", "editType": "edit", "cellId": "3fa1b2c4", "newCode": "x = 1\n"}"#,
    schema: schema::of::<EditNotebookFile>,
    parse: edit_notebook_file,
};

#[derive(Deserialize, JsonSchema)]
struct NotebookEdit {
    /// A path inside the root.
    notebook_path: String,
    /// The cell's new source.
    new_source: Option<String>,
    /// The cell's id, or cell-0 and so on if cells have none. A new cell goes after it; without it, to the top.
    cell_id: Option<String>,
    /// Of a new cell.
    cell_type: Option<CellType>,
    /// Default: replace.
    edit_mode: Option<EditMode>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CellType {
    Code,
    Markdown,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EditMode {
    Replace,
    Insert,
    Delete,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EditNotebookFile {
    /// The notebook, relative to the root or absolute.
    file_path: String,
    /// What to do.
    edit_type: EditType,
    /// The cell's id, or cell-0 and so on if cells have none. A new cell goes after it, or to TOP or BOTTOM.
    cell_id: Option<String>,
    /// The cell's new source.
    new_code: Option<String>,
    /// The cell's language, such as markdown or python.
    language: Option<String>,
    /// Has no effect here.
    #[schemars(extend("x-unlisted" = true))]
    #[expect(dead_code, reason = "accepted, because models that know the tool send it")]
    explanation: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EditType {
    Insert,
    Edit,
    Delete,
}

fn notebook_edit(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: NotebookEdit = read(arguments.fields)?;
    let needs = |field: &str| needs(field, NOTEBOOK_EDIT.example);
    let content = fields.cell_type.map(|kind| match kind {
        CellType::Code => CellContent::Code(None),
        CellType::Markdown => CellContent::Markdown,
    });
    let source = || fields.new_source.ok_or_else(|| needs("new_source"));
    let change = match fields.edit_mode.unwrap_or(EditMode::Replace) {
        EditMode::Replace => CellChange::Replace { source: source()?, content },
        EditMode::Insert => {
            CellChange::Insert { source: source()?, content: content.ok_or_else(|| needs("cell_type"))? }
        }
        EditMode::Delete => CellChange::Delete,
    };
    let place = match (fields.cell_id, &change) {
        (Some(id), _) => CellPlace::Id(id),
        (None, CellChange::Insert { .. }) => CellPlace::Start,
        (None, _) => return Err(needs("cell_id")),
    };
    let path = resolve_path(&fields.notebook_path, Paths::InRoot, arguments.roots)?;
    let operation = Operation::Cell(Box::new(CellEdit { place, change }));
    edit_plan(path, vec![operation], arguments.warnings)
}

fn edit_notebook_file(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: EditNotebookFile = read(arguments.fields)?;
    let needs = |field: &str| needs(field, EDIT_NOTEBOOK_FILE.example);
    let source = || fields.new_code.ok_or_else(|| needs("newCode"));
    let content = fields.language.map(|language| match language.to_ascii_lowercase().as_str() {
        "markdown" => CellContent::Markdown,
        "raw" => CellContent::Raw,
        _ => CellContent::Code(Some(language)),
    });
    let change = match fields.edit_type {
        EditType::Edit => CellChange::Replace { source: source()?, content },
        EditType::Insert => {
            CellChange::Insert { source: source()?, content: content.unwrap_or(CellContent::Code(None)) }
        }
        EditType::Delete => CellChange::Delete,
    };
    let id = fields.cell_id.ok_or_else(|| needs("cellId"))?;
    let is_insertion = fields.edit_type == EditType::Insert;
    let place = match id.to_ascii_uppercase().as_str() {
        "TOP" if is_insertion => CellPlace::Start,
        "BOTTOM" if is_insertion => CellPlace::End,
        _ => CellPlace::Id(id),
    };
    let path = resolve_path(&fields.file_path, Paths::InRoot, arguments.roots)?;
    let operation = Operation::Cell(Box::new(CellEdit { place, change }));
    edit_plan(path, vec![operation], arguments.warnings)
}

/// Source that was sent as a list of lines, as the tool in VS Code accepts it, becomes a text.
pub(crate) fn join_lines_of_code(tool: &Tool, call: &mut Value) {
    if tool.name != EDIT_NOTEBOOK_FILE.name {
        return;
    }
    let Some(code) = call.get_mut("newCode") else { return };
    let Value::Array(lines) = code else { return };
    let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
    if let Some(lines) = lines {
        *code = join_lines(&lines).into();
    }
}

/// The text of lines that were sent as a list, with or without their newlines. The last is left as it is.
fn join_lines(lines: &[&str]) -> String {
    let Some((last, others)) = lines.split_last() else { return String::new() };
    let others: String = others.iter().map(|line| end_line(line)).collect();
    others + last
}

/// An item of a list of lines, with a newline unless it was sent with one.
pub(crate) fn end_line(line: &str) -> String {
    if line.ends_with('\n') { line.into() } else { format!("{line}\n") }
}

fn needs(field: &str, example: &str) -> ParseError {
    ParseError::new(format!("`{field}` is missing"), format!("Example: {example}"))
}
