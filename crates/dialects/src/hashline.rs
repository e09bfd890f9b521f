//! The `hashline` dialect: lines are named by number and hash, so an edit quotes nothing and a stale one is still noticed.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::answer;
use crate::goose::Write;
use crate::notebook::end_line;
use crate::phrases::writes_with;
use crate::spec::{Action, Described, Field, Role, Spec, path, tool};
use slipstitch_core::dialect::{Arguments, Dialect, Effect, OtherName, Tool, read, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::plan::{
    EditPlan, EditRules, FilePlan, InsertAfter, LineAnchor, LinePrefix, LineRange, Operation, ParseError,
    Plan, Which,
};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "hashline",
    about: "Lines named by number and hash: read shows LINE:HASH|text, edit takes LINE:HASH",
    tools: &[tool::<Read>(), EDIT, tool::<Write>()],
    guide: "read shows each line as LINE:HASH|text. To edit lines, send their LINE:HASH without the text. All anchors of a \
            call refer to the file as it was before the call. If the lines changed meanwhile, nothing is written and \
            the answer shows the new anchors.",
    other_names: &[OtherName { tool: "edit", other: "filePath", field: "path" }],
    modernize,
    phrases: |_| HintPhrases { old: "`old_text`", all: Some("set `all`"), ..writes_with!("write") },
    render: answer::render,
    ..Dialect::PLAIN
};

struct Read;

impl Described for Read {
    const SPEC: Spec = Spec {
        name: "read",
        about: "Shows a file as LINE:HASH|text.",
        example: r#"{"path": "src/main.py", "offset": 1, "limit": 80}"#,
        action: Action::Read(LinePrefix::Hash),
        fields: &[
            path("path"),
            Field::new("offset", Role::First, "The first line, from 1.").optional(),
            Field::new("limit", Role::Limit, "How many lines.").optional(),
        ],
        ..Spec::READ
    };
}

const EDIT: Tool = Tool {
    name: "edit",
    aliases: &[],
    title: "Edit a file by its lines",
    about: "Edits a file by lines named LINE:HASH, as read shows them. All anchors refer to the file before the call. Each \
            edit has one of set_line, replace_lines, insert_after and replace. All are applied or none.",
    effect: Effect::Edits,
    empty_is_value: &["new_text"],
    example: r#"{"path": "src/main.py", "edits": [{"set_line": {"anchor": "12:a3", "new_text": "retries = 5"}}]}"#,
    schema: schema::of::<Edit>,
    parse,
};

