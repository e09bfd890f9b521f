//! What must be true after an operation was interrupted.

use slipstitch::SqliteJournal;
use slipstitch::core::ports::journal::{ChangeState, Filter, Journal};

use crate::operation::WriteStrategy;
use crate::testbed::Testbed;
use crate::tree::{Missing, Tree};

/// Which version of the files an interrupted operation left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// The files from before the operation.
    Old,
    /// The files that the operation writes.
    New,
}

/// What the program reported to its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reported {
    Success,
    Failure,
    /// It ended before it could report anything.
    Nothing,
}

/// Checks the files, starts the program so that it recovers, and checks again, up to whether editing can continue. Returns
/// the version that is left, or everything that is wrong.
pub(crate) fn check(testbed: &Testbed, reported: Reported) -> Result<Version, Vec<String>> {
    let mut failures = Vec::new();
    if let Err(failure) = check_before_recovery(testbed, reported) {
        failures.push(failure);
    }
    let version = check_recovery(testbed, reported, &mut failures);
    if let (Some(version), true) = (version, failures.is_empty())
        && let Err(failure) = check_continuation(testbed, version)
    {
        failures.push(failure);
    }
    match version {
        Some(version) if failures.is_empty() => Ok(version),
        _ => Err(failures),
    }
}

/// Checks the files as the process left them. Every file is old or new at any time, unless it is written in place, or its
/// name is missing because the file system cannot exchange names; and a
/// process that still reported a result has brought all files to the matching version.
pub(crate) fn check_before_recovery(testbed: &Testbed, reported: Reported) -> Result<(), String> {
    let (found, _) = testbed.read_root()?;
    let (expected, name) = match reported {
        Reported::Success => (&testbed.new, "success"),
        Reported::Failure => (&testbed.old, "failure"),
        Reported::Nothing if testbed.operation().writes == WriteStrategy::InPlace => return Ok(()),
        Reported::Nothing => {
            let missing = if testbed.can_exchange() { Missing::Torn } else { Missing::Allowed };
            let torn = found.first_torn_path(&testbed.old, &testbed.new, missing);
            return torn.map_or(Ok(()), |path| Err(format!("`{path}` is neither old nor new")));
        }
    };
    let difference = found.first_difference(expected);
    difference.map_or(Ok(()), |difference| Err(format!("reported {name}, but {difference}")))
}

fn check_recovery(testbed: &Testbed, reported: Reported, failures: &mut Vec<String>) -> Option<Version> {
    let recover = || -> Result<(Vec<String>, Tree, Vec<String>), String> {
        let states = testbed.journal_states()?;
        let (found, temporary) = testbed.read_root()?;
        Ok((states, found, temporary))
    };
    let (states, found, temporary) = match recover() {
        Ok(recovered) => recovered,
        Err(failure) => {
            failures.push(format!("the next start failed: {failure}"));
            return None;
        }
    };
    if !temporary.is_empty() {
        failures.push(format!("left behind: {}", temporary.join(", ")));
    }
    if states.iter().any(|state| state != "done") {
        failures.push("a change is pending after the next start".into());
    }
    let version = identify_version(testbed, &found);
    match version {
        None => failures.push(describe_mix(testbed, &found)),
        Some(Version::Old) if reported == Reported::Success => {
            failures.push("reported success, but the edit is lost".into());
        }
        Some(Version::New) if reported == Reported::Failure => {
            failures.push("reported failure, but the edit was applied".into());
        }
        Some(version) => {
            let expected = testbed.changes + usize::from(version == Version::New);
            if states.len() != expected {
                failures.push(format!(
                    "the files are {version:?}, but the journal has {} changes instead of {expected}",
                    states.len()
                ));
            }
        }
    }
    version
}

fn identify_version(testbed: &Testbed, found: &Tree) -> Option<Version> {
    match found {
        found if *found == testbed.old => Some(Version::Old),
        found if *found == testbed.new => Some(Version::New),
        _ => None,
    }
}

fn describe_mix(testbed: &Testbed, found: &Tree) -> String {
    let difference = |tree| found.first_difference(tree).unwrap_or_default();
    format!("neither old ({}) nor new ({})", difference(&testbed.old), difference(&testbed.new))
}

/// An operation that was not applied can be repeated; one that was applied can be undone.
fn check_continuation(testbed: &Testbed, version: Version) -> Result<(), String> {
    let (args, expected) = match version {
        Version::Old => (testbed.operation().args, &testbed.new),
        Version::New => (testbed.operation().inverse, &testbed.old),
    };
    let output = testbed.run(args)?;
    if !output.is_success() {
        return Err(format!("afterwards `slipstitch {}` failed: {}", args.join(" "), output.summarize()));
    }
    let (found, _) = testbed.read_root()?;
    let difference = found.without_hard_links().first_difference(&expected.clone().without_hard_links());
    difference.map_or(Ok(()), |difference| Err(format!("`slipstitch {}`, but {difference}", args.join(" "))))
}

/// The checks of [`check`] without starting the program again: recovery is the protection that they test.
pub(crate) fn check_without_recovery(testbed: &Testbed) -> Result<Version, Vec<String>> {
    let mut failures = Vec::new();
    let read = || -> Result<_, String> {
        let journal = SqliteJournal::open(&testbed.state(), &testbed.root().to_string_lossy());
        let changes =
            journal.and_then(|journal| journal.list(&Filter::default())).map_err(|e| e.to_string())?;
        Ok((testbed.read_root()?, changes))
    };
    let ((found, temporary), changes) = read().map_err(|failure| vec![failure])?;
    if !temporary.is_empty() {
        failures.push(format!("left behind: {}", temporary.join(", ")));
    }
    if changes.iter().any(|change| change.state == ChangeState::Pending) {
        failures.push("a change is pending".into());
    }
    match identify_version(testbed, &found) {
        Some(version) if failures.is_empty() => return Ok(version),
        Some(_) => {}
        None => failures.push(describe_mix(testbed, &found)),
    }
    Err(failures)
}
