//! What all clients of one server share.

use std::sync::Arc;
use std::time::Duration;

use slipstitch::Workspace;
use slipstitch::core::cancel::CancelToken;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::approval::request_state::RequestStates;
use crate::change_watcher::ChangeWatchers;
use crate::error::ServeError;
use crate::options::Options;
use crate::tools::Catalogue;

/// How many `subscriptions/listen` requests can be open. Over HTTP each occupies a connection, and some must be left for
/// others.
pub(crate) const MAX_LISTENERS: usize = 128;

/// How long call records, the source of `slipstitch stats`, may wait to be written.
const RECORD_DELAY: Duration = Duration::from_millis(100);

/// Who can connect to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// The one client that started this process. It may choose the root.
    Single,
    /// Anyone with access to the server.
    Many,
}

/// What all clients of one server share.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) options: Options,
    pub(crate) catalogue: Catalogue,
    pub(crate) request_states: RequestStates,
    pub(crate) clients: Clients,
    pub(crate) watchers: Arc<ChangeWatchers>,
    /// One permit per open `subscriptions/listen`.
    pub(crate) listeners: Semaphore,
    /// The server is stopping: calls that have not started are refused.
    pub(crate) stopping: CancellationToken,
    /// Cancelled soon after that. From then on, nothing waits for other processes.
    pub(crate) interrupt: CancelToken,
    /// Nobody can answer forms any more: the client has closed its end, or the server is stopping.
    pub(crate) closing: CancellationToken,
    /// Calls in flight, and the engine's work.
    pub(crate) tasks: TaskTracker,
}

impl ServerState {
    pub(crate) fn new(options: Options, clients: Clients) -> Result<Arc<Self>, ServeError> {
        let catalogue = Catalogue::with_tools(&options.dialects, &options.tools, options.structured)?;
        options.roots.check()?;
        let request_states = RequestStates::new(options.approval_timeout).map_err(ServeError::Start)?;
        let stopping = CancellationToken::new();
        Ok(Arc::new(Self {
            catalogue,
            request_states,
            clients,
            watchers: Arc::default(),
            listeners: Semaphore::new(MAX_LISTENERS),
            closing: stopping.child_token(),
            stopping,
            interrupt: CancelToken::default(),
            tasks: TaskTracker::new(),
            options,
        }))
    }

    /// Writes queued call records after a short delay, or when the server stops: a batch costs hardly more than one.
    pub(crate) fn write_records_soon(&self, workspace: Arc<Workspace>) {
        let stopping = self.stopping.clone();
        self.tasks.spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(RECORD_DELAY) => {}
                    () = stopping.cancelled() => {}
                }
                let workspace = workspace.clone();
                let written = tokio::task::spawn_blocking(move || workspace.write_call_records()).await;
                // When the server stops, the workspace tries again as it is closed.
                if written.unwrap_or(true) || stopping.is_cancelled() {
                    return;
                }
            }
        });
    }
}
