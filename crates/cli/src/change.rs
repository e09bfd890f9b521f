//! Options and code shared by the subcommands that change one file.

use clap::Args;
use slipstitch::Workspace;
use slipstitch::core::outcome::Outcome;
use slipstitch::core::outcome::Refused;
use slipstitch::core::plan::{EditPlan, EditRules, FilePlan, IfAlreadyApplied, Operation, Plan, Run, Shrink};
use slipstitch::core::report::Report;
use slipstitch::core::text::VersionClaim;

use crate::consent::Consent;
use crate::global::Global;
use crate::output::CommandResult;

/// The rules of commands that create, delete and move files. Deleting a file that is gone, or creating one that exists, may be a
/// mistake in the path, so it is an error even if the result is already as requested. A patch says more about the file.
pub(crate) const WHOLE_FILE_RULES: EditRules =
    EditRules { if_already_applied: IfAlreadyApplied::NoMatch, ..EditRules::NATIVE };

#[derive(Debug, Args)]
pub(crate) struct ChangeOptions {
    /// The file version that the edit was made for, as shown by `read` and `info`. If the file has changed since, the
    /// edit is rebased over changes elsewhere in the file, or refused
    #[arg(long = "version", alias = "hash", value_name = "VERSION", value_parser = VersionClaim::parse)]
    pub(crate) version: Option<VersionClaim>,
    #[command(flatten)]
    run: RunOptions,
}

/// Options of every subcommand that runs an edit plan.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// Show what would change without writing it
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
    /// What the change is for, shown in the log
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    #[command(flatten)]
    consent: Consent,
}

impl RunOptions {
    /// Runs a plan, unless its caller or `--dry-run` asks for a dry run.
    pub(crate) fn run(&self, workspace: &Workspace, plan: EditPlan, tool: &str) -> Report {
        let run = if self.dry_run { Run::Dry } else { plan.run };
        let plan = EditPlan { run, description: self.description.clone(), ..plan };
        self.consent.run(workspace, Plan::Edit(plan), tool)
    }
}

impl ChangeOptions {
    /// Applies one operation to one file.
    pub(crate) fn apply(
        self,
        file: &str,
        operation: Operation,
        tool: &str,
        global: &Global,
    ) -> CommandResult {
        self.apply_with_rules(file, operation, EditRules::NATIVE, tool, global)
    }

    /// Like [`apply`](Self::apply), with other rules.
    pub(crate) fn apply_with_rules(
        self,
        file: &str,
        operation: Operation,
        rules: EditRules,
        tool: &str,
        global: &Global,
    ) -> CommandResult {
        let workspace = global.open()?;
        let path = global.file(file, &workspace)?;
        let file = FilePlan { path, version: self.version.clone(), operations: vec![operation] };
        Ok(Box::new(self.run_plan(&workspace, EditPlan::new(vec![file], rules), tool)))
    }

    /// Runs a plan.
    pub(crate) fn run_plan(&self, workspace: &Workspace, plan: EditPlan, tool: &str) -> Report {
        let mut report = self.run.run(workspace, plan, tool);
        if report.outcome == Outcome::Refused(Refused::ShrinksFile) {
            let hint = report.hint.unwrap_or_default();
            report.hint = Some(format!("{hint} To remove that much on purpose, add `--allow-shrink`."));
        }
        report
    }
}

pub(crate) fn run_mode(dry_run: bool) -> Run {
    if dry_run { Run::Dry } else { Run::Real }
}

pub(crate) fn shrink_rule(allow_shrink: bool) -> Shrink {
    if allow_shrink { Shrink::Allowed } else { Shrink::Guarded }
}
