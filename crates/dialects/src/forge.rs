//! The `forge` dialect: one tool that replaces a snippet or a line range and answers with a status payload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, RenderInput, Rendered, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::{Refused, Status, Topic};
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    EditPlan, EditRules, FilePlan, IfAlreadyApplied, LineRange, NewlineStyle, Operation, Plan, Review,
    Shrink, Which,
};
use slipstitch_core::report::Report;
use slipstitch_core::settings::{Approval, Forge};
use slipstitch_text::{Newline, VersionClaim};

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "forge",
    about: "Forge's Smart File Edit: replaces one snippet or line range exactly and answers with a status payload",
    tools: &[EDIT],
    guide: GUIDE,
    phrases: |_| PHRASES,
    example: |_, call| if is_by_lines(call) { LINE_EXAMPLE } else { EDIT.example },
    file_field: Some("path"),
    is_enabled: Some(|settings| settings.edit.is_enabled()),
    render,
    ..Dialect::PLAIN
};

const GUIDE: &str = "\
    Edit replaces a snippet (old_snippet, new_snippet) or a range of lines (start_line, end_line, new_content). Send \
    the `file_hash` that you know: if the file has changed since, the edit is refused. If a snippet occurs more than \
    once, `match_hint` says which lines you mean. The answer is a status payload with the new hash.";

const PHRASES: HintPhrases = HintPhrases {
    old: "`old_snippet`",
    within: Some("set `match_hint` to the lines that contain it"),
    fill: Some("send `start_line` 1 and `end_line` 0 to insert `new_content`"),
    ..HintPhrases::NONE
};

const LINE_EXAMPLE: &str =
    r#"{"path": "src/main.rs", "start_line": 10, "end_line": 12, "new_content": "    run();\n"}"#;

/// Shrinking is allowed: a caller that names lines or quotes the text to remove means it, and the dialect has no other
/// tool for large deletions.
const RULES: EditRules = EditRules {
    shrink: Shrink::Allowed,
    if_already_applied: IfAlreadyApplied::NoMatch,
    newline: NewlineStyle::Dominant,
    ..EditRules::STRICT
};

const EDIT: Tool = Tool {
    name: "Edit",
    aliases: &["edit"],
    title: "Edit a file",
    about: "Replaces text in one file and preserves its line endings. Snippet mode: `old_snippet`, which must occur exactly \
            once, is replaced with `new_snippet`; `match_hint` limits the search to a range of lines. Line mode: \
            `start_line` to `end_line` are replaced with `new_content`. The answer's `status` is ok, no_match, \
            stale_file, error, or pending if a person must approve the edit; unless it is ok, the file is unchanged.",
    effect: Effect::Edits,
    empty_is_value: &["new_snippet", "new_content"],
    example: r#"{"path": "src/main.rs", "old_snippet": "let retries = 3;", "new_snippet": "let retries = 5;", "match_hint": {"start_line": 10, "end_line": 40}}"#,
    schema: schema::of::<Edit>,
    parse,
};

