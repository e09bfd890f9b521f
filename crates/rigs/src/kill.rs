//! Kills the program at every system call, and at random times.
//!
//! A call is the last one of its process once, for every call from the first that touches the root or the state. What is left
//! must be all old or all new after the next start, with nothing lying about, and work must go on from there.

use std::thread;
use std::time::{Duration, Instant};

use crate::aftermath::{self, RenderInput, Side};
use crate::bench::Bench;
use crate::operation::{OPERATIONS, Operation};
use crate::random::Random;
use crate::trace::{self, Call, Injection};
use crate::{Outcome, Protection, Scale, each};

/// Runs the rig.
pub fn run(scale: Scale, protection: Protection) -> Outcome {
    let mut outcome = Outcome::default();
    if let Err(reason) = trace::available() {
        outcome.skipped.push(format!("kills at system calls: {reason}"));
    } else {
        outcome =
            each::of(&numbered(), |&(number, operation)| at_calls(scale, protection, number, operation));
    }
    outcome
        .merge(each::of(&numbered(), |&(number, operation)| at_times(scale, protection, number, operation)));
    outcome
}

fn numbered() -> Vec<(usize, Operation)> {
    OPERATIONS.iter().copied().enumerate().collect()
}

fn at_calls(scale: Scale, protection: Protection, number: usize, operation: Operation) -> Outcome {
    let mut outcome = Outcome::default();
    let setup = Bench::new(operation, scale).and_then(|bench| Ok((trace::calls(&bench)?, bench)));
    let (calls, bench) = match setup {
        Ok(setup) => setup,
        Err(fault) => {
            outcome.fault(fault);
            return outcome;
        }
    };
    outcome.count("operation kinds", 1u64);
    outcome.count("their system calls", calls.len());
    for call in choose(calls, scale, protection, number) {
        let place = format!("{}, killed at {}", operation.name, call.label());
        match trace::disturb(&bench, &call, Injection::Kill) {
            Ok(run) if run.killed => {
                outcome.count("killed at a system call", 1u64);
                outcome.count(trace::COPIES, usize::from(operation.is_huge() && call.is_copy()));
                judge(&mut outcome, &bench, &place, told(&run.answer.out), protection);
            }
            // The last call ends the process anyway; a lock that was free the first time may be taken the second.
            Ok(_) => outcome.count("calls that a second run does not reach", 1u64),
            Err(fault) => outcome.fault(format!("{place}: {fault}")),
        }
    }
    outcome
}

/// The calls at which to kill.
fn choose(calls: Vec<Call>, scale: Scale, protection: Protection, number: usize) -> Vec<Call> {
    if scale == Scale::Long && protection == Protection::On {
        return calls;
    }
    let mut random = Random::new(number as u64);
    let (effects, others): (Vec<Call>, Vec<Call>) = calls.into_iter().partition(Call::has_effect);
    if protection == Protection::On {
        return effects.into_iter().chain(random.sample(others, 10)).collect();
    }
    random.sample(effects, 12).into_iter().chain(random.sample(others, 3)).collect()
}

fn told(out: &str) -> RenderInput {
    if out.is_empty() { RenderInput::Nothing } else { RenderInput::Success }
}

fn judge(outcome: &mut Outcome, bench: &Bench, place: &str, told: RenderInput, protection: Protection) {
    let found = match protection {
        Protection::On => aftermath::check(bench, told),
        Protection::Off => aftermath::check_without_next_start(bench),
    };
    match found {
        Ok(Side::Old) => outcome.count("left all old", 1u64),
        Ok(Side::New) => outcome.count("left all new", 1u64),
        Err(faults) => faults.into_iter().for_each(|fault| outcome.fault(format!("{place}: {fault}"))),
    }
}

/// Kills by the clock: between system calls too, and at whatever the kernel is doing.
fn at_times(scale: Scale, protection: Protection, number: usize, operation: Operation) -> Outcome {
    let mut outcome = Outcome::default();
    let times = match scale {
        Scale::Quick => 8,
        Scale::Long => 2_000usize.div_ceil(OPERATIONS.len()),
    };
    let bench = match Bench::new(operation, scale) {
        Ok(bench) => bench,
        Err(fault) => {
            outcome.fault(fault);
            return outcome;
        }
    };
    let mut random = Random::new(1_000 + number as u64);
    let mut killed = 0;
    // A run that ends before its time is no kill; try again, but not for ever.
    for _ in 0..times * 4 {
        if killed == times {
            break;
        }
        let place = format!("{}, killed at a random time", operation.name);
        match kill_once(&bench, &mut random) {
            Ok(None) => {}
            Ok(Some(told)) => {
                killed += 1;
                judge(&mut outcome, &bench, &place, told, protection);
            }
            Err(fault) => outcome.fault(format!("{place}: {fault}")),
        }
    }
    outcome.count("killed at a random time", killed);
    outcome
}

/// Starts the operation and kills it; `None` if it was faster.
fn kill_once(bench: &Bench, random: &mut Random) -> Result<Option<RenderInput>, String> {
    bench.reset()?;
    let failed = |error: std::io::Error| format!("`slipstitch` cannot be run: {error}");
    let begin = Instant::now();
    let mut child = bench.command(&bench.call()).spawn().map_err(failed)?;
    let wait = Duration::from_micros(random.next() % 15_000);
    thread::sleep(wait.saturating_sub(begin.elapsed()));
    if child.try_wait().map_err(failed)?.is_some() {
        return Ok(None);
    }
    child.kill().map_err(failed)?;
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        return Ok(None);
    }
    Ok(Some(told(&String::from_utf8_lossy(&output.stdout))))
}
