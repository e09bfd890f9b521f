//! Edits with a known result, damaged in the ways models damage them: how many are applied correctly, and that none
//! is applied wrongly. The cases are generated from this repository's files, the same ones in every run.

mod calls;
mod certainty;
mod content;
mod corpus;
mod draft;
mod form;
mod grade;
mod kinds;
pub(crate) mod random;
mod refusals;
mod transport;

use std::fmt::Write;

use grade::{Grade, grade};
use kinds::Case;
use slipstitch_core::outcome::Status;

use crate::rig::Rig;

const SEED: u64 = 20;
const EACH: usize = 60;

/// The cases and their grades.
struct Marks(Vec<(Case, Grade, String)>);

impl Marks {
    /// Runs a matcher on every case; it returns the resulting file, or why it refuses.
    fn of(matcher: impl Fn(&Case) -> Result<String, String>) -> Self {
        let files = corpus::files();
        let marked = kinds::cases(&files, EACH, SEED).into_iter().map(|case| {
            let answer = matcher(&case);
            let grade = grade(&case, answer.as_deref().ok());
            let message = answer.err().unwrap_or_default();
            (case, grade, message)
        });
        Self(marked.collect())
    }

    fn count(&self, choose: impl Fn(&Case) -> bool, grade: Grade) -> usize {
        self.0.iter().filter(|(case, mark, _)| choose(case) && *mark == grade).count()
    }

    fn kinds(&self) -> Vec<&'static str> {
        let mut kinds: Vec<&'static str> = self.0.iter().map(|(case, ..)| case.kind).collect();
        kinds.dedup();
        kinds
    }

    /// Every threshold that is missed.
    fn faults(&self) -> Vec<String> {
        let must_apply = |case: &Case| case.expected.is_some();
        let all = self.0.iter().filter(|(case, ..)| must_apply(case)).count();
        let wrong = self.count(must_apply, Grade::WrongInPlace);
        let right = self.count(must_apply, Grade::Right);
        let mut faults = Vec::new();
        let mut expect = |kept: bool, what: String| {
            if !kept {
                faults.push(what);
            }
        };
        expect(self.0.len() >= 600, format!("only {} cases", self.0.len()));
        let misplaced = self.count(must_apply, Grade::Misplaced);
        expect(misplaced == 0, format!("misplaced: {misplaced}"));
        let false_applies = self.count(|_| true, Grade::FalseApply);
        expect(false_applies == 0, format!("false applies: {false_applies}"));
        expect(wrong * 1000 <= all * 3, format!("wrong in place: {wrong} of {all}"));
        expect(right * 100 >= all * 90, format!("right: {right} of {all}"));
        for kind in self.kinds() {
            let right = self.count(|case| case.kind == kind, Grade::Right);
            // Without evidence, a rewritten context line looks like a twin, so most of these are refused.
            let least = if kind == "stale context" { 25 } else { 80 };
            expect(right * 100 >= EACH * least, format!("{kind}: {right} of {EACH} right"));
        }
        faults
    }

    /// A table of grades for each kind, and the first cases that are not right.
    fn table(&self) -> String {
        let mut table = format!("{:30}{:?}\n", "", Grade::ALL);
        for kind in self.kinds() {
            let counts = Grade::ALL.map(|grade| self.count(|case| case.kind == kind, grade));
            let _ = writeln!(table, "{kind:30}{counts:3?}");
        }
        let bad = self.0.iter().filter(|(_, grade, _)| *grade > Grade::Right).take(40);
        for (Case { kind, old, new, .. }, grade, message) in bad {
            let _ =
                writeln!(table, "\n{kind}: {grade:?}\n--- old\n{old}\n--- new\n{new}\n--- answer\n{message}");
        }
        table
    }
}

fn engine(case: &Case) -> Result<String, String> {
    let rig = Rig::new(case.before.as_str());
    let answer = rig.edit(&case.old, &case.new);
    let after = String::from_utf8(rig.bytes()).map_err(|error| error.to_string())?;
    match answer.report.status() {
        Status::Applied | Status::NoChange => Ok(after),
        _ => {
            assert_eq!(after, case.before, "a refusal writes nothing: {}", answer.text);
            Err(answer.text)
        }
    }
}

#[test]
fn engine_passes_the_gauntlet() {
    let marks = Marks::of(engine);
    let faults = marks.faults();
    assert!(faults.is_empty(), "{faults:#?}\n{}", marks.table());
}

/// A bad matcher: it pastes the new text over the first place that is similar enough.
fn first_fuzzy_match(case: &Case) -> Result<String, String> {
    let lines: Vec<&str> = case.before.split('\n').collect();
    let old: Vec<&str> = case.old.split('\n').collect();
    let alike = |at: &usize| {
        let pairs = old.iter().zip(&lines[*at..]);
        pairs.map(|(wanted, there)| certainty::similarity(wanted, there)).sum::<f64>()
            >= 0.6 * old.len() as f64
    };
    let room = (lines.len() + 1).saturating_sub(old.len());
    let at = (0..room).find(alike).ok_or("nothing similar")?;
    let new = case.new.split('\n');
    let after: Vec<&str> =
        lines[..at].iter().copied().chain(new).chain(lines[at + old.len()..].iter().copied()).collect();
    Ok(after.join("\n"))
}

#[test]
fn catches_a_matcher_that_takes_the_first_fuzzy_match() {
    let marks = Marks::of(first_fuzzy_match);
    assert!(marks.count(|_| true, Grade::Misplaced) > 0, "{}", marks.table());
    assert!(marks.count(|_| true, Grade::FalseApply) > 0, "{}", marks.table());
    let faults = marks.faults().join("\n");
    assert!(faults.contains("misplaced") && faults.contains("false applies"), "{faults}");
}

#[test]
fn catches_a_matcher_that_refuses_everything() {
    let marks = Marks::of(|_| Err("no".into()));
    let faults = marks.faults().join("\n");
    assert!(faults.contains("right: 0 of"), "{faults}");
    assert!(!faults.contains("misplaced") && !faults.contains("false applies"), "{faults}");
}

#[test]
fn catches_a_matcher_that_reports_success_and_does_nothing() {
    let marks = Marks::of(|case| Ok(case.before.clone()));
    assert!(marks.faults().join("\n").contains("wrong in place"), "{}", marks.table());
}
