//! Tells clients that the journal grew: by calls here, and by other processes that share it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use incise::Workspace;
use incise::core::journal::{ChangeId, Filter, JournalError, Kind};
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::Peer;
use tokio::sync::watch;

use crate::hub::Hub;
use crate::resources::{CHANGES, address};
use crate::session::Session;

/// How often the journal is looked at for changes by other processes, while someone listens.
const EVERY: Duration = Duration::from_millis(500);
/// How many changes at once are told one by one.
const MOST: usize = 64;

/// A look-out over one journal.
pub(crate) struct Watch {
    workspace: Arc<Workspace>,
    newest: Option<ChangeId>,
    changed: watch::Receiver<u64>,
}

impl Watch {
    /// Looks out from now on.
    pub(crate) async fn new(hub: &Hub, workspace: Arc<Workspace>) -> Result<Self, JournalError> {
        let changed = hub.changed.subscribe();
        let mut watch = Self { workspace, newest: None, changed };
        watch.look().await?;
        Ok(watch)
    }

    /// Waits until the journal grows, and says which resources are others now.
    pub(crate) async fn next(&mut self) -> Result<BTreeSet<String>, JournalError> {
        loop {
            tokio::select! {
                // The sender lives as long as the server.
                _ = self.changed.changed() => {}
                () = tokio::time::sleep(EVERY) => {}
            }
            let updated = self.look().await?;
            if !updated.is_empty() {
                return Ok(updated);
            }
        }
    }

    async fn look(&mut self) -> Result<BTreeSet<String>, JournalError> {
        let (workspace, newest) = (self.workspace.clone(), self.newest);
        let look = move || workspace.log(&Filter { limit: Some(MOST), ..Filter::default() });
        let Ok(changes) = tokio::task::spawn_blocking(look).await else { return Ok(BTreeSet::new()) };
        let mut updated = BTreeSet::new();
        let changes = changes?;
        for change in changes.iter().take_while(|change| newest.is_none_or(|newest| change.id > newest)) {
            updated.insert(CHANGES.to_owned());
            // A change that was taken back, or brought back, is shown differently.
            if let Kind::Undo(of) | Kind::Redo(of) = change.kind {
                updated.insert(address(of));
            }
            updated.insert(address(change.id));
        }
        self.newest = changes.first().map(|change| change.id).or(newest);
        Ok(updated)
    }
}

/// Tells a client of the older protocol, as long as it is there and subscribed to anything.
pub(crate) fn start(
    hub: &Arc<Hub>,
    session: &Arc<Session>,
    workspace: Arc<Workspace>,
    peer: Peer<RoleServer>,
) {
    if session.watched.swap(true, Ordering::SeqCst) {
        return;
    }
    let (hub, session) = (hub.clone(), session.clone());
    tokio::spawn(async move {
        // A journal that cannot be read is told by the next call; here there is nobody to tell.
        let _ = tell(&hub, &session, workspace, &peer).await;
        session.watched.store(false, Ordering::SeqCst);
    });
}

async fn tell(
    hub: &Hub,
    session: &Session,
    workspace: Arc<Workspace>,
    peer: &Peer<RoleServer>,
) -> Result<(), JournalError> {
    let mut watch = Watch::new(hub, workspace).await?;
    loop {
        let updated = tokio::select! {
            updated = watch.next() => updated?,
            () = gone(session, peer) => return Ok(()),
        };
        let wanted: Vec<String> = {
            let subscribed = session.subscribed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            updated.intersection(&subscribed).cloned().collect()
        };
        for uri in wanted {
            if peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// Waits until the client is gone or wants to hear of nothing.
async fn gone(session: &Session, peer: &Peer<RoleServer>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let none = session.subscribed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_empty();
        if none || peer.is_transport_closed() {
            return;
        }
    }
}
