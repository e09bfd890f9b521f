//! The `xzatoma` dialect: one tool with four modes, whose errors steer the model towards the safe ones.

use schemars::JsonSchema;
use serde::Deserialize;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, RenderInput, Rendered, Tool, schema};
use slipstitch_core::guard::Refusal;
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::{Invalid, Status, Topic};
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    Confirmation, EditPlan, EditRules, FilePlan, IfAlreadyApplied, IfMissing, Operation, OverwriteConsent,
    Plan, Run, Separator, Shrink, Which,
};
use slipstitch_core::report::{Report, diff_for_model};
use slipstitch_core::settings::WithoutOldText;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "xzatoma",
    about: "XZatoma's edit_file: edit, create, overwrite or append, with safety checks and a diff",
    tools: &[EDIT_FILE],
    guide: GUIDELINES,
    guidelines: Some(GUIDELINES),
    phrases: |_| PHRASES,
    variant_field: Some("mode"),
    render: |input| Rendered::from(render(input)),
    ..Dialect::PLAIN
};

/// `EDIT_FILE_USAGE_GUIDELINES`, word for word.
const GUIDELINES: &str = include_str!("xzatoma/guidelines.md");

const PHRASES: HintPhrases = HintPhrases {
    old: "`old_text`",
    create: Some("use 'create' mode"),
    overwrite: Some("use 'overwrite' mode"),
    confirm: Some("send `confirm_overwrite` as true"),
    append: Some("use 'append' mode"),
    fill: Some("use 'append' mode"),
    ..HintPhrases::NONE
};

const EDIT_FILE: Tool = Tool {
    name: "edit_file",
    aliases: &[],
    title: "Edit a file",
    about: "Create, edit, append to, or overwrite files with safety checks and diff preview. IMPORTANT: Use 'edit' mode \
            with old_text for modifications, 'append' for adding content to end of file, 'create' for new files only. \
            NEVER use 'overwrite' unless explicitly replacing entire file.",
    effect: Effect::Replaces,
    empty_is_value: &[],
    example: r#"{"path": "Makefile", "mode": "edit", "old_text": ".PHONY: all build", "content": ".PHONY: all build test"}"#,
    schema: schema::of::<EditFile>,
    parse,
};

#[derive(Deserialize, JsonSchema)]
struct EditFile {
    /// Relative path to the file (no absolute paths or traversal)
    path: String,
    #[schemars(description = "Operation mode:\n\
                              - 'edit': Targeted replacement (REQUIRES old_text)\n\
                              - 'create': New file only (fails if exists)\n\
                              - 'append': Add to end of file (safe for adding content)\n\
                              - 'overwrite': Replace entire file (DANGEROUS - use sparingly)")]
    mode: Mode,
    /// New content to write, replace with, or append
    content: String,
    /// REQUIRED for edit mode: Unique text snippet to find and replace. Must match exactly once in the file. Include enough context to be unique.
    old_text: Option<String>,
    /// Show the diff without writing the file.
    preview_only: Option<bool>,
    /// Overwrite mode only: set to true to replace a file's content, after checking the diff that the call showed without it.
    confirm_overwrite: Option<bool>,
    /// Edit mode only: set to true to apply an edit that the safety check refused, after checking the diff it showed.
    confirm_reduction: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Edit,
    Create,
    Overwrite,
    Append,
}

/// For a confirmation that was sent before the diff was shown.
const SEND_AGAIN: &str = "If the diff is what the user wants, send the same call again.";

const NEEDS_OLD_TEXT: &str = "edit mode requires old_text parameter. To append to file, use 'append' mode. \
                              To replace entire file, use 'overwrite' mode explicitly.";

fn parse(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: EditFile = read(arguments.fields)?;
    let settings = &arguments.settings.xzatoma;
    let mut warnings = arguments.warnings;
    let path = FilePath::parse(&fields.path, arguments.roots, Absolute::Refused)?;
    let run = if fields.preview_only == Some(true) { Run::Dry } else { Run::Real };
    let falls_back = fields.mode == Mode::Edit
        && fields.old_text.is_none()
        && settings.edit_without_old_text == WithoutOldText::Overwrite;
    let mode = if falls_back { Mode::Overwrite } else { fields.mode };
    // The fallback is the way in which files got lost, so it always needs a confirmation.
    let asks_overwrite = settings.confirm_overwrite || falls_back;
    let confirmation = match mode {
        Mode::Overwrite if asks_overwrite => confirmation(fields.confirm_overwrite),
        Mode::Edit if settings.confirm_reduction => confirmation(fields.confirm_reduction),
        Mode::Create | Mode::Append | Mode::Overwrite | Mode::Edit => Confirmation::Unused,
    };
    if mode == Mode::Overwrite && confirmation == Confirmation::Awaited && run == Run::Dry {
        warnings.push("to write this, send confirm_overwrite: true".into());
    }
    if falls_back {
        warnings.push(FALLBACK_WARNING.into());
    }
    let rules = EditRules {
        max_file_bytes: Some(settings.max_file_size),
        shrink: Shrink::Limited {
            from_lines: settings.reduction_from_lines,
            to_one_in: settings.reduction_to_one_in,
        },
        confirmation,
        // A preview writes nothing, and users should see it before they confirm.
        overwrite: match asks_overwrite && run == Run::Real {
            true => OverwriteConsent::Lacking,
            false => OverwriteConsent::Given,
        },
        if_already_applied: IfAlreadyApplied::NoMatch,
        ..EditRules::STRICT
    };
    let operation = operation(mode, fields.content, fields.old_text)?;
    Ok(Plan::Edit(EditPlan {
        run,
        warnings,
        ..EditPlan::new(vec![FilePlan { path, version: None, operations: vec![operation] }], rules)
    }))
}

