//! Many processes edit the same files at once, some are killed, and other programs write without locking.
//!
//! Every edit adds a line with a unique token. Each process logs what it is about to do and what it was answered. At the end
//! every acknowledged token must be in its files exactly once, and no refused one.

mod check;
mod client;
pub(crate) mod editing_worker;
pub(crate) mod foreign_writer;
mod log;
mod task;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::file_systems::{FileSystem, SharedFuse};
use crate::{Findings, Protection, RunOptions, Scale, program, scratch};
use log::{MergedLog, TokenStatus};
use task::{ANCHOR, HEADER, Safeguards, Task, root_path, stop_file};

/// The size of a run.
#[derive(Debug, Clone, Copy)]
struct Size {
    processes: usize,
    /// Edits per process.
    edits: usize,
    /// How many processes are killed and restarted.
    kills: usize,
    /// Time limit per process.
    seconds: u64,
}

impl Size {
    fn new(options: &RunOptions) -> Self {
        let size = match options.scale {
            Scale::Quick => Self { processes: 8, edits: 150, kills: 12, seconds: 300 },
            Scale::Long => Self { processes: 32, edits: 2_000, kills: 100, seconds: 7_200 },
        };
        let (processes, edits) = options.editing.unwrap_or((size.processes, size.edits));
        Self { processes, edits, ..size }
    }
}

/// Runs the rig.
pub(crate) fn run(options: &RunOptions) -> Findings {
    let runs: &[(usize, Safeguards)] = match options.protection {
        Protection::On => &[(1, Safeguards::All), (10, Safeguards::All)],
        Protection::Off => {
            &[(1, Safeguards::NoLocks), (1, Safeguards::NoLocksNoChecks), (10, Safeguards::NoLocksNoChecks)]
        }
    };
    let mut findings = Findings::default();
    for &(files, safeguards) in runs {
        let files_name = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
        let name = match safeguards {
            Safeguards::All => files_name,
            _ => format!("{files_name}, {}", safeguards.name()),
        };
        let part = run_rounds(options, safeguards, files);
        let counts = part.counts.into_iter().map(|(what, number)| (format!("{name}: {what}"), number));
        findings.counts.extend(counts);
        findings.fail_at(&name, part.failures);
    }
    findings
}

/// Without locks but with the check of what a rename displaced, an edit is lost only when three writers collide, which may
/// take several rounds.
const MAX_ROUNDS: usize = 10;

fn run_rounds(options: &RunOptions, safeguards: Safeguards, files: usize) -> Findings {
    let rounds = if safeguards == Safeguards::NoLocks { MAX_ROUNDS } else { 1 };
    let mut findings = Findings::default();
    for _ in 0..rounds {
        findings.merge(run_round(options, safeguards, files).unwrap_or_else(Findings::failed));
        if findings.failures.iter().any(|failure| failure.contains(check::LOST_EDIT)) {
            break;
        }
    }
    findings
}

fn run_round(options: &RunOptions, safeguards: Safeguards, files: usize) -> Result<Findings, String> {
    let size = Size::new(options);
    let torture = program::find("torture")?;
    let failed = |error: io::Error| format!("rig error: {error}");
    let place = Place::create(options).map_err(failed)?;
    let (folder, foreign_folder) = place.folders();
    let files: Vec<String> = (0..files).map(|number| format!("file{number}.txt")).collect();
    create_files(folder, &files).map_err(failed)?;
    let task = |folder: &Path, name: String| Task {
        folder: folder.into(),
        name,
        edits: size.edits,
        files: files.clone(),
        safeguards,
        seconds: size.seconds,
    };
    let start = |kind: &'static str, task: Task| Process::start(&torture, kind, task);
    let mut foreign = Vec::new();
    for (kind, name) in [("append", "fa"), ("append", "fb"), ("replace", "fr"), ("save", "fs")] {
        foreign.push(start(kind, task(foreign_folder, name.into()))?);
    }
    let mut editing = Vec::new();
    for number in 0..size.processes {
        editing.push(start("edit", task(folder, format!("w{number}x")))?);
    }
    let begin = Instant::now();
    let kills = wait_and_kill(&mut editing, size.kills);
    let elapsed = begin.elapsed();
    // Stop the foreign writers even if a worker failed.
    let stopped = fs::write(stop_file(folder), "").map_err(failed).and_then(|()| wait(&mut foreign));
    let kills = kills?;
    stopped?;
    let mut log = MergedLog::default();
    for process in editing.iter().chain(&foreign) {
        log.read(&process.task.log()).map_err(failed)?;
    }
    let mut findings = Findings::default();
    count_events(&mut findings, size, kills, elapsed, &log);
    findings.merge(check::check(folder, &files, &log));
    Ok(findings)
}

/// Where a round takes place.
#[derive(Debug)]
enum Place {
    Folder(tempfile::TempDir),
    /// Slipstitch works on the mount, the foreign writers on the folder behind it.
    Fuse(SharedFuse),
}

