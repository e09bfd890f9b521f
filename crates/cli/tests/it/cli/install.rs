//! `mcp install` and `mcp uninstall`: every host, with every kind of settings file.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::rig::{Rig, Run};

/// What a host expects, independent of the program's own table.
struct Host {
    client: &'static str,
    /// Relative to the home directory.
    user: &'static str,
    /// Relative to the project.
    project: Option<&'static str>,
    format: Format,
    key: &'static str,
    /// The entry without the program and its arguments.
    extra: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Json,
    Toml,
    Yaml,
}

const HOSTS: &[Host] = &[
    Host {
        client: "claude-code",
        user: ".claude.json",
        project: Some(".mcp.json"),
        format: Format::Json,
        key: "mcpServers",
        extra: r#"{"type": "stdio", "env": {}}"#,
    },
    Host {
        client: "claude-desktop",
        user: ".config/Claude/claude_desktop_config.json",
        project: None,
        format: Format::Json,
        key: "mcpServers",
        extra: "{}",
    },
    Host {
        client: "codex",
        user: ".codex/config.toml",
        project: Some(".codex/config.toml"),
        format: Format::Toml,
        key: "mcp_servers",
        extra: r#"{"default_tools_approval_mode": "approve"}"#,
    },
    Host {
        client: "cursor",
        user: ".cursor/mcp.json",
        project: Some(".cursor/mcp.json"),
        format: Format::Json,
        key: "mcpServers",
        extra: r#"{"type": "stdio"}"#,
    },
    Host {
        client: "vscode",
        user: ".config/Code/User/mcp.json",
        project: Some(".vscode/mcp.json"),
        format: Format::Json,
        key: "servers",
        extra: r#"{"type": "stdio"}"#,
    },
    Host {
        client: "vscode-insiders",
        user: ".config/Code - Insiders/User/mcp.json",
        project: Some(".vscode/mcp.json"),
        format: Format::Json,
        key: "servers",
        extra: r#"{"type": "stdio"}"#,
    },
    Host {
        client: "copilot-cli",
        user: ".copilot/mcp-config.json",
        project: Some(".github/mcp.json"),
        format: Format::Json,
        key: "mcpServers",
        extra: r#"{"type": "local", "tools": ["*"]}"#,
    },
    Host {
        client: "gemini",
        user: ".gemini/settings.json",
        project: Some(".gemini/settings.json"),
        format: Format::Json,
        key: "mcpServers",
        extra: "{}",
    },
    Host {
        client: "qwen",
        user: ".qwen/settings.json",
        project: Some(".qwen/settings.json"),
        format: Format::Json,
        key: "mcpServers",
        extra: "{}",
    },
    Host {
        client: "opencode",
        user: ".config/opencode/opencode.json",
        project: Some("opencode.json"),
        format: Format::Json,
        key: "mcp",
        extra: r#"{"type": "local", "enabled": true}"#,
    },
    Host {
        client: "cline",
        user: ".cline/data/settings/cline_mcp_settings.json",
        project: None,
        format: Format::Json,
        key: "mcpServers",
        extra: "{}",
    },
    Host {
        client: "roo",
        user: ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        project: Some(".roo/mcp.json"),
        format: Format::Json,
        key: "mcpServers",
        extra: "{}",
    },
    Host {
        client: "continue",
        user: ".continue/config.yaml",
        project: Some(".continue/mcpServers/slipstitch.json"),
        format: Format::Yaml,
        key: "mcpServers",
        extra: r#"{"name": "slipstitch"}"#,
    },
    Host {
        client: "windsurf",
        user: ".codeium/windsurf/mcp_config.json",
        project: None,
        format: Format::Json,
        key: "mcpServers",
        extra: "{}",
    },
    Host {
        client: "zed",
        user: ".config/zed/settings.json",
        project: Some(".zed/settings.json"),
        format: Format::Json,
        key: "context_servers",
        extra: r#"{"source": "custom", "env": {}}"#,
    },
    Host {
        client: "goose",
        user: ".config/goose/config.yaml",
        project: None,
        format: Format::Yaml,
        key: "extensions",
        extra: r#"{"enabled": true, "type": "stdio", "name": "slipstitch", "envs": {}, "env_keys": [], "timeout": 300,
            "description": "Precise file edits with a journal and undo"}"#,
    },
    Host {
        client: "crush",
        user: ".config/crush/crush.json",
        project: Some("crush.json"),
        format: Format::Json,
        key: "mcp",
        extra: r#"{"type": "stdio"}"#,
    },
    Host {
        client: "amp",
        user: ".config/amp/settings.json",
        project: Some(".amp/settings.json"),
        format: Format::Json,
        key: "amp.mcpServers",
        extra: "{}",
    },
    Host {
        client: "kilo",
        user: ".config/kilo/kilo.json",
        project: Some("kilo.json"),
        format: Format::Json,
        key: "mcp",
        extra: r#"{"type": "local", "enabled": true}"#,
    },
    Host {
        client: "junie",
        user: ".junie/mcp/mcp.json",
        project: Some(".junie/mcp/mcp.json"),
        format: Format::Json,
        key: "mcpServers",
        extra: "{}",
    },
    Host {
        client: "warp",
        user: ".warp/.mcp.json",
        project: Some(".warp/.mcp.json"),
        format: Format::Json,
        key: "mcpServers",
        extra: "{}",
    },
    Host {
        client: "kiro",
        user: ".kiro/settings/mcp.json",
        project: Some(".kiro/settings/mcp.json"),
        format: Format::Json,
        key: "mcpServers",
        extra: "{}",
    },
];

