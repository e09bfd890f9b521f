//! Power cuts during edits: every acknowledged edit must survive.
//!
//! An ext4 file system on a loop device is shut down without flushing its log (`FS_IOC_SHUTDOWN`). Whatever has not reached
//! the device is lost, as in a power cut. Mounting it again replays the part of the log that reached it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use slipstitch::core::ports::journal::Filter;
use slipstitch::{Fsync, Workspace};

use crate::mount::Mount;
use crate::{Findings, Protection, Scale, TEMP_PREFIX, program, scratch};

/// Size of the file system.
const DISK_BYTES: u64 = 64 << 20;

/// How many files one edit displaces: two are changed and one is moved.
const DISPLACED_PER_EDIT: u64 = 3;

/// Calls `FS_IOC_SHUTDOWN` (`_IOR('X', 125, u32)`) with `FS_SHUTDOWN_FLAGS_NOLOGFLUSH`.
const SHUTDOWN: &str = "import fcntl, os, struct, sys\n\
    fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))\n";

/// Cuts the power at different moments. With the protection off, edits do not wait for the disk.
pub(crate) fn run(scale: Scale, protection: Protection) -> Findings {
    let mut findings = Findings::default();
    let rounds = match scale {
        Scale::Quick => 4,
        Scale::Long => 60,
    };
    let mut totals = LineTotals::default();
    for round in 0..rounds {
        match cut_power(round, protection, &mut totals) {
            Ok(failures) => findings.fail_at(&format!("cut {round}"), failures),
            Err(CutError::Unsupported(reason)) => {
                findings.skipped.push(format!("cannot simulate a power cut: {reason}"));
                break;
            }
            Err(CutError::Rig(error)) => findings.fail(format!("cut {round}: rig error: {error}")),
        }
    }
    findings.count("power cuts", totals.cuts);
    findings.count("edits acknowledged before a cut", totals.acknowledged);
    findings.count("acknowledged edits lost", totals.lost);
    findings.count("old versions that the last edit before a cut left behind", totals.left_behind);
    findings
}

#[derive(Debug, Default)]
struct LineTotals {
    cuts: u64,
    acknowledged: u64,
    lost: u64,
    left_behind: u64,
}

enum CutError {
    /// The machine does not support it.
    Unsupported(String),
    /// The rig itself failed.
    Rig(String),
}

impl From<String> for CutError {
    fn from(error: String) -> Self {
        Self::Rig(error)
    }
}

fn cut_power(round: u64, protection: Protection, totals: &mut LineTotals) -> Result<Vec<String>, CutError> {
    let base = scratch::create_in_memory().map_err(|error| error.to_string())?;
    let (disk, image) = (base.path().join("disk"), base.path().join("image"));
    let file = fs::File::create(&image).map_err(|error| error.to_string())?;
    file.set_len(DISK_BYTES).map_err(|error| error.to_string())?;
    program::run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image)).map_err(CutError::Unsupported)?;
    let mount = Mount::image(&disk, &image).map_err(CutError::Unsupported)?;
    create_files(&disk)?;
    let workspace = open(&disk, protection)?;
    // The initial files are on the device, so that only edits can be lost.
    program::run(Command::new("sync").arg("-f").arg(&disk))?;
    let acknowledged = AtomicU64::new(0);
    let acknowledged = std::thread::scope(|scope| {
        let worker = scope.spawn(|| edit_until_error(&workspace, &acknowledged));
        // At a different moment each time, from the first edit to after many of them.
        std::thread::sleep(Duration::from_millis(150 + round * 173 % 900));
        shut_down(&disk).map_err(CutError::Unsupported)?;
        worker.join().map_err(|_| CutError::Rig("the editing thread panicked".into()))
    })?;
    drop(workspace);
    mount.unmount()?;
    let mount = Mount::image(&disk, &image)?;
    totals.cuts += 1;
    totals.acknowledged += acknowledged;
    let failures = check_disk(&disk, acknowledged, protection, totals)?;
    mount.unmount()?;
    Ok(failures)
}

