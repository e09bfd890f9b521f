//! `edit_file` of the document "Intelligent Editing and Buffer Management".
//!
//! Not generated: mixed line endings (`newlines.rs`), other thresholds and the fallback of phase 1 (fixtures). The document does not
//! give the format of a diff.
//!
//! The document's code is followed to the letter, except in three cases in which it could lose text: [`Deviation`] lists them.

use fastrand::Rng;
use serde_json::{Value, json};

use super::{Sandbox, occurrences};

/// What a call must answer, and the file afterwards.
struct Expected {
    is_success: bool,
    /// How the answer starts; empty where the document does not say.
    text: String,
    file: Option<String>,
    /// What happens, in a word.
    outcome: &'static str,
}

/// The safety check of the document.
fn is_reduction(before: usize, after: usize) -> bool {
    before >= 20 && after < before / 3
}

/// Why a call is refused that the document would apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Deviation {
    /// `old_text` has one match and another one that overlaps it: `aa` in `aaa`. Which of them is meant is unknown.
    Overlap,
    /// `old_text` has no visible character. It would match almost everywhere, so it is a slip.
    Blank,
    /// The call confirms a destructive operation whose diff was not shown: "Diff preview before all destructive operations".
    /// Sent again, it is applied.
    NotShown,
}

impl Deviation {
    fn find(file: Option<&str>, call: &Value) -> Option<Self> {
        let file = file.filter(|_| call["path"] == FILE)?;
        match (call["mode"].as_str(), call["old_text"].as_str()) {
            (Some("edit"), Some(old)) if !old.is_empty() && old.trim().is_empty() => Some(Self::Blank),
            (Some("edit"), Some(old)) if file.matches(old).count() == 1 => {
                let after = file.replacen(old, call["content"].as_str()?, 1).lines().count();
                if occurrences(file, old).len() > 1 {
                    return Some(Self::Overlap);
                }
                let is_confirmed = call["confirm_reduction"] == true;
                (is_confirmed && is_reduction(file.lines().count(), after)).then_some(Self::NotShown)
            }
            (Some("overwrite"), _) => {
                let changes = call["content"] != file && !file.is_empty();
                (changes && call["confirm_overwrite"] == true).then_some(Self::NotShown)
            }
            _ => None,
        }
    }

    /// How the answer starts.
    fn starts(self, call: &Value) -> &'static str {
        match self {
            Self::Overlap => "The specified old_text matches 1 location, and ",
            Self::Blank => "",
            Self::NotShown if call["mode"] == "edit" => {
                "Safety check failed: This edit would reduce file from "
            }
            Self::NotShown => "",
        }
    }
}

/// What the document says of the four modes. `preview_only` is one of its open questions, so only that it writes nothing is
/// definite.
fn model(file: Option<&str>, call: &Value, max_file_size: usize) -> Expected {
    let error =
        |outcome, text: String| Expected { is_success: false, text, file: file.map(str::to_owned), outcome };
    let content = call["content"].as_str().unwrap();
    let path = call["path"].as_str().unwrap();
    // "Relative path to the file (no absolute paths or traversal)".
    if path != FILE {
        return error("bad path", String::new());
    }
    let write = |outcome, new: String, text: String| match new.len() > max_file_size {
        true => error(
            "too large",
            format!("Resulting content size {} bytes exceeds maximum {max_file_size} bytes", new.len()),
        ),
        false => Expected { is_success: true, text, file: Some(new), outcome },
    };
    match (call["mode"].as_str().unwrap(), file) {
        ("edit", file) => {
            // Clients send an empty text for a field that they do not use.
            let Some(old_text) = call["old_text"].as_str().filter(|text| !text.is_empty()) else {
                return error(
                    "no old_text",
                    "edit mode requires old_text parameter. To append to file, use 'append' mode. \
                     To replace entire file, use 'overwrite' mode explicitly."
                        .into(),
                );
            };
            let Some(old) = file else {
                return error("edit without file", format!("Can't edit file: file not found ({path})"));
            };
            match old.matches(old_text).count() {
                0 => error(
                    "not found",
                    format!(
                        "The specified old_text was not found in the file.\nSearched for: {old_text}\n\
                         Hint: Use read_file to view current contents and find a unique anchor point."
                    ),
                ),
                1 => {
                    let new = old.replacen(old_text, content, 1);
                    let (before, after) = (old.lines().count(), new.lines().count());
                    // "Allow override mechanism if needed (with confirmation)".
                    if is_reduction(before, after) && call["confirm_reduction"] != true {
                        let text = format!(
                            "Safety check failed: This edit would reduce file from {before} lines to {after} lines.\n\
                             This suggests the edit may be replacing too much content.\n\
                             If you intend to replace the entire file, use 'overwrite' mode explicitly.\n\
                             Otherwise, review your old_text parameter to ensure it's specific enough."
                        );
                        return error("reduction", text);
                    }
                    write("edited", new, format!("Edited {path} (replaced 1 occurrence):\n\n"))
                }
                count => error(
                    "several matches",
                    format!(
                        "The specified old_text matches {count} locations (must be unique).\nSearched for: {old_text}\n\
                         Hint: Include more surrounding context to make the match unique."
                    ),
                ),
            }
        }
        ("append", Some(old)) => {
            let separator = if old.ends_with('\n') { "" } else { "\n" };
            write("appended", format!("{old}{separator}{content}"), format!("Appended to {path}:\n\n"))
        }
        ("append", None) => error(
            "append without file",
            format!("Can't append to file: file not found ({path})\nHint: Use 'create' mode for new files."),
        ),
        // The document has no code, and so no messages, for these two modes.
        ("create", None) => write("created", content.into(), String::new()),
        ("create", Some(_)) => error("create over file", String::new()),
        // "Diff preview before all destructive operations", "a `confirm_overwrite` parameter […] that requires explicit true value".
        // Text that cannot be written needs no confirmation.
        ("overwrite", Some(old)) => match write("overwritten", content.into(), String::new()) {
            done if done.is_success && !old.is_empty() && call["confirm_overwrite"] != true => {
                error("unconfirmed", String::new())
            }
            done => done,
        },
        ("overwrite", None) => error("overwrite without file", String::new()),
        (mode, _) => panic!("the document has no mode {mode}"),
    }
}

