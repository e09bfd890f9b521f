//! The `hashline` dialect: lines are named by number and hash, so an edit quotes nothing and a stale one is still noticed.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer;
use crate::spec::{Action, Described, Field, Role, Spec, content, path, tool};
use slipstitch_core::dialect::{Arguments, Dialect, Effect, Tool, read, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::plan::{
    EditPlan, EditRules, FilePlan, LineAnchor, LinePrefix, LineRange, Operation, ParseError, Plan, Which,
};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "hashline",
    about: "Lines named by number and hash: read shows LINE:HASH|text, edit takes LINE:HASH",
    tools: &[tool::<Read>(), EDIT, tool::<Write>()],
    guide: "read shows each line as LINE:HASH|text. To edit lines, send their LINE:HASH without the text. All anchors of a \
            call refer to the file as it was before the call. If the lines changed meanwhile, nothing is written and \
            the answer shows the new anchors.",
    phrases: |_| HintPhrases {
        old: "`old_text`",
        all: Some("set `all`"),
        create: Some("create the file with `write`"),
        overwrite: Some("overwrite it with `write`"),
        fill: Some("write it with `write`"),
        ..HintPhrases::NONE
    },
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

struct Write;

impl Described for Write {
    const SPEC: Spec = Spec {
        name: "write",
        example: r#"{"path": "notes/todo.md", "content": "- first\n"}"#,
        fields: &[path("path"), content("content")],
        ..Spec::WRITE
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
    insert_after: Option<InsertAfter>,
    /// Replaces quoted text.
    replace: Option<Replace>,
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
struct InsertAfter {
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
        match (item.set_line, item.replace_lines, item.insert_after, item.replace) {
            (Some(edit), None, None, None) => {
                let line = self.anchor(&edit.anchor)?;
                let new = self.without_anchors(number, edit.new_text);
                Ok(Operation::ReplaceLines {
                    lines: LineRange { first: line, last: line },
                    new,
                    expect: None,
                })
            }
            (None, Some(edit), None, None) => {
                let first = self.anchor(&edit.start_anchor)?;
                let last = edit.end_anchor.as_deref().map_or(Ok(first), |anchor| self.anchor(anchor))?;
                if last < first {
                    let message = format!("`end_anchor` ({last}) is before `start_anchor` ({first})");
                    return Err(ParseError::new(message, "Send the first and the last line of the range."));
                }
                let new = self.without_anchors(number, edit.new_text);
                Ok(Operation::ReplaceLines { lines: LineRange { first, last }, new, expect: None })
            }
            (None, None, Some(edit), None) => {
                let after = self.anchor(&edit.anchor)?.into();
                Ok(Operation::InsertLines { after, text: self.without_anchors(number, edit.text) })
            }
            (None, None, None, Some(edit)) => {
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

    /// The line that an anchor names; the anchor is kept to be checked.
    fn anchor(&mut self, text: &str) -> Result<usize, ParseError> {
        let anchor = parse_anchor(text)?;
        self.anchors.push(anchor);
        Ok(anchor.line)
    }

    /// New lines without the anchors that were copied with them, if every line has one.
    fn without_anchors(&mut self, number: usize, text: String) -> String {
        let has_anchor =
            |line: &str| line.split_once('|').is_some_and(|(start, _)| LineAnchor::parse(start).is_some());
        if text.is_empty() || !text.lines().all(has_anchor) {
            return text;
        }
        self.warnings.push(format!("edit {number}: the anchors in front of the new lines were removed"));
        let lines = text.split_inclusive('\n').filter_map(|line| line.split_once('|'));
        lines.map(|(_, rest)| rest).collect()
    }
}
