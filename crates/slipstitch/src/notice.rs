//! Tells people elsewhere that something waits for review: a command of theirs, or a desktop notification.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use slipstitch_core::ports::journal::{ProposalSubject, StoredProposal};
use slipstitch_core::text::display::escape_controls;

use crate::config::ReviewSettings;

/// How long a command may run.
const MAX_TIME: Duration = Duration::from_secs(30);
/// How long the text of a notice is, in characters.
const MAX_CHARS: usize = 300;

/// The file in the state folder that says how the last command failed.
pub const FAILURE_FILE: &str = "review.notice";

/// What is wrong with the command that the settings name: it cannot be found, or it failed the last time.
pub(crate) fn problems(settings: &ReviewSettings, state_dir: &Path) -> Vec<String> {
    let Some(program) = settings.on_pending.first() else { return Vec::new() };
    if !can_be_found(program) {
        return vec![format!("`review.on_pending`: there is no program `{program}`")];
    }
    let failure = std::fs::read_to_string(state_dir.join(FAILURE_FILE)).unwrap_or_default();
    let failure = failure.lines().next().filter(|line| !line.is_empty());
    failure.map(|failure| format!("`review.on_pending` failed: {failure}")).into_iter().collect()
}

fn can_be_found(program: &str) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let with_ending = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&folders)
        .any(|folder| folder.join(program).is_file() || folder.join(&with_ending).is_file())
}

/// Starts what the settings say, without waiting for it. What fails is noted in the state folder; the proposal is stored anyway.
pub(crate) fn send(settings: &ReviewSettings, state_dir: &Path, root: &str, found: &StoredProposal) {
    let summary = summarize(found);
    if let [program, arguments @ ..] = &settings.on_pending[..] {
        let mut command = Command::new(program);
        command.args(arguments);
        command.env("SLIPSTITCH_PROPOSAL", found.id.to_string()).env("SLIPSTITCH_ROOT", root);
        command.env("SLIPSTITCH_SUMMARY", &summary).env("SLIPSTITCH_SESSION", &found.proposal.origin.session);
        command.env("SLIPSTITCH_AGENT", found.proposal.origin.agent.as_deref().unwrap_or_default());
        let (file, id, program) = (state_dir.join(FAILURE_FILE), found.id, program.clone());
        start(command, move |failure| {
            // Nobody is there to be told if this fails too.
            let _ = match failure {
                Some(failure) => std::fs::write(&file, format!("{id}: `{program}` {failure}\n")),
                None => std::fs::remove_file(&file),
            };
        });
    }
    if settings.notify {
        start(slipstitch_platform::desktop::notification(&summary), |_| {});
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

/// Starts a command, and stops it if it hangs. `report` gets what went wrong, or nothing.
fn start(mut command: Command, report: impl FnOnce(Option<String>) + Send + 'static) {
    match command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
        Ok(child) => {
            // Without the thread, the child runs on and is not waited for.
            let _ = std::thread::Builder::new().name("notice".into()).spawn(move || report(wait_for(child)));
        }
        Err(error) => report(Some(format!("cannot be started: {error}"))),
    }
}

/// Waits for a command; returns what went wrong.
fn wait_for(mut child: Child) -> Option<String> {
    let end = Instant::now() + MAX_TIME;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(status)) => return Some(format!("ended with {status}")),
            Ok(None) if Instant::now() > end => {
                let _ = child.kill();
                let _ = child.wait();
                return Some(format!("was stopped after {} s", MAX_TIME.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(100)),
            Err(error) => return Some(error.to_string()),
        }
    }
}
