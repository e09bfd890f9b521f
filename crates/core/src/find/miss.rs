//! Requests without an exact match: found by the ladder and applied, or explained.

use std::fmt;

use super::diagnose::{Diagnoser, closest_reading, shown_differences};
use super::diagnosis::{Candidate, Cause, Diagnosis, QuotedVersion, candidate};
use super::drift::{ClosePlace, closest_places, surpassing};
use super::error::Reason;
use super::file_text::FileText;
use super::inside;
use super::ladder;
use super::limits::{MAX_CANDIDATES, MAX_WINDOWS};
use super::merge::Unmergeable;
use super::odd_indentation;
use super::offer::Offers;
use super::recovered_edit::apply_recovered;
use super::recovery::{Recovery, StaleQuote};
use super::request::{PlaceHint, SearchRequest};
use super::resolved_edit::ResolvedEdit;
use crate::change::{Lines, Rung};
use crate::plan::{EditRules, IfAlreadyApplied, Tolerance};

/// Resolves the requests of one file that have no exact match.
pub(super) struct Misses<'f, 'a> {
    file: &'f FileText<'a>,
    rules: EditRules,
}

impl<'f, 'a> Misses<'f, 'a> {
    pub(super) fn new(file: &'f FileText<'a>, rules: EditRules) -> Self {
        Self { file, rules }
    }

    /// Finds a request and applies it, or explains why there is no place.
    pub(super) fn resolve(&self, request: &SearchRequest) -> Result<ResolvedEdit, Reason> {
        if !self.file.budget.may_take_long() {
            return Err(Reason::TooCostly);
        }
        match ladder::find(request, self.file, self.rules.tolerance) {
            Recovery::Found(found) => apply_recovered(&request.name, found, self.rules, self.file),
            recovery => Err(self.explain(recovery, request)),
        }
    }

    /// Applies a request at the lines that the caller chose. The lines that it removes must match in all but form.
    pub(super) fn resolve_chosen(&self, request: &SearchRequest) -> Result<ResolvedEdit, Reason> {
        let verbatim = inside::find_only_verbatim_within(request, self.file.snapshot);
        match verbatim.unwrap_or_else(|| ladder::find(request, self.file, Tolerance::Recover)) {
            Recovery::Found(found) => apply_recovered(&request.name, found, self.rules, self.file),
            recovery => Err(self.explain(recovery, request)),
        }
    }

