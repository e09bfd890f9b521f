//! `Edit` of the document "Smart File Edit Tool".
//!
//! Not generated: blank `old_snippet` (refused in every dialect), blank lines in files that have lone `\r` and other endings,
//! other encodings (`fixtures/native`), and `approval` (`consent.rs`). The document leaves open which candidates a `no_match` has,
//! and whether new lines at the end of a file without a final newline bring one.
//!
//! The engine deliberately differs from the document in one case: [`keeps_shared_lines`].

use fastrand::Rng;
use serde_json::{Value, json};
use slipstitch_core::settings::Forge;
use slipstitch_core::text::ContentHash;

use super::{Sandbox, occurrences};

const LIMIT: usize = 60;

/// FR-SFE-05: one character of the LF view, and the bytes that it stands for.
fn units(file: &str) -> Vec<(char, String)> {
    let mut out = Vec::new();
    let mut rest = file.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {
                rest.next();
                out.push(('\n', "\r\n".to_owned()));
            }
            '\r' => out.push(('\n', "\r".to_owned())),
            c => out.push((c, c.to_string())),
        }
    }
    out
}

fn canonical(text: &str) -> String {
    units(text).into_iter().map(|(c, _)| c).collect()
}

/// FR-SFE-07 and FR-SFE-09.
fn dominant(file: &str) -> (&'static str, &'static str) {
    let count = |kind: &str| units(file).iter().filter(|(c, bytes)| *c == '\n' && bytes == kind).count();
    let (crlf, lf, cr) = (count("\r\n"), count("\n"), count("\r"));
    if crlf + lf + cr == 0 {
        ("\n", "LF")
    } else if crlf >= lf && crlf >= cr {
        ("\r\n", "CRLF")
    } else if lf >= cr {
        ("\n", "LF")
    } else {
        ("\r", "CR")
    }
}

/// A range of the view and what replaces it.
#[derive(Debug, Clone, PartialEq)]
struct Splice {
    from: usize,
    to: usize,
    new: String,
}

/// The bytes before a range of the view, in it, and after it.
fn split(file: &str, splice: &Splice) -> [String; 3] {
    let units = units(file);
    let view = canonical(file);
    let [from, to] = [splice.from, splice.to].map(|at| view[..at].chars().count());
    [&units[..from], &units[from..to], &units[to..]]
        .map(|range| range.iter().map(|(_, bytes)| bytes.as_str()).collect())
}

/// FR-SFE-06 and FR-SFE-08: the file with a range of the view replaced, in the dominant newline style.
fn apply(file: &str, splice: &Splice) -> String {
    let [before, _, after] = split(file, splice);
    format!("{before}{}{after}", splice.new.replace('\n', dominant(file).0))
}

/// The lines of a text with their line endings.
fn lines_with_endings(text: &str) -> Vec<String> {
    let units = units(text);
    let lines = units.split_inclusive(|(c, _)| *c == '\n');
    lines.map(|line| line.iter().map(|(_, bytes)| bytes.as_str()).collect()).collect()
}

/// Whether a file is as the document says, except for lines that the old and the new text share: in a file with mixed line endings
/// they keep theirs, because the tool is meant to preserve them (decision 38).
fn keeps_shared_lines(file: &str, splice: &Splice, found: &str) -> bool {
    let [before, old, after] = split(file, splice);
    let Some(new) = found.strip_prefix(&before).and_then(|rest| rest.strip_suffix(&after)) else {
        return false;
    };
    let old = lines_with_endings(&old);
    let mut old = old.iter();
    let is_kept = |line: &String| {
        let text = canonical(line);
        let in_dominant_style = text.replace('\n', dominant(file).0);
        // Shared lines are in the same order in both.
        *line == in_dominant_style || old.any(|old| old == line)
    };
    canonical(new) == splice.new && lines_with_endings(new).iter().all(is_kept)
}

fn line_of(view: &str, at: usize) -> usize {
    view[..at].matches('\n').count() + 1
}

