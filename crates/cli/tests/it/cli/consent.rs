//! Things only people may do: undo the changes of others, erase the journal, decide which settings count.

use super::rig::{Rig, Run};
use super::terminal::Terminal;

/// A change of session `agent`, and a protected file.
fn rig() -> Rig {
    let rig = Rig::with("one\n");
    let edit = r#"{"path": "a.txt", "old_text": "one", "new_text": "two"}"#;
    rig.run(["call", "edit_file", edit, "--session", "agent"]).assert_done();
    std::fs::create_dir(rig.root().join(".git")).unwrap();
    rig.put(".git/config", "[core]\n");
    rig
}

#[test]
fn without_a_terminal_undo_and_redo_of_others_follow_the_setting() {
    let rig = rig();
    for words in [&["undo", "c1"][..], &["undo", "--file", "a.txt"]] {
        let asked = rig.run(words);
        asked.assert_failed(1, &["A person has to approve this at a terminal"]);
        assert!(!asked.err.contains("--yes"), "{asked:?}");
        let confirmed = rig.run([words, &["--yes"]].concat());
        confirmed.assert_failed(1, &["it reverts c1 (session `agent`)", "only be confirmed at a terminal"]);
        assert!(!confirmed.err.contains("add `--yes`"), "{confirmed:?}");
        assert_eq!(rig.get("a.txt"), "two\n", "{words:?}");
    }
    rig.put("slipstitch.toml", "[undo]\nothers = \"deny\"\n");
    rig.run(["undo", "c1", "--yes"]).assert_failed(1, &["session `agent`"]);
    std::fs::remove_file(rig.root().join("slipstitch.toml")).unwrap();
    rig.write_settings("[undo]\nothers = \"allow\"\n");
    rig.run(["undo", "c1"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
    // Redo reverts what another session did, too.
    rig.write_settings("");
    let other = |words: &[&str]| rig.run([&["--session", "other"], words].concat());
    other(&["redo", "c1", "--yes"]).assert_failed(1, &["only be confirmed at a terminal"]);
    assert_eq!(rig.get("a.txt"), "one\n");
    rig.run(["redo"]).assert_done();
    assert_eq!(rig.get("a.txt"), "two\n");
}

#[test]
fn a_session_takes_back_its_own_changes_and_a_person_those_of_everybody() {
    for as_session in [true, false] {
        let rig = rig();
        match as_session {
            true => rig.run(["undo", "c1", "--session", "agent"]).assert_done(),
            false => {
                let person = Terminal::new(&rig).run(&["undo", "c1"]);
                assert_eq!(person.code, 0, "{person:?}");
            }
        }
        assert_eq!(rig.get("a.txt"), "one\n");
    }
}

#[test]
fn with_a_passphrase_undo_of_others_needs_it() {
    let rig = rig();
    set_passphrase(&rig);
    let undo = |answer: &'static str, words: &[&str]| {
        Terminal::new(&rig).answer("Review passphrase", answer).run(words)
    };
    undo("", &["undo", "c1"]).assert_shows(&["it reverts c1 (session `agent`)"]);
    undo("guess\n", &["undo", "c1", "--yes"]).assert_shows(&["the passphrase is wrong"]);
    assert_eq!(rig.get("a.txt"), "two\n");
    let done = undo("open sesame\n", &["undo", "c1", "--yes"]);
    assert_eq!((done.code, rig.get("a.txt").as_str()), (0, "one\n"), "{done:?}");
}

fn set_passphrase(rig: &Rig) {
    let terminal = Terminal::new(rig).answer("New review passphrase", "open sesame\n");
    let set = terminal.answer("Again", "open sesame\n").run(&["review", "passphrase"]);
    assert_eq!(set.code, 0, "{set:?}");
}

#[test]
fn only_people_erase_what_the_journal_says() {
    let rig = rig();
    for words in [
        &["forget", "c1", "--yes"][..],
        &["forget", "--file", "a.txt", "--yes"],
        &["forget", "--session", "agent", "--yes"],
    ] {
        rig.run(words).assert_failed(
            1,
            &["only be forgotten at a terminal", "A person has to approve this at a terminal"],
        );
    }
    rig.run(["uninstall", "--purge", "--yes"]).assert_failed(1, &["only be deleted at a terminal"]);
    // Nor can the journal be erased through limits in another settings file.
    let given = rig.outside().join("given.toml");
    std::fs::write(&given, "[journal]\nmax_bytes = 1\nmax_age_days = 0\n").unwrap();
    rig.run(["gc", "--config", given.to_str().unwrap()]).assert_done();
    rig.run(["show", "c1"]).assert_done();
    let person = Terminal::new(&rig).answer("Forget this for good?", "y\n").run(&["forget", "c1"]);
    assert_eq!(person.code, 0, "{person:?}");
    assert_eq!(rig.run(["show", "c1"]).code, 1);
}

#[test]
fn every_file_with_ignored_settings_is_named_with_its_reason() {
    let rig = rig();
    let given = rig.outside().join("given.toml");
    std::fs::write(&given, "[review]\nunattended = true\n[protected]\nrule = \"allow\"\n").unwrap();
    rig.put("slipstitch.toml", "[undo]\nothers = \"allow\"\n");
    let edit = ["edit", "a.txt", "--old", "two", "--new", "2", "--config", given.to_str().unwrap()];
    let done = rig.run(edit);
    done.assert_done();
    let warnings: Vec<&str> = done.err.lines().filter(|line| line.starts_with("warning:")).collect();
    let of = |name: &str| {
        let found: Vec<_> = warnings.iter().filter(|line| line.contains(name)).collect();
        assert_eq!(found.len(), 1, "{name}: {warnings:?}");
        found[0].to_string()
    };
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    let (theirs, project) = (of("given.toml"), of("slipstitch.toml"));
    assert!(theirs.contains("2 settings in") && theirs.contains("only your usual settings file"), "{theirs}");
    assert!(
        project.contains("`undo.others = \"allow\"`") && project.contains("a project can only tighten"),
        "{project}"
    );
}

/// The usual file is one symlink away from the root, and the recorded one is another.
#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn the_usual_settings_file_is_protected_whichever_is_in_use() {
    let rig = rig();
    let given = rig.outside().join("given.toml");
    std::fs::write(&given, "").unwrap();
    for (name, home) in [("recorded", rig.outside().to_owned()), ("usual", rig.outside().join("home"))] {
        rig.put(name, "# mine\n");
        let folder = home.join(".config/slipstitch");
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(rig.root().join(name), folder.join("config.toml")).unwrap();
        for options in [&[][..], &["--config", given.to_str().unwrap()]] {
            let words = [&["edit", name, "--old", "mine", "--new", "yours", "--yes"][..], options].concat();
            run_at(&rig, &home, &words).assert_failed(1, &[&format!("`{name}` is protected")]);
        }
    }
    let other_home = rig.outside().join("home");
    let words = ["edit", "recorded", "--old", "mine", "--new", "yours", "--yes"];
    run_at(&rig, &other_home, &words).assert_failed(1, &["`recorded` is protected"]);
}

