//! The program on a terminal: questions, colours, width, pager, progress.

use std::process::Command;

use serde_json::json;

use super::rig::Rig;

/// A terminal of some size, with what is typed on it.
pub(crate) struct Terminal<'r> {
    rig: &'r Rig,
    rows: usize,
    columns: usize,
    steps: Vec<(&'static str, &'static str)>,
    variables: Vec<(&'static str, String)>,
    is_journal_locked: bool,
    /// How long the user looks at a question, in seconds.
    pause: f64,
}

/// What was shown.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) code: i32,
    pub(crate) text: String,
}

impl<'r> Terminal<'r> {
    pub(crate) fn new(rig: &'r Rig) -> Self {
        Self {
            rig,
            rows: 40,
            columns: 100,
            steps: Vec::new(),
            variables: vec![("TERM", "xterm-256color".into())],
            is_journal_locked: false,
            pause: 0.0,
        }
    }

    /// Types something once a text is shown.
    pub(crate) fn answer(mut self, question: &'static str, answer: &'static str) -> Self {
        self.steps.push((question, answer));
        self
    }

    pub(crate) fn variable(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    pub(crate) fn run(self, arguments: &[&str]) -> Shown {
        let argv: Vec<&str> =
            std::iter::once(env!("CARGO_BIN_EXE_slipstitch")).chain(arguments.iter().copied()).collect();
        let state = self.rig.outside().join("state");
        let lock = self.is_journal_locked.then(|| state.join("journal.db"));
        let task = json!({
            "argv": argv,
            "rows": self.rows,
            "columns": self.columns,
            "steps": self.steps,
            "lock": lock,
            "pause": self.pause,
        });
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/on_terminal.py");
        let output = Command::new("python3")
            .args([script, &task.to_string()])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.rig.outside())
            .env("SLIPSTITCH_STATE_DIR", state)
            .envs(self.variables)
            .current_dir(self.rig.root())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let (code, text) = text.split_once('\n').unwrap();
        Shown { code: code.parse().unwrap(), text: text.to_owned() }
    }
}

impl Shown {
    pub(crate) fn assert_shows(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.text.contains(part), "`{part}` is missing: {self:?}");
        }
    }

    pub(crate) fn assert_hides(&self, part: &str) {
        assert!(!self.text.contains(part), "`{part}` is shown: {self:?}");
    }
}

#[test]
fn an_edit_that_needs_recovery_is_made_if_the_answer_is_yes() {
    let rig = Rig::with("let a = 1;\n");
    let edit = ["edit", "a.txt", "--old", "let a = 1; ", "--new", "let a = 2;"];
    let no = Terminal { columns: 200, ..Terminal::new(&rig).answer("[y/N]", "n\n") }.run(&edit);
    no.assert_shows(&[
        "The old text has no exact match. Make this edit instead?",
        "you gave \"let a = 1; \"",
    ]);
    no.assert_shows(&["\x1b[1m\x1b[7m\x1b[32m2\x1b", "error:"]);
    no.assert_hides("--recover");
    assert_eq!((no.code, rig.get("a.txt").as_str()), (1, "let a = 1;\n"));
    let yes = Terminal::new(&rig).answer("[y/N]", "y\n").run(&edit);
    assert_eq!((yes.code, rig.get("a.txt").as_str()), (0, "let a = 2;\n"), "{yes:?}");
    assert_eq!(yes.text.matches("+++ b/a.txt").count(), 1, "the diff is not repeated: {yes:?}");
    let (_, after) = yes.text.split_once("[y/N] ").unwrap();
    assert!(after.contains("undo with: slipstitch undo c1") && !after.contains("recovered"), "{yes:?}");
}

#[test]
fn a_question_stays_on_the_screen_while_someone_thinks() {
    let rig = Rig::with("let a = 1;\n");
    let edit = ["edit", "a.txt", "--old", "let a = 1; ", "--new", "let a = 2;"];
    let slow = Terminal { pause: 1.6, ..Terminal::new(&rig).answer("[y/N]", "y\n") }.run(&edit);
    let (_, after) = slow.text.split_once("[y/N] ").unwrap();
    assert!(after.starts_with("y\n"), "nothing comes between the question and the answer: {slow:?}");
    assert_eq!((slow.code, rig.get("a.txt").as_str()), (0, "let a = 2;\n"), "{slow:?}");
}

