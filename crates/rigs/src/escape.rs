//! Paths, symlinks, patches and races that try to leave the root.

mod client;
mod patches;
mod paths;
mod race;
mod sandbox;
mod tool_cases;
mod watch;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use crate::{Findings, Protection, Scale};
use client::{Client, EngineClient, LexicalClient, Response};
use patches::HOSTILE_PATCHES;
pub(crate) use race::run as race;
use sandbox::{CANARY, Sandbox};
use tool_cases::{PathKind, TOOL_CASES, ToolCase};
use watch::Watch;

/// Time limit for one attack.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What no response may contain: the canary, and content of system files that attacks name.
const FORBIDDEN: &[&str] = &[CANARY, "root:x:0:", "PATH=/"];

/// The result of one attack.
#[derive(Debug)]
enum AttackResult {
    /// There was a response, and perhaps something is wrong with it or with what the attack did.
    Responded { succeeded: bool, failure: Option<String> },
    /// The rig itself failed.
    RigError(String),
}

/// Tries every hostile path with every tool case, and every hostile patch. With the protection off, a tool that only
/// compares path strings replaces the engine.
pub(crate) fn run(_: Scale, protection: Protection) -> Findings {
    let mut findings = Findings::default();
    let (sender, results) = mpsc::channel();
    std::thread::spawn(move || run_attacks(protection, &sender));
    let (mut attacks, mut refused) = (0_u64, 0_u64);
    while let Some(result) = receive(&results, &mut findings) {
        match result {
            AttackResult::RigError(error) => findings.fail(format!("rig error: {error}")),
            AttackResult::Responded { succeeded, failure } => {
                attacks += 1;
                refused += u64::from(!succeeded);
                findings.failures.extend(failure);
            }
        }
    }
    findings.count("paths", Sandbox::new().map_or(0, |sandbox| paths::hostile_paths(&sandbox).len()));
    findings.count("tool cases", TOOL_CASES.len());
    findings.count("hostile patches", HOSTILE_PATCHES.len());
    findings.count("attacks", attacks);
    findings.count("attacks refused", refused);
    findings
}

/// The tools that this rig calls, by dialect and name.
#[cfg(test)]
pub(crate) fn tools_exercised() -> impl Iterator<Item = (&'static str, &'static str)> {
    TOOL_CASES.iter().map(|case| (case.dialect, case.tool))
}

fn receive(results: &Receiver<AttackResult>, findings: &mut Findings) -> Option<AttackResult> {
    match results.recv_timeout(TIMEOUT) {
        Ok(result) => Some(result),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => {
            findings.fail(format!("an attack got no response within {} s", TIMEOUT.as_secs()));
            None
        }
    }
}

fn run_attacks(protection: Protection, results: &Sender<AttackResult>) {
    for case in TOOL_CASES {
        let done = attack_sandbox(protection, results, &case.to_string(), |client, attack| {
            check_case_works(client, case, protection)?;
            paths::hostile_paths(attack.sandbox).iter().try_for_each(|path| {
                attack.sandbox.restore_moved_file()?;
                attack.check(path, &client.call(case, path))
            })
        });
        if let Err(error) = done {
            let _ = results.send(AttackResult::RigError(error));
        }
    }
    let done = attack_sandbox(protection, results, "hostile patch", |client, attack| {
        HOSTILE_PATCHES.iter().try_for_each(|text| attack.check(text, &client.apply_patch(text)))
    });
    if let Err(error) = done {
        let _ = results.send(AttackResult::RigError(error));
    }
}

/// A series of attacks of one kind in one sandbox.
struct Attack<'a> {
    sandbox: &'a Sandbox,
    watch: Watch,
    name: &'a str,
    results: &'a Sender<AttackResult>,
}

/// Runs attacks in a new sandbox, and checks afterwards that nothing outside changed.
fn attack_sandbox(
    protection: Protection,
    results: &Sender<AttackResult>,
    name: &str,
    attacks: impl FnOnce(&dyn Client, &Attack<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let sandbox = Sandbox::new().map_err(failed)?;
    let client: Box<dyn Client> = match protection {
        Protection::On => Box::new(EngineClient::new(&sandbox)?),
        Protection::Off => Box::new(LexicalClient(sandbox.root())),
    };
    let before = sandbox.snapshot_forbidden().map_err(failed)?;
    let watch = Watch::new(&[&sandbox.outside(), &sandbox.outside().join("folder")]).map_err(failed)?;
    attacks(&*client, &Attack { sandbox: &sandbox, watch, name, results })?;
    let after = sandbox.snapshot_forbidden().map_err(failed)?;
    let changed = before.iter().find(|(path, was)| after.get(*path) != Some(*was)).map(|(path, _)| path);
    let changed = changed.or_else(|| after.keys().find(|path| !before.contains_key(*path)));
    let failure = changed.map(|path| format!("{name}: `{}` was changed, created or removed", path.display()));
    results.send(AttackResult::Responded { succeeded: false, failure }).map_err(|error| error.to_string())
}

impl Attack<'_> {
    /// Checks the response to an attack, and whether it touched anything outside the root.
    fn check(&self, input: &str, response: &Response) -> Result<(), String> {
        let input: String = input.chars().take(120).collect();
        let events = self.watch.drain_events().map_err(|error| error.to_string())?;
        let leaked = FORBIDDEN.iter().find(|text| response.text.contains(**text));
        let failure = match (leaked, events.first(), &response.unclear) {
            (Some(text), ..) => Some(format!("the response contains `{text}`")),
            (_, Some(event), _) => Some(format!("touched the outside: {event}")),
            (.., Some(unclear)) => Some(format!("unclear refusal: {unclear}")),
            _ => None,
        };
        let failure = failure.map(|failure| format!("{} on {input:?}: {failure}", self.name));
        let result = AttackResult::Responded { succeeded: response.succeeded, failure };
        self.results.send(result).map_err(|error| error.to_string())
    }
}

/// Checks that a tool case works on a harmless path: if the call itself were wrong, refusing it would prove nothing.
fn check_case_works(client: &dyn Client, case: &ToolCase, protection: Protection) -> Result<(), String> {
    let path = match case.takes {
        PathKind::File => "sub/plain.txt",
        PathKind::NewFile => "sub/created.txt",
        PathKind::Folder => "sub",
        PathKind::Notebook => "sub/plain.ipynb",
    };
    let response = client.call(case, path);
    if response.succeeded || response.is_proposed || protection == Protection::Off {
        return Ok(());
    }
    Err(format!("{case} does not work on `{path}`: {}", response.text))
}
