//! `slipstitch info`: describe a file.

use clap::Args;
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::Plan;
use slipstitch::core::report::Report;

use crate::escape::UnsafeNames;
use crate::file_argument::file_name;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::streams::Streams;
use crate::wording::address_a_person;

const EXAMPLES: &str = "\
Examples:
  slipstitch info src/main.rs
  slipstitch info src/main.rs --json";

/// Show a file's version, size, line count, line endings and encoding
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Info {
    /// The file, relative to the working folder or to `--root`
    #[arg(value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    file: String,
}

impl Info {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open()?;
        let path = global.file(&self.file, &workspace)?;
        let mut report = workspace.run(Plan::Info(path), "info");
        address_a_person(&mut report);
        Ok(Box::new(InfoOutput(report)))
    }
}

/// A file's description. Unlike other shown text, it contains the file's name, which must be escaped.
struct InfoOutput(Report);

impl CommandOutput for InfoOutput {
    fn status(&self) -> Status {
        self.0.status()
    }

    fn json(&self) -> serde_json::Result<String> {
        self.0.json()
    }

    fn write(&self, streams: &mut Streams) {
        let mut report = self.0.clone();
        report.text = report.text.map(|text| UnsafeNames::in_report(&self.0).escape_in(&text));
        report.write(streams);
    }
}
