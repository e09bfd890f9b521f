//! Failing system calls, and reads and writes that transfer only part of the data.

use crate::support;

#[test]
fn a_reported_error_leaves_files_unchanged() {
    let findings = support::assert_protected("errors");
    for copies in ["injected into the copy of a huge file", "blocks of a huge file cut short"] {
        assert!(findings.get_count(copies) > 0, "{copies}: {findings}");
    }
}

#[test]
fn detects_editors_that_write_in_place() {
    let expected = [
        "reported failure, but",
        "short reads and writes: reported success, but",
        "replace in a huge file, ",
    ];
    support::assert_detects("errors", &expected);
}