fn host(client: &str) -> &'static Host {
    HOSTS.iter().find(|host| host.client == client).unwrap()
}

/// One host for each kind of settings file; the others differ only in the file's name.
fn one_per_kind() -> impl Iterator<Item = &'static Host> {
    let kind = |host: &Host| (host.format, host.key);
    HOSTS
        .iter()
        .enumerate()
        .filter(move |(at, host)| HOSTS[..*at].iter().all(|other| kind(other) != kind(host)))
        .map(|(_, host)| host)
}

impl Host {
    fn file(&self, rig: &Rig) -> PathBuf {
        rig.outside().join(self.user)
    }

    fn write_file(&self, rig: &Rig, text: &[u8]) {
        fs::create_dir_all(self.file(rig).parent().unwrap()).unwrap();
        fs::write(self.file(rig), text).unwrap();
    }

    fn run(&self, rig: &Rig, command: &str, extra: &[&str]) -> Run {
        rig.run(["mcp", command, "--client", self.client].iter().chain(extra))
    }

    /// Installs with a program name that is the same on every machine.
    fn install(&self, rig: &Rig, extra: &[&str]) -> Run {
        self.run(rig, "install", &[&["--command", "slipstitch"], extra].concat())
    }

    /// Parses the text of a settings file.
    fn parse(&self, text: &str) -> Value {
        match self.format {
            // The tests write comments on separate lines.
            Format::Json => {
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                serde_json::from_str(&lines.collect::<Vec<_>>().join("\n")).unwrap()
            }
            Format::Toml => serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap(),
            Format::Yaml => serde_saphyr::from_str(text).unwrap(),
        }
    }

    /// The document with a list of servers turned into a mapping, and without what a new file starts with.
    fn document(&self, text: &str) -> Value {
        let mut document = self.parse(text);
        if self.client == "continue" {
            let fields = document.as_object_mut().unwrap();
            if fields.get("name") == Some(&json!("Local Assistant")) {
                fields.retain(|key, _| key == self.key);
            }
            if let Some(Value::Array(servers)) = fields.get(self.key).cloned() {
                let named = servers
                    .iter()
                    .map(|server| (server["name"].as_str().unwrap().to_owned(), server.clone()));
                fields.insert(self.key.into(), Value::Object(named.collect()));
            }
        }
        document
    }

