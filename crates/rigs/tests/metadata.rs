//! What a file is beside its bytes stays, and the rig would see it if it did not.

use slipstitch_rigs::{Protection, Scale, metadata};

#[test]
fn everything_is_kept_or_refused() {
    let outcome = metadata::run(Scale::Quick, Protection::On);
    assert!(outcome.faults.is_empty(), "{outcome}");
}

#[test]
fn a_plain_rename_loses_much() {
    let outcome = metadata::run(Scale::Quick, Protection::Off);
    assert!(!outcome.faults.is_empty() || !outcome.skipped.is_empty(), "{outcome}");
}
