//! Names with control characters, and `log --path` with folders and symlinks.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use super::rig::{Rig, Run};

/// A name with an escape sequence and a newline.
const UNSAFE_NAME: &str = "a\u{1b}[31m\nerror: all is lost\u{7}.txt";
const ESCAPED_NAME: &str = "a\\u{1b}[31m\\nerror: all is lost\\u{7}.txt";

/// Asserts that the output has the name only with escapes.
fn assert_escaped(run: &Run) {
    for text in [&run.out, &run.err] {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{run:?}");
        assert!(!text.lines().any(|line| line.starts_with("error: all")), "{run:?}");
    }
    assert!(run.out.contains(ESCAPED_NAME) || run.err.contains(ESCAPED_NAME), "{run:?}");
}

#[test]
fn prints_control_characters_in_names_as_escapes() {
    let rig = Rig::new();
    let missing = rig.run(["edit", UNSAFE_NAME, "--old", "one", "--new", "1"]);
    assert_eq!(missing.code, 2);
    assert_escaped(&missing);
    rig.put(UNSAFE_NAME, "one\none\ntwo\n");
    let ambiguous = rig.run(["edit", UNSAFE_NAME, "--old", "one", "--new", "1"]);
    assert_eq!(ambiguous.code, 1);
    assert_escaped(&ambiguous);
    for words in [
        &["edit", UNSAFE_NAME, "--old", "two", "--new", "2"][..],
        &["append", UNSAFE_NAME, "--content", "more\n"],
        &["lines", UNSAFE_NAME, "1", "--delete"],
        &["write", &format!("new {UNSAFE_NAME}"), "--content", "x\n"],
    ] {
        let run = rig.run(words);
        run.assert_done();
        let notes = Run { code: 0, out: String::new(), err: run.err };
        assert_escaped(&notes);
    }
    for words in [&["log"][..], &["log", "--path", UNSAFE_NAME], &["show", "c1"], &["info", UNSAFE_NAME]] {
        let run = rig.run(words);
        run.assert_done();
        assert_escaped(&run);
    }
    let (_, report) = rig.json(["edit", UNSAFE_NAME, "--old", "2", "--new", "two"]);
    assert_eq!(report["files"][0]["path"], UNSAFE_NAME, "JSON has the name unescaped");
    let outside = format!("../{UNSAFE_NAME}");
    assert_escaped(&rig.run(["read", &outside]));
}

/// Asserts that no output line starts inside a name, and that the name is printed with escapes.
fn assert_starts_no_line(run: &Run) {
    let mut lines = run.out.lines().chain(run.err.lines());
    assert!(!lines.any(|line| line.trim_start().starts_with("error: fake")), "{run:?}");
    assert!(run.out.contains("\\nerror: fake") || run.err.contains("\\nerror: fake"), "{run:?}");
}

#[test]
fn names_in_arguments_cannot_start_a_new_line() {
    const NAME: &str = "b`\nerror: fake";
    let rig = Rig::with("one\n");
    let outside = format!("../{NAME}");
    let parent = format!("a/../{NAME}");
    let named = format!("--root={NAME}");
    let limit = format!("--limit={NAME}");
    for words in [
        &["read", &outside][..],
        &["read", &parent],
        &["read", NAME],
        &["edit", NAME, "--old", "one", "--new", "1"],
        &["log", "--path", NAME],
        &["log", "--path", &outside],
        &["log", &named],
        &["log", "--root", NAME],
        &["log", "--config", NAME],
        &["log", "--state-dir", "a.txt", "--config", NAME],
        // Messages of the argument parser.
        &["log", "--since", NAME],
        &["log", &limit],
        &["log", "--limit", NAME],
        &[NAME],
        &["mcp", "install", "--client", "zed", "--name", NAME],
        &["mcp", "install", "--client", "zed", "--", NAME],
        &["mcp", "install", "--client", "zed", "--dialect", NAME],
        &["show", NAME],
        &["undo", NAME],
        &["undo", "--session", NAME],
        &["review", "accept", NAME],
        &["call", NAME],
        &["call", "--dialect", NAME, "x"],
    ] {
        let run = rig.run(words);
        assert!(run.code == 1 || run.code == 2, "{words:?}: {run:?}");
        assert_starts_no_line(&run);
    }
    let arguments = |name: &str| serde_json::json!({"path": name}).to_string();
    for name in [NAME, &outside, &parent] {
        for dialect in ["native", "agent-q"] {
            let run = rig.run(["call", "--dialect", dialect, "read_file", &arguments(name)]);
            assert_ne!(run.code, 0, "{run:?}");
            assert_starts_no_line(&run);
        }
    }
}

