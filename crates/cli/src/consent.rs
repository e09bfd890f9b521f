//! Approval at the terminal: the user who types a command confirms with `--yes` instead of queueing a proposal. Whoever cannot
//! accept proposals cannot confirm either.

use clap::Args;
use slipstitch::config::IgnoredSetting;
use slipstitch::core::hint::HintPhrases;
use slipstitch::core::outcome::Outcome;
use slipstitch::core::plan::Plan;
use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Auto, Decision};
use slipstitch::core::report::Report;
use slipstitch::{Source, Workspace};

use crate::error::CommandError;
use crate::{reviewer, wording};

/// The next steps that someone at a terminal has.
pub(crate) const PHRASES: HintPhrases = HintPhrases {
    old: "`--old`",
    within: Some("limit the search with `--hint LINES`"),
    all: Some("replace every match with `--all`"),
    create: Some("create the file with `slipstitch write`"),
    overwrite: Some("use `slipstitch write`"),
    confirm: None,
    append: Some("use `slipstitch append`"),
    fill: Some("use `slipstitch write` or `slipstitch append`"),
    choose: None,
    version: "pass its version with `--version`",
    changes: "`slipstitch log` lists the changes.",
};

/// A patch has hunks instead of `--old`, and nothing to narrow the search.
const PATCH_PHRASES: HintPhrases = HintPhrases { old: "the hunk", within: None, all: None, ..PHRASES };

/// The code of a change that needs `--yes`.
const NEEDS_CONSENT: &str = "needs_consent";

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Consent {
    /// Confirm changes that need approval, such as changes to protected paths
    #[arg(long, short = 'y')]
    yes: bool,
}

/// The warning about a change that can't be undone.
const NOT_UNDOABLE: &str =
    "a file is private, so its text is not kept: this change can't be undone after this command has ended";

/// Warns that a change can't be undone if the text of its files is known to this process only, which is about to end.
pub(crate) fn add_private_warning(workspace: &Workspace, report: &mut Report) {
    if report.change.is_some_and(|id| workspace.knows_private_text_of(id)) {
        report.warnings.push(NOT_UNDOABLE.into());
    }
}

/// Whether a report has that warning.
pub(crate) fn says_not_undoable(report: &Report) -> bool {
    report.warnings.iter().any(|warning| warning == NOT_UNDOABLE)
}

impl Consent {
    /// Whether `--yes` was given.
    pub(crate) fn is_given(self) -> bool {
        self.yes
    }

    /// Runs a plan. If a guard asks for approval and `--yes` was not given, nothing is written or queued.
    pub(crate) fn run(self, workspace: &Workspace, plan: Plan, tool: &str) -> Report {
        let mut approver =
            TerminalApprover { workspace, confirmed: self.yes, asked: Vec::new(), refusal: None };
        let phrases = match tool {
            "patch" => PATCH_PHRASES,
            "delete" | "move" => HintPhrases { create: None, ..PHRASES },
            _ => PHRASES,
        };
        let mut report = workspace.run_with(plan, Source { tool, phrases }, &mut approver);
        wording::address_a_person(&mut report);
        add_private_warning(workspace, &mut report);
        report.warnings.extend(describe_ignored(&workspace.config().ignored));
        if let Some(refusal) = approver.refusal {
            report.outcome = refusal.report.outcome;
            report.message = format!("{}; {}", approver.asked.join("; "), refusal.report.message);
            report.hint = refusal.report.hint;
        } else if !approver.asked.is_empty() {
            report.outcome = Outcome::Custom { status: report.status(), code: NEEDS_CONSENT };
            report.message = approver.asked.join("; ");
            report.hint = Some(match reviewer::can_accept(workspace) {
                true => "Nothing was written. Check the change with `--dry-run`, then add `--yes` to confirm it.",
                false => reviewer::LEAVE_TO_USER,
            }.into());
        }
        report
    }
}

/// One line for each file with settings that have no effect. `slipstitch config check` has one for each setting.
fn describe_ignored(ignored: &[IgnoredSetting]) -> Vec<String> {
    let explained = "`slipstitch config check` explains";
    let mut by_file: Vec<(&IgnoredSetting, usize)> = Vec::new();
    for setting in ignored {
        match by_file.iter_mut().find(|(first, _)| first.file == setting.file) {
            Some((_, count)) => *count += 1,
            None => by_file.push((setting, 1)),
        }
    }
    let describe = |(first, count): (&IgnoredSetting, usize)| match count {
        1 => format!("{first}; {explained}"),
        _ => format!("{count} settings in {} are ignored: {}; {explained}", first.file, first.reason()),
    };
    by_file.into_iter().map(describe).collect()
}

struct TerminalApprover<'a> {
    workspace: &'a Workspace,
    confirmed: bool,
    /// The guards' questions that were not confirmed.
    asked: Vec<String>,
    /// Why `--yes` was not accepted.
    refusal: Option<CommandError>,
}

impl Approver for TerminalApprover<'_> {
    fn decide(&mut self, question: &ApprovalRequest<'_>) -> Decision {
        let asks = question.checked.approval_reasons();
        if asks.is_empty() {
            return Auto.decide(question);
        }
        if self.confirmed {
            match reviewer::for_acceptance(self.workspace, None, "this change can only be confirmed") {
                Ok(reviewer) => return Decision::Approve { by: reviewer.name().into() },
                Err(refusal) => self.refusal = Some(refusal),
            }
        }
        self.asked = asks.to_vec();
        let mut files = question.checked.changes().files().iter();
        if let Some(file) = files.find(|file| self.workspace.is_private(&file.path)) {
            self.asked.push(format!(
                "`{}` is private, so its text is not kept and the change can't be undone later",
                file.path
            ));
        }
        Decision::Decline { by: reviewer::describe_user(None), reason: asks.join("; ") }
    }
}
