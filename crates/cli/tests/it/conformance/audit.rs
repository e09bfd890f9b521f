//! Checks that the quotations in the `requirements.toml` files are in the specifications, and that together they cover
//! every line of them.
//!
//! The specifications are not part of the repository. If they are in a folder `shared/seeds` beside it (or in
//! `SLIPSTITCH_SPECIFICATIONS`), every line is checked. `audited.toml` records what was checked: how many lines each
//! specification has, its hash, and the hash of the quotations. Without the specifications, the test only compares the
//! quotations with that record, so a change to them has to be checked where the specifications are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slipstitch::core::text::ContentHash;

use super::{Document, read_documents};

/// Dialects, and how the file names of their specifications start.
const SPECIFICATIONS: &[(&str, &str)] =
    &[("forge", "000"), ("phoenix", "001"), ("agent-q", "002"), ("xzatoma", "003"), ("nexus3", "004")];

/// Stands in a quotation for text that it leaves out but still covers.
const ELLIPSIS: &str = "[…]";

/// What was checked for one dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Audited {
    /// The lines that must be covered: all but headings, heads of tables, rules and blank lines.
    lines: usize,
    specification: String,
    quotations: String,
}

/// The words of a specification, each with the line it is in.
struct Specification<'t> {
    lines: Vec<&'t str>,
    /// The text, with single spaces.
    text: String,
    words: Vec<(&'t str, usize)>,
    /// Whether a line must be covered.
    counts: Vec<bool>,
}

impl<'t> Specification<'t> {
    fn new(text: &'t str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let mut counts = Vec::new();
        let mut is_code = false;
        for (number, line) in lines.iter().enumerate() {
            is_code ^= is_fence(line);
            let next = lines.get(number + 1).unwrap_or(&"");
            let is_head =
                !is_code && (line.starts_with('#') || next.starts_with("|--") || next.starts_with("| --"));
            counts.push(!is_fence(line) && !is_head && !words(line).is_empty());
        }
        let in_lines = lines.iter().enumerate();
        let words = in_lines
            .filter(|(_, line)| !is_fence(line))
            .flat_map(|(number, line)| words(line).into_iter().map(move |word| (word, number)))
            .collect();
        Self { text: in_one_line(text), lines, words, counts }
    }

    /// Whether a quotation is in the specification character by character, apart from line breaks and repeated spaces.
    fn has_literally(&self, quotation: &str) -> bool {
        let mut rest = Some(self.text.as_str());
        for part in quotation.split(ELLIPSIS) {
            rest = rest.and_then(|rest| Some(rest.split_once(&in_one_line(part))?.1));
        }
        rest.is_some()
    }

    /// Where a quotation's words are.
    fn find(&self, quotation: &[&str], from: usize) -> Vec<usize> {
        let starts = from..(self.words.len() + 1).saturating_sub(quotation.len());
        let is_here =
            |at: &usize| quotation.iter().zip(&self.words[*at..]).all(|(word, (here, _))| word == here);
        starts.filter(is_here).filter(|_| !quotation.is_empty()).collect()
    }

    /// Marks the words that a quotation covers, wherever it occurs. Returns whether it occurs at all.
    fn cover(&self, quotation: &str, covered: &mut [bool]) -> bool {
        let parts: Vec<Vec<&str>> = quotation.split(ELLIPSIS).map(words).collect();
        let mut found = false;
        for start in self.find(&parts[0], 0) {
            let mut end = start + parts[0].len();
            for part in &parts[1..] {
                match self.find(part, end).first() {
                    Some(next) => end = next + part.len(),
                    None => return found,
                }
            }
            covered[start..end].fill(true);
            found = true;
            if parts.len() > 1 {
                break;
            }
        }
        found
    }

    /// Lines with words that no quotation covers.
    fn uncovered(&self, covered: &[bool]) -> Vec<String> {
        let missing = |line: usize| {
            self.words.iter().zip(covered).any(|((_, at), is_covered)| *at == line && !is_covered)
        };
        let lines = (0..self.lines.len()).filter(|line| self.counts[*line] && missing(*line));
        lines.map(|line| format!("line {}: {}", line + 1, self.lines[line])).collect()
    }
}

