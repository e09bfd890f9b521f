//! Compares the parser on valid unified diffs with another parser and with an oracle that applies them line by line.

use proptest::prelude::*;
use slipstitch_patch::{Action, FilePatch, Hunk, HunkLine, ParseOptions, Patch, Role, parse};

/// Texts with few distinct lines, so that diffs are complex.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a", "b", "c", "", "-- x", "++ y", "@@ -1 +1 @@", "  d", "\\ e"]);
    (prop::collection::vec(line, 0..25), any::<bool>()).prop_map(|(lines, terminated)| {
        let text = lines.join("\n");
        if terminated && !lines.is_empty() { text + "\n" } else { text }
    })
}

/// Texts whose lines could be taken for mistakes: numbered, joined, echoed, and oddly indented ones.
fn suspicious_text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a",
        "a",
        "",
        " b",
        "  b",
        "   c",
        "1| a",
        "2| a",
        "3| b",
        "7:ab|a",
        "1: a",
        "2: a",
        "a\\n-b",
        "a\\n b",
        "\tb",
        "***************",
        "*** a",
        "@@ x",
    ]);
    prop::collection::vec(line, 1..25).prop_map(|lines| lines.join("\n") + "\n")
}

/// The hunks as a V4A patch.
fn as_v4a(hunks: &[Hunk]) -> String {
    let mut text = String::from("*** Begin Patch\n*** Update File: f\n");
    for hunk in hunks {
        text.push_str("@@\n");
        for line in &hunk.lines {
            text.push(match line.role {
                Role::Context => ' ',
                Role::Removed => '-',
                Role::Added => '+',
            });
            text.push_str(&line.text);
            text.push('\n');
        }
    }
    text + "*** End Patch\n"
}

fn count_removed(lines: &[HunkLine]) -> usize {
    lines.iter().filter(|line| line.role == Role::Removed).count()
}

/// Applies hunks at their line numbers; every old line must match.
fn apply(hunks: &[Hunk], text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut out = String::new();
    let mut at = 0;
    for hunk in hunks {
        let old = hunk.old_lines().count();
        let before = hunk.line.unwrap() - usize::from(old > 0);
        out.extend(lines[at..before].iter().copied());
        at = before;
        for line in &hunk.lines {
            let line_text = format!("{}{}", line.text, if line.newline { "\n" } else { "" });
            if line.role != Role::Added {
                assert_eq!(lines[at], line_text);
                at += 1;
            }
            if line.role != Role::Removed {
                out.push_str(&line_text);
            }
        }
    }
    out.extend(lines[at..].iter().copied());
    out
}

fn hunks(patch: &Patch) -> &[Hunk] {
    match &patch.files[..] {
        [FilePatch { action: Action::Update { hunks, .. }, .. }] => hunks,
        other => panic!("{other:?}"),
    }
}

/// The lines of a hunk of the other parser.
fn diffy_lines(hunk: &diffy::Hunk<'_, str>) -> Vec<(Role, String)> {
    let plain = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
    hunk.lines()
        .iter()
        .map(|line| match line {
            diffy::Line::Context(text) => (Role::Context, plain(text)),
            diffy::Line::Delete(text) => (Role::Removed, plain(text)),
            diffy::Line::Insert(text) => (Role::Added, plain(text)),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_another_parser_on_valid_diffs(before in text(), after in text(), context in 0..4_usize) {
        prop_assume!(before != after);
        let created = diffy::DiffOptions::new().set_context_len(context).create_patch(&before, &after);
        let diff = diffy::PatchFormatter::new().suppress_blank_empty(false).fmt_patch(&created).to_string();
        let patch = parse(&diff, None, ParseOptions::STRICT)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{diff}")))?;
        let other = diffy::Patch::from_str(&diff).unwrap();
        prop_assert_eq!(hunks(&patch).len(), other.hunks().len());
        for (mine, theirs) in hunks(&patch).iter().zip(other.hunks()) {
            let lines: Vec<_> = mine.lines.iter().map(|line| (line.role, line.text.clone())).collect();
            prop_assert_eq!(lines, diffy_lines(theirs), "{}", diff);
            prop_assert_eq!(mine.line, Some(theirs.old_range().start()));
        }
        prop_assert_eq!(apply(hunks(&patch), &before), after.clone(), "{}", diff);
        prop_assert_eq!(apply(hunks(&patch.reversed().unwrap()), &after), before, "{}", diff);
    }

    #[test]
    fn other_readings_change_no_valid_diff(before in suspicious_text(), after in suspicious_text(), context in 0..4_usize) {
        prop_assume!(before != after);
        let created = diffy::DiffOptions::new().set_context_len(context).create_patch(&before, &after);
        let diff = diffy::PatchFormatter::new().suppress_blank_empty(false).fmt_patch(&created).to_string();
        let strict = parse(&diff, None, ParseOptions::STRICT).unwrap();
        let lenient = parse(&diff, None, ParseOptions::default()).unwrap();
        prop_assert_eq!(&lenient.repairs, &strict.repairs);
        prop_assert_eq!(apply(hunks(&lenient), &before), after, "{}", diff);
        let v4a = parse(&as_v4a(hunks(&strict)), None, ParseOptions::default()).unwrap();
        prop_assert!(v4a.repairs.is_empty(), "{:?}", v4a.repairs);
        for (hunk, from_v4a) in hunks(&lenient).iter().zip(hunks(&v4a)) {
            prop_assert_eq!(&hunk.lines, &from_v4a.lines);
            prop_assert_eq!(&hunk.alternatives, &from_v4a.alternatives);
            prop_assert!(hunk.alternatives.len() <= 6);
            for reading in &hunk.alternatives {
                prop_assert!(reading.lines != hunk.lines && !reading.repairs.is_empty());
                prop_assert!(count_removed(&reading.lines) >= count_removed(&hunk.lines), "{:?}", reading);
            }
        }
        let plain: Vec<Hunk> =
            hunks(&lenient).iter().map(|hunk| Hunk { alternatives: Vec::new(), ..hunk.clone() }).collect();
        prop_assert_eq!(hunks(&strict), &plain[..]);
    }
}