#[test]
fn several_changes_are_listed_before_they_are_undone() {
    let rig = Rig::with("one\ntwo\n");
    for (old, new) in [("one", "1"), ("two", "2")] {
        rig.run(["edit", "a.txt", "--old", old, "--new", new, "--agent", "bot"]).assert_done();
    }
    let undo = ["undo", "--agent", "bot", "--since", "1h"];
    let no = Terminal::new(&rig).answer("[y/N]", "\n").run(&undo);
    no.assert_shows(&["c1", "c2", "bot", "changed a.txt", "Undo these changes?"]);
    no.assert_shows(&["nothing was undone"]);
    no.assert_hides("--yes");
    assert_eq!((no.code, rig.get("a.txt").as_str()), (1, "1\n2\n"));
    let yes = Terminal::new(&rig).answer("[y/N]", "yes\n").run(&undo);
    assert_eq!((yes.code, rig.get("a.txt").as_str()), (0, "one\ntwo\n"), "{yes:?}");
}

#[test]
fn a_patch_can_be_typed_and_the_terminal_says_so() {
    let rig = Rig::with("one\n");
    let typed = "a.txt\n<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n\u{4}";
    let run = Terminal::new(&rig).answer("Reading a patch from the terminal", typed).run(&["patch"]);
    run.assert_shows(&["Ctrl-D"]);
    assert_eq!((run.code, rig.get("a.txt").as_str()), (0, "1\n"), "{run:?}");
}

#[test]
fn colours_follow_the_terminal_and_its_user() {
    let rig = Rig::with("let a = one;\n");
    let edit = ["edit", "a.txt", "--old", "one", "--new", "two", "--dry-run"];
    let word = "\x1b[1m\x1b[7m\x1b[32mtwo\x1b[0m";
    Terminal::new(&rig).run(&edit).assert_shows(&[word]);
    Terminal::new(&rig).variable("NO_COLOR", "1").run(&edit).assert_hides("\x1b[");
    Terminal::new(&rig).run(&["--help", "--color", "never"]).assert_hides("\x1b[1m");
    Terminal::new(&rig).run(&[&edit[..], &["--color", "never"]].concat()).assert_hides("\x1b[");
    let dumb = Terminal::new(&rig).variable("TERM", "dumb").run(&edit);
    dumb.assert_hides("\x1b[");
    let piped = rig.run([&edit[..], &["--color", "always"]].concat());
    assert!(piped.out.contains(word), "{piped:?}");
    assert!(!rig.run(edit).out.contains('\x1b'));
}

#[test]
fn code_in_a_diff_has_the_colours_of_its_syntax() {
    let rig = Rig::new();
    rig.put("a.rs", "// note\nfn a() {}\n");
    let run = Terminal::new(&rig).run(&["edit", "a.rs", "--old", "fn a", "--new", "fn b", "-n"]);
    run.assert_shows(&["\x1b[90m// note\x1b[0m", "\x1b[35mfn\x1b[0m"]);
}

#[test]
fn output_that_does_not_fit_goes_to_a_pager() {
    let rig = Rig::with((1..=30).map(|line| format!("line {line}\n")).collect::<String>());
    let paged = rig.outside().join("paged");
    let pager = format!("cat > {}", paged.display());
    let read = |rows: usize, arguments: &[&str]| {
        let _ = std::fs::remove_file(&paged);
        let terminal = Terminal { rows, ..Terminal::new(&rig) };
        let run = terminal.variable("PAGER", pager.clone()).run(arguments);
        assert_eq!(run.code, 0, "{run:?}");
        (run, std::fs::read_to_string(&paged).ok())
    };
    let (run, text) = read(10, &["read", "a.txt"]);
    assert!(text.is_some_and(|text| text.contains("line 30")), "{run:?}");
    run.assert_hides("line 30");
    let (run, text) = read(60, &["read", "a.txt"]);
    assert_eq!(text, None, "it fits");
    run.assert_shows(&["line 30"]);
    let (run, text) = read(10, &["read", "a.txt", "--no-pager"]);
    assert_eq!(text, None);
    run.assert_shows(&["line 30"]);
    let (_, text) = read(10, &["write", "b.txt", "--content", &"x\n".repeat(50)]);
    assert_eq!(text, None, "what a change did is not paged");
}

#[test]
fn a_pager_that_does_not_exist_is_no_obstacle() {
    let rig = Rig::with("x\n".repeat(50));
    let terminal = Terminal { rows: 10, ..Terminal::new(&rig) };
    let run = terminal.variable("PAGER", "no-such-pager").run(&["read", "a.txt"]);
    run.assert_shows(&["50"]);
    assert_eq!(run.code, 0);
}

