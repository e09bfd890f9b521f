//! The directories that hosts keep their settings in.

use std::env::consts::OS;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The directories that the paths in the table of hosts start with.
#[derive(Debug, Clone)]
pub(crate) struct Directories {
    home: PathBuf,
    /// The XDG configuration directory.
    config: PathBuf,
    /// `%APPDATA%` on Windows.
    app_data: Option<PathBuf>,
    /// Directories of single hosts that the environment moves, by the variable's name.
    moved: Vec<(&'static str, PathBuf)>,
    os: &'static str,
}

/// Variables that move a host's directory.
const VARIABLES: &[&str] = &["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "CRUSH_GLOBAL_CONFIG"];

impl Directories {
    /// Reads them from the environment; `None` without a home directory.
    pub(crate) fn from_env() -> Option<Self> {
        Self::new(OS, |name| std::env::var_os(name))
    }

    fn new(os: &'static str, variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let directory = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = directory("HOME").or_else(|| directory("USERPROFILE"))?;
        Some(Self {
            config: directory("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            app_data: directory("APPDATA").filter(|_| os == "windows"),
            moved: VARIABLES.iter().filter_map(|name| Some((*name, directory(name)?))).collect(),
            home,
            os,
        })
    }

    /// The path that a template of the table stands for. Its first component may be one of these:
    ///
    /// | component | directory |
    /// | --- | --- |
    /// | `~` | the home directory |
    /// | `{config}` | the XDG configuration directory |
    /// | `{dotconfig}` | the same, but always `~/.config` on macOS |
    /// | `{support}` | where desktop programs keep their settings on this system |
    /// | `{appdata}` | `%APPDATA%` |
    /// | `{VARIABLE:~/x}` | the directory in that environment variable, else `~/x` |
    /// | `{VARIABLE:config/x}` | the same, else `x` in the XDG configuration directory |
    pub(crate) fn resolve(&self, template: &str) -> PathBuf {
        let (first, rest) = match template.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            Some((name, rest)) => (self.named(name), rest),
            None => match template.strip_prefix('~') {
                Some(rest) => (self.home.clone(), rest),
                None => (PathBuf::new(), template),
            },
        };
        let rest = rest.trim_start_matches('/');
        if rest.is_empty() { first } else { first.join(rest) }
    }

    /// Whether paths are those of Windows.
    pub(crate) fn is_windows(&self) -> bool {
        self.os == "windows"
    }

    fn named(&self, name: &str) -> PathBuf {
        let app_data = || self.app_data.clone().unwrap_or_else(|| self.home.join("AppData/Roaming"));
        match (name, self.os) {
            ("support" | "appdata", "windows") => app_data(),
            ("support", "macos") => self.home.join("Library/Application Support"),
            ("dotconfig", "macos") => self.home.join(".config"),
            ("config" | "dotconfig" | "support", _) => self.config.clone(),
            _ => {
                let (variable, default) = name.split_once(':').unwrap_or((name, "~"));
                let moved = self.moved.iter().find(|(moved, _)| *moved == variable);
                let default = || match default.strip_prefix("config/") {
                    Some(below) => self.config.join(below),
                    None => self.resolve(default),
                };
                moved.map_or_else(default, |(_, path)| path.clone())
            }
        }
    }

    /// Whether one of these programs is on the `PATH`.
    pub(crate) fn has_program(programs: &[&str]) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_program = |folder: &Path, name: &str| {
            let suffixes: &[&str] = if OS == "windows" { &[".exe", ".cmd", ".bat"] } else { &[""] };
            suffixes.iter().any(|suffix| folder.join(format!("{name}{suffix}")).is_file())
        };
        std::env::split_paths(&path).any(|folder| programs.iter().any(|name| is_program(&folder, name)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The directories of a user whose home is `/h`, with these variables.
    pub(crate) fn directories(os: &'static str, variables: &[(&str, &str)]) -> Directories {
        Directories::new(os, |name| {
            let all = [("HOME", "/h")];
            let found = variables.iter().chain(&all).find(|(variable, _)| *variable == name);
            found.map(|(_, value)| value.into())
        })
        .unwrap()
    }

    #[test]
    fn templates_follow_the_system_and_the_environment() {
        for (os, variables, template, path) in [
            ("linux", &[][..], "~/.cursor/mcp.json", "/h/.cursor/mcp.json"),
            ("linux", &[("XDG_CONFIG_HOME", "/x")], "{config}/a", "/x/a"),
            ("linux", &[("XDG_CONFIG_HOME", "relative")], "{config}/a", "/h/.config/a"),
            ("linux", &[("XDG_CONFIG_HOME", "/x")], "{dotconfig}/a", "/x/a"),
            ("macos", &[("XDG_CONFIG_HOME", "/x")], "{dotconfig}/a", "/h/.config/a"),
            ("macos", &[], "{support}/Code/User", "/h/Library/Application Support/Code/User"),
            ("windows", &[("APPDATA", "/roaming")], "{support}/Code", "/roaming/Code"),
            ("windows", &[], "{appdata}/Zed", "/h/AppData/Roaming/Zed"),
            ("linux", &[], "{CODEX_HOME:~/.codex}/config.toml", "/h/.codex/config.toml"),
            ("linux", &[("CODEX_HOME", "/c")], "{CODEX_HOME:~/.codex}/config.toml", "/c/config.toml"),
            ("linux", &[("XDG_CONFIG_HOME", "/x")], "{CRUSH_GLOBAL_CONFIG:config/crush}/y", "/x/crush/y"),
            ("linux", &[], "opencode.json", "opencode.json"),
        ] {
            assert_eq!(directories(os, variables).resolve(template), Path::new(path), "{os} {template}");
        }
    }
}
