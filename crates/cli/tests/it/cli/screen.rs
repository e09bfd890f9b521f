//! The full-screen review in a terminal. Screens are kept as text in `target/tmp/screens`.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::rig::Rig;

/// How long a screen may take to appear; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

fn size_of(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap()
}

/// The program in a pseudoterminal.
struct Terminal {
    screen: Arc<Mutex<vt100::Parser>>,
    input: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
}

impl Terminal {
    fn start(rig: &Rig, size: (u16, u16), arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let (cols, rows) = size;
        let pair =
            native_pty_system().openpty(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_slipstitch"));
        command.args(arguments);
        command.cwd(rig.root());
        command.env_clear();
        for (name, value) in [
            ("HOME", rig.outside().to_str().unwrap()),
            ("SLIPSTITCH_STATE_DIR", rig.outside().join("state").to_str().unwrap()),
            ("TERM", "xterm-256color"),
            ("PATH", "/usr/bin:/bin"),
            ("USER", "ada"),
        ]
        .iter()
        .chain(variables)
        {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(size_of(rows), size_of(cols), 0)));
        let (shown, mut output) = (screen.clone(), pair.master.try_clone_reader().unwrap());
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                shown.lock().unwrap().process(&buffer[..count]);
            }
        });
        Self { screen, input: pair.master.take_writer().unwrap(), master: pair.master, child }
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn type_keys(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    /// Waits until the screen shows a text.
    fn wait_for(&self, part: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            if text.contains(part) {
                return text;
            }
            assert!(Instant::now() < end, "`{part}` did not appear:\n{text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for a text, and keeps the screen for people to look at.
    fn keep(&self, part: &str, name: &str) -> String {
        let text = self.wait_for(part);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screens");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.txt")), &text).unwrap();
        text
    }

    fn leave(mut self) {
        self.type_keys("q");
        self.wait_for_end();
    }

    /// Ends a command that Ctrl-C ends.
    fn stop(mut self) {
        self.type_keys("\x03");
        self.wait_for_end();
    }

    fn wait_for_end(&mut self) {
        let end = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "the program does not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

const CODE: &str = "TIMEOUT = 30  # seconds\n\n\n\n\n\n\ndef send(self, part):\n    response = self.http.put(part.url, part.body)\n    return response.status\n\n\n\n\n\n\n\n\nend = True\n";

/// A project whose every change is reviewed, with a proposal of three hunks.
fn rig_with_three_hunks() -> Rig {
    let rig = Rig::new();
    rig.put("client.py", CODE);
    rig.put(
        "slipstitch.toml",
        "[[rules]]\npaths = [\"**\"]\nverdict = \"ask\"\nreason = \"everything is reviewed\"\n",
    );
    propose(
        &rig,
        r#"{"path": "client.py", "description": "Retry failed uploads", "edits": [
            {"old_text": "TIMEOUT = 30", "new_text": "TIMEOUT = 300"},
            {"old_text": "    return response.status", "new_text": "    return response.ok"},
            {"old_text": "end = True", "new_text": "end = False"}]}"#,
    );
    rig
}

fn propose(rig: &Rig, call: &str) {
    let run = rig.run(["--session", "s1", "--agent", "claude-code", "call", "edit_file", call]);
    assert!(run.out.contains("waiting for review"), "{run:?}");
}

