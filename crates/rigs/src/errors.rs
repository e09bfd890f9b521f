//! Lets every system call fail once, and writes end early.
//!
//! After a failure that the program tells, the files are as they were; after a success, as they should be. An error may also
//! be of no account (a lock's note, a look for settings that are not there); then the program succeeds, and rightly so.

mod limit;
mod short;

use crate::aftermath::{self, RenderInput};
use crate::bench::{Answer, Bench, Editor};
use crate::operation::{OPERATIONS, Operation, naive};
use crate::random::Random;
use crate::trace::{self, Call, Injection};
use crate::{Outcome, Protection, Scale, each};

/// What a call fails with.
const ERRORS: &[&str] = &["ENOSPC", "EIO", "EDQUOT", "EXDEV", "EROFS", "EACCES"];

/// Runs the rig.
pub fn run(scale: Scale, protection: Protection) -> Outcome {
    let mut kinds: Vec<(usize, Operation)> = OPERATIONS.iter().copied().enumerate().collect();
    if protection == Protection::Off {
        kinds.retain(|(_, operation)| !naive(operation).is_empty());
    }
    let mut outcome = Outcome::default();
    if let Err(reason) = trace::available() {
        outcome.skipped.push(format!("errors at system calls: {reason}"));
    } else {
        outcome = each::of(&kinds, |&(number, operation)| at_calls(scale, protection, number, operation));
    }
    outcome.merge(match protection {
        Protection::On => limit::run(scale),
        Protection::Off => Outcome::default(),
    });
    outcome.merge(match protection {
        Protection::On => short::run(scale, Editor::Slipstitch),
        Protection::Off => short::run(scale, Editor::Careless),
    });
    outcome
}

fn at_calls(scale: Scale, protection: Protection, number: usize, operation: Operation) -> Outcome {
    let mut outcome = Outcome::default();
    let editor = match protection {
        Protection::On => Editor::Slipstitch,
        Protection::Off => Editor::Naive,
    };
    let setup =
        Bench::with_editor(operation, scale, editor).and_then(|bench| Ok((trace::calls(&bench)?, bench)));
    let (calls, bench) = match setup {
        Ok(setup) => setup,
        Err(fault) => {
            outcome.fault(fault);
            return outcome;
        }
    };
    outcome.count("operation kinds", 1u64);
    for (call, error) in choose(calls, scale, number) {
        // Where a denial keeps it from writing aside, the program writes in place, and waits for that.
        let syncs = error != "EACCES" && call.syncs_beneath(&bench.root().to_string_lossy());
        let place = format!("{}, {error} at {}", operation.name, call.label());
        match trace::disturb(&bench, &call, Injection::Error(error)) {
            Ok(run) => {
                outcome.count(format!("{error} injected"), 1u64);
                outcome.count(trace::COPIES, usize::from(operation.is_huge() && call.is_copy()));
                let faults = judge(&bench, syncs, &run.answer, protection, &mut outcome);
                faults.into_iter().for_each(|fault| outcome.fault(format!("{place}: {fault}")));
            }
            Err(fault) => outcome.fault(format!("{place}: {fault}")),
        }
    }
    outcome
}

/// The calls that fail, each with the error that it fails with.
fn choose(calls: Vec<Call>, scale: Scale, number: usize) -> Vec<(Call, &'static str)> {
    let calls: Vec<Call> = calls.into_iter().filter(Call::is_about_files).collect();
    let all = |call: Call| ERRORS.iter().map(move |error| (call.clone(), *error));
    if scale == Scale::Long {
        return calls.into_iter().flat_map(all).collect();
    }
    let (copies, calls): (Vec<Call>, Vec<Call>) = calls.into_iter().partition(Call::is_copy);
    let (effects, others): (Vec<Call>, Vec<Call>) = calls.into_iter().partition(Call::has_effect);
    let others = Random::new(2_000 + number as u64).sample(others, 20);
    // Another error for each call, beginning with another one for each kind.
    let turns = ERRORS.iter().cycle().skip(number);
    let each = effects.into_iter().chain(others).zip(turns).map(|(call, error)| (call, *error));
    // A copy goes another way after some errors and ends the change after others.
    copies.into_iter().flat_map(all).chain(each).collect()
}

fn judge(
    bench: &Bench,
    syncs: bool,
    answer: &Answer,
    protection: Protection,
    outcome: &mut Outcome,
) -> Vec<String> {
    let told = match told(answer) {
        Ok(told) => told,
        Err(fault) => return vec![fault],
    };
    if protection == Protection::Off {
        return aftermath::check_files(bench, told).err().into_iter().collect();
    }
    let mut faults = Vec::new();
    if told == RenderInput::Success && syncs {
        faults.push("acknowledged, though it is not known to be on the disk".to_owned());
    }
    match aftermath::check(bench, told) {
        Ok(_) if told == RenderInput::Success => outcome.count("no matter: done all the same", 1u64),
        Ok(_) => outcome.count("told as an error, everything old", 1u64),
        Err(more) => faults.extend(more),
    }
    faults
}

/// What the program told its caller, if that is clear.
fn told(answer: &Answer) -> Result<RenderInput, String> {
    match answer.code {
        Some(0) => Ok(RenderInput::Success),
        Some(1..=3) if is_clear(&answer.err) => Ok(RenderInput::Failure),
        _ => Err(format!("no clear error: {}", answer.brief())),
    }
}

/// Whether an error is one that a person can do something with.
fn is_clear(text: &str) -> bool {
    let lower = text.to_lowercase();
    text.starts_with("error: ") && !["panicked", "internal", "unwrap"].iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_no_clear_error() {
        let answer = |code, err: &str| Answer { code, out: String::new(), err: err.into() };
        assert_eq!(
            told(&answer(Some(3), "error: cannot write `a`: the disk is full\n")),
            Ok(RenderInput::Failure)
        );
        assert!(told(&answer(Some(101), "thread 'main' panicked at src/x.rs\n")).is_err());
        assert!(told(&answer(None, "")).is_err());
        assert!(told(&answer(Some(3), "")).is_err());
    }
}
