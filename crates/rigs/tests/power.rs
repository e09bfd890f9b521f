//! What was acknowledged survives a power cut, and the rig would see it if it did not.

use slipstitch_rigs::{Protection, Scale, power};

#[test]
fn acknowledged_edits_survive() {
    let outcome = power::run(Scale::Quick, Protection::On);
    assert!(outcome.faults.is_empty(), "{outcome}");
}

#[test]
fn edits_that_do_not_wait_for_the_disk_are_lost() {
    let outcome = power::run(Scale::Quick, Protection::Off);
    assert!(!outcome.faults.is_empty() || !outcome.skipped.is_empty(), "{outcome}");
}
