//! Removing a server, and what was installed with it, from a host's settings.

use std::path::PathBuf;

use serde_json::Value;
use slipstitch::core::report::Report;
use slipstitch::dialects::BUILTIN;

use crate::display;
use crate::error::Error;
use crate::folders;
use crate::format::{Format, FormatError, Place};
use crate::host::{EditApproval, Extras};
use crate::install::{Change, OnConflict};
use crate::launch::{Launch, starts_program, starts_slipstitch};
use crate::record::describe_removal;
use crate::settings_file::{Options, RecordedInstall, SettingsFile, exists, read};
use crate::target::Target;

/// Which entries a removal may take for ours.
#[derive(Debug, Clone)]
pub struct Removal {
    /// What to do about an entry that starts another program.
    pub on_conflict: OnConflict,
    /// A program that our entry may start besides Slipstitch and the one that the journal knows.
    pub program: Option<String>,
}

/// The outcome of a removal.
#[derive(Debug)]
pub enum Uninstalled {
    /// Files were changed.
    Removed {
        /// The change of each file.
        changes: Vec<Change>,
        /// Whether an entry for another program, which the installation had replaced, is back.
        restored: bool,
        /// The engine's report on the last of them. It contains no text of the file.
        report: Box<Report>,
    },
    /// There was no such entry.
    NotInstalled {
        /// The settings file.
        file: PathBuf,
    },
}

/// Values and where they are.
type Values = Vec<(Place, Value)>;

/// Our values in one file.
struct Ours {
    values: Values,
    installs: Vec<RecordedInstall>,
}

/// One settings file that may contain something of ours.
struct Candidate {
    file: PathBuf,
    format: Format,
    /// The place of the server, if it belongs in this file.
    server: Option<Place>,
}

