//! Edits as method calls, for programs that edit files themselves.

use std::ops::RangeInclusive;

use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::{Failed, Invalid, Outcome, Refused, Status, Unplaced};
use slipstitch_core::path::PathError;
use slipstitch_core::plan::patch::{self, PatchDirection, PatchOptions};
use slipstitch_core::plan::{
    ChangeId, Direction, EditPlan, EditRules, FilePlan, IfMissing, LineRange, Operation,
    OtherSessionsConsent, ParseError, Plan, Run, Separator, Target, Tolerance, UndoPlan, Which,
};
use slipstitch_core::ports::approver::{Approver, Auto};
use slipstitch_core::report::{FileReport, Report};
use slipstitch_core::text::{BadVersion, VersionClaim};

use crate::workspace::{Source, Workspace};

/// The next steps that hints may recommend to callers of this module.
const PHRASES: HintPhrases = HintPhrases {
    old: "the old text",
    within: Some("restrict the search with `within`"),
    all: Some("use `replace_all`"),
    create: Some("create the file with `create`"),
    overwrite: Some("use `overwrite`"),
    confirm: None,
    append: Some("use `append`"),
    fill: Some("use `overwrite` or `append`"),
    choose: None,
    version: "pass its version",
    changes: "Pass the id from the receipt of the edit.",
};

/// The result of an edit: written, previewed, or already in place.
#[derive(Debug, Clone)]
pub struct Receipt {
    /// The id of the change in the journal; `None` if nothing was written.
    pub change: Option<ChangeId>,
    /// Whether the change was written, would be written, or was already in place.
    pub status: Status,
    /// The change as a unified diff.
    pub diff: String,
    /// The affected files, with the lines of every edit and the new version.
    pub files: Vec<FileReport>,
    /// What the caller should know, such as what was recovered.
    pub warnings: Vec<String>,
}

/// Why nothing was written. `Display` says what happened, [`EditError::hint`] what to do next.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The path is malformed or outside the root.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The version is malformed.
    #[error(transparent)]
    Version(#[from] BadVersion),
    /// The patch is malformed.
    #[error(transparent)]
    Patch(#[from] ParseError),
    /// The place of an edit was not found, or there are several.
    #[error("{}", .report.message)]
    Unplaced {
        /// Why.
        reason: Unplaced,
        /// The details: every edit that failed, with the closest text.
        report: Box<Report>,
    },
    /// A guard or an approver refused the change, or another writer interfered.
    #[error("{}", .report.message)]
    Refused {
        /// Why.
        reason: Refused,
        /// The details.
        report: Box<Report>,
    },
    /// The request names something that does not exist, such as a change without an entry in the journal.
    #[error("{}", .report.message)]
    Invalid {
        /// Why.
        reason: Invalid,
        /// The details.
        report: Box<Report>,
    },
    /// The disk or the journal failed.
    #[error("{}", .report.message)]
    Failed {
        /// What failed.
        reason: Failed,
        /// The details.
        report: Box<Report>,
    },
    /// A guard of the embedding program refused the change.
    #[error("{}", .report.message)]
    Custom {
        /// The guard's stable machine-readable code.
        code: &'static str,
        /// The details.
        report: Box<Report>,
    },
}

impl EditError {
    /// What to do next, if anything.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Path(error) => Some(error.hint()),
            Self::Version(_) => Some("Pass a version from a receipt or from reading the file.".into()),
            Self::Patch(error) => Some(error.hint.clone()),
            Self::Unplaced { report, .. }
            | Self::Refused { report, .. }
            | Self::Invalid { report, .. }
            | Self::Failed { report, .. }
            | Self::Custom { report, .. } => report.hint.clone(),
        }
    }

    /// The full report; `None` if the request was malformed.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::Path(_) | Self::Version(_) | Self::Patch(_) => None,
            Self::Unplaced { report, .. }
            | Self::Refused { report, .. }
            | Self::Invalid { report, .. }
            | Self::Failed { report, .. }
            | Self::Custom { report, .. } => Some(report),
        }
    }
}

fn receipt(report: Report) -> Result<Receipt, EditError> {
    let outcome = report.outcome;
    let report = Box::new(report);
    match outcome {
        Outcome::Unplaced(reason) => Err(EditError::Unplaced { reason, report }),
        Outcome::Refused(reason) => Err(EditError::Refused { reason, report }),
        Outcome::Invalid(reason) => Err(EditError::Invalid { reason, report }),
        Outcome::Failed(reason) => Err(EditError::Failed { reason, report }),
        Outcome::Custom { status, code } if !status.is_success() => Err(EditError::Custom { code, report }),
        Outcome::Applied
        | Outcome::PartlyAccepted
        | Outcome::WouldApply
        | Outcome::NoChange
        | Outcome::AlreadyApplied
        | Outcome::Shown
        | Outcome::ModeUpgraded
        | Outcome::ModeUnchanged
        | Outcome::ProposalRejected
        | Outcome::Custom { .. } => Ok(Receipt {
            change: report.change,
            status: outcome.status(),
            diff: report.diff.unwrap_or_default(),
            files: report.files,
            warnings: report.warnings,
        }),
    }
}

