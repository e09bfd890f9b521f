//! Invariants of the patch parsers on generated, damaged and large patches.

use proptest::prelude::*;
use slipstitch_patch::{Action, Block, FilePatch, Format, Hunk, HunkLine, ParseOptions, Patch, Role, parse};

#[path = "../../../fuzz/src/targets.rs"]
#[allow(unreachable_pub)]
mod targets;

fn parsed(text: &str) -> Patch {
    parse(text, None, ParseOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Lines, including ones that could confuse the parsers.
fn line_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z(){}=+ ]{0,12}",
        1 => "[ \\t]{0,4}",
        2 => prop::sample::select(vec![
            "-- a/x", "++ b/x", "--- a/x", "+++ b/x", "@@", "@@ -1 +1 @@", "diff --git a/x b/x", "```", "*** Begin Patch",
            "*** End Patch", "*** Update File: x", "=======", "<<<<<<< SEARCH", ">>>>>>> REPLACE", "\\=======", "\\ No newline",
            ":start_line:3", "-------", "ä\u{2028}", "", " ", "\u{feff}", "-- ", "EOF",
        ]).prop_map(str::to_owned),
    ]
}

/// The lines of one hunk; in every change, removed lines come before added ones.
fn hunk_lines() -> impl Strategy<Value = Vec<HunkLine>> {
    let line = |role| move |text| HunkLine { role, text, newline: true };
    let context = prop::collection::vec(line_text().prop_map(line(Role::Context)), 0..3);
    let removed = prop::collection::vec(line_text().prop_map(line(Role::Removed)), 0..3);
    let added = prop::collection::vec(line_text().prop_map(line(Role::Added)), 0..3);
    prop::collection::vec((context, removed, added), 1..4)
        .prop_map(|parts| {
            parts
                .into_iter()
                .flat_map(|(context, removed, added)| [context, removed, added].concat())
                .collect::<Vec<_>>()
        })
        .prop_map(sort_changes)
        .prop_filter("a hunk that changes nothing is dropped", |lines| {
            !Hunk { lines: lines.clone(), ..Hunk::default() }.changes_nothing()
        })
}

fn sort_changes(mut lines: Vec<HunkLine>) -> Vec<HunkLine> {
    for change in
        lines.chunk_by_mut(|first, second| first.role != Role::Context && second.role != Role::Context)
    {
        change.sort_by_key(|line| line.role == Role::Added);
    }
    lines
}

/// Hunks in order with correct line numbers, the last one possibly at the end of the file.
fn numbered_hunks() -> impl Strategy<Value = Vec<Hunk>> {
    (prop::collection::vec((hunk_lines(), 0..9_usize), 1..5), any::<bool>()).prop_map(|(parts, at_end)| {
        let mut end = 0;
        let mut hunks: Vec<Hunk> = Vec::new();
        for (lines, gap) in parts {
            let before = end + gap;
            let old = lines.iter().filter(|line| line.role != Role::Added).count();
            end = before + old;
            hunks.push(Hunk { lines, line: Some(before + usize::from(old > 0)), ..Hunk::default() });
        }
        if at_end && let Some(hunk) = hunks.last_mut() {
            remove_final_newline(hunk);
        }
        hunks
    })
}

/// Removes the newline of the last line of a hunk, on every side that has it.
fn remove_final_newline(hunk: &mut Hunk) {
    let ends_both = hunk.lines.last().is_some_and(|line| line.role == Role::Context);
    let last_context = hunk.lines.iter().rposition(|line| line.role == Role::Context);
    let last_removed = hunk.lines.iter().rposition(|line| line.role == Role::Removed);
    if ends_both || last_removed > last_context {
        let last = if ends_both { last_context } else { last_removed };
        if let Some(last) = last {
            hunk.lines[last].newline = false;
            hunk.at_end = true;
        }
    }
}

fn path() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a",
        "src/lib.rs",
        "a/b",
        "b/b",
        "two words.txt",
        "ä.txt",
        "quo\"te",
        "back\\slash",
        "tab\there",
        "dev/null",
        "x b/x",
        "2024-01-01 10:00",
        "Makefile",
        "File: odd",
        "-dash",
        "`tick`x",
    ])
    .prop_map(str::to_owned)
}

fn unified_action() -> impl Strategy<Value = (Action, bool)> {
    let text = prop::collection::vec(line_text(), 0..5);
    let hunks = numbered_hunks();
    prop_oneof![
        (text, any::<bool>(), any::<bool>()).prop_map(|(lines, executable, unterminated)| {
            let mut content = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>();
            if unterminated && lines.last().is_some_and(|last| !last.is_empty()) {
                content.pop();
            }
            (Action::Create { content, executable }, false)
        }),
        (
            hunks,
            prop::option::of(Just("elsewhere".to_owned())),
            prop::option::of(any::<bool>()),
            any::<bool>()
        )
            .prop_map(|(hunks, move_to, executable, crlf)| (
                Action::Update { hunks, move_to, executable },
                crlf
            )),
    ]
}

