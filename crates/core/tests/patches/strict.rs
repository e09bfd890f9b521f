//! Clean unified diffs, against another parser and an oracle that applies them line by line.

use proptest::prelude::*;
use slipstitch_core::patch::{Action, FilePatch, Options, Patch, parse};
use slipstitch_core::patch::{Hunk, Role};

/// Texts with few different lines, so that diffs are rich.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a", "b", "c", "", "-- x", "++ y", "@@ -1 +1 @@", "  d", "\\ e"]);
    (prop::collection::vec(line, 0..25), any::<bool>()).prop_map(|(lines, ends)| {
        let text = lines.join("\n");
        if ends && !lines.is_empty() { text + "\n" } else { text }
    })
}

/// Applies hunks where they say they belong; every old line must be there.
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
            let whole = format!("{}{}", line.text, if line.newline { "\n" } else { "" });
            if line.role != Role::Added {
                assert_eq!(lines[at], whole);
                at += 1;
            }
            if line.role != Role::Removed {
                out.push_str(&whole);
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

/// The lines of a hunk as the other parser has them.
fn others(hunk: &diffy::Hunk<'_, str>) -> Vec<(Role, String)> {
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
    fn clean_diffs_are_read_as_another_parser_reads_them(before in text(), after in text(), context in 0..4_usize) {
        prop_assume!(before != after);
        let made = diffy::DiffOptions::new().set_context_len(context).create_patch(&before, &after);
        let diff = diffy::PatchFormatter::new().suppress_blank_empty(false).fmt_patch(&made).to_string();
        let patch = parse(&diff, None, Options { strict: true, strip: None })
            .map_err(|error| TestCaseError::fail(format!("{error}\n{diff}")))?;
        let other = diffy::Patch::from_str(&diff).unwrap();
        prop_assert_eq!(hunks(&patch).len(), other.hunks().len());
        for (mine, theirs) in hunks(&patch).iter().zip(other.hunks()) {
            let lines: Vec<_> = mine.lines.iter().map(|line| (line.role, line.text.clone())).collect();
            prop_assert_eq!(lines, others(theirs), "{}", diff);
            prop_assert_eq!(mine.line, Some(theirs.old_range().start()));
        }
        prop_assert_eq!(apply(hunks(&patch), &before), after.clone(), "{}", diff);
        prop_assert_eq!(apply(hunks(&patch.reversed().unwrap()), &after), before, "{}", diff);
    }
}
