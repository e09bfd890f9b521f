//! Fuzz targets: each takes arbitrary bytes and panics if a patch parser violates an invariant.
//!
//! `crates/patch/tests/patches.rs` runs the same functions on mutations of the corpus.

use slipstitch_core::patch::{Action, FilePatch, Format, Options, Patch, detect as detect_format, parse};
use slipstitch_core::patch::{Hunk, Role};

/// Parses unified diffs.
pub fn unified(data: &[u8]) {
    parse_checked(data, Some(Format::Unified));
}

/// Parses V4A patches.
pub fn v4a(data: &[u8]) {
    parse_checked(data, Some(Format::V4a));
}

/// Parses SEARCH/REPLACE blocks.
pub fn search_replace(data: &[u8]) {
    parse_checked(data, Some(Format::SearchReplace));
}

/// Parses text without a given format: the detected format must be the parsed one.
pub fn detect(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match (detect_format(&text), parse_checked(data, None)) {
        (Ok(format), Some(patch)) => assert_eq!(format, patch.format),
        (Err(error), patch) => assert!(patch.is_none(), "parsed although detection failed: {error}"),
        (Ok(_), None) => {}
    }
}

/// Parses text strictly and with repairs, and checks the results. An error must have a line, a message and a hint.
fn parse_checked(data: &[u8], format: Option<Format>) -> Option<Patch> {
    let text = String::from_utf8_lossy(data);
    let strict = parse(&text, format, ParseOptions { strict: true, strip: None });
    let patch = match parse(&text, format, ParseOptions::default()) {
        Ok(patch) => patch,
        Err(error) => {
            assert!(error.line >= 1 && !error.message.is_empty() && !error.hint.is_empty(), "{error:?}");
            assert!(strict.is_err(), "parses strictly but not with repairs");
            return None;
        }
    };
    match &strict {
        Ok(strict) => {
            assert_eq!(normalize(strict), normalize(&patch), "repairs changed a valid patch");
            assert_eq!(strict.repairs, patch.repairs);
        }
        Err(_) => assert!(!patch.repairs.is_empty(), "fails strictly although nothing was repaired"),
    }
    check_round_trip(&patch);
    if let Ok(reversed) = patch.reversed() {
        check_round_trip(&reversed);
    }
    Some(patch)
}

/// Checks that a printed patch parses to the same patch and prints the same.
pub fn check(patch: &Patch) {
    if patch.files.iter().any(is_ambiguous) {
        return;
    }
    let text = patch.print();
    let again = parse(&text, Some(patch.format), Options::default())
        .unwrap_or_else(|error| panic!("{error}\nin the printed patch:\n{text}"));
    assert_eq!(normalize(&again), normalize(patch), "in the printed patch:\n{text}");
    assert_eq!(again.print(), text);
}

/// Whether a hunk without a file header has a removed line that would print like a file header (`--- `).
fn is_ambiguous(file: &FilePatch) -> bool {
    let has_header_like_line = |hunk: &Hunk| {
        hunk.lines.iter().any(|line| line.role == Role::Removed && line.text.starts_with("-- "))
    };
    file.path.is_none() && hunks(&file.action).iter().any(has_header_like_line)
}

fn hunks(action: &Action) -> &[Hunk] {
    match action {
        Action::Update { hunks, .. } | Action::Delete { hunks, .. } => hunks,
        Action::Create { .. } | Action::Replace { .. } => &[],
    }
}

/// The files of a patch without what depends on the parsed text (line numbers and alternative readings), in printing order:
/// files without a name first.
pub fn normalize(patch: &Patch) -> Vec<FilePatch> {
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
