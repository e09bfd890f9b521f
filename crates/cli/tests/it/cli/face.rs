//! Behaviour that all subcommands share: help, colours, usage errors, pipes.

#[cfg(unix)]
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use super::rig::{Rig, Run};

const COMMANDS: &[&str] = &[
    "edit",
    "lines",
    "write",
    "append",
    "read",
    "info",
    "call",
    "tools",
    "log",
    "show",
    "undo",
    "redo",
    "gc",
    "review",
    "stats",
    "mcp",
    "completions",
];
const EDIT: [&str; 6] = ["edit", "a.txt", "--old", "one", "--new", "1"];

#[test]
fn every_help_text_has_examples() {
    let rig = Rig::new();
    let top = rig.run(["--help"]);
    top.assert_done();
    assert!(top.out.contains("Examples:") && top.out.contains("Exit codes:"), "{top:?}");
    for code in 0..=4 {
        assert!(top.out.contains(&format!("\n  {code}  ")), "exit code {code} is not listed: {top:?}");
    }
    for command in COMMANDS {
        assert!(top.out.contains(&format!("\n  {command} ")), "{command} is not listed");
        let help = rig.run([command, "--help"]);
        help.assert_done();
        assert!(help.out.contains(&format!("Examples:\n  slipstitch {command}")), "{help:?}");
    }
}

