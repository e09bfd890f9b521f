//! `slipstitch doctor`: is everything in order, and what can this system do?

use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde_json::json;
use slipstitch::core::outcome::Status;
use slipstitch::{Workspace, confine};

use crate::args::Global;
use crate::names::one_line;
use crate::output::{Done, Outcome};
use crate::page::Page;
use crate::shell;

/// How long a change may take that is being made.
const UNDER_WAY: Duration = Duration::from_millis(500);

const EXAMPLES: &str = "\
Examples:
  slipstitch doctor
  slipstitch doctor --root project --json

Exit code 3 if something is wrong that needs you.";

/// Check the roots, the state folder and the journal, and tell what this system can do
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {}

/// What was found.
struct Findings(Vec<Finding>);

struct Finding {
    what: String,
    grade: Grade,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Grade {
    Good,
    /// Works, but another way than it could.
    Note,
    Bad,
}

impl Grade {
    fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Good => AnsiColor::Green.on_default(),
            Self::Note => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
        }
    }
}

impl Doctor {
    pub(super) fn run(self, global: &Global) -> Done {
        let mut findings = Findings(Vec::new());
        match global.open() {
            Ok(workspace) => {
                findings.roots(&workspace);
                findings.journal(&workspace);
                findings.unfinished(&workspace);
                findings.elsewhere(&workspace, global);
            }
            // What keeps everything else from working is the first thing to tell.
            Err(report) if report.status() == Status::Failed => {
                let next = "the journal can be moved away, with what it knows: changes made so far cannot be undone then";
                findings.add("opening", Grade::Bad, format!("{} ({next})", report.message));
            }
            Err(report) => return Err(report),
        }
        findings.landlock();
        Ok(Box::new(findings))
    }
}

impl Findings {
    fn add(&mut self, what: impl Into<String>, grade: Grade, detail: impl Into<String>) {
        self.0.push(Finding { what: what.into(), grade, detail: detail.into() });
    }

    /// One ability: what is done with it, and what without.
    fn ability(&mut self, root: &str, name: &str, has: bool, with: &str, without: &str) {
        let (grade, detail) = if has { (Grade::Good, with) } else { (Grade::Note, without) };
        self.add(format!("{root}: {name}"), grade, detail);
    }

    fn roots(&mut self, workspace: &Workspace) {
        for (root, abilities) in workspace.abilities() {
            let can = match abilities {
                Ok(can) => can,
                Err(error) => {
                    let detail =
                        format!("nothing can be made in it ({error}); files in it are written in place");
                    self.add(root, Grade::Note, detail);
                    continue;
                }
            };
            let mut tell = |name, has, with, without| self.ability(&root, name, has, with, without);
            tell(
                "sandbox",
                can.resolve_beneath,
                "the kernel keeps paths beneath the root",
                "the kernel cannot keep paths beneath the root; each step of a path is checked instead",
            );
            tell(
                "temporary files",
                can.unnamed_files,
                "without a name until they are published",
                "with a name; a process that is killed leaves them until the next start",
            );
            tell(
                "exchange",
                can.exchange,
                "old and new content change places at once",
                "old and new content change places in steps (write_mode `rename`)",
            );
            tell(
                "shared blocks",
                can.shared_blocks,
                "what stays of a large file is not copied",
                "what stays of a large file is copied by the kernel",
            );
        }
    }

    fn journal(&mut self, workspace: &Workspace) {
        let folder = workspace.state_dir().display().to_string();
        match workspace.check_journal() {
            Ok(bytes) => {
                self.add("journal", Grade::Good, format!("sound, {} KiB, in {folder}", bytes / 1024))
            }
            Err(error) => self.add("journal", Grade::Bad, format!("{error} (in {folder})")),
        }
    }

    fn unfinished(&mut self, workspace: &Workspace) {
        let recovered = workspace.recovered();
        for (id, reason) in &recovered.stuck {
            let detail = format!("was cut short and cannot be settled: {reason}");
            self.add(format!("change {id}"), Grade::Bad, detail);
        }
        for id in &recovered.done {
            self.add(format!("change {id}"), Grade::Note, "was cut short; all of it is in the files");
        }
        for id in &recovered.not_done {
            self.add(
                format!("change {id}"),
                Grade::Note,
                "was cut short; the files are as they were before it",
            );
        }
        if recovered.stuck.is_empty() {
            self.add("unfinished changes", Grade::Good, "none are left");
        }
    }

    /// Changes of other roots that wait for someone who opens those and these.
    fn elsewhere(&mut self, workspace: &Workspace, global: &Global) {
        let pending = || workspace.pending_elsewhere().unwrap_or_default();
        let seen = pending();
        if seen.is_empty() {
            return;
        }
        // One that is being made at this moment is done soon.
        std::thread::sleep(UNDER_WAY);
        for (id, root) in pending().into_iter().filter(|found| seen.contains(found)) {
            let command = settling(&root, workspace.roots(), global.state_dir.as_deref());
            let detail =
                format!("was cut short and is about the root `{root}`, too; to settle it: {command}");
            self.add(format!("change {id}"), Grade::Bad, detail);
        }
    }

    fn landlock(&mut self) {
        match confine::landlock_version() {
            Some(version) => {
                self.add(
                    "landlock",
                    Grade::Good,
                    format!("version {version} or newer; `--landlock` makes use of it"),
                );
            }
            None => self.add("landlock", Grade::Note, "not on this system; `--landlock` would be refused"),
        }
    }
}

/// The command that settles a change which was begun in `begun`: that root first, then those that are open.
fn settling<'a>(begun: &'a str, open: impl Iterator<Item = &'a str>, state: Option<&Path>) -> String {
    let roots = std::iter::once(begun).chain(open.filter(|root| *root != begun));
    let roots: String = roots.map(|root| format!(" --root {}", shell::quote(root))).collect();
    // Relative to the folder that this is read in, as it was given.
    let state = state.map(|folder| format!(" --state-dir {}", shell::quote(&folder.to_string_lossy())));
    format!("slipstitch{roots}{} doctor", state.unwrap_or_default())
}

impl Outcome for Findings {
    fn status(&self) -> Status {
        match self.0.iter().any(|finding| finding.grade == Grade::Bad) {
            true => Status::Failed,
            false => Status::Shown,
        }
    }

    fn json(&self) -> serde_json::Result<String> {
        let list: Vec<_> = self
            .0
            .iter()
            .map(|found| json!({"what": found.what, "grade": found.grade.word(), "detail": found.detail}))
            .collect();
        serde_json::to_string(&json!({"version": env!("CARGO_PKG_VERSION"), "findings": list}))
    }

    fn write(&self, page: &mut Page) {
        for Finding { what, grade, detail } in &self.0 {
            page.out.styled(grade.style(), format!("{:<5}", grade.word()));
            page.out.line(one_line(&format!("{what}: {detail}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_used_as_it_is() {
        let settle = |begun, open: &[&'static str], state: Option<&str>| {
            settling(begun, open.iter().copied(), state.map(Path::new))
        };
        assert_eq!(settle("/a", &["/b"], None), "slipstitch --root /a --root /b doctor");
        assert_eq!(settle("/a", &["/b", "/a"], None), "slipstitch --root /a --root /b doctor");
        assert_eq!(
            settle("/e 1", &["/it's"], Some("s t")),
            r#"slipstitch --root '/e 1' --root "/it's" --state-dir 's t' doctor"#
        );
    }
}
