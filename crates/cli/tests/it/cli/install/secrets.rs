//! What the output shows of settings files.

use serde_json::{Value, json};

use super::super::rig::Rig;
use super::hosts::host;

#[test]
fn output_shows_only_our_entry_and_no_secrets() {
    let rig = Rig::new();
    let host = host("claude-code");
    let secret = r#"{"mcpServers":{"a":{"env":{"KEY":"s3cret"}},"slipstitch":{"command":"slipstitch","args":["mcp"],"env":{"T":"t0ken"}}}}"#;
    for text in [secret.to_owned(), secret.replace(',', ",\n")] {
        host.write_file(&rig, text.as_bytes());
        let run = host.install(&rig, &["--dialect", "codex", "--force"]);
        run.assert_done();
        let (_, json) =
            rig.json(["mcp", "install", "--client", "claude-code", "--command", "slipstitch", "--force"]);
        let uninstall = host.run(&rig, "uninstall", &["--force"]);
        uninstall.assert_done();
        for output in [format!("{run:?}"), json.to_string(), format!("{uninstall:?}")] {
            assert!(!output.contains("s3cret") && !output.contains("t0ken"), "{output}");
        }
        assert!(run.out.lines().any(|line| line.starts_with("+ ") && line.contains("--dialect")), "{run:?}");
        assert!(run.out.lines().any(|line| line.starts_with("- ") && line.contains("\"T\"")), "{run:?}");
        assert!(uninstall.out.lines().any(|line| line.starts_with("- ")), "{uninstall:?}");
    }
}

#[test]
fn foreign_entries_are_shown_without_secrets() {
    let json = |key: &str, entry: Value| json!({key: {"slipstitch": entry}}).to_string();
    let url = "https://me:s3cret@host.example/mcp?key=s3cret#s3cret";
    let cases = [
        (
            "opencode",
            json("mcp", json!({"type": "local", "command": ["other"], "environment": {"KEY": "s3cret"}})),
            "KEY",
        ),
        (
            "opencode",
            json("mcp", json!({"type": "remote", "url": url, "headers": {"KEY": "s3cret"}})),
            "host.example/mcp\"",
        ),
        (
            "opencode",
            json("mcp", json!({"url": "x", "oauth": {"clientSecret": "s3cret", "n": 1}})),
            "clientSecret",
        ),
        ("zed", json("context_servers", json!({"command": {"path": "p", "env": {"KEY": "s3cret"}}})), "KEY"),
        ("claude-code", json("mcpServers", json!({"command": "other", "apiKey": "s3cret"})), "apiKey"),
        (
            "codex",
            format!(
                "[mcp_servers.slipstitch]\nurl = \"{url}\"\nbearer_token = \"s3cret\"\nhttp_headers = {{ KEY = \"s3cret\" }}\n"
            ),
            "http_headers = { KEY = ",
        ),
        (
            "codex",
            "[mcp_servers.slipstitch]\ncommand = \"other\"\n[mcp_servers.slipstitch.env]\nKEY = \"s3cret\"\n"
                .into(),
            "KEY",
        ),
        (
            "goose",
            "extensions:\n  slipstitch:\n    cmd: other\n    envs:\n      KEY: s3cret\n    token: s3cret\n"
                .into(),
            "KEY",
        ),
    ];
    for (client, text, field) in cases {
        let host = host(client);
        for arguments in [&["install", "--command", "slipstitch", "--force"][..], &["uninstall", "--force"]] {
            let rig = Rig::new();
            let words = || [&["mcp", arguments[0], "--client", host.client], &arguments[1..]].concat();
            host.write_file(&rig, text.as_bytes());
            let run = rig.run(words());
            run.assert_done();
            assert!(!format!("{run:?}").contains("s3cret"), "{run:?}");
            let shows_removal =
                |text: &str| text.lines().any(|line| line.starts_with("- ") && line.contains(field));
            assert!(shows_removal(&run.out), "`{field}` is not shown: {run:?}");
            host.write_file(&rig, text.as_bytes());
            let (code, report) = rig.json(words());
            assert_eq!(code, 0, "{report}");
            assert!(!report.to_string().contains("s3cret"), "{report}");
            assert!(shows_removal(report["text"].as_str().unwrap()), "{report}");
        }
        // A restored entry is foreign as well.
        let rig = Rig::new();
        host.write_file(&rig, text.as_bytes());
        host.install(&rig, &["--force"]).assert_done();
        let restored = host.run(&rig, "uninstall", &[]);
        restored.assert_done();
        assert!(restored.err.contains("was restored") && restored.out.contains(field), "{restored:?}");
        assert!(!format!("{restored:?}").contains("s3cret"), "{restored:?}");
    }
}