#[test]
fn hunks_are_decided_one_by_one_on_a_small_screen() {
    let rig = rig_with_three_hunks();
    let mut terminal = Terminal::start(&rig, (80, 24), &["review"], &[]);
    let screen = terminal.keep("[open]", "80x24-queue");
    for part in
        ["[Review 1]", "Retry failed uploads", "claude-code", "waits because", "client.py", "TIMEOUT = 300"]
    {
        assert!(screen.contains(part), "{part}:\n{screen}");
    }
    assert!(screen.lines().all(|line| line.chars().count() <= 80));
    terminal.type_keys("\r");
    terminal.wait_for("3 hunks are open");
    terminal.type_keys("cKeep 30 s\r");
    terminal.wait_for("reason: Keep 30 s");
    terminal.type_keys("ja");
    terminal.wait_for("[accepted]");
    terminal.type_keys("j ");
    terminal.keep("end = False", "80x24-decided");
    terminal.type_keys("?");
    terminal.keep("next, previous hunk", "80x24-help");
    terminal.type_keys("?\r");
    let screen = terminal.keep("The agent gets this answer", "80x24-sent");
    assert!(screen.contains("Nothing to review"), "{screen}");
    let text = rig.get("client.py");
    assert!(
        text.starts_with("TIMEOUT = 30  #")
            && text.contains("response.ok")
            && text.ends_with("end = False\n"),
        "{text}"
    );
    // The history undoes it, after a preview.
    terminal.type_keys("2");
    terminal.wait_for(&format!("approved by {} (terminal)", Rig::account()));
    terminal.type_keys("u");
    let screen = terminal.keep("Press u again", "80x24-undo");
    assert!(screen.contains("Preview of what would be written"), "{screen}");
    assert!(screen.contains("- ····") || screen.contains("-     return response.ok"), "{screen}");
    assert!(rig.get("client.py").contains("response.ok"), "a preview writes nothing");
    terminal.type_keys("u");
    terminal.wait_for("Undo of c1");
    assert_eq!(rig.get("client.py"), CODE);
    terminal.type_keys("3");
    let screen = terminal.keep("How tool calls ended", "80x24-statistics");
    for chart in [
        "Calls over time",
        "Why calls were not applied",
        "By agent, model and dialect",
        "Recovered, by difference",
    ] {
        assert!(screen.contains(chart), "{chart}:\n{screen}");
    }
    assert!(screen.contains("claude-code, nati…") || screen.contains("claude-code, native"), "{screen}");
    terminal.leave();
    let settled = rig.json(["review", "show", "p1"]).1["proposal"]["settled"].take();
    assert_eq!(settled["left_out"][0]["reason"], "Keep 30 s");
    assert_eq!(settled["by"], format!("{} (terminal)", Rig::account()), "USER is only a claim");
}

