//! `patch` of the document "Patch Tool".
//!
//! Not generated: blank `oldText` (refused in every dialect), mixed line endings (`newlines.rs`), `overwrite` together with other
//! patches, Restricted mode and `candidate` (fixtures), more than 60k tokens (`crates/cli/tests/it/cli/phoenix.rs`). Of recovery,
//! only other indentation is definite; what "trim first/last lines if safe" means is shown by fixtures.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Value, json};

use slipstitch_core::engine::Answer;

use super::{Sandbox, occurrences};

type Clipboards = BTreeMap<String, String>;

/// Why a call is refused: what its answer must mention.
type Failed = &'static str;

/// Where a replacement goes: by exact text, else by the lines with another indentation (REQ-PATCH-005).
fn place(file: &str, old: &str) -> Result<(usize, usize), Failed> {
    match occurrences(file, old)[..] {
        [at] => return Ok((at, at + old.len())),
        [] => {}
        _ => return Err("more than once"),
    }
    let wanted: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let mut found = Vec::new();
    for start in 0..lines.len() {
        let Some(block) = lines.get(start..start + wanted.len()) else { break };
        // Two blocks that differ only in indentation could both be meant, so any indentation counts.
        if block.iter().zip(&wanted).all(|(line, wanted)| line.trim() == wanted.trim()) {
            let from: usize = lines[..start].iter().map(|line| line.len()).sum();
            let length: usize = block.iter().map(|line| line.len()).sum();
            let last = block[block.len() - 1];
            let newline = usize::from(!old.ends_with('\n') && last.ends_with('\n'));
            found.push((from, from + length - newline));
        }
    }
    match found[..] {
        [one] => Ok(one),
        [] => Err("old text not found"),
        _ => Err("more than one"),
    }
}

/// REQ-PATCH-004.
fn reindent(text: &str, how: &Value) -> Result<String, Failed> {
    let (strip, add) = (how["strip"].as_str().unwrap_or_default(), how["add"].as_str().unwrap_or_default());
    text.split_inclusive('\n')
        .map(|line| match line {
            "\n" => Ok(line.to_owned()),
            line => line.strip_prefix(strip).map(|rest| format!("{add}{rest}")).ok_or("prefix to strip"),
        })
        .collect()
}

/// The only file that can be changed: other paths are a folder, or outside the root.
const FILE: &str = "dir/file.txt";

/// The file and the clipboards after a call.
fn model(file: Option<&str>, clipboards: &Clipboards, call: &Value) -> Result<(String, Clipboards), Failed> {
    let patches = call["patches"].as_array().unwrap();
    let is = |patch: &Value, name: &str| patch["operation"] == name;
    if call["path"] != FILE {
        return Err("path");
    }
    if file.is_none() && patches.iter().any(|patch| is(patch, "replace")) {
        return Err("does not exist");
    }
    let original = file.unwrap_or_default();
    // REQ-PATCH-002: everything refers to the original file.
    let mut places = Vec::new();
    for patch in patches {
        places.push(match is(patch, "replace") {
            true => Some(place(original, patch["oldText"].as_str().unwrap())?),
            false => None,
        });
    }
    let mut copied: Vec<(usize, &str, String)> = Vec::new();
    for (number, patch) in patches.iter().enumerate() {
        if let (Some(name), Some((from, to))) = (patch["toClipboard"].as_str(), places[number]) {
            copied.push((number, name, original[from..to].to_owned()));
        }
    }
    let mut parts: Vec<(usize, usize, u8, String)> = Vec::new();
    for (number, patch) in patches.iter().enumerate() {
        // REQ-PATCH-003.
        let text = match patch["fromClipboard"].as_str() {
            Some(name) => {
                let of_name = || copied.iter().filter(|(_, other, _)| *other == name);
                let here = of_name().rfind(|(by, ..)| *by <= number).or_else(|| of_name().next());
                let here = here.map(|(_, _, text)| text).or_else(|| clipboards.get(name));
                here.cloned().ok_or("clipboard")?
            }
            None => patch["newText"].as_str().unwrap_or_default().to_owned(),
        };
        let text = if patch["reindent"].is_object() { reindent(&text, &patch["reindent"])? } else { text };
        let end = original.len();
        parts.push(match (patch["operation"].as_str().unwrap(), places[number]) {
            ("replace", Some((from, to))) => (from, to, 1, text),
            ("prepend_bof", _) => (0, 0, 0, text),
            ("append_eof", _) => (end, end, 2, text),
            _ => (0, end, 1, text),
        });
    }
    parts.sort_by_key(|(from, to, rank, _)| (*from, *to, *rank));
    if parts.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return Err("overlap");
    }
    let (mut out, mut at) = (String::new(), 0);
    for (from, to, _, text) in &parts {
        out.push_str(&original[at..*from]);
        out.push_str(text);
        at = *to;
    }
    out.push_str(&original[at..]);
    let mut clipboards = clipboards.clone();
    clipboards.extend(copied.into_iter().map(|(_, name, text)| (name.to_owned(), text)));
    Ok((out, clipboards))
}

