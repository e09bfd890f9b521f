//! The hosts: where each keeps its MCP servers, and what an entry looks like.

use std::env::consts::OS;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::format::Format;
use crate::launch::Launch;

/// An agent host: a program that starts the MCP servers listed in its settings.
#[derive(Debug)]
pub struct Host {
    /// The identifier that users type, such as `claude-code`.
    pub id: &'static str,
    /// The product's name.
    pub name: &'static str,
    /// The syntax of its settings files.
    pub format: Format,
    /// The key whose value maps names to servers.
    pub servers_key: &'static str,
    /// What the user does after an installation to use the server.
    pub next_step: &'static str,
    /// Builds the entry of a server with this name.
    entry: fn(&str, &Launch) -> Value,
    user_file: fn(&Directories) -> PathBuf,
    /// The settings file of a project, relative to the project.
    project_file: Option<&'static str>,
    /// An extension that the host reads as well; a file with it is used if the usual one does not exist.
    alternative_extension: Option<&'static str>,
}

/// Every host, in the order in which help and documentation list them.
pub static HOSTS: &[Host] = &[
    Host {
        id: "claude-code",
        name: "Claude Code",
        format: Format::Json,
        servers_key: "mcpServers",
        next_step: "Start a new session; `/mcp` lists the servers.",
        entry: |_, launch| json!({"type": "stdio", "command": launch.program, "args": launch.args, "env": {}}),
        user_file: |directories| {
            directories.claude.as_ref().unwrap_or(&directories.home).join(".claude.json")
        },
        project_file: Some(".mcp.json"),
        alternative_extension: None,
    },
    Host {
        id: "codex",
        name: "Codex",
        format: Format::Toml,
        servers_key: "mcp_servers",
        next_step: "Start a new session; `/mcp` lists the servers. Codex reads a project's file only if the project is trusted.",
        entry: |_, launch| json!({"command": launch.program, "args": launch.args}),
        user_file: |directories| {
            let codex = directories.codex.clone();
            codex.unwrap_or_else(|| directories.home.join(".codex")).join("config.toml")
        },
        project_file: Some(".codex/config.toml"),
        alternative_extension: None,
    },
    Host {
        id: "cursor",
        name: "Cursor",
        format: Format::Json,
        servers_key: "mcpServers",
        next_step: "Enable the server in Cursor's settings, under MCP.",
        entry: |_, launch| json!({"type": "stdio", "command": launch.program, "args": launch.args}),
        user_file: |directories| directories.home.join(".cursor/mcp.json"),
        project_file: Some(".cursor/mcp.json"),
        alternative_extension: None,
    },
    Host {
        id: "vscode",
        name: "Visual Studio Code",
        format: Format::JsonWithComments,
        servers_key: "servers",
        next_step: "Start the server with the command `MCP: List Servers`.",
        entry: |_, launch| json!({"type": "stdio", "command": launch.program, "args": launch.args}),
        user_file: |directories| match OS {
            "macos" => directories.home.join("Library/Application Support/Code/User/mcp.json"),
            _ => directories.config.join("Code/User/mcp.json"),
        },
        project_file: Some(".vscode/mcp.json"),
        alternative_extension: None,
    },
    Host {
        id: "zed",
        name: "Zed",
        format: Format::JsonWithComments,
        servers_key: "context_servers",
        next_step: "Zed starts the server by itself; the agent panel's settings list it.",
        entry: |_, launch| json!({"source": "custom", "command": launch.program, "args": launch.args, "env": {}}),
        user_file: |directories| directories.dot_config().join("zed/settings.json"),
        project_file: Some(".zed/settings.json"),
        alternative_extension: None,
    },
    Host {
        id: "goose",
        name: "goose",
        format: Format::Yaml,
        servers_key: "extensions",
        next_step: "Start a new session.",
        entry: |name, launch| {
            json!({
                "enabled": true,
                "type": "stdio",
                "name": name,
                "description": "Precise file edits with a journal and undo",
                "cmd": launch.program,
                "args": launch.args,
                "envs": {},
                "env_keys": [],
                "timeout": 300,
            })
        },
        user_file: |directories| directories.dot_config().join("goose/config.yaml"),
        project_file: None,
        alternative_extension: None,
    },
    Host {
        id: "opencode",
        name: "opencode",
        format: Format::JsonWithComments,
        servers_key: "mcp",
        next_step: "Start a new session.",
        entry: |_, launch| {
            let command: Vec<&String> = std::iter::once(&launch.program).chain(&launch.args).collect();
            json!({"type": "local", "command": command, "enabled": true})
        },
        user_file: |directories| directories.config.join("opencode/opencode.json"),
        project_file: Some("opencode.json"),
        alternative_extension: Some("jsonc"),
    },
];

