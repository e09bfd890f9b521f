//! Kills the program at each system call and at random times.
//!
//! The system calls of an operation are listed, from the first that touches the root or the state; then the operation runs
//! once per call and is killed there. After the next start the files must be all old or all new with nothing left over, and
//! editing must continue from there.

use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::invariants::{self, Reported, Version};
use crate::operation::{OPERATIONS, Operation};
use crate::sampling::sample_in_order;
use crate::syscalls::{self, Injection, Syscall};
use crate::testbed::Testbed;
use crate::{Findings, Protection, Scale, parallel};

/// Runs the rig. With the protection off, the checks come before the next start could recover.
pub(crate) fn run(scale: Scale, protection: Protection) -> Findings {
    let operations: Vec<(usize, Operation)> = OPERATIONS.iter().copied().enumerate().collect();
    let mut findings = Findings::default();
    if let Err(reason) = syscalls::check_strace() {
        findings.skipped.push(format!("kills at system calls: {reason}"));
    } else {
        findings = parallel::run_each(&operations, |&(number, operation)| {
            let at_calls = kill_at_syscalls(scale, protection, number, operation);
            at_calls.unwrap_or_else(Findings::failed)
        });
    }
    findings.merge(parallel::run_each(&operations, |&(number, operation)| {
        kill_at_random_times(scale, protection, number, operation).unwrap_or_else(Findings::failed)
    }));
    findings
}

fn kill_at_syscalls(
    scale: Scale,
    protection: Protection,
    number: usize,
    operation: Operation,
) -> Result<Findings, String> {
    let testbed = Testbed::new(operation, scale)?;
    let calls = syscalls::list(&testbed)?;
    let mut findings = Findings::default();
    findings.count("operations", 1u64);
    findings.count("their system calls", calls.len());
    for call in choose_calls(calls, scale, protection, number) {
        let place = format!("{}, killed at {}", operation.name, call.label());
        match syscalls::run_with_injection(&testbed, &call, Injection::Kill) {
            Ok(run) if run.killed => {
                findings.count("killed at a system call", 1u64);
                let copies = usize::from(operation.is_huge() && call.is_kernel_copy());
                findings.count(syscalls::KERNEL_COPIES, copies);
                check(&mut findings, &testbed, &place, what_was_reported(&run.output.stdout), protection);
            }
            // The last call ends the process anyway, and a lock that was free in the first run may be taken in the second.
            Ok(_) => findings.count("system calls not reached in a second run", 1u64),
            Err(failure) => findings.fail(format!("{place}: {failure}")),
        }
    }
    Ok(findings)
}

/// The calls at which to kill: in a quick run, those with an effect and a sample of the others.
fn choose_calls(calls: Vec<Syscall>, scale: Scale, protection: Protection, number: usize) -> Vec<Syscall> {
    if scale == Scale::Long && protection == Protection::On {
        return calls;
    }
    let mut random = Rng::with_seed(number as u64);
    let (effects, others): (Vec<Syscall>, Vec<Syscall>) = calls.into_iter().partition(Syscall::has_effect);
    if protection == Protection::On {
        return effects.into_iter().chain(sample_in_order(&mut random, others, 10)).collect();
    }
    let effects = sample_in_order(&mut random, effects, 12);
    effects.into_iter().chain(sample_in_order(&mut random, others, 3)).collect()
}

fn what_was_reported(stdout: &str) -> Reported {
    if stdout.is_empty() { Reported::Nothing } else { Reported::Success }
}

fn check(
    findings: &mut Findings,
    testbed: &Testbed,
    place: &str,
    reported: Reported,
    protection: Protection,
) {
    let version = match protection {
        Protection::On => invariants::check(testbed, reported),
        Protection::Off => invariants::check_without_recovery(testbed),
    };
    match version {
        Ok(Version::Old) => findings.count("left all old", 1u64),
        Ok(Version::New) => findings.count("left all new", 1u64),
        Err(failures) => findings.fail_at(place, failures),
    }
}

/// Kills by the clock, which also hits between system calls and inside the kernel.
fn kill_at_random_times(
    scale: Scale,
    protection: Protection,
    number: usize,
    operation: Operation,
) -> Result<Findings, String> {
    let wanted = match scale {
        Scale::Quick => 8,
        Scale::Long => 2_000usize.div_ceil(OPERATIONS.len()),
    };
    let testbed = Testbed::new(operation, scale)?;
    let mut findings = Findings::default();
    let mut random = Rng::with_seed(1_000 + number as u64);
    let place = format!("{}, killed at a random time", operation.name);
    let mut killed = 0;
    // A run that finishes before its kill does not count and is repeated, but not forever.
    for _ in 0..wanted * 4 {
        if killed == wanted {
            break;
        }
        match kill_once(&testbed, &mut random) {
            Ok(None) => {}
            Ok(Some(reported)) => {
                killed += 1;
                check(&mut findings, &testbed, &place, reported, protection);
            }
            Err(failure) => findings.fail(format!("{place}: {failure}")),
        }
    }
    findings.count("killed at a random time", killed);
    Ok(findings)
}

/// Starts the operation and kills it within 15 ms; `None` if it finished before that.
fn kill_once(testbed: &Testbed, random: &mut Rng) -> Result<Option<Reported>, String> {
    testbed.reset()?;
    let failed = |error: std::io::Error| format!("cannot run `slipstitch`: {error}");
    let start = Instant::now();
    let mut child = testbed.command(&testbed.operation_command()).spawn().map_err(failed)?;
    let wait = Duration::from_micros(random.u64(..15_000));
    thread::sleep(wait.saturating_sub(start.elapsed()));
    if child.try_wait().map_err(failed)?.is_some() {
        return Ok(None);
    }
    child.kill().map_err(failed)?;
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        return Ok(None);
    }
    Ok(Some(what_was_reported(&String::from_utf8_lossy(&output.stdout))))
}
