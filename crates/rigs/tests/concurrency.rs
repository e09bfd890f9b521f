//! Many processes on the same files.

mod support;

#[test]
fn no_edit_that_was_acknowledged_is_lost() {
    support::finds_nothing("concurrency");
}

#[test]
fn without_locks_edits_are_lost() {
    support::finds("concurrency", "no locks: w");
    support::finds("concurrency", "an edit was acknowledged and is lost");
}
