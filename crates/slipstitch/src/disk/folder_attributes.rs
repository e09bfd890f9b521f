//! The attributes of folders: recorded when a file leaves its path, and restored if they are missing when it returns.
//!
//! A file is reachable only by those who may enter its folders. If a closed folder came back open, its files would be open
//! to more people than before, whatever their own mode is.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use cap_std::fs::Dir;
use slipstitch_core::change::{Attributes, FileChange, FolderAttributes};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_platform::attributes::{is_access_list, is_without_access_list};
use slipstitch_platform::files::{self, AsHandle};
use slipstitch_platform::{info, problem};

use super::attributes;
use super::error::io_error;
use super::lookup::{Location, MissingFile, locate_folder};
use super::roots::Roots;

/// The owner's permission bits.
const OWNER: u32 = 0o700;

/// The attributes of a folder.
pub(super) fn read(path: &FilePath, dir: &Dir, name: &OsStr) -> Result<Attributes, WorkspaceError> {
    match files::open_folder_in(dir, name) {
        Ok(folder) => read_handle(path, &folder),
        // It can be entered but not listed.
        Err(error) if problem::is_no_access(&error) => {
            let found = files::stat(dir, name)
                .and_then(|found| found.ok_or_else(problem::missing))
                .map_err(|error| io_error(path, "read", error))?;
            // With an access list, the bits of the group say what the list allows at most: without it, they would open more.
            let kept = if is_without_access_list(dir, name) { 0o7777 } else { OWNER };
            let mode = found.mode & kept;
            Ok(Attributes { owner: found.owner, group: found.group, mode, extended: Vec::new() })
        }
        Err(error) => Err(io_error(path, "read", error)),
    }
}

/// The attributes of a folder that can be listed.
pub(super) fn read_open(path: &FilePath, dir: &Dir, name: &OsStr) -> Result<Attributes, WorkspaceError> {
    read_handle(path, &files::open_folder_in(dir, name).map_err(|error| io_error(path, "read", error))?)
}

fn read_handle(path: &FilePath, folder: &File) -> Result<Attributes, WorkspaceError> {
    let metadata = info::of(folder).map_err(|error| io_error(path, "read", error))?;
    attributes::read_attributes(path, folder, &metadata)
}

/// Gives a folder that was created for its owner only exactly these attributes, or refuses.
pub(super) fn set(
    path: &FilePath,
    dir: &Dir,
    name: &OsStr,
    wanted: &Attributes,
) -> Result<(), WorkspaceError> {
    let folder = files::open_folder_in(dir, name).map_err(|error| io_error(path, "create", error))?;
    attributes::set_attributes(path, "create", &folder, wanted).map(drop)
}

/// The folders on the way to files that leave their paths. Files of the same folder share them.
#[derive(Debug, Default)]
pub(super) struct ParentReader(BTreeMap<String, Attributes>);

impl ParentReader {
    /// The folders beneath a root that lead to a location, outer ones first. Empty if the system cannot say where the
    /// location is.
    pub(super) fn read(
        &mut self,
        roots: &Roots,
        location: &Location,
    ) -> Result<Vec<FolderAttributes>, WorkspaceError> {
        let Some(file) = roots.path_of(&*location.dir, location.name.as_ref()) else { return Ok(Vec::new()) };
        let Some(rooted) = roots.resolve(&file) else { return Ok(Vec::new()) };
        let depth = rooted.path.components().count().saturating_sub(1);
        let mut found = Vec::new();
        let mut rest = file.as_str();
        for _ in 0..depth {
            let Some((folder, _)) = rest.rsplit_once('/') else { break };
            rest = folder;
            let Ok(path) = FilePath::from_record(folder) else { break };
            let attributes = self.attributes(roots, &path)?;
            found.push(FolderAttributes { path, attributes });
        }
        found.reverse();
        Ok(found)
    }

