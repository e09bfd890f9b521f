//! One client's session: its name in the journal, its workspace, the order of its calls.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use tokio::sync::{Semaphore, watch};

use crate::call_queue::CallQueue;
use crate::call_time::CallTime;
use crate::caller::{Caller, ProtocolEra};
use crate::change_watcher::Timestamp;
use crate::engine_thread::EngineThread;
use crate::options::OpenError;
use crate::roots::{self, RootsError};
use crate::server_state::{Clients, ServerState};

/// How many `subscriptions/listen` requests a session can have open.
pub(crate) const MAX_LISTENERS: usize = 32;

/// How long a client may take to list its roots.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(10);

/// One client's session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) queue: CallQueue,
    /// Whether the client has sent `initialize`.
    pub(crate) initialized: AtomicBool,
    /// Opened by the first call that needs it: a client that only lists tools costs nothing.
    opened: Mutex<Option<OpenedWorkspace>>,
    /// Held while the workspace is being opened or replaced.
    opening: tokio::sync::Mutex<()>,
    /// The last failed attempt to open the workspace.
    failure: Mutex<OpenFailure>,
    /// URIs of the resources that the client has subscribed to.
    pub(crate) subscribed: Mutex<BTreeSet<String>>,
    /// Whether a task is sending notifications about them.
    pub(crate) has_notifier: AtomicBool,
    /// When the client's roots last changed.
    pub(crate) roots_changed_at: watch::Sender<Option<Timestamp>>,
    /// One permit per open `subscriptions/listen`.
    pub(crate) listeners: Semaphore,
    /// How long the last call took.
    pub(crate) last_call_time: CallTime,
    /// Counts this session in [`ServerState`].
    _counted: Arc<()>,
}

#[derive(Debug)]
struct OpenedWorkspace {
    workspace: Arc<Workspace>,
    origin: RootsOrigin,
}

/// The last failed attempt to open a workspace.
#[derive(Debug, Default)]
struct OpenFailure {
    /// How many attempts have failed so far.
    count: u64,
    report: Option<Box<Report>>,
}

/// Who named the root folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootsOrigin {
    Server,
    Client,
}

impl Session {
    /// `counter` is cloned into every session to count them.
    pub(crate) fn new(name: String, counter: Arc<()>) -> Self {
        Self {
            name,
            queue: CallQueue::default(),
            initialized: AtomicBool::new(false),
            opened: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            failure: Mutex::default(),
            subscribed: Mutex::default(),
            has_notifier: AtomicBool::new(false),
            roots_changed_at: watch::Sender::default(),
            listeners: Semaphore::new(MAX_LISTENERS),
            last_call_time: CallTime::default(),
            _counted: counter,
        }
    }

    /// The session's workspace, if it is open.
    pub(crate) fn open_workspace(&self) -> Option<Arc<Workspace>> {
        self.lock_opened().as_ref().map(|opened| opened.workspace.clone())
    }

    pub(crate) fn has_open_workspace(&self) -> bool {
        self.lock_opened().is_some()
    }

    fn lock_opened(&self) -> MutexGuard<'_, Option<OpenedWorkspace>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_failure(&self) -> MutexGuard<'_, OpenFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session's workspace, opened if necessary.
    pub(crate) async fn workspace(
        &self,
        server: &ServerState,
        caller: &Caller,
    ) -> Result<Arc<Workspace>, Box<Report>> {
        if let Some(workspace) = self.open_workspace() {
            return Ok(workspace);
        }
        let failures_before = self.lock_failure().count;
        let _opening = self.opening.lock().await;
        // Another call may have opened it meanwhile.
        if let Some(workspace) = self.open_workspace() {
            return Ok(workspace);
        }
        // Or failed to: a call that waited for that attempt shares its result instead of repeating it.
        if let OpenFailure { count, report: Some(report) } = &*self.lock_failure()
            && *count != failures_before
        {
            return Err(report.clone());
        }
        let opened = self.open(server, caller).await;
        if let Err(report) = &opened {
            let mut failure = self.lock_failure();
            *failure = OpenFailure { count: failure.count + 1, report: Some(report.clone()) };
        }
        opened
    }

