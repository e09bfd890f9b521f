//! Real text to edit: sources, documents and scripts of this repository, copied once. The tests read the copies in
//! `corpus/` and not the originals, so that a refactoring does not change the cases.

use std::path::{Path, PathBuf};

/// Shorter files have no room for an edit with context, longer ones cost too much time.
const LINES: std::ops::RangeInclusive<usize> = 40..=420;

/// The lines of every file, in the order of their names.
#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test may read its own data")]
pub(crate) fn files() -> Vec<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/gauntlet/corpus");
    let entries = std::fs::read_dir(folder).expect("the corpus can be listed");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the corpus can be listed").path()).collect();
    paths.sort();
    paths.iter().map(|path| lines(path)).collect()
}

#[allow(clippy::disallowed_methods, reason = "a test may read its own data")]
fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a file of the corpus can be read");
    let body = text.strip_suffix('\n').expect("a file of the corpus ends with a newline");
    let lines: Vec<String> = body.split('\n').map(str::to_owned).collect();
    assert!(LINES.contains(&lines.len()), "{} has {} lines", path.display(), lines.len());
    assert!(!text.contains(['\r', '\u{feff}', '\0']), "{} is not plain text", path.display());
    lines
}
