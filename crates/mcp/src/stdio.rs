//! The server over standard input and output.

use std::io;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use crate::error::ServeError;
use crate::options::Options;
use crate::runtime;
use crate::server::Server;

/// Serves one client over standard input and output, until it closes them or the process is asked to stop.
pub fn serve_stdio(options: Options) -> Result<(), ServeError> {
    runtime::run(async {
        let server = Server::new(options)?;
        let state = server.state().clone();
        runtime::cancel_on_signal(&state.stopping)?;
        runtime::interrupt_after_stop(&state);
        let (reader, writer) = rmcp::transport::io::stdio_pipes();
        let transport = server.transport(reader, writer);
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