impl Workspace {
    /// Starts an edit of one file. Nothing is written before [`Edit::apply`].
    ///
    /// All operations refer to the file as it is now and are applied together. Old text must match exactly, except that
    /// `\n` matches any line ending; [`Edit::recover`] is more tolerant.
    pub fn edit(&self, path: impl Into<String>) -> Edit<'_> {
        Edit {
            workspace: self,
            path: path.into(),
            operations: Vec::new(),
            within: None,
            tolerance: Tolerance::Exact,
            version: None,
            description: None,
        }
    }

    /// Starts a patch of any number of files: a unified diff, a V4A patch or SEARCH/REPLACE blocks.
    pub fn patch(&self, text: impl Into<String>) -> PatchText<'_> {
        PatchText {
            workspace: self,
            text: text.into(),
            direction: PatchDirection::Forward,
            description: None,
        }
    }

    /// Starts an undo of this session's last change; [`Undo::change`] names another.
    pub fn undo(&self) -> Undo<'_> {
        Undo { workspace: self, target: Target::Last { path: None }, direction: Direction::Undo }
    }

    /// Starts a redo of what this session's last undo reverted; [`Undo::change`] names another.
    pub fn redo(&self) -> Undo<'_> {
        Undo { workspace: self, target: Target::Last { path: None }, direction: Direction::Redo }
    }
}

/// An edit of one file that has not been applied yet; see [`Workspace::edit`].
#[derive(Debug, Clone)]
#[must_use = "nothing is written until `apply` is called"]
pub struct Edit<'w> {
    workspace: &'w Workspace,
    path: String,
    operations: Vec<Operation>,
    within: Option<LineRange>,
    tolerance: Tolerance,
    version: Option<String>,
    description: Option<String>,
}

impl Edit<'_> {
    /// Replaces text that occurs exactly once.
    ///
    /// If the old text is whole lines and the new text lacks the final newline, the newline is kept, with a warning: to
    /// join lines, include both in the old text.
    pub fn replace(self, old: impl Into<String>, new: impl Into<String>) -> Self {
        self.replacing(old.into(), new.into(), Which::Unique)
    }

    /// Replaces every occurrence of a text.
    pub fn replace_all(self, old: impl Into<String>, new: impl Into<String>) -> Self {
        self.replacing(old.into(), new.into(), Which::All)
    }

    fn replacing(self, old: String, new: String, which: Which) -> Self {
        let within = self.within;
        self.with(Operation::Replace { old, new, which, within })
    }

    /// Restricts the replacements that follow to matches inside these lines, counted from 1.
    pub fn within(mut self, lines: RangeInclusive<usize>) -> Self {
        self.within = Some(line_range(&lines));
        self
    }

    /// Replaces whole lines, counted from 1; empty text deletes them.
    pub fn replace_lines(self, lines: RangeInclusive<usize>, new: impl Into<String>) -> Self {
        self.with(Operation::ReplaceLines { lines: line_range(&lines), new: new.into(), expect: None })
    }

    /// Inserts lines after a line, counted from 1; 0 is the start of the file.
    pub fn insert_after(self, line: usize, text: impl Into<String>) -> Self {
        self.with(Operation::InsertLines { after: line.into(), text: text.into() })
    }

    /// Adds lines at the end. Creates the file if it does not exist.
    pub fn append(self, text: impl Into<String>) -> Self {
        self.with(Operation::Append {
            text: text.into(),
            separator: Separator::Newline,
            if_missing: IfMissing::Create,
        })
    }

    /// Adds lines at the start. Creates the file if it does not exist.
    pub fn prepend(self, text: impl Into<String>) -> Self {
        self.with(Operation::Prepend {
            text: text.into(),
            separator: Separator::Newline,
            if_missing: IfMissing::Create,
        })
    }

    /// Creates the file and its parent folders; fails if the file exists.
    pub fn create(self, content: impl Into<String>) -> Self {
        self.with(Operation::Create { content: content.into() })
    }

    /// Replaces the file's whole content, creating the file if it does not exist.
    pub fn overwrite(self, content: impl Into<String>) -> Self {
        self.with(Operation::Overwrite { content: content.into(), if_missing: IfMissing::Create })
    }

    /// Deletes the file.
    pub fn delete(self) -> Self {
        self.with(Operation::Delete)
    }

    /// Accepts old text with the mistakes that models make, such as wrong whitespace, if only one place can be meant.
    /// A warning reports the differences.
    pub fn recover(mut self) -> Self {
        self.tolerance = Tolerance::Recover;
        self
    }

    /// Sets the version that the edit was made for. Later changes elsewhere in the file are kept; if the same lines have
    /// changed, the edit is refused.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Describes the change, for the journal.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Writes all of the edit or nothing.
    pub fn apply(self) -> Result<Receipt, EditError> {
        self.apply_with(&mut Auto)
    }

    /// Like `apply`; `approver` decides on the change before anything is written.
    pub fn apply_with(self, approver: &mut dyn Approver) -> Result<Receipt, EditError> {
        self.run(Run::Real, approver)
    }

    /// Reports what [`Edit::apply`] would do without writing anything.
    pub fn preview(&self) -> Result<Receipt, EditError> {
        self.clone().run(Run::Dry, &mut Auto)
    }

    fn with(mut self, operation: Operation) -> Self {
        self.operations.push(operation);
        self
    }

    fn run(self, run: Run, approver: &mut dyn Approver) -> Result<Receipt, EditError> {
        let path = self.workspace.path(&self.path)?;
        let version = self.version.as_deref().map(VersionClaim::parse).transpose()?;
        let file = FilePlan { path, version, operations: self.operations };
        let rules = EditRules { tolerance: self.tolerance, ..EditRules::NATIVE };
        let plan = EditPlan { run, description: self.description, ..EditPlan::new(vec![file], rules) };
        let source = Source { tool: "edit", phrases: PHRASES };
        receipt(self.workspace.run_with(Plan::Edit(plan), source, approver))
    }
}