#[derive(Deserialize, JsonSchema)]
struct Edit {
    /// The file, relative to the root.
    path: String,
    /// Snippet mode: the text to replace, copied from the file without line numbers.
    old_snippet: Option<String>,
    /// Snippet mode: the replacement. Empty deletes the old text.
    new_snippet: Option<String>,
    /// Snippet mode: the range of lines that must contain the match. If it does not, nothing is changed.
    match_hint: Option<MatchHint>,
    /// Line mode: the first line to replace, counting from 1.
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// Line mode: the last line to replace (inclusive). start_line 1 with end_line 0 replaces nothing and inserts
    /// new_content before the first line, even if the file is empty.
    #[schemars(range(min = 0))]
    end_line: Option<usize>,
    /// Line mode: the new lines. Empty deletes the lines.
    new_content: Option<String>,
    /// The expected hash of the file, from current_file_hash. If the file's hash differs, nothing is changed.
    file_hash: Option<String>,
    /// An identifier of your choice for this edit; the answer repeats it.
    #[expect(dead_code, reason = "the answer takes it from the raw call, which may not parse")]
    region_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct MatchHint {
    /// The first line of the range, counting from 1. Default: the start of the file.
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// The last line of the range. Default: the end of the file.
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
}

fn refuse_by_settings(settings: &Forge) -> Option<ParseError> {
    if !settings.is_enabled() {
        return Some(ParseError::refused(
            Refused::ToolDisabled,
            "the tool `Edit` is disabled",
            "The user can enable it with `enabled = true` under `[tools.edit]` in the configuration.",
        ));
    }
    (settings.approval == Approval::Deny).then(|| {
        ParseError::refused(
            Refused::Declined,
            "the settings do not allow edits with `Edit`",
            "The user can change `approval` under `[tools.edit]` in the configuration.",
        )
    })
}

fn parse(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let settings = &arguments.settings.edit;
    if let Some(error) = refuse_by_settings(settings) {
        // FR-SFE-04: the answer has the file's hash and newline kind, even if the rest of the call is invalid.
        let path = arguments.fields["path"].as_str().unwrap_or_default();
        return Err(match FilePath::parse(path, arguments.roots, Absolute::InsideRoot) {
            Ok(path) => error.about(&path),
            Err(_) => error,
        });
    }
    let fields: Edit = read(arguments.fields)?;
    let path = FilePath::parse(&fields.path, arguments.roots, Absolute::InsideRoot)?;
    let with_path = |error: ParseError| error.about(&path);
    let version = fields.file_hash.as_deref().map(VersionClaim::parse_any);
    let operation = operation(fields).map_err(with_path)?;
    if version.is_none() && settings.require_file_hash {
        return Err(with_path(ParseError::refused(
            Refused::HashRequired,
            "`file_hash` is missing, and the settings require it",
            "Read the file, then send its hash (`current_file_hash`) with the edit.",
        )));
    }
    check_size(&operation, settings).map_err(|error| with_path(error).unless_stale(version.as_ref()))?;
    let review = match settings.approval {
        Approval::Ask => Review::Always { why: "the settings require approval for every edit".into() },
        Approval::Auto | Approval::Deny => Review::No,
    };
    Ok(Plan::Edit(EditPlan {
        warnings: arguments.warnings,
        review,
        ..EditPlan::new(vec![FilePlan { path, version, operations: vec![operation] }], RULES)
    }))
}

/// Chooses the mode that the fields belong to. An empty new text next to the other mode's fields is a placeholder.
fn operation(fields: Edit) -> Result<Operation, ParseError> {
    let filled = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let snippet = names(&[
        ("old_snippet", fields.old_snippet.is_some()),
        ("new_snippet", filled(&fields.new_snippet)),
        ("match_hint", fields.match_hint.is_some()),
    ]);
    // An `end_line` of 0 without a start is a placeholder, too.
    let has_end = fields.end_line.is_some_and(|last| last > 0 || fields.start_line.is_some());
    let lines = names(&[
        ("start_line", fields.start_line.is_some()),
        ("end_line", has_end),
        ("new_content", filled(&fields.new_content)),
    ]);
    match (snippet.is_empty(), lines.is_empty()) {
        (false, false) => Err(ParseError::new(
            "fields of snippet mode and of line mode were sent together",
            format!(
                "To edit by snippet, omit {}{}; to edit by lines, omit {}.",
                lines.join(", "),
                if fields.match_hint.is_none() {
                    " (to limit the search to some lines, use `match_hint`)"
                } else {
                    ""
                },
                snippet.join(", "),
            ),
        )),
        (true, false) => by_lines(fields),
        _ => by_snippet(fields),
    }
}

fn names(fields: &[(&str, bool)]) -> Vec<String> {
    fields.iter().filter(|(_, sent)| *sent).map(|(name, _)| format!("`{name}`")).collect()
}

fn by_snippet(fields: Edit) -> Result<Operation, ParseError> {
    let (old, new) = match (fields.old_snippet, fields.new_snippet) {
        (Some(old), Some(new)) => (old, new),
        (old, new) => {
            let missing = names(&[("old_snippet", old.is_none()), ("new_snippet", new.is_none())]);
            return Err(ParseError::new(
                format!("a snippet edit needs {}", missing.join(" and ")),
                "Send the text to replace and its replacement (empty deletes), or `start_line`, `end_line` and `new_content`.",
            ));
        }
    };
    let within = match fields.match_hint {
        None | Some(MatchHint { start_line: None, end_line: None }) => None,
        Some(hint) => {
            let last = hint.end_line.unwrap_or(usize::MAX);
            Some(range(hint.start_line.unwrap_or(1), last, "match_hint.")?)
        }
    };
    Ok(Operation::Replace { old, new, which: Which::Unique, within })
}

fn by_lines(fields: Edit) -> Result<Operation, ParseError> {
    let (Some(first), Some(last), Some(new)) = (fields.start_line, fields.end_line, &fields.new_content)
    else {
        let missing = names(&[
            ("start_line", fields.start_line.is_none()),
            ("end_line", fields.end_line.is_none()),
            ("new_content", fields.new_content.is_none()),
        ]);
        return Err(ParseError::new(
            format!("a line edit needs {}", missing.join(" and ")),
            "Send the first line (lines count from 1), the last line and the new lines (empty deletes).",
        ));
    };
    let new = new.clone();
    if (first, last) == (1, 0) {
        return Ok(Operation::InsertLines { after: 0.into(), text: new });
    }
    Ok(Operation::ReplaceLines { lines: range(first, last, "")?, new, expect: None })
}

fn range(first: usize, last: usize, prefix: &str) -> Result<LineRange, ParseError> {
    if last < first {
        let message = format!("`{prefix}end_line` ({last}) is before `{prefix}start_line` ({first})");
        return Err(ParseError::new(
            message,
            "Send the first and the last line of the range; both are included.",
        ));
    }
    Ok(LineRange { first, last })
}

/// Refuses texts that exceed the configured limits.
fn check_size(operation: &Operation, settings: &Forge) -> Result<(), ParseError> {
    let (texts, max) = match operation {
        Operation::Replace { old, new, .. } => {
            (vec![("old_snippet", old), ("new_snippet", new)], settings.max_snippet_bytes)
        }
        Operation::ReplaceLines { new, .. } | Operation::InsertLines { text: new, .. } => {
            (vec![("new_content", new)], settings.max_line_edit_bytes)
        }
        _ => return Ok(()),
    };
    match texts.into_iter().find(|(_, text)| text.len() > max) {
        None => Ok(()),
        Some((field, text)) => Err(ParseError::refused(
            Refused::RequestTooLarge,
            format!("`{field}` has {} bytes; the maximum is {max}", text.len()),
            "Split the change into smaller edits.",
        )),
    }
}

/// The answer; fields are serialized in this order.
#[derive(Serialize)]
struct Payload<'a> {
    action: &'static str,
    status: &'static str,
    message: String,
    current_file_hash: Option<String>,
    newline_kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Preview<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

/// A candidate for the intended place.
#[derive(Serialize)]
struct Preview<'a> {
    line: usize,
    preview: &'a str,
}

