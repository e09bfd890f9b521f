//! Changes on a full disk.

use crate::support;

#[test]
fn a_full_disk_refuses_changes_and_keeps_files() {
    support::assert_protected("full-disk");
}

#[test]
fn detects_files_torn_by_overwriting() {
    support::assert_detects("full-disk", &[]);
}