const WORDS: [&str; 8] = [
    "open();",
    "let total = 0;",
    "close(file);",
    "retry(3);",
    "print(total);",
    "end",
    "größe — 1;",
    "漢字(🎈);",
];

/// REQ-PATCH-007: the start of a file that "appears to be autogenerated".
const GENERATED: &str = "# Code generated by protoc. DO NOT EDIT.\n";

/// Distinct lines in blocks of different depths.
fn file(rng: &mut Rng) -> String {
    let mut out = String::new();
    if rng.u8(0..6) == 0 {
        out.push_str(GENERATED);
    }
    for number in 0..rng.usize(0..9) {
        if rng.u8(0..7) == 0 {
            out.push('\n');
        }
        let depth = ["", "    ", "        ", "\t"][rng.usize(0..4)];
        out.push_str(&format!("{depth}{number} {}\n", WORDS[rng.usize(0..WORDS.len())]));
    }
    if rng.bool() {
        out.push_str("tail");
    }
    out
}

fn new_text(rng: &mut Rng) -> String {
    let lines: Vec<String> = (0..rng.usize(1..4))
        .map(|number| match rng.u8(0..8) {
            // REQ-PATCH-004 is about non-empty lines.
            0 => String::new(),
            _ => format!("{}added {number}", ["", "  ", "    "][rng.usize(0..3)]),
        })
        .collect();
    lines.join("\n") + if rng.bool() { "\n" } else { "" }
}

fn replace(rng: &mut Rng, file: &str) -> Value {
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let mut patch = json!({"operation": "replace", "oldText": "nowhere", "newText": new_text(rng)});
    if !lines.is_empty() && rng.u8(0..12) > 0 {
        let from = rng.usize(0..lines.len());
        let block = &lines[from..lines.len().min(from + rng.usize(1..4))];
        let mut old = block.concat();
        if rng.bool() && old.ends_with('\n') {
            old.pop();
        }
        // Blank text is refused before it is looked for.
        if !old.trim().is_empty() {
            patch["oldText"] = old.into();
        }
    }
    if rng.u8(0..20) == 0 {
        patch["oldText"] = "();".into();
    }
    patch
}

fn patch(rng: &mut Rng, file: &str) -> Value {
    let mut patch = match rng.u8(0..6) {
        0 => json!({"operation": "append_eof", "newText": new_text(rng)}),
        1 => json!({"operation": "prepend_bof", "newText": new_text(rng)}),
        _ => replace(rng, file),
    };
    let clipboard = |rng: &mut Rng| ["x", "y", "z"][rng.usize(0..3)];
    if patch["operation"] == "replace" && rng.u8(0..3) == 0 {
        patch["toClipboard"] = clipboard(rng).into();
    }
    if rng.u8(0..5) == 0 {
        patch["fromClipboard"] = clipboard(rng).into();
    }
    // What clients send for fields that they do not use.
    for name in ["oldText", "toClipboard", "fromClipboard", "reindent"] {
        if patch.get(name).is_none() && rng.u8(0..8) == 0 {
            patch[name] = Value::Null;
        }
    }
    let mut shifts_text = patch["fromClipboard"].is_string();
    if rng.u8(0..3) == 0 {
        let strip = ["", "", "  ", "    "][rng.usize(0..4)];
        // Empty values count as absent, so one of the two must say something.
        let add = if strip.is_empty() {
            ["    ", "\t"][rng.usize(0..2)]
        } else {
            ["", "    ", "\t"][rng.usize(0..3)]
        };
        patch["reindent"] = json!({"strip": strip, "add": add});
        shifts_text = true;
    }
    // Where the request says what is inserted, the old text may have lost its indentation.
    if shifts_text && rng.bool() && patch["operation"] == "replace" {
        let old = patch["oldText"].as_str().unwrap();
        let depth = old.len() - old.trim_start_matches([' ', '\t']).len();
        let prefix = old[..depth].to_owned();
        if old.lines().all(|line| line.starts_with(&prefix)) {
            let dedented: String = old.split_inclusive('\n').map(|line| &line[depth..]).collect();
            patch["oldText"] = dedented.into();
        }
    }
    patch
}