fn render(input: &RenderInput<'_>) -> Rendered {
    let report = input.report;
    let by_lines = is_by_lines(input.call);
    let file = report.files.first();
    let hash = file.and_then(|file| file.version);
    let mut payload = Payload {
        action: if by_lines { "apply_line_edit" } else { "apply_snippet_edit" },
        status: status(report, by_lines),
        message: message(report),
        current_file_hash: hash.map(|hash| hash.short()),
        newline_kind: file.map(|file| Newline::name(file.newline)),
        region_id: input.call["region_id"].as_str().filter(|name| !name.is_empty()),
        candidates: report
            .candidates
            .iter()
            .map(|candidate| Preview { line: candidate.lines.start, preview: &candidate.preview })
            .collect(),
        warnings: &report.warnings,
    };
    let text = serde_json::to_string(&payload);
    // The model gets enough digits to identify a version; programs get all of them.
    payload.current_file_hash = hash.map(|hash| hash.to_string());
    // Serialization cannot fail: the payload consists of strings, numbers and lists of them.
    Rendered { text: text.unwrap_or_default(), payload: serde_json::to_value(&payload).ok() }
}

/// Whether a call uses line mode, as far as the fields of a possibly invalid call show.
fn is_by_lines(call: &Value) -> bool {
    let sent = |name: &str| !call[name].is_null() && call[name] != "";
    !sent("old_snippet") && (sent("start_line") || sent("end_line") || sent("new_content"))
}

fn status(report: &Report, by_lines: bool) -> &'static str {
    // The document's tool runs after the approval, so its four values have none for an edit that waits for it.
    if report.status() == Status::Pending {
        return "pending";
    }
    let Some(topic) = report.outcome.topic() else { return "ok" };
    match topic {
        Topic::NoMatch => "no_match",
        // A match hint beyond the end of the file contains no match.
        Topic::OutOfRange if !by_lines => "no_match",
        Topic::StaleFile => "stale_file",
        Topic::Ambiguous
        | Topic::AlreadyApplied
        | Topic::Displaced
        | Topic::BlankOldText
        | Topic::OldTextMissing
        | Topic::OutOfRange
        | Topic::FileNotFound
        | Topic::FileExists
        | Topic::OutsideRoot
        | Topic::BadRequest
        | Topic::ShrinksFile
        | Topic::RestrictedMode
        | Topic::NotWritable
        | Topic::General => "error",
    }
}

fn message(report: &Report) -> String {
    let is_stale = report.outcome.topic() == Some(Topic::StaleFile);
    let hint = if is_stale && !report.files.is_empty() {
        Some(
            "Read the file again, adapt the edit to its current content, and send `current_file_hash` as `file_hash`.",
        )
    } else {
        report.hint.as_deref()
    };
    match report.status() {
        Status::Applied => report.message.clone(),
        Status::NoChange => "No change: old and new content are identical".into(),
        Status::WouldApply
        | Status::AlreadyApplied
        | Status::Shown
        | Status::Pending
        | Status::Refused
        | Status::Invalid
        | Status::Failed => format!("{}. {}", report.message, hint.unwrap_or_default()).trim_end().into(),
    }
}
