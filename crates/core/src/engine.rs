//! The stages in order: `Request → Plan → ChangeSet → Checked → Approved → Receipt → Report`.
//!
//! | file | what it does |
//! | --- | --- |
//! | `call.rs` | a tool call becomes a plan, the plan is executed, the report is rendered by the dialect |
//! | `edit.rs` | an edit plan becomes a change set |
//! | `undo.rs` | recorded changes become the change set that reverts them |
//! | `review.rs` | a proposal that someone accepted becomes a change set |
//! | `land.rs` | the shared way from a change set to a report: guard, diff, approve or propose, commit |
//! | `approve.rs`, `commit.rs` | stages four and five |
//! | `report.rs` | the result of each stage as a report |
//! | `history.rs`, `rebase.rs` | earlier versions of a file, and edits that were made for one |

pub mod approve;
pub mod commit;
pub mod history;

mod call;
mod candidates;
mod edit;
mod fetch;
mod land;
mod mode;
mod read;
mod rebase;
mod report;
mod review;
mod undo;

use std::sync::LazyLock;

use slipstitch_text::{ContentHash, EncodingRule};

pub use call::{Answer, Planned, Request, Touches};
use history::Foreign;
pub use mode::{recall_mode, remember_mode};
pub use review::unknown_proposal;
pub use undo::{forgotten_change, unknown_change};

use crate::dialect::Dialects;
use crate::guard::{Guards, Policy};
use crate::path::FilePath;
use crate::plan::{EditPlan, Operation};
use crate::ports::journal::{Journal, JournalError, Summary};
use crate::ports::workspace::{Seen, Workspace, WorkspaceError};
use crate::settings::{Mode, Settings};
use crate::snapshot::{Snapshot, Snapshots};

/// How often an operation is retried when another process writes one of its files meanwhile.
const MAX_ATTEMPTS: usize = 8;

static NO_DIALECTS: Dialects = Dialects::NONE;
static BUILTIN_GUARDS: LazyLock<Guards> = LazyLock::new(Guards::builtin);
static DEFAULT_POLICY: LazyLock<Policy> = LazyLock::new(Policy::default);
static DEFAULT_SETTINGS: LazyLock<Settings> = LazyLock::new(Settings::default);

/// The pipeline with everything it works on.
///
/// [`Engine::new`] needs only files and a journal; the other methods replace defaults.
#[derive(Clone, Copy)]
pub struct Engine<'a> {
    files: &'a dyn Workspace,
    journal: &'a dyn Journal,
    dialects: &'a Dialects,
    guards: &'a Guards,
    policy: &'a Policy,
    settings: &'a Settings,
    mode: Mode,
    encoding: EncodingRule,
    session: &'a str,
    agent: Option<&'a str>,
}

impl<'a> Engine<'a> {
    /// An engine with the built-in guards, default limits and settings, and no dialects.
    pub fn new(files: &'a dyn Workspace, journal: &'a dyn Journal) -> Self {
        Self {
            files,
            journal,
            dialects: &NO_DIALECTS,
            guards: &BUILTIN_GUARDS,
            policy: &DEFAULT_POLICY,
            settings: &DEFAULT_SETTINGS,
            mode: Mode::default(),
            encoding: EncodingRule::default(),
            session: "default",
            agent: None,
        }
    }

    /// The dialects that [`Engine::call`] accepts.
    pub fn dialects(self, dialects: &'a Dialects) -> Self {
        Self { dialects, ..self }
    }

    /// The guards that judge every edit.
    pub fn guards(self, guards: &'a Guards) -> Self {
        Self { guards, ..self }
    }

    /// The limits that guards enforce.
    pub fn policy(self, policy: &'a Policy) -> Self {
        Self { policy, ..self }
    }

    /// The settings of single dialects and tools.
    pub fn settings(self, settings: &'a Settings) -> Self {
        Self { settings, ..self }
    }

    /// What the session may do.
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// How the encoding of files is determined.
    pub fn encoding(self, encoding: EncodingRule) -> Self {
        Self { encoding, ..self }
    }

    /// The session on whose behalf calls are made; undo goes back through its own changes.
    pub fn session(self, session: &'a str) -> Self {
        Self { session, ..self }
    }

    /// The calling program's name, for the journal.
    pub fn agent(self, agent: Option<&'a str>) -> Self {
        Self { agent, ..self }
    }

    /// Where the files of `listed` were changed by something that is not in the journal. Reads what the files contain
    /// now.
    pub fn foreign(&self, listed: &[Summary]) -> Result<Vec<Foreign>, JournalError> {
        history::foreign(self.journal, listed, |path| match self.files.read(path) {
            Ok(Seen::File(content)) => Some(Some(ContentHash::of(&content.bytes))),
            Ok(Seen::Missing { .. }) => Some(None),
            Err(_) => None,
        })
    }

    /// Reads every file that a plan names.
    fn read_files(&self, plan: &EditPlan) -> Result<Snapshots, WorkspaceError> {
        let mut seen = Snapshots::default();
        for file in &plan.files {
            self.read_into(&mut seen, &file.path)?;
            for operation in &file.operations {
                if let Operation::Move { to, .. } = operation {
                    self.read_into(&mut seen, to)?;
                }
            }
        }
        Ok(seen)
    }

    /// Adds the file at a path, or its absence.
    fn read_into(&self, seen: &mut Snapshots, path: &FilePath) -> Result<(), WorkspaceError> {
        match self.files.read(path)? {
            Seen::File(content) => seen.insert(path.clone(), Some(Snapshot::new(content, self.encoding))),
            Seen::Missing { real } => seen.insert_missing(path.clone(), real),
        }
        Ok(())
    }

    fn snapshot(&self, path: &FilePath) -> Result<Option<Snapshot>, WorkspaceError> {
        Ok(match self.files.read(path)? {
            Seen::File(content) => Some(Snapshot::new(content, self.encoding)),
            Seen::Missing { .. } => None,
        })
    }
}
