//! The form in which the user approves or rejects.

use std::time::Duration;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};

use super::ApprovalOutcome;

const APPROVE: &str = "approve";
const REJECT: &str = "reject";
const REJECT_AND_EXPLAIN: &str = "reject and say why";

/// A form with nothing but the decision. Every further field costs the user keys, and Codex does not submit a form with an
/// empty text, even if it is optional. So the reason is asked for in a form of its own ([`reason_form`]), if the user wants
/// to give one.
pub(crate) fn decision_form(message: String) -> Result<ElicitRequestParams, serde_json::Error> {
    let decision = json!({
        "type": "string",
        "title": "Decision",
        "enum": [APPROVE, REJECT, REJECT_AND_EXPLAIN],
    });
    form(message, json!({ "decision": decision }), "decision")
}

/// A form for the reason of a rejection.
pub(crate) fn reason_form() -> Result<ElicitRequestParams, serde_json::Error> {
    let message = "Rejected. The model reads your reason.".to_owned();
    form(message, json!({ "reason": reason_field("Reason") }), "reason")
}

/// A form with the decision and a reason, for clients that repeat their call with the filled form and cannot be asked twice.
/// Hosts show fields in the order of their names, so the names are chosen for it.
pub(crate) fn approval_form(message: String) -> Result<ElicitRequestParams, serde_json::Error> {
    let decision = json!({ "type": "string", "title": "Decision", "enum": [APPROVE, REJECT] });
    let reason = reason_field("Reason for the model (optional)");
    form(message, json!({ "decision": decision, "reason": reason }), "decision")
}

fn reason_field(title: &str) -> Value {
    json!({ "type": "string", "title": title, "maxLength": 2000 })
}

fn form(message: String, fields: Value, required: &str) -> Result<ElicitRequestParams, serde_json::Error> {
    let schema = json!({ "type": "object", "properties": fields, "required": [required] });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema)?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// How long a client took to answer a form, and how long a person needs at least.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerTime {
    pub(crate) after: Duration,
    pub(crate) min_answer_time: Duration,
}

impl AnswerTime {
    fn is_too_fast(self) -> bool {
        self.after < self.min_answer_time
    }
}

/// Reads a filled form. Only an explicit approval counts as one.
///
/// An answer that comes faster than a person can give it decides nothing, whatever it says: hosts without anybody at the screen decline
/// all forms at once, clients that are scripts fill them in, and a form that opens while somebody is typing may take a key that was
/// meant for something else.
pub(crate) fn read_form(result: &ElicitResult, time: AnswerTime) -> ApprovalOutcome {
    let reason = read_reason(result);
    let outcome = match (&result.action, decision(result)) {
        (ElicitationAction::Accept, Some(APPROVE)) => ApprovalOutcome::Approved,
        (ElicitationAction::Accept, Some(REJECT | REJECT_AND_EXPLAIN)) | (ElicitationAction::Decline, _) => {
            ApprovalOutcome::Rejected { reason }
        }
        _ => return ApprovalOutcome::Undecided,
    };
    if time.is_too_fast() { ApprovalOutcome::Unattended } else { outcome }
}

/// Whether the user rejected the change and wants to say why.
pub(crate) fn wants_to_explain(result: &ElicitResult) -> bool {
    result.action == ElicitationAction::Accept
        && decision(result) == Some(REJECT_AND_EXPLAIN)
        && read_reason(result).is_none()
}

/// The reason in a filled form.
pub(crate) fn read_reason(result: &ElicitResult) -> Option<String> {
    let reason = result.content.as_ref()?["reason"].as_str()?.trim();
    (!reason.is_empty()).then(|| reason.to_owned())
}

fn decision(result: &ElicitResult) -> Option<&str> {
    result.content.as_ref()?["decision"].as_str()
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
            (json!({"action": "accept", "content": {"decision": "reject and say why"}}), rejected(None)),
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
        AnswerTime { after: Duration::from_millis(millis), min_answer_time: Duration::from_secs(1) }
    }

    #[test]
    fn an_answer_that_a_person_cannot_give_is_unattended() {
        let rejected = ApprovalOutcome::Rejected { reason: None };
        for (answer, slowly) in [
            (json!({"action": "decline"}), rejected.clone()),
            (json!({"action": "accept", "content": {"decision": "reject"}}), rejected),
            (json!({"action": "accept", "content": {"decision": "approve"}}), ApprovalOutcome::Approved),
        ] {
            for millis in [0, 3, 999] {
                assert_eq!(read_form_value(answer.clone(), after(millis)), ApprovalOutcome::Unattended);
            }
            assert_eq!(read_form_value(answer, after(1_000)), slowly);
        }
        let cancel = json!({"action": "cancel"});
        assert_eq!(read_form_value(cancel, after(3)), ApprovalOutcome::Undecided, "nothing was answered");
    }

    #[test]
    fn hosts_show_the_decision_before_the_reason() {
        let fields = |form: Result<ElicitRequestParams, _>| -> Vec<String> {
            let form = serde_json::to_value(form.unwrap()).unwrap();
            form["requestedSchema"]["properties"].as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(fields(decision_form("Go ahead?".into())), ["decision"]);
        assert_eq!(fields(reason_form()), ["reason"]);
        assert_eq!(fields(approval_form("Go ahead?".into())), ["decision", "reason"]);
    }

    #[test]
    fn a_reason_is_asked_for_once() {
        let wants = |answer: Value| wants_to_explain(&serde_json::from_value(answer).unwrap());
        let explain = REJECT_AND_EXPLAIN;
        assert!(wants(json!({"action": "accept", "content": {"decision": explain}})));
        assert!(!wants(json!({"action": "accept", "content": {"decision": explain, "reason": "why"}})));
        assert!(!wants(json!({"action": "accept", "content": {"decision": "reject"}})));
        assert!(!wants(json!({"action": "decline", "content": {"decision": explain}})));
    }

    #[test]
    fn the_form_has_the_shape_that_clients_accept() {
        let form = serde_json::to_value(approval_form("Go ahead?".into()).unwrap()).unwrap();
        assert_eq!(form["mode"], "form");
        assert_eq!(form["requestedSchema"]["properties"]["decision"]["enum"], json!(["approve", "reject"]));
        assert_eq!(form["requestedSchema"]["required"], json!(["decision"]));
    }
}