#[test]
fn arguments_that_the_parser_rejects_cannot_control_the_terminal() {
    // The parser drops the escape sequence, so the name in its message is not the one that was given.
    const NAME: &str = "x\u{1b}[31m\nerror: fake\u{202e}\u{9b}2J\u{8}";
    let rig = Rig::with("one\n");
    let option = format!("--{NAME}");
    for words in [&[NAME][..], &["log", "--since", NAME], &["undo", NAME], &["mode", NAME], &["log", &option]]
    {
        let run = rig.run(words);
        assert_eq!(run.code, 2, "{words:?}: {run:?}");
        assert!(!run.err.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{8}']), "{run:?}");
        assert!(!run.err.lines().skip(1).any(|line| line.trim_start().starts_with("error: fake")), "{run:?}");
    }
}

#[test]
fn session_and_settings_names_cannot_start_a_new_line() {
    const NAME: &str = "b`\nerror: fake";
    let rig = Rig::with("one\n");
    rig.run(["--session", NAME, "--agent", NAME, "edit", "a.txt", "--old", "one", "--new", "1"])
        .assert_done();
    let hint = rig.run(["undo"]);
    hint.assert_failed(1, &["another session"]);
    assert_starts_no_line(&hint);
    let answer = rig.run(["call", "undo_edit"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert_starts_no_line(&answer);
    rig.run(["--session", NAME, "call", "read_file", r#"{"path": "a.txt"}"#]).assert_done();
    for words in [&["show", "c1"][..], &["log"], &["stats"]] {
        let run = rig.run(words);
        run.assert_done();
        assert_starts_no_line(&run);
    }
    // Messages of the settings parser keep their lines.
    fs::write(rig.root().join(NAME), "[limits\n").unwrap();
    let run = rig.run(["log", "--config", NAME]);
    run.assert_failed(2, &["is not valid", "\n  1 | [limits\n"]);
    assert_starts_no_line(&run);
    let home = rig.outside().join(NAME);
    fs::create_dir_all(home.join("slipstitch")).unwrap();
    fs::write(home.join("slipstitch/config.toml"), "[limits\n").unwrap();
    let run = Run::of(rig.command().env("XDG_CONFIG_HOME", &home).arg("log"));
    run.assert_failed(2, &["is not valid", "\n  1 | [limits\n"]);
    assert_starts_no_line(&run);
}

fn ids(run: &Run) -> Vec<&str> {
    run.assert_done();
    run.out.lines().map(|line| line.split(' ').next().unwrap()).filter(|id| *id != "~").collect()
}

#[test]
fn log_of_a_folder_lists_changes_inside_it() {
    let rig = Rig::new();
    for name in ["a/x", "a/b/y", "ab/z", "top"] {
        rig.run(["write", name, "--content", "1\n"]).assert_done();
    }
    fs::write(
        rig.outside().join("p"),
        "*** Begin Patch\n*** Update File: top\n*** Move to: a/top\n@@\n-1\n+2\n*** End Patch\n",
    )
    .unwrap();
    rig.run(["patch", "../p"]).assert_done();
    for folder in ["a", "a/", "./a", "a/.", rig.root().join("a").to_str().unwrap()] {
        assert_eq!(ids(&rig.run(["log", "--path", folder])), ["c5", "c2", "c1"], "{folder}");
    }
    assert_eq!(ids(&rig.run(["log", "--path", "a", "--limit", "1"])), ["c5"]);
    assert_eq!(ids(&rig.run(["log", "--path", "a/b"])), ["c2"]);
    for root in [".", "./", rig.root().to_str().unwrap()] {
        assert_eq!(ids(&rig.run(["log", "--path", root])).len(), 5, "{root}");
    }
    // Deleted files still have their changes.
    fs::remove_dir_all(rig.root().join("a")).unwrap();
    assert_eq!(ids(&rig.run(["log", "--path", "a"])), ["c5", "c2", "c1"]);
    assert_eq!(ids(&rig.run(["log", "--path", "a/b/y"])), ["c2"]);
    assert_eq!(ids(&rig.run(["log", "--path", "a", "--since", "2035-01-01"])), [""; 0]);
}

#[cfg(unix)]
#[test]
fn log_follows_symlinks() {
    let rig = Rig::new();
    rig.run(["write", "sub/real.txt", "--content", "one\n"]).assert_done();
    symlink("sub/real.txt", rig.root().join("link")).unwrap();
    symlink("sub", rig.root().join("way")).unwrap();
    rig.run(["edit", "link", "--old", "one", "--new", "1"]).assert_done();
    for name in ["link", "way", "way/real.txt", "sub", "sub/real.txt"] {
        assert_eq!(ids(&rig.run(["log", "--path", name])), ["c2", "c1"], "{name}");
    }
}

#[cfg(unix)]
#[test]
fn log_follows_dangling_symlinks() {
    let rig = Rig::new();
    rig.run(["write", "sub/deep/gone.txt", "--content", "one\n"]).assert_done();
    rig.run(["write", "sub/gone.txt", "--content", "one\n"]).assert_done();
    rig.run(["write", "other.txt", "--content", "one\n"]).assert_done();
    fs::remove_file(rig.root().join("sub/gone.txt")).unwrap();
    fs::remove_dir_all(rig.root().join("sub/deep")).unwrap();
    for (to, link) in [
        ("sub", "way"),
        ("sub/gone.txt", "link"),
        ("link", "link-to-link"),
        ("../sub/deep", "sub/down"),
        ("round", "round"),
        ("../elsewhere", "out"),
        ("nowhere/../sub/gone.txt", "back"),
    ] {
        symlink(to, rig.root().join(link)).unwrap();
    }
    let full = rig.root().join("way/gone.txt");
    for name in ["way/gone.txt", "link", "link-to-link", "sub/gone.txt", full.to_str().unwrap()] {
        assert_eq!(ids(&rig.run(["log", "--path", name])), ["c2"], "{name}");
    }
    for name in ["way/deep/gone.txt", "way/deep", "way/deep/", "sub/down", "sub/down/gone.txt", "way/down"] {
        assert_eq!(ids(&rig.run(["log", "--path", name])), ["c1"], "{name}");
    }
    for name in ["way/never.txt", "round", "round/x", "out", "back", "link/x"] {
        rig.run(["log", "--path", name]).assert_failed(2, &["no recorded change is about it"]);
    }
    // A file that was replaced by a symlink has changes under its own name.
    fs::remove_file(rig.root().join("other.txt")).unwrap();
    symlink("sub/gone.txt", rig.root().join("other.txt")).unwrap();
    assert_eq!(ids(&rig.run(["log", "--path", "other.txt"])), ["c3", "c2"]);
}

#[cfg(unix)]
#[test]
fn log_rejects_unknown_and_outside_paths() {
    let rig = Rig::with("one\n");
    rig.run(["edit", "a.txt", "--old", "one", "--new", "1"]).assert_done();
    rig.put("b.txt", "");
    assert_eq!(ids(&rig.run(["log", "--path", "b.txt"])), [""; 0]);
    fs::write(rig.outside().join("secret"), "").unwrap();
    symlink(rig.outside().join("secret"), rig.root().join("out")).unwrap();
    for (name, said) in [
        ("nope", "no recorded change is about it"),
        ("a.txt/nope", "no recorded change is about it"),
        ("../secret", "outside the project root"),
        ("/etc/passwd", "outside the project root"),
        ("out", "outside the project root"),
        ("", "empty"),
    ] {
        rig.run(["log", "--path", name]).assert_failed(2, &[said]);
    }
}

#[test]
fn refuses_a_state_folder_inside_any_root_without_creating_it() {
    let rig = Rig::with("one\n");
    let second = rig.outside().join("second");
    fs::create_dir(&second).unwrap();
    let (first, second) = (rig.root(), second.to_str().unwrap().to_owned());
    for state in
        [first.join("s/t"), first.join(".state"), second.clone().into(), format!("{second}/a/b").into()]
    {
        for words in [&["log"][..], &["edit", "a.txt", "--old", "one", "--new", "1"], &["doctor"]] {
            let state = state.to_str().unwrap();
            let run = rig.run(["--root", ".", "--root", &second, "--state-dir", state].iter().chain(words));
            assert_eq!(run.code, 3, "{run:?}");
            assert!(format!("{run:?}").contains("is inside the root"), "{run:?}");
        }
    }
    assert_eq!(fs::read_dir(&second).unwrap().count(), 0);
    assert_eq!(fs::read_dir(rig.root()).unwrap().count(), 1);
    assert_eq!(rig.get("a.txt"), "one\n");
}

#[test]
fn session_undo_restores_a_moved_file_whose_name_was_reused() {
    const MOVE: &str =
        "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+1\n*** End Patch\n";
    let rig = Rig::with("one\n");
    fs::write(rig.outside().join("p"), MOVE).unwrap();
    rig.run(["patch", "../p"]).assert_done();
    rig.run(["write", "a.txt", "--content", "another\n"]).assert_done();
    rig.run(["undo", "--all", "--yes"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
    assert!(!rig.root().join("b.txt").exists());
    rig.run(["undo", "c3"]).assert_done();
    assert_eq!((rig.get("a.txt").as_str(), rig.get("b.txt").as_str()), ("another\n", "1\n"));

    // The other file does not belong to the session: nothing is written, and it is named.
    let rig = Rig::with("one\n");
    fs::write(rig.outside().join("p"), MOVE).unwrap();
    rig.run(["patch", "../p"]).assert_done();
    rig.put("a.txt", "theirs\n");
    let run = rig.run(["undo", "--all", "--yes"]);
    run.assert_failed(1, &["`a.txt`"]);
    assert_eq!((rig.get("a.txt").as_str(), rig.get("b.txt").as_str()), ("theirs\n", "1\n"));
}

#[cfg(unix)]
#[test]
fn files_whose_names_are_not_utf8_are_edited_listed_and_restored() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let rig = Rig::new();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    let file = rig.root().join("d\u{fc}r").join(name);
    std::fs::create_dir(rig.root().join("d\u{fc}r")).unwrap();
    std::fs::write(&file, "one\n").unwrap();
    let argument = OsStr::from_bytes(b"d\xc3\xbcr/caf\xe9.txt");
    let word = OsStr::new;
    let run = rig.run([word("edit"), argument, word("--old"), word("one"), word("--new"), word("two")]);
    run.assert_done();
    assert!(run.err.contains("caf\\xe9.txt"), "people see which byte it is: {run:?}");
    assert_eq!(std::fs::read(&file).unwrap(), b"two\n");
    assert!(rig.run([word("read"), argument]).out.contains("two"));
    assert!(rig.run([word("log"), word("--file"), argument]).out.contains("c1"));
    // A glob finds it, and what a list shows names it in a call.
    rig.run(["edit", "**/*.txt", "--old", "two", "--new", "three", "--all"]).assert_done();
    let listed = rig.run(["call", "--dialect", "agent-q", "list_directory", r#"{"path": "d\u00fcr"}"#]).out;
    let shown =
        listed.split_whitespace().find(|word| word.contains("caf")).unwrap_or_else(|| panic!("{listed}"));
    let shown = &shown[shown.find("caf").unwrap()..shown.find(".txt").unwrap() + 4];
    let call =
        serde_json::json!({"path": format!("d\u{fc}r/{shown}"), "old_text": "three", "new_text": "four"});
    let run = rig.run(["call", "edit_file", &call.to_string()]);
    assert_eq!((run.code, std::fs::read(&file).unwrap().as_slice()), (0, &b"four\n"[..]), "{run:?}");
    // It moves, is deleted and comes back, with the same bytes in its name.
    let moved = OsStr::from_bytes(b"\xff\xfe");
    rig.run([word("move"), argument, moved]).assert_done();
    assert!(!file.exists() && rig.root().join(moved).exists());
    rig.run([word("delete"), moved]).assert_done();
    rig.run(["undo", "--all", "--yes"]).assert_done();
    assert_eq!(std::fs::read(&file).unwrap(), b"one\n");
    assert!(!rig.root().join(moved).exists());
    let created = OsStr::from_bytes(b"n\xe9w/\xe9");
    rig.run([word("write"), created, word("--content"), word("x")]).assert_done();
    assert_eq!(std::fs::read(rig.root().join(created)).unwrap(), b"x");
    rig.run(["undo"]).assert_done();
    assert!(!rig.root().join(OsStr::from_bytes(b"n\xe9w")).exists(), "the folder goes too");
    rig.run(["doctor"]).assert_done();
}

#[test]
fn one_file_has_one_name_however_its_bytes_are_written() {
    let rig = Rig::new();
    rig.put("caf\u{e9}.txt", "one\n");
    // The two bytes of the character, one by one.
    let call =
        serde_json::json!({"path": "caf\u{10fec3}\u{10fea9}.txt", "old_text": "one", "new_text": "two"});
    assert_eq!(rig.run(["call", "edit_file", &call.to_string()]).code, 0);
    assert_eq!(rig.get("caf\u{e9}.txt"), "two\n");
    assert_eq!(rig.json(["log"]).1["changes"][0]["files"][0]["path_after"], "caf\u{e9}.txt");
}
