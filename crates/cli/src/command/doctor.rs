//! `slipstitch doctor`: check the installation and what the system supports.

mod hosts;
mod kept_copies;

use slipstitch::core::text::display::escape_controls;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde_json::json;
use slipstitch::config::{self, Config};
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{Journal, JournalError};
use slipstitch::disk::FsFeatures;
use slipstitch::editors::{ServerState, ServerStatus};
use slipstitch::journal::JournalCheck;
use slipstitch::{DiskWorkspace, Fsync, SqliteJournal, Workspace, confine};

use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::progress::Progress;
use crate::shell;
use crate::streams::Streams;
use crate::terminal;

/// How long to wait before a pending change counts as interrupted and not as in progress.
const GRACE_PERIOD: Duration = Duration::from_millis(500);

const EXAMPLES: &str = "\
Examples:
  slipstitch doctor
  slipstitch doctor --root project --json

Agent hosts that have Slipstitch in their settings are asked whether they see it, for up to 20
seconds. The exit code is 3 if something needs your attention.";

/// Check the roots, the state folder, the journal and agent hosts, and show what this system supports
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {}

struct Findings(Vec<Finding>);

struct Finding {
    subject: String,
    grade: Grade,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Grade {
    Good,
    /// It works, with a fallback.
    Note,
    Bad,
}

impl Grade {
    fn name(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Bad => "problem",
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
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let mut findings = Findings(Vec::new());
        let _progress = Progress::start("Checking the journal and the file systems", global);
        match global.open() {
            Ok(workspace) => {
                findings.roots(workspace.abilities());
                findings.journal(&workspace);
                findings.unfinished_erasing(&workspace);
                findings.interrupted_changes(&workspace);
                findings.changes_in_other_roots(&workspace, global);
                findings.kept_copies(&workspace);
                findings.editors(workspace.emacs_servers());
                findings.settings(&workspace);
            }
            // Failing to open is itself a finding.
            Err(error) if error.status() == Status::Failed => {
                let hint = error.report.hint.as_deref().unwrap_or_default();
                findings.add("open", Grade::Bad, format!("{}. {hint}", error.report.message));
            }
            // An invalid settings file is one too; its message already has line breaks.
            Err(error) => {
                let message = error.report.message.lines().collect::<Vec<_>>().join(" ");
                let hint = error.report.hint.as_deref().unwrap_or_default();
                findings.add("settings", Grade::Bad, format!("{message}. {hint}"));
                findings.without_settings(global);
            }
        }
        findings.landlock();
        findings.hosts(global.root.first().map_or(Path::new("."), |root| root));
        Ok(Box::new(findings))
    }
}

/// The usual settings file and the one recorded in the state folder, if they differ.
fn untrusted_settings(workspace: &Workspace) -> Option<(PathBuf, PathBuf)> {
    let usual = std::path::absolute(Config::file(None)?).ok()?;
    let trusted = config::trusted(workspace.state_dir())?;
    (usual != trusted).then_some((usual, trusted))
}

impl Findings {
    fn add(&mut self, subject: impl Into<String>, grade: Grade, detail: impl Into<String>) {
        self.0.push(Finding { subject: subject.into(), grade, detail: detail.into() });
    }

    /// Adds one capability of a root's file system.
    fn capability(&mut self, root: &str, name: &str, supported: bool, with: &str, without: &str) {
        let (grade, detail) = if supported { (Grade::Good, with) } else { (Grade::Note, without) };
        self.add(format!("{root}: {name}"), grade, detail);
    }

    fn roots(&mut self, probed: Vec<(String, std::io::Result<FsFeatures>)>) {
        for (root, abilities) in probed {
            let supports = match abilities {
                Ok(supports) => supports,
                Err(error) => {
                    let detail =
                        format!("no files can be created in it ({error}); files are written in place");
                    self.add(root, Grade::Note, detail);
                    continue;
                }
            };
            let mut add =
                |name, supported, with, without| self.capability(&root, name, supported, with, without);
            add(
                "sandbox",
                supports.resolve_beneath,
                "the kernel keeps paths inside the root",
                "the kernel cannot keep paths inside the root; each path component is checked instead",
            );
            add(
                "temporary files",
                supports.unnamed_files,
                "unnamed until they are published",
                "named; a killed process leaves them behind until the next start",
            );
            add(
                "exchange",
                supports.exchange,
                "old and new files are swapped atomically",
                "old and new files are swapped in steps (write_mode `rename`)",
            );
            add(
                "shared blocks",
                supports.shared_blocks,
                "unchanged parts of a large file are shared, not copied",
                "unchanged parts of a large file are copied by the kernel",
            );
        }
    }