#[test]
fn prints_the_package_version() {
    let run = Rig::new().run(["--version"]);
    assert_eq!((run.code, run.out), (0, format!("slipstitch {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn usage_errors_exit_with_2_and_one_json_object() {
    let rig = Rig::with("one\n");
    for arguments in [
        &["edit"][..],
        &["nope"],
        &["read", "a.txt", "--nope"],
        &["edit", "a.txt", "--hint", "x"],
        &["completions", "nosh"],
    ] {
        rig.run(arguments).assert_failed(2, &[]);
        let (code, report) = rig.json(arguments);
        assert_eq!((code, report["code"].as_str()), (2, Some("usage")), "{report}");
        assert!(!report["message"].as_str().unwrap().starts_with("error"), "{report}");
        assert!(report["hint"].as_str().unwrap().contains("--help"), "{report}");
    }
    let run = rig.run([""; 0]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert_eq!(rig.json([""; 0]).0, 2);
}

#[test]
fn json_as_an_option_value_is_not_the_option() {
    let run = Rig::with("one\n").run(["edit", "a.txt", "--old", "--json"]);
    run.assert_failed(2, &["--new"]);
}

#[cfg(unix)]
#[test]
fn non_utf8_arguments_are_usage_errors() {
    let rig = Rig::with("one\n");
    let bad = OsStr::from_bytes(b"\xff\xfe");
    let word = OsStr::new;
    for arguments in [
        &[bad][..],
        &[word("edit"), word("a.txt"), word("--old"), bad, word("--new"), word("x")],
        &[word("write"), word("a.txt"), word("--content"), bad],
        &[word("call"), word("edit_file"), bad],
        &[word("log"), word("--since"), bad],
        &[word("--session"), bad, word("log")],
    ] {
        rig.run(arguments).assert_failed(2, &[]);
        assert_eq!(rig.json(arguments).0, 2);
    }
    rig.run([word("write"), word("a.txt"), word("--content"), bad]).assert_failed(2, &["not UTF-8", "hint:"]);
    // A file may have any name.
    rig.run([word("read"), bad]).assert_failed(2, &["\\xff\\xfe", "no such file"]);
    rig.run([word("--root"), bad, word("log")]).assert_failed(2, &["does not exist"]);
    Run::of(rig.command().env("SLIPSTITCH_SESSION", bad).arg("log"))
        .assert_failed(2, &["SLIPSTITCH_SESSION"]);
}

#[test]
fn help_and_usage_errors_have_the_colours_that_are_asked_for() {
    let rig = Rig::new();
    let has_color = |words: &[&str]| {
        let run = rig.run(words);
        (run.out + &run.err).contains('\u{1b}')
    };
    for words in [&["--help"][..], &["edit", "--help"], &["nonsense"], &["edit"]] {
        assert!(has_color(&[&["--color", "always"], words].concat()), "{words:?}");
        assert!(has_color(&[&["--color=never"], words, &["--color=always"]].concat()), "the last one counts");
        assert!(!has_color(words), "not in a pipe: {words:?}");
    }
}

#[test]
fn success_prints_one_json_object() {
    let rig = Rig::with("one\n");
    for (arguments, status) in [
        (&EDIT[..], "applied"),
        (&["edit", "a.txt", "--old", "1", "--new", "2", "--dry-run"], "would_apply"),
        (&["lines", "a.txt", "1", "--new", "x"], "applied"),
        (&["append", "a.txt", "--content", "y"], "applied"),
        (&["write", "b.txt", "--content", "z"], "applied"),
        (&["read", "a.txt"], "shown"),
        (&["info", "a.txt"], "shown"),
        (&["undo"], "applied"),
        (&["redo"], "applied"),
        (&["completions", "bash"], "shown"),
    ] {
        let (code, report) = rig.json(arguments);
        assert_eq!((code, report["status"].as_str()), (0, Some(status)), "{report}");
    }
    assert!(rig.json(["tools"]).1["tools"].is_array());
}

#[test]
fn accepts_options_before_and_after_the_subcommand() {
    let rig = Rig::with("one\n");
    let before = rig.run(["--json", "read", "a.txt"]).object();
    assert_eq!(before, rig.run(["read", "a.txt", "--json"]).object());
}

#[test]
fn uses_colour_only_on_terminals_or_on_request() {
    let rig = Rig::with("one\n");
    let dry = |extra: &[&str]| rig.run(EDIT.iter().chain(&["--dry-run"]).chain(extra));
    assert!(!dry(&[]).out.contains('\u{1b}'));
    let run = dry(&["--color", "always"]);
    for part in [
        "\u{1b}[1m--- a/a.txt\u{1b}[0m\n",
        "\u{1b}[36m@@ -1,1 +1,1 @@",
        "\u{1b}[31m-\u{1b}[0m",
        "\u{1b}[32m+\u{1b}[0m",
    ] {
        assert!(run.out.contains(part), "{part:?}: {run:?}");
    }
    assert!(!dry(&["--color=never"]).out.contains('\u{1b}'));
    assert!(rig.run(["read", "gone", "--color=always"]).err.contains("\u{1b}[31merror:"));
    let forced = |color: &str| {
        let mut command = rig.command();
        command.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1").args(EDIT).args([
            "--dry-run",
            "--color",
            color,
        ]);
        Run::of(&mut command).out.contains('\u{1b}')
    };
    assert!(!forced("auto"), "auto respects NO_COLOR");
    assert!(forced("always"), "always overrides NO_COLOR");
    let forced = Run::of(rig.command().env("CLICOLOR_FORCE", "1").args(EDIT).arg("--dry-run"));
    assert!(forced.out.contains('\u{1b}'), "CLICOLOR_FORCE alone enables colours");
}

#[test]
fn prints_completions_for_every_shell() {
    let rig = Rig::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = rig.run(["completions", shell]);
        run.assert_done();
        assert!(run.out.contains("slipstitch") && run.out.contains("COMPLETE"), "{shell}");
    }
}

#[test]
fn completions_know_options_dialects_ids_sessions_and_proposals() {
    let rig = Rig::with("one\n");
    let call = r#"{"path": "a.txt", "old_text": "one", "new_text": "two"}"#;
    rig.run(["call", "edit_file", call, "--session", "s1", "--agent", "bot"]).assert_done();
    let call = r#"{"path": "a.txt", "old_text": "two", "new_text": "three"}"#;
    rig.run(["call", "edit_file", call, "--session", "s1", "--agent", "bot"]).assert_done();
    rig.run(["call", "read_file", r#"{"path": "a.txt"}"#, "--model", "some-model"]).assert_done();
    let proposed = r#"{"path": ".env", "content": "x", "mode": "create"}"#;
    rig.run(["call", "write_file", proposed, "--session", "s2", "--agent", "asks-first"]);
    let proposed = r#"{"path": ".envrc", "content": "x", "mode": "create"}"#;
    rig.run(["call", "write_file", proposed, "--session", "s2", "--agent", "asks-first"]);
    let offered = |words: &[&str]| {
        let mut command = rig.command();
        let run = Run::of(command.env("COMPLETE", "fish").args(["--", "slipstitch"]).args(words));
        run.out
    };
    for (words, wanted) in [
        (&["edit", "--dry"][..], "--dry-run"),
        (&["tools", "--dialect", "cl"], "claude"),
        (&["undo", ""], "c1\tbot: a.txt"),
        (&["redo", ""], "c1"),
        (&["log", ""], "c1"),
        (&["edit", "a"], "a.txt"),
        (&["log", "--file", "a"], "a.txt"),
        (&["patch", "--path", "a"], "a.txt"),
        (&["call", "edit_f"], "edit_file"),
        (&["call", "--dialect", "codex", ""], "apply_patch"),
        (&["call", "--dialect=claude", "Mul"], "MultiEdit"),
        (&["tools", "--dialect", "forge", ""], "Edit"),
        (&["schema", "lo"], "log"),
        (&["stats", "--by", ""], "model"),
        (&["show", ""], "c1"),
        (&["log", "--session", ""], "s1"),
        (&["log", "--agent", ""], "bot"),
        // Who only proposed something can be selected too.
        (&["review", "--agent", ""], "asks-first"),
        (&["review", "--session", ""], "s2"),
        (&["review", "accept", ""], "p1"),
        (&["help", ""], "recovery"),
        (&["help", "un"], "undo"),
        (&["man", "un"], "undo"),
        (&["forget", ""], "c1"),
        (&["forget", "p"], "p1"),
        (&["undo", "c1.."], "c1..c2\tbot: a.txt"),
        (&["log", "c1", "c1..c"], "c1..c2"),
        (&["review", "show", "p1.."], "p1..p2"),
        (&["stats", "--model", ""], "some-model"),
    ] {
        let shown = offered(words);
        assert!(shown.lines().any(|line| line.starts_with(wanted)), "{words:?}: {shown}");
    }
    // A range ends after its start, and what is no id begins no range.
    for words in [&["undo", "c2.."][..], &["undo", "x.."], &["undo", "p"], &["review", "show", "p2.."]] {
        assert_eq!(offered(words), "", "{words:?}");
    }
}

#[test]
fn manual_pages_exist_for_every_command() {
    let rig = Rig::new();
    let page = rig.run(["man"]);
    assert!(page.out.contains(".TH slipstitch 1"), "{page:?}");
    let page = rig.run(["man", "review", "show"]);
    assert!(page.out.contains(".TH slipstitch-review-show 1"), "{page:?}");
    rig.run(["man", "frobnicate"]).assert_failed(2, &["there is no command", "frobnicate"]);
    let folder = rig.outside().join("man1");
    rig.run(["man", "--dir", folder.to_str().unwrap()]).assert_done();
    for command in COMMANDS.iter().filter(|command| **command != "mcp") {
        let page = std::fs::read_to_string(folder.join(format!("slipstitch-{command}.1"))).unwrap();
        assert!(page.contains("Examples:"), "{command}");
    }
}

#[test]
fn uninstall_removes_what_is_ours_and_nothing_else() {
    let rig = Rig::with("one\n");
    rig.run(EDIT).assert_done();
    let state = rig.outside().join("state");
    std::fs::write(state.join("mine.txt"), "x").unwrap();
    rig.run(["uninstall", "--purge", "--yes"]).assert_failed(1, &["only be deleted at a terminal"]);
    rig.allow_unattended_review();
    rig.run(["uninstall", "--purge"]).assert_failed(1, &["needs confirmation", "--yes"]);
    let dry = rig.run(["uninstall", "--purge", "--dry-run"]);
    assert!(dry.out.contains("Would remove") && state.join("journal.db").exists(), "{dry:?}");
    rig.run(["uninstall", "--purge", "--yes"]).assert_done();
    let left: Vec<_> = std::fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["mine.txt"]);
    assert_eq!(rig.get("a.txt"), "1\n", "files of the project stay");
}

/// Runs the program with a reader that closes the pipe after the first line.
fn read_first_line_only(rig: &Rig, arguments: &[&str]) -> (Option<i32>, String) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("slipstitch"))
        .env_clear()
        .env("HOME", rig.outside())
        .env("SLIPSTITCH_STATE_DIR", rig.outside().join("state"))
        .current_dir(rig.root())
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(!line.is_empty());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let rig = Rig::with("a line of text that fills pipes\n".repeat(50_000));
    assert_eq!(read_first_line_only(&rig, &["read", "a.txt"]), (Some(0), String::new()));
    assert_eq!(read_first_line_only(&rig, &["read", "a.txt", "--json"]), (Some(0), String::new()));
    assert_eq!(read_first_line_only(&rig, &["completions", "zsh"]), (Some(0), String::new()));
    let (code, err) =
        read_first_line_only(&rig, &["edit", "a.txt", "--old", "fills", "--new", "blocks", "--all"]);
    assert_eq!(code, Some(0));
    assert!(err.starts_with("Changed `a.txt` in 50000 places") && err.lines().count() == 1, "{err}");
}

