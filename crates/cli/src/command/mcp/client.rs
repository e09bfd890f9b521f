//! The hosts that Slipstitch can be put into: where each keeps its servers, and in what form.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

use super::edit::Format;
use super::entry::Server;

/// A host, by the name that `--client` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Zed
    Zed,
    /// goose
    Goose,
    /// opencode
    Opencode,
}

/// What is known of a host.
pub(super) struct Facts {
    /// Its name as people write it.
    pub(super) name: &'static str,
    /// How its file is written.
    pub(super) format: Format,
    /// The key that its servers are beneath.
    pub(super) key: &'static str,
    /// A server as it writes one.
    pub(super) entry: fn(&Server) -> Value,
    /// The user's file.
    user: fn(&Places) -> PathBuf,
    /// A project's file, beneath the project.
    project: Option<&'static str>,
    /// What it takes until the server is there.
    pub(super) next: &'static str,
}

/// The folders that hosts keep their files in.
#[derive(Debug, Clone)]
pub(super) struct Places {
    home: PathBuf,
    config: PathBuf,
    claude: Option<PathBuf>,
    codex: Option<PathBuf>,
}

impl Client {
    /// What is known of it.
    pub(super) fn facts(self) -> &'static Facts {
        match self {
            Self::ClaudeCode => &CLAUDE_CODE,
            Self::Codex => &CODEX,
            Self::Cursor => &CURSOR,
            Self::Vscode => &VSCODE,
            Self::Zed => &ZED,
            Self::Goose => &GOOSE,
            Self::Opencode => &OPENCODE,
        }
    }
}

impl Facts {
    /// The file of the user.
    pub(super) fn user_file(&self, places: &Places) -> PathBuf {
        or_with_comments((self.user)(places))
    }

    /// The file of a project, if the host has such files.
    pub(super) fn project_file(&self, project: &Path) -> Option<PathBuf> {
        self.project.map(|file| or_with_comments(project.join(file)))
    }
}

/// opencode also reads `opencode.jsonc`; where that one is in use, a second file would only confuse.
fn or_with_comments(file: PathBuf) -> PathBuf {
    let other = file.with_extension("jsonc");
    let wanted = file.file_name().is_some_and(|name| name == "opencode.json");
    if wanted && !file.exists() && other.exists() { other } else { file }
}

impl Places {
    /// As the environment says.
    pub(super) fn of_user() -> Option<Self> {
        let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME")?;
        Some(Self {
            config: folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            claude: folder("CLAUDE_CONFIG_DIR"),
            codex: folder("CODEX_HOME"),
            home,
        })
    }
}

const CLAUDE_CODE: Facts = Facts {
    name: "Claude Code",
    format: Format::Json,
    key: "mcpServers",
    entry: |server| json!({"type": "stdio", "command": server.command, "args": server.args, "env": {}}),
    user: |places| places.claude.as_ref().unwrap_or(&places.home).join(".claude.json"),
    project: Some(".mcp.json"),
    next: "Start a new session; `/mcp` lists the servers.",
};

const CODEX: Facts = Facts {
    name: "Codex",
    format: Format::Toml,
    key: "mcp_servers",
    entry: |server| json!({"command": server.command, "args": server.args}),
    user: |places| places.codex.clone().unwrap_or_else(|| places.home.join(".codex")).join("config.toml"),
    project: Some(".codex/config.toml"),
    next: "Start a new session; `/mcp` lists the servers. A project's file counts once the project is trusted.",
};

const CURSOR: Facts = Facts {
    name: "Cursor",
    format: Format::Json,
    key: "mcpServers",
    entry: |server| json!({"type": "stdio", "command": server.command, "args": server.args}),
    user: |places| places.home.join(".cursor/mcp.json"),
    project: Some(".cursor/mcp.json"),
    next: "Switch the server on in Cursor's settings, under MCP.",
};

