//! The client that makes a request, and what it supports.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressToken, ProtocolVersion};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::display_text::client_name;
use crate::in_flight::{AnswerSlot, RequestHandle};
use crate::tool_result::{DIFF_KEY, Extras, REPORT_KEY};

/// The two eras of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtocolEra {
    /// Starts with `initialize`; the server can send requests to the client at any time.
    Handshake,
    /// Every request is self-contained. To ask the user something, the server answers with a form, and the client sends
    /// the request again with the form filled in.
    Stateless,
}

/// The client that makes a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) era: ProtocolEra,
    /// The client's own name.
    pub(crate) agent: Option<String>,
    /// The client's own name and version.
    pub(crate) client: Option<String>,
    /// The model that makes the call, if the client says so.
    pub(crate) model: Option<String>,
    /// Whether the client can show a form to the user.
    pub(crate) supports_forms: bool,
    /// Whether the client can list its root folders.
    pub(crate) supports_roots: bool,
    pub(crate) progress_token: Option<ProgressToken>,
    /// What the request asks for in addition to the text.
    pub(crate) extras: Extras,
    pub(crate) cancelled: CancellationToken,
    /// Room for the answer, if the transport limits how many may be unread.
    pub(crate) slot: Option<AnswerSlot>,
}

/// Where clients say in `_meta` which model makes a call: our own key, and what Codex sends with every call.
const MODEL_FIELDS: [&[&str]; 2] = [&["slipstitch/model"], &["x-codex-turn-metadata", "model"]];

/// The string in nested fields, as a name that can be shown.
fn string_at(value: &Value, fields: &[&str]) -> Option<String> {
    let value = fields.iter().try_fold(value, |value, field| value.get(field))?;
    client_name(value.as_str()?)
}

impl Caller {
    pub(crate) fn from_context(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let is_stateless =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let supports_forms = capabilities.elicitation.as_ref().is_some_and(|elicitation| {
            // An empty capability means forms: they existed before there were other kinds.
            elicitation.form.is_some() || elicitation.url.is_none()
        });
        let is_requested = |key: &str| context.meta.get(key) == Some(&Value::Bool(true));
        // Over stdio, the transport tracks cancellation itself.
        let handle = context.extensions.get::<RequestHandle>();
        Self {
            peer: context.peer.clone(),
            era: if is_stateless { ProtocolEra::Stateless } else { ProtocolEra::Handshake },
            agent: context.client_info().and_then(|client| client_name(&client.name)),
            client: context
                .client_info()
                .and_then(|client| client_name(&format!("{} {}", client.name, client.version))),
            model: MODEL_FIELDS.iter().find_map(|path| string_at(context.meta.0.get(path[0])?, &path[1..])),
            supports_forms,
            supports_roots: capabilities.roots.is_some(),
            progress_token: context.meta.get_progress_token(),
            extras: Extras {
                structured: false,
                diff: is_requested(DIFF_KEY),
                report: is_requested(REPORT_KEY),
            },
            cancelled: handle.map_or(&context.ct, |handle| &handle.cancelled).clone(),
            slot: handle.map(|handle| handle.slot.clone()),
        }
    }

    /// How the journal names the source of a form's answer: the client, the channel, and how fast it answered. It does
    /// not say that it was a person, because the server cannot know.
    pub(crate) fn approver_name(&self, after: Option<Duration>) -> String {
        let client = self.client.as_deref().unwrap_or("an unnamed client");
        match after {
            Some(after) => format!("{client} (form, after {})", seconds(after)),
            None => format!("{client} (form)"),
        }
    }
}

/// A duration in seconds, precise enough to tell a program's answer from a person's.
fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        time if time < 10.0 => format!("{time:.2} s"),
        time => format!("{time:.0} s"),
    }
}
