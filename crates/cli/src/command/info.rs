//! `slipstitch info`: describe a file.

use clap::Args;
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::Plan;
use slipstitch::core::report::Report;

use crate::args::Global;
use crate::names::Odd;
use crate::output::{Done, Outcome};
use crate::page::Page;

const EXAMPLES: &str = "\
Examples:
  slipstitch info src/main.rs
  slipstitch info src/main.rs --json";

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
        Ok(Box::new(Described(workspace.run(Plan::Info(path), "info"))))
    }
}

/// What is said of a file. Unlike other texts that are asked for, it has the file's name in it.
struct Described(Report);

impl Outcome for Described {
    fn status(&self) -> Status {
        self.0.status()
    }

    fn json(&self) -> serde_json::Result<String> {
        self.0.json()
    }

    fn write(&self, page: &mut Page) {
        let mut report = self.0.clone();
        report.text = report.text.map(|text| Odd::of(&self.0).escaped(&text));
        report.write(page);
    }
}
