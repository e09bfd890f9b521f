//! The `phoenix` dialect: simultaneous patches of one file, clipboards, reindentation, modes.

use schemars::JsonSchema;
use serde::Deserialize;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, RenderInput, Rendered, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::{Outcome, Refused, Unplaced};
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    Clip, Clips, EditPlan, EditRules, FilePlan, Matching, Missing, Operation, Plan, Reindent, Separator,
    Shrink, Which,
};
use slipstitch_core::report::{FailureReport, Report};
use slipstitch_core::tokens;

/// The dialect's line in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "phoenix",
    about: "Patches of one file applied at once, with clipboards and reindentation",
    tools: TOOLS,
    restricted_message: Some(
        "Patch tool is disabled in Restricted mode. Use request_mode_upgrade to request write access.",
    ),
    phrases: |_| PHRASES,
    render,
    ..Dialect::PLAIN
};

const PHRASES: HintPhrases = HintPhrases {
    old: "`oldText`",
    create: Some("make the file with `overwrite`, `append_eof` or `prepend_bof`"),
    overwrite: Some("use `overwrite`"),
    append: Some("use `append_eof`"),
    fill: Some("use `append_eof`"),
    ..HintPhrases::NONE
};

/// The most tokens of text in one call.
const MAX_TOKENS: usize = 60_000;

const RULES: EditRules =
    EditRules { matching: Matching::Recover, shrink: Shrink::Allowed, ..EditRules::STRICT };

