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
pub(crate) const FINISH_WITHIN: Duration = Duration::from_secs(30);

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

/// Has a token cancelled when the process is asked to stop.
pub(crate) fn cancel_on_signal(stop: &CancellationToken) -> Result<(), ServeError> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signal = signal(kind).map_err(ServeError::Start)?;
        let stop = stop.clone();
        tokio::spawn(async move {
            signal.recv().await;
            stop.cancel();
        });
    }
    Ok(())
}

/// Waits for the calls: what is being written is finished and noted, what is not begun is told that it will not be.
pub(crate) async fn finish(hub: &Arc<Hub>) {
    hub.stopping.cancel();
    hub.tasks.close();
    // Beyond that time the journal's next reader finds out what reached the files.
    let _ = tokio::time::timeout(FINISH_WITHIN, hub.tasks.wait()).await;
}
