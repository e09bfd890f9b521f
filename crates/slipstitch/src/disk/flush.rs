//! Flushes new content to the disk while the journal records the change.
//!
//! Both must be on the disk before the change is published, in any order: without its record the new content has no name,
//! and a record whose content is missing is rolled back, because the file still has its old content. So they are flushed at
//! the same time, and the file system writes them in one go. Where a flush takes less time than starting a thread, as in
//! memory, there is no thread.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;

use super::Fsync;
use super::error::io_error;

/// How many files are kept open to be flushed together. Further ones are flushed as they are written.
const MAX_OPEN: usize = 8;

/// A flush that takes less time than this is not worth a thread.
const WORTH_A_THREAD: Duration = Duration::from_micros(300);

/// How many microseconds the last flush of this process took. Which way the next one goes is all that depends on it.
static LAST_FLUSH: AtomicU64 = AtomicU64::new(0);

/// A file that could not be flushed.
type Failure = (FilePath, io::Error);

/// The new files of a change that are not known to be on the disk.
#[derive(Debug)]
pub(super) struct Flushing {
    fsync: Fsync,
    files: Vec<(FilePath, Arc<File>)>,
    running: Option<JoinHandle<Result<(), Failure>>>,
}

impl Flushing {
    pub(super) fn new(fsync: Fsync) -> Self {
        Self { fsync, files: Vec::new(), running: None }
    }

    /// Adds a file whose content and attributes are complete.
    pub(super) fn add(&mut self, path: &FilePath, file: Arc<File>) -> Result<(), WorkspaceError> {
        match self.fsync {
            Fsync::Off => Ok(()),
            Fsync::On if self.files.len() < MAX_OPEN => {
                self.files.push((path.clone(), file));
                Ok(())
            }
            Fsync::On => file.sync_all().map_err(|error| io_error(path, "write", error)),
        }
    }

    /// Starts to flush the files.
    pub(super) fn start(&mut self) {
        if self.files.is_empty() || Duration::from_micros(LAST_FLUSH.load(Ordering::Relaxed)) < WORTH_A_THREAD
        {
            // `finish` does it.
            return;
        }
        let files = std::mem::take(&mut self.files);
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let run = move || receiver.recv().map_or(Ok(()), flush);
        match std::thread::Builder::new().name("flush".into()).spawn(run) {
            Ok(running) => {
                let _ = sender.send(files);
                self.running = Some(running);
            }
            // Then `finish` does it too.
            Err(_) => self.files = files,
        }
    }

    /// Waits until all files are on the disk.
    pub(super) fn finish(&mut self) -> Result<(), WorkspaceError> {
        let running = self.running.take().map(|running| {
            running.join().unwrap_or_else(|_| Err((FilePath::root(), io::Error::other("the flush panicked"))))
        });
        let rest = flush(std::mem::take(&mut self.files));
        running.unwrap_or(Ok(())).and(rest).map_err(|(path, error)| io_error(&path, "write", error))
    }
}

impl Drop for Flushing {
    /// Waits for the thread, which keeps the files open. On Windows, the folders around them could not be removed.
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            let _ = running.join();
        }
    }
}

fn flush(files: Vec<(FilePath, Arc<File>)>) -> Result<(), Failure> {
    if files.is_empty() {
        return Ok(());
    }
    let start = Instant::now();
    let result =
        files.into_iter().try_for_each(|(path, file)| file.sync_all().map_err(|error| (path, error)));
    let took = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    LAST_FLUSH.store(took, Ordering::Relaxed);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flushes this many files, with or without a thread, depending on how long the last flush took.
    fn flushing_of(files: usize, last_flush: u64) -> Flushing {
        let path = FilePath::from_record("a").unwrap();
        let mut flushing = Flushing::new(Fsync::On);
        for _ in 0..files {
            flushing.add(&path, Arc::new(tempfile::tempfile().unwrap())).unwrap();
        }
        LAST_FLUSH.store(last_flush, Ordering::Relaxed);
        flushing
    }

    #[test]
    fn more_files_than_may_be_open_are_flushed() {
        for last_flush in [0, 1_000_000] {
            let mut flushing = flushing_of(MAX_OPEN + 2, last_flush);
            flushing.start();
            flushing.finish().unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_failed_flush_is_reported() {
        let path = FilePath::from_record("a").unwrap();
        for last_flush in [0, 1_000_000] {
            let mut flushing = flushing_of(0, last_flush);
            // A pipe cannot be flushed.
            let (reader, _writer) = std::io::pipe().unwrap();
            flushing.add(&path, Arc::new(File::from(std::os::fd::OwnedFd::from(reader)))).unwrap();
            flushing.start();
            let error = flushing.finish().unwrap_err().to_string();
            assert!(error.contains("`a`"), "{error}");
        }
    }
}
