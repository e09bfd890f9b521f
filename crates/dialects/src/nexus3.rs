//! The `nexus3` dialect: separate tools for text and for line numbers, so that they cannot be confused, and batches that
//! are applied in order and reported in the file's original line numbers.

mod patch;
mod render;

use schemars::JsonSchema;
use serde::Deserialize;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, MovedFields, OtherName, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath, RootName};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    Batch, EditPlan, EditRules, FilePlan, IfAlreadyApplied, LineRange, Operation, Plan, Shrink, Which,
};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "nexus3",
    about: "The tools of NEXUS3: edit_file for text, one edit or an ordered batch; edit_lines for line numbers; patch for unified diffs",
    tools: TOOLS,
    unlisted: &[EDIT_LINES_BATCH_TOOL],
    guide: GUIDE,
    other_names: &[OtherName { tool: patch::NAME, other: "path", field: "target" }],
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
            fields: &["old_string", "new_string", "replace_all"],
            message: "edit_lines does not replace strings. Use edit_file(path, old_string, new_string) instead.",
        },
        MovedFields {
            from: EDIT_LINES,
            to: EDIT_LINES,
            fields: &["edits"],
            message: "edit_lines takes one range. Call it once per range, from the bottom up. To replace strings, use edit_file(path, edits).",
        },
        MovedFields {
            from: EDIT_LINES_BATCH,
            to: EDIT_FILE,
            fields: &["old_string", "new_string", "replace_all"],
            message: "edit_lines_batch does not replace strings. Use edit_file(path, edits) instead.",
        },
    ],
    phrases: |_| PHRASES,
    render: render::render,
    ..Dialect::PLAIN
};

const GUIDE: &str = "\
    edit_file replaces text that occurs exactly once, edit_lines replaces lines by number, patch applies a unified \
    diff. A batch in `edits` is all or nothing, and its line numbers refer to the file before the call. Use `dry_run` \
    to preview a patch.";

const PHRASES: HintPhrases =
    HintPhrases { old: "`old_string`", all: Some("set `replace_all`"), ..HintPhrases::NONE };

const EDIT_FILE: &str = "edit_file";
const EDIT_LINES: &str = "edit_lines";
const EDIT_LINES_BATCH: &str = "edit_lines_batch";

/// A string that occurs once is replaced, even if the lines that this adds are there already: the document has no other outcome.
const RULES: EditRules = EditRules {
    batch: Batch::SequentialInOriginal,
    if_already_applied: IfAlreadyApplied::NoMatch,
    ..EditRules::STRICT
};

const TOOLS: &[Tool] = &[
    Tool {
        name: EDIT_FILE,
        aliases: &["edit_file_batch"],
        title: "Edit a file by its text",
        about: "Replaces a string that occurs exactly once in a file; add surrounding lines until it does, or set \
                replace_all. Several replacements go into edits: in order, each of them must match the file as it is \
                before the call.",
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
        about: "Replace lines by line number. For multiple edits, work bottom-to-top to avoid line number drift. Use \
                edit_file for safer string-based edits.",
        effect: Effect::Edits,
        empty_is_value: &[],
        example: r#"{"path": "foo.py", "start_line": 5, "end_line": 6, "new_content": "def foo() -> None:\n    pass\n"}"#,
        schema: schema::of::<EditLines>,
        parse: edit_lines,
    },
    patch::TOOL,
];

/// Later versions of NEXUS3 have this tool; the specification has no batches of line edits, so it is not listed.
const EDIT_LINES_BATCH_TOOL: Tool = Tool {
    name: EDIT_LINES_BATCH,
    aliases: &[],
    title: "Edit a file by line numbers, several ranges at once",
    about: "Replaces several ranges of whole lines by line number. All numbers refer to the file as it is before the \
            call, ranges must not overlap, and if one of them fails, nothing is written.",
    effect: Effect::Edits,
    empty_is_value: &[],
    example: r#"{"path": "foo.py", "edits": [{"start_line": 5, "end_line": 6, "new_content": "pass\n"}]}"#,
    schema: schema::of::<EditLinesBatch>,
    parse: edit_lines_batch,
};

#[derive(Deserialize, JsonSchema)]
struct EditFile {
    /// Path to file
    path: String,
    /// The exact string to replace
    old_string: Option<String>,
    /// Its replacement; empty deletes
    new_string: Option<String>,
    /// Replace every occurrence
    #[serde(default)]
    replace_all: bool,
    /// Array of string replacements (atomic - all or none)
    edits: Option<Vec<StringEdit>>,
}

