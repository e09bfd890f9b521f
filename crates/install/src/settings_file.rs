//! A settings file on disk: read, written through the engine, restored through the journal.
//!
//! A `Workspace` is not used, because its root must not contain the journal: an agent could edit it there. Here the root
//! is the directory of the settings file, often the home directory, which does contain the journal. That is safe,
//! because this module alone chooses the file.

use slipstitch::core::hint::HintPhrases;
use slipstitch::core::outcome::Outcome;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use slipstitch::config::Config;
use slipstitch::core::change::{Base, ChangeSet, FileChange, PathChange};
use slipstitch::core::engine::Engine;
use slipstitch::core::outcome::Status;
use slipstitch::core::path::{Absolute, FilePath};
use slipstitch::core::plan;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::plan::{Direction, EditRules, OtherSessionsConsent, Plan, Run, Shrink, UndoPlan};
use slipstitch::core::ports::approver::Person;
use slipstitch::core::ports::journal::{Filter, Journal, Origin, UndoFilter};
use slipstitch::core::ports::workspace::{ReadResult, Workspace};
use slipstitch::core::report::Report;
use slipstitch::core::snapshot::Snapshot;
use slipstitch::core::snapshot::Snapshots;
use slipstitch::core::text::EncodingRule;
use slipstitch::core::text::{Span, Splices};
use slipstitch::{DiskWorkspace, Fsync, SqliteJournal, state};

use crate::error::Error;
use crate::format::FormatError;
use crate::record::{Record, describe_removal};

/// The session that installations belong to in the journal.
const SESSION: &str = "mcp-install";

/// Where the journal is and how files are written.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The state directory, which contains the journal; the default one if `None`.
    pub state_dir: Option<PathBuf>,
    /// Slipstitch's own configuration file; the default one if `None`.
    pub config: Option<PathBuf>,
    /// Overrides the configuration.
    pub fsync: Option<Fsync>,
}

/// A settings file that may not exist yet.
pub(crate) struct SettingsFile {
    /// The directory of the file.
    files: DiskWorkspace,
    journal: SqliteJournal,
    config: Config,
    /// The path as the caller knows it.
    location: PathBuf,
    /// The file in `files`.
    path: FilePath,
    snapshots: Snapshots,
}

/// A change in the journal that installed something.
pub(crate) struct RecordedInstall {
    pub(crate) change: ChangeId,
    /// Whether the file is as this change left it.
    pub(crate) is_current: bool,
    pub(crate) record: Record,
}

/// How many of the latest changes to a file are searched for installations.
const MAX_CHANGES: usize = 64;

impl SettingsFile {
    /// Opens a file and reads it. A symlink, as in a dotfiles repository, is followed.
    pub(crate) fn open(location: &Path, options: &Options) -> Result<Self, Error> {
        refuse_dangling_link(location)?;
        if exists(location)? {
            refuse_special_file(location)?;
        }
        let file = location.canonicalize().unwrap_or_else(|_| location.to_owned());
        let unusable = |source: crate::error::Source| Error::unusable(&file, source);
        let (folder, name) =
            file.parent().zip(file.file_name()).ok_or_else(|| unusable("it has no name".into()))?;
        let name = name.to_str().ok_or_else(|| unusable("its name is not UTF-8".into()))?;
        // The file must not be in the state directory, but that may be in the file's directory.
        let state =
            state::folder(options.state_dir.as_deref(), &[&file]).map_err(|error| unusable(error.into()))?;
        let mut config = Config::load(options.config.as_deref()).map_err(|error| unusable(error.into()))?;
        config.fsync = options.fsync.unwrap_or(config.fsync);
        let files = DiskWorkspace::open(folder, &state::locks(&state), config.fsync)
            .map_err(|error| unusable(error.into()))?;
        let journal = SqliteJournal::open(&state, files.root()).map_err(Report::from)?;
        let journal = journal.with_fsync(config.fsync);
        let path = FilePath::parse(name, &[], Absolute::Refused).map_err(|error| unusable(error.into()))?;
        let mut snapshots = Snapshots::default();
        let snapshot = match files.read(&path).map_err(Report::from)? {
            ReadResult::File(content) => Some(Snapshot::new(content, EncodingRule::default())),
            ReadResult::Missing { .. } => None,
        };
        snapshots.insert(path.clone(), snapshot);
        Ok(Self { files, journal, config, location: location.to_owned(), path, snapshots })
    }

    /// The content; empty if the file does not exist.
    pub(crate) fn text(&self) -> Result<&str, Error> {
        let text = std::str::from_utf8(self.snapshots.bytes(&self.path));
        text.map_err(|error| self.unsafe_edit(error.into()))
    }

    /// The error that this file cannot be edited safely.
    pub(crate) fn unsafe_edit(&self, source: FormatError) -> Error {
        Error::unsafe_edit(&self.location, source)
    }