/// A text with single spaces and without the fences of its blocks of code.
fn in_one_line(text: &str) -> String {
    let lines = text.lines().filter(|line| !is_fence(line));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Whether a line starts or ends a block of code.
fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// The words of a text: letters, digits and underscores. The numbers of list items are not words.
fn words(text: &str) -> Vec<&str> {
    let is_number = |item: &str| {
        item.strip_suffix('.')
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_separator = |c: char| !(c.is_alphanumeric() || c == '_');
    text.split_whitespace()
        .filter(|item| !is_number(item))
        .flat_map(|item| item.split(is_separator).filter(|word| !word.is_empty()))
        .collect()
}

/// Quotations that are not in the specification, and lines of it that none covers.
fn audit(specification: &Specification<'_>, document: &Document) -> (Vec<String>, Vec<String>) {
    let mut covered = vec![false; specification.words.len()];
    let mut unknown = Vec::new();
    for (id, quotation) in document.quotations() {
        let is_covered = specification.cover(quotation, &mut covered);
        if !is_covered || !specification.has_literally(quotation) {
            unknown.push(format!("{id}: {quotation}"));
        }
    }
    // The specifications name their own requirements and tests.
    for id in document.ids() {
        specification.cover(id, &mut covered);
    }
    (unknown, specification.uncovered(&covered))
}

fn find_specifications(top: &Path) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("SLIPSTITCH_SPECIFICATIONS") {
        return Some(folder.into());
    }
    let top = top.canonicalize().unwrap();
    top.ancestors().map(|folder| folder.join("shared/seeds")).find(|folder| folder.is_dir())
}

fn read_specification(folder: &Path, prefix: &str) -> String {
    let files = super::sorted_entries(folder);
    let file = files.iter().find(|path| super::file_name(path).starts_with(prefix));
    let file = file.unwrap_or_else(|| panic!("no specification {prefix} in {}", folder.display()));
    fs::read_to_string(file).unwrap()
}

fn hash_quotations(document: &Document) -> String {
    let listed: Vec<String> =
        document.quotations().map(|(id, quotation)| format!("{id}\n{quotation}\n")).collect();
    ContentHash::of(listed.concat().as_bytes()).to_string()
}

#[test]
fn every_line_of_the_specifications_is_quoted() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/conformance/audited.toml");
    let documents: BTreeMap<String, Document> = read_documents(&top).into_iter().collect();
    let mut audited: BTreeMap<String, Audited> =
        toml::from_str(&fs::read_to_string(&record).unwrap_or_default()).unwrap();
    if let Some(folder) = find_specifications(&top) {
        let mut now = BTreeMap::new();
        for (dialect, prefix) in SPECIFICATIONS {
            let text = read_specification(&folder, prefix);
            let specification = Specification::new(&text);
            let (unknown, uncovered) = audit(&specification, &documents[*dialect]);
            assert!(
                unknown.is_empty(),
                "{dialect}: quotations that the specification does not have: {unknown:#?}"
            );
            assert!(
                uncovered.is_empty(),
                "{dialect}: lines of the specification that nothing quotes: {uncovered:#?}"
            );
            let lines = specification.counts.iter().filter(|counts| **counts).count();
            let quotations = hash_quotations(&documents[*dialect]);
            let hash = ContentHash::of(text.as_bytes()).to_string();
            now.insert((*dialect).to_owned(), Audited { lines, specification: hash, quotations });
        }
        if std::env::var_os("SLIPSTITCH_UPDATE").is_some() {
            fs::write(&record, toml::to_string(&now).unwrap()).unwrap();
            audited = now.clone();
        }
        assert_eq!(audited, now, "run the test with SLIPSTITCH_UPDATE=1 to update audited.toml");
    }
    assert_eq!(audited.len(), SPECIFICATIONS.len(), "audited.toml has an entry for every specification");
    for (dialect, audited) in &audited {
        assert!(audited.lines > 50, "{dialect}: {} lines were checked", audited.lines);
        assert_eq!(
            hash_quotations(&documents[dialect]),
            audited.quotations,
            "{dialect}: the quotations were changed; run this test beside the specifications with SLIPSTITCH_UPDATE=1"
        );
    }
}

#[test]
fn unquoted_lines_and_wrong_quotations_are_found() {
    let text = "# Title\nThe tool edits. It never\nformats.\n\n| Name | Type |\n| --- | --- |\n| `path` | string |\n\
                ```\ncode one\ncode two\n```\n1. First item\n";
    let specification = Specification::new(text);
    assert_eq!(specification.counts.iter().filter(|counts| **counts).count(), 6);
    let document = |quotes: &str| -> Document {
        toml::from_str(&format!(
            "title = \"t\"\nrequirement = [{{id = \"A\", text = \"a\", quote = \"The tool edits.\", also = [{quotes}]}}]\n"
        ))
        .unwrap()
    };
    // The words of the last one are there, with other punctuation.
    let (unknown, uncovered) = audit(
        &specification,
        &document("\"It always formats.\", \"`path` | string\", \"The tool edits! It\""),
    );
    assert_eq!(unknown, ["A: It always formats.", "A: The tool edits! It"]);
    assert_eq!(
        uncovered,
        [
            "line 2: The tool edits. It never",
            "line 3: formats.",
            "line 9: code one",
            "line 10: code two",
            "line 12: 1. First item"
        ]
    );
    let all = "\"It never formats.\", \"`path` | string\", \"code one […] First item\"";
    let (unknown, uncovered) = audit(&specification, &document(all));
    assert!(unknown.is_empty() && uncovered.is_empty(), "{unknown:?} {uncovered:?}");
}