fn unified_patch() -> impl Strategy<Value = Patch> {
    prop::collection::vec((path(), unified_action()), 1..4).prop_map(|parts| {
        let files = parts.into_iter().map(|(path, (action, crlf))| {
            let crlf = crlf && has_terminated_line(&action);
            let action = match action {
                Action::Update { hunks, move_to: Some(to), executable } => {
                    Action::Update { hunks, move_to: Some(format!("{to}/{path}")), executable }
                }
                action => action,
            };
            FilePatch { path: Some(path), action, line: 0, crlf }
        });
        unique(Format::Unified, files)
    })
}

/// Whether a line has a newline, which shows whether the file has CRLF line endings.
fn has_terminated_line(action: &Action) -> bool {
    match action {
        Action::Update { hunks, .. } => hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.newline),
        _ => false,
    }
}

/// A patch with only the first entry of each file.
fn unique(format: Format, files: impl Iterator<Item = FilePatch>) -> Patch {
    let mut seen = std::collections::HashSet::new();
    Patch {
        format,
        files: files.filter(|file| seen.insert(file.path.clone())).collect(),
        repairs: Vec::new(),
    }
}

fn v4a_patch() -> impl Strategy<Value = Patch> {
    let scopes =
        prop::collection::vec(prop::sample::select(vec!["class B", "    def f():", "x @@", "- item"]), 0..3);
    let hunk = (hunk_lines(), scopes, any::<bool>()).prop_map(|(lines, scopes, at_end)| Hunk {
        lines,
        scopes: scopes.into_iter().map(str::to_owned).collect(),
        at_end,
        ..Hunk::default()
    });
    let update = (prop::collection::vec(hunk, 1..4), prop::option::of(Just("else where".to_owned())))
        .prop_map(|(hunks, move_to)| Action::Update { hunks, move_to, executable: None });
    let create = prop::collection::vec(line_text(), 0..5).prop_map(|lines| Action::Create {
        content: lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect(),
        executable: false,
    });
    let delete = Just(Action::Delete { hunks: vec![], executable: false });
    prop::collection::vec((path(), prop_oneof![4 => update, 2 => create, 1 => delete]), 1..4).prop_map(
        |parts| {
            let files = parts.into_iter().map(|(path, action)| FilePatch {
                path: Some(path),
                action,
                line: 0,
                crlf: false,
            });
            unique(Format::V4a, files)
        },
    )
}

fn block_patch() -> impl Strategy<Value = Patch> {
    let text = || {
        prop::collection::vec(line_text(), 1..4)
            .prop_map(|lines| lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>())
    };
    let block = (text(), text())
        .prop_filter("a block that changes nothing is dropped", |(search, replace)| search != replace)
        .prop_map(|(search, replace)| Block { search, replace, start_line: None });
    let path = path()
        .prop_filter("paths with backticks cannot be written above a block", |path| !path.contains('`'));
    let file = (path, prop::collection::vec((block, 1..9_usize), 1..4), any::<bool>()).prop_map(
        |(path, parts, hinted)| {
            let mut next = 1;
            let mut blocks = Vec::new();
            for (mut block, gap) in parts {
                block.start_line = Some(next).filter(|_| hinted);
                next += gap + block.search.lines().count();
                blocks.push(block);
            }
            FilePatch { path: Some(path), action: Action::Replace { blocks }, line: 0, crlf: false }
        },
    );
    prop::collection::vec(file, 1..4).prop_map(|files| unique(Format::SearchReplace, files.into_iter()))
}

/// Checks that the printed patch parses as the same patch, without repairs and with the format detected.
fn check_round_trip(patch: &Patch) {
    let text = targets::print(patch);
    let again = parsed(&text);
    assert_eq!(targets::normalize(&again), targets::normalize(patch), "{text}");
    assert_eq!(again.format, patch.format);
    assert!(again.repairs.is_empty(), "{:?}\n{text}", again.repairs);
    assert!(parse(&text, None, ParseOptions::STRICT).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn unified_diffs_round_trip(patch in unified_patch()) {
        check_round_trip(&patch);
    }

    #[test]
    fn v4a_patches_round_trip(patch in v4a_patch()) {
        check_round_trip(&patch);
    }

    #[test]
    fn blocks_round_trip(patch in block_patch()) {
        check_round_trip(&patch);
    }

    #[test]
    fn reversing_twice_changes_nothing(patch in prop_oneof![unified_patch(), block_patch()]) {
        let reversed = patch.reversed().unwrap();
        prop_assert_eq!(targets::normalize(&reversed.reversed().unwrap()), targets::normalize(&patch));
    }

    #[test]
    fn reversed_diffs_round_trip(patch in unified_patch()) {
        check_round_trip(&patch.reversed().unwrap());
    }

    #[test]
    fn parsers_do_not_panic_on_arbitrary_text(text in any::<String>()) {
        run_all(text.as_bytes());
    }

    #[test]
    fn parsers_do_not_panic_on_mixed_formats(lines in prop::collection::vec(("[ +\\-]?", line_text()), 0..30)) {
        let text: String = lines.iter().flat_map(|(prefix, line)| [prefix.as_str(), line.as_str(), "\n"]).collect();
        run_all(text.as_bytes());
    }
}

fn run_all(data: &[u8]) {
    targets::unified(data);
    targets::v4a(data);
    targets::search_replace(data);
    targets::detect(data);
}

#[path = "patches/large.rs"]
mod large;
#[path = "patches/mutations.rs"]
mod mutations;
#[path = "patches/strict.rs"]
mod strict;
