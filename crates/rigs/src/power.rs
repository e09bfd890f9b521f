//! The power goes while edits are made: what was acknowledged must be there when it is back.
//!
//! An ext4 file system on a loop device is shut down without writing its log (`FS_IOC_SHUTDOWN`): everything that
//! has not reached the device is gone, as after a power cut. Mounting it again replays what had reached it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use slipstitch::core::ports::journal::Filter;
use slipstitch::{Fsync, Workspace};

use crate::mount::{Mounted, run as complete};
use crate::{Outcome, Protection, Scale, scratch};

/// The size of the file system.
const BYTES: u64 = 64 << 20;

/// How the names of temporary files begin.
const TEMPORARY: &str = ".slipstitch-";

/// How many files one edit displaces: two that are changed and one that is moved.
const DISPLACED: u64 = 3;

/// Asks the kernel to drop everything that is not on the device: `_IOR('X', 125, u32)`, without flushing the log.
const SHUTDOWN: &str = "import fcntl, os, struct, sys\n\
    fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))\n";

/// Cuts the power at different moments. With the protection off, edits do not wait for the disk.
pub fn run(scale: Scale, protection: Protection) -> Outcome {
    let mut outcome = Outcome::default();
    let rounds = match scale {
        Scale::Quick => 4,
        Scale::Long => 60,
    };
    let mut sum = Sum::default();
    for round in 0..rounds {
        match cut(round, protection, &mut sum) {
            Ok(faults) => faults.into_iter().for_each(|fault| outcome.fault(format!("cut {round}: {fault}"))),
            Err(Trouble::Unable(why)) => {
                outcome.skipped.push(format!("no file system that can lose its power here: {why}"));
                break;
            }
            Err(Trouble::Broken(why)) => outcome.fault(format!("cut {round}: the rig does not work: {why}")),
        }
    }
    outcome.count("power cuts", sum.cuts);
    outcome.count("edits acknowledged before them", sum.acknowledged);
    outcome.count("of them gone", sum.lost);
    outcome.count("old versions that the last edit before a cut left beside", sum.left);
    outcome
}

#[derive(Debug, Default)]
struct Sum {
    cuts: u64,
    acknowledged: u64,
    lost: u64,
    left: u64,
}

enum Trouble {
    /// The machine does not allow it.
    Unable(String),
    /// It should have worked.
    Broken(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Broken(why)
    }
}

fn cut(round: u64, protection: Protection, sum: &mut Sum) -> Result<Vec<String>, Trouble> {
    let base = scratch::folder().map_err(|error| error.to_string())?;
    let (disk, image) = (base.path().join("disk"), base.path().join("image"));
    let file = fs::File::create(&image).map_err(|error| error.to_string())?;
    file.set_len(BYTES).map_err(|error| error.to_string())?;
    complete(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image)).map_err(Trouble::Unable)?;
    let mounted = Mounted::image(&disk, &image).map_err(Trouble::Unable)?;
    prepare(&disk)?;
    let workspace = open(&disk, protection)?;
    // Edits are on the device from the start, so that only the cut decides.
    complete(Command::new("sync").arg("-f").arg(&disk))?;
    let acknowledged = AtomicU64::new(0);
    let done = std::thread::scope(|scope| {
        let worker = scope.spawn(|| edit(&workspace, &acknowledged));
        // Another moment each time, from the middle of the first edits to many of them.
        std::thread::sleep(Duration::from_millis(150 + round * 173 % 900));
        let cut = shut_down(&disk);
        cut.map_err(Trouble::Unable)?;
        worker.join().map_err(|_| Trouble::Broken("the edits ended with a panic".into()))
    })?;
    drop(workspace);
    mounted.unmount()?;
    let mounted = Mounted::image(&disk, &image)?;
    sum.cuts += 1;
    sum.acknowledged += done;
    let faults = look(&disk, done, protection, sum)?;
    mounted.unmount()?;
    Ok(faults)
}

