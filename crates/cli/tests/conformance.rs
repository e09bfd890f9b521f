//! `docs/conformance.md` lists every requirement of the dialects' documents with the tests that show it.
//!
//! `fixtures/<dialect>/requirements.toml` holds the requirements. A fixture names the ones it shows in
//! `"shows"` of its `request.json`; a test function names them in a comment `// Shows: ID, ID` above it.
//! The page is made from both; this test fails when it is stale or when a requirement has no test.
//! `INCISE_UPDATE=1 cargo test -p incise-cli --test conformance` writes it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Document {
    title: String,
    requirement: Vec<Requirement>,
}

#[derive(Deserialize)]
struct Requirement {
    id: String,
    text: String,
}

/// Requirement to the tests that show it.
type Shown = BTreeMap<String, Vec<String>>;

#[test]
fn every_requirement_has_a_test_and_the_page_says_which() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut shown = Shown::new();
    let mut documents = Vec::new();
    for dialect in entries(&top.join("fixtures")).into_iter().filter(|path| path.is_dir()) {
        let name = file_name(&dialect);
        if let Ok(text) = fs::read_to_string(dialect.join("requirements.toml")) {
            let document: Document = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            documents.push((name, document));
        }
        fixtures(&dialect, &mut shown);
    }
    sources(&top.join("crates"), &top, &mut shown);
    let known: Vec<&String> =
        documents.iter().flat_map(|(_, d)| d.requirement.iter().map(|r| &r.id)).collect();
    let unknown: Vec<&String> = shown.keys().filter(|id| !known.contains(id)).collect();
    assert!(unknown.is_empty(), "tests show requirements that no document has: {unknown:?}");
    let without: Vec<&&String> = known.iter().filter(|id| !shown.contains_key(**id)).collect();
    assert!(without.is_empty(), "requirements without a test: {without:?}");
    let page = page(&documents, &shown);
    let file = top.join("docs/conformance.md");
    if std::env::var_os("INCISE_UPDATE").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let stands = fs::read_to_string(&file).unwrap_or_default();
    assert!(stands == page, "docs/conformance.md is stale; INCISE_UPDATE=1 writes it");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn fixtures(dialect: &Path, shown: &mut Shown) {
    for folder in entries(dialect) {
        let Ok(text) = fs::read_to_string(folder.join("request.json")) else { continue };
        let request: Value = serde_json::from_str(&text).unwrap();
        for id in request["shows"].as_array().into_iter().flatten() {
            let name = format!("fixtures/{}/{}", file_name(dialect), file_name(&folder));
            shown.entry(id.as_str().unwrap().to_owned()).or_default().push(name);
        }
    }
}

/// Looks for `// Shows: …` above test functions.
fn sources(folder: &Path, top: &Path, shown: &mut Shown) {
    for path in entries(folder) {
        if path.is_dir() {
            sources(&path, top, shown);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let mut ids: Vec<String> = Vec::new();
            for line in text.lines().map(str::trim) {
                if let Some(list) = line.strip_prefix("// Shows: ") {
                    ids.extend(list.split(',').map(|id| id.trim().to_owned()));
                } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| !ids.is_empty()) {
                    let name: String =
                        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    let file = path.strip_prefix(top).unwrap().display();
                    for id in ids.drain(..) {
                        shown.entry(id).or_default().push(format!("{file}: {name}"));
                    }
                }
            }
        }
    }
}

fn page(documents: &[(String, Document)], shown: &Shown) -> String {
    let mut out = String::from(
        "# Conformance\n\nEvery requirement of the documents that the dialects come from, and the tests that show it. This page is made\n\
         from the tests; `crates/cli/tests/conformance.rs` says how and fails when it is stale.\n",
    );
    for (dialect, document) in documents {
        let _ = write!(
            out,
            "\n## {dialect}: {}\n\n| requirement | what it asks | shown by |\n| --- | --- | --- |\n",
            document.title
        );
        for requirement in &document.requirement {
            let tests = shown[&requirement.id]
                .iter()
                .map(|test| format!("`{test}`"))
                .collect::<Vec<_>>()
                .join("<br>");
            let text = requirement.text.replace('|', "\\|").replace('\n', " ");
            let _ = writeln!(out, "| {} | {text} | {tests} |", requirement.id);
        }
    }
    out
}
