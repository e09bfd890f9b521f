//! What a worker edits through: Slipstitch as users have it, or without its safeguards.

use serde_json::Value;
use slipstitch::core::engine::{Engine, Request};
use slipstitch::core::ports::approver::Auto;
use slipstitch::core::report::Report;
use slipstitch::{DiskWorkspace, Fsync, SqliteJournal, Workspace, config, state};

use super::task::{Safeguards, Task};

#[derive(Debug)]
pub(super) enum Client {
    /// As users have it.
    Protected(Box<Workspace>),
    /// Assembled from its parts without some safeguards.
    Unprotected {
        files: Box<DiskWorkspace>,
        journal: Box<SqliteJournal>,
        config: Box<config::Config>,
        session: String,
    },
}

impl Client {
    pub(super) fn open(task: &Task) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot open the workspace: {error}");
        if task.safeguards == Safeguards::All {
            let builder = Workspace::builder(task.root()).state_dir(task.state()).config(task.config());
            let workspace = builder.session(&task.name).fsync(Fsync::Off).open();
            return workspace.map(Box::new).map(Self::Protected).map_err(|error| failed(&error));
        }
        let folder = state::folder(Some(&task.state()), &[&task.root()]).map_err(|error| failed(&error))?;
        let files = DiskWorkspace::open(&task.root(), &state::locks(&folder), Fsync::Off);
        let files = files.map_err(|error| failed(&error))?.without_locks();
        let files = match task.safeguards {
            Safeguards::NoLocksNoChecks => files.without_checks(),
            // With the look, two writers without locks meet too rarely for a test.
            Safeguards::All | Safeguards::NoLocks => files.without_look(),
        };
        let journal = SqliteJournal::open(&folder, files.root());
        let journal = journal.map_err(|error| failed(&error))?.with_fsync(Fsync::Off);
        Ok(Self::Unprotected {
            files: Box::new(files),
            journal: Box::new(journal),
            config: Box::default(),
            session: task.name.clone(),
        })
    }

    /// Calls a tool of the native dialect.
    pub(super) fn call(&self, tool: &str, arguments: Value) -> Report {
        match self {
            Self::Protected(workspace) => workspace.call("native", tool, arguments).report,
            Self::Unprotected { files, journal, config, session } => {
                let engine = Engine::new(&**files, &**journal)
                    .dialects(slipstitch::dialects::builtin())
                    .policy(&config.policy)
                    .settings(&config.settings)
                    .encoding(config.encoding)
                    .session(session);
                let request = Request { dialect: "native".into(), tool: tool.into(), arguments };
                engine.call(request, &mut Auto).report
            }
        }
    }
}
