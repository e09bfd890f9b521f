//! The `forge` dialect: one tool that replaces a snippet or a range of lines and answers with data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Dialect, Effect, RenderInput, Rendered, Tool, schema};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::{Outcome, Refused, Status, Unplaced};
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::{
    EditPlan, EditRules, FilePlan, LineRange, Operation, Plan, Repeated, Shrink, Which,
};
use slipstitch_core::report::Report;
use slipstitch_core::settings::Forge;
use slipstitch_text::{ContentHash, Newline, VersionClaim};

/// The dialect's line in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "forge",
    about: "Forge's smart file edit: one snippet or one range of lines, exactly, answered with data",
    tools: &[EDIT],
    phrases: |_| PHRASES,
    example: |_, call| if is_by_lines(call) { LINE_EXAMPLE } else { EDIT.example },
    file_field: Some("path"),
    render,
    ..Dialect::PLAIN
};

const PHRASES: HintPhrases = HintPhrases {
    old: "`old_snippet`",
    within: Some("name the lines it lies in with `match_hint`"),
    fill: Some("send `start_line` 1 and `end_line` 0 to put `new_content` into it"),
    ..HintPhrases::NONE
};

const LINE_EXAMPLE: &str =
    r#"{"path": "src/main.rs", "start_line": 10, "end_line": 12, "new_content": "    run();\n"}"#;

/// Whoever names lines, or quotes all the text that is to go, means it: there is no other tool here
/// to shrink a file with.
const RULES: EditRules =
    EditRules { shrink: Shrink::Allowed, repeated: Repeated::NoMatch, ..EditRules::STRICT };

