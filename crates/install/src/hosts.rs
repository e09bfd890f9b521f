//! The table of hosts. `docs/mcp-install.md` shows it to users.

use crate::format::Format;
use crate::host::{
    Approval, BuiltinEdits, Container, Extra, Host, ListCommand, PermissionFiles, Settings, Traces,
};

const PLAIN_ENTRY: &str = r#"{"command": "{program}", "args": "{args}"}"#;
const STDIO_ENTRY: &str = r#"{"type": "stdio", "command": "{program}", "args": "{args}"}"#;
const LOCAL_ENTRY: &str = r#"{"type": "local", "command": "{words}", "enabled": true}"#;

/// What most hosts read: a mapping `mcpServers` in a JSON file.
const MCP_SERVERS: Settings = Settings {
    files: &[],
    windows_files: &[],
    format: Format::Json,
    servers: &["mcpServers"],
    container: Container::Mapping,
    entry: PLAIN_ENTRY,
    initial: "",
};
const CLAUDE: Settings = Settings {
    entry: r#"{"type": "stdio", "command": "{program}", "args": "{args}", "env": {}}"#,
    ..MCP_SERVERS
};
const VSCODE: Settings =
    Settings { format: Format::JsonWithComments, servers: &["servers"], entry: STDIO_ENTRY, ..MCP_SERVERS };
const COPILOT: Settings = Settings {
    entry: r#"{"type": "local", "command": "{program}", "args": "{args}", "tools": ["*"]}"#,
    ..MCP_SERVERS
};
const GEMINI: Settings = Settings { format: Format::JsonWithComments, ..MCP_SERVERS };
const OPENCODE: Settings =
    Settings { format: Format::JsonWithComments, servers: &["mcp"], entry: LOCAL_ENTRY, ..MCP_SERVERS };
const ZED: Settings = Settings {
    format: Format::JsonWithComments,
    servers: &["context_servers"],
    entry: r#"{"source": "custom", "command": "{program}", "args": "{args}", "env": {}}"#,
    ..MCP_SERVERS
};
const CRUSH: Settings = Settings { servers: &["mcp"], entry: STDIO_ENTRY, ..MCP_SERVERS };
const AMP: Settings =
    Settings { format: Format::JsonWithComments, servers: &["amp.mcpServers"], ..MCP_SERVERS };

const NO_SWITCH: BuiltinEdits =
    BuiltinEdits::ByHand("no setting that switches its own edit tools off is known.");

/// A host with nothing but a `mcpServers` file; the rows say how theirs differ.
const BASE: Host = Host {
    id: "",
    name: "",
    user: MCP_SERVERS,
    project: None,
    permissions: None,
    traces: Traces { programs: &[], paths: &[] },
    is_desktop: false,
    next_step: "Start a new session.",
    approval: Approval::Unasked,
    builtin_edits: NO_SWITCH,
    list: None,
};

