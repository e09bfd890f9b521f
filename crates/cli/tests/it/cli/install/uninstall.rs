//! What `mcp uninstall` removes and keeps.

use std::fs;

use serde_json::{Value, json};

use super::super::rig::Rig;
use super::home;
use super::hosts::{Format, HOSTS, host, one_per_kind};

#[test]
fn uninstall_keeps_later_changes() {
    for host in one_per_kind() {
        for (kind, before) in host.files() {
            let rig = Rig::new();
            host.write_file(&rig, before.as_bytes());
            host.install(&rig, &[]).assert_done();
            host.install(&rig, &["--name", "second"]).assert_done();
            host.run(&rig, "uninstall", &[]).assert_done();
            let text = fs::read_to_string(host.file(&rig)).unwrap();
            let text = text.trim_start_matches('\u{feff}');
            let now = host.document(text);
            assert!(now[host.key].get("slipstitch").is_none(), "{}, {kind}: {text:?}", host.client);
            assert!(now[host.key].get("second").is_some(), "{}, {kind}: {text:?}", host.client);
        }
    }
}

#[test]
fn uninstall_without_an_entry_does_nothing() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.run(&rig, "uninstall", &[]);
        run.assert_done();
        assert!(run.err.contains("has no server `slipstitch`"), "{run:?}");
        assert!(!host.file(&rig).exists() && !host.file(&rig).parent().unwrap().join(".codex").exists());
        let (_, text) = &host.files()[0];
        host.write_file(&rig, text.as_bytes());
        host.run(&rig, "uninstall", &[]).assert_done();
        assert_eq!(fs::read(host.file(&rig)).unwrap(), text.as_bytes());
    }
}

