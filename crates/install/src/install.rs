//! Adding a server, and what it needs, to a host's settings.

use std::path::PathBuf;

use serde_json::Value;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::report::Report;

use crate::display;
use crate::error::Error;
use crate::folders::{self, CreatedFolders};
use crate::format::{Format, FormatError, Place};
use crate::host::{Addition, Extras};
use crate::launch::Launch;
use crate::record::Record;
use crate::settings_file::{Options, SettingsFile, exists, read, refuse_dangling_link};
use crate::target::Target;

const EXTENDED_JSON: &str =
    "the file has comments or trailing commas, which are not plain JSON; the host may not read it";

/// What to do about an entry of the same name that does not belong to this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Leave it alone and return an error.
    Refuse,
    /// Replace or remove it.
    Force,
}

/// What to install.
#[derive(Debug, Clone)]
pub struct Request {
    /// The command that starts the server.
    pub launch: Launch,
    /// What else to change.
    pub extras: Extras,
    /// What to do about another entry of the same name.
    pub on_conflict: OnConflict,
}

/// What belongs in a file and is not written yet.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The settings file.
    pub file: PathBuf,
    /// The entry, and what else belongs in the file, as its only content.
    pub entry: String,
}

/// The outcome of an installation.
#[derive(Debug)]
pub enum Installed {
    /// Files were changed.
    Written {
        /// The change of each file.
        changes: Vec<Change>,
        /// The engine's report on the last of them. It contains no text of the file.
        report: Box<Report>,
    },
    /// The file already had exactly this entry.
    AlreadyPresent {
        /// The settings file.
        file: PathBuf,
    },
}

/// A change to a settings file.
#[derive(Debug)]
pub struct Change {
    /// The settings file.
    pub file: PathBuf,
    /// The removed and added lines of our values with possible secrets masked; `None` if they cannot be shown, for the
    /// reason in `warnings`.
    pub diff: Option<String>,
    /// What else the user should know.
    pub warnings: Vec<String>,
}

/// What belongs in one file.
struct FilePlan {
    file: PathBuf,
    format: Format,
    /// The content to start with if there is none.
    initial: &'static str,
    /// The program that the server's entry starts, if the entry belongs in this file.
    program: Option<String>,
    additions: Vec<Addition>,
}

/// A file that was written.
struct Written {
    file: PathBuf,
    change: Option<ChangeId>,
    /// How many directories were created for it.
    folders: usize,
    report: Report,
    shown: Change,
}

/// A file's content after an edit.
struct Edit {
    text: String,
    /// What was added, and what it replaced.
    added: Vec<(Addition, Option<Value>)>,
    created: Vec<Place>,
    warnings: Vec<String>,
}

impl Target {
    /// What [`Target::install`] would write to each file; the one with the server comes first.
    pub fn preview(&self, request: &Request) -> Result<Vec<Preview>, Error> {
        let preview = |plan: FilePlan| {
            let values = plan.additions.iter().map(|addition| (&addition.place, &addition.value));
            let entry = plan.format.render(values).map_err(Error::Render)?;
            Ok(Preview { file: plan.file, entry })
        };
        self.plan_files(request)?.into_iter().map(preview).collect()
    }

    /// What [`Target::install`] would change; empty if everything is there already. Nothing is written.
    pub fn plan_install(&self, request: &Request) -> Result<Vec<Change>, Error> {
        let mut changes = Vec::new();
        for plan in self.plan_files(request)? {
            refuse_dangling_link(&plan.file)?;
            let bytes = read(&plan.file)?;
            let text = std::str::from_utf8(&bytes);
            let text = text.map_err(|error| Error::unsafe_edit(&plan.file, error))?;
            if let Some(edit) = self.edit(&plan, text, request.on_conflict)? {
                changes.push(edit.into_change(&plan));
            }
        }
        Ok(changes)
    }

    /// Adds the entry to the settings file, which is created if it does not exist, and what else was requested. All
    /// files are changed or none. The changes are recorded in the journal, where [`Target::uninstall`] finds them.
    pub fn install(&self, request: &Request, options: &Options) -> Result<Installed, Error> {
        // Finds out whether a later file refuses before an earlier one is written.
        if self.plan_install(request)?.is_empty() {
            return Ok(Installed::AlreadyPresent { file: self.file()? });
        }
        let mut written = Vec::new();
        for plan in self.plan_files(request)? {
            match self.write_file(&plan, request.on_conflict, options) {
                Ok(file) => written.extend(file),
                Err(error) => {
                    take_back(&written, options);
                    return Err(error);
                }
            }
        }
        match written.last().map(|file| Box::new(file.report.clone())) {
            Some(report) => {
                let changes = written.into_iter().map(|file| file.shown).collect();
                Ok(Installed::Written { changes, report })
            }
            None => Ok(Installed::AlreadyPresent { file: self.file()? }),
        }
    }