impl Host {
    /// The host with this identifier.
    pub fn find(id: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.id == id)
    }

    /// The entry that starts a server, as this host writes it.
    pub(crate) fn entry(&self, name: &str, launch: &Launch) -> Value {
        (self.entry)(name, launch)
    }

    /// The user's settings file.
    pub(crate) fn user_file(&self, directories: &Directories) -> PathBuf {
        self.existing_variant((self.user_file)(directories))
    }

    /// The settings file of a project, if the host has such files.
    pub(crate) fn project_file(&self, project: &Path) -> Option<PathBuf> {
        self.project_file.map(|file| self.existing_variant(project.join(file)))
    }

    fn existing_variant(&self, file: PathBuf) -> PathBuf {
        let variant = self.alternative_extension.map(|extension| file.with_extension(extension));
        variant.filter(|variant| variant.exists() && !file.exists()).unwrap_or(file)
    }
}

/// The directories that hosts keep their settings in.
#[derive(Debug, Clone)]
pub(crate) struct Directories {
    home: PathBuf,
    /// The XDG configuration directory.
    config: PathBuf,
    claude: Option<PathBuf>,
    codex: Option<PathBuf>,
}

impl Directories {
    /// Reads them from the environment; `None` without a home directory.
    pub(crate) fn from_env() -> Option<Self> {
        let directory = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = directory("HOME")?;
        Some(Self {
            config: directory("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            claude: directory("CLAUDE_CONFIG_DIR"),
            codex: directory("CODEX_HOME"),
            home,
        })
    }

    /// Where hosts keep their settings that follow XDG everywhere but on macOS.
    fn dot_config(&self) -> PathBuf {
        if OS == "macos" { self.home.join(".config") } else { self.config.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directories() -> Directories {
        Directories { home: "/h".into(), config: "/h/.config".into(), claude: None, codex: None }
    }

    fn host(id: &str) -> &'static Host {
        Host::find(id).unwrap()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn every_host_has_its_files() {
        let files = [
            ("claude-code", "/h/.claude.json", Some("/p/.mcp.json")),
            ("codex", "/h/.codex/config.toml", Some("/p/.codex/config.toml")),
            ("cursor", "/h/.cursor/mcp.json", Some("/p/.cursor/mcp.json")),
            ("vscode", "/h/.config/Code/User/mcp.json", Some("/p/.vscode/mcp.json")),
            ("zed", "/h/.config/zed/settings.json", Some("/p/.zed/settings.json")),
            ("goose", "/h/.config/goose/config.yaml", None),
            ("opencode", "/h/.config/opencode/opencode.json", Some("/p/opencode.json")),
        ];
        assert_eq!(files.map(|(id, ..)| id).as_slice(), HOSTS.iter().map(|host| host.id).collect::<Vec<_>>());
        for (id, user, project) in files {
            assert_eq!(host(id).user_file(&directories()), Path::new(user));
            assert_eq!(host(id).project_file(Path::new("/p")).as_deref(), project.map(Path::new));
        }
    }

    #[test]
    fn environment_variables_relocate_settings() {
        let moved = Directories { claude: Some("/c".into()), codex: Some("/x".into()), ..directories() };
        assert_eq!(host("claude-code").user_file(&moved), Path::new("/c/.claude.json"));
        assert_eq!(host("codex").user_file(&moved), Path::new("/x/config.toml"));
    }

    #[test]
    fn an_existing_opencode_jsonc_file_is_used() {
        let project = tempfile::tempdir().unwrap();
        let file = |name: &str| Some(project.path().join(name));
        let found = || host("opencode").project_file(project.path());
        assert_eq!(found(), file("opencode.json"));
        std::fs::write(project.path().join("opencode.jsonc"), "{}").unwrap();
        assert_eq!(found(), file("opencode.jsonc"));
        std::fs::write(project.path().join("opencode.json"), "{}").unwrap();
        assert_eq!(found(), file("opencode.json"));
    }
}
