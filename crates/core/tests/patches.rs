//! Promises of the patch parsers, on generated patches, damaged ones, and large ones.

use proptest::prelude::*;
use slipstitch_core::patch::{Action, Block, FilePatch, Format, Options, Patch, parse};
use slipstitch_core::patch::{Hunk, HunkLine, Role};

#[path = "../../../fuzz/src/targets.rs"]
#[allow(unreachable_pub)]
mod targets;

fn read(text: &str) -> Patch {
    parse(text, None, Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Texts of lines, with those that parsers stumble over.
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

/// Lines of one hunk: in every change, what goes stands before what comes.
fn hunk_lines() -> impl Strategy<Value = Vec<HunkLine>> {
    let line = |role| move |text| HunkLine { role, text, newline: true };
    let kept = prop::collection::vec(line_text().prop_map(line(Role::Context)), 0..3);
    let gone = prop::collection::vec(line_text().prop_map(line(Role::Removed)), 0..3);
    let come = prop::collection::vec(line_text().prop_map(line(Role::Added)), 0..3);
    prop::collection::vec((kept, gone, come), 1..4)
        .prop_map(|parts| {
            parts.into_iter().flat_map(|(kept, gone, come)| [kept, gone, come].concat()).collect::<Vec<_>>()
        })
        .prop_map(in_order)
        .prop_filter("no lines", |lines| !lines.is_empty())
}

fn in_order(mut lines: Vec<HunkLine>) -> Vec<HunkLine> {
    for change in
        lines.chunk_by_mut(|first, second| first.role != Role::Context && second.role != Role::Context)
    {
        change.sort_by_key(|line| line.role == Role::Added);
    }
    lines
}

/// Hunks that follow each other at numbers that fit, the last one perhaps at the end of the file.
fn numbered_hunks() -> impl Strategy<Value = Vec<Hunk>> {
    (prop::collection::vec((hunk_lines(), 0..9_usize), 1..5), any::<bool>()).prop_map(|(parts, ends)| {
        let mut reached = 0;
        let mut hunks: Vec<Hunk> = Vec::new();
        for (lines, gap) in parts {
            let before = reached + gap;
            let old = lines.iter().filter(|line| line.role != Role::Added).count();
            reached = before + old;
            hunks.push(Hunk { lines, line: Some(before + usize::from(old > 0)), ..Hunk::default() });
        }
        if ends && let Some(hunk) = hunks.last_mut() {
            unterminated(hunk);
        }
        hunks
    })
}

/// Takes the newline off the last line of a hunk, on every side that it is on.
fn unterminated(hunk: &mut Hunk) {
    let ends_both = hunk.lines.last().is_some_and(|line| line.role == Role::Context);
    let last_kept = hunk.lines.iter().rposition(|line| line.role == Role::Context);
    let last_gone = hunk.lines.iter().rposition(|line| line.role == Role::Removed);
    if ends_both || last_gone > last_kept {
        let last = if ends_both { last_kept } else { last_gone };
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
        (text, any::<bool>(), any::<bool>()).prop_map(|(lines, executable, ends)| {
            let mut content = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>();
            if ends && lines.last().is_some_and(|last| !last.is_empty()) {
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
            let crlf = crlf && has_whole_line(&action);
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

/// Whether there is a line whose end could show that the file has CRLF.
fn has_whole_line(action: &Action) -> bool {
    match action {
        Action::Update { hunks, .. } => hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.newline),
        _ => false,
    }
}

/// A patch with the first entry of each file.
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
    let block = (text(), text()).prop_map(|(search, replace)| Block { search, replace, start_line: None });
    let path = path().prop_filter("no way to quote it", |path| !path.contains('`'));
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

/// What is printed is read as what it was, without repair, also when the kind is not told.
fn comes_back(patch: &Patch) {
    let text = patch.print();
    let again = read(&text);
    assert_eq!(targets::normalize(&again), targets::normalize(patch), "{text}");
    assert_eq!(again.format, patch.format);
    assert!(again.repairs.is_empty(), "{:?}\n{text}", again.repairs);
    assert!(parse(&text, None, Options { strict: true, strip: None }).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn unified_diffs_are_read_as_they_were_printed(patch in unified_patch()) {
        comes_back(&patch);
    }

    #[test]
    fn v4a_patches_are_read_as_they_were_printed(patch in v4a_patch()) {
        comes_back(&patch);
    }

    #[test]
    fn blocks_are_read_as_they_were_printed(patch in block_patch()) {
        comes_back(&patch);
    }

    #[test]
    fn reversing_twice_changes_nothing(patch in prop_oneof![unified_patch(), block_patch()]) {
        let reversed = patch.reversed().unwrap();
        prop_assert_eq!(targets::normalize(&reversed.reversed().unwrap()), targets::normalize(&patch));
    }

    #[test]
    fn a_printed_reversal_is_read_as_it_is(patch in unified_patch()) {
        comes_back(&patch.reversed().unwrap());
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in any::<String>()) {
        run_all(text.as_bytes());
    }

    #[test]
    fn lines_of_all_formats_in_any_order_make_no_parser_panic(lines in prop::collection::vec(("[ +\\-]?", line_text()), 0..30)) {
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
