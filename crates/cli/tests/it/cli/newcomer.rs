//! Every error that a newcomer meets, in one file that can be read from top to bottom: `newcomer_errors.txt`.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p slipstitch-cli --test it newcomer` writes it again; read the difference.

use std::fmt::Write;

use super::rig::{Rig, Run};
use super::snapshot::assert_snapshot;

/// A title, and the words of a command line.
const CASES: &[(&str, &[&str])] = &[
    ("No command", &[]),
    ("A command of another tool", &["replace", "src/main.py", "a", "b"]),
    ("A command with a typo", &["edt", "src/main.py"]),
    ("A command that is an option", &["version"]),
    ("A command that is not needed", &["init"]),
    ("A setting on the command line", &["config", "set", "files.fsync", "false"]),
    ("Options of another tool", &["edit", "src/main.py", "-i", "s/a/b/"]),
    ("Nothing to replace is named", &["edit", "src/main.py"]),
    ("The new text is missing", &["edit", "src/main.py", "--old", "retries"]),
    ("Texts without options", &["edit", "src/main.py", "old", "new"]),
    ("A file that does not exist", &["edit", "src/none.py", "--old", "a", "--new", "b"]),
    ("A file in another folder", &["edit", "main.py", "--old", "a", "--new", "b"]),
    ("A folder with a typo", &["read", "scr/main.py"]),
    ("A folder", &["read", "src"]),
    ("A file outside the project", &["read", "../secret.txt"]),
    ("An absolute path outside the project", &["write", "/etc/motd", "--content", "hello"]),
    ("A glob that finds nothing", &["edit", "src/*.rs", "--old", "a", "--new", "b"]),
    ("Text that is nowhere", &["edit", "src/main.py", "--old", "frobnicate", "--new", "x"]),
    ("A slip of the pen", &["edit", "src/main.py", "--old", "retrys = 3", "--new", "retries = 5"]),
    ("Text in another case", &["edit", "src/main.py", "--old", "RETRIES = 3", "--new", "retries = 5"]),
    (
        "A number that is not the file's",
        &["edit", "src/main.py", "--old", "retries = 4", "--new", "retries = 5"],
    ),
    ("Other whitespace", &["edit", "src/main.py", "--old", "retries  =  3", "--new", "retries = 5"]),
    ("Text that occurs twice", &["edit", "src/main.py", "--old", "send()", "--new", "post()"]),
    ("Text that occurs very often", &["edit", "notes.txt", "--old", "line", "--new", "row"]),
    (
        "Text outside the lines of --hint",
        &["edit", "notes.txt", "--old", "line 7", "--new", "x", "--hint", "1-3"],
    ),
    ("An empty text", &["edit", "src/main.py", "--old", "", "--new", "x"]),
    ("No difference", &["edit", "src/main.py", "--old", "retries = 3", "--new", "retries = 3"]),
    ("A text file that is binary", &["edit", "logo.bin", "--old", "a", "--new", "b"]),
    ("Nearly everything would go", &["edit", "notes.txt", "--old-file", "../most.txt", "--new", "x"]),
    ("Lines that do not exist", &["lines", "notes.txt", "99", "--new", "x"]),
    ("Lines in the wrong order", &["lines", "notes.txt", "5-2", "--new", "x"]),
    ("Lines without a text", &["lines", "notes.txt", "4"]),
    ("A text without lines", &["lines", "notes.txt", "--new", "x"]),
    ("Lines to read as an argument", &["read", "notes.txt", "4-6"]),
    ("Line 0", &["lines", "notes.txt", "0", "--new", "x"]),
    ("Lines that say something else", &["lines", "notes.txt", "2", "--new", "x", "--expect", "line 3"]),
    ("Reading past the end", &["read", "notes.txt", "--lines", "9999-"]),
    ("An old version", &["write", "notes.txt", "--content", "x", "--version", "b3:0123456789ab"]),
    ("A version that is none", &["write", "notes.txt", "--content", "x", "--version", "latest"]),
    ("A file that is there already", &["write", "notes.txt", "--create", "--content", "x"]),
    ("A protected file", &["append", ".git/config", "--content", "x"]),
    ("Nothing to write", &["write", "notes.txt"]),
    ("A text without an option", &["append", "notes.txt", "one more line"]),
    ("Moving over a file", &["move", "notes.txt", "src/main.py"]),
    ("Deleting what is not there", &["delete", "note.txt"]),
    ("A patch that does not exist", &["patch", "fix.diff"]),
    ("A patch that is none", &["patch", "notes.txt"]),
    ("A patch with a hunk that does not match", &["patch", "../one.diff"]),
    ("A patch with several such hunks", &["patch", "../two.diff"]),
    ("Nothing to undo", &["undo"]),
    ("Nothing to redo", &["redo"]),
    ("A change that does not exist", &["undo", "c99"]),
    ("An id that is none", &["show", "last"]),
    ("An option that is not needed", &["undo", "--last"]),
    ("A proposal that is a change", &["review", "show", "c1"]),
    ("A selection without changes", &["undo", "--agent", "claude", "--since", "1h"]),
    ("A time in words", &["log", "--since", "last tuesday"]),
    ("A file that the log does not know", &["log", "--file", "src/mian.py"]),
    ("A link that leads nowhere", &["read", "link"]),
    ("Changes in the wrong order", &["undo", "c7..c3"]),
    ("Several changes that do not exist", &["log", "c3", "c4"]),
    ("A dialect with a typo", &["tools", "--dialect", "clude"]),
    ("A tool of another dialect", &["call", "str_replace", "{}"]),
    ("A call without its fields", &["call", "edit_file", "{}"]),
    ("JSON that is none", &["call", "edit_file", "{path: a}"]),
    ("A host that is not known", &["mcp", "install", "--client", "emacs"]),
    ("A help topic that does not exist", &["help", "colours"]),
    ("A root that does not exist", &["log", "--root", "nowhere"]),
    ("A settings file with a typo", &["log", "--config", "../typo.toml"]),
    ("A settings file with a wrong value", &["log", "--config", "../value.toml"]),
    ("A settings file that is not TOML", &["log", "--config", "../broken.toml"]),
];

