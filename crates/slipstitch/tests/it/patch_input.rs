//! Clean patches from git: `git apply`, GNU patch and the engine must produce the same files.
//!
//! git makes the patches from texts of this repository, edited at random. Starting a program for each would take
//! minutes, so many files share one folder and one patch.

use std::fs;
use std::path::Path;

use fastrand::Rng;
use slipstitch::core::outcome::Status;
use slipstitch::core::patch::{ParseOptions, parse};
use slipstitch::core::plan::patch::{PatchDirection, PatchOptions, plan};
use slipstitch::core::plan::{Overwriting, Tolerance};
use slipstitch::core::ports::memory::MemoryWorkspace;
use slipstitch::core::text::EncodingRule;

use crate::support::{Tree, file, read_tree, run_in_memory, run_program, run_successfully, write_tree};

const FILES_PER_BATCH: usize = 265;
const BATCHES: u64 = 20;

/// The frozen corpus of the gauntlet.
fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/it/gauntlet/corpus");
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        if (100..40_000).contains(&text.len()) && !text.contains('\r') && !has_placeholder_like_lines(&text) {
            texts.push(text);
        }
    }
    texts.sort();
    assert!(texts.len() > 30, "too few texts: {}", texts.len());
    texts
}

/// Whether the guard against placeholders may refuse a line of the text, such as `// ...`.
fn has_placeholder_like_lines(text: &str) -> bool {
    let has_ellipsis = |line: &str| line.contains("...") || line.contains('…');
    text.lines().any(|line| line.trim_start().starts_with(['#', '/', '.', '…']) && has_ellipsis(line))
}

/// The text with a few lines removed, inserted, copied or changed.
fn edit_randomly(text: &str, corpus: &[String], random: &mut Rng) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..1 + random.usize(..5) {
        let at = random.usize(..lines.len() + 1);
        let count = (1 + random.usize(..4)).min(lines.len() - at);
        let other = &corpus[random.usize(..corpus.len())];
        let foreign = other.lines().nth(random.usize(..40)).unwrap_or("");
        match random.usize(..5) {
            0 => drop(lines.drain(at..at + count)),
            1 => lines.insert(at, format!("{foreign}\n")),
            2 => {
                let block: Vec<String> = lines[at..at + count].to_vec();
                let to = random.usize(..lines.len() + 1);
                lines.splice(to..to, block);
            }
            3 if count > 0 => {
                let line = lines[at].trim_end_matches('\n').to_owned();
                lines[at] = format!("{line} {}\n", random.usize(..1000));
            }
            _ => drop(lines.splice(at..at + count, [format!("{foreign}\n"), "\n".into()])),
        }
    }
    let mut text = lines.concat();
    if random.usize(..8) == 0 {
        text.truncate(text.trim_end_matches('\n').len());
    }
    text
}

/// Files before and after random edits; some are created, some removed.
fn random_batch(corpus: &[String], random: &mut Rng) -> (Tree, Tree) {
    let (mut before, mut after) = (Tree::new(), Tree::new());
    for number in 0..FILES_PER_BATCH {
        let name = match number % 9 {
            0 => format!("folder/{number} with spaces.txt"),
            1 => format!("ümläut{number}.txt"),
            _ => format!("f{number}.txt"),
        };
        let mut old = corpus[random.usize(..corpus.len())].clone();
        if random.usize(..8) == 0 {
            old.truncate(old.trim_end_matches('\n').len());
        }
        let new = edit_randomly(&old, corpus, random);
        match random.usize(..30) {
            0 => drop(after.insert(name, new.into())),
            1 => drop(before.insert(name, old.into())),
            _ => {
                before.insert(name.clone(), old.into());
                after.insert(name, new.into());
            }
        }
    }
    (before, after)
}

/// The files after a program has applied a patch.
fn apply_with_program(program: &str, arguments: &[&str], before: &Tree, patch: &str) -> Tree {
    let folder = tempfile::tempdir().unwrap();
    write_tree(folder.path(), before);
    run_successfully(folder.path(), program, arguments, patch.as_bytes());
    read_tree(folder.path())
}

/// The files after the engine has applied a patch.
fn apply_with_engine(before: &Tree, patch: &str, direction: PatchDirection, tolerance: Tolerance) -> Tree {
    let files = MemoryWorkspace::default();
    for (name, text) in before {
        files.put(&file(name), text.clone());
    }
    let terms = PatchOptions {
        format: None,
        parse_options: ParseOptions { strip: Some(1), ..ParseOptions::STRICT },
        direction,
        path: None,
        roots: &[],
        overwriting: Overwriting::Refused,
        tolerance,
    };
    let plan = plan(patch, &terms).unwrap_or_else(|error| panic!("{error}"));
    let report = run_in_memory(&files, plan, EncodingRule::default());
    assert_eq!(report.status(), Status::Applied, "{} {:#?}", report.message, report.failures);
    files.all().into_iter().map(|(path, bytes)| (path.to_string(), bytes)).collect()
}

/// The patch that git makes from two trees.
fn diff_with_git(before: &Tree, after: &Tree, context: usize) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, tree) in [("a", before), ("b", after)] {
        fs::create_dir(folder.path().join(name)).unwrap();
        write_tree(&folder.path().join(name), tree);
    }
    let context = format!("-U{context}");
    let output = run_program(
        folder.path(),
        "git",
        &["diff", "--no-index", "--no-prefix", "--no-renames", &context, "a", "b"],
        b"",
    );
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn assert_same(found: &Tree, wanted: &Tree, program: &str) {
    for (name, text) in wanted {
        assert!(found.get(name) == Some(text), "{program} produced another {name}");
    }
    assert_eq!(found.len(), wanted.len(), "{program} produced other files");
}

#[test]
fn git_gnu_patch_and_the_engine_produce_the_same_files() {
    let corpus = corpus();
    let mut patches = 0;
    for seed in 1..=BATCHES {
        let mut random = Rng::with_seed(seed);
        let (before, after) = random_batch(&corpus, &mut random);
        let patch = diff_with_git(&before, &after, 1 + seed as usize % 5);
        patches +=
            parse(&patch, None, ParseOptions { strip: Some(1), ..ParseOptions::STRICT }).unwrap().files.len();
        let git = ["apply", "--whitespace=nowarn", "-"];
        assert_same(&apply_with_program("git", &git, &before, &patch), &after, "git apply");
        let gnu = ["-p1", "--binary", "--quiet", "--no-backup-if-mismatch", "--fuzz=0"];
        assert_same(&apply_with_program("patch", &gnu, &before, &patch), &after, "GNU patch");
        let tolerance = if seed % 2 == 0 { Tolerance::Exact } else { Tolerance::Recover };
        assert_same(
            &apply_with_engine(&before, &patch, PatchDirection::Forward, tolerance),
            &after,
            "the engine",
        );
        assert_same(
            &apply_with_engine(&after, &patch, PatchDirection::Reverse, tolerance),
            &before,
            "the engine in reverse",
        );
    }
    assert!(patches >= 5000, "too few patches: {patches}");
}