#[test]
fn uninstall_removes_another_program_only_by_force() {
    let host = host("claude-code");
    let rig = Rig::new();
    let text = r#"{"mcpServers": {"slipstitch": {"command": "other"}}}"#;
    host.write_file(&rig, text.as_bytes());
    host.run(&rig, "uninstall", &[]).assert_failed(1, &["another program", "--force"]);
    assert_eq!(fs::read_to_string(host.file(&rig)).unwrap(), text);
    host.run(&rig, "uninstall", &["--force"]).assert_done();
    assert_eq!(fs::read_to_string(host.file(&rig)).unwrap(), r#"{"mcpServers": {}}"#);
}

#[test]
fn uninstall_deletes_only_directories_that_install_created() {
    for host in HOSTS.iter().filter(|host| host.user.contains('/')) {
        let rig = Rig::new();
        let top = rig.outside().join(host.user.split('/').next().unwrap());
        host.install(&rig, &[]).assert_done();
        assert!(top.is_dir());
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(!top.exists(), "{}: install created it", host.client);

        fs::create_dir(&top).unwrap();
        host.install(&rig, &[]).assert_done();
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(
            top.is_dir() && fs::read_dir(&top).unwrap().count() == 0,
            "{}: it existed before",
            host.client
        );

        fs::remove_dir(&top).unwrap();
        host.install(&rig, &[]).assert_done();
        let other = host.file(&rig).with_file_name("other");
        fs::write(&other, "").unwrap();
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(other.exists(), "{}: it contains another file", host.client);
    }
}

#[test]
fn uninstall_restores_a_replaced_entry_unless_it_was_ours() {
    let host = host("claude-code");
    let rig = Rig::new();
    host.write_file(&rig, b"{}\n");
    host.install(&rig, &[]).assert_done();
    host.install(&rig, &["--dialect", "codex", "--force"]).assert_done();
    let run = host.run(&rig, "uninstall", &[]);
    run.assert_done();
    assert!(!run.err.contains("was restored"), "{run:?}");
    assert_eq!(fs::read_to_string(host.file(&rig)).unwrap(), "{}\n");

    let theirs = r#"{"mcpServers": {"slipstitch": {"command": "other"}}}"#;
    host.write_file(&rig, theirs.as_bytes());
    host.install(&rig, &["--force"]).assert_done();
    let run = host.run(&rig, "uninstall", &[]);
    run.assert_done();
    assert!(run.err.contains("was restored"), "{run:?}");
    assert_eq!(fs::read_to_string(host.file(&rig)).unwrap(), theirs);
}

#[test]
fn permissions_of_single_tools_are_removed_without_a_journal() {
    for client in ["zed", "crush", "claude-code"] {
        let rig = Rig::new();
        host(client).install(&rig, &["--allow-edits", "--dialect", "cline"]).assert_done();
        fs::remove_dir_all(rig.outside().join("state")).unwrap();
        host(client).run(&rig, "uninstall", &[]).assert_done();
        for (path, content) in home(&rig) {
            let text = String::from_utf8_lossy(&content).into_owned();
            assert!(!text.contains("slipstitch"), "{client}: {}: {text}", path.display());
        }
    }
}

#[test]
fn uninstall_keeps_permissions_that_the_user_had() {
    let rig = Rig::new();
    let claude = host("claude-code");
    let settings = rig.outside().join(".claude/settings.json");
    fs::create_dir(settings.parent().unwrap()).unwrap();
    let before = "{\n  \"permissions\": {\n    \"deny\": [\"Write\"]\n  }\n}\n";
    fs::write(&settings, before).unwrap();
    claude.install(&rig, &["--allow-edits", "--disable-builtin-edits"]).assert_done();
    // The host rewrites its file.
    let text = fs::read_to_string(&settings).unwrap();
    let rewritten: Value = serde_json::from_str(&text).unwrap();
    fs::write(&settings, rewritten.to_string()).unwrap();
    claude.run(&rig, "uninstall", &[]).assert_done();
    let after: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    assert_eq!(after, json!({"permissions": {"deny": ["Write"]}}));
}

#[test]
fn uninstall_tolerates_a_host_that_rewrites_its_file() {
    for host in one_per_kind().filter(|host| host.format == Format::Json) {
        for (kind, before) in host.files() {
            let rig = Rig::new();
            host.write_file(&rig, before.as_bytes());
            host.install(&rig, &[]).assert_done();
            let text = fs::read_to_string(host.file(&rig)).unwrap();
            let mut document = host.document(text.trim_start_matches('\u{feff}'));
            document["added_by_host"] = json!({"numStartups": 1});
            fs::write(host.file(&rig), format!("{document:#}\n")).unwrap();
            host.run(&rig, "uninstall", &[]).assert_done();
            let after = host.document(&fs::read_to_string(host.file(&rig)).unwrap());
            let mut expected = match before.trim_start_matches('\u{feff}') {
                text if text.trim().is_empty() => json!({}),
                text => host.document(text),
            };
            expected["added_by_host"] = json!({"numStartups": 1});
            assert_eq!(after, expected, "{}, {kind}", host.client);
        }
    }
}

#[test]
fn uninstall_removes_an_entry_with_another_command() {
    for host in HOSTS {
        let rig = Rig::new();
        let install = |rig: &Rig| host.run(rig, "install", &["--command", "/opt/wrapper"]).assert_done();
        install(&rig);
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(!host.file(&rig).exists(), "{}", host.client);
        // After a change of the file, the journal still knows the program.
        install(&rig);
        let mut text = fs::read_to_string(host.file(&rig)).unwrap();
        text.push('\n');
        fs::write(host.file(&rig), text).unwrap();
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(!fs::read_to_string(host.file(&rig)).unwrap().contains("wrapper"), "{}", host.client);
        // Without the journal, the user can name it.
        install(&rig);
        fs::remove_dir_all(rig.outside().join("state")).unwrap();
        host.run(&rig, "uninstall", &[]).assert_failed(1, &["another program", "--command"]);
        host.run(&rig, "uninstall", &["--command", "/opt/wrapper"]).assert_done();
        assert!(!fs::read_to_string(host.file(&rig)).unwrap().contains("wrapper"), "{}", host.client);
    }
}
