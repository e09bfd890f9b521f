//! `slipstitch mcp install`: puts the server into a host's file.

use slipstitch::core::outcome::Outcome;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use super::edit::{Place, Unsafe};
use super::entry::{self, Program, Server, Where};
use super::made::Made;
use super::target::{self, Target, unusable};
use super::{check, shown};
use crate::args::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch mcp install --client claude-code
  slipstitch mcp install --client vscode --project
  slipstitch mcp install --client codex --dialect codex --print
  slipstitch mcp install --client zed --name slipstitch-notes --root ~/notes
  slipstitch mcp install --client cursor -- --mode restricted

What `slipstitch mcp` would refuse is refused here, before anything is written. Everything else in the
file stays as it is, to the byte. Only the entry is shown, and of one that is replaced nothing that
may be secret. `slipstitch mcp uninstall` with the same `--client`, `--project` and `--name` takes the
entry out again.

Without `--root` the server works in the project that the host has open. With `--project`,
`--root` names the project whose file is changed.";

/// Put Slipstitch into an agent host as an MCP server
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
    /// The tools that the server offers; several with commas [default: slipstitch]
    #[arg(long, value_name = "DIALECT", value_delimiter = ',')]
    dialect: Vec<String>,
    /// The program that the host starts [default: slipstitch, or where this program is]
    #[arg(long, value_name = "PROGRAM")]
    command: Option<String>,
    /// More arguments for the server
    #[arg(last = true, value_name = "ARGUMENTS")]
    rest: Vec<String>,
}

impl Install {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let facts = self.place.facts();
        let file = self.place.file(global)?;
        let program = self.program();
        let server = self.server(&program, global)?;
        check::would_start(&server.args)?;
        let entry = (facts.entry)(&server);
        let alone = facts.format.alone(self.slot(), &entry).map_err(|Unsafe(why)| {
            Report::custom(Status::Failed, "internal", format!("the entry cannot be written: {why}"))
        })?;
        if self.print {
            let mut report = Report::custom(Status::Shown, "entry", format!("for {}", facts.name))
                .hint(format!("This goes into `{}`, besides what is there.", file.display()));
            report.text = Some(alone.trim_end().into());
            return Ok(Box::new(report));
        }
        target::leads_somewhere(&file)?;
        let made = Made::above(&file).map_err(|error| unusable(&file, &error))?;
        let target = Target::open(&file, global)?;
        let text = target.text().map_err(|error| by_hand(&file, &error.to_string(), &alone))?;
        let text = text.unwrap_or_default();
        let (content, replaced) = match self.content(text, &entry) {
            Ok(Content::New { text, replaced }) => (text, replaced),
            Ok(Content::Same) => return Ok(Box::new(self.already(&file))),
            Ok(Content::Other) => return Err(self.another(&file)),
            Err(Unsafe(why)) => return Err(by_hand(&file, &why, &alone)),
        };
        let mut report = target.write(&content, &made.note(&self.place.said_again()))?;
        made.keep();
        (report.diff, report.raw_diff) = (None, None);
        match shown::installed(facts.format, self.slot(), replaced.as_ref(), &entry) {
            Ok(text) => report.text = Some(text),
            Err(why) => report.warnings.push(shown::not_shown(why)),
        }
        if !program.found {
            let message =
                format!("`{}` is not found by its name here: put this program on the PATH", program.name);
            report.warnings.push(message);
        }
        report.warnings.extend(facts.format.doubt(text).map(Into::into));
        Ok(Box::new(self.done(report, &file)))
    }

    fn program(&self) -> Program {
        match &self.command {
            Some(name) => Program { name: name.clone(), found: true },
            None => entry::program(self.place.project),
        }
    }

    fn server(&self, program: &Program, global: &Global) -> Result<Server, Box<Report>> {
        // With `--project` it says which project; the host tells the server.
        let roots: &[PathBuf] = if self.place.project { &[] } else { &global.root };
        Ok(Server {
            name: self.place.name.clone(),
            command: program.name.clone(),
            args: entry::arguments(&self.dialect, roots, self.rest.clone())?,
        })
    }

    /// Where in the file the entry goes.
    fn slot(&self) -> Place<'_> {
        [self.place.facts().key, &self.place.name]
    }

    /// What the file is to hold.
    fn content(&self, text: &str, entry: &Value) -> Result<Content, Unsafe> {
        let format = self.place.facts().format;
        Ok(match format.find(text, self.slot())? {
            Some(found) if found == *entry => Content::Same,
            Some(_) if !self.force => Content::Other,
            Some(found) => {
                let without = format.without(text, self.slot())?;
                Content::New { text: format.with(&without, self.slot(), entry)?, replaced: Some(found) }
            }
            None => Content::New { text: format.with(text, self.slot(), entry)?, replaced: None },
        })
    }

    fn done(&self, mut report: Report, file: &Path) -> Report {
        let (facts, again) = (self.place.facts(), self.place.said_again());
        report.outcome = Outcome::Custom { status: report.status(), code: "installed" };
        report.message = format!("Put `{}` into `{}` for {}", self.place.name, file.display(), facts.name);
        // Not `slipstitch undo`, which would look for it in another root.
        report.change = None;
        report.hint(format!("{} To take it out: slipstitch mcp uninstall {again}", facts.next))
    }

    fn already(&self, file: &Path) -> Report {
        let message = format!("`{}` is in `{}`, just like that", self.place.name, file.display());
        Report::custom(Status::AlreadyApplied, "already_installed", message)
    }

    fn another(&self, file: &Path) -> Box<Report> {
        let name = &self.place.name;
        let message =
            format!("`{}` has a server `{name}` already, and it is a different one", file.display());
        Report::custom(Status::Refused, "different_entry", message)
            .hint("Nothing was written. `--force` replaces it; `--name NAME` puts this one beside it; `--print` shows this one.")
            .into()
    }
}

/// What becomes of a file.
enum Content {
    /// This, with this entry gone.
    New { text: String, replaced: Option<Value> },
    /// It has the entry already.
    Same,
    /// It has another entry of that name.
    Other,
}

/// What is said of a file that cannot be edited safely.
fn by_hand(file: &Path, why: &str, alone: &str) -> Box<Report> {
    let message = format!("`{}` cannot be edited safely: {why}", file.display());
    Report::custom(Status::Refused, "unsafe_config", message)
        .hint(format!(
            "Nothing was written. Put this in by hand, besides what is there:\n{}",
            alone.trim_end()
        ))
        .into()
}
