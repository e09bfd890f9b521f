//! Writes that end early because a file may not become larger: the kernel takes a part of the bytes, then none.

use std::path::PathBuf;

use super::told;
use crate::aftermath;
use crate::bench::Bench;
use crate::operation::LARGE;
use crate::{Outcome, Scale, each};

/// Lets a program be told of the limit by an error instead of being ended by a signal, and sets it.
const SCRIPT: &str = "trap '' XFSZ; limit=$1; shift; exec prlimit --fsize=\"$limit\" \"$@\"";

/// The longest file that the operation makes is about so long.
const LENGTH: usize = 330_000;

pub(super) fn run(scale: Scale) -> Outcome {
    let step = match scale {
        Scale::Quick => 9_973,
        Scale::Long => 997,
    };
    let limits: Vec<usize> = (step..LENGTH).step_by(step).collect();
    let parts: Vec<&[usize]> = limits.chunks(limits.len().div_ceil(4)).collect();
    each::of(&parts, |limits| with_limits(scale, limits))
}

fn with_limits(scale: Scale, limits: &[usize]) -> Outcome {
    let mut outcome = Outcome::default();
    let bench = match Bench::new(LARGE, scale) {
        Ok(bench) => bench,
        Err(fault) => {
            outcome.fault(fault);
            return outcome;
        }
    };
    for &limit in limits {
        if let Err(faults) = with_limit(&bench, limit) {
            let told = faults.into_iter().map(|fault| format!("files of at most {limit} bytes: {fault}"));
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
