//! The `nexus3` dialect: text and line numbers in two tools that cannot be confused, and batches
//! that are made in order and told in the file's original line numbers.

mod patch;
mod render;

use schemars::JsonSchema;
use serde::Deserialize;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, MovedFields, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath, RootName};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    Batch, EditPlan, EditRules, FilePlan, LineRange, Operation, Plan, Shrink, Which,
};

/// The dialect's line in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "nexus3",
    about: "The tools of NEXUS3: edit_file for text, one edit or an ordered batch; edit_lines for line numbers; patch for unified diffs",
    tools: TOOLS,
    moved_fields: &[
        MovedFields {
            from: EDIT_FILE,
            to: EDIT_LINES,
            fields: &["start_line", "end_line", "new_content"],
            message: "edit_file no longer supports line-based editing. Use edit_lines(path, start_line, new_content) instead.",
        },
        MovedFields {
            from: EDIT_LINES,
            to: EDIT_FILE,
            fields: &["old_string", "new_string", "replace_all", "edits"],
            message: "edit_lines does not replace strings. Use edit_file(path, old_string, new_string) instead.",
        },
    ],
    phrases: |_| PHRASES,
    render: render::render,
    ..Dialect::PLAIN
};

const PHRASES: HintPhrases =
    HintPhrases { old: "`old_string`", all: Some("set `replace_all`"), ..HintPhrases::NONE };

const EDIT_FILE: &str = "edit_file";
const EDIT_LINES: &str = "edit_lines";

const RULES: EditRules = EditRules { batch: Batch::SequentialInOriginal, ..EditRules::STRICT };

const TOOLS: &[Tool] = &[
    Tool {
        name: EDIT_FILE,
        aliases: &[],
        title: "Edit a file by its text",
        about: "Replaces a string in a file. old_string must occur exactly once, character for character; add \
                surrounding lines until it does, or set replace_all. Several replacements in one file go into \
                edits: they are made in the order given, each must occur in the file as it is now, and if one of \
                them fails nothing is written.",
        effect: Effect::Edits,
        empty_is_value: &["new_string"],
        example: r#"{"path": "foo.py", "old_string": "import os", "new_string": "import os\nimport sys"}"#,
        schema: schema::of::<EditFile>,
        parse: edit_file,
    },
    Tool {
        name: EDIT_LINES,
        aliases: &[],
        title: "Edit a file by line numbers",
        about: "Replaces whole lines by their numbers. Line numbers after the change shift, so make several changes \
                from the bottom of the file to its top. edit_file, which goes by the text itself, is safer.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"path": "foo.py", "start_line": 5, "end_line": 6, "new_content": "def foo() -> None:\n    pass\n"}"#,
        schema: schema::of::<EditLines>,
        parse: edit_lines,
    },
    patch::TOOL,
];

#[derive(Deserialize, JsonSchema)]
struct EditFile {
    /// Path to the file. It must exist.
    path: String,
    /// The string to replace, copied from the file. It must occur exactly once, unless replace_all is set.
    old_string: Option<String>,
    /// The string to put there. Empty deletes old_string.
    new_string: Option<String>,
    /// Replace every occurrence of old_string. Default: false.
    replace_all: Option<bool>,
    /// Several replacements in this file, all or none. Instead of old_string and new_string, never beside them.
    edits: Option<Vec<StringEdit>>,
}

