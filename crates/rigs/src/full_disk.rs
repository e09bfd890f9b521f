//! A disk that is full, and has room again.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use slipstitch::core::ports::journal::Filter;
use slipstitch::{Fsync, Workspace};

use crate::mount::Mounted;
use crate::{Outcome, Protection, Scale, scratch};

/// How large the disk is.
const KILOBYTES: u64 = 4096;

/// How much room is left when things are tried.
const LEFT: &[u64] = &[0, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 400];

/// How long the text is that is added.
const ADDED: usize = 40 << 10;

/// Where the journal is: beside a disk that is full, or on it.
const PLACES: &[(&str, bool)] = &[("the journal elsewhere", false), ("the journal on it", true)];

/// Tries every kind of change with less and less room. With the protection off, files are written over as they are.
pub fn run(_: Scale, protection: Protection) -> Outcome {
    let mut outcome = Outcome::default();
    for &(name, beside) in PLACES {
        if let Err(why) = fill(name, beside, protection, &mut outcome) {
            outcome.fault(format!("{name}: the rig does not work: {why}"));
        }
    }
    outcome
}

fn fill(name: &str, on_it: bool, protection: Protection, outcome: &mut Outcome) -> Result<(), String> {
    let base = scratch::folder().map_err(|error| error.to_string())?;
    let disk = base.path().join("disk");
    let mounted = match Mounted::in_memory(&disk, KILOBYTES) {
        Ok(mounted) => mounted,
        Err(why) => {
            outcome.skipped.push(format!("{name}: no small disk here: {why}"));
            return Ok(());
        }
    };
    let place = Place {
        disk: disk.clone(),
        state: if on_it { disk.join("state") } else { base.path().join("state") },
    };
    let (mut done, mut refused) = (0_u64, 0_u64);
    for &left in LEFT {
        for change in CHANGES {
            let what = format!("{name}, {left} KiB left, {}", change.name);
            match place.attempt(change, left, protection)? {
                Met::Done => done += 1,
                Met::Refused => refused += 1,
                Met::Wrong(why) => outcome.fault(format!("{what}: {why}")),
            }
        }
    }
    mounted.unmount()?;
    outcome.count(format!("{name}: changes done"), done);
    outcome.count(format!("{name}: changes refused"), refused);
    if protection == Protection::On && (done == 0 || refused == 0) {
        outcome.fault(format!("{name}: the disk was never full, or always"));
    }
    Ok(())
}

/// A kind of change, by tool and arguments.
struct Change {
    name: &'static str,
    call: fn() -> (&'static str, serde_json::Value),
}

const CHANGES: &[Change] = &[
    Change {
        name: "edit",
        call: || ("edit_file", json!({"path": "a.txt", "old_text": "first", "new_text": text()})),
    },
    Change {
        name: "append",
        call: || ("write_file", json!({"path": "a.txt", "mode": "append", "content": text()})),
    },
    Change {
        name: "overwrite",
        call: || ("write_file", json!({"path": "a.txt", "mode": "overwrite", "content": text()})),
    },
    Change {
        name: "create",
        call: || ("write_file", json!({"path": "new/deep/c.txt", "mode": "create", "content": text()})),
    },
    Change { name: "two files", call: || ("patch", json!({"patch": two_files()})) },
    Change { name: "undo", call: || ("undo_edit", json!({})) },
];

fn text() -> String {
    "sixteen letters\n".repeat(ADDED / 16)
}

fn two_files() -> String {
    let added: String = text().lines().map(|line| format!("+{line}\n")).collect();
    let hunk = |name: &str| format!("*** Update File: {name}\n@@\n first\n{added}");
    format!("*** Begin Patch\n{}{}*** End Patch\n", hunk("a.txt"), hunk("b.txt"))
}

enum Met {
    Done,
    Refused,
    Wrong(String),
}

/// The disk and where its changes are remembered.
struct Place {
    disk: PathBuf,
    state: PathBuf,
}

impl Place {
    fn root(&self) -> PathBuf {
        self.disk.join("root")
    }

