//! The second call: a caller that does what a refusal tells it to.
//!
//! The caller is a script and uses no judgement. It resends its edit with the text that the answer says the file has, or
//! chooses the first candidate, or, if the answer only says which lines to read, reads those and rebuilds its edit on
//! them. Whatever that writes is the engine's responsibility.

use serde_json::{Value, json};
use slipstitch_core::report::{FailureReport, Report};

use super::rebase::{rebase, rebase_on_lines};
use super::session::Session;
use super::{Error, request};

/// The results of all ways to follow a refusal.
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
    let read = match rebuilt(case, report) {
        Some(arguments) => {
            let session = Session::new(case)?;
            let answer = session.call("edit_file", arguments);
            session.result(&answer)
        }
        None => Value::Null,
    };
    Ok(json!({"resend": resend, "candidate": candidate, "read": read}))
}

/// Whether the answer offers the first candidate as a place. Of several equal matches, a script can choose none.
fn has_candidates(report: &Report) -> bool {
    report.hint.as_deref().is_some_and(|hint| hint.contains("`candidate`"))
        && report.candidates.first().is_some_and(|first| first.choosable)
}

/// The request again, with the file's text as the old text of every edit that failed; `None` if the answer does not
/// give it, or if the caller cannot tell how its edit applies to that text.
fn resent(case: &Value, report: &Report) -> Option<Value> {
    retried(case, report, |failure, edit| {
        if let Some(resend) = &failure.resend_edit {
            return Some((resend.old_text.clone(), resend.new_text.clone()));
        }
        let text = failure.resend.clone()?;
        let new = rebase(&edit.old, &edit.new, &text)?;
        Some((text, new))
    })
}

/// The request again, with every edit that failed rebuilt on the lines that the answer says to read; `None` if it names none,
/// or if the lines that the edit changes are not in exactly one of the ranges.
fn rebuilt(case: &Value, report: &Report) -> Option<Value> {
    let lines: Vec<&str> = case["before"].as_str()?.split('\n').collect();
    retried(case, report, |failure, edit| {
        let mut found = failure.read.iter().filter_map(|range| {
            let from = range.start.checked_sub(1)?;
            let shown = lines.get(from..(from + range.count).min(lines.len()))?.join("\n");
            Some((rebase_on_lines(&edit.old, &edit.new, &shown)?, shown))
        });
        let (Some((new, old)), None) = (found.next(), found.next()) else { return None };
        Some((old, new))
    })
}

/// An edit as the caller means it.
struct MeantEdit {
    old: String,
    new: String,
}

/// The call with every edit that failed replaced; `retry` returns its new old and new text.
fn retried(
    case: &Value,
    report: &Report,
    retry: impl Fn(&FailureReport, &MeantEdit) -> Option<(String, String)>,
) -> Option<Value> {
    if report.failures.is_empty() {
        return None;
    }
    let mut edits = meant_edits(case);
    if edits.is_empty() {
        // A patch whose edits the case does not spell out: only what the answer gives in full can be sent.
        let [failure] = &report.failures[..] else { return None };
        failure.resend_edit.as_ref().filter(|_| report.edits == 1)?;
        edits.push(MeantEdit { old: String::new(), new: String::new() });
    }
    for failure in &report.failures {
        let number = if edits.len() == 1 { 1 } else { failure.edit? };
        let edit = edits.get_mut(number.checked_sub(1)?)?;
        let (old, new) = retry(failure, edit)?;
        *edit = MeantEdit { old, new };
    }
    let edits: Vec<Value> =
        edits.iter().map(|edit| json!({"old_text": edit.old, "new_text": edit.new})).collect();
    Some(json!({"path": case["path"], "edits": edits}))
}

/// The edits of a case as they were meant, if it says so, and otherwise as they were sent. None for a patch that is not spelt
/// out.
fn meant_edits(case: &Value) -> Vec<MeantEdit> {
    let meant = if case["plain"].is_object() { &case["plain"] } else { case };
    let listed = meant["edits"].as_array().map_or(std::slice::from_ref(meant), Vec::as_slice);
    let edit = |edit: &Value| {
        Some(MeantEdit { old: edit["old"].as_str()?.to_owned(), new: edit["new"].as_str()?.to_owned() })
    };
    listed.iter().filter_map(edit).collect()
}