    /// Adds the keys of the project's settings file that have no effect.
    fn settings(&mut self, workspace: &Workspace) {
        let ignored = &workspace.config().ignored;
        for setting in ignored {
            self.add("settings", Grade::Note, setting.to_string());
        }
        for problem in workspace.notice_problems() {
            self.add("settings", Grade::Note, problem);
        }
        let problems = workspace.notice_problems();
        if let Some((usual, trusted)) = untrusted_settings(workspace) {
            let (usual, trusted) = (usual.display(), trusted.display());
            self.add(
                "settings",
                Grade::Note,
                format!(
                    "only `{trusted}` can relax what needs your approval, not `{usual}`; `slipstitch config trust` changes that"
                ),
            );
        }
        if ignored.is_empty() && problems.is_empty() {
            self.add("settings", Grade::Good, "every key has an effect");
        }
    }

    /// Checks what it can of a project that cannot be opened.
    fn without_settings(&mut self, global: &Global) {
        let root = global.project_root();
        let Ok(state) = slipstitch::state::folder(global.state_dir.as_deref(), &[root.as_path()]) else {
            return;
        };
        let Ok(files) = DiskWorkspace::open(&root, &slipstitch::state::locks(&state), Fsync::On) else {
            return;
        };
        self.roots(files.probe_features());
        match SqliteJournal::open(&state, files.root()) {
            Ok(journal) => {
                self.journal_check(journal.check(), &state);
                self.changes_to_recover(&journal);
            }
            Err(error) => self.journal_check(Err(error), &state),
        }
        let settings = Config::load(global.config.as_deref()).unwrap_or_default();
        self.editors(settings.editors.emacs().map(|emacs| emacs.servers()));
    }

    /// Adds changes that the next command recovers, once the settings can be read: they say how files are written.
    fn changes_to_recover(&mut self, journal: &SqliteJournal) {
        let pending = || -> Vec<ChangeId> {
            journal.pending().unwrap_or_default().into_iter().map(|(id, _)| id).collect()
        };
        let seen = pending();
        if !seen.is_empty() {
            // A change in progress will be done after the grace period.
            std::thread::sleep(GRACE_PERIOD);
        }
        let interrupted: Vec<ChangeId> = pending().into_iter().filter(|id| seen.contains(id)).collect();
        for id in &interrupted {
            let detail = "was interrupted; the next command recovers it once the settings are valid";
            self.add(format!("change {id}"), Grade::Bad, detail);
        }
        if interrupted.is_empty() {
            self.add("interrupted changes", Grade::Good, "none left");
        }
    }

    fn journal(&mut self, workspace: &Workspace) {
        self.journal_check(workspace.check_journal(), workspace.state_dir());
    }

    fn journal_check(&mut self, checked: Result<JournalCheck, JournalError>, state: &Path) {
        let folder = state.display().to_string();
        match checked {
            Ok(JournalCheck { bytes, damage }) if damage.is_empty() => {
                self.add("journal", Grade::Good, format!("intact, {} KiB, in {folder}", bytes / 1024))
            }
            Ok(JournalCheck { damage, .. }) => {
                for problem in damage {
                    self.add("journal", Grade::Bad, problem);
                }
                let detail = format!(
                    "the rest can still be used, and damaged changes can't be undone; \
                     keep a copy of {folder} if you need them"
                );
                self.add("journal", Grade::Note, detail);
            }
            Err(error) => self.add("journal", Grade::Bad, format!("{error} (in {folder})")),
        }
    }

    fn unfinished_erasing(&mut self, workspace: &Workspace) {
        if workspace.has_unfinished_erasing() {
            let detail = "forgotten text is still in the journal's files, because another process was reading them; \
                          to erase it, run: slipstitch gc";
            self.add("journal", Grade::Bad, detail);
        }
    }

    fn interrupted_changes(&mut self, workspace: &Workspace) {
        let recovered = workspace.recovered();
        for (id, reason) in &recovered.stuck {
            let detail = format!("was interrupted and cannot be recovered: {reason}");
            self.add(format!("change {id}"), Grade::Bad, detail);
        }
        for id in &recovered.completed {
            self.add(format!("change {id}"), Grade::Note, "was interrupted; all of it is in the files");
        }
        for id in &recovered.rolled_back {
            self.add(
                format!("change {id}"),
                Grade::Note,
                "was interrupted; the files are as they were before it",
            );
        }
        if recovered.stuck.is_empty() {
            self.add("interrupted changes", Grade::Good, "none left");
        }
    }

