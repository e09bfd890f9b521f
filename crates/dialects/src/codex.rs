//! The `codex` dialect: V4A patches, sent as a field or as nothing but text.

use schemars::JsonSchema;
use serde::Deserialize;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, RenderInput, Rendered, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::Status;
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::patch::{PatchDirection, Terms, plan};
use slipstitch_core::plan::{Placing, Plan};
use slipstitch_core::report::{Action, FileReport, plain_text};

/// The dialect's line in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "codex",
    about: "apply_patch, as GPT models know it: V4A patches over several files",
    tools: TOOLS,
    phrases: |_| HintPhrases { old: "the hunk", ..HintPhrases::NONE },
    render,
    ..Dialect::PLAIN
};

const TOOLS: &[Tool] = &[Tool {
    name: "apply_patch",
    aliases: &[],
    title: "Apply a patch",
    about: "Changes, makes, deletes and renames files by a patch between *** Begin Patch and *** End Patch. Each file \
            starts with *** Update File:, *** Add File: or *** Delete File: and its path relative to the root; \
            *** Move to: below an update renames it. A change is context lines with a blank in front, - lines and \
            + lines; @@ and a line of the file above the place, such as @@ class A, tells equal places apart. \
            Either all of the patch is applied or nothing.",
    effect: Effect::Replaces,
    empty_is_value: &[],
    example: r#"{"input": "*** Begin Patch\n*** Update File: src/main.rs\n@@ fn main() {\n-    run(3);\n+    run(5);\n*** End Patch"}"#,
    schema: schema::of::<ApplyPatch>,
    parse: apply_patch,
}];

#[derive(Deserialize, JsonSchema)]
struct ApplyPatch {
    /// The whole patch, from *** Begin Patch to *** End Patch.
    input: String,
}

fn apply_patch(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: ApplyPatch = read(arguments.fields)?;
    let terms = Terms {
        format: None,
        options: Default::default(),
        direction: PatchDirection::Forward,
        path: None,
        roots: arguments.roots,
        over: arguments.settings.patch.over(),
        placing: Placing::Recover,
    };
    let mut plan = plan(&fields.input, &terms)?;
    plan.warnings.splice(0..0, arguments.warnings);
    Ok(Plan::Edit(plan))
}

fn render(told: &RenderInput<'_>) -> Rendered {
    let report = told.report;
    if report.status() != Status::Applied {
        return plain_text(report).into();
    }
    let mut out = vec!["Success. Updated the following files:".to_owned()];
    out.extend(report.files.iter().map(line));
    out.extend(report.warnings.iter().map(|warning| format!("Note: {warning}")));
    out.join("\n").into()
}

fn line(file: &FileReport) -> String {
    let letter = match file.action {
        Action::Created => 'A',
        Action::Deleted => 'D',
        Action::Read | Action::Modified | Action::Moved => 'M',
    };
    let path = file.moved_to.as_ref().unwrap_or(&file.path);
    format!("{letter} {path}")
}
