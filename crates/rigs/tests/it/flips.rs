//! Flipped bits of the journal.

use crate::support;

#[test]
fn every_flipped_bit_is_reported_or_harmless() {
    support::assert_protected("flips");
}

#[test]
fn detects_damage_that_only_checksums_find() {
    support::assert_detects("flips", &[]);
}
