//! Opens a session's workspace, with the roots that the server was given or that the client names.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::caller::{Caller, ProtocolEra};
use crate::options::OpenError;
use crate::roots::{self, RootsError};
use crate::server_state::{Clients, ServerState};
use crate::session::{OpenFailure, OpenedWorkspace, RootsOrigin, Session, internal_failure};

/// How long a client may take to list its roots.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(10);

impl Session {
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
        let open = move || options.open_workspace(&folders, &name, agent.as_deref());
        let workspace = match server.tasks.spawn_blocking(open).await {
            Ok(result) => Arc::new(result.map_err(|error| open_failure(&error))?),
            Err(error) => return Err(internal_failure(&error.to_string())),
        };
        *self.lock_opened() = Some(OpenedWorkspace { workspace: workspace.clone(), origin });
        Ok(workspace)
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
            "Tell the user: the server needs folders that it can use (`--root`, `--state-dir`, `--config`)."
        }
    };
    Box::new(Report::custom(Status::Failed, "no_workspace", error.to_string()).hint(hint))
}
