//! The pages, drawn by the server.

mod diff;
mod filters;
mod history;
mod layout;
mod queue;
mod statistics;
mod whole_file;

use maud::{Markup, html};
use slipstitch::core::ports::journal::Origin;

pub(crate) use filters::Filters;
pub(crate) use history::history_page;
pub(crate) use queue::{Deciding, hunk_part, queue_page};
pub(crate) use statistics::statistics_page;
pub(crate) use whole_file::{file_page, file_part};

use layout::Tab;

/// The page that the printed address leads to. The script sends the form at once.
pub(crate) fn door_page(token: &str) -> Markup {
    let content = html! {
        h1 { "Review" }
        form #door method="post" action="/" {
            input type="hidden" name="token" value=(token);
            button.main { "Open the review" }
        }
    };
    layout::page("Review", Tab::None, 0, &Filters::default(), html! {}, content)
}

/// The page that a token leads to. The script keeps the secret and goes on to the queue.
pub(crate) fn entry_page(secret: &str) -> Markup {
    let content = html! {
        h1 { "Review" }
        p.why #entry data-secret=(secret) { a href="/review" { "Go to the review" } }
        noscript { p.why { "Deciding needs JavaScript. Without it, this page can only be read." } }
    };
    layout::page("Review", Tab::None, 0, &Filters::default(), html! {}, content)
}

/// A page with only a message.
pub(crate) fn message_page(title: &str, message: &str) -> Markup {
    layout::page(
        title,
        Tab::None,
        0,
        &Filters::default(),
        html! {},
        html! { h1 { (title) } p.why { (message) } },
    )
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

/// A date and time in the local time zone.
fn local_time(milliseconds: i64) -> String {
    match jiff::Timestamp::from_millisecond(milliseconds) {
        Ok(time) => time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => milliseconds.to_string(),
    }
}
