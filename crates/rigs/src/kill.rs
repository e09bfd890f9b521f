//! Kills the program at each system call and at random times.
//!
//! The system calls of an operation are listed, from the first that touches the root or the state; then the operation runs
//! once per call and is killed there. After the next start the files must be all old or all new with nothing left over, and
//! editing must continue from there.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::invariants::{self, Reported, Version};
use crate::operation::{OPERATIONS, Operation};
use crate::sampling::sample_in_order;
use crate::syscalls::{self, Injection, Syscall};
use crate::testbed::Testbed;
use crate::{FileSystem, Findings, Part, Protection, RenameFlags, RunOptions, Scale, parallel, scratch};

/// Counter for all kills.
const KILLS: &str = "killed";

/// Where the operations run, and how much of them.
struct Site<'a> {
    folder: &'a Path,
    rename_flags: RenameFlags,
    /// Whether the names of a file always show the same; a FUSE file system may cache the size for each name.
    has_coherent_links: bool,
    extent: Extent,
    scale: Scale,
    protection: Protection,
    /// The most kills of one operation.
    max_kills: usize,
    part: Option<Part>,
}

/// At which calls the program is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All of them, and at random times.
    All,
    /// Those with an effect and a sample of the others, and at random times.
    Sample,
    /// Those that add or remove a name, which is what depends on the file system.
    Names,
}

/// Runs the rig. With the protection off, the checks come before the next start could recover.
pub(crate) fn run(options: &RunOptions) -> Findings {
    let mut findings = Findings::default();
    if let Err(reason) = syscalls::check_strace() {
        findings.skipped.push(format!("kills at system calls: {reason}"));
        return findings;
    }
    findings.add_row("file system | rename flags | killed | left all old | left all new | anything else");
    for (file_system, rename_flags, extent) in sites(options) {
        let name = format!("{}, rename flags {}", file_system.name(), rename_flags.name());
        let mounted = match file_system.mount() {
            Ok(mounted) => mounted,
            Err(reason) => {
                findings.skipped.push(format!("{name}: {reason}"));
                continue;
            }
        };
        // Kept until the end, like the mount.
        let scratch = scratch::create(options.scale);
        let folder: PathBuf = match (&mounted, &scratch) {
            (Some(mounted), _) => mounted.folder.clone(),
            (None, Ok(scratch)) => scratch.path().into(),
            (None, Err(error)) => return Findings::failed(format!("rig error: {error}")),
        };
        let site = Site {
            folder: &folder,
            rename_flags,
            has_coherent_links: file_system != FileSystem::Fuse,
            extent,
            scale: options.scale,
            protection: options.protection,
            max_kills: options.max_kills.map_or(usize::MAX, |max| max.div_ceil(OPERATIONS.len())),
            part: options.part,
        };
        let mut part = run_at(&site);
        let [killed, old, new] = [KILLS, "left all old", "left all new"].map(|name| part.get_count(name));
        findings.add_row(format!(
            "{} | {} | {killed} | {old} | {new} | {}",
            file_system.name(),
            rename_flags.name(),
            part.failures.len()
        ));
        let failures = std::mem::take(&mut part.failures);
        findings.merge(part);
        findings.fail_at(&name, failures);
    }
    findings
}

/// The file systems and modes to run on.
fn sites(options: &RunOptions) -> Vec<(FileSystem, RenameFlags, Extent)> {
    use {FileSystem as Fs, RenameFlags as Flags};
    let is_chosen = !options.file_systems.is_empty() || !options.rename_flags.is_empty();
    match (options.scale, options.protection) {
        (_, Protection::Off) if !is_chosen => {
            vec![(Fs::Temporary, Flags::On, Extent::Sample), (Fs::Temporary, Flags::Off, Extent::Names)]
        }
        (Scale::Quick, _) if !is_chosen => vec![
            (Fs::Temporary, Flags::On, Extent::Sample),
            (Fs::Temporary, Flags::Off, Extent::Names),
            (Fs::Fuse, Flags::On, Extent::Names),
        ],
        (scale, _) => {
            let all: Vec<Fs> =
                Fs::ALL.iter().map(|(kind, _)| *kind).filter(|kind| *kind != Fs::Temporary).collect();
            let chosen = if options.file_systems.is_empty() { &all } else { &options.file_systems };
            let modes = match options.rename_flags.as_slice() {
                [] => &[Flags::On, Flags::Off][..],
                modes => modes,
            };
            let extent = if scale == Scale::Long { Extent::All } else { Extent::Sample };
            chosen.iter().flat_map(|kind| modes.iter().map(|mode| (*kind, *mode, extent))).collect()
        }
    }
}

fn run_at(site: &Site<'_>) -> Findings {
    let operations: Vec<(usize, Operation)> = OPERATIONS
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, operation)| site.has_coherent_links || !operation.has_hard_link())
        .collect();
    parallel::run_each(&operations, |&(number, operation)| {
        let mut findings = kill_at_syscalls(site, number, operation).unwrap_or_else(Findings::failed);
        // Killing `strace`, which switches the flags off, would not kill the program.
        if site.extent != Extent::Names && site.rename_flags == RenameFlags::On {
            let at_times = kill_at_random_times(site, number, operation);
            findings.merge(at_times.unwrap_or_else(Findings::failed));
        }
        findings
    })
}

