//! Adding an entry to a settings file.

use std::path::PathBuf;

use serde_json::Value;
use slipstitch::core::report::Report;

use crate::display;
use crate::error::Error;
use crate::folders::CreatedFolders;
use crate::launch::Launch;
use crate::settings_file::{Options, SettingsFile, refuse_dangling_link};
use crate::target::{Scope, Target};

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

/// An entry that is not written yet.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The settings file it belongs in.
    pub file: PathBuf,
    /// The entry as the only content of a file.
    pub entry: String,
}

/// The outcome of an installation.
#[derive(Debug)]
pub enum Installed {
    /// The file was changed.
    Written(Box<Change>),
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
    /// The entry's removed and added lines with possible secrets masked; `None` if it cannot be shown, for the reason
    /// in `warnings`.
    pub diff: Option<String>,
    /// What else the user should know.
    pub warnings: Vec<String>,
    /// The engine's report on the file. It contains no text of the file.
    pub report: Report,
}

/// A file's content after an edit.
enum Content {
    Changed { text: String, replaced: Option<Value> },
    Unchanged,
}

impl Target {
    /// The entry that [`Target::install`] would write, and the file it would write it to.
    pub fn preview(&self, launch: &Launch) -> Result<Preview, Error> {
        let entry = self.host.entry(self.name.as_str(), launch);
        let entry = self.host.format.render(self.path(), &entry).map_err(Error::Render)?;
        Ok(Preview { file: self.file()?, entry })
    }

    /// Adds the entry to the settings file, which is created if it does not exist. The change is recorded in the
    /// journal, where [`Target::uninstall`] finds it.
    pub fn install(
        &self,
        launch: &Launch,
        on_conflict: OnConflict,
        options: &Options,
    ) -> Result<Installed, Error> {
        let file = self.file()?;
        refuse_dangling_link(&file)?;
        let folders = CreatedFolders::above(&file).map_err(|error| Error::unusable(&file, error))?;
        let settings = SettingsFile::open(&file, options)?;
        let before = settings.text()?;
        let entry = self.host.entry(self.name.as_str(), launch);
        let (content, replaced) = match self.edit(&settings, &entry, on_conflict)? {
            Content::Changed { text, replaced } => (text, replaced),
            Content::Unchanged => return Ok(Installed::AlreadyPresent { file }),
        };
        let report = settings.write(&content, &folders.describe(&self.description()))?;
        folders.keep();
        let diff = display::show_installation(self.host.format, self.path(), replaced.as_ref(), &entry);
        let mut change = Change::new(file, diff, report);
        if self.host.format.uses_extensions(before) {
            change.warnings.push(EXTENDED_JSON.into());
        }
        Ok(Installed::Written(Box::new(change)))
    }

    fn edit(
        &self,
        settings: &SettingsFile,
        entry: &Value,
        on_conflict: OnConflict,
    ) -> Result<Content, Error> {
        let (format, path, text) = (self.host.format, self.path(), settings.text()?);
        let refuse = |error| settings.unsafe_edit(error);
        let found = format.find(text, path).map_err(refuse)?;
        let text = match &found {
            None => format.insert(text, path, entry),
            Some(found) if found == entry => return Ok(Content::Unchanged),
            Some(_) if on_conflict == OnConflict::Refuse => {
                return Err(Error::DifferentEntry { file: self.file()?, name: self.name.to_string() });
            }
            Some(_) => format.remove(text, path).and_then(|text| format.insert(&text, path, entry)),
        };
        Ok(Content::Changed { text: text.map_err(refuse)?, replaced: found })
    }

    /// The journal's description of an installation, by which a removal recognizes it.
    pub(crate) fn description(&self) -> String {
        let scope = match self.scope {
            Scope::User => "user",
            Scope::Project(_) => "project",
        };
        format!("mcp install: {} settings of {}, server {}", scope, self.host.id, self.name)
    }
}

impl Change {
    pub(crate) fn new(
        file: PathBuf,
        diff: Result<String, crate::format::FormatError>,
        report: Report,
    ) -> Self {
        let mut warnings = Vec::new();
        let diff = diff.map_err(|error| {
            warnings.push(format!("the file was changed, but the entry cannot be shown: {error}"));
        });
        Self { file, diff: diff.ok(), warnings, report }
    }
}
