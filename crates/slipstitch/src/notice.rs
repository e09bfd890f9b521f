//! Tells people elsewhere that something waits for review: a command of theirs, or a desktop notification.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use slipstitch_core::ports::journal::{ProposalSubject, StoredProposal};
use slipstitch_core::text::display::escape_controls;

use crate::config::ReviewSettings;

/// How long a command may run.
const MAX_TIME: Duration = Duration::from_secs(30);
/// How long the text of a notice is, in characters.
const MAX_CHARS: usize = 300;

/// Starts what the settings say, without waiting for it. What fails is ignored: the proposal is stored.
pub(crate) fn send(settings: &ReviewSettings, root: &str, found: &StoredProposal) {
    let summary = summarize(found);
    if let [program, arguments @ ..] = &settings.on_pending[..] {
        let mut command = Command::new(program);
        command.args(arguments);
        command.env("SLIPSTITCH_PROPOSAL", found.id.to_string()).env("SLIPSTITCH_ROOT", root);
        command.env("SLIPSTITCH_SUMMARY", &summary).env("SLIPSTITCH_SESSION", &found.proposal.origin.session);
        command.env("SLIPSTITCH_AGENT", found.proposal.origin.agent.as_deref().unwrap_or_default());
        start(command);
    }
    if settings.notify {
        start(slipstitch_platform::desktop::notification(&summary));
    }
}

/// One line about a proposal. Its parts come from the agent, so control characters are escaped.
fn summarize(found: &StoredProposal) -> String {
    let proposal = &found.proposal;
    let who = proposal.origin.agent.as_ref().unwrap_or(&proposal.origin.session);
    let what = match (proposal.notes.subject, &proposal.files[..]) {
        (ProposalSubject::WriteAccess, _) => "asks for write access".to_owned(),
        (_, [file]) => format!("wants to change {}", file.path),
        (_, files) => format!("wants to change {} files", files.len()),
    };
    let text = escape_controls(&format!("{who} {what} ({}): {}", found.id, proposal.reason));
    text.chars().take(MAX_CHARS).collect()
}

/// Starts a command, and stops it if it hangs.
fn start(mut command: Command) {
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(child) = spawned {
        // Without the thread, the child runs on and is not waited for.
        let _ = std::thread::Builder::new().name("notice".into()).spawn(move || wait_for(child));
    }
}

fn wait_for(mut child: Child) {
    let end = Instant::now() + MAX_TIME;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
