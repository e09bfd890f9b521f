//! The options that every subcommand takes.

use std::path::PathBuf;

use clap::ColorChoice;
use clap_complete::ArgValueCandidates;
use slipstitch::core::text::Encoding;

use crate::complete;
use crate::project::Project;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The root folder; FILE arguments are then relative to it. Repeat it to add folders whose files are named by
    /// absolute path [default: the project around the working folder, found by slipstitch.toml or version control]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Where the journal and the locks are kept [env: SLIPSTITCH_STATE_DIR] [default: slipstitch in the XDG state folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// The settings file [default: slipstitch/config.toml in the XDG config folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The session to record changes under; `log`, `stats` and `review` show only this session, `undo` and `redo` revert its
    /// changes [env: SLIPSTITCH_SESSION] [default: cli]
    // The environment variables of `session` and `agent` are read in `workspace.rs`: lists filter by the options alone.
    #[arg(long, global = true, value_name = "NAME", add = ArgValueCandidates::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// The program to record as the author of changes [env: SLIPSTITCH_AGENT]; `log`, `undo`, `redo`, `stats` and `review`
    /// select its changes instead
    #[arg(long, global = true, value_name = "NAME", add = ArgValueCandidates::new(complete::agents))]
    pub(crate) agent: Option<String>,
    /// Read files in this encoding, such as windows-1252, instead of detecting it
    #[arg(long, global = true, value_name = "NAME", value_parser = Encoding::from_name)]
    pub(crate) encoding: Option<Encoding>,
    /// Do not wait until changes are on disk
    #[arg(long, global = true)]
    pub(crate) no_fsync: bool,
    /// Let the kernel confine this process to the roots and the state folder (Linux, Landlock)
    #[arg(long, global = true)]
    pub(crate) landlock: bool,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours; auto respects NO_COLOR, CLICOLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Do not show output that does not fit on the terminal in a pager (SLIPSTITCH_PAGER, else PAGER, else less)
    #[arg(long, global = true)]
    no_pager: bool,
    #[arg(skip)]
    pub(crate) project: Project,
}

/// Whether long output may be shown in a pager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paging {
    IfNeeded,
    Never,
}

impl Global {
    pub(crate) fn paging(&self) -> Paging {
        if self.no_pager { Paging::Never } else { Paging::IfNeeded }
    }
}
