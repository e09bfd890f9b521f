//! `slipstitch review --web`: the review page, also beside `slipstitch mcp --http`.

use std::io::Write;
use std::sync::Arc;

use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch_review::{Notice, PageOptions, PageState, Selection, ServeError};

use crate::error::CommandError;
use crate::other_roots::OtherRoots;
use crate::output::CommandResult;
use crate::reviewer;

/// Serves the page until the process is interrupted.
pub(super) fn serve(workspace: Workspace, port: u16, selection: Selection) -> CommandResult {
    if let Some(roots) = OtherRoots::of(&workspace).describe_pending() {
        say(&format!("note: proposals {roots}"));
    }
    let notice = Notice::new(|url, state| match state {
        PageState::Started => say(&format!("Review page: {url}\nPress Ctrl-C to stop.")),
        PageState::Opened => say(&format!("Opened. For another browser: {url}")),
    });
    let options = PageOptions { port, decided_by: page_name(&workspace)?, selection, notice };
    run(workspace, options).map_err(|report| *report)?;
    Ok(Box::new(Report::custom(Status::Shown, "shown", "The review page was stopped.")))
}

/// Serves the page next to another server, on a separate thread, until the process ends.
pub(in crate::command) fn serve_beside(workspace: Workspace) -> Result<(), CommandError> {
    let notice = Notice::new(|url, state| match state {
        PageState::Started => say(&format!("slipstitch mcp: review page: {url}")),
        PageState::Opened => say(&format!("slipstitch mcp: review page opened; for another browser: {url}")),
    });
    let selection = Selection::default();
    let options = PageOptions { port: 0, decided_by: page_name(&workspace)?, selection, notice };
    let page = move || {
        if let Err(error) = run(workspace, options) {
            say(&format!("slipstitch mcp: {}", error.message));
        }
    };
    let spawned = std::thread::Builder::new().name("review page".into()).spawn(page);
    spawned.map(drop).map_err(|error| failed(&ServeError::Serve(error)).into())
}

/// The name to record for whoever decides on the page. The page's address opens it, and an agent that starts the page reads
/// the address; so starting it needs a terminal, or the page a passphrase.
fn page_name(workspace: &Workspace) -> Result<String, CommandError> {
    match (reviewer::has_terminal() || workspace.has_passphrase(), workspace.config().review.unattended) {
        (true, _) => Ok("review page".into()),
        (false, true) => Ok("review page (unattended)".into()),
        (false, false) => Err(reviewer::needs_terminal("the review page can only be opened at a terminal")),
    }
}

/// Prints at once: an address is needed now, not when the command ends.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn run(workspace: Workspace, options: PageOptions) -> Result<(), Box<Report>> {
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    slipstitch_review::serve(Arc::new(workspace), options, stop).map_err(|error| Box::new(failed(&error)))
}

fn failed(error: &ServeError) -> Report {
    Report::custom(Status::Failed, "review_page", error.to_string())
        .hint("Choose another port with `--port`, or leave it out to use a free one.")
}
