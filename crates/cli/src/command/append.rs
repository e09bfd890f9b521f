//! `slipstitch append`: add to the end or the start of a file.

use clap::Args;
use slipstitch::core::plan::{IfMissing, Operation, Separator};

use crate::change::ChangeOptions;
use crate::file_argument::file_name;
use crate::global::Global;
use crate::input::Content;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch append CHANGELOG.md --content '- one more thing'
  date | slipstitch append log.txt
  slipstitch append main.c --prepend --from licence-header.txt

If the text would run into an existing line, a newline in the file's style is added between them.";

/// Add text to the end or the start of a file
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Append {
    /// The file, relative to the working folder or to `--root`
    #[arg(value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    file: String,
    #[command(flatten)]
    content: Content,
    /// Add to the start instead
    #[arg(long)]
    prepend: bool,
    #[command(flatten)]
    options: ChangeOptions,
}

impl Append {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let (text, separator, if_missing) = (self.content.read()?, Separator::Newline, IfMissing::Create);
        let operation = if self.prepend {
            Operation::Prepend { text, separator, if_missing }
        } else {
            Operation::Append { text, separator, if_missing }
        };
        self.options.apply(&self.file, operation, "append", global)
    }
}
