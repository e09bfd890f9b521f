//! `slipstitch patch`: apply a unified diff, a V4A patch or SEARCH/REPLACE blocks.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use slipstitch::core::patch::{Format, ParseOptions};
use slipstitch::core::plan::ParseError;
use slipstitch::core::plan::patch::{PatchDirection, PatchOptions, plan};
use slipstitch::core::plan::{Overwriting, Tolerance};
use slipstitch::core::report::Report;

use crate::change::{RunOptions, run_mode};
use crate::error::CommandError;
use crate::global::Global;
use crate::input;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch patch changes.diff
  git diff | slipstitch patch --reverse -
  slipstitch patch --check < model-output.txt
  slipstitch patch --path src/main.rs hunks-only.diff

The format is detected: unified diff, V4A patch (*** Begin Patch) or SEARCH/REPLACE blocks.
All files change together or not at all, and one `slipstitch undo` reverts all of them.";

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
    #[arg(long, value_name = "FILE")]
    path: Option<String>,
    /// Match lines exactly and do not repair the patch
    #[arg(long)]
    strict: bool,
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
            None => input::read_stdin()?,
        };
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
        let mut plan = plan(&text, &options).map_err(parse_error_report)?;
        plan.run = run_mode(self.check);
        let is_dry_run = self.run.dry_run;
        let mut report = self.run.run(&workspace, plan, "patch");
        if self.check && !is_dry_run {
            (report.diff, report.raw_diff) = (None, None);
        }
        Ok(Box::new(report))
    }
}

fn parse_error_report(error: ParseError) -> CommandError {
    Report::from(error).into()
}
