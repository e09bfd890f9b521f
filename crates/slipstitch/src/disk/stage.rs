//! Prepares changes out of sight: takes locks, checks the files, writes temporary files.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipstitch_core::cancel::CancelToken;
use slipstitch_core::change::{Base, FileChange, PathChange, Restore};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{WorkspaceError, Written};
use slipstitch_core::text::ContentHash;
use slipstitch_platform::files::is_writable;

use super::cleanup::CleanupList;
use super::emptied_folders::EmptiedFolders;
use super::error::{io_error, refused};
use super::flush::Flushing;
use super::folder_attributes::{ParentReader, RecordedFolders};
use super::folders::CreatedFolders;
use super::lock::{FolderIds, LockKey, StaleMarks};
use super::lookup::{self, Found, FoundFile, FoundName, Lookup, OpenFolders};
use super::roots::Roots;
use super::staged::{DiskStaged, StepKind};
use super::step_builder::StepBuilder;
use super::target::{Target, action};
use super::temp::TempFactory;
use super::{DiskWorkspace, HardLinks, attributes};

/// How often staging starts again because folders moved while it waited for the locks.
const MAX_ATTEMPTS: usize = 8;

pub(super) fn stage<'a>(
    disk: &'a DiskWorkspace,
    changes: &[FileChange],
    stale_marks: StaleMarks,
    cancel: &CancelToken,
) -> Result<DiskStaged<'a>, WorkspaceError> {
    let roots = &disk.roots;
    let recorded = RecordedFolders::of(changes);
    let mut folder_ids = FolderIds::default();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let mut cleanup = disk.cleanup.new_list();
        let mut folders = CreatedFolders::default();
        let mut new = NewNames { roots, recorded: &recorded, folders: &mut folders, cleanup: &mut cleanup };
        let names: Vec<Target<FoundName>> = look_up_targets(changes, &mut new)?;
        let keys = lock_keys(changes, &names, &mut folder_ids)?;
        let locks = disk.locks.acquire(&keys, stale_marks, cancel)?;
        // Folders may have moved while this waited for the locks. Only what is seen under the locks counts,
        // and only if it is what was locked.
        let targets: Vec<Target> = look_up_targets(changes, &mut new)?;
        if lock_keys(changes, &targets, &mut folder_ids)? == keys {
            // It keeps new folders open. Windows cannot remove them then, if one of the files cannot be staged.
            drop(names);
            let mut staged = DiskStaged {
                steps: Vec::new(),
                written: Vec::new(),
                left: Vec::new(),
                folders,
                emptied_folders: EmptiedFolders::find(roots, emptied_folders(changes))?,
                temps: TempFactory::new(cleanup, disk.named_temps),
                flushing: Flushing::new(disk.fsync),
                roots,
                displaced_check: disk.displaced_check,
                fsync: disk.fsync,
                folder_ids,
                locks,
            };
            let mut targets = targets.into_iter();
            let mut parents = ParentReader::default();
            for change in changes {
                stage_file(disk, change, changes, &mut targets, &mut parents, &mut staged)?;
            }
            return Ok(staged);
        }
        if let (MAX_ATTEMPTS.., Some(path)) = (attempts, keys.values().next()) {
            return Err(refused(path, "lock", "its folders keep moving"));
        }
    }
}

/// Checks whether changes could be staged, without locks and without touching anything.
pub(super) fn check(disk: &DiskWorkspace, changes: &[FileChange]) -> Result<(), WorkspaceError> {
    let recorded = RecordedFolders::of(changes);
    for change in changes {
        for path in paths(change) {
            let (folder, target) = match lookup::look_up(&disk.roots, path, action(change))? {
                Lookup::File(found) => (Arc::clone(&found.location.dir), Some(Target::File(found))),
                Lookup::Missing(missing) => {
                    recorded.check(&disk.roots, &missing)?;
                    (missing.dir, None)
                }
            };
            if let (Base::Absent, Some(attributes)) = (change.base, &change.restore.attributes) {
                attributes::check_restorable(path, attributes)?;
            }
            let source = match target.filter(|_| path == &change.path && change.base != Base::Absent) {
                Some(target) => Some(expect_editable(change, target, disk.hard_links)?),
                None => None,
            };
            // A writable file can be written in place, so its folder need not be writable.
            let can_write_in_place = source.is_some() && change.path_change == PathChange::Keep;
            if !can_write_in_place && !is_writable(&folder, ".".as_ref()) {
                return Err(WorkspaceError::Denied { path: path.clone(), action: action(change) });
            }
        }
    }
    Ok(())
}

