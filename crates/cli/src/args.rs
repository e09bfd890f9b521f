//! The options that every subcommand takes.

use std::path::PathBuf;

use clap::{ColorChoice, Parser};
use slipstitch::core::text::Encoding;

use crate::command::Command;

const EXAMPLES: &str = "\
Examples:
  slipstitch edit src/main.rs --old 'retries = 3' --new 'retries = 5'
  slipstitch lines notes.txt 4-6 --new 'one line instead of three'
  slipstitch patch changes.diff
  slipstitch log --since 2h
  slipstitch undo
  slipstitch review accept p3
  slipstitch call edit_file '{\"path\": \"a.txt\", \"old_text\": \"x\", \"new_text\": \"y\"}'

Exit codes:
  0  done, or nothing was left to do
  1  refused: no match, several matches, another version of the file, …
  2  the request is wrong: usage, paths, JSON, settings
  3  the system or the journal failed

`slipstitch COMMAND --help` has examples for each command.";

/// Edits files at the right place or not at all, and takes edits back.
#[derive(Debug, Parser)]
#[command(name = "slipstitch", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The folder that files are beneath; FILE arguments are relative to it. Given again: another folder whose
    /// files can be used, by paths in full [default: .]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Where the journal and the locks are [env: SLIPSTITCH_STATE_DIR] [default: the XDG state folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// The settings to use [default: slipstitch/config.toml in the XDG configuration folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The session that changes belong to; `log` shows only this one [env: SLIPSTITCH_SESSION] [default: cli]
    // The variables of this and the next are read elsewhere: `log` filters by the options alone.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// The program on whose behalf changes are made; `log` shows only its changes [env: SLIPSTITCH_AGENT]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Read files in this encoding, whatever their bytes suggest, such as windows-1252
    #[arg(long, global = true, value_name = "NAME", value_parser = Encoding::named)]
    pub(crate) encoding: Option<Encoding>,
    /// Do not wait until changes are on the disk
    #[arg(long, global = true)]
    pub(crate) no_fsync: bool,
    /// Let the kernel confine this process to the roots and the state folder (Linux, Landlock)
    #[arg(long, global = true)]
    pub(crate) landlock: bool,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Whether to use colours; auto heeds NO_COLOR
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
}
