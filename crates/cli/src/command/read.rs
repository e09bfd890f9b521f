//! `slipstitch read`: show a file's numbered lines.

use clap::Args;
use slipstitch::core::plan::{Folders, Footer, LinePrefix, LineRange, Plan, ReadOn, ReadPlan};

use crate::file_argument::file_name;
use crate::global::Global;
use crate::lines;
use crate::output::CommandResult;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  slipstitch read src/main.rs
  slipstitch read src/main.rs --lines 10-20
  slipstitch read src/main.rs --lines 100-
  slipstitch read old.txt --encoding shift_jis";

/// Show a file's numbered lines and its version
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Read {
    /// The file, relative to the working folder or to `--root`
    #[arg(value_parser = file_name())]
    file: String,
    /// Only these lines, such as 10-20, 10 or 10-
    #[arg(long, value_name = "LINES", value_parser = lines::parse_range)]
    lines: Option<LineRange>,
}

impl Read {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let _progress = Progress::start("Reading", global);
        let workspace = global.open()?;
        let plan = ReadPlan {
            path: global.file(&self.file, &workspace)?,
            first: self.lines.map(|lines| lines.first),
            last: self.lines.map(|lines| lines.last).filter(|last| *last != usize::MAX),
            budget: usize::MAX,
            folders: Folders::Refused,
            footer: Footer::Version,
            prefix: LinePrefix::Number,
            read_on: ReadOn::Line,
        };
        Ok(Box::new(workspace.run(Plan::Read(plan), "read")))
    }
}