const VSCODE: Facts = Facts {
    name: "Visual Studio Code",
    format: Format::JsonWithComments,
    key: "servers",
    entry: |server| json!({"type": "stdio", "command": server.command, "args": server.args}),
    user: |places| match std::env::consts::OS {
        "macos" => places.home.join("Library/Application Support/Code/User/mcp.json"),
        _ => places.config.join("Code/User/mcp.json"),
    },
    project: Some(".vscode/mcp.json"),
    next: "Start the server with the command `MCP: List Servers`.",
};

const ZED: Facts = Facts {
    name: "Zed",
    format: Format::JsonWithComments,
    key: "context_servers",
    entry: |server| json!({"source": "custom", "command": server.command, "args": server.args, "env": {}}),
    user: |places| match std::env::consts::OS {
        "macos" => places.home.join(".config/zed/settings.json"),
        _ => places.config.join("zed/settings.json"),
    },
    project: Some(".zed/settings.json"),
    next: "Zed starts the server by itself; the settings of its agent panel show it.",
};

const GOOSE: Facts = Facts {
    name: "goose",
    format: Format::Yaml,
    key: "extensions",
    entry: |server| {
        json!({
            "enabled": true,
            "type": "stdio",
            "name": server.name,
            "description": "Edits files at the right place or not at all, and takes edits back",
            "cmd": server.command,
            "args": server.args,
            "envs": {},
            "env_keys": [],
            "timeout": 300,
        })
    },
    user: |places| match std::env::consts::OS {
        "macos" => places.home.join(".config/goose/config.yaml"),
        _ => places.config.join("goose/config.yaml"),
    },
    project: None,
    next: "Start a new session.",
};

const OPENCODE: Facts = Facts {
    name: "opencode",
    format: Format::JsonWithComments,
    key: "mcp",
    entry: |server| {
        let command: Vec<&String> = std::iter::once(&server.command).chain(&server.args).collect();
        json!({"type": "local", "command": command, "enabled": true})
    },
    user: |places| places.config.join("opencode/opencode.json"),
    project: Some("opencode.json"),
    next: "Start a new session.",
};

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places { home: "/h".into(), config: "/h/.config".into(), claude: None, codex: None }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn each_host_has_its_files() {
        for (client, user, project) in [
            (Client::ClaudeCode, "/h/.claude.json", Some("/p/.mcp.json")),
            (Client::Codex, "/h/.codex/config.toml", Some("/p/.codex/config.toml")),
            (Client::Cursor, "/h/.cursor/mcp.json", Some("/p/.cursor/mcp.json")),
            (Client::Vscode, "/h/.config/Code/User/mcp.json", Some("/p/.vscode/mcp.json")),
            (Client::Zed, "/h/.config/zed/settings.json", Some("/p/.zed/settings.json")),
            (Client::Goose, "/h/.config/goose/config.yaml", None),
            (Client::Opencode, "/h/.config/opencode/opencode.json", Some("/p/opencode.json")),
        ] {
            let facts = client.facts();
            assert_eq!(facts.user_file(&places()), Path::new(user));
            assert_eq!(facts.project_file(Path::new("/p")).as_deref(), project.map(Path::new));
        }
    }

    #[test]
    fn hosts_can_be_told_to_keep_their_files_elsewhere() {
        let places = Places { claude: Some("/c".into()), codex: Some("/x".into()), ..places() };
        assert_eq!(CLAUDE_CODE.user_file(&places), Path::new("/c/.claude.json"));
        assert_eq!(CODEX.user_file(&places), Path::new("/x/config.toml"));
    }

    #[test]
    fn an_opencode_file_with_comments_is_the_one_in_use() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("opencode.jsonc"), "{}").unwrap();
        let file = |name: &str| Some(folder.path().join(name));
        assert_eq!(OPENCODE.project_file(folder.path()), file("opencode.jsonc"));
        std::fs::write(folder.path().join("opencode.json"), "{}").unwrap();
        assert_eq!(OPENCODE.project_file(folder.path()), file("opencode.json"));
    }
}
