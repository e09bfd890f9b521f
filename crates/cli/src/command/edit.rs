//! `slipstitch edit`: replace text.

use std::path::PathBuf;

use clap::Args;
use slipstitch::core::plan::{LineRange, Operation, Which};

use crate::change::{ChangeOptions, shrink_rule};
use crate::error::CommandError;
use crate::global::Global;
use crate::output::CommandResult;
use crate::{input, lines};

const EXAMPLES: &str = "\
Examples:
  slipstitch edit src/main.rs --old 'retries = 3' --new 'retries = 5'
  slipstitch edit config.ini --old 'port=80' --new 'port=8080' --hint 10-20
  slipstitch edit notes.txt --old colour --new color --all --dry-run
  slipstitch edit a.txt --old-file old.txt --new-file - < new.txt

--old and --new are taken literally: `\\n` is a backslash and an n.
--old-file and --new-file include the file's final newline.";

/// Replace text that occurs exactly once in a file
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Edit {
    /// The file, relative to the root
    file: String,
    /// The text to replace
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(required_unless_present = "old_file", conflicts_with = "old_file")]
    old: Option<String>,
    /// Read the text to replace from a file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    old_file: Option<PathBuf>,
    /// The new text; empty deletes the old text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(required_unless_present = "new_file", conflicts_with = "new_file")]
    new: Option<String>,
    /// Read the new text from a file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    new_file: Option<PathBuf>,
    /// Replace every occurrence
    #[arg(long)]
    all: bool,
    /// Only consider matches inside these lines, such as 10-20, 10 or 10-
    #[arg(long, value_name = "LINES", value_parser = lines::parse_range)]
    hint: Option<LineRange>,
    /// Allow the edit to remove more than two thirds of the file's lines
    #[arg(long)]
    allow_shrink: bool,
    #[command(flatten)]
    options: ChangeOptions,
}

impl Edit {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let is_stdin = |file: &Option<PathBuf>| file.as_deref().is_some_and(input::is_stdin);
        if is_stdin(&self.old_file) && is_stdin(&self.new_file) {
            let message = "the old and the new text cannot both be read from standard input";
            let hint = "Pass one of them with `--old` or `--new`, or in a file.";
            return Err(CommandError::usage(message, hint));
        }
        let operation = Operation::Replace {
            old: input::read_text_or_file(self.old, self.old_file.as_deref())?,
            new: input::read_text_or_file(self.new, self.new_file.as_deref())?,
            which: if self.all { Which::All } else { Which::Unique },
            within: self.hint,
        };
        self.options.apply_with_shrink(&self.file, operation, shrink_rule(self.allow_shrink), "edit", global)
    }
}
