//! Many processes on the same files.

use crate::support;

#[test]
fn no_acknowledged_edit_is_lost() {
    support::assert_protected("concurrency");
}

#[test]
fn detects_lost_edits_without_locks() {
    support::assert_detects("concurrency", &["1 file, no locks: w", "an edit was acknowledged and is lost"]);
}
