//! `slipstitch config protected`, and the settings that it shows.

#[cfg(unix)]
use std::fs;

use super::rig::Rig;

#[test]
fn lists_the_groups_with_their_rules() {
    let rig = Rig::new();
    rig.write_settings("[protected]\npaths = [\"infra\"]\n[protected.groups]\neditors = \"allow\"\n");
    let arguments = ["config", "protected"];
    let run = rig.run(arguments);
    run.assert_done();
    for part in [
        "version-control: ask (version control)",
        "editors: allow",
        ".helix",
        "paths: ask",
        "  infra",
        ".env.example",
    ] {
        assert!(run.out.contains(part), "`{part}` is missing: {}", run.out);
    }
    assert!(run.out.lines().all(|line| line.len() <= 110), "{}", run.out);
    let (code, listed) = rig.json(arguments);
    assert_eq!((code, &listed["groups"][0]["name"]), (0, &"version-control".into()));
    let rules: Vec<_> = listed["groups"].as_array().unwrap().iter().map(|group| &group["rule"]).collect();
    assert!(rules.contains(&&"allow".into()) && rules.contains(&&"ask".into()), "{listed}");
}

#[cfg(unix)]
#[test]
fn shows_what_applies_to_a_file() {
    let rig = Rig::new();
    rig.put("a.txt", "one\n");
    std::os::unix::fs::symlink(".git/config", rig.root().join("link")).unwrap();
    fs::create_dir_all(rig.root().join(".git/objects")).unwrap();
    rig.put(".git/HEAD", "ref: refs/heads/main\n");
    rig.put(".git/config", "[core]\n\thooksPath = checks\n");
    let run = rig.run(["config", "protected", "a.txt", "link", "new/.bashrc", ".env", "checks/pre-push"]);
    run.assert_done();
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(
        lines,
        [
            "a.txt: allow",
            "link: ask (group `version-control`, through .git/config)",
            "new/.bashrc: ask (group `startup`)",
            ".env: ask (group `credentials`)",
            "checks/pre-push: ask (group `version-control`: a Git hook or command)",
        ]
    );
    rig.run(["config", "protected", "../x"]).assert_failed(2, &["../x"]);
}

