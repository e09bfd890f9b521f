//! `slipstitch lines`: replace, delete or insert lines by number.

use std::path::PathBuf;

use clap::Args;
use slipstitch::core::plan::{EditRules, LineRange, Operation};

use crate::change::{ChangeOptions, shrink_rule};
use crate::file_argument::file_name;
use crate::global::Global;
use crate::output::CommandResult;
use crate::{input, lines};

const EXAMPLES: &str = "\
Examples:
  slipstitch lines notes.txt 4 --new 'the new fourth line'
  slipstitch lines notes.txt 4-6 --new-file replacement.txt
  slipstitch lines notes.txt 4-6 --delete
  slipstitch lines notes.txt 4 --new 'x = 2' --expect 'x = 1'
  slipstitch lines notes.txt --after 0 --new 'a new first line'";

/// Replace, delete or insert whole lines by number
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Lines {
    /// The file, relative to the working folder or to `--root`
    #[arg(value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    file: String,
    /// The lines to replace or delete, such as 4 or 4-6; the first line is 1
    #[arg(value_name = "LINES", value_parser = lines::parse_closed_range)]
    #[arg(required_unless_present = "after", conflicts_with = "after")]
    lines: Option<LineRange>,
    /// Insert after this line instead; 0 is the start of the file
    #[arg(long, value_name = "N")]
    after: Option<usize>,
    /// The new lines
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(required_unless_present_any = ["new_file", "delete"], conflicts_with_all = ["new_file", "delete"])]
    new: Option<String>,
    /// Read the new lines from a file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "delete")]
    new_file: Option<PathBuf>,
    /// Delete the lines
    #[arg(long, conflicts_with = "after")]
    delete: bool,
    /// Refuse unless the lines have this text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "after")]
    expect: Option<String>,
    /// Allow the edit to remove more than two thirds of the file's lines
    #[arg(long)]
    allow_shrink: bool,
    #[command(flatten)]
    options: ChangeOptions,
}

impl Lines {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let text = input::read_text_or_file(self.new, self.new_file.as_deref())?;
        let operation = match (self.lines, self.after) {
            (Some(lines), _) => Operation::ReplaceLines { lines, new: text, expect: self.expect },
            (None, after) => Operation::InsertLines { after: after.unwrap_or(0).into(), text },
        };
        let rules = EditRules { shrink: shrink_rule(self.allow_shrink), ..EditRules::NATIVE };
        self.options.apply_with_rules(&self.file, operation, rules, "lines", global)
    }
}
