//! Another program saves a file by rename at the moment of the exchange: its newest version keeps the name.

use std::fs;
use std::process::Output;
use std::thread;
use std::time::Duration;

use super::fixture::{EDIT, Fixture, NEW, OLD, text_of, wait_until};

/// Saves `a` as editors do: a new file is renamed to the name.
fn save(fixture: &Fixture, text: &str) {
    fs::write(fixture.outside().join("theirs"), text).unwrap();
    fs::rename(fixture.outside().join("theirs"), fixture.path("a")).unwrap();
}

/// Runs an edit whose exchanges are delayed, and saves the first text when the new version is prepared. If there is a second
/// text, it is saved while the new version is visible.
fn edit_while_saving(fixture: &Fixture, first: &str, second: Option<&str>) -> Output {
    let child = fixture.start(&["-e", "inject=renameat2:delay_enter=2000000:when=1..2"], EDIT);
    wait_until("the new version is prepared", || fixture.list().len() > 2);
    // By then the name was looked at, and the exchange is waiting.
    thread::sleep(Duration::from_millis(700));
    save(fixture, first);
    if let Some(second) = second {
        wait_until("the new version is visible", || fixture.read("a") == NEW);
        save(fixture, second);
    }
    child.wait_with_output().unwrap()
}

#[test]
fn a_save_that_was_displaced_goes_back_and_the_edit_is_not_repeated() {
    let fixture = Fixture::new();
    let theirs = OLD.to_owned() + "theirs\n";
    let output = edit_while_saving(&fixture, &theirs, None);
    let (code, text) = (output.status.code(), text_of(output));
    assert!(code == Some(1) && text.contains("another program saved"), "{text}");
    assert!(text.contains("Read the file again"), "{text}");
    assert_eq!((fixture.read("a"), fixture.list().len()), (theirs, 2));
    assert!(!fixture.output_of(&["log", "--all"]).contains("c1"), "it was not made");
    assert!(fixture.run(&[], EDIT).status.success());
    assert_eq!(fixture.read("a"), NEW.to_owned() + "theirs\n");
}

#[test]
fn a_newer_save_is_not_replaced_by_the_displaced_one() {
    let fixture = Fixture::new();
    let output = edit_while_saving(&fixture, "their first\n", Some("their second\n"));
    let (code, text) = (output.status.code(), text_of(output));
    assert!(code == Some(1) && text.contains("another program saved"), "{text}");
    assert_eq!(fixture.read("a"), "their second\n");
    let names = fixture.list();
    let kept: Vec<&String> = names.iter().filter(|name| name.starts_with(".slipstitch-")).collect();
    assert_eq!(kept.len(), 1, "{names:?}: {text}");
    assert_eq!(fixture.read(kept[0]), "their first\n");
    assert!(text.contains(kept[0].as_str()), "the answer does not name the kept file: {text}");
}

#[test]
fn a_save_before_the_exchange_is_edited() {
    let fixture = Fixture::new();
    // The new version gets its temporary name right before the name is looked at.
    let child = fixture.start(&["-e", "inject=linkat:delay_exit=1500000:when=1"], EDIT);
    wait_until("the new version is prepared", || fixture.list().len() > 2);
    save(&fixture, &(OLD.to_owned() + "theirs\n"));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text_of(output));
    assert_eq!((fixture.read("a"), fixture.list().len()), (NEW.to_owned() + "theirs\n", 2));
}
