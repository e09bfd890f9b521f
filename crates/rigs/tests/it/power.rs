//! Power cuts during edits.

use crate::support;

#[test]
fn acknowledged_edits_survive_a_power_cut() {
    support::assert_protected("power");
}

#[test]
fn detects_edits_lost_without_fsync() {
    support::assert_detects("power", &[]);
}