fn call(rng: &mut Rng, file: &str) -> Value {
    let patches: Vec<Value> = match rng.u8(0..12) {
        0 => vec![json!({"operation": "overwrite", "newText": new_text(rng)})],
        _ => (0..rng.usize(1..4)).map(|_| patch(rng, file)).collect(),
    };
    let path = match rng.u8(0..40) {
        0 => "dir",
        1 => "../file.txt",
        2 => "/etc/file.txt",
        _ => FILE,
    };
    json!({"path": path, "patches": patches})
}

/// REQ-PATCH-007: the confirmation, the diff for display, and the warnings.
fn check_answer(answer: &Answer, before: Option<&str>, after: &str, call: &Value, context: &str) {
    assert!(!answer.text.trim().is_empty(), "{context}");
    if before == Some(after) {
        return;
    }
    assert!(
        answer.report.diff.as_ref().is_some_and(|diff| diff.contains("@@ ")) || after.is_empty(),
        "{context}"
    );
    let warns = answer.text.contains("generated");
    assert!(warns || !before.is_some_and(|before| before.starts_with(GENERATED)), "{context}");
    let is_marked = [before.unwrap_or_default(), after].iter().any(|text| text.contains("generated"));
    assert!(!warns || is_marked, "{context}");
    // "clipboard contents are modified during fuzzy matching": by the last patch that fills it.
    let original = before.unwrap_or_default();
    for patch in call["patches"].as_array().unwrap() {
        let (Some(old), Some(name)) = (patch["oldText"].as_str(), patch["toClipboard"].as_str()) else {
            continue;
        };
        let Ok((from, to)) = place(original, old) else { continue };
        if original[from..to] != *old {
            assert!(answer.text.contains(&format!("`{name}`")), "{context}");
        }
    }
}

// Shows: 001-precise, REQ-PATCH-002-simultaneous, REQ-PATCH-004-recovered
#[test]
fn agrees_with_the_document() {
    let mut rng = Rng::with_seed(0x001);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for number in 0..2500 {
        // A session of a few calls, so that clipboards live on.
        let sandbox = Sandbox::default();
        sandbox.put("dir/other.txt", "other\n");
        let mut before = (rng.u8(0..8) > 0).then(|| file(&mut rng));
        let crlf = rng.u8(0..3) == 0 && before.as_ref().is_some_and(|before| before.contains('\n'));
        let on_disk = |text: &str| if crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
        if let Some(before) = &before {
            sandbox.put("dir/file.txt", &on_disk(before));
        }
        let mut clipboards = Clipboards::new();
        for _ in 0..4 {
            let call = call(&mut rng, before.as_deref().unwrap_or_default());
            let expected = model(before.as_deref(), &clipboards, &call);
            let answer = sandbox.call("phoenix", "patch", call.clone());
            assert_eq!(sandbox.text("dir/other.txt").as_deref(), Some("other\n"), "{call:#}");
            let after = sandbox.text("dir/file.txt");
            let after = after.map(|text| {
                let canonical = text.replace("\r\n", "\n");
                assert_eq!(text, on_disk(&canonical), "one line ending: {call:#}");
                canonical
            });
            let context = format!(
                "session {number}: {call:#}\nfile: {before:?}\nclipboards: {clipboards:?}\nanswer: {}\nafter: {after:?}\nmodel: {expected:?}",
                answer.text
            );
            match expected {
                Ok((text, copied)) => {
                    assert!(answer.report.is_success(), "{context}");
                    assert_eq!(after.as_deref(), Some(text.as_str()), "{context}");
                    check_answer(&answer, before.as_deref(), &text, &call, &context);
                    clipboards = copied;
                    *seen.entry("applied").or_default() += 1;
                }
                Err(why) => {
                    assert!(!answer.report.is_success(), "{context}");
                    assert_eq!(after, before, "{context}");
                    if why == "old text not found" {
                        assert!(answer.text.contains(why), "{context}");
                    }
                    *seen.entry(why).or_default() += 1;
                }
            }
            before = after;
            // A file that has lost its line breaks has no style to keep.
            if crlf && !before.as_ref().is_some_and(|text| text.contains('\n')) {
                break;
            }
        }
    }
    let enough = |why: &str| seen.get(why).is_some_and(|&count| count > 50);
    let reasons = [
        "applied",
        "old text not found",
        "clipboard",
        "overlap",
        "prefix to strip",
        "does not exist",
        "path",
    ];
    assert!(reasons.iter().all(|why| enough(why)), "every outcome is covered: {seen:?}");
}
