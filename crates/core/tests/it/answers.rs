//! What answers say, and what they cost a model.

use serde_json::{Value, json};
use slipstitch_core::engine::{Engine, Request};
use slipstitch_core::outcome::Status;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};
use slipstitch_core::text::ContentHash;

use crate::rig::{Rig, path};

const TEXT: &str = "fn main() {\n    let retries = 3;\n    run(retries);\n}\n";
const PATCH: &str = "*** Begin Patch\n*** Update File: src/main.rs\n@@\n-    let retries = 3;\n+    let retries = 5;\n*** End Patch";
const BLOCK: &str = "<<<<<<< SEARCH\n    let retries = 3;\n=======\n    let retries = 5;\n>>>>>>> REPLACE";

/// A plain edit of one line in every dialect, and the most tokens that its answer may have.
fn plain_edits() -> Vec<(&'static str, &'static str, Value, usize)> {
    let (path, old, new) = ("src/main.rs", "let retries = 3;", "let retries = 5;");
    vec![
        ("native", "edit_file", json!({"path": path, "old_text": old, "new_text": new}), 60),
        (
            "phoenix",
            "patch",
            json!({"path": path, "patches": [{"operation": "replace", "oldText": old, "newText": new}]}),
            25,
        ),
        ("nexus3", "edit_file", json!({"path": path, "old_string": old, "new_string": new}), 25),
        ("claude", "Edit", json!({"file_path": path, "old_string": old, "new_string": new}), 25),
        ("codex", "apply_patch", json!({"input": PATCH}), 25),
        ("gemini", "replace", json!({"file_path": path, "old_string": old, "new_string": new}), 25),
        ("qwen", "edit", json!({"file_path": path, "old_string": old, "new_string": new}), 25),
        ("opencode", "edit", json!({"filePath": path, "oldString": old, "newString": new}), 25),
        ("opencode", "apply_patch", json!({"patchText": PATCH}), 25),
        ("cline", "editor", json!({"path": path, "old_text": old, "new_text": new}), 25),
        ("cline", "replace_in_file", json!({"path": path, "diff": BLOCK}), 25),
        ("roo", "apply_diff", json!({"path": path, "diff": BLOCK}), 25),
        ("zed", "edit_file", json!({"path": path, "edits": [{"old_text": old, "new_text": new}]}), 25),
        ("cursor", "search_replace", json!({"file_path": path, "old_string": old, "new_string": new}), 25),
        (
            "copilot",
            "replace_string_in_file",
            json!({"filePath": path, "oldString": old, "newString": new}),
            25,
        ),
        ("copilot-cli", "edit", json!({"path": path, "old_str": old, "new_str": new}), 25),
        ("goose", "edit", json!({"path": path, "before": old, "after": new}), 25),
        (
            "openhands",
            "str_replace_editor",
            json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new}),
            25,
        ),
        ("aider", "apply_edits", json!({"input": format!("src/main.rs\n```rust\n{BLOCK}\n```\n")}), 25),
        (
            "hashline",
            "edit",
            json!({"path": path, "edits": [{"replace": {"old_text": old, "new_text": new}}]}),
            25,
        ),
        // The documents of these dialects prescribe longer answers: a payload with the whole hash, the changed lines,
        // and a diff.
        ("forge", "Edit", json!({"path": path, "old_snippet": old, "new_snippet": new}), 60),
        ("agent-q", "edit_file", json!({"path": path, "old_str": old, "new_str": new}), 40),
        ("xzatoma", "edit_file", json!({"path": path, "mode": "edit", "old_text": old, "content": new}), 75),
    ]
}

fn answer(dialect: &str, tool: &str, arguments: Value) -> String {
    let (files, journal) = (MemoryWorkspace::default(), MemoryJournal::default());
    files.put(&path("src/main.rs"), TEXT);
    let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin());
    let request = Request { dialect: dialect.into(), tool: tool.into(), arguments };
    let answer = engine.call(request, &mut Auto);
    assert_eq!(answer.report.status(), Status::Applied, "{dialect}: {}", answer.text);
    answer.text
}

