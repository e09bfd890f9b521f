//! One client's conversation: its name in the journal, its workspace, its order of calls.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use tokio::sync::{Semaphore, watch};

use crate::caller::{Caller, Era};
use crate::hub::{Hub, Link};
use crate::lookout::Moment;
use crate::options::OpenError;
use crate::order::{Ground, Order};
use crate::roots::{self, RootsError};

/// How many `subscriptions/listen` a session has at once.
pub(crate) const MAX_LISTENERS: usize = 32;

/// How long a client may take to name its folders.
const ROOTS_WITHIN: Duration = Duration::from_secs(10);

/// One client's conversation.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) order: Order,
    /// Whether the client has introduced itself in the way of the older protocol.
    pub(crate) initialized: AtomicBool,
    /// Opened by the first call that needs it: a client that only lists tools costs nothing.
    opened: Mutex<Option<Opened>>,
    /// Held by whoever opens a workspace, or finds that the one there is no longer right.
    opening: tokio::sync::Mutex<()>,
    /// The last try to open one that came to nothing.
    failure: Mutex<Failure>,
    /// The resources that the client wants to hear of.
    pub(crate) subscribed: Mutex<BTreeSet<String>>,
    /// Whether someone looks out for them.
    pub(crate) watched: AtomicBool,
    /// Since when the client's folders are those that they are, if they were others before.
    pub(crate) moved: watch::Sender<Option<Moment>>,
    /// A place for everyone who listens in the way of the newer protocol.
    pub(crate) listeners: Semaphore,
    /// Tells the server that this session is there.
    _live: Arc<()>,
}

#[derive(Debug)]
struct Opened {
    workspace: Arc<Workspace>,
    origin: RootsOrigin,
}

/// A try to open a workspace that came to nothing.
#[derive(Debug, Default)]
struct Failure {
    /// How many there were with this one.
    count: u64,
    report: Option<Box<Report>>,
}

/// Who said which folders these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootsOrigin {
    Server,
    Client,
}

impl Session {
    pub(crate) fn new(name: String, live: Arc<()>) -> Self {
        Self {
            name,
            order: Order::default(),
            initialized: AtomicBool::new(false),
            opened: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            failure: Mutex::default(),
            subscribed: Mutex::default(),
            watched: AtomicBool::new(false),
            moved: watch::Sender::default(),
            listeners: Semaphore::new(MAX_LISTENERS),
            _live: live,
        }
    }

    /// The session's workspace, if it is open.
    fn opened(&self) -> Option<Arc<Workspace>> {
        self.lock().as_ref().map(|opened| opened.workspace.clone())
    }

    /// Whether the session has a workspace.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failure(&self) -> MutexGuard<'_, Failure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of the session's folders without waiting for anyone.
    pub(crate) fn ground(&self, hub: &Hub, caller: &Caller) -> Ground {
        match (self.opened(), hub.options.roots.known()) {
            (Some(workspace), _) => Ground::Open(workspace),
            (None, Some(known)) => known.first().map_or(Ground::Unknown, |root| absolute(root)),
            (None, None) if may_ask(hub, caller) => Ground::Unknown,
            (None, None) => absolute(Path::new(".")),
        }
    }

    /// The session's workspace, opened if it is not yet.
    pub(crate) async fn workspace(&self, hub: &Hub, caller: &Caller) -> Result<Arc<Workspace>, Box<Report>> {
        if let Some(workspace) = self.opened() {
            return Ok(workspace);
        }
        let before = self.failure().count;
        let _alone = self.opening.lock().await;
        // Someone else may have opened it meanwhile.
        if let Some(workspace) = self.opened() {
            return Ok(workspace);
        }
        // Or have failed to: whoever waited for that need not wait for the same again.
        if let Failure { count, report: Some(report) } = &*self.failure()
            && *count != before
        {
            return Err(report.clone());
        }
        let opened = self.open(hub, caller).await;
        if let Err(report) = &opened {
            let mut failure = self.failure();
            *failure = Failure { count: failure.count + 1, report: Some(report.clone()) };
        }
        opened
    }

