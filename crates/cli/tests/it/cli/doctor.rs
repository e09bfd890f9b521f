//! `slipstitch doctor` with interrupted changes in another root, and with editors.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slipstitch::SqliteJournal;
use slipstitch::core::ports::journal::{ChangeKind, Journal, Origin, Record};

use super::rig::{Rig, Run};

/// Leaves a pending change in the root `begun` that also involves a file in `other`.
fn leave_interrupted_change(state: &Path, begun: &Path, other: &Path) {
    let hash = format!("b3:{}", "0".repeat(64));
    let step =
        serde_json::json!({"path": other.join("a.txt"), "kind": "remove", "aside": "x", "before": hash});
    let intent = serde_json::json!({"steps": [step], "folders": []});
    let record = Record {
        intent: Some(intent.to_string()),
        origin: Origin { session: "s".into(), agent: None, dialect: "native".into(), tool: "t".into() },
        kind: ChangeKind::Edit,
        description: None,
        labels: None,
        approval: "auto".into(),
        files: Vec::new(),
        diff: String::new(),
    };
    let journal = SqliteJournal::open(state, begun.to_str().unwrap()).unwrap();
    journal.begin(&record).unwrap();
}

/// The recovery command in the output, split by a shell.
fn recovery_command(run: &Run) -> Vec<String> {
    let line = run
        .out
        .lines()
        .find(|line| line.contains("to recover it, run: "))
        .unwrap_or_else(|| panic!("{run:?}"));
    let printed = line.split("to recover it, run: ").nth(1).unwrap();
    let script = format!("printf '%s\\0' {printed}");
    let words = Command::new("bash").args(["-c", &script]).output().unwrap().stdout;
    let words = String::from_utf8(words).unwrap();
    words.trim_end_matches('\0').split('\0').map(ToOwned::to_owned).collect()
}

fn folder(rig: &Rig, name: &str) -> PathBuf {
    let folder = rig.outside().join(name);
    fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    folder.canonicalize().unwrap()
}

#[test]
fn prints_a_recovery_command_that_can_be_pasted() {
    for name in ["plain", "e 1", "it's `x` $(y)", "two\nlines"] {
        let rig = Rig::new();
        let (here, begun, state) =
            (rig.root().canonicalize().unwrap(), folder(&rig, name), folder(&rig, "s t"));
        leave_interrupted_change(&state, &begun, &here);
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let run = rig.run(["doctor", "--state-dir", &text(&state)]);
        assert_eq!(run.code, 3, "{run:?}");
        let words = [
            "slipstitch",
            "--root",
            &text(&begun),
            "--root",
            &text(&here),
            "--state-dir",
            &text(&state),
            "doctor",
        ];
        assert_eq!(recovery_command(&run), words, "{run:?}");
        // A root that is already open is named once.
        let run = rig.run(["doctor", "--state-dir", &text(&state), "--root", ".", "--root", &text(&begun)]);
        assert_eq!(recovery_command(&run), words, "{run:?}");
    }
}

#[test]
fn recovery_command_omits_the_default_state_folder() {
    let rig = Rig::new();
    let (here, begun) = (rig.root().canonicalize().unwrap(), folder(&rig, "begun"));
    leave_interrupted_change(&folder(&rig, "state"), &begun, &here);
    let words = ["slipstitch", "--root", begun.to_str().unwrap(), "--root", here.to_str().unwrap(), "doctor"];
    assert_eq!(recovery_command(&rig.run(["doctor"])), words);
}

/// A running Emacs, stopped when it is dropped.
struct Daemon(std::process::Child);

