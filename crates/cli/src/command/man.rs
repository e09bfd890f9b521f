//! `slipstitch man`: manual pages.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCandidates;
use clap_mangen::Man;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use super::help::{commands, find_command};
use crate::command::parser;
use crate::error::CommandError;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch man | man -l -
  slipstitch man undo | man -l -
  slipstitch man --dir ~/.local/share/man/man1     then: man slipstitch-edit";

/// Print the manual page of the program or of a command, or write all of them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManPages {
    /// The command, such as `undo` or `review show`
    #[arg(value_name = "COMMAND", conflicts_with = "dir", add = ArgValueCandidates::new(commands))]
    words: Vec<String>,
    /// Write a page for each command into this folder, which is created if needed
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl ManPages {
    pub(super) fn run(self) -> CommandResult {
        let failed = |error: std::io::Error| -> CommandError {
            Report::custom(Status::Failed, "man", format!("cannot write the manual pages: {error}"))
                .hint("Choose another folder with `--dir`.")
                .into()
        };
        let Some(dir) = self.dir else {
            let mut page = Vec::new();
            let mut program = parser();
            program.build();
            let command = find_command(&mut program, &self.words)?;
            Man::new(command.clone()).render(&mut page).map_err(failed)?;
            let mut report = Report::custom(Status::Shown, "shown", "the manual page");
            report.text = Some(String::from_utf8_lossy(&page).trim_end().into());
            return Ok(Box::new(report));
        };
        std::fs::create_dir_all(&dir).map_err(failed)?;
        clap_mangen::generate_to(parser(), &dir).map_err(failed)?;
        let message = format!("wrote the manual pages to `{}`", dir.display());
        let mut report = Report::custom(Status::Shown, "written", message.clone());
        report.text = Some(message);
        Ok(Box::new(report))
    }
}