#[derive(Deserialize, JsonSchema)]
struct Edit {
    /// The file, relative to the root or absolute.
    path: String,
    /// The edits, each with one of these.
    edits: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
struct Item {
    /// Replaces one line.
    set_line: Option<SetLine>,
    /// Replaces a range of lines.
    replace_lines: Option<ReplaceLines>,
    /// Inserts lines after one.
    insert_after: Option<Insert>,
    /// Replaces quoted text.
    replace: Option<Replace>,
    /// The form of later versions, with the lines as one text.
    #[schemars(extend("x-unlisted" = true))]
    op: Option<Op>,
}

#[derive(Deserialize, JsonSchema)]
struct Op {
    /// What to do.
    op: OpName,
    /// The line; without it, the end or the start of the file.
    pos: Option<String>,
    /// The last line to replace.
    end: Option<String>,
    /// The new lines; empty deletes.
    new_text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OpName {
    Replace,
    Append,
    Prepend,
}

#[derive(Deserialize, JsonSchema)]
struct SetLine {
    /// The line, such as 12:a3.
    anchor: String,
    /// The new lines; empty deletes.
    new_text: String,
}

#[derive(Deserialize, JsonSchema)]
struct ReplaceLines {
    /// The first line.
    start_anchor: String,
    /// The last line. Default: the first.
    end_anchor: Option<String>,
    /// The new lines; empty deletes.
    new_text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Insert {
    /// The line before the new ones.
    anchor: String,
    /// The new lines.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Replace {
    /// The exact text; it must occur once.
    old_text: String,
    /// The replacement.
    new_text: String,
    /// Replace every occurrence.
    all: Option<bool>,
}

/// Copies of hashline have edits such as `{"op": "replace", "pos": "12#VK", "end": "14#BH", "lines": ["a", "b"]}`. Their hashes differ,
/// but callers copy anchors from what a read shows, and the operations are the same in all of them.
///
/// Fields that the form does not have stay in the edit, so that they are refused as in any other.
fn modernize(tool: &Tool, call: &mut Value) {
    if tool.name != EDIT.name {
        return;
    }
    for edit in call.get_mut("edits").and_then(Value::as_array_mut).into_iter().flatten() {
        let Value::Object(edit) = edit else { continue };
        if edit.get("op").is_none_or(is_empty) {
            // In an edit of another form, they are placeholders.
            edit.retain(|name, value| !(is_of_later_form(name) && is_empty(value)));
            continue;
        }
        if !edit["op"].is_string() {
            continue;
        }
        let Some(text) = edit.get("lines").and_then(text_of_lines) else { continue };
        edit.remove("lines");
        let fields = ["op", "pos", "end"].into_iter();
        let mut op: Map<String, Value> =
            fields.filter_map(|name| Some((name.into(), edit.remove(name)?))).collect();
        op.insert("new_text".into(), text.into());
        edit.insert("op".into(), op.into());
    }
}

fn is_of_later_form(field: &str) -> bool {
    matches!(field, "pos" | "end" | "lines")
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value == "" || value.as_array().is_some_and(Vec::is_empty)
}

/// The text of the later form's lines; `None` if they are not text.
fn text_of_lines(lines: &Value) -> Option<String> {
    match lines {
        Value::Null => Some(String::new()),
        Value::String(text) if text.is_empty() => Some(String::new()),
        Value::String(text) => Some(end_line(text)),
        Value::Array(lines) => lines.iter().map(|line| Some(end_line(line.as_str()?))).collect(),
        _ => None,
    }
}

fn parse(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: Edit = read(arguments.fields)?;
    let path = FilePath::parse(&fields.path, arguments.roots, Absolute::InsideRoot)?;
    if fields.edits.is_empty() {
        return Err(ParseError::new("`edits` is an empty list", "Put at least one edit into it."));
    }
    let mut reader = Reader { anchors: Vec::new(), warnings: arguments.warnings };
    let numbered = (1..).zip(fields.edits);
    let operations =
        numbered.map(|(number, item)| reader.operation(number, item)).collect::<Result<_, _>>()?;
    let files = vec![FilePlan { path, version: None, operations }];
    let plan = EditPlan::new(files, EditRules::NATIVE);
    Ok(Plan::Edit(EditPlan { anchors: reader.anchors, warnings: reader.warnings, ..plan }))
}

/// Parses `12:a3`.
pub(crate) fn parse_anchor(text: &str) -> Result<LineAnchor, ParseError> {
    LineAnchor::parse(text).ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        ParseError::new(
            format!("`{shown}` is not an anchor"),
            "Send the line's number and hash as they are shown in front of `|`, such as 12:a3.",
        )
    })
}

/// Reads the edits of a call.
struct Reader {
    anchors: Vec<LineAnchor>,
    warnings: Vec<String>,
}

impl Reader {
    fn operation(&mut self, number: usize, item: Item) -> Result<Operation, ParseError> {
        match (item.set_line, item.replace_lines, item.insert_after, item.replace, item.op) {
            (Some(edit), None, None, None, None) => {
                let line = self.anchor(&edit.anchor)?;
                let new = self.without_anchors(number, edit.new_text);
                Ok(Operation::ReplaceLines {
                    lines: LineRange { first: line, last: line },
                    new,
                    expect: None,
                })
            }
            (None, Some(edit), None, None, None) => {
                let lines = self.range(&edit.start_anchor, edit.end_anchor.as_deref())?;
                let new = self.without_anchors(number, edit.new_text);
                Ok(Operation::ReplaceLines { lines, new, expect: None })
            }
            (None, None, Some(edit), None, None) => {
                let after = self.anchor(&edit.anchor)?.into();
                Ok(Operation::InsertLines { after, text: self.without_anchors(number, edit.text) })
            }
            (None, None, None, None, Some(op)) => self.later_form(number, op),
            (None, None, None, Some(edit), None) => {
                let which = if edit.all == Some(true) { Which::All } else { Which::Unique };
                Ok(Operation::Replace { old: edit.old_text, new: edit.new_text, which, within: None })
            }
            _ => Err(ParseError::new(
                format!(
                    "edit {number} must have exactly one of `set_line`, `replace_lines`, `insert_after` and `replace`"
                ),
                format!("Put each change into an edit of its own. Example: {}", EDIT.example),
            )),
        }
    }

    fn later_form(&mut self, number: usize, edit: Op) -> Result<Operation, ParseError> {
        let text = self.without_anchors(number, edit.new_text);
        let after = match (edit.op, edit.pos) {
            (OpName::Replace, Some(pos)) => {
                let lines = self.range(&pos, edit.end.as_deref())?;
                return Ok(Operation::ReplaceLines { lines, new: text, expect: None });
            }
            (OpName::Replace, None) => {
                let message = format!("edit {number} replaces lines, but has no `pos`");
                return Err(ParseError::new(message, "Send the first line as `pos`, such as 12:a3."));
            }
            (OpName::Append, Some(pos)) => self.anchor(&pos)?.into(),
            (OpName::Append, None) => InsertAfter::LastLine,
            (OpName::Prepend, Some(pos)) => (self.anchor(&pos)? - 1).into(),
            (OpName::Prepend, None) => InsertAfter::Line(0),
        };
        Ok(Operation::InsertLines { after, text })
    }

    /// The lines between two anchors.
    fn range(&mut self, start: &str, end: Option<&str>) -> Result<LineRange, ParseError> {
        let first = self.anchor(start)?;
        let last = end.map_or(Ok(first), |anchor| self.anchor(anchor))?;
        if last < first {
            let message = format!("the range ends at line {last}, before its start at line {first}");
            return Err(ParseError::new(message, "Send the first and the last line of the range."));
        }
        Ok(LineRange { first, last })
    }

    /// The line that an anchor names; the anchor is kept to be checked.
    fn anchor(&mut self, text: &str) -> Result<usize, ParseError> {
        let anchor = parse_anchor(text)?;
        self.anchors.push(anchor);
        Ok(anchor.line)
    }

    /// New lines without the anchors that were copied with them, if every line has one.
    fn without_anchors(&mut self, number: usize, text: String) -> String {
        let lines = text.split_inclusive('\n').map(|line| Some(LineAnchor::split_from(line)?.1));
        match lines.collect::<Option<String>>() {
            Some(mut without) if !text.is_empty() => {
                self.warnings
                    .push(format!("edit {number}: the anchors in front of the new lines were removed"));
                // The last line is empty. It is a line, because its anchor says so.
                if !text.ends_with('\n') && (without.is_empty() || without.ends_with('\n')) {
                    without.push('\n');
                }
                without
            }
            _ => text,
        }
    }
}
