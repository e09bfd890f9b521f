//! Tells open pages that something changed.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;

use crate::app::App;

/// How often the journal is looked at. Other processes write to it, and SQLite tells nobody.
const INTERVAL: Duration = Duration::from_millis(400);

/// A stream of `changed` events.
pub(crate) async fn stream(State(app): State<App>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let seen = state_of(&app).await;
    let events = unfold((app, seen), |(app, seen)| async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let now = state_of(&app).await;
            if now != seen {
                let event = Event::default().event("changed").data(now.clone());
                return Some((Ok(event), (app, now)));
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// A text that is different after every change and every proposal.
async fn state_of(app: &App) -> String {
    let workspace = app.workspace.clone();
    let read = move || workspace.activity().unwrap_or_default();
    tokio::task::spawn_blocking(read).await.unwrap_or_default()
}
