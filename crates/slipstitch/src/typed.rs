//! Edits as method calls, for programs that change files themselves.

use std::ops::RangeInclusive;

use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::{Failed, Invalid, Outcome, Refused, Status, Unplaced};
use slipstitch_core::path::PathError;
use slipstitch_core::plan::patch::{self, PatchDirection, PatchOptions};
use slipstitch_core::plan::{
    ChangeId, Direction, EditPlan, EditRules, FilePlan, LineRange, Matching, IfMissing, Operation, Overwriting,
    ParseError, Placing, Plan, Run, Separator, Target, UndoPlan, Which,
};
use slipstitch_core::report::{FileReport, Report};
use slipstitch_core::text::{BadVersion, VersionClaim};

use crate::workspace::{Source, Workspace};

/// The next steps that this module offers.
const PHRASES: HintPhrases = HintPhrases {
    old: "the old text",
    within: Some("restrict the search with `within`"),
    all: Some("use `replace_all`"),
    create: Some("make the file with `create`"),
    overwrite: Some("use `overwrite`"),
    confirm: None,
    append: Some("use `append`"),
    fill: Some("use `overwrite` or `append`"),
    choose: None,
};

/// A change that was written, or that turned out to be unnecessary.
#[derive(Debug, Clone)]
pub struct Receipt {
    /// The change's name in the journal; `None` if nothing had to be written, and for previews.
    pub change: Option<ChangeId>,
    /// Whether it was written, would be written, or was there already.
    pub status: Status,
    /// The change as a unified diff.
    pub diff: String,
    /// The files concerned, with the places of the edits.
    pub files: Vec<FileReport>,
    /// What the caller should know besides, such as what was repaired.
    pub warnings: Vec<String>,
}

/// Why nothing was written. `Display` says what happened, [`EditError::hint`] what to do next.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The path is not usable.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The version is not one.
    #[error(transparent)]
    Version(#[from] BadVersion),
    /// The patch cannot be read.
    #[error(transparent)]
    Patch(#[from] ParseError),
    /// An edit has no place in its file.
    #[error("{}", .report.message)]
    Unplaced {
        /// Why not.
        reason: Unplaced,
        /// Every edit that failed, with candidates.
        report: Box<Report>,
    },
    /// The change was refused.
    #[error("{}", .report.message)]
    Refused {
        /// Why.
        reason: Refused,
        /// The details.
        report: Box<Report>,
    },
    /// The request makes no sense, such as a path that leads outside the root.
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
    /// A guard or approver of the embedding program refused.
    #[error("{}", .report.message)]
    Custom {
        /// Its stable machine-readable code.
        code: &'static str,
        /// The details.
        report: Box<Report>,
    },
}

impl EditError {
    /// What to do next, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Path(error) => Some(error.hint()),
            Self::Version(_) => Some("Give the version as a report shows it.".into()),
            Self::Patch(error) => Some(error.hint.clone()),
            Self::Unplaced { report, .. }
            | Self::Refused { report, .. }
            | Self::Invalid { report, .. }
            | Self::Failed { report, .. }
            | Self::Custom { report, .. } => report.hint.clone(),
        }
    }

    /// The whole report, if the engine got far enough to make one.
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
    /// Edits one file. Nothing is written before [`Edit::apply`].
    ///
    /// Old text must occur exactly once, as it is, line endings aside; [`Edit::recover`] allows for mistakes.
    pub fn edit(&self, path: impl Into<String>) -> Edit<'_> {
        Edit {
            workspace: self,
            path: path.into(),
            operations: Vec::new(),
            within: None,
            matching: Matching::Exact,
            version: None,
            description: None,
        }
    }

    /// Applies a patch to any number of files, all or none: a unified diff, a V4A patch or SEARCH/REPLACE blocks.
    pub fn patch(&self, text: impl Into<String>) -> PatchText<'_> {
        PatchText {
            workspace: self,
            text: text.into(),
            direction: PatchDirection::Forward,
            description: None,
        }
    }

    /// Reverts this session's last change, or the one that is named.
    pub fn undo(&self) -> Undo<'_> {
        Undo { workspace: self, target: Target::Last { path: None }, direction: Direction::Undo }
    }

    /// Restores what this session's last undo reverted, or the change that is named.
    pub fn redo(&self) -> Undo<'_> {
        Undo { workspace: self, target: Target::Last { path: None }, direction: Direction::Redo }
    }
}

/// Edits of one file that go in together; see [`Workspace::edit`].
#[derive(Debug, Clone)]
#[must_use = "nothing is written until `apply` is called"]
pub struct Edit<'w> {
    workspace: &'w Workspace,
    path: String,
    operations: Vec<Operation>,
    within: Option<LineRange>,
    matching: Matching,
    version: Option<String>,
    description: Option<String>,
}

