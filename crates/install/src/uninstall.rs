//! Removing an entry from a settings file.

use std::path::{Path, PathBuf};

use serde_json::Value;
use slipstitch::core::report::Report;

use crate::display;
use crate::error::Error;
use crate::folders;
use crate::install::{Change, OnConflict};
use crate::launch::starts_slipstitch;
use crate::settings_file::{Options, SettingsFile, exists};
use crate::target::Target;

/// The outcome of a removal.
#[derive(Debug)]
pub enum Uninstalled {
    /// The file was changed.
    Removed {
        /// What changed.
        change: Box<Change>,
        /// Whether an entry for another program, which the installation had replaced, is back.
        restored: bool,
    },
    /// There was no such entry.
    NotInstalled {
        /// The settings file.
        file: PathBuf,
    },
}

impl Target {
    /// Removes the entry. A file that is unchanged since [`Target::install`] is restored byte for byte, or deleted if it
    /// did not exist before. From any other file, only the entry is removed.
    pub fn uninstall(&self, on_conflict: OnConflict, options: &Options) -> Result<Uninstalled, Error> {
        let file = self.file()?;
        let Some((removed, mut report)) = self.remove_entry(&file, on_conflict, options)? else {
            return Ok(Uninstalled::NotInstalled { file });
        };
        // Undoing a forced installation may bring back an entry from an installation before it.
        let mut remaining = self.current_entry(&file, options)?;
        while remaining.as_ref().is_some_and(starts_slipstitch) {
            let Some((_, next)) = self.remove_entry(&file, on_conflict, options)? else { break };
            report = next;
            remaining = self.current_entry(&file, options)?;
        }
        let diff = display::show_removal(self.host.format, self.path(), &removed, remaining.as_ref());
        let change = Box::new(Change::new(file, diff, report));
        Ok(Uninstalled::Removed { change, restored: remaining.is_some() })
    }

    /// Removes the entry that is in the file now, if there is one.
    fn remove_entry(
        &self,
        file: &Path,
        on_conflict: OnConflict,
        options: &Options,
    ) -> Result<Option<(Value, Report)>, Error> {
        if !exists(file)? {
            return Ok(None);
        }
        let settings = SettingsFile::open(file, options)?;
        let Some(entry) = self.find_entry(&settings)? else { return Ok(None) };
        if on_conflict == OnConflict::Refuse && !starts_slipstitch(&entry) {
            return Err(Error::ForeignEntry { file: file.into(), name: self.name.to_string() });
        }
        let report = match settings.last_install(&self.description()) {
            Some(install) => {
                let report = settings.undo(install.change)?;
                if !exists(file)? {
                    folders::remove_empty(file, install.folders);
                }
                report
            }
            None => {
                let content = self.host.format.remove(settings.text()?, self.path());
                let content = content.map_err(|error| settings.unsafe_edit(error))?;
                settings.write(&content, "mcp uninstall")?
            }
        };
        Ok(Some((entry, report)))
    }

    fn current_entry(&self, file: &Path, options: &Options) -> Result<Option<Value>, Error> {
        if exists(file)? { self.find_entry(&SettingsFile::open(file, options)?) } else { Ok(None) }
    }

    fn find_entry(&self, settings: &SettingsFile) -> Result<Option<Value>, Error> {
        let found = self.host.format.find(settings.text()?, self.path());
        found.map_err(|error| settings.unsafe_edit(error))
    }
}
