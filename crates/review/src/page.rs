//! The pages, drawn by the server.

mod diff;
mod history;
mod layout;
mod queue;
mod statistics;

use maud::{Markup, html};
use serde::Deserialize;
use slipstitch::core::ports::journal::Origin;

pub(crate) use history::history_page;
pub(crate) use queue::{hunk_part, queue_page};
pub(crate) use statistics::statistics_page;

use layout::Tab;

/// What a list is limited to, as in the command line's options.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Filters {
    /// A part of a path, an agent's or a session's name, or a description.
    pub(crate) q: String,
    pub(crate) agent: String,
    pub(crate) session: String,
    pub(crate) file: String,
}

impl Filters {
    /// Whether something with these properties is shown.
    fn allow<'a>(
        &self,
        origin: &Origin,
        description: Option<&str>,
        paths: impl Iterator<Item = &'a str> + Clone,
    ) -> bool {
        let contains = |text: &str| text.to_lowercase().contains(&self.q.to_lowercase());
        let agent = origin.agent.as_deref().unwrap_or_default();
        let is_found = self.q.is_empty()
            || contains(agent)
            || contains(&origin.session)
            || description.is_some_and(contains)
            || paths.clone().any(contains);
        is_found
            && (self.agent.is_empty() || self.agent == agent)
            && (self.session.is_empty() || self.session == origin.session)
            && (self.file.is_empty() || paths.clone().any(|path| path.starts_with(&self.file)))
    }

    fn is_empty(&self) -> bool {
        [&self.q, &self.agent, &self.session, &self.file].iter().all(|text| text.is_empty())
    }
}

/// A page with only a message.
pub(crate) fn message_page(title: &str, message: &str) -> Markup {
    layout::page(title, Tab::None, 0, "", html! {}, html! { h1 { (title) } p.why { (message) } })
}

/// Who made something: the agent if it is known, and the session.
fn who(origin: &Origin) -> Markup {
    html! {
        @if let Some(agent) = &origin.agent { b { (visible(agent)) } " · session " } @else { "session " }
        (visible(&origin.session))
    }
}

/// Text from a caller with characters that could deceive a reader escaped.
fn visible(text: &str) -> String {
    slipstitch::core::text::display::escape_controls(text)
}

/// How long ago something happened.
fn ago(milliseconds: i64) -> String {
    let now = jiff::Timestamp::now().as_millisecond();
    let minutes = (now - milliseconds).max(0) / 60_000;
    match minutes {
        0 => "now".into(),
        1..60 => format!("{minutes} min"),
        60..1440 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1440),
    }
}

/// A date and time in the local time zone.
fn local_time(milliseconds: i64) -> String {
    match jiff::Timestamp::from_millisecond(milliseconds) {
        Ok(time) => time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => milliseconds.to_string(),
    }
}
