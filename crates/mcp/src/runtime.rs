//! The event loop of a server process, and its shutdown.

use std::sync::Arc;
use std::time::Duration;

use slipstitch_platform::stop_signal;
use tokio_util::sync::CancellationToken;

use crate::engine_thread::STOP_GRACE;
use crate::error::ServeError;
use crate::server_state::ServerState;

/// How many calls the engine processes at once; more wait.
const MAX_BLOCKING_THREADS: usize = 16;
/// How long calls in flight may take to finish when the server stops.
pub(crate) const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs a server. A single thread talks to clients, so that messages are handled in the order in which they arrive.
pub(crate) fn run<T>(serve: impl Future<Output = Result<T, ServeError>>) -> Result<T, ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .build()
        .map_err(ServeError::Start)?;
    let result = runtime.block_on(serve);
    // A thread may still be blocked reading standard input; waiting for it would hang.
    runtime.shutdown_background();
    result
}

/// Cancels `stop` when the system asks the process to stop.
pub(crate) fn cancel_on_signal(stop: &CancellationToken) -> Result<(), ServeError> {
    let stop = stop.clone();
    let end = move || {
        stop.cancel();
        slipstitch::editors::abandon_reloads();
    };
    stop_signal::on_stop(end).map_err(ServeError::Start)
}

/// Ends all waits for other processes soon after the server was asked to stop.
pub(crate) fn interrupt_after_stop(server: &Arc<ServerState>) {
    let server = server.clone();
    tokio::spawn(async move {
        server.stopping.cancelled().await;
        tokio::time::sleep(STOP_GRACE).await;
        server.interrupt.cancel();
    });
}

/// Waits for the calls in flight: those that are being written are finished and recorded, the others are abandoned soon.
pub(crate) async fn finish_calls(server: &Arc<ServerState>) {
    server.stopping.cancel();
    server.tasks.close();
    // After the timeout, recovery at the next start finds out what reached the files.
    let _ = tokio::time::timeout(STOP_TIMEOUT, server.tasks.wait()).await;
}