const FILE: &str = "dir/file.txt";

fn file(rng: &mut Rng) -> String {
    let count = if rng.bool() { rng.usize(0..8) } else { rng.usize(18..40) };
    let mut out = String::new();
    for number in 0..count {
        match rng.u8(0..8) {
            0 => out.push_str("same line\n"),
            1 => out.push('\n'),
            2 => out.push_str("größe — 漢字 🎈\n"),
            3 => out.push_str(&format!("\tif ({number}) {{\n")),
            4 if rng.bool() => out.push_str(["aaa\n", "-----\n"][rng.usize(0..2)]),
            _ => out.push_str(&format!("line {number};\n")),
        }
    }
    if rng.bool() {
        out.push_str("last");
    }
    out
}

fn call(rng: &mut Rng, file: &str) -> Value {
    let mode = ["edit", "edit", "edit", "append", "create", "overwrite"][rng.usize(0..6)];
    let lines: Vec<String> = (0..rng.usize(1..4)).map(|number| format!("new {number}")).collect();
    let content = lines.join("\n") + if rng.bool() { "\n" } else { "" };
    let path = match rng.u8(0..60) {
        0 => "dir",
        1 => "../file.txt",
        2 => "/etc/file.txt",
        3 => "dir/../dir/file.txt",
        _ => FILE,
    };
    let mut call = json!({"path": path, "mode": mode, "content": content});
    for name in ["preview_only", "confirm_reduction"] {
        if rng.u8(0..8) == 0 {
            call[name] = true.into();
        }
    }
    if mode == "edit" && rng.u8(0..12) > 0 {
        let lines: Vec<&str> = file.split_inclusive('\n').collect();
        let mut old = match lines.len() {
            0 => "absent".to_owned(),
            count => {
                // Most of the file, so that it shrinks too much; a few lines; or any number of them.
                let (from, more) = match rng.u8(0..6) {
                    0 => (rng.usize(0..count.min(3)), count - rng.usize(0..count.min(3))),
                    1..4 => (rng.usize(0..count), rng.usize(1..4)),
                    _ => (rng.usize(0..count), rng.usize(1..40)),
                };
                lines[from..count.min(from + more)].concat()
            }
        };
        match rng.u8(0..6) {
            5 => old = ["aa", "--", "}\n}\n", " "][rng.usize(0..4)].into(),
            0 => old = "absent".into(),
            1 if old.ends_with('\n') => drop(old.pop()),
            2 => old = "same line".into(),
            _ => {}
        }
        call["old_text"] = old.into();
    }
    if mode == "overwrite" {
        call["confirm_overwrite"] =
            [true.into(), true.into(), false.into(), Value::Null][rng.usize(0..4)].clone();
    }
    // What clients send for optional fields that they do not use.
    for name in ["old_text", "preview_only", "confirm_overwrite", "confirm_reduction"] {
        if call.get(name).is_none() && rng.u8(0..8) == 0 {
            call[name] = Value::Null;
        }
    }
    if mode != "edit" && rng.u8(0..8) == 0 {
        call["old_text"] = "".into();
    }
    call
}

