//! A workspace wrapper that keeps editor buffers in sync.

use slipstitch_core::cancel::CancelToken;
use slipstitch_core::change::{FileChange, PathChange, Restore};
use slipstitch_core::path::{FilePath, RootName};
use slipstitch_core::ports::workspace::{
    FolderEntry, InterruptedChange, OpenResult, ReadResult, Staged, Workspace, WorkspaceError, Written,
};

use crate::emacs::{Effects, Emacs, Files, Survey, UnsavedChanges};
use crate::locations::Server;

/// A workspace that refuses changes to files with unsaved changes in an editor, reloads the buffers of the files that it
/// changed, and renames those of the files that it moved.
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

    /// The editor whose buffers are kept in sync.
    pub fn emacs(&self) -> Option<&Emacs> {
        self.emacs.as_ref()
    }

    /// The wrapped workspace.
    pub fn files(&self) -> &W {
        &self.files
    }

    /// Refuses a change of files with unsaved changes in an editor; otherwise returns what is known about the buffers.
    fn refuse_unsaved(&self, changes: &[FileChange], cancel: &CancelToken) -> Result<Survey, WorkspaceError> {
        let Some(emacs) = &self.emacs else { return Ok(Survey::default()) };
        let paths: Vec<&FilePath> = changes.iter().flat_map(touched_paths).collect();
        let mut survey = emacs.survey(&self.absolute_names(&paths), &shown_names(&paths), cancel);
        match survey.unsaved.take().and_then(|unsaved| Some((*paths.get(unsaved.file)?, unsaved))) {
            Some((path, UnsavedChanges { editor, evidence, .. })) => {
                Err(WorkspaceError::Unsaved { path: path.clone(), editor, evidence })
            }
            None => Ok(survey),
        }
    }

    /// Wraps a staged change so that publishing it updates the buffers.
    fn follow_after<'a>(
        &'a self,
        staged: Box<dyn Staged + 'a>,
        changes: &[FileChange],
        survey: Survey,
    ) -> Box<dyn Staged + 'a> {
        let Some(emacs) = &self.emacs else { return staged };
        Box::new(StagedSync {
            staged,
            emacs,
            effects: self.effects(changes),
            has_servers: survey.has_servers,
            silent: survey.silent,
            unasked: survey.unasked,
            warnings: survey.warnings,
        })
    }

    fn effects(&self, changes: &[FileChange]) -> Effects {
        let (mut from, mut remaining, mut kept, mut deleted) = (vec![], vec![], vec![], vec![]);
        for change in changes {
            match &change.path_change {
                PathChange::Keep => kept.push(&change.path),
                PathChange::Delete => deleted.push(&change.path),
                PathChange::Move(to) => {
                    from.push(&change.path);
                    remaining.push(to);
                }
            }
        }
        remaining.extend(kept);
        // Another file of the same change can take a name that becomes free.
        deleted.retain(|path| !remaining.contains(path));
        Effects {
            remaining: self.files_of(&remaining),
            moved: self.files_of(&from),
            deleted: self.files_of(&deleted),
        }
    }

    fn files_of(&self, paths: &[&FilePath]) -> Files {
        Files { names: self.absolute_names(paths), shown: shown_names(paths) }
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

fn shown_names(paths: &[&FilePath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

/// The paths that a change creates, changes or removes.
fn touched_paths(change: &FileChange) -> impl Iterator<Item = &FilePath> {
    let target = match &change.path_change {
        PathChange::Move(to) => Some(to),
        PathChange::Keep | PathChange::Delete => None,
    };
    std::iter::once(&change.path).chain(target)
}

impl<W: Workspace> Workspace for Synced<W> {
    fn root_names(&self) -> &[RootName] {
        self.files.root_names()
    }

    fn read(&self, path: &FilePath) -> Result<ReadResult, WorkspaceError> {
        self.files.read(path)
    }

    fn open(&self, path: &FilePath) -> Result<OpenResult, WorkspaceError> {
        self.files.open(path)
    }

    fn list(&self, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
        self.files.list(folder)
    }

    fn check(&self, changes: &[FileChange]) -> Result<Vec<String>, WorkspaceError> {
        let mut warnings = self.refuse_unsaved(changes, &CancelToken::default())?.warnings;
        warnings.extend(self.files.check(changes)?);
        Ok(warnings)
    }

    fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        self.stage_unless_cancelled(changes, &CancelToken::default())
    }

    fn stage_unless_cancelled<'a>(
        &'a self,
        changes: &[FileChange],
        cancel: &CancelToken,
    ) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        // Before the files are locked, so that no other process waits for the editor.
        let survey = self.refuse_unsaved(changes, cancel)?;
        Ok(self.follow_after(self.files.stage_unless_cancelled(changes, cancel)?, changes, survey))
    }

    fn stage_after_recovery<'a>(
        &'a self,
        changes: &[FileChange],
    ) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        let survey = self.refuse_unsaved(changes, &CancelToken::default())?;
        Ok(self.follow_after(self.files.stage_after_recovery(changes)?, changes, survey))
    }

    fn reopen<'a>(&'a self, intent: &str) -> Result<Option<Box<dyn InterruptedChange + 'a>>, WorkspaceError> {
        self.files.reopen(intent)
    }
}

/// A staged change, and what it does to files whose buffers are updated after it.
struct StagedSync<'a> {
    staged: Box<dyn Staged + 'a>,
    emacs: &'a Emacs,
    effects: Effects,
    has_servers: bool,
    /// The servers that did not answer before the change.
    silent: Vec<Server>,
    /// The processes that the warnings count as impossible to ask, because nothing shows whether they have a file open.
    unasked: Vec<i32>,
    warnings: Vec<String>,
}

impl Staged for StagedSync<'_> {
    fn intent(&self) -> Option<String> {
        self.staged.intent()
    }

    fn restores(&self) -> Vec<Restore> {
        self.staged.restores()
    }

    fn begin_flush(&mut self) {
        self.staged.begin_flush();
    }

    fn publish(&mut self) -> Result<Vec<Written>, WorkspaceError> {
        let written = self.staged.publish()?;
        self.emacs.mark_reported(&self.unasked);
        if self.has_servers {
            self.warnings.extend(self.emacs.follow(&self.effects, &self.silent));
        }
        Ok(written)
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.staged.warnings();
        warnings.extend(self.warnings.iter().cloned());
        warnings
    }

    fn mark_unsettled(&mut self) {
        self.staged.mark_unsettled();
    }
}