fn kill_at_syscalls(site: &Site<'_>, number: usize, operation: Operation) -> Result<Findings, String> {
    let testbed = Testbed::in_folder(operation, site.folder, site.rename_flags)?;
    let calls = syscalls::list(&testbed)?;
    let mut findings = Findings::default();
    findings.count("operations", 1u64);
    findings.count("their system calls", calls.len());
    for call in choose_calls(calls, site, number) {
        let place = format!("{}, killed at {}", operation.name, call.label());
        match syscalls::run_with_injection(&testbed, &call, Injection::Kill) {
            Ok(run) if run.killed => {
                findings.count(KILLS, 1u64);
                findings.count("killed at a system call", 1u64);
                let copies = usize::from(operation.is_huge() && call.is_copy());
                findings.count(syscalls::HUGE_COPIES, copies);
                check(
                    &mut findings,
                    &testbed,
                    &place,
                    what_was_reported(&run.output.stdout),
                    site.protection,
                );
            }
            // The last call ends the process anyway, and a lock that was free in the first run may be taken in the second.
            Ok(_) => findings.count("system calls not reached in a second run", 1u64),
            Err(failure) => findings.fail(format!("{place}: {failure}")),
        }
    }
    Ok(findings)
}

/// The calls at which to kill.
fn choose_calls(mut calls: Vec<Syscall>, site: &Site<'_>, number: usize) -> Vec<Syscall> {
    if site.rename_flags == RenameFlags::Off {
        // One call cannot both fail and kill; a kill at the call before or after it has the same effect.
        calls.retain(|call| call.name != "renameat2");
    }
    let mut random = Rng::with_seed(number as u64);
    let chosen = match (site.extent, site.protection) {
        (Extent::All, Protection::On) => calls,
        (Extent::Names, _) => calls.into_iter().filter(Syscall::changes_names).collect(),
        (_, protection) => {
            let (effects, others): (Vec<Syscall>, Vec<Syscall>) =
                calls.into_iter().partition(Syscall::has_effect);
            let (effects, others) = match protection {
                Protection::On => (effects, sample_in_order(&mut random, others, 10)),
                Protection::Off => {
                    (sample_in_order(&mut random, effects, 12), sample_in_order(&mut random, others, 3))
                }
            };
            effects.into_iter().chain(others).collect()
        }
    };
    let chosen = chosen.into_iter().enumerate();
    let part = chosen.filter(|(index, _)| site.part.is_none_or(|part| part.contains(*index)));
    sample_in_order(&mut random, part.map(|(_, call)| call).collect(), site.max_kills)
}

fn what_was_reported(stdout: &str) -> Reported {
    if stdout.is_empty() { Reported::Nothing } else { Reported::Success }
}

fn check(
    findings: &mut Findings,
    testbed: &Testbed,
    place: &str,
    reported: Reported,
    protection: Protection,
) {
    let version = match protection {
        Protection::On => invariants::check(testbed, reported),
        Protection::Off => invariants::check_without_recovery(testbed),
    };
    match version {
        Ok(Version::Old) => findings.count("left all old", 1u64),
        Ok(Version::New) => findings.count("left all new", 1u64),
        Err(failures) => findings.fail_at(place, failures),
    }
}

/// Kills by the clock, which also hits between system calls and inside the kernel.
fn kill_at_random_times(site: &Site<'_>, number: usize, operation: Operation) -> Result<Findings, String> {
    let wanted = match site.scale {
        Scale::Quick => 8,
        Scale::Long => 2_000usize.div_ceil(OPERATIONS.len()),
    };
    let wanted = site.part.map_or(wanted, |part| part.share(wanted)).min(site.max_kills / 4);
    let testbed = Testbed::in_folder(operation, site.folder, site.rename_flags)?;
    let mut findings = Findings::default();
    let part = site.part.map_or(0, Part::seed);
    let mut random = Rng::with_seed(1_000 + part + number as u64);
    let place = format!("{}, killed at a random time", operation.name);
    let mut killed = 0;
    // A run that finishes before its kill does not count and is repeated, but not forever.
    for _ in 0..wanted * 4 {
        if killed == wanted {
            break;
        }
        match kill_once(&testbed, &mut random) {
            Ok(None) => {}
            Ok(Some(reported)) => {
                killed += 1;
                check(&mut findings, &testbed, &place, reported, site.protection);
            }
            Err(failure) => findings.fail(format!("{place}: {failure}")),
        }
    }
    findings.count(KILLS, killed);
    findings.count("killed at a random time", killed);
    Ok(findings)
}

/// Starts the operation and kills it within 15 ms; `None` if it finished before that.
fn kill_once(testbed: &Testbed, random: &mut Rng) -> Result<Option<Reported>, String> {
    testbed.reset()?;
    let failed = |error: std::io::Error| format!("cannot run `slipstitch`: {error}");
    let start = Instant::now();
    let mut child = testbed.command(&testbed.operation_command()).spawn().map_err(failed)?;
    let wait = Duration::from_micros(random.u64(..15_000));
    thread::sleep(wait.saturating_sub(start.elapsed()));
    if child.try_wait().map_err(failed)?.is_some() {
        return Ok(None);
    }
    child.kill().map_err(failed)?;
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        return Ok(None);
    }
    Ok(Some(what_was_reported(&String::from_utf8_lossy(&output.stdout))))
}
