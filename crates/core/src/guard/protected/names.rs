//! The paths that are protected by default: files that can run code or grant access when they change.
//!
//! Plain documents are not among them, even if agents read them; files that are executed or obeyed without asking are.

/// A kind of protected files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// What they are, for messages.
    pub(super) what: &'static str,
    /// Their globs, folded.
    pub(super) globs: &'static [&'static str],
}

/// Every kind. A glob without `/` matches a name in any folder; all of them include everything below.
#[rustfmt::skip]
pub(super) const KINDS: &[Kind] = &[
    Kind {
        what: "version control",
        globs: &[
            // `git~1` is the short name that Windows gives `.git`.
            ".git", "git~1", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs",
            ".gitconfig", ".gitmodules", ".hgrc", "**/*.git/hooks", "**/*.git/config",
            ".githooks", ".husky", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml",
        ],
    },
    Kind {
        what: "continuous integration",
        globs: &[
            "**/.github/workflows", "**/.github/actions", "**/.gitea/workflows", "**/.forgejo/workflows",
            ".gitlab-ci.yml", ".gitlab-ci.yaml", ".circleci", ".buildkite", ".woodpecker", ".woodpecker.yml",
            ".travis.yml", ".drone.yml", ".cirrus.yml", ".appveyor.yml", "appveyor.yml", ".semaphore", ".teamcity",
            "azure-pipelines.yml", ".azure-pipelines", "bitbucket-pipelines.yml", "jenkinsfile", "buildspec.yml",
        ],
    },
    Kind {
        what: "the configuration of an editor",
        globs: &[
            ".vscode", "*.code-workspace", ".idea", ".vs", ".fleet", ".zed", ".devcontainer", ".devcontainer.json",
            ".vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".vim", "**/.config/nvim", "**/.config/zed",
            ".emacs", ".emacs.d", ".dir-locals.el", ".dir-locals-2.el", "**/.config/emacs",
        ],
    },
    Kind {
        what: "the configuration of an agent",
        globs: &[
            ".claude", ".claude.json", ".cursor", ".codex", ".gemini", ".windsurf", ".continue", ".roo", ".kiro",
            ".opencode", "opencode.json", ".aider.conf.yml", ".mcp.json",
        ],
    },
    Kind {
        what: "a start-up file",
        globs: &[
            ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
            ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc",
            ".login", ".logout", ".inputrc", "**/.config/fish", ".envrc", ".xprofile", ".xinitrc", ".xsession",
            ".pam_environment", "**/.config/autostart", "**/.config/systemd", "**/.config/environment.d",
            ".gdbinit", ".lldbinit", ".tmux.conf", ".screenrc",
        ],
    },
    Kind {
        what: "credentials",
        globs: &[
            ".env", ".env.*", ".ssh", "authorized_keys", ".gnupg", ".aws", ".azure", ".kube",
            "**/.docker/config.json", "**/.config/gcloud", "**/.config/gh", ".netrc", "_netrc", ".npmrc", ".yarnrc",
            ".yarnrc.yml", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf", "**/.cargo/credentials",
            "**/.cargo/credentials.toml", "**/.gem/credentials", ".terraformrc", ".vault-token", ".htpasswd",
            "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.kdbx",
        ],
    },
    Kind {
        what: "the settings of Slipstitch",
        globs: &["slipstitch.toml", "**/.config/slipstitch", "**/.local/state/slipstitch"],
    },
];

/// Files that match a glob above but are meant to be shared.
pub(super) const EXCEPT: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist"];