    /// Changes the content, unless the file has changed since it was opened. The journal records the change with this
    /// description. Returns its identifier and the report.
    pub(crate) fn write(
        &self,
        content: &str,
        description: &str,
    ) -> Result<(Option<ChangeId>, Report), Error> {
        let before = self.snapshots.bytes(&self.path);
        let splices = diff(before, content.as_bytes());
        let change = FileChange {
            path: self.path.clone(),
            base: self.snapshots.get(&self.path).map_or(Base::Absent, |found| Base::Content(found.hash())),
            path_change: PathChange::Keep,
            after: Some(splices.hash_after(before)),
            splices,
            mode: None,
            executable: None,
            restore: Default::default(),
            edits: Vec::new(),
            notes: Vec::new(),
            totals: None,
        };
        let changes = ChangeSet::new(vec![change])
            .map_err(|error| Report::custom(Status::Failed, "internal", error.to_string()))?;
        self.commit(changes, description)
    }

    fn commit(&self, changes: ChangeSet, description: &str) -> Result<(Option<ChangeId>, Report), Error> {
        let rules = EditRules { shrink: Shrink::Allowed, ..EditRules::STRICT };
        let description = Some(description.into());
        // The user asked for exactly this change.
        let mut approver = current_user();
        let report =
            self.engine().land_changes(changes, &self.snapshots, rules, origin(), description, &mut approver);
        match report.outcome {
            Outcome::Applied => Ok((report.change, without_content(report))),
            _ => Err(Error::unwritten(&self.location, report)),
        }
    }

    /// The installations with this label that were neither undone nor followed by a removal, latest first.
    pub(crate) fn installs(&self, label: &str) -> Vec<RecordedInstall> {
        let filter = Filter {
            path: Some(self.path.clone()),
            session: Some(SESSION.into()),
            undo: Some(UndoFilter::Undoable),
            limit: Some(MAX_CHANGES),
            ..Filter::default()
        };
        let changes = self.journal.list(&filter).unwrap_or_default();
        let removal = describe_removal(label);
        let current = self.snapshots.get(&self.path).map(Snapshot::hash);
        let mut is_latest = true;
        let mut installs = Vec::new();
        for change in changes {
            let description = change.description.as_deref().unwrap_or_default();
            if description == removal {
                break;
            }
            let file = change.files.iter().find(|file| file.path_after.as_ref() == Some(&self.path));
            let after = file.and_then(|file| file.hash_after);
            if let Some(record) = Record::parse(description, label) {
                let is_current = is_latest && after.is_some() && after == current;
                installs.push(RecordedInstall { change: change.id, is_current, record });
            }
            is_latest = false;
        }
        installs
    }

    /// Undoes a change, byte for byte.
    pub(crate) fn undo(&self, change: ChangeId) -> Result<Report, Error> {
        let target = plan::Target::Change(change);
        let plan = Plan::Undo(UndoPlan {
            target,
            direction: Direction::Undo,
            run: Run::Real,
            others: OtherSessionsConsent::Given,
        });
        let report = self.engine().execute(&plan, origin(), HintPhrases::ALL, &mut current_user());
        match report.outcome {
            Outcome::Applied => Ok(without_content(report)),
            _ => Err(Error::unwritten(&self.location, report)),
        }
    }

    fn engine(&self) -> Engine<'_> {
        Engine::new(&self.files, &self.journal)
            .policy(&self.config.policy)
            .settings(&self.config.settings)
            .session(SESSION)
    }
}

/// Whether there is a file, or a symlink.
pub(crate) fn exists(file: &Path) -> Result<bool, Error> {
    match std::fs::symlink_metadata(file) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(Error::unusable(file, error)),
    }
}

/// The content of a file; empty if it does not exist.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Error> {
    if !exists(file)? {
        return Ok(Vec::new());
    }
    refuse_dangling_link(file)?;
    refuse_special_file(file)?;
    std::fs::read(file).map_err(|error| Error::unusable(file, error))
}

/// Refuses what is neither a file nor a link to one. Reading a named pipe would wait for its writer.
fn refuse_special_file(file: &Path) -> Result<(), Error> {
    let metadata = file.metadata().map_err(|error| Error::unusable(file, error))?;
    match metadata.is_file() {
        true => Ok(()),
        false if metadata.is_dir() => Err(Error::unusable(file, "it is a directory")),
        false => Err(Error::unusable(file, "it is not a regular file")),
    }
}

/// Refuses a file that is a symlink to nothing, or is below a directory that is one.
pub(crate) fn refuse_dangling_link(file: &Path) -> Result<(), Error> {
    let dangling = file.ancestors().find(|path| path.is_symlink() && !path.exists());
    let Some(link) = dangling else { return Ok(()) };
    let destination = std::fs::read_link(link).map_err(|error| Error::unusable(link, error))?;
    Err(Error::DanglingLink { link: link.into(), destination })
}

/// Drops the diff, which quotes the settings file, and the change's identifier: `slipstitch undo` looks for it in the
/// journal of another root.
fn without_content(mut report: Report) -> Report {
    (report.diff, report.raw_diff, report.change) = (None, None, None);
    report
}

/// One splice from the first difference to the last.
fn diff(before: &[u8], after: &[u8]) -> Splices {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let start = before.iter().zip(after).take_while(same).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    Splices::one(before.len(), Span::new(start, before.len() - end), after[start..after.len() - end].to_vec())
}

fn origin() -> Origin {
    Origin { session: SESSION.into(), agent: None, dialect: "native".into(), tool: "mcp".into() }
}

fn current_user() -> Person {
    let user = std::env::var("USER").ok().filter(|name| !name.is_empty());
    Person { name: user.unwrap_or_else(|| "slipstitch mcp install".into()) }
}
