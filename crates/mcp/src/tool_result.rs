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

/// The key in `_meta` under which a written change is returned as a unified diff, for clients that show it to the user.
/// Models do not read it.
pub(crate) const DIFF_KEY: &str = "slipstitch/diff";

/// The longest diff in `_meta`, in bytes.
const MAX_DIFF_BYTES: usize = 256 << 10;

/// Whether a caller wants the full report in addition to the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportDetail {
    Summary,
    Full,
}

/// The engine's answer as a tool result. Refusals are results too, because the model has to read them.
pub(crate) fn tool_result(tool: &Tool, answer: &Answer, detail: ReportDetail) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text.clone())];
    let mut result = match answer.report.is_error() {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    // File contents are sent once, as text. Everything else is structured too: some hosts show the model nothing else.
    if !(returns_file_text(tool) && answer.report.status() == Status::Shown) {
        result.structured_content = Some(summary(answer));
    }
    let mut meta = match detail {
        ReportDetail::Full => full_report(answer),
        ReportDetail::Summary => MetaObject::new(),
    };
    if let (Status::Applied, Some(diff)) = (answer.report.status(), &answer.report.diff)
        && diff.len() <= MAX_DIFF_BYTES
    {
        meta.0.insert(DIFF_KEY.into(), diff.clone().into());
    }
    result.meta = Some(meta).filter(|meta| !meta.0.is_empty());
    result
}

/// Renders a report that was created outside the engine in the dialect's words.
pub(crate) fn render_report(dialect: &Dialect, tool: &Tool, call: &Value, report: Report) -> Answer {
    let rendered = (dialect.render)(&RenderInput { tool, call, report: &report });
    Answer { text: rendered.text, payload: rendered.payload, report }
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
    if let Some(hash) = file.hash {
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