/// Whoever rejects a hunk and then presses `A` means the rest.
#[test]
fn accepting_all_leaves_out_what_was_rejected_or_edited() {
    let rig = rig_with_three_hunks();
    rig.put("b.txt", "one\n");
    propose(&rig, r#"{"path": "b.txt", "description": "Digits", "old_text": "one", "new_text": "1"}"#);
    let mut terminal = Terminal::start(&rig, (100, 40), &["review"], &[("EDITOR", "sed -i s/1/2/")]);
    terminal.wait_for("[open]");
    terminal.type_keys("cKeep 30 s\r");
    terminal.wait_for("A the rest");
    terminal.type_keys("A");
    terminal.wait_for("The agent gets this answer");
    let text = rig.get("client.py");
    assert!(text.starts_with("TIMEOUT = 30  #") && text.contains("response.ok"), "{text}");
    // Of several, too.
    terminal.wait_for("Digits");
    terminal.type_keys("e");
    terminal.wait_for("[edited]");
    terminal.type_keys("e");
    terminal.wait_for("the text is as it was");
    terminal.type_keys("mA");
    terminal.wait_for("1 accepted");
    assert_eq!(rig.get("b.txt"), "2\n");
    terminal.leave();
}

#[test]
fn a_search_selects_as_the_command_line_does() {
    let rig = rig_with_three_hunks();
    rig.put("gone.txt", "one\n");
    let patch = r#"{"patch": "*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch"}"#;
    let run = rig.run(["--agent", "codex", "call", "patch", patch]);
    assert!(run.out.contains("waiting for review"), "{run:?}");
    let mut terminal = Terminal::start(&rig, (100, 40), &["review"], &[]);
    terminal.wait_for("Retry failed");
    terminal.type_keys("/agent:codex file:gone.txt since:1h\r");
    let screen = terminal.keep("[deleted]", "100x40-search");
    assert!(!screen.contains("Retry failed"), "{screen}");
    // Keys that would be refused are not offered.
    terminal.type_keys("e");
    terminal.wait_for("no lines to edit");
    terminal.type_keys("/");
    terminal.type_keys(&"\x7f".repeat(40));
    terminal.type_keys("since:soon\r");
    terminal.wait_for("`soon` is not a time");
    terminal.wait_for("Nothing matches");
    terminal.type_keys("\x1b");
    terminal.wait_for("Retry failed");
    terminal.leave();
}

#[test]
fn a_change_of_a_private_file_says_that_it_cannot_be_undone_later() {
    let rig = rig_with_three_hunks();
    rig.put(".env", "KEY=1\n");
    propose(&rig, r#"{"path": ".env", "old_text": "KEY=1", "new_text": "KEY=2"}"#);
    let mut terminal = Terminal::start(&rig, (120, 40), &["review"], &[]);
    let screen = terminal.wait_for("TIMEOUT = 300");
    assert!(!screen.contains("undone later"), "{screen}");
    terminal.type_keys("J");
    let screen = terminal.keep("KEY=2", "120x40-private");
    assert!(screen.contains("Can't be undone later. A file is private"), "{screen}");
    terminal.leave();
}

#[test]
fn the_whole_file_and_the_item_around_a_hunk_are_shown() {
    let rig = rig_with_three_hunks();
    let mut terminal = Terminal::start(&rig, (100, 30), &["review"], &[]);
    let screen = terminal.wait_for("[open]");
    assert!(screen.contains("in def send(self, part)"), "{screen}");
    terminal.type_keys("jw");
    let screen = terminal.keep("all lines", "100x30-whole-file");
    assert!(screen.contains("end = True") && screen.contains("def send"), "{screen}");
    terminal.type_keys("w");
    terminal.wait_for("2 of 3");
    terminal.leave();
}

#[test]
fn a_wide_screen_shows_both_sides_and_a_resize_is_followed() {
    let rig = rig_with_three_hunks();
    let mut terminal = Terminal::start(&rig, (200, 60), &["review"], &[]);
    let screen = terminal.keep("end = False", "200x60-split");
    let is_beside = |line: &str| line.contains("TIMEOUT = 30 ") && line.contains("TIMEOUT = 300 ");
    assert!(screen.lines().any(is_beside), "{screen}");
    terminal.type_keys("x");
    let end = Instant::now() + PATIENCE;
    while terminal.text().lines().any(is_beside) {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(20));
    }
    // Another proposal appears by itself.
    propose(
        &rig,
        r#"{"path": "client.py", "description": "Second thought", "old_text": "end = True", "new_text": "end = None"}"#,
    );
    terminal.keep("Second thought", "200x60-unified");
    terminal.type_keys("/thought\r");
    terminal.wait_for("Search: thought");
    terminal.wait_for("end = None");
    terminal.screen.lock().unwrap().screen_mut().set_size(size_of(24), size_of(80));
    terminal.master.resize(PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 }).unwrap();
    // A key at the same moment as the resize may be read with the next key only.
    terminal.wait_for("(rule 1 in\n");
    terminal.type_keys("\x1b");
    terminal.wait_for("Retry failed");
    terminal.leave();
}

#[test]
fn a_hunk_is_edited_in_the_users_editor_without_colours() {
    let rig = rig_with_three_hunks();
    let editor = "sed -i s/300/60/";
    let mut terminal =
        Terminal::start(&rig, (100, 40), &["review", "--color", "never"], &[("EDITOR", editor)]);
    terminal.wait_for("[open]");
    terminal.type_keys("e");
    let screen = terminal.keep("instead, you write:", "100x40-edited");
    assert!(screen.contains("TIMEOUT = 60") && screen.contains("[edited]"), "{screen}");
    let has_color = {
        let screen = terminal.screen.lock().unwrap();
        let cells = (0..40).flat_map(|row| (0..100).map(move |column| (row, column)));
        cells
            .filter_map(|(row, column)| screen.screen().cell(row, column))
            .any(|cell| cell.fgcolor() != vt100::Color::Default)
    };
    assert!(!has_color, "no colours were wanted");
    terminal.type_keys("jaja\r");
    terminal.wait_for("The agent gets this answer");
    assert!(rig.get("client.py").starts_with("TIMEOUT = 60  #"));
    terminal.leave();
}

