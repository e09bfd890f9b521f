//! The stages in order: `Request → Plan → ChangeSet → Checked → Approved → Receipt → Report`.
//!
//! | file | what it does |
//! | --- | --- |
//! | `call.rs` | parses a tool call into a plan, executes it, and has the dialect render the report |
//! | `edit.rs` | turns an edit plan into a change set |
//! | `undo.rs` | turns recorded changes into the change set that reverts them |
//! | `review.rs` | stores proposals, and turns an accepted one into a change set |
//! | `land.rs` | takes a change set through the remaining stages: guard, diff, approve or propose, commit |
//! | `approve.rs`, `commit.rs` | stages four and five |
//! | `report.rs` | builds the report of each stage |
//! | `history.rs`, `rebase.rs` | earlier versions of a file, and edits that were made for one of them |
//! | `versions.rs`, `attribution.rs` | the versions of a file that the caller may have seen, and who changed it since |
//! | `orientation.rs` | the root and the closest existing path, for callers that name a wrong path |
//! | `candidates.rs` | remembers the candidates of a refused edit, so that the caller can choose one |

pub mod approve;
pub mod commit;
pub mod history;

mod anchors;
mod attribution;
mod call;
mod candidates;
mod confirm;
mod edit;
mod excerpt;
mod fetch;
mod folders;
mod land;
mod mode;
mod orientation;
mod private;
mod read;
mod rebase;
mod report;
mod review;
#[cfg(test)]
mod test_rig;
mod undo;
mod versions;

use std::sync::LazyLock;

use slipstitch_text::EncodingRule;

pub use call::{Answer, Planned, Request, Touches};
use history::ForeignChange;
pub use mode::recall_mode;
pub use review::{HunkVerdict, Verdict, unknown_proposal};
pub use undo::{pruned_change, unknown_change};

use crate::cancel::CancelToken;
use crate::dialect::Dialects;
use crate::find::searched_texts;
use crate::guard::{Guards, Judge, NoPlaces, Policy, ProtectedPlaces, Protection, find_protections};
use crate::path::FilePath;
use crate::plan::{EditPlan, Operation};
use crate::ports::journal::{Journal, JournalError, Summary};
use crate::ports::versions::{NoVersions, Versions};
use crate::ports::workspace::{OpenResult, Workspace, WorkspaceError};
use crate::report::Report;
use crate::settings::{Mode, Settings};
use crate::snapshot::{LargeFile, Snapshot, Snapshots};

/// How often an operation is tried if another process keeps writing its files.
const MAX_ATTEMPTS: usize = 8;

static NO_DIALECTS: Dialects = Dialects::NONE;
static BUILTIN_GUARDS: LazyLock<Guards> = LazyLock::new(Guards::builtin);
static DEFAULT_POLICY: LazyLock<Policy> = LazyLock::new(Policy::default);
static NEVER_CANCELLED: LazyLock<CancelToken> = LazyLock::new(CancelToken::default);
static DEFAULT_SETTINGS: LazyLock<Settings> = LazyLock::new(Settings::default);

/// Whether earlier versions of files help to find the place of an edit. What the journal records does not depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Evidence {
    /// The texts that a session saw are kept, and versions are looked up when they are needed.
    #[default]
    Used,
    /// Nothing is kept or looked up.
    Ignored,
}

/// The pipeline and everything it works on.
///
/// [`Engine::new`] needs only files and a journal; the other methods replace defaults.
#[derive(Clone, Copy)]
pub struct Engine<'a> {
    files: &'a dyn Workspace,
    journal: &'a dyn Journal,
    versions: &'a dyn Versions,
    evidence: Evidence,
    dialects: &'a Dialects,
    guards: &'a Guards,
    policy: &'a Policy,
    places: &'a dyn ProtectedPlaces,
    settings: &'a Settings,
    mode: Mode,
    encoding: EncodingRule,
    session: &'a str,
    agent: Option<&'a str>,
    /// The call that is being executed, if there is one.
    request: Option<&'a Planned>,
    /// `None` for calls that nobody can cancel: a shared token must not remember that one of them wrote something.
    cancel: Option<&'a CancelToken>,
}

impl<'a> Engine<'a> {
    /// An engine with the built-in guards, default limits and settings, and no dialects.
    pub fn new(files: &'a dyn Workspace, journal: &'a dyn Journal) -> Self {
        Self {
            files,
            journal,
            versions: &NoVersions,
            evidence: Evidence::default(),
            dialects: &NO_DIALECTS,
            guards: &BUILTIN_GUARDS,
            policy: &DEFAULT_POLICY,
            places: &NoPlaces,
            settings: &DEFAULT_SETTINGS,
            mode: Mode::default(),
            encoding: EncodingRule::default(),
            session: "default",
            agent: None,
            request: None,
            cancel: None,
        }
    }

    /// Where versions of files that the journal does not know come from.
    pub fn versions(self, versions: &'a dyn Versions) -> Self {
        Self { versions, ..self }
    }

    /// Whether earlier versions of files are used.
    pub fn evidence(self, evidence: Evidence) -> Self {
        Self { evidence, ..self }
    }

    /// The dialects that [`Engine::call`] accepts.
    pub fn dialects(self, dialects: &'a Dialects) -> Self {
        Self { dialects, ..self }
    }

    /// The guards that check every edit.
    pub fn guards(self, guards: &'a Guards) -> Self {
        Self { guards, ..self }
    }

    /// The limits that guards enforce.
    pub fn policy(self, policy: &'a Policy) -> Self {
        Self { policy, ..self }
    }

    /// Finds places that are protected whatever they are called.
    pub fn places(self, places: &'a dyn ProtectedPlaces) -> Self {
        Self { places, ..self }
    }

