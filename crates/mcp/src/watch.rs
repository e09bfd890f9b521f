//! Tells a client of the older protocol that what it subscribed to is another now.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use rmcp::model::ResourceUpdatedNotificationParam;
use tokio::time::Instant;

use crate::caller::Caller;
use crate::hub::Hub;
use crate::lookout::{EVERY, Moment, Watch};
use crate::session::Session;

/// What tells one client.
struct Teller {
    hub: Arc<Hub>,
    session: Arc<Session>,
    caller: Caller,
}

/// Why a teller stops telling.
enum Over {
    /// The client is gone, or wants to hear of nothing.
    NobodyListens,
    /// The session has other folders since that moment, and with them another journal.
    Moved(Moment),
    /// Folders or a journal that could not be used before may be usable now.
    Opened,
}

/// Tells a client as long as it is there and subscribed to anything.
pub(crate) fn start(hub: &Arc<Hub>, session: &Arc<Session>, caller: Caller, moment: Moment) {
    if session.watched.swap(true, Ordering::SeqCst) {
        return;
    }
    let teller = Teller { hub: hub.clone(), session: session.clone(), caller };
    tokio::spawn(async move {
        let mut moment = moment;
        loop {
            teller.tell_since(moment).await;
            moment = Moment::now();
            teller.session.watched.store(false, Ordering::SeqCst);
            // Someone may have subscribed again a moment ago and seen that this task was still there.
            if teller.nobody_listens() || teller.session.watched.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    });
}

impl Teller {
    /// Tells of changes from that moment on, in whatever folders the session has.
    async fn tell_since(&self, mut moment: Moment) {
        loop {
            match self.tell_of_one_journal(moment).await {
                Over::NobodyListens => return,
                Over::Opened => {}
                Over::Moved(then) => {
                    moment = then;
                    // The same addresses lead to another journal now.
                    let all = self.subscribed(BTreeSet::clone);
                    self.tell(all).await;
                }
            }
        }
    }

    async fn tell_of_one_journal(&self, moment: Moment) -> Over {
        let mut moved = self.session.moved.subscribe();
        let mut watch = match self.session.workspace(&self.hub, &self.caller).await {
            Ok(workspace) => Watch::since(&self.hub, &workspace, moment).await.ok(),
            Err(_) => None,
        };
        let unusable = watch.is_none();
        // Not at once: a journal that cannot be read is tried again only after a while.
        let mut tick = tokio::time::interval_at(Instant::now() + EVERY, EVERY);
        loop {
            let news = async {
                match &mut watch {
                    Some(watch) => watch.next().await,
                    // Folders or a journal that cannot be used are told by the next call; here there is nobody to tell.
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                updated = news => {
                    let wanted = self.subscribed(|all| updated.intersection(all).cloned().collect());
                    if !self.tell(wanted).await {
                        return Over::NobodyListens;
                    }
                }
                _ = moved.changed() => return Over::Moved(moved.borrow().unwrap_or(moment)),
                _ = tick.tick() => {
                    if self.nobody_listens() {
                        return Over::NobodyListens;
                    }
                    if unusable && self.session.is_open() {
                        return Over::Opened;
                    }
                }
            }
        }
    }

    /// Answers whether the client could be told.
    async fn tell(&self, resources: BTreeSet<String>) -> bool {
        for uri in resources {
            let updated = ResourceUpdatedNotificationParam::new(uri);
            if self.caller.peer.notify_resource_updated(updated).await.is_err() {
                return false;
            }
        }
        true
    }

    fn nobody_listens(&self) -> bool {
        self.subscribed(BTreeSet::is_empty) || self.caller.peer.is_transport_closed()
    }

    fn subscribed<T>(&self, look: impl FnOnce(&BTreeSet<String>) -> T) -> T {
        look(&self.session.subscribed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
