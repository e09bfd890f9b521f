//! The form that a person fills in, and what it says.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};

/// How much of a diff a form shows.
const MAX_DIFF: usize = 6_000;

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Yes,
    No {
        /// In the person's words, for the model.
        reason: Option<String>,
    },
    /// The person looked away, or the answer is none.
    Later,
}

/// A form with two fields: the verdict, and a reason for the model.
pub(crate) fn form(message: String) -> Result<ElicitRequestParams, serde_json::Error> {
    let requested_schema: ElicitationSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {
            "verdict": {
                "type": "string",
                "title": "Verdict",
                "description": "Whether to go ahead.",
                "enum": ["approve", "reject"],
            },
            "reason": {
                "type": "string",
                "title": "Reason",
                "description": "Why not, or what to mind; the model reads it.",
                "maxLength": 2000,
            },
        },
        "required": ["verdict"],
    }))?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Reads a filled form. Only a clear yes is one.
pub(crate) fn verdict(result: &ElicitResult) -> Verdict {
    let content = result.content.as_ref().unwrap_or(&Value::Null);
    let reason = content["reason"].as_str().map(str::trim).filter(|text| !text.is_empty()).map(Into::into);
    match (&result.action, content["verdict"].as_str()) {
        (ElicitationAction::Accept, Some("approve")) => Verdict::Yes,
        (ElicitationAction::Accept, Some("reject")) | (ElicitationAction::Decline, _) => {
            Verdict::No { reason }
        }
        _ => Verdict::Later,
    }
}

/// A diff that fits into a form; `where_else` says where the rest is.
pub(crate) fn shortened(diff: &str, where_else: &str) -> String {
    match diff.char_indices().nth(MAX_DIFF) {
        None => diff.to_owned(),
        Some((end, _)) => {
            let end = diff[..end].rfind('\n').map_or(end, |newline| newline + 1);
            format!("{}… {where_else}\n", &diff[..end])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let no = |reason: Option<&str>| Verdict::No { reason: reason.map(Into::into) };
        let cases = [
            (json!({"action": "accept", "content": {"verdict": "approve"}}), Verdict::Yes),
            (json!({"action": "accept", "content": {"verdict": "approve", "reason": "x"}}), Verdict::Yes),
            (
                json!({"action": "accept", "content": {"verdict": "reject", "reason": " why "}}),
                no(Some("why")),
            ),
            (json!({"action": "accept", "content": {"verdict": true}}), Verdict::Later),
            (json!({"action": "accept", "content": {}}), Verdict::Later),
            (json!({"action": "accept"}), Verdict::Later),
            (json!({"action": "decline"}), no(None)),
            (json!({"action": "decline", "content": {"verdict": "approve"}}), no(None)),
            (json!({"action": "cancel", "content": {"verdict": "approve"}}), Verdict::Later),
        ];
        for (answer, wanted) in cases {
            let result: ElicitResult = serde_json::from_value(answer.clone()).unwrap();
            assert_eq!(verdict(&result), wanted, "{answer}");
        }
    }

    #[test]
    fn long_diffs_are_cut_at_a_line() {
        assert_eq!(shortened("short\n", "more"), "short\n");
        let long = "+ä line\n".repeat(2_000);
        let cut = shortened(&long, "the rest is elsewhere");
        assert!(cut.chars().count() < MAX_DIFF + 40 && cut.ends_with("line\n… the rest is elsewhere\n"));
    }

    #[test]
    fn the_form_is_one_that_clients_take() {
        let text = serde_json::to_value(form("Go ahead?".into()).unwrap()).unwrap();
        assert_eq!(text["mode"], "form");
        assert_eq!(text["requestedSchema"]["properties"]["verdict"]["enum"], json!(["approve", "reject"]));
        assert_eq!(text["requestedSchema"]["required"], json!(["verdict"]));
    }
}