fn confirmation(sent: Option<bool>) -> Confirmation {
    if sent == Some(true) { Confirmation::Sent } else { Confirmation::Awaited }
}

const FALLBACK_WARNING: &str = "edit mode without old_text replaces the entire file; this fallback will be removed. \
                                Send old_text, or use 'append' or 'overwrite' mode";

fn operation(mode: Mode, content: String, old_text: Option<String>) -> Result<Operation, ParseError> {
    let if_missing = IfMissing::Fail;
    Ok(match (mode, old_text) {
        (Mode::Edit, Some(old)) => {
            Operation::Replace { old, new: content, which: Which::Unique, within: None }
        }
        (Mode::Edit, None) => {
            let hint = "Send the text to replace as `old_text`, or use another `mode`.";
            return Err(ParseError {
                outcome: Invalid::OldTextMissing.into(),
                ..ParseError::new(NEEDS_OLD_TEXT, hint)
            });
        }
        (_, Some(_)) => {
            return Err(ParseError::new(
                "old_text is only allowed in edit mode",
                "Use 'edit' mode to replace old_text with content, or omit old_text.",
            ));
        }
        (Mode::Create, None) => Operation::Create { content },
        (Mode::Overwrite, None) => Operation::Overwrite { content, if_missing },
        (Mode::Append, None) => {
            let separator = Separator::NewlineUnlessTerminated;
            Operation::Append { text: content, separator, if_missing }
        }
    })
}

fn render(input: &RenderInput<'_>) -> String {
    let report = input.report;
    let path = input.argument("path");
    match report.status() {
        // The document shows diffs of edits and appends; that of a new file would only repeat the call.
        Status::Applied if mode(input) == Mode::Create => {
            let lines = match report.files.first().and_then(|file| file.lines) {
                Some(1) => " (1 line)".into(),
                Some(count) => format!(" ({count} lines)"),
                None => String::new(),
            };
            with_warnings(format!("{}{lines}", done(Mode::Create, path)), report)
        }
        Status::Applied => with_diff(&done(effective_mode(input), path), report),
        Status::WouldApply => {
            let would = would_do(effective_mode(input), path);
            with_diff(&format!("Preview only, nothing was written. This call would {would}"), report)
        }
        Status::NoChange => {
            format!("No change to {path}: old and new content are identical. Nothing was written.")
        }
        Status::Pending => {
            format!("{}\n{}", report.message, report.hint.as_deref().unwrap_or_default()).trim_end().into()
        }
        Status::AlreadyApplied | Status::Shown | Status::Refused | Status::Invalid | Status::Failed => {
            refusal(input)
        }
    }
}

/// The mode of a call; that of a call that cannot be parsed counts as `edit`.
fn mode(input: &RenderInput<'_>) -> Mode {
    Mode::deserialize(&input.call["mode"]).unwrap_or(Mode::Edit)
}

/// What a successful call did: without `old_text`, `edit` mode overwrites if the settings allow it.
fn effective_mode(input: &RenderInput<'_>) -> Mode {
    match mode(input) {
        Mode::Edit if input.argument("old_text").is_empty() => Mode::Overwrite,
        mode => mode,
    }
}

fn done(mode: Mode, path: &str) -> String {
    match mode {
        Mode::Create => format!("Created {path}"),
        Mode::Overwrite => format!("Overwrote {path}"),
        Mode::Append => format!("Appended to {path}"),
        Mode::Edit => format!("Edited {path} (replaced 1 occurrence)"),
    }
}

fn would_do(mode: Mode, path: &str) -> String {
    match mode {
        Mode::Create => format!("create {path}"),
        Mode::Overwrite => format!("overwrite {path}"),
        Mode::Append => format!("append to {path}"),
        Mode::Edit => format!("edit {path} (replace 1 occurrence)"),
    }
}

fn with_diff(headline: &str, report: &Report) -> String {
    let diff = report.diff.as_deref().unwrap_or_default();
    with_warnings(format!("{headline}:\n\n{}", diff_for_model(diff)), report)
}

fn with_warnings(mut out: String, report: &Report) -> String {
    for warning in &report.warnings {
        out.push_str(&format!("\n\nWarning: {warning}"));
    }
    out
}

