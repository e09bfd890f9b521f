//! Files whose open buffers are looked after.

use slipstitch_core::change::{Fate, FileChange};
use slipstitch_core::path::{FilePath, RootName};
use slipstitch_core::ports::workspace::{
    FolderEntry, InterruptedChange, ReadResult, Staged, Workspace, WorkspaceError, Written,
};

use crate::emacs::Emacs;

/// A workspace that refuses changes to files with unsaved changes in an editor, and has the editor read
/// the others again once they are changed.
#[derive(Debug)]
pub struct Synced<W> {
    files: W,
    emacs: Option<Emacs>,
}

impl<W: Workspace> Synced<W> {
    /// Puts `emacs` beside `files`; without it they are as they were.
    pub fn new(files: W, emacs: Option<Emacs>) -> Self {
        Self { files, emacs }
    }

    /// The files themselves.
    pub fn files(&self) -> &W {
        &self.files
    }

    fn refuse_unsaved(&self, changes: &[FileChange]) -> Result<(), WorkspaceError> {
        let Some(emacs) = &self.emacs else { return Ok(()) };
        let paths: Vec<&FilePath> = changes.iter().flat_map(touched).collect();
        match emacs.first_unsaved(&self.full_names(&paths)).and_then(|at| paths.get(at)) {
            Some(path) => Err(WorkspaceError::Unsaved { path: (*path).clone(), editor: Emacs::NAME }),
            None => Ok(()),
        }
    }

    /// A prepared change after which buffers are read again.
    fn synced<'a>(&'a self, staged: Box<dyn Staged + 'a>, changes: &[FileChange]) -> Box<dyn Staged + 'a> {
        let Some(emacs) = &self.emacs else { return staged };
        let paths: Vec<&FilePath> = changes.iter().filter_map(left).collect();
        Box::new(StagedSync { staged, emacs, names: self.full_names(&paths) })
    }

    fn full_names(&self, paths: &[&FilePath]) -> Vec<String> {
        let root = self.files.root_names().first().map_or("", |root| root.name.trim_end_matches('/'));
        let full = |path: &&FilePath| match path.is_absolute() {
            true => path.to_string(),
            false => format!("{root}/{path}"),
        };
        paths.iter().map(full).collect()
    }
}

/// The paths at which a change puts, alters or removes something.
fn touched(change: &FileChange) -> impl Iterator<Item = &FilePath> {
    let target = match &change.fate {
        Fate::Move(to) => Some(to),
        Fate::Keep | Fate::Delete => None,
    };
    std::iter::once(&change.path).chain(target)
}

/// The path at which a change leaves something to read.
fn left(change: &FileChange) -> Option<&FilePath> {
    match &change.fate {
        Fate::Keep => Some(&change.path),
        Fate::Move(to) => Some(to),
        Fate::Delete => None,
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
        // Asked before the files are locked: nobody else waits for the editor's answer.
        self.refuse_unsaved(changes)?;
        Ok(self.synced(self.files.stage(changes)?, changes))
    }

    fn stage_after_recovery<'a>(
        &'a self,
        changes: &[FileChange],
    ) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        self.refuse_unsaved(changes)?;
        Ok(self.synced(self.files.stage_after_recovery(changes)?, changes))
    }

    fn reopen<'a>(&'a self, intent: &str) -> Result<Option<Box<dyn InterruptedChange + 'a>>, WorkspaceError> {
        self.files.reopen(intent)
    }
}

/// A prepared change, and the files whose buffers are read again after it.
struct StagedSync<'a> {
    staged: Box<dyn Staged + 'a>,
    emacs: &'a Emacs,
    names: Vec<String>,
}

impl Staged for StagedSync<'_> {
    fn intent(&self) -> Option<String> {
        self.staged.intent()
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
