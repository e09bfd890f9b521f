//! One look-out per journal, shared by everyone who wants to hear that it grew: by calls here, and by other processes.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use slipstitch::Workspace;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{ChangeKind, Filter, JournalError, Summary};
use tokio::sync::watch;

use crate::hub::Hub;
use crate::resources::{CHANGES, address};

/// How often the journal is looked at for changes by other processes, while someone listens.
pub(crate) const EVERY: Duration = Duration::from_millis(500);
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

/// The look-outs of one server, by what they look at.
#[derive(Debug, Default)]
pub(crate) struct Lookouts(Mutex<HashMap<Journal, Arc<RenderInput>>>);

/// A journal, by its folder and the root that it is about.
type Journal = (PathBuf, String);

/// The latest changes, newest first.
type Latest = Arc<[News]>;

/// Tells everyone who listens.
type RenderInput = watch::Sender<Latest>;

/// A change, and which resources are others since.
#[derive(Debug)]
struct News {
    id: ChangeId,
    resources: Vec<String>,
}

impl News {
    fn of(change: &Summary) -> Self {
        let mut resources = vec![CHANGES.to_owned(), address(change.id)];
        // A change that was taken back, or brought back, is shown differently.
        match &change.kind {
            ChangeKind::Edit => {}
            ChangeKind::Undo(taken) => resources.extend(taken.ids().iter().map(|of| address(*of))),
            ChangeKind::Redo(of) => resources.push(address(*of)),
        }
        Self { id: change.id, resources }
    }
}

impl Lookouts {
    /// Joins those who listen for changes of a journal. The look-out starts with the first and ends with the last.
    fn join(hub: &Arc<Hub>, workspace: &Arc<Workspace>) -> watch::Receiver<Latest> {
        let journal = (workspace.state_dir().to_owned(), workspace.root().to_owned());
        let mut all = hub.lookouts.lock();
        if let Some(told) = all.get(&journal) {
            return told.subscribe();
        }
        let (told, latest) = watch::channel(Latest::default());
        let told = Arc::new(told);
        all.insert(journal.clone(), told.clone());
        tokio::spawn(look_out(hub.clone(), journal, workspace.clone(), told));
        latest
    }

