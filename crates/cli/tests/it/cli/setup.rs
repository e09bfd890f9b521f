//! Roots, state folders and settings.

use std::fs;
use std::os::unix::fs::DirBuilderExt;

use super::rig::{Rig, Run};

#[test]
fn an_invalid_root_is_bad_input() {
    let rig = Rig::with("one\n");
    rig.run(["--root", "gone", "read", "a.txt"]).assert_failed(2, &["`gone` does not exist", "--root"]);
    rig.run(["read", "a.txt", "--root", "a.txt"]).assert_failed(2, &["`a.txt` is not a folder"]);
    let (code, report) = rig.json(["--root", "gone", "log"]);
    assert_eq!((code, report["code"].as_str()), (2, Some("bad_root")));
    for field in ["status", "message", "hint", "files", "warnings", "candidates"] {
        assert!(!report[field].is_null(), "{field}: {report}");
    }
}

#[test]
fn invalid_settings_are_bad_input() {
    let rig = Rig::with("one\n");
    rig.run(["--config", "gone.toml", "read", "a.txt"]).assert_failed(2, &["gone.toml"]);
    fs::write(rig.outside().join("bad.toml"), "[limits]\nmax = 1\n").unwrap();
    let config = rig.outside().join("bad.toml");
    rig.run(["read", "a.txt", "--config", config.to_str().unwrap()]).assert_failed(2, &["bad.toml", "max"]);
    let (code, report) = rig.json(["--config", "gone.toml", "undo"]);
    assert_eq!((code, report["code"].as_str()), (2, Some("bad_config")));
}

#[test]
fn applies_the_settings() {
    let rig = Rig::with("one\n");
    let config = rig.outside().join("small.toml");
    fs::write(&config, "[limits]\nmax_request_bytes = 5\n").unwrap();
    let edit =
        ["edit", "a.txt", "--old", "one", "--new", "much longer", "--config", config.to_str().unwrap()];
    rig.run(edit).assert_failed(1, &["the limit is 5"]);
    assert_eq!(rig.get("a.txt"), "one\n");
}

#[test]
fn an_unusable_state_folder_is_a_failure() {
    let rig = Rig::with("one\n");
    let file = rig.outside().join("file");
    fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    rig.run(["--state-dir", file, "read", "a.txt"]).assert_failed(3, &["state folder", "--state-dir"]);
    rig.run(["read", "a.txt", "--state-dir", "inside"]).assert_failed(3, &["inside the root"]);
    let (code, report) = rig.json(["--state-dir", file, "undo"]);
    assert_eq!((code, report["status"].as_str()), (3, Some("failed")));
}

#[test]
fn an_unreadable_journal_is_a_failure_and_nothing_is_written() {
    let rig = Rig::with("one\n");
    let state = rig.outside().join("state");
    fs::DirBuilder::new().mode(0o700).create(&state).unwrap();
    fs::write(state.join("journal.db"), "this is not a database, no matter how often it is read ".repeat(40))
        .unwrap();
    let edit = ["edit", "a.txt", "--old", "one", "--new", "1"];
    rig.run(edit).assert_failed(3, &["the journal cannot"]);
    let (code, report) = rig.json(edit);
    assert_eq!((code, report["code"].as_str()), (3, Some("journal_error")));
    assert_eq!(rig.get("a.txt"), "one\n");
}

#[test]
fn state_dir_overrides_the_environment() {
    let rig = Rig::with("one\n");
    let other = rig.outside().join("other");
    let edit = ["--no-fsync", "edit", "a.txt", "--old", "one", "--new", "1", "--state-dir"];
    rig.run(edit.into_iter().chain([other.to_str().unwrap()])).assert_done();
    assert!(other.join("journal.db").exists());
    assert_eq!(rig.run(["log"]).out, "");
}

#[test]
fn empty_variables_count_as_unset() {
    let rig = Rig::with("one\n");
    let edit = ["edit", "a.txt", "--old", "one", "--new", "1"];
    let mut command = rig.command();
    command.env("SLIPSTITCH_SESSION", "").env("SLIPSTITCH_AGENT", "").env("SLIPSTITCH_STATE_DIR", "");
    Run::of(command.args(edit)).assert_done();
    let log = Run::of(rig.command().env("SLIPSTITCH_STATE_DIR", "").args(["log", "--json"])).object();
    assert_eq!(log["changes"][0]["session"], "cli");
    assert!(log["changes"][0]["agent"].is_null());
}
