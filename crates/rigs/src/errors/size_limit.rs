//! Limits the size of files (`RLIMIT_FSIZE`), so that a write first transfers part of the data and then fails.

use super::what_was_reported;
use crate::invariants;
use crate::operation::{HUGE, LARGE, Operation};
use crate::testbed::Testbed;
use crate::{Findings, Scale, parallel};

/// Ignores `SIGXFSZ`, so that a write beyond the limit fails with an error instead of ending the program.
const SCRIPT: &str = "trap '' XFSZ; limit=$1; shift; exec prlimit --fsize=\"$limit\" \"$@\"";

/// Each operation with the approximate size of the largest file it writes, and a factor for the step between limits.
const OPERATIONS: &[(Operation, usize, usize)] = &[(LARGE, 330_000, 1), (HUGE, 1_260_000, 10)];

pub(super) fn run(scale: Scale) -> Findings {
    let step = match scale {
        Scale::Quick => 9_973,
        Scale::Long => 997,
    };
    let mut parts: Vec<(Operation, Vec<usize>)> = Vec::new();
    for &(operation, length, factor) in OPERATIONS {
        let limits: Vec<usize> = (step..length).step_by(step * factor).collect();
        let chunks = limits.chunks(limits.len().div_ceil(4));
        parts.extend(chunks.map(|limits| (operation, limits.to_vec())));
    }
    parallel::run_each(&parts, |(operation, limits)| {
        run_with_limits(scale, *operation, limits).unwrap_or_else(Findings::failed)
    })
}

fn run_with_limits(scale: Scale, operation: Operation, limits: &[usize]) -> Result<Findings, String> {
    let testbed = Testbed::new(operation, scale)?;
    let mut findings = Findings::default();
    for &limit in limits {
        if let Err(failures) = run_with_limit(&testbed, limit) {
            findings.fail_at(&format!("{}, file size limit {limit}", operation.name), failures);
        }
        findings.count("runs with a file size limit", 1u64);
    }
    Ok(findings)
}

fn run_with_limit(testbed: &Testbed, limit: usize) -> Result<(), Vec<String>> {
    let single = |failure: String| vec![failure];
    testbed.reset().map_err(single)?;
    let output = testbed.operation_under(["sh", "-c", SCRIPT, "sh", &limit.to_string()]).output();
    let output = output.map_err(|error| vec![format!("cannot run sh: {error}")])?;
    let reported = what_was_reported(&output.into()).map_err(single)?;
    invariants::check(testbed, reported).map(|_| ())
}
