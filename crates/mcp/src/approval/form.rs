//! The form in which the user approves or rejects.

use std::time::Duration;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};

use super::ApprovalOutcome;

/// A form with two fields: the decision, and a reason for the model. Hosts show fields in the order of their names, so the
/// names are chosen for it; choosing a decision and submitting is all it takes.
pub(crate) fn approval_form(message: String) -> Result<ElicitRequestParams, serde_json::Error> {
    let requested_schema: ElicitationSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "title": "Decision",
                "enum": ["approve", "reject"],
            },
            "reason": {
                "type": "string",
                "title": "Reason for the model (optional)",
                "maxLength": 2000,
            },
        },
        "required": ["decision"],
    }))?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// How long a client took to answer a form, and how long a person needs at least to decline one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerTime {
    pub(crate) after: Duration,
    pub(crate) min_decline_time: Duration,
}

/// Reads a filled form. Only an explicit approval counts as one. A rejection that was chosen in the form counts too; a form
/// that was declined as a whole counts if a person had the time to do that, because hosts without anybody at the screen
/// decline all forms at once.
pub(crate) fn read_form(result: &ElicitResult, time: AnswerTime) -> ApprovalOutcome {
    let content = result.content.as_ref().unwrap_or(&Value::Null);
    let reason = content["reason"].as_str().map(str::trim).filter(|text| !text.is_empty()).map(Into::into);
    match (&result.action, content["decision"].as_str()) {
        (ElicitationAction::Accept, Some("approve")) => ApprovalOutcome::Approved,
        (ElicitationAction::Accept, Some("reject")) => ApprovalOutcome::Rejected { reason },
        (ElicitationAction::Decline, _) if time.after < time.min_decline_time => ApprovalOutcome::Unattended,
        (ElicitationAction::Decline, _) => ApprovalOutcome::Rejected { reason },
        _ => ApprovalOutcome::Undecided,
    }
}

/// Reads a filled form as sent with a repeated call.
pub(crate) fn read_form_value(filled: Value, time: AnswerTime) -> ApprovalOutcome {
    let result = serde_json::from_value::<ElicitResult>(filled);
    result.map_or(ApprovalOutcome::Undecided, |result| read_form(&result, time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_approval_counts() {
        use ApprovalOutcome::{Approved, Undecided};
        let rejected = |reason: Option<&str>| ApprovalOutcome::Rejected { reason: reason.map(Into::into) };
        let cases = [
            (json!({"action": "accept", "content": {"decision": "approve"}}), Approved),
            (json!({"action": "accept", "content": {"decision": "approve", "reason": "x"}}), Approved),
            (
                json!({"action": "accept", "content": {"decision": "reject", "reason": " why "}}),
                rejected(Some("why")),
            ),
            (json!({"action": "accept", "content": {"decision": true}}), Undecided),
            (json!({"action": "accept", "content": {}}), Undecided),
            (json!({"action": "accept"}), Undecided),
            (json!({"action": "decline"}), rejected(None)),
            (json!({"action": "decline", "content": {"decision": "approve"}}), rejected(None)),
            (json!({"action": "cancel", "content": {"decision": "approve"}}), Undecided),
            (json!({"action": "unknown"}), Undecided),
        ];
        for (answer, expected) in cases {
            assert_eq!(read_form_value(answer.clone(), after(2_000)), expected, "{answer}");
        }
    }

    fn after(millis: u64) -> AnswerTime {
        AnswerTime { after: Duration::from_millis(millis), min_decline_time: Duration::from_secs(1) }
    }

    #[test]
    fn only_a_decline_that_a_person_cannot_make_is_unattended() {
        let decline = json!({"action": "decline"});
        let rejected = ApprovalOutcome::Rejected { reason: None };
        assert_eq!(read_form_value(decline.clone(), after(3)), ApprovalOutcome::Unattended);
        assert_eq!(read_form_value(decline, after(1_000)), rejected);
        // These were chosen in the form, by whatever filled it in.
        let reject = json!({"action": "accept", "content": {"decision": "reject"}});
        assert_eq!(read_form_value(reject, after(3)), rejected);
        let approve = json!({"action": "accept", "content": {"decision": "approve"}});
        assert_eq!(read_form_value(approve, after(3)), ApprovalOutcome::Approved);
    }

    #[test]
    fn hosts_show_the_decision_before_the_reason() {
        let form = serde_json::to_value(approval_form("Go ahead?".into()).unwrap()).unwrap();
        let fields: Vec<&String> =
            form["requestedSchema"]["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["decision", "reason"]);
    }

    #[test]
    fn the_form_has_the_shape_that_clients_accept() {
        let form = serde_json::to_value(approval_form("Go ahead?".into()).unwrap()).unwrap();
        assert_eq!(form["mode"], "form");
        assert_eq!(form["requestedSchema"]["properties"]["decision"]["enum"], json!(["approve", "reject"]));
        assert_eq!(form["requestedSchema"]["required"], json!(["decision"]));
    }
}
