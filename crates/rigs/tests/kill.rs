//! Kills at system calls and at random times.

mod support;

#[test]
fn a_kill_leaves_all_old_or_all_new() {
    support::finds_nothing("kill");
}

#[test]
fn what_a_kill_leaves_is_seen_without_a_next_start() {
    support::finds("kill", &["a change is pending", "left behind", "neither old"]);
}
