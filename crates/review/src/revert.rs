//! Undo and redo, and what a decision would do.

use slipstitch::core::engine::Verdict;
use slipstitch::core::hint::HintPhrases;
use slipstitch::core::plan::{ChangeId, Direction, OtherSessionsConsent, Plan, Run, Target, UndoPlan};
use slipstitch::core::ports::approver::Person;
use slipstitch::core::ports::journal::ProposalId;
use slipstitch::core::report::Report;
use slipstitch::{Source, Workspace};

/// Undoes or redoes one change on behalf of `by`.
pub(crate) fn run_undo(
    workspace: &Workspace,
    id: ChangeId,
    direction: Direction,
    run: Run,
    by: &str,
) -> Report {
    let plan = UndoPlan { target: Target::Change(id), direction, run, others: OtherSessionsConsent::Given };
    let tool = match direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    };
    let source = Source { tool, phrases: HintPhrases::ALL };
    workspace.run_with(Plan::Undo(plan), source, &mut Person { name: by.into() })
}

/// What accepting everything would do to the files as they are now.
pub(crate) fn preview(workspace: &Workspace, id: ProposalId) -> Report {
    workspace.preview_decision(id, &Verdict::accept_all())
}
