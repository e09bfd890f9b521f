//! A folder and a file that become symlinks out of the root and back, as fast as the system can, while they are used.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use slipstitch::core::engine::{Engine, Request};
use slipstitch::core::path::FilePath;
use slipstitch::core::ports::approver::Auto;
use slipstitch::core::ports::memory::MemoryJournal;
use slipstitch::core::ports::workspace::{ReadResult, Workspace};
use slipstitch::{DiskWorkspace, Fsync};
use tempfile::TempDir;

use super::ground::{MARK, Picture, picture_of};
use super::watch::Watch;
use crate::{Outcome, Protection, Scale, scratch};

/// The names that change what they are, each with the name that it changes places with.
const PAIRS: [(&str, &str); 2] = [("folder", "folder-other"), ("flat/file", "flat/file-other")];

/// How the names of temporary files begin.
const TEMPORARY: &str = ".slipstitch-";

/// Races against the engine. With the protection off, against a tool that asks the system where a path leads,
/// sees that it is in the root, and then opens the path.
pub fn run(scale: Scale, protection: Protection) -> Outcome {
    let attempts = match (scale, protection) {
        (Scale::Quick, _) => 100_000,
        (Scale::Long, _) => 1_000_000,
    };
    let mut outcome = Outcome::default();
    if let Err(error) = race(attempts, protection, &mut outcome) {
        outcome.fault(format!("the rig does not work: {error}"));
    }
    outcome
}

fn race(attempts: u64, protection: Protection, outcome: &mut Outcome) -> io::Result<()> {
    let track = Track::new()?;
    let before = track.outside()?;
    let watch = Watch::new(&[&track.folder.path().join("outside")])?;
    let flipper = Flipper::start(&track.root());
    let mut tally = Tally::default();
    let runner = match protection {
        Protection::On => Runner::engine(&track)?,
        Protection::Off => Runner::Naive(track.root()),
    };
    for attempt in 0..attempts {
        runner.attempt(attempt, &mut tally);
        if attempt % 64 == 63 {
            tally.opened += watch.seen()?.len() as u64;
        }
    }
    tally.opened += watch.seen()?.len() as u64;
    let flips = flipper.stop();
    tally.tell(attempts, flips, outcome);
    if track.outside()? != before {
        outcome.fault("the folder outside was changed");
    }
    if protection == Protection::On {
        track.intact(&tally, outcome)?;
        // Both ways round must have been met, or nothing was raced.
        if tally.done == 0 || tally.refused == 0 || flips < attempts / 100 {
            outcome.fault("the race did not take place: nothing was done, nothing refused, or too few flips");
        }
    }
    Ok(())
}

/// What was counted.
#[derive(Debug, Default)]
struct Tally {
    done: u64,
    refused: u64,
    /// Answers that hold what stands outside.
    read: u64,
    /// Events of files outside.
    opened: u64,
    /// The names under which answers say that something was kept beside a file.
    kept: BTreeSet<String>,
}

impl Tally {
    fn tell(&self, attempts: u64, flips: u64, outcome: &mut Outcome) {
        outcome.count("attempts", attempts);
        outcome.count("flips meanwhile", flips);
        outcome.count("done", self.done);
        outcome.count("refused", self.refused);
        outcome.count("versions of others kept beside a file, and told", self.kept.len() as u64);
        outcome.count("answers with what stands outside", self.read);
        outcome.count("times that a file outside was opened or changed", self.opened);
        if self.read > 0 {
            outcome.fault(format!("{} answers hold what stands outside the root", self.read));
        }
        if self.opened > 0 {
            outcome.fault(format!("files outside the root were opened or changed {} times", self.opened));
        }
    }

    fn answer(&mut self, done: bool, leaked: bool) {
        self.done += u64::from(done);
        self.refused += u64::from(!done);
        self.read += u64::from(leaked);
    }
}

/// The folders of a race.
struct Track {
    folder: TempDir,
}