    fn entry(&self, arguments: &[&str]) -> Value {
        let mut entry: Value = serde_json::from_str(self.extra).unwrap();
        let words = |first: &[&str]| json!(first.iter().chain(arguments).collect::<Vec<_>>());
        match self.client {
            "opencode" | "kilo" => entry["command"] = words(&["slipstitch", "mcp"]),
            "goose" => (entry["cmd"], entry["args"]) = ("slipstitch".into(), words(&["mcp"])),
            _ => (entry["command"], entry["args"]) = ("slipstitch".into(), words(&["mcp"])),
        }
        entry
    }

    /// Settings files without our entry.
    fn files(&self) -> Vec<(&'static str, String)> {
        let key = self.key;
        let texts = match self.format {
            Format::Json => vec![
                ("empty object", "{}".into()),
                ("no servers", "{\n  \"theme\": \"é\",\n  \"n\": 1.50\n}\n".into()),
                (
                    "other servers",
                    format!(
                        "{{\n\t\"{key}\": {{\n\t\t\"a\": {{ \"command\": \"a\" }}\n\t}},\n\t\"z\": [ ]\n}}"
                    ),
                ),
                ("one line", format!("{{\"{key}\":{{\"a\":{{\"command\":\"a\"}}}},\"z\":1}}\n")),
                (
                    "comments",
                    format!(
                        "// mine\n{{\n  \"{key}\": {{\n    // the first\n    \"a\": {{}}\n    // the end\n  }}\n}}\n"
                    ),
                ),
            ],
            Format::Toml => vec![
                ("no servers", "model = \"é\" # mine\nn = 1.50\n".into()),
                (
                    "other servers",
                    format!("a = 1\n\n[{key}.a]\ncommand = 'a'\n\n[{key}.a.env]\nX = \"1\"\n\n[tail]\nb = 2"),
                ),
                ("comments", format!("# mine\n[{key}]\n# the end\n")),
                ("no final newline", "a = 1".into()),
            ],
            Format::Yaml if self.client == "continue" => vec![
                ("no servers", "model: é # mine\nn: 1.50\n".into()),
                (
                    "other servers",
                    format!("A: 1\n{key}:\n    - name: a\n      command: a\n      args: [x]\n\nZ: 2\n"),
                ),
                (
                    "comments",
                    format!("# mine\n{key}:\n  # the first\n  - name: a\n    command: a # x\n# the end\n"),
                ),
                ("empty list", format!("{key}: []\nZ: 1")),
                ("no value", format!("A: 1\n{key}:\n")),
            ],
            Format::Yaml => vec![
                ("no servers", "MODEL: é # mine\nn: 1.50\n".into()),
                (
                    "other servers",
                    format!("A: 1\n{key}:\n    a:\n        cmd: a\n        args: [x]\n\nZ: 2\n"),
                ),
                ("comments", format!("# mine\n{key}:\n  # the first\n  a:\n    cmd: a # x\n# the end\n")),
                ("empty mapping", format!("{key}: {{}}\nZ: 1")),
                ("no value", format!("A: 1\n{key}:\n")),
            ],
        };
        let crlf: Vec<_> =
            texts.iter().map(|(_, text): &(_, String)| ("CRLF", text.replace('\n', "\r\n"))).collect();
        let with_bom = texts.iter().map(|(_, text)| ("byte order mark", format!("\u{feff}{text}"))).collect();
        [texts, crlf, with_bom, vec![("empty", String::new()), ("blank", "\n\n".into())]].concat()
    }
}

#[test]
fn every_host_is_tested_and_documented() {
    let tested: Vec<&str> = HOSTS.iter().map(|host| host.client).collect();
    let supported: Vec<&str> = slipstitch_install::HOSTS.iter().map(|host| host.id).collect();
    assert_eq!(tested, supported);
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp-install.md");
    let document = fs::read_to_string(document).unwrap();
    for host in HOSTS {
        let row = document.lines().find(|line| line.starts_with(&format!("| `{}` |", host.client)));
        let row = row.unwrap_or_else(|| panic!("{} is not documented", host.client));
        let project = host.project.map_or("none".into(), |file| format!("`{file}`"));
        assert!(row.ends_with(&format!("| {project} | `{}` |", host.key)), "{row}");
    }
}

