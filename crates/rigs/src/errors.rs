//! Makes each system call fail once, and reads and writes transfer less than they were asked to.
//!
//! After a reported failure the files are unchanged; after a reported success they are complete. An error may also be
//! harmless (writing the note in a lock, looking for optional settings); then the program rightly succeeds.

mod short_io;
mod size_limit;

use fastrand::Rng;

use crate::invariants::{self, Reported};
use crate::operation::{OPERATIONS, Operation};
use crate::sampling::sample_in_order;
use crate::syscalls::{self, Injection, Syscall};
use crate::testbed::{Editor, RunOutput, Testbed};
use crate::{Findings, Protection, Scale, parallel};

/// The injected errors.
const ERRORS: &[&str] = &["ENOSPC", "EIO", "EDQUOT", "EXDEV", "EROFS", "EACCES"];

/// Runs the rig. With the protection off, editors that write in place replace the program.
pub(crate) fn run(scale: Scale, protection: Protection) -> Findings {
    let mut operations: Vec<(usize, Operation)> = OPERATIONS.iter().copied().enumerate().collect();
    if protection == Protection::Off {
        operations.retain(|(_, operation)| !operation.naive.is_empty());
    }
    let mut findings = Findings::default();
    if let Err(reason) = syscalls::check_strace() {
        findings.skipped.push(format!("errors at system calls: {reason}"));
    } else {
        findings = parallel::run_each(&operations, |&(number, operation)| {
            fail_at_syscalls(scale, protection, number, operation).unwrap_or_else(Findings::failed)
        });
    }
    if protection == Protection::On {
        findings.merge(size_limit::run(scale));
    }
    findings.merge(short_io::run(scale, Editor::select(protection, Editor::IgnoresShortWrites)));
    findings
}

fn fail_at_syscalls(
    scale: Scale,
    protection: Protection,
    number: usize,
    operation: Operation,
) -> Result<Findings, String> {
    let editor = Editor::select(protection, Editor::WritesInPlace);
    let testbed = Testbed::with_editor(operation, scale, editor)?;
    let calls = syscalls::list(&testbed)?;
    let mut findings = Findings::default();
    findings.count("operations", 1u64);
    for (call, error) in choose_errors(calls, scale, number) {
        // If EACCES keeps the program from writing a temporary file, it writes in place and syncs that.
        let sync_fails = error != "EACCES" && call.syncs_beneath(&testbed.root().to_string_lossy());
        let place = format!("{}, {error} at {}", operation.name, call.label());
        match syscalls::run_with_injection(&testbed, &call, Injection::Error(error)) {
            Ok(run) => {
                findings.count(format!("{error} injected"), 1u64);
                let copies = usize::from(operation.is_huge() && call.is_copy());
                findings.count(syscalls::HUGE_COPIES, copies);
                let failures = check(&testbed, sync_fails, &run.output, protection, &mut findings);
                findings.fail_at(&place, failures);
            }
            Err(failure) => findings.fail(format!("{place}: {failure}")),
        }
    }
    Ok(findings)
}

/// The calls that fail, each with its error. A quick run takes one error per call, starting with a different one for each
/// operation; but the kernel's copy gets every error, because after some it falls back and after others the change fails.
fn choose_errors(calls: Vec<Syscall>, scale: Scale, number: usize) -> Vec<(Syscall, &'static str)> {
    let calls: Vec<Syscall> = calls.into_iter().filter(Syscall::is_about_files).collect();
    let every_error = |call: Syscall| ERRORS.iter().map(move |error| (call.clone(), *error));
    if scale == Scale::Long {
        return calls.into_iter().flat_map(every_error).collect();
    }
    let (copies, calls): (Vec<Syscall>, Vec<Syscall>) = calls.into_iter().partition(Syscall::is_copy);
    let (effects, others): (Vec<Syscall>, Vec<Syscall>) = calls.into_iter().partition(Syscall::has_effect);
    let copies = sample_in_order(&mut Rng::with_seed(3_000 + number as u64), copies, 4);
    let others = sample_in_order(&mut Rng::with_seed(2_000 + number as u64), others, 20);
    let errors = ERRORS.iter().copied().cycle().skip(number);
    let one_error = effects.into_iter().chain(others).zip(errors);
    copies.into_iter().flat_map(every_error).chain(one_error).collect()
}

fn check(
    testbed: &Testbed,
    sync_fails: bool,
    output: &RunOutput,
    protection: Protection,
    findings: &mut Findings,
) -> Vec<String> {
    let reported = match what_was_reported(output) {
        Ok(reported) => reported,
        Err(failure) => return vec![failure],
    };
    if protection == Protection::Off {
        return invariants::check_before_recovery(testbed, reported).err().into_iter().collect();
    }
    let mut failures = Vec::new();
    if reported == Reported::Success && sync_fails {
        failures.push("reported success although a sync failed".to_owned());
    }
    match invariants::check(testbed, reported) {
        Ok(_) if reported == Reported::Success => findings.count("harmless: operation succeeded", 1u64),
        Ok(_) => findings.count("error reported, files unchanged", 1u64),
        Err(more) => failures.extend(more),
    }
    failures
}

/// What the program reported; anything but success or a clear error message is itself a failure.
fn what_was_reported(output: &RunOutput) -> Result<Reported, String> {
    match output.code {
        Some(0) => Ok(Reported::Success),
        Some(1..=3) if is_clear_error(&output.stderr) => Ok(Reported::Failure),
        _ => Err(format!("no clear error message: {}", output.summarize())),
    }
}

fn is_clear_error(text: &str) -> bool {
    let lower = text.to_lowercase();
    text.starts_with("error: ") && !["panicked", "internal", "unwrap"].iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_or_silence_is_not_a_clear_error() {
        let output = |code, stderr: &str| RunOutput { code, stdout: String::new(), stderr: stderr.into() };
        let clear = output(Some(3), "error: cannot write `a`: the disk is full\n");
        assert_eq!(what_was_reported(&clear), Ok(Reported::Failure));
        assert!(what_was_reported(&output(Some(101), "thread 'main' panicked at src/x.rs\n")).is_err());
        assert!(what_was_reported(&output(None, "")).is_err());
        assert!(what_was_reported(&output(Some(3), "")).is_err());
    }
}