fn refusal(input: &RenderInput<'_>) -> String {
    let report = input.report;
    let path = input.argument("path");
    if let Some(refusal) = &report.refusal
        && let Some(text) = guard_refusal(refusal, input)
    {
        let Some(diff) = &report.diff else { return text };
        return format!("{text}\n\nNothing was written. The change would be:\n\n{}", diff_for_model(diff));
    }
    let with_hint = || match &report.hint {
        Some(hint) => format!("{}\nHint: {hint}", report.message),
        None => report.message.clone(),
    };
    let Some(topic) = report.outcome.topic() else { return with_hint() };
    match (topic, report.failures.first()) {
        (Topic::OldTextMissing, _) => report.message.clone(),
        (Topic::FileNotFound, _) => {
            let question = report.did_you_mean().map_or(String::new(), |question| format!("\n{question}"));
            file_not_found(mode(input), path) + &question
        }
        (Topic::FileExists, _) => format!(
            "Can't create file: file already exists ({path})\n\
             Hint: Use 'edit' mode to change it or 'append' mode to add to it."
        ),
        (Topic::NoMatch, Some(failure)) => format!(
            "The specified old_text was not found in the file.\n\
             Searched for: {}\n\
             Hint: Use read_file to view current contents and find a unique anchor point.{}",
            input.argument("old_text"),
            failure.describe_candidates("\n", "new content")
        ),
        (Topic::Ambiguous, Some(failure)) => format!(
            "The specified old_text matches {} (must be unique).\n\
             Searched for: {}\n\
             Hint: Include more surrounding context to make the match unique.{}",
            match failure.matches.unwrap_or_default() {
                1 => format!("1 location{}", failure.describe_overlap()),
                count => format!("{count} locations"),
            },
            input.argument("old_text"),
            failure.list_match_lines()
        ),
        (
            Topic::NoMatch
            | Topic::Ambiguous
            | Topic::AlreadyApplied
            | Topic::Displaced
            | Topic::BlankOldText
            | Topic::OutOfRange
            | Topic::OutsideRoot
            | Topic::BadRequest
            | Topic::StaleFile
            | Topic::ShrinksFile
            | Topic::RestrictedMode
            | Topic::NotWritable
            | Topic::General,
            _,
        ) => with_hint(),
    }
}

fn file_not_found(mode: Mode, path: &str) -> String {
    match mode {
        Mode::Append => {
            format!("Can't append to file: file not found ({path})\nHint: Use 'create' mode for new files.")
        }
        Mode::Overwrite => {
            format!("Can't overwrite file: file not found ({path})\nHint: Use 'create' mode for new files.")
        }
        Mode::Edit | Mode::Create => format!("Can't edit file: file not found ({path})"),
    }
}

/// The document's text for a guard's refusal. Only a change that can be confirmed comes with its diff.
fn guard_refusal(refusal: &Refusal, input: &RenderInput<'_>) -> Option<String> {
    let path = input.argument("path");
    let is_sent = |name: &str| input.call[name] == true;
    Some(match refusal {
        Refusal::Shrinks { before, after, .. } => format!(
            "Safety check failed: This edit would reduce file from {before} lines to {after} lines.\n\
             This suggests the edit may be replacing too much content.\n\
             If you intend to replace the entire file, use 'overwrite' mode explicitly.\n\
             Otherwise, review your old_text parameter to ensure it's specific enough.{}",
            match input.report.diff.is_some() {
                true if is_sent("confirm_reduction") => format!("\n{SEND_AGAIN}"),
                true =>
                    "\nIf the diff is what the user wants, send the call again with confirm_reduction: true."
                        .into(),
                false => String::new(),
            }
        ),
        Refusal::FileTooLarge { size, max, .. } => {
            format!("Resulting content size {size} bytes exceeds maximum {max} bytes")
        }
        Refusal::Unconfirmed { .. } if mode(input) == Mode::Edit => match is_sent("confirm_overwrite") {
            true => format!("{NEEDS_OLD_TEXT}\nHint: This would replace the entire file. {SEND_AGAIN}"),
            false => {
                format!("{NEEDS_OLD_TEXT}\nHint: To replace the entire file, send confirm_overwrite: true.")
            }
        },
        Refusal::Unconfirmed { .. } if is_sent("confirm_overwrite") => format!(
            "overwrite mode shows the diff before it is confirmed: {path} has content that would be replaced completely.\n\
             Hint: Use 'edit' or 'append' mode to keep it. {SEND_AGAIN}"
        ),
        Refusal::Unconfirmed { .. } => format!(
            "overwrite mode requires confirm_overwrite: {path} has content that would be replaced completely.\n\
             Hint: Use 'edit' or 'append' mode to keep it. To replace all of it, send confirm_overwrite: true."
        ),
        Refusal::Stale { .. }
        | Refusal::RequestTooLarge { .. }
        | Refusal::Nul { .. }
        | Refusal::Placeholder { .. }
        | Refusal::Protected { .. }
        | Refusal::Denied { .. }
        | Refusal::OthersChange { .. }
        | Refusal::NoChange
        | Refusal::Custom { .. } => return None,
    })
}
