//! Long outputs that are kept in files.

use std::path::Path;

/// Compares a text with a file beside the tests. With `UPDATE_SNAPSHOTS` set, writes it instead.
pub(super) fn assert_snapshot(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cli").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&file, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let line = kept.lines().zip(text.lines()).position(|(one, other)| one != other);
    let at = line.unwrap_or_else(|| kept.lines().count().min(text.lines().count()));
    let show = |text: &str| text.lines().skip(at.saturating_sub(3)).take(8).collect::<Vec<_>>().join("\n");
    assert!(
        kept == text,
        "{name} is out of date at line {} (UPDATE_SNAPSHOTS=1 writes it):\n--- kept\n{}\n--- now\n{}",
        at + 1,
        show(&kept),
        show(text)
    );
}
