//! What people see of proposals without looking for them: `log --follow`, `on_pending`, desktop notifications.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::rig::Rig;

/// How long something may take to happen; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(30);

const PROPOSE: &str = r#"{"path": "a.txt", "new_content": "1\ntwo\n", "description": "count"}"#;

/// A running `log --follow`.
struct Follower {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Follower {
    fn start(rig: &Rig, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_slipstitch"))
            .args(["log", "--follow"])
            .args(arguments)
            .env_clear()
            .env("HOME", rig.outside())
            .env("SLIPSTITCH_STATE_DIR", rig.outside().join("state"))
            .current_dir(rig.root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, lines }
    }

    /// The next line.
    fn next(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line in time")
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn propose(rig: &Rig) {
    let run = rig.run(["--agent", "bot", "call", "--dialect", "agent-q", "propose_file_edit", PROPOSE]);
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn follow_shows_changes_proposals_and_decisions_as_they_happen() {
    let rig = Rig::with("one\ntwo\n");
    rig.allow_unattended_review();
    rig.run(["edit", "a.txt", "--old", "two", "--new", "2"]).assert_done();
    let follower = Follower::start(&rig, &[]);
    let line = follower.next();
    assert!(line.contains("c1") && line.contains("a.txt"), "what was there before: {line}");
    rig.run(["undo"]).assert_done();
    assert!(follower.next().contains("c2"));
    propose(&rig);
    let line = follower.next();
    assert!(line.starts_with("p1") && line.contains("bot") && line.contains("waits for review"), "{line}");
    rig.run(["review", "accept", "p1", "--by", "ada"]).assert_done();
    let lines = [follower.next(), follower.next()];
    assert!(lines.iter().any(|line| line.contains("c3")), "{lines:?}");
    let decided =
        |line: &String| line.starts_with("p1") && line.contains(&format!("accepted by {} as c3", Rig::ada()));
    assert!(lines.iter().any(decided), "{lines:?}");
}

#[test]
fn follow_shows_what_is_selected_as_json_lines() {
    let rig = Rig::with("one\ntwo\n");
    rig.allow_unattended_review();
    let follower = Follower::start(&rig, &["--agent", "bot", "--json"]);
    rig.run(["edit", "a.txt", "--old", "two", "--new", "2"]).assert_done();
    rig.run(["undo"]).assert_done();
    propose(&rig);
    let next = || -> Value { serde_json::from_str(&follower.next()).unwrap() };
    let waiting = next();
    assert_eq!((waiting["proposal"].as_str(), waiting["agent"].as_str()), (Some("p1"), Some("bot")));
    assert_eq!(waiting["settled"], Value::Null);
    rig.run(["review", "reject", "p1", "--reason", "not now", "--by", "ada"]).assert_done();
    let decided = next();
    assert!(decided["at"].as_i64() > waiting["at"].as_i64(), "when it was decided: {decided}");
    assert_eq!(decided["settled"]["reason"], "not now", "only the agent's own lines: {decided}");
}

/// Waits until a program has written a file.
fn wait_for(path: &Path) -> String {
    let end = Instant::now() + PATIENCE;
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => assert!(Instant::now() < end, "{} was not written", path.display()),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Writes a program that appends its arguments and the proposal's environment variables to a file.
fn write_program(path: &Path, told: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let variables =
        "$SLIPSTITCH_PROPOSAL|$SLIPSTITCH_SUMMARY|$SLIPSTITCH_ROOT|$SLIPSTITCH_AGENT|$SLIPSTITCH_SESSION";
    let text = format!("#!/bin/sh\necho \"$*|{variables}\" >>{}\n", told.display());
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn write_settings(rig: &Rig, text: &str) {
    rig.write_settings(text);
}

#[test]
fn a_command_that_fails_is_reported() {
    let rig = Rig::with("one\n");
    write_settings(&rig, "[review]\non_pending = [\"/nonexistent/ping\"]\n");
    let checked = rig.run(["config", "check"]);
    assert!(checked.out.contains("there is no program `/nonexistent/ping`"), "{checked:?}");
    let doctor = rig.run(["doctor"]);
    assert!(doctor.out.contains("there is no program `/nonexistent/ping`"), "{doctor:?}");
    write_settings(&rig, "[review]\non_pending = [\"sh\", \"-c\", \"exit 7\"]\n");
    let mut command = rig.command();
    let checked = super::rig::Run::of(command.env("PATH", "/usr/bin:/bin").args(["config", "check"]));
    assert!(checked.err.contains("No problems found."), "{checked:?}");
}

#[test]
fn a_command_of_the_user_is_told_once_that_something_waits() {
    let rig = Rig::with("one\ntwo\n");
    let (program, told) = (rig.outside().join("ping"), rig.outside().join("told"));
    write_program(&program, &told);
    write_settings(&rig, &format!("[review]\non_pending = [\"{}\", \"--quietly\"]\n", program.display()));
    propose(&rig);
    let line = wait_for(&told);
    let parts: Vec<&str> = line.trim_end().split('|').collect();
    assert_eq!(parts[..2], ["--quietly", "p1"]);
    assert!(parts[2].contains("bot wants to change a.txt"), "{line}");
    assert!(parts[3].ends_with("/root") && parts[4] == "bot", "{line}");
    // The same call again is no news; another one is.
    propose(&rig);
    rig.put("b.txt", "x\n");
    let other = r#"{"path": "b.txt", "new_content": "y\n"}"#;
    rig.run(["call", "--dialect", "agent-q", "propose_file_edit", other]).assert_done();
    let end = Instant::now() + PATIENCE;
    while std::fs::read_to_string(&told).unwrap().lines().count() < 2 {
        assert!(Instant::now() < end, "the second proposal was not announced");
        std::thread::sleep(Duration::from_millis(20));
    }
    let ids: Vec<String> = std::fs::read_to_string(&told)
        .unwrap()
        .lines()
        .map(|line| line.split('|').nth(1).unwrap().into())
        .collect();
    assert_eq!(ids, ["p1", "p2"]);
}

#[test]
fn a_desktop_notification_is_sent_if_the_user_wants_it() {
    let rig = Rig::with("one\ntwo\n");
    let told = rig.outside().join("told");
    let folder = rig.outside().join("bin");
    std::fs::create_dir(&folder).unwrap();
    write_program(&folder.join(if cfg!(target_os = "macos") { "osascript" } else { "notify-send" }), &told);
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let propose = |content: &str| {
        let call = serde_json::json!({"path": "a.txt", "new_content": content}).to_string();
        let mut command = rig.command();
        command.env("PATH", &path).args(["call", "--dialect", "agent-q", "propose_file_edit", &call]);
        assert!(command.output().unwrap().status.success());
    };
    propose("1\n");
    write_settings(&rig, "[review]\nnotify = true\n");
    propose("2\n");
    let line = wait_for(&told);
    assert!(line.contains("wants to change a.txt (p2)"), "{line}");
    assert_eq!(line.lines().count(), 1, "only if it is wanted: {line}");
}

#[test]
fn a_project_cannot_have_commands_run() {
    let rig = Rig::with("one\ntwo\n");
    let (program, told) = (rig.outside().join("ping"), rig.outside().join("told"));
    write_program(&program, &told);
    rig.put(
        "slipstitch.toml",
        format!("[review]\non_pending = [\"{}\"]\nnotify = true\n", program.display()),
    );
    let run = rig.run(["call", "--dialect", "agent-q", "propose_file_edit", PROPOSE]);
    assert!(!run.out.contains("told"), "{run:?}");
    // If it ran, it would run at once: as long as another command takes that is started later.
    std::thread::sleep(Duration::from_millis(500));
    assert!(!told.exists());
}
