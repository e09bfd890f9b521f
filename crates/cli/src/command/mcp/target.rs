//! A host's file on the disk: read, written through the engine, taken back through the journal.

use slipstitch::core::guard::Guards;
use slipstitch::core::hint::HintPhrases;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use slipstitch::config::Config;
use slipstitch::core::change::{Base, ChangeSet, Fate, FileChange};
use slipstitch::core::engine::Engine;
use slipstitch::core::engine::approve::approve;
use slipstitch::core::engine::commit::commit;
use slipstitch::core::guard;
use slipstitch::core::outcome::Status;
use slipstitch::core::path::{Absolute, FilePath};
use slipstitch::core::plan;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::plan::{Direction, EditPlan, EditRules, Plan, Run, Shrink, UndoPlan};
use slipstitch::core::ports::approver::Person;
use slipstitch::core::ports::journal::Label;
use slipstitch::core::ports::journal::{ChangeKind, Filter, Journal, Origin, UndoFilter};
use slipstitch::core::ports::workspace::{ReadResult, Workspace};
use slipstitch::core::report::{Report, unified_diff};
use slipstitch::core::snapshot::Snapshot;
use slipstitch::core::snapshot::Snapshots;
use slipstitch::core::text::EncodingRule;
use slipstitch::core::text::{Span, Splices};
use slipstitch::{DiskWorkspace, Fsync, SqliteJournal, state};

use super::made;
use crate::args::Global;

/// The session that installations belong to in the journal.
const SESSION: &str = "mcp-install";

/// A host's file, and the folder that it is in.
pub(super) struct Target {
    files: DiskWorkspace,
    journal: SqliteJournal,
    config: Config,
    path: FilePath,
    seen: Snapshots,
}

impl Target {
    /// Opens a file that may not be there yet. A symlink, as people have who keep their settings together,
    /// is followed first: the file that it leads to is the one to change.
    pub(super) fn open(file: &Path, global: &Global) -> Result<Self, Box<Report>> {
        leads_somewhere(file)?;
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let (folder, name) =
            file.parent().zip(file.file_name()).ok_or_else(|| unusable(&file, &"it has no name"))?;
        let name = name.to_str().ok_or_else(|| unusable(&file, &"its name is not UTF-8"))?;
        // The journal must not be what is edited. It may well be in the same folder: the home folder has both.
        let state =
            state::folder(global.state_dir.as_deref(), &file).map_err(|error| unusable(&file, &error))?;
        let mut config = Config::load(global.config.as_deref()).map_err(|error| unusable(&file, &error))?;
        if global.no_fsync {
            config.fsync = Fsync::Off;
        }
        let files = DiskWorkspace::open(folder, &state::locks(&state), config.fsync)
            .map_err(|error| unusable(&file, &error))?;
        let journal = SqliteJournal::open(&state, files.root()).map_err(Report::from)?;
        let journal = journal.with_fsync(config.fsync).map_err(Report::from)?;
        let path = FilePath::parse(name, &[], Absolute::Refused).map_err(|error| unusable(&file, &error))?;
        let mut target = Self { files, journal, config, path, seen: Snapshots::default() };
        target.look()?;
        Ok(target)
    }

    fn look(&mut self) -> Result<(), Box<Report>> {
        let found = match self.files.read(&self.path).map_err(Report::from)? {
            ReadResult::File(content) => Some(Snapshot::new(content, EncodingRule::default())),
            ReadResult::Missing { .. } => None,
        };
        self.seen.insert(self.path.clone(), found);
        Ok(())
    }

    /// What the file holds; `None` if it is not there.
    pub(super) fn text(&self) -> Result<Option<&str>, std::str::Utf8Error> {
        self.seen.get(&self.path).map(|snapshot| std::str::from_utf8(snapshot.bytes())).transpose()
    }

    /// Gives the file another content, if it still is what was read. Only the bytes between the first and
    /// the last difference are written anew.
    pub(super) fn write(&self, content: &str, description: &str) -> Result<Report, Box<Report>> {
        let before = self.seen.bytes(&self.path);
        let splices = difference(before, content.as_bytes());
        let change = FileChange {
            path: self.path.clone(),
            base: self.seen.get(&self.path).map_or(Base::Absent, |found| Base::Content(found.hash())),
            fate: Fate::Keep,
            after: Some(splices.hash_after(before)),
            splices,
            mode: None,
            executable: None,
            edits: Vec::new(),
            notes: Vec::new(),
            totals: None,
        };
        let changes = ChangeSet::new(vec![change])
            .map_err(|twice| Report::custom(Status::Failed, "internal", twice.to_string()))?;
        self.commit(changes, description)
    }