    fn attributes(&mut self, roots: &Roots, path: &FilePath) -> Result<Attributes, WorkspaceError> {
        if let Some(known) = self.0.get(path.as_str()) {
            return Ok(known.clone());
        }
        let failed = |error: io::Error| io_error(path, "read", error);
        let Location { dir, name } =
            locate_folder(roots, path).map_err(failed)?.ok_or_else(|| failed(problem::missing()))?;
        let found = read(path, &dir, &name)?;
        self.0.insert(path.as_str().into(), found.clone());
        Ok(found)
    }
}

/// The attributes of folders that changes may have to create again.
#[derive(Debug)]
pub(super) struct RecordedFolders(BTreeMap<String, Attributes>);

impl RecordedFolders {
    pub(super) fn of(changes: &[FileChange]) -> Self {
        let mut folders: BTreeMap<String, Attributes> = BTreeMap::new();
        for FolderAttributes { path, attributes } in changes.iter().flat_map(|change| &change.restore.parents)
        {
            folders
                .entry(path.as_str().into())
                .and_modify(|known| *known = narrower(known, attributes))
                .or_insert_with(|| attributes.clone());
        }
        Self(folders)
    }

    /// The recorded attributes of a folder that does not exist.
    pub(super) fn find(
        &self,
        roots: &Roots,
        dir: impl AsHandle,
        name: impl Into<PathBuf>,
    ) -> Option<(FilePath, &Attributes)> {
        if self.0.is_empty() {
            return None;
        }
        let path = roots.path_of(dir, &name.into())?;
        let found = self.0.get(path.as_str())?;
        Some((path, found))
    }

    /// Refuses folders that this process cannot create as they were, as far as that is known beforehand.
    pub(super) fn check(&self, roots: &Roots, missing: &MissingFile) -> Result<(), WorkspaceError> {
        let mut inner = PathBuf::new();
        for name in &missing.folders {
            inner.push(name);
            if let Some((path, wanted)) = self.find(roots, &*missing.dir, &inner) {
                attributes::check_restorable(&path, wanted)?;
            }
        }
        Ok(())
    }
}

/// What both of two records of a folder allow. Where they differ in more than the permission bits, that is only known for
/// the owner.
fn narrower(a: &Attributes, b: &Attributes) -> Attributes {
    let is_same_but_for_mode = (a.owner, a.group, &a.extended) == (b.owner, b.group, &b.extended);
    let is_simple = is_same_but_for_mode && !a.extended.iter().any(|(name, _)| is_access_list(name));
    match () {
        () if a == b => a.clone(),
        () if is_simple => Attributes { mode: a.mode & b.mode, ..a.clone() },
        () => Attributes {
            mode: a.mode & b.mode & OWNER,
            extended: a.extended.iter().filter(|(name, _)| !is_access_list(name)).cloned().collect(),
            ..a.clone()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_differ_allow_what_both_allow() {
        let plain = |owner, mode| Attributes { owner, group: 1, mode, extended: Vec::new() };
        let listed = |value| Attributes {
            extended: vec![
                (b"system.posix_acl_access".to_vec(), vec![value]),
                (b"user.kept".to_vec(), vec![1]),
            ],
            ..plain(1, 0o770)
        };
        assert_eq!(narrower(&plain(1, 0o755), &plain(1, 0o755)), plain(1, 0o755));
        assert_eq!(narrower(&plain(1, 0o755), &plain(1, 0o770)), plain(1, 0o750));
        assert_eq!(narrower(&plain(1, 0o755), &plain(2, 0o755)), plain(1, 0o700));
        assert_eq!(narrower(&listed(1), &listed(1)), listed(1));
        let both = narrower(&listed(1), &listed(2));
        // Other systems have no attribute of that name.
        let kept = match is_access_list(b"system.posix_acl_access") {
            true => vec![(b"user.kept".to_vec(), vec![1])],
            false => listed(1).extended,
        };
        assert_eq!((both.mode, both.extended), (0o700, kept));
    }
}