/// The exit code and stderr of a command whose stdout is this file.
fn run_with_stdout(
    rig: &Rig,
    arguments: &[&str],
    stdout: impl Into<std::process::Stdio>,
) -> (Option<i32>, String) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("slipstitch"))
        .env("HOME", rig.outside())
        .env("SLIPSTITCH_STATE_DIR", rig.outside().join("state"))
        .current_dir(rig.root())
        .args(arguments)
        .stdout(stdout)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn full_device() -> std::fs::File {
    std::fs::File::options().write(true).open("/dev/full").unwrap()
}

#[test]
fn a_failing_stdout_is_a_failure() {
    let rig = Rig::with("one\n");
    for arguments in
        [&["read", "a.txt"][..], &["--help"], &["--version"], &["log", "--help", "--color", "never"]]
    {
        let (code, err) = run_with_stdout(&rig, arguments, full_device());
        assert_eq!(code, Some(3), "{arguments:?}");
        assert!(err.contains("cannot write the output"), "{err}");
    }
}

#[test]
fn an_edit_whose_output_cannot_be_written_is_not_reported_as_failed() {
    let call = r#"{"path": "a.txt", "old_text": "one", "new_text": "two"}"#;
    for (arguments, back) in [
        (&["edit", "a.txt", "--old", "one", "--new", "two"][..], "c1"),
        (&["edit", "a.txt", "--old", "one", "--new", "two", "--json"], "c1"),
        (&["call", "edit_file", call], "c1"),
    ] {
        let rig = Rig::with("one\n");
        let (code, err) = run_with_stdout(&rig, arguments, full_device());
        assert_eq!(rig.get("a.txt"), "two\n");
        assert_eq!(code, Some(4), "neither success nor a failed edit: {err}");
        assert!(err.contains("the change was made (change c1; undo with: slipstitch undo c1)"), "{err}");
        assert!(!err.contains("error:"), "{err}");
        let (code, err) = run_with_stdout(&rig, &["undo", back], full_device());
        assert_eq!((code, rig.get("a.txt").as_str()), (Some(4), "one\n"), "{err}");
        // An edit that is refused is refused, whatever happens to its output.
        let (code, _) =
            run_with_stdout(&rig, &["edit", "a.txt", "--old", "none", "--new", "x"], full_device());
        assert_eq!(code, Some(1));
    }
}

