//! `slipstitch write`: write a whole file.

use clap::Args;
use slipstitch::core::outcome::{Outcome, Unplaced};
use slipstitch::core::plan::{EditPlan, FilePlan, IfMissing, Operation};

use crate::change::{ChangeOptions, WHOLE_FILE_RULES};
use crate::file_argument::file_name;
use crate::global::Global;
use crate::input::Content;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch write notes/todo.md --content '- first'
  generate | slipstitch write data.csv
  slipstitch write data.csv --from /tmp/new.csv --version b3:…
  slipstitch write LICENSE --create --from - < template";

/// Write a whole file, creating it and its folders if needed
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Write {
    /// The file, relative to the working folder or to `--root`
    #[arg(value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    file: String,
    #[command(flatten)]
    content: Content,
    /// Refuse if the file already exists
    #[arg(long)]
    create: bool,
    #[command(flatten)]
    options: ChangeOptions,
}

impl Write {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let content = self.content.read()?;
        let operation = if self.create {
            Operation::Create { content }
        } else {
            Operation::Overwrite { content, if_missing: IfMissing::Create }
        };
        let workspace = global.open()?;
        let path = global.file(&self.file, &workspace)?;
        let plan = FilePlan { path, version: self.options.version.clone(), operations: vec![operation] };
        let plan = EditPlan::new(vec![plan], WHOLE_FILE_RULES);
        let mut report = self.options.run_plan(&workspace, plan, "write");
        if self.create && report.outcome == Outcome::Unplaced(Unplaced::FileExists) {
            report.hint = Some("Leave out `--create` to replace its content.".into());
        }
        Ok(Box::new(report))
    }
}