    fn commit(&self, changes: ChangeSet, description: &str) -> Result<Report, Box<Report>> {
        let origin = origin();
        let plan = EditPlan::new(Vec::new(), EditRules { shrink: Shrink::Allowed, ..EditRules::STRICT });
        let diff = unified_diff(&changes, &self.seen, plan.rules.context);
        let checked = guard::check(&Guards::builtin(), changes, &plan, &self.seen, &self.config.policy)
            .map_err(|refusal| Report::new(refusal.outcome(), refusal.to_string()))?;
        let label = Label {
            origin,
            kind: ChangeKind::Edit,
            description: Some(description.into()),
            diff: String::from_utf8_lossy(&diff).into_owned(),
        };
        // Whoever runs the command has asked for this very change.
        let approved = approve(checked, &label, &mut person()).map_err(Report::from)?;
        let receipt =
            commit(approved, &self.seen, label, &self.files, &self.journal).map_err(Report::from)?;
        Ok(Report::applied(&receipt, &self.seen).diff(diff))
    }

    /// The installation with these arguments that made the file what it is now, if one did, and how many folders it made.
    pub(super) fn last_install(&self, arguments: &str) -> Option<(ChangeId, usize)> {
        let filter = Filter {
            path: Some(self.path.clone()),
            session: Some(SESSION.into()),
            undo: Some(UndoFilter::Undoable),
            limit: Some(1),
            ..Filter::default()
        };
        let last = self.journal.list(&filter).ok()?.into_iter().next()?;
        let left = last.files.iter().find(|file| file.path_after.as_ref() == Some(&self.path))?.hash_after?;
        let now = self.seen.get(&self.path)?.hash();
        let folders = made::noted(last.description.as_deref()?, arguments)?;
        (left == now).then_some((last.id, folders))
    }

    /// Takes an installation back, byte for byte.
    pub(super) fn undo(&self, id: ChangeId) -> Report {
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch::dialects::builtin())
            .policy(&self.config.policy)
            .settings(&self.config.settings)
            .session(SESSION);
        let plan = UndoPlan { target: plan::Target::Change(id), direction: Direction::Undo, run: Run::Real };
        engine.execute(&Plan::Undo(plan), origin(), HintPhrases::ALL, &mut person())
    }
}

/// Whether there is a file, or something that leads to one.
pub(super) fn exists(file: &Path) -> Result<bool, Box<Report>> {
    match std::fs::symlink_metadata(file) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(unusable(file, &error)),
    }
}

/// Refuses a file that is a link to nothing, or in a folder that is one. What is meant by it is not known: it may lead
/// to a place that is not mounted yet.
pub(super) fn leads_somewhere(file: &Path) -> Result<(), Box<Report>> {
    let dangling = file.ancestors().find(|path| path.is_symlink() && !path.exists());
    let Some(link) = dangling else { return Ok(()) };
    let to = std::fs::read_link(link).map_err(|error| unusable(link, &error))?;
    let message = format!("`{}` is a link to `{}`, which is not there", link.display(), to.display());
    Err(Report::custom(Status::Refused, "dangling_link", message)
        .hint("Nothing was written. Make what it leads to, or remove the link, and try again; `--print` shows the entry.")
        .into())
}

fn difference(before: &[u8], after: &[u8]) -> Splices {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let start = before.iter().zip(after).take_while(same).count();
    let (rest, new) = (&before[start..], &after[start..]);
    let end = rest.iter().rev().zip(new.iter().rev()).take_while(same).count();
    Splices::one(before.len(), Span::new(start, before.len() - end), after[start..after.len() - end].to_vec())
}

fn origin() -> Origin {
    Origin { session: SESSION.into(), agent: None, dialect: "native".into(), tool: "mcp".into() }
}

fn person() -> Person {
    let user = std::env::var("USER").ok().filter(|name| !name.is_empty());
    Person { name: user.unwrap_or_else(|| "a person".into()) }
}

/// What is said of a file or folder that the system does not let us use.
pub(super) fn unusable(file: &Path, why: &dyn std::fmt::Display) -> Box<Report> {
    let message = format!("`{}` cannot be used: {why}", PathBuf::from(file).display());
    Report::custom(Status::Failed, "config_error", message)
        .hint("`--print` shows the entry, to be put in by hand.")
        .into()
}
