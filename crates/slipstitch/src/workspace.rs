//! The engine, the disk and the journal put together.

mod other_roots;
mod review;

use std::path::{Path, PathBuf};

use serde_json::Value;
use slipstitch_core::cancel::CancelToken;
use slipstitch_core::dialect::{Dialect, Dialects, Tool};
use slipstitch_core::engine::commit::{Recovered, recover};
use slipstitch_core::engine::history::ForeignChange;
use slipstitch_core::engine::{Answer, Engine, Evidence, Planned, Request, Touches, recall_mode};
use slipstitch_core::guard::{Guards, Policy, Protection};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::path::{Absolute, FilePath, PathError, RootName};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::plan::{Plan, Run};
use slipstitch_core::ports::approver::{Approver, Auto};
use slipstitch_core::ports::journal::{
    Entry, Filter, Journal, JournalError, Origin, StoredProposal, Summary,
};
use slipstitch_core::ports::versions::{NoVersions, Versions};
use slipstitch_core::ports::workspace::{Workspace as _, WorkspaceError};
use slipstitch_core::report::Report;
use slipstitch_core::settings::{Mode, Settings};
use slipstitch_core::text::{Encoding, EncodingRule};
use slipstitch_editors::{Emacs, ServerStatus, Synced};
use slipstitch_platform::files;

use crate::config::{Config, ConfigError, ROOT_FILE, Relaxing};
use crate::confine::{ConfineError, Confinement, confine};
use crate::disk::{DiskWorkspace, FsFeatures, Fsync, OpenError, sweep_locks};
use crate::git::GitVersions;
use crate::journal::{Collected, ForgetError, ForgetSelection, Forgotten, JournalCheck, SqliteJournal};
use crate::mode_lock::ModeLock;
use crate::os_path::{path_to_text, text_to_path};
use crate::places::DiskPlaces;
use crate::state::{self, StateError};
use crate::stats::{CallFilter, CallGroup, CallRecord, CallSelection, FailedEdit, ListedCall};
pub use review::Reviewer;

/// A folder whose files can be edited through any dialect, with undo.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (root, state) = (folder.path().join("root"), folder.path().join("state"));
/// # std::fs::create_dir(&root)?;
/// std::fs::write(root.join("greeting.txt"), "Hello, wrold!\n")?;
///
/// let workspace = slipstitch::Workspace::builder(&root).state_dir(&state).open()?;
/// let answer = workspace.call(
///     "native",
///     "edit_file",
///     serde_json::json!({"path": "greeting.txt", "old_text": "wrold", "new_text": "world"}),
/// );
/// assert!(answer.report.is_success());
/// assert_eq!(std::fs::read_to_string(root.join("greeting.txt"))?, "Hello, world!\n");
///
/// workspace.call("native", "undo_edit", serde_json::json!({}));
/// assert_eq!(std::fs::read_to_string(root.join("greeting.txt"))?, "Hello, wrold!\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Workspace {
    files: Synced<DiskWorkspace>,
    journal: SqliteJournal,
    git: Option<GitVersions>,
    places: DiskPlaces,
    config: Config,
    dialects: Dialects,
    guards: Guards,
    session: String,
    agent: Option<String>,
    model: Option<String>,
    /// The mode of a session that has none recorded.
    mode: Mode,
    mode_lock: ModeLock,
    recovered: Recovered,
    /// The state folder.
    folder: PathBuf,
}

/// Why a workspace could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceOpenError {
    /// The root cannot be used.
    #[error(transparent)]
    Root(#[from] OpenError),
    /// The state folder cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The journal cannot be opened.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The settings cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Settings for a [`Workspace`].
#[derive(Debug, Clone)]
pub struct Builder {
    root: PathBuf,
    others: Vec<PathBuf>,
    state_dir: Option<PathBuf>,
    config: Option<PathBuf>,
    relaxing: Relaxing,
    session: String,
    agent: Option<String>,
    model: Option<String>,
    encoding: Option<Encoding>,
    fsync: Option<Fsync>,
    mode: Mode,
    dialects: Dialects,
    guards: Guards,
    emacs: Option<Emacs>,
    interrupt: Option<CancelToken>,
}

/// What a program lets its user override; `None` keeps the default or what the settings say.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The folder for the journal and the locks; by default in the user's state folder.
    pub state_dir: Option<PathBuf>,
    /// The settings file; by default the one in the user's configuration folder.
    pub config: Option<PathBuf>,
    /// Whether that file may relax what needs a person's decision.
    pub relaxing: Relaxing,
    /// The encoding of all files, instead of detecting it.
    pub encoding: Option<Encoding>,
    /// Whether changes are flushed to disk, whatever the settings say.
    pub fsync: Option<Fsync>,
}

