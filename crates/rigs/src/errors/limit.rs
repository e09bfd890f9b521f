//! Writes that end early because a file may not become larger: the kernel takes a part of the bytes, then none.

use std::path::PathBuf;

use super::told;
use crate::aftermath;
use crate::bench::Bench;
use crate::operation::{HUGE, LARGE, Operation};
use crate::{Outcome, Scale, each};

/// Lets a program be told of the limit by an error instead of being ended by a signal, and sets it.
const SCRIPT: &str = "trap '' XFSZ; limit=$1; shift; exec prlimit --fsize=\"$limit\" \"$@\"";

/// The operations, how long the longest file that each makes is, about, and how much wider the steps are there.
const KINDS: &[(Operation, usize, usize)] = &[(LARGE, 330_000, 1), (HUGE, 1_260_000, 10)];

pub(super) fn run(scale: Scale) -> Outcome {
    let step = match scale {
        Scale::Quick => 9_973,
        Scale::Long => 997,
    };
    let mut parts: Vec<(Operation, Vec<usize>)> = Vec::new();
    for &(operation, length, wider) in KINDS {
        let limits: Vec<usize> = (step..length).step_by(step * wider).collect();
        let chunks = limits.chunks(limits.len().div_ceil(4));
        parts.extend(chunks.map(|limits| (operation, limits.to_vec())));
    }
    each::of(&parts, |(operation, limits)| with_limits(scale, *operation, limits))
}

fn with_limits(scale: Scale, operation: Operation, limits: &[usize]) -> Outcome {
    let mut outcome = Outcome::default();
    let bench = match Bench::new(operation, scale) {
        Ok(bench) => bench,
        Err(fault) => {
            outcome.fault(fault);
            return outcome;
        }
    };
    for &limit in limits {
        if let Err(faults) = with_limit(&bench, limit) {
            let what = format!("{}, files of at most {limit} bytes", operation.name);
            let told = faults.into_iter().map(|fault| format!("{what}: {fault}"));
            told.for_each(|fault| outcome.fault(fault));
        }
        outcome.count("runs whose writes end early at a limit", 1u64);
    }
    outcome
}

fn with_limit(bench: &Bench, limit: usize) -> Result<(), Vec<String>> {
    let one = |fault: String| vec![fault];
    bench.reset().map_err(one)?;
    let own = ["sh", "-c", SCRIPT, "sh", &limit.to_string()].map(PathBuf::from);
    let words: Vec<PathBuf> = own.into_iter().chain(bench.call()).collect();
    let output =
        bench.command(&words).output().map_err(|error| vec![format!("sh cannot be run: {error}")])?;
    let told = told(&output.into()).map_err(one)?;
    aftermath::check(bench, told).map(|_| ())
}
