//! Exchanges a file with its new version, and makes sure that nothing but the expected file was displaced.
//!
//! No system call exchanges two names on the condition that one still refers to a given file. A program that saves
//! at that moment, by renaming a new file to the name, can therefore be displaced. Three rules keep that short and lose
//! nothing:
//!
//! - The name is looked at right before the exchange, so that only a save between two system calls gets through.
//! - The inode of the displaced file is compared first, before anything is read. If it is another file, it goes back
//!   at once.
//! - A file goes back only to a name that still has our new version. If the other program has saved again, its newer
//!   version stays, and the displaced one is kept next to it.
//!
//! After such a save the edit is not repeated: the other program may have read the new version while it was visible,
//! and may save it, so that a second attempt would apply the edit twice.

use std::io;

use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::snapshot::FileId;
use slipstitch_core::text::ContentHash;

use super::error::{io_error, refused};
use super::fingerprint::{Displaced, Fingerprint, InodeCheck, file_id_at, hash_at};
use super::inodes::are_inodes_stable;
use super::lookup::Location;
use super::staged::DisplacedCheck;
use super::swap::{SwapMethod, swap};
use super::temp::TempFile;

/// How many times we yield to a save that arrives while a file is being put back.
const MAX_ATTEMPTS: usize = 8;

/// A file, and the new version that replaces it.
pub(super) struct Replacement<'a> {
    pub(super) path: &'a FilePath,
    pub(super) action: &'static str,
    pub(super) location: &'a Location,
    /// The new version before the exchange, the old one after it.
    pub(super) temp: &'a mut TempFile,
    pub(super) spare: &'a mut TempFile,
    /// The new version's identity and content.
    pub(super) id: FileId,
    pub(super) after: ContentHash,
}

impl Replacement<'_> {
    /// Exchanges the two, if the file is still `original`. On failure nothing has changed.
    pub(super) fn publish(
        &mut self,
        original: &Fingerprint,
        displaced_check: DisplacedCheck,
    ) -> Result<SwapMethod, WorkspaceError> {
        let mut inodes = InodeCheck::On;
        loop {
            let changed = |found| match inodes {
                InodeCheck::On => WorkspaceError::Conflict { path: self.path.clone(), found },
                // The new version was visible in the first round, so whoever saved since may have read it.
                InodeCheck::Off => saved_meanwhile(self.path, Vec::new()),
            };
            let seen = match displaced_check {
                DisplacedCheck::On => original.look(self.path, self.location).map_err(changed)?,
                #[cfg(feature = "rig")]
                DisplacedCheck::Late | DisplacedCheck::Off => original.sighting(),
            };
            let method = self.swap().map_err(|error| {
                name_taken(self.path, self.action, self.spare)
                    .unwrap_or_else(|| io_error(self.path, self.action, error))
            })?;
            match original.verify_displaced(self.path, self.temp.location(), &seen, inodes) {
                Displaced::Original => return Ok(method),
                Displaced::OtherFile => {
                    self.put_back()?;
                    // Layered file systems give a file a new inode when it is first renamed.
                    let is_same = hash_at(self.path, self.location) == Some(original.hash());
                    if !is_same || inodes == InodeCheck::Off {
                        return Err(saved_meanwhile(self.path, Vec::new()));
                    }
                    inodes = InodeCheck::Off;
                }
                Displaced::Modified(_) => {
                    self.put_back()?;
                    return Err(saved_meanwhile(self.path, Vec::new()));
                }
            }
        }
    }

    fn swap(&mut self) -> io::Result<SwapMethod> {
        swap(self.temp.location(), self.location, self.spare)
    }

    /// Puts the displaced file back, unless the name has a newer version of someone else's.
    pub(super) fn put_back(&mut self) -> Result<(), WorkspaceError> {
        for _ in 0..MAX_ATTEMPTS {
            if !self.is_new_version(self.location) {
                return Err(self.keep_older_version());
            }
            self.swap()
                .map_err(|error| self.not_put_back("the original could not be restored and", &error))?;
            if self.is_new_version(self.temp.location()) {
                return keep_if_modified(self.path, self.temp, self.after);
            }
            // A save came in between and is at the temporary name now. It is newer than what took its place.
            self.swap().map_err(|error| self.not_put_back("a newer version", &error))?;
        }
        Err(self.keep_older_version())
    }

    /// Keeps the displaced file, which could not be put back.
    fn not_put_back(&mut self, what: &str, error: &io::Error) -> WorkspaceError {
        let name = self.temp.keep();
        if !self.spare.is_kept() {
            let reason = format!("{what} is saved next to it as `{name}`: {error}");
            return refused(self.path, self.action, reason);
        }
        // Another program saved to the name while it was free for a moment. It may have read the new version before that.
        let mut kept = vec![name];
        match hash_at(self.path, self.spare.location()) == Some(self.after) {
            true => self.spare.discard(),
            false => kept.push(self.spare.name()),
        }
        saved_meanwhile(self.path, kept)
    }

    fn is_new_version(&self, location: &Location) -> bool {
        file_id_at(location) == Some(self.id)
            || (!are_inodes_stable(location) && hash_at(self.path, location) == Some(self.after))
    }

    /// Keeps the displaced file next to one that was saved later.
    fn keep_older_version(&mut self) -> WorkspaceError {
        let kept = self.temp.keep();
        saved_meanwhile(self.path, vec![kept])
    }
}

fn saved_meanwhile(path: &FilePath, kept: Vec<String>) -> WorkspaceError {
    WorkspaceError::SavedMeanwhile { path: path.clone(), kept }
}

/// Keeps new content under its temporary name if another program wrote to it while it was visible: it is the
/// only copy of what they wrote.
pub(super) fn keep_if_modified(
    path: &FilePath,
    temp: &mut TempFile,
    after: ContentHash,
) -> Result<(), WorkspaceError> {
    if hash_at(path, temp.location()) == Some(after) {
        return Ok(());
    }
    let name = temp.keep();
    Err(saved_meanwhile(path, vec![name]))
}

/// The error if another program created a file while the old one was moved aside. Theirs stays, and the old
/// one is kept under its spare name.
fn name_taken(path: &FilePath, action: &'static str, spare: &TempFile) -> Option<WorkspaceError> {
    let name = spare.is_kept().then(|| spare.name())?;
    let reason = format!(
        "another program created a file with that name while the old one was moved aside; the old content is \
         saved next to it as `{name}`"
    );
    Some(refused(path, action, reason))
}
