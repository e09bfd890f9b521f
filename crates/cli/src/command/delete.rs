//! `slipstitch delete`: delete files.

use clap::Args;
use slipstitch::core::plan::{EditPlan, FilePlan, Operation};

use crate::change::{RunOptions, WHOLE_FILE_RULES};
use crate::file_argument::file_name;
use crate::file_set::FileSet;
use crate::global::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch delete old.txt
  slipstitch delete 'generated/*.json' --dry-run

`slipstitch undo` restores the files with their permissions.";

/// Delete files, all or none
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Delete {
    /// The files, relative to the working folder or to `--root`, or globs such as 'generated/*.json'
    #[arg(value_name = "FILE", required = true, value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    files: Vec<String>,
    #[command(flatten)]
    run: RunOptions,
}

impl Delete {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open()?;
        let files = FileSet::new(&self.files, &workspace, global)?;
        let plan = |path| FilePlan { path, version: None, operations: vec![Operation::Delete] };
        let plans = files.named.into_iter().chain(files.found).map(plan).collect();
        Ok(Box::new(self.run.run(&workspace, EditPlan::new(plans, WHOLE_FILE_RULES), "delete")))
    }
}