const TOOLS: &[Tool] = &[
    Tool {
        name: "patch",
        aliases: &[],
        title: "Patch a file",
        about: "Changes one file by a list of patches. All of them refer to the file as it is now and are applied \
                together: if one fails, nothing changes. `replace` needs oldText that occurs exactly once. Use \
                clipboards to move code without typing it again: toClipboard on the patch that removes it, \
                fromClipboard on the one that inserts it, reindent if the indentation differs.",
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
        about: "Asks the person in charge to let this conversation write files. Use it when a tool is disabled in \
                Restricted mode; say what you want to change and why.",
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
    /// The patches, applied together to the file as it is now.
    patches: Vec<Patch>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Patch {
    /// replace: put newText where oldText stands. append_eof: add newText at the end. prepend_bof: add it at the
    /// start. overwrite: newText becomes the whole file. All but replace make a file that is missing.
    operation: PatchKind,
    /// The text to replace, copied from the file; it must occur exactly once. Required for replace.
    old_text: Option<String>,
    /// The text to put there. An empty text deletes oldText; so does replace with toClipboard and without newText,
    /// which cuts oldText out into the clipboard. Ignored when fromClipboard is given.
    new_text: Option<String>,
    /// Store the text that replace finds in the clipboard of this name. Without newText and fromClipboard the text is
    /// cut out; with the same name in fromClipboard it is copied and stays.
    to_clipboard: Option<String>,
    /// Use the content of the clipboard of this name as the new text.
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
    /// The prefix to remove from every line that is not empty; each must have it.
    strip: Option<String>,
    /// The prefix to put on every line that is not empty, after stripping.
    add: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct RequestModeUpgrade {
    /// What you want to change and why, for the person who decides.
    reason: Option<String>,
}

fn patch(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: PatchFile = read(arguments.fields)?;
    let path = FilePath::parse(&fields.path, arguments.roots, Absolute::InsideRoot)?;
    if fields.patches.is_empty() {
        return Err(ParseError::new("`patches` is an empty list", "Put at least one patch into it."));
    }
    let texts = fields.patches.iter().flat_map(|patch| [&patch.old_text, &patch.new_text]).flatten();
    if tokens::more_than(texts.map(String::as_str), MAX_TOKENS) {
        let message = format!("the patches hold more than {MAX_TOKENS} tokens of text");
        let hint = "Break the change into smaller patches and send them in several calls.";
        return Err(ParseError::refused(Refused::RequestTooLarge, message, hint));
    }
    let mut clips = Clips::default();
    let mut operations = Vec::new();
    for (patch, number) in fields.patches.into_iter().zip(1..) {
        let (operation, clip) = operation(patch, number)?;
        operations.push(operation);
        if let Some(clip) = clip {
            clips.uses.insert(number, clip);
        }
    }
    Ok(Plan::Edit(EditPlan {
        warnings: arguments.warnings,
        clips,
        ..EditPlan::new(vec![FilePlan { path, version: None, operations }], RULES)
    }))
}

fn operation(patch: Patch, number: usize) -> Result<(Operation, Option<Clip>), ParseError> {
    let field = |name: &str| format!("`patches[{}].{name}`", number - 1);
    let replaces = matches!(patch.operation, PatchKind::Replace);
    if !replaces && patch.to_clipboard.is_some() {
        let message = format!("{} is given, but only replace removes text to store", field("toClipboard"));
        return Err(ParseError::new(message, "Leave it out, or use the operation `replace`."));
    }
    if !replaces && patch.old_text.is_some() {
        let message = format!("{} is given, but only replace looks for text", field("oldText"));
        return Err(ParseError::new(message, "Leave it out, or use the operation `replace`."));
    }
    // Whoever takes text into a clipboard and gives nothing instead cuts it out.
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
    let (separator, missing) = (Separator::Literal, Missing::Create);
    let operation = match patch.operation {
        PatchKind::Replace => {
            let Some(old) = patch.old_text else {
                let hint = "Copy the text to replace from the file; it must occur exactly once.";
                return Err(ParseError::new(format!("{} is required for replace", field("oldText")), hint));
            };
            Operation::Replace { old, new: text, which: Which::Unique, within: None }
        }
        PatchKind::AppendEof => Operation::Append { text, separator, missing },
        PatchKind::PrependBof => Operation::Prepend { text, separator, missing },
        PatchKind::Overwrite => Operation::Overwrite { content: text, missing },
    };
    let reindent = patch
        .reindent
        .map(|how| Reindent { strip: how.strip.unwrap_or_default(), add: how.add.unwrap_or_default() });
    let clip = Clip { to: patch.to_clipboard, from: patch.from_clipboard, reindent };
    let used = clip.to.is_some() || clip.from.is_some() || clip.reindent.is_some();
    Ok((operation, used.then_some(clip)))
}

fn render(told: &RenderInput<'_>) -> Rendered {
    let report = told.report;
    let mut lines = match report.outcome {
        Outcome::ModeUpgraded | Outcome::ModeUnchanged => {
            vec![format!("Unrestricted mode: {}.", report.message)]
        }
        Outcome::Applied => vec![applied(told)],
        Outcome::NoChange => {
            vec![format!("Patches applied to {}: the text is unchanged.", told.argument("path"))]
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
    Rendered::from(lines.join("\n"))
}

fn applied(told: &RenderInput<'_>) -> String {
    let count = told.call["patches"].as_array().map_or(1, Vec::len);
    let patches = if count == 1 { "1 patch".into() } else { format!("{count} patches") };
    let made = told.report.files.iter().any(|file| file.action == slipstitch_core::report::Action::Created);
    let file = if made { "new file " } else { "" };
    let change = told.report.change.map_or(String::new(), |id| format!(" (change {id})"));
    format!("Applied {patches} to {file}{}{change}.", told.argument("path"))
}

fn refused(report: &Report) -> Vec<String> {
    if report.failures.is_empty() {
        let mut lines = vec![format!("Error: {}", report.message)];
        lines.extend(report.hint.clone());
        return lines;
    }
    let mut lines = vec!["Error: no patch was applied, and the file is unchanged.".to_owned()];
    for failure in &report.failures {
        lines.push(format!("{}{}", number(failure), reason(failure)));
        for candidate in &failure.candidates {
            lines.push(format!("  {}:", candidate.lines));
            lines.extend(candidate.preview.lines().map(|text| format!("    {text}")));
        }
        lines.push(format!("  {}", failure.hint));
    }
    lines
}

fn number(failure: &FailureReport) -> String {
    failure.edit.map_or(String::new(), |edit| format!("edit {edit}: "))
}

fn reason(failure: &FailureReport) -> String {
    match failure.reason {
        Unplaced::NoMatch | Unplaced::AlreadyApplied => format!("old text not found: {}", failure.message),
        Unplaced::FileNotFound
        | Unplaced::FileExists
        | Unplaced::BinaryFile
        | Unplaced::BlankOldText
        | Unplaced::Ambiguous
        | Unplaced::HunkMismatch
        | Unplaced::NotAtEnd
        | Unplaced::OutsideScope
        | Unplaced::ScopeNotFound
        | Unplaced::NoPlace
        | Unplaced::UnclearIndentation
        | Unplaced::TooCostly
        | Unplaced::ContentDiffers
        | Unplaced::Displaced
        | Unplaced::OutOfRange
        | Unplaced::UnexpectedLines
        | Unplaced::Overlap
        | Unplaced::Unencodable
        | Unplaced::SplitsCharacter
        | Unplaced::JoinsNewlines
        | Unplaced::NoClipboard
        | Unplaced::CannotStrip
        | Unplaced::SameFile
        | Unplaced::PathTwice
        | Unplaced::NotAlone => failure.message.clone(),
    }
}