#[test]
fn the_passphrase_is_asked_for_and_never_shown() {
    let rig = rig_with_three_hunks();
    let mut terminal = Terminal::start(&rig, (80, 24), &["review", "passphrase"], &[]);
    terminal.wait_for("New review passphrase");
    terminal.type_keys("open sesame\n");
    terminal.wait_for("Again");
    terminal.type_keys("open sesame\n");
    assert!(!terminal.wait_for("now needs the passphrase").contains("sesame"));
    let mut terminal = Terminal::start(&rig, (80, 24), &["review"], &[]);
    terminal.wait_for("Review passphrase");
    terminal.type_keys("guess\n");
    terminal.wait_for("the passphrase is wrong");
    let mut terminal = Terminal::start(&rig, (80, 24), &["review"], &[]);
    terminal.wait_for("Review passphrase");
    terminal.type_keys("open sesame\n");
    terminal.wait_for("[open]");
    terminal.type_keys("R");
    terminal.wait_for("The agent gets this answer");
    terminal.leave();
    // Without a terminal, nothing is decided at all.
    rig.allow_unattended_review();
    propose(&rig, r#"{"path": "client.py", "old_text": "end = True", "new_text": "end = None"}"#);
    for action in ["accept", "reject"] {
        rig.run(["review", action, "p2"]).assert_failed(1, &["passphrase"]);
    }
}

#[test]
fn names_and_diffs_cannot_control_the_terminal() {
    let rig = Rig::new();
    rig.put("a.txt", "x\n");
    rig.put("slipstitch.toml", "[[rules]]\npaths = [\"**\"]\nverdict = \"ask\"\n");
    let call = serde_json::json!({"path": "a.txt", "old_text": "x", "new_text": "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}gpj.exe",
        "description": "\u{1b}[31mred\u{202e}"});
    let run = rig.run(["--agent", "\u{1b}[5mblink", "call", "edit_file", &call.to_string()]);
    assert!(run.out.contains("waiting for review"), "{run:?}");
    let mut terminal = Terminal::start(&rig, (100, 30), &["review"], &[]);
    let screen = terminal.keep("[open]", "100x30-hostile");
    assert!(!screen.contains('\u{202e}') && screen.contains("gpj.exe"), "{screen}");
    terminal.type_keys("R");
    terminal.wait_for("The agent gets this answer");
    terminal.leave();
}

#[test]
fn leaving_asks_before_choices_are_lost() {
    let rig = rig_with_three_hunks();
    let mut terminal = Terminal::start(&rig, (80, 24), &["review"], &[]);
    terminal.wait_for("[open]");
    terminal.type_keys("x");
    terminal.keep("too narrow for side by side", "80x24-narrow");
    terminal.type_keys("a");
    terminal.wait_for("[accepted]");
    terminal.type_keys("q");
    terminal.keep("1 choice is not sent", "80x24-leave");
    // Any other key means that nobody wants to leave.
    terminal.type_keys("j");
    terminal.type_keys("q");
    terminal.wait_for("1 choice is not sent");
    terminal.leave();
    assert_eq!(rig.json(["review"]).1["proposals"].as_array().unwrap().len(), 1);
}

#[test]
fn unified_diffs_have_both_numbers_and_x_changes_what_is_shown() {
    let rig = rig_with_three_hunks();
    propose(
        &rig,
        r##"{"path": "client.py", "description": "Longer", "old_text": "def send", "new_text": "# one\ndef send"}"##,
    );
    let mut terminal = Terminal::start(&rig, (100, 30), &["review"], &[]);
    terminal.wait_for("[open]");
    terminal.type_keys("J");
    let screen = terminal.keep("# one", "100x30-numbers");
    assert!(screen.contains("│        8 + # one"), "a new line has no old number:\n{screen}");
    assert!(screen.contains("   8    9   def send"), "both numbers:\n{screen}");
    terminal.type_keys("x");
    terminal.wait_for("   8   def send");
    terminal.type_keys("x");
    terminal.wait_for("   8    9   def send");
    terminal.leave();
}

#[test]
fn whitespace_and_very_long_lines_show_what_changes() {
    let rig = rig_with_three_hunks();
    rig.put("blanks.txt", "one\n  two\n");
    propose(&rig, r#"{"path": "blanks.txt", "old_text": "  two", "new_text": "\ttwo"}"#);
    let around = "let a = 1; ".repeat(400);
    rig.put("long.js", format!("{around}\n{around}OLD {around}\n"));
    propose(&rig, r#"{"path": "long.js", "old_text": "OLD", "new_text": "NEW"}"#);
    let mut terminal = Terminal::start(&rig, (100, 60), &["review"], &[]);
    terminal.wait_for("[Review 3]");
    terminal.type_keys("J");
    let screen = terminal.keep("+ →", "100x60-blanks");
    assert!(screen.contains("- ··two"), "{screen}");
    terminal.type_keys("J");
    // It is drawn from top to bottom.
    let screen = terminal.keep("NEW", "100x60-long");
    assert!(screen.contains("OLD") && screen.contains("[… 4160 characters …]"), "{screen}");
    terminal.leave();
}

#[test]
fn marked_proposals_are_decided_together() {
    let rig = rig_with_three_hunks();
    for name in ["b.txt", "c.txt"] {
        rig.put(name, "one\n");
        propose(
            &rig,
            &format!(r#"{{"path": "{name}", "description": "{name}", "old_text": "one", "new_text": "1"}}"#),
        );
    }
    let mut terminal = Terminal::start(&rig, (100, 30), &["review"], &[]);
    terminal.wait_for("[Review 3]");
    terminal.type_keys("Jmm");
    terminal.keep("2 marked", "100x30-marked");
    terminal.type_keys("A");
    terminal.keep("2 accepted", "100x30-marked-accepted");
    terminal.leave();
    assert_eq!((rig.get("b.txt").as_str(), rig.get("c.txt").as_str()), ("1\n", "1\n"));
    assert_eq!(rig.get("client.py"), CODE);
}

#[test]
fn a_dumb_terminal_is_asked_line_by_line() {
    let rig = rig_with_three_hunks();
    let mut terminal = Terminal::start(&rig, (80, 40), &["review"], &[("TERM", "dumb")]);
    terminal.wait_for("Hunk 1 of 3");
    terminal.type_keys("A\r");
    terminal.wait_for("Decided 1 of 1");
    assert!(rig.get("client.py").ends_with("end = False\n"));
}

#[test]
fn every_view_names_other_roots_with_proposals() {
    let rig = rig_with_three_hunks();
    rig.put("slipstitch.toml", "");
    std::fs::create_dir(rig.root().join("part")).unwrap();
    let call = r#"{"path": ".envrc", "content": "x", "mode": "create"}"#;
    rig.run(["--root", "part", "call", "write_file", call]);
    let note = "note: proposals were also made with the root";
    let mut terminal = Terminal::start(&rig, (240, 20), &["review"], &[]);
    let screen = terminal.wait_for(note);
    assert!(screen.contains("select them with `--root part`"), "{screen}");
    terminal.type_keys("j");
    terminal.leave();
    let mut terminal = Terminal::start(&rig, (240, 40), &["review", "--plain"], &[]);
    terminal.wait_for(note);
    terminal.type_keys("q\r");
    terminal.wait_for("Decided 0 of 1");
    let terminal = Terminal::start(&rig, (240, 10), &["review", "--web"], &[]);
    let shown = terminal.wait_for("Press Ctrl-C");
    assert!(shown.contains(note), "{shown}");
    terminal.stop();
}

#[test]
fn options_limit_the_history_and_the_statistics_too() {
    let rig = rig_with_three_hunks();
    rig.put("slipstitch.toml", "");
    rig.put("b.txt", "one\n");
    let call = |agent: &str, old: &str, new: &str| {
        let call = format!(r#"{{"path": "b.txt", "old_text": "{old}", "new_text": "{new}"}}"#);
        rig.run(["--session", agent, "--agent", agent, "call", "edit_file", &call]);
    };
    call("codex", "one", "two");
    call("claude-code", "two", "three");
    call("codex", "nowhere", "x");
    call("claude-code", "nowhere", "x");
    call("claude-code", "nowhere else", "x");
    let mut terminal = Terminal::start(&rig, (100, 40), &["review", "--agent", "codex"], &[]);
    let screen = terminal.keep("Nothing matches these options", "100x40-options-that-leave-nothing");
    assert!(screen.contains("[Review 0 of 1]") && screen.contains("A proposal is left out."), "{screen}");
    terminal.type_keys("2");
    let screen = terminal.keep("c1", "100x40-history-of-one-agent");
    assert!(!screen.contains("c2"), "{screen}");
    // On the page, a bar leads to its calls; here too.
    terminal.type_keys("3");
    terminal.wait_for("⏎ its calls");
    let screen = terminal.keep("▌no_match/not_found", "100x40-bars");
    assert!(screen.contains("codex") && !screen.contains("claude-code"), "{screen}");
    terminal.type_keys("\r");
    let screen = terminal.keep("1 call not applied because of", "100x40-calls-of-a-bar");
    for part in ["codex  native edit_file  refused, no_match/not_found", "b.txt: ", "Esc the charts"] {
        assert!(screen.contains(part), "{part}:\n{screen}");
    }
    terminal.type_keys("\x1b");
    terminal.wait_for("Calls over time");
    // The next bar is the caller's, then come the days.
    terminal.type_keys("j");
    terminal.wait_for("▌codex");
    terminal.type_keys("j");
    terminal.wait_for("2 calls");
    terminal.type_keys("\r");
    let screen = terminal.wait_for("2 calls on");
    assert!(screen.contains("applied"), "{screen}");
    terminal.leave();
}

#[test]
fn the_number_of_proposals_is_that_of_the_list() {
    let rig = rig_with_three_hunks();
    rig.put("b.txt", "one\n");
    let call = r#"{"path": "b.txt", "old_text": "one", "new_text": "two"}"#;
    rig.run(["--session", "s2", "--agent", "codex", "call", "edit_file", call]);
    let cases: [(&[&str], &str); 6] = [
        (&[], "[Review 2]"),
        (&["--agent", "codex"], "[Review 1 of 2]"),
        (&["--session", "s1"], "[Review 1 of 2]"),
        (&["--file", "b.txt"], "[Review 1 of 2]"),
        (&["--since", "1h"], "[Review 2]"),
        (&["--until", "1h"], "[Review 0 of 2]"),
    ];
    for (index, (options, header)) in cases.into_iter().enumerate() {
        for size in [(120, 30), (44, 16)] {
            let arguments = [&["review"], options].concat();
            let terminal = Terminal::start(&rig, size, &arguments, &[]);
            let screen = terminal.keep(header, &format!("{}x{}-count-{index}", size.0, size.1));
            // Whatever the width, hints are whole.
            let top = screen.lines().next().unwrap();
            let keys = screen.lines().last().unwrap();
            let is_top_whole = top.trim_end().ends_with("Statistics") || top.trim_end().ends_with("? help");
            assert!(is_top_whole && keys.ends_with("  q leave"), "{screen}");
            terminal.leave();
        }
    }
    let mut terminal = Terminal::start(&rig, (100, 30), &["review"], &[]);
    terminal.wait_for("[Review 2]");
    terminal.type_keys("/agent:codex\r");
    terminal.wait_for("[Review 1 of 2]");
    terminal.leave();
}

#[test]
fn the_page_opens_with_the_options_of_the_command() {
    let rig = rig_with_three_hunks();
    std::fs::create_dir(rig.root().join("src")).unwrap();
    let arguments = [
        "review",
        "--web",
        "--agent",
        "codex",
        "--session",
        "s 2",
        "--file",
        "src/",
        "--since",
        "2026-01-31T10:00:00Z",
    ];
    let terminal = Terminal::start(&rig, (240, 10), &arguments, &[]);
    let shown = terminal.wait_for("Press Ctrl-C");
    let query = "&agent=codex&session=s%202&file=src&since=2026-01-31T10%3A00%3A00Z";
    assert!(shown.contains(query), "{shown}");
    terminal.stop();
    let terminal = Terminal::start(&rig, (240, 10), &["review", "--web"], &[]);
    let shown = terminal.wait_for("Press Ctrl-C");
    assert!(!shown.contains('&'), "{shown}");
    terminal.stop();
}
