//! The options that every subcommand takes.

use std::path::PathBuf;

use clap::{ColorChoice, Parser};
use incise::core::snapshot::Encoding;

use crate::command::Command;

const EXAMPLES: &str = "\
Examples:
  incise edit src/main.rs --old 'retries = 3' --new 'retries = 5'
  incise lines notes.txt 4-6 --new 'one line instead of three'
  incise patch changes.diff
  incise log --since 2h
  incise undo
  incise review accept p3
  incise call edit_file '{\"path\": \"a.txt\", \"old_text\": \"x\", \"new_text\": \"y\"}'

Exit codes:
  0  done, or nothing was left to do
  1  refused: no match, several matches, another version of the file, …
  2  the request is wrong: usage, paths, JSON, settings
  3  the system or the journal failed

`incise COMMAND --help` has examples for each command.";

/// Edits files at the right place or not at all, and takes edits back.
#[derive(Debug, Parser)]
#[command(name = "incise", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The folder that files are beneath; FILE arguments are relative to it [default: .]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Where the journal and the locks are [env: INCISE_STATE_DIR] [default: the XDG state folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// The settings to use [default: incise/config.toml in the XDG configuration folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The session that changes belong to; `log` shows only this one [env: INCISE_SESSION] [default: cli]
    // The variables of this and the next are read elsewhere: `log` filters by the options alone.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// The program on whose behalf changes are made; `log` shows only its changes [env: INCISE_AGENT]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Read files in this encoding, whatever their bytes suggest, such as windows-1252
    #[arg(long, global = true, value_name = "NAME", value_parser = Encoding::named)]
    pub(crate) encoding: Option<Encoding>,
    /// Do not wait until changes are on the disk
    #[arg(long, global = true)]
    pub(crate) no_fsync: bool,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Whether to use colours; auto heeds NO_COLOR
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
}
