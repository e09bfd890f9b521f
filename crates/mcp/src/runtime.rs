//! The event loop of a server process, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::ServeError;
use crate::hub::Hub;

/// How many calls the engine works on at once; more wait.
const THREADS: usize = 16;
/// How long calls in flight may take to finish when the server stops.
const FINISH_WITHIN: Duration = Duration::from_secs(30);

/// Runs a server. One thread talks to clients: messages are seen in the order in which they come.
pub(crate) fn run<T>(serve: impl Future<Output = Result<T, ServeError>>) -> Result<T, ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .map_err(ServeError::Start)?;
    let done = runtime.block_on(serve);
    // What is left is a thread that waits for standard input.
    runtime.shutdown_background();
    done
}

/// A token that is cancelled when the process is asked to stop.
pub(crate) fn stop_signal(closing: &CancellationToken) -> Result<CancellationToken, ServeError> {
    let stop = CancellationToken::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signal = signal(kind).map_err(ServeError::Start)?;
        let (stop, closing) = (stop.clone(), closing.clone());
        tokio::spawn(async move {
            signal.recv().await;
            // First, so that a call that waits for a person knows that it was not the client who gave up.
            closing.cancel();
            stop.cancel();
        });
    }
    Ok(stop)
}

/// Waits for the engine: what is being written is finished, what is not begun is left.
pub(crate) async fn finish(hub: &Arc<Hub>) {
    hub.closing.cancel();
    hub.tasks.close();
    // Beyond that time the journal's next reader finds out what reached the files.
    let _ = tokio::time::timeout(FINISH_WITHIN, hub.tasks.wait()).await;
}