/// What hints to models say.
const FOR_MODELS: &[&str] =
    &["Ask the user", "Read the file", "Send ", "send ", "edit_file", "write_file", "18446744073709551615"];

const MAIN: &str = "retries = 3\n\n\ndef first():\n    send()\n\n\ndef second():\n    send()\n";

fn project() -> Rig {
    let rig = Rig::new();
    std::fs::create_dir(rig.root().join("src")).unwrap();
    std::fs::create_dir(rig.root().join(".git")).unwrap();
    rig.put(".git/config", "[core]\n");
    rig.put("src/main.py", MAIN);
    let notes: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    rig.put("notes.txt", &notes);
    std::os::unix::fs::symlink("nowhere", rig.root().join("link")).unwrap();
    rig.put("logo.bin", b"\x89PNG\0\0");
    let outside = |name: &str, text: &str| std::fs::write(rig.outside().join(name), text).unwrap();
    outside("most.txt", notes.trim_end_matches("line 20\n"));
    outside("typo.toml", "[files]\nfsink = false\n");
    outside("value.toml", "[protected]\nrule = \"always\"\n");
    outside("broken.toml", "[protected\n");
    let hunk = |line: usize, text: &str| {
        format!("@@ -{line},3 +{line},3 @@\n line {line}\n-{text}\n+new\n line {}\n", line + 2)
    };
    let head = "--- a/notes.txt\n+++ b/notes.txt\n";
    outside("one.diff", &format!("{head}{}", hunk(3, "line four")));
    outside(
        "two.diff",
        &format!("{head}{}{}{}", hunk(3, "line four"), hunk(8, "line 9"), hunk(14, "line xv")),
    );
    rig
}

/// How much of an output is shown; only the help is longer.
const MAX_LINES: usize = 14;

fn transcript(rig: &Rig, title: &str, words: &[&str]) -> String {
    let run = Run::of(rig.command().args(words).write_stdin(""));
    let line = shlex::try_join(words.iter().copied()).unwrap();
    let folder = rig.outside().canonicalize().unwrap();
    let hide = |text: &str| {
        let text = text.replace(folder.join("root").to_str().unwrap(), "/project");
        text.replace(folder.to_str().unwrap(), "/home")
    };
    let mut text = format!("# {title}\n\n    {}\n", format!("$ slipstitch {line}").trim_end());
    let lines: Vec<&str> = run.out.lines().chain(run.err.lines()).collect();
    for line in lines.iter().take(MAX_LINES) {
        writeln!(text, "{}", format!("    {}", hide(line)).trim_end()).unwrap();
    }
    if lines.len() > MAX_LINES {
        text.push_str("    ...\n");
    }
    writeln!(text, "    [exit {}]", run.code).unwrap();
    text
}

#[test]
fn errors_of_newcomers_say_what_happened_and_what_to_do() {
    assert!(CASES.len() >= 40);
    let mut all = String::from(
        "What someone sees who tries Slipstitch and gets things wrong. Written by `newcomer.rs`, from the program.\n",
    );
    for (title, words) in CASES {
        let rig = project();
        all.push('\n');
        let shown = transcript(&rig, title, words);
        let is_call = words.first() == Some(&"call");
        let phrase = FOR_MODELS.iter().find(|phrase| !is_call && shown.contains(**phrase));
        assert_eq!(phrase, None, "this is not for someone at a terminal:\n{shown}");
        all.push_str(&shown);
        assert_eq!(rig.get("src/main.py"), MAIN, "{title}: nothing may change");
    }
    assert_snapshot("newcomer_errors.txt", &all);
}

#[test]
fn help_of_every_command() {
    let rig = Rig::new();
    let mut all = String::new();
    let mut pending: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(words) = pending.pop() {
        let run = Run::of(rig.command().args(&words).arg("--help"));
        run.assert_done();
        let name: String = words.iter().map(|word| format!(" {word}")).collect();
        writeln!(all, "$ slipstitch{name} --help\n{}\n", run.out.trim_end()).unwrap();
        let mut inner = commands_in(&run.out);
        inner.reverse();
        pending.extend(inner.into_iter().map(|word| words.iter().cloned().chain([word]).collect()));
    }
    for topic in ["recovery", "patches", "settings", "selection", "json", "state"] {
        let run = rig.run(["help", topic]);
        run.assert_done();
        writeln!(all, "$ slipstitch help {topic}\n{}\n", run.out.trim_end()).unwrap();
    }
    assert_snapshot("help.txt", &all);
}

/// The commands that a help text lists.
fn commands_in(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}
