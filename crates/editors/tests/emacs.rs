//! A real Emacs with a real folder: what it has open follows what is changed.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slipstitch::Workspace;
use slipstitch::core::engine::Answer;

/// An Emacs server of its own, and a folder to edit in. The server ends with it, also when a test fails.
struct Rig {
    folder: tempfile::TempDir,
    emacs: Child,
}

impl Rig {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join("root").join(name), text).unwrap();
        }
        let emacs = Command::new("emacs")
            .args(["--quick", "--fg-daemon=rig"])
            .env("HOME", folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .env_remove("EMACS_SOCKET_NAME")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("these tests need Emacs: apt-get install emacs-nox");
        let rig = Self { folder, emacs };
        let begin = Instant::now();
        while rig.try_eval("t").is_none() {
            assert!(begin.elapsed() < Duration::from_secs(60), "Emacs does not come up");
            thread::sleep(Duration::from_millis(50));
        }
        rig
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("emacs/rig")
    }

    fn try_eval(&self, expression: &str) -> Option<String> {
        let done = Command::new("emacsclient")
            .arg("--socket-name")
            .arg(self.socket())
            .args(["--eval", expression])
            .env_remove("ALTERNATE_EDITOR")
            .output()
            .unwrap();
        done.status.success().then(|| String::from_utf8(done.stdout).unwrap().trim_end().to_owned())
    }

    fn eval(&self, expression: &str) -> String {
        self.try_eval(expression).unwrap_or_else(|| panic!("Emacs fails at {expression}"))
    }

    /// Evaluates in the buffer that visits a file of the root.
    fn in_buffer(&self, name: &str, expression: &str) -> String {
        let file = Value::from(self.path(name).to_str().unwrap());
        self.eval(&format!("(with-current-buffer (find-file-noselect {file}) {expression})"))
    }

    /// What the buffer says, read as it stands; the file is not looked at.
    fn buffer(&self, name: &str) -> String {
        let file = Value::from(self.path(name).to_str().unwrap());
        let shown = self.eval(&format!(
            "(with-current-buffer (get-file-buffer {file}) (require 'json) (json-encode (buffer-string)))"
        ));
        let printed: String = serde_json::from_str(&shown).unwrap();
        serde_json::from_str(&printed).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("root").join(name)
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn open(&self, setting: &str) -> Workspace {
        let config = self.folder.path().join("config.toml");
        let server = Value::from(self.socket().to_str().unwrap());
        fs::write(&config, format!("[editors]\nemacs_server = {server}\n{setting}\n")).unwrap();
        let builder = Workspace::builder(self.folder.path().join("root"));
        builder.state_dir(self.folder.path().join("state")).config(config).open().unwrap()
    }

    fn edit(&self, name: &str, old: &str, new: &str) -> Answer {
        self.open("").call("agent-q", "edit_file", json!({"path": name, "old_str": old, "new_str": new}))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = self.emacs.kill();
        let _ = self.emacs.wait();
    }
}

// Shows: INV-004
#[test]
fn a_buffer_follows_its_file_and_keeps_point() {
    let rig = Rig::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "other\n")]);
    rig.in_buffer("a.txt", "(goto-char (point-min)) (search-forward \"thr\")");
    rig.in_buffer("b.txt", "(goto-char (point-max)) (insert \"mine\")");
    let answer = rig.edit("a.txt", "two", "second");
    assert!(answer.report.is_success(), "{}", answer.text);
    assert_eq!(rig.file("a.txt"), "one\nsecond\nthree\n");
    assert_eq!(rig.buffer("a.txt"), rig.file("a.txt"));
    assert_eq!(rig.in_buffer("a.txt", "(buffer-modified-p)"), "nil");
    assert_eq!(rig.in_buffer("a.txt", "(looking-at \"ee$\")"), "t");
    assert_eq!(rig.buffer("b.txt"), "other\nmine");
}

// Shows: INV-004
#[test]
fn unsaved_changes_are_refused_and_kept() {
    let rig = Rig::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    rig.in_buffer("b.txt", "(goto-char (point-max)) (insert \"mine\\n\")");
    let answer = rig.edit("b.txt", "one", "1");
    assert_eq!(answer.report.code(), "unsaved_buffer");
    assert!(
        answer.text.contains("b.txt") && answer.text.contains("save or revert the buffer"),
        "{}",
        answer.text
    );
    let patch =
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+1\n";
    for dry_run in [true, false] {
        let arguments = json!({"patch": patch, "dry_run": dry_run});
        let answer = rig.open("").call("native", "patch", arguments);
        assert_eq!(answer.report.code(), "unsaved_buffer", "{}", answer.text);
    }
    assert_eq!((rig.file("a.txt"), rig.file("b.txt")), ("one\n".into(), "one\n".into()));
    assert_eq!(rig.buffer("b.txt"), "one\nmine\n");
    rig.in_buffer("b.txt", "(save-buffer)");
    assert!(rig.edit("b.txt", "one", "1").report.is_success());
    assert_eq!(rig.buffer("b.txt"), "1\nmine\n");
}

#[test]
fn names_of_all_kinds_and_symlinks_lead_to_the_buffer() {
    let names = ["quote\" (kill-emacs) \\.txt", "größe 1.txt", "#{x} 'y' `z`.txt"];
    let rig = Rig::new(&names.map(|name| (name, "one\n")));
    std::os::unix::fs::symlink(names[1], rig.path("link.txt")).unwrap();
    for name in names {
        rig.in_buffer(name, "t");
        assert!(rig.edit(name, "one", "two").report.is_success());
        assert_eq!(rig.buffer(name), "two\n", "{name}");
    }
    assert!(rig.edit("link.txt", "two", "three").report.is_success());
    assert_eq!(rig.buffer(names[1]), "three\n");
    rig.in_buffer(names[1], "(insert \"mine\")");
    assert_eq!(rig.edit("link.txt", "three", "four").report.code(), "unsaved_buffer");
}

#[test]
fn undo_is_followed_and_a_deleted_file_leaves_its_buffer() {
    let rig = Rig::new(&[("a.txt", "one\n")]);
    rig.in_buffer("a.txt", "t");
    assert!(rig.edit("a.txt", "one", "two").report.is_success());
    assert_eq!(rig.buffer("a.txt"), "two\n");
    assert!(rig.open("").call("native", "undo_edit", json!({})).report.is_success());
    assert_eq!(rig.buffer("a.txt"), "one\n");
    let patch = "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
    let answer = rig.open("").call("native", "patch", json!({"patch": patch}));
    assert!(answer.report.is_success() && !rig.path("a.txt").exists(), "{}", answer.text);
    assert_eq!(rig.buffer("a.txt"), "one\n");
}

#[test]
fn switched_off_emacs_is_left_alone() {
    let rig = Rig::new(&[("a.txt", "one\n")]);
    rig.in_buffer("a.txt", "(goto-char (point-max)) (insert \"mine\\n\")");
    let arguments = json!({"path": "a.txt", "old_str": "one", "new_str": "two"});
    assert!(rig.open("emacs = false").call("agent-q", "edit_file", arguments).report.is_success());
    assert_eq!((rig.file("a.txt"), rig.buffer("a.txt")), ("two\n".into(), "one\nmine\n".into()));
}
