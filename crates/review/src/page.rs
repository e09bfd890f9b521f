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
use slipstitch::core::report::{ConflictReport, Report};

pub(crate) use history::history_page;
pub(crate) use queue::{hunk_part, queue_page};
pub(crate) use statistics::statistics_page;
pub(crate) use whole_file::{file_page, file_part};

use crate::selection::Selection;
use layout::Frame;

/// What prevents a decision, an undo or a redo on a page.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Deciding<'a> {
    /// Why a decision, an undo or a redo could not be carried out.
    pub(crate) problem: Option<&'a Report>,
    /// Whether the passphrase must be entered first.
    pub(crate) is_locked: bool,
}

/// The page that the printed address leads to. The script sends the form at once.
pub(crate) fn door_page(token: &str, selection: &Selection) -> Markup {
    let content = html! {
        h1 { "Review" }
        form #door method="post" action={ "/" (selection.query()) } {
            input type="hidden" name="token" value=(token);
            button.main { "Open the review" }
        }
    };
    layout::page("Review", Frame::of_message(&Selection::default()), html! {}, content)
}

/// The page that a token leads to. The script keeps the secret and goes on to the queue.
pub(crate) fn entry_page(secret: &str, project: &str, selection: &Selection) -> Markup {
    let content = html! {
        h1 { "Review" }
        p.why #entry data-secret=(secret) data-project=(project) { a href={ "/review" (selection.query()) } { "Go to the review" } }
        noscript { p.why { "Deciding needs JavaScript. Without it, this page can only be read." } }
    };
    layout::page("Review", Frame::of_message(&Selection::default()), html! {}, content)
}

/// A page with only a message.
pub(crate) fn message_page(title: &str, message: &str) -> Markup {
    let content = html! { h1 { (title) } p.why { (message) } };
    layout::page(title, Frame::of_message(&Selection::default()), html! {}, content)
}

/// Why a change is not written, with the places that prevent it.
fn problem_note(report: &Report, title: &str, has_hint: bool) -> Markup {
    html! {
        // The script keeps the note about a refused decision visible, unless another note says the same.
        div.note.bad role="alert" data-about=(visible(&report.message)) {
            b { (title) } (visible(&report.message))
            @for line in report.conflicts.iter().flat_map(ConflictReport::lines) { pre { (visible(&line)) } }
            @if let Some(hint) = report.hint.as_ref().filter(|_| has_hint) { p { (visible(hint)) } }
        }
    }
}

/// Asks for the passphrase; `next` is the proposal or the change to show then.
fn unlock_form(next: &dyn std::fmt::Display, query: &str) -> Markup {
    html! {
        form.unlock method="post" action={ "/unlock" (query) } {
            input type="hidden" name="next" value=(next);
            label for="passphrase" { "Enter the review passphrase to decide" }
            input #passphrase type="password" name="passphrase" autocomplete="current-password" required;
            button.main { "Unlock" }
        }
    }
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