    /// The guards with what they judge by.
    fn judge(&self) -> Judge<'a> {
        Judge { guards: self.guards, policy: self.policy, places: self.places, caller: None }
    }

    /// The settings of single dialects and tools.
    pub fn settings(self, settings: &'a Settings) -> Self {
        Self { settings, ..self }
    }

    /// What the session may do.
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// How a file's encoding is determined.
    pub fn encoding(self, encoding: EncodingRule) -> Self {
        Self { encoding, ..self }
    }

    /// The session that makes the calls. Undo without a change id reverts that session's changes.
    pub fn session(self, session: &'a str) -> Self {
        Self { session, ..self }
    }

    /// The calling program's name, for the journal.
    pub fn agent(self, agent: Option<&'a str>) -> Self {
        Self { agent, ..self }
    }

    /// The token that cancels the call. It is for one call only.
    pub fn cancel(self, cancel: &'a CancelToken) -> Self {
        Self { cancel: Some(cancel), ..self }
    }

    /// Fails if the call was cancelled.
    fn check_cancelled(&self) -> Result<(), Report> {
        match self.cancel {
            Some(cancel) if cancel.is_cancelled() => Err(report::cancelled()),
            _ => Ok(()),
        }
    }

    /// Fails if the call was cancelled. A brief attempt is cancelled here, before it reads the history of files or other files,
    /// and before it stores anything that would change what the next attempt finds.
    fn check_may_take_long(&self) -> Result<(), Report> {
        match self.cancel {
            Some(cancel) if !cancel.may_take_long() => Err(report::cancelled()),
            _ => Ok(()),
        }
    }

    /// The token for searches.
    fn cancel_token(&self) -> &CancelToken {
        self.cancel.unwrap_or(&NEVER_CANCELLED)
    }

    /// Where the files of `changes` were changed by something that is not in the journal. Reads the files as they are
    /// now.
    pub fn foreign_changes(&self, changes: &[Summary]) -> Result<Vec<ForeignChange>, JournalError> {
        history::find_foreign_changes(self.journal, changes, |path| match self.files.open(path).ok()? {
            OpenResult::File(content) => Some(Some(content.bytes.hash())),
            OpenResult::Large(file) => Some(Some(self.scan(path, file, Some(Vec::new())).ok()?.hash())),
            OpenResult::Missing { .. } => Some(None),
        })
    }

    /// Why a change of the file at a path needs the user's consent, if it does.
    pub fn protection(&self, path: &FilePath) -> Result<Option<Protection>, WorkspaceError> {
        let mut snapshots = Snapshots::default();
        self.read_into(&mut snapshots, path)?;
        let found = find_protections(&[(path, true)], &snapshots, &self.policy.protected, self.places);
        Ok(found.into_iter().next().flatten())
    }

    /// Reads every file that a plan names.
    fn read_files(&self, plan: &EditPlan) -> Result<Snapshots, WorkspaceError> {
        let mut snapshots = Snapshots::default();
        for file in &plan.files {
            self.insert_opened(&mut snapshots, &file.path, searched_texts(file, plan.rules))?;
            for operation in &file.operations {
                if let Operation::Move { to, .. } = operation {
                    self.read_into(&mut snapshots, to)?;
                }
            }
        }
        Ok(snapshots)
    }

    /// Reads the file at a path, or records that there is none.
    fn read_into(&self, snapshots: &mut Snapshots, path: &FilePath) -> Result<(), WorkspaceError> {
        self.insert_opened(snapshots, path, Some(Vec::new()))
    }

    /// Like `read_into`, and searches a large file for `texts` on the way; reads it into memory if there are none.
    fn insert_opened(
        &self,
        snapshots: &mut Snapshots,
        path: &FilePath,
        texts: Option<Vec<String>>,
    ) -> Result<(), WorkspaceError> {
        match self.files.open(path)? {
            OpenResult::File(content) => {
                snapshots.insert(path.clone(), Some(Snapshot::new(content, self.encoding)))
            }
            OpenResult::Large(file) => {
                snapshots.insert(path.clone(), Some(self.scan(path, file, texts)?));
            }
            OpenResult::Missing { real } => snapshots.insert_missing(path.clone(), real),
        }
        Ok(())
    }

    fn snapshot(&self, path: &FilePath) -> Result<Option<Snapshot>, WorkspaceError> {
        Ok(match self.files.open(path)? {
            OpenResult::File(content) => Some(Snapshot::new(content, self.encoding)),
            OpenResult::Large(file) => Some(self.scan(path, file, Some(Vec::new()))?),
            OpenResult::Missing { .. } => None,
        })
    }

    fn scan(
        &self,
        path: &FilePath,
        file: LargeFile,
        texts: Option<Vec<String>>,
    ) -> Result<Snapshot, WorkspaceError> {
        let scanned = match texts {
            Some(texts) => Snapshot::open(file, self.encoding, &texts),
            None => file.load().map(|content| Snapshot::new(content, self.encoding)),
        };
        scanned.map_err(|error| match error.kind() {
            // The file became shorter.
            std::io::ErrorKind::UnexpectedEof => WorkspaceError::Conflict { path: path.clone(), found: None },
            _ => WorkspaceError::Io { path: path.clone(), action: "read", reason: error.to_string() },
        })
    }

    /// Fails if a large file has changed since it was read, so that what was derived from it may be wrong.
    fn check_unchanged(&self, snapshots: &Snapshots) -> Result<(), Report> {
        match snapshots.changed_file() {
            Some(path) => Err(WorkspaceError::Conflict { path: path.clone(), found: None }.into()),
            None => Ok(()),
        }
    }
}