/// Whether an answer shows a diff.
fn is_diff(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(['+', '-']))
}

/// A file as it is on disk: the document's texts have LF, whatever the file has.
fn on_disk(text: &str, crlf: bool) -> String {
    if crlf { text.replace('\n', "\r\n") } else { text.to_owned() }
}

// Shows: 003-guiding-errors, 003-shrink-guard, 003-append-separator, 003-zero-wipeouts, 003-unique-anchor
#[test]
fn agrees_with_the_document() {
    let mut rng = Rng::with_seed(super::seed(0x003));
    let mut seen = std::collections::BTreeMap::new();
    let mut deviations = std::collections::BTreeMap::new();
    for number in 0..super::scaled(8000) {
        let before = (rng.u8(0..4) > 0).then(|| file(&mut rng));
        let call = call(&mut rng, before.as_deref().unwrap_or("line 0;\n"));
        let crlf = rng.u8(0..3) == 0 && before.as_ref().is_some_and(|before| before.contains('\n'));
        // The document counts the bytes of its own text.
        let max_file_size = if rng.u8(0..5) == 0 && !crlf { rng.usize(10..200) } else { 10_485_760 };
        let mut sandbox = Sandbox::default();
        sandbox.settings.xzatoma.max_file_size = max_file_size as u64;
        sandbox.put("dir/other.txt", "other\n");
        if let Some(before) = &before {
            sandbox.put("dir/file.txt", &on_disk(before, crlf));
        }
        let expected = model(before.as_deref(), &call, max_file_size);
        let unchanged = || before.as_ref().map(|text| on_disk(text, crlf));
        let written = || expected.file.as_ref().map(|text| on_disk(text, crlf));
        let is_preview = call["preview_only"] == true;
        let mut answer = sandbox.call("xzatoma", "edit_file", call.clone());
        // A change that a later check of the document refuses is not shown either.
        let counts = |found: &Deviation| *found != Deviation::NotShown || expected.is_success;
        let deviation =
            Deviation::find(before.as_deref(), &call).filter(|found| counts(found) && !is_preview);
        if let Some(deviation) = deviation {
            *deviations.entry(deviation).or_insert(0) += 1;
            let context = format!("call {number}: {call}\nfile: {before:?}\nanswer: {}", answer.text);
            assert!(answer.text.starts_with(deviation.starts(&call)), "{context}");
            assert!(!answer.report.is_success(), "{context}");
            assert_eq!(sandbox.text("dir/file.txt"), unchanged(), "{context}");
            if deviation != Deviation::NotShown {
                continue;
            }
            assert!(is_diff(&answer.text), "{context}");
            answer = sandbox.call("xzatoma", "edit_file", call.clone());
        }
        let context = format!("call {number}: {call}\nfile: {before:?}\nanswer: {}", answer.text);
        let after = sandbox.text("dir/file.txt");
        let is_blank = call["old_text"].as_str().is_some_and(|old| !old.is_empty() && old.trim().is_empty());
        if is_blank {
            assert_eq!(after, unchanged(), "{context}");
            continue;
        }
        assert_eq!(after, if is_preview { unchanged() } else { written() }, "{context}");
        assert_eq!(sandbox.text("dir/other.txt").as_deref(), Some("other\n"), "{context}");
        // Whatever the document says about a call, only a confirmed one replaces most of a longer file.
        let lines = |text: &Option<String>| text.as_ref().map_or(0, |text| text.lines().count());
        let is_wiped = lines(&before) >= 20 && lines(&after) < lines(&before) / 3;
        let is_confirmed = call["confirm_overwrite"] == true || call["confirm_reduction"] == true;
        assert!(!is_wiped || is_confirmed, "{context}");
        if is_preview {
            continue;
        }
        if expected.file == before && expected.is_success {
            continue; // nothing to write; the document does not say how that is answered
        }
        assert_eq!(answer.report.is_success(), expected.is_success, "{context}");
        assert!(answer.text.starts_with(&expected.text), "{context}\nexpected: {}", expected.text);
        // "Write and generate diff", and "diff preview before all destructive operations".
        let is_preview = ["unconfirmed", "reduction"].contains(&expected.outcome);
        let shows_diff = is_preview || (expected.is_success && before.is_some());
        assert!(!shows_diff || is_diff(&answer.text[expected.text.len()..]), "{context}");
        *seen.entry(expected.outcome).or_insert(0) += 1;
    }
    let is_few = |count: &usize| (10..super::scaled(600)).contains(count);
    assert!(deviations.len() == 3 && deviations.values().all(is_few), "{deviations:?}");
    assert!(seen.len() == 15 && seen.values().all(|&count| count > 20), "every answer is covered: {seen:?}");
}
