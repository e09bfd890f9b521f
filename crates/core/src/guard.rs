//! Stage three: may this change be made? Guards look and judge; they touch nothing.

mod no_change;
mod overwrite;
mod shrink;
mod size;
mod stale;

use crate::change::ChangeSet;
use crate::path::FilePath;
use crate::plan::EditPlan;
use crate::resolve::Snapshots;
use crate::snapshot::ContentHash;

/// What a guard looks at.
#[derive(Debug, Clone, Copy)]
pub struct Matter<'a> {
    /// What was asked for.
    pub plan: &'a EditPlan,
    /// The files as they were read.
    pub seen: &'a Snapshots,
    /// What would be done; `None` before the places are found.
    pub changes: Option<&'a ChangeSet>,
    /// The limits in force.
    pub policy: &'a Policy,
}

/// A guard's judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to say.
    Pass,
    /// Go on, but tell the caller.
    Warn(String),
    /// Stop.
    Refuse(Refusal),
}

/// A guard: its name and its judgement.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    /// What it is called in configuration and documents.
    pub name: &'static str,
    /// How it judges.
    pub judge: fn(&Matter<'_>) -> Verdict,
}

/// Every guard, in the order in which they are asked; the first refusal ends it.
pub const GUARDS: &[Guard] = &[
    Guard { name: "stale", judge: stale::judge },
    Guard { name: "size", judge: size::judge },
    Guard { name: "no_change", judge: no_change::judge },
    Guard { name: "overwrite", judge: overwrite::judge },
    Guard { name: "shrink", judge: shrink::judge },
];

/// The limits that guards go by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The most bytes of text in one request.
    pub max_request_bytes: usize,
    /// The most bytes a file may have after an edit.
    pub max_file_bytes: u64,
    /// Files of fewer lines may shrink as they like.
    pub shrink_from_lines: usize,
    /// An edit must leave at least one in so many lines.
    pub shrink_to_one_in: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            max_request_bytes: 16 << 20,
            max_file_bytes: 4 << 30,
            shrink_from_lines: 20,
            shrink_to_one_in: 3,
        }
    }
}

/// Why a guard refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The caller knows another version of the file.
    #[error("`{path}` is not the version that was named; it is now {}", current.map_or("missing".into(), |hash| hash.to_string()))]
    Stale {
        /// The file.
        path: FilePath,
        /// What it has now, if it is there.
        current: Option<ContentHash>,
    },
    /// The request is too long.
    #[error("the request holds {size} bytes of text; at most {most} are taken")]
    RequestTooLarge {
        /// Its size.
        size: usize,
        /// The limit.
        most: usize,
    },
    /// The file would become too long.
    #[error("`{path}` would have {size} bytes; at most {most} are allowed")]
    FileTooLarge {
        /// The file.
        path: FilePath,
        /// Its size after.
        size: u64,
        /// The limit.
        most: u64,
    },
    /// The file would lose most of its lines.
    #[error("this edit would reduce `{path}` from {before} lines to {after}")]
    Shrinks {
        /// The file.
        path: FilePath,
        /// Its lines before.
        before: usize,
        /// Its lines after.
        after: usize,
    },
    /// A file with text would be overwritten without the confirmation that is asked for.
    #[error("`{path}` has text already, and overwriting it needs a confirmation")]
    Unconfirmed {
        /// The file.
        path: FilePath,
    },
    /// Nothing would change.
    #[error("the edit changes nothing: the result is the same, byte for byte")]
    NoChange,
}

impl Refusal {
    /// The code by which programs know it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stale { .. } => "stale_file",
            Self::RequestTooLarge { .. } => "request_too_large",
            Self::FileTooLarge { .. } => "file_too_large",
            Self::Shrinks { .. } => "shrinks_file",
            Self::Unconfirmed { .. } => "overwrite_unconfirmed",
            Self::NoChange => "no_change",
        }
    }

    /// What the caller should do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Stale { current: Some(_), .. } => {
                "Read the file again, make the edit for what it holds now, and send its version.".into()
            }
            Self::Stale { current: None, .. } => "Check the path, or leave the version out to make the file.".into(),
            Self::RequestTooLarge { .. } => "Make several smaller edits.".into(),
            Self::FileTooLarge { .. } => "Write less, or raise `max_file_bytes` in the configuration.".into(),
            Self::Shrinks { .. } => "If the old text holds more than is meant to go, shorten it; to replace the whole file, overwrite it.".into(),
            Self::Unconfirmed { .. } => "Send `confirm_overwrite: true` if all of its text is to go.".into(),
            Self::NoChange => "Nothing is left to do; if something should change, compare the old and the new text.".into(),
        }
    }
}

/// Proof that every guard was asked. Only this stage makes one:
///
/// ```compile_fail,E0451
/// use incise_core::change::ChangeSet;
/// use incise_core::guard::Checked;
///
/// let unchecked = Checked { changes: ChangeSet::default(), warnings: Vec::new() };
/// ```
#[derive(Debug)]
#[must_use = "a checked change still has to be approved and committed"]
pub struct Checked {
    changes: ChangeSet,
    warnings: Vec<String>,
}

impl Checked {
    /// The change.
    pub fn changes(&self) -> &ChangeSet {
        &self.changes
    }

    /// What the caller should be told.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub(crate) fn into_changes(self) -> ChangeSet {
        self.changes
    }
}

/// Asks the guards about a plan whose places are not known yet: an outdated plan is told so,
/// rather than that its text was not found.
pub fn admit(plan: &EditPlan, seen: &Snapshots, policy: &Policy) -> Result<(), Refusal> {
    ask(&Matter { plan, seen, changes: None, policy }).map(|_| ())
}

/// Asks every guard about a change.
pub fn check(
    changes: ChangeSet,
    plan: &EditPlan,
    seen: &Snapshots,
    policy: &Policy,
) -> Result<Checked, Refusal> {
    let warnings = ask(&Matter { plan, seen, changes: Some(&changes), policy })?;
    Ok(Checked { changes, warnings })
}

/// Lets a change out of the journal pass: what it restores passed when it was made.
pub fn check_inverse(changes: ChangeSet) -> Checked {
    Checked { changes, warnings: Vec::new() }
}

fn ask(matter: &Matter<'_>) -> Result<Vec<String>, Refusal> {
    let mut warnings = Vec::new();
    for guard in GUARDS {
        match (guard.judge)(matter) {
            Verdict::Pass => {}
            Verdict::Warn(warning) => warnings.push(warning),
            Verdict::Refuse(refusal) => return Err(refusal),
        }
    }
    Ok(warnings)
}
