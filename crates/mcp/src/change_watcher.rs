//! Watches journals for new changes and decisions, made by this server or by other processes. All listeners of one journal share
//! one watcher.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use slipstitch::Workspace;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{ChangeKind, Filter, JournalError, ProposalId, Summary};
use tokio::sync::watch;

use crate::resources::{CHANGES_URI, change_uri, proposal_uri};

/// How often a journal is polled for changes by other processes while it has listeners.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How many of the latest changes are reported individually.
const MAX_CHANGES: usize = 64;

/// A point in time, in milliseconds since 1970, as in the journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timestamp(i64);

impl Timestamp {
    pub(crate) fn now() -> Self {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The watchers of one server, by journal.
#[derive(Debug)]
pub(crate) struct ChangeWatchers {
    watchers: Mutex<HashMap<JournalKey, Arc<Publisher>>>,
    /// Counts the changes made by this server, so that watchers do not wait for the next poll.
    own_changes: watch::Sender<u64>,
}

impl Default for ChangeWatchers {
    fn default() -> Self {
        Self { watchers: Mutex::default(), own_changes: watch::channel(0).0 }
    }
}

/// A journal, identified by its state folder and its root.
type JournalKey = (PathBuf, String);

/// What a journal has.
#[derive(Debug, Clone, Default)]
struct JournalState {
    /// Differs after every change, proposal and decision.
    activity: String,
    /// The latest changes, newest first.
    changes: Arc<[RecentChange]>,
    /// The proposals that wait for a decision.
    pending: Arc<BTreeSet<ProposalId>>,
}

type Publisher = watch::Sender<JournalState>;

#[derive(Debug)]
struct RecentChange {
    id: ChangeId,
    /// URIs of the resources that it affects.
    resources: Vec<String>,
}

impl RecentChange {
    fn new(change: &Summary) -> Self {
        let mut resources = vec![CHANGES_URI.to_owned(), change_uri(change.id)];
        // An undo or redo also affects the changes that it reverts or restores.
        match &change.kind {
            ChangeKind::Edit => {}
            ChangeKind::Undo(undone) => resources.extend(undone.ids().iter().map(|id| change_uri(*id))),
            ChangeKind::Redo(id) => resources.push(change_uri(*id)),
        }
        Self { id: change.id, resources }
    }
}

impl ChangeWatchers {
    /// Announces that this server has changed files.
    pub(crate) fn notify_change(&self) {
        self.own_changes.send_modify(|count| *count += 1);
    }

    /// Subscribes to a journal's changes. The watcher starts with the first subscriber and ends with the last.
    fn subscribe(self: &Arc<Self>, workspace: &Arc<Workspace>) -> watch::Receiver<JournalState> {
        let journal = (workspace.state_dir().to_owned(), workspace.root().to_owned());
        let mut watchers = self.lock();
        if let Some(publisher) = watchers.get(&journal) {
            return publisher.subscribe();
        }
        let (publisher, receiver) = watch::channel(JournalState::default());
        let publisher = Arc::new(publisher);
        watchers.insert(journal.clone(), publisher.clone());
        tokio::spawn(watch_journal(self.clone(), journal, workspace.clone(), publisher));
        receiver
    }

    /// Removes a watcher unless someone has subscribed meanwhile. Returns whether it was removed.
    fn remove_if_unused(&self, journal: &JournalKey) -> bool {
        let mut watchers = self.lock();
        let unused = watchers.get(journal).is_none_or(|publisher| publisher.receiver_count() == 0);
        if unused {
            watchers.remove(journal);
        }
        unused
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JournalKey, Arc<Publisher>>> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn watch_journal(
    watchers: Arc<ChangeWatchers>,
    journal: JournalKey,
    workspace: Arc<Workspace>,
    publisher: Arc<Publisher>,
) {
    let mut own_changes = watchers.own_changes.subscribe();
    // The first poll is immediate.
    own_changes.mark_changed();
    loop {
        tokio::select! {
            () = publisher.closed() => match watchers.remove_if_unused(&journal) {
                true => return,
                false => continue,
            },
            // The sender lives as long as the watchers.
            _ = own_changes.changed() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
        let seen = publisher.borrow().activity.clone();
        // The next call reports a journal that cannot be read; here it is only tried again.
        if let Ok(Some(latest)) = poll_journal(&workspace, seen).await {
            publisher.send_replace(latest);
        }
    }
}

/// What the journal has, if something happened since it was seen.
async fn poll_journal(
    workspace: &Arc<Workspace>,
    seen: String,
) -> Result<Option<JournalState>, JournalError> {
    read(workspace, move |workspace| {
        let activity = workspace.activity()?;
        if activity == seen {
            return Ok(None);
        }
        let changes = workspace.log(&Filter { limit: Some(MAX_CHANGES), ..Filter::default() })?;
        let changes = changes.iter().map(RecentChange::new).collect();
        Ok(Some(JournalState { activity, changes, pending: Arc::new(pending_ids(workspace)?) }))
    })
    .await
}

fn pending_ids(workspace: &Workspace) -> Result<BTreeSet<ProposalId>, JournalError> {
    Ok(workspace.proposals()?.iter().map(|found| found.id).collect())
}

/// Reads a journal on a thread that may block.
async fn read<T: Send + 'static>(
    workspace: &Arc<Workspace>,
    read: impl FnOnce(&Workspace) -> Result<T, JournalError> + Send + 'static,
) -> Result<T, JournalError> {
    let workspace = workspace.clone();
    let done = tokio::task::spawn_blocking(move || read(&workspace)).await;
    done.map_err(|error| JournalError::new("be read", error.to_string()))?
}

/// One subscriber to a journal's changes and decisions.
pub(crate) struct ChangeListener {
    latest: watch::Receiver<JournalState>,
    /// The last change that was reported, or that was made before listening started.
    newest: Option<ChangeId>,
    /// The proposals that waited when this listener last looked.
    pending: Arc<BTreeSet<ProposalId>>,
}

impl ChangeListener {
    /// Listens for changes made at `start` or later, including those made while the watcher is being set up.
    pub(crate) async fn since(
        watchers: &Arc<ChangeWatchers>,
        workspace: &Arc<Workspace>,
        start: Timestamp,
    ) -> Result<Self, JournalError> {
        let mut latest = watchers.subscribe(workspace);
        // What the watcher has already published to others may be new to this listener.
        latest.mark_changed();
        let earlier = Filter { until: Some(start.0), limit: Some(1), ..Filter::default() };
        let (newest, pending) =
            read(workspace, move |workspace| Ok((workspace.log(&earlier)?, pending_ids(workspace)?))).await?;
        Ok(Self { latest, newest: newest.first().map(|change| change.id), pending: Arc::new(pending) })
    }

    /// Waits for new changes and returns the URIs of the resources that they affect.
    pub(crate) async fn next(&mut self) -> BTreeSet<String> {
        loop {
            if self.latest.changed().await.is_err() {
                // The watcher ends before its listeners only if it panics.
                std::future::pending::<()>().await;
            }
            let latest = self.latest.borrow_and_update().clone();
            if latest.activity.is_empty() {
                // The watcher has not looked yet.
                continue;
            }
            let newest = self.newest;
            let new =
                latest.changes.iter().take_while(|change| newest.is_none_or(|newest| change.id > newest));
            let mut updated: BTreeSet<String> =
                new.flat_map(|change| change.resources.iter().cloned()).collect();
            updated.extend(self.pending.difference(&latest.pending).map(|id| proposal_uri(*id)));
            self.pending = latest.pending;
            if !updated.is_empty() {
                self.newest = latest.changes.first().map(|change| change.id).max(newest);
                return updated;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(20);

    fn open_workspace(folder: &tempfile::TempDir, root: &str) -> Arc<Workspace> {
        let path = folder.path().join(root);
        std::fs::create_dir_all(&path).unwrap();
        Arc::new(Workspace::builder(path).state_dir(folder.path().join("state")).open().unwrap())
    }

    fn create_file(workspace: &Workspace, path: &str) {
        let call = json!({"path": path, "content": "x\n", "mode": "create"});
        assert!(workspace.call("native", "write_file", call).report.is_success());
    }

    async fn next(listener: &mut ChangeListener) -> BTreeSet<String> {
        tokio::time::timeout(TIMEOUT, listener.next()).await.expect("an update in time")
    }

    #[tokio::test]
    async fn listeners_of_one_journal_share_a_watcher_that_ends_with_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let watchers = Arc::new(ChangeWatchers::default());
        // Two sessions with the same root, and one with another.
        let one = open_workspace(&folder, "a");
        let two = open_workspace(&folder, "a");
        let other = open_workspace(&folder, "b");
        let start = Timestamp::now();
        let mut first = ChangeListener::since(&watchers, &one, start).await.unwrap();
        let mut second = ChangeListener::since(&watchers, &two, start).await.unwrap();
        assert_eq!(watchers.lock().len(), 1);
        let elsewhere = ChangeListener::since(&watchers, &other, start).await.unwrap();
        assert_eq!(watchers.lock().len(), 2);
        create_file(&two, "x");
        for listener in [&mut first, &mut second] {
            assert!(next(listener).await.contains("slipstitch://changes/c1"));
        }
        drop((first, elsewhere));
        // A late listener gets changes that were already published to the others, once.
        let mut late = ChangeListener::since(&watchers, &one, Timestamp(0)).await.unwrap();
        assert!(next(&mut late).await.contains("slipstitch://changes/c1"));
        create_file(&one, "y");
        for listener in [&mut second, &mut late] {
            let updated = next(listener).await;
            assert!(updated.contains("slipstitch://changes/c2"), "{updated:?}");
            assert!(!updated.contains("slipstitch://changes/c1"), "{updated:?}");
        }
        drop((second, late));
        let ended = async {
            while !watchers.lock().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(TIMEOUT, ended).await.expect("the watchers end");
    }
}
