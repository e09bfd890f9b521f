//! Who makes a request, and what can be done about it.

use rmcp::RoleServer;
use rmcp::model::{ProgressToken, ProtocolVersion};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::answer::{Detail, REPORT};
use crate::approval::words::unseen;
use crate::ids::TakenBack;

/// The two kinds of protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// `initialize` first; the server can ask the client something at any time.
    Handshake,
    /// Every request stands for itself; a question is an answer that asks for another request.
    Stateless,
}

/// Whether the client can show a form to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forms {
    Shown,
    None,
}

/// What a request says about who makes it.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) era: Era,
    /// What the client calls itself.
    pub(crate) agent: Option<String>,
    pub(crate) forms: Forms,
    /// Whether the client knows folders of its own.
    pub(crate) has_roots: bool,
    pub(crate) progress: Option<ProgressToken>,
    pub(crate) detail: Detail,
    pub(crate) cancelled: CancellationToken,
}

/// How much of a client's name is kept.
const MAX_NAME: usize = 100;

/// A client's name as the journal can keep it and a terminal can show it.
fn fit(name: &str) -> Option<String> {
    let name: String =
        name.trim().chars().filter(|c| !c.is_control() && !unseen(*c)).take(MAX_NAME).collect();
    Some(name).filter(|name| !name.is_empty())
}

impl Caller {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let stateless =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let form = capabilities.elicitation.as_ref().is_some_and(|asks| {
            // A client that says nothing more closely means forms: they were there first.
            asks.form.is_some() || asks.url.is_none()
        });
        Self {
            peer: context.peer.clone(),
            era: if stateless { Era::Stateless } else { Era::Handshake },
            agent: context.client_info().and_then(|client| fit(&client.name)),
            forms: if form { Forms::Shown } else { Forms::None },
            has_roots: capabilities.roots.is_some(),
            progress: context.meta.get_progress_token(),
            detail: match context.meta.get(REPORT) {
                Some(Value::Bool(true)) => Detail::Whole,
                _ => Detail::Brief,
            },
            // Over lines, the transport knows when a request is taken back.
            cancelled: context.extensions.get::<TakenBack>().map_or(&context.ct, |taken| &taken.0).clone(),
        }
    }

    /// What the journal calls a person who answers through this client.
    pub(crate) fn person(&self) -> String {
        match &self.agent {
            Some(agent) => format!("a person through {agent}"),
            None => "a person".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_clients_fit_into_a_line() {
        assert_eq!(fit(" claude-code\n"), Some("claude-code".into()));
        assert_eq!(fit("a\u{1b}[31mb\nc"), Some("a[31mbc".into()));
        assert_eq!(fit("a\u{202e}b\u{200b}"), Some("ab".into()));
        assert_eq!(fit(" \n"), None);
        assert_eq!(fit(&"ä".repeat(1000)).map(|name| name.chars().count()), Some(MAX_NAME));
    }
}
