//! `slipstitch move`: move a file.

use clap::Args;
use slipstitch::core::outcome::{Outcome, Unplaced};
use slipstitch::core::plan::{EditPlan, FilePlan, Operation, Overwriting};
use slipstitch::os_path::text_to_path;

use crate::change::{RunOptions, WHOLE_FILE_RULES};
use crate::file_argument::file_name;
use crate::global::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch move notes.txt docs/notes.md
  slipstitch move notes.txt docs/            keep the name
  slipstitch move a.txt b.txt --overwrite";

/// Move or rename a file, creating folders if needed
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Move {
    /// The file, relative to the working folder or to `--root`
    #[arg(value_name = "FROM", value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    from: String,
    /// Its new name, or a folder to move it to
    #[arg(value_name = "TO", value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    to: String,
    /// Replace a file that has the new name
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    run: RunOptions,
}

impl Move {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open()?;
        let path = global.file(&self.from, &workspace)?;
        let base = self.run_base(global);
        let is_folder = self.to.ends_with('/') || base.join(text_to_path(&self.to)).is_dir();
        let name = path.name();
        let to = match is_folder {
            true => format!("{}/{name}", self.to.trim_end_matches('/')),
            false => self.to.clone(),
        };
        let overwriting = if self.overwrite { Overwriting::Allowed } else { Overwriting::Refused };
        let operation = Operation::Move { to: global.file(&to, &workspace)?, overwriting };
        let plan = FilePlan { path, version: None, operations: vec![operation] };
        let mut report = self.run.run(&workspace, EditPlan::new(vec![plan], WHOLE_FILE_RULES), "move");
        if report.outcome == Outcome::Unplaced(Unplaced::FileExists) {
            report.hint = Some("Choose another name, or add `--overwrite` to replace that file.".into());
        }
        Ok(Box::new(report))
    }

    /// What relative arguments are relative to.
    fn run_base(&self, global: &Global) -> std::path::PathBuf {
        global.root.first().cloned().unwrap_or_default()
    }
}
