//! `incise info`: describe a file.

use clap::Args;
use incise::core::plan::Plan;

use crate::args::Global;
use crate::output::Done;

const EXAMPLES: &str = "\
Examples:
  incise info src/main.rs
  incise info src/main.rs --json";

/// Describe a file: version, size, lines, line ends, encoding
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Info {
    /// The file, relative to the root
    file: String,
}

impl Info {
    pub(super) fn run(self, global: &Global) -> Done {
        let workspace = global.open()?;
        let path = global.file(&self.file, &workspace)?;
        Ok(Box::new(workspace.run(Plan::Info(path), "info")))
    }
}
