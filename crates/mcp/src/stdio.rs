//! The server over standard input and output.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rustix::time::{ClockId, clock_gettime};

use crate::error::ServeError;
use crate::options::Options;
use crate::runtime;
use crate::server::Server;
use crate::server_state::ServerState;

/// Serves one client over standard input and output, until it closes them or the process is asked to stop.
pub fn serve_stdio(options: Options) -> Result<(), ServeError> {
    runtime::run(async {
        let server = Server::new(options)?;
        let state = server.state().clone();
        runtime::cancel_on_signal(&state.stopping)?;
        let (reader, writer) = rmcp::transport::io::stdio_pipes();
        let transport = server.transport(reader, writer);
        tokio::spawn(give_up_after_end_of_input(state.clone()));
        match server.serve(transport).await {
            Ok(running) => {
                // However it ended, calls in flight are waited for below.
                let _ = running.waiting().await;
            }
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
            Err(error) => return Err(ServeError::Start(io::Error::other(error))),
        }
        runtime::finish_calls(&state).await;
        Ok(())
    })
}

/// How much a call may compute after the input has ended.
const MAX_CPU_AFTER_END: Duration = Duration::from_millis(150);

/// How often that is checked.
const CPU_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Gives up calls that compute for long after the input has ended.
///
/// A script that pipes its requests wants the answers, so calls that were read are not dropped at once. Nor should they be
/// dropped because the machine is busy or another process holds a lock: only the time that this process computes counts,
/// since the end of the input or since the last answer.
async fn give_up_after_end_of_input(server: Arc<ServerState>) {
    server.closing.cancelled().await;
    let (mut answered, mut since) = (server.answered.load(Ordering::Relaxed), cpu_time());
    loop {
        tokio::time::sleep(CPU_CHECK_INTERVAL).await;
        let now = server.answered.load(Ordering::Relaxed);
        if now != answered {
            (answered, since) = (now, cpu_time());
        } else if cpu_time().saturating_sub(since) > MAX_CPU_AFTER_END {
            return server.give_up.cancel();
        }
    }
}

/// How long this process has computed.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}