#[test]
fn install_creates_the_file_and_uninstall_deletes_it() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.install(&rig, &[]);
        run.assert_done();
        assert!(run.err.contains("slipstitch mcp uninstall --client"), "{run:?}");
        let text = fs::read_to_string(host.file(&rig)).unwrap();
        assert_eq!(host.document(&text), json!({host.key: {"slipstitch": host.entry(&[])}}), "{text}");
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(!host.file(&rig).exists(), "{}", host.client);
    }
}

#[test]
fn install_keeps_other_bytes_and_uninstall_restores_the_file() {
    for host in one_per_kind() {
        for (kind, before) in host.files() {
            let rig = Rig::new();
            let case = format!("{}, {kind}: {before:?}", host.client);
            host.write_file(&rig, before.as_bytes());
            let run = host.install(&rig, &["--dialect", "native,codex"]);
            assert_eq!(run.code, 0, "{case}: {run:?}");
            let after = fs::read_to_string(host.file(&rig)).unwrap();
            assert_only_added(&before, &after);
            let without_bom = |text: &str| text.trim_start_matches('\u{feff}').to_owned();
            let mut expected = match without_bom(&before) {
                text if text.trim().is_empty() => json!({}),
                text => host.document(&text),
            };
            if expected[host.key].is_array() {
                expected[host.key] = json!({});
            }
            expected[host.key]["slipstitch"] = host.entry(&["--dialect", "native,codex"]);
            assert_eq!(host.document(&without_bom(&after)), expected, "{case}");
            host.run(&rig, "uninstall", &[]).assert_done();
            assert_eq!(fs::read(host.file(&rig)).unwrap(), before.as_bytes(), "{case}");
        }
    }
}

/// Asserts that `after` contains every byte of `before`, in the same order.
fn assert_only_added(before: &str, after: &str) {
    let mut rest = after.bytes();
    for byte in before.bytes() {
        assert!(rest.any(|found| found == byte), "{before:?} is not all in {after:?}");
    }
    assert_eq!(before.contains("\r\n"), after.contains("\r\n"));
    if before.contains("\r\n") {
        assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
    }
}

#[test]
fn an_existing_entry_is_replaced_only_by_force() {
    for host in HOSTS {
        let rig = Rig::new();
        host.install(&rig, &[]).assert_done();
        let text = fs::read(host.file(&rig)).unwrap();
        let again = host.install(&rig, &[]);
        again.assert_done();
        assert!(again.err.contains("already"), "{again:?}");
        let other = host.install(&rig, &["--dialect", "codex"]);
        other.assert_failed(1, &["different", "--force", "--name"]);
        assert_eq!(fs::read(host.file(&rig)).unwrap(), text, "{}", host.client);
        host.install(&rig, &["--dialect", "codex", "--force"]).assert_done();
        let now = host.document(&fs::read_to_string(host.file(&rig)).unwrap());
        assert_eq!(now[host.key]["slipstitch"], host.entry(&["--dialect", "codex"]));
    }
}

