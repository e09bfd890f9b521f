//! `slipstitch review --web`: the review page.

use std::io::Write;
use std::sync::Arc;

use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch_review::{ServeError, Server};

use crate::output::CommandResult;

/// Serves the page until the process is interrupted.
pub(super) fn serve(workspace: Workspace, port: u16) -> CommandResult {
    let failed = |error: ServeError| {
        Report::custom(Status::Failed, "review_page", error.to_string())
            .hint("Choose another port with `--port`, or leave it out to use a free one.")
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(ServeError::Serve(error)))?;
    runtime.block_on(async {
        let server = Server::bind(Arc::new(workspace), port).await.map_err(failed)?;
        // The address is needed now, not when the command ends.
        let _ = writeln!(std::io::stderr(), "Review page: {}\nPress Ctrl-C to stop.", server.url());
        server.serve(async { drop(tokio::signal::ctrl_c().await) }).await.map_err(failed)
    })?;
    Ok(Box::new(Report::custom(Status::Shown, "shown", "The review page was stopped.")))
}
