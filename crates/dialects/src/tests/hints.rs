//! Hints only recommend what the caller's tools can do.

use serde_json::Value;

use slipstitch_core::dialect::{Dialect, Tool};
use slipstitch_core::find::{Cause, Diagnosis, NotebookProblem, Reason};
use slipstitch_core::guard::Refusal;
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::FilePath;
use slipstitch_text::{ContentHash, Encoding};

use crate::{BUILTIN, builtin};

fn path() -> FilePath {
    FilePath::from_record("a.txt").unwrap()
}

/// One of every reason that has its own hint.
fn reasons() -> Vec<Reason> {
    let diagnosis = |cause| Diagnosis::new(cause, Vec::new());
    let ambiguous = |overlapping| Reason::Ambiguous {
        lines: vec![1, 2],
        count: 2,
        non_overlapping: 2,
        overlapping,
        candidates: Vec::new(),
    };
    vec![
        Reason::FileMissing,
        Reason::FileExists { path: path() },
        Reason::Binary,
        Reason::BlankOld { empty: true },
        Reason::NotFound(diagnosis(Cause::NotFound)),
        Reason::NotFound(diagnosis(Cause::Whitespace)),
        Reason::NotFound(diagnosis(Cause::OutsideRange)),
        Reason::AlreadyApplied(diagnosis(Cause::AlreadyApplied)),
        ambiguous(true),
        ambiguous(false),
        Reason::Displaced(Box::new(ambiguous(false))),
        Reason::Recount { before: 1, after: 2 },
        Reason::WrongCount { expected: 1, count: 2, lines: vec![1, 2] },
        Reason::OutOfRange { first: 1, last: 1, count: 0 },
        Reason::OutOfRange { first: 9, last: 9, count: 1 },
        Reason::Unexpected { first: 1, last: 1, found: String::new() },
        Reason::Overlap { first: 1, second: 2, line: 1 },
        Reason::from(Encoding::from_name("windows-1252").unwrap().encode("☃").unwrap_err()),
        Reason::SplitsCharacter,
        Reason::JoinsNewlines,
        Reason::CannotStrip { line: 1, prefix: " ".into(), found: String::new() },
        Reason::SameFile { other: path() },
        Reason::PathTwice,
        Reason::SketchUnclear { line: 1 },
        Reason::Notebook(NotebookProblem::NotANotebook("it is not JSON")),
        Reason::Notebook(NotebookProblem::NoCell { cell: "a".into(), known: Vec::new(), more: 0 }),
        Reason::Notebook(NotebookProblem::OtherType {
            cell: "a".into(),
            found: "code".into(),
            expected: "raw",
        }),
        Reason::NotAlone,
    ]
}

/// One of every refusal.
fn refusals() -> Vec<Refusal> {
    let current = Some(ContentHash::of(b""));
    vec![
        Refusal::Stale { path: path(), current },
        Refusal::Stale { path: path(), current: None },
        Refusal::RequestTooLarge { size: 2, max: 1 },
        Refusal::FileTooLarge { path: path(), size: 2, max: 1 },
        Refusal::Shrinks { path: path(), before: 30, after: 1 },
        Refusal::Unconfirmed { path: path() },
        Refusal::Nul { path: path() },
        Refusal::Placeholder { path: path(), line: "# ...".into() },
        Refusal::NoChange,
    ]
}

fn hints(phrases: &HintPhrases) -> Vec<String> {
    let reasons = reasons().into_iter().map(|reason| reason.hint(phrases));
    reasons.chain(refusals().into_iter().map(|refusal| refusal.hint(phrases))).collect()
}

/// Collects the field names and enum values that calls of a tool can contain.
fn collect_words(schema: &Value, found: &mut Vec<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        found.push(name.clone());
        collect_words(field, found);
        collect_words(&field["items"], found);
        let choices = field["enum"].as_array().into_iter().flatten();
        found.extend(choices.filter_map(Value::as_str).map(str::to_owned));
    }
}

fn writing_tools() -> impl Iterator<Item = (&'static Dialect, &'static Tool)> {
    let tools = BUILTIN.iter().flat_map(|dialect| dialect.tools.iter().map(move |tool| (*dialect, tool)));
    tools.filter(|(_, tool)| !tool.effect.is_read_only())
}

/// The words that a hint quotes with backticks or single quotes.
fn quoted(hint: &str) -> Vec<&str> {
    let between = |mark| hint.split(mark).skip(1).step_by(2);
    between('`').chain(between('\'').filter(|word| word.chars().all(char::is_alphabetic))).collect()
}

#[test]
fn hints_quote_only_names_of_the_dialect() {
    for (dialect, tool) in writing_tools() {
        let mut known: Vec<String> = dialect.tools.iter().map(|tool| tool.name.to_owned()).collect();
        for tool in dialect.tools {
            collect_words((tool.schema)(), &mut known);
        }
        // A setting, shared by all dialects.
        known.push("max_file_bytes".into());
        for hint in hints(&(dialect.phrases)(tool)) {
            for word in quoted(&hint) {
                let is_known = known.iter().any(|known| known == word);
                assert!(is_known, "{}.{} has no `{word}`: {hint}", dialect.name, tool.name);
            }
        }
    }
}

#[test]
fn hints_recommend_only_what_the_dialect_supports() {
    let needs = [
        ("append", "append"),
        ("create", "create"),
        ("overwrite", "overwr"),
        ("line range", "range"),
        ("lines that contain it", "lines"),
        ("all of them", "every occurrence"),
        ("replace_all", "replace_all"),
    ];
    for (dialect, tool) in writing_tools() {
        let mut supported = String::new();
        for tool in dialect.tools {
            supported.push_str(&format!("{} {} {}", tool.name, tool.about, (tool.schema)()));
        }
        let supported = supported.to_lowercase();
        for hint in hints(&(dialect.phrases)(tool)) {
            for (advice, proof) in needs.iter().filter(|(advice, _)| hint.to_lowercase().contains(advice)) {
                assert!(
                    supported.contains(proof),
                    "{}.{} does not support {advice}: {hint}",
                    dialect.name,
                    tool.name
                );
            }
        }
    }
}

#[test]
fn hints_do_not_mention_fields_of_other_tools() {
    let dialect = builtin().find("claude").unwrap();
    let tool = dialect.tool("str_replace_based_edit_tool").unwrap();
    let hints = hints(&(dialect.phrases)(tool)).join("\n");
    assert!(!hints.contains("replace_all") && hints.contains("`create`"), "{hints}");
}

#[test]
fn hints_omit_unsupported_alternatives() {
    let hint = |phrases| Reason::OutOfRange { first: 9, last: 9, count: 1 }.hint(phrases);
    assert_eq!(hint(&HintPhrases::NONE), "Read the file and use line numbers that exist.");
    assert_eq!(
        hint(&HintPhrases::ALL),
        "Read the file and use line numbers that exist; to add at the end, append."
    );
}