#[test]
fn an_invalid_file_is_left_alone_and_the_entry_shown() {
    for host in HOSTS {
        let broken: &[&[u8]] = match host.format {
            Format::Json => &[
                b"{\"a\": ",
                b"{\"a\": 1 \"b\": 2}",
                b"[1]",
                b"\"x\"",
                b"{'a': 1}",
                b"{\"a\": \"\xff\"}",
                b"{\"a\": 1, \"a\": 2}",
            ],
            Format::Toml => &[b"a = ", b"[a\n", b"a = 1\na = 2\n", b"a = \"\xff\"\n"],
            Format::Yaml => &[b"a: [1", b"- 1\n", b"a: b: c\n", b"a: 1\n---\nb: 2\n", b"a: \"\xff\"\n"],
        };
        for text in broken {
            let rig = Rig::new();
            host.write_file(&rig, text);
            let run = host.install(&rig, &[]);
            run.assert_failed(1, &["cannot be edited safely", "by hand", "slipstitch", host.key]);
            host.run(&rig, "uninstall", &[]).assert_failed(1, &["cannot be edited safely", host.key]);
            assert_eq!(fs::read(host.file(&rig)).unwrap(), *text, "{}", host.client);
        }
    }
}

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
fn project_settings_are_separate_from_the_user_s() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.run(&rig, "install", &["--project"]);
        let Some(project) = host.project else {
            run.assert_failed(2, &["no project settings file", "--project"]);
            continue;
        };
        run.assert_done();
        assert!(!host.file(&rig).exists(), "the user's file is untouched");
        assert!(run.err.contains("on the PATH"), "{run:?}");
        // A project's file is shared with other machines, so it must not contain a path of this one.
        let entry = &mut host.entry(&[]);
        let text = rig.get(project);
        let document = match host.client {
            // The project's file is JSON, with a mapping.
            "continue" => {
                entry.as_object_mut().unwrap().remove("name");
                serde_json::from_str(&text).unwrap()
            }
            _ => host.document(&text),
        };
        assert_eq!(document[host.key]["slipstitch"], *entry);
        host.run(&rig, "uninstall", &["--project"]).assert_done();
        assert!(!rig.root().join(project).exists());
        let elsewhere = rig.outside().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let root = elsewhere.to_str().unwrap();
        let run = host.run(&rig, "install", &["--project", "--root", root]);
        run.assert_done();
        let command = format!("uninstall --client {} --project --root {root}", host.client);
        assert!(run.err.contains(&command), "{run:?}");
        assert!(elsewhere.join(project).exists(), "`--root` is the project");
    }
}

#[test]
fn print_shows_the_entry_and_writes_nothing() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.install(&rig, &["--print", "--name", "x", "--", "--mode", "restricted"]);
        run.assert_done();
        let mut expected = host.entry(&["--mode", "restricted"]);
        if ["goose", "continue"].contains(&host.client) {
            expected["name"] = "x".into();
        }
        assert_eq!(host.document(&run.out), json!({host.key: {"x": expected}}), "{run:?}");
        assert!(run.err.contains(host.user), "{run:?}");
        assert!(!host.file(&rig).exists() && !rig.outside().join("state").exists());
    }
}

#[test]
fn roots_become_absolute() {
    let host = host("claude-code");
    let rig = Rig::new();
    fs::create_dir(rig.root().join("sub")).unwrap();
    host.install(&rig, &["--root", "sub"]).assert_done();
    let text = fs::read_to_string(host.file(&rig)).unwrap();
    let sub = rig.root().join("sub").canonicalize().unwrap();
    let expected = host.entry(&["--root", sub.to_str().unwrap()]);
    assert_eq!(host.document(&text)["mcpServers"]["slipstitch"], expected);
    host.install(&rig, &["--root", "gone", "--name", "y"]).assert_failed(2, &["gone", "--root"]);
    host.install(&rig, &["--dialect", "klingon", "--name", "y"]).assert_failed(2, &["klingon", "`native`"]);
    host.install(&rig, &["--name", "a b"]).assert_failed(2, &["letters"]);
}

#[test]
fn a_program_outside_the_path_is_named_by_its_full_path() {
    let host = host("claude-code");
    let rig = Rig::new();
    let run = host.run(&rig, "install", &[]);
    run.assert_done();
    let text = fs::read_to_string(host.file(&rig)).unwrap();
    let command = host.document(&text)["mcpServers"]["slipstitch"]["command"].as_str().unwrap().to_owned();
    let program = assert_cmd::cargo::cargo_bin!("slipstitch").canonicalize().unwrap();
    assert_eq!(command, program.to_str().unwrap());
    let rig = Rig::new();
    let mut command = rig.command();
    command.env("PATH", program.parent().unwrap()).args(["mcp", "install", "--client", "claude-code"]);
    Run::of(&mut command).assert_done();
    let text = fs::read_to_string(host.file(&rig)).unwrap();
    assert_eq!(host.document(&text)["mcpServers"]["slipstitch"]["command"], "slipstitch");
}

