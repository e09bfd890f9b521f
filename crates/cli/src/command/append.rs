//! `slipstitch append`: add to a file's end or start.

use clap::Args;
use slipstitch::core::plan::{Missing, Operation, Separator};

use crate::args::Global;
use crate::change::ChangeOptions;
use crate::input::Content;
use crate::output::Done;

const EXAMPLES: &str = "\
Examples:
  slipstitch append CHANGELOG.md --content '- one more thing'
  date | slipstitch append log.txt
  slipstitch append main.c --prepend --from licence-header.txt

A newline in the file's style parts the texts where two lines would otherwise become one.";

/// Add text to the end of a file, or to its start
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Append {
    /// The file, relative to the root
    file: String,
    #[command(flatten)]
    content: Content,
    /// Add at the start instead
    #[arg(long)]
    prepend: bool,
    #[command(flatten)]
    options: ChangeOptions,
}

impl Append {
    pub(super) fn run(self, global: &Global) -> Done {
        let (text, separator, missing) = (self.content.read()?, Separator::Newline, Missing::Create);
        let operation = if self.prepend {
            Operation::Prepend { text, separator, missing }
        } else {
            Operation::Append { text, separator, missing }
        };
        self.options.carry_out(&self.file, operation, "append", global)
    }
}
