//! Errors at system calls, and writes that end early.

mod support;

#[test]
fn an_error_leaves_everything_old_and_is_told() {
    support::finds_nothing("errors");
}

#[test]
fn an_editor_without_protection_is_caught() {
    support::finds("errors", &["told of failure, but", "cut short: told of success, but"]);
}