#[test]
fn an_edit_whose_output_nobody_reads_still_says_its_id() {
    let call = r#"{"path": "a.txt", "old_text": "one", "new_text": "two"}"#;
    for arguments in
        [&["edit", "a.txt", "--old", "one", "--new", "two", "--json"][..], &["call", "edit_file", call]]
    {
        let rig = Rig::with("one\n");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (code, err) = run_with_stdout(&rig, arguments, writer);
        assert_eq!((code, rig.get("a.txt").as_str()), (Some(0), "two\n"));
        assert!(err.contains("the change was made (change c1;"), "{err}");
    }
}

#[test]
fn other_work_whose_output_cannot_be_written_is_not_reported_as_failed() {
    let rig = Rig::with("one\n");
    rig.run(["edit", "a.txt", "--old", "one", "--new", "two"]).assert_done();
    let proposal = r#"{"path": ".github/workflows/ci.yml", "content": "x\n", "mode": "create"}"#;
    rig.allow_unattended_review();
    for arguments in [
        &["call", "write_file", proposal][..],
        &["call", "--json", "write_file", proposal],
        &["mode", "restricted", "--session", "agent"],
        &["forget", "c1", "--yes"],
        &["gc"],
        &["mcp", "install", "--client", "claude-code", "--project", "--command", "slipstitch"],
    ] {
        let (code, err) = run_with_stdout(&rig, arguments, full_device());
        assert_eq!(code, Some(4), "{arguments:?}: {err}");
        assert!(err.contains("but its output could not be written") && !err.contains("error:"), "{err}");
    }
    for arguments in [&["mode"][..], &["gc", "--dry-run"], &["log"]] {
        let (code, err) = run_with_stdout(&rig, arguments, full_device());
        assert_eq!(code, Some(3), "nothing was done by {arguments:?}: {err}");
    }
}

