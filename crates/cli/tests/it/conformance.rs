//! `docs/conformance.md` lists every requirement of the dialects' documents with the tests that show it.
//!
//! `conformance/seeds.rs` lists what the documents ask for. `fixtures/<dialect>/requirements.toml` says what each of
//! those means here, in one of three lists: `requirement`, which needs a test; `later`, which is not done yet, and why;
//! `work`, which asks for work and not for behaviour. A fixture names the requirements it shows in `"shows"` of its
//! request; a test function names them in a comment `// Shows: ID, ID` above it. The page is made from all
//! of these; this test fails when it is stale, when a requirement has no test, or when the documents ask for one that
//! no list has. `SLIPSTITCH_UPDATE=1 cargo test -p slipstitch-cli --test it conformance` writes the page.

mod seeds;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::format::corpus::find_cases;

#[derive(Deserialize)]
struct Document {
    title: String,
    requirement: Vec<Requirement>,
    #[serde(default)]
    later: Vec<Postponed>,
    #[serde(default)]
    work: Vec<Postponed>,
}

/// What no test shows, and why.
#[derive(Deserialize)]
struct Postponed {
    id: String,
    text: String,
    why: String,
}

impl Document {
    /// The ids of all lists.
    fn ids(&self) -> Vec<&str> {
        let without = self.later.iter().chain(&self.work).map(|postponed| postponed.id.as_str());
        self.requirement.iter().map(|requirement| requirement.id.as_str()).chain(without).collect()
    }
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
    }
    for case in find_cases(&top.join("fixtures")).unwrap_or_else(|error| panic!("{error}")) {
        let (parsed, _) = case.load().unwrap_or_else(|error| panic!("{error}"));
        for id in parsed.request.shows {
            shown.entry(id).or_default().push(format!("fixtures/{}/{}", case.dialect, case.name));
        }
    }
    sources(&top.join("crates"), &top, &mut shown);
    let lost = unaccounted(&documents, seeds::REQUIRED);
    assert!(lost.is_empty(), "requirements of the documents that no list has: {lost:?}");
    let twice = repeated(&documents);
    assert!(twice.is_empty(), "requirements that stand in the lists twice: {twice:?}");
    let known: Vec<&String> =
        documents.iter().flat_map(|(_, d)| d.requirement.iter().map(|r| &r.id)).collect();
    let unknown: Vec<&String> = shown.keys().filter(|id| !known.contains(id)).collect();
    assert!(
        unknown.is_empty(),
        "tests show what no list of requirements has; what was done is moved there from `later`: {unknown:?}"
    );
    let without: Vec<&&String> = known.iter().filter(|id| !shown.contains_key(**id)).collect();
    assert!(without.is_empty(), "requirements without a test: {without:?}");
    let page = page(&documents, &shown);
    let file = top.join("docs/conformance.md");
    if std::env::var_os("SLIPSTITCH_UPDATE").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let stands = fs::read_to_string(&file).unwrap_or_default();
    assert!(stands == page, "docs/conformance.md is stale; SLIPSTITCH_UPDATE=1 writes it");
}

/// What the documents ask for and no list of the dialect has.
fn unaccounted(documents: &[(String, Document)], required: &[(&str, &[&str])]) -> Vec<String> {
    let has = |dialect: &str, id: &str| {
        documents.iter().any(|(name, document)| name == dialect && document.ids().contains(&id))
    };
    let all = required.iter().flat_map(|(dialect, ids)| ids.iter().map(move |id| (*dialect, *id)));
    all.filter(|(dialect, id)| !has(dialect, id)).map(|(dialect, id)| format!("{dialect}: {id}")).collect()
}

fn repeated(documents: &[(String, Document)]) -> Vec<&str> {
    let mut ids: Vec<&str> = documents.iter().flat_map(|(_, document)| document.ids()).collect();
    ids.sort_unstable();
    ids.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
}

#[test]
fn a_requirement_that_is_left_out_is_missed() {
    let document: Document = toml::from_str(
        "title = \"t\"\nrequirement = [{id = \"A\", text = \"a\"}, {id = \"A\", text = \"a\"}]\n\
         later = [{id = \"B\", text = \"b\", why = \"not yet\"}]\n",
    )
    .unwrap();
    let documents = [("d".to_owned(), document)];
    assert_eq!(unaccounted(&documents, &[("d", &["A", "B", "C"]), ("e", &["A"])]), ["d: C", "e: A"]);
    assert_eq!(repeated(&documents), ["A"]);
}

/// The documents number their requirements: none of a series may be left out of the list.
#[test]
fn the_series_of_the_documents_are_whole() {
    let ids: Vec<&str> = seeds::REQUIRED.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    let numbered = |prefix: &str, width: usize, last: usize| -> Vec<String> {
        (1..=last).map(|number| format!("{prefix}{number:0width$}")).collect()
    };
    let parts = [("P0.", 10), ("P1.", 8), ("P2.", 7), ("P3.", 8), ("P4.", 9), ("P5.", 7)];
    let mut series: Vec<String> = parts.iter().flat_map(|(part, last)| numbered(part, 1, *last)).collect();
    series.extend(numbered("FR-SFE-", 2, 13));
    series.extend(numbered("INV-", 3, 4));
    let missing: Vec<&String> = series.iter().filter(|id| !ids.contains(&id.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for prefix in numbered("REQ-PATCH-", 3, 9) {
        assert!(ids.iter().any(|id| id.starts_with(&prefix)), "{prefix}");
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
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
        "# Conformance\n\nEvery requirement of the documents that the dialects come from, and the tests that show it; what is not done yet is\n\
         listed as such. This page is made from the tests; `crates/cli/tests/it/conformance.rs` says how and fails when it is stale.\n",
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
            let _ = writeln!(out, "| {} | {} | {tests} |", requirement.id, cell(&requirement.text));
        }
        postponed("Not yet", &document.later, &mut out);
        postponed("Asks for work, not for behaviour", &document.work, &mut out);
    }
    out
}

fn postponed(title: &str, list: &[Postponed], out: &mut String) {
    if list.is_empty() {
        return;
    }
    let _ = write!(out, "\n### {title}\n\n| requirement | what it asks | why |\n| --- | --- | --- |\n");
    for Postponed { id, text, why } in list {
        let _ = writeln!(out, "| {id} | {} | {} |", cell(text), cell(why));
    }
}

/// Text that fits into a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