impl Place {
    fn create(options: &RunOptions) -> io::Result<Self> {
        match options.file_systems.contains(&FileSystem::Fuse) {
            true => SharedFuse::mount().map(Self::Fuse).map_err(io::Error::other),
            false => scratch::create(options.scale).map(Self::Folder),
        }
    }

    /// The folder for Slipstitch, and the one for foreign writers.
    fn folders(&self) -> (&Path, &Path) {
        match self {
            Self::Folder(folder) => (folder.path(), folder.path()),
            Self::Fuse(fuse) => (&fuse.folder, &fuse.source),
        }
    }
}

fn create_files(folder: &Path, files: &[String]) -> io::Result<()> {
    fs::create_dir_all(root_path(folder))?;
    fs::write(folder.join("config.toml"), "")?;
    files.iter().try_for_each(|file| fs::write(root_path(folder).join(file), format!("{HEADER}\n{ANCHOR}\n")))
}

fn count_events(findings: &mut Findings, size: Size, kills: usize, elapsed: Duration, log: &MergedLog) {
    findings.count("processes", size.processes);
    findings.count("edits acknowledged", log.count('w', TokenStatus::Acknowledged));
    findings.count("edits refused", log.count('w', TokenStatus::Refused));
    findings.count("edits refused because someone saved at the same moment", log.saved_meanwhile);
    findings.count("processes killed and restarted", kills);
    findings.count("edits killed before the answer", log.unanswered());
    findings.count("foreign writes", log.count('f', TokenStatus::Acknowledged));
    findings.count("foreign writes into a file just replaced", log.count('f', TokenStatus::Unknown));
    findings.count("lines overwritten by a foreign writer", log.overwritten.len());
    findings.count("lines restored by a foreign writer", log.restored.len());
    findings
        .count("saves of the editor that saves by rename", log.count_of("fs-", TokenStatus::Acknowledged));
    findings.count("of these lost, because it read a text without its own last save", log.lost_saves);
    findings.count("foreign writers that found no file", log.missing_names);
    findings.count("saves to a name that was missing", log.saves_into_gaps);
    findings.count("milliseconds", elapsed.as_millis());
}

/// A worker process.
#[derive(Debug)]
struct Process {
    torture: PathBuf,
    kind: &'static str,
    task: Task,
    child: Child,
    is_done: bool,
}

impl Process {
    fn start(torture: &Path, kind: &'static str, task: Task) -> Result<Self, String> {
        let child = spawn(torture, kind, &task)?;
        Ok(Self { torture: torture.into(), kind, task, child, is_done: false })
    }

    /// Kills the process and starts another one that continues its task.
    fn kill_and_restart(&mut self) -> Result<(), String> {
        self.child
            .kill()
            .and_then(|()| self.child.wait())
            .map_err(|error| format!("cannot kill a worker: {error}"))?;
        self.child = spawn(&self.torture, self.kind, &self.task)?;
        Ok(())
    }

    /// Updates `is_done`; fails if the process failed.
    fn poll(&mut self) -> Result<(), String> {
        let status = self.child.try_wait().map_err(|error| format!("cannot poll a worker: {error}"))?;
        match status {
            Some(status) if status.success() => self.is_done = true,
            Some(status) => {
                let stderr = self.child.stderr.take().and_then(|pipe| io::read_to_string(pipe).ok());
                return Err(format!(
                    "worker {} ended with {status}: {}",
                    self.task.name,
                    stderr.unwrap_or_default()
                ));
            }
            None => {}
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After an error in one process, the others may still be running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(torture: &Path, kind: &str, task: &Task) -> Result<Child, String> {
    let mut command = Command::new(torture);
    command.args([program::WORKER_SUBCOMMAND, kind, &task.to_arg()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().map_err(|error| format!("cannot start a worker: {error}"))
}

/// Waits for the processes, killing and restarting random ones. Returns how many were killed.
fn wait_and_kill(processes: &mut [Process], kills: usize) -> Result<usize, String> {
    let mut random = Rng::with_seed(3_000);
    let mut killed = 0;
    loop {
        thread::sleep(Duration::from_millis(random.u64(20..120)));
        let mut running = poll_running(processes)?;
        if running.is_empty() {
            return Ok(killed);
        }
        if killed < kills {
            let victim = random.usize(..running.len());
            running[victim].kill_and_restart()?;
            killed += 1;
        }
    }
}

fn wait(processes: &mut [Process]) -> Result<(), String> {
    while !poll_running(processes)?.is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Polls the processes and returns those that are still running.
fn poll_running(processes: &mut [Process]) -> Result<Vec<&mut Process>, String> {
    for process in processes.iter_mut().filter(|process| !process.is_done) {
        process.poll()?;
    }
    Ok(processes.iter_mut().filter(|process| !process.is_done).collect())
}