    /// A note about new text of an exact edit that is indented like nothing else in the file, for callers whose edits recover.
    pub(super) fn note_odd_indentation<'t>(
        &self,
        name: impl fmt::Display,
        old: impl Iterator<Item = &'t str> + Clone,
        new: impl Iterator<Item = &'t str>,
    ) -> Option<String> {
        let recovers = self.rules.tolerance == Tolerance::Recover;
        let odd = recovers.then(|| odd_indentation::describe(old, new, self.file)).flatten()?;
        Some(format!("{name}: the new text is {odd}; it was written as sent"))
    }

    fn explain(&self, recovery: Recovery, request: &SearchRequest) -> Reason {
        let snapshot = self.file.snapshot;
        match recovery {
            Recovery::TooCostly => Reason::TooCostly,
            Recovery::Ambiguous(lines) => Reason::Ambiguous {
                candidates: self.candidates_of(&lines, request),
                count: lines.len(),
                non_overlapping: lines.len(),
                lines: lines.iter().map(|lines| lines.start).collect(),
                overlapping: false,
            },
            Recovery::AlreadyApplied(places) => self.not_found(Diagnosis::of_applied(&places, snapshot)),
            Recovery::Unmergeable(lines, why) => {
                let cause = match why {
                    Unmergeable::Elision => Cause::Elision,
                    Unmergeable::Indentation | Unmergeable::AlreadyPresent => Cause::Indentation,
                };
                let differences = Offers { request, file: self.file }.differences_at(lines);
                let place =
                    Candidate { differences: shown_differences(&differences), ..candidate(lines, snapshot) };
                self.not_found(Diagnosis::new(cause, vec![place]).with_lines_to_read(&[lines], snapshot))
            }
            Recovery::Stale(stale) => self.not_found(self.diagnose_stale(stale, request)),
            Recovery::Found(_) | Recovery::NotFound => self.diagnose(request),
        }
    }

    /// The candidates among several places that are about as close. If the lines that the request removes are at only one of
    /// them, or one of them is where the request says it is or has more of its lines than any other, it comes first and
    /// can be chosen.
    fn candidates_of(&self, places: &[Lines], request: &SearchRequest) -> Vec<Candidate> {
        let offers = Offers { request, file: self.file };
        let only = match places.len() {
            2..=MAX_WINDOWS => {
                let choosable: Vec<&Lines> =
                    places.iter().filter(|&&place| offers.is_choosable(place)).collect();
                match choosable[..] {
                    [only] => Some(only),
                    _ => self.best_place(places, request).filter(|best| choosable.contains(best)),
                }
            }
            _ => None,
        };
        let others = places.iter().filter(|place| Some(*place) != only);
        only.into_iter()
            .chain(others)
            .take(MAX_CANDIDATES)
            .map(|place| Candidate {
                choosable: Some(place) == only,
                ..candidate(*place, self.file.snapshot)
            })
            .collect()
    }

    /// The place where the request says it is, or else the one that has every line that the others have and more.
    fn best_place<'p>(&self, places: &'p [Lines], request: &SearchRequest) -> Option<&'p Lines> {
        let stated = |line: usize| places.iter().find(|place| place.start == line);
        if let Some(stated) = request.place.line.and_then(stated) {
            return Some(stated);
        }
        let index = self.file.index()?;
        let close = closest_places(request.as_meant(), &index);
        let rivals: Option<Vec<&ClosePlace>> =
            places.iter().map(|place| close.iter().find(|one| one.alignment.lines() == *place)).collect();
        surpassing(&rivals?).map(|at| &places[at])
    }

    fn diagnose(&self, request: &SearchRequest) -> Reason {
        if !self.file.budget.spend_diagnosis() {
            return self.not_found(Diagnosis::unknown());
        }
        // For a tool that does not recover, report what recovery would have found.
        let recovery = match self.rules.tolerance {
            Tolerance::Recover => Recovery::NotFound,
            _ => ladder::find(request, self.file, Tolerance::Recover),
        };
        match recovery {
            Recovery::Stale(stale) => self.not_found(self.diagnose_stale(stale, request)),
            Recovery::AlreadyApplied(places) => {
                self.not_found(Diagnosis::of_applied(&places, self.file.snapshot))
            }
            recovery => {
                let meant = closest_reading(request, self.file).map(|reading| request.meant_as(reading));
                let request = meant.as_ref().unwrap_or(request);
                let tolerance = self.rules.tolerance;
                self.not_found(Diagnoser { request, file: self.file, tolerance }.diagnose(&recovery))
            }
        }
    }

    fn diagnose_stale(&self, stale: StaleQuote, request: &SearchRequest) -> Diagnosis {
        let snapshot = self.file.snapshot;
        let diagnosis = match stale.now {
            Some(lines) => {
                let cause = stale.still_there.map_or(Cause::ChangedSince, |_| Cause::UnclearSince);
                let found = Diagnosis::at(cause, lines, snapshot);
                let offers = Offers { request, file: self.file };
                match &stale.offer {
                    Some(place) => offers.with_merged(found, place),
                    None if stale.is_left => offers.with_resend(found).with_lines_to_read(&[lines], snapshot),
                    None if stale.is_worth_reading => found.with_lines_to_read(&[lines], snapshot),
                    None => found,
                }
            }
            None => Diagnosis::new(Cause::RemovedSince, Vec::new()),
        };
        let StaleQuote { source, version, lines_now, still_there, .. } = stale;
        Diagnosis { quoted: Some(QuotedVersion { source, version, lines_now, still_there }), ..diagnosis }
    }

    /// The place of a request without what it says about its place, and what to send to edit it.
    pub(super) fn offer_anywhere(&self, request: &SearchRequest) -> Diagnosis {
        match ladder::find(&request.at(PlaceHint::default()), self.file, Tolerance::Recover) {
            Recovery::Found(place) => {
                let diagnosis = Diagnosis::at(Cause::OutsideRange, place.lines, self.file.snapshot);
                Offers { request, file: self.file }.with_merged(diagnosis, &place)
            }
            _ => Diagnosis::unknown(),
        }
    }

    /// What to send to delete lines that a hunk gives both as context and as removed; `without` is the hunk without that
    /// context. Only if its lines are in the file once, with differences of form at most.
    pub(super) fn offer_without_echo(
        &self,
        request: &SearchRequest,
        without: &SearchRequest,
    ) -> Option<Diagnosis> {
        let place = match ladder::find(without, self.file, Tolerance::Recover) {
            Recovery::Found(place) if place.classes.iter().all(|class| class.rung() < Rung::Drift) => place,
            _ => return None,
        };
        let diagnosis = Diagnosis::at(Cause::EchoedLine, place.lines, self.file.snapshot);
        Some(Offers { request, file: self.file }.with_merged(diagnosis, &place))
    }

    /// The reason for a request that is not in the file: one that is already applied counts as such where the rules say so.
    fn not_found(&self, diagnosis: Diagnosis) -> Reason {
        match (diagnosis.cause, self.rules.if_already_applied) {
            (Cause::AlreadyApplied, IfAlreadyApplied::Succeed) => Reason::AlreadyApplied(diagnosis),
            _ => Reason::NotFound(diagnosis),
        }
    }
}