#[test]
fn symlinked_settings_stay_symlinked() {
    let host = host("claude-code");
    let rig = Rig::new();
    let kept = rig.outside().join("dotfiles");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("claude"), "{}\n").unwrap();
    std::os::unix::fs::symlink(kept.join("claude"), host.file(&rig)).unwrap();
    host.install(&rig, &[]).assert_done();
    assert!(host.file(&rig).is_symlink());
    assert!(fs::read_to_string(kept.join("claude")).unwrap().contains("slipstitch"));
    host.run(&rig, "uninstall", &[]).assert_done();
    assert_eq!(fs::read_to_string(kept.join("claude")).unwrap(), "{}\n");
}

#[test]
fn warns_about_comments_where_the_host_reads_plain_json() {
    for (host, warned) in [(host("claude-code"), true), (host("vscode"), false)] {
        let rig = Rig::new();
        host.write_file(&rig, b"{\n  // mine\n}\n");
        let run = host.install(&rig, &[]);
        run.assert_done();
        assert_eq!(run.err.contains("plain JSON"), warned, "{run:?}");
    }
}

#[test]
fn json_output_is_one_object() {
    let rig = Rig::new();
    let (code, report) = rig.json(["mcp", "install", "--client", "zed"]);
    assert_eq!((code, report["code"].as_str()), (0, Some("installed")), "{report}");
    let (code, report) = rig.json(["mcp", "uninstall", "--client", "zed"]);
    assert_eq!((code, report["code"].as_str()), (0, Some("uninstalled")), "{report}");
    rig.run(["mcp", "install", "--client", "nope"]).assert_failed(2, &["claude-code", "opencode"]);
}