#[derive(Deserialize, JsonSchema)]
struct StringEdit {
    /// The string to replace, copied from the file as it is before all edits.
    old_string: String,
    /// The string to put there. Empty deletes old_string.
    new_string: String,
    /// Replace every occurrence of old_string. Default: false.
    replace_all: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct EditLines {
    /// Path to the file. It must exist.
    path: String,
    /// The first line to replace, counting from 1.
    #[schemars(range(min = 1))]
    start_line: usize,
    /// The last line to replace, itself included. Default: start_line.
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
    /// The lines to put there. A missing newline at the end is added; empty deletes the lines.
    new_content: String,
}

fn plan(
    path: &str,
    rules: EditRules,
    operations: Vec<Operation>,
    roots: &[RootName],
    warnings: Vec<String>,
) -> Result<Plan, ParseError> {
    let path = FilePath::parse(path, roots, Absolute::InsideRoot)?;
    Ok(Plan::Edit(EditPlan {
        warnings,
        ..EditPlan::new(vec![FilePlan { path, version: None, operations }], rules)
    }))
}

fn edit_file(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: EditFile = read(arguments.fields)?;
    let mut single = Vec::new();
    if fields.old_string.is_some() {
        single.push("`old_string`");
    }
    // Beside `edits`, an empty or false one of these is a placeholder.
    if fields.new_string.as_ref().is_some_and(|text| !text.is_empty()) {
        single.push("`new_string`");
    }
    if fields.replace_all == Some(true) {
        single.push("`replace_all`");
    }
    // So is an empty list beside a single edit.
    let edits = fields.edits.filter(|edits| single.is_empty() || !edits.is_empty());
    let edits = match (edits, fields.old_string, fields.new_string) {
        (Some(_), ..) if !single.is_empty() => {
            return Err(ParseError::new(
                format!("Cannot use `edits` together with {}", single.join(" and ")),
                "Put every replacement into `edits`, with its own `replace_all`, or send one without `edits`.",
            ));
        }
        (Some(edits), ..) if edits.is_empty() => {
            return Err(ParseError::new("`edits` is an empty list", "Put at least one replacement into it."));
        }
        (Some(edits), ..) => edits,
        (None, Some(old_string), Some(new_string)) => {
            vec![StringEdit { old_string, new_string, replace_all: fields.replace_all }]
        }
        (None, old, new) => {
            let missing = match (old.is_some(), new.is_some()) {
                (true, _) => "`new_string`",
                (_, true) => "`old_string`",
                _ => "`old_string` and `new_string`, or `edits`",
            };
            return Err(ParseError::new(
                format!("`edit_file` needs {missing}"),
                "Send both; an empty `new_string` deletes. To replace lines by number use `edit_lines`.",
            ));
        }
    };
    let replace = |edit: StringEdit| Operation::Replace {
        old: edit.old_string,
        new: edit.new_string,
        which: if edit.replace_all == Some(true) { Which::All } else { Which::Unique },
        within: None,
    };
    let operations = edits.into_iter().map(replace).collect();
    plan(&fields.path, RULES, operations, arguments.roots, arguments.warnings)
}

fn edit_lines(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: EditLines = read(arguments.fields)?;
    let lines = LineRange { first: fields.start_line, last: fields.end_line.unwrap_or(fields.start_line) };
    if lines.last < lines.first {
        return Err(ParseError::new(
            format!("`end_line` ({}) is before `start_line` ({})", lines.last, lines.first),
            "Both are part of the range; leave `end_line` out to replace one line.",
        ));
    }
    // Whoever names the lines one by one has said that they may go.
    let rules = EditRules { shrink: Shrink::Allowed, ..RULES };
    let operation = Operation::ReplaceLines { lines, new: fields.new_content, expect: None };
    plan(&fields.path, rules, vec![operation], arguments.roots, arguments.warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> &'static Tool {
        DIALECT.tool(name).unwrap()
    }

    fn fields(name: &str) -> Vec<String> {
        let schema = (tool(name).schema)();
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    }

    // Shows: P0.3, P0.6, P1.1
    #[test]
    fn no_tool_has_a_field_of_the_other() {
        let mut text = fields(EDIT_FILE);
        let mut lines = fields(EDIT_LINES);
        text.sort();
        lines.sort();
        assert_eq!(text, ["edits", "new_string", "old_string", "path", "replace_all"]);
        assert_eq!(lines, ["end_line", "new_content", "path", "start_line"]);
    }

    // Shows: P2.1, P2.2, P2.5, P4.2, P4.5, P4.6
    #[test]
    fn a_diff_is_read_and_planned_by_a_tool_of_its_own() {
        let mut patch = fields("patch");
        patch.sort();
        let wanted =
            ["diff", "diff_file", "dry_run", "fuzzy_threshold", "mode", "strict_validation", "target"];
        assert_eq!(patch, wanted);
        let read =
            slipstitch_patch::parse("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", None, Default::default());
        let slipstitch_patch::Action::Update { hunks, .. } = &read.unwrap().files[0].action else {
            panic!("an update")
        };
        assert_eq!((hunks.len(), hunks[0].lines.len(), hunks[0].line), (1, 2, Some(1)));
    }

    // Shows: P0.8, 004-edit-lines-description
    #[test]
    fn descriptions_keep_the_tools_apart() {
        let (text, lines) = (tool(EDIT_FILE).about, tool(EDIT_LINES).about);
        assert!(text.contains("string") && !text.contains("number"), "{text}");
        assert!(lines.contains("from the bottom") && lines.contains("edit_file"), "{lines}");
    }
}
