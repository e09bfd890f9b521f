//! Text to edit: the sources, documents and scripts of this repository.

use std::path::{Path, PathBuf};

/// Shorter files have no room for an edit with context, longer ones take too long.
const LINES: std::ops::RangeInclusive<usize> = 40..=420;

/// The lines of every text file, ordered by path.
#[allow(clippy::disallowed_methods, reason = "a test may read the repository that it tests")]
pub(crate) fn files() -> Vec<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gauntlet/corpus");
    let entries = std::fs::read_dir(folder).expect("the corpus can be listed");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the corpus can be listed").path()).collect();
    paths.sort();
    paths.iter().map(|path| lines(path)).collect()
}

#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test may read the repository")]
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let kind = path.extension().and_then(|kind| kind.to_str());
        match kind {
            _ if path.is_dir() => collect(&path, paths),
            None | Some("rs" | "md") => paths.push(path),
            _ => {}
        }
    }
}

/// The lines of a plain text file; `None` for files with unusual line endings or characters.
fn lines(text: &str) -> Option<Vec<String>> {
    let body = text.strip_suffix('\n')?;
    let lines: Vec<String> = body.split('\n').map(str::to_owned).collect();
    assert!(LINES.contains(&lines.len()), "{} has {} lines", path.display(), lines.len());
    assert!(!text.contains(['\r', '\u{feff}', '\0']), "{} is not plain text", path.display());
    lines
}
