//! The form in which the user approves or rejects.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};

use super::ApprovalOutcome;

/// A form with two fields: the verdict, and a reason for the model.
pub(crate) fn approval_form(message: String) -> Result<ElicitRequestParams, serde_json::Error> {
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
                "description": "Feedback for the model, such as the reason for a rejection.",
                "maxLength": 2000,
            },
        },
        "required": ["verdict"],
    }))?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Reads a filled form. Only an explicit approval counts as one.
pub(crate) fn read_form(result: &ElicitResult) -> ApprovalOutcome {
    let content = result.content.as_ref().unwrap_or(&Value::Null);
    let reason = content["reason"].as_str().map(str::trim).filter(|text| !text.is_empty()).map(Into::into);
    match (&result.action, content["verdict"].as_str()) {
        (ElicitationAction::Accept, Some("approve")) => ApprovalOutcome::Approved,
        (ElicitationAction::Accept, Some("reject")) | (ElicitationAction::Decline, _) => {
            ApprovalOutcome::Rejected { reason }
        }
        _ => ApprovalOutcome::Undecided,
    }
}

/// Reads a filled form as sent with a repeated call.
pub(crate) fn read_form_value(filled: Value) -> ApprovalOutcome {
    let result = serde_json::from_value::<ElicitResult>(filled);
    result.map_or(ApprovalOutcome::Undecided, |result| read_form(&result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_approval_counts() {
        use ApprovalOutcome::{Approved, Undecided};
        let rejected = |reason: Option<&str>| ApprovalOutcome::Rejected { reason: reason.map(Into::into) };
        let cases = [
            (json!({"action": "accept", "content": {"verdict": "approve"}}), Approved),
            (json!({"action": "accept", "content": {"verdict": "approve", "reason": "x"}}), Approved),
            (
                json!({"action": "accept", "content": {"verdict": "reject", "reason": " why "}}),
                rejected(Some("why")),
            ),
            (json!({"action": "accept", "content": {"verdict": true}}), Undecided),
            (json!({"action": "accept", "content": {}}), Undecided),
            (json!({"action": "accept"}), Undecided),
            (json!({"action": "decline"}), rejected(None)),
            (json!({"action": "decline", "content": {"verdict": "approve"}}), rejected(None)),
            (json!({"action": "cancel", "content": {"verdict": "approve"}}), Undecided),
            (json!({"action": "unknown"}), Undecided),
        ];
        for (answer, expected) in cases {
            assert_eq!(read_form_value(answer.clone()), expected, "{answer}");
        }
    }

    #[test]
    fn the_form_has_the_shape_that_clients_accept() {
        let form = serde_json::to_value(approval_form("Go ahead?".into()).unwrap()).unwrap();
        assert_eq!(form["mode"], "form");
        assert_eq!(form["requestedSchema"]["properties"]["verdict"]["enum"], json!(["approve", "reject"]));
        assert_eq!(form["requestedSchema"]["required"], json!(["verdict"]));
    }
}