/// Where a plan comes from: its name in the journal, and the phrases for hints to its author.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The command or function, for the journal.
    pub tool: &'a str,
    /// The next steps that hints may recommend.
    pub phrases: HintPhrases,
}

impl<'a> From<&'a str> for Source<'a> {
    /// A caller whose hints name next steps in general words.
    fn from(tool: &'a str) -> Self {
        Self { tool, phrases: HintPhrases::ALL }
    }
}

impl Builder {
    /// A token that is cancelled when the process is to end. It stops the recovery of interrupted changes, which the next
    /// start continues. From then on, nothing waits for locks of other processes.
    pub fn interrupt(mut self, interrupt: CancelToken) -> Self {
        self.interrupt = Some(interrupt);
        self
    }

    /// Applies a user's overrides; those that are `None` change nothing.
    pub fn overrides(mut self, overrides: &Overrides) -> Self {
        let Overrides { state_dir, config, relaxing, encoding, fsync } = overrides.clone();
        self.relaxing = relaxing;
        self.state_dir = state_dir.or(self.state_dir);
        self.config = config.or(self.config);
        self.encoding = encoding.or(self.encoding);
        self.fsync = fsync.or(self.fsync);
        self
    }

    /// Adds another root. Its files are named by absolute paths.
    pub fn also_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.others.push(root.into());
        self
    }

    /// Keeps the journal and locks in this folder instead of the user's state folder.
    pub fn state_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state_dir = Some(folder.into());
        self
    }

    /// Reads the settings from this file instead of the user's configuration folder.
    pub fn config(mut self, file: impl Into<PathBuf>) -> Self {
        self.config = Some(file.into());
        self
    }

    /// Names the session. `undo` reverts changes of the same session.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = session.into();
        self
    }

    /// Names the calling program, for the journal.
    pub fn agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Names the model that makes the calls, for the statistics.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Reads every file in this encoding instead of detecting it.
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = Some(encoding);
        self
    }

    /// What the session may do.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// The dialects that [`Workspace::call`] accepts: the built-in ones unless this is called.
    pub fn dialects(mut self, dialects: Dialects) -> Self {
        self.dialects = dialects;
        self
    }

    /// The guards that judge every edit: the built-in ones unless this is called.
    pub fn guards(mut self, guards: Guards) -> Self {
        self.guards = guards;
        self
    }

    /// Whether a change is flushed to disk before it is acknowledged.
    pub fn fsync(mut self, fsync: Fsync) -> Self {
        self.fsync = Some(fsync);
        self
    }

    /// The Emacs servers whose buffers are kept in sync, instead of those that the settings and the environment say.
    pub fn emacs(mut self, emacs: Emacs) -> Self {
        self.emacs = Some(emacs);
        self
    }

    /// Opens the workspace.
    pub fn open(self) -> Result<Workspace, WorkspaceOpenError> {
        // A missing root is the most likely mistake, so it is reported first.
        match std::fs::metadata(&self.root) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(OpenError::NotAFolder(self.root).into()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(OpenError::Missing(self.root).into());
            }
            Err(source) => return Err(OpenError::Root { path: self.root, source }.into()),
        }
        let mut config = Config::load(self.config.as_deref())?;
        let roots: Vec<&Path> = [&self.root].into_iter().chain(&self.others).map(PathBuf::as_path).collect();
        let folder = state::folder(self.state_dir.as_deref(), &roots)?;
        let own_settings = config.hold_to_own_file(&folder, self.config.as_deref(), self.relaxing)?;
        if let Some(encoding) = self.encoding {
            config.encoding = EncodingRule::Force(encoding);
        }
        if let Some(fsync) = self.fsync {
            config.fsync = fsync;
        }
        let mut files = DiskWorkspace::open(&self.root, &state::locks(&folder), config.fsync)?;
        for other in &self.others {
            files = files.with_root(other)?;
        }
        config.tighten_by_root(&files)?;
        config.policy.protected.set_root(files.root());
        config.private_files.set_root(files.root());
        let files = files
            .with_fsync(config.fsync)
            .with_hard_links(config.hard_links)
            .with_interrupt(self.interrupt.clone());
        let journal = SqliteJournal::open(&folder, files.root())?
            .with_fsync(config.fsync)
            .with_interrupt(self.interrupt.clone())
            .with_retention(config.retention.clone())
            .with_private_files(config.private_files.clone())
            .with_hard_links_in(files.roots().map(PathBuf::from).collect());
        let recovered = recover(&files, &journal)?;
        // Leftover temporary files do no harm: failing to remove them is no reason to refuse.
        let _ = files.sweep();
        // Another process may use other settings than this one: the user's own, and the ones in the usual place, are protected
        // whichever file is in use.
        let given = self.config.as_deref();
        let settings = [Config::file(given), Config::file(None), own_settings].into_iter().flatten();
        let settings = settings.chain([Path::new(files.root()).join(ROOT_FILE)]).collect();
        let places = DiskPlaces::new(files.roots().map(PathBuf::from).collect(), settings, folder.clone());
        let mode_lock = ModeLock::new(&state::locks(&folder), files.root(), &self.session, self.interrupt);
        Ok(Workspace {
            mode_lock,
            recovered,
            folder,
            places,
            git: config.evidence.git.then(|| GitVersions::new(files.root())),
            files: Synced::new(files, self.emacs.or_else(|| config.editors.emacs())),
            journal,
            config,
            dialects: self.dialects,
            guards: self.guards,
            session: self.session,
            agent: self.agent,
            model: self.model,
            mode: self.mode,
        })
    }
}

