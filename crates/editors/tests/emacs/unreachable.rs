//! More than one Emacs, and those that cannot be asked: never a change under unsaved work, never silence.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::json;
use slipstitch_editors::ServerState;

use crate::rig::{Rig, wait_until};

/// Long enough for a request to be sent, much shorter than what a stopped Emacs needs to answer.
const SHORT: Duration = Duration::from_millis(300);

// Shows: INV-004, 002-every-emacs
#[test]
fn asks_and_reloads_every_server() {
    let rig = Rig::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let (first, second) = (rig.daemon("first"), rig.daemon("second"));
    first.in_buffer("a.txt", "t");
    second.in_buffer("a.txt", "t");
    // Without lock files, only the server knows.
    second.in_buffer("b.txt", "(setq create-lockfiles nil)");
    second.type_into("b.txt");
    rig.edit_cleanly("a.txt", "one", "two");
    assert_eq!((first.buffer("a.txt"), second.buffer("a.txt")), ("two\n".into(), "two\n".into()));
    let answer = rig.edit("b.txt", "one", "two");
    assert_eq!(answer.report.code(), "unsaved_buffer");
    assert!(
        answer.text.contains("`b.txt` has unsaved changes in Emacs (server `second`)"),
        "{}",
        answer.text
    );
    assert_eq!(rig.file("b.txt"), "one\n");
}

// Shows: INV-004, 002-every-emacs
#[test]
fn a_busy_server_is_reported_and_reloads_later() {
    let rig = Rig::new(&[("a.txt", "one\n")]).waiting(SHORT);
    let emacs = rig.daemon("busy");
    emacs.in_buffer("a.txt", "t");
    emacs.process.signal("STOP");
    let said = "Emacs (server `busy`) did not answer within 0.3 s; if it has `a.txt` open";
    let edits = json!({"path": "a.txt", "old_text": "one", "new_text": "two", "dry_run": true});
    let dry = rig.open().call("native", "edit_file", edits);
    assert!(dry.report.is_success() && dry.report.warnings[0].contains(said), "{}", dry.text);
    let answer = rig.edit("a.txt", "one", "two");
    assert!(answer.report.is_success() && answer.text.contains(said), "{}", answer.text);
    assert_eq!(rig.file("a.txt"), "two\n");
    emacs.process.signal("CONT");
    wait_until("the buffer is reloaded", || emacs.buffer("a.txt") == "two\n");
}

// Shows: INV-004, 002-every-emacs
#[test]
fn a_busy_server_with_unsaved_changes_prevents_the_edit() {
    let rig = Rig::new(&[("a.txt", "one\n")]).waiting(SHORT);
    let emacs = rig.daemon("busy");
    emacs.type_into("a.txt");
    emacs.process.signal("STOP");
    let answer = rig.edit("a.txt", "one", "two");
    assert_eq!(answer.report.code(), "unsaved_buffer", "{}", answer.text);
    assert!(answer.text.contains("This is known from the lock file `.#a.txt`."), "{}", answer.text);
    assert_eq!(rig.file("a.txt"), "one\n");
    emacs.process.signal("CONT");
    assert_eq!(emacs.buffer("a.txt"), "one\nmine\n");
}

// Shows: INV-004, 002-every-emacs
#[test]
fn a_tcp_server_is_asked_with_its_key() {
    let rig = Rig::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let emacs = rig.tcp_daemon("tcp");
    emacs.in_buffer("a.txt", "t");
    emacs.in_buffer("b.txt", "(setq create-lockfiles nil)");
    emacs.type_into("b.txt");
    rig.edit_cleanly("a.txt", "one", "two");
    assert_eq!(emacs.buffer("a.txt"), "two\n");
    let answer = rig.edit("b.txt", "one", "two");
    assert_eq!(answer.report.code(), "unsaved_buffer", "{}", answer.text);
    assert!(answer.text.contains("unsaved changes in Emacs (server `tcp` over TCP)"), "{}", answer.text);
    assert_eq!(rig.file("b.txt"), "one\n");
    // With a wrong key the server refuses, and the answer says so.
    let good = fs::read_to_string(&emacs.address).unwrap();
    let (address, _) = good.split_once('\n').unwrap();
    fs::write(&emacs.address, format!("{address}\n{}", "x".repeat(64))).unwrap();
    let answer = rig.edit("a.txt", "two", "three");
    let said = "Emacs (server `tcp` over TCP) could not be asked whether it has `a.txt` open";
    assert!(answer.report.is_success() && answer.text.contains(said), "{}", answer.text);
    fs::write(&emacs.address, good).unwrap();
    rig.edit_cleanly("a.txt", "three", "four");
    assert_eq!(emacs.buffer("a.txt"), "four\n");
}

