//! Permissions that are installed with the server.

use std::fs;

use serde_json::{Value, json};

use super::super::rig::Rig;
use super::home;
use super::hosts::host;

#[test]
fn permissions_are_added_only_when_asked_for_and_removed_again() {
    let cases = [
        (
            "claude-code",
            ".claude/settings.json",
            json!({"permissions": {"allow": ["mcp__slipstitch"], "deny": ["Edit", "Write", "NotebookEdit"]}}),
        ),
        ("codex", ".codex/config.toml", json!({"default_tools_approval_mode": "approve"})),
        ("gemini", ".gemini/settings.json", json!({"tools": {"exclude": ["replace", "write_file"]}})),
        ("qwen", ".qwen/settings.json", json!({"permissions": {"deny": ["edit", "write_file"]}})),
        (
            "opencode",
            ".config/opencode/opencode.json",
            json!({"tools": {"edit": false, "write": false, "apply_patch": false}}),
        ),
        (
            "zed",
            ".config/zed/settings.json",
            json!({"agent": {"tool_permissions": {"tools": {"mcp:slipstitch:apply_patch": {"default": "allow"}}}}}),
        ),
        (
            "crush",
            ".config/crush/crush.json",
            json!({"permissions": {"allowed_tools": ["mcp_slipstitch_apply_patch"]}, "options": {"disabled_tools": ["edit", "multiedit", "write"]}}),
        ),
        ("amp", ".config/amp/settings.json", json!({"amp.tools.disable": ["edit_file", "create_file"]})),
    ];
    for (client, file, expected) in cases {
        let host = host(client);
        let rig = Rig::new();
        let before = home(&rig);
        let flags = ["--dialect", "codex", "--allow-edits", "--disable-builtin-edits"];
        host.install(&rig, &flags[..2]).assert_done();
        let plain = host.document(&fs::read_to_string(host.file(&rig)).unwrap());
        assert_eq!(plain.as_object().unwrap().len(), 1, "{client}: only the servers");
        host.run(&rig, "uninstall", &[]).assert_done();
        let run = host.install(&rig, &flags);
        run.assert_done();
        let found = host.document(&fs::read_to_string(rig.outside().join(file)).unwrap());
        for (key, value) in expected.as_object().unwrap() {
            match client {
                "codex" => assert_eq!(found[host.key]["slipstitch"][key], *value),
                _ => assert_eq!(found[key], *value, "{client}"),
            }
        }
        host.run(&rig, "uninstall", &[]).assert_done();
        assert_eq!(home(&rig), before, "{client}");
    }
    for (client, field, value) in [
        ("gemini", "trust", json!(true)),
        ("qwen", "trust", json!(true)),
        ("roo", "alwaysAllow", json!(["apply_patch"])),
        ("cline", "autoApprove", json!(["apply_patch"])),
        ("kiro", "autoApprove", json!(["apply_patch"])),
    ] {
        let rig = Rig::new();
        host(client).install(&rig, &["--allow-edits", "--dialect", "codex"]).assert_done();
        let found = host(client).document(&fs::read_to_string(host(client).file(&rig)).unwrap());
        assert_eq!(found["mcpServers"]["slipstitch"][field], value, "{client}");
    }
}

#[test]
fn codex_exec_can_edit_after_a_plain_installation() {
    let codex = host("codex");
    let rig = Rig::new();
    let mode = |rig: &Rig| {
        let found = codex.document(&fs::read_to_string(codex.file(rig)).unwrap());
        found["mcp_servers"]["slipstitch"]["default_tools_approval_mode"].clone()
    };
    let run = codex.install(&rig, &[]);
    assert!(run.err.contains("`codex exec` can edit") && run.err.contains("`--ask-for-edits`"), "{run:?}");
    assert_eq!(mode(&rig), "approve");
    let planned = codex.run(&rig, "uninstall", &["--dry-run"]);
    let shown = format!("{}{}", planned.out, planned.err);
    assert!(shown.contains("- default_tools_approval_mode = \"approve\""), "{planned:?}");
    assert!(!shown.contains("(not shown)"), "{planned:?}");
    codex.run(&rig, "uninstall", &[]).assert_done();
    let run = codex.install(&rig, &["--ask-for-edits"]);
    assert!(run.err.contains("`codex exec` refuses them"), "{run:?}");
    assert_eq!(mode(&rig), Value::Null);
    let both = codex.install(&rig, &["--ask-for-edits", "--allow-edits"]);
    both.assert_failed(2, &["cannot be used with"]);
}

#[test]
fn a_permissions_file_that_does_not_parse_stops_both_commands() {
    let rig = Rig::new();
    let claude = host("claude-code");
    let settings = rig.outside().join(".claude/settings.json");
    fs::create_dir(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{ broken").unwrap();
    let run = claude.install(&rig, &["--allow-edits"]);
    run.assert_failed(1, &["settings.json` cannot be edited safely", "Nothing was written"]);
    // The output says which entries belong in which file.
    assert!(run.err.contains("# ") && run.err.contains("\"mcp__slipstitch\""), "{run:?}");
    assert!(!claude.file(&rig).exists());
    fs::write(&settings, "{}").unwrap();
    claude.install(&rig, &["--allow-edits"]).assert_done();
    let (before, broken) = (fs::read(claude.file(&rig)).unwrap(), "{ broken, \"mcp__slipstitch\"");
    fs::write(&settings, broken).unwrap();
    let run = claude.run(&rig, "uninstall", &[]);
    run.assert_failed(1, &["settings.json` cannot be edited safely", "Nothing was written"]);
    assert_eq!(fs::read(claude.file(&rig)).unwrap(), before);
    assert_eq!(fs::read_to_string(&settings).unwrap(), broken);
}

#[test]
fn nothing_is_written_if_the_second_file_refuses() {
    let rig = Rig::new();
    let claude = host("claude-code");
    fs::create_dir(rig.outside().join(".claude")).unwrap();
    fs::write(rig.outside().join(".claude/settings.json"), "{\"permissions\": 3}").unwrap();
    let before = home(&rig);
    claude.install(&rig, &["--allow-edits"]).assert_failed(1, &["cannot be edited safely"]);
    assert_eq!(home(&rig), before);
}

#[test]
fn the_output_says_what_a_host_needs_to_edit_unasked() {
    for (client, said) in [
        ("gemini", "does not even list them when it runs unattended. With `--allow-edits`"),
        ("claude-code", "`claude -p` refuses them. With `--allow-edits`"),
        ("copilot-cli", "`--allow-tool`"),
    ] {
        let rig = Rig::new();
        let run = host(client).install(&rig, &[]);
        assert!(run.err.contains(said), "{run:?}");
    }
    let rig = Rig::new();
    let run = host("codex").install(&rig, &["--allow-edits", "--disable-builtin-edits"]);
    assert!(!run.err.contains("refuses") && run.err.contains("cannot switch off `apply_patch`"), "{run:?}");
}
