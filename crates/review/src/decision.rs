//! A sent form as a verdict.

use std::collections::BTreeMap;

use slipstitch::core::engine::{HunkVerdict, Verdict};
use slipstitch::core::ports::journal::StoredProposal;

/// What a form asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The proposal is decided hunk by hunk.
    Apply(Verdict),
    /// The whole proposal is rejected.
    Reject(Option<String>),
}

/// Reads the fields of a form. `action` is `send`, `accept` or `reject`; `hunk-N` has the decision on a hunk, `reason-N` and
/// `text-N` what belongs to it. `accept` accepts the hunks that have no decision: what was rejected or edited stays so.
pub(crate) fn read(fields: &[(String, String)], found: &StoredProposal) -> Result<Decision, String> {
    let field = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let reason = |name: &str| field(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let accepts_rest = match field("action") {
        Some("reject") => return Ok(Decision::Reject(reason("reason"))),
        Some("accept") => true,
        Some("send") => false,
        _ => return Err("The form does not say what to do. Use one of its buttons.".into()),
    };
    let mut hunks = BTreeMap::new();
    for hunk in found.proposal.hunks() {
        let number = hunk.number;
        let was_rejected = found.rejected_hunks.iter().any(|rejected| rejected.hunk == number);
        let verdict = match field(&format!("hunk-{number}")) {
            Some("accept") => HunkVerdict::Accept,
            // An earlier rejection keeps the name of who made it.
            Some("reject") if was_rejected && reason(&format!("reason-{number}")).is_none() => continue,
            Some("reject") => HunkVerdict::Reject {
                reason: reason(&format!("reason-{number}")).or_else(|| reason("reason")),
            },
            Some("edit") => match field(&format!("text-{number}")) {
                Some(text) => HunkVerdict::Edit { text: text.into() },
                // It was never loaded; no text must not become an empty one.
                None => {
                    return Err(format!(
                        "Hunk {number} was not shown yet, so it cannot be edited. Open it first."
                    ));
                }
            },
            _ if accepts_rest || was_rejected => continue,
            _ => {
                return Err(format!(
                    "Hunk {number} is not decided yet. Accept, reject or edit it, or use “Accept all” or “Reject all”."
                ));
            }
        };
        hunks.insert(number, verdict);
    }
    Ok(Decision::Apply(Verdict { hunks, others: HunkVerdict::Accept }))
}
