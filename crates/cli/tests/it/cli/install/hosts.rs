//! What each host expects.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::rig::{Rig, Run};

/// What a host expects, independent of the program's own table.
pub(super) struct Host {
    pub(super) client: &'static str,
    /// Relative to the home directory.
    pub(super) user: &'static str,
    /// Relative to the project.
    pub(super) project: Option<&'static str>,
    pub(super) format: Format,
    pub(super) key: &'static str,
    /// The entry without the program and its arguments.
    pub(super) extra: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Format {
    Json,
    Toml,
    Yaml,
}

pub(super) const HOSTS: &[Host] = &[
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

pub(super) fn host(client: &str) -> &'static Host {
    HOSTS.iter().find(|host| host.client == client).unwrap()
}

/// One host for each kind of settings file; the others differ only in the file's name.
pub(super) fn one_per_kind() -> impl Iterator<Item = &'static Host> {
    let kind = |host: &Host| (host.format, host.key);
    HOSTS
        .iter()
        .enumerate()
        .filter(move |(at, host)| HOSTS[..*at].iter().all(|other| kind(other) != kind(host)))
        .map(|(_, host)| host)
}

impl Host {
    pub(super) fn file(&self, rig: &Rig) -> PathBuf {
        rig.outside().join(self.user)
    }

    pub(super) fn write_file(&self, rig: &Rig, text: &[u8]) {
        fs::create_dir_all(self.file(rig).parent().unwrap()).unwrap();
        fs::write(self.file(rig), text).unwrap();
    }

    pub(super) fn run(&self, rig: &Rig, command: &str, extra: &[&str]) -> Run {
        rig.run(["mcp", command, "--client", self.client].iter().chain(extra))
    }

    /// Installs with a program name that is the same on every machine.
    pub(super) fn install(&self, rig: &Rig, extra: &[&str]) -> Run {
        self.run(rig, "install", &[&["--command", "slipstitch"], extra].concat())
    }

    /// Parses the text of a settings file.
    pub(super) fn parse(&self, text: &str) -> Value {
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
    pub(super) fn document(&self, text: &str) -> Value {
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

    pub(super) fn entry(&self, arguments: &[&str]) -> Value {
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
    pub(super) fn files(&self) -> Vec<(&'static str, String)> {
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
