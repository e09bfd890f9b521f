//! The `aider` dialect: whole answers in the edit formats of aider.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer;
use crate::spec::{RULES, patch_plan};
use slipstitch_core::dialect::{Arguments, Dialect, Effect, Tool, read, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::plan::{EditPlan, FilePlan, IfMissing, Operation, ParseError, Plan};
use slipstitch_patch::{WholeFile, detect, whole_files};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "aider",
    about: "apply_edits: an answer with aider's SEARCH/REPLACE blocks, unified diffs or whole files",
    tools: &[Tool {
        name: "apply_edits",
        aliases: &[],
        title: "Apply the edits of an answer",
        about: "Applies an answer with edits: SEARCH/REPLACE blocks below the file's path (<<<<<<< SEARCH, the exact \
                lines, =======, the new lines, >>>>>>> REPLACE; an empty SEARCH creates a file), fenced unified diffs, or \
                whole files in fences below their paths. Text around them is ignored. All is applied or nothing.",
        effect: Effect::Replaces,
        empty_is_value: &[],
        example: r#"{"input": "src/main.py\n```python\n<<<<<<< SEARCH\nretries = 3\n=======\nretries = 5\n>>>>>>> REPLACE\n```"}"#,
        schema: schema::of::<ApplyEdits>,
        parse,
    }],
    guide: "apply_edits takes one answer with any number of SEARCH/REPLACE blocks. Each SEARCH must occur exactly once in its \
            file.",
    phrases: |_| HintPhrases { old: "the SEARCH text", ..HintPhrases::NONE },
    render: answer::render,
    ..Dialect::PLAIN
};

#[derive(Deserialize, JsonSchema)]
struct ApplyEdits {
    /// The answer.
    input: String,
}

fn parse(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: ApplyEdits = read(arguments.fields.clone())?;
    let unknown_format = match detect(&fields.input) {
        Ok(format) => return patch_plan(&fields.input, Some(format), None, &arguments).map(Plan::Edit),
        Err(error) => error,
    };
    let files = whole_files(&fields.input)?;
    if files.is_empty() {
        return Err(unknown_format.into());
    }
    let mut plans: Vec<FilePlan> = Vec::new();
    for WholeFile { path, content, line } in files {
        let path = FilePath::parse(&path, arguments.roots, Absolute::InsideRoot)?;
        if plans.iter().any(|plan| plan.path == path) {
            return Err(ParseError::new(
                format!("the answer has `{path}` twice; the second one is at line {line}"),
                "Send each whole file once.",
            ));
        }
        let operations = vec![Operation::Overwrite { content, if_missing: IfMissing::Create }];
        plans.push(FilePlan { path, version: None, operations });
    }
    Ok(Plan::Edit(EditPlan { warnings: arguments.warnings, ..EditPlan::new(plans, RULES) }))
}
