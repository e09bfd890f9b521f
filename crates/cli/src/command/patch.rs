//! `slipstitch patch`: a diff, a V4A patch or SEARCH/REPLACE blocks over any number of files.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use slipstitch::core::patch::{Format, Options};
use slipstitch::core::plan::ParseError;
use slipstitch::core::plan::patch::{PatchDirection, Terms, plan};
use slipstitch::core::plan::{Overwriting, Placing, Plan};
use slipstitch::core::report::Report;

use crate::args::Global;
use crate::change::run;
use crate::consent::Consent;
use crate::input;
use crate::output::Done;

const EXAMPLES: &str = "\
Examples:
  slipstitch patch changes.diff
  git diff | slipstitch patch --reverse -
  slipstitch patch --check < answer-of-a-model.txt
  slipstitch patch --path src/main.rs hunks-without-a-name.diff

Unified diffs, V4A patches (*** Begin Patch) and SEARCH/REPLACE blocks are told apart by themselves.
All files are changed together or not at all, and `slipstitch undo` takes all of it back.";

/// Apply a patch to any number of files, all or nothing
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Patch {
    /// A file that holds the patch; `-` or nothing is standard input
    #[arg(value_name = "FILE")]
    patch: Option<PathBuf>,
    /// Only look whether it applies; print no diff and write nothing
    #[arg(long)]
    check: bool,
    /// Take back what the patch does
    #[arg(long, short = 'R')]
    reverse: bool,
    /// Take so many folders off the paths of a unified diff [default: git's a/ and b/]
    #[arg(long = "strip", short = 'p', value_name = "N")]
    strip: Option<usize>,
    /// What kind of patch it is [default: found out]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Kind>,
    /// The file that it is for, if the patch names none
    #[arg(long, value_name = "FILE")]
    path: Option<String>,
    /// Take the lines only where they stand exactly, and repair nothing in the patch
    #[arg(long)]
    strict: bool,
    /// Let it make or move files where there are some already
    #[arg(long)]
    overwrite: bool,
    /// Show what would change and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// What the change is for, for the log
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    #[command(flatten)]
    consent: Consent,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Unified,
    V4a,
    SearchReplace,
}

impl From<Kind> for Format {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Unified => Self::Unified,
            Kind::V4a => Self::V4a,
            Kind::SearchReplace => Self::SearchReplace,
        }
    }
}

impl Patch {
    pub(super) fn run(self, global: &Global) -> Done {
        let text = match self.patch.as_deref() {
            Some(file) => input::from_file(file)?,
            None => input::from_stdin()?,
        };
        let workspace = global.open()?;
        let path = self.path.as_deref().map(|file| global.file(file, &workspace)).transpose()?;
        let terms = Terms {
            format: self.format.map(Format::from),
            options: Options { strict: self.strict, strip: self.strip },
            direction: if self.reverse { PatchDirection::Reverse } else { PatchDirection::Forward },
            path: path.as_ref(),
            roots: workspace.root_names(),
            over: if self.overwrite { Overwriting::Allowed } else { workspace.settings().patch.over() },
            placing: if self.strict { Placing::Strict } else { Placing::Recover },
        };
        let mut plan = plan(&text, &terms).map_err(not_a_patch)?;
        plan.run = run(self.dry_run || self.check);
        plan.description = self.description;
        let mut report = self.consent.run(&workspace, Plan::Edit(plan), "patch");
        if self.check && !self.dry_run {
            (report.diff, report.raw_diff) = (None, None);
        }
        Ok(Box::new(report))
    }
}

fn not_a_patch(error: ParseError) -> Box<Report> {
    Report::new(error.outcome, error.message).hint(error.hint).into()
}