/// Every host, in the order in which help and documentation list them.
pub static HOSTS: &[Host] = &[
    Host {
        id: "claude-code",
        name: "Claude Code",
        user: Settings { files: &["{CLAUDE_CONFIG_DIR:~}/.claude.json"], ..CLAUDE },
        project: Some(Settings { files: &[".mcp.json"], ..CLAUDE }),
        permissions: Some(PermissionFiles {
            user: "{CLAUDE_CONFIG_DIR:~/.claude}/settings.json",
            project: ".claude/settings.json",
            format: Format::Json,
        }),
        traces: Traces { programs: &["claude"], paths: &["{CLAUDE_CONFIG_DIR:~/.claude}", "~/.claude.json"] },
        next_step: "Start a new session; `/mcp` lists the servers.",
        approval: Approval::Allow {
            otherwise: "Claude Code asks before it uses the tools, and `claude -p` refuses them.",
            additions: &[Extra::Items { list: &["permissions", "allow"], templates: &["mcp__{name}"] }],
        },
        builtin_edits: BuiltinEdits::Off(&[Extra::Items {
            list: &["permissions", "deny"],
            templates: &["Edit", "Write", "NotebookEdit"],
        }]),
        list: Some(ListCommand { program: "claude", args: &["mcp", "list"], connects: true }),
        ..BASE
    },
    Host {
        id: "claude-desktop",
        name: "Claude Desktop",
        user: Settings { files: &["{support}/Claude/claude_desktop_config.json"], ..MCP_SERVERS },
        traces: Traces { programs: &["claude-desktop"], paths: &["{support}/Claude"] },
        is_desktop: true,
        next_step: "Restart Claude Desktop.",
        approval: Approval::ByHand("Claude Desktop asks for each tool until you choose to always allow it."),
        ..BASE
    },
    Host {
        id: "codex",
        name: "Codex",
        user: Settings {
            files: &["{CODEX_HOME:~/.codex}/config.toml"],
            format: Format::Toml,
            servers: &["mcp_servers"],
            ..MCP_SERVERS
        },
        project: Some(Settings {
            files: &[".codex/config.toml"],
            format: Format::Toml,
            servers: &["mcp_servers"],
            ..MCP_SERVERS
        }),
        traces: Traces { programs: &["codex"], paths: &["{CODEX_HOME:~/.codex}"] },
        next_step: "Start a new session; `/mcp` lists the servers. Codex reads a project's file only if the project is trusted.",
        approval: Approval::AllowByDefault {
            allowed: "Codex runs Slipstitch's edits without asking, as it runs its own, so that `codex exec` can edit too.",
            otherwise: "Codex asks before edits, and `codex exec` refuses them.",
            additions: &[Extra::EntryField("default_tools_approval_mode", r#""approve""#)],
        },
        builtin_edits: BuiltinEdits::ByHand("Codex cannot switch off `apply_patch`."),
        list: Some(ListCommand { program: "codex", args: &["mcp", "list", "--json"], connects: false }),
        ..BASE
    },
    Host {
        id: "cursor",
        name: "Cursor",
        user: Settings { files: &["~/.cursor/mcp.json"], entry: STDIO_ENTRY, ..MCP_SERVERS },
        project: Some(Settings { files: &[".cursor/mcp.json"], entry: STDIO_ENTRY, ..MCP_SERVERS }),
        traces: Traces { programs: &["cursor", "cursor-agent"], paths: &["~/.cursor"] },
        is_desktop: true,
        next_step: "Enable the server in Cursor's settings, under MCP.",
        approval: Approval::ByHand("Cursor asks before it runs a tool; its auto-run setting changes that."),
        ..BASE
    },
    Host {
        id: "vscode",
        name: "Visual Studio Code (GitHub Copilot)",
        user: Settings { files: &["{support}/Code/User/mcp.json"], ..VSCODE },
        project: Some(Settings { files: &[".vscode/mcp.json"], ..VSCODE }),
        traces: Traces { programs: &["code"], paths: &["{support}/Code/User"] },
        is_desktop: true,
        next_step: "Start the server with the command `MCP: List Servers`.",
        approval: Approval::ByHand("VS Code asks for each tool until you choose to always allow it."),
        builtin_edits: BuiltinEdits::ByHand("deselect the edit tools in the chat's tool picker."),
        ..BASE
    },
    Host {
        id: "vscode-insiders",
        name: "Visual Studio Code Insiders (GitHub Copilot)",
        user: Settings { files: &["{support}/Code - Insiders/User/mcp.json"], ..VSCODE },
        project: Some(Settings { files: &[".vscode/mcp.json"], ..VSCODE }),
        traces: Traces { programs: &["code-insiders"], paths: &["{support}/Code - Insiders/User"] },
        is_desktop: true,
        next_step: "Start the server with the command `MCP: List Servers`.",
        approval: Approval::ByHand("VS Code asks for each tool until you choose to always allow it."),
        builtin_edits: BuiltinEdits::ByHand("deselect the edit tools in the chat's tool picker."),
        ..BASE
    },
    Host {
        id: "copilot-cli",
        name: "GitHub Copilot CLI",
        user: Settings { files: &["{COPILOT_HOME:~/.copilot}/mcp-config.json"], ..COPILOT },
        // It reads `.mcp.json` too, but that is Claude Code's file.
        project: Some(Settings { files: &[".github/mcp.json"], ..COPILOT }),
        traces: Traces { programs: &["copilot"], paths: &["{COPILOT_HOME:~/.copilot}"] },
        next_step: "Start a new session; `/mcp` lists the servers.",
        approval: Approval::ByHand(
            "Copilot asks before edits, and `copilot -p` refuses them; `--allow-tool` with the server's name runs them unasked.",
        ),
        builtin_edits: BuiltinEdits::ByHand("start it with `--excluded-tools edit create`."),
        list: Some(ListCommand { program: "copilot", args: &["mcp", "list"], connects: false }),
        ..BASE
    },
    Host {
        id: "gemini",
        name: "Gemini CLI",
        user: Settings { files: &["~/.gemini/settings.json"], ..GEMINI },
        project: Some(Settings { files: &[".gemini/settings.json"], ..GEMINI }),
        traces: Traces { programs: &["gemini"], paths: &["~/.gemini"] },
        next_step: "Start a new session; `/mcp` lists the servers. Gemini CLI starts no servers in untrusted folders.",
        approval: Approval::Allow {
            otherwise: "Gemini CLI asks before it uses the tools, and does not even list them when it runs unattended.",
            additions: &[Extra::EntryField("trust", "true")],
        },
        builtin_edits: BuiltinEdits::Off(&[Extra::Items {
            list: &["tools", "exclude"],
            templates: &["replace", "write_file"],
        }]),
        list: Some(ListCommand { program: "gemini", args: &["mcp", "list"], connects: true }),
        ..BASE
    },
    Host {
        id: "qwen",
        name: "Qwen Code",
        user: Settings { files: &["~/.qwen/settings.json"], ..GEMINI },
        project: Some(Settings { files: &[".qwen/settings.json"], ..GEMINI }),
        traces: Traces { programs: &["qwen"], paths: &["~/.qwen"] },
        next_step: "Start a new session; `/mcp` lists the servers.",
        approval: Approval::Allow {
            otherwise: "Qwen Code asks before edits, and refuses them when it runs unattended.",
            additions: &[Extra::EntryField("trust", "true")],
        },
        builtin_edits: BuiltinEdits::Off(&[Extra::Items {
            list: &["permissions", "deny"],
            templates: &["edit", "write_file"],
        }]),
        list: Some(ListCommand { program: "qwen", args: &["mcp", "list"], connects: true }),
        ..BASE
    },
    Host {
        id: "opencode",
        name: "opencode",
        user: Settings {
            files: &[
                "{config}/opencode/opencode.json",
                "{config}/opencode/opencode.jsonc",
                "{config}/opencode/config.json",
            ],
            ..OPENCODE
        },
        project: Some(Settings {
            files: &[
                "opencode.json",
                "opencode.jsonc",
                ".opencode/opencode.json",
                ".opencode/opencode.jsonc",
            ],
            ..OPENCODE
        }),
        traces: Traces { programs: &["opencode"], paths: &["{config}/opencode"] },
        builtin_edits: BuiltinEdits::Off(&[Extra::Fields {
            mapping: &["tools"],
            templates: &["edit", "write", "apply_patch"],
            value: "false",
        }]),
        list: Some(ListCommand { program: "opencode", args: &["mcp", "list"], connects: true }),
        ..BASE
    },
    Host {
        id: "cline",
        name: "Cline",
        user: Settings {
            files: &[
                "~/.cline/data/settings/cline_mcp_settings.json",
                "{support}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ],
            ..MCP_SERVERS
        },
        traces: Traces {
            programs: &["cline"],
            paths: &["~/.cline", "{support}/Code/User/globalStorage/saoudrizwan.claude-dev"],
        },
        is_desktop: true,
        approval: Approval::Allow {
            otherwise: "Cline's extension asks for each tool; its command line does not.",
            additions: &[Extra::EntryTools("autoApprove")],
        },
        ..BASE
    },
    Host {
        id: "roo",
        name: "Roo Code",
        user: Settings {
            files: &[
                "{support}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            ],
            ..MCP_SERVERS
        },
        project: Some(Settings { files: &[".roo/mcp.json"], ..MCP_SERVERS }),
        traces: Traces {
            programs: &[],
            paths: &["{support}/Code/User/globalStorage/rooveterinaryinc.roo-cline"],
        },
        is_desktop: true,
        approval: Approval::Allow {
            otherwise: "Roo Code asks for each tool.",
            additions: &[Extra::EntryTools("alwaysAllow")],
        },
        builtin_edits: BuiltinEdits::ByHand("use a mode without the group `edit`."),
        ..BASE
    },
    Host {
        id: "continue",
        name: "Continue",
        user: Settings {
            files: &["~/.continue/config.yaml"],
            format: Format::Yaml,
            container: Container::List,
            entry: r#"{"name": "{name}", "command": "{program}", "args": "{args}"}"#,
            initial: "name: Local Assistant\nversion: 1.0.0\nschema: v1\n",
            ..MCP_SERVERS
        },
        project: Some(Settings { files: &[".continue/mcpServers/slipstitch.json"], ..MCP_SERVERS }),
        traces: Traces { programs: &["cn"], paths: &["~/.continue"] },
        is_desktop: true,
        builtin_edits: BuiltinEdits::ByHand("exclude `Edit` and `Write` in `~/.continue/permissions.yaml`."),
        ..BASE
    },
    Host {
        id: "windsurf",
        name: "Windsurf",
        user: Settings { files: &["~/.codeium/windsurf/mcp_config.json"], ..MCP_SERVERS },
        traces: Traces { programs: &["windsurf"], paths: &["~/.codeium/windsurf"] },
        is_desktop: true,
        next_step: "Refresh the list of MCP servers in Cascade's settings.",
        approval: Approval::ByHand("Windsurf asks as its Cascade settings say."),
        ..BASE
    },
    Host {
        id: "zed",
        name: "Zed",
        user: Settings {
            files: &["{dotconfig}/zed/settings.json"],
            windows_files: &["{appdata}/Zed/settings.json"],
            ..ZED
        },
        project: Some(Settings { files: &[".zed/settings.json"], ..ZED }),
        traces: Traces { programs: &["zed", "zeditor"], paths: &["{dotconfig}/zed", "{appdata}/Zed"] },
        is_desktop: true,
        next_step: "Zed starts the server by itself; the agent panel's settings list it.",
        approval: Approval::Allow {
            otherwise: "Zed asks before it runs a tool.",
            additions: &[Extra::Fields {
                mapping: &["agent", "tool_permissions", "tools"],
                templates: &["mcp:{name}:{tool}"],
                value: r#"{"default": "allow"}"#,
            }],
        },
        builtin_edits: BuiltinEdits::ByHand(
            "switch `edit_file` off in the tools of the agent panel's profile.",
        ),
        ..BASE
    },
    Host {
        id: "goose",
        name: "goose",
        user: Settings {
            files: &["{dotconfig}/goose/config.yaml"],
            windows_files: &["{appdata}/Block/goose/config/config.yaml"],
            format: Format::Yaml,
            servers: &["extensions"],
            entry: r#"{"enabled": true, "type": "stdio", "name": "{name}",
                "description": "Precise file edits with a journal and undo",
                "cmd": "{program}", "args": "{args}", "envs": {}, "env_keys": [], "timeout": 300}"#,
            ..MCP_SERVERS
        },
        traces: Traces { programs: &["goose"], paths: &["{dotconfig}/goose", "{appdata}/Block/goose"] },
        approval: Approval::ByHand(
            "In its approve modes, goose asks before edits; `GOOSE_MODE: auto` runs all tools unasked.",
        ),
        builtin_edits: BuiltinEdits::ByHand("disable the extension `developer` with `goose configure`."),
        ..BASE
    },
    Host {
        id: "crush",
        name: "Crush",
        user: Settings { files: &["{CRUSH_GLOBAL_CONFIG:config/crush}/crush.json"], ..CRUSH },
        project: Some(Settings { files: &["crush.json", ".crush.json"], ..CRUSH }),
        traces: Traces { programs: &["crush"], paths: &["{CRUSH_GLOBAL_CONFIG:config/crush}"] },
        approval: Approval::Allow {
            otherwise: "Crush asks before it runs a tool.",
            additions: &[Extra::Items {
                list: &["permissions", "allowed_tools"],
                templates: &["mcp_{name}_{tool}"],
            }],
        },
        builtin_edits: BuiltinEdits::Off(&[Extra::Items {
            list: &["options", "disabled_tools"],
            templates: &["edit", "multiedit", "write"],
        }]),
        ..BASE
    },
    Host {
        id: "amp",
        name: "Amp",
        user: Settings { files: &["{config}/amp/settings.json", "{config}/amp/settings.jsonc"], ..AMP },
        project: Some(Settings { files: &[".amp/settings.json", ".amp/settings.jsonc"], ..AMP }),
        traces: Traces { programs: &["amp"], paths: &["{config}/amp"] },
        next_step: "Start a new session; a project's server needs `amp mcp approve` first.",
        approval: Approval::ByHand("Amp asks as `amp.permissions` says."),
        builtin_edits: BuiltinEdits::Off(&[Extra::Items {
            list: &["amp.tools.disable"],
            templates: &["edit_file", "create_file"],
        }]),
        list: Some(ListCommand { program: "amp", args: &["mcp", "list"], connects: false }),
        ..BASE
    },
    Host {
        id: "kilo",
        name: "Kilo Code",
        user: Settings { files: &["{config}/kilo/kilo.json", "{config}/kilo/kilo.jsonc"], ..OPENCODE },
        project: Some(Settings {
            files: &["kilo.json", "kilo.jsonc", ".kilo/kilo.json", ".kilo/kilo.jsonc"],
            ..OPENCODE
        }),
        traces: Traces { programs: &["kilo"], paths: &["{config}/kilo"] },
        is_desktop: true,
        builtin_edits: BuiltinEdits::Off(&[Extra::Fields {
            mapping: &["tools"],
            templates: &["edit", "write", "apply_patch"],
            value: "false",
        }]),
        list: Some(ListCommand { program: "kilo", args: &["mcp", "list"], connects: true }),
        ..BASE
    },
    Host {
        id: "junie",
        name: "JetBrains Junie",
        user: Settings { files: &["~/.junie/mcp/mcp.json"], ..MCP_SERVERS },
        project: Some(Settings { files: &[".junie/mcp/mcp.json"], ..MCP_SERVERS }),
        traces: Traces { programs: &["junie"], paths: &["~/.junie"] },
        is_desktop: true,
        next_step: "Restart the IDE; Junie's MCP settings list the server.",
        approval: Approval::ByHand("Junie asks before it runs a tool unless its brave mode is on."),
        ..BASE
    },
    Host {
        id: "warp",
        name: "Warp",
        user: Settings { files: &["~/.warp/.mcp.json"], ..MCP_SERVERS },
        project: Some(Settings { files: &[".warp/.mcp.json"], ..MCP_SERVERS }),
        traces: Traces { programs: &["warp-terminal", "warp"], paths: &["~/.warp"] },
        is_desktop: true,
        next_step: "Start the server in Warp's settings, under MCP servers.",
        approval: Approval::ByHand("Warp asks as its agent's permissions say."),
        ..BASE
    },
    Host {
        id: "kiro",
        name: "Kiro",
        user: Settings { files: &["~/.kiro/settings/mcp.json"], ..MCP_SERVERS },
        project: Some(Settings { files: &[".kiro/settings/mcp.json"], ..MCP_SERVERS }),
        traces: Traces { programs: &["kiro", "kiro-cli"], paths: &["~/.kiro"] },
        is_desktop: true,
        next_step: "Start a new session; `/mcp` lists the servers.",
        approval: Approval::Allow {
            otherwise: "Kiro asks for each tool.",
            additions: &[Extra::EntryTools("autoApprove")],
        },
        ..BASE
    },
];

impl Host {
    /// The host with this identifier.
    pub fn find(id: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.id == id)
    }
}
