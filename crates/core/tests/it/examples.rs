//! Runs the examples in `docs/recovery.md`.

use std::collections::HashMap;

use serde_json::{Value, json};
use slipstitch_core::outcome::Status;

use crate::rig::{self, Rig};

const DOCUMENT: &str = include_str!("../../../../docs/recovery.md");

/// The sections of one example by name.
type Example = HashMap<String, String>;

/// The fenced blocks that have sections.
fn examples() -> Vec<Example> {
    let mut found = Vec::new();
    let mut lines = DOCUMENT.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let fence: String = line.chars().take_while(|&c| c == '`').collect();
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
            if body.first() == Some(&"--- file") {
                found.push(sections(&body));
            }
        }
    }
    found
}

fn sections(body: &[&str]) -> Example {
    let mut texts = Example::new();
    let mut name = String::new();
    for line in body {
        match line.strip_prefix("--- ") {
            Some(title) => {
                let (first, rest) = title.split_once(' ').unwrap_or((title, ""));
                name = first.to_owned();
                texts.insert(name.clone(), rest.to_owned());
            }
            None => {
                let text = line.replace('·', " ").replace('→', "\t");
                texts.entry(name.clone()).or_default().push_str(&(text + "\n"));
            }
        }
    }
    texts
}

#[test]
fn documented_examples_behave_as_documented() {
    let examples = examples();
    assert!(examples.len() >= 15, "only {} examples were found", examples.len());
    for example in examples {
        let text = |name: &str| example.get(name).map(String::as_str).unwrap_or_default();
        let rig = Rig::new(text(if example.contains_key("version") { "version" } else { "file" }));
        if example.contains_key("version") {
            assert!(rig.call("read_file", json!({})).report.is_success());
            rig.files.put(&rig::path("file.txt"), text("file"));
        }
        // The last newline belongs to the fence.
        let (old, new) = (text("old").trim_end_matches('\n'), text("new").trim_end_matches('\n'));
        let answer = rig.edit(old, new);
        let after = String::from_utf8(rig.bytes()).unwrap();
        if let Some(code) = example.get("refused") {
            assert_eq!(after, text("file"), "{}", answer.text);
            let (code, cause) = code.split_once(' ').unwrap_or((code, ""));
            assert_eq!(answer.report.code(), code, "{}", answer.text);
            let failure = answer.report.failures.first();
            let found = failure.map_or(Value::Null, |failure| json!(failure.cause));
            assert!(cause.is_empty() || found == cause, "{found}: {}", answer.text);
            continue;
        }
        assert_eq!(answer.report.status(), Status::Applied, "{old}\n{}", answer.text);
        assert_eq!(after, text("result"), "{}", answer.text);
        let recovered = answer.report.warnings.iter().any(|warning| warning.contains("recovered"));
        assert!(recovered, "a recovered edit says so: {}", answer.text);
        let undone = rig.call("undo_edit", json!({}));
        assert_eq!(undone.report.status(), Status::Applied);
        assert_eq!(rig.files.get(&rig::path("file.txt")).as_deref(), Some(text("file").as_bytes()));
    }
}
