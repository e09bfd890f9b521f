//! Checks that `docs/conformance.md` lists every requirement of the dialects' specifications, with the tests that
//! cover it.
//!
//! `conformance/seeds.rs` lists the ids of all requirements. `fixtures/<dialect>/requirements.toml` describes each one, in
//! one of four lists: `requirement` needs a test, and quotes the sentence that it fulfils; `beyond` needs a test, and is not in the
//! specification; `later` is not done yet and says why; `work` asks for work rather than behaviour.
//! `conformance/audit.rs` checks that the quotations cover every line of the specifications. A fixture names the requirements it
//! covers under `"shows"` in its request, a test function in a comment `// Shows: ID, ID` above it. The page is generated from these. The test fails if the page is stale, if a requirement
//! has no test, or if an id from `seeds.rs` is in none of the lists. To regenerate the page, run
//! `SLIPSTITCH_UPDATE=1 cargo test -p slipstitch-cli --test it conformance`.

mod audit;
mod seeds;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::format::corpus::find_cases;

/// A dialect's `requirements.toml`.
#[derive(Deserialize)]
struct Document {
    title: String,
    requirement: Vec<Requirement>,
    /// What the specification does not ask for.
    #[serde(default)]
    beyond: Vec<Requirement>,
    #[serde(default)]
    later: Vec<Untested>,
    #[serde(default)]
    work: Vec<Untested>,
}

/// A requirement without a test, and the reason.
#[derive(Deserialize)]
struct Untested {
    id: String,
    text: String,
    why: String,
    /// The sentences of the specification that it is about.
    #[serde(default)]
    quotes: Vec<String>,
}

impl Document {
    fn has_quotes(&self) -> bool {
        self.requirement.iter().any(|requirement| requirement.quote.is_some())
    }

    /// Everything that needs a test.
    fn tested(&self) -> impl Iterator<Item = &Requirement> {
        self.requirement.iter().chain(&self.beyond)
    }

    /// The ids in all four lists.
    fn ids(&self) -> Vec<&str> {
        let untested = self.later.iter().chain(&self.work).map(|item| item.id.as_str());
        self.tested().map(|requirement| requirement.id.as_str()).chain(untested).collect()
    }

    /// All quotations, with the ids that they belong to.
    fn quotations(&self) -> impl Iterator<Item = (&str, &str)> {
        let tested = self.requirement.iter().flat_map(|found| {
            found.quote.iter().chain(&found.also).map(|quote| (found.id.as_str(), quote.as_str()))
        });
        let untested = self
            .later
            .iter()
            .chain(&self.work)
            .flat_map(|found| found.quotes.iter().map(|quote| (found.id.as_str(), quote.as_str())));
        tested.chain(untested)
    }
}

#[derive(Deserialize)]
struct Requirement {
    id: String,
    text: String,
    /// The sentence of the specification that it fulfils.
    quote: Option<String>,
    /// More of the specification that it fulfils.
    #[serde(default)]
    also: Vec<String>,
}

/// The dialects that have a `requirements.toml`, in alphabetical order.
fn read_documents(top: &Path) -> Vec<(String, Document)> {
    let folders = sorted_entries(&top.join("fixtures")).into_iter().filter(|path| path.is_dir());
    let documents = folders.filter_map(|dialect| {
        let name = file_name(&dialect);
        let text = fs::read_to_string(dialect.join("requirements.toml")).ok()?;
        let document = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        Some((name, document))
    });
    documents.collect()
}

/// Maps each requirement id to the tests that cover it.
type Coverage = BTreeMap<String, Vec<String>>;

#[test]
fn every_requirement_has_a_test_and_the_page_is_current() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut coverage = Coverage::new();
    let documents = read_documents(&top);
    for case in find_cases(&top.join("fixtures")).unwrap_or_else(|error| panic!("{error}")) {
        let (parsed, _) = case.load().unwrap_or_else(|error| panic!("{error}"));
        for id in parsed.request.shows {
            coverage.entry(id).or_default().push(format!("fixtures/{}/{}", case.dialect, case.name));
        }
    }
    collect_source_coverage(&top.join("crates"), &top, &mut coverage);
    let unlisted = find_unlisted(&documents, seeds::REQUIRED);
    assert!(unlisted.is_empty(), "requirements in seeds.rs that no requirements.toml lists: {unlisted:?}");
    let duplicates = find_duplicates(&documents);
    assert!(duplicates.is_empty(), "requirements listed more than once: {duplicates:?}");
    let known: Vec<&String> = documents.iter().flat_map(|(_, d)| d.tested().map(|r| &r.id)).collect();
    let unknown: Vec<&String> = coverage.keys().filter(|id| !known.contains(id)).collect();
    assert!(
        unknown.is_empty(),
        "tests cover ids that are not listed as `requirement` (if one is in `later`, move it): {unknown:?}"
    );
    let untested: Vec<&&String> = known.iter().filter(|id| !coverage.contains_key(**id)).collect();
    assert!(untested.is_empty(), "requirements without a test: {untested:?}");
    let unquoted = find_unquoted(&documents);
    assert!(unquoted.is_empty(), "requirements without the sentence that they fulfil: {unquoted:?}");
    let page = render_page(&documents, &coverage);
    let file = top.join("docs/conformance.md");
    if std::env::var_os("SLIPSTITCH_UPDATE").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let current = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        current == page,
        "docs/conformance.md is stale; run the test with SLIPSTITCH_UPDATE=1 to regenerate it"
    );
}