#[derive(Deserialize, JsonSchema)]
struct StringEdit {
    /// The exact string to replace
    old_string: String,
    /// Its replacement; empty deletes
    new_string: String,
    /// Replace every occurrence
    #[serde(default)]
    replace_all: bool,
}

#[derive(Deserialize, JsonSchema)]
struct EditLines {
    /// Path to file
    path: String,
    /// First line to replace (1-indexed)
    #[schemars(range(min = 1))]
    start_line: usize,
    /// Last line to replace (inclusive, defaults to start_line)
    // No minimum: the document refuses an end before the start, so 0 must not count as absent.
    end_line: Option<usize>,
    /// Content to insert
    new_content: String,
}

#[derive(Deserialize, JsonSchema)]
struct EditLinesBatch {
    /// Path to the file. It must exist.
    path: String,
    /// The ranges to replace (atomic: all or none). They must not overlap.
    edits: Vec<LineEdit>,
}

#[derive(Deserialize, JsonSchema)]
struct LineEdit {
    /// The first line to replace, counting from 1 in the file as it is before the call.
    #[schemars(range(min = 1))]
    start_line: usize,
    /// The last line to replace (inclusive). Default: start_line.
    end_line: Option<usize>,
    /// The new lines. A missing final newline is added; empty deletes the lines.
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
    // An empty or false value next to `edits` is a placeholder.
    if fields.new_string.as_ref().is_some_and(|text| !text.is_empty()) {
        single.push("`new_string`");
    }
    if fields.replace_all {
        single.push("`replace_all`");
    }
    // So is an empty list next to a single edit.
    let edits = fields.edits.filter(|edits| single.is_empty() || !edits.is_empty());
    let edits = match (edits, fields.old_string, fields.new_string) {
        (Some(_), ..) if !single.is_empty() => {
            return Err(ParseError::new(
                format!("Cannot use `edits` together with {}", single.join(" and ")),
                "Put every replacement into `edits`, each with its own `replace_all`, or send one without `edits`.",
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
                "Send both; an empty `new_string` deletes. To replace lines by number, use `edit_lines`.",
            ));
        }
    };
    let replace = |edit: StringEdit| Operation::Replace {
        old: edit.old_string,
        new: edit.new_string,
        which: if edit.replace_all { Which::All } else { Which::Unique },
        within: None,
    };
    let operations = edits.into_iter().map(replace).collect();
    plan(&fields.path, RULES, operations, arguments.roots, arguments.warnings)
}

fn edit_lines(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let EditLines { path, start_line, end_line, new_content } = read(arguments.fields)?;
    let operation = replace_lines(LineEdit { start_line, end_line, new_content }, "")?;
    plan(&path, LINE_RULES, vec![operation], arguments.roots, arguments.warnings)
}

fn edit_lines_batch(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let EditLinesBatch { path, edits } = read(arguments.fields)?;
    if edits.is_empty() {
        return Err(ParseError::new("`edits` is an empty list", "Put at least one range into it."));
    }
    let operations = edits
        .into_iter()
        .enumerate()
        .map(|(number, edit)| replace_lines(edit, &format!("edits[{number}].")))
        .collect::<Result<_, _>>()?;
    plan(&path, LINE_RULES, operations, arguments.roots, arguments.warnings)
}

/// The rules for edits by line numbers. A caller that names the lines has already said that they may be removed.
const LINE_RULES: EditRules = EditRules { shrink: Shrink::Allowed, batch: Batch::Original, ..RULES };

