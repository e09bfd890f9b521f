//! `torture [--long] [--unprotected] [RIG]...`: runs the rigs and prints what they found.
#![allow(clippy::print_stdout, reason = "the printed findings are the result")]

use std::process::ExitCode;
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, FromArgMatches, Parser};
use slipstitch_rigs::{Protection, RIGS, Rig, Scale, worker};

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
    let mut all_passed = true;
    let mut chosen: Vec<&Rig> = options.rigs.iter().filter_map(|name| Rig::find(name)).collect();
    if chosen.is_empty() {
        chosen.extend(RIGS);
    }
    for rig in chosen {
        all_passed &= run_rig(rig, scale, protection);
    }
    if all_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_rig(rig: &Rig, scale: Scale, protection: Protection) -> bool {
    println!("{}: {}", rig.name, rig.injects);
    let start = Instant::now();
    let findings = (rig.run)(scale, protection);
    let passed = findings.passes(protection);
    let verdict = if passed { "passed" } else { "FAILED" };
    println!("{findings}  {verdict} in {} s", start.elapsed().as_secs());
    passed
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
