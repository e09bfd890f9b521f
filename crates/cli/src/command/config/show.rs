//! `slipstitch config show` and `path`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use slipstitch::WorkspaceOpenError;
use slipstitch::config::{Config, ROOT_FILE};
use slipstitch::core::text::display::escape_controls;

use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::streams::Streams;
use crate::workspace::open_error_report;

/// Print the settings in effect as a settings file
#[derive(Debug, Args)]
pub(super) struct Show {}

impl Show {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        Ok(Box::new(Settings(global.open()?.config().to_table())))
    }
}

struct Settings(toml::Table);

impl CommandOutput for Settings {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.0)
    }

    fn write(&self, streams: &mut Streams) {
        streams.out.text(toml::to_string(&self.0).unwrap_or_default());
    }
}

/// Print where settings and state are kept
#[derive(Debug, Args)]
pub(super) struct PathCommand {}

impl PathCommand {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        // Without opening the project: someone whose settings are not valid wants to know where they are.
        let root = global.project_root();
        let root = root.canonicalize().unwrap_or(root);
        let state = slipstitch::state::folder(global.state_dir.as_deref(), &[root.as_path()])
            .map_err(|error| open_error_report(WorkspaceOpenError::State(error)))?;
        Ok(Box::new(Places {
            user: Config::file(global.config.as_deref()),
            project: root.join(ROOT_FILE),
            root,
            state_bytes: folder_size(&state),
            state,
        }))
    }
}

struct Places {
    root: PathBuf,
    user: Option<PathBuf>,
    project: PathBuf,
    state: PathBuf,
    state_bytes: u64,
}

impl CommandOutput for Places {
    fn json(&self) -> serde_json::Result<String> {
        let file = |path: &Path| json!({"path": path, "exists": path.exists()});
        serde_json::to_string(&json!({
            "root": self.root,
            "settings": self.user.as_deref().map(file),
            "project_settings": file(&self.project),
            "state": {"path": self.state, "bytes": self.state_bytes},
        }))
    }

    fn write(&self, streams: &mut Streams) {
        let mut line = |name: &str, path: &Path, remark: &str| {
            let path = escape_controls(&path.display().to_string());
            streams.out.line(format!("{name:<17} {path}{remark}"));
        };
        let missing = |path: &Path| if path.exists() { "" } else { "  (does not exist)" };
        line("root", &self.root, "");
        if let Some(user) = &self.user {
            line("settings", user, missing(user));
        }
        line("project settings", &self.project, missing(&self.project));
        line("state", &self.state, &format!("  ({} KiB)", self.state_bytes.div_ceil(1024)));
    }
}

/// The size of the files in a folder and its subfolders.
fn folder_size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => folder_size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