impl Edit<'_> {
    /// Replaces text that occurs exactly once.
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

    /// Adds text at the end, on lines of its own. Creates the file if it does not exist.
    pub fn append(self, text: impl Into<String>) -> Self {
        self.with(Operation::Append {
            text: text.into(),
            separator: Separator::Newline,
            if_missing: IfMissing::Create,
        })
    }

    /// Adds text at the start, on lines of its own. Creates the file if it does not exist.
    pub fn prepend(self, text: impl Into<String>) -> Self {
        self.with(Operation::Prepend {
            text: text.into(),
            separator: Separator::Newline,
            if_missing: IfMissing::Create,
        })
    }

    /// Creates the file and its folders; refused if the file exists.
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

    /// Allows old text with the mistakes that models make, where the place is beyond doubt. What was different is
    /// reported as a warning.
    pub fn recover(mut self) -> Self {
        self.matching = Matching::Recover;
        self
    }

    /// The version that the edits were made for. If the file has changed since in the same place, they are refused.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// What the change is for, for the journal.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Writes the change, all of it or nothing.
    pub fn apply(self) -> Result<Receipt, EditError> {
        self.run(Run::Real)
    }

    /// Says what [`Edit::apply`] would do, and writes nothing.
    pub fn preview(&self) -> Result<Receipt, EditError> {
        self.clone().run(Run::Dry)
    }

    fn with(mut self, operation: Operation) -> Self {
        self.operations.push(operation);
        self
    }

    fn run(self, run: Run) -> Result<Receipt, EditError> {
        let path = self.workspace.path(&self.path)?;
        let version = self.version.as_deref().map(VersionClaim::parse).transpose()?;
        let file = FilePlan { path, version, operations: self.operations };
        let rules = EditRules { matching: self.matching, ..EditRules::NATIVE };
        let plan = EditPlan { run, description: self.description, ..EditPlan::new(vec![file], rules) };
        receipt(self.workspace.run(Plan::Edit(plan), Source { tool: "edit", phrases: PHRASES }))
    }
}

/// A patch that is about to be applied; see [`Workspace::patch`].
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

    /// What the change is for, for the journal.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Writes the change, all files or none.
    pub fn apply(self) -> Result<Receipt, EditError> {
        self.run(Run::Real)
    }

    /// Says what [`PatchText::apply`] would do, and writes nothing.
    pub fn preview(&self) -> Result<Receipt, EditError> {
        self.clone().run(Run::Dry)
    }

    fn run(self, run: Run) -> Result<Receipt, EditError> {
        let options = PatchOptions {
            format: None,
            parse_options: Default::default(),
            direction: self.direction,
            path: None,
            roots: self.workspace.root_names(),
            overwriting: Overwriting::Refused,
            placing: Placing::Recover,
        };
        let plan = patch::plan(&self.text, &options)?;
        let plan = EditPlan { run, description: self.description, ..plan };
        receipt(self.workspace.run(Plan::Edit(plan), Source { tool: "patch", phrases: PHRASES }))
    }
}

/// A change that is about to be reverted or restored; see [`Workspace::undo`] and [`Workspace::redo`].
#[derive(Debug, Clone)]
#[must_use = "nothing is written until `apply` is called"]
pub struct Undo<'w> {
    workspace: &'w Workspace,
    target: Target,
    direction: Direction,
}

impl Undo<'_> {
    /// This change instead of the last one.
    pub fn change(mut self, id: ChangeId) -> Self {
        self.target = Target::Change(id);
        self
    }

    /// Every change of the session that is still in the files, as one change.
    pub fn session(mut self) -> Self {
        self.target = Target::Session;
        self
    }

    /// Writes the change. Later work in other places of the files is kept; in the same place it is refused.
    pub fn apply(self) -> Result<Receipt, EditError> {
        self.run(Run::Real)
    }

    /// Says what [`Undo::apply`] would do, and writes nothing.
    pub fn preview(&self) -> Result<Receipt, EditError> {
        self.clone().run(Run::Dry)
    }

    fn run(self, run: Run) -> Result<Receipt, EditError> {
        let tool = match self.direction {
            Direction::Undo => "undo",
            Direction::Redo => "redo",
        };
        let plan = UndoPlan { target: self.target, direction: self.direction, run };
        receipt(self.workspace.run(Plan::Undo(plan), Source { tool, phrases: PHRASES }))
    }
}

fn line_range(lines: &RangeInclusive<usize>) -> LineRange {
    LineRange { first: *lines.start(), last: *lines.end() }
}