    async fn open(&self, hub: &Hub, caller: &Caller) -> Result<Arc<Workspace>, Box<Report>> {
        let (folders, origin) = folders(hub, caller).await.map_err(|error| refusal(&error.into()))?;
        let (options, name, agent) = (hub.options.clone(), self.name.clone(), caller.agent.clone());
        let work = move || options.open(&folders, &name, agent.as_deref());
        let workspace = match hub.tasks.spawn_blocking(work).await {
            Ok(result) => Arc::new(result.map_err(|error| refusal(&error))?),
            Err(error) => return Err(broken(&error.to_string())),
        };
        *self.lock() = Some(Opened { workspace: workspace.clone(), origin });
        Ok(workspace)
    }

    /// The client's folders are others now; whoever needs them next opens those.
    pub(crate) async fn roots_changed(&self) {
        let now = Moment::now();
        let _alone = self.opening.lock().await;
        let closed = self.lock().take_if(|opened| opened.origin == RootsOrigin::Client);
        if closed.is_some() || !self.is_open() {
            self.moved.send_replace(Some(now));
        }
    }
}

fn absolute(root: &Path) -> Ground {
    std::path::absolute(root).map_or(Ground::Unknown, Ground::Folder)
}

/// Whether the client is asked for its folders, if the server was told none.
fn may_ask(hub: &Hub, caller: &Caller) -> bool {
    hub.link == Link::Own && caller.era == Era::Handshake && caller.has_roots
}

/// The folders to work in: what the server was told, else what its own client says, else the working folder.
async fn folders(hub: &Hub, caller: &Caller) -> Result<(Vec<PathBuf>, RootsOrigin), RootsError> {
    if let Some(known) = hub.options.roots.known() {
        return Ok((known.to_vec(), RootsOrigin::Server));
    }
    if !may_ask(hub, caller) {
        return Ok((Vec::new(), RootsOrigin::Server));
    }
    // None for now is the client's word too: it may name some later.
    let uris = ask(hub, caller).await?;
    Ok((roots::from_client(uris.iter().map(String::as_str))?, RootsOrigin::Client))
}

/// What the client calls its roots. One that has some and fails to say which is not given others instead.
#[expect(deprecated, reason = "the newer protocol has no roots; clients of the older one do")]
async fn ask(hub: &Hub, caller: &Caller) -> Result<Vec<String>, RootsError> {
    let said = tokio::select! {
        // An answer that came before the end counts.
        biased;
        said = tokio::time::timeout(ROOTS_WITHIN, caller.peer.list_roots()) => said,
        () = hub.closing.cancelled() => return Err(RootsError::Unsaid("the connection ends".into())),
    };
    match said {
        Ok(Ok(listed)) => Ok(listed.roots.into_iter().map(|root| root.uri).collect()),
        Ok(Err(error)) => Err(RootsError::Unsaid(error.to_string())),
        Err(_) => Err(RootsError::Unsaid(format!("no answer in {} seconds", ROOTS_WITHIN.as_secs()))),
    }
}

fn refusal(error: &OpenError) -> Box<Report> {
    let hint = match error {
        OpenError::Roots(error) => error.hint(),
        OpenError::Workspace(_) => {
            "Tell the person in charge: the server needs a folder that it can use (`--root`, `--state-dir`, `--config`)."
        }
    };
    Box::new(Report::custom(Status::Failed, "no_workspace", error.to_string()).hint(hint))
}

/// What is said when the engine itself fails.
pub(crate) fn broken(why: &str) -> Box<Report> {
    let report =
        Report::custom(Status::Failed, "internal_error", format!("the call could not be carried out: {why}"));
    Box::new(report.hint("Look at the file before you try again; `slipstitch log` shows what was written."))
}