/// The paths of a change: the file's own, and the new one if it moves.
fn paths(change: &FileChange) -> impl Iterator<Item = &FilePath> {
    let target = match &change.path_change {
        PathChange::Move(to) => Some(to),
        PathChange::Keep | PathChange::Delete => None,
    };
    std::iter::once(&change.path).chain(target)
}

/// What new files need: their folders, created as they were recorded.
struct NewNames<'a, 'b> {
    roots: &'a Roots,
    recorded: &'a RecordedFolders,
    folders: &'a mut CreatedFolders,
    cleanup: &'a mut CleanupList<'b>,
}

/// Looks up every path of every change and creates the folders that new files need.
fn look_up_targets<F: Found>(
    changes: &[FileChange],
    new: &mut NewNames<'_, '_>,
) -> Result<Vec<Target<F>>, WorkspaceError> {
    let NewNames { roots, recorded, folders, cleanup } = new;
    let mut targets = Vec::new();
    let mut opened = OpenFolders::default();
    for change in changes {
        for path in paths(change) {
            let must_exist = path == &change.path && change.base != Base::Absent;
            targets.push(match lookup::look_up_from(roots, path, action(change), &mut opened)? {
                Lookup::File(found) => Target::File(found),
                Lookup::Missing(_) if must_exist => {
                    return Err(WorkspaceError::Conflict { path: path.clone(), found: None });
                }
                Lookup::Missing(missing) => {
                    Target::Free(folders.create(path, missing, (roots, recorded), cleanup)?)
                }
            });
        }
    }
    Ok(targets)
}

/// The locks that the targets need. Two paths with the same lock are one file under two names. One path may occur twice:
/// a file leaves it, and another one takes it.
fn lock_keys<'a, F: Found>(
    changes: &'a [FileChange],
    targets: &[Target<F>],
    folders: &mut FolderIds,
) -> Result<BTreeMap<LockKey, &'a FilePath>, WorkspaceError> {
    let mut keys = BTreeMap::new();
    for (path, target) in changes.iter().flat_map(paths).zip(targets) {
        // Another hard link of the file may be edited at the same time.
        let shared = match target {
            Target::File(found) => found.shared_id(),
            Target::Free(_) => None,
        };
        let inode_key = shared.map(|id| LockKey::for_inode(id.device, id.inode));
        let key = folders.lock_key(target.location()).map_err(|error| io_error(path, "lock", error))?;
        for key in inode_key.into_iter().chain([key]) {
            if let Some(other) = keys.insert(key, path)
                && other != path
            {
                let reason = format!("it is the same file as `{other}`, which is also changed");
                return Err(refused(path, "change", reason));
            }
        }
    }
    Ok(keys)
}

/// The folders that the changes remove if they are empty afterwards, outer ones before inner ones.
fn emptied_folders(changes: &[FileChange]) -> Vec<FilePath> {
    let mut folders: Vec<FilePath> =
        changes.iter().flat_map(|change| &change.restore.folders).cloned().collect();
    folders.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    folders.dedup();
    folders
}

/// The content of the file that leaves a path in the same set of changes.
fn leaving_content(changes: &[FileChange], path: &FilePath) -> Option<ContentHash> {
    changes.iter().filter(|change| change.vacates(path)).find_map(|change| match change.base {
        Base::Content(hash) => Some(hash),
        Base::Absent => None,
    })
}

/// Whether a file takes the path that `change` leaves, in the same set of changes.
fn is_taken(changes: &[FileChange], change: &FileChange) -> bool {
    let leads_there = |other: &FileChange| other.path_after() == Some(&change.path);
    change.vacates(&change.path) && changes.iter().any(leads_there)
}

