//! Nothing leaves the root, and the rig would see it if something did.

use slipstitch_rigs::{Outcome, Protection, Scale, escape};

fn faultless(outcome: &Outcome) {
    assert!(outcome.faults.is_empty(), "{outcome}");
}

#[test]
fn no_path_leaves_the_root() {
    faultless(&escape::run(Scale::Quick, Protection::On));
}

#[test]
fn a_comparison_of_paths_leaks() {
    assert!(!escape::run(Scale::Quick, Protection::Off).faults.is_empty());
}

#[test]
fn no_race_leaves_the_root() {
    faultless(&escape::race(Scale::Quick, Protection::On));
}

#[test]
fn a_check_before_opening_leaks() {
    assert!(!escape::race(Scale::Quick, Protection::Off).faults.is_empty());
}