    /// Adds changes pending in other roots that also involve files of these roots.
    fn changes_in_other_roots(&mut self, workspace: &Workspace, global: &Global) {
        let pending = || workspace.pending_elsewhere().unwrap_or_default();
        let seen = pending();
        if seen.is_empty() {
            return;
        }
        // A change in progress will be done after the grace period.
        std::thread::sleep(GRACE_PERIOD);
        for (id, root) in pending().into_iter().filter(|found| seen.contains(found)) {
            let command = recovery_command(&root, workspace.roots(), global.state_dir.as_deref());
            let detail =
                format!("was interrupted and also involves the root `{root}`; to recover it, run: {command}");
            self.add(format!("change {id}"), Grade::Bad, detail);
        }
    }

    /// Adds the Emacs servers and whether they could be asked about their buffers.
    fn editors(&mut self, servers: Option<Vec<ServerStatus>>) {
        let Some(servers) = servers else {
            self.add(
                "editors",
                Grade::Note,
                "Emacs is switched off in the settings; buffers are not checked",
            );
            return;
        };
        if servers.is_empty() {
            let detail = "no Emacs server found; unsaved changes are recognized by lock files (`.#name`)";
            self.add("editors", Grade::Good, detail);
        }
        for ServerStatus { name, path, state } in servers {
            let (grade, state) = match state {
                ServerState::Answered { version, open, unsaved } => {
                    let files = if open == 1 { "1 file".into() } else { format!("{open} files") };
                    (
                        Grade::Good,
                        format!("answers: version {version}, {files} open, {unsaved} with unsaved changes"),
                    )
                }
                ServerState::NotRunning => (Grade::Note, "not running; stale socket or server file".into()),
                ServerState::Silent => {
                    (Grade::Note, "does not answer; edits rely on its lock files and warn about it".into())
                }
                ServerState::Failed(reason) => (Grade::Note, format!("could not be asked: {reason}")),
                ServerState::NoServer => (
                    Grade::Note,
                    "could not be asked: it has no server (M-x server-start); edits rely on its lock files"
                        .into(),
                ),
            };
            self.add(name, grade, format!("{state} ({path})"));
        }
    }

    fn landlock(&mut self) {
        match confine::landlock_version() {
            Some(version) => {
                self.add(
                    "landlock",
                    Grade::Good,
                    format!("version {version} or newer; enable it with `--landlock`"),
                );
            }
            None => self.add(
                "landlock",
                Grade::Note,
                "not supported on this system; `--landlock` would be refused",
            ),
        }
    }
}

/// The command that recovers a change of `change_root`: that root comes first, then the open ones.
fn recovery_command<'a>(
    change_root: &'a str,
    open: impl Iterator<Item = &'a str>,
    state: Option<&Path>,
) -> String {
    let roots = std::iter::once(change_root).chain(open.filter(|root| *root != change_root));
    let roots: String = roots.map(|root| format!(" --root {}", shell::quote(root))).collect();
    // As given, because the command is run from the same working directory.
    let state = state.map(|folder| format!(" --state-dir {}", shell::quote(&folder.to_string_lossy())));
    format!("slipstitch{roots}{} doctor", state.unwrap_or_default())
}

impl CommandOutput for Findings {
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
            .map(|found| json!({"what": found.subject, "grade": found.grade.name(), "detail": found.detail}))
            .collect();
        serde_json::to_string(&json!({"version": env!("CARGO_PKG_VERSION"), "findings": list}))
    }

    fn write(&self, streams: &mut Streams) {
        streams.out.width = terminal::width();
        for Finding { subject, grade, detail } in &self.0 {
            let label = format!("{:<8}", grade.name());
            streams.out.styled(grade.style(), &label);
            streams.out.prose(&escape_controls(&format!("{subject}: {detail}")), label.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_command_can_be_pasted_into_a_shell() {
        let command = |root, open: &[&'static str], state: Option<&str>| {
            recovery_command(root, open.iter().copied(), state.map(Path::new))
        };
        assert_eq!(command("/a", &["/b"], None), "slipstitch --root /a --root /b doctor");
        assert_eq!(command("/a", &["/b", "/a"], None), "slipstitch --root /a --root /b doctor");
        assert_eq!(
            command("/e 1", &["/it's"], Some("s t")),
            r#"slipstitch --root '/e 1' --root "/it's" --state-dir 's t' doctor"#
        );
    }
}
