//! The engine's answer in the words of the protocol.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};
use slipstitch::core::dialect::{Dialect, RenderInput, Tool};
use slipstitch::core::engine::Answer;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::{FileReport, Report};

use crate::tools::shows_text;

/// The key in `_meta` under which a program asks for the whole report, and gets it.
pub(crate) const REPORT: &str = "slipstitch/report";

/// Whether a caller wants the whole report beside the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Brief,
    Whole,
}

/// What came of a call, as a tool's result. What was refused is a result too: the model has to read it.
pub(crate) fn result(tool: &Tool, answer: &Answer, detail: Detail) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text.clone())];
    let mut result = match answer.report.is_success() {
        true => CallToolResult::success(content),
        false => CallToolResult::error(content),
    };
    // Text of files is sent once. Everything else is there as data too: some hosts show the model nothing else.
    if !(shows_text(tool) && answer.report.status() == Status::Shown) {
        result.structured_content = Some(brief(answer));
    }
    if detail == Detail::Whole {
        result.meta = Some(whole(answer));
    }
    result
}

/// An answer that the dialect puts into words for a report that was made outside the engine.
pub(crate) fn told(dialect: &Dialect, tool: &Tool, call: &Value, report: Report) -> Answer {
    let words = (dialect.render)(&RenderInput { tool, call, report: &report });
    Answer { text: words.text, payload: words.payload, report }
}

fn brief(answer: &Answer) -> Value {
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
    fields.insert("files".into(), report.files.iter().map(file).collect());
    if !report.warnings.is_empty() {
        fields.insert("warnings".into(), json!(report.warnings));
    }
    if let Some(payload @ Value::Object(_)) = &answer.payload {
        fields.insert("payload".into(), payload.clone());
    }
    Value::Object(fields)
}

fn file(file: &FileReport) -> Value {
    let mut fields =
        json!({"path": file.moved_to.as_ref().unwrap_or(&file.path).as_str(), "action": file.action});
    if let Some(hash) = file.hash {
        fields["version"] = hash.to_string().into();
    }
    fields
}

/// What `slipstitch call --json` prints.
fn whole(answer: &Answer) -> MetaObject {
    let mut report = serde_json::to_value(&answer.report).unwrap_or_default();
    if let Some(payload) = &answer.payload {
        report["payload"] = payload.clone();
    }
    let mut meta = MetaObject::new();
    meta.0.insert(REPORT.into(), report);
    meta
}
