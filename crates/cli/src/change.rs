//! What the subcommands that change one file have in common.

use clap::Args;
use slipstitch::core::outcome::Outcome;
use slipstitch::core::outcome::Refused;
use slipstitch::core::plan::{EditPlan, EditRules, FilePlan, Operation, Plan, Run, Shrink};
use slipstitch::core::text::VersionClaim;

use crate::args::Global;
use crate::consent::Consent;
use crate::output::Done;

#[derive(Debug, Args)]
pub(crate) struct ChangeOptions {
    /// The version that the edit is made for, as `read` and `info` show it: if the file has another, the edit is
    /// carried over what was done since elsewhere in it, or refused
    #[arg(long, value_name = "HASH", value_parser = VersionClaim::parse)]
    hash: Option<VersionClaim>,
    /// Show what would change and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// What the change is for, for the log
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    #[command(flatten)]
    consent: Consent,
}

impl ChangeOptions {
    /// Carries out one operation on one file.
    pub(crate) fn carry_out(self, file: &str, operation: Operation, tool: &str, global: &Global) -> Done {
        self.carry_out_shrinking(file, operation, Shrink::Guarded, tool, global)
    }

    /// The same; `shrink` says whether the file may lose most of its lines.
    pub(crate) fn carry_out_shrinking(
        self,
        file: &str,
        operation: Operation,
        shrink: Shrink,
        tool: &str,
        global: &Global,
    ) -> Done {
        let workspace = global.open()?;
        let path = global.file(file, &workspace)?;
        let plan = EditPlan {
            run: run(self.dry_run),
            description: self.description,
            ..EditPlan::new(
                vec![FilePlan { path, version: self.hash, operations: vec![operation] }],
                EditRules { shrink, ..EditRules::NATIVE },
            )
        };
        let mut report = self.consent.run(&workspace, Plan::Edit(plan), tool);
        if report.outcome == Outcome::Refused(Refused::ShrinksFile) {
            let hint = report.hint.unwrap_or_default();
            report.hint = Some(format!("{hint} If all of that is meant, add `--allow-shrink`."));
        }
        Ok(Box::new(report))
    }
}

/// What a `--dry-run` flag stands for.
pub(crate) fn run(dry: bool) -> Run {
    if dry { Run::Dry } else { Run::Real }
}

/// What an `--allow-shrink` flag stands for.
pub(crate) fn shrink(allowed: bool) -> Shrink {
    if allowed { Shrink::Allowed } else { Shrink::Guarded }
}
