//! The `codex` dialect: V4A patches, sent as a field or as bare text.

use schemars::JsonSchema;
use serde::Deserialize;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, RenderInput, Rendered, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::Status;
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::patch::{PatchDirection, PatchOptions, plan};
use slipstitch_core::plan::{Choice, Plan, Tolerance};
use slipstitch_core::report::{Action, FileReport, plain_text};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "codex",
    about: "apply_patch, as GPT models know it: V4A patches over several files",
    tools: TOOLS,
    guide: GUIDE,
    phrases: |_| PHRASES,
    render,
    ..Dialect::PLAIN
};

const PHRASES: HintPhrases = HintPhrases {
    old: "the hunk",
    choose: Some("send the same call again with `candidate`, the number of the intended place"),
    ..HintPhrases::NONE
};

const GUIDE: &str = "\
    apply_patch takes one patch from `*** Begin Patch` to `*** End Patch` for any number of files; either all of it is \
    applied or nothing. Give three lines of context around each change, and add `@@ class or function` where the \
    context alone is not unique.";

const TOOLS: &[Tool] = &[Tool {
    name: "apply_patch",
    aliases: &[],
    title: "Apply a patch",
    about: "Updates, adds, deletes and renames files with a patch between *** Begin Patch and *** End Patch. Each file \
            section starts with *** Update File:, *** Add File: or *** Delete File: and the path; *** Move to: below an \
            update renames the file. A change has context lines with a leading space, - lines and + lines; @@ with a \
            line above it, such as @@ class A, says which place is meant. All of it is applied or nothing.",
    effect: Effect::Replaces,
    empty_is_value: &[],
    example: r#"{"input": "*** Begin Patch\n*** Update File: src/main.rs\n@@ fn main() {\n-    run(3);\n+    run(5);\n*** End Patch"}"#,
    schema: schema::of::<ApplyPatch>,
    parse: apply_patch,
}];

#[derive(Deserialize, JsonSchema)]
struct ApplyPatch {
    /// The whole patch.
    input: String,
    /// With the same patch again: the number of a candidate that a refusal listed.
    #[schemars(range(min = 1))]
    candidate: Option<usize>,
}

fn apply_patch(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: ApplyPatch = read(arguments.fields)?;
    let options = PatchOptions {
        format: None,
        parse_options: Default::default(),
        direction: PatchDirection::Forward,
        path: None,
        roots: arguments.roots,
        overwriting: arguments.settings.patch.overwriting(),
        tolerance: Tolerance::Recover,
    };
    let mut plan = plan(&fields.input, &options)?;
    plan.warnings.splice(0..0, arguments.warnings);
    plan.choice = Choice::of(fields.candidate);
    Ok(Plan::Edit(plan))
}

fn render(input: &RenderInput<'_>) -> Rendered {
    let report = input.report;
    if report.status() != Status::Applied {
        return plain_text(report).into();
    }
    let mut out = vec!["Success. Updated the following files:".to_owned()];
    out.extend(report.files.iter().map(summarize));
    out.extend(report.warnings.iter().map(|warning| format!("Note: {warning}")));
    out.join("\n").into()
}

fn summarize(file: &FileReport) -> String {
    let letter = match file.action {
        Action::Created => 'A',
        Action::Deleted => 'D',
        Action::Read | Action::Modified | Action::Moved => 'M',
    };
    let path = file.moved_to.as_ref().unwrap_or(&file.path);
    format!("{letter} {path}")
}