    async fn open(&self, server: &ServerState, caller: &Caller) -> Result<Arc<Workspace>, Box<Report>> {
        let (folders, origin) =
            root_folders(server, caller).await.map_err(|error| open_failure(&error.into()))?;
        let (options, name, agent) = (server.options.clone(), self.name.clone(), caller.agent.clone());
        let thread = EngineThread::default();
        let (interrupt, own_thread) = (server.interrupt.clone(), thread.clone());
        let open = move || {
            own_thread.start();
            options.open_workspace(&folders, &name, agent.as_deref(), interrupt)
        };
        // Interrupted changes are recovered first, which may take long. The thread stops soon after it is cancelled, and a
        // process that ends takes it along: the next start goes on, as after any kill. So nobody has to wait for it.
        let mut opening = tokio::task::spawn_blocking(open);
        let opened = tokio::select! {
            biased;
            opened = &mut opening => opened,
            () = thread.had_enough(&server.stopping, &server.closing) => {
                server.interrupt.cancel();
                return Err(stopping_report());
            }
        };
        let workspace = match opened {
            Ok(result) => Arc::new(result.map_err(|error| open_failure(&error))?),
            Err(error) => return Err(internal_failure(&error.to_string())),
        };
        *self.lock_opened() = Some(OpenedWorkspace { workspace: workspace.clone(), origin });
        Ok(workspace)
    }

    /// Closes the workspace if the client chose its roots; the next call opens the new ones.
    pub(crate) async fn handle_roots_changed(&self) {
        let now = Timestamp::now();
        let _opening = self.opening.lock().await;
        let closed = self.lock_opened().take_if(|opened| opened.origin == RootsOrigin::Client);
        if closed.is_some() || !self.has_open_workspace() {
            self.roots_changed_at.send_replace(Some(now));
        }
    }
}

/// Whether the client is asked for its roots if the server was given none.
fn can_ask_for_roots(server: &ServerState, caller: &Caller) -> bool {
    server.clients == Clients::Single && caller.era == ProtocolEra::Handshake && caller.supports_roots
}

/// The root folders: those the server was given, else the single client's, else none, which is the working directory.
async fn root_folders(
    server: &ServerState,
    caller: &Caller,
) -> Result<(Vec<PathBuf>, RootsOrigin), RootsError> {
    if let Some(known) = server.options.roots.known() {
        return Ok((known.to_vec(), RootsOrigin::Server));
    }
    if !can_ask_for_roots(server, caller) {
        return Ok((Vec::new(), RootsOrigin::Server));
    }
    // An empty list comes from the client too: it may name some later.
    let uris = request_roots(server, caller).await?;
    Ok((roots::from_client(uris.iter().map(String::as_str))?, RootsOrigin::Client))
}

/// The URIs of the client's roots. If the client fails to list them, it is an error: other folders must not be used instead.
#[expect(deprecated, reason = "the newer protocol has no roots; clients of the older one do")]
async fn request_roots(server: &ServerState, caller: &Caller) -> Result<Vec<String>, RootsError> {
    let response = tokio::select! {
        // A response that arrived before the connection closed counts.
        biased;
        response = tokio::time::timeout(ROOTS_TIMEOUT, caller.peer.list_roots()) => response,
        () = server.closing.cancelled() => {
            return Err(RootsError::NotListed("the connection was closed".into()));
        }
    };
    match response {
        Ok(Ok(listed)) => Ok(listed.roots.into_iter().map(|root| root.uri).collect()),
        Ok(Err(error)) => Err(RootsError::NotListed(error.to_string())),
        Err(_) => Err(RootsError::NotListed(format!("no answer within {} seconds", ROOTS_TIMEOUT.as_secs()))),
    }
}

fn open_failure(error: &OpenError) -> Box<Report> {
    let hint = match error {
        OpenError::Roots(error) => error.hint(),
        OpenError::Workspace(_) => {
            "Tell the user that the server can't open its folders; check `--root`, `--state-dir` and `--config`."
        }
    };
    Box::new(Report::custom(Status::Failed, "no_workspace", error.to_string()).hint(hint))
}

/// The report of a call that had not started when the server was asked to stop.
pub(crate) fn stopping_report() -> Box<Report> {
    let message = "the server is stopping; the call was not started and nothing was written";
    let report = Report::custom(Status::Failed, "server_stops", message);
    Box::new(report.hint("Retry when the server is running again."))
}

/// The report of a call whose task panicked or was aborted.
pub(crate) fn internal_failure(error: &str) -> Box<Report> {
    let report = Report::custom(Status::Failed, "internal_error", format!("the call failed: {error}"));
    Box::new(report.hint("Check the file before you retry; `slipstitch log` shows what was written."))
}
