//! Tells open pages that something changed.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use slipstitch::Workspace;
use tokio::sync::watch;

use crate::app::App;

/// How often the journal is looked at. Other processes write to it, and SQLite tells nobody.
const INTERVAL: Duration = Duration::from_millis(300);

/// Looks at the journal for all open pages, as long as somebody receives.
pub(crate) async fn watch_journal(workspace: Arc<Workspace>, sender: watch::Sender<String>) {
    while !sender.is_closed() {
        let workspace = workspace.clone();
        let read = tokio::task::spawn_blocking(move || workspace.activity());
        if let Ok(Ok(now)) = read.await {
            sender.send_if_modified(|seen| {
                if *seen == now {
                    false
                } else {
                    *seen = now;
                    true
                }
            });
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// A stream of `changed` events. The first one tells a page that was away whether it missed something.
pub(crate) async fn stream(State(app): State<App>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let mut activity = app.activity.clone();
    activity.mark_changed();
    let events = unfold(activity, |mut activity| async move {
        activity.changed().await.ok()?;
        let now = activity.borrow_and_update().clone();
        Some((Ok(Event::default().event("changed").data(now)), activity))
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}