fn prepare(disk: &Path) -> Result<(), String> {
    let root = disk.join("root");
    fs::create_dir(&root).map_err(|error| error.to_string())?;
    fs::write(disk.join("config.toml"), "[editors]\nemacs = false\n").map_err(|error| error.to_string())?;
    for name in ["a.txt", "b.txt", "walker-0.txt"] {
        fs::write(root.join(name), "count 0\n").map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn open(disk: &Path, protection: Protection) -> Result<Workspace, String> {
    let fsync = match protection {
        Protection::On => Fsync::On,
        Protection::Off => Fsync::Off,
    };
    let open =
        Workspace::builder(disk.join("root")).state_dir(disk.join("state")).config(disk.join("config.toml"));
    open.fsync(fsync).open().map_err(|error| error.to_string())
}

/// Counts up until nothing is acknowledged any more; answers how far it came. Each edit changes two files, makes
/// one, and moves one.
fn edit(workspace: &Workspace, acknowledged: &AtomicU64) -> u64 {
    loop {
        let at = acknowledged.load(Ordering::Relaxed);
        let next = at + 1;
        let hunk = format!("@@\n-count {at}\n+count {next}\n");
        let update = |name: &str| format!("*** Update File: {name}\n{hunk}");
        let made = format!("*** Add File: made/{next}.txt\n+count {next}\n");
        let moved = format!("*** Update File: walker-{at}.txt\n*** Move to: walker-{next}.txt\n{hunk}");
        let sections = [update("a.txt"), update("b.txt"), made, moved].concat();
        let patch = format!("*** Begin Patch\n{sections}*** End Patch\n");
        if !workspace.call("native", "patch", json!({"patch": patch})).report.is_success() {
            return at;
        }
        acknowledged.store(next, Ordering::Relaxed);
    }
}

/// The files as they are after so many edits.
fn expected(edits: u64) -> BTreeMap<String, u64> {
    let made = (1..=edits).map(|number| (format!("made/{number}.txt"), number));
    let others = ["a.txt".into(), "b.txt".into(), format!("walker-{edits}.txt")].map(|name| (name, edits));
    made.chain(others).collect()
}

/// How many old versions the edit before the cut left beside the files: removing them is not waited for.
fn left_beside(root: &Path) -> std::io::Result<u64> {
    let names: Result<Vec<_>, _> =
        fs::read_dir(root)?.map(|entry| entry.map(|entry| entry.file_name())).collect();
    Ok(names?.iter().filter(|name| name.to_string_lossy().starts_with(TEMPORARY)).count() as u64)
}

/// The files as they are, with the number in each, temporary ones aside; what has none counts as none of an edit.
fn found(root: &Path) -> std::io::Result<BTreeMap<String, u64>> {
    let mut files = BTreeMap::new();
    for folder in ["", "made/"] {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { continue };
        for entry in entries {
            let path = entry?.path();
            if path.is_file() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if name.starts_with(TEMPORARY) {
                    continue;
                }
                files.insert(format!("{folder}{name}"), count(&path).unwrap_or(u64::MAX));
            }
        }
    }
    Ok(files)
}

fn shut_down(disk: &Path) -> Result<(), String> {
    let by_python = complete(Command::new("python3").args(["-c", SHUTDOWN]).arg(disk));
    by_python.or_else(|_| complete(Command::new("xfs_io").args(["-x", "-c", "shutdown"]).arg(disk)))
}

/// Looks at what is there after the power is back.
fn look(
    disk: &Path,
    acknowledged: u64,
    protection: Protection,
    sum: &mut Sum,
) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    let workspace = match open(disk, protection) {
        Ok(workspace) => workspace,
        Err(why) => {
            sum.lost += acknowledged;
            return Ok(vec![format!("nothing can be opened any more: {why}")]);
        }
    };
    let root = disk.join("root");
    let files = found(&root).map_err(|error| error.to_string())?;
    let left = left_beside(&root).map_err(|error| error.to_string())?;
    sum.left += left;
    if left > DISPLACED {
        faults.push(format!("{left} temporary files are left, more than one edit can leave"));
    }
    let least = count(&root.join("a.txt")).unwrap_or(0);
    let whole = expected(least);
    if let Some(name) = files.keys().chain(whole.keys()).find(|name| files.get(*name) != whole.get(*name)) {
        faults.push(format!(
            "after {least} edits `{name}` is {:?}, not {:?}",
            files.get(name),
            whole.get(name)
        ));
    }
    if least < acknowledged {
        sum.lost += acknowledged - least;
        faults.push(format!("{acknowledged} edits were acknowledged, and {least} are there"));
    }
    // The one that was being made may be there, too.
    if least > acknowledged + 1 {
        faults.push(format!("{least} edits are there, and only {acknowledged} were acknowledged"));
    }
    let log = workspace.log(&Filter::default()).map_err(|error| error.to_string())?;
    if (log.len() as u64) < acknowledged {
        faults.push(format!("the journal has {} of {acknowledged} changes", log.len()));
    }
    if acknowledged > 0 && faults.is_empty() {
        let answer = workspace.call("native", "undo_edit", json!({}));
        let back = found(&root).map_err(|error| error.to_string())?;
        if !answer.report.is_success() || back != expected(least - 1) {
            faults.push(format!("the last edit cannot be taken back: {}", answer.text));
        }
    }
    Ok(faults)
}

fn count(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().strip_prefix("count ")?.parse().ok()
}
