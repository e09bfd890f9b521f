//! What all pages have in common.

use maud::{DOCTYPE, Markup, html};

use slipstitch::Workspace;

use crate::selection::Selection;

/// The tabs of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Review,
    History,
    Statistics,
    None,
}

/// The keys, for the help and the script.
const KEYS: &[(&str, &str)] = &[
    ("j k", "next, previous hunk"),
    ("J K", "next, previous proposal"),
    ("a r", "accept, reject the hunk"),
    ("A R", "accept what is left, reject all"),
    ("m", "select the proposal, to decide several"),
    ("e", "edit the hunk"),
    ("c", "reason for the agent"),
    ("u", "undo or redo the change (history)"),
    ("x", "unified or side by side"),
    ("w", "the whole file, and back"),
    ("/", "search"),
    ("⏎", "send the decision"),
    ("?", "this help"),
];

/// The tab, the selection and the state of the journal that a page was rendered for.
pub(super) struct Frame<'a> {
    tab: Tab,
    selection: &'a Selection,
    /// How many proposals are pending.
    pending: usize,
    /// The last activity; the script reloads the page when there is a newer one.
    activity: String,
}

impl<'a> Frame<'a> {
    /// Must be created before anything that the page shows is read.
    pub(super) fn new(workspace: &Workspace, tab: Tab, selection: &'a Selection) -> Self {
        let activity = workspace.activity().unwrap_or_default();
        Self { tab, selection, pending: workspace.pending_count().unwrap_or(0), activity }
    }

    /// For a page that shows nothing of the journal.
    pub(super) fn of_message(selection: &'a Selection) -> Self {
        Self { tab: Tab::None, selection, pending: 0, activity: String::new() }
    }
}

/// A whole page: the header, a list on the left, and the content.
pub(super) fn page(title: &str, frame: Frame<'_>, list: Markup, content: Markup) -> Markup {
    let Frame { tab, selection, pending, activity } = frame;
    // What is selected in one tab is selected in the others too.
    let link = |this: Tab, address: &str, name: String| {
        let selected = if this == Tab::Statistics { selection.without_text() } else { selection.clone() };
        html! { a href={ (address) (selected.query()) } aria-current=[(this == tab).then_some("page")] { (name) } }
    };
    let review = if pending > 0 { format!("Review {pending}") } else { "Review".into() };
    let searched = if tab == Tab::History { "Search files, agents" } else { "Search files, agents, text" };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Slipstitch" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/review.css";
                script src="/assets/review.js" defer {}
            }
            body data-activity=(activity) {
                a.skip href="#content" { "Skip to content" }
                header {
                    span.brand { "Slipstitch" }
                    nav aria-label="Pages" {
                        (link(Tab::Review, "/review", review))
                        (link(Tab::History, "/history", "History".into()))
                        (link(Tab::Statistics, "/statistics", "Statistics".into()))
                    }
                    form.search role="search" method="get" action=(if tab == Tab::History { "/history" } else { "/review" }) {
                        @for (name, value) in selection.fields() {
                            @if name != "q" && !value.is_empty() { input type="hidden" name=(name) value=(value); }
                        }
                        input #search type="search" name="q" value=(selection.text) placeholder=(searched) aria-label="Search";
                        kbd aria-hidden="true" { "/" }
                    }
                    span #connection.lost hidden role="status" { "Connection lost. Trying again…" }
                }
                div.columns {
                    aside #list aria-label="List" { (list) }
                    main #content tabindex="-1" { (content) }
                }
                dialog #help aria-labelledby="help-title" {
                    h2 #help-title { "Keys" }
                    dl { @for (keys, meaning) in KEYS { dt { @for key in keys.split(' ') { kbd { (key) } " " } } dd { (meaning) } } }
                    form method="dialog" { button { "Close" } }
                }
            }
        }
    }
}