/// The status of a call, and what it changes: one of several splices if the document leaves that open, or nothing.
fn model(file: Option<&str>, call: &Value, settings: &Forge) -> (&'static str, Vec<Splice>) {
    let unchanged = |status| (status, Vec::new());
    // `[tools.edit]`, and NFR-SFE-SEC-01: nothing but the file can be edited.
    if !settings.is_enabled()
        || (settings.require_file_hash && call["file_hash"].is_null())
        || call["path"] != "file.txt"
    {
        return unchanged("error");
    }
    let sent = |name: &str| !call[name].is_null();
    let by_snippet = sent("old_snippet") || sent("new_snippet") || sent("match_hint");
    let by_lines = sent("start_line") || sent("end_line") || sent("new_content");
    // FR-SFE-02 and FR-SFE-03.
    if by_snippet == by_lines
        || (by_snippet && !(sent("old_snippet") && sent("new_snippet")))
        || (by_lines && !(sent("start_line") && sent("end_line") && sent("new_content")))
    {
        return unchanged("error");
    }
    // Lines count from 1, so this is not a request of either mode.
    if call["start_line"] == 0 {
        return unchanged("error");
    }
    // FR-SFE-10.
    let current = file.map(|file| ContentHash::of(file.as_bytes()).to_string());
    if let Some(claimed) = call["file_hash"].as_str()
        && current.as_deref() != Some(claimed)
    {
        return unchanged("stale_file");
    }
    let too_long = |name: &str| call[name].as_str().is_some_and(|text| text.len() > LIMIT);
    if ["old_snippet", "new_snippet", "new_content"].into_iter().any(too_long) {
        return unchanged("error");
    }
    let Some(file) = file else { return unchanged("error") };
    let view = canonical(file);
    if by_snippet {
        let (old, new) =
            (canonical(call["old_snippet"].as_str().unwrap()), call["new_snippet"].as_str().unwrap());
        // FR-SFE-11.
        let hint = &call["match_hint"];
        let (first, last) =
            (hint["start_line"].as_u64().unwrap_or(1), hint["end_line"].as_u64().unwrap_or(u64::MAX));
        let places: Vec<usize> = occurrences(&view, &old)
            .into_iter()
            .filter(|&at| {
                let last_line = line_of(&view, at + old.len()) - usize::from(old.ends_with('\n'));
                line_of(&view, at) as u64 >= first && last_line as u64 <= last
            })
            .collect();
        return match places[..] {
            [] => unchanged("no_match"),
            [at] => ("ok", vec![Splice { from: at, to: at + old.len(), new: canonical(new) }]),
            _ => unchanged("error"),
        };
    }
    let (first, last) =
        (call["start_line"].as_u64().unwrap() as usize, call["end_line"].as_u64().unwrap() as usize);
    let lines: Vec<&str> = view.split_inclusive('\n').collect();
    if first < 1 || last < first || last > lines.len() {
        return unchanged("error");
    }
    let start: usize = lines[..first - 1].iter().map(|line| line.len()).sum();
    let end: usize = lines[..last].iter().map(|line| line.len()).sum();
    // The document says that exactly these lines are replaced, so the lines after them stay separate lines.
    let new = canonical(call["new_content"].as_str().unwrap());
    let splice = |new: &str| Splice { from: start, to: end, new: new.to_owned() };
    let splices = match (lines[last - 1].ends_with('\n'), new.strip_suffix('\n')) {
        (true, None) if !new.is_empty() => vec![splice(&format!("{new}\n"))],
        // The end of a file that has no final newline.
        (false, Some(shorter)) => vec![splice(shorter), splice(&new)],
        _ => vec![splice(&new)],
    };
    ("ok", splices)
}

/// The line endings of a file, and whether it can have blank lines: with them, an edit could bring a lone `\r` and a `\n`
/// together.
const ENDINGS: [(&[&str], bool); 6] = [
    (&["\n"], true),
    (&["\r\n"], true),
    (&["\r"], true),
    (&["\n", "\r\n"], true),
    (&["\n", "\r\n", "\r"], false),
    (&["\n", "\r"], false),
];

fn file(rng: &mut Rng) -> String {
    let mut out = String::new();
    let (endings, blank_lines) = ENDINGS[rng.usize(0..ENDINGS.len())];
    for _ in 0..rng.usize(0..9) {
        if !(blank_lines && rng.u8(0..6) == 0) {
            let lines = ["alpha", "beta", "gamma", "beta beta", "  delta", "größe 漢字", "\té🎈", "ababab"];
            out.push_str(lines[rng.usize(0..lines.len())]);
        }
        out.push_str(endings[rng.usize(0..endings.len())]);
    }
    if rng.bool() {
        out.push_str("omega");
    }
    out
}