impl Daemon {
    fn start(rig: &Rig) -> Self {
        let run = rig.outside().join("run");
        let daemon = Command::new("emacs")
            .args(["--quick", "--fg-daemon=work"])
            .env("HOME", rig.outside())
            .env("XDG_RUNTIME_DIR", &run)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("this test needs Emacs: apt-get install emacs-nox");
        let daemon = Self(daemon);
        let start = Instant::now();
        while Self::eval(rig, "t").is_none() {
            assert!(start.elapsed() < Duration::from_secs(120), "Emacs does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        daemon
    }

    fn signal(&self, name: &str) {
        let done = Command::new("kill").args([&format!("-{name}"), &self.0.id().to_string()]).status();
        assert!(done.unwrap().success());
    }

    fn eval(rig: &Rig, expression: &str) -> Option<String> {
        let socket = rig.outside().join("run/emacs/work");
        if !socket.exists() {
            return None;
        }
        let done = Command::new("emacsclient")
            .arg("--socket-name")
            .arg(socket)
            .args(["--eval", expression])
            .output();
        let done = done.unwrap();
        done.status.success().then(|| String::from_utf8(done.stdout).unwrap().trim_end().to_owned())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The rig's programs have no `PATH`, so they find no `emacsclient`.
// Shows: INV-004, 002-every-emacs
#[test]
fn emacs_is_found_and_asked_without_emacsclient() {
    let rig = Rig::with("one\n");
    let run = |arguments: &[&str]| {
        Run::of(rig.command().env("XDG_RUNTIME_DIR", rig.outside().join("run")).args(arguments))
    };
    let none = run(&["doctor"]);
    // Other tests may run an Emacs at the same time.
    let own = rig.outside().join("run").display().to_string();
    assert!(none.code == 0 && none.out.contains("macs") && !none.out.contains(&own), "{none:?}");
    let _daemon = Daemon::start(&rig);
    let file = Value::from(rig.root().join("a.txt").to_str().unwrap());
    let eval = |expression: &str| Daemon::eval(&rig, &expression.replace("FILE", &file.to_string())).unwrap();
    eval("(with-current-buffer (find-file-noselect FILE) (insert \"mine\"))");
    // The program waits two seconds for Emacs, which may not be enough on a busy machine; then it does not say this.
    let says = |arguments: &[&str], expected: &str| {
        let start = Instant::now();
        loop {
            let found = run(arguments);
            if (found.out.clone() + &found.err).contains(expected) {
                return found;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{found:?}");
        }
    };
    let doctor = says(&["doctor"], "Emacs (server `work`): answers: version ");
    assert!(doctor.out.contains("1 file open, 1 with unsaved changes"), "{doctor:?}");
    let edit = ["edit", "a.txt", "--old", "one", "--new", "two"];
    says(&edit, "`a.txt` has unsaved changes in Emacs (server `work`)");
    assert_eq!(rig.get("a.txt"), "one\n");
}

// Shows: INV-004, 002-every-emacs
#[test]
fn a_busy_emacs_reloads_if_it_is_free_before_the_program_ends() {
    let rig = Rig::with("one\n");
    let daemon = Daemon::start(&rig);
    let file = Value::from(rig.root().join("a.txt").to_str().unwrap()).to_string();
    let buffer = format!("(with-current-buffer (find-file-noselect {file} t) (buffer-string))");
    let text = || Daemon::eval(&rig, &buffer).unwrap();
    assert_eq!(text(), r#""one\n""#);
    let start = Instant::now();
    let (mut old, mut new) = ("one", "two");
    loop {
        daemon.signal("STOP");
        let call = json!({"path": "a.txt", "old_str": old, "new_str": new}).to_string();
        let mut program = Command::new(env!("CARGO_BIN_EXE_slipstitch"))
            .env_clear()
            .env("HOME", rig.outside())
            .env("SLIPSTITCH_STATE_DIR", rig.outside().join("state"))
            .env("XDG_RUNTIME_DIR", rig.outside().join("run"))
            .current_dir(rig.root())
            .args(["call", "--dialect", "agent-q", "edit_file", &call])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The answer is there, and the program would be gone soon.
        let mut answer = BufReader::new(program.stdout.take().unwrap()).lines();
        let warning = answer.find(|line| line.as_ref().unwrap().starts_with("Warning: "));
        let warning = warning.unwrap().unwrap();
        assert!(warning.contains("reload it there (M-x revert-buffer)"), "{warning}");
        std::thread::sleep(Duration::from_millis(300));
        daemon.signal("CONT");
        assert!(program.wait().unwrap().success());
        if text() == format!("\"{new}\\n\"") {
            break;
        }
        // On a busy machine, Emacs may take longer than the program waits.
        assert!(start.elapsed() < Duration::from_secs(120), "{}", text());
        (old, new) = (new, old);
    }
}

#[test]
fn goes_on_after_settings_that_are_not_valid_and_names_the_line() {
    let rig = Rig::new();
    rig.put("slipstitch.toml", "[files]\nfsync = true\n\n[protected]\nrule = \"alow\"\n");
    let run = rig.run(["doctor"]);
    assert_eq!(run.code, 3, "{run:?}");
    for part in [
        "problem settings: ",
        "`slipstitch.toml`",
        "line 5",
        "`protected.rule`",
        "journal: intact",
        "interrupted changes: none left",
        "Emacs",
        "landlock",
    ] {
        assert!(run.out.contains(part), "`{part}` is missing: {run:?}");
    }
    let root = rig.root().canonicalize().unwrap();
    leave_interrupted_change(&rig.outside().join("state"), &root, &root);
    let run = rig.run(["doctor"]);
    assert!(run.out.contains("problem change c1: was interrupted; the next command recovers it"), "{run:?}");
    assert!(!run.out.contains("interrupted changes: none left"), "{run:?}");
    rig.put("slipstitch.toml", "[protected]\nrule = \"allow\"\n");
    let run = rig.run(["doctor"]);
    assert!(run.out.contains("note    settings: slipstitch.toml:2: `protected.rule = \"allow\"`"), "{run:?}");
    rig.run(["config", "path", "--config", "slipstitch.toml"]).assert_done();
}

#[test]
fn kept_copies_are_listed() {
    let rig = Rig::with("one\n");
    std::fs::create_dir(rig.root().join("sub")).unwrap();
    rig.put("sub/.slipstitch-0123.tmp", "kept\n");
    assert!(!rig.run(["doctor"]).out.contains(".slipstitch-0123.tmp"), "it may be in use");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(600);
    let copy = std::fs::File::open(rig.root().join("sub/.slipstitch-0123.tmp")).unwrap();
    copy.set_modified(old).unwrap();
    let run = rig.run(["doctor"]);
    assert!(run.out.contains("sub/.slipstitch-0123.tmp"), "{run:?}");
}