    fn write_file(
        &self,
        plan: &FilePlan,
        on_conflict: OnConflict,
        options: &Options,
    ) -> Result<Option<Written>, Error> {
        let file = &plan.file;
        let folders = CreatedFolders::above(file).map_err(|error| Error::unusable(file, error))?;
        let settings = SettingsFile::open(file, options)?;
        let Some(edit) = self.edit(plan, settings.text()?, on_conflict)? else { return Ok(None) };
        let count = folders.count();
        let record = Record {
            program: plan.program.clone(),
            folders: count,
            added: edit.added.iter().map(|(addition, _)| addition.place.clone()).collect(),
            created: edit.created.clone(),
        };
        let (change, report) = settings.write(&edit.text, &record.describe(&self.label()))?;
        folders.keep();
        let shown = edit.into_change(plan);
        Ok(Some(Written { file: file.clone(), change, folders: count, report, shown }))
    }

    /// What belongs in which file; the file with the server comes first.
    fn plan_files(&self, request: &Request) -> Result<Vec<FilePlan>, Error> {
        let Request { launch, extras, .. } = request;
        let (settings, name) = (self.settings()?, self.name.as_str());
        let wanted = self.host.extras(extras);
        let mut servers = FilePlan {
            file: self.file()?,
            format: settings.format,
            initial: settings.initial,
            program: Some(launch.program.clone()),
            additions: vec![settings.server(name, launch, &wanted, &extras.tools)],
        };
        let mut permissions = self.permissions_file()?.map(|(file, format)| FilePlan {
            file,
            format,
            initial: "",
            program: None,
            additions: Vec::new(),
        });
        for extra in wanted {
            let plan = permissions.as_mut().filter(|_| extra.is_permission()).unwrap_or(&mut servers);
            plan.additions.extend(extra.additions(name, &extras.tools));
        }
        let permissions = permissions.filter(|plan| !plan.additions.is_empty());
        Ok(std::iter::once(servers).chain(permissions).collect())
    }

    /// The content with everything added that is missing; `None` if nothing is.
    fn edit(&self, plan: &FilePlan, text: &str, on_conflict: OnConflict) -> Result<Option<Edit>, Error> {
        let format = plan.format;
        let refuse = |error| Error::unsafe_edit(&plan.file, error);
        let mut edit =
            Edit { text: text.into(), added: Vec::new(), created: Vec::new(), warnings: Vec::new() };
        if text.is_empty() {
            edit.text = plan.initial.into();
        }
        for addition in &plan.additions {
            let Addition { place, value } = addition;
            let found = format.find(&edit.text, place).map_err(refuse)?;
            match &found {
                Some(found) if found == value => continue,
                Some(_) if on_conflict == OnConflict::Refuse => return Err(self.different(plan, place)),
                Some(_) => edit.text = format.remove(&edit.text, place).map_err(refuse)?,
                None => edit.created.extend(missing_containers(format, &edit.text, place).map_err(refuse)?),
            }
            edit.text = format.insert(&edit.text, place, value).map_err(refuse)?;
            edit.added.push((addition.clone(), found));
        }
        if format.uses_extensions(text) {
            edit.warnings.push(EXTENDED_JSON.into());
        }
        Ok(if edit.added.is_empty() { None } else { Some(edit) })
    }

    fn different(&self, plan: &FilePlan, place: &Place) -> Error {
        let file = plan.file.clone();
        match plan.additions.first() {
            Some(server) if plan.program.is_some() && server.place == *place => {
                Error::DifferentEntry { file, name: self.name.to_string() }
            }
            _ => Error::DifferentSetting { file, key: place.to_string() },
        }
    }
}

impl Edit {
    fn into_change(self, plan: &FilePlan) -> Change {
        let diff = display::show_installation(plan.format, &self.added);
        let mut change = Change::new(plan.file.clone(), diff);
        change.warnings.extend(self.warnings);
        change
    }
}

impl Change {
    pub(crate) fn new(file: PathBuf, diff: Result<String, FormatError>) -> Self {
        let mut warnings = Vec::new();
        let diff = diff.map_err(|error| warnings.push(format!("the change cannot be shown: {error}")));
        Self { file, diff: diff.ok(), warnings }
    }
}

/// The mappings and lists around a place that do not exist, innermost first.
fn missing_containers(format: Format, text: &str, place: &Place) -> Result<Vec<Place>, FormatError> {
    let mut missing = Vec::new();
    let mut container = place.container();
    while let Some(place) = container {
        if format.find(text, &place)?.is_some() {
            break;
        }
        container = place.container();
        missing.push(place);
    }
    Ok(missing)
}

/// Undoes what was written before a later file failed. The failure is what the user needs to know; a file that cannot be
/// restored keeps settings that [`Target::uninstall`] removes.
fn take_back(written: &[Written], options: &Options) {
    for Written { file, change, folders, .. } in written.iter().rev() {
        let Some(id) = change else { continue };
        let undone = SettingsFile::open(file, options).and_then(|settings| settings.undo(*id));
        if undone.is_ok() && matches!(exists(file), Ok(false)) {
            folders::remove_empty(file, *folders);
        }
    }
}
