//! File metadata through every kind of change.

use crate::support;

#[test]
fn metadata_is_kept_or_the_change_is_refused() {
    support::assert_protected("metadata");
}

#[test]
fn detects_metadata_lost_by_a_plain_rename() {
    support::assert_detects("metadata", &[]);
}
