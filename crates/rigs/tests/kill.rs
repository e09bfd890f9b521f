//! Kills at system calls and at random times.

mod support;

#[test]
fn a_kill_leaves_all_old_or_all_new() {
    let outcome = support::finds_nothing("kill");
    assert!(outcome.figure("of these at the kernel's copy of a large file") > 0, "{outcome}");
}

#[test]
fn what_a_kill_leaves_is_seen_without_a_next_start() {
    let copied = "replace in a file that the kernel copies, killed at";
    support::finds("kill", &["a change is pending", "left behind", "neither old", copied]);
}