/// Required ids that are in none of their dialect's lists.
fn find_unlisted(documents: &[(String, Document)], required: &[(&str, &[&str])]) -> Vec<String> {
    let is_listed = |dialect: &str, id: &str| {
        documents.iter().any(|(name, document)| name == dialect && document.ids().contains(&id))
    };
    let all = required.iter().flat_map(|(dialect, ids)| ids.iter().map(move |id| (*dialect, *id)));
    all.filter(|(dialect, id)| !is_listed(dialect, id))
        .map(|(dialect, id)| format!("{dialect}: {id}"))
        .collect()
}

/// Requirements without a quotation, in documents where others have one.
fn find_unquoted(documents: &[(String, Document)]) -> Vec<&str> {
    let quoted = documents.iter().filter(|(_, document)| document.has_quotes());
    let requirements = quoted.flat_map(|(_, document)| &document.requirement);
    requirements.filter(|found| found.quote.is_none()).map(|found| found.id.as_str()).collect()
}

fn find_duplicates(documents: &[(String, Document)]) -> Vec<&str> {
    let mut ids: Vec<&str> = documents.iter().flat_map(|(_, document)| document.ids()).collect();
    ids.sort_unstable();
    ids.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
}

#[test]
fn unlisted_and_duplicate_requirements_are_found() {
    let document: Document = toml::from_str(
        "title = \"t\"\nrequirement = [{id = \"A\", text = \"a\"}, {id = \"A\", text = \"a\"}]\n\
         later = [{id = \"B\", text = \"b\", why = \"not yet\"}]\n",
    )
    .unwrap();
    let documents = [("d".to_owned(), document)];
    assert_eq!(find_unlisted(&documents, &[("d", &["A", "B", "C"]), ("e", &["A"])]), ["d: C", "e: A"]);
    assert_eq!(find_duplicates(&documents), ["A"]);
}

#[test]
fn requirements_without_a_quotation_are_found_where_others_have_one() {
    let document = |text: &str| ("d".to_owned(), toml::from_str::<Document>(text).unwrap());
    let half = "title = \"t\"\nrequirement = [{id = \"A\", text = \"a\", quote = \"q\"}, {id = \"B\", text = \"b\"}]\n";
    assert_eq!(find_unquoted(&[document(half)]), ["B"]);
    assert!(
        find_unquoted(&[document("title = \"t\"\nrequirement = [{id = \"A\", text = \"a\"}]\n")]).is_empty()
    );
}

/// The specifications number their requirements, so `seeds.rs` must have every number of a series.
#[test]
fn numbered_requirements_have_no_gaps() {
    let ids: Vec<&str> = seeds::REQUIRED.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    let numbered = |prefix: &str, width: usize, last: usize| -> Vec<String> {
        (1..=last).map(|number| format!("{prefix}{number:0width$}")).collect()
    };
    let parts = [("P0.", 10), ("P1.", 8), ("P2.", 7), ("P3.", 8), ("P4.", 9), ("P5.", 7)];
    let mut series: Vec<String> = parts.iter().flat_map(|(part, last)| numbered(part, 1, *last)).collect();
    series.extend(numbered("FR-SFE-", 2, 13));
    series.extend(numbered("INV-", 3, 4));
    let missing: Vec<&String> = series.iter().filter(|id| !ids.contains(&id.as_str())).collect();
    assert!(missing.is_empty(), "numbers missing from seeds.rs: {missing:?}");
    for prefix in numbered("REQ-PATCH-", 3, 9) {
        assert!(ids.iter().any(|id| id.starts_with(&prefix)), "seeds.rs has no id that starts with {prefix}");
    }
}

fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Collects the ids in `// Shows: …` comments above test functions.
fn collect_source_coverage(folder: &Path, top: &Path, coverage: &mut Coverage) {
    for path in sorted_entries(folder) {
        if path.is_dir() {
            collect_source_coverage(&path, top, coverage);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let file = path.strip_prefix(top).unwrap().display().to_string();
            for (id, name) in find_shown(&file, &text) {
                coverage.entry(id).or_default().push(format!("{file}: {name}"));
            }
        }
    }
}