const EDIT: [&str; 7] = ["edit", ".git/config", "--old", "core", "--new", "user", "--yes"];

/// A home whose settings allow everything, as an agent would write them.
fn lax_home(rig: &Rig) -> std::path::PathBuf {
    let home = rig.outside().join("lax");
    std::fs::create_dir_all(home.join(".config/slipstitch")).unwrap();
    let settings = "[review]\nunattended = true\n[protected]\nrule = \"allow\"\n";
    std::fs::write(home.join(".config/slipstitch/config.toml"), settings).unwrap();
    home
}

fn run_at(rig: &Rig, home: &std::path::Path, words: &[&str]) -> Run {
    Run::of(rig.command().env("HOME", home).args(words))
}

#[test]
fn a_command_at_a_terminal_does_not_change_whose_settings_count() {
    let rig = rig();
    let lax = lax_home(&rig);
    let shown = Terminal::new(&rig).variable("HOME", lax.to_str().unwrap()).run(&["log"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let refused = run_at(&rig, &lax, &EDIT);
    refused.assert_failed(1, &["`.git/config` is protected", "are ignored: only your usual settings file"]);
    let doctor = run_at(&rig, &lax, &["doctor"]);
    assert!(doctor.out.contains("`slipstitch config trust` changes that"), "{doctor:?}");
    // Only this does, and only at a terminal.
    run_at(&rig, &lax, &["config", "trust"]).assert_failed(1, &["only be trusted at a terminal"]);
    let trusted = Terminal::new(&rig).variable("HOME", lax.to_str().unwrap()).run(&["config", "trust"]);
    trusted.assert_shows(&["can now relax what needs your approval"]);
    run_at(&rig, &lax, &EDIT).assert_done();
    assert_eq!(rig.get(".git/config"), "[user]\n");
}

#[test]
fn with_a_passphrase_other_settings_relax_nothing_at_a_terminal_either() {
    let rig = rig();
    let lax = lax_home(&rig).join(".config/slipstitch/config.toml");
    let edit = [&EDIT[..6], &["--config", lax.to_str().unwrap()]].concat();
    set_passphrase(&rig);
    let refused = Terminal::new(&rig).run(&edit);
    assert_eq!((refused.code, rig.get(".git/config").as_str()), (1, "[core]\n"), "{refused:?}");
    let shown = refused.text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("is protected") && shown.contains("only your usual settings file can relax"),
        "{refused:?}"
    );
    let trust = ["config", "trust", "--config", lax.to_str().unwrap()];
    let guessed = Terminal::new(&rig).answer("Review passphrase", "guess\n").run(&trust);
    guessed.assert_shows(&["the passphrase is wrong"]);
    assert_eq!(Terminal::new(&rig).run(&edit).code, 1);
    let known = Terminal::new(&rig).answer("Review passphrase", "open sesame\n").run(&trust);
    assert_eq!(known.code, 0, "{known:?}");
    assert_eq!(Terminal::new(&rig).run(&edit).code, 0);
}

/// Such a folder is older than the record, or somebody removed it.
#[test]
fn in_a_state_folder_without_a_record_the_first_process_does_not_choose() {
    let rig = rig();
    std::fs::remove_file(rig.outside().join("state/settings-file")).unwrap();
    let lax = lax_home(&rig);
    for _ in 0..2 {
        run_at(&rig, &lax, &EDIT).assert_failed(1, &["`.git/config` is protected"]);
    }
    assert_eq!(rig.get(".git/config"), "[core]\n");
}
