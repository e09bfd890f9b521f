//! Writing into a file instead of replacing it: where it has other names that must stay its names, where it
//! is a mount point, where nothing can be made beside it, or where a new file could not be given its owner.
//!
//! Readers can see such a write half done, so both contents are kept in the state folder first: a process that
//! dies half-way leaves enough to put the old one back.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use slipstitch_core::change::FileChange;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::text::ContentHash;

use super::error::{refusal, refused};
use super::note::Note;
use super::place::{Found, Place};
use super::temp::random_name;
use super::{Fsync, attributes, copy};

/// The folder of contents that are written in place.
#[derive(Debug)]
pub(super) struct Copies {
    pub(super) folder: PathBuf,
}

/// A write in place that is prepared.
#[derive(Debug)]
pub(super) struct InPlace {
    /// Open for reading and writing.
    file: File,
    copies: Pair,
    before: ContentHash,
    after: ContentHash,
    /// The first byte that changes.
    from: u64,
    /// The mode to give it, and the one it has.
    mode: (Option<u32>, u32),
    fsync: Fsync,
    place: Place,
    /// The length before.
    len: u64,
    /// Whether both contents stay, because someone may need them.
    keep: bool,
}

/// Both contents of a file.
#[derive(Debug)]
pub(super) struct Pair {
    old: PathBuf,
    new: PathBuf,
}

impl Copies {
    pub(super) fn open(folder: PathBuf) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(Self { folder })
    }

    /// The pair of that name.
    pub(super) fn pair(&self, name: &str) -> Pair {
        Pair { old: self.folder.join(format!("{name}.old")), new: self.folder.join(format!("{name}.new")) }
    }
}

impl Pair {
    pub(super) fn name(&self) -> String {
        self.old.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Writes one of the contents into `file`, from the first byte that differs on. `most` is how long the file may
    /// be: longer means that someone else has written to it.
    fn write(&self, which: &Path, file: &mut File, from: u64, most: u64, fsync: Fsync) -> io::Result<()> {
        let mut source = File::open(which)?;
        let len = source.metadata()?.len();
        source.seek(SeekFrom::Start(from))?;
        file.seek(SeekFrom::Start(from))?;
        io::copy(&mut source, file)?;
        // What someone else has added at the end is not ours to cut off.
        if file.metadata()?.len() > len && file.metadata()?.len() <= most {
            file.set_len(len)?;
        }
        if fsync == Fsync::On { file.sync_all() } else { Ok(()) }
    }

    /// Where the old content is, for people.
    pub(super) fn old_copy(&self) -> String {
        self.old.display().to_string()
    }

    /// Whether a file is half written: after a power cut any block may be of the one content or the other.
    pub(super) fn is_halfway(&self, mut file: &File) -> io::Result<bool> {
        let (old, new) = (std::fs::read(&self.old)?, std::fs::read(&self.new)?);
        let mut now = Vec::new();
        file.read_to_end(&mut now)?;
        let of_either = |(at, byte): (usize, &u8)| old.get(at) == Some(byte) || new.get(at) == Some(byte);
        let ends = old.len().min(new.len())..=old.len().max(new.len());
        Ok(ends.contains(&now.len()) && now.iter().enumerate().all(of_either))
    }

    /// Puts the old content back.
    pub(super) fn restore(&self, file: &mut File, fsync: Fsync) -> io::Result<()> {
        let most = std::fs::metadata(&self.old)?.len().max(std::fs::metadata(&self.new)?.len());
        self.write(&self.old, file, 0, most, fsync)
    }

    /// Removes both contents.
    pub(super) fn remove(&self) {
        let _ = std::fs::remove_file(&self.old);
        let _ = std::fs::remove_file(&self.new);
    }
}

impl Drop for InPlace {
    fn drop(&mut self) {
        if !self.keep {
            self.copies.remove();
        }
    }
}

impl InPlace {
    /// Keeps both contents and opens the file for writing.
    pub(super) fn prepare(
        change: &FileChange,
        before: ContentHash,
        source: &Found,
        mode: Option<u32>,
        copies: &Copies,
        note: &mut Note<'_>,
        fsync: Fsync,
    ) -> Result<Self, WorkspaceError> {
        let path = &change.path;
        let failed = |error: io::Error| refusal(path, "write", error);
        refuse_lost_bits(path, source)?;
        let file = open(&source.place, source).map_err(failed)?;
        let pair = copies.pair(&random_name());
        for copy in [&pair.old, &pair.new] {
            note.add(copy).map_err(failed)?;
        }
        let make = |copy: &Path| OpenOptions::new().write(true).create_new(true).mode(0o600).open(copy);
        let (old, new) = (make(&pair.old).map_err(failed)?, make(&pair.new).map_err(failed)?);
        let mut from = &source.file;
        from.rewind().map_err(failed)?;
        io::copy(&mut from, &mut &old).map_err(failed)?;
        from.rewind().map_err(failed)?;
        let read = copy::rewrite(path, from, &change.splices, &new)?;
        if read.hash != before || read.len != change.splices.base_len() {
            return Err(WorkspaceError::Conflict { path: path.clone(), found: Some(read.hash) });
        }
        for copy in [&old, &new] {
            if fsync == Fsync::On {
                copy.sync_all().map_err(failed)?;
            }
        }
        let from = change.splices.iter().next().map_or(0, |first| first.at.start() as u64);
        let mode = (mode, source.metadata.mode() & 0o7777);
        let (place, len) = (source.place.clone(), source.metadata.len());
        let after = change.after.unwrap_or(before);
        Ok(Self { file, copies: pair, before, after, from, mode, fsync, place, len, keep: false })
    }

