//! The `phoenix` dialect: simultaneous patches to one file, clipboards, reindentation, Restricted mode.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, RenderInput, Rendered, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::{Outcome, Refused, Topic};
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    Choice, ClipboardUse, Clipboards, EditPlan, EditRules, FilePlan, IfAlreadyApplied, IfMissing, Operation,
    Plan, Reindent, Separator, Shrink, Tolerance, Which,
};
use slipstitch_core::report::{FailureReport, Report, truncate_diff};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "phoenix",
    about: "Several patches to one file applied at once, with clipboards and reindentation",
    tools: TOOLS,
    restricted_message: Some(
        "Patch tool is disabled in Restricted mode. Use request_mode_upgrade to request write access.",
    ),
    guide: GUIDE,
    phrases: |_| PHRASES,
    render,
    ..Dialect::PLAIN
};

const GUIDE: &str = "\
    patch applies a list of patches to one file; all of them refer to the file as it is now. `replace` needs an \
    oldText that occurs exactly once. To move code, use clipboards (toClipboard on the patch that removes it, \
    fromClipboard on the one that inserts it) instead of retyping it. If the session is restricted, call \
    request_mode_upgrade and give a reason.";

const PHRASES: HintPhrases = HintPhrases {
    choose: Some("send the same call again with `candidate`, the number of the intended place"),
    old: "`oldText`",
    create: Some("create the file with `overwrite`, `append_eof` or `prepend_bof`"),
    overwrite: Some("use `overwrite`"),
    append: Some("use `append_eof`"),
    fill: Some("use `append_eof`"),
    ..HintPhrases::NONE
};

/// Maximum number of tokens of text in one call.
const MAX_TOKENS: usize = 60_000;

const RULES: EditRules = EditRules {
    tolerance: Tolerance::Recover,
    shrink: Shrink::Allowed,
    if_already_applied: IfAlreadyApplied::NoMatch,
    ..EditRules::STRICT
};

const TOOLS: &[Tool] = &[
    Tool {
        name: "patch",
        aliases: &[],
        title: "Patch a file",
        about: "Changes one file with a list of patches, all or none; all of them refer to the current file. Use clipboards \
                to move code without retyping it: toClipboard on the patch that removes it, fromClipboard on the patch \
                that inserts it, reindent if the indentation differs.",
        effect: Effect::Replaces,
        empty_is_value: &["newText"],
        example: r#"{"path": "src/main.rs", "patches": [{"operation": "replace", "oldText": "let retries = 3;", "newText": "let retries = 5;"}]}"#,
        schema: schema::of::<PatchFile>,
        parse: patch,
    },
    Tool {
        name: "request_mode_upgrade",
        aliases: &[],
        title: "Ask for write access",
        about: "Asks the user to let this conversation write files. Use it when a tool is disabled in Restricted mode; \
                say what you want to change and why.",
        effect: Effect::Asks,
        empty_is_value: &[],
        example: r#"{"reason": "fix the failing test in src/parser.rs"}"#,
        schema: schema::of::<RequestModeUpgrade>,
        parse: |arguments| {
            let fields: RequestModeUpgrade = read(arguments.fields)?;
            Ok(Plan::ModeUpgrade { reason: fields.reason })
        },
    },
];