fn fresh(rng: &mut Rng, ends_line: bool) -> String {
    let lines: Vec<String> = (0..rng.usize(1..4)).map(|number| format!("new {number}")).collect();
    lines.join(["\n", "\r\n", "\r"][rng.usize(0..3)]) + if ends_line { "\n" } else { "" }
}

fn snippet_call(rng: &mut Rng, file: &str) -> Value {
    let view = canonical(file);
    let lines: Vec<&str> = view.split_inclusive('\n').collect();
    let mut old = match lines.len() {
        0 => "alpha".to_owned(),
        count => {
            let from = rng.usize(0..count);
            lines[from..count.min(from + rng.usize(1..4))].concat()
        }
    };
    match rng.u8(0..7) {
        0 => old = "not there".into(),
        1 => old = "beta".into(),
        // Occurrences that overlap are several matches, too.
        6 => old = "abab".into(),
        2 if old.ends_with('\n') => drop(old.pop()),
        _ => {}
    }
    // Blank text is refused before it is looked for.
    if old.trim().is_empty() {
        old = "alpha".into();
    }
    let mut new = fresh(rng, old.ends_with('\n'));
    let shared: Vec<&str> = old.split_inclusive('\n').collect();
    if rng.bool() && old.ends_with('\n') {
        new = shared
            .iter()
            .filter(|_| rng.u8(0..3) > 0)
            .fold(String::new(), |text, line| text + line + "new\n");
        if rng.bool() {
            new.insert_str(0, "first\n");
        }
    }
    if rng.bool() {
        old = old.replace('\n', "\r\n");
    }
    let mut call = json!({"path": "file.txt", "old_snippet": old, "new_snippet": new});
    if rng.bool() {
        let first = rng.usize(1..8);
        call["match_hint"] = json!({"start_line": first, "end_line": first + rng.usize(0..4)});
        if rng.u8(0..6) == 0 {
            let end = ["start_line", "end_line"][rng.usize(0..2)];
            drop(call["match_hint"].as_object_mut().unwrap().remove(end));
        }
    }
    call
}

fn call(rng: &mut Rng, file: &str) -> Value {
    let mut call = if rng.bool() {
        snippet_call(rng, file)
    } else {
        let first = rng.usize(0..8);
        let ends_line = rng.bool();
        let new = if rng.u8(0..5) == 0 { String::new() } else { fresh(rng, ends_line) };
        json!({"path": "file.txt", "start_line": first, "end_line": first + rng.usize(0..3), "new_content": new})
    };
    match rng.u8(0..20) {
        0 => call["new_content"] = "mixed".into(),
        1 => call["old_snippet"] = "mixed".into(),
        2 => call["start_line"] = 1.into(),
        3 => drop(call.as_object_mut().unwrap().remove("new_snippet")),
        4 => drop(call.as_object_mut().unwrap().remove("end_line")),
        5 if !call["new_snippet"].is_null() => call["new_snippet"] = "x".repeat(LIMIT + 1).into(),
        6 if !call["new_content"].is_null() => call["new_content"] = "x".repeat(LIMIT + 1).into(),
        _ => {}
    }
    // The dialect reads this as an insertion before the first line, which the document does not have.
    if call["start_line"] == 1 && call["end_line"] == 0 {
        call["end_line"] = 1.into();
    }
    // What clients send for fields that they do not use.
    for name in
        ["old_snippet", "new_snippet", "match_hint", "start_line", "end_line", "new_content", "region_id"]
    {
        if call.get(name).is_none() && rng.u8(0..6) == 0 {
            call[name] = Value::Null;
        }
    }
    if rng.u8(0..20) == 0 {
        call["path"] = ["folder", "../file.txt", "/etc/file.txt"][rng.usize(0..3)].into();
        call["file_hash"] = Value::Null;
        return call;
    }
    call["file_hash"] = match rng.u8(0..6) {
        0 => ContentHash::of(b"something else").to_string().into(),
        1 | 2 => ContentHash::of(file.as_bytes()).to_string().into(),
        _ => Value::Null,
    };
    if rng.bool() {
        call["region_id"] = format!("r{}", rng.u8(..)).into();
    }
    call
}

