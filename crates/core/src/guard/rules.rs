//! Rules from the settings: which changes are applied, which need the user's approval, and which are denied.
//!
//! The first rule whose conditions all hold for a file decides about it; without one, the change is applied. The strictest
//! decision about any of its files holds for the whole change. Rules come on top of what protected paths ask for.
//!
//! The rules of a project, and those of a settings file that is not the user's, are judged separately, and the strictest decision
//! holds. So a project can ask for more approval than its user, but not for less.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use super::protected::RulePaths;
use super::{Caller, ConsentRule, GlobError, GuardInput, Protected, Refusal, Verdict};
use crate::change::{Base, ChangeSet, FileChange, LineTotals, PathChange, PlacedEdit, Rung};
use crate::path::FilePath;
use crate::snapshot::Snapshots;

/// The rules in force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// The user's rules, in order.
    pub user: Vec<Rule>,
    /// The project's rules, in order.
    pub project: Vec<Rule>,
    /// Rules of a settings file that may add to the user's but not replace them, in order.
    pub added: Vec<Rule>,
}

impl Rules {
    /// The lists, each of which is judged separately.
    fn lists(&self) -> [&[Rule]; 3] {
        [&self.user, &self.project, &self.added]
    }
}

/// A rule: if its conditions hold, it decides.
#[derive(Debug, Clone)]
pub struct Rule {
    /// What it decides.
    pub verdict: ConsentRule,
    /// Why, for the reviewer and the model.
    pub reason: Option<String>,
    /// Where it is written, such as `rule 2 in config.toml`.
    pub source: String,
    conditions: Conditions,
    paths: RulePaths,
    dialects: GlobSet,
    agents: GlobSet,
}

/// The conditions of a rule, which must all hold. A list holds if one of its values does; an empty one always does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Globs of paths, as in [`Protected::add`].
    pub paths: Vec<String>,
    /// What happens to the file.
    pub operations: Vec<OperationKind>,
    /// How the place of an edit was found.
    pub found: Vec<Found>,
    /// Globs of dialects.
    pub dialects: Vec<String>,
    /// Globs of agents. A caller without a name matches only `*`.
    pub agents: Vec<String>,
    /// Groups of protected paths.
    pub groups: Vec<String>,
    /// The whole change affects more lines than this.
    pub more_lines_than: Option<usize>,
    /// The file keeps less than this percentage of its lines.
    pub keeps_less_than: Option<u8>,
}

/// What a change does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// Creates it.
    Create,
    /// Changes its text.
    Edit,
    /// Deletes it.
    Delete,
    /// Moves it, perhaps with changes.
    Move,
    /// Makes it executable, or no longer.
    Executable,
    /// Undoes or redoes earlier changes.
    Undo,
}

/// How the place of an edit was found, in the terms of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// The request states it: line numbers, the end of the file, the whole file.
    Stated,
    /// The quoted text is exactly that of the file.
    Exact,
    /// The quoted text differs from the file.
    Recovered,
    /// The request quotes an earlier version of the file.
    CarriedOver,
    /// The caller chose among close matches.
    Chosen,
}

impl From<Rung> for Found {
    fn from(rung: Rung) -> Self {
        match rung {
            Rung::Stated => Self::Stated,
            Rung::Exact => Self::Exact,
            Rung::Whitespace
            | Rung::Punctuation
            | Rung::Transport
            | Rung::Elision
            | Rung::Drift
            | Rung::Fuzzy => Self::Recovered,
            Rung::Evidence => Self::CarriedOver,
            Rung::Chosen => Self::Chosen,
        }
    }
}

impl Rule {
    /// A rule with these conditions.
    pub fn new(
        conditions: Conditions,
        verdict: ConsentRule,
        reason: Option<String>,
        source: String,
    ) -> Result<Self, GlobError> {
        Ok(Self {
            paths: RulePaths::new(&conditions.paths)?,
            dialects: compile_names(&conditions.dialects)?,
            agents: compile_names(&conditions.agents)?,
            verdict,
            reason,
            source,
            conditions,
        })
    }

    fn applies_to(&self, file: &FileFacts<'_>, change: &ChangeFacts<'_>) -> bool {
        let wanted = &self.conditions;
        let names = |globs: &GlobSet, name: &str| globs.is_empty() || globs.is_match(name);
        let agent = change.caller.and_then(|caller| caller.agent).unwrap_or_default();
        let dialect = change.caller.map_or("", |caller| caller.dialect);
        is_any(&wanted.operations, |operation| *operation == file.operation)
            && is_any(&wanted.found, |found| file.found.contains(found))
            && is_any(&wanted.groups, |group| file.groups.contains(&group.as_str()))
            && names(&self.dialects, dialect)
            && names(&self.agents, agent)
            && wanted.more_lines_than.is_none_or(|lines| change.lines > lines)
            && wanted.keeps_less_than.is_none_or(|percent| file.keeps_less_than(percent))
            && self.concerns(&file.paths)
    }

    /// Whether the globs match. To allow a move, they must match where it starts and where it ends; to restrict it, either is
    /// enough.
    fn concerns(&self, paths: &[&FilePath]) -> bool {
        let matches = |path: &&FilePath| self.paths.matches(path);
        match self.verdict {
            _ if self.conditions.paths.is_empty() => true,
            ConsentRule::Allow => paths.iter().all(matches),
            ConsentRule::Ask | ConsentRule::Deny => paths.iter().any(matches),
        }
    }

