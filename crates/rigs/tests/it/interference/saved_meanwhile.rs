//! Another program saves a file by rename at the moment of the exchange: its newest version keeps the name.

use std::fs;

use super::fixture::{EDIT, Fixture, NEW, OLD};
use super::stepping_in::{self, Ended, LINKAT, RENAMEAT2, RenameFlags, Step, When};

/// Saves `a` as editors do: a new file is renamed to the name.
fn save(fixture: &Fixture, text: &str) {
    fs::write(fixture.outside().join("theirs"), text).unwrap();
    fs::rename(fixture.outside().join("theirs"), fixture.path("a")).unwrap();
}

/// Runs an edit. The first text is saved after the last look at the name, right before the exchange. If there is a second
/// text, it is saved while the new version is visible, right before the first one would go back.
fn edit_while_saving(fixture: &Fixture, first: &str, second: Option<&str>) -> Ended {
    let mut steps = vec![Step::new(When::Before, RENAMEAT2, 1, || save(fixture, first))];
    steps.extend(second.map(|second| {
        Step::new(When::Before, RENAMEAT2, 2, || {
            assert_eq!(fixture.read("a"), NEW, "the new version is visible");
            save(fixture, second);
        })
    }));
    stepping_in::run(fixture, RenameFlags::Supported, steps, EDIT)
}

#[test]
fn a_save_that_was_displaced_goes_back_and_the_edit_is_not_repeated() {
    let fixture = Fixture::new();
    let theirs = OLD.to_owned() + "theirs\n";
    let Ended { code, printed } = edit_while_saving(&fixture, &theirs, None);
    assert!(code == Some(1) && printed.contains("another program saved"), "{printed}");
    assert!(printed.contains("Look at the file"), "{printed}");
    assert_eq!((fixture.read("a"), fixture.list().len()), (theirs, 2));
    assert!(!fixture.output_of(&["log", "--all"]).contains("c1"), "it was not made");
    assert!(fixture.run(&[], EDIT).status.success());
    assert_eq!(fixture.read("a"), NEW.to_owned() + "theirs\n");
}

#[test]
fn a_newer_save_is_not_replaced_by_the_displaced_one() {
    let fixture = Fixture::new();
    let Ended { code, printed } = edit_while_saving(&fixture, "their first\n", Some("their second\n"));
    assert!(code == Some(1) && printed.contains("another program saved"), "{printed}");
    assert_eq!(fixture.read("a"), "their second\n");
    let names = fixture.list();
    let kept: Vec<&String> = names.iter().filter(|name| name.starts_with(".slipstitch-")).collect();
    assert_eq!(kept.len(), 1, "{names:?}: {printed}");
    assert_eq!(fixture.read(kept[0]), "their first\n");
    assert!(printed.contains(kept[0].as_str()), "the answer does not name the kept file: {printed}");
}

#[test]
fn a_save_before_the_exchange_is_edited() {
    let fixture = Fixture::new();
    // The new version gets its temporary name right before the name is looked at.
    let saved = Step::new(When::After, LINKAT, 1, || save(&fixture, &(OLD.to_owned() + "theirs\n")));
    let Ended { code, printed } = stepping_in::run(&fixture, RenameFlags::Supported, vec![saved], EDIT);
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!((fixture.read("a"), fixture.list().len()), (NEW.to_owned() + "theirs\n", 2));
}