/// The ids in the `Shows:` comments of a source file, each with the test below it. Panics if something other than a test is below.
fn find_shown(file: &str, text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if let Some(list) = line.strip_prefix("// Shows: ") {
            ids.extend(list.split(',').map(|id| id.trim().to_owned()));
            is_test = false;
        } else if ["#[test]", "#[rstest]"].contains(&line) || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(rest) =
            line.trim_start_matches("async ").strip_prefix("fn ").filter(|_| !ids.is_empty())
        {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(is_test, "{file}: {name} is said to show {ids:?}, but it is not a test");
            found.extend(ids.drain(..).map(|id| (id, name.clone())));
        }
    }
    assert!(ids.is_empty(), "{file}: no test below the comment that names {ids:?}");
    found
}

#[test]
fn ids_belong_to_the_test_below_them() {
    let shown = |text: &str| find_shown("a.rs", text);
    // The comments are put together, because this file is read as well.
    let comment = format!("// {}: A, B", "Shows");
    let test = format!("{comment}\n/// Adds.\n#[rstest]\n#[case(1)]\nasync fn adds() {{}}\n");
    assert_eq!(shown(&test), [("A".into(), "adds".into()), ("B".into(), "adds".into())]);
    let helper = format!("{comment}\nfn helper() {{}}\n#[test]\nfn adds() {{}}\n");
    let nothing = format!("#[test]\nfn adds() {{}}\n{comment}\n");
    for text in [helper, nothing] {
        assert!(std::panic::catch_unwind(|| shown(&text)).is_err(), "{text}");
    }
}

fn render_page(documents: &[(String, Document)], coverage: &Coverage) -> String {
    let mut out = String::from(
        "# Conformance\n\nEvery requirement of the dialects' specifications, with the sentence it comes from where that is quoted, and the tests\n\
         that cover it. What goes beyond a specification, and statements that describe work rather than behaviour, are listed at the end of each dialect. `[…]` stands for text\n\
         that a quotation leaves out. All quotations together cover every line of the specifications. This page is\n\
         generated by `crates/cli/tests/it/conformance.rs`, which fails when the page is stale.\n",
    );
    for (dialect, document) in documents {
        let (quote, rule) = if document.has_quotes() { ("specification | ", "--- | ") } else { ("", "") };
        let _ = write!(
            out,
            "\n## {dialect}: {}\n\n| requirement | {quote}description | tests |\n| --- | {rule}--- | --- |\n",
            document.title
        );
        for requirement in &document.requirement {
            let tests = list_tests(requirement, coverage);
            let quote = match &requirement.quote {
                Some(quote) => format!("{} | ", quote_cells(std::iter::once(quote).chain(&requirement.also))),
                None if document.has_quotes() => "| ".into(),
                None => String::new(),
            };
            let _ =
                writeln!(out, "| {} | {quote}{} | {tests} |", requirement.id, escape_cell(&requirement.text));
        }
        if !document.beyond.is_empty() {
            out.push_str("\n### Beyond the specification\n\n| requirement | description | tests |\n| --- | --- | --- |\n");
        }
        for requirement in &document.beyond {
            let tests = list_tests(requirement, coverage);
            let _ = writeln!(out, "| {} | {} | {tests} |", requirement.id, escape_cell(&requirement.text));
        }
        render_untested("Not done yet", &document.later, &mut out);
        render_untested("Work rather than behaviour", &document.work, &mut out);
    }
    out
}

/// The tests of a requirement, for a Markdown table cell.
fn list_tests(requirement: &Requirement, coverage: &Coverage) -> String {
    let tests = coverage[&requirement.id].iter().map(|test| format!("`{test}`"));
    tests.collect::<Vec<_>>().join("<br>")
}

fn render_untested(title: &str, list: &[Untested], out: &mut String) {
    if list.is_empty() {
        return;
    }
    let has_quotes = list.iter().any(|item| !item.quotes.is_empty());
    let (quote, rule) = if has_quotes { ("specification | ", "--- | ") } else { ("", "") };
    let _ = write!(
        out,
        "\n### {title}\n\n| requirement | {quote}description | reason |\n| --- | {rule}--- | --- |\n"
    );
    for Untested { id, text, why, quotes } in list {
        let quote = if has_quotes { format!("{} | ", quote_cells(quotes)) } else { String::new() };
        let _ = writeln!(out, "| {id} | {quote}{} | {} |", escape_cell(text), escape_cell(why));
    }
}

/// Quotations for one Markdown table cell.
fn quote_cells<'q>(quotes: impl IntoIterator<Item = &'q String>) -> String {
    quotes.into_iter().map(|quote| quote_cell(quote)).collect::<Vec<_>>().join("<br>")
}

/// A quotation for a Markdown table cell, as code: specifications contain markup of their own.
fn quote_cell(text: &str) -> String {
    format!(
        "<code>{}</code>",
        escape_cell(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    )
}

/// Escapes text for a Markdown table cell.
fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
