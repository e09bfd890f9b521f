//! Runs rigs: `torture [--long] [--unprotected] [RIG…]`.
#![allow(clippy::print_stdout, reason = "what it prints is its result")]

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use slipstitch_rigs::{Protection, RIGS, Rig, Scale, worker};

/// Tries to make Slipstitch lose, leak or half-write something.
#[derive(Debug, Parser)]
struct Options {
    /// Run for minutes instead of seconds
    #[arg(long)]
    long: bool,
    /// Switch the protection off that each rig watches; then a rig fails if it finds nothing
    #[arg(long)]
    unprotected: bool,
    /// The rigs to run [default: all]
    rigs: Vec<String>,
}

fn main() -> ExitCode {
    // Rigs start this program as a process of their own.
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((first, rest)) = words.split_first()
        && first == worker::WORD
    {
        return worker::run(rest);
    }
    let options = Options::parse();
    let mut chosen: Vec<&Rig> = Vec::new();
    for name in &options.rigs {
        match RIGS.iter().find(|rig| rig.name == name) {
            Some(rig) => chosen.push(rig),
            None => {
                let names: Vec<&str> = RIGS.iter().map(|rig| rig.name).collect();
                println!("there is no rig `{name}`; rigs: {}", names.join(", "));
                return ExitCode::from(2);
            }
        }
    }
    if chosen.is_empty() {
        chosen.extend(RIGS);
    }
    let scale = if options.long { Scale::Long } else { Scale::Quick };
    let protection = if options.unprotected { Protection::Off } else { Protection::On };
    let mut good = true;
    for rig in chosen {
        println!("{}: {}", rig.name, rig.about);
        let start = Instant::now();
        let outcome = (rig.run)(scale, protection);
        let fine = match protection {
            Protection::On => outcome.faults.is_empty(),
            Protection::Off => !outcome.faults.is_empty() || !outcome.skipped.is_empty(),
        };
        good &= fine;
        let verdict = if fine { "as it must be" } else { "NOT as it must be" };
        println!("{outcome}  {verdict}, {} s", start.elapsed().as_secs());
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