    /// Starts anew, fills the disk but for some kilobytes, makes the change, and makes room again.
    fn attempt(&self, change: &Change, left: u64, protection: Protection) -> Result<Met, String> {
        let failed = |error: std::io::Error| error.to_string();
        let _ = fs::remove_dir_all(self.root());
        let _ = fs::remove_dir_all(&self.state);
        fs::create_dir_all(self.root()).map_err(failed)?;
        let old = format!("first\n{}", "old line\n".repeat(4 << 10));
        for name in ["a.txt", "b.txt"] {
            fs::write(self.root().join(name), &old).map_err(failed)?;
        }
        let workspace = self.open()?;
        // Something to take back.
        let edit = json!({"path": "a.txt", "old_text": "first\n", "new_text": "first\nsecond\n"});
        let first = workspace.call("native", "edit_file", edit);
        if !first.report.is_success() {
            return Err(first.text);
        }
        let before = self.files().map_err(failed)?;
        self.leave(left).map_err(failed)?;
        let met = match protection {
            Protection::On => self.by_engine(&workspace, change, &before),
            Protection::Off => self.by_hand(change, &before),
        };
        fs::remove_file(self.disk.join("filler")).map_err(failed)?;
        match (met, protection) {
            (Met::Refused, Protection::On) => self.with_room(workspace, change),
            (met, _) => Ok(met),
        }
    }

    fn open(&self) -> Result<Workspace, String> {
        let config = self.disk.join("config.toml");
        fs::write(&config, "[editors]\nemacs = false\n").map_err(|error| error.to_string())?;
        let open = Workspace::builder(self.root()).state_dir(&self.state).config(config).fsync(Fsync::On);
        open.open().map_err(|error| error.to_string())
    }

    /// Leaves so many kilobytes on the disk.
    fn leave(&self, kilobytes: u64) -> std::io::Result<()> {
        let mut filler = fs::File::create(self.disk.join("filler"))?;
        let free = || rustix::fs::statvfs(&self.disk).map(|found| found.f_bavail * found.f_frsize);
        let block = vec![0; 4 << 10];
        while free()? > kilobytes << 10 {
            std::io::Write::write_all(&mut filler, &block)?;
        }
        Ok(())
    }

    fn files(&self) -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
        let mut found = Vec::new();
        collect(&self.root(), &mut found)?;
        found.sort();
        Ok(found)
    }

    fn by_engine(&self, workspace: &Workspace, change: &Change, before: &[(PathBuf, Vec<u8>)]) -> Met {
        let (tool, arguments) = (change.call)();
        let answer = workspace.call("native", tool, arguments);
        let after = match self.files() {
            Ok(after) => after,
            Err(error) => return Met::Wrong(error.to_string()),
        };
        if let Some((path, _)) =
            after.iter().find(|(path, _)| path.to_string_lossy().contains(".slipstitch-"))
        {
            return Met::Wrong(format!("`{}` was left behind", path.display()));
        }
        if answer.report.is_success() {
            return if after == before { Met::Wrong("done, but nothing changed".into()) } else { Met::Done };
        }
        if after != before {
            return Met::Wrong(format!("refused, but the files are not as before: {}", answer.text));
        }
        if !answer.text.contains("disk is full") || answer.report.hint.is_none() {
            return Met::Wrong(format!("the refusal does not say that the disk is full: {}", answer.text));
        }
        Met::Refused
    }

    /// What was refused must work once there is room, in the same session and in the next; and the journal must
    /// hold what was done and nothing else.
    fn with_room(&self, workspace: Workspace, change: &Change) -> Result<Met, String> {
        let (tool, arguments) = (change.call)();
        let answer = workspace.call("native", tool, arguments);
        if !answer.report.is_success() {
            return Ok(Met::Wrong(format!("with room again: {}", answer.text)));
        }
        drop(workspace);
        let changes = self.open()?.log(&Filter::default()).map_err(|error| error.to_string())?.len();
        if changes != 2 {
            return Ok(Met::Wrong(format!("the journal has {changes} changes instead of 2")));
        }
        Ok(Met::Refused)
    }

    /// Writes over the files as many tools do.
    fn by_hand(&self, change: &Change, before: &[(PathBuf, Vec<u8>)]) -> Met {
        let path = self.root().join(if change.name == "create" { "c.txt" } else { "a.txt" });
        let longer = before.first().map_or(0, |(_, bytes)| bytes.len()) + ADDED;
        match fs::write(&path, vec![b'x'; longer]) {
            Ok(()) => Met::Done,
            Err(error) => match self.files() {
                Ok(after) if after == before => Met::Refused,
                _ => Met::Wrong(format!("{error}, and the files are not as before")),
            },
        }
    }
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
            found.push((path, Vec::new()));
        } else {
            let bytes = fs::read(&path)?;
            found.push((path, bytes));
        }
    }
    Ok(())
}
