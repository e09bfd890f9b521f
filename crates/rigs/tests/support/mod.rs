//! What the tests of rigs share.

mod program;

use slipstitch_rigs::{Outcome, Protection, RIGS, Rig, Scale};

/// Runs a rig quickly. The program that it tries is built first: cargo does not know that these tests need it, and one from an
/// earlier build would show nothing.
pub(crate) fn run(name: &str, protection: Protection) -> Outcome {
    program::build();
    let rig: &Rig = RIGS.iter().find(|rig| rig.name == name).expect("there is such a rig");
    (rig.run)(Scale::Quick, protection)
}

/// With its protection on, the rig finds nothing.
pub(crate) fn finds_nothing(name: &str) -> Outcome {
    let outcome = run(name, Protection::On);
    assert!(outcome.skipped.is_empty(), "{outcome}");
    assert!(outcome.faults.is_empty(), "{outcome}");
    assert!(outcome.figures.iter().any(|(_, number)| *number > 0), "it has tried something: {outcome}");
    outcome
}

/// With its protection off, the rig finds faults, and among them one of each of these kinds.
pub(crate) fn finds(name: &str, faults: &[&str]) {
    let outcome = run(name, Protection::Off);
    for fault in faults {
        assert!(outcome.faults.iter().any(|found| found.contains(fault)), "no `{fault}`: {outcome}");
    }
}