    /// The name of the pair of contents, for whoever must settle the change.
    pub(super) fn copies(&self) -> String {
        self.copies.name()
    }

    /// Writes the new content. On failure the old one is back.
    pub(super) fn publish(&mut self, path: &FilePath) -> Result<(), WorkspaceError> {
        self.file.rewind().map_err(|error| refusal(path, "write", error))?;
        let now = copy::hash(path, &self.file)?;
        if now.hash != self.before {
            return Err(WorkspaceError::Conflict { path: path.clone(), found: Some(now.hash) });
        }
        let new = self.copies.new.clone();
        let most = self.len.max(std::fs::metadata(&new).map_or(0, |new| new.len()));
        let written = self.copies.write(&new, &mut self.file, self.from, most, self.fsync);
        let written = written.map_err(|error| refusal(path, "write", error)).and_then(|()| {
            let (wanted, had) = self.mode;
            attributes::give_mode(path, &self.file, wanted.unwrap_or(had))
        });
        match written {
            Ok(()) => self.expect_new(path),
            Err(error) => self.take_back(path).and(Err(error)),
        }
    }

    /// Looks whether the file is what it should be. If not, someone else has written to it at the same time; nothing
    /// can be taken back then without losing that, so the old content is kept for people.
    fn expect_new(&mut self, path: &FilePath) -> Result<(), WorkspaceError> {
        let rewound = self.file.rewind().map_err(|error| refusal(path, "write", error));
        match rewound.and_then(|()| copy::hash(path, &self.file)) {
            Ok(now) if now.hash == self.after => return Ok(()),
            Ok(_) => {}
            // What cannot be read is not known to be right.
            Err(error) => return self.take_back(path).and(Err(error)),
        }
        self.keep = true;
        let old = self.copies.old_copy();
        let reason = format!(
            "another program wrote to it while it was written in place; what it held before is in `{old}`"
        );
        Err(WorkspaceError::Torn { path: path.clone(), reason })
    }

    /// Writes the old content back.
    pub(super) fn take_back(&mut self, path: &FilePath) -> Result<(), WorkspaceError> {
        // By a new handle: one that has failed to reach the disk is not to be trusted with it.
        let put_back = open_writable(&self.place)
            .and_then(|mut file| self.copies.restore(&mut file, self.fsync).map(|()| file));
        match put_back {
            Ok(file) => attributes::give_mode(path, &file, self.mode.1),
            Err(error) => {
                self.keep = true;
                let old = self.copies.old_copy();
                let reason = format!("its old content could not be put back and is in `{old}`: {error}");
                Err(WorkspaceError::Torn { path: path.clone(), reason })
            }
        }
    }
}

/// Opens a file for writing, as long as it is the one that was looked at.
fn open(place: &Place, source: &Found) -> io::Result<File> {
    let file = open_writable(place)?;
    let (now, then) = (file.metadata()?, &source.metadata);
    if (now.dev(), now.ino()) != (then.dev(), then.ino()) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(file)
}

/// Opens what stands at a place for reading and writing, without following it.
pub(super) fn open_writable(place: &Place) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(&*place.dir, &place.name, flags, Mode::empty())?))
}

/// A write by someone who is neither owner nor root clears these bits, and only those two can set them again.
fn refuse_lost_bits(path: &FilePath, source: &Found) -> Result<(), WorkspaceError> {
    let metadata = &source.metadata;
    let me = rustix::process::geteuid();
    if attributes::has_capabilities(&source.file) {
        return Err(refused(
            path,
            "write",
            "it has rights of its own (capabilities), and writing to it would clear them",
        ));
    }
    if metadata.mode() & 0o6000 != 0 && !me.is_root() && metadata.uid() != me.as_raw() {
        let reason = "it runs as its owner or group, and writing to it would clear that";
        return Err(refused(path, "write", reason));
    }
    Ok(())
}
