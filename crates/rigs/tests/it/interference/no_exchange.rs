//! A file system that cannot exchange two names: changes take several steps (`write_mode: rename`) and are still all or
//! nothing.
//!
//! `renameat2` fails with EINVAL for any flag, as on old network file systems.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use serde_json::Value;

use super::fixture::{EDIT, Fixture, NEW, OLD, PATCH_BOTH, text_of};
use super::stepping_in::{self, Ended, LINKAT, RENAMEAT2, RenameFlags, Step, When};

/// Neither `RENAME_EXCHANGE` nor `RENAME_NOREPLACE`.
const NO_RENAME_FLAGS: &str = "inject=renameat2:error=EINVAL:when=1+";

fn both(text: &str) -> (String, String) {
    (text.into(), text.into())
}

/// Runs the program without rename flags and with further injections.
fn run(fixture: &Fixture, injections: &[&str], args: &[&str]) -> Output {
    let more = injections.iter().flat_map(|injection| ["-e", injection]);
    fixture.run(&["-e", NO_RENAME_FLAGS].into_iter().chain(more).collect::<Vec<_>>(), args)
}

#[test]
fn edit_without_exchange_reports_its_write_mode_and_keeps_permissions() {
    let fixture = Fixture::new();
    fs::set_permissions(fixture.path("a"), fs::Permissions::from_mode(0o751)).unwrap();
    let output = run(&fixture, &[], &[&["--json"], EDIT].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["files"][0]["write_mode"], "rename", "{report}");
    assert_eq!((fixture.read("a").as_str(), fixture.list()), (NEW, vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(fs::metadata(fixture.path("a")).unwrap().permissions().mode() & 0o7777, 0o751);
    assert!(text_of(run(&fixture, &[], &["doctor"])).contains("in steps"));
    assert!(text_of(run(&fixture, &[], &["undo"])).contains("Undid"));
    assert_eq!((fixture.read("a").as_str(), fixture.list().len()), (OLD, 2));
}

#[test]
fn edit_with_exchange_reports_its_write_mode() {
    let fixture = Fixture::new();
    let output = fixture.run(&[], &[&["--json"], EDIT].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["files"][0]["write_mode"], "exchange", "{report}");
}

/// Calls that change names, and the most that a patch of two files makes of each.
const NAME_CALLS: &[(&str, usize)] = &[("linkat", 8), ("unlinkat", 12), ("renameat", 8)];

#[test]
fn a_kill_between_the_steps_leaves_all_old_or_all_new() {
    let (mut old, mut new) = (0, 0);
    for &(call, max) in NAME_CALLS {
        let mut killed = true;
        for number in 1..=max {
            let fixture = Fixture::new();
            let kill = format!("inject={call}:signal=KILL:when={number}");
            let output = run(&fixture, &[&kill], PATCH_BOTH);
            killed = output.status.signal() == Some(9);
            if !killed {
                break;
            }
            // Recovery cannot exchange names either.
            let log = text_of(run(&fixture, &[], &["log", "--all"]));
            let files = fixture.read_both();
            let place = format!("killed at {call}#{number}: {log}");
            assert!(files == both(OLD) || files == both(NEW), "{place}: {files:?}");
            assert_eq!(fixture.list(), ["a", "b"], "{place}");
            assert_eq!(log.contains("c1"), files == both(NEW), "{place}");
            *(if files == both(NEW) { &mut new } else { &mut old }) += 1;
        }
        assert!(!killed, "there are more than {max} calls of {call}");
    }
    assert!(old >= 5 && new >= 1, "{old} old, {new} new");
}

#[test]
fn an_error_between_the_steps_is_reported_and_leaves_files_unchanged() {
    let mut refused = 0;
    for &(call, max) in NAME_CALLS {
        for (number, error) in (1..=max).zip(["EIO", "ENOSPC", "EACCES", "EROFS"].into_iter().cycle()) {
            let fixture = Fixture::new();
            let failure = format!("inject={call}:error={error}:when={number}");
            let output = run(&fixture, &[&failure], PATCH_BOTH);
            let succeeded = output.status.success();
            let text = text_of(output);
            let place = format!("{error} at {call}#{number}: {text}");
            assert_eq!(fixture.read_both(), both(if succeeded { NEW } else { OLD }), "{place}");
            assert!(succeeded || text.starts_with("error: "), "{place}");
            run(&fixture, &[], &["log"]);
            assert_eq!(fixture.list(), ["a", "b"], "{place}");
            refused += usize::from(!succeeded);
        }
    }
    assert!(refused >= 4, "{refused}");
}

/// Edits `a` and calls `write` after the last look at the name, right before the first rename.
fn edit_while(fixture: &Fixture, write: impl Fn()) -> Ended {
    let steps = vec![Step::new(When::Before, RENAMEAT2, 1, write)];
    stepping_in::run(fixture, RenameFlags::Unsupported, steps, EDIT)
}

#[test]
fn a_foreign_version_that_appears_meanwhile_is_kept_and_the_edit_can_be_repeated() {
    for replaces in [false, true] {
        let fixture = Fixture::new();
        let Ended { code, printed } = edit_while(&fixture, || match replaces {
            false => fixture.append_foreign_line("a"),
            true => {
                fs::write(fixture.outside().join("theirs"), OLD.to_owned() + "foreign\n").unwrap();
                fs::rename(fixture.outside().join("theirs"), fixture.path("a")).unwrap();
            }
        });
        // Their program may have read the new version, so the edit is not repeated without looking.
        assert!(code == Some(1) && printed.contains("another program saved"), "{printed}");
        assert_eq!((fixture.read("a"), fixture.list().len()), (OLD.to_owned() + "foreign\n", 2));
        assert!(run(&fixture, &[], EDIT).status.success());
        assert_eq!((fixture.read("a"), fixture.list().len()), (NEW.to_owned() + "foreign\n", 2));
    }
}

#[test]
fn a_foreign_version_without_the_old_text_is_kept() {
    let fixture = Fixture::new();
    let ended = edit_while(&fixture, || fs::write(fixture.path("a"), "theirs alone\n").unwrap());
    assert_eq!(ended.code, Some(1), "{}", ended.printed);
    assert_eq!((fixture.read("a").as_str(), fixture.list().len()), ("theirs alone\n", 2));
}

#[test]
fn a_file_created_between_the_steps_is_kept_next_to_the_old_version() {
    let fixture = Fixture::new();
    // The first link names the new file; the second would put it into place, after a rename has set the old one aside.
    let create = Step::new(When::Before, LINKAT, 2, || {
        assert!(!fixture.path("a").exists(), "the file is set aside");
        fs::write(fixture.path("a"), "theirs\n").unwrap();
    });
    let Ended { code, printed: text } =
        stepping_in::run(&fixture, RenameFlags::Unsupported, vec![create], EDIT);
    assert_ne!(code, Some(0), "{text}");
    assert_eq!(fixture.read("a"), "theirs\n");
    let names = fixture.list();
    let kept: Vec<&String> = names.iter().filter(|name| name.starts_with(".slipstitch-")).collect();
    assert_eq!(kept.len(), 1, "{names:?}: {text}");
    assert_eq!(fixture.read(kept[0]), OLD);
    assert!(text.contains(kept[0].as_str()), "the error does not name the kept file: {text}");
}