/// A patch that has not been applied yet; see [`Workspace::patch`].
#[derive(Debug, Clone)]
#[must_use = "nothing is written until `apply` is called"]
pub struct PatchText<'w> {
    workspace: &'w Workspace,
    text: String,
    direction: PatchDirection,
    description: Option<String>,
}

impl PatchText<'_> {
    /// Applies the patch in reverse.
    pub fn reversed(mut self) -> Self {
        self.direction = PatchDirection::Reverse;
        self
    }

    /// Describes the change, for the journal.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Writes all files or none.
    pub fn apply(self) -> Result<Receipt, EditError> {
        self.apply_with(&mut Auto)
    }

    /// Like `apply`; `approver` decides on the change before anything is written.
    pub fn apply_with(self, approver: &mut dyn Approver) -> Result<Receipt, EditError> {
        self.run(Run::Real, approver)
    }

    /// Reports what [`PatchText::apply`] would do without writing anything.
    pub fn preview(&self) -> Result<Receipt, EditError> {
        self.clone().run(Run::Dry, &mut Auto)
    }

    fn run(self, run: Run, approver: &mut dyn Approver) -> Result<Receipt, EditError> {
        let options = PatchOptions {
            format: None,
            parse_options: Default::default(),
            direction: self.direction,
            path: None,
            roots: self.workspace.root_names(),
            overwriting: self.workspace.settings().patch.overwriting(),
            tolerance: Tolerance::Recover,
        };
        let plan = patch::plan(&self.text, &options)?;
        let plan = EditPlan { run, description: self.description, ..plan };
        let source = Source { tool: "patch", phrases: PHRASES };
        receipt(self.workspace.run_with(Plan::Edit(plan), source, approver))
    }
}

/// An undo or redo that has not been applied yet; see [`Workspace::undo`] and [`Workspace::redo`].
#[derive(Debug, Clone)]
#[must_use = "nothing is written until `apply` is called"]
pub struct Undo<'w> {
    workspace: &'w Workspace,
    target: Target,
    direction: Direction,
}

impl Undo<'_> {
    /// Chooses this change instead of the last one.
    pub fn change(mut self, id: ChangeId) -> Self {
        self.target = Target::Change(id);
        self
    }

    /// Chooses all changes of the session that have not been undone; they are undone as one change.
    pub fn session(mut self) -> Self {
        self.target = Target::Session;
        self
    }

    /// Writes the change. Later changes elsewhere in the files are kept; if the same lines have changed since, the undo is
    /// refused.
    pub fn apply(self) -> Result<Receipt, EditError> {
        self.apply_with(&mut Auto)
    }

    /// Like `apply`; `approver` decides on the change before anything is written.
    pub fn apply_with(self, approver: &mut dyn Approver) -> Result<Receipt, EditError> {
        self.run(Run::Real, approver)
    }

    /// Reports what [`Undo::apply`] would do without writing anything.
    pub fn preview(&self) -> Result<Receipt, EditError> {
        self.clone().run(Run::Dry, &mut Auto)
    }

    fn run(self, run: Run, approver: &mut dyn Approver) -> Result<Receipt, EditError> {
        let tool = match self.direction {
            Direction::Undo => "undo",
            Direction::Redo => "redo",
        };
        let plan = UndoPlan {
            target: self.target,
            direction: self.direction,
            run,
            others: OtherSessionsConsent::Given,
        };
        let source = Source { tool, phrases: PHRASES };
        receipt(self.workspace.run_with(Plan::Undo(plan), source, approver))
    }
}

fn line_range(lines: &RangeInclusive<usize>) -> LineRange {
    LineRange { first: *lines.start(), last: *lines.end() }
}
