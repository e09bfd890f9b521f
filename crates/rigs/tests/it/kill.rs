//! Kills at system calls and at random times.

use crate::support;

#[test]
fn a_kill_leaves_all_old_or_all_new() {
    let findings = support::assert_protected("kill");
    assert!(findings.get_count("injected into the copy of a huge file") > 0, "{findings}");
    // Without rename flags, names are moved in steps, and a kill can come in between.
    for site in ["temporary | off", "fuse | on"] {
        let is_tested = findings.rows.iter().any(|row| row.starts_with(site));
        assert!(
            is_tested || findings.skipped.iter().any(|reason| reason.starts_with("fuse")),
            "{site}: {findings}"
        );
    }
}

#[test]
fn detects_what_a_kill_leaves_without_recovery() {
    let expected = ["a change is pending", "left behind", "neither old", "replace in a huge file, killed at"];
    support::assert_detects("kill", &expected);
}