/// Adds the steps for one file. Where one file leaves a path and another takes it, a single step replaces one with the
/// other, so that the path always leads to a file.
fn stage_file(
    disk: &DiskWorkspace,
    change: &FileChange,
    changes: &[FileChange],
    targets: &mut impl Iterator<Item = Target>,
    parents: &mut ParentReader,
    staged: &mut DiskStaged<'_>,
) -> Result<(), WorkspaceError> {
    let mut next_target =
        || targets.next().ok_or_else(|| refused(&change.path, action(change), "it was not looked up"));
    let target = next_target()?;
    let mut builder = StepBuilder {
        disk,
        change,
        file_index: staged.written.len(),
        temps: &mut staged.temps,
        flushing: &mut staged.flushing,
        emptied_folders: &staged.emptied_folders,
    };
    let mut left = Restore::default();
    let write_mode = match (change.base, &change.path_change) {
        (Base::Absent, PathChange::Keep) => {
            staged.steps.push(builder.create(target, leaving_content(changes, &change.path))?);
            "create"
        }
        (Base::Absent, PathChange::Delete | PathChange::Move(_)) => {
            return Err(refused(&change.path, action(change), "there is no file"));
        }
        (Base::Content(hash), fate) => {
            let source = expect_editable(change, target, disk.hard_links)?;
            match fate {
                PathChange::Keep if change.is_empty() => {
                    builder.check_content(hash, &source)?;
                    "unchanged"
                }
                PathChange::Keep => {
                    let step = builder.replace(hash, source)?;
                    let in_place = matches!(step.kind, StepKind::InPlace { .. });
                    staged.steps.push(step);
                    if in_place { Written::IN_PLACE } else { "exchange" }
                }
                PathChange::Delete => {
                    builder.check_content(hash, &source)?;
                    left.attributes =
                        Some(attributes::read_attributes(&change.path, &source.file, &source.metadata)?);
                    left.parents = parents.read(&disk.roots, &source.location)?;
                    if !is_taken(changes, change) {
                        staged.steps.push(builder.remove(hash, &source)?);
                    }
                    "remove"
                }
                PathChange::Move(to) => {
                    left.parents = parents.read(&disk.roots, &source.location)?;
                    let step = match (next_target()?, leaving_content(changes, to)) {
                        (Target::File(leaving), Some(content)) => {
                            let temp = builder.write_temp(hash, &source, &leaving.location)?;
                            builder.publish_over(to, "move", (content, leaving), temp)?
                        }
                        (target, _) => {
                            let location = target.expect_free(to)?;
                            let temp = builder.write_temp(hash, &source, &location)?;
                            builder.publish_temp(to, "move", location, temp)?
                        }
                    };
                    staged.steps.push(step);
                    if !is_taken(changes, change) {
                        staged.steps.push(builder.remove(hash, &source)?);
                    }
                    "move"
                }
            }
        }
    };
    let path = change.path_after().unwrap_or(&change.path).clone();
    staged.written.push(Written { path, write_mode });
    staged.left.push(left);
    Ok(())
}

/// The file to change, if its hard links, permissions and symlinks allow the change.
fn expect_editable(
    change: &FileChange,
    target: Target,
    hard_links: HardLinks,
) -> Result<FoundFile, WorkspaceError> {
    let path = &change.path;
    let found = match target {
        Target::File(found) => found,
        Target::Free(_) => return Err(WorkspaceError::Conflict { path: path.clone(), found: None }),
    };
    let links = found.links();
    if links > 1 && hard_links == HardLinks::Refuse {
        let reason = format!(
            "the file has {links} names (hard links), and replacing it would separate them; the setting \
             `files.hard_links` controls this"
        );
        return Err(refused(path, action(change), reason));
    }
    if links > 1 && hard_links == HardLinks::WriteThrough && change.path_change != PathChange::Keep {
        let separated = match change.path_change {
            PathChange::Delete => "undoing the deletion could not link them again",
            _ => "a move would separate them",
        };
        let reason = format!("the file has {links} names (hard links), and {separated}");
        return Err(refused(path, action(change), reason));
    }
    // A rename would bypass the permissions of the file itself.
    if change.path_change != PathChange::Delete && !is_writable(&found.location.dir, &found.location.name) {
        return Err(WorkspaceError::Denied { path: path.clone(), action: "write" });
    }
    if found.via_symlink && change.path_change != PathChange::Keep {
        let reason = "it is a symlink; use the path of its target";
        return Err(refused(path, action(change), reason));
    }
    Ok(found)
}
