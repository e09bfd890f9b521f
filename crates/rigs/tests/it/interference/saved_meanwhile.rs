//! Another program saves a file by rename at the moment of the exchange: its newest version keeps the name.

use std::fs;

use super::fixture::{EDIT, Fixture, NEW, OLD, PATCH_BOTH};
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

/// The files that were kept next to `a`.
fn kept_files(fixture: &Fixture) -> Vec<String> {
    fixture.list().into_iter().filter(|name| name.starts_with(".slipstitch-")).collect()
}

// Regression on FUSE: an edit was refused as if nothing had been written, although it was in the file.
#[test]
fn a_save_to_the_name_while_an_edit_is_taken_back_may_have_the_edit() {
    let fixture = Fixture::new();
    let displaced = Step::new(When::Before, RENAMEAT2, 1, || save(&fixture, "their first\n"));
    // The first link names the new version, the second puts it into place, the third would put the displaced one back.
    let in_the_gap = Step::new(When::Before, LINKAT, 3, || {
        assert!(!fixture.path("a").exists(), "the new version is set aside");
        save(&fixture, &(NEW.to_owned() + "their second\n"));
    });
    let steps = vec![displaced, in_the_gap];
    let Ended { code, printed } = stepping_in::run(&fixture, RenameFlags::Unsupported, steps, EDIT);
    assert!(code == Some(1) && printed.contains("another program saved"), "{printed}");
    assert!(!printed.contains("Nothing was written"), "{printed}");
    assert_eq!(fixture.read("a"), NEW.to_owned() + "their second\n");
    let kept = kept_files(&fixture);
    assert_eq!(kept.len(), 1, "our own version is not kept: {kept:?}");
    assert_eq!(fixture.read(&kept[0]), "their first\n");
    assert!(printed.contains(&kept[0]), "{printed}");
}

#[test]
fn what_is_written_into_the_new_version_before_it_is_taken_back_is_kept() {
    let fixture = Fixture::new();
    let theirs = OLD.to_owned() + "theirs\n";
    let displaced = Step::new(When::Before, RENAMEAT2, 1, || save(&fixture, &theirs));
    let appended = Step::new(When::Before, RENAMEAT2, 2, || fixture.append_foreign_line("a"));
    let steps = vec![displaced, appended];
    let Ended { code, printed } = stepping_in::run(&fixture, RenameFlags::Supported, steps, EDIT);
    assert!(code == Some(1) && printed.contains("another program saved"), "{printed}");
    assert!(!printed.contains("Nothing was written"), "{printed}");
    assert_eq!(fixture.read("a"), theirs);
    let kept = kept_files(&fixture);
    assert!(kept.len() == 1 && printed.contains(&kept[0]), "{kept:?}: {printed}");
    assert_eq!(fixture.read(&kept[0]), NEW.to_owned() + "foreign\n");
}

// The first file was visible with the edit until the second was found to have changed.
#[test]
fn an_edit_of_two_files_is_not_repeated_after_the_first_was_visible() {
    let fixture = Fixture::new();
    let theirs = OLD.to_owned() + "theirs\n";
    let saved = Step::new(When::After, RENAMEAT2, 1, || {
        fs::write(fixture.outside().join("theirs"), &theirs).unwrap();
        fs::rename(fixture.outside().join("theirs"), fixture.path("b")).unwrap();
    });
    let Ended { code, printed } = stepping_in::run(&fixture, RenameFlags::Supported, vec![saved], PATCH_BOTH);
    assert!(code == Some(1) && printed.contains("another program saved `b`"), "{printed}");
    fixture.assert_files(OLD, &theirs);
    assert_eq!(fixture.list().len(), 2);
    assert!(fixture.run(&[], PATCH_BOTH).status.success());
    fixture.assert_files(NEW, &(NEW.to_owned() + "theirs\n"));
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