/// Its text is known to the process that makes the change, and that ends.
#[cfg(unix)]
#[test]
fn a_change_of_a_private_file_promises_no_undo() {
    let rig = Rig::new();
    rig.put(".env", "KEY=old\n");
    rig.put("prod.tfvars", "key = 1\n");
    rig.allow_unattended_review();
    std::os::unix::fs::symlink(".env", rig.root().join("link")).unwrap();
    for (name, old, new) in [(".env", "old", "first"), ("link", "first", "second")] {
        let asked = rig.run(["edit", name, "--old", old, "--new", "x"]);
        assert_eq!(asked.code, 1);
        assert!(asked.err.contains("can't be undone later"), "{asked:?}");
        let done = rig.run(["edit", name, "--old", old, "--new", new, "--yes"]);
        done.assert_done();
        assert!(done.err.contains("it can't be undone)") && !done.err.contains("undo with"), "{done:?}");
        assert!(done.err.contains("its text is not kept"), "{done:?}");
    }
    let done = rig.run(["edit", "prod.tfvars", "--old", "1", "--new", "2", "--yes"]);
    assert!(done.code == 0 && !done.err.contains("undo with"), "{done:?}");
    assert_ne!(rig.run(["undo", "c1"]).code, 0);
    // In the review queue, too.
    let call = r#"{"path": ".env", "old_text": "second", "new_text": "third"}"#;
    rig.run(["call", "edit_file", call]);
    let listed = rig.run(["review"]);
    assert!(listed.out.contains("can't be undone once accepted"), "{listed:?}");
    let shown = rig.run(["review", "show", "p1"]);
    assert!(shown.out.contains("can't be undone once accepted"), "{shown:?}");
    let accepted = rig.run(["review", "accept", "p1"]);
    accepted.assert_done();
    assert!(
        !accepted.err.contains("undo with") && accepted.err.contains("its text is not kept"),
        "{accepted:?}"
    );
}
