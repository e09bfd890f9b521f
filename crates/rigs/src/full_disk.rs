//! Changes on a disk that runs full and then has space again.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use slipstitch::core::ports::journal::Filter;
use slipstitch::{Fsync, Workspace};

use crate::mount::Mount;
use crate::{Findings, Protection, Scale, TEMP_PREFIX, scratch};

/// Size of the disk in KiB.
const DISK_SIZE: u64 = 4096;

/// Free space in KiB at which each change is tried.
const FREE_SPACE: &[u64] = &[0, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 400];

/// Bytes that a change adds.
const ADDED: usize = 40 << 10;

/// Whether the journal is on the full disk.
const JOURNALS: &[(&str, bool)] = &[("journal elsewhere", false), ("journal on the full disk", true)];

/// Tries every kind of change with less and less space. With the protection off, files are overwritten in place.
pub(crate) fn run(_: Scale, protection: Protection) -> Findings {
    let mut findings = Findings::default();
    for &(name, on_full_disk) in JOURNALS {
        if let Err(error) = run_on_disk(name, on_full_disk, protection, &mut findings) {
            findings.fail(format!("{name}: rig error: {error}"));
        }
    }
    findings
}

/// The tools that this rig calls, by dialect and name.
#[cfg(test)]
pub(crate) fn tools_exercised() -> impl Iterator<Item = (&'static str, &'static str)> {
    CHANGES.iter().map(|change| {
        let (dialect, tool, _) = (change.tool_call)();
        (dialect, tool)
    })
}

fn run_on_disk(
    name: &str,
    journal_on_disk: bool,
    protection: Protection,
    findings: &mut Findings,
) -> Result<(), String> {
    let base = scratch::create_in_memory().map_err(|error| error.to_string())?;
    let path = base.path().join("disk");
    let mount = match Mount::tmpfs(&path, DISK_SIZE) {
        Ok(mount) => mount,
        Err(reason) => {
            findings.skipped.push(format!("{name}: cannot mount a small disk: {reason}"));
            return Ok(());
        }
    };
    let state = if journal_on_disk { path.join("state") } else { base.path().join("state") };
    let disk = Disk { path, state };
    let (mut applied, mut refused) = (0_u64, 0_u64);
    for &free in FREE_SPACE {
        for change in CHANGES {
            match disk.try_change(change, free, protection)? {
                Attempt::Applied => applied += 1,
                Attempt::Refused => refused += 1,
                Attempt::Failed(failure) => {
                    findings.fail(format!("{name}, {free} KiB free, {}: {failure}", change.name));
                }
            }
        }
    }
    mount.unmount()?;
    findings.count(format!("{name}: changes applied"), applied);
    findings.count(format!("{name}: changes refused"), refused);
    if protection == Protection::On && (applied == 0 || refused == 0) {
        findings.fail(format!("{name}: rig error: the disk was never full, or always"));
    }
    Ok(())
}

/// A change and the tool call that makes it.
struct Change {
    name: &'static str,
    tool_call: fn() -> ToolCall,
}

/// A dialect, a tool and its arguments.
type ToolCall = (&'static str, &'static str, serde_json::Value);

const CHANGES: &[Change] = &[
    Change {
        name: "edit",
        tool_call: || {
            ("native", "edit_file", json!({"path": "a.txt", "old_text": "first", "new_text": added_text()}))
        },
    },
    Change { name: "append", tool_call: || write_file("a.txt", "append") },
    Change { name: "overwrite", tool_call: || write_file("a.txt", "overwrite") },
    Change { name: "create", tool_call: || write_file("new/deep/c.txt", "create") },
    Change { name: "two files", tool_call: || ("native", "patch", json!({"patch": patch_two_files()})) },
    Change { name: "undo", tool_call: || ("native", "undo_edit", json!({})) },
];

fn write_file(path: &str, mode: &str) -> ToolCall {
    ("native", "write_file", json!({"path": path, "mode": mode, "content": added_text()}))
}

fn added_text() -> String {
    "sixteen letters\n".repeat(ADDED / 16)
}

fn patch_two_files() -> String {
    let added: String = added_text().lines().map(|line| format!("+{line}\n")).collect();
    let section = |name: &str| format!("*** Update File: {name}\n@@\n first\n{added}");
    format!("*** Begin Patch\n{}{}*** End Patch\n", section("a.txt"), section("b.txt"))
}

/// How a change on a full disk ended.
enum Attempt {
    Applied,
    Refused,
    Failed(String),
}

/// Paths and contents of files; folders have no content.
type Files = Vec<(PathBuf, Vec<u8>)>;

struct Disk {
    path: PathBuf,
    /// State folder of the workspace.
    state: PathBuf,
}

impl Disk {
    fn root(&self) -> PathBuf {
        self.path.join("root")
    }

