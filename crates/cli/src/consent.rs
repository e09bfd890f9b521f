//! Whoever types a command is the person in charge: what a guard asks about is agreed to with `--yes`, there and then.

use clap::Args;
use slipstitch::Workspace;
use slipstitch::core::outcome::Outcome;
use slipstitch::core::plan::Plan;
use slipstitch::core::ports::approver::{Approver, Auto, Decision, Question};
use slipstitch::core::report::Report;

/// Nobody has agreed to what a person must agree to.
const NEEDS_CONSENT: &str = "needs_consent";

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Consent {
    /// Agree to what a person must agree to, such as a change of a protected path
    #[arg(long, short = 'y')]
    yes: bool,
}

impl Consent {
    /// Carries out a plan; without consent where it is needed, nothing is written and nothing waits.
    pub(crate) fn run(self, workspace: &Workspace, plan: Plan, tool: &str) -> Report {
        let mut typist = Typist { agrees: self.yes, asked: Vec::new() };
        let mut report = workspace.run_with(plan, tool, &mut typist);
        if !self.yes && !typist.asked.is_empty() {
            report.outcome = Outcome::Custom { status: report.status(), code: NEEDS_CONSENT };
            report.message = typist.asked.join("; ");
            report.hint = Some(
                "Nothing was written. `--dry-run` shows the change; add `--yes` if it is what you want."
                    .into(),
            );
        }
        report
    }
}

/// The name of whoever is at the terminal.
pub(crate) fn user() -> String {
    let name = std::env::var("USER").ok().filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "a person".into())
}

struct Typist {
    agrees: bool,
    asked: Vec<String>,
}

impl Approver for Typist {
    fn decide(&mut self, question: &Question<'_>) -> Decision {
        let asks = question.checked.asks();
        match (asks, self.agrees) {
            ([], _) => Auto.decide(question),
            (_, true) => Decision::Approve { by: user() },
            (_, false) => {
                self.asked = asks.to_vec();
                Decision::Decline { by: user(), reason: asks.join("; ") }
            }
        }
    }
}