#[cfg(unix)]
#[test]
fn a_settings_file_inside_the_root_is_protected_under_every_name() {
    let rig = Rig::new();
    rig.put("policy.txt", "[protected]\nrule = \"ask\"\n");
    fs::create_dir(rig.root().join("sub")).unwrap();
    std::os::unix::fs::symlink("../policy.txt", rig.root().join("sub/notes")).unwrap();
    for (config, path) in [
        ("policy.txt", "policy.txt"),
        ("./sub/../policy.txt", "policy.txt"),
        ("sub/notes", "policy.txt"),
        ("policy.txt", "sub/notes"),
    ] {
        let edit = format!(r#"{{"path": "{path}", "old_text": "ask", "new_text": "allow"}}"#);
        let (_, report) = rig.json(["call", "edit_file", &edit, "--config", config]);
        assert_eq!(report["code"], "pending_review", "{config} {path}: {report}");
        assert!(report["message"].as_str().unwrap().contains("Slipstitch's settings"), "{report}");
    }
    assert!(rig.get("policy.txt").contains("ask"));
}

#[test]
fn a_person_undoes_an_agents_change_and_a_tool_call_asks() {
    let rig = Rig::with("one\n");
    rig.allow_unattended_review();
    let edit = r#"{"path": "a.txt", "old_text": "one", "new_text": "two"}"#;
    rig.run(["call", "edit_file", edit, "--session", "agent"]).assert_done();
    let undo = r#"{"change": "c1"}"#;
    let (code, report) = rig.json(["call", "undo_edit", undo, "--session", "other"]);
    assert_eq!((code, report["code"].as_str()), (0, Some("pending_review")), "{report}");
    assert!(report["message"].as_str().unwrap().contains("c1 (session `agent`)"), "{report}");
    assert_eq!(rig.get("a.txt"), "two\n");
    rig.run(["review", "reject", "p1"]).assert_done();
    // A person, and the session's own change.
    rig.run(["undo", "c1"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
    rig.run(["redo"]).assert_done();
    assert_eq!(rig.get("a.txt"), "two\n");
    rig.run(["call", "undo_edit", undo, "--session", "agent"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
}

#[test]
fn check_tells_a_denied_call_from_an_invalid_one() {
    let rig = Rig::with("one\n");
    rig.write_settings("[[rules]]\npaths = \"a.txt\"\nverdict = \"deny\"\nreason = \"frozen\"\n");
    let check = |arguments: &str| rig.run(["config", "check", "edit_file", arguments]);
    let denied = check(r#"{"path": "a.txt", "old_text": "one", "new_text": "1"}"#);
    assert_eq!((denied.code, denied.out.lines().next()), (1, Some("deny")), "{denied:?}");
    assert!(denied.out.contains("frozen"), "{denied:?}");
    let invalid = check(r#"{"path": "a.txt", "old_text": 1}"#);
    assert_eq!((invalid.code, invalid.out.lines().next()), (2, Some("invalid")), "{invalid:?}");
    let refused = check(r#"{"path": "a.txt", "old_text": "three", "new_text": "3"}"#);
    assert_eq!((refused.code, refused.out.lines().next()), (1, Some("refused")), "{refused:?}");
    let edit = r#"{"path": "a.txt", "old_text": "one", "new_text": "1"}"#;
    rig.write_settings("");
    assert!(check(edit).out.starts_with("auto\n  no rule or protected path asks for approval\n"));
    // A rule that allows the change decides too, and it must be the first that fits.
    rig.write_settings(
        "[[rules]]\npaths = \"*.md\"\nverdict = \"deny\"\n[[rules]]\npaths = \"*.txt\"\nverdict = \"auto\"\nreason = \"notes\"\n\
         [[rules]]\nverdict = \"ask\"\n",
    );
    assert_eq!(check(edit).out, "auto\n  notes (rule 2 in config.toml)\n");
    rig.put("slipstitch.toml", "[[rules]]\npaths = \"a.txt\"\nverdict = \"auto\"\n");
    assert_eq!(
        check(edit).out,
        "auto\n  notes (rule 2 in config.toml); `a.txt` needs no approval (rule 1 in slipstitch.toml)\n"
    );
    rig.put("slipstitch.toml", "[[rules]]\npaths = \"a.txt\"\nverdict = \"ask\"\n");
    assert_eq!(check(edit).out, "ask\n  `a.txt` needs approval (rule 1 in slipstitch.toml)\n");
}

#[test]
fn settings_that_would_relax_are_explained_with_their_lines() {
    let rig = Rig::with("one\n");
    rig.put("slipstitch.toml", "[protected.groups]\nci = \"allow\"\n\n[undo]\nothers = \"allow\"\n");
    let edit = rig.run(["edit", "a.txt", "--old", "one", "--new", "two"]);
    edit.assert_done();
    let warnings: Vec<&str> = edit.err.lines().filter(|line| line.starts_with("warning:")).collect();
    assert_eq!(
        warnings,
        ["warning: 2 settings in slipstitch.toml are ignored: a project can only tighten settings; \
          `slipstitch config check` explains"]
    );
    let check = rig.run(["config", "check"]);
    check.assert_done();
    for line in [
        "slipstitch.toml:2: `protected.groups.ci = \"allow\"` is ignored: a project can only tighten settings; \
         \"ask\" is in effect",
        "slipstitch.toml:5: `undo.others = \"allow\"` is ignored",
    ] {
        assert!(check.out.contains(line), "`{line}` is missing: {check:?}");
    }
    assert!(check.err.contains("hint: If you want them, put them into your own settings"), "{check:?}");
    let doctor = rig.run(["doctor"]);
    assert!(doctor.out.contains("slipstitch.toml:5: `undo.others"), "{doctor:?}");
}