    /// Creates fresh files, fills the disk up to `free` KiB, makes the change, and frees the space again.
    fn try_change(&self, change: &Change, free: u64, protection: Protection) -> Result<Attempt, String> {
        let failed = |error: std::io::Error| error.to_string();
        let _ = fs::remove_dir_all(self.root());
        let _ = fs::remove_dir_all(&self.state);
        fs::create_dir_all(self.root()).map_err(failed)?;
        let old = format!("first\n{}", "old line\n".repeat(4 << 10));
        for name in ["a.txt", "b.txt"] {
            fs::write(self.root().join(name), &old).map_err(failed)?;
        }
        let workspace = self.open()?;
        // Gives `undo` something to revert.
        let edit = json!({"path": "a.txt", "old_text": "first\n", "new_text": "first\nsecond\n"});
        let first = workspace.call("native", "edit_file", edit);
        if !first.report.is_success() {
            return Err(first.text);
        }
        let before = self.read_files().map_err(failed)?;
        self.fill(free).map_err(failed)?;
        let attempt = match protection {
            Protection::On => self.call_engine(&workspace, change, &before),
            Protection::Off => self.overwrite_in_place(change, &before),
        };
        self.free_space().map_err(failed)?;
        match (attempt, protection) {
            (Attempt::Refused, Protection::On) => self.retry_with_space(workspace, change),
            (attempt, _) => Ok(attempt),
        }
    }

    fn open(&self) -> Result<Workspace, String> {
        let config = self.path.join("config.toml");
        fs::write(&config, "[editors]\nemacs = false\n").map_err(|error| error.to_string())?;
        let builder = Workspace::builder(self.root()).state_dir(&self.state).config(config);
        builder.fsync(Fsync::On).open().map_err(|error| error.to_string())
    }

    /// Fills the disk until `kilobytes` are free.
    fn fill(&self, kilobytes: u64) -> std::io::Result<()> {
        let mut filler = fs::File::create(self.path.join("filler"))?;
        let block = vec![0; 4 << 10];
        while self.free_bytes()? > kilobytes << 10 {
            std::io::Write::write_all(&mut filler, &block)?;
        }
        Ok(())
    }

    /// Removes the filler and waits until its space is available: a file system may release it later.
    fn free_space(&self) -> std::io::Result<()> {
        let filler = self.path.join("filler");
        let expected = self.free_bytes()? + fs::metadata(&filler)?.len();
        fs::remove_file(filler)?;
        for _ in 0..500 {
            rustix::fs::syncfs(fs::File::open(&self.path)?)?;
            if self.free_bytes()? >= expected {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        Ok(())
    }

    fn free_bytes(&self) -> std::io::Result<u64> {
        let found = rustix::fs::statvfs(&self.path)?;
        Ok(found.f_bavail * found.f_frsize)
    }

    fn read_files(&self) -> std::io::Result<Files> {
        let mut files = Files::new();
        collect_files(&self.root(), &mut files)?;
        files.sort();
        Ok(files)
    }

    fn call_engine(&self, workspace: &Workspace, change: &Change, before: &Files) -> Attempt {
        let (dialect, tool, arguments) = (change.tool_call)();
        let answer = workspace.call(dialect, tool, arguments);
        let after = match self.read_files() {
            Ok(after) => after,
            Err(error) => return Attempt::Failed(error.to_string()),
        };
        let temporary = after.iter().find(|(path, _)| path.to_string_lossy().contains(TEMP_PREFIX));
        if let Some((path, _)) = temporary {
            return Attempt::Failed(format!("`{}` was left behind", path.display()));
        }
        if answer.report.is_success() {
            return match after == *before {
                true => Attempt::Failed("reported success, but nothing changed".into()),
                false => Attempt::Applied,
            };
        }
        if after != *before {
            return Attempt::Failed(format!("refused, but the files changed: {}", answer.text));
        }
        if !answer.text.contains("disk is full") || answer.report.hint.is_none() {
            return Attempt::Failed(format!(
                "the refusal does not say that the disk is full: {}",
                answer.text
            ));
        }
        Attempt::Refused
    }

    /// A refused change must work once there is space, in the same session and after reopening, and the journal must have
    /// exactly the applied changes.
    fn retry_with_space(&self, workspace: Workspace, change: &Change) -> Result<Attempt, String> {
        let (dialect, tool, arguments) = (change.tool_call)();
        let answer = workspace.call(dialect, tool, arguments);
        if !answer.report.is_success() {
            return Ok(Attempt::Failed(format!("still refused with space available: {}", answer.text)));
        }
        drop(workspace);
        let changes = self.open()?.log(&Filter::default()).map_err(|error| error.to_string())?.len();
        if changes != 2 {
            return Ok(Attempt::Failed(format!("the journal has {changes} changes instead of 2")));
        }
        Ok(Attempt::Refused)
    }

    /// Overwrites the file in place, as many tools do.
    fn overwrite_in_place(&self, change: &Change, before: &Files) -> Attempt {
        let path = self.root().join(if change.name == "create" { "c.txt" } else { "a.txt" });
        let length = before.first().map_or(0, |(_, bytes)| bytes.len()) + ADDED;
        match fs::write(&path, vec![b'x'; length]) {
            Ok(()) => Attempt::Applied,
            Err(error) => match self.read_files() {
                Ok(after) if after == *before => Attempt::Refused,
                _ => Attempt::Failed(format!("{error}, and the files changed")),
            },
        }
    }
}

fn collect_files(folder: &Path, files: &mut Files) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_files(&path, files)?;
            files.push((path, Vec::new()));
        } else {
            let bytes = fs::read(&path)?;
            files.push((path, bytes));
        }
    }
    Ok(())
}