#[derive(Deserialize, JsonSchema)]
struct PatchFile {
    /// The file, relative to the working directory.
    path: String,
    /// The patches, applied together to the current file.
    patches: Vec<Patch>,
    /// With the same patches again: the number of a candidate that a refusal listed.
    #[schemars(range(min = 1))]
    candidate: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Patch {
    /// replace: replace oldText with newText. append_eof: add newText at the end of the file. prepend_bof: add it at the
    /// start. overwrite: newText becomes the whole file. All except replace create a missing file.
    operation: PatchKind,
    /// The text to replace, copied from the file; it must occur exactly once. Required for replace.
    old_text: Option<String>,
    /// The new text. Empty deletes oldText; so does omitting newText in a replace with toClipboard, which cuts oldText into
    /// the clipboard. Ignored if fromClipboard is set.
    new_text: Option<String>,
    /// Store the text matched by replace in the clipboard with this name. Without newText and fromClipboard the text is
    /// cut; with the same name in fromClipboard it is copied and remains unchanged.
    to_clipboard: Option<String>,
    /// Use the content of the clipboard with this name as the new text.
    from_clipboard: Option<String>,
    /// Change the indentation of the inserted text.
    reindent: Option<PatchReindent>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PatchKind {
    Replace,
    AppendEof,
    PrependBof,
    Overwrite,
}

#[derive(Deserialize, JsonSchema)]
struct PatchReindent {
    /// The prefix to remove from every non-empty line; every such line must have it.
    strip: Option<String>,
    /// The prefix to add to every non-empty line, after stripping.
    add: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct RequestModeUpgrade {
    /// What you want to change and why, for the user who decides.
    reason: Option<String>,
}

fn patch(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: PatchFile = read(arguments.fields)?;
    let path = FilePath::parse(&fields.path, arguments.roots, Absolute::InsideRoot)?;
    if fields.patches.is_empty() {
        return Err(ParseError::new("`patches` is an empty list", "Put at least one patch into it."));
    }
    let texts = fields.patches.iter().flat_map(|patch| [&patch.old_text, &patch.new_text]).flatten();
    if slipstitch_tokens::more_than(texts.map(String::as_str), MAX_TOKENS) {
        let message = format!("the patches contain more than {MAX_TOKENS} tokens of text");
        let hint = "Break the change into smaller patches and send them in separate calls.";
        return Err(ParseError::refused(Refused::RequestTooLarge, message, hint));
    }
    let mut clipboards = Clipboards::default();
    let mut operations = Vec::new();
    for (patch, number) in fields.patches.into_iter().zip(1..) {
        let (operation, clip) = operation(patch, number)?;
        operations.push(operation);
        if let Some(clip) = clip {
            clipboards.uses.insert(number, clip);
        }
    }
    Ok(Plan::Edit(EditPlan {
        warnings: arguments.warnings,
        clipboards,
        choice: Choice::of(fields.candidate),
        ..EditPlan::new(vec![FilePlan { path, version: None, operations }], RULES)
    }))
}

fn operation(patch: Patch, number: usize) -> Result<(Operation, Option<ClipboardUse>), ParseError> {
    let field = |name: &str| format!("`patches[{}].{name}`", number - 1);
    let replaces = matches!(patch.operation, PatchKind::Replace);
    if !replaces && patch.to_clipboard.is_some() {
        let message = format!("{} is set, but only replace removes text to store", field("toClipboard"));
        return Err(ParseError::new(message, "Omit it, or use the operation `replace`."));
    }
    if !replaces && patch.old_text.is_some() {
        let message = format!("{} is set, but only replace searches for text", field("oldText"));
        return Err(ParseError::new(message, "Omit it, or use the operation `replace`."));
    }
    // Storing text in a clipboard without sending a replacement cuts it.
    let cuts = replaces && patch.to_clipboard.is_some();
    let text = match (patch.new_text, &patch.from_clipboard) {
        (_, Some(_)) => String::new(),
        (Some(text), None) => text,
        (None, None) if cuts => String::new(),
        (None, None) => {
            let hint = "Send the new text, or `fromClipboard`. An empty text deletes.";
            return Err(ParseError::new(format!("{} is missing", field("newText")), hint));
        }
    };
    let (separator, if_missing) = (Separator::Literal, IfMissing::Create);
    let operation = match patch.operation {
        PatchKind::Replace => {
            let Some(old) = patch.old_text else {
                let hint = "Copy the text to replace from the file; it must occur exactly once.";
                return Err(ParseError::new(format!("{} is required for replace", field("oldText")), hint));
            };
            Operation::Replace { old, new: text, which: Which::Unique, within: None }
        }
        PatchKind::AppendEof => Operation::Append { text, separator, if_missing },
        PatchKind::PrependBof => Operation::Prepend { text, separator, if_missing },
        PatchKind::Overwrite => Operation::Overwrite { content: text, if_missing },
    };
    let reindent = patch
        .reindent
        .map(|how| Reindent { strip: how.strip.unwrap_or_default(), add: how.add.unwrap_or_default() });
    let clip = ClipboardUse { to: patch.to_clipboard, from: patch.from_clipboard, reindent };
    let used = clip.to.is_some() || clip.from.is_some() || clip.reindent.is_some();
    Ok((operation, used.then_some(clip)))
}

fn render(input: &RenderInput<'_>) -> Rendered {
    let report = input.report;
    let mut lines = match report.outcome {
        Outcome::ModeUpgraded | Outcome::ModeUnchanged => {
            vec![format!("Unrestricted mode: {}.", report.message)]
        }
        Outcome::Applied => vec![applied(input)],
        Outcome::PartlyAccepted => vec![report.message.clone()],
        Outcome::NoChange => {
            vec![format!("Applied the patches to {}: the file is unchanged.", input.argument("path"))]
        }
        Outcome::Refused(Refused::RestrictedMode) => return Rendered::from(report.message.clone()),
        Outcome::WouldApply
        | Outcome::AlreadyApplied
        | Outcome::Shown
        | Outcome::ProposalRejected
        | Outcome::Unplaced(_)
        | Outcome::Refused(_)
        | Outcome::Invalid(_)
        | Outcome::Failed(_)
        | Outcome::Custom { .. } => refused(report),
    };
    lines.extend(report.warnings.iter().map(|warning| format!("Warning: {warning}")));
    // The diff is for the user; the model only gets the confirmation.
    let payload = match (&report.outcome, &report.diff) {
        (Outcome::Applied | Outcome::PartlyAccepted, Some(diff)) => {
            Some(json!({ "diff": truncate_diff(diff) }))
        }
        _ => None,
    };
    Rendered { text: lines.join("\n"), payload }
}

fn applied(input: &RenderInput<'_>) -> String {
    let count = input.call["patches"].as_array().map_or(1, Vec::len);
    let patches = if count == 1 { "1 patch".into() } else { format!("{count} patches") };
    let created =
        input.report.files.iter().any(|file| file.action == slipstitch_core::report::Action::Created);
    let file = if created { "new file " } else { "" };
    let change = input.report.change.map_or(String::new(), |id| format!(" (change {id})"));
    format!("Applied {patches} to {file}{}{change}.", input.argument("path"))
}

fn refused(report: &Report) -> Vec<String> {
    if report.failures.is_empty() {
        // A change that waits for review is no error.
        let prefix = if report.is_error() { "Error: " } else { "" };
        let mut lines = vec![format!("{prefix}{}", report.message)];
        lines.extend(report.hint.clone());
        return lines;
    }
    let mut lines = vec!["Error: no patch was applied, and the file is unchanged.".to_owned()];
    for failure in &report.failures {
        lines.push(format!("{}{}", edit_label(failure), explain(failure)));
        for candidate in &failure.candidates {
            lines.push(format!("  {}:", candidate.lines));
            lines.extend(candidate.preview.lines().map(|text| format!("    {text}")));
        }
        lines.push(format!("  {}", failure.hint));
    }
    if report.more_failures > 0 {
        lines.push(format!("… and {} more patches failed", report.more_failures));
    }
    lines
}

fn edit_label(failure: &FailureReport) -> String {
    failure.edit.map_or(String::new(), |edit| format!("edit {edit}: "))
}

fn explain(failure: &FailureReport) -> String {
    match failure.reason.topic() {
        Topic::NoMatch | Topic::AlreadyApplied => {
            match failure.message.strip_prefix("the old text was not found") {
                Some(rest) => format!("old text not found{rest}"),
                None => format!("old text not found: {}", failure.message),
            }
        }
        Topic::Ambiguous
        | Topic::Displaced
        | Topic::BlankOldText
        | Topic::OldTextMissing
        | Topic::OutOfRange
        | Topic::FileNotFound
        | Topic::FileExists
        | Topic::OutsideRoot
        | Topic::BadRequest
        | Topic::StaleFile
        | Topic::ShrinksFile
        | Topic::RestrictedMode
        | Topic::NotWritable
        | Topic::General => failure.message.clone(),
    }
}
