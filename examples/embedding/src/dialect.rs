//! Own dialect: one tool, `revise`, with its own fields and its own answers.

use schemars::JsonSchema;
use serde::Deserialize;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, RenderInput, Rendered, Tool, read, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::Status;
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::plan::{EditPlan, EditRules, FilePlan, Operation, ParseError, Plan, Which};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "notes",
    about: "Revises the documents of the notes application",
    tools: &[REVISE],
    // How hints refer to the old text, and what else they may recommend: here, to replace every occurrence.
    phrases: |_| HintPhrases { old: "`passage`", all: Some("set `everywhere`"), ..HintPhrases::NONE },
    render,
    ..Dialect::PLAIN
};

const REVISE: Tool = Tool {
    name: "revise",
    aliases: &[],
    title: "Revise a document",
    about: "Replaces a passage of a document. The passage must occur exactly once, unless `everywhere` is set.",
    effect: Effect::Edits,
    // An empty `revision` deletes the passage; it is not a placeholder for a missing field.
    empty_is_value: &["revision"],
    example: r#"{"document": "plan.md", "passage": "on Monday", "revision": "on Tuesday"}"#,
    schema: schema::of::<Revise>,
    parse,
};

/// The fields of `revise`. Doc comments become the descriptions that the model reads.
#[derive(Deserialize, JsonSchema)]
struct Revise {
    /// The name of the document.
    document: String,
    /// The text to replace, copied from the document.
    passage: String,
    /// The replacement. Empty deletes the passage.
    revision: String,
    /// Replace every occurrence of the passage.
    everywhere: Option<bool>,
}

/// Turns a call into a plan: which document, which operations, how strict. The engine does the rest.
fn parse(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: Revise = read(arguments.fields)?;
    let path = FilePath::parse(&fields.document, arguments.roots, Absolute::Refused)?;
    let operation = Operation::Replace {
        old: fields.passage,
        new: fields.revision,
        which: if fields.everywhere == Some(true) { Which::All } else { Which::Unique },
        within: None,
    };
    let file = FilePlan { path, version: None, operations: vec![operation] };
    // NATIVE finds imperfect quotations too; STRICT accepts exact ones only.
    Ok(Plan::Edit(EditPlan { warnings: arguments.warnings, ..EditPlan::new(vec![file], EditRules::NATIVE) }))
}

/// Turns the report of any outcome into the answer that the model reads.
fn render(input: &RenderInput<'_>) -> Rendered {
    let (report, document) = (input.report, input.argument("document"));
    let text = match report.status() {
        Status::Applied => format!("Revised {document}."),
        Status::NoChange | Status::AlreadyApplied => format!("{document} already says that."),
        _ => match &report.hint {
            Some(hint) => format!("Not revised: {}. {hint}", report.message),
            None => format!("Not revised: {}.", report.message),
        },
    };
    Rendered::from(text)
}
