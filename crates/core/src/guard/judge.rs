//! Runs the guards: on a plan, on a change, on an undo, and again on a proposal that is accepted.

use super::{
    Caller, Caution, Checked, ConsentRule, Findings, GuardInput, Guards, Policy, ProtectedPlaces, Refusal,
    Verdict, protected, rules,
};
use crate::change::ChangeSet;
use crate::plan::{ChangeId, EditPlan, EditRules, OverwriteConsent, Review, Shrink};
use crate::snapshot::Snapshots;

/// The guards, and what they judge by.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'a> {
    /// The guards, in order.
    pub guards: &'a Guards,
    /// The limits in force.
    pub policy: &'a Policy,
    /// Finds places that are protected whatever they are called.
    pub places: &'a dyn ProtectedPlaces,
    /// Who asks for the change, if that is known yet.
    pub caller: Option<Caller<'a>>,
}

impl Judge<'_> {
    /// Runs the guards on a plan whose places are not resolved yet, so that an outdated plan is refused as stale rather
    /// than because its old text was not found.
    pub fn check_plan(&self, plan: &EditPlan, snapshots: &Snapshots) -> Result<(), Refusal> {
        self.run(plan, snapshots, None).map(|_| ())
    }

    /// Runs the guards on a change.
    pub fn check(
        &self,
        changes: ChangeSet,
        plan: &EditPlan,
        snapshots: &Snapshots,
    ) -> Result<Checked, Refusal> {
        let findings = self.run(plan, snapshots, Some(&changes))?;
        let caution = if plan.review == Review::No { Caution::Normal } else { Caution::Cautious };
        Ok(Checked { changes, findings, caution })
    }

    /// Checks a change that undoes or redoes others. Its content passed the guards before, but consent to change a
    /// protected path is not consent to change it back. `others` are the reverted changes of other sessions.
    pub(crate) fn check_restored(
        &self,
        changes: ChangeSet,
        others: &[(ChangeId, String)],
        snapshots: &Snapshots,
    ) -> Result<Checked, Refusal> {
        let mut findings = Findings::default();
        findings.add(self.judge_others(others))?;
        self.judge_restored(&changes, snapshots, &mut findings)?;
        Ok(Checked { changes, findings, caution: Caution::Normal })
    }

    /// Applies the guards that an undo or redo must pass: its content passed the others before.
    fn judge_restored(
        &self,
        changes: &ChangeSet,
        snapshots: &Snapshots,
        findings: &mut Findings,
    ) -> Result<(), Refusal> {
        findings.add(protected::judge_changes(changes, snapshots, &self.policy.protected, self.places))?;
        let plan = EditPlan::new(Vec::new(), EditRules::STRICT);
        let input = self.input(&plan, snapshots, Some(changes));
        findings.add(rules::judge_changes(changes, rules::ChangeOrigin::Restore, &input))
    }

    fn judge_others(&self, others: &[(ChangeId, String)]) -> Verdict {
        let Some((id, session)) = others.first() else { return Verdict::Pass };
        match self.policy.undo_others {
            ConsentRule::Allow => Verdict::Pass,
            ConsentRule::Deny => Verdict::Refuse(Refusal::OthersChange { id: *id, session: session.clone() }),
            ConsentRule::Ask => {
                let listed = others.iter().map(|(id, session)| format!("{id} (session `{session}`)"));
                Verdict::Ask(format!("it reverts {}", listed.collect::<Vec<_>>().join(", ")))
            }
        }
    }

    /// Judges an accepted proposal again, where its paths lead now. It passed the guards when it was proposed, with these
    /// warnings; the reviewer agreed to what they asked then.
    ///
    /// The error is a refusal, or what the guards ask now and did not ask before.
    pub(crate) fn check_accepted(
        &self,
        changes: ChangeSet,
        accepted: &Accepted<'_>,
        snapshots: &Snapshots,
    ) -> Result<Checked, AcceptError> {
        let found = match accepted.kind {
            // The size of the request and the rules of its dialect were judged before; the text is still the same.
            ProposalKind::Edit => {
                let rules = EditRules {
                    shrink: Shrink::Allowed,
                    overwrite: OverwriteConsent::Given,
                    ..EditRules::STRICT
                };
                self.run(&EditPlan::new(Vec::new(), rules), snapshots, Some(&changes))?
            }
            ProposalKind::Restore => {
                let mut findings = Findings::default();
                self.judge_restored(&changes, snapshots, &mut findings)?;
                findings
            }
        };
        let new: Vec<String> = found
            .approval_reasons
            .into_iter()
            .filter(|why| !accepted.reason.contains(why.as_str()))
            .collect();
        if !new.is_empty() {
            return Err(AcceptError::NewReasons(new));
        }
        let findings = Findings { warnings: accepted.warnings.to_vec(), ..Findings::default() };
        Ok(Checked { changes, findings, caution: Caution::Normal })
    }

    fn run(
        &self,
        plan: &EditPlan,
        snapshots: &Snapshots,
        changes: Option<&ChangeSet>,
    ) -> Result<Findings, Refusal> {
        let input = self.input(plan, snapshots, changes);
        let mut findings = Findings::default();
        for guard in self.guards.iter() {
            findings.add((guard.judge)(&input))?;
        }
        Ok(findings)
    }

    fn input<'b>(
        &'b self,
        plan: &'b EditPlan,
        snapshots: &'b Snapshots,
        changes: Option<&'b ChangeSet>,
    ) -> GuardInput<'b> {
        let Self { policy, places, caller, .. } = *self;
        GuardInput { plan, snapshots, changes, policy, places, caller }
    }
}

/// What a reviewer agreed to.
#[derive(Debug)]
pub(crate) struct Accepted<'a> {
    /// What the proposal does.
    pub(crate) kind: ProposalKind,
    /// Why it needed a review.
    pub(crate) reason: &'a str,
    /// The guards' warnings when it was proposed.
    pub(crate) warnings: &'a [String],
}

/// What a proposal does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalKind {
    /// It edits files.
    #[default]
    Edit,
    /// It undoes or redoes changes.
    Restore,
}

/// Why an accepted proposal is not applied.
#[derive(Debug)]
pub(crate) enum AcceptError {
    Refused(Refusal),
    /// The guards ask for approval for these reasons, which the reviewer was not shown.
    NewReasons(Vec<String>),
}

impl From<Refusal> for AcceptError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
