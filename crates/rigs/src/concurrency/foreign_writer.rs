//! Programs that know nothing of Slipstitch and take no locks.
//!
//! They log only what they can know:
//! - A writer that appends checks afterwards that the file it wrote to still has its name. If not, the text went into a file
//!   that had just been replaced, and no program could have kept it; the status of the token stays unknown.
//! - A writer that replaces the file overwrites what was written after its read. It finds that in the file it displaced, and
//!   logs it.
//! - It may also have read a token that was there only for a moment, because Slipstitch reverted an edit when it noticed
//!   another writer. Then it restores the token, and logs that.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::log::Log;
use super::task::{Task, progress_file, stop_file};

/// How many writes a foreign writer may be ahead, and how many more it may make per acknowledged edit.
///
/// By the clock alone, a slow machine would never finish: foreign lines would pile up faster than edits, and the longer the
/// file, the longer each edit takes, and the more often a save gets in its way.
const HEAD_START: u64 = 100;
const WRITES_PER_EDIT: u64 = 2;

/// Appends lines until it is stopped.
pub(crate) fn append(args: &[String]) -> Result<(), String> {
    write_until_stopped(args, Duration::from_millis(4), |_, path, token, log| {
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.write_all(format!("{token}\n").as_bytes())?;
        let written = file.metadata()?;
        let is_still_there = fs::metadata(path).is_ok_and(|now| now.ino() == written.ino());
        if is_still_there { log.written(token) } else { Ok(()) }
    })
}

/// Replaces files with an extended copy until it is stopped.
pub(crate) fn replace(args: &[String]) -> Result<(), String> {
    write_until_stopped(args, Duration::from_millis(40), save_extended_copy)
}

/// Saves like an editor that is used all the time: it reads the file again right after each save.
pub(crate) fn save(args: &[String]) -> Result<(), String> {
    write_until_stopped(args, Duration::from_micros(500), save_extended_copy)
}

/// Reads the file, and renames a copy with one more line to its name.
///
/// For a program that has the file open or locks nothing, the exchange looks like an editor's rename; but it shows what
/// was displaced.
fn save_extended_copy(task: &Task, path: &Path, token: &str, log: &mut Log) -> io::Result<()> {
    let read = fs::read_to_string(path)?;
    let copy = task.folder.join(format!("copy-{}", task.name));
    fs::write(&copy, format!("{read}{token}\n"))?;
    // On a file system without rename flags, the name is missing for a moment while Slipstitch replaces the file.
    let is_gap = loop {
        match renameat_with(CWD, &copy, CWD, path, RenameFlags::EXCHANGE) {
            Err(Errno::NOENT) => match renameat_with(CWD, &copy, CWD, path, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                done => break done.map(|()| true)?,
            },
            done => break done.map(|()| false)?,
        }
    };
    if is_gap {
        log.saved_into_gap(token)?;
        return log.written(token);
    }
    let displaced = fs::read_to_string(&copy)?;
    let lines = |text| -> BTreeSet<&str> { str::lines(text).collect() };
    let (before, after) = (lines(&read), lines(&displaced));
    let own = format!("{}-", task.name);
    for token in after.difference(&before) {
        match token.starts_with(&own) {
            true => log.overwritten_own(token)?,
            false => log.overwritten(token)?,
        }
    }
    for token in before.difference(&after) {
        log.restored(token)?;
    }
    fs::remove_file(&copy)?;
    log.written(token)
}

fn write_until_stopped(
    args: &[String],
    pause: Duration,
    write: impl Fn(&Task, &Path, &str, &mut Log) -> io::Result<()>,
) -> Result<(), String> {
    let task = Task::from_args(args)?;
    let deadline = task.deadline();
    let failed = |error: io::Error| format!("{} cannot write: {error}", task.name);
    let mut log = Log::open(&task.log()).map_err(failed)?;
    let mut random = Rng::with_seed(u64::from(std::process::id()));
    let mut number = 0;
    while !stop_file(&task.folder).exists() && Instant::now() <= deadline {
        if number >= HEAD_START + WRITES_PER_EDIT * acknowledged_edits(&task) {
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        let token = format!("{}-{number}", task.name);
        let file = random.choice(task.shared_files()).ok_or("the task has no files")?;
        log.attempt(&token, &[file]).map_err(failed)?;
        match write(&task, &task.root().join(file), &token, &mut log) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => log.missing(&token),
            written => written,
        }
        .map_err(failed)?;
        thread::sleep(pause);
        number += 1;
    }
    Ok(())
}

/// The number of edits that all workers got acknowledged so far.
fn acknowledged_edits(task: &Task) -> u64 {
    fs::metadata(progress_file(&task.folder)).map_or(0, |metadata| metadata.len())
}
