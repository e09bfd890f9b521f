//! Many processes on the same files.

mod support;

#[test]
fn no_edit_that_was_acknowledged_is_lost() {
    support::finds_nothing("concurrency");
}

#[test]
fn without_locks_edits_are_lost() {
    support::finds("concurrency", &["1 file(s), no locks: w", "an edit was acknowledged and is lost"]);
}
