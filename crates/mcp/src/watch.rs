//! Tells clients that the journal grew: by calls here, and by other processes that share it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use incise::Workspace;
use incise::core::journal::{ChangeId, Filter, JournalError, Kind, Summary};
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

/// A moment, in milliseconds since 1970, as the journal writes them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment(i64);

impl Moment {
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A look-out over one journal.
pub(crate) struct Watch {
    workspace: Arc<Workspace>,
    newest: Option<ChangeId>,
    changed: watch::Receiver<u64>,
}

impl Watch {
    /// Looks out for changes that were made at that moment or later: what happens while the look-out is being set up is
    /// told too.
    pub(crate) async fn since(
        hub: &Hub,
        workspace: Arc<Workspace>,
        moment: Moment,
    ) -> Result<Self, JournalError> {
        let mut changed = hub.changed.subscribe();
        // Look at once.
        changed.mark_changed();
        let mut watch = Self { workspace, newest: None, changed };
        let before = Filter { until: Some(moment.0), limit: Some(1), ..Filter::default() };
        watch.newest = watch.log(before).await?.first().map(|change| change.id);
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
        let changes = self.log(Filter { limit: Some(MOST), ..Filter::default() }).await?;
        let newest = self.newest;
        let mut updated = BTreeSet::new();
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

    async fn log(&self, filter: Filter) -> Result<Vec<Summary>, JournalError> {
        let workspace = self.workspace.clone();
        let log = tokio::task::spawn_blocking(move || workspace.log(&filter)).await;
        log.map_err(|error| JournalError { action: "be read", reason: error.to_string() })?
    }
}

/// Tells a client of the older protocol, as long as it is there and subscribed to anything.
pub(crate) fn start(
    hub: &Arc<Hub>,
    session: &Arc<Session>,
    workspace: Arc<Workspace>,
    peer: Peer<RoleServer>,
    moment: Moment,
) {
    if session.watched.swap(true, Ordering::SeqCst) {
        return;
    }
    let (hub, session) = (hub.clone(), session.clone());
    tokio::spawn(async move {
        let mut moment = moment;
        loop {
            // A journal that cannot be read is told by the next call; here there is nobody to tell.
            let told = tell(&hub, &session, workspace.clone(), &peer, moment).await;
            moment = Moment::now();
            session.watched.store(false, Ordering::SeqCst);
            // Someone may have subscribed again a moment ago and seen that this task was still there.
            let over = told.is_err() || nobody_listens(&session, &peer);
            if over || session.watched.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    });
}

async fn tell(
    hub: &Hub,
    session: &Session,
    workspace: Arc<Workspace>,
    peer: &Peer<RoleServer>,
    moment: Moment,
) -> Result<(), JournalError> {
    let mut watch = Watch::since(hub, workspace, moment).await?;
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
        if nobody_listens(session, peer) {
            return;
        }
    }
}

fn nobody_listens(session: &Session, peer: &Peer<RoleServer>) -> bool {
    let none = session.subscribed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_empty();
    none || peer.is_transport_closed()
}
