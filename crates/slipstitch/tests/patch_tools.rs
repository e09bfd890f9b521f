//! Clean patches in the hands of the programs that apply patches: `git apply`, GNU patch and the engine
//! must all make the same files of them.
//!
//! The patches are made by git from the texts of this repository, edited at random. Starting a program
//! for each would take minutes, so many files share one folder and one patch.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use slipstitch::core::engine::Engine;
use slipstitch::core::hint::HintPhrases;
use slipstitch::core::outcome::Status;
use slipstitch::core::patch::{ParseOptions, parse};
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::patch::{PatchDirection, PatchOptions, plan};
use slipstitch::core::plan::{Overwriting, Placing, Plan};
use slipstitch::core::ports::approver::Auto;
use slipstitch::core::ports::journal::Origin;
use slipstitch::core::ports::memory::{MemoryJournal, MemoryWorkspace};

/// How many files share a folder, and how many folders there are.
const FILES: usize = 265;
const BATCHES: u64 = 20;

type Tree = BTreeMap<String, String>;

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

/// The texts of this repository.
fn corpus() -> Vec<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open: Vec<PathBuf> = ["crates", "docs", "scripts"].iter().map(|name| top.join(name)).collect();
    let mut texts = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(text) = fs::read_to_string(&path)
                && (100..40_000).contains(&text.len())
                && !text.contains('\r')
                && !has_dotted_comments(&text)
            {
                texts.push(text);
            }
        }
    }
    texts.sort();
    assert!(texts.len() > 100, "the repository has texts: {}", texts.len());
    texts
}

/// Whether a guard may take a line for one that stands for code left out: such a line is not written, by design,
/// and which texts are chosen changes with every file of the repository.
fn has_dotted_comments(text: &str) -> bool {
    let dotted = |line: &str| line.contains("...") || line.contains('…');
    text.lines().any(|line| line.trim_start().starts_with(['#', '/', '.', '…']) && dotted(line))
}

/// A text with a few lines taken out, put in, moved or changed.
fn edited(text: &str, corpus: &[String], dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..1 + dice.roll(5) {
        let at = dice.roll(lines.len() + 1);
        let count = (1 + dice.roll(4)).min(lines.len() - at);
        let other = &corpus[dice.roll(corpus.len())];
        let foreign = other.lines().nth(dice.roll(40)).unwrap_or("");
        match dice.roll(5) {
            0 => drop(lines.drain(at..at + count)),
            1 => lines.insert(at, format!("{foreign}\n")),
            2 => {
                let block: Vec<String> = lines[at..at + count].to_vec();
                let to = dice.roll(lines.len() + 1);
                lines.splice(to..to, block);
            }
            3 if count > 0 => {
                let line = lines[at].trim_end_matches('\n').to_owned();
                lines[at] = format!("{line} {}\n", dice.roll(1000));
            }
            _ => drop(lines.splice(at..at + count, [format!("{foreign}\n"), "\n".into()])),
        }
    }
    let mut text = lines.concat();
    if dice.roll(8) == 0 {
        text.truncate(text.trim_end_matches('\n').len());
    }
    text
}

/// Files before and after; some are made, some go.
fn batch(corpus: &[String], dice: &mut Dice) -> (Tree, Tree) {
    let (mut before, mut after) = (Tree::new(), Tree::new());
    for number in 0..FILES {
        let name = match number % 9 {
            0 => format!("folder/{number} with blanks.txt"),
            1 => format!("ümläut{number}.txt"),
            _ => format!("f{number}.txt"),
        };
        let mut old = corpus[dice.roll(corpus.len())].clone();
        if dice.roll(8) == 0 {
            old.truncate(old.trim_end_matches('\n').len());
        }
        let new = edited(&old, corpus, dice);
        match dice.roll(30) {
            0 => drop(after.insert(name, new)),
            1 => drop(before.insert(name, old)),
            _ => {
                before.insert(name.clone(), old);
                after.insert(name, new);
            }
        }
    }
    (before, after)
}

fn write(folder: &Path, tree: &Tree) {
    for (name, text) in tree {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn read(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

fn run(folder: &Path, program: &str, arguments: &[&str], input: &[u8]) -> Output {
    use std::io::Write;
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program} must be installed for this test: {error}"));
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || pipe.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    output
}

/// What a program makes of files by a patch.
fn by_program(program: &str, arguments: &[&str], before: &Tree, patch: &[u8]) -> Tree {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), before);
    let output = run(folder.path(), program, arguments, patch);
    assert!(
        output.status.success(),
        "{program} refused: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    read(folder.path())
}

/// What the engine makes of them.
fn by_engine(before: &Tree, patch: &str, direction: PatchDirection, placing: Placing) -> Tree {
    let files = MemoryWorkspace::default();
    for (name, text) in before {
        files.put(&FilePath::from_record(name).unwrap(), text.clone());
    }
    let options = PatchOptions {
        format: None,
        parse_options: ParseOptions { strict: true, strip: Some(1) },
        direction,
        path: None,
        roots: &[],
        overwriting: Overwriting::Refused,
        placing,
    };
    let plan = plan(patch, &options).unwrap_or_else(|error| panic!("{error}"));
    let journal = MemoryJournal::default();
    let engine = Engine::new(&files, &journal).dialects(slipstitch::dialects::builtin()).session("test");
    let origin = Origin { session: "test".into(), agent: None, dialect: "native".into(), tool: "t".into() };
    let report = engine.execute(&Plan::Edit(plan), origin, HintPhrases::ALL, &mut Auto);
    assert_eq!(report.status(), Status::Applied, "{} {:#?}", report.message, report.failures);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    files.all().into_iter().map(|(path, bytes)| (path.to_string(), text(bytes))).collect()
}

/// The patch that git makes of two trees.
fn patch_of(before: &Tree, after: &Tree, context: usize) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, tree) in [("a", before), ("b", after)] {
        fs::create_dir(folder.path().join(name)).unwrap();
        write(&folder.path().join(name), tree);
    }
    let context = format!("-U{context}");
    let output = run(
        folder.path(),
        "git",
        &["diff", "--no-index", "--no-prefix", "--no-renames", &context, "a", "b"],
        b"",
    );
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn same(found: &Tree, wanted: &Tree, who: &str) {
    for (name, text) in wanted {
        assert!(found.get(name) == Some(text), "{who} made something else of {name}");
    }
    assert_eq!(found.len(), wanted.len(), "{who} left other files");
}

#[test]
fn git_gnu_patch_and_the_engine_make_the_same_files() {
    let corpus = corpus();
    let mut patches = 0;
    for seed in 1..=BATCHES {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (before, after) = batch(&corpus, &mut dice);
        let patch = patch_of(&before, &after, 1 + seed as usize % 5);
        patches += parse(&patch, None, ParseOptions { strict: true, strip: Some(1) }).unwrap().files.len();
        let git = by_program("git", &["apply", "--whitespace=nowarn", "-"], &before, patch.as_bytes());
        same(&git, &after, "git apply");
        let gnu = ["-p1", "--binary", "--quiet", "--no-backup-if-mismatch", "--fuzz=0"];
        same(&by_program("patch", &gnu, &before, patch.as_bytes()), &after, "GNU patch");
        let placing = if seed % 2 == 0 { Placing::Strict } else { Placing::Recover };
        same(&by_engine(&before, &patch, PatchDirection::Forward, placing), &after, "the engine");
        same(&by_engine(&after, &patch, PatchDirection::Reverse, placing), &before, "the engine, backwards,");
    }
    assert!(patches >= 5000, "there are enough of them: {patches}");
}