    /// Why a change of this file needs approval, or does not.
    fn explain(&self, path: &FilePath) -> String {
        match (&self.reason, self.verdict) {
            (Some(reason), _) => format!("{reason} ({})", self.source),
            (None, ConsentRule::Allow) => format!("`{path}` needs no approval ({})", self.source),
            (None, _) => format!("`{path}` needs approval ({})", self.source),
        }
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        let key = |rule: &Self| (rule.verdict, rule.reason.clone(), rule.source.clone());
        key(self) == key(other) && self.conditions == other.conditions
    }
}

impl Eq for Rule {}

fn is_any<T>(values: &[T], holds: impl Fn(&T) -> bool) -> bool {
    values.is_empty() || values.iter().any(holds)
}

/// Compiles globs of names, which have no separators.
fn compile_names(globs: &[String]) -> Result<GlobSet, GlobError> {
    let failed = |glob: &str, reason: String| GlobError { glob: glob.into(), reason };
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        let compiled = GlobBuilder::new(glob).case_insensitive(true).build();
        builder.add(compiled.map_err(|error| failed(glob, error.kind().to_string()))?);
    }
    builder.build().map_err(|error| failed("", error.to_string()))
}

/// What rules can say about a change as a whole.
#[derive(Debug)]
struct ChangeFacts<'a> {
    caller: Option<Caller<'a>>,
    lines: usize,
}

/// What rules can say about one file of a change.
#[derive(Debug)]
struct FileFacts<'a> {
    /// Its paths: before and after, as written and resolved.
    paths: Vec<&'a FilePath>,
    operation: OperationKind,
    found: Vec<Found>,
    groups: Vec<&'static str>,
    totals: Option<LineTotals>,
}

impl<'a> FileFacts<'a> {
    fn of(file: &'a FileChange, kind: ChangeOrigin, snapshots: &'a Snapshots, protected: &Protected) -> Self {
        let written = [Some(&file.path), file.path_after()];
        let mut paths: Vec<&FilePath> = Vec::new();
        for path in written.into_iter().flatten() {
            paths.extend([path, snapshots.real_path(path)]);
        }
        paths.dedup();
        let operation = match (kind, file.base, &file.path_change) {
            (ChangeOrigin::Restore, ..) => OperationKind::Undo,
            (_, Base::Absent, _) => OperationKind::Create,
            (_, _, PathChange::Delete) => OperationKind::Delete,
            (_, _, PathChange::Move(_)) => OperationKind::Move,
            (_, _, PathChange::Keep) if file.splices.is_empty() && file.executable.is_some() => {
                OperationKind::Executable
            }
            (_, _, PathChange::Keep) => OperationKind::Edit,
        };
        Self {
            groups: protected.groups_of(&paths),
            paths,
            operation,
            found: file.edits.iter().map(|edit| edit.rung.into()).collect(),
            totals: file.totals,
        }
    }

    fn keeps_less_than(&self, percent: u8) -> bool {
        match self.totals {
            Some(LineTotals { before, after }) => after * 100 < before * usize::from(percent),
            None => self.operation == OperationKind::Delete,
        }
    }
}

/// Whether a change was requested as such, or reverts earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeOrigin {
    Request,
    Restore,
}

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    match input.changes {
        Some(changes) => judge_changes(changes, ChangeOrigin::Request, input),
        None => Verdict::Pass,
    }
}

/// Applies the rules to a change.
pub(super) fn judge_changes(changes: &ChangeSet, kind: ChangeOrigin, input: &GuardInput<'_>) -> Verdict {
    let rules = &input.policy.rules;
    if rules.lists().iter().all(|list| list.is_empty()) {
        return Verdict::Pass;
    }
    let (mut questions, mut permissions): (Vec<String>, Vec<String>) = Default::default();
    for (file, rule) in deciding_rules(changes, kind, input) {
        let reasons = match rule.verdict {
            ConsentRule::Allow => &mut permissions,
            ConsentRule::Ask => &mut questions,
            ConsentRule::Deny => {
                return Verdict::Refuse(Refusal::Denied {
                    path: file.path.clone(),
                    reason: rule.reason.clone(),
                    rule: rule.source.clone(),
                });
            }
        };
        let reason = rule.explain(&file.path);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    match (questions.is_empty(), permissions.is_empty()) {
        (false, _) => Verdict::Ask(questions.join("; ")),
        (true, false) => Verdict::Allow(permissions.join("; ")),
        (true, true) => Verdict::Pass,
    }
}

/// For each file of a change, the rules that decide: at most one of each list.
fn deciding_rules<'a>(
    changes: &'a ChangeSet,
    kind: ChangeOrigin,
    input: &GuardInput<'a>,
) -> Vec<(&'a FileChange, &'a Rule)> {
    let change = ChangeFacts { caller: input.caller, lines: count_affected_lines(changes) };
    let rules = &input.policy.rules;
    let mut found = Vec::new();
    for file in changes.files().iter().filter(|file| !file.is_empty()) {
        let facts = FileFacts::of(file, kind, input.snapshots, &input.policy.protected);
        for list in rules.lists() {
            found.extend(list.iter().find(|rule| rule.applies_to(&facts, &change)).map(|rule| (file, rule)));
        }
    }
    found
}

/// The lines that a change removes or adds, whichever is more at each place.
pub(super) fn count_affected_lines(changes: &ChangeSet) -> usize {
    let lines = |edit: &PlacedEdit| {
        let listed: usize = edit.places.iter().map(|place| place.before.count.max(place.after.count)).sum();
        // Places beyond those listed have at least one line each.
        listed + edit.occurrences.saturating_sub(edit.places.len())
    };
    changes.files().iter().flat_map(|file| &file.edits).map(lines).sum()
}
