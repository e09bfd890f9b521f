//! Errors at system calls, and writes that end early.

mod support;

#[test]
fn an_error_leaves_everything_old_and_is_told() {
    let outcome = support::finds_nothing("errors");
    for copies in
        ["of these at the kernel's copy of a large file", "of these the kernel's copy of a large file"]
    {
        assert!(outcome.figure(copies) > 0, "{copies}: {outcome}");
    }
}

#[test]
fn an_editor_without_protection_is_caught() {
    let copied = "replace in a file that the kernel copies, ";
    support::finds("errors", &["told of failure, but", "cut short: told of success, but", copied]);
}
