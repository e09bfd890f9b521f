//! A full disk changes nothing, and the rig would see it if it did.

use slipstitch_rigs::{Protection, Scale, full_disk};

#[test]
fn a_full_disk_refuses_and_keeps() {
    let outcome = full_disk::run(Scale::Quick, Protection::On);
    assert!(outcome.faults.is_empty(), "{outcome}");
}

#[test]
fn files_that_are_written_over_are_torn() {
    let outcome = full_disk::run(Scale::Quick, Protection::Off);
    assert!(!outcome.faults.is_empty() || !outcome.skipped.is_empty(), "{outcome}");
}
