//! `incise mcp install`: puts the server into a host's file.

use std::path::Path;

use clap::Args;
use incise::core::report::{Report, Status};

use super::edit::{Place, Unsafe};
use super::entry::{self, Server, Where};
use super::target::{self, Target};
use crate::args::Global;
use crate::output::Done;

const EXAMPLES: &str = "\
Examples:
  incise mcp install --client claude-code
  incise mcp install --client vscode --project
  incise mcp install --client codex --dialect codex --print
  incise mcp install --client zed --name incise-notes --root ~/notes
  incise mcp install --client cursor -- --mode restricted

Everything else in the file stays as it is, to the byte. `incise mcp uninstall` with the same
`--client`, `--project` and `--name` takes the entry out again.

Without `--root` the server works in the project that the host has open. With `--project`,
`--root` names the project whose file is changed.";

/// Put Incise into an agent host as an MCP server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Install {
    #[command(flatten)]
    place: Where,
    /// Show the entry and where it goes, and write nothing
    #[arg(long)]
    print: bool,
    /// Replace another entry of the same name
    #[arg(long)]
    force: bool,
    /// The tools that the server offers; several with commas [default: incise]
    #[arg(long, value_name = "DIALECT", value_delimiter = ',')]
    dialect: Vec<String>,
    /// The program that the host starts [default: incise, or where this program is]
    #[arg(long, value_name = "PROGRAM")]
    command: Option<String>,
    /// More arguments for the server
    #[arg(last = true, value_name = "ARGUMENTS")]
    rest: Vec<String>,
}

impl Install {
    pub(super) fn run(self, global: &Global) -> Done {
        let facts = self.place.facts();
        let file = self.place.file()?;
        // `.` is what the option stands at where it is not given.
        let root = self.place.root.as_deref().filter(|root| !self.place.project && *root != Path::new("."));
        let server = Server {
            name: self.place.name.clone(),
            command: self.command.clone().unwrap_or_else(|| entry::program(self.place.project)),
            args: entry::arguments(&self.dialect, root, self.rest.clone())?,
        };
        let entry = (facts.entry)(&server);
        let place = [facts.key, self.place.name.as_str()];
        let alone = facts.format.alone(place, &entry).map_err(|Unsafe(why)| {
            Report::new(Status::Failed, "internal", format!("the entry cannot be written: {why}"))
        })?;
        if self.print {
            let mut report = Report::new(Status::Shown, "entry", format!("for {}", facts.name))
                .hint(format!("This goes into `{}`, besides what is there.", file.display()));
            report.text = Some(alone.trim_end().into());
            return Ok(Box::new(report));
        }
        target::make_folder(&file)?;
        let target = Target::open(&file, global)?;
        let by_hand = |why: &str| by_hand(&file, why, &alone);
        let text = target.text().map_err(|error| by_hand(&error.to_string()))?;
        let text_or_none = text.unwrap_or_default();
        let found = facts.format.find(text_or_none, place).map_err(|Unsafe(why)| by_hand(&why))?;
        let content = match found {
            Some(found) if found == entry => return Ok(Box::new(self.already(&file))),
            Some(_) if !self.force => return Err(self.another(&file)),
            Some(_) => {
                facts.format.without(text_or_none, place).and_then(|text| self.put(&text, place, &entry))
            }
            None => self.put(text_or_none, place, &entry),
        };
        let content = content.map_err(|Unsafe(why)| by_hand(&why))?;
        let mut report = target.write(&content, &self.place.said_again())?;
        report.code = "installed";
        report.message = format!("Put `{}` into `{}` for {}", self.place.name, file.display(), facts.name);
        report.change = None;
        report.warnings.extend(facts.format.doubt(text_or_none).map(Into::into));
        let again = self.place.said_again();
        Ok(Box::new(report.hint(format!("{} To take it out: incise mcp uninstall {again}", facts.next))))
    }

    fn put(&self, text: &str, place: Place<'_>, entry: &serde_json::Value) -> Result<String, Unsafe> {
        self.place.facts().format.with(text, place, entry)
    }

    fn already(&self, file: &Path) -> Report {
        let message = format!("`{}` is in `{}`, just like that", self.place.name, file.display());
        Report::new(Status::AlreadyApplied, "already_installed", message)
    }

    fn another(&self, file: &Path) -> Box<Report> {
        let name = &self.place.name;
        let message =
            format!("`{}` has a server `{name}` already, and it is a different one", file.display());
        Report::new(Status::Refused, "different_entry", message)
            .hint("Nothing was written. `--force` replaces it; `--name NAME` puts this one beside it; `--print` shows this one.")
            .into()
    }
}

/// What is said of a file that cannot be edited safely.
fn by_hand(file: &Path, why: &str, alone: &str) -> Box<Report> {
    let message = format!("`{}` cannot be edited safely: {why}", file.display());
    Report::new(Status::Refused, "unsafe_config", message)
        .hint(format!(
            "Nothing was written. Put this in by hand, besides what is there:\n{}",
            alone.trim_end()
        ))
        .into()
}