/// An edit of lines; `place` is the prefix of its fields in messages.
fn replace_lines(edit: LineEdit, place: &str) -> Result<Operation, ParseError> {
    let lines = LineRange { first: edit.start_line, last: edit.end_line.unwrap_or(edit.start_line) };
    if lines.last < lines.first {
        return Err(ParseError::new(
            format!("`{place}end_line` ({}) is before `{place}start_line` ({})", lines.last, lines.first),
            "The range includes both lines; omit `end_line` to replace one line.",
        ));
    }
    Ok(Operation::ReplaceLines { lines, new: edit.new_content, expect: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstitch_core::dialect::ListedFields;

    fn tool(name: &str) -> &'static Tool {
        DIALECT.tool(name).unwrap()
    }

    fn fields(name: &str) -> Vec<String> {
        let schema = (tool(name).schema)();
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    }

    // Shows: P0.3, P0.6, P1.1, 004-single-purpose
    #[test]
    fn text_and_line_tools_share_only_path() {
        let mut text = fields(EDIT_FILE);
        let mut lines = fields(EDIT_LINES);
        text.sort();
        lines.sort();
        assert_eq!(text, ["edits", "new_string", "old_string", "path", "replace_all"]);
        assert_eq!(lines, ["end_line", "new_content", "path", "start_line"]);
    }

    // Shows: P2.1, P2.2, P2.5, P4.2, P4.5, P4.6
    #[test]
    fn patch_tool_parses_unified_diffs() {
        let mut patch = fields("patch");
        patch.sort();
        let expected =
            ["diff", "diff_file", "dry_run", "fuzzy_threshold", "mode", "strict_validation", "target"];
        assert_eq!(patch, expected);
        let parsed =
            slipstitch_patch::parse("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", None, Default::default());
        let slipstitch_patch::Action::Update { hunks, .. } = &parsed.unwrap().files[0].action else {
            panic!("expected an update")
        };
        assert_eq!((hunks.len(), hunks[0].lines.len(), hunks[0].line), (1, 2, Some(1)));
    }

    // Shows: 004-schema-defaults, 004-patch-threshold-range
    #[test]
    fn schemas_state_the_defaults() {
        let patch = &(tool("patch").schema)()["properties"];
        assert_eq!(patch["mode"]["default"], "strict");
        assert_eq!(patch["mode"]["enum"], serde_json::json!(["strict", "tolerant", "fuzzy"]));
        assert_eq!(patch["fuzzy_threshold"]["default"], 0.8);
        // The range of the threshold is listed too.
        let listed = &tool("patch").input_schema(ListedFields::Common)["properties"]["fuzzy_threshold"];
        assert_eq!((&listed["minimum"], &listed["maximum"]), (&0.5.into(), &1.0.into()));
        assert_eq!(patch["dry_run"]["default"], false);
        assert_eq!(patch["strict_validation"]["default"], false);
        let edit = &(tool(EDIT_FILE).schema)()["properties"];
        assert_eq!(edit["replace_all"]["default"], false);
        assert_eq!(edit["edits"]["items"]["properties"]["replace_all"]["default"], false);
        let required = |name: &str| (tool(name).schema)()["required"].clone();
        assert_eq!(required("patch"), serde_json::json!(["target"]));
        assert_eq!(required(EDIT_FILE), serde_json::json!(["path"]));
    }

    // Shows: 004-upstream-names
    #[test]
    fn later_names_find_a_tool_but_are_not_listed() {
        for (name, found) in [
            ("edit_file_batch", EDIT_FILE),
            ("edit_lines_batch", EDIT_LINES_BATCH),
            ("patch_from_file", "patch"),
        ] {
            assert_eq!(tool(name).name, found);
            assert!(TOOLS.iter().all(|tool| tool.name != name));
        }
    }

    // Shows: P0.8, 004-edit-lines-description
    #[test]
    fn descriptions_distinguish_the_tools() {
        let (text, lines) = (tool(EDIT_FILE).about, tool(EDIT_LINES).about);
        assert!(text.contains("string") && !text.contains("number"), "{text}");
        let document = "Replace lines by line number. For multiple edits, work bottom-to-top to avoid line number drift. \
                        Use edit_file for safer string-based edits.";
        assert_eq!(lines, document);
    }

    // Shows: 004-descriptions
    #[test]
    fn parameters_are_described_in_the_words_of_the_document() {
        for (name, field, words) in [
            (EDIT_FILE, "edits", "Array of string replacements (atomic - all or none)"),
            (EDIT_LINES, "path", "Path to file"),
            (EDIT_LINES, "start_line", "First line to replace (1-indexed)"),
            (EDIT_LINES, "end_line", "Last line to replace (inclusive, defaults to start_line)"),
            (EDIT_LINES, "new_content", "Content to insert"),
            ("patch", "diff", "Unified diff content (inline)"),
            ("patch", "diff_file", "Path to .diff/.patch file to read"),
            ("patch", "target", "Target file to patch (required)"),
            ("patch", "mode", "Matching strictness"),
            ("patch", "fuzzy_threshold", "Similarity threshold for fuzzy mode (0.5-1.0)"),
            ("patch", "dry_run", "Validate without applying"),
        ] {
            assert_eq!((tool(name).schema)()["properties"][field]["description"], words, "{name}: {field}");
        }
    }
}