impl Workspace {
    /// The session's name unless one is given.
    pub const SESSION: &str = "default";

    /// Opens `root` with the user's settings.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, WorkspaceOpenError> {
        Self::builder(root).open()
    }

    /// Starts a [`Builder`] for `root`.
    pub fn builder(root: impl AsRef<Path>) -> Builder {
        Builder {
            root: root.as_ref().to_owned(),
            others: Vec::new(),
            state_dir: None,
            config: None,
            relaxing: Relaxing::ByAny,
            session: Self::SESSION.into(),
            agent: None,
            model: None,
            encoding: None,
            fsync: None,
            mode: Mode::default(),
            dialects: slipstitch_dialects::builtin().clone(),
            guards: Guards::builtin(),
            emacs: None,
            interrupt: None,
        }
    }

    /// The root with symlinks resolved.
    pub fn root(&self) -> &str {
        self.files.files().root()
    }

    /// Every root with symlinks resolved. Relative paths are relative to the first.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.files.files().roots()
    }

    /// The folder with the journal and the locks.
    pub fn state_dir(&self) -> &Path {
        &self.folder
    }

    /// What the file system of each root supports.
    pub fn abilities(&self) -> Vec<(String, std::io::Result<FsFeatures>)> {
        self.files.files().probe_features()
    }

    /// The Emacs servers that were found, and whether they answer; `None` if the settings say not to use Emacs.
    pub fn emacs_servers(&self) -> Option<Vec<ServerStatus>> {
        self.files.emacs().map(Emacs::servers)
    }

    /// Looks for damage in the journal.
    pub fn check_journal(&self) -> Result<JournalCheck, JournalError> {
        self.journal.check()
    }

    /// Pending changes that were begun in other roots and affect files in these, each with the root it was begun in. Opening
    /// that root together with these recovers them.
    pub fn pending_elsewhere(&self) -> Result<Vec<(ChangeId, String)>, JournalError> {
        let roots: Vec<&str> = self.roots().collect();
        self.journal.pending_elsewhere(&roots)
    }

    /// The outcome of recovering changes that earlier processes left unfinished.
    pub fn recovered(&self) -> &Recovered {
        &self.recovered
    }

    /// Lets the kernel confine this thread, and those that it starts from now on, to the roots, the state folder
    /// and reading the system's own files.
    pub fn confine(&self) -> Result<Confinement, ConfineError> {
        let writable: Vec<&Path> = self.roots().map(Path::new).chain([self.state_dir()]).collect();
        confine(&writable, &[])
    }

    /// The names of the roots in absolute paths.
    pub fn root_names(&self) -> &[RootName] {
        self.files.root_names()
    }

    /// The settings of single dialects and tools.
    pub fn settings(&self) -> &Settings {
        &self.config.settings
    }

    /// The limits that guards enforce.
    pub fn policy(&self) -> &Policy {
        &self.config.policy
    }

    /// Why a change of a file needs the user's consent, if it does, by its name or by its place. Follows symlinks.
    pub fn protection(&self, path: &FilePath) -> Result<Option<Protection>, WorkspaceError> {
        self.engine().protection(path)
    }

    /// Parses a path as callers write it: relative to the root, or absolute and inside it.
    pub fn path(&self, text: &str) -> Result<FilePath, PathError> {
        FilePath::parse(text, self.files.root_names(), Absolute::InsideRoot)
    }

    /// The existing file that is most likely meant by `path`, which does not exist.
    pub fn closest_path(&self, path: &FilePath) -> Option<FilePath> {
        self.engine().closest_path(path)
    }

    /// Answers a tool call.
    pub fn call(&self, dialect: &str, tool: &str, arguments: Value) -> Answer {
        self.call_with(dialect, tool, arguments, &mut Auto)
    }

    /// Answers a tool call; `approver` is asked before anything is written.
    pub fn call_with(
        &self,
        dialect: &str,
        tool: &str,
        arguments: Value,
        approver: &mut dyn Approver,
    ) -> Answer {
        let request = Request { dialect: dialect.into(), tool: tool.into(), arguments };
        let (answer, call) = match self.plan(request) {
            Ok(planned) => self.run_unrecorded(planned, approver, &CancelToken::default()),
            Err(report) => {
                let call = CallRecord::new(&self.session, self.agent.as_deref(), dialect, tool, &report)
                    .with_model(self.model.as_deref());
                (Answer::from(*report), call)
            }
        };
        self.record_call(&call);
        answer
    }

    /// Parses a tool call without running it. [`Planned::touches`] says which files it is about.
    pub fn plan(&self, request: Request) -> Result<Planned, Box<Report>> {
        self.engine().plan(request)
    }

    /// Parses a call of a tool that was already looked up.
    pub fn plan_for(&self, dialect: &'static Dialect, tool: &'static Tool, arguments: Value) -> Planned {
        self.engine().plan_for(dialect, tool, arguments)
    }

    /// The length of the single file that a planned call reads or edits; `None` if there are several, if the call is about
    /// something else, or if it is a dry run.
    pub fn only_file_len(&self, planned: &Planned) -> Option<u64> {
        let is_about_files = match planned.plan() {
            Ok(Plan::Edit(plan)) => plan.run == Run::Real,
            Ok(Plan::Read(_) | Plan::Info(_)) => true,
            _ => false,
        };
        let Touches::Paths { paths, .. } = planned.touches() else { return None };
        if !is_about_files {
            return None;
        }
        let [Some(path)] = &paths[..] else { return None };
        let found = std::fs::metadata(Path::new(self.root()).join(text_to_path(path.as_str())));
        Some(found.map_or(0, |found| found.len()))
    }

    /// Runs a planned call without recording it, so that the caller can send the answer first and then record it with
    /// [`Workspace::record_call`], [`Workspace::queue_call_record`] or [`Workspace::record_repeated_call`].
    /// The token can cancel it until it starts to write.
    pub fn run_unrecorded(
        &self,
        planned: Planned,
        approver: &mut dyn Approver,
        cancel: &CancelToken,
    ) -> (Answer, CallRecord) {
        let (dialect, tool) = (planned.dialect().name, planned.tool().name);
        let (variant, touches) = (planned.variant().map(str::to_owned), planned.touches());
        let answer = self.run_planned(planned, approver, cancel);
        let call = CallRecord::new(&self.session, self.agent.as_deref(), dialect, tool, &answer.report)
            .with_model(self.model.as_deref())
            .with_paths(&touches, &answer.report)
            .with_variant(variant.as_deref(), &answer.report);
        (answer, call)
    }

    /// Records the outcome of a call, for statistics. Errors are ignored: the call itself is done.
    pub fn record_call(&self, call: &CallRecord) {
        let _ = self.journal.record_call(call);
    }

    /// Keeps the record of a call in memory, to be written with others. Returns whether it is the first in the queue:
    /// then [`Workspace::write_call_records`] should be called soon. Closing the workspace writes what is queued.
    pub fn queue_call_record(&self, call: CallRecord) -> bool {
        self.journal.queue_call(call)
    }

    /// Writes the queued records, and the texts that calls left for later ones. Returns whether that succeeded; if not, they
    /// stay queued.
    pub fn write_call_records(&self) -> bool {
        self.journal.flush_calls().is_ok()
    }

    /// Records the outcome of a call that is repeated after a user decided on its request. Both count as one call.
    pub fn record_repeated_call(&self, call: &CallRecord) {
        let _ = self.journal.record_repeated_call(call);
    }

    fn run_planned(&self, planned: Planned, approver: &mut dyn Approver, cancel: &CancelToken) -> Answer {
        // Taken before the mode is read, so that a completed mode change applies to this call.
        let guard = self.mode_lock.lock_for_call(cancel);
        let guard = guard.map_err(|error| mode_error("lock the session's mode", &error));
        let mode = guard.and_then(|guard| Ok((self.mode()?, guard)));
        match mode {
            Ok((mode, _guard)) => {
                let began = review::now();
                let answer = self.engine().mode(mode).cancel(cancel).run(planned, approver);
                answer.report.proposal.into_iter().for_each(|id| self.announce_proposal(id, began));
                answer
            }
            Err(error) => Report::from(error).into(),
        }
    }

    /// What the session may do through [`Workspace::call`].
    pub fn mode(&self) -> Result<Mode, JournalError> {
        Ok(recall_mode(&self.journal, &self.session)?.unwrap_or(self.mode))
    }

    /// Sets what the session may do; write access grants a request for it that waits for review. Waits for the session's
    /// calls in flight, so that none of them is affected.
    pub fn set_mode(&self, mode: Mode) -> Result<(), JournalError> {
        let _guard =
            self.mode_lock.lock_for_change().map_err(|error| mode_error("change the mode", &error))?;
        self.engine().set_mode(mode, "the user")
    }

    /// Waits for the session's calls in flight.
    pub fn wait_for_calls(&self) -> Result<(), JournalError> {
        let _guard = self
            .mode_lock
            .lock_for_change()
            .map_err(|error| mode_error("wait for the calls in flight", &error))?;
        Ok(())
    }

    /// Runs a plan that was built without a dialect.
    pub fn run<'a>(&self, plan: Plan, source: impl Into<Source<'a>>) -> Report {
        self.run_with(plan, source, &mut Auto)
    }

    /// Runs a plan; `approver` is asked before anything is written.
    pub fn run_with<'a>(
        &self,
        plan: Plan,
        source: impl Into<Source<'a>>,
        approver: &mut dyn Approver,
    ) -> Report {
        let source = source.into();
        let origin = Origin {
            session: self.session.clone(),
            agent: self.agent.clone(),
            dialect: "native".into(),
            tool: source.tool.into(),
        };
        let report = self.engine().execute(&plan, origin, source.phrases, approver);
        // There is no record of a call with which the texts of the change would be written.
        self.write_call_records();
        report
    }

    /// The dialects that this workspace accepts.
    pub fn dialects(&self) -> &Dialects {
        &self.dialects
    }

    /// The recorded changes of this root, newest first.
    pub fn log(&self, filter: &Filter) -> Result<Vec<Summary>, JournalError> {
        self.journal.list(filter)
    }

    /// Counts of calls in this root by session, program, model and dialect.
    pub fn stats(&self, filter: &CallFilter) -> Result<Vec<CallGroup>, JournalError> {
        self.journal.count_calls(filter)
    }

    /// The last calls of a selection in this root, newest first.
    pub fn calls(&self, selection: &CallSelection, limit: usize) -> Result<Vec<ListedCall>, JournalError> {
        self.journal.list_calls(selection, limit)
    }

    /// The last edits in this root that had no place, newest first.
    pub fn failures(&self, filter: &CallFilter) -> Result<Vec<FailedEdit>, JournalError> {
        self.journal.failures(filter)
    }

    /// One change with its diff.
    pub fn change(&self, id: ChangeId) -> Result<Option<Entry>, JournalError> {
        self.journal.entry(id)
    }

    /// The proposal that became this change, if a review applied it.
    pub fn accepted_proposal(&self, change: ChangeId) -> Result<Option<StoredProposal>, JournalError> {
        self.journal.accepted_proposal(change)
    }

    /// Whether a change was removed from the journal to save space.
    pub fn was_pruned(&self, id: ChangeId) -> Result<bool, JournalError> {
        self.journal.was_pruned(id)
    }

    /// Where the files of `listed` were changed by something that is not in the journal.
    pub fn foreign(&self, listed: &[Summary]) -> Result<Vec<ForeignChange>, JournalError> {
        self.engine().foreign_changes(listed)
    }

    /// Removes what exceeds the journal's limits, for all roots.
    pub fn collect(&self, run: Run) -> Result<Collected, JournalError> {
        self.journal.collect(run)
    }

    /// Forgets changes, proposals, files or sessions for good: no byte of their text is left in the state folder.
    pub fn forget(&self, selection: &ForgetSelection, run: Run) -> Result<Forgotten, ForgetError> {
        self.journal.forget(selection, run)
    }

    /// Whether the journal keeps no text of a file (see `private` in the settings), by its name or by where a symlink leads.
    pub fn is_private(&self, path: &FilePath) -> bool {
        let is_private = |path: &FilePath| !self.journal.keeps_text_of(path);
        let real = self
            .roots()
            .next()
            .map(|root| (Path::new(root), Path::new(root).join(text_to_path(path.as_str()))));
        let real = real.and_then(|(root, file)| {
            let real = files::real_path(&file).ok()?;
            FilePath::from_record(&path_to_text(real.strip_prefix(root).ok()?)).ok()
        });
        is_private(path) || real.is_some_and(|real| is_private(&real))
    }

    /// Whether a change can only be undone while this process runs, because a file of it is private.
    pub fn knows_private_text_of(&self, id: ChangeId) -> bool {
        self.journal.knows_private_text_of(id)
    }

    /// Whether forgotten text may still be in the journal's files, because another process was reading them.
    pub fn has_unfinished_erasing(&self) -> bool {
        self.journal.has_unfinished_erasing()
    }

    /// Erases forgotten text that is still in the journal's files. Returns whether there was anything to do.
    pub fn finish_erasing(&self) -> Result<bool, JournalError> {
        self.journal.finish_erasing()
    }

    /// Removes unused lock files of all roots and returns how many.
    pub fn sweep_locks(&self) -> std::io::Result<usize> {
        sweep_locks(&state::locks(&self.folder))
    }

    /// The settings in effect.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The session that changes are recorded under.
    pub fn session(&self) -> &str {
        &self.session
    }

    fn engine(&self) -> Engine<'_> {
        let versions: &dyn Versions = match &self.git {
            Some(git) => git,
            None => &NoVersions,
        };
        let evidence = if self.config.evidence.enabled { Evidence::Used } else { Evidence::Ignored };
        Engine::new(&self.files, &self.journal)
            .versions(versions)
            .evidence(evidence)
            .dialects(&self.dialects)
            .guards(&self.guards)
            .policy(&self.config.policy)
            .places(&self.places)
            .settings(&self.config.settings)
            .mode(self.mode)
            .encoding(self.config.encoding)
            .session(&self.session)
            .agent(self.agent.as_deref())
    }
}

fn mode_error(action: &'static str, error: &std::io::Error) -> JournalError {
    JournalError::new(action, error.to_string())
}