#[test]
fn work_that_takes_long_shows_progress() {
    let rig = Rig::with("one\n");
    rig.run(["edit", "a.txt", "--old", "one", "--new", "two"]).assert_done();
    let edit = ["edit", "a.txt", "--old", "two", "--new", "three"];
    let waiting = Terminal { is_journal_locked: true, ..Terminal::new(&rig) }.run(&edit);
    waiting.assert_shows(&["Searching a.txt (1 s)"]);
    assert_eq!((waiting.code, rig.get("a.txt").as_str()), (0, "three\n"), "{waiting:?}");
    let quick = Terminal::new(&rig).run(&["edit", "a.txt", "--old", "three", "--new", "four"]);
    quick.assert_hides("Searching");
    for arguments in [&["undo"], &["gc"]] {
        let waiting = Terminal { is_journal_locked: true, ..Terminal::new(&rig) }.run(arguments);
        waiting.assert_shows(&[" (1 s)"]);
        assert_eq!(waiting.code, 0, "{waiting:?}");
        Terminal::new(&rig).run(&["redo"]).assert_hides(" s)");
    }
}

#[test]
fn the_log_is_wrapped_between_words() {
    let rig = Rig::with("one\n");
    for (old, new) in [("one", "two"), ("two", "three")] {
        let description = "a change with a reason that does not fit on a line of this terminal";
        rig.run(["edit", "a.txt", "--old", old, "--new", new, "--description", description]).assert_done();
    }
    rig.run(["undo"]).assert_done();
    let log = |columns: usize| Terminal { columns, ..Terminal::new(&rig) }.run(&["log", "--color", "never"]);
    let narrow = log(60);
    assert!(narrow.text.lines().all(|line| line.chars().count() <= 60), "{narrow:?}");
    narrow.assert_shows(&["\n  with a reason", "[undone by c3]\n"]);
    assert_eq!(log(200).text.lines().count(), 3, "wide lines stay whole");
    let call = r#"{"path": "a.txt", "old_text": "two", "new_text": "four"}"#;
    rig.run(["call", "edit_file", call, "--session", "a-session-with-a-name", "--agent", "claude-code"]);
    let narrow = log(40);
    assert!(narrow.text.lines().all(|line| line.chars().count() <= 40), "{narrow:?}");
    narrow.assert_shows(&["(a-session-with-a-name)"]);
}

#[test]
fn statistics_and_help_fit_a_narrow_terminal() {
    let rig = Rig::with("one\n");
    rig.run(["call", "edit_file", r#"{"path": "a.txt", "old_text": "one", "new_text": "two"}"#])
        .assert_done();
    rig.run(["call", "edit_file", r#"{"path": "a.txt", "old_text": "tow", "new_text": "2"}"#]);
    let narrow = Terminal { columns: 50, ..Terminal::new(&rig) }.run(&["stats", "--color", "never"]);
    assert!(narrow.text.lines().all(|line| line.chars().count() <= 50), "{narrow:?}");
    narrow.assert_shows(&["2 calls, 1 applied, 1 refused"]);
    for path in ["b", "c"] {
        rig.run(["call", "edit_file", &format!(r#"{{"path": "{path}.txt", "old_text": "x"}}"#)]);
        rig.run(["call", path, "{}"]);
        rig.run(["call", "read_file", &format!(r#"{{"path": "{path}.txt"}}"#)]);
    }
    let narrow = Terminal { columns: 42, ..Terminal::new(&rig) }.run(&["stats", "--color", "never"]);
    let is_cut = |line: &&str| line.chars().count() > 42 && line.trim().contains(' ');
    assert_eq!(narrow.text.lines().find(is_cut), None, "{narrow:?}");
    let wide = Terminal::new(&rig).run(&["stats", "--color", "never"]);
    wide.assert_shows(&["calls  applied  recovered"]);
    let help =
        Terminal { columns: 60, ..Terminal::new(&rig) }.variable("NO_COLOR", "1").run(&["edit", "--help"]);
    // Examples are indented, and stay on one line.
    let is_too_long = |line: &&str| line.chars().count() > 60 && !line.starts_with("  slipstitch");
    assert_eq!(help.text.lines().find(is_too_long), None, "{help:?}");
    let last = help.text.trim_end().lines().rev().take(3);
    assert!(last.clone().skip(1).all(|line| line.len() > 35), "wrapped twice: {last:?}");
}
