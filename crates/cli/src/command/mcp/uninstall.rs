//! `slipstitch mcp uninstall`: takes the server out of a host's file.

use slipstitch::core::outcome::Outcome;
use std::path::Path;

use clap::Args;
use serde_json::Value;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use super::edit::{Place, Unsafe};
use super::entry::Where;
use super::target::{self, Target};
use super::{made, shown};
use crate::args::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch mcp uninstall --client claude-code
  slipstitch mcp uninstall --client vscode --project
  slipstitch mcp uninstall --client zed --name slipstitch-notes

A file that only `slipstitch mcp install` has changed becomes what it was before, byte for byte, and
is removed if it was not there, with the folders that were made for it and are empty. In any other
the entry goes and the rest stays.";

/// Take Slipstitch out of an agent host
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Uninstall {
    #[command(flatten)]
    place: Where,
    /// Take out an entry of that name even if it starts another program
    #[arg(long)]
    force: bool,
}

impl Uninstall {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let file = self.place.file(global)?;
        if !target::exists(&file)? {
            return Ok(Box::new(self.nothing(&file)));
        }
        let Some((found, mut report)) = self.take_out(&file, global)? else {
            return Ok(Box::new(self.nothing(&file)));
        };
        // Under it may be what an earlier `install` put there and `install --force` replaced.
        let mut left = self.left(&file, global)?;
        while report.status() == Status::Applied && left.as_ref().is_some_and(is_ours) {
            let Some((_, next)) = self.take_out(&file, global)? else { break };
            report = next;
            left = self.left(&file, global)?;
        }
        if report.status() == Status::Applied {
            self.tell(&mut report, &file, &found, left.as_ref());
        }
        Ok(Box::new(report))
    }

    /// Takes the entry out that is there now, if there is one.
    fn take_out(&self, file: &Path, global: &Global) -> Result<Option<(Value, Report)>, Box<Report>> {
        let target = Target::open(file, global)?;
        let Some(found) = self.find(&target, file)? else { return Ok(None) };
        if !self.force && !is_ours(&found) {
            return Err(self.another(file));
        }
        let report = match target.last_install(&self.place.said_again()) {
            Some((id, folders)) => {
                let report = target.undo(id);
                if report.status() == Status::Applied && !target::exists(file)? {
                    made::remove(file, folders);
                }
                report
            }
            None => {
                let by_hand = |why: &str| self.by_hand(file, why);
                let text = target.text().map_err(|error| by_hand(&error.to_string()))?.unwrap_or_default();
                let format = self.place.facts().format;
                let content = format.without(text, self.slot()).map_err(|Unsafe(why)| by_hand(&why))?;
                target.write(&content, "slipstitch mcp uninstall")?
            }
        };
        Ok(Some((found, report)))
    }

    /// The entry that is there now, if there is a file.
    fn left(&self, file: &Path, global: &Global) -> Result<Option<Value>, Box<Report>> {
        match target::exists(file)? {
            true => self.find(&Target::open(file, global)?, file),
            false => Ok(None),
        }
    }

    /// The entry that is there.
    fn find(&self, target: &Target, file: &Path) -> Result<Option<Value>, Box<Report>> {
        let text = target.text().map_err(|error| self.by_hand(file, &error.to_string()))?.unwrap_or_default();
        let format = self.place.facts().format;
        format.find(text, self.slot()).map_err(|Unsafe(why)| self.by_hand(file, &why))
    }

    fn slot(&self) -> Place<'_> {
        [self.place.facts().key, &self.place.name]
    }

    /// Says what was done, and shows the entry and nothing else of the file.
    fn tell(&self, report: &mut Report, file: &Path, found: &Value, left: Option<&Value>) {
        let (facts, name) = (self.place.facts(), &self.place.name);
        report.outcome = Outcome::Custom { status: report.status(), code: "uninstalled" };
        report.message = match left {
            None => format!("Took `{name}` out of `{}` for {}", file.display(), facts.name),
            Some(_) => format!(
                "Took `{name}` out of `{}` for {}; the other server of that name is there again",
                file.display(),
                facts.name
            ),
        };
        report.change = None;
        (report.diff, report.raw_diff) = (None, None);
        match shown::taken_out(facts.format, self.slot(), found, left) {
            Ok(text) => report.text = Some(text),
            Err(why) => report.warnings.push(shown::not_shown(why)),
        }
    }

    fn nothing(&self, file: &Path) -> Report {
        let message = format!("`{}` has no server `{}`", file.display(), self.place.name);
        Report::custom(Status::NoChange, "not_installed", message)
    }

    fn another(&self, file: &Path) -> Box<Report> {
        let message =
            format!("the server `{}` in `{}` starts another program", self.place.name, file.display());
        Report::custom(Status::Refused, "different_entry", message)
            .hint("Nothing was written. `--force` takes it out all the same.")
            .into()
    }

    fn by_hand(&self, file: &Path, why: &str) -> Box<Report> {
        let message = format!("`{}` cannot be edited safely: {why}", file.display());
        let facts = self.place.facts();
        Report::custom(Status::Refused, "unsafe_config", message)
            .hint(format!(
                "Nothing was written. Remove `{}` beneath `{}` by hand.",
                self.place.name, facts.key
            ))
            .into()
    }
}

/// Whether an entry starts a server of ours: something called with `mcp` first.
fn is_ours(entry: &Value) -> bool {
    let list = |field: &str| entry.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let alone = ["command", "cmd"].into_iter().filter_map(|field| entry.get(field)?.as_str());
    let words: Vec<Value> = list("command").into_iter().chain(list("args")).collect();
    let program =
        alone.map(ToOwned::to_owned).next().or_else(|| words.first()?.as_str().map(ToOwned::to_owned));
    // Whatever it is called there, it must be this program: others have a word `mcp`, too.
    let ours = program.is_some_and(|program| {
        let name = std::path::Path::new(&program).file_name();
        name.is_some_and(|name| name == super::entry::NAME || Some(name) == own_name().as_deref())
    });
    ours && words.iter().take(2).any(|word| word == "mcp")
}

fn own_name() -> Option<std::ffi::OsString> {
    Some(std::env::current_exe().ok()?.file_name()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn our_entries_are_known_in_every_form() {
        assert!(is_ours(&json!({"command": "/x/slipstitch", "args": ["mcp", "--root", "/a"]})));
        assert!(is_ours(&json!({"type": "local", "command": ["slipstitch", "mcp"]})));
        assert!(is_ours(&json!({"cmd": "slipstitch", "args": ["mcp"]})));
        for other in [
            json!({"command": "npx", "args": ["-y", "x"]}),
            json!({"command": "docker", "args": ["mcp", "gateway", "run"]}),
            json!({"url": "http://x"}),
            json!(3),
        ] {
            assert!(!is_ours(&other), "{other}");
        }
    }
}
