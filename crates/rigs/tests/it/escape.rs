//! Paths, symlinks, patches and races that try to leave the root.

use crate::support;

#[test]
fn no_path_leaves_the_root() {
    support::assert_protected("escape");
}

#[test]
fn detects_a_check_of_path_strings() {
    support::assert_detects("escape", &[]);
}

#[test]
fn no_race_leaves_the_root() {
    support::assert_protected("race");
}

#[test]
fn detects_a_check_before_opening() {
    support::assert_detects("race", &[]);
}
