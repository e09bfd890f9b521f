//! The paths that are protected by default, in groups: files that can run code or grant access when they change.
//!
//! The rule for this table: a file belongs here if a program executes or obeys it without being asked to, at the next
//! commit, login, build server run or start of an editor. Plain documents do not, even if agents read them, and neither do
//! build files (`Makefile`, `justfile`, `package.json`), which run only when someone runs them and are everyday work.

/// A group of protected paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// Its name in the settings.
    pub name: &'static str,
    /// What its files are, for messages.
    pub what: &'static str,
    /// Their globs, in lower case. A glob without `/` matches a name in any folder; all of them include everything below.
    pub globs: &'static [&'static str],
}

pub(super) const VERSION_CONTROL: &str = "version-control";
pub(super) const CREDENTIALS: &str = "credentials";
pub(super) const SLIPSTITCH: &str = "slipstitch";

/// Every group.
#[rustfmt::skip]
pub(super) const GROUPS: &[Group] = &[
    Group {
        name: VERSION_CONTROL,
        what: "version control",
        globs: &[
            // `git~1` is the short name that Windows gives `.git`.
            ".git", "git~1", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs",
            ".gitconfig", ".gitmodules", ".hgrc", "**/.config/hg", ".subversion", ".jjconfig.toml",
            ".simple-git-hooks.json", ".simple-git-hooks.js", ".simple-git-hooks.cjs", "**/*.git/hooks", "**/*.git/config", "**/.config/git", "**/.config/jj",
            ".githooks", ".husky", ".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml", ".overcommit.yaml",
            "lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", "lefthook.jsonc",
            ".lefthook.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook.json", ".lefthook.jsonc",
            "lefthook-local.yml", "lefthook-local.yaml", "lefthook-local.toml", "lefthook-local.json",
            "lefthook-local.jsonc", ".lefthook-local.jsonc",
            ".lefthook-local.yml", ".lefthook-local.yaml", ".lefthook-local.toml", ".lefthook-local.json",
            ".lefthook", ".lefthook-local",
            ".sl", "**/.config/sapling", ".arcconfig", ".reviewboardrc",
        ],
    },
    Group {
        name: "ci",
        what: "continuous integration",
        globs: &[
            "**/.github/workflows", "**/.github/actions", "**/.gitea/workflows", "**/.forgejo/workflows",
            "**/.gitlab/ci", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".circleci", ".buildkite", ".woodpecker",
            ".woodpecker.yml", ".woodpecker.yaml", ".travis.yml", ".travis.yaml", ".drone.yml", ".drone.yaml",
            ".drone.star", ".drone.jsonnet", ".cirrus.yml", ".cirrus.yaml", ".cirrus.star", ".appveyor.yml",
            ".appveyor.yaml", "appveyor.yml", "appveyor.yaml", ".semaphore", ".teamcity", ".tekton", ".harness",
            "azure-pipelines.yml", "azure-pipelines.yaml", ".azure-pipelines", "bitbucket-pipelines.yml",
            "bitbucket-pipelines.yaml", "jenkinsfile", "buildspec.yml", "buildspec.yaml", "cloudbuild.yml",
            "cloudbuild.yaml", "cloudbuild.json", ".build.yml", ".build.yaml", ".builds", ".prow.yml", ".prow.yaml",
            "codefresh.yml", "codefresh.yaml", "wercker.yml", "wercker.yaml",
            "*.gitlab-ci.yml", "*.gitlab-ci.yaml", ".zuul.yml", ".zuul.yaml", ".zuul.d", "zuul.yml", "zuul.yaml", "zuul.d",
            ".vela.yml", ".vela.yaml", "bamboo-specs", "bitrise.yml", "bitrise.yaml", "codemagic.yml", "codemagic.yaml",
            "screwdriver.yml", "screwdriver.yaml", ".packit.yml", ".packit.yaml", ".readthedocs.yml", ".readthedocs.yaml",
        ],
    },
    Group {
        name: "editors",
        what: "editor configuration",
        globs: &[
            ".vscode", "*.code-workspace", ".vscode-server", ".vscode-server-insiders", ".vscode-insiders", ".vscode-oss", ".vscodium", ".cursor-server",
            ".windsurf-server", "**/.config/code", "**/.config/code - insiders", "**/.config/vscodium", ".idea", ".vs",
            ".fleet", ".zed", "**/.config/zed", ".devcontainer", ".devcontainer.json", ".theia",
            ".vimrc", "_vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".vim", "**/.config/vim",
            "**/.config/nvim", ".emacs", ".emacs.el", ".emacs.d", ".spacemacs", ".spacemacs.d", ".doom.d",
            "**/.config/doom", ".dir-locals.el", ".dir-locals-2.el", "**/.config/emacs", ".helix", "**/.config/helix",
            "**/.config/kak", "**/.config/micro", "**/.config/sublime-text", ".nanorc", "**/.config/lapce-stable",
            "**/.config/cursor", "**/.config/windsurf", "**/application support/code", "**/application support/cursor",
            "**/appdata/roaming/code", "**/appdata/roaming/cursor", "*.sublime-project", ".gitpod.yml", ".gitpod.yaml",
            ".replit", ".stackblitzrc", ".idx",
            "**/.local/share/nvim", "**/.config/code-server", "**/.local/share/code-server", ".vscodium-server",
            ".vscode-remote", ".zed_server",
        ],
    },
    Group {
        name: "agents",
        what: "agent configuration",
        globs: &[
            ".mcp.json", ".claude", ".claude.json", "claude_desktop_config.json", "**/.config/claude", ".cursor", ".codex",
            ".gemini", ".qwen", ".copilot", "**/.github/mcp.json", "**/.config/github-copilot", ".windsurf", ".codeium",
            "mcp_config.json", ".continue", ".continuerc.json", ".cline", "cline_mcp_settings.json", ".roo",
            "mcp_settings.json", ".kilo", ".kilocode", "kilo.json", "kilo.jsonc", "**/.config/kilo", ".kiro", ".opencode",
            "opencode.json", "opencode.jsonc", "**/.config/opencode", ".crush", "crush.json", ".crush.json", "crushrc",
            ".crushrc", "**/.config/crush", ".amp", "**/.config/amp", ".amazonq", ".junie", ".warp", "**/.config/goose",
            ".aider.conf.yml", ".aider.conf.yaml", ".openhands", ".augment", ".trae", ".factory",
            "mcp.json", ".agents", ".agent", "**/.clinerules/hooks", ".roomodes", ".kilocodemodes", ".goose", ".rovodev",
            ".iflow", ".codebuddy", ".qoder", ".qodo", ".zencoder", ".tabnine", ".antigravity", ".grok", ".kimi", ".vibe",
            ".lmstudio", "**/.github/hooks", "**/.github/agents", "**/.github/copilot", ".claude-plugin", ".pi", ".mcp",
            ".letta", ".hermes", ".devin", ".mux", ".forge", ".nanocoder", ".plandex", ".cody", "**/.config/cagent",
            "**/.local/share/opencode", "**/.local/share/crush",
            ".serena", "gptme.toml", "**/.config/gptme", ".droid", "conductor.json", "gemini-extension.json", ".kode",
            ".openclaw", ".aiassistant", ".firebender", ".refact", ".codegpt", ".comate", ".lingma", ".marscode",
            "librechat.yml", "librechat.yaml", "**/.config/aichat", "**/.config/mods", "**/.config/mcp", "**/.config/mcphub",
        ],
    },
    Group {
        name: "startup",
        what: "a startup file",
        globs: &[
            ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
            ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc",
            ".login", ".logout", ".inputrc", "**/.config/fish", "**/.config/nushell", "**/.config/powershell",
            "microsoft.powershell_profile.ps1", ".envrc", "**/.config/direnv", "mise.toml", ".mise.toml",
            "mise.local.toml", ".mise.local.toml", ".mise", "**/.config/mise", ".asdfrc", ".xprofile", ".xinitrc",
            ".xsession", ".xsessionrc", ".pam_environment", "**/.config/autostart", "**/.config/systemd",
            "**/.config/environment.d", "**/.config/i3", "**/.config/sway", "**/.config/hypr",
            "**/.local/share/applications", "**/.local/share/dbus-1", "**/library/launchagents",
            "**/library/launchdaemons", ".gdbinit", ".gdbearlyinit", "**/.config/gdb", ".lldbinit", ".tmux.conf",
            "**/.config/tmux", ".screenrc", ".pdbrc", ".pythonrc", ".pythonrc.py", "sitecustomize.py",
            "usercustomize.py", ".irbrc", ".pryrc", ".rprofile", ".ghci", ".ocamlinit", ".sqliterc", ".psqlrc",
            ".forward", ".procmailrc", ".mailcap", ".bash_completion", ".bashrc.d", ".profile.d", ".oh-my-zsh", ".zsh",
            "**/.config/bash", "**/.config/zsh", ".direnvrc", ".envrc.*", "**/.config/starship.toml", ".wezterm.lua",
            "**/.config/wezterm", "**/.config/kitty", "**/.config/alacritty", "**/.config/ghostty", "**/.local/bin",
            "**/.julia/config", ".perldb", ".renviron", ".ipython", ".jupyter", "**/.config/jupyter", ".xresources",
            ".xbindkeysrc", "**/.config/openbox", "**/.config/awesome", "**/.config/bspwm", "**/.config/sxhkd",
            "**/.config/qtile", "**/.config/river", "**/.config/niri", "**/.config/waybar", "**/.config/polybar",
            "**/.config/plasma-workspace", "**/.local/share/systemd",
            ".lessfilter", ".lesskey", ".tmux", ".byobu", "**/.config/byobu", "**/.config/zellij", ".xonshrc",
            "**/.config/xonsh", ".elvish", "**/.config/elvish", ".fzf.bash", ".fzf.zsh", ".p10k.zsh", ".zim", ".zimrc",
            ".antigen", ".antigenrc", ".zplug", ".zinit", ".bash_it", ".oh-my-bash", ".bash_completion.d", "**/.cargo/env",
            "**/.cargo/bin", ".sdkman", ".nvm", ".pyenv", ".rbenv", ".volta", ".muttrc", ".mutt", "**/.config/mutt",
            "**/.config/neomutt", ".mailrc", "**/.config/ranger", "**/.config/lf", "**/.config/yazi", "**/.config/qutebrowser",
            "**/.config/user-dirs.dirs", ".erlang", ".iex.exs", ".guile", ".sbclrc", ".octaverc", ".duckdbrc", ".radare2rc",
        ],
    },
    Group {
        name: "tools",
        what: "package manager or download tool configuration",
        globs: &[
            "**/.cargo/config", "**/.cargo/config.toml", ".pnpmfile.cjs", ".pnpmfile.mjs", "bunfig.toml", ".bunfig.toml",
            "**/.yarn/plugins", "**/.yarn/releases", "**/.config/pip", ".pip", "pip.conf", "pip.ini",
            ".pydistutils.cfg", "**/.config/uv", ".condarc", ".mambarc", ".gemrc", "**/.bundle/config",
            "**/.m2/settings.xml", ".mvn", "**/gradle/wrapper",
            "**/.gradle/gradle.properties", "**/.gradle/init.gradle", "**/.gradle/init.gradle.kts", "**/.gradle/init.d",
            ".jvmopts", ".sbtopts", "nuget.config", "**/.config/nix", "**/.config/containers", ".ansible.cfg",
            ".curlrc", "_curlrc", ".wgetrc", ".sbt", "**/.stack/config.yaml", "**/.rustup/settings.toml",
            "**/.config/pypoetry", "**/.config/pdm", "**/.config/pnpm", "**/.config/yarn",
            ".ripgreprc", "**/.config/ripgrep", ".bazelrc", ".bazeliskrc", ".buckconfig", ".buckconfig.local", ".pnp.cjs",
            ".pnp.js", ".pnp.loader.mjs", "**/.yarn/sdks", "**/.cabal/config", "**/.config/cabal", "**/.cpan/cpan",
            "**/.docker/cli-plugins", "ansible.cfg", "**/.aria2/aria2.conf", "**/.config/yt-dlp", "yt-dlp.conf",
        ],
    },
    Group {
        name: CREDENTIALS,
        what: "credentials",
        globs: &[
            ".env", ".env.*", ".ssh", "authorized_keys", ".rhosts", ".shosts", "hosts.equiv", ".gnupg", ".aws", ".azure",
            ".kube", "**/.docker/config.json", ".dockercfg", "**/.config/gcloud", "**/.config/gh", "**/.config/hub",
            "**/.config/doctl", "**/.config/rclone", "**/.config/op", ".password-store", ".netrc", "_netrc", ".npmrc",
            ".yarnrc", ".yarnrc.yml", ".yarnrc.yaml", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf", ".s3cfg",
            ".boto", ".databrickscfg", "**/.cargo/credentials", "**/.cargo/credentials.toml", "**/.gem/credentials",
            "**/.composer/auth.json", "**/.config/composer/auth.json", ".terraformrc", "terraform.rc", ".vault-token",
            ".htpasswd", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks",
            "*.keystore", "*.kdbx", "*.ppk", ".rclone.conf", ".mylogin.cnf", "**/.terraform.d", "**/.config/sops",
            "**/.config/helm",
            "*.env", ".dev.vars", ".arcrc", "**/.fly/config.yml", "**/.cache/huggingface/token", ".huggingface", ".kaggle", ".oci",
            ".aliyun", "**/.config/stripe", "**/.config/ngrok", ".ngrok2", "**/.config/hcloud", "**/.config/linode-cli",
            "**/.config/scw", "**/.config/glab-cli", "**/.config/tea", ".snowsql", "**/.dbt/profiles.yml", ".wakatime.cfg",
            ".sentryclirc", ".jfrog", "**/.m2/settings-security.xml", "**/.ivy2/.credentials", "**/.sbt/.credentials",
        ],
    },
    Group {
        name: SLIPSTITCH,
        what: "Slipstitch's settings",
        globs: &["slipstitch.toml", "**/.config/slipstitch", "**/.local/state/slipstitch"],
    },
];

/// Files that match a glob above but are meant to be shared.
#[rustfmt::skip]
pub(super) const EXCEPT: &[&str] = &[
    ".env.example", ".env.sample", ".env.template", ".env.dist", "example.env", "sample.env", "template.env",
    "*.example.env", "*.sample.env", "*.template.env",
];
