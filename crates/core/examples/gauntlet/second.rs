//! The second call: a caller that does what a refusal tells it to.
//!
//! The caller is a script and uses no judgement. It either resends its edit with the text that the answer says the file
//! has, or chooses the first candidate. Whatever that writes is the engine's responsibility.

use serde_json::{Value, json};
use slipstitch_core::report::Report;

use super::rebase::rebase;
use super::session::Session;
use super::{Error, request};

/// The results of both ways to follow a refusal.
pub(super) fn calls(case: &Value, first: &Session, tool: &str, report: &Report) -> Result<Value, Error> {
    let candidate = match has_candidates(report) {
        true => {
            let mut arguments = json!({"path": case["path"]});
            if tool == "patch" {
                arguments = request(case).1;
            }
            arguments["candidate"] = 1.into();
            let answer = first.call(tool, arguments);
            first.result(&answer)
        }
        false => Value::Null,
    };
    let resend = match resent(case, report) {
        Some(arguments) => {
            let session = Session::new(case)?;
            let answer = session.call("edit_file", arguments);
            session.result(&answer)
        }
        None => Value::Null,
    };
    Ok(json!({"resend": resend, "candidate": candidate}))
}

/// Whether the answer offers the first candidate as a place.
fn has_candidates(report: &Report) -> bool {
    report.hint.as_deref().is_some_and(|hint| hint.contains("`candidate`"))
        && report.candidates.first().is_some_and(|first| {
            first.choosable || report.failures.iter().any(|failure| failure.matches.is_some())
        })
}

/// The request again, with the file's text as the old text of every edit that failed; `None` if the answer does not
/// give it, or if the caller cannot tell how its edit applies to that text.
fn resent(case: &Value, report: &Report) -> Option<Value> {
    let path = &case["path"];
    if report.failures.is_empty() {
        return None;
    }
    if case["edits"].is_array() {
        let (_, mut arguments) = request(case);
        for failure in &report.failures {
            let edit = arguments["edits"].get_mut(failure.edit?.checked_sub(1)?)?;
            if let Some(resend) = &failure.resend_edit {
                *edit = json!({"old_text": resend.old_text, "new_text": resend.new_text});
                continue;
            }
            let text = failure.resend.as_deref()?;
            let new = rebase(edit["old_text"].as_str()?, edit["new_text"].as_str()?, text)?;
            *edit = json!({"old_text": text, "new_text": new});
        }
        return Some(arguments);
    }
    let [failure] = &report.failures[..] else { return None };
    if let Some(edit) = &failure.resend_edit {
        return Some(json!({"path": path, "old_text": edit.old_text, "new_text": edit.new_text}));
    }
    let text = failure.resend.as_deref()?;
    // What the caller meant, if the case says so; a patch has no other old and new text.
    let meant = if case["plain"].is_object() { &case["plain"] } else { case };
    let new = rebase(meant["old"].as_str()?, meant["new"].as_str()?, text)?;
    Some(json!({"path": path, "old_text": text, "new_text": new}))
}