#[test]
fn rejects_what_the_server_would_reject_with_the_same_message() {
    let refused: &[&[&str]] = &[
        &["--dialect", "native,nexus3"],
        &["--dialect", "klingon"],
        &["--dialect", ""],
        &["--", "--dialect", "klingon"],
        &["--", "--mode", "sometimes"],
        &["--", "--patience", "0"],
        &["--", "--no-such-option"],
        &["--", "--token", "0123456789abcdef0123"],
        &["--", "--root", "/no/such/folder"],
        &["--", "surplus"],
    ];
    for (index, host) in HOSTS.iter().enumerate() {
        // The check is the same for all hosts.
        for extra in refused.iter().take(if index == 0 { refused.len() } else { 1 }) {
            for print in [false, true] {
                let rig = Rig::new();
                let (before, after): (Vec<&str>, Vec<&str>) =
                    match extra.iter().position(|word| *word == "--") {
                        Some(at) => (vec![], extra[at..].to_vec()),
                        None => (extra.to_vec(), vec![]),
                    };
                let words = [&before[..], if print { &["--print"] } else { &[] }, &after].concat();
                let run = host.install(&rig, &words);
                assert_eq!((run.code, run.out.as_str()), (2, ""), "{words:?}: {run:?}");
                let arguments: Vec<&str> = extra.iter().copied().filter(|word| *word != "--").collect();
                let server = rig.run(["mcp"].iter().chain(&arguments));
                let first_line = |run: &Run| run.err.lines().next().unwrap_or_default().to_owned();
                assert_eq!(first_line(&run), first_line(&server), "{words:?}");
                let left: Vec<_> =
                    fs::read_dir(rig.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
                assert_eq!(left, ["root"], "{words:?}");
            }
        }
    }
}

#[test]
fn rejects_arguments_that_a_host_cannot_use() {
    let host = host("claude-code");
    let rig = Rig::new();
    for (words, reason) in [
        (&["--http", "127.0.0.1:0"][..], "standard input and output"),
        (&["uninstall", "--client", "zed"], "`install` or `uninstall`"),
        (&["--help"], "help"),
    ] {
        let run = host.install(&rig, &[&["--"], words].concat());
        run.assert_failed(2, &["a host cannot start the server", reason, "Nothing was written"]);
        assert!(!host.file(&rig).exists());
    }
}

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
fn a_failed_installation_leaves_no_directory() {
    let rig = Rig::new();
    fs::write(rig.outside().join("state"), "not a directory").unwrap();
    let run = host("zed").install(&rig, &[]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(!rig.outside().join(".config").exists());
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

#[test]
fn dangling_symlinks_are_refused() {
    use std::os::unix::fs::symlink;
    let claude = host("claude-code");
    let rig = Rig::new();
    symlink(rig.outside().join("dotfiles/claude"), claude.file(&rig)).unwrap();
    claude
        .install(&rig, &[])
        .assert_failed(1, &["is a symlink to", "dotfiles/claude`, which does not exist"]);
    claude.run(&rig, "uninstall", &[]).assert_failed(1, &["is a symlink to", "which does not exist"]);
    assert!(claude.file(&rig).is_symlink() && !rig.outside().join("dotfiles").exists());
    // So are dangling directories.
    symlink("gone", rig.outside().join(".config")).unwrap();
    host("zed").install(&rig, &[]).assert_failed(1, &["/.config` is a symlink to `gone`"]);
    assert!(!rig.outside().join("gone").exists());
}

/// The files below a directory with their content.
fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(snapshot(&path)),
            false => files.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    files.sort();
    files
}

/// The files of the home directory, without the program's own state.
fn home(rig: &Rig) -> Vec<(PathBuf, Vec<u8>)> {
    let state = rig.outside().join("state");
    snapshot(rig.outside()).into_iter().filter(|(path, _)| !path.starts_with(&state)).collect()
}

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
    codex.run(&rig, "uninstall", &[]).assert_done();
    let run = codex.install(&rig, &["--ask-for-edits"]);
    assert!(run.err.contains("`codex exec` refuses them"), "{run:?}");
    assert_eq!(mode(&rig), Value::Null);
    let both = codex.install(&rig, &["--ask-for-edits", "--allow-edits"]);
    both.assert_failed(2, &["cannot be used with"]);
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
fn a_permissions_file_that_does_not_parse_stops_both_commands() {
    let rig = Rig::new();
    let claude = host("claude-code");
    let settings = rig.outside().join(".claude/settings.json");
    fs::create_dir(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{ broken").unwrap();
    let run = claude.install(&rig, &["--allow-edits"]);
    run.assert_failed(1, &["settings.json` cannot be edited safely", "Nothing was written"]);
    // It says what belongs in which file.
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
fn settings_that_are_not_files_are_refused() {
    let gemini = host("gemini");
    let rig = Rig::new();
    fs::create_dir_all(gemini.file(&rig)).unwrap();
    gemini.install(&rig, &[]).assert_failed(3, &["settings.json` cannot be used: it is a directory"]);
    fs::remove_dir(gemini.file(&rig)).unwrap();
    // Nothing waits for somebody to write into the pipe.
    let made = std::process::Command::new("mkfifo").arg(gemini.file(&rig)).status().unwrap();
    assert!(made.success());
    for command in ["install", "uninstall"] {
        let run = gemini.run(&rig, command, &[]);
        run.assert_failed(3, &["settings.json` cannot be used: it is not a regular file"]);
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

#[test]
fn dry_runs_show_the_change_and_write_nothing() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.install(&rig, &["--dry-run"]);
        run.assert_done();
        assert!(
            run.err.contains("Would add") && run.out.lines().all(|line| line.starts_with("+ ")),
            "{run:?}"
        );
        assert!(home(&rig).is_empty() && !rig.outside().join("state").exists(), "{}", host.client);
        host.install(&rig, &[]).assert_done();
        let installed = home(&rig);
        let run = host.run(&rig, "uninstall", &["--dry-run"]);
        run.assert_done();
        assert!(
            run.err.contains("Would remove") && run.out.lines().all(|line| line.starts_with("- ")),
            "{run:?}"
        );
        assert_eq!(home(&rig), installed);
    }
}

#[test]
fn without_a_client_the_hosts_that_are_there_are_found() {
    let rig = Rig::new();
    rig.run(["mcp", "install", "--all"]).assert_failed(1, &["no agent host was found", "--client"]);
    for folder in [".cursor", ".config/zed", ".codex"] {
        fs::create_dir_all(rig.outside().join(folder)).unwrap();
    }
    // There is no terminal in the test.
    let run = rig.run(["mcp", "install"]);
    run.assert_failed(2, &["codex, cursor, zed", "--all", "--dry-run"]);
    assert!(home(&rig).is_empty());
    let (code, planned) = rig.json(["mcp", "install", "--all", "--dry-run"]);
    let hosts: Vec<&str> =
        planned["hosts"].as_array().unwrap().iter().map(|host| host["host"].as_str().unwrap()).collect();
    assert_eq!((code, hosts.as_slice()), (0, &["codex", "cursor", "zed"][..]));
    assert!(home(&rig).is_empty());
    rig.run(["mcp", "install", "--all"]).assert_done();
    assert_eq!(home(&rig).len(), 3);
    // One that is refused does not stop the others.
    rig.run(["mcp", "uninstall", "--client", "codex,zed"]).assert_done();
    fs::write(rig.outside().join(".codex/config.toml"), "[broken").unwrap();
    let run = rig.run(["mcp", "install", "--all"]);
    assert_eq!(run.code, 1, "{run:?}");
    let said = ["cannot be edited safely", "already has this entry", "settings.json` for Zed"];
    assert!(said.iter().all(|text| run.err.contains(text)), "{run:?}");
    assert!(rig.outside().join(".config/zed/settings.json").exists());
    fs::remove_file(rig.outside().join(".codex/config.toml")).unwrap();
    rig.run(["mcp", "uninstall", "--all"]).assert_done();
    assert!(home(&rig).is_empty());
}

#[test]
fn a_program_on_the_path_shows_that_a_host_is_there() {
    let rig = Rig::new();
    let programs = rig.outside().join("bin");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("gemini"), "").unwrap();
    let mut command = rig.command();
    command.env("PATH", &programs).args(["mcp", "install", "--all", "--scope", "project"]);
    Run::of(&mut command).assert_done();
    assert!(rig.root().join(".gemini/settings.json").exists());
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

/// A host's program that prints a list.
#[cfg(unix)]
fn fake_host(rig: &Rig, name: &str, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let programs = rig.outside().join("bin");
    fs::create_dir_all(&programs).unwrap();
    fs::write(programs.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    programs
}

#[test]
#[cfg(unix)]
fn doctor_asks_each_host_that_has_the_server() {
    for (client, program, script, code, said) in [
        (
            "claude-code",
            "claude",
            "[ \"$*\" = 'mcp list' ] && echo 'slipstitch: x mcp - ✓ Connected'",
            0,
            "is connected",
        ),
        ("claude-code", "claude", "echo 'slipstitch: x mcp - ✗ Failed to connect'", 3, "Failed to connect"),
        ("claude-code", "claude", "echo 'No MCP servers configured'", 3, "does not list the server"),
        ("codex", "codex", "echo '[{\"name\": \"slipstitch\"}]'", 0, "lists the server"),
        ("zed", "zed", "exit 1", 0, "has no command that lists its servers"),
    ] {
        let rig = Rig::new();
        let programs = fake_host(&rig, program, script);
        host(client).install(&rig, &[]).assert_done();
        let mut command = rig.command();
        command.env("PATH", format!("{}:/usr/bin:/bin", programs.display())).arg("doctor");
        let run = Run::of(&mut command);
        assert_eq!(run.code, code, "{run:?}");
        assert!(run.out.contains(said), "{run:?}");
    }
    let rig = Rig::new();
    let run = rig.run(["doctor"]);
    assert!(!run.out.contains("Claude Code"), "a host without the server is not asked: {run:?}");
}