const EDIT: Tool = Tool {
    name: "Edit",
    aliases: &["edit"],
    title: "Edit a file",
    about: "Replaces text in one file and keeps its line ends. There are two ways, never both in one call. By snippet: \
            `old_snippet` is the text that stands in the file exactly once, `new_snippet` what takes its place; if it \
            stands there more than once, `match_hint` says in which lines to look. By lines: `start_line` to `end_line` \
            are replaced by `new_content`. Send the `current_file_hash` of the last answer as `file_hash` to be sure \
            that nobody has changed the file since. The answer's `status` is ok, no_match, stale_file or error; unless \
            it is ok, the file is as before.",
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
    /// By snippet: the text to replace, copied from the file without line numbers.
    old_snippet: Option<String>,
    /// By snippet: the text to put there. Empty deletes the old text.
    new_snippet: Option<String>,
    /// By snippet: the lines that the match must lie in. Without a match inside them nothing is changed.
    match_hint: Option<MatchHint>,
    /// By lines: the first line to replace, counting from 1.
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// By lines: the last line to replace; it goes too. 0 with start_line 1 replaces none: new_content goes before
    /// the first line, also into an empty file.
    #[schemars(range(min = 0))]
    end_line: Option<usize>,
    /// By lines: the lines to put there. Empty deletes the lines.
    new_content: Option<String>,
    /// The hash of the file as you know it, from current_file_hash. If the file has another, nothing is changed.
    file_hash: Option<String>,
    /// A name of your own for this edit; the answer repeats it.
    #[expect(dead_code, reason = "the answer takes it from the call, even from one that cannot be read")]
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

fn parse(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let settings = &arguments.settings.edit;
    if !settings.enabled {
        return Err(ParseError::refused(
            Refused::ToolDisabled,
            "the tool `Edit` is disabled",
            "The person in charge can enable it: `enabled = true` under `[tools.edit]` in the configuration.",
        ));
    }
    let fields: Edit = read(arguments.fields)?;
    let path = FilePath::parse(&fields.path, arguments.roots, Absolute::InsideRoot)?;
    let about = |error: ParseError| error.about(&path);
    let version = fields.file_hash.as_deref().map(VersionClaim::parse_any);
    let operation = operation(fields).map_err(about)?;
    if version.is_none() && settings.require_file_hash {
        return Err(about(ParseError::refused(
            Refused::HashRequired,
            "`file_hash` is missing, and the settings ask for it",
            "Read the file, then send its hash (`current_file_hash`) along with the edit.",
        )));
    }
    fits(&operation, settings).map_err(|error| about(error).unless_stale(version.as_ref()))?;
    Ok(Plan::Edit(EditPlan {
        warnings: arguments.warnings,
        ..EditPlan::new(vec![FilePlan { path, version, operations: vec![operation] }], RULES)
    }))
}

/// Which of the two ways the fields mean. Empty new text beside the other way's fields is a placeholder.
fn operation(fields: Edit) -> Result<Operation, ParseError> {
    let filled = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let snippet = names(&[
        ("old_snippet", fields.old_snippet.is_some()),
        ("new_snippet", filled(&fields.new_snippet)),
        ("match_hint", fields.match_hint.is_some()),
    ]);
    let lines = names(&[
        ("start_line", fields.start_line.is_some()),
        ("end_line", fields.end_line.is_some()),
        ("new_content", filled(&fields.new_content)),
    ]);
    match (snippet.is_empty(), lines.is_empty()) {
        (false, false) => Err(ParseError::new(
            "fields of a snippet edit and of a line edit were sent together",
            format!(
                "To edit by snippet leave out {}{}; to edit by lines leave out {}.",
                lines.join(", "),
                if fields.match_hint.is_none() { " (lines to look in go into `match_hint`)" } else { "" },
                snippet.join(", "),
            ),
        )),
        (true, false) => by_lines(fields),
        _ => by_snippet(fields),
    }
}

fn names(fields: &[(&str, bool)]) -> Vec<String> {
    fields.iter().filter(|(_, there)| *there).map(|(name, _)| format!("`{name}`")).collect()
}

fn by_snippet(fields: Edit) -> Result<Operation, ParseError> {
    let (old, new) = match (fields.old_snippet, fields.new_snippet) {
        (Some(old), Some(new)) => (old, new),
        (old, new) => {
            let missing = names(&[("old_snippet", old.is_none()), ("new_snippet", new.is_none())]);
            return Err(ParseError::new(
                format!("a snippet edit needs {}", missing.join(" and ")),
                "Send the text to replace and the text to put there (empty deletes), or `start_line`, `end_line` and `new_content`.",
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
            "Send the first line, the last line and the text to put there (empty deletes).",
        ));
    };
    let new = new.clone();
    if (first, last) == (1, 0) {
        return Ok(Operation::InsertLines { after: 0.into(), text: new });
    }
    Ok(Operation::ReplaceLines { lines: range(first, last, "")?, new, expect: None })
}

fn range(first: usize, last: usize, place: &str) -> Result<LineRange, ParseError> {
    if last < first {
        let message = format!("`{place}end_line` is {last}, which is before `{place}start_line` {first}");
        return Err(ParseError::new(message, "Give the first line and then the last, both included."));
    }
    Ok(LineRange { first, last })
}

/// Whether the texts keep within the limits that are set.
fn fits(operation: &Operation, settings: &Forge) -> Result<(), ParseError> {
    let (texts, most) = match operation {
        Operation::Replace { old, new, .. } => {
            (vec![("old_snippet", old), ("new_snippet", new)], settings.max_snippet_bytes)
        }
        Operation::ReplaceLines { new, .. } | Operation::InsertLines { text: new, .. } => {
            (vec![("new_content", new)], settings.max_line_edit_bytes)
        }
        _ => return Ok(()),
    };
    match texts.into_iter().find(|(_, text)| text.len() > most) {
        None => Ok(()),
        Some((field, text)) => Err(ParseError::refused(
            Refused::RequestTooLarge,
            format!("`{field}` has {} bytes; at most {most} are allowed", text.len()),
            "Make several smaller edits.",
        )),
    }
}

/// The answer, in the order in which it is shown.
#[derive(Serialize)]
struct Payload<'a> {
    action: &'static str,
    status: &'static str,
    message: String,
    current_file_hash: Option<ContentHash>,
    newline_kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Preview<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

/// A place that the caller may have meant.
#[derive(Serialize)]
struct Preview<'a> {
    line: usize,
    preview: &'a str,
}

fn render(told: &RenderInput<'_>) -> Rendered {
    let report = told.report;
    let by_lines = is_by_lines(told.call);
    let file = report.files.first();
    let payload = Payload {
        action: if by_lines { "apply_line_edit" } else { "apply_snippet_edit" },
        status: status(report, by_lines),
        message: message(report),
        current_file_hash: file.and_then(|file| file.hash),
        newline_kind: file.map(|file| Newline::name(file.newline)),
        region_id: told.call["region_id"].as_str().filter(|name| !name.is_empty()),
        candidates: report
            .candidates
            .iter()
            .map(|candidate| Preview { line: candidate.lines.start, preview: &candidate.preview })
            .collect(),
        warnings: &report.warnings,
    };
    let text = serde_json::to_string_pretty(&payload);
    // Texts, numbers and lists of them always have a JSON form.
    Rendered { text: text.unwrap_or_default(), payload: serde_json::to_value(&payload).ok() }
}

/// A call that cannot be read still says which way it meant, as far as that shows.
fn is_by_lines(call: &Value) -> bool {
    let there = |name: &str| !call[name].is_null() && call[name] != "";
    !there("old_snippet") && (there("start_line") || there("end_line") || there("new_content"))
}

fn status(report: &Report, by_lines: bool) -> &'static str {
    match report.outcome {
        Outcome::Unplaced(Unplaced::NoMatch) => "no_match",
        // A match hint beyond the end of the file contains no match.
        Outcome::Unplaced(Unplaced::OutOfRange) if !by_lines => "no_match",
        Outcome::Refused(Refused::StaleFile) => "stale_file",
        outcome if outcome.is_success() => "ok",
        _ => "error",
    }
}

fn message(report: &Report) -> String {
    let hint = match report.outcome {
        Outcome::Refused(Refused::StaleFile) if !report.files.is_empty() => Some(
            "Read the file again, make the edit for what it holds now, and send `current_file_hash` as `file_hash`.",
        ),
        _ => report.hint.as_deref(),
    };
    match report.status() {
        Status::Applied => report.message.clone(),
        Status::NoChange => "Nothing was changed: the result is the same, byte for byte".into(),
        _ => format!("{}. {}", report.message, hint.unwrap_or_default()).trim_end().into(),
    }
}
