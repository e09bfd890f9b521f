//! Writers that know nothing of Slipstitch and take no locks.
//!
//! They claim only what they can know. One that appends looks afterwards whether the file that it wrote to still has its
//! name; if not, its text went into a file that had just been replaced, and nobody could have kept it. One that replaces
//! the file overwrites what came after it read; it finds that in what it displaced, and says so. It may also have read what was
//! there for a moment only, because Slipstitch took it back when it saw another writer; then it puts that there again, and says so.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::diary::Diary;
use super::task::{Task, stop};
use crate::random::Random;

/// Appends lines until it is stopped.
pub(crate) fn append(words: &[String]) -> Result<(), String> {
    go_on(words, Duration::from_millis(4), |_, path, token, diary| {
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.write_all(format!("{token}\n").as_bytes())?;
        let written = file.metadata()?;
        if fs::metadata(path)?.ino() == written.ino() { diary.yes(token, "-") } else { diary.unsure(token) }
    })
}

/// Reads the file, writes another one and puts it in its place, until it is stopped.
pub(crate) fn replace(words: &[String]) -> Result<(), String> {
    go_on(words, Duration::from_millis(40), |task, path, token, diary| {
        let read = fs::read_to_string(path)?;
        let aside = task.folder.join(format!("aside-{}", task.name));
        fs::write(&aside, format!("{read}{token}\n"))?;
        renameat_with(CWD, &aside, CWD, path, RenameFlags::EXCHANGE)?;
        let displaced = fs::read_to_string(&aside)?;
        let lines = |text| -> BTreeSet<&str> { str::lines(text).collect() };
        let (before, after) = (lines(&read), lines(&displaced));
        for lost in after.difference(&before) {
            diary.over(lost)?;
        }
        for token in before.difference(&after) {
            diary.back(token)?;
        }
        fs::remove_file(&aside)?;
        diary.yes(token, "-")
    })
}

fn go_on(
    words: &[String],
    pause: Duration,
    write: impl Fn(&Task, &Path, &str, &mut Diary) -> io::Result<()>,
) -> Result<(), String> {
    let task = Task::from_words(words)?;
    let deadline = task.deadline();
    let failed = |error: io::Error| format!("{} cannot write: {error}", task.name);
    let mut diary = Diary::open(&task.diary()).map_err(failed)?;
    let mut random = Random::new(u64::from(std::process::id()));
    for number in 0.. {
        if stop(&task.folder).exists() || Instant::now() > deadline {
            break;
        }
        let token = format!("{}-{number}", task.name);
        let files = task.shared_files();
        let file = files.get(random.below(files.len())).ok_or("there is no file to write to")?;
        diary.will(&token, &[file]).map_err(failed)?;
        write(&task, &task.root().join(file), &token, &mut diary).map_err(failed)?;
        thread::sleep(pause);
    }
    Ok(())
}