impl Target {
    /// Whether one of the settings files has an entry with this name, whatever it starts.
    pub fn is_installed(&self) -> Result<bool, Error> {
        let settings = self.settings()?;
        let place = settings.place(self.name.as_str());
        for file in self.candidates()? {
            let text = read(&file)?;
            let text = std::str::from_utf8(&text).map_err(|error| Error::unsafe_edit(&file, error))?;
            let found = settings.format.find(text, &place);
            if found.map_err(|error| Error::unsafe_edit(&file, error))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What [`Target::uninstall`] would change. Nothing is written.
    pub fn plan_uninstall(&self, removal: &Removal, options: &Options) -> Result<Vec<Change>, Error> {
        let mut changes = Vec::new();
        let known = self.known_entry()?;
        for candidate in self.removal_candidates()? {
            if exists(&candidate.file)? {
                let settings = SettingsFile::open(&candidate.file, options)?;
                if let Some(ours) = self.find_ours(&candidate, &settings, removal)? {
                    let diff = display::show_removal(candidate.format, &ours.values, &[], Some(&known));
                    changes.push(Change::new(candidate.file, diff));
                }
            }
        }
        Ok(changes)
    }

    /// Removes the entry and what was installed with it. A file that is unchanged since [`Target::install`] is restored
    /// byte for byte, or deleted if it did not exist before. From any other file, only our values are removed.
    pub fn uninstall(&self, removal: &Removal, options: &Options) -> Result<Uninstalled, Error> {
        // Finds out whether a later file refuses before an earlier one is written.
        self.plan_uninstall(removal, options)?;
        let known = self.known_entry()?;
        let (mut changes, mut last, mut restored) = (Vec::new(), None, false);
        for candidate in self.removal_candidates()? {
            let Some((removed, mut report)) = self.remove_ours(&candidate, removal, options)? else {
                continue;
            };
            // Undoing a forced installation may bring back an entry from an installation before it.
            let mut remaining = candidate.current_server(options)?;
            while remaining.as_ref().is_some_and(starts_slipstitch) {
                let Some((_, next)) = self.remove_ours(&candidate, removal, options)? else { break };
                report = next;
                remaining = candidate.current_server(options)?;
            }
            restored |= remaining.is_some();
            let back: Values = candidate.server.clone().into_iter().zip(remaining).collect();
            let diff = display::show_removal(candidate.format, &removed, &back, Some(&known));
            changes.push(Change::new(candidate.file, diff));
            last = Some(Box::new(report));
        }
        match last {
            Some(report) => Ok(Uninstalled::Removed { changes, restored, report }),
            None => Ok(Uninstalled::NotInstalled { file: self.file()? }),
        }
    }

    fn removal_candidates(&self) -> Result<Vec<Candidate>, Error> {
        let settings = self.settings()?;
        let server = Some(settings.place(self.name.as_str()));
        let servers = self.candidates()?.into_iter().map(|file| Candidate {
            file,
            format: settings.format,
            server: server.clone(),
        });
        let permissions =
            self.permissions_file()?.map(|(file, format)| Candidate { file, format, server: None });
        Ok(servers.chain(permissions).collect())
    }

    /// Removes what is ours in a file now; `None` if nothing is.
    fn remove_ours(
        &self,
        candidate: &Candidate,
        removal: &Removal,
        options: &Options,
    ) -> Result<Option<(Values, Report)>, Error> {
        let file = &candidate.file;
        if !exists(file)? {
            return Ok(None);
        }
        let settings = SettingsFile::open(file, options)?;
        let Some(ours) = self.find_ours(candidate, &settings, removal)? else { return Ok(None) };
        let report = match ours.installs.first().filter(|install| install.is_current) {
            Some(install) => {
                let report = settings.undo(install.change)?;
                if !exists(file)? {
                    folders::remove_empty(file, install.record.folders);
                }
                report
            }
            None => {
                let content = without(candidate.format, settings.text()?, &ours);
                let content = content.map_err(|error| settings.unsafe_edit(error))?;
                settings.write(&content, &describe_removal(&self.label()))?.1
            }
        };
        Ok(Some((ours.values, report)))
    }

    /// The values in a file that an installation of this server added.
    fn find_ours(
        &self,
        candidate: &Candidate,
        settings: &SettingsFile,
        removal: &Removal,
    ) -> Result<Option<Ours>, Error> {
        let find = |place: &Place| {
            let found = candidate.format.find(settings.text()?, place);
            found.map_err(|error| settings.unsafe_edit(error))
        };
        let installs = settings.installs(&self.label());
        let mut values = Vec::new();
        if let Some(place) = &candidate.server
            && let Some(entry) = find(place)?
        {
            let programs = installs.iter().filter_map(|install| install.record.program.as_deref());
            let mut programs = programs.chain(removal.program.as_deref());
            let is_ours =
                starts_slipstitch(&entry) || programs.any(|program| starts_program(&entry, program));
            if !is_ours && removal.on_conflict == OnConflict::Refuse {
                let file = candidate.file.clone();
                return Err(Error::ForeignEntry { file, name: self.name.to_string() });
            }
            values.push((place.clone(), entry));
        }
        for place in self.extra_places(&installs) {
            let is_new = values.iter().all(|(known, _)| *known != place);
            match find(&place) {
                Ok(Some(value)) if is_new => values.push((place, value)),
                // Something of ours may be in a file that cannot be read any more.
                Err(Error::Unsafe { source, .. }) if source.is_unreadable() && !installs.is_empty() => {
                    return Err(settings.unsafe_edit(source));
                }
                // Where someone has put a value of another kind, nothing of ours is left.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(if values.is_empty() { None } else { Some(Ours { values, installs }) })
    }

    /// Where the file may have values of ours besides the server: those that the journal knows, and those that name the
    /// server.
    fn extra_places(&self, installs: &[RecordedInstall]) -> Vec<Place> {
        let recorded = installs.iter().flat_map(|install| install.record.added.clone());
        let name = self.name.as_str();
        let all = Extras { edits: EditApproval::Allow, ..Extras::default() };
        let tools = tool_names();
        let named = self.host.extras(&all).into_iter().flat_map(|extra| extra.additions(name, &tools));
        recorded.chain(named.map(|addition| addition.place)).collect()
    }
}

impl Target {
    /// An entry with every field that an installation can write. What it starts is left out.
    fn known_entry(&self) -> Result<Value, Error> {
        let all = Extras { edits: EditApproval::Allow, disable_builtin_edits: true, tools: tool_names() };
        let nothing = Launch::new("", [] as [&str; 0]);
        let extras = self.host.extras(&all);
        Ok(self.settings()?.server(self.name.as_str(), &nothing, &extras, &all.tools).value)
    }
}

impl Candidate {
    /// The server's entry, if the file has one.
    fn current_server(&self, options: &Options) -> Result<Option<Value>, Error> {
        let Some(place) = &self.server else { return Ok(None) };
        if !exists(&self.file)? {
            return Ok(None);
        }
        let settings = SettingsFile::open(&self.file, options)?;
        let found = self.format.find(settings.text()?, place);
        found.map_err(|error| settings.unsafe_edit(error))
    }
}

/// The names of all tools that a server can have.
fn tool_names() -> Vec<String> {
    let tools = BUILTIN.iter().flat_map(|dialect| dialect.tools);
    let mut names: Vec<String> = tools.map(|tool| tool.name.to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// The content without our values and without the mappings and lists that were created for them and are empty now.
fn without(format: Format, text: &str, ours: &Ours) -> Result<String, FormatError> {
    let mut text = text.to_owned();
    for (place, _) in &ours.values {
        text = format.remove(&text, place)?;
    }
    let mut created: Vec<&Place> = ours.installs.iter().flat_map(|install| &install.record.created).collect();
    created.sort_by_key(|place| std::cmp::Reverse(place.parents.len()));
    for place in created {
        text = format.remove_if_empty(&text, place).unwrap_or(text);
    }
    Ok(text)
}
