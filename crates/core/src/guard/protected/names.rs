//! What is protected without being asked for: files that run code, or open doors, when they change.
//!
//! Plain documents are not among them, whoever reads them; what is run or obeyed without a further question is.

/// Names of one kind, as globs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// What they are, as messages say it.
    pub(super) what: &'static str,
    /// Their globs, in folded spelling.
    pub(super) globs: &'static [&'static str],
}

/// Every kind. A glob without `/` is a name in any folder; all of them hold for what is beneath, too.
#[rustfmt::skip]
pub(super) const KINDS: &[Kind] = &[
    Kind {
        what: "version control",
        globs: &[
            // The second is the short name that Windows gives the first.
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

/// What looks like one of them and is made to be shared.
pub(super) const EXCEPT: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist"];
