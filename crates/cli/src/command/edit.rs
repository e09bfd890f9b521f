//! `slipstitch edit`: replace text.

use std::path::PathBuf;

use clap::Args;
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::{LineRange, Operation, Which};
use slipstitch::core::report::Report;

use crate::args::Global;
use crate::change::{ChangeOptions, shrink};
use crate::output::Done;
use crate::{input, lines};

const EXAMPLES: &str = "\
Examples:
  slipstitch edit src/main.rs --old 'retries = 3' --new 'retries = 5'
  slipstitch edit config.ini --old 'port=80' --new 'port=8080' --hint 10-20
  slipstitch edit notes.txt --old colour --new color --all --dry-run
  slipstitch edit a.txt --old-file old.txt --new-file - < new.txt

Text given with --old and --new is taken literally: `\\n` is a backslash and an n.
A file given with --old-file or --new-file keeps its final newline.";

/// Replace text that stands in a file exactly once
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Edit {
    /// The file, relative to the root
    file: String,
    /// The text to replace
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(required_unless_present = "old_file", conflicts_with = "old_file")]
    old: Option<String>,
    /// A file that holds the text to replace; `-` is standard input
    #[arg(long, value_name = "FILE")]
    old_file: Option<PathBuf>,
    /// The text to put there; empty deletes the old text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(required_unless_present = "new_file", conflicts_with = "new_file")]
    new: Option<String>,
    /// A file that holds the text to put there; `-` is standard input
    #[arg(long, value_name = "FILE")]
    new_file: Option<PathBuf>,
    /// Replace every occurrence
    #[arg(long)]
    all: bool,
    /// Only look in these lines, such as 10-20, 10 or 10-
    #[arg(long, value_name = "LINES", value_parser = lines::range)]
    hint: Option<LineRange>,
    /// Allow the file to lose more than two thirds of its lines
    #[arg(long)]
    allow_shrink: bool,
    #[command(flatten)]
    options: ChangeOptions,
}

impl Edit {
    pub(super) fn run(self, global: &Global) -> Done {
        let on_stdin = |file: &Option<PathBuf>| file.as_deref().is_some_and(input::is_stdin);
        if on_stdin(&self.old_file) && on_stdin(&self.new_file) {
            let message = "both the old and the new text are to come from standard input";
            let report = Report::custom(Status::Invalid, "usage", message);
            return Err(report.hint("Give one of them with `--old`, `--new` or as a file.").into());
        }
        let operation = Operation::Replace {
            old: input::text_or_file(self.old, self.old_file.as_deref())?,
            new: input::text_or_file(self.new, self.new_file.as_deref())?,
            which: if self.all { Which::All } else { Which::Unique },
            within: self.hint,
        };
        self.options.carry_out_shrinking(&self.file, operation, shrink(self.allow_shrink), "edit", global)
    }
}
