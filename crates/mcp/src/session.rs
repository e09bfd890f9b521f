//! One client's session: its name in the journal, its workspace, the order of its calls.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use tokio::sync::{Semaphore, watch};

use crate::call_queue::CallQueue;
use crate::change_watcher::Timestamp;

/// How many `subscriptions/listen` requests a session can have open.
pub(crate) const MAX_LISTENERS: usize = 32;

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
    pub(crate) opening: tokio::sync::Mutex<()>,
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
    /// Counts this session.
    _counted: Arc<()>,
}

#[derive(Debug)]
pub(crate) struct OpenedWorkspace {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) origin: RootsOrigin,
}

/// The last failed attempt to open a workspace.
#[derive(Debug, Default)]
pub(crate) struct OpenFailure {
    /// How many attempts have failed so far.
    pub(crate) count: u64,
    pub(crate) report: Option<Box<Report>>,
}

/// Who named the root folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RootsOrigin {
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

    pub(crate) fn lock_opened(&self) -> MutexGuard<'_, Option<OpenedWorkspace>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lock_failure(&self) -> MutexGuard<'_, OpenFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
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

/// The report of a call whose task panicked or was aborted.
pub(crate) fn internal_failure(error: &str) -> Box<Report> {
    let report = Report::custom(Status::Failed, "internal_error", format!("the call failed: {error}"));
    Box::new(report.hint("Check the file before you retry; `slipstitch log` shows what was written."))
}
