//! `torture [--long] [--unprotected] [RIG]...`: runs the rigs and prints what they found.
#![allow(clippy::print_stdout, reason = "the printed findings are the result")]

use std::process::ExitCode;
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, FromArgMatches, Parser};
use slipstitch_rigs::{FileSystem, Part, Protection, RIGS, RenameFlags, Rig, RunOptions, Scale, worker};

/// Fault-injection rigs for Slipstitch
///
/// Each rig runs real processes on real files, injects one kind of fault, and lists every guarantee that was broken.
/// Exits with 0 if all rigs pass, 1 if one fails.
#[derive(Debug, Parser)]
#[command(name = "torture")]
struct Options {
    /// Run at full length: minutes per rig instead of seconds
    #[arg(long)]
    long: bool,
    /// Switch off the protection that each rig tests; a rig then passes only if it finds failures
    #[arg(long)]
    unprotected: bool,
    /// File systems for `kill`, separated by commas: ext4, xfs, btrfs, tmpfs, overlay, fuse, temporary; `concurrency` knows
    /// fuse
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_file_system)]
    on: Vec<FileSystem>,
    /// Whether `renameat2` takes flags, for `kill`
    #[arg(long, value_name = "on,off", value_delimiter = ',', value_parser = parse_rename_flags)]
    flags: Vec<RenameFlags>,
    /// At most this many kills on each file system, with and without rename flags
    #[arg(long, value_name = "NUMBER")]
    kills: Option<usize>,
    /// One part of all kills, such as 3/20: every twentieth system call, from the third
    #[arg(long, value_name = "NUMBER/OF", value_parser = parse_part)]
    part: Option<Part>,
    /// Editing processes and edits of each for `concurrency`, such as 32x2000
    #[arg(long, value_name = "PROCESSESxEDITS", value_parser = parse_editing)]
    edits: Option<(usize, usize)>,
    /// Rigs to run [default: all]
    #[arg(value_name = "RIG", hide_possible_values = true, value_parser = PossibleValuesParser::new(RIGS.iter().map(|rig| rig.name)))]
    rigs: Vec<String>,
}

fn main() -> ExitCode {
    // Rigs start this program again as a worker process.
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some((first, rest)) = args.split_first()
        && first == worker::SUBCOMMAND
    {
        return worker::run(rest);
    }
    let matches = Options::command().after_help(list_rigs()).get_matches();
    let options = Options::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let scale = if options.long { Scale::Long } else { Scale::Quick };
    let protection = if options.unprotected { Protection::Off } else { Protection::On };
    let run_options = RunOptions {
        file_systems: options.on,
        rename_flags: options.flags,
        max_kills: options.kills,
        part: options.part,
        editing: options.edits,
        ..RunOptions::new(scale, protection)
    };
    let mut all_passed = true;
    let mut chosen: Vec<&Rig> = options.rigs.iter().filter_map(|name| Rig::find(name)).collect();
    if chosen.is_empty() {
        chosen.extend(RIGS);
    }
    for rig in chosen {
        all_passed &= run_rig(rig, &run_options);
    }
    if all_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_rig(rig: &Rig, options: &RunOptions) -> bool {
    println!("{}: {}", rig.name, rig.injects);
    let start = Instant::now();
    let findings = (rig.run)(options);
    let passed = findings.passes(options.protection);
    let verdict = if passed { "passed" } else { "FAILED" };
    println!("{findings}  {verdict} in {} s", start.elapsed().as_secs());
    passed
}

fn parse_file_system(name: &str) -> Result<FileSystem, String> {
    FileSystem::find(name).ok_or_else(|| {
        let known: Vec<&str> = FileSystem::ALL.iter().map(|(_, name)| *name).collect();
        format!("expected one of {}", known.join(", "))
    })
}

fn parse_rename_flags(name: &str) -> Result<RenameFlags, String> {
    let known = [RenameFlags::On, RenameFlags::Off];
    known.into_iter().find(|flags| flags.name() == name).ok_or_else(|| "expected `on` or `off`".into())
}

fn parse_part(text: &str) -> Result<Part, String> {
    Part::parse(text).ok_or_else(|| "expected a number and how many parts there are, such as 3/20".into())
}

fn parse_editing(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('x').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.ok_or_else(|| "expected two numbers, such as 32x2000".into())
}

/// The section of `--help` that says what each rig does and proves.
fn list_rigs() -> String {
    let mut text = String::from("Rigs:\n");
    for rig in RIGS {
        let root = if rig.needs_root { " (needs root)" } else { "" };
        text +=
            &format!("  {}{root}\n      injects: {}\n      proves:  {}\n", rig.name, rig.injects, rig.proves);
    }
    text
}