#[test]
#[expect(clippy::print_stdout, reason = "prints a table for the documentation")]
fn plain_successes_are_short() {
    let tested: Vec<&str> = plain_edits().iter().map(|(dialect, ..)| *dialect).collect();
    assert!(slipstitch_dialects::BUILTIN.iter().all(|dialect| tested.contains(&dialect.name)), "{tested:?}");
    for (dialect, tool, arguments, max) in plain_edits() {
        let text = answer(dialect, tool, arguments);
        let tokens = slipstitch_tokens::count(&text);
        // `cargo test -p slipstitch-core --test it plain_successes -- --nocapture` prints the table in docs/mcp.md.
        println!("| `{dialect}` | {tokens} |");
        assert!(tokens <= max, "{dialect}: {tokens} tokens, at most {max}: {text}");
    }
}

/// The arguments with another old text; `None` if the call is a patch, whose hunks may remove blank lines.
fn with_old_text(arguments: &Value, old: &str) -> Option<Value> {
    Some(match arguments {
        Value::String(text) if text.contains("*** Begin Patch") => return None,
        Value::String(text) => text.replace("let retries = 3;", old).into(),
        Value::Array(items) => {
            items.iter().map(|item| with_old_text(item, old)).collect::<Option<Vec<_>>>()?.into()
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| Some((name.clone(), with_old_text(field, old)?)));
            Value::Object(fields.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

// Shows: INV-001, REQ-PATCH-001-replace-unique, 003-unique-anchor, 004-exactly-one-match
#[test]
fn blank_old_text_is_refused_in_every_dialect() {
    // Each of the texts occurs once.
    let before = "fn main() {\n \t \n}\n";
    let mut tested = std::collections::BTreeSet::new();
    for (dialect, tool, arguments, _) in plain_edits() {
        for blank in [" \t ", "\t", "\n \t \n"] {
            let Some(arguments) = with_old_text(&arguments, blank) else { continue };
            tested.insert(dialect);
            let (files, journal) = (MemoryWorkspace::default(), MemoryJournal::default());
            files.put(&path("src/main.rs"), before);
            let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin());
            let request =
                Request { dialect: dialect.into(), tool: tool.into(), arguments: arguments.clone() };
            let answer = engine.call(request, &mut Auto);
            assert!(!answer.report.is_success(), "{dialect} {arguments}: {}", answer.text);
            assert_eq!(files.get(&path("src/main.rs")).as_deref(), Some(before.as_bytes()), "{dialect}");
        }
    }
    // Only V4A patches are left out.
    let left_out = slipstitch_dialects::BUILTIN.iter().filter(|dialect| !tested.contains(dialect.name));
    assert_eq!(left_out.map(|dialect| dialect.name).collect::<Vec<_>>(), ["codex"]);
}

#[test]
fn a_new_file_is_not_repeated() {
    let content: String = (1..=300).map(|n| format!("line number {n}\n")).collect();
    let create = |field: &str| json!({"command": "create", "path": "new.txt", field: content});
    let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
    let added = format!("*** Begin Patch\n*** Add File: new.txt\n{added}*** End Patch");
    for (dialect, tool, arguments) in [
        ("native", "write_file", json!({"path": "new.txt", "content": content, "mode": "create"})),
        ("claude", "Write", json!({"file_path": "new.txt", "content": content})),
        // `agent-q` proposes a file of this length.
        ("xzatoma", "edit_file", json!({"path": "new.txt", "content": content, "mode": "create"})),
        (
            "phoenix",
            "patch",
            json!({"path": "new.txt", "patches": [{"operation": "overwrite", "newText": content}]}),
        ),
        ("claude", "str_replace_based_edit_tool", create("file_text")),
        ("openhands", "str_replace_editor", create("file_text")),
        ("gemini", "write_file", json!({"file_path": "new.txt", "content": content})),
        ("gemini", "replace", json!({"file_path": "new.txt", "old_string": "", "new_string": content})),
        ("qwen", "write_file", json!({"file_path": "new.txt", "content": content})),
        ("opencode", "write", json!({"filePath": "new.txt", "content": content})),
        ("cline", "editor", json!({"path": "new.txt", "new_text": content})),
        ("roo", "write_to_file", json!({"path": "new.txt", "content": content})),
        ("zed", "write_file", json!({"path": "new.txt", "content": content})),
        ("cursor", "edit_file", json!({"target_file": "new.txt", "code_edit": content})),
        ("copilot", "create_file", json!({"filePath": "new.txt", "content": content})),
        ("copilot-cli", "create", json!({"path": "new.txt", "file_text": content})),
        ("goose", "write", json!({"path": "new.txt", "content": content})),
        ("aider", "apply_edits", json!({"input": format!("new.txt\n```\n{content}```\n")})),
        ("hashline", "write", json!({"path": "new.txt", "content": content})),
        ("codex", "apply_patch", json!({"input": added})),
    ] {
        let text = answer(dialect, tool, arguments);
        assert!(slipstitch_tokens::count(&text) <= 60 && !text.contains("line number"), "{dialect}: {text}");
    }
}

#[test]
fn the_diff_is_shown_when_something_else_was_written_than_what_was_sent() {
    let rig = Rig::new(TEXT);
    let exact = rig.edit("let retries = 3;", "let retries = 5;");
    let version = ContentHash::of(&rig.bytes()).short();
    assert_eq!(exact.text, format!("Changed `file.txt` at line 2\nchange c1, version {version}"));
    let dry = json!({"old_text": "run(retries);", "new_text": "go();", "dry_run": true});
    assert!(rig.call("edit_file", dry).text.contains("-    run(retries);\n+    go();"));
    let recovered = rig.edit("let retries = 5;\n  run(retries);", "let retries = 6;\n  run(retries);");
    assert!(recovered.text.contains("+    let retries = 6;"), "{}", recovered.text);
    let undone = rig.call("undo_edit", json!({}));
    assert!(undone.text.contains("-    let retries = 6;"), "{}", undone.text);
    let edits =
        json!([{"old_text": "fn main", "new_text": "// x\nfn main"}, {"old_text": "5", "new_text": "7"}]);
    let batch = rig.call("edit_file", json!({"edits": edits}));
    assert!(batch.text.starts_with("Changed `file.txt` in 2 places, now lines 1-2, 3\n"), "{}", batch.text);
    let edits = json!([{"old_text": "let", "new_text": "const"}, {"old_text": "7", "new_text": "8"}]);
    let batch = rig.call("edit_file", json!({"edits": edits}));
    assert!(batch.text.starts_with("Changed `file.txt` in 2 places, now line 3\n"), "{}", batch.text);
}

/// Two texts whose versions start with the same digits, which start with neither of `other`.
fn colliding_texts(digits: usize) -> (String, String) {
    let mut seen = std::collections::HashMap::new();
    for number in 0.. {
        let text = format!("one\ntwo {number}\n");
        let start = ContentHash::of(text.as_bytes()).short()[3..3 + digits].to_owned();
        if let Some(other) = seen.insert(start, text.clone()) {
            return (other, text);
        }
    }
    unreachable!("numbers do not end")
}

#[test]
fn a_version_may_be_abbreviated_unless_it_is_ambiguous() {
    let (before, now) = colliding_texts(4);
    let rig = Rig::new(before.as_str());
    rig.call("read_file", json!({}));
    rig.files.put(&path("file.txt"), now.as_str());
    rig.call("read_file", json!({}));
    let version = ContentHash::of(now.as_bytes()).short();
    let edit = |version: &str| {
        rig.call("edit_file", json!({"old_text": "one", "new_text": "1", "version": version}))
    };
    let refused = edit(&version[..7]);
    assert_eq!(refused.report.code(), "stale_file", "{}", refused.text);
    assert!(refused.text.contains("more than one version"), "{}", refused.text);
    let done = edit(&version);
    assert_eq!(done.report.status(), Status::Applied, "{}", done.text);
    // The bare digits that the answer shows, and the start of them.
    let version = ContentHash::of(&rig.bytes()).short();
    let again =
        rig.call("edit_file", json!({"old_text": "1", "new_text": "one", "version": &version[3..13]}));
    assert_eq!(again.report.status(), Status::Applied, "{}", again.text);
}

#[test]
fn a_long_file_is_shown_in_parts() {
    let lines: String = (1..=5_000).map(|n| format!("{n}\n")).collect();
    let rig = Rig::new(lines);
    let text = rig.call("read_file", json!({})).text;
    assert!(
        text.contains("\n  2000\t2000\n[lines 1-2000 of 5000; read on from line 2001]\n"),
        "{}",
        &text[text.len() - 200..]
    );
    let text = rig.call("read_file", json!({"start_line": 4_001})).text;
    assert!(text.contains("\n  5000\t5000\n[lines 4001-5000 of 5000]"), "{}", &text[text.len() - 200..]);
    let text = rig.call("read_file", json!({"start_line": 1, "end_line": 3_000})).text;
    assert!(text.contains("\n  3000\t3000\n"), "a caller that says how much it wants gets it");
    let rig = Rig::new("x".repeat(99).to_owned() + "\n" + &("y".repeat(99) + "\n").repeat(1_500));
    let text = rig.call("read_file", json!({})).text;
    assert!(text.len() < 52 << 10 && text.contains("read on from line"), "{}", text.len());
}

#[test]
fn a_missing_file_is_answered_with_the_closest_path() {
    let files = MemoryWorkspace::default();
    for name in ["src/main.rs", "src/parser/lexer.rs", "docs/readme.md", "a/mod.rs", "b/mod.rs"] {
        files.put(&path(name), TEXT);
    }
    let journal = MemoryJournal::default();
    let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin());
    for (asked, closest) in [
        ("src/Main.rs", Some("src/main.rs")),
        ("src/mian.rs", Some("src/main.rs")),
        ("lexer.rs", Some("src/parser/lexer.rs")),
        ("project/src/main.rs", Some("src/main.rs")),
        ("docs/README.md", Some("docs/readme.md")),
        // Two that are as close are a guess.
        ("mod.rs", None),
        ("src/something_else.py", None),
    ] {
        for (dialect, tool, arguments) in [
            ("native", "read_file", json!({"path": asked})),
            ("native", "edit_file", json!({"path": asked, "old_text": "x", "new_text": "y"})),
            ("claude", "Edit", json!({"file_path": asked, "old_string": "x", "new_string": "y"})),
            ("agent-q", "edit_file", json!({"path": asked, "old_str": "x", "new_str": "y"})),
            ("xzatoma", "edit_file", json!({"path": asked, "mode": "edit", "old_text": "x", "content": "y"})),
            ("nexus3", "edit_file", json!({"path": asked, "old_string": "x", "new_string": "y"})),
        ] {
            let request = Request { dialect: dialect.into(), tool: tool.into(), arguments };
            let answer = engine.call(request, &mut Auto);
            match closest {
                Some(path) => assert!(
                    answer.text.contains(&format!("Did you mean `{path}`?")),
                    "{dialect}, {asked}: {}",
                    answer.text
                ),
                None => assert!(!answer.text.contains("Did you mean"), "{dialect}, {asked}: {}", answer.text),
            }
        }
    }
}

#[test]
fn equal_texts_are_told_apart_by_the_lines_around_them() {
    let function = |name: &str| {
        format!("def {name}():\n    try:\n        load()\n    except OSError:\n        return None\n\n")
    };
    let rig = Rig::new(function("first") + &function("second") + &function("third"));
    let refused = rig.edit("        return None\n", "        raise\n");
    let lines: Vec<&str> = refused.text.lines().filter(|line| line.starts_with("candidate")).collect();
    assert_eq!(
        lines,
        [
            "candidate 1, line 5, below line 1 `def first():`",
            "candidate 2, line 11, below line 7 `def second():`",
            "candidate 3, line 17, below line 13 `def third():`",
        ],
        "{}",
        refused.text
    );
}