    /// Ends a look-out unless someone has joined a moment ago. Answers whether it has ended.
    fn end(&self, journal: &Journal) -> bool {
        let mut all = self.lock();
        let nobody = all.get(journal).is_none_or(|told| told.receiver_count() == 0);
        if nobody {
            all.remove(journal);
        }
        nobody
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Journal, Arc<RenderInput>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn look_out(hub: Arc<Hub>, journal: Journal, workspace: Arc<Workspace>, told: Arc<RenderInput>) {
    let mut changed = hub.changed.subscribe();
    // Look at once.
    changed.mark_changed();
    loop {
        tokio::select! {
            () = told.closed() => match hub.lookouts.end(&journal) {
                true => return,
                false => continue,
            },
            // The sender lives as long as the server.
            _ = changed.changed() => {}
            () = tokio::time::sleep(EVERY) => {}
        }
        let newest = told.borrow().first().map(|news| news.id);
        // A journal that cannot be read now is told by the next call; here it is tried again.
        if let Ok(Some(latest)) = look(&workspace, newest).await {
            told.send_replace(latest);
        }
    }
}

/// The latest changes, if there are others since `newest`.
async fn look(workspace: &Arc<Workspace>, newest: Option<ChangeId>) -> Result<Option<Latest>, JournalError> {
    let last = log(workspace, Filter { limit: Some(1), ..Filter::default() }).await?;
    if last.first().map(|change| change.id) == newest {
        return Ok(None);
    }
    let changes = log(workspace, Filter { limit: Some(MOST), ..Filter::default() }).await?;
    Ok(Some(changes.iter().map(News::of).collect()))
}

async fn log(workspace: &Arc<Workspace>, filter: Filter) -> Result<Vec<Summary>, JournalError> {
    let workspace = workspace.clone();
    let log = tokio::task::spawn_blocking(move || workspace.log(&filter)).await;
    log.map_err(|error| JournalError { action: "be read", reason: error.to_string() })?
}

/// One who listens.
pub(crate) struct Watch {
    latest: watch::Receiver<Latest>,
    newest: Option<ChangeId>,
}

impl Watch {
    /// Listens for changes that were made at that moment or later: what happens while the look-out is being set up is
    /// told too.
    pub(crate) async fn since(
        hub: &Arc<Hub>,
        workspace: &Arc<Workspace>,
        moment: Moment,
    ) -> Result<Self, JournalError> {
        let mut latest = Lookouts::join(hub, workspace);
        // What others have been told of already may be new here.
        latest.mark_changed();
        let before = Filter { until: Some(moment.0), limit: Some(1), ..Filter::default() };
        let newest = log(workspace, before).await?.first().map(|change| change.id);
        Ok(Self { latest, newest })
    }

    /// Waits until the journal grows, and says which resources are others now.
    pub(crate) async fn next(&mut self) -> BTreeSet<String> {
        loop {
            if self.latest.changed().await.is_err() {
                // Only a look-out that broke leaves its listeners.
                std::future::pending::<()>().await;
            }
            let latest = self.latest.borrow_and_update().clone();
            let newest = self.newest;
            let new = latest.iter().take_while(|news| newest.is_none_or(|newest| news.id > newest));
            let updated: BTreeSet<String> = new.flat_map(|news| news.resources.iter().cloned()).collect();
            if !updated.is_empty() {
                self.newest = latest.first().map(|news| news.id);
                return updated;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hub::Link;
    use crate::options::Options;

    const SOON: Duration = Duration::from_secs(20);

    fn open(folder: &tempfile::TempDir, root: &str) -> Arc<Workspace> {
        let path = folder.path().join(root);
        std::fs::create_dir_all(&path).unwrap();
        Arc::new(Workspace::builder(path).state_dir(folder.path().join("state")).open().unwrap())
    }

    fn write(workspace: &Workspace, path: &str) {
        let call = json!({"path": path, "content": "x\n", "mode": "create"});
        assert!(workspace.call("native", "write_file", call).report.is_success());
    }

    async fn next(watch: &mut Watch) -> BTreeSet<String> {
        tokio::time::timeout(SOON, watch.next()).await.expect("news in time")
    }

    #[tokio::test]
    async fn those_who_listen_to_one_journal_share_a_look_out_that_ends_with_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let hub = Hub::new(Options::default(), Link::Shared).unwrap();
        // Two sessions have a workspace each.
        let (one, two, other) = (open(&folder, "a"), open(&folder, "a"), open(&folder, "b"));
        let moment = Moment::now();
        let mut first = Watch::since(&hub, &one, moment).await.unwrap();
        let mut second = Watch::since(&hub, &two, moment).await.unwrap();
        assert_eq!(hub.lookouts.lock().len(), 1);
        let elsewhere = Watch::since(&hub, &other, moment).await.unwrap();
        assert_eq!(hub.lookouts.lock().len(), 2);
        write(&two, "x");
        for watch in [&mut first, &mut second] {
            assert!(next(watch).await.contains("slipstitch://changes/c1"));
        }
        drop((first, elsewhere));
        // Whoever comes later hears of what is new, once, though the others have been told.
        let mut late = Watch::since(&hub, &one, Moment(0)).await.unwrap();
        assert!(next(&mut late).await.contains("slipstitch://changes/c1"));
        write(&one, "y");
        for watch in [&mut second, &mut late] {
            let updated = next(watch).await;
            assert!(updated.contains("slipstitch://changes/c2"), "{updated:?}");
            assert!(!updated.contains("slipstitch://changes/c1"), "{updated:?}");
        }
        drop((second, late));
        let ended = async {
            while !hub.lookouts.lock().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(SOON, ended).await.expect("nobody listens any more");
    }
}
