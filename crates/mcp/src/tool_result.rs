//! Converts the engine's answer to a tool result of the protocol.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};
use slipstitch::core::dialect::{Dialect, RenderInput, Tool};
use slipstitch::core::engine::Answer;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::{FileReport, Report};

use crate::tools::returns_file_text;

/// The key in `_meta` with which a program requests the full report, and under which it is returned.
pub(crate) const REPORT_KEY: &str = "slipstitch/report";

/// The key in `_meta` with which a client requests the unified diff of a written change, to show it to the user, and under
/// which it is returned.
pub(crate) const DIFF_KEY: &str = "slipstitch/diff";

/// The longest diff in `_meta`, in bytes.
const MAX_DIFF_BYTES: usize = 256 << 10;

/// What a caller wants in addition to the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// The outcome as structured content.
    pub(crate) structured: bool,
    /// The diff of a written change, in `_meta`.
    pub(crate) diff: bool,
    /// The full report, in `_meta`.
    pub(crate) report: bool,
}

/// The engine's answer as a tool result. Refusals are results too, because the model has to read them.
///
/// By default the text is all there is. Many hosts show the model the structured content instead of the text, or both, and
/// some show it the whole result.
pub(crate) fn tool_result(tool: &Tool, answer: &Answer, extras: Extras) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text.clone())];
    let mut result = match answer.report.is_error() {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    // File contents are sent once, as text, and so are errors: the model has to read every word of them.
    let is_text_only = returns_file_text(tool) && answer.report.status() == Status::Shown;
    if extras.structured && !is_text_only && !answer.report.is_error() {
        result.structured_content = Some(summary(answer));
    }
    let mut meta = if extras.report { full_report(answer) } else { MetaObject::new() };
    if let (Status::Applied, Some(diff)) = (answer.report.status(), &answer.report.diff)
        && (extras.diff || is_for_the_user(answer))
        && diff.len() <= MAX_DIFF_BYTES
    {
        meta.0.insert(DIFF_KEY.into(), diff.clone().into());
    }
    result.meta = Some(meta).filter(|meta| !meta.0.is_empty());
    result
}

/// Renders a report that was created outside the engine in the dialect's words.
pub(crate) fn render_report(dialect: &Dialect, tool: &Tool, call: &Value, report: Report) -> Answer {
    let rendered = (dialect.render)(&RenderInput { dialect, tool, call, report: &report });
    Answer { text: rendered.text, payload: rendered.payload, report }
}

/// Whether the dialect says that the diff is for the user: the model only gets a confirmation.
fn is_for_the_user(answer: &Answer) -> bool {
    answer.payload.as_ref().is_some_and(|payload| payload.get("diff").is_some())
}

fn summary(answer: &Answer) -> Value {
    let report = &answer.report;
    let mut fields = Map::new();
    fields.insert("answer".into(), answer.text.clone().into());
    fields.insert("status".into(), json!(report.status()));
    fields.insert("code".into(), report.code().into());
    if let Some(change) = report.change {
        fields.insert("change".into(), change.to_string().into());
    }
    if let Some(proposal) = report.proposal {
        fields.insert("proposal".into(), proposal.to_string().into());
    }
    if let Some(log) = &report.log {
        fields.insert("log".into(), json!(log));
    }
    fields.insert("files".into(), report.files.iter().map(file_summary).collect());
    if !report.warnings.is_empty() {
        fields.insert("warnings".into(), json!(report.warnings));
    }
    if let Some(payload @ Value::Object(_)) = &answer.payload {
        fields.insert("payload".into(), payload.clone());
    }
    Value::Object(fields)
}

fn file_summary(file: &FileReport) -> Value {
    let mut fields =
        json!({"path": file.moved_to.as_ref().unwrap_or(&file.path).as_str(), "action": file.action});
    if let Some(hash) = file.version {
        fields["version"] = hash.to_string().into();
    }
    fields
}

/// The same object that `slipstitch call --json` prints.
fn full_report(answer: &Answer) -> MetaObject {
    let mut report = serde_json::to_value(&answer.report).unwrap_or_default();
    if let Some(payload) = &answer.payload {
        report["payload"] = payload.clone();
    }
    let mut meta = MetaObject::new();
    meta.0.insert(REPORT_KEY.into(), report);
    meta
}
