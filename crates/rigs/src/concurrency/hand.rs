//! What a worker edits with: Slipstitch as users have it, or with its protections switched off.

use serde_json::Value;
use slipstitch::core::engine::{Engine, Request};
use slipstitch::core::ports::approver::Auto;
use slipstitch::core::report::Report;
use slipstitch::core::settings::Mode;
use slipstitch::{DiskWorkspace, Fsync, SqliteJournal, Workspace, config, state};

use super::task::{Guard, Task};

/// What makes the edits.
#[derive(Debug)]
pub(super) enum Hand {
    /// As users have it.
    Whole(Box<Workspace>),
    /// Put together without what keeps writers apart.
    Weak {
        files: Box<DiskWorkspace>,
        journal: Box<SqliteJournal>,
        config: Box<config::Config>,
        session: String,
    },
}

impl Hand {
    pub(super) fn open(task: &Task) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("the workspace cannot be opened: {error}");
        if task.guard == Guard::On {
            let builder = Workspace::builder(task.root()).state_dir(task.state()).config(task.config());
            let workspace = builder.session(&task.name).fsync(Fsync::Off).open();
            return workspace.map(|whole| Self::Whole(Box::new(whole))).map_err(|error| failed(&error));
        }
        let folder = state::folder(Some(&task.state()), &[&task.root()]).map_err(|error| failed(&error))?;
        let files = DiskWorkspace::open(&task.root(), &state::locks(&folder), Fsync::Off);
        let mut files = files.map_err(|error| failed(&error))?.without_locks();
        if task.guard == Guard::NothingChecked {
            files = files.without_checks();
        }
        let journal = SqliteJournal::open(&folder, files.root());
        let journal =
            journal.and_then(|journal| journal.with_fsync(Fsync::Off)).map_err(|error| failed(&error))?;
        Ok(Self::Weak {
            files: Box::new(files),
            journal: Box::new(journal),
            config: Box::default(),
            session: task.name.clone(),
        })
    }

    pub(super) fn call(&self, tool: &str, arguments: Value) -> Report {
        match self {
            Self::Whole(workspace) => workspace.call("native", tool, arguments).report,
            Self::Weak { files, journal, config, session } => {
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