fn create_files(disk: &Path) -> Result<(), String> {
    let root = disk.join("root");
    fs::create_dir(&root).map_err(|error| error.to_string())?;
    fs::write(disk.join("config.toml"), "[editors]\nemacs = false\n").map_err(|error| error.to_string())?;
    for name in ["a.txt", "b.txt", "moving-0.txt"] {
        fs::write(root.join(name), "count 0\n").map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn open(disk: &Path, protection: Protection) -> Result<Workspace, String> {
    let fsync = match protection {
        Protection::On => Fsync::On,
        Protection::Off => Fsync::Off,
    };
    let builder =
        Workspace::builder(disk.join("root")).state_dir(disk.join("state")).config(disk.join("config.toml"));
    builder.fsync(fsync).open().map_err(|error| error.to_string())
}

/// Counts up in the files until an edit fails, and returns the number of acknowledged edits. Each edit changes two files,
/// creates one and moves one.
fn edit_until_error(workspace: &Workspace, acknowledged: &AtomicU64) -> u64 {
    loop {
        let current = acknowledged.load(Ordering::Relaxed);
        let next = current + 1;
        let hunk = format!("@@\n-count {current}\n+count {next}\n");
        let update = |name: &str| format!("*** Update File: {name}\n{hunk}");
        let create = format!("*** Add File: created/{next}.txt\n+count {next}\n");
        let rename = format!("*** Update File: moving-{current}.txt\n*** Move to: moving-{next}.txt\n{hunk}");
        let sections = [update("a.txt"), update("b.txt"), create, rename].concat();
        let patch = format!("*** Begin Patch\n{sections}*** End Patch\n");
        if !workspace.call("native", "patch", json!({"patch": patch})).report.is_success() {
            return current;
        }
        acknowledged.store(next, Ordering::Relaxed);
    }
}

/// The files after this many edits, with the count in each.
fn expected_files(edits: u64) -> BTreeMap<String, u64> {
    let created = (1..=edits).map(|number| (format!("created/{number}.txt"), number));
    let others = ["a.txt".into(), "b.txt".into(), format!("moving-{edits}.txt")].map(|name| (name, edits));
    created.chain(others).collect()
}

/// The number of old versions next to the files. An edit does not wait until they are removed.
fn count_left_behind(root: &Path) -> std::io::Result<u64> {
    let names: Result<Vec<_>, _> =
        fs::read_dir(root)?.map(|entry| entry.map(|entry| entry.file_name())).collect();
    Ok(names?.iter().filter(|name| name.to_string_lossy().starts_with(TEMP_PREFIX)).count() as u64)
}

/// The files on disk without temporary ones, with the count in each; `u64::MAX` for a file without a count.
fn read_files(root: &Path) -> std::io::Result<BTreeMap<String, u64>> {
    let mut files = BTreeMap::new();
    for folder in ["", "created/"] {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { continue };
        for entry in entries {
            let path = entry?.path();
            if path.is_file() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if name.starts_with(TEMP_PREFIX) {
                    continue;
                }
                files.insert(format!("{folder}{name}"), read_count(&path).unwrap_or(u64::MAX));
            }
        }
    }
    Ok(files)
}

fn shut_down(disk: &Path) -> Result<(), String> {
    let by_python = program::run(Command::new("python3").args(["-c", SHUTDOWN]).arg(disk));
    by_python.or_else(|_| program::run(Command::new("xfs_io").args(["-x", "-c", "shutdown"]).arg(disk)))
}

/// Checks the remounted disk.
fn check_disk(
    disk: &Path,
    acknowledged: u64,
    protection: Protection,
    totals: &mut LineTotals,
) -> Result<Vec<String>, String> {
    let mut failures = Vec::new();
    let workspace = match open(disk, protection) {
        Ok(workspace) => workspace,
        Err(error) => {
            totals.lost += acknowledged;
            return Ok(vec![format!("cannot open the workspace: {error}")]);
        }
    };
    let root = disk.join("root");
    let left_behind = count_left_behind(&root).map_err(|error| error.to_string())?;
    totals.left_behind += left_behind;
    if left_behind > DISPLACED_PER_EDIT {
        failures.push(format!("{left_behind} temporary files left behind, more than one edit can leave"));
    }
    let survived = read_count(&root.join("a.txt")).unwrap_or(0);
    let files = read_files(&root).map_err(|error| error.to_string())?;
    let expected = expected_files(survived);
    let differs = |name: &&String| files.get(*name) != expected.get(*name);
    if let Some(name) = files.keys().chain(expected.keys()).find(differs) {
        let (found, wanted) = (files.get(name), expected.get(name));
        failures.push(format!("after {survived} edits `{name}` is {found:?} instead of {wanted:?}"));
    }
    if survived < acknowledged {
        totals.lost += acknowledged - survived;
        failures.push(format!("{acknowledged} edits were acknowledged, but only {survived} survived"));
    }
    // The edit in progress may have survived too.
    if survived > acknowledged + 1 {
        failures.push(format!("{survived} edits survived, but only {acknowledged} were acknowledged"));
    }
    let log = workspace.log(&Filter::default()).map_err(|error| error.to_string())?;
    if (log.len() as u64) < acknowledged {
        failures.push(format!("the journal has {} of {acknowledged} changes", log.len()));
    }
    if acknowledged > 0 && failures.is_empty() {
        let answer = workspace.call("native", "undo_edit", json!({}));
        let files = read_files(&root).map_err(|error| error.to_string())?;
        if !answer.report.is_success() || files != expected_files(survived - 1) {
            failures.push(format!("the last edit cannot be undone: {}", answer.text));
        }
    }
    Ok(failures)
}

fn read_count(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().strip_prefix("count ")?.parse().ok()
}
