//! Many processes edit the same files at once, some are killed, and others write without asking.
//!
//! Every edit adds a line that no other edit adds. Each process writes down what it tries and what it is told. At the end
//! every acknowledged line must be there once, and nothing of what was refused.

mod diary;
pub(crate) mod editing;
pub(crate) mod foreign;
mod hand;
mod tally;
mod task;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use diary::{Fate, Story};
use task::{ANCHOR, Guard, HEAD, Task, root, stop};

use crate::random::Random;
use crate::{Outcome, Protection, Scale, bench, program, worker};

/// How large a run is.
#[derive(Debug, Clone, Copy)]
struct Size {
    processes: usize,
    edits: usize,
    /// How many of the processes are killed.
    kills: usize,
    /// How long a process may take.
    seconds: u64,
}

impl Size {
    fn of(scale: Scale) -> Self {
        match scale {
            Scale::Quick => Self { processes: 8, edits: 150, kills: 12, seconds: 60 },
            Scale::Long => Self { processes: 16, edits: 500, kills: 100, seconds: 1_800 },
        }
    }
}

/// Runs the rig.
pub fn run(scale: Scale, protection: Protection) -> Outcome {
    let runs: &[(usize, Guard)] = match protection {
        Protection::On => &[(1, Guard::On), (10, Guard::On)],
        Protection::Off => &[(1, Guard::NoLocks), (1, Guard::NothingChecked), (10, Guard::NothingChecked)],
    };
    let mut outcome = Outcome::default();
    for &(files, guard) in runs {
        let name = match (files, guard) {
            (1, Guard::On) => "one file".to_owned(),
            (files, Guard::On) => format!("{files} files"),
            (files, guard) => format!("{files} file(s), {}", guard.name()),
        };
        let part = rounds(scale, guard, files);
        let figures = part.figures.into_iter().map(|(what, number)| (format!("{name}: {what}"), number));
        outcome.figures.extend(figures);
        outcome.faults.extend(part.faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    outcome
}

/// Without locks, but with a look at what is displaced, an edit is lost only if three writers meet; that may take some rounds.
const MAX_ROUNDS: usize = 10;

fn rounds(scale: Scale, guard: Guard, files: usize) -> Outcome {
    let most = if guard == Guard::NoLocks { MAX_ROUNDS } else { 1 };
    let mut outcome = Outcome::default();
    for _ in 0..most {
        match arena(scale, guard, files) {
            Ok(part) => outcome.merge(part),
            Err(fault) => outcome.fault(fault),
        }
        if outcome.faults.iter().any(|fault| fault.contains(tally::LOST)) {
            break;
        }
    }
    outcome
}

fn arena(scale: Scale, guard: Guard, files: usize) -> Result<Outcome, String> {
    let size = Size::of(scale);
    let torture = program::find("torture")?;
    let failed = |error: io::Error| format!("the run cannot be set up: {error}");
    let folder = bench::scratch(scale).map_err(failed)?;
    let files: Vec<String> = (0..files).map(|number| format!("file{number}.txt")).collect();
    fill(folder.path(), &files).map_err(failed)?;
    let task = |name: String| Task {
        folder: folder.path().into(),
        name,
        edits: size.edits,
        files: files.clone(),
        guard,
        seconds: size.seconds,
    };
    let start = |kind: &'static str, name: String| Process::start(&torture, kind, task(name));
    let mut foreign =
        vec![start("append", "fa".into())?, start("append", "fb".into())?, start("replace", "fr".into())?];
    let mut editing = Vec::new();
    for number in 0..size.processes {
        editing.push(start("edit", format!("w{number}x"))?);
    }
    let begin = Instant::now();
    let kills = drive(&mut editing, size.kills);
    let took = begin.elapsed();
    // Also if a process failed: nothing is left running.
    let ended = fs::write(stop(folder.path()), "").map_err(failed).and_then(|()| wait(&mut foreign));
    let kills = kills?;
    ended?;
    let mut story = Story::default();
    for process in editing.iter().chain(&foreign) {
        story.read(&process.task.diary()).map_err(failed)?;
    }
    let mut outcome = Outcome::default();
    figures(&mut outcome, size, kills, took, &story);
    outcome.merge(tally::check(folder.path(), &files, &story));
    Ok(outcome)
}

fn fill(folder: &Path, files: &[String]) -> io::Result<()> {
    fs::create_dir_all(root(folder))?;
    fs::write(folder.join("config.toml"), "")?;
    files.iter().try_for_each(|file| fs::write(root(folder).join(file), format!("{HEAD}\n{ANCHOR}\n")))
}

fn figures(outcome: &mut Outcome, size: Size, kills: usize, took: Duration, story: &Story) {
    outcome.count("processes", size.processes);
    outcome.count("edits acknowledged", story.count('w', Fate::Acknowledged));
    outcome.count("edits refused", story.count('w', Fate::Refused));
    outcome.count("processes killed and started again", kills);
    outcome.count("edits whose process was killed before the answer", story.count('w', Fate::Unknown));
    outcome.count("foreign writes", story.count('f', Fate::Acknowledged));
    outcome.count("foreign writes into a file just replaced", story.count('f', Fate::Unknown));
    outcome.count("lines that a foreign writer overwrote", story.overwritten.len());
    outcome.count("lines that a foreign writer put back", story.put_back.len());
    outcome.count("milliseconds", took.as_millis());
}

/// A worker that runs.
#[derive(Debug)]
struct Process {
    torture: PathBuf,
    kind: &'static str,
    task: Task,
    child: Child,
    done: bool,
}

impl Process {
    fn start(torture: &Path, kind: &'static str, task: Task) -> Result<Self, String> {
        let child = spawn(torture, kind, &task)?;
        Ok(Self { torture: torture.into(), kind, task, child, done: false })
    }

    /// Kills it and lets another one take over.
    fn replace(&mut self) -> Result<(), String> {
        self.child
            .kill()
            .and_then(|()| self.child.wait())
            .map_err(|error| format!("a kill failed: {error}"))?;
        self.child = spawn(&self.torture, self.kind, &self.task)?;
        Ok(())
    }

    /// Notes whether it has ended; if it failed, that is an error.
    fn look(&mut self) -> Result<(), String> {
        let ended = self.child.try_wait().map_err(|error| format!("a worker cannot be watched: {error}"))?;
        match ended {
            Some(status) if status.success() => self.done = true,
            Some(status) => {
                let said = self.child.stderr.take().and_then(|pipe| io::read_to_string(pipe).ok());
                return Err(format!(
                    "worker {} ended with {status}: {}",
                    self.task.name,
                    said.unwrap_or_default()
                ));
            }
            None => {}
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After an error others may still run.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(torture: &Path, kind: &str, task: &Task) -> Result<Child, String> {
    let mut command = Command::new(torture);
    command.args([worker::WORD, kind, &task.to_word()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().map_err(|error| format!("a worker cannot be started: {error}"))
}

/// Waits for the processes, killing some of them. Answers with how many were killed.
fn drive(processes: &mut [Process], kills: usize) -> Result<usize, String> {
    let mut random = Random::new(3_000);
    let mut killed = 0;
    loop {
        thread::sleep(Duration::from_millis(20 + random.next() % 100));
        for process in processes.iter_mut().filter(|process| !process.done) {
            process.look()?;
        }
        let mut running: Vec<&mut Process> = processes.iter_mut().filter(|process| !process.done).collect();
        if running.is_empty() {
            return Ok(killed);
        }
        if killed < kills {
            let victim = random.below(running.len());
            running[victim].replace()?;
            killed += 1;
        }
    }
}

fn wait(processes: &mut [Process]) -> Result<(), String> {
    while processes.iter().any(|process| !process.done) {
        thread::sleep(Duration::from_millis(5));
        for process in processes.iter_mut().filter(|process| !process.done) {
            process.look()?;
        }
    }
    Ok(())
}
