//! Notifies a client of the older protocol when resources that it has subscribed to change.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use rmcp::model::ResourceUpdatedNotificationParam;
use tokio::time::Instant;

use crate::caller::Caller;
use crate::change_watcher::{ChangeListener, POLL_INTERVAL, Timestamp};
use crate::server_state::ServerState;
use crate::session::Session;

/// Sends one client's notifications.
struct Notifier {
    server: Arc<ServerState>,
    session: Arc<Session>,
    caller: Caller,
}

/// Why a notifier stops following a journal.
enum StopReason {
    /// The client is gone or has no subscriptions.
    NoSubscriptions,
    /// The session has had other roots, and so another journal, since that time.
    RootsChanged(Timestamp),
    /// The workspace, which could not be opened before, is open now.
    WorkspaceOpened,
}

/// Starts notifying a client, for as long as it is connected and has subscriptions.
pub(crate) fn start(server: &Arc<ServerState>, session: &Arc<Session>, caller: Caller, since: Timestamp) {
    if session.has_notifier.swap(true, Ordering::SeqCst) {
        return;
    }
    let notifier = Notifier { server: server.clone(), session: session.clone(), caller };
    tokio::spawn(async move {
        let mut since = since;
        loop {
            notifier.run(since).await;
            since = Timestamp::now();
            notifier.session.has_notifier.store(false, Ordering::SeqCst);
            // The client may have subscribed again just before and seen that this task was still there.
            if notifier.has_no_subscriptions() || notifier.session.has_notifier.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    });
}

impl Notifier {
    /// Notifies the client of changes since then, following the session from root to root.
    async fn run(&self, mut since: Timestamp) {
        loop {
            match self.follow_journal(since).await {
                StopReason::NoSubscriptions => return,
                StopReason::WorkspaceOpened => {}
                StopReason::RootsChanged(at) => {
                    since = at;
                    // The same URIs refer to another journal now.
                    let all = self.subscribed(BTreeSet::clone);
                    self.notify(all).await;
                }
            }
        }
    }

    async fn follow_journal(&self, since: Timestamp) -> StopReason {
        let mut roots_changed = self.session.roots_changed_at.subscribe();
        let mut listener = match self.session.workspace(&self.server, &self.caller).await {
            Ok(workspace) => ChangeListener::since(&self.server.watchers, &workspace, since).await.ok(),
            Err(_) => None,
        };
        let unusable = listener.is_none();
        // Not immediately: a journal that cannot be read is retried only after a while.
        let mut tick = tokio::time::interval_at(Instant::now() + POLL_INTERVAL, POLL_INTERVAL);
        loop {
            let next_update = async {
                match &mut listener {
                    Some(listener) => listener.next().await,
                    // The next call reports why the workspace or journal cannot be used.
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                updated = next_update => {
                    let wanted = self.subscribed(|all| updated.intersection(all).cloned().collect());
                    if !self.notify(wanted).await {
                        return StopReason::NoSubscriptions;
                    }
                }
                _ = roots_changed.changed() => {
                    return StopReason::RootsChanged(roots_changed.borrow().unwrap_or(since));
                }
                _ = tick.tick() => {
                    if self.has_no_subscriptions() {
                        return StopReason::NoSubscriptions;
                    }
                    if unusable && self.session.has_open_workspace() {
                        return StopReason::WorkspaceOpened;
                    }
                }
            }
        }
    }

    /// Sends a notification per URI; returns whether the client could be reached.
    async fn notify(&self, uris: BTreeSet<String>) -> bool {
        for uri in uris {
            let updated = ResourceUpdatedNotificationParam::new(uri);
            if self.caller.peer.notify_resource_updated(updated).await.is_err() {
                return false;
            }
        }
        true
    }

    fn has_no_subscriptions(&self) -> bool {
        self.subscribed(BTreeSet::is_empty) || self.caller.peer.is_transport_closed()
    }

    fn subscribed<T>(&self, read: impl FnOnce(&BTreeSet<String>) -> T) -> T {
        read(&self.session.subscribed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
