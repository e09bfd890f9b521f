//! Runs rigs by name and checks what they find.

pub(crate) mod program;

use slipstitch_rigs::{Findings, Protection, Rig, RunOptions, Scale};

/// With the protection on, the rig finds no failures. Only a rig that needs root may skip something.
pub(crate) fn assert_protected(name: &str) -> Findings {
    let (rig, findings) = run(name, Protection::On);
    assert!(findings.skipped.is_empty() || rig.needs_root, "{findings}");
    assert!(findings.failures.is_empty(), "{findings}");
    let tested = findings.counts.iter().any(|(_, number)| *number > 0) || !findings.skipped.is_empty();
    assert!(tested, "the rig tested nothing: {findings}");
    findings
}

/// With the protection off, the rig finds failures, among them one that contains each of `expected`.
pub(crate) fn assert_detects(name: &str, expected: &[&str]) {
    let (rig, findings) = run(name, Protection::Off);
    if rig.needs_root && !findings.skipped.is_empty() {
        return;
    }
    assert!(!findings.failures.is_empty(), "{findings}");
    for text in expected {
        assert!(findings.failures.iter().any(|failure| failure.contains(text)), "no `{text}`: {findings}");
    }
}

/// Runs a rig at the quick scale. Builds the program under test first: cargo does not know that these tests depend on it,
/// and results for an outdated build would be worthless.
fn run(name: &str, protection: Protection) -> (&'static Rig, Findings) {
    program::build();
    let rig = Rig::find(name).unwrap_or_else(|| panic!("no rig `{name}`"));
    (rig, (rig.run)(&RunOptions::new(Scale::Quick, protection)))
}
