//! A folder and a file that alternate with symlinks out of the root, as fast as the system allows, while they are used.

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

use super::sandbox::{CANARY, Snapshot, add_to_snapshot};
use super::tool_cases::rename;
use super::watch::Watch;
use crate::{Findings, Protection, Scale, TEMP_PREFIX, scratch};

/// The names that are swapped, each with a symlink out of the root.
const SWAPPED: [(&str, &str); 2] = [("folder", "folder-link"), ("flat/file", "flat/file-link")];

/// Races against the engine. With the protection off, races against a tool that resolves a path, checks that the result is
/// in the root, and then opens the path.
pub(crate) fn run(scale: Scale, protection: Protection) -> Findings {
    let attempts = match scale {
        Scale::Quick => 100_000,
        Scale::Long => 1_000_000,
    };
    let mut findings = Findings::default();
    if let Err(error) = race(attempts, protection, &mut findings) {
        findings.fail(format!("rig error: {error}"));
    }
    findings
}

fn race(attempts: u64, protection: Protection, findings: &mut Findings) -> io::Result<()> {
    let folders = Folders::new()?;
    let before = folders.snapshot_outside()?;
    let watch = Watch::new(&[&folders.outside()])?;
    let swapper = Swapper::start(&folders.root());
    let mut counts = Counts::default();
    let client = match protection {
        Protection::On => Client::open_engine(&folders)?,
        Protection::Off => Client::CheckThenOpen(folders.root()),
    };
    for attempt in 0..attempts {
        client.attempt(attempt, &mut counts);
        if attempt % 64 == 63 {
            counts.outside_events += watch.drain_events()?.len() as u64;
        }
    }
    counts.outside_events += watch.drain_events()?.len() as u64;
    let swaps = swapper.stop();
    counts.report(attempts, swaps, findings);
    if folders.snapshot_outside()? != before {
        findings.fail("the folder outside was changed");
    }
    if protection == Protection::On {
        folders.check_root(&counts, findings)?;
        // Calls must have met both sides of the swap.
        if counts.succeeded == 0 || counts.refused == 0 || swaps < attempts / 100 {
            findings.fail(
                "rig error: no race took place (nothing succeeded, nothing was refused, or too few swaps)",
            );
        }
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Counts {
    succeeded: u64,
    refused: u64,
    /// Responses with content from outside.
    leaks: u64,
    /// Accesses to files outside.
    outside_events: u64,
    /// Names of temporary files that a response says were kept.
    kept: BTreeSet<String>,
}

impl Counts {
    fn add(&mut self, succeeded: bool, leaked: bool) {
        self.succeeded += u64::from(succeeded);
        self.refused += u64::from(!succeeded);
        self.leaks += u64::from(leaked);
    }

    fn report(&self, attempts: u64, swaps: u64, findings: &mut Findings) {
        findings.count("attempts", attempts);
        findings.count("swaps meanwhile", swaps);
        findings.count("succeeded", self.succeeded);
        findings.count("refused", self.refused);
        findings.count("foreign versions kept and reported", self.kept.len() as u64);
        findings.count("responses with content from outside", self.leaks);
        findings.count("accesses to files outside", self.outside_events);
        if self.leaks > 0 {
            findings.fail(format!("{} responses contain content from outside the root", self.leaks));
        }
        if self.outside_events > 0 {
            findings.fail(format!("{} accesses to files outside the root", self.outside_events));
        }
    }
}

/// The root and the folder outside.
struct Folders {
    base: TempDir,
}

impl Folders {
    fn new() -> io::Result<Self> {
        let folders = Self { base: scratch::create_in_memory()? };
        let outside = folders.outside();
        fs::create_dir(&outside)?;
        fs::write(outside.join("file"), format!("{CANARY}\n"))?;
        let root = folders.root();
        for folder in ["folder", "flat", "pool"] {
            fs::create_dir_all(root.join(folder))?;
        }
        fs::write(root.join("folder/file"), "inside\n")?;
        fs::write(root.join("flat/file"), "inside\n")?;
        symlink("../outside", root.join("folder-link"))?;
        symlink("../../outside/file", root.join("flat/file-link"))?;
        Ok(folders)
    }

    fn root(&self) -> PathBuf {
        self.base.path().join("root")
    }

    fn outside(&self) -> PathBuf {
        self.base.path().join("outside")
    }

    fn snapshot_outside(&self) -> io::Result<Snapshot> {
        let mut snapshot = Snapshot::new();
        add_to_snapshot(&self.outside(), &mut snapshot)?;
        Ok(snapshot)
    }

    /// Checks that no symlink was lost or doubled, and that every file left behind was reported. If the names are swapped twice
    /// while an edit is taken back, a symlink may be what the answer says was kept.
    fn check_root(&self, counts: &Counts, findings: &mut Findings) -> io::Result<()> {
        for (one, other) in SWAPPED {
            let [one, other] = [one, other].map(|name| self.root().join(name));
            let kept = counts.kept.iter().map(|name| one.with_file_name(name));
            let links = [one.clone(), other].into_iter().chain(kept).filter(|path| path.is_symlink());
            let links: Vec<PathBuf> = links.collect();
            if links.len() != 1 {
                findings
                    .fail(format!("of `{}` and its symlink, these are symlinks: {links:?}", one.display()));
            }
        }
        let mut snapshot = Snapshot::new();
        add_to_snapshot(&self.root(), &mut snapshot)?;
        let names = snapshot.keys().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
        let unreported: Vec<_> =
            names.filter(|name| name.contains(TEMP_PREFIX) && !counts.kept.contains(&**name)).collect();
        if let Some(name) = unreported.first() {
            findings.fail(format!("{} files such as `{name}` were left behind unreported", unreported.len()));
        }
        Ok(())
    }
}

/// A thread that swaps the names of each pair.
struct Swapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Swapper {
    fn start(root: &Path) -> Self {
        let (stop, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let pairs = SWAPPED.map(|(one, other)| (root.join(one), root.join(other)));
        let (stopped, count) = (Arc::clone(&stop), Arc::clone(&swaps));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                for (one, other) in &pairs {
                    if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        Self { stop, swaps, thread }
    }

    /// Stops the thread and returns the number of swaps.
    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
        self.swaps.load(Ordering::Relaxed)
    }
}

/// What uses the files during the race.
enum Client {
    /// The engine, with a journal in memory for speed.
    Engine { files: Box<DiskWorkspace>, journal: Box<MemoryJournal>, root: PathBuf },
    /// A tool that checks the path in this root and then opens it.
    CheckThenOpen(PathBuf),
}

impl Client {
    fn open_engine(folders: &Folders) -> io::Result<Self> {
        let files = DiskWorkspace::open(&folders.root(), &folders.base.path().join("locks"), Fsync::Off)
            .map_err(io::Error::other)?;
        Ok(Self::Engine { files: Box::new(files), journal: Box::default(), root: folders.root() })
    }

    fn attempt(&self, attempt: u64, counts: &mut Counts) {
        match self {
            Self::CheckThenOpen(root) => check_then_open(root, attempt, counts),
            Self::Engine { files, journal, root } => match attempt % 20 {
                // Mostly reads, because they are cheapest.
                0..=14 => read(files, attempt, counts),
                15 => call(files, journal, write_file("folder/file", "overwrite"), counts),
                16 => call(files, journal, write_file("flat/file", "overwrite"), counts),
                17 => call(files, journal, write_file(&format!("folder/new/{attempt}"), "create"), counts),
                18 => {
                    let from = format!("pool/{attempt}");
                    if fs::write(root.join(&from), "inside\n").is_ok() {
                        let patch = rename(&from, &format!("folder/moved-{attempt}"));
                        call(files, journal, ("native", "patch", patch), counts);
                    }
                }
                _ => call(files, journal, delete(&format!("folder/new/{}", attempt - 2)), counts),
            },
        }
    }
}

fn read(files: &DiskWorkspace, attempt: u64, counts: &mut Counts) {
    if attempt.is_multiple_of(20) {
        let listed = FilePath::from_record("folder").ok().map(|folder| files.list(Some(&folder)));
        counts.add(matches!(listed, Some(Ok(_))), false);
        return;
    }
    let Ok(path) = FilePath::from_record(swapped_path(attempt)) else { return };
    match files.read(&path) {
        Ok(ReadResult::File(found)) => counts.add(true, found.bytes.starts_with(CANARY.as_bytes())),
        _ => counts.add(false, false),
    }
}

/// A file in the swapped folder, or the swapped file.
fn swapped_path(attempt: u64) -> &'static str {
    if attempt.is_multiple_of(2) { "folder/file" } else { "flat/file" }
}

/// A dialect, a tool and its arguments.
type ToolCall = (&'static str, &'static str, Value);

fn call(
    files: &DiskWorkspace,
    journal: &MemoryJournal,
    (dialect, tool, arguments): ToolCall,
    counts: &mut Counts,
) {
    let engine = Engine::new(files, journal).dialects(slipstitch::dialects::builtin()).session("race");
    let request = Request { dialect: dialect.into(), tool: tool.into(), arguments };
    let answer = engine.call(request, &mut Auto);
    counts.add(answer.report.is_success(), answer.text.contains(CANARY));
    let names = answer.text.split('`').filter(|part| part.starts_with(TEMP_PREFIX));
    counts.kept.extend(names.map(str::to_owned));
}

fn write_file(path: &str, mode: &str) -> ToolCall {
    // Unique content, because identical content is not written.
    let content = format!("inside {:?}\n", std::time::Instant::now());
    ("native", "write_file", json!({"path": path, "mode": mode, "content": content}))
}

fn delete(path: &str) -> ToolCall {
    let patch = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n");
    ("codex", "apply_patch", json!({"input": patch}))
}

/// Resolves the path, checks that the result is in the root, and opens the path, which may lead elsewhere by then.
fn check_then_open(root: &Path, attempt: u64, counts: &mut Counts) {
    let path = root.join(swapped_path(attempt));
    let is_inside = path.canonicalize().is_ok_and(|real| real.starts_with(root));
    let found = if is_inside { fs::read(&path).ok() } else { None };
    counts.add(found.is_some(), found.is_some_and(|bytes| bytes.starts_with(CANARY.as_bytes())));
}