// Shows: INV-004, 002-every-emacs
#[test]
fn an_emacs_without_a_server_prevents_the_edit_by_its_lock_until_it_is_killed() {
    let rig = Rig::new(&[("a.txt", "one\n")]);
    std::os::unix::fs::symlink("a.txt", rig.path("link.txt")).unwrap();
    let mut emacs = rig.emacs_without_server("link.txt");
    // The lock is beside the real file, whatever name either side uses.
    assert!(fs::symlink_metadata(rig.path(".#a.txt")).is_ok());
    for name in ["a.txt", "link.txt"] {
        let answer = rig.edit(name, "one", "two");
        assert_eq!(answer.report.code(), "unsaved_buffer", "{}", answer.text);
    }
    assert_eq!(rig.file("a.txt"), "one\n");
    emacs.kill();
    let answer = rig.edit("a.txt", "one", "two");
    assert!(answer.report.is_success(), "{}", answer.text);
    assert!(
        answer.text.contains("ignored the stale lock file `.#a.txt`: Emacs (process "),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("is no longer running"), "{}", answer.text);
    assert_eq!(rig.file("a.txt"), "two\n");
}

// Shows: INV-004, INV-002
#[test]
fn an_emacs_that_is_killed_while_it_is_asked_ends_the_wait() {
    let rig = Rig::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let mut emacs = rig.daemon("dying");
    emacs.in_buffer("a.txt", "t");
    emacs.type_into("b.txt");
    emacs.process.signal("STOP");
    let answer = thread::scope(|scope| {
        let edit = scope.spawn(|| rig.edit("a.txt", "one", "two"));
        thread::sleep(SHORT);
        assert!(!edit.is_finished(), "a stopped Emacs has answered");
        emacs.process.kill();
        edit.join().unwrap()
    });
    assert!(answer.report.is_success(), "{}", answer.text);
    assert_eq!(rig.file("a.txt"), "two\n");
    // Its socket is left behind, and its lock is stale.
    let answer = rig.edit("b.txt", "one", "two");
    assert!(answer.report.is_success() && answer.text.contains("is no longer running"), "{}", answer.text);
    assert_eq!(rig.file("b.txt"), "two\n");
}

#[test]
fn changes_that_were_never_saved_are_reported() {
    let rig = Rig::new(&[("a.txt", "one\n")]);
    let mut emacs = rig.daemon("test");
    emacs.in_buffer("a.txt", "(setq create-lockfiles nil)");
    emacs.type_into("a.txt");
    emacs.in_buffer("a.txt", "(do-auto-save t)");
    emacs.process.kill();
    let answer = rig.edit("a.txt", "one", "two");
    assert!(
        answer.report.is_success() && answer.text.contains("`#a.txt#` is newer than the file"),
        "{}",
        answer.text
    );
}

// Shows: INV-004, 002-every-emacs
#[test]
fn a_server_in_an_unusual_folder_is_found_by_its_process() {
    let rig = Rig::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]).searching_processes();
    let emacs = rig.hidden_daemon("mine");
    emacs.in_buffer("a.txt", "t");
    emacs.in_buffer("b.txt", "(setq create-lockfiles nil)");
    emacs.type_into("b.txt");
    // Other tests keep the machine busy, and then Emacs may need longer than anyone waits.
    let refused = |answer: &slipstitch::core::engine::Answer| answer.report.code() == "unsaved_buffer";
    wait_until("the edit of an unsaved buffer is refused", || {
        let answer = rig.edit("b.txt", "one", "two");
        assert!(refused(&answer) || answer.text.contains("did not answer"), "{}", answer.text);
        let is_refused = refused(&answer) && answer.text.contains("Emacs (server `mine`)");
        assert_eq!(rig.file("b.txt"), if refused(&answer) { "one\n" } else { "two\n" });
        fs::write(rig.path("b.txt"), "one\n").unwrap();
        is_refused
    });
    assert!(rig.edit("a.txt", "one", "two").report.is_success());
    wait_until("the buffer is reloaded", || emacs.buffer("a.txt") == "two\n");
}

// Shows: INV-004, 002-every-emacs
#[test]
fn a_tcp_server_whose_server_file_is_in_an_unusual_folder_is_named() {
    let rig = Rig::new(&[("a.txt", "one\n")]).searching_processes();
    let emacs = rig.hidden_tcp_emacs("a.txt");
    let own = format!("Emacs (process {})", emacs.id());
    let answer = rig.edit("a.txt", "one", "two");
    assert!(answer.report.is_success(), "{}", answer.text);
    assert!(answer.text.contains(&format!("{own} has a server on TCP port ")), "{}", answer.text);
    assert!(answer.text.contains("the setting `editors.emacs_server` can name it"), "{}", answer.text);
    let state = rig.emacs().servers().into_iter().find(|one| one.name == own).map(|one| one.state);
    assert!(matches!(&state, Some(ServerState::Failed(why)) if why.contains("TCP port")), "{state:?}");
    // With the path of its server file, it is asked.
    let file = rig.home().with_file_name("hidden/hidden");
    let answer = rig.edit_asking(&file, "a.txt", "two", "three");
    assert_eq!(answer.report.code(), "unsaved_buffer", "{}", answer.text);
    assert_eq!(rig.file("a.txt"), "two\n");
}