impl Track {
    fn new() -> io::Result<Self> {
        let track = Self { folder: scratch::folder()? };
        let outside = track.folder.path().join("outside");
        fs::create_dir(&outside)?;
        fs::write(outside.join("file"), format!("{MARK}\n"))?;
        let root = track.root();
        for folder in ["folder", "flat", "pool"] {
            fs::create_dir_all(root.join(folder))?;
        }
        fs::write(root.join("folder/file"), "inside\n")?;
        fs::write(root.join("flat/file"), "inside\n")?;
        symlink("../outside", root.join("folder-other"))?;
        symlink("../../outside/file", root.join("flat/file-other"))?;
        Ok(track)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn outside(&self) -> io::Result<Picture> {
        let mut picture = Picture::new();
        picture_of(&self.folder.path().join("outside"), &mut picture)?;
        Ok(picture)
    }

    /// Sees that of each pair one is still the symlink, and that nothing is left that no answer tells of.
    fn intact(&self, tally: &Tally, outcome: &mut Outcome) -> io::Result<()> {
        for (one, other) in PAIRS {
            let links = [one, other].map(|name| self.root().join(name).is_symlink());
            if links[0] == links[1] {
                outcome.fault(format!("of `{one}` and `{other}`, not one is a symlink: {links:?}"));
            }
        }
        let mut picture = Picture::new();
        picture_of(&self.root(), &mut picture)?;
        let names = picture.keys().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
        let left: Vec<_> =
            names.filter(|name| name.contains(TEMPORARY) && !tally.kept.contains(&**name)).collect();
        if let Some(name) = left.first() {
            outcome.fault(format!(
                "{} files such as `{name}` are left, and no answer tells of them",
                left.len()
            ));
        }
        Ok(())
    }
}

/// A thread that makes each pair change places.
struct Flipper {
    stop: Arc<AtomicBool>,
    flips: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Flipper {
    fn start(root: &Path) -> Self {
        let (stop, flips) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let pairs = PAIRS.map(|(one, other)| (root.join(one), root.join(other)));
        let (stopped, count) = (Arc::clone(&stop), Arc::clone(&flips));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                for (one, other) in &pairs {
                    if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        Self { stop, flips, thread }
    }

    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
        self.flips.load(Ordering::Relaxed)
    }
}

/// Who uses the files.
enum Runner {
    /// The engine, with a journal that costs nothing.
    Engine { files: Box<DiskWorkspace>, journal: Box<MemoryJournal>, root: PathBuf },
    /// A tool that checks and then opens.
    Naive(PathBuf),
}

impl Runner {
    fn engine(track: &Track) -> io::Result<Self> {
        let files = DiskWorkspace::open(&track.root(), &track.folder.path().join("locks"), Fsync::Off)
            .map_err(io::Error::other)?;
        Ok(Self::Engine { files: Box::new(files), journal: Box::default(), root: track.root() })
    }

    fn attempt(&self, attempt: u64, tally: &mut Tally) {
        match self {
            Self::Naive(root) => naive(root, attempt, tally),
            Self::Engine { files, journal, root } => match attempt % 20 {
                // Mostly the cheapest: what opens at all can be read.
                0..=14 => read(files, attempt, tally),
                15 => answer(files, journal, write("folder/file", "overwrite"), tally),
                16 => answer(files, journal, write("flat/file", "overwrite"), tally),
                17 => answer(files, journal, write(&format!("folder/new/{attempt}"), "create"), tally),
                18 => {
                    let from = format!("pool/{attempt}");
                    if fs::write(root.join(&from), "inside\n").is_ok() {
                        answer(files, journal, rename(&from, &format!("folder/moved-{attempt}")), tally);
                    }
                }
                _ => answer(files, journal, delete(&format!("folder/new/{}", attempt - 2)), tally),
            },
        }
    }
}

fn read(files: &DiskWorkspace, attempt: u64, tally: &mut Tally) {
    if attempt.is_multiple_of(20) {
        let listed = FilePath::from_record("folder").ok().map(|folder| files.list(Some(&folder)));
        tally.answer(matches!(listed, Some(Ok(_))), false);
        return;
    }
    let path = if attempt.is_multiple_of(2) { "folder/file" } else { "flat/file" };
    let Ok(path) = FilePath::from_record(path) else { return };
    match files.read(&path) {
        Ok(ReadResult::File(found)) => tally.answer(true, found.bytes.starts_with(MARK.as_bytes())),
        _ => tally.answer(false, false),
    }
}

fn answer(
    files: &DiskWorkspace,
    journal: &MemoryJournal,
    (tool, arguments): (&str, Value),
    tally: &mut Tally,
) {
    let engine = Engine::new(files, journal).dialects(slipstitch::dialects::builtin()).session("race");
    let dialect = if tool == "apply_patch" { "codex" } else { "native" };
    let request = Request { dialect: dialect.into(), tool: tool.into(), arguments };
    let answer = engine.call(request, &mut Auto);
    tally.answer(answer.report.is_success(), answer.text.contains(MARK));
    let names = answer.text.split('`').filter(|part| part.starts_with(TEMPORARY));
    tally.kept.extend(names.map(str::to_owned));
}

fn write(path: &str, mode: &str) -> (&'static str, Value) {
    // Another text each time, or nothing would be written.
    let content = format!("inside {:?}\n", std::time::Instant::now());
    ("write_file", json!({"path": path, "mode": mode, "content": content}))
}

fn rename(from: &str, to: &str) -> (&'static str, Value) {
    let head = format!("diff --git a/{from} b/{to}\nsimilarity index 100%");
    ("patch", json!({"patch": format!("{head}\nrename from {from}\nrename to {to}\n")}))
}

fn delete(path: &str) -> (&'static str, Value) {
    ("apply_patch", json!({"input": format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n")}))
}

/// Asks where the path leads, sees that it is in the root, and opens the path: in between, it leads elsewhere.
fn naive(root: &Path, attempt: u64, tally: &mut Tally) {
    let path = root.join(if attempt.is_multiple_of(2) { "folder/file" } else { "flat/file" });
    let inside = path.canonicalize().is_ok_and(|real| real.starts_with(root));
    let found = if inside { fs::read(&path).ok() } else { None };
    tally.answer(found.is_some(), found.is_some_and(|bytes| bytes.starts_with(MARK.as_bytes())));
}
