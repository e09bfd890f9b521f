//! Edits files that are open in a real Emacs.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slipstitch::Workspace;
use slipstitch::core::engine::Answer;

/// An Emacs server and a folder to edit. Dropping it stops the server, also when a test fails.
struct Fixture {
    folder: tempfile::TempDir,
    emacs: Child,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join("root").join(name), text).unwrap();
        }
        let emacs = Command::new("emacs")
            .args(["--quick", "--fg-daemon=test"])
            .env("HOME", folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .env_remove("EMACS_SOCKET_NAME")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("these tests need Emacs: apt-get install emacs-nox");
        let fixture = Self { folder, emacs };
        let start = Instant::now();
        while fixture.try_eval("t").is_none() {
            assert!(start.elapsed() < Duration::from_secs(60), "Emacs does not start");
            thread::sleep(Duration::from_millis(50));
        }
        fixture
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("emacs/test")
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
        self.try_eval(expression).unwrap_or_else(|| panic!("Emacs cannot evaluate {expression}"))
    }

    /// Evaluates an expression in the buffer that visits a file of the root, opening it if necessary.
    fn in_buffer(&self, name: &str, expression: &str) -> String {
        let file = Value::from(self.path(name).to_str().unwrap());
        self.eval(&format!("(with-current-buffer (find-file-noselect {file}) {expression})"))
    }

    /// The text of an open buffer, without touching the file.
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

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.emacs.kill();
        let _ = self.emacs.wait();
    }
}

// Shows: INV-004
#[test]
fn reloads_the_buffer_and_keeps_point() {
    let fixture = Fixture::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "other\n")]);
    fixture.in_buffer("a.txt", "(goto-char (point-min)) (search-forward \"thr\")");
    fixture.in_buffer("b.txt", "(goto-char (point-max)) (insert \"mine\")");
    let answer = fixture.edit("a.txt", "two", "second");
    assert!(answer.report.is_success(), "{}", answer.text);
    assert_eq!(fixture.file("a.txt"), "one\nsecond\nthree\n");
    assert_eq!(fixture.buffer("a.txt"), fixture.file("a.txt"));
    assert_eq!(fixture.in_buffer("a.txt", "(buffer-modified-p)"), "nil");
    assert_eq!(fixture.in_buffer("a.txt", "(looking-at \"ee$\")"), "t");
    assert_eq!(fixture.buffer("b.txt"), "other\nmine");
}

// Shows: INV-004
#[test]
fn refuses_to_change_a_file_with_unsaved_changes() {
    let fixture = Fixture::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    fixture.in_buffer("b.txt", "(goto-char (point-max)) (insert \"mine\\n\")");
    let answer = fixture.edit("b.txt", "one", "1");
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
        let answer = fixture.open("").call("native", "patch", arguments);
        assert_eq!(answer.report.code(), "unsaved_buffer", "{}", answer.text);
    }
    assert_eq!((fixture.file("a.txt"), fixture.file("b.txt")), ("one\n".into(), "one\n".into()));
    assert_eq!(fixture.buffer("b.txt"), "one\nmine\n");
    fixture.in_buffer("b.txt", "(save-buffer)");
    assert!(fixture.edit("b.txt", "one", "1").report.is_success());
    assert_eq!(fixture.buffer("b.txt"), "1\nmine\n");
}

#[test]
fn finds_buffers_by_unusual_names_and_through_symlinks() {
    let names = ["quote\" (kill-emacs) \\.txt", "größe 1.txt", "#{x} 'y' `z`.txt"];
    let fixture = Fixture::new(&names.map(|name| (name, "one\n")));
    std::os::unix::fs::symlink(names[1], fixture.path("link.txt")).unwrap();
    for name in names {
        fixture.in_buffer(name, "t");
        assert!(fixture.edit(name, "one", "two").report.is_success());
        assert_eq!(fixture.buffer(name), "two\n", "{name}");
    }
    assert!(fixture.edit("link.txt", "two", "three").report.is_success());
    assert_eq!(fixture.buffer(names[1]), "three\n");
    fixture.in_buffer(names[1], "(insert \"mine\")");
    assert_eq!(fixture.edit("link.txt", "three", "four").report.code(), "unsaved_buffer");
}

#[test]
fn reloads_after_undo_and_keeps_the_buffer_of_a_deleted_file() {
    let fixture = Fixture::new(&[("a.txt", "one\n")]);
    fixture.in_buffer("a.txt", "t");
    assert!(fixture.edit("a.txt", "one", "two").report.is_success());
    assert_eq!(fixture.buffer("a.txt"), "two\n");
    assert!(fixture.open("").call("native", "undo_edit", json!({})).report.is_success());
    assert_eq!(fixture.buffer("a.txt"), "one\n");
    let patch = "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
    let answer = fixture.open("").call("native", "patch", json!({"patch": patch}));
    assert!(answer.report.is_success() && !fixture.path("a.txt").exists(), "{}", answer.text);
    assert_eq!(fixture.buffer("a.txt"), "one\n");
}

#[test]
fn does_nothing_when_disabled() {
    let fixture = Fixture::new(&[("a.txt", "one\n")]);
    fixture.in_buffer("a.txt", "(goto-char (point-max)) (insert \"mine\\n\")");
    let arguments = json!({"path": "a.txt", "old_str": "one", "new_str": "two"});
    assert!(fixture.open("emacs = false").call("agent-q", "edit_file", arguments).report.is_success());
    assert_eq!((fixture.file("a.txt"), fixture.buffer("a.txt")), ("two\n".into(), "one\nmine\n".into()));
}