// Shows: INV-004, 002-every-emacs
#[test]
fn an_emacs_that_cannot_be_asked_is_named_if_it_seems_to_have_the_file_open() {
    let rig = Rig::new(&[("a.txt", "one\n")]).searching_processes();
    let elsewhere = rig.emacs_that_cannot_be_asked(&rig.home(), "a.txt");
    let answer = rig.edit("a.txt", "one", "two");
    assert!(answer.report.is_success() && !answer.text.contains("no server"), "{}", answer.text);
    drop(elsewhere);
    fs::remove_file(rig.home().parent().unwrap().join("ready")).unwrap();
    let root = rig.path("a.txt").parent().unwrap().canonicalize().unwrap();
    let _here = rig.emacs_that_cannot_be_asked(&root, "a.txt");
    let answer = rig.edit("a.txt", "two", "three");
    assert!(answer.report.is_success(), "{}", answer.text);
    let warning = "has no server, so it could not be asked; if it has `a.txt` open, its buffer may have unsaved changes";
    assert!(answer.text.contains(warning), "{}", answer.text);
    let statuses = rig.emacs().servers();
    let here = root.display().to_string();
    assert!(
        statuses.iter().any(|one| one.state == ServerState::NoServer && one.path == here),
        "{statuses:?}"
    );
}

/// The file's buffer is named after a symlink, and nothing about the other file's folder points to this Emacs.
// Shows: INV-004, 002-every-emacs
#[test]
fn an_emacs_that_cannot_be_asked_prevents_the_edit_by_its_auto_save_list() {
    let rig = Rig::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]).searching_processes();
    std::os::unix::fs::symlink("a.txt", rig.path("link.txt")).unwrap();
    let visit =
        |name: &str| format!("(find-file {})", serde_json::Value::from(rig.path(name).to_str().unwrap()));
    let script = format!("{} {} (insert \"mine\") (do-auto-save) (ready)", visit("b.txt"), visit("link.txt"));
    let emacs = rig.emacs_in_a_terminal(&script);
    let own = format!("Emacs (process {})", emacs.emacs);
    let answer = rig.edit("a.txt", "one", "two");
    assert_eq!(answer.report.code(), "unsaved_buffer", "{}", answer.text);
    assert!(answer.text.contains(&format!("in {own}")), "{}", answer.text);
    assert!(answer.text.contains("This is known from the auto-save file `#link.txt#`."), "{}", answer.text);
    assert_eq!(rig.file("a.txt"), "one\n");
    // A file that it has open without unsaved changes, in a folder that does not point to it.
    let answer = rig.edit("b.txt", "one", "two");
    assert!(answer.report.is_success(), "{}", answer.text);
    assert_eq!(rig.file("b.txt"), "two\n");
    assert!(
        answer
            .text
            .contains(&format!("{own} has no server, so it could not be asked; if it has `b.txt` open"))
    );
    drop(emacs);
    wait_until("the edit of the dead Emacs' file is allowed", || {
        rig.edit("a.txt", "one", "two").report.is_success()
    });
}

// Shows: INV-004, 002-every-emacs
#[test]
fn an_emacs_of_which_nothing_is_known_is_named_once() {
    let rig = Rig::new(&[("a.txt", "one\n")]).searching_processes();
    let emacs = rig.emacs_in_a_terminal("(ready)");
    std::thread::sleep(Duration::from_millis(500));
    let workspace = rig.open();
    let edit = |old: &str, new: &str, dry: bool| {
        let call = json!({"path": "a.txt", "old_text": old, "new_text": new, "dry_run": dry});
        let answer = workspace.call("native", "edit_file", call);
        assert!(answer.report.is_success(), "{}", answer.text);
        answer.text
    };
    let notice = format!(
        "Emacs (process {}) has no server, so open buffers could not be checked there (M-x server-start starts one)",
        emacs.emacs
    );
    for _ in 0..2 {
        assert!(edit("one", "two", true).contains(&notice), "a dry run is not the answer to the edit");
    }
    assert!(edit("one", "two", false).contains(&notice));
    assert!(!edit("two", "three", false).contains("Emacs"), "once is enough");
    let state =
        rig.emacs().servers().into_iter().find(|one| one.name == format!("Emacs (process {})", emacs.emacs));
    assert_eq!(state.map(|one| one.state), Some(ServerState::NoServer));
}
