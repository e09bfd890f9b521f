//! `slipstitch patch`: apply a unified diff, a V4A patch or SEARCH/REPLACE blocks.

mod hunks;
mod partial;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use slipstitch::core::outcome::Status;
use slipstitch::core::patch::{Format, ParseOptions};
use slipstitch::core::plan::patch::{PatchDirection, PatchOptions, plan};
use slipstitch::core::plan::{ChangeId, EditPlan, ParseError};
use slipstitch::core::plan::{Overwriting, Tolerance};
use slipstitch::core::report::Report;

use crate::change::{RunOptions, run_mode};
use crate::error::CommandError;
use crate::file_argument::file_name;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::progress::Progress;
use crate::streams::Streams;
use crate::{input, wording};
use partial::{Leftovers, PartialPlan};

const EXAMPLES: &str = "\
Examples:
  slipstitch patch changes.diff
  git diff | slipstitch patch --reverse -
  slipstitch patch --check < model-output.txt
  slipstitch patch --path src/main.rs hunks-only.diff
  slipstitch patch --reject changes.diff      apply what fits, leave the rest in .rej files
  slipstitch patch --3way changes.diff        leave the rest between conflict markers

The format is detected: unified diff, V4A patch (*** Begin Patch) or SEARCH/REPLACE blocks.
All files change together or not at all, and one `slipstitch undo` reverts all of them. With
--reject or --3way, the exit code is 1 if something is left to do.";

/// Apply a patch to any number of files, all or nothing
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Patch {
    /// The patch file; `-` or nothing is standard input
    #[arg(value_name = "FILE")]
    patch: Option<PathBuf>,
    /// Only check whether the patch applies, without showing a diff
    #[arg(long)]
    check: bool,
    /// Apply the patch in reverse
    #[arg(long, short = 'R')]
    reverse: bool,
    /// Strip N leading folders from the paths of a unified diff [default: strip git's a/ and b/]
    #[arg(long = "strip", short = 'p', value_name = "N")]
    strip: Option<usize>,
    /// The patch format [default: detected]
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
    /// The file to patch, if the patch names none
    #[arg(long, value_name = "FILE", value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    path: Option<String>,
    /// Match lines exactly and do not repair the patch
    #[arg(long)]
    strict: bool,
    /// Apply the hunks that match, and write the others to FILE.rej
    #[arg(long, conflicts_with_all = ["check", "three_way"])]
    reject: bool,
    /// Apply the hunks that match, and leave the others at the closest place between conflict markers
    #[arg(long = "3way", short = '3', conflicts_with = "check")]
    three_way: bool,
    /// Allow creating or moving files over existing ones
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    run: RunOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatName {
    Unified,
    V4a,
    SearchReplace,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Unified => Self::Unified,
            FormatName::V4a => Self::V4a,
            FormatName::SearchReplace => Self::SearchReplace,
        }
    }
}

impl Patch {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let text = match self.patch.as_deref() {
            Some(file) => input::read_file(file)?,
            None => input::read_stdin_with_notice("a patch")?,
        };
        let _progress = Progress::start("Applying the patch", global);
        let workspace = global.open()?;
        let path = self.path.as_deref().map(|file| global.file(file, &workspace)).transpose()?;
        let options = PatchOptions {
            format: self.format.map(Format::from),
            parse_options: ParseOptions { strict: self.strict, strip: self.strip, ..ParseOptions::default() },
            direction: if self.reverse { PatchDirection::Reverse } else { PatchDirection::Forward },
            path: path.as_ref(),
            roots: workspace.root_names(),
            overwriting: if self.overwrite {
                Overwriting::Allowed
            } else {
                workspace.settings().patch.overwriting()
            },
            tolerance: if self.strict { Tolerance::Exact } else { Tolerance::Recover },
        };
        let make_plan = || -> Result<EditPlan, CommandError> {
            let plan = plan(&text, &options).map_err(parse_error_report)?;
            Ok(EditPlan { run: run_mode(self.check), ..plan })
        };
        let is_dry_run = self.run.dry_run;
        let mut report = self.run.run(&workspace, make_plan()?, "patch");
        if !report.failures.is_empty() || self.leftovers().is_some() {
            // Parsed again instead of copied: a patch can be large, and most of them apply.
            let plan = make_plan()?;
            hunks::name_failures(&mut report, &hunks::parts(&plan));
            if let Some(leftovers) = self.leftovers()
                && let Some(partial) = partial::without_failures(&plan, &report, leftovers, &workspace)
            {
                let report = self.run.run(&workspace, partial.plan.clone(), "patch");
                return Ok(Box::new(PartialOutput::new(report, &partial)));
            }
        }
        if self.check && !is_dry_run {
            (report.diff, report.raw_diff) = (None, None);
        }
        Ok(Box::new(PatchOutput(report)))
    }

    fn leftovers(&self) -> Option<Leftovers> {
        match (self.reject, self.three_way) {
            (true, _) => Some(Leftovers::Reject),
            (_, true) => Some(Leftovers::Conflict),
            _ => None,
        }
    }
}

/// The report of a patch. Hunks are named in the messages, so the numbers of edits are not shown as well.
struct PatchOutput(Report);

impl CommandOutput for PatchOutput {
    fn status(&self) -> Status {
        self.0.status()
    }

    fn change(&self) -> Option<ChangeId> {
        self.0.change
    }

    fn json(&self) -> serde_json::Result<String> {
        self.0.json()
    }

    fn write(&self, streams: &mut Streams) {
        if self.0.failures.is_empty() {
            return self.0.write(streams);
        }
        let mut report = self.0.clone();
        report.failures.iter_mut().for_each(|failure| failure.edit = None);
        report.write(streams);
    }
}

/// A patch that was applied in part.
struct PartialOutput {
    report: Report,
    /// Whether the patch has hunks that cannot be applied, apart from those that are already applied.
    is_incomplete: bool,
}

impl PartialOutput {
    fn new(mut report: Report, partial: &PartialPlan) -> Self {
        report.warnings.extend(partial.describe_leftovers(&report));
        let progress = partial.describe_progress();
        let is_incomplete = progress.is_some();
        match (report.status(), progress) {
            (Status::Applied | Status::WouldApply, Some(progress)) => {
                report.message = format!("{}; {progress}", report.message);
            }
            (Status::NoChange, Some(progress)) => {
                report.message = progress;
                report.hint = Some("Apply what is left by hand.".into());
            }
            _ => {}
        }
        Self { report, is_incomplete }
    }
}

impl CommandOutput for PartialOutput {
    /// Something is left to do, so this is no success for a script.
    fn status(&self) -> Status {
        match self.report.status() {
            Status::Applied | Status::WouldApply | Status::NoChange if self.is_incomplete => Status::Refused,
            status => status,
        }
    }

    fn change(&self) -> Option<ChangeId> {
        self.report.change
    }

    fn json(&self) -> serde_json::Result<String> {
        self.report.json()
    }

    fn write(&self, streams: &mut Streams) {
        self.report.write(streams);
    }
}

fn parse_error_report(error: ParseError) -> CommandError {
    let mut report = Report::from(error);
    wording::address_a_person(&mut report);
    report.into()
}
