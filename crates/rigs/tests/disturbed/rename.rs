//! A file system that cannot exchange two names: the change goes in steps (`write_mode: rename`), and is all or nothing
//! there too.
//!
//! Every call that an old network file system refuses is refused: `renameat2` with any flag fails with EINVAL.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

use crate::site::{Rig, told};
use serde_json::Value;

/// No exchange, and no rename that spares what has the name.
const NO_FLAGS: &str = "inject=renameat2:error=EINVAL:when=1+";

const EDIT: &[&str] = &["edit", "a", "--old", "1", "--new", "ONE"];
const OLD: &str = "1\n2\n3\n";
const NEW: &str = "ONE\n2\n3\n";

fn both(text: &str) -> (String, String) {
    (text.into(), text.into())
}

/// Runs the program where renames know no flags, with something else besides.
fn run(rig: &Rig, besides: &[&str], arguments: &[&str]) -> Output {
    let more = besides.iter().flat_map(|what| ["-e", what]);
    rig.run(&["-e", NO_FLAGS].into_iter().chain(more).collect::<Vec<_>>(), arguments)
}

#[test]
fn a_change_in_steps_says_so_and_keeps_what_it_must() {
    let rig = Rig::new();
    fs::set_permissions(rig.at("a"), fs::Permissions::from_mode(0o751)).unwrap();
    let output = run(&rig, &[], &[&["--json"], EDIT].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["files"][0]["write_mode"], "rename", "{report}");
    assert_eq!((rig.text("a").as_str(), rig.names()), (NEW, vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(fs::metadata(rig.at("a")).unwrap().permissions().mode() & 0o7777, 0o751);
    assert!(told(run(&rig, &[], &["doctor"])).contains("in steps"));
    assert!(told(run(&rig, &[], &["undo"])).contains("Undid"));
    assert_eq!((rig.text("a").as_str(), rig.names().len()), (OLD, 2));
}

#[test]
fn with_exchange_the_same_edit_goes_at_once() {
    let rig = Rig::new();
    let output = rig.run(&[], &[&["--json"], EDIT].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["files"][0]["write_mode"], "exchange", "{report}");
}

/// The calls that move names, and how many of each a patch of two files makes at most.
const MOVES: &[(&str, usize)] = &[("linkat", 8), ("unlinkat", 12), ("renameat", 8)];

#[test]
fn a_kill_between_the_steps_leaves_all_old_or_all_new() {
    let (mut old, mut new) = (0, 0);
    for &(call, most) in MOVES {
        let mut killed = true;
        for number in 1..=most {
            let rig = Rig::new();
            let kill = format!("inject={call}:signal=KILL:when={number}");
            let output = run(&rig, &[&kill], &["patch", "../p"]);
            killed = output.status.signal() == Some(9);
            if !killed {
                break;
            }
            // The next start has no exchange either.
            let listed = told(run(&rig, &[], &["log", "--all"]));
            let side = rig.both();
            let what = format!("killed at {call}#{number}: {listed}");
            assert!(side == both(OLD) || side == both(NEW), "{what}: {side:?}");
            assert_eq!(rig.names(), ["a", "b"], "{what}");
            assert_eq!(listed.contains("c1"), side == both(NEW), "{what}");
            *(if side == both(NEW) { &mut new } else { &mut old }) += 1;
        }
        assert!(!killed, "there are more than {most} calls of {call}");
    }
    assert!(old >= 5 && new >= 1, "{old} old, {new} new");
}

#[test]
fn an_error_between_the_steps_leaves_everything_old_and_is_told() {
    let mut refused = 0;
    for &(call, most) in MOVES {
        for (number, error) in (1..=most).zip(["EIO", "ENOSPC", "EACCES", "EROFS"].into_iter().cycle()) {
            let rig = Rig::new();
            let fault = format!("inject={call}:error={error}:when={number}");
            let output = run(&rig, &[&fault], &["patch", "../p"]);
            let done = output.status.success();
            let said = told(output);
            let what = format!("{error} at {call}#{number}: {said}");
            assert_eq!(rig.both(), both(if done { NEW } else { OLD }), "{what}");
            assert!(done || said.starts_with("error: "), "{what}");
            run(&rig, &[], &["log"]);
            assert_eq!(rig.names(), ["a", "b"], "{what}");
            refused += usize::from(!done);
        }
    }
    assert!(refused >= 4, "{refused}");
}

/// Waits for something that another process does, not for ever.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Starts an edit that waits before each rename, and lets someone write when its new content is ready.
fn slipped_in(rig: &Rig, arguments: &[&str], write: impl Fn()) -> Output {
    let slowly = ["-e", "inject=renameat2:error=EINVAL:delay_enter=800000:when=1+"];
    let mut command = rig.command(&slowly, arguments);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    until("the new content is ready", || rig.names().len() > 2);
    write();
    child.wait_with_output().unwrap()
}

#[test]
fn a_foreign_version_that_slips_in_is_kept_and_the_edit_is_made_on_it() {
    for replaces in [false, true] {
        let rig = Rig::new();
        let output = slipped_in(&rig, EDIT, || match replaces {
            false => rig.add("a"),
            true => {
                fs::write(rig.outside().join("theirs"), OLD.to_owned() + "foreign\n").unwrap();
                fs::rename(rig.outside().join("theirs"), rig.at("a")).unwrap();
            }
        });
        assert!(output.status.success(), "{}", told(output));
        assert_eq!((rig.text("a"), rig.names().len()), (NEW.to_owned() + "foreign\n", 2));
    }
}

#[test]
fn a_foreign_version_without_the_text_is_kept_as_it_is() {
    let rig = Rig::new();
    let output = slipped_in(&rig, EDIT, || fs::write(rig.at("a"), "theirs alone\n").unwrap());
    assert_eq!(output.status.code(), Some(1), "{}", told(output));
    assert_eq!((rig.text("a").as_str(), rig.names().len()), ("theirs alone\n", 2));
}

#[test]
fn a_file_made_in_the_moment_without_one_stays_and_the_old_one_is_beside_it() {
    let rig = Rig::new();
    // The file is set aside by the second link; the third would give the new one its name.
    let slowly = ["-e", NO_FLAGS, "-e", "inject=linkat:delay_enter=1500000:when=3"];
    let mut command = rig.command(&slowly, EDIT);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    until("the file is aside", || !rig.at("a").exists());
    fs::write(rig.at("a"), "theirs\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let (code, said) = (output.status.code(), told(output));
    assert_ne!(code, Some(0), "{said}");
    assert_eq!(rig.text("a"), "theirs\n");
    let names = rig.names();
    let beside: Vec<&String> = names.iter().filter(|name| name.starts_with(".slipstitch-")).collect();
    assert_eq!(beside.len(), 1, "{names:?}: {said}");
    assert_eq!(rig.text(beside[0]), OLD);
    assert!(said.contains(beside[0].as_str()), "it is told where: {said}");
}
