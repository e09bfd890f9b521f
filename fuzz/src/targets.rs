//! Targets for the patch parsers: each takes any bytes and panics if the parsers violate an invariant.
//!
//! `crates/patch/tests/patches.rs` runs the same functions on mutations of the corpus.

mod print;

pub use print::print;
use slipstitch_patch::{
    Action, FilePatch, Format, Hunk, ParseOptions, Patch, Role, detect as detect_format, parse,
};

/// Unified diffs.
pub fn unified(data: &[u8]) {
    check_parse(data, Some(Format::Unified));
}

/// V4A patches.
pub fn v4a(data: &[u8]) {
    check_parse(data, Some(Format::V4a));
}

/// SEARCH/REPLACE blocks.
pub fn search_replace(data: &[u8]) {
    check_parse(data, Some(Format::SearchReplace));
}

/// Texts of unknown format: they are parsed as the detected format.
pub fn detect(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let parsed = check_parse(data, None);
    match (detect_format(&text), parsed) {
        (Ok(format), Some(patch)) => assert_eq!(format, patch.format),
        (Err(error), parsed) => assert!(parsed.is_none(), "{error}: but it was parsed"),
        (Ok(_), None) => {}
    }
}

/// Parses the text and checks the result. An error must name a line of the text and a next step.
fn check_parse(data: &[u8], format: Option<Format>) -> Option<Patch> {
    let text = String::from_utf8_lossy(data);
    let strict = parse(&text, format, ParseOptions::STRICT);
    let patch = match parse(&text, format, ParseOptions::default()) {
        Ok(patch) => patch,
        Err(error) => {
            assert!(error.line >= 1 && !error.message.is_empty() && !error.hint.is_empty(), "{error:?}");
            assert!(strict.is_err(), "strict parsing accepts what lenient parsing rejects");
            return None;
        }
    };
    match &strict {
        Ok(strict) => {
            assert_eq!(normalize(strict), normalize(&patch), "lenient parsing changes a valid patch");
            assert_eq!(strict.repairs, patch.repairs);
        }
        Err(_) => assert!(!patch.repairs.is_empty(), "strict parsing rejects a patch without repairs"),
    }
    check_round_trip(&patch);
    if let Ok(reversed) = patch.reversed() {
        check_round_trip(&reversed);
    }
    Some(patch)
}

/// Checks that printing and parsing give the same patch and the same text.
pub fn check_round_trip(patch: &Patch) {
    if patch.files.iter().any(is_ambiguous) {
        return;
    }
    let text = print(patch);
    let again = parse(&text, Some(patch.format), ParseOptions::default())
        .unwrap_or_else(|error| panic!("{error}\nin the printed patch:\n{text}"));
    assert_eq!(normalize(&again), normalize(patch), "in the printed patch:\n{text}");
    assert_eq!(print(&again), text);
}

/// Whether a hunk without file headers contains lines that look like file headers.
fn is_ambiguous(file: &FilePatch) -> bool {
    let looks_like_header = |hunk: &Hunk| {
        hunk.lines.iter().any(|line| line.role == Role::Removed && line.text.starts_with("-- "))
    };
    file.path.is_none() && hunks(&file.action).iter().any(looks_like_header)
}

fn hunks(action: &Action) -> &[Hunk] {
    match action {
        Action::Update { hunks, .. } | Action::Delete { hunks, .. } => hunks,
        Action::Create { .. } | Action::Replace { .. } => &[],
    }
}

/// The files without what depends on the parsed text: line numbers in it, alternative
/// interpretations, and the headings of hunks, which are hints and are not printed. Files without a path come first, as they are printed.
pub fn normalize(patch: &Patch) -> Vec<FilePatch> {
    let mut files = patch.files.clone();
    files.sort_by_key(|file| file.path.is_some());
    for file in &mut files {
        file.line = 0;
        if let Action::Update { hunks, .. } | Action::Delete { hunks, .. } = &mut file.action {
            for hunk in hunks {
                hunk.alternatives.clear();
                hunk.section = None;
            }
        }
    }
    files
}