// Shows: 000-purpose, 000-canonical, 000-replaces-safely, 000-hash-validation, FR-SFE-05, FR-SFE-08, FR-SFE-11
#[test]
fn agrees_with_the_document() {
    let mut rng = Rng::with_seed(super::seed(0x000));
    let mut seen = std::collections::BTreeMap::new();
    let mut kept = 0;
    for number in 0..super::scaled(6000) {
        let before = (rng.u8(0..30) > 0).then(|| file(&mut rng));
        let call = call(&mut rng, before.as_deref().unwrap_or("alpha\n"));
        let mut sandbox = Sandbox::default();
        sandbox.settings.edit.max_snippet_bytes = LIMIT;
        sandbox.settings.edit.max_line_edit_bytes = LIMIT;
        sandbox.settings.edit.enabled = match number % 16 {
            2 => Some(true),
            3 => Some(false),
            _ => None,
        };
        sandbox.settings.edit.require_file_hash = number % 16 == 4;
        sandbox.put("folder/inside.txt", "alpha\n");
        if let Some(before) = &before {
            sandbox.put("file.txt", before);
        }
        let (status, splices) = model(before.as_deref(), &call, &sandbox.settings.edit);
        let answer = sandbox.call("forge", "Edit", call.clone());
        let payload: Value = serde_json::from_str(&answer.text).unwrap();
        let context = format!("call {number}: {call}\nfile: {before:?}\nanswer: {}", answer.text);
        assert_eq!(payload["status"], status, "{context}");
        let after = sandbox.text("file.txt");
        match &before {
            Some(before) if !splices.is_empty() => {
                let found = after.as_deref().unwrap();
                let is_as_written = splices.iter().any(|splice| apply(before, splice) == found);
                let is_kept = || splices.iter().any(|splice| keeps_shared_lines(before, splice, found));
                assert!(is_as_written || is_kept(), "{context}\nfound {found:?}\nexpected {splices:?}");
                kept += usize::from(!is_as_written);
            }
            _ => assert_eq!(after, before, "{context}"),
        }
        let is_line_edit = call["old_snippet"].is_null()
            && ["start_line", "end_line", "new_content"].iter().any(|name| !call[*name].is_null());
        let action = if is_line_edit { "apply_line_edit" } else { "apply_snippet_edit" };
        assert_eq!(payload["action"], action, "{context}");
        assert_eq!(payload["region_id"], call["region_id"], "{context}");
        assert!(payload["message"].as_str().is_some_and(|message| !message.is_empty()), "{context}");
        assert_eq!(sandbox.text("folder/inside.txt").as_deref(), Some("alpha\n"), "{context}");
        if let (Some(after), true) = (&after, call["path"] == "file.txt") {
            let hash = ContentHash::of(after.as_bytes()).short();
            assert_eq!(payload["current_file_hash"], hash, "{context}");
            if status != "ok" {
                assert_eq!(payload["newline_kind"], dominant(after).1, "{context}");
            }
        }
        *seen.entry(status).or_insert(0) += 1;
    }
    assert!(seen.len() == 4 && seen.values().all(|&count| count > 200), "every status is covered: {seen:?}");
    assert!((10..super::scaled(200)).contains(&kept), "shared lines of mixed files: {kept}");
}

#[test]
fn shared_lines_are_recognized() {
    // LF is dominant.
    let file = "a\nb\r\nc\nd\n";
    let splice = Splice { from: 0, to: 6, new: "a\nb\nC\n".into() };
    assert_eq!(apply(file, &splice), "a\nb\nC\nd\n");
    let keeps = |found: &str| keeps_shared_lines(file, &splice, found);
    assert!(keeps("a\nb\r\nC\nd\n"), "the line that both texts have");
    assert!(!keeps("a\nb\r\nC\r\nd\n"), "a new line has the dominant style");
    assert!(!keeps("a\nb\r\nX\nd\n") && !keeps("a\nb\r\nC\nd\r\n"), "other text");
    let swapped = Splice { from: 0, to: 4, new: "b\na\n".into() };
    assert!(keeps_shared_lines("a\r\nb\r\nc\nd\ne\n", &swapped, "b\r\na\nc\nd\ne\n"));
    assert!(!keeps_shared_lines("a\r\nb\r\nc\nd\ne\n", &swapped, "b\r\na\r\nc\nd\ne\n"), "not in order");
}
