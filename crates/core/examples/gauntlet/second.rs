//! The second call: a caller that does what a refusal tells it to.
//!
//! The caller is a script and uses no judgement. It resends its edit with the text that the answer says the file has, or
//! chooses the first candidate, or, if the answer says to send the lines as they are in the file, copies those of the first
//! candidate, or, if it only says which lines to read, reads those. In the last two cases it rebuilds its edit on the lines.
//! Whatever that writes is the engine's responsibility.

use serde_json::{Value, json};
use slipstitch_core::change::DifferenceKind;
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
    let send = |arguments: Option<Value>| -> Result<Value, Error> {
        let Some(arguments) = arguments else { return Ok(Value::Null) };
        let session = Session::new(case)?;
        let answer = session.call("edit_file", arguments);
        Ok(session.result(&answer))
    };
    let [resend, copy, read] = [resent(case, report), copied(case, report), rebuilt(case, report)].map(send);
    Ok(json!({"resend": resend?, "candidate": candidate, "copy": copy?, "read": read?}))
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
        let new = match case["plain"].is_object() {
            true => rebase(&edit.old, &edit.new, &text)?,
            // The answer says to send the same new text.
            false => edit.new.clone(),
        };
        Some((text, new))
    })
}

/// The request again, with every line that differs at the first candidate as it is in the file; `None` if the answer does not
/// say to send the lines as they are in the file, if it names several places, or if it gives the text itself.
fn copied(case: &Value, report: &Report) -> Option<Value> {
    let lines: Vec<&str> = case["before"].as_str()?.split('\n').collect();
    retried(case, report, |failure, edit| {
        let orders = ["as they are in the file", "as the file has it"];
        let says_so = orders.iter().any(|order| failure.hint.contains(order));
        if !says_so || failure.read.len() > 1 || failure.resend.is_some() || failure.resend_edit.is_some() {
            return None;
        }
        let mut old = edit.old.clone();
        // Blank lines are counted, not shown, and need not match.
        let differences = &failure.candidates.first()?.differences;
        for difference in differences.iter().filter(|one| one.class != DifferenceKind::BlankLines) {
            let file = lines.get(difference.line.checked_sub(1)?)?.trim_end_matches('\r');
            old = copy_line(&old, &difference.request, file)?;
        }
        let new = rebase(&edit.old, &edit.new, &old)?;
        Some((old, new))
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

/// A text in which the file's line replaces one that an answer shows (with visible whitespace, and perhaps truncated). `None` if that
/// line does not occur exactly once, or only part of a line is shown.
fn copy_line(text: &str, shown: &str, file: &str) -> Option<String> {
    let shown = shown.replace('→', "\t");
    let shown = shown.trim_matches(|c: char| c == '·' || c.is_whitespace());
    let is_meant = |line: &&str| match shown.strip_suffix('…') {
        Some(start) => line.trim().starts_with(start),
        None => line.trim() == shown,
    };
    let mut meant = text.split('\n').filter(is_meant);
    let (Some(sent), None, false) = (meant.next(), meant.next(), shown.is_empty()) else { return None };
    let lines = text.split('\n').map(|line| if line == sent { file } else { line });
    Some(lines.collect::<Vec<_>>().join("\n"))
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

/// The edits of a case as they were meant, if it says so, and otherwise as they were sent: one for each hunk of a patch.
fn meant_edits(case: &Value) -> Vec<MeantEdit> {
    if let (false, Some(patch)) =
        (case["plain"].is_object(), case["diff"].as_str().or_else(|| case["v4a"].as_str()))
    {
        return hunks(patch);
    }
    let meant = if case["plain"].is_object() { &case["plain"] } else { case };
    let listed = meant["edits"].as_array().map_or(std::slice::from_ref(meant), Vec::as_slice);
    let edit = |edit: &Value| {
        Some(MeantEdit { old: edit["old"].as_str()?.to_owned(), new: edit["new"].as_str()?.to_owned() })
    };
    listed.iter().filter_map(edit).collect()
}

/// The hunks of a patch of one file, each as an edit.
fn hunks(patch: &str) -> Vec<MeantEdit> {
    let mut hunks: Vec<(Vec<&str>, Vec<&str>)> = vec![Default::default()];
    for line in patch.lines() {
        let is_frame = ["***", "--- ", "+++ ", "```", "diff ", "index "].iter().any(|s| line.starts_with(s));
        if line.starts_with("@@") {
            hunks.push(Default::default());
        } else if !is_frame && let Some((old, new)) = hunks.last_mut() {
            let rest = line.get(1..).unwrap_or_default();
            match line.bytes().next() {
                Some(b'-') => old.push(rest),
                Some(b'+') => new.push(rest),
                Some(b' ') | None => (old.push(rest), new.push(rest)).1,
                Some(_) => (old.push(line), new.push(line)).1,
            }
        }
    }
    let edits = hunks.into_iter().filter(|(old, _)| !old.is_empty());
    edits.map(|(old, new)| MeantEdit { old: old.join("\n"), new: new.join("\n") }).collect()
}
