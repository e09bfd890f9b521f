//! What is fuzzed: each target takes any bytes and panics if the parsers break a promise.
//!
//! `crates/core/tests/patches.rs` runs the same functions on mutations of the corpus.

use slipstitch_core::patch::{Action, FilePatch, Format, Options, Patch, detect as kind_of, parse};
use slipstitch_core::patch::{Hunk, Role};

/// Unified diffs.
pub fn unified(data: &[u8]) {
    read(data, Some(Format::Unified));
}

/// V4A patches.
pub fn v4a(data: &[u8]) {
    read(data, Some(Format::V4a));
}

/// SEARCH/REPLACE blocks.
pub fn search_replace(data: &[u8]) {
    read(data, Some(Format::SearchReplace));
}

/// Texts of an unknown kind: what is detected is what is read.
pub fn detect(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let read = read(data, None);
    match (kind_of(&text), read) {
        (Ok(kind), Some(patch)) => assert_eq!(kind, patch.format),
        (Err(error), read) => assert!(read.is_none(), "{error}: and yet it was read"),
        (Ok(_), None) => {}
    }
}

/// Reads the text and checks what was read; errors must name a line of the text and a next step.
fn read(data: &[u8], format: Option<Format>) -> Option<Patch> {
    let text = String::from_utf8_lossy(data);
    let strict = parse(&text, format, Options { strict: true, strip: None });
    let patch = match parse(&text, format, Options::default()) {
        Ok(patch) => patch,
        Err(error) => {
            assert!(error.line >= 1 && !error.message.is_empty() && !error.hint.is_empty(), "{error:?}");
            assert!(strict.is_err(), "strict reads what repair does not");
            return None;
        }
    };
    match &strict {
        Ok(strict) => {
            assert_eq!(plain(strict), plain(&patch), "repair changes what needs none");
            assert_eq!(strict.repairs, patch.repairs);
        }
        Err(_) => assert!(!patch.repairs.is_empty(), "strict refuses what needs no repair"),
    }
    check(&patch);
    if let Ok(reversed) = patch.reversed() {
        check(&reversed);
    }
    Some(patch)
}

/// What is printed is read as the same patch, and printed the same.
pub fn check(patch: &Patch) {
    if patch.files.iter().any(is_doubtful) {
        return;
    }
    let text = patch.print();
    let again = parse(&text, Some(patch.format), Options::default())
        .unwrap_or_else(|error| panic!("{error}\nin what was printed:\n{text}"));
    assert_eq!(plain(&again), plain(patch), "in what was printed:\n{text}");
    assert_eq!(again.print(), text);
}

/// Whether a hunk without file header holds what cannot be told from one.
fn is_doubtful(file: &FilePatch) -> bool {
    let looks_so = |hunk: &Hunk| {
        hunk.lines.iter().any(|line| line.role == Role::Removed && line.text.starts_with("-- "))
    };
    file.path.is_none() && hunks(&file.action).iter().any(looks_so)
}

fn hunks(action: &Action) -> &[Hunk] {
    match action {
        Action::Update { hunks, .. } | Action::Delete { hunks, .. } => hunks,
        Action::Create { .. } | Action::Replace { .. } => &[],
    }
}

/// The files without what belongs to the text that they were read from: lines in it, and second
/// readings. Files without a name are printed first.
pub fn plain(patch: &Patch) -> Vec<FilePatch> {
    let mut files = patch.files.clone();
    files.sort_by_key(|file| file.path.is_some());
    for file in &mut files {
        file.line = 0;
        if let Action::Update { hunks, .. } | Action::Delete { hunks, .. } = &mut file.action {
            hunks.iter_mut().for_each(|hunk| hunk.alternative = None);
        }
    }
    files
}
