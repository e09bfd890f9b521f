//! A workspace wrapper that keeps editor buffers in sync.

use slipstitch_core::change::{FileChange, PathChange, Restore};
use slipstitch_core::path::{FilePath, RootName};
use slipstitch_core::ports::workspace::{
    FolderEntry, InterruptedChange, ReadResult, Staged, Workspace, WorkspaceError, Written,
};

use crate::emacs::Emacs;

/// A workspace that refuses changes to files with unsaved changes in an editor, and reloads the buffers of the files that
/// it changed.
#[derive(Debug)]
pub struct Synced<W> {
    files: W,
    emacs: Option<Emacs>,
}

impl<W: Workspace> Synced<W> {
    /// Wraps `files`; without `emacs` the wrapper does nothing.
    pub fn new(files: W, emacs: Option<Emacs>) -> Self {
        Self { files, emacs }
    }

    /// The wrapped workspace.
    pub fn files(&self) -> &W {
        &self.files
    }

    fn refuse_unsaved(&self, changes: &[FileChange]) -> Result<(), WorkspaceError> {
        let Some(emacs) = &self.emacs else { return Ok(()) };
        let paths: Vec<&FilePath> = changes.iter().flat_map(touched_paths).collect();
        match emacs.find_unsaved(&self.absolute_names(&paths)).and_then(|index| paths.get(index)) {
            Some(path) => Err(WorkspaceError::Unsaved { path: (*path).clone(), editor: Emacs::NAME }),
            None => Ok(()),
        }
    }

    /// Wraps a staged change so that publishing it reloads the buffers.
    fn reload_after<'a>(
        &'a self,
        staged: Box<dyn Staged + 'a>,
        changes: &[FileChange],
    ) -> Box<dyn Staged + 'a> {
        let Some(emacs) = &self.emacs else { return staged };
        let paths: Vec<&FilePath> = changes.iter().filter_map(remaining_path).collect();
        Box::new(StagedSync { staged, emacs, names: self.absolute_names(&paths) })
    }

    fn absolute_names(&self, paths: &[&FilePath]) -> Vec<String> {
        let root = self.files.root_names().first().map_or("", |root| root.name.trim_end_matches('/'));
        let absolute = |path: &&FilePath| match path.is_absolute() {
            true => path.to_string(),
            false => format!("{root}/{path}"),
        };
        paths.iter().map(absolute).collect()
    }
}

/// The paths that a change creates, changes or removes.
fn touched_paths(change: &FileChange) -> impl Iterator<Item = &FilePath> {
    let target = match &change.path_change {
        PathChange::Move(to) => Some(to),
        PathChange::Keep | PathChange::Delete => None,
    };
    std::iter::once(&change.path).chain(target)
}

/// The path of the file after a change; `None` if it is deleted.
fn remaining_path(change: &FileChange) -> Option<&FilePath> {
    match &change.path_change {
        PathChange::Keep => Some(&change.path),
        PathChange::Move(to) => Some(to),
        PathChange::Delete => None,
    }
}

impl<W: Workspace> Workspace for Synced<W> {
    fn root_names(&self) -> &[RootName] {
        self.files.root_names()
    }

    fn read(&self, path: &FilePath) -> Result<ReadResult, WorkspaceError> {
        self.files.read(path)
    }

    fn list(&self, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
        self.files.list(folder)
    }

    fn check(&self, changes: &[FileChange]) -> Result<(), WorkspaceError> {
        self.refuse_unsaved(changes)?;
        self.files.check(changes)
    }

    fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        // Before the files are locked, so that no other process waits for the editor.
        self.refuse_unsaved(changes)?;
        Ok(self.reload_after(self.files.stage(changes)?, changes))
    }

    fn stage_after_recovery<'a>(
        &'a self,
        changes: &[FileChange],
    ) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        self.refuse_unsaved(changes)?;
        Ok(self.reload_after(self.files.stage_after_recovery(changes)?, changes))
    }

    fn reopen<'a>(&'a self, intent: &str) -> Result<Option<Box<dyn InterruptedChange + 'a>>, WorkspaceError> {
        self.files.reopen(intent)
    }
}

/// A staged change, and the files whose buffers are reloaded after it.
struct StagedSync<'a> {
    staged: Box<dyn Staged + 'a>,
    emacs: &'a Emacs,
    names: Vec<String>,
}

impl Staged for StagedSync<'_> {
    fn intent(&self) -> Option<String> {
        self.staged.intent()
    }

    fn restores(&self) -> Vec<Restore> {
        self.staged.restores()
    }

    fn publish(&mut self) -> Result<Vec<Written>, WorkspaceError> {
        let written = self.staged.publish()?;
        self.emacs.revert(&self.names);
        Ok(written)
    }

    fn mark_unsettled(&mut self) {
        self.staged.mark_unsettled();
    }
}
